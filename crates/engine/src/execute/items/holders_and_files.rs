//! Facts about other things that decisions about items need: which lease holders have ended or are active, and whether
//! files exist.

use crate::engine::Engine;
use crate::error::Result;
use crate::next::file_of_item;
use jiff::Timestamp;
use model::actor::Actor;
use model::item::{Item, ItemBook};
use model::refusal::{ItemRefusal, Refusal};
use model::session::Session;

impl Engine {
    /// Returns the holders of live leases on these items whose process has ended.
    pub(super) fn gone_holders(&self, book: &ItemBook) -> Vec<Actor> {
        let now = self.clock.now();
        let holders = book.iter().filter_map(|item| Some(&item.live_lease(now)?.actor));
        holders.filter(|holder| self.gone_since(holder).is_some()).cloned().collect()
    }

    /// Returns the holders of leases on these items that hooks report as active, and when each was last active.
    pub(super) fn holders_at_work(&self, book: &ItemBook) -> Vec<(Actor, Timestamp)> {
        let holders = book.iter().filter_map(|item| Some(&item.lease.as_ref()?.actor));
        holders.filter_map(|holder| Some((holder.clone(), self.seen_at_work(holder)?))).collect()
    }

    /// Refuses to complete an item that must be split into parts first: the parts are its work, and a completed item
    /// can no longer be split.
    pub(super) fn refuse_unsplit(&self, session: &Session, item: Option<&Item>) -> Result<()> {
        let Some(item) = item.filter(|item| item.is_open()) else { return Ok(()) };
        // If the definition of a session is lost, its rules are unknown and not applied.
        let Ok(definition) = self.definition_of(session) else { return Ok(()) };
        match definition.phase(item.phase.as_str()) {
            Some(defined) if defined.splits_first(item) => {
                Err(Refusal::from(ItemRefusal::NotSplit { id: item.id.clone() }).into())
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Returns a warning if an item is marked as done although its file is missing.
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
