//! Computes when an inactive session expired. Never reads the clock.

use crate::lifecycle::Lifecycle;
use crate::session::{REASON_INACTIVITY, Session};
use crate::time::seconds_between;
use jiff::{SignedDuration, Timestamp};

/// Returns the time of expiry, given the last activity; `None` if it has not come yet. A clock that was set back
/// expires nothing.
pub fn expired_at(last_activity: Timestamp, after_seconds: Option<u64>, now: Timestamp) -> Option<Timestamp> {
    let after = after_seconds?;
    if seconds_between(last_activity, now) < after {
        return None;
    }
    last_activity.checked_add(SignedDuration::from_secs(i64::try_from(after).ok()?)).ok()
}

impl Session {
    /// Returns the time since which an inactive session counts as paused; `None` if it does not. `activity` is the last
    /// activity that the log does not contain.
    pub fn expired_since(
        &self,
        activity: Option<Timestamp>,
        after_seconds: Option<u64>,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let is_active = matches!(self.lifecycle, Lifecycle::Active);
        if !is_active || self.unknown_event.is_some() {
            return None;
        }
        expired_at(activity.map_or(self.updated_at, |at| at.max(self.updated_at)), after_seconds, now)
    }

    /// Returns the session as paused by expiry, although no event has recorded the expiry yet.
    #[must_use]
    pub fn paused_by_expiry(mut self, since: Timestamp) -> Self {
        self.lifecycle = paused_by_inactivity(since);
        self
    }
}

pub(crate) fn paused_by_inactivity(since: Timestamp) -> Lifecycle {
    Lifecycle::Paused { at: since, reason: REASON_INACTIVITY.to_owned(), context: None, saved: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).expect("in range")
    }

    #[test]
    fn what_was_quiet_for_long_enough_expired_at_the_end_of_that_time() {
        assert_eq!(expired_at(at(1_000), Some(60), at(1_059)), None);
        assert_eq!(expired_at(at(1_000), Some(60), at(1_060)), Some(at(1_060)));
        assert_eq!(expired_at(at(1_000), Some(60), at(99_000)), Some(at(1_060)));
    }

    #[test]
    fn off_and_a_clock_that_was_set_back_let_nothing_expire() {
        assert_eq!(expired_at(at(1_000), None, at(99_000)), None);
        assert_eq!(expired_at(at(99_000), Some(60), at(1_000)), None);
        assert_eq!(expired_at(at(0), Some(u64::MAX), at(99_000)), None);
    }
}
