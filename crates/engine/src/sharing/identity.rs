//! Keeps replicas apart: a store that was copied or restored continues under another name. It is recognised by a mark,
//! the newest event at the last sync.

use super::Shared;
use super::settings::{Mark, Settings};
use super::taking::is_fork;
use crate::engine::Engine;
use crate::error::Result;
use store::{Arrived, Change, Store};

/// How many events are read together in the search for the newest one.
const READ_AT_ONCE: u64 = 100;

impl Engine {
    /// Gives this store a new name if it is a copy or was restored from a backup. Otherwise it would continue the
    /// history of the original.
    pub(super) fn agree_on_name(&mut self, shared: &mut Shared) -> Result<()> {
        let place = self.project.database()?;
        let is_copy = self.is_copy(&shared.settings)?;
        let is_restored = !is_copy && !self.has_mark(&shared.settings.mark)?;
        let at_remote = shared.refs.fetched.get(&shared.settings.replica).map(|(commit, _)| commit.clone());
        let is_known = at_remote.as_ref().is_none_or(|commit| {
            let own = shared.refs.own.as_ref();
            shared.settings.pushed.as_ref() == Some(commit)
                || own == Some(commit)
                || own.is_some_and(|own| shared.sidecar.is_ancestor(commit, own))
        });
        if !is_copy && !is_restored && is_known {
            // The store may have been moved here. If the original still existed, it would have written under this name.
            shared.settings.place = place;
            return find_own_history(shared, at_remote.as_deref());
        }
        // Data that was fetched before may contain purged text, and is no longer compared with the data fetched next.
        self.begin_erasing()?;
        let old = shared.settings.replica.clone();
        shared.settings.become_another(place)?;
        if is_restored {
            // If the store was restored, data under the old name still belongs to this replica. If it was copied, that
            // data belongs to the other clone.
            shared.settings.former.insert(old.clone());
        } else {
            shared.settings.copied_from.insert(old.clone());
        }
        shared.sidecar.give_away_own(&old)?;
        shared.refs = shared.sidecar.refs()?;
        shared.keep_settings()
    }

    /// True if this store is a copy that has not synced yet: its name belongs to the original, which still exists.
    pub(super) fn is_copy(&self, settings: &Settings) -> Result<bool> {
        Ok(settings.place != self.project.database()? && settings.place.exists())
    }

    /// True if the store still has the event that was the newest at the last sync.
    fn has_mark(&self, mark: &Mark) -> Result<bool> {
        let (Some(session), Some(link)) = (&mark.session, &mark.link) else { return Ok(true) };
        let Ok(id) = model::id::SessionId::parse(session) else { return Ok(true) };
        let chain = self.store.chain(&id)?;
        Ok(chain.seals.get(&mark.version).is_some_and(|seal| crate::hex(&seal.link) == *link))
    }

    /// Returns the newest event up to this cursor that is not in a fork: merging a fork removes its events.
    fn newest_lasting(&self, cursor: u64) -> Result<Option<Change>> {
        let mut end = cursor;
        while end > 0 {
            let start = end.saturating_sub(READ_AT_ONCE);
            let limit = usize::try_from(end - start).unwrap_or(usize::MAX);
            let changes = self.store.changes(start, limit)?;
            let is_lasting = |change: &Change| change.cursor <= cursor && !is_fork(&change.session);
            if let Some(found) = changes.into_iter().rev().find(is_lasting) {
                return Ok(Some(found));
            }
            end = start;
        }
        Ok(None)
    }

    /// Clears the mark if taking these histories replaces its event. Otherwise the store would look restored if the
    /// sync ended before it sets a new mark.
    pub(super) fn unmark_replaced(&self, shared: &mut Shared, arrived: &Arrived) -> Result<()> {
        let mark = &mut shared.settings.mark;
        let Some(marked) = mark.session.clone() else { return Ok(()) };
        let is_replaced = arrived.gone.iter().any(|(id, _)| id.as_str() == marked)
            || arrived.histories.iter().any(|history| {
                history.row.id.as_str() == marked && history.expected > 0 && history.shared < mark.version
            });
        if is_replaced {
            *mark = Mark { cursor: mark.cursor, ..Mark::default() };
            shared.keep_settings()?;
        }
        Ok(())
    }

    pub(super) fn mark_at(&self, cursor: u64) -> Result<Mark> {
        let Some(change) = self.newest_lasting(cursor)? else {
            return Ok(Mark { cursor, ..Mark::default() });
        };
        let seals = self.store.chain(&change.session)?.seals;
        let link = seals.get(&change.event.version).map(|seal| crate::hex(&seal.link));
        Ok(Mark { cursor, session: Some(change.session.to_string()), version: change.event.version, link })
    }
}

/// If the sidecar was lost, takes this replica's history from the remote. If the remote does not have it, everything is
/// sent again.
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
