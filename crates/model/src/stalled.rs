//! Decides when work has taken longer than usual, so that it may have stopped. The session's status is then
//! `possibly_stalled`, and a status bar says "longer than usual". Never reads the clock.

use crate::session::Session;
use crate::time::seconds_between;
use jiff::Timestamp;

/// The minimum time in a phase before it counts as stalled, even if the other phases were much shorter.
const NEVER_STALLED_UNDER_SECONDS: u64 = 15 * 60;

/// True if there has been no activity for so long that work may have stopped.
pub(crate) fn is_quiet(session: &Session, now: Timestamp, written: Option<Timestamp>) -> bool {
    let last = written.map_or(session.updated_at, |written| written.max(session.updated_at));
    seconds_between(last, now) >= NEVER_STALLED_UNDER_SECONDS
}

/// Returns true if a phase has taken more than twice the average time of its run's phases, and at least
/// `NEVER_STALLED_UNDER_SECONDS`.
pub(crate) fn is_stalled(time_in_phase: Option<u64>, average: Option<u64>) -> bool {
    match (time_in_phase, average) {
        (Some(time), Some(average)) => {
            time > average.saturating_mul(2) && time >= NEVER_STALLED_UNDER_SECONDS
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stalled_is_over_twice_the_average_and_never_under_15_minutes() {
        assert!(!is_stalled(Some(899), Some(10)));
        assert!(is_stalled(Some(900), Some(10)));
        assert!(!is_stalled(Some(7200), Some(3600)));
        assert!(is_stalled(Some(7201), Some(3600)));
        assert!(!is_stalled(Some(100_000), None));
    }
}
