//! What happened, as it is kept for ever. A name or field here is never changed, only added to.

use crate::actor::Actor;
use crate::gate::AttemptReport;
use crate::id::{Name, SessionId};
use crate::note::NoteKind;
use crate::phase::PhaseStub;
use crate::run::WorkflowRef;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// An event with when, by whom, and its place in the session's history.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// From 1, without gaps.
    pub version: u64,
    pub at: Timestamp,
    pub actor: Actor,
    pub event: Event,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// A session began in a worktree.
    SessionStarted {
        id: SessionId,
        title: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        goal: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<String>,
        layout: String,
        worktree: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        parallel: bool,
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        fields: BTreeMap<String, Value>,
    },
    /// A pass through a workflow began; it is now the session's current run.
    RunStarted { workflow: WorkflowRef, ordinal: u32, phases: Vec<PhaseStub> },
    /// An unfinished run became the current one again.
    RunSelected { workflow: Name, ordinal: u32 },
    /// A phase began; it is now the current one.
    PhaseStarted { phase: Name },
    /// A gate was tried and did not pass. The phase goes on.
    GateFailed { phase: Name, attempt: AttemptReport },
    /// A phase's gate passed.
    PhaseCompleted { phase: Name, attempt: AttemptReport },
    /// A phase was passed over.
    PhaseSkipped { phase: Name, reason: String },
    /// All phases of the current run are done.
    RunCompleted,
    /// Somebody wrote something down.
    NoteAdded {
        id: u32,
        kind: NoteKind,
        text: String,
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        fields: BTreeMap<String, Value>,
    },
    /// A blocker, question or deferred point was settled.
    NoteResolved { id: u32 },
    /// Work stopped for a while.
    SessionPaused {
        reason: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<String>,
    },
    /// Work goes on, in this worktree.
    SessionResumed {
        worktree: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        parallel: bool,
    },
    /// The session is done.
    SessionCompleted {
        /// Closed before its work was finished.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        forced: bool,
    },
    /// The session was given up.
    SessionAbandoned {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Written by a newer program. Such a session is shown and never written.
    #[serde(skip_serializing)]
    Unknown { kind: String },
}

impl Event {
    /// The name under which it is kept.
    pub fn kind(&self) -> &str {
        match self {
            Self::SessionStarted { .. } => "session_started",
            Self::RunStarted { .. } => "run_started",
            Self::RunSelected { .. } => "run_selected",
            Self::PhaseStarted { .. } => "phase_started",
            Self::GateFailed { .. } => "gate_failed",
            Self::PhaseCompleted { .. } => "phase_completed",
            Self::PhaseSkipped { .. } => "phase_skipped",
            Self::RunCompleted => "run_completed",
            Self::NoteAdded { .. } => "note_added",
            Self::NoteResolved { .. } => "note_resolved",
            Self::SessionPaused { .. } => "session_paused",
            Self::SessionResumed { .. } => "session_resumed",
            Self::SessionCompleted { .. } => "session_completed",
            Self::SessionAbandoned { .. } => "session_abandoned",
            Self::Unknown { kind } => kind,
        }
    }

    /// Reads a kept event; one that this program does not know, or cannot read, becomes `Unknown`.
    pub fn read(kind: &str, body: &str) -> Self {
        match serde_json::from_str::<Self>(body) {
            Ok(Self::Unknown { .. }) | Err(_) => Self::Unknown { kind: kind.to_owned() },
            Ok(event) => event,
        }
    }
}
