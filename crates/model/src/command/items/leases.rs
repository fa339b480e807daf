//! Changes of leases that follow from what their holder does: activity renews a lease, and a pause releases the item.

use super::renewed;
use crate::actor::Actor;
use crate::event::ItemEvent;
use crate::item::Item;
use jiff::Timestamp;

/// Returns the lease renewals that follow from an actor's activity. A lease is renewed only after more than half of its
/// time.
pub fn renewals<'a>(held: impl Iterator<Item = &'a Item>, actor: &Actor, now: Timestamp) -> Vec<ItemEvent> {
    held.filter_map(|item| Some((item, item.lease.as_ref()?)))
        .filter(|(_, lease)| lease.actor == *actor && lease.is_due(now))
        .map(|(item, lease)| renewed(item, lease.seconds, now))
        .collect()
}

/// Returns events that release an actor's items but leave them marked as started, because claiming an item starts the
/// work on it. The next claimant gets started items first.
pub fn set_aside<'a>(held: impl Iterator<Item = &'a Item>, actor: &Actor) -> Vec<ItemEvent> {
    let is_own = |item: &&Item| item.lease.as_ref().is_some_and(|lease| lease.actor == *actor);
    let freed = |item: &Item| {
        [ItemEvent::ItemReleased { id: item.id.clone() }, ItemEvent::ItemStarted { id: item.id.clone() }]
    };
    held.filter(is_own).flat_map(freed).collect()
}
