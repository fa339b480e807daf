//! Leases that change by what their holder does elsewhere: renewed by activity, freed by a pause.

use super::renewed;
use crate::actor::Actor;
use crate::event::ItemEvent;
use crate::item::Item;
use jiff::Timestamp;

/// Lease renewals that follow from an actor's activity. A lease is renewed only once more than half of it has
/// passed.
pub fn renewals<'a>(held: impl Iterator<Item = &'a Item>, actor: &Actor, now: Timestamp) -> Vec<ItemEvent> {
    held.filter_map(|item| Some((item, item.lease.as_ref()?)))
        .filter(|(_, lease)| lease.actor == *actor && lease.is_due(now))
        .map(|(item, lease)| renewed(item, lease.seconds, now))
        .collect()
}

/// Frees an actor's items. They count as started, because a claim is how work on an item begins: whoever continues
/// takes them first.
pub fn set_aside<'a>(held: impl Iterator<Item = &'a Item>, actor: &Actor) -> Vec<ItemEvent> {
    let is_own = |item: &&Item| item.lease.as_ref().is_some_and(|lease| lease.actor == *actor);
    let freed = |item: &Item| {
        [ItemEvent::ItemReleased { id: item.id.clone() }, ItemEvent::ItemStarted { id: item.id.clone() }]
    };
    held.filter(is_own).flat_map(freed).collect()
}
