//! What the log tells of a session beyond its files: where its runs stand, what was left out, and how it ended.

use super::write::{kind_of, last_of};
use super::{Beside, Kind, OcrSession};
use model::lifecycle::Lifecycle;
use model::phase::PhaseState;
use model::run::Run;
use model::session::Session;

impl OcrSession {
    /// Where it stands is what the session says.
    pub(super) fn stand_as_known(&mut self, session: &Session) {
        let own = session.run().filter(|run| self.is_current(run));
        if let Some((run, phase)) = own.and_then(|run| Some((run, position(run, self.kind)?))) {
            self.phase = phase;
            self.is_finished = !run.is_open();
            self.skipped = skipped(run, self.kind);
            self.clock_of_known(run);
            self.ended_at = run.completed_at;
        }
        if let Some(other) = self.beside.take() {
            self.beside = Some(self.known_beside(other, session));
        }
        self.end_as_known(session);
    }

    fn is_current(&self, run: &Run) -> bool {
        kind_of(run) == Some(self.kind) && run.ordinal == self.ordinal()
    }

    /// The state does not name that one's phase, and the log does. Files alone tell of a round or run that the log does
    /// not know.
    fn known_beside(&self, other: Beside, session: &Session) -> Beside {
        let kind = other.kind;
        let run = last_of(kind, session).filter(|run| run.ordinal >= other.ordinal);
        let Some((run, phase)) = run.and_then(|run| Some((run, position(run, kind)?))) else { return other };
        Beside { kind, ordinal: run.ordinal, phase, is_finished: !run.is_open(), skipped: skipped(run, kind) }
    }

    /// A closed one is done, wherever its work was: that is what its state says from then on. One that was given up
    /// stays where it was left.
    fn end_as_known(&mut self, session: &Session) {
        (self.is_closed, self.is_given_up) = match session.lifecycle {
            Lifecycle::Completed { .. } => (true, false),
            Lifecycle::Abandoned { .. } => (true, true),
            Lifecycle::Active | Lifecycle::Paused { .. } | Lifecycle::Failed { .. } => (false, false),
        };
        if self.is_closed && !self.is_given_up {
            self.phase = self.kind.phases().len() - 1;
            self.is_finished = true;
        }
    }

    /// When the round or run began, where its state has no word about it: as the log has it. Not before the session
    /// itself did.
    fn clock_of_known(&mut self, run: &Run) {
        let began = self.state.started_at.map_or(run.started_at, |started| started.max(run.started_at));
        match self.kind {
            Kind::Review => self.state.round_started_at.get_or_insert(began),
            Kind::Map => self.state.map_started_at.get_or_insert(began),
        };
    }
}

fn position(run: &Run, kind: Kind) -> Option<usize> {
    kind.phases().iter().position(|phase| *run.current().id() == **phase)
}

fn skipped(run: &Run, kind: Kind) -> Vec<usize> {
    let is_skipped = |name: &str| {
        let phase = run.phases.iter().find(|phase| phase.id().as_str() == name);
        phase.is_some_and(|phase| matches!(phase.state, PhaseState::Skipped { .. }))
    };
    let names = kind.phases().iter().enumerate();
    names.filter(|(_, name)| is_skipped(name)).map(|(position, _)| position).collect()
}
