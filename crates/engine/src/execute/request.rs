//! The only entry for changes of a session: takes a request and returns one answer. Decides nothing itself.

use crate::discrepancies::OnDiscrepancy;
use crate::engine::Engine;
use crate::error::Result;
use crate::execute::{
    AdvanceRequest, Answer, ApproveRequest, FoundList, ItemRequest, PauseRequest, PurgeRequest,
    RevisitPreview, RevisitRequest, StartRequest, Taking,
};
use model::note::NoteKind;
use model::typed_value::Given;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A request to change a session: the selected session, unless the request names another.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    Start(StartRequest),
    /// Completes the current phase if its gate passes.
    Advance(AdvanceRequest),
    /// Tries the gate of a failed phase again, with the recorded evidence and the given evidence.
    Retry {
        evidence: BTreeMap<String, Given>,
    },
    Skip {
        reason: String,
    },
    RollBack {
        phase: String,
        reason: Option<String>,
    },
    Fail {
        error: String,
    },
    Approve(ApproveRequest),
    /// Goes back to an earlier phase, with the effects that the preview shows. Refused if the effects would now be
    /// different.
    Revisit {
        request: RevisitRequest,
        seen: Box<RevisitPreview>,
    },
    Pause(PauseRequest),
    /// Resumes the named session or, without a name, the one that was paused last.
    Resume {
        session: Option<String>,
        on: OnDiscrepancy,
        taking: Taking,
    },
    /// Makes the named session active.
    Switch {
        session: String,
    },
    Close {
        force: bool,
    },
    Abandon {
        session: Option<String>,
        reason: Option<String>,
    },
    /// Reopens the named session or, without a name, the one that was finished last in this worktree.
    Reopen {
        session: Option<String>,
    },
    /// Starts the next run of a workflow; without a name, of the current one.
    StartRun {
        workflow: Option<String>,
    },
    /// Makes the current run follow its workflow's current definition. Refused if this would make other changes than
    /// the caller has seen.
    UpdateDefinition {
        seen: Vec<String>,
    },
    Note {
        kind: NoteKind,
        text: String,
        fields: BTreeMap<String, Value>,
    },
    ResolveNote {
        id: u32,
    },
    /// Sets fields of the session, or of a phase.
    SetFields {
        phase: Option<String>,
        fields: BTreeMap<String, Given>,
    },
    /// Records files as they are now, for the named phase or, without a name, for the current one.
    AddArtifacts {
        paths: Vec<PathBuf>,
        phase: Option<String>,
    },
    /// Restores a recorded version of a file: the given version or, without a number, the newest that differs from the
    /// file.
    RestoreArtifact {
        path: PathBuf,
        version: Option<u32>,
    },
    Item(ItemRequest),
    /// Creates a checkpoint, which names a point in the session's history.
    Checkpoint {
        name: Option<String>,
    },
    /// Undoes the caller's last command, or returns to the given version or checkpoint.
    Undo {
        to: Option<String>,
    },
    Redo,
    Purge(PurgeRequest),
    /// Imports a session from another tool's files: the one at the given path or with the given id, or else the
    /// selected one.
    Import {
        session: Option<String>,
        layout: Option<String>,
    },
    /// Imports a task list as items.
    ImportTasks(FoundList),
    TakeBundle {
        path: PathBuf,
    },
}

impl Request {
    /// Returns a request for a plain note without fields.
    pub fn note(text: &str) -> Self {
        Self::Note { kind: NoteKind::Note, text: text.to_owned(), fields: BTreeMap::new() }
    }
}

impl Engine {
    /// Executes a request. If the request is refused or fails, nothing changes.
    pub fn execute(&mut self, request: Request) -> Result<Answer> {
        match request {
            Request::Start(request) => self.start(&request),
            Request::Advance(request) => self.advance(&request),
            Request::Retry { evidence } => self.retry(evidence),
            Request::Skip { reason } => self.skip(&reason),
            Request::RollBack { phase, reason } => self.roll_back(&phase, reason.as_deref()),
            Request::Fail { error } => self.fail(&error),
            Request::Approve(request) => self.approve(&request),
            Request::Revisit { request, seen } => self.revisit(&request, &seen),
            Request::Pause(request) => self.pause(&request),
            Request::Resume { session, on, taking } => self.resume(session.as_deref(), on, taking),
            Request::Switch { session } => self.switch(&session),
            Request::Close { force } => self.close(force),
            Request::Abandon { session, reason } => self.abandon(session.as_deref(), reason.as_deref()),
            Request::Reopen { session } => self.reopen(session.as_deref()),
            Request::StartRun { workflow } => self.start_run(workflow.as_deref()),
            Request::UpdateDefinition { seen } => self.update_definition(&seen),
            Request::Note { kind, text, fields } => self.note(kind, &text, fields),
            Request::ResolveNote { id } => self.resolve_note(id),
            Request::SetFields { phase, fields } => self.set_fields(phase.as_deref(), &fields),
            Request::AddArtifacts { paths, phase } => self.add_artifacts(&paths, phase.as_deref()),
            Request::RestoreArtifact { path, version } => self.restore_artifact(&path, version),
            Request::Item(request) => self.change_item(request),
            Request::Checkpoint { name } => self.checkpoint(name.as_deref()),
            Request::Undo { to } => self.undo(to.as_deref()),
            Request::Redo => self.redo(),
            Request::Purge(request) => self.purge(&request),
            Request::Import { session, layout } => self.import(session.as_deref(), layout.as_deref()),
            Request::ImportTasks(list) => self.import_tasks(&list),
            Request::TakeBundle { path } => self.bundle_take(&path),
        }
    }
}
