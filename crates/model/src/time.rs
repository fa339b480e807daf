//! Time differences that are never negative. Never reads the clock.

use jiff::Timestamp;

/// Returns the whole seconds from one moment to a later one, or 0 if the clock was set back.
pub fn seconds_between(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.as_second().saturating_sub(from.as_second())).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_stepped_back_makes_no_negative_duration() {
        let early = Timestamp::from_second(1_000).expect("in range");
        let late = Timestamp::from_second(1_060).expect("in range");
        assert_eq!(seconds_between(early, late), 60);
        assert_eq!(seconds_between(late, early), 0);
    }
}
