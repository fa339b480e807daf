//! The lease of an item: who holds it, for how long, and when it must be renewed.

use crate::actor::Actor;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// The default length of a lease.
pub const LEASE_SECONDS: u64 = 30 * 60;
/// The length of the longest lease that somebody can ask for.
pub const LONGEST_LEASE_SECONDS: u64 = 30 * 24 * 60 * 60;
/// How far a clock may be corrected, or the clocks of two machines may differ, without ending a lease.
const CLOCK_TOLERANCE_SECONDS: i64 = 60;

/// The holder of an item, and the time until which it holds the item. An expired lease does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    pub actor: Actor,
    pub until: Timestamp,
    /// The length of the lease in seconds, also used when the lease is renewed.
    pub seconds: u64,
}

impl Lease {
    pub fn is_live(&self, now: Timestamp) -> bool {
        now < self.until && !self.is_of_the_future(now)
    }

    /// Returns the lease as renewed by its holder's last activity, which may be known from hooks only.
    #[must_use]
    pub fn with_holder_seen(&self, seen: Timestamp) -> Self {
        let seconds = i64::try_from(self.seconds).unwrap_or(i64::MAX);
        let until = seen.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(self.until);
        Self { until: self.until.max(until), ..self.clone() }
    }

    /// True if the lease should be renewed: more than half of it has passed, or the clock was set back.
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.is_of_the_future(now) || self.is_live(now) && self.seconds_left(now) < half(self.seconds)
    }

    /// True if the remaining time exceeds the length of the lease, which shows that the clock was set back. Waiting for
    /// `until` could take days.
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
