//! Events, which are stored forever. Names and fields are never changed, only added.

mod item;
mod stored_form;

pub use item::ItemEvent;

use crate::actor::{Actor, Origin};
use crate::artifact::ArtifactVersion;
use crate::gate::AttemptReport;
use crate::id::{Name, SessionId};
use crate::note::NoteKind;
use crate::phase::PhaseStub;
use crate::revision::Revision;
use crate::run::WorkflowRef;
use crate::workflow::RequirementScope;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// An event with its time, actor and position in the session's history.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// The position in the session's history: starts at 1, without gaps.
    pub version: u64,
    pub at: Timestamp,
    pub actor: Actor,
    pub event: Event,
}

impl Recorded {
    /// Who wrote the event first, and when, if it was merged from a fork; otherwise its own author and time.
    pub fn origin(&self, merged: Option<&Origin>) -> Origin {
        merged.cloned().unwrap_or_else(|| Origin { actor: self.actor.clone(), at: self.at })
    }
}

/// An event whose text a purge replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rewritten {
    pub version: u64,
    /// Unsalted hash of the replacing text, in hexadecimal.
    pub hash: String,
}

/// Everything that a signature covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedAct {
    /// The policy's rule that asks for the signature: `approve` or `override`.
    pub action: String,
    pub session: SessionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// The newest link of the hash chain that the signer saw, so that the signature covers all earlier events.
    pub head: String,
}

impl SignedAct {
    /// Returns the text to sign. Every value ends at a line feed and cannot contain one, so that different acts have
    /// different texts.
    pub fn payload(&self) -> String {
        let name = |name: &Option<Name>| name.as_ref().map(Name::to_string).unwrap_or_default();
        format!(
            "leftoff signature 1\naction {}\nsession {}\nphase {}\ncheck {}\nevidence {}\nhead {}\n",
            one_line(&self.action),
            self.session,
            name(&self.phase),
            name(&self.check),
            one_line(self.evidence.as_deref().unwrap_or_default()),
            one_line(&self.head),
        )
    }
}

fn one_line(text: &str) -> String {
    text.replace('\n', " ")
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// A session started in a worktree.
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
        /// The folder of the session's files; missing if its layout has no files.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// The machine of the worktree; missing if it is the machine of the store.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        machine: Option<String>,
        /// The checked-out branch and its commit; missing without git.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<String>,
    },
    /// A session in another tool's files was adopted. All earlier events were derived from those files.
    Adopted { layout: String, path: String },
    /// A session in another tool's files was imported. Either it became a native session, which never changes those
    /// files again, or it got the current format of its layout.
    Imported {
        /// The layout that the session had before.
        layout: String,
        path: String,
        into: String,
        /// The folder of the source project; missing if it is this project.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<String>,
        /// The state files at the time of import: paths from the layout's home, and the hashes under which their
        /// content is stored. Empty if the session stays in its files.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        files: BTreeMap<String, String>,
        /// The disk operation that copied the session's documents into its workspace; missing if there were no
        /// documents.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        operation: Option<String>,
    },
    /// A session's files moved to another folder, because their tool moved them or because the session's new state
    /// belongs there.
    SessionMoved {
        /// The new path of the session's files.
        path: String,
    },
    /// Somebody edited a session's files or added new ones. The following events say what changed. Phases that an edit
    /// marks as done are claims.
    ExternalEdit {
        /// The paths, relative to the project's folder.
        paths: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        goal: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<String>,
    },
    /// A file says that a phase is done, possibly with evidence. Without proof, its gate stays open.
    PhaseClaimed {
        phase: Name,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attempt: Option<AttemptReport>,
    },
    /// A file says that a completed phase needs to be reviewed.
    PhaseFlagged { phase: Name },
    /// A run of a workflow started; it is now the session's current run.
    RunStarted {
        workflow: WorkflowRef,
        ordinal: u32,
        phases: Vec<PhaseStub>,
        /// SHA-256 of the stored definition.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        definition: Option<String>,
    },
    /// A file added phases to the current run, after the existing ones.
    PhasesAdded { phases: Vec<PhaseStub> },
    /// The current run follows a newer definition of its workflow. Phases that exist in both definitions keep their
    /// results.
    DefinitionUpdated {
        workflow: WorkflowRef,
        phases: Vec<PhaseStub>,
        /// SHA-256 of the stored definition.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        definition: Option<String>,
    },
    /// An unfinished run became the current one again.
    RunSelected { workflow: Name, ordinal: u32 },
    /// A phase started; it is now the current one.
    PhaseStarted { phase: Name },
    /// A gate was tried and did not pass. The phase stays open.
    GateFailed { phase: Name, attempt: AttemptReport },
    /// A phase's gate passed.
    PhaseCompleted {
        phase: Name,
        attempt: AttemptReport,
        /// The checked-out branch and its commit; missing without git.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<String>,
    },
    /// A phase was skipped, by somebody's decision or because it does not apply.
    PhaseSkipped {
        phase: Name,
        reason: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        not_applicable: bool,
    },
    /// All phases of the current run are done.
    RunCompleted,
    /// Somebody wrote a note.
    NoteAdded {
        id: u32,
        kind: NoteKind,
        text: String,
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        fields: BTreeMap<String, Value>,
        /// Present if the note was merged from a fork.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        origin: Option<Origin>,
    },
    /// A note (a blocker, a question or a deferred point) was resolved.
    NoteResolved { id: u32 },
    /// A note was changed in a layout's files. Missing fields did not change.
    NoteChanged {
        id: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        fields: BTreeMap<String, Value>,
        /// True if a resolved note was opened again.
        #[serde(default)]
        reopened: bool,
    },
    /// Work paused, or the reason of an existing pause was corrected.
    SessionPaused {
        reason: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<String>,
        /// Paths of drafts that were recorded with the pause.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        saved: Vec<String>,
    },
    /// Work resumed in this worktree.
    SessionResumed {
        worktree: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        parallel: bool,
        /// The machine of the worktree; missing if it is the machine of the store.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        machine: Option<String>,
    },
    /// The session was completed.
    SessionCompleted {
        /// True if the session was closed before all of its phases were done.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        forced: bool,
    },
    /// The session was abandoned.
    SessionAbandoned {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The disk operation that archives the session's workspace. After a crash, recovery uses it to finish or
        /// revert the archiving.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        operation: Option<String>,
    },
    /// The session failed. It can be resumed.
    SessionFailed { error: String },
    /// A finished session was reopened at the same phase.
    SessionReopened {
        worktree: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        parallel: bool,
        /// The machine of the worktree; missing if it is the machine of the store.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        machine: Option<String>,
    },
    /// The session was inactive for too long, and has counted as paused since the given time.
    SessionExpired { since: Timestamp },
    /// Work returned to an earlier phase. This phase and all later ones are open again; their results stay in the
    /// history.
    RolledBack {
        phase: Name,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A person approved a check of a phase.
    CheckApproved {
        phase: Name,
        check: Name,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<Timestamp>,
        /// A remark by the approver, such as the reason. Never the approver's name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remark: Option<String>,
        /// Hash of the phase's files at the time of approval.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        evidence: Option<String>,
    },
    /// A person signed the next event. The signature covers the history up to the given head.
    Signed {
        #[serde(flatten)]
        act: SignedAct,
        signature: String,
    },
    /// A file withdrew an approval, so a person must approve the check again.
    ApprovalWithdrawn { phase: Name, check: Name },
    /// Custom fields of the session, or of one of its phases, were set.
    FieldsSet {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        phase: Option<Name>,
        fields: BTreeMap<String, Value>,
    },
    /// A file was recorded with its content at this time.
    ArtifactRecorded { artifact: ArtifactVersion },
    /// An earlier phase was changed. The event says which phases were flagged and which files were archived.
    PhaseRevised { revision: Revision },
    /// A checkpoint was created.
    CheckpointMade { name: String },
    /// The session returned to the state of an earlier version. Nothing is removed from the log.
    Restored { to_version: u64 },
    /// Text was purged from this session's history, in the given number of places. This event does not repeat the text.
    Purged {
        replaced: u64,
        /// The events whose text was replaced. With this list, the hash chain can tell a purge from tampering.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        rewritten: Vec<Rewritten>,
        /// The hashes of recorded contents that were removed, so that other clones remove them too.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        contents: Vec<String>,
    },
    /// The session arrived in a bundle from another machine, and is paused in this worktree until somebody resumes it.
    /// Only older programs store this event.
    SessionTaken {
        worktree: String,
        /// The machine of the worktree; missing if it is the machine of the store.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        machine: Option<String>,
    },
    /// A fork of this session was merged into this history. From now on, this history is the valid one.
    ForkResolved {
        /// The newest link of the fork's hash chain.
        head: String,
    },
    /// A requirement was satisfied. The file of the branch decides; this event only records when, how and by whom.
    RequirementSatisfied {
        requirement: String,
        scope: RequirementScope,
        /// How the requirement was satisfied, as spelled in the branch's file: `cli`, `skill`, `approval`.
        by: String,
        branch: String,
        /// The agent session for which the requirement is satisfied; missing if it is satisfied for the whole branch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent_session: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<Timestamp>,
    },
    /// A satisfied requirement was cleared.
    RequirementCleared {
        requirement: String,
        branch: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent_session: Option<String>,
        why: String,
    },
    /// An event written by a newer program. A session with such an event can be shown but not changed.
    #[serde(skip_serializing)]
    Unknown { kind: String },
    /// An item event. Serialised flat, like every other event.
    #[serde(untagged)]
    Item(ItemEvent),
}
