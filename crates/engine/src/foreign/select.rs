//! Selects the session that a command uses.

pub(crate) mod choose;
pub(crate) mod exclusive;
pub(crate) mod rank;
#[cfg(test)]
mod tests;

use crate::NATIVE;
use crate::engine::{Engine, Want, is_unfinished};
use crate::error::{Error, Result};
use crate::foreign::discover::Owner;
use crate::foreign::discover::summary::{self, SessionSummary};
use crate::foreign::select::choose::{Candidate, Candidates, Choice, Source, choose};
use crate::foreign::select::rank::Ranked;
use layouts::layout::{self, Layout, Spot};
use model::id::SessionId;
use model::lifecycle::Lifecycle;
use model::session::Session;
use std::cell::OnceCell;
use store::{Filter, SessionRow};

impl Engine {
    /// Selects a session: the named one; else the one on which the asking agent works; else that of this worktree.
    pub(crate) fn select(&self, want: Want) -> Result<SessionId> {
        let found = self.selected(want, self.options.session.as_deref())?;
        found.map(|(id, _)| id).ok_or_else(|| Error::NoSession { worktree: self.project.worktree() })
    }

    /// Returns the selected session and the source that named it. Looks up candidates one by one until one is suitable.
    pub(crate) fn selected(&self, want: Want, named: Option<&str>) -> Result<Option<(SessionId, Source)>> {
        let flag = named.map(|named| self.resolve(named)).transpose()?.map(open);
        let mut known = Candidates::from([(Source::Flag, flag)]);
        let latest = OnceCell::new();
        loop {
            match choose(want, &known) {
                Choice::Meant(id, source) => return Ok(Some((id, source))),
                Choice::Nobody => return Ok(None),
                Choice::Ask(source) => {
                    let found = self.candidate(source, want, &latest)?;
                    known.insert(source, found);
                }
            }
        }
    }

    fn candidate(
        &self,
        source: Source,
        want: Want,
        latest: &OnceCell<Option<SessionRow>>,
    ) -> Result<Option<Candidate>> {
        let is_in_files = matches!(source, Source::ActiveInFiles | Source::ContinuedInFiles)
            || (source == Source::UnfinishedInFiles && want != Want::Resumable);
        if is_in_files && !self.looks_around {
            return Ok(None);
        }
        let latest = || -> Result<Option<&SessionRow>> {
            if latest.get().is_none() {
                let _ = latest.set(self.latest_of_worktree()?);
            }
            Ok(latest.get().and_then(Option::as_ref))
        };
        let of_row = |row: &SessionRow| Candidate { id: row.id.clone(), is_open: self.is_still_open(row) };
        Ok(match source {
            Source::Flag => None,
            Source::Binding => {
                let Some(id) = self.bound_session()? else { return Ok(None) };
                let is_open = self.store.load(&id)?.is_some_and(|found| self.is_still_open(&found.row));
                Some(Candidate { id, is_open })
            }
            Source::Worktree => latest()?.map(of_row),
            Source::ActiveHere => self.store.active(&self.project.worktree())?.map(open),
            Source::ActiveInFiles => {
                let latest = latest()?;
                let is_another = |id: &SessionId| latest.is_none_or(|row| row.id != *id);
                self.active_by_files(latest).filter(is_another).map(open)
            }
            Source::ForeignActive => self.active_foreign().map(open),
            Source::ContinuedInFiles => latest()?.and_then(|row| self.moved_on_to(row)).map(open),
            Source::UnfinishedInFiles if want == Want::Resumable => self.current_foreign(false).map(open),
            Source::UnfinishedInFiles => self.other_unfinished(latest()?, want == Want::Latest).map(open),
            Source::Waiting => self.waiting()?.map(open),
            Source::WaitingInFiles => self.waiting_by_files().map(open),
        })
    }

    /// Returns another tool's unfinished session, to use if the last session of the worktree is finished or missing. In
    /// layouts ordered by name, stored sessions count too: the tool does not know which sessions leftoff has stored.
    pub(crate) fn other_unfinished(&self, latest: Option<&SessionRow>, or_closed: bool) -> Option<SessionId> {
        let foreign = self.current_foreign(latest.is_none() && or_closed);
        let kept = latest.and_then(|row| self.kept_unfinished(&row.layout, &Lifecycle::UNFINISHED));
        let (Some(one), Some(other)) = (&foreign, &kept) else { return foreign.or(kept) };
        let (Ok((_, one)), Ok((_, other))) = (self.load(one), self.load(other)) else {
            // If one of two sessions is unreadable, the other one is used.
            return if self.load(one).is_ok() { foreign } else { kept };
        };
        let is_foreign_later = if one.layout == other.layout {
            one.path > other.path
        } else {
            one.updated_at > other.updated_at
        };
        if is_foreign_later { foreign } else { kept }
    }

    /// Returns the session that was changed last, among those that the log calls active but that their file paused or
    /// marked as failed, or that have expired.
    pub(crate) fn waiting_by_files(&self) -> Option<SessionId> {
        let filter = Filter {
            lifecycles: vec!["active".to_owned()],
            worktree: Some(self.project.worktree()),
            ..Filter::default()
        };
        let listed = self.store.list(&filter).ok()?;
        listed.into_iter().filter(|listed| listed.row.layout != NATIVE).find_map(|listed| {
            let session = self.with_expiry(self.load(&listed.row.id).ok()?.1);
            matches!(session.lifecycle.name(), "paused" | "failed").then_some(session.id)
        })
    }

    /// Returns the session with the last name, among a layout's stored sessions with one of these lifecycles.
    fn kept_unfinished(&self, layout: &str, lifecycles: &[&str]) -> Option<SessionId> {
        let layout = layout::by_name(layout).filter(|layout| tells_by_name(*layout))?;
        let filter = Filter {
            lifecycles: lifecycles.iter().map(|name| (*name).to_owned()).collect(),
            layout: Some(layout.facts().name.to_owned()),
            worktree: Some(self.project.worktree()),
            ..Filter::default()
        };
        let listed = self.store.list(&filter).ok()?;
        let paths =
            listed.into_iter().filter(|listed| self.is_still_open(&listed.row)).filter_map(|listed| {
                let (_, session) =
                    self.load(&listed.row.id).ok().filter(|_| !self.is_gone(&listed.row.id))?;
                Some((session.path, session.id))
            });
        paths.max().map(|(_, id)| id)
    }

    /// Returns the foreign session to use by default. Each layout proposes its unfinished session with the last name.
    /// Of these, a readable session is preferred, then the one that was changed last. If all are closed and `or_closed`
    /// is true, returns the session with the last name.
    pub(crate) fn current_foreign(&self, or_closed: bool) -> Option<SessionId> {
        let mut best: Option<SessionSummary> = None;
        let mut last_closed: Option<SessionId> = None;
        let mut known: Option<&'static str> = None;
        let summaries = self.summaries();
        for located in self.unadopted().iter().rev() {
            // One suitable session of each layout is enough. A thousand older ones need not be read.
            if known == Some(located.layout.facts().name) {
                continue;
            }
            let found = if located.layout.facts().exclusive {
                summary::by_path(&summaries, located).cloned()
            } else {
                self.reader().summarised(located)
            };
            let Some(found) = found else { continue };
            if !found.is_unfinished() {
                last_closed = last_closed.or(Some(found.id));
                continue;
            }
            if found.says_where_it_stands && found.has_work() && tells_by_name(located.layout) {
                known = Some(located.layout.facts().name);
            }
            if best.as_ref().is_none_or(|best| ranked(&found).is_better_than(&ranked(best))) {
                best = Some(found);
            }
        }
        best.map(|found| found.id).or(last_closed.filter(|_| or_closed))
    }

    /// Returns the unfinished session with which the tool continued after this one: it has a later name and was changed
    /// later. If this session is paused, only the name counts, and sessions that leftoff started are considered too.
    pub(crate) fn moved_on_to(&self, row: &SessionRow) -> Option<SessionId> {
        let layout = layout::by_name(&row.layout).filter(|layout| tells_by_name(*layout))?;
        let (_, session) = self.load(&row.id).ok()?;
        if self.is_gone(&row.id) {
            return self.other_unfinished(Some(row), false);
        }
        let session = self.with_expiry(session);
        let waits = session.lifecycle != Lifecycle::Active;
        let foreign = self.later_foreign(layout, &session);
        let foreign = foreign.filter(|found| waits || found.line.updated_at > session.updated_at);
        let kept = if waits { self.kept_unfinished(&row.layout, &["active"]) } else { None };
        let kept = kept.and_then(|id| Some((self.load(&id).ok()?.1.path?, id)));
        let kept = kept.filter(|(path, _)| session.path.as_ref().is_some_and(|own| path > own));
        let foreign = foreign.map(|found| (found.path, found.id));
        kept.max(foreign).map(|(_, id)| id)
    }

    /// Returns the unfinished session with the last name, among those that exist only in files and whose names come
    /// after this session's name.
    fn later_foreign(&self, layout: &dyn Layout, session: &Session) -> Option<SessionSummary> {
        let mut later = self.spots(layout);
        later.retain(|spot| session.path.as_ref().is_some_and(|own| spot.path > *own));
        // Usually there is no later session, and nothing needs to be read.
        if later.is_empty() {
            return None;
        }
        let (all, reader) = (self.unadopted(), self.reader());
        let found = all.iter().rev().filter(|located| later.contains(&located.spot));
        let mut found = found.filter_map(|located| reader.summarised(located));
        found.find(|found| found.is_unfinished() && found.says_where_it_stands && found.has_work())
    }

    /// Returns the session whose folder or file has exactly this name. The name may contain characters that ids do not
    /// allow, and may differ from another name only in case.
    pub(crate) fn in_a_place_called(&self, name: &str) -> Result<Option<SessionId>> {
        if name.is_empty() || name.contains('/') {
            return Ok(None);
        }
        let is_called = |path: &str| path.rsplit('/').next() == Some(name);
        if let Some(found) = self.unadopted().into_iter().find(|located| is_called(&located.spot.path)) {
            return Ok(Some(found.id));
        }
        for layout in layout::all() {
            let mut spots = self.spots(*layout).into_iter();
            if let Some(spot) = spots.find(|spot| is_called(&spot.path)) {
                return self.kept_in(*layout, &spot);
            }
        }
        Ok(None)
    }

    /// Returns the stored session that has its files in this place.
    fn kept_in(&self, layout: &dyn Layout, spot: &Spot) -> Result<Option<SessionId>> {
        for is_first in [true, false] {
            let Owner::Ours(id) = self.owner(layout, spot, is_first)? else { continue };
            if self.load(&id)?.1.path.as_ref() == Some(&spot.path) {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// True if a session's position is known: from its files for a foreign session, from the log for any other.
    pub(crate) fn says_where_it_stands(&self, id: &str) -> bool {
        let found = self.unadopted().into_iter().find(|located| located.id.as_str() == id);
        found.is_none_or(|found| {
            self.reader().summarised(&found).is_some_and(|summary| summary.says_where_it_stands)
        })
    }

    /// True if a session is unfinished according to its files. For a session without files, the store decides.
    pub(crate) fn is_still_open(&self, row: &SessionRow) -> bool {
        if row.layout == NATIVE {
            return is_unfinished(&row.lifecycle);
        }
        match self.load(&row.id) {
            Ok((_, session)) => is_unfinished(session.lifecycle.name()),
            Err(_) => is_unfinished(&row.lifecycle),
        }
    }
}

fn ranked(summary: &SessionSummary) -> Ranked<'_> {
    Ranked {
        layout: &summary.line.layout,
        names_tell_order: layout::by_name(&summary.line.layout).is_some_and(tells_by_name),
        says_where_it_stands: summary.says_where_it_stands,
        has_work: summary.has_work(),
        is_active: summary.is_active(),
        updated_at: summary.line.updated_at,
    }
}

fn open(id: SessionId) -> Candidate {
    Candidate { id, is_open: true }
}

/// True if the order of names decides which of a layout's sessions is later. In a layout that allows one active
/// session, the active one counts instead.
fn tells_by_name(layout: &dyn Layout) -> bool {
    layout.facts().ordered_by_name && !layout.facts().exclusive
}
