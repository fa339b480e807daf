//! What happened, as it is kept for ever. A name or field here is never changed, only added to.

use crate::actor::Actor;
use crate::artifact::ArtifactVersion;
use crate::gate::AttemptReport;
use crate::id::{ItemId, Name, SessionId};
use crate::item::{ItemChange, NewItem, RunRef};
use crate::note::NoteKind;
use crate::phase::PhaseStub;
use crate::revision::Revision;
use crate::run::WorkflowRef;
use crate::workflow::RequirementScope;
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

/// An event that has other words than it was written with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rewritten {
    pub version: u64,
    /// The hash of what stands there now, without a salt, as hexadecimal text.
    pub hash: String,
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
        /// Where its files are, in a layout that has some.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// The machine of the worktree; absent: the store's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        machine: Option<String>,
        /// The branch that was checked out, and its commit, where git is used.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<String>,
    },
    /// A session that another tool had kept in files was taken in: what came before is what those files told.
    Adopted { layout: String, path: String },
    /// A session that was kept in another tool's files became one of another layout: a native one, whose files are left
    /// alone from then on; or one of the same layout in the shape that its new sessions have.
    Imported {
        /// As it was kept before.
        layout: String,
        path: String,
        into: String,
        /// The folder of the project whose session it was, where that is another one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<String>,
        /// The files of its state as they were then: paths below the layout's home, and hashes under which their
        /// content is kept. None of one that stays in its files.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        files: BTreeMap<String, String>,
        /// The work on files that brought its documents into its workspace, if it had any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        operation: Option<String>,
    },
    /// A session's files went to another place: by its own tool, or because that is where one that stands so belongs.
    SessionMoved {
        /// Where they are now.
        path: String,
    },
    /// Somebody changed a session's files, or new ones showed something. What that was follows, as if it had been
    /// ordered, with its claims.
    ExternalEdit {
        /// Relative to the project's folder.
        paths: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        goal: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<String>,
    },
    /// Somebody said in a file that a phase is done, and may have handed in something for it. Nothing shows it: its gate
    /// stays open.
    PhaseClaimed {
        phase: Name,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attempt: Option<AttemptReport>,
    },
    /// Somebody said in a file that a phase that was done needs a review.
    PhaseFlagged { phase: Name },
    /// A pass through a workflow began; it is now the session's current run.
    RunStarted {
        workflow: WorkflowRef,
        ordinal: u32,
        phases: Vec<PhaseStub>,
        /// The SHA-256 of the definition as it is stored.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        definition: Option<String>,
    },
    /// The current run has more phases than it was begun with, as somebody's file says. They come after the others.
    PhasesAdded { phases: Vec<PhaseStub> },
    /// The current run follows a newer definition of its workflow; phases that both have keep what became of them.
    DefinitionUpdated { workflow: WorkflowRef, phases: Vec<PhaseStub> },
    /// An unfinished run became the current one again.
    RunSelected { workflow: Name, ordinal: u32 },
    /// A phase began; it is now the current one.
    PhaseStarted { phase: Name },
    /// A gate was tried and did not pass. The phase goes on.
    GateFailed { phase: Name, attempt: AttemptReport },
    /// A phase's gate passed.
    PhaseCompleted {
        phase: Name,
        attempt: AttemptReport,
        /// The branch that was checked out, and its commit, where git is used.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<String>,
    },
    /// A phase was passed over: by somebody's decision, or because it does not apply.
    PhaseSkipped {
        phase: Name,
        reason: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        not_applicable: bool,
    },
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
    /// Something else stands in a note, in the files of a layout that has it. What is missing stays as it was.
    NoteChanged {
        id: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        fields: BTreeMap<String, Value>,
        /// It was settled, and is not any more.
        #[serde(default)]
        reopened: bool,
    },
    /// Work stopped for a while. In a session that is paused already: more is known about why.
    SessionPaused {
        reason: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<String>,
        /// Drafts that were recorded with it, by path.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        saved: Vec<String>,
    },
    /// Work goes on, in this worktree.
    SessionResumed {
        worktree: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        parallel: bool,
        /// The machine of the worktree; absent: the store's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        machine: Option<String>,
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
        /// Ties the event to the archiving of its workspace, so that a crash between the two can be mended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        operation: Option<String>,
    },
    /// The session failed; it can be gone on with.
    SessionFailed { error: String },
    /// A finished session goes on where it stood.
    SessionReopened {
        worktree: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        parallel: bool,
        /// The machine of the worktree; absent: the store's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        machine: Option<String>,
    },
    /// Nothing happened for so long that the session counts as paused since then.
    SessionExpired { since: Timestamp },
    /// Back to an earlier phase: it and all later ones are open again, their results kept as history.
    RolledBack {
        phase: Name,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A person said yes to a check of a phase.
    CheckApproved {
        phase: Name,
        check: Name,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<Timestamp>,
        /// Whatever the approving one adds: for whom, why. Not who it was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remark: Option<String>,
    },
    /// Somebody said in a file that a check which was approved is not: a person has to say yes to it again.
    ApprovalWithdrawn { phase: Name, check: Name },
    /// Free fields of the session, or of one of its phases, were set.
    FieldsSet {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        phase: Option<Name>,
        fields: BTreeMap<String, Value>,
    },
    /// A file was recorded as it was at this moment.
    ArtifactRecorded { artifact: ArtifactVersion },
    /// An earlier phase was changed: what it flagged and what it archived.
    PhaseRevised { revision: Revision },
    /// A named point to come back to.
    CheckpointMade { name: String },
    /// The session is again as it was at this version. The fold resolves it; nothing is taken out of the log.
    Restored { to_version: u64 },
    /// Text was taken out of this session's history for good, in so many places. What it was is not told.
    Purged {
        replaced: u64,
        /// The events that have other words since, so that the chain tells this from tampering.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        rewritten: Vec<Rewritten>,
    },
    /// The session came in a bundle from another machine. It waits here, in this worktree, to be gone on with.
    SessionTaken {
        worktree: String,
        /// The machine of the worktree; absent: the store's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        machine: Option<String>,
    },
    /// A requirement was satisfied. The branch's file is the truth about it; this tells when, by what and by whom.
    RequirementSatisfied {
        requirement: String,
        scope: RequirementScope,
        /// In the words of the branch's file: `cli`, `skill`, `approval`.
        by: String,
        branch: String,
        /// None: for every agent session of the branch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent_session: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<Timestamp>,
    },
    /// A requirement that was satisfied is so no longer.
    RequirementCleared {
        requirement: String,
        branch: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent_session: Option<String>,
        why: String,
    },
    /// Written by a newer program. Such a session is shown and never written.
    #[serde(skip_serializing)]
    Unknown { kind: String },
    /// Something happened to an item. Kept flat, as every other event is.
    #[serde(untagged)]
    Item(ItemEvent),
}

/// What happens to items. `ItemBook` folds them into the items themselves, a session into counts alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ItemEvent {
    /// A unit of work was added to a phase.
    ItemAdded { item: NewItem },
    /// Somebody began to work on an item.
    ItemStarted { id: ItemId },
    /// An item is done; a container, after the last of its parts.
    ItemCompleted { id: ItemId, run: RunRef, phase: Name },
    /// An item cannot go on. Whoever held it lets it go.
    ItemBlocked { id: ItemId, reason: String },
    /// What blocked an item is out of the way.
    ItemUnblocked { id: ItemId },
    /// An item that was done is open again. What it is part of is told of by an event of its own.
    ItemReopened { id: ItemId, run: RunRef, phase: Name },
    /// Whoever did this holds the item until then.
    ItemClaimed { id: ItemId, until: Timestamp, seconds: u64 },
    /// Nobody holds the item any more, and work on it has stopped.
    ItemReleased { id: ItemId },
    /// The holder was active: the item is held until then.
    ItemLeaseRenewed { id: ItemId, until: Timestamp, seconds: u64 },
    /// An item was cut into parts; it is a container now.
    ItemSplit { id: ItemId, parts: Vec<NewItem> },
    /// Title, order, fields, counters or dependencies were set.
    ItemSet { id: ItemId, change: ItemChange },
    /// An item is none any more: the files of a layout that counts its items have fewer, or have room for those of one
    /// run alone, and another began.
    ItemDropped { id: ItemId, run: RunRef, phase: Name },
}

impl ItemEvent {
    /// The name under which it is kept.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::ItemAdded { .. } => "item_added",
            Self::ItemStarted { .. } => "item_started",
            Self::ItemCompleted { .. } => "item_completed",
            Self::ItemBlocked { .. } => "item_blocked",
            Self::ItemUnblocked { .. } => "item_unblocked",
            Self::ItemReopened { .. } => "item_reopened",
            Self::ItemClaimed { .. } => "item_claimed",
            Self::ItemReleased { .. } => "item_released",
            Self::ItemLeaseRenewed { .. } => "item_lease_renewed",
            Self::ItemSplit { .. } => "item_split",
            Self::ItemSet { .. } => "item_set",
            Self::ItemDropped { .. } => "item_dropped",
        }
    }
}

impl From<ItemEvent> for Event {
    fn from(event: ItemEvent) -> Self {
        Self::Item(event)
    }
}

impl Event {
    /// The name under which it is kept.
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
            Self::ApprovalWithdrawn { .. } => "approval_withdrawn",
            Self::FieldsSet { .. } => "fields_set",
            Self::ArtifactRecorded { .. } => "artifact_recorded",
            Self::PhaseRevised { .. } => "phase_revised",
            Self::CheckpointMade { .. } => "checkpoint_made",
            Self::Restored { .. } => "restored",
            Self::Purged { .. } => "purged",
            Self::SessionTaken { .. } => "session_taken",
            Self::RequirementSatisfied { .. } => "requirement_satisfied",
            Self::RequirementCleared { .. } => "requirement_cleared",
            Self::Unknown { kind } => kind,
            Self::Item(event) => event.kind(),
        }
    }

    /// The work on disk that belongs to this event.
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
            | Self::ApprovalWithdrawn { .. }
            | Self::FieldsSet { .. }
            | Self::ArtifactRecorded { .. }
            | Self::CheckpointMade { .. }
            | Self::Restored { .. }
            | Self::SessionTaken { .. }
            | Self::Purged { .. }
            | Self::RequirementSatisfied { .. }
            | Self::RequirementCleared { .. }
            | Self::Item(_)
            | Self::Unknown { .. } => None,
        }
    }

    /// Hashes of files whose content is kept with it.
    pub fn contents(&self) -> impl Iterator<Item = &str> {
        let artifact =
            if let Self::ArtifactRecorded { artifact } = self { Some(&artifact.hash) } else { None };
        let files = if let Self::Imported { files, .. } = self { Some(files) } else { None };
        artifact.into_iter().chain(files.into_iter().flat_map(BTreeMap::values)).map(String::as_str)
    }

    /// Reads a kept event; one that this program does not know, or cannot read, becomes `Unknown`.
    pub fn read(kind: &str, body: &str) -> Self {
        match serde_json::from_str::<Self>(body) {
            Ok(Self::Unknown { .. }) | Err(_) => Self::Unknown { kind: kind.to_owned() },
            Ok(event) => event,
        }
    }
}
