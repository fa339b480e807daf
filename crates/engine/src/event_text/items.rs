//! Events about items in plain words.

use crate::words::{duration, one_line};
use model::event::ItemEvent;
use model::id::ItemId;
use model::item::ItemChange;
use model::typed_value::shown;

const LONGEST: usize = 300;

/// Returns the item event in words, for a person.
pub(super) fn words(event: &ItemEvent) -> String {
    match event {
        ItemEvent::ItemAdded { item } => {
            let parent = item.parent.as_ref().map(|parent| format!(" as part of {parent}"));
            let needs = if item.depends_on.is_empty() {
                String::new()
            } else {
                format!(", after {}", names(&item.depends_on))
            };
            let title = one_line(&item.title, LONGEST);
            format!("item {} added{}{needs}: {title}", item.id, parent.unwrap_or_default())
        }
        ItemEvent::ItemStarted { id } => format!("item {id} started"),
        ItemEvent::ItemCompleted { id, .. } => format!("item {id} done"),
        ItemEvent::ItemBlocked { id, reason } => {
            format!("item {id} blocked: {}", one_line(reason, LONGEST))
        }
        ItemEvent::ItemUnblocked { id } => format!("item {id} no longer blocked"),
        ItemEvent::ItemReopened { id, .. } => format!("item {id} open again"),
        ItemEvent::ItemClaimed { id, seconds, .. } => format!("item {id} claimed for {}", duration(*seconds)),
        ItemEvent::ItemReleased { id } => format!("item {id} released"),
        ItemEvent::ItemLeaseRenewed { id, seconds, .. } => {
            format!("item {id} held for another {}", duration(*seconds))
        }
        ItemEvent::ItemSplit { id, parts } => {
            let parts: Vec<ItemId> = parts.iter().map(|part| part.id.clone()).collect();
            format!("item {id} split into {}", names(&parts))
        }
        ItemEvent::ItemSet { id, change } => format!("item {id} set: {}", changed(change)),
        ItemEvent::ItemDropped { id, reason: Some(reason), .. } => {
            format!("item {id} dropped: {}", one_line(reason, LONGEST))
        }
        ItemEvent::ItemDropped { id, reason: None, .. } => format!("item {id} removed"),
    }
}

fn changed(change: &ItemChange) -> String {
    let mut parts = Vec::new();
    parts.extend(change.title.as_ref().map(|title| format!("title {}", one_line(title, 80))));
    parts.extend(change.order.map(|order| format!("order {order}")));
    parts.extend(change.depends_on.as_ref().map(|needs| match needs.as_slice() {
        [] => "needs nothing".to_owned(),
        needs => format!("needs {}", names(needs)),
    }));
    let fields = change.fields.iter().map(|(name, value)| (name, shown(value)));
    let counters = change.counters.iter().map(|(name, value)| (name, value.to_string()));
    parts.extend(
        fields
            .chain(counters)
            .map(|(name, value)| format!("{}={}", one_line(name, 60), one_line(&value, 80))),
    );
    parts.join(", ")
}

fn names(ids: &[ItemId]) -> String {
    const NAMED: usize = 10;
    let mut names: Vec<&str> = ids.iter().take(NAMED).map(ItemId::as_str).collect();
    if ids.len() > NAMED {
        names.push("…");
    }
    names.join(", ")
}
