//! Which session of another tool is meant when none is named.

use super::NATIVE;
use super::find::Owner;
use super::shorts::{self, Short};
use crate::engine::{Engine, is_unfinished};
use crate::error::Result;
use layouts::layout::{self, Layout, Spot};
use model::id::SessionId;
use model::lifecycle::Lifecycle;
use model::session::Session;
use store::{Filter, SessionRow};

impl Engine {
    /// Where what was worked on last is over, or there is none: the session of another tool that goes on. Of those that
    /// are told apart by their names, ours count too: whose log they are in means nothing to their tool.
    pub(crate) fn other_that_goes_on(
        &self,
        latest: Option<&SessionRow>,
        or_closed: bool,
    ) -> Option<SessionId> {
        let foreign = self.current_foreign(latest.is_none() && or_closed);
        let kept = latest.and_then(|row| self.kept_that_goes_on(&row.layout, &Lifecycle::UNFINISHED));
        let (Some(one), Some(other)) = (&foreign, &kept) else { return foreign.or(kept) };
        let (Ok((_, one)), Ok((_, other))) = (self.load(one), self.load(other)) else {
            // One that cannot be read hides no other.
            return if self.load(one).is_ok() { foreign } else { kept };
        };
        let is_foreign_later = if one.layout == other.layout {
            one.path > other.path
        } else {
            one.updated_at > other.updated_at
        };
        if is_foreign_later { foreign } else { kept }
    }

    /// Of our own sessions the one that waits by now, though the log has it as active: somebody paused it in its file, or
    /// nothing has happened in it for a day. The one that changed last.
    pub(crate) fn waiting_by_files(&self) -> Option<SessionId> {
        let filter = Filter {
            lifecycles: vec!["active".to_owned()],
            worktree: Some(self.project.worktree()),
            ..Filter::default()
        };
        let listed = self.store.list(&filter).ok()?;
        listed.into_iter().filter(|listed| listed.row.layout != NATIVE).find_map(|listed| {
            let session = self.laid_over(self.load(&listed.row.id).ok()?.1);
            matches!(session.lifecycle.name(), "paused" | "failed").then_some(session.id)
        })
    }

    /// Of our own sessions of a layout the last by name that goes on, of those that the log has in these states.
    fn kept_that_goes_on(&self, layout: &str, lifecycles: &[&str]) -> Option<SessionId> {
        let layout = layout::by_name(layout).filter(|layout| tells_by_name(*layout))?;
        let filter = Filter {
            lifecycles: lifecycles.iter().map(|name| (*name).to_owned()).collect(),
            layout: Some(layout.facts().name.to_owned()),
            worktree: Some(self.project.worktree()),
            ..Filter::default()
        };
        let listed = self.store.list(&filter).ok()?;
        let paths = listed.into_iter().filter(|listed| self.goes_on(&listed.row)).filter_map(|listed| {
            let (_, session) = self.load(&listed.row.id).ok().filter(|_| !self.is_gone(&listed.row.id))?;
            Some((session.path, session.id))
        });
        paths.max().map(|(_, id)| id)
    }

    /// The foreign session that is meant when none is named: of each layout the last by name that is not closed, one
    /// whose state can be read before one whose state cannot; of those the one that changed last.
    /// Without one that is not closed, where `closed` may be meant: the last by name.
    pub(crate) fn current_foreign(&self, or_closed: bool) -> Option<SessionId> {
        let mut best: Option<Short> = None;
        let mut last_closed: Option<SessionId> = None;
        let mut known: Option<&'static str> = None;
        let shorts = self.shorts();
        for located in self.unadopted().iter().rev() {
            // Of one layout the first that will do is taken, so that a thousand old ones are not read.
            if known == Some(located.layout.facts().name) {
                continue;
            }
            let found = if located.layout.facts().exclusive {
                shorts::by_path(&shorts, located).cloned()
            } else {
                self.eyes().in_short(located)
            };
            let Some(found) = found else { continue };
            if !found.is_unfinished() {
                last_closed = last_closed.or(Some(found.id));
                continue;
            }
            if found.says_where_it_stands && found.has_work() && tells_by_name(located.layout) {
                known = Some(located.layout.facts().name);
            }
            // Where names tell the order, the later one of a layout comes first: an older one replaces it only with work
            // that remains.
            let is_same = |best: &Short| best.line.layout == found.line.layout;
            let names_decide = tells_by_name(located.layout) && best.as_ref().is_some_and(is_same);
            let rank = |found: &Short| (found.says_where_it_stands, found.is_active(), found.line.updated_at);
            let is_better = |best: &Short| {
                if names_decide {
                    (rank(&found).0, found.has_work()) > (rank(best).0, best.has_work())
                } else {
                    (rank(&found).0, found.has_work(), rank(&found))
                        > (rank(best).0, best.has_work(), rank(best))
                }
            };
            if best.as_ref().is_none_or(is_better) {
                best = Some(found);
            }
        }
        best.map(|found| found.id).or(last_closed.filter(|_| or_closed))
    }

    /// The session that its tool has gone on to since this one was worked on last: later by name, not closed, and
    /// changed after it. From one that waits it has gone on whenever that was, also to one of ours that is active.
    pub(crate) fn gone_on_to(&self, row: &SessionRow) -> Option<SessionId> {
        let layout = layout::by_name(&row.layout).filter(|layout| tells_by_name(*layout))?;
        let (_, session) = self.load(&row.id).ok()?;
        if self.is_gone(&row.id) {
            return self.other_that_goes_on(Some(row), false);
        }
        let session = self.laid_over(session);
        let waits = session.lifecycle != Lifecycle::Active;
        let foreign = self.later_foreign(layout, &session);
        let foreign = foreign.filter(|found| waits || found.line.updated_at > session.updated_at);
        let kept = if waits { self.kept_that_goes_on(&row.layout, &["active"]) } else { None };
        let kept = kept.and_then(|id| Some((self.load(&id).ok()?.1.path?, id)));
        let kept = kept.filter(|(path, _)| session.path.as_ref().is_some_and(|own| path > own));
        let foreign = foreign.map(|found| (found.path().to_owned(), found.id));
        kept.max(foreign).map(|(_, id)| id)
    }

    /// The last by name that only files tell of, is not closed and stands after this one.
    fn later_foreign(&self, layout: &dyn Layout, session: &Session) -> Option<Short> {
        let later = self.later_spots(layout, session);
        if later.is_empty() {
            return None;
        }
        let (all, eyes) = (self.unadopted(), self.eyes());
        let found = all.iter().rev().filter(|located| later.contains(&located.spot));
        let mut found = found.filter_map(|located| eyes.in_short(located));
        found.find(|found| found.is_unfinished() && found.says_where_it_stands && found.has_work())
    }

    /// Where sessions of a layout are whose names sort after this one's: without a look into any.
    fn later_spots(&self, layout: &dyn Layout, session: &Session) -> Vec<Spot> {
        let mut spots = self.spots(layout);
        spots.retain(|spot| session.path.as_ref().is_some_and(|own| spot.path > *own));
        spots
    }

    /// The session whose folder, or file, is called just so: that name may hold what an id cannot, and two of them may
    /// differ only in case.
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

    /// The session of ours whose files are in this place.
    fn kept_in(&self, layout: &dyn Layout, spot: &Spot) -> Result<Option<SessionId>> {
        for is_first in [true, false] {
            let Owner::Ours(id) = self.owner(layout, spot, is_first)? else { continue };
            if self.load(&id)?.1.path.as_ref() == Some(&spot.path) {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// Whether a session's files say where it stands; of one that we know, its log does.
    pub(crate) fn says_where_it_stands(&self, id: &str) -> bool {
        let found = self.unadopted().into_iter().find(|located| located.id.as_str() == id);
        found.is_none_or(|found| self.eyes().in_short(&found).is_some_and(|short| short.says_where_it_stands))
    }

    /// Not finished: as the store has it, or, where files can say otherwise, as they have it by now.
    pub(crate) fn goes_on(&self, row: &SessionRow) -> bool {
        if row.layout == NATIVE {
            return is_unfinished(&row.lifecycle);
        }
        match self.load(&row.id) {
            Ok((_, session)) => is_unfinished(session.lifecycle.name()),
            Err(_) => is_unfinished(&row.lifecycle),
        }
    }
}

/// Whether of two sessions the one that is later is known by its name; where only one is active, that is the one,
/// whatever it is called.
fn tells_by_name(layout: &dyn Layout) -> bool {
    layout.facts().ordered_by_name && !layout.facts().exclusive
}
