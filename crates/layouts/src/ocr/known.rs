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
        self.beside = self.known_beside(session);
        self.end_as_known(session);
    }

    fn is_current(&self, run: &Run) -> bool {
        kind_of(run) == Some(self.kind) && run.ordinal == self.ordinal()
    }

    /// The state does not name that one's phase, and the log does. Files alone tell of a round or run that the log does
    /// not know.
    fn known_beside(&mut self, session: &Session) -> Option<Beside> {
        let (kind, told) = match self.kind {
            Kind::Review => (Kind::Map, self.beside.take()),
            Kind::Map => (Kind::Review, self.beside.take()),
        };
        let Some(run) = last_of(kind, session) else { return told };
        let is_newer = told.as_ref().is_some_and(|told| told.ordinal > run.ordinal);
        let Some(phase) = position(run, kind).filter(|_| !is_newer) else { return told };
        let told_end = told.and_then(|told| told.ended_at);
        // One that only files tell of is dated to one moment: that says nothing about how long it took.
        let is_timed = run.completed_at.is_none_or(|ended| ended > run.started_at);
        let (began, ended_at) =
            if is_timed { (Some(run.started_at), run.completed_at) } else { (None, told_end) };
        Some(Beside {
            kind,
            ordinal: run.ordinal,
            phase,
            is_finished: !run.is_open(),
            since: self.state.clock(kind).or(began),
            ended_at,
            skipped: skipped(run, kind),
        })
    }

    /// How it ended is what the log says: one that was closed unfinished stays where its work was, although its state
    /// says `complete` from then on.
    fn end_as_known(&mut self, session: &Session) {
        (self.is_closed, self.is_given_up) = match session.lifecycle {
            Lifecycle::Completed { .. } => (true, false),
            Lifecycle::Abandoned { .. } => (true, true),
            Lifecycle::Active | Lifecycle::Paused { .. } | Lifecycle::Failed { .. } => (false, false),
        };
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
