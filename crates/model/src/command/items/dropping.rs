//! Decides to drop an item that is no longer needed.

use super::refusals::{Takeover, refuse_container, refuse_finished};
use super::{Context, Decided, completed};
use crate::event::ItemEvent;
use crate::id::ItemId;
use crate::item::{Item, ItemStatus};

impl Context<'_> {
    /// Drops an item. A container whose last open part is dropped is completed if another part was done, and otherwise
    /// dropped for the same reason.
    pub(super) fn drop_item(&self, id: &ItemId, reason: &str) -> Decided {
        const DOING: &str = "drop";
        let item = self.item(id)?;
        if item.is_dropped() {
            return Ok(Vec::new());
        }
        refuse_finished(item, DOING)?;
        if item.open_parts > 0 {
            refuse_container(item, DOING)?;
        }
        self.refuse_held(item, DOING, Takeover::ByAPerson)?;
        let mut events = vec![dropped(item, reason)];
        let mut over = item;
        let mut anything_done = false;
        while let Some(parent) = over.parent.as_ref().and_then(|id| self.book.get(id)) {
            let is_blocked = matches!(parent.status, ItemStatus::Blocked { .. });
            if !parent.is_open() || is_blocked || parent.open_parts > 1 {
                break;
            }
            anything_done = anything_done || parent.part_counts().done > 0;
            events.push(if anything_done { completed(parent) } else { dropped(parent, reason) });
            over = parent;
        }
        Ok(events)
    }
}

fn dropped(item: &Item, reason: &str) -> ItemEvent {
    let (id, run, phase) = (item.id.clone(), item.run.clone(), item.phase.clone());
    ItemEvent::ItemDropped { id, run, phase, reason: Some(reason.to_owned()) }
}
