//! Decides commands: returns events, or a refusal that explains itself. Never changes the session.

pub mod items;
mod lifecycle;
mod phases;
mod runs;

pub use phases::{NamedPhase, contested_before, named_phase, resolve_phase, to_prove_before};

use crate::approval::Approval;
use crate::artifact::ArtifactVersion;
use crate::event::Event;
use crate::gate::AttemptReport;
use crate::id::{Name, SessionId};
use crate::lifecycle::Lifecycle;
use crate::note::NoteKind;
use crate::refusal::{Refusal, WayOn};
use crate::revision::Revision;
use crate::run::{Run, RunPlan, Skip};
use crate::session::Session;
use serde_json::Value;
use std::collections::BTreeMap;

/// The reason of a pause that happened because another session was started or resumed.
pub const REASON_SWITCHED: &str = "switched";
/// The reason of a pause for which the caller gave none.
pub const REASON_USER_REQUEST: &str = "user_request";

/// The details of a new session.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    pub id: SessionId,
    pub title: String,
    pub goal: Option<String>,
    pub target: Option<String>,
    pub layout: String,
    pub worktree: String,
    pub parallel: bool,
    pub fields: BTreeMap<String, Value>,
    /// The folder of the session's files; `None` if its layout has no files.
    pub path: Option<String>,
    pub run: RunPlan,
}

/// A request to change a session.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Complete a phase of the current run: the named phase, or the current one if no phase is named.
    CompletePhase {
        phase: Option<String>,
        attempt: AttemptReport,
        skips: Vec<Skip>,
    },
    /// Skip the current phase.
    SkipPhase {
        reason: String,
        skips: Vec<Skip>,
    },
    /// Return to an earlier phase of the current run.
    RollBack {
        phase: String,
        reason: Option<String>,
    },
    /// Change an earlier phase. The caller has already computed the effect on later phases.
    Revise {
        revision: Revision,
    },
    /// Continue at the named phase, because the session's files do not say which phase is current. Earlier open phases
    /// become claimed.
    ContinueAt {
        phase: String,
    },
    Approve {
        approval: Approval,
    },
    SetFields {
        phase: Option<String>,
        fields: BTreeMap<String, Value>,
    },
    RecordArtifacts {
        artifacts: Vec<ArtifactVersion>,
    },
    StartRun {
        run: RunPlan,
        /// True to end the unfinished run of this workflow as it is, and to give the new run the next number.
        is_next: bool,
    },
    /// Follow the current definition of the workflow from now on.
    UpdateDefinition {
        run: RunPlan,
    },
    AddNote {
        kind: NoteKind,
        text: String,
        fields: BTreeMap<String, Value>,
    },
    ResolveNote {
        id: u32,
    },
    MakeCheckpoint {
        name: String,
    },
    Pause {
        reason: String,
        context: Option<String>,
        /// Paths of drafts to record with the pause.
        saved: Vec<String>,
    },
    Resume {
        worktree: String,
        parallel: bool,
    },
    Reopen {
        worktree: String,
        parallel: bool,
    },
    Close {
        force: bool,
    },
    Fail {
        error: String,
    },
    Abandon {
        reason: Option<String>,
        /// The disk operation that archives the workspace.
        operation: Option<String>,
    },
}

/// Returns the events of a new session.
pub fn start(start: Start) -> Vec<Event> {
    let mut events = vec![Event::SessionStarted {
        id: start.id,
        title: start.title,
        goal: start.goal,
        target: start.target,
        layout: start.layout,
        worktree: start.worktree,
        parallel: start.parallel,
        fields: start.fields,
        path: start.path,
        machine: None,
        branch: None,
        head: None,
    }];
    events.extend(runs::begin(start.run, 1, false));
    events
}

/// Returns the events that a command causes, or a refusal. An empty list means that nothing needs to change.
pub fn decide(session: &Session, command: Command) -> Result<Vec<Event>, Refusal> {
    if let Some(kind) = &session.unknown_event {
        return Err(Refusal::NewerEvent { session: session.id.clone(), kind: kind.clone() });
    }
    match command {
        Command::CompletePhase { phase, attempt, skips } => {
            phases::complete(session, phase.as_deref(), attempt, &skips)
        }
        Command::SkipPhase { reason, skips } => phases::skip(session, reason, &skips),
        Command::RollBack { phase, reason } => phases::roll_back(session, &phase, reason),
        Command::Revise { revision } => phases::revise(session, revision),
        Command::ContinueAt { phase } => phases::continue_at(session, &phase),
        Command::Approve { approval } => approve(session, approval),
        Command::SetFields { phase, fields } => set_fields(session, phase.as_deref(), fields),
        Command::RecordArtifacts { artifacts } => Ok(record(session, artifacts)),
        Command::StartRun { run, is_next } => runs::start(session, run, is_next),
        Command::UpdateDefinition { run } => runs::update(session, run),
        Command::AddNote { kind, text, fields } => {
            Ok(vec![Event::NoteAdded { id: session.next_note(), kind, text, fields, origin: None }])
        }
        Command::ResolveNote { id } => resolve_note(session, id),
        Command::MakeCheckpoint { name } => make_checkpoint(session, name),
        Command::Pause { reason, context, saved } => lifecycle::pause(session, reason, context, saved),
        Command::Resume { worktree, parallel } => lifecycle::resume(session, worktree, parallel),
        Command::Reopen { worktree, parallel } => lifecycle::reopen(session, worktree, parallel),
        Command::Close { force } => lifecycle::close(session, force),
        Command::Fail { error } => lifecycle::fail(session, error),
        Command::Abandon { reason, operation } => lifecycle::abandon(session, reason, operation),
    }
}

fn approve(session: &Session, approval: Approval) -> Result<Vec<Event>, Refusal> {
    let phase = session.run().and_then(|run| run.resolve(approval.phase.as_str()));
    // A claimed phase needs no active session: it may lie before the current phase or in a finished run, and only its
    // proof is missing.
    if !phase.is_some_and(|phase| phase.claimed) {
        require_active(session, "approve")?;
    }
    Ok(vec![Event::CheckApproved {
        phase: approval.phase,
        check: approval.check,
        by: approval.by,
        remark: approval.remark,
        expires_at: approval.expires_at,
        evidence: approval.evidence,
    }])
}

fn set_fields(
    session: &Session,
    phase: Option<&str>,
    fields: BTreeMap<String, Value>,
) -> Result<Vec<Event>, Refusal> {
    let run = run_of(session, "set a field")?;
    let phase = match phase {
        None => None,
        Some(text) => Some(run.resolve(text).ok_or_else(|| phases::unknown(run, text))?),
    };
    let current = phase.map_or(&session.fields, |phase| &phase.fields);
    // Setting a field to null unsets it.
    let is_set = |name: &String, value: &Value| current.get(name).unwrap_or(&Value::Null) != value;
    let changed: BTreeMap<String, Value> =
        fields.into_iter().filter(|(name, value)| is_set(name, value)).collect();
    if changed.is_empty() {
        return Ok(Vec::new());
    }
    Ok(vec![Event::FieldsSet { phase: phase.map(|phase| phase.id().clone()), fields: changed }])
}

/// Returns the events that record new artifacts, and changed files as their next version. Unchanged files are skipped.
fn record(session: &Session, artifacts: Vec<ArtifactVersion>) -> Vec<Event> {
    artifacts
        .into_iter()
        .filter_map(|artifact| {
            let known = session.artifacts.get(&artifact.path).map(|known| &known.newest);
            let same = known.is_some_and(|known| {
                known.hash == artifact.hash && (artifact.phase.is_none() || known.phase == artifact.phase)
            });
            let version = match known {
                Some(known) if known.hash == artifact.hash => known.version,
                Some(known) => known.version.saturating_add(1),
                None => session.archived_versions.get(&artifact.path).map_or(1, |last| last + 1),
            };
            let phase = artifact.phase.clone().or_else(|| known.and_then(|known| known.phase.clone()));
            (!same).then_some(Event::ArtifactRecorded {
                artifact: ArtifactVersion { version, phase, ..artifact },
            })
        })
        .collect()
}

fn make_checkpoint(session: &Session, name: String) -> Result<Vec<Event>, Refusal> {
    if session.checkpoints.iter().any(|checkpoint| checkpoint.name == name) {
        return Err(Refusal::CheckpointExists { name });
    }
    Ok(vec![Event::CheckpointMade { name }])
}

fn resolve_note(session: &Session, id: u32) -> Result<Vec<Event>, Refusal> {
    let Some(note) = session.notes.iter().find(|note| note.id == id) else {
        return Err(Refusal::UnknownNote { id, highest: session.highest_note });
    };
    if !note.kind.waits_for_an_answer() {
        return Err(Refusal::NothingToResolve { id, kind: note.kind.name() });
    }
    if note.resolved_at.is_some() {
        return Ok(Vec::new());
    }
    Ok(vec![Event::NoteResolved { id }])
}

fn require_active(session: &Session, doing: &'static str) -> Result<(), Refusal> {
    match session.lifecycle {
        Lifecycle::Active => Ok(()),
        Lifecycle::Paused { .. }
        | Lifecycle::Completed { .. }
        | Lifecycle::Failed { .. }
        | Lifecycle::Abandoned { .. } => Err(not_active(session, doing)),
    }
}

/// Refuses a command about the phases of a session that is not active. A finished session must be reopened first.
fn require_open(session: &Session, doing: &'static str) -> Result<(), Refusal> {
    require_active(session, doing).map_err(|refusal| match refusal {
        Refusal::NotActive { doing, session, lifecycle, workflow, way_on: WayOn::NextRun } => {
            Refusal::NotActive { doing, session, lifecycle, workflow, way_on: WayOn::Reopen }
        }
        other => other,
    })
}

fn not_active(session: &Session, doing: &'static str) -> Refusal {
    Refusal::NotActive {
        doing,
        session: session.id.clone(),
        lifecycle: session.lifecycle.name(),
        way_on: WayOn::from(&session.lifecycle),
        workflow: session.run().map_or_else(placeholder_name, |run| run.workflow.name.clone()),
    }
}

fn run_of<'a>(session: &'a Session, doing: &'static str) -> Result<&'a Run, Refusal> {
    session.run().ok_or_else(|| not_active(session, doing))
}

/// The name used for the workflow if a log ends after its first event, before a run started.
fn placeholder_name() -> Name {
    Name::parse("workflow").unwrap_or_else(|_| unreachable!("a constant that is a valid name"))
}
