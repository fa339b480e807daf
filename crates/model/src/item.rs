//! Items: units of work inside a phase, such as tasks, sections, paragraphs. `ItemBook` folds them,
//! `command::items` decides about them.

mod book;
#[cfg(test)]
mod tests;

pub use book::ItemBook;

use crate::actor::Actor;
use crate::id::{ItemId, Name};
use crate::run::Run;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// Maximum nesting depth: impl-1, impl-1.1, impl-1.1.1.
pub const DEEPEST_LEVEL: usize = 3;
/// The n-th sibling gets order n times this, which leaves room for insertions; beyond a hundred thousand siblings orders
/// follow each other.
pub const ORDER_STEP: u32 = 10;
/// Three orders of 21 bits each make one sort key.
pub const HIGHEST_ORDER: u32 = (1 << ORDER_BITS) - 1;
const ORDER_BITS: u32 = 21;
/// Default length of a lease.
pub const LEASE_SECONDS: u64 = 30 * 60;
/// How far the clocks of two machines may differ, or one clock be corrected, without ending a lease.
const CLOCK_TOLERANCE_SECONDS: i64 = 60;

/// The run of a session that an item belongs to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunRef {
    pub workflow: Name,
    pub ordinal: u32,
}

impl RunRef {
    pub fn is(&self, run: &Run) -> bool {
        self.workflow == run.workflow.name && self.ordinal == run.ordinal
    }
}

impl From<&Run> for RunRef {
    fn from(run: &Run) -> Self {
        Self { workflow: run.workflow.name.clone(), ordinal: run.ordinal }
    }
}

/// `review#2`: no name contains a '#'.
impl fmt::Display for RunRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.workflow, self.ordinal)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum ItemStatus {
    Pending,
    Active,
    Completed { completed_at: Timestamp },
    Blocked { reason: String },
}

impl ItemStatus {
    pub const NAMES: [&'static str; 4] = ["pending", "active", "completed", "blocked"];

    pub fn name(&self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Active => "active",
            Self::Completed { .. } => "completed",
            Self::Blocked { .. } => "blocked",
        }
    }
}

/// The holder of an item and the end of its lease. An expired lease does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    pub actor: Actor,
    pub until: Timestamp,
    /// Length of the lease, used again when it is renewed.
    pub seconds: u64,
}

impl Lease {
    pub fn is_live(&self, now: Timestamp) -> bool {
        now < self.until && !self.is_of_the_future(now)
    }

    /// A lease is renewed by whatever its holder does, also where only a hook saw it.
    #[must_use]
    pub fn with_holder_seen(&self, seen: Timestamp) -> Self {
        let seconds = i64::try_from(self.seconds).unwrap_or(i64::MAX);
        let until = seen.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(self.until);
        Self { until: self.until.max(until), ..self.clone() }
    }

    /// True once more than half of the lease has passed, or the clock was set back since it was given.
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.is_of_the_future(now) || self.is_live(now) && self.seconds_left(now) < half(self.seconds)
    }

    /// More time is left than it was given for, so the clock was set back: waiting for `until` could take days.
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

/// Readiness of an item. Leases are ignored because they change with time alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ItemState {
    /// Nothing is in its way.
    Ready,
    /// Blocked, waiting for other items, or a container waiting for its parts.
    Waiting,
    Done,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Item {
    pub id: ItemId,
    pub kind: Name,
    pub title: String,
    pub run: RunRef,
    pub phase: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ItemId>,
    /// Order among its siblings, preceded by the orders of its containers: one number per level.
    pub place: Vec<u32>,
    #[serde(flatten)]
    pub status: ItemStatus,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<ItemId>,
    /// The entries of `depends_on` that are not done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<ItemId>,
    /// How many parts it was split into. An item with parts is a container.
    #[serde(default)]
    pub parts: u32,
    #[serde(default)]
    pub open_parts: u32,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, i64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Item {
    pub fn is_done(&self) -> bool {
        matches!(self.status, ItemStatus::Completed { .. })
    }

    pub fn is_container(&self) -> bool {
        self.parts > 0
    }

    /// 1 for a top-level item.
    pub fn level(&self) -> usize {
        self.place.len()
    }

    pub fn order(&self) -> u32 {
        self.place.last().copied().unwrap_or_default()
    }

    /// One number to sort by: a container comes directly before its parts.
    pub fn sort_key(&self) -> i64 {
        (0..DEEPEST_LEVEL).fold(0, |key, level| {
            let order = self.place.get(level).copied().unwrap_or_default().min(HIGHEST_ORDER);
            (key << ORDER_BITS) | i64::from(order)
        })
    }

    pub fn state(&self) -> ItemState {
        match self.status {
            ItemStatus::Completed { .. } => ItemState::Done,
            ItemStatus::Blocked { .. } => ItemState::Waiting,
            ItemStatus::Pending | ItemStatus::Active if self.open_parts > 0 || !self.waits_for.is_empty() => {
                ItemState::Waiting
            }
            ItemStatus::Pending | ItemStatus::Active => ItemState::Ready,
        }
    }

    pub fn live_lease(&self, now: Timestamp) -> Option<&Lease> {
        self.lease.as_ref().filter(|lease| lease.is_live(now))
    }

    pub fn is_held_by(&self, actor: &Actor, now: Timestamp) -> bool {
        self.live_lease(now).is_some_and(|lease| lease.actor == *actor)
    }
}

/// A new item, as added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NewItem {
    pub id: ItemId,
    pub kind: Name,
    pub title: String,
    pub run: RunRef,
    pub phase: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ItemId>,
    /// Among its siblings.
    pub order: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<ItemId>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Value>,
}

/// The changed values. Missing or empty ones stay as they were.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ItemChange {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<u32>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Value>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depends_on: Option<Vec<ItemId>>,
}

impl ItemChange {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// How many items a phase has, containers and parts alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ItemCounts {
    pub total: u32,
    pub done: u32,
}

impl ItemCounts {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    pub fn open(self) -> u32 {
        self.total.saturating_sub(self.done)
    }
}
