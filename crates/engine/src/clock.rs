//! The engine's clock and its source of ids. Nothing else reads the time or generates random numbers.

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
        // Times are rounded to microseconds, which every store keeps, so that an event read back equals the one
        // written.
        let now = Timestamp::now();
        Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now)
    }
}

/// The clock of a server that several machines share: this machine's clock, corrected by its difference from the
/// server's clock.
pub struct ServerClock {
    ahead: jiff::SignedDuration,
}

impl ServerClock {
    /// Creates the clock; `time` is what the server's clock shows now.
    pub fn at(time: Timestamp) -> Self {
        Self { ahead: time.duration_since(Timestamp::now()) }
    }
}

impl Clock for ServerClock {
    fn now(&self) -> Timestamp {
        #[cfg(debug_assertions)]
        if let Some(fixed) = fixed_for_tests() {
            return fixed;
        }
        let now = SystemClock.now();
        let there = now.checked_add(self.ahead).unwrap_or(now);
        Timestamp::from_microsecond(there.as_microsecond()).unwrap_or(there)
    }
}

/// Returns the current time, for callers that have no engine yet.
pub(crate) fn now() -> Timestamp {
    SystemClock.now()
}

/// Returns the time that a test sets: a variable, or the file that the variable names after an `@`. Release builds
/// ignore the variable.
#[cfg(debug_assertions)]
fn fixed_for_tests() -> Option<Timestamp> {
    let given = std::env::var("LEFTOFF_TEST_NOW").ok()?;
    match given.strip_prefix('@') {
        Some(file) => std::fs::read_to_string(file).ok()?.parse().ok(),
        None => given.parse().ok(),
    }
}

/// Returns a random id of eight characters that cannot be confused with each other. The first is a letter, because a
/// bare number means a row of a list.
pub fn new_session_id() -> SessionId {
    const LETTERS: &[u8] = b"abcdefghjkmnpqrstvwxyz";
    const ALL: &[u8] = b"abcdefghjkmnpqrstvwxyz23456789";
    let mut random = [0u8; 8];
    // Without random numbers, ids would repeat. The store refuses a second session with the same id.
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
