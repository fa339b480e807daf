//! Leases that change by what their holder does elsewhere: renewed by activity, freed by a pause.

use super::renewed;
use crate::actor::Actor;
use crate::event::ItemEvent;
use crate::item::{Item, ItemStatus};
use jiff::Timestamp;

/// Lease renewals that follow from an actor's activity. A lease is renewed only once more than half of it has
/// passed.
pub fn renewals<'a>(held: impl Iterator<Item = &'a Item>, actor: &Actor, now: Timestamp) -> Vec<ItemEvent> {
    held.filter_map(|item| Some((item, item.lease.as_ref()?)))
        .filter(|(_, lease)| lease.actor == *actor && lease.is_due(now))
        .map(|(item, lease)| renewed(item, lease.seconds, now))
        .collect()
}

/// Frees an actor's items: begun ones stay begun, so that whoever continues takes them first.
pub fn set_aside<'a>(held: impl Iterator<Item = &'a Item>, actor: &Actor) -> Vec<ItemEvent> {
    let is_own = |item: &&Item| item.lease.as_ref().is_some_and(|lease| lease.actor == *actor);
    held.filter(is_own)
        .flat_map(|item| {
            let begun =
                (item.status == ItemStatus::Active).then(|| ItemEvent::ItemStarted { id: item.id.clone() });
            [Some(ItemEvent::ItemReleased { id: item.id.clone() }), begun]
        })
        .flatten()
        .collect()
}
