//! Facts that item commands need about other things: which lease holders are gone, and whether files exist.

use crate::engine::Engine;
use crate::next::file_of_item;
use jiff::Timestamp;
use model::actor::Actor;
use model::item::{Item, ItemBook};
use model::session::Session;

impl Engine {
    /// Holders of live leases on these items whose processes are known to be gone.
    pub(super) fn gone_holders(&self, book: &ItemBook) -> Vec<Actor> {
        let now = self.clock.now();
        let holders = book.iter().filter_map(|item| Some(&item.live_lease(now)?.actor));
        holders.filter(|holder| self.gone_since(holder).is_some()).cloned().collect()
    }

    /// Holders of leases on these items whose work hooks see, and when each was last active.
    pub(super) fn holders_at_work(&self, book: &ItemBook) -> Vec<(Actor, Timestamp)> {
        let holders = book.iter().filter_map(|item| Some(&item.lease.as_ref()?.actor));
        holders.filter_map(|holder| Some((holder.clone(), self.seen_at_work(holder)?))).collect()
    }

    /// A warning if an item is marked done although its file is missing.
    pub(super) fn without_its_file(&self, session: &Session, item: Option<&Item>) -> Option<String> {
        let (item, definition) = (item?, self.definition_of(session).ok()?);
        let path = file_of_item(session, Some(&*definition), item)?;
        let is_there = self.root_of(session).join(&path).exists();
        (!is_there).then(|| {
            format!(
                "{} is marked done, but its file is missing: {path}; the gate of {} needs it",
                item.id, item.phase
            )
        })
    }
}
