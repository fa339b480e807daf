//! Item events, which are stored forever. Names and fields are never changed, only added.

use super::Event;
use crate::id::{ItemId, Name};
use crate::item::{ItemChange, NewItem, RunRef};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Events of items. `ItemBook` folds them into items; a session only counts them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ItemEvent {
    /// An item was added to a phase.
    ItemAdded { item: NewItem },
    /// Work on an item started.
    ItemStarted { id: ItemId },
    /// An item was completed. A container is completed together with the last of its parts.
    ItemCompleted { id: ItemId, run: RunRef, phase: Name },
    /// An item is blocked. Its lease, if any, ends.
    ItemBlocked { id: ItemId, reason: String },
    /// An item is no longer blocked.
    ItemUnblocked { id: ItemId },
    /// A completed item is open again. If its container was completed, the container has an event of its own.
    ItemReopened { id: ItemId, run: RunRef, phase: Name },
    /// The actor holds the item until the given time.
    ItemClaimed { id: ItemId, until: Timestamp, seconds: u64 },
    /// The item was released, and work on it stopped.
    ItemReleased { id: ItemId },
    /// The holder was active, so the lease was extended until the given time.
    ItemLeaseRenewed { id: ItemId, until: Timestamp, seconds: u64 },
    /// An item was split into parts and is now a container.
    ItemSplit { id: ItemId, parts: Vec<NewItem> },
    /// Title, order, fields, counters or dependencies were set.
    ItemSet { id: ItemId, change: ItemChange },
    /// An item was dropped. With a reason: somebody decided that it is no longer needed. Without one: its layout stores
    /// only the number of items and the number became smaller, or its layout has room for the items of one run only and
    /// another run started.
    ItemDropped {
        id: ItemId,
        run: RunRef,
        phase: Name,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

impl ItemEvent {
    /// Returns the stored name of the event.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::ItemAdded { .. } => "item_added",
            Self::ItemStarted { .. } => "item_started",
            Self::ItemCompleted { .. } => "item_completed",
            Self::ItemBlocked { .. } => "item_blocked",
            Self::ItemUnblocked { .. } => "item_unblocked",
            Self::ItemReopened { .. } => "item_reopened",
            Self::ItemClaimed { .. } => "item_claimed",
            Self::ItemReleased { .. } => "item_released",
            Self::ItemLeaseRenewed { .. } => "item_lease_renewed",
            Self::ItemSplit { .. } => "item_split",
            Self::ItemSet { .. } => "item_set",
            Self::ItemDropped { .. } => "item_dropped",
        }
    }
}

impl From<ItemEvent> for Event {
    fn from(event: ItemEvent) -> Self {
        Self::Item(event)
    }
}
