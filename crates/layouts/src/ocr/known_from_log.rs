//! Completes a session that was read from files with facts that only the log has: positions of runs, skipped
//! phases, and how the session ended.

use super::session::{Beside, OcrSession, OcrWorkflow};
use super::write::{kind_of, last_of};
use model::lifecycle::Lifecycle;
use model::phase::PhaseState;
use model::run::Run;
use model::session::Session;

impl OcrSession {
    /// Takes the position of the session from the log.
    pub(super) fn take_known_position(&mut self, session: &Session) {
        let own = session.run().filter(|run| self.is_current(run));
        if let Some((run, phase)) = own.and_then(|run| Some((run, position(run, self.kind)?))) {
            self.phase = phase;
            self.is_finished = !run.is_open();
            self.skipped = skipped(run, self.kind);
            self.clock_of_known(run);
            self.ended_at = run.completed_at.filter(|_| is_timed(run));
        }
        self.beside = self.known_beside(session);
        self.end_as_known(session);
    }

    fn is_current(&self, run: &Run) -> bool {
        kind_of(run) == Some(self.kind) && run.ordinal == self.ordinal()
    }

    /// The position in the workflow that is not current. The state does not contain its phase, but the log
    /// does. If the log does not contain that round or run, the position comes from files.
    fn known_beside(&mut self, session: &Session) -> Option<Beside> {
        let (kind, from_file) = match self.kind {
            OcrWorkflow::Review => (OcrWorkflow::Map, self.beside.take()),
            OcrWorkflow::Map => (OcrWorkflow::Review, self.beside.take()),
        };
        let Some(run) = last_of(kind, session) else { return from_file };
        let is_newer = from_file.as_ref().is_some_and(|from_file| from_file.ordinal > run.ordinal);
        let Some(phase) = position(run, kind).filter(|_| !is_newer) else { return from_file };
        let end_from_file = from_file.and_then(|from_file| from_file.ended_at);
        let (began, ended_at) =
            if is_timed(run) { (Some(run.started_at), run.completed_at) } else { (None, end_from_file) };
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

    /// Takes from the log whether the session is closed, and whether it was abandoned.
    fn end_as_known(&mut self, session: &Session) {
        (self.is_closed, self.is_given_up) = match session.lifecycle {
            Lifecycle::Completed { .. } => (true, false),
            Lifecycle::Abandoned { .. } => (true, true),
            Lifecycle::Active | Lifecycle::Paused { .. } | Lifecycle::Failed { .. } => (false, false),
        };
    }

    /// Takes the start of the round or run from the log if the state does not contain it. The start is never
    /// before the session's own.
    fn clock_of_known(&mut self, run: &Run) {
        let began = self.state.started_at.map_or(run.started_at, |started| started.max(run.started_at));
        match self.kind {
            OcrWorkflow::Review => self.state.round_started_at.get_or_insert(began),
            OcrWorkflow::Map => self.state.map_started_at.get_or_insert(began),
        };
    }
}

/// True if the duration of a run is known. The log gives a run that was known only from files a single
/// timestamp, and so no duration.
fn is_timed(run: &Run) -> bool {
    run.completed_at.is_none_or(|ended| ended > run.started_at)
}

fn position(run: &Run, kind: OcrWorkflow) -> Option<usize> {
    kind.phases().iter().position(|phase| *run.current().id() == **phase)
}

fn skipped(run: &Run, kind: OcrWorkflow) -> Vec<usize> {
    let is_skipped = |name: &str| {
        let phase = run.phases.iter().find(|phase| phase.id().as_str() == name);
        phase.is_some_and(|phase| matches!(phase.state, PhaseState::Skipped { .. }))
    };
    let names = kind.phases().iter().enumerate();
    names.filter(|(_, name)| is_skipped(name)).map(|(position, _)| position).collect()
}
