//! The stored form of events: their names, reading them, and the disk operations and file contents that belong to them.

use super::Event;
use std::collections::BTreeMap;

impl Event {
    /// Returns the stored name of the event.
    pub fn kind(&self) -> &str {
        match self {
            Self::SessionStarted { .. } => "session_started",
            Self::Adopted { .. } => "adopted",
            Self::Imported { .. } => "imported",
            Self::SessionMoved { .. } => "session_moved",
            Self::ExternalEdit { .. } => "external_edit",
            Self::PhaseClaimed { .. } => "phase_claimed",
            Self::PhaseFlagged { .. } => "phase_flagged",
            Self::RunStarted { .. } => "run_started",
            Self::PhasesAdded { .. } => "phases_added",
            Self::DefinitionUpdated { .. } => "definition_updated",
            Self::RunSelected { .. } => "run_selected",
            Self::PhaseStarted { .. } => "phase_started",
            Self::GateFailed { .. } => "gate_failed",
            Self::PhaseCompleted { .. } => "phase_completed",
            Self::PhaseSkipped { .. } => "phase_skipped",
            Self::RunCompleted => "run_completed",
            Self::NoteAdded { .. } => "note_added",
            Self::NoteResolved { .. } => "note_resolved",
            Self::NoteChanged { .. } => "note_changed",
            Self::SessionPaused { .. } => "session_paused",
            Self::SessionResumed { .. } => "session_resumed",
            Self::SessionCompleted { .. } => "session_completed",
            Self::SessionAbandoned { .. } => "session_abandoned",
            Self::SessionFailed { .. } => "session_failed",
            Self::SessionReopened { .. } => "session_reopened",
            Self::SessionExpired { .. } => "session_expired",
            Self::RolledBack { .. } => "rolled_back",
            Self::CheckApproved { .. } => "check_approved",
            Self::Signed { .. } => "signed",
            Self::ApprovalWithdrawn { .. } => "approval_withdrawn",
            Self::FieldsSet { .. } => "fields_set",
            Self::ArtifactRecorded { .. } => "artifact_recorded",
            Self::PhaseRevised { .. } => "phase_revised",
            Self::CheckpointMade { .. } => "checkpoint_made",
            Self::Restored { .. } => "restored",
            Self::Purged { .. } => "purged",
            Self::SessionTaken { .. } => "session_taken",
            Self::ForkResolved { .. } => "fork_resolved",
            Self::RequirementSatisfied { .. } => "requirement_satisfied",
            Self::RequirementCleared { .. } => "requirement_cleared",
            Self::Unknown { kind } => kind,
            Self::Item(event) => event.kind(),
        }
    }

    /// Returns the id of the disk operation that belongs to this event, if any.
    pub fn operation(&self) -> Option<&str> {
        match self {
            Self::PhaseRevised { revision } => revision.operation.as_deref(),
            Self::SessionAbandoned { operation, .. } | Self::Imported { operation, .. } => {
                operation.as_deref()
            }
            Self::SessionStarted { .. }
            | Self::Adopted { .. }
            | Self::SessionMoved { .. }
            | Self::ExternalEdit { .. }
            | Self::PhaseClaimed { .. }
            | Self::PhaseFlagged { .. }
            | Self::RunStarted { .. }
            | Self::PhasesAdded { .. }
            | Self::DefinitionUpdated { .. }
            | Self::RunSelected { .. }
            | Self::PhaseStarted { .. }
            | Self::GateFailed { .. }
            | Self::PhaseCompleted { .. }
            | Self::PhaseSkipped { .. }
            | Self::RunCompleted
            | Self::NoteAdded { .. }
            | Self::NoteResolved { .. }
            | Self::NoteChanged { .. }
            | Self::SessionPaused { .. }
            | Self::SessionResumed { .. }
            | Self::SessionCompleted { .. }
            | Self::SessionFailed { .. }
            | Self::SessionReopened { .. }
            | Self::SessionExpired { .. }
            | Self::RolledBack { .. }
            | Self::CheckApproved { .. }
            | Self::Signed { .. }
            | Self::ApprovalWithdrawn { .. }
            | Self::FieldsSet { .. }
            | Self::ArtifactRecorded { .. }
            | Self::CheckpointMade { .. }
            | Self::Restored { .. }
            | Self::SessionTaken { .. }
            | Self::ForkResolved { .. }
            | Self::Purged { .. }
            | Self::RequirementSatisfied { .. }
            | Self::RequirementCleared { .. }
            | Self::Item(_)
            | Self::Unknown { .. } => None,
        }
    }

    /// True if the event makes another phase current, or starts the current phase again.
    pub(crate) fn moves_phase(&self) -> bool {
        matches!(
            self,
            Self::RunStarted { .. }
                | Self::RunSelected { .. }
                | Self::RunCompleted
                | Self::PhaseStarted { .. }
                | Self::PhaseCompleted { .. }
                | Self::PhaseSkipped { .. }
                | Self::PhaseRevised { .. }
                | Self::RolledBack { .. }
        )
    }

    /// Hashes of the file contents that the event refers to.
    pub fn contents(&self) -> impl Iterator<Item = &str> {
        let artifact =
            if let Self::ArtifactRecorded { artifact } = self { Some(&artifact.hash) } else { None };
        let files = if let Self::Imported { files, .. } = self { Some(files) } else { None };
        artifact.into_iter().chain(files.into_iter().flat_map(BTreeMap::values)).map(String::as_str)
    }

    /// Reads a stored event. An unknown or unreadable event becomes `Unknown`.
    pub fn read(kind: &str, body: &str) -> Self {
        match serde_json::from_str::<Self>(body) {
            Ok(Self::Unknown { .. }) | Err(_) => Self::Unknown { kind: kind.to_owned() },
            Ok(event) => event,
        }
    }
}
