//! Items that were left behind: items of earlier phases that must be done first, and items whose holder has ended.

use super::{Spot, read_item};
use crate::engine::Engine;
use crate::error::Result;
use jiff::Timestamp;
use model::actor::Actor;
use model::id::SessionId;
use model::phase::Phase;
use model::run::Run;
use model::session::Session;
use store::{Batch, ItemRow};

impl Engine {
    /// Returns the phase whose open items must be done first; `None` if this is the current phase or if there is none.
    pub(super) fn left_behind<'a>(&self, session: &Session, run: &'a Run) -> Option<&'a Phase> {
        if run.phases.iter().all(|phase| phase.items.open() == 0) {
            return None;
        }
        let is_contested = |phase: &&Phase| {
            phase.items.open() > 0 && session.is_contested(phase) && self.judges_items(session, phase)
        };
        let contested = run.phases.iter().find(is_contested);
        let left = || self.left_open_before_the_end(session, run);
        contested.or_else(left).filter(|phase| phase.id() != run.current().id())
    }

    /// Returns the phase whose open items block the end of the run. A gate that checks items has already judged the
    /// items of its phase. Such a phase blocks the end only if a file alone calls it done.
    pub(crate) fn left_open_before_the_end<'a>(&self, session: &Session, run: &'a Run) -> Option<&'a Phase> {
        run.left_open_before_the_end(|phase| phase.claimed || !self.judges_items(session, phase))
    }

    /// Returns the first unfinished phase of a session that only a file closed: an unproven phase, or a phase whose
    /// open items block the end of the run. `None` if the session is open, or if all of its phases are really done.
    pub(crate) fn closed_over<'a>(&self, session: &'a Session) -> Option<&'a Phase> {
        let run = session.run()?;
        let position = session.closed_over().filter(|from| self.lacks_proof(session, run, *from));
        let phase = position.and_then(|position| run.phases.get(position));
        phase.or_else(|| self.left_open_before_the_end(session, run).filter(|_| session.ended_by_file))
    }

    /// True if any phase from this position on has open items or a failed gate, is contradicted by the log, or has
    /// checks and is only claimed. A phase without checks, such as presenting the result, cannot be proven, so its
    /// claim suffices.
    fn lacks_proof(&self, session: &Session, run: &Run, from: usize) -> bool {
        let definition = self.definition_of(session).ok();
        let has_checks = |phase: &Phase| {
            let defined = definition.as_ref().and_then(|definition| definition.phase(phase.id().as_str()));
            defined.is_none_or(|defined| !defined.checks.is_empty())
        };
        run.phases.iter().skip(from).any(|phase| {
            let is_left = phase.items.open() > 0 || session.is_contested(phase) || session.failed_here(phase);
            is_left || (phase.claimed && has_checks(phase))
        })
    }

    fn judges_items(&self, session: &Session, phase: &Phase) -> bool {
        let definition = self.definition_of(session).ok();
        let defined = definition.as_ref().and_then(|definition| definition.phase(phase.id().as_str()));
        defined.is_some_and(|defined| defined.checks.iter().any(|check| check.kind.asks_for_items()))
    }

    /// Returns the first item whose holder has ended.
    pub(super) fn left_by_somebody(
        &self,
        session: &SessionId,
        spot: &Spot,
        batch: &Batch,
        actor: &Actor,
        now: Timestamp,
    ) -> Result<Option<ItemRow>> {
        for row in self.open_rows(session, spot, batch)? {
            let is_live = row.lease_until.is_some_and(|until| now < until);
            if is_live && self.item_view(read_item(&row)?, actor, now).ready {
                return Ok(Some(row));
            }
        }
        Ok(None)
    }
}
