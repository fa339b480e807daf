//! The lease of an item: who holds it, for how long, and when it must be renewed.

use crate::actor::Actor;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// The default length of a lease.
pub const LEASE_SECONDS: u64 = 30 * 60;
/// How far the clocks of two machines may differ, or how far a clock may be corrected, without ending a lease.
const CLOCK_TOLERANCE_SECONDS: i64 = 60;

/// The holder of an item and the end of its lease. An expired lease does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    pub actor: Actor,
    pub until: Timestamp,
    /// The length of the lease, used again when it is renewed.
    pub seconds: u64,
}

impl Lease {
    pub fn is_live(&self, now: Timestamp) -> bool {
        now < self.until && !self.is_of_the_future(now)
    }

    /// The lease as renewed by activity of its holder, which only a hook may have noticed.
    #[must_use]
    pub fn with_holder_seen(&self, seen: Timestamp) -> Self {
        let seconds = i64::try_from(self.seconds).unwrap_or(i64::MAX);
        let until = seen.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(self.until);
        Self { until: self.until.max(until), ..self.clone() }
    }

    /// True if more than half of the lease has passed, or if the clock was set back since the lease was given.
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.is_of_the_future(now) || self.is_live(now) && self.seconds_left(now) < half(self.seconds)
    }

    /// True if the lease has more time left than its length, so that the clock must have been set back. Waiting for
    /// `until` could then take days.
    fn is_of_the_future(&self, now: Timestamp) -> bool {
        let longest = i64::try_from(self.seconds).unwrap_or(i64::MAX).saturating_add(CLOCK_TOLERANCE_SECONDS);
        self.seconds_left(now) > longest
    }

    fn seconds_left(&self, now: Timestamp) -> i64 {
        self.until.as_second().saturating_sub(now.as_second())
    }
}

fn half(seconds: u64) -> i64 {
    i64::try_from(seconds / 2).unwrap_or(i64::MAX)
}
