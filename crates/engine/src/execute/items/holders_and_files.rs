//! Facts that item commands need about other things: which lease holders are gone, and whether files exist.

use crate::engine::Engine;
use crate::error::Result;
use crate::next::file_of_item;
use jiff::Timestamp;
use model::actor::Actor;
use model::item::{Item, ItemBook};
use model::refusal::{ItemRefusal, Refusal};
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

    /// An item that its phase splits into parts has no work of its own, and could no longer be split once it is done.
    pub(super) fn refuse_unsplit(&self, session: &Session, item: Option<&Item>) -> Result<()> {
        let Some(item) = item.filter(|item| !item.is_done()) else { return Ok(()) };
        // A session whose definition is lost follows no rule of its own.
        let Ok(definition) = self.definition_of(session) else { return Ok(()) };
        match definition.phase(item.phase.as_str()) {
            Some(defined) if defined.splits_first(item) => {
                Err(Refusal::from(ItemRefusal::NotSplit { id: item.id.clone() }).into())
            }
            Some(_) | None => Ok(()),
        }
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
