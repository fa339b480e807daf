//! Refusals for which a layout's tool has its own words. This module contains the facts; the layout words
//! them.

use model::Refusal;
use model::id::Name;
use model::workflow::ValueType;
use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Refused<'a> {
    /// A command wanted to complete a phase that is not the current one.
    PhaseNotCurrent { asked: &'a Name, current: &'a Name },
    /// A command submitted evidence of the wrong type.
    Mistyped { field: &'a str, needed: ValueType, given: &'a Value },
}

impl<'a> Refused<'a> {
    /// The facts of a refusal; `None` if no tool has words for it.
    pub fn of(refusal: &'a Refusal) -> Option<Self> {
        match refusal {
            Refusal::PhaseNotCurrent { asked, current, .. } => Some(Self::PhaseNotCurrent { asked, current }),
            Refusal::UnknownPhase { .. }
            | Refusal::EarlierUnproven { .. }
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
            | Refusal::NothingToRedo { .. }
            | Refusal::AnothersUndo { .. }
            | Refusal::UnknownCheckpoint { .. }
            | Refusal::UnknownVersion { .. }
            | Refusal::NewerEvent { .. }
            | Refusal::NoMoreRuns { .. }
            | Refusal::Item(_) => None,
        }
    }
}
