//! The rows of the tool's screen: which phases are done, as the files of the round or run show, and which are only said
//! to be.

use super::{Kind, OcrSession};
use model::phase::PhaseState;
use model::run::Run;

/// How a phase stands on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Row {
    /// Its file is there; where it writes none, the state is past it.
    Done,
    /// The state is past it, and its file is not there.
    Claimed,
    /// Somebody left it out.
    Skipped,
    Current,
    Open,
}

impl OcrSession {
    /// How the phase at a position stands in a round or run that is at the phase `current`.
    pub fn row(&self, kind: Kind, ordinal: u32, current: usize, position: usize) -> Row {
        let is_last = position + 1 == kind.phases().len();
        if position == current && !is_last {
            return Row::Current;
        }
        let is_own = kind == self.kind && ordinal == self.ordinal();
        match self.shown(kind, ordinal, kind.phases()[position]) {
            Some(true) => Row::Done,
            _ if is_own && self.skipped.contains(&position) => Row::Skipped,
            None if position <= current => Row::Done,
            Some(false) if position < current => Row::Claimed,
            Some(false) | None => Row::Open,
        }
    }

    /// Whether the file is there that a phase writes; none where it writes none.
    fn shown(&self, kind: Kind, ordinal: u32, phase: &str) -> Option<bool> {
        let round = self.rounds.iter().find(|round| kind == Kind::Review && round.number == ordinal);
        let run = self.map_runs.iter().find(|run| kind == Kind::Map && run.number == ordinal);
        match (kind, phase) {
            (_, "context" | "map-context") => Some(self.has_standards),
            (Kind::Review, "change-context" | "analysis") => Some(self.has_context),
            (Kind::Review, "discourse") => Some(round.is_some_and(|round| round.has_discourse)),
            (Kind::Review, "synthesis") => Some(round.is_some_and(|round| round.is_final)),
            (Kind::Map, "topology") => Some(run.is_some_and(|run| run.has_topology)),
            (Kind::Map, "flow-analysis") => Some(run.is_some_and(|run| run.has_flows)),
            (Kind::Map, "requirements-mapping") => Some(run.is_some_and(|run| run.has_mapping)),
            (Kind::Map, "synthesis") => Some(run.is_some_and(|run| run.is_final)),
            (_, _) => None,
        }
    }

    /// When the round or run began, where its state has no word about it: as the log has it. Not before the session
    /// itself did.
    pub(super) fn clock_of_known(&mut self, run: &Run) {
        let began = self.state.started_at.map_or(run.started_at, |started| started.max(run.started_at));
        match self.kind {
            Kind::Review => self.state.round_started_at.get_or_insert(began),
            Kind::Map => self.state.map_started_at.get_or_insert(began),
        };
    }
}

pub(super) fn skipped(run: &Run, kind: Kind) -> Vec<usize> {
    let is_skipped = |name: &str| {
        let phase = run.phases.iter().find(|phase| phase.id().as_str() == name);
        phase.is_some_and(|phase| matches!(phase.state, PhaseState::Skipped { .. }))
    };
    let names = kind.phases().iter().enumerate();
    names.filter(|(_, name)| is_skipped(name)).map(|(position, _)| position).collect()
}
