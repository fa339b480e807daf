//! The engine's clock and its source of ids: the only places that read the time or draw randomness.

use jiff::Timestamp;
use model::id::SessionId;

pub trait Clock {
    fn now(&self) -> Timestamp;
}

pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        #[cfg(debug_assertions)]
        if let Some(fixed) = fixed_for_tests() {
            return fixed;
        }
        // Microseconds are what every store keeps: an event read back is the event that was written.
        let now = Timestamp::now();
        Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now)
    }
}

/// The time, before there is an engine to ask.
pub(crate) fn now() -> Timestamp {
    SystemClock.now()
}

/// Debug builds take the time from a variable, so that a test can let days pass. Release builds do not.
#[cfg(debug_assertions)]
fn fixed_for_tests() -> Option<Timestamp> {
    std::env::var("LEFTOFF_TEST_NOW").ok()?.parse().ok()
}

/// Eight characters without the ones that people mistake for another, the first one a letter:
/// a bare number means a row of a list, so no id may look like one.
pub fn new_session_id() -> SessionId {
    const LETTERS: &[u8] = b"abcdefghjkmnpqrstvwxyz";
    const ALL: &[u8] = b"abcdefghjkmnpqrstvwxyz23456789";
    let mut random = [0u8; 8];
    // Without a source of randomness an id would repeat; the store refuses a second one of the same name.
    let _ = getrandom::fill(&mut random);
    let text: String = random
        .iter()
        .enumerate()
        .map(|(position, byte)| {
            let alphabet = if position == 0 { LETTERS } else { ALL };
            char::from(alphabet[usize::from(*byte) % alphabet.len()])
        })
        .collect();
    SessionId::parse(&text).unwrap_or_else(|_| unreachable!("the alphabet holds valid characters only"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_ids_are_short_random_and_never_a_bare_number() {
        let ids: std::collections::BTreeSet<String> =
            (0..2_000).map(|_| new_session_id().to_string()).collect();
        assert_eq!(ids.len(), 2_000);
        assert!(ids.iter().all(|id| id.len() == 8 && id.starts_with(|c: char| c.is_ascii_lowercase())));
    }
}
