//! The rows of the tool's view of a session: phases that files prove to be done, and phases that are only
//! claimed to be done.

use super::session::{OcrSession, OcrWorkflow};
use crate::screen::Mark;

impl OcrSession {
    /// The row of the phase at `position` of a round or run that is in the phase `current`.
    pub fn row(
        &self,
        kind: OcrWorkflow,
        ordinal: u32,
        (current, is_finished): (usize, bool),
        position: usize,
    ) -> Mark {
        if position == current && !is_finished {
            return Mark::Current;
        }
        match self.shown(kind, ordinal, kind.phases()[position]) {
            Some(true) => Mark::Done,
            _ if self.skipped_of(kind, ordinal).contains(&position) => Mark::Skipped,
            None if position <= current => Mark::Done,
            Some(false) if position < current => Mark::Claimed,
            Some(false) | None => Mark::Open,
        }
    }

    fn skipped_of(&self, kind: OcrWorkflow, ordinal: u32) -> &[usize] {
        if kind == self.kind && ordinal == self.ordinal() {
            return &self.skipped;
        }
        let other = self.beside.as_ref().filter(|other| other.kind == kind && other.ordinal == ordinal);
        other.map_or(&[], |other| &other.skipped)
    }

    /// True if the file of a phase exists; `None` if the phase writes no file.
    fn shown(&self, kind: OcrWorkflow, ordinal: u32, phase: &str) -> Option<bool> {
        let round = self.rounds.iter().find(|round| kind == OcrWorkflow::Review && round.number == ordinal);
        let run = self.map_runs.iter().find(|run| kind == OcrWorkflow::Map && run.number == ordinal);
        match (kind, phase) {
            (_, "context" | "map-context") => Some(self.has_standards),
            (OcrWorkflow::Review, "change-context" | "analysis") => Some(self.has_context),
            (OcrWorkflow::Review, "discourse") => Some(round.is_some_and(|round| round.has_discourse)),
            (OcrWorkflow::Review, "synthesis") => Some(round.is_some_and(|round| round.is_final)),
            (OcrWorkflow::Map, "topology") => Some(run.is_some_and(|run| run.has_topology)),
            (OcrWorkflow::Map, "flow-analysis") => Some(run.is_some_and(|run| run.has_flows)),
            (OcrWorkflow::Map, "requirements-mapping") => Some(run.is_some_and(|run| run.has_mapping)),
            (OcrWorkflow::Map, "synthesis") => Some(run.is_some_and(|run| run.is_final)),
            (_, _) => None,
        }
    }
}
