//! Keeps replicas apart: a copied or restored store continues under another name. A mark of the newest event
//! reveals that the store is not the original.

use super::Shared;
use super::settings::Mark;
use crate::engine::Engine;
use crate::error::Result;
use store::Store;

impl Engine {
    /// Gives this store a new name if it is a copy, or an older version restored from a backup, so that it
    /// does not continue the original's history.
    pub(super) fn agree_on_name(&mut self, shared: &mut Shared) -> Result<()> {
        let place = self.project.database()?;
        let is_elsewhere = shared.settings.place != place;
        let is_copy = is_elsewhere && shared.settings.place.exists();
        let is_restored = !is_copy && !self.has_mark(&shared.settings.mark)?;
        let at_remote = shared.refs.fetched.get(&shared.settings.replica).map(|(commit, _)| commit.clone());
        let is_known = at_remote.as_ref().is_none_or(|commit| {
            let own = shared.refs.own.as_ref();
            shared.settings.pushed.as_ref() == Some(commit)
                || own == Some(commit)
                || own.is_some_and(|own| shared.sidecar.is_ancestor(commit, own))
        });
        if !is_copy && !is_restored && is_known {
            // The store may have been moved; if the original still existed, it would have written under this
            // name.
            shared.settings.place = place;
            return find_own_history(shared, at_remote.as_deref());
        }
        let old = shared.settings.replica.clone();
        shared.settings.become_another(place)?;
        if is_restored {
            // After a restore, data under the old name is still this replica's; after a copy, it belongs to
            // the other clone.
            shared.settings.former.insert(old.clone());
        }
        shared.sidecar.give_away_own(&old)?;
        shared.refs = shared.sidecar.refs()?;
        shared.keep_settings()
    }

    /// True if the store still has the event that was its newest at the last sync.
    fn has_mark(&self, mark: &Mark) -> Result<bool> {
        let (Some(session), Some(link)) = (&mark.session, &mark.link) else { return Ok(true) };
        let Ok(id) = model::id::SessionId::parse(session) else { return Ok(true) };
        let chain = self.store.chain(&id)?;
        Ok(chain.seals.get(&mark.version).is_some_and(|seal| crate::hex(&seal.link) == *link))
    }

    pub(super) fn mark_at(&self, cursor: u64) -> Result<Mark> {
        let newest = self.store.changes(cursor.saturating_sub(1), 1)?;
        let Some(change) = newest.first() else { return Ok(Mark { cursor, ..Mark::default() }) };
        let seals = self.store.chain(&change.session)?.seals;
        let link = seals.get(&change.event.version).map(|seal| crate::hex(&seal.link));
        Ok(Mark { cursor, session: Some(change.session.to_string()), version: change.event.version, link })
    }
}

/// Takes this replica's history from the remote if the sidecar was lost; if the remote has none, everything
/// is sent again.
fn find_own_history(shared: &mut Shared, at_remote: Option<&str>) -> Result<()> {
    if shared.refs.own.is_some() {
        return Ok(());
    }
    match at_remote {
        Some(commit) => shared.sidecar.take_as_own(commit)?,
        None => shared.settings.mark = Mark::default(),
    }
    shared.refs = shared.sidecar.refs()?;
    Ok(())
}
