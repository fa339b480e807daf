//! What was refused, for a layout whose own tool has words for it. Facts only; the words are the layout's.

use model::Refusal;
use model::id::Name;
use model::workflow::ValueType;
use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Refused<'a> {
    /// A phase that is not the current one was to be completed.
    PhaseNotCurrent { asked: &'a Name, current: &'a Name },
    /// Evidence that a gate asks for is of another type.
    Mistyped { field: &'a str, needed: ValueType, given: &'a Value },
}

impl<'a> Refused<'a> {
    /// None for what no tool has words of its own for.
    pub fn of(refusal: &'a Refusal) -> Option<Self> {
        match refusal {
            Refusal::PhaseNotCurrent { asked, current, .. } => Some(Self::PhaseNotCurrent { asked, current }),
            Refusal::UnknownPhase { .. }
            | Refusal::PhaseNotReached { .. }
            | Refusal::NotEarlier { .. }
            | Refusal::CheckpointExists { .. }
            | Refusal::NotActive { .. }
            | Refusal::RunFinished { .. }
            | Refusal::Unfinished { .. }
            | Refusal::UnknownNote { .. }
            | Refusal::NothingToResolve { .. }
            | Refusal::AnothersChange { .. }
            | Refusal::UndoesTheStart { .. }
            | Refusal::UnknownCheckpoint { .. }
            | Refusal::UnknownVersion { .. }
            | Refusal::NewerEvent { .. }
            | Refusal::NoMoreRuns { .. }
            | Refusal::Item(_) => None,
        }
    }
}
