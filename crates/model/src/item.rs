//! Items: units of work inside a phase, such as tasks, sections or paragraphs. `ItemBook` folds events into items;
//! `command::items` decides commands about them.

mod book;
mod lease;
#[cfg(test)]
mod tests;

pub use book::ItemBook;
pub use lease::{LEASE_SECONDS, LONGEST_LEASE_SECONDS, Lease};

use crate::actor::Actor;
use crate::id::{ItemId, Name};
use crate::run::Run;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// The maximum nesting depth, as in `impl-1.1.1`.
pub const DEEPEST_LEVEL: usize = 3;
/// The gap between the orders of siblings, which leaves room for insertions. After about a hundred thousand siblings,
/// orders are assigned without gaps.
pub const ORDER_STEP: u32 = 10;
/// The maximum order. A sort key consists of three orders of 21 bits each.
pub const HIGHEST_ORDER: u32 = (1 << ORDER_BITS) - 1;
const ORDER_BITS: u32 = 21;

/// The run to which an item belongs.
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

/// Written like `review#2`. Names cannot contain a '#', so the form is unambiguous.
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
    Completed {
        completed_at: Timestamp,
    },
    Blocked {
        reason: String,
    },
    /// Somebody decided that the item is no longer needed.
    Dropped {
        reason: String,
    },
}

impl ItemStatus {
    pub const NAMES: [&'static str; 5] = ["pending", "active", "completed", "blocked", "dropped"];

    pub fn name(&self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Active => "active",
            Self::Completed { .. } => "completed",
            Self::Blocked { .. } => "blocked",
            Self::Dropped { .. } => "dropped",
        }
    }
}

/// Says if an item is ready for work, has to wait, or is done. Leases are ignored, because they expire without an
/// event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ItemState {
    /// The item can be worked on.
    Ready,
    /// The item is blocked, waits for other items, or is a container that waits for its parts.
    Waiting,
    /// The item is completed or dropped.
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
    /// The order of the item among its siblings, preceded by the orders of its containers.
    pub place: Vec<u32>,
    #[serde(flatten)]
    pub status: ItemStatus,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<ItemId>,
    /// The dependencies that are not done yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<ItemId>,
    /// The number of the item's parts. An item with parts is a container.
    #[serde(default)]
    pub parts: u32,
    #[serde(default)]
    pub open_parts: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped_parts: u32,
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

    pub fn is_dropped(&self) -> bool {
        matches!(self.status, ItemStatus::Dropped { .. })
    }

    /// True if work on the item remains: it is neither completed nor dropped.
    pub fn is_open(&self) -> bool {
        self.state() != ItemState::Done
    }

    /// The number of parts that were not dropped, and how many of these are done.
    pub fn part_counts(&self) -> ItemCounts {
        let total = self.parts.saturating_sub(self.dropped_parts);
        ItemCounts { total, done: total.saturating_sub(self.open_parts), dropped: self.dropped_parts }
    }

    pub fn is_container(&self) -> bool {
        self.parts > 0
    }

    /// Returns the nesting level: 1 for a top-level item.
    pub fn level(&self) -> usize {
        self.place.len()
    }

    pub fn order(&self) -> u32 {
        self.place.last().copied().unwrap_or_default()
    }

    /// Returns a number to sort by. A container sorts directly before its parts.
    pub fn sort_key(&self) -> i64 {
        (0..DEEPEST_LEVEL).fold(0, |key, level| {
            let order = self.place.get(level).copied().unwrap_or_default().min(HIGHEST_ORDER);
            (key << ORDER_BITS) | i64::from(order)
        })
    }

    pub fn state(&self) -> ItemState {
        match self.status {
            ItemStatus::Completed { .. } | ItemStatus::Dropped { .. } => ItemState::Done,
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
    /// The order of the item among its siblings.
    pub order: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<ItemId>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Value>,
}

/// The changed values of an item. Missing or empty values did not change.
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

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The numbers of items in a phase, containers and parts alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ItemCounts {
    /// Without the dropped ones.
    pub total: u32,
    pub done: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped: u32,
}

impl ItemCounts {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
    pub fn is_empty(&self) -> bool {
        self.total == 0 && self.dropped == 0
    }

    pub fn open(self) -> u32 {
        self.total.saturating_sub(self.done)
    }
}
