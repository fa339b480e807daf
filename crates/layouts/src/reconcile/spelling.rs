//! Replaces ids in files by the ids of the session's items, for layouts in which an id has several spellings.

use super::Draft;
use crate::layout::{ForeignSession, Layout};
use model::event::{Event, ItemEvent};
use model::id::ItemId;
use model::item::NewItem;
use std::collections::BTreeMap;

/// A session read from files, with ids spelled like those of the session's own items. An id that matches
/// exactly stays.
#[must_use]
pub fn in_known_spelling(mut foreign: ForeignSession, layout: &dyn Layout, draft: &Draft) -> ForeignSession {
    let Some(spelling) = layout.capabilities().id_spelling else { return foreign };
    let spelled = |id: &ItemId| (spelling.plain(id.as_str()), id.clone());
    let known: BTreeMap<String, ItemId> = draft.items().iter().map(|item| spelled(&item.id)).collect();
    if known.is_empty() {
        return foreign;
    }
    let meant = |id: &mut ItemId| {
        if draft.items().contains(id) {
            return;
        }
        if let Some(known) = known.get(&spelling.plain(id.as_str())) {
            id.clone_from(known);
        }
    };
    for dated in &mut foreign.history {
        if let Event::Item(event) = &mut dated.event {
            ids(event, &meant);
        }
    }
    foreign
}

/// Calls `on` for every id in an event.
fn ids(event: &mut ItemEvent, on: &dyn Fn(&mut ItemId)) {
    match event {
        ItemEvent::ItemAdded { item } => of_new(item, on),
        ItemEvent::ItemSplit { id, parts } => {
            on(id);
            for part in parts {
                of_new(part, on);
            }
        }
        ItemEvent::ItemSet { id, change } => {
            on(id);
            change.depends_on.iter_mut().flatten().for_each(on);
        }
        ItemEvent::ItemStarted { id }
        | ItemEvent::ItemCompleted { id, .. }
        | ItemEvent::ItemBlocked { id, .. }
        | ItemEvent::ItemUnblocked { id }
        | ItemEvent::ItemReopened { id, .. }
        | ItemEvent::ItemClaimed { id, .. }
        | ItemEvent::ItemReleased { id }
        | ItemEvent::ItemLeaseRenewed { id, .. }
        | ItemEvent::ItemDropped { id, .. } => on(id),
    }
}

fn of_new(item: &mut NewItem, on: &dyn Fn(&mut ItemId)) {
    on(&mut item.id);
    item.parent.iter_mut().for_each(on);
    item.depends_on.iter_mut().for_each(on);
}
