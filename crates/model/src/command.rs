//! Decides commands: events, or a refusal that says why. Never touches what it decides about.

use crate::event::Event;
use crate::gate::AttemptReport;
use crate::id::{Name, SessionId};
use crate::lifecycle::Lifecycle;
use crate::nearest::nearest;
use crate::note::NoteKind;
use crate::phase::{Phase, PhaseStub};
use crate::refusal::Refusal;
use crate::run::{Run, RunPlan, Skip};
use crate::session::Session;
use crate::workflow::OnComplete;
use serde_json::Value;
use std::collections::BTreeMap;

/// The reason that a session is given when another one takes its place.
pub const REASON_SWITCHED: &str = "switched";
/// The reason when nobody gave one.
pub const REASON_USER_REQUEST: &str = "user_request";

/// What starts a session.
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
    pub run: RunPlan,
}

/// What somebody wants done to a session.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Complete a phase of the current run, the current one unless it is named.
    CompletePhase {
        phase: Option<String>,
        attempt: AttemptReport,
        skips: Vec<Skip>,
    },
    StartRun {
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
    Pause {
        reason: String,
        context: Option<String>,
    },
    Resume {
        worktree: String,
        parallel: bool,
    },
    Close {
        force: bool,
    },
    Abandon {
        reason: Option<String>,
    },
}

/// The events of a new session.
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
    }];
    events.extend(begin_run(start.run, 1, false));
    events
}

/// What a command does to a session. No events: it holds already, and nothing needs to change.
pub fn decide(session: &Session, command: Command) -> Result<Vec<Event>, Refusal> {
    if let Some(kind) = &session.unknown_event {
        return Err(Refusal::NewerEvent { session: session.id.clone(), kind: kind.clone() });
    }
    match command {
        Command::CompletePhase { phase, attempt, skips } => {
            complete_phase(session, phase.as_deref(), attempt, &skips)
        }
        Command::StartRun { run } => start_run(session, run),
        Command::AddNote { kind, text, fields } => {
            Ok(vec![Event::NoteAdded { id: session.highest_note + 1, kind, text, fields }])
        }
        Command::ResolveNote { id } => resolve_note(session, id),
        Command::Pause { reason, context } => pause(session, reason, context),
        Command::Resume { worktree, parallel } => resume(session, worktree, parallel),
        Command::Close { force } => close(session, force),
        Command::Abandon { reason } => abandon(session, reason),
    }
}

/// What naming a phase means for a run.
#[derive(Debug, PartialEq)]
pub enum Standing<'a> {
    Current(&'a Phase),
    AlreadyDone(&'a Phase),
}

/// Whether the named phase can be completed now; the current one when none is named.
pub fn standing<'a>(session: &'a Session, asked: Option<&str>) -> Result<Standing<'a>, Refusal> {
    let run = run_of(session, "advance")?;
    let phase = match asked {
        None => run.current(),
        Some(text) => run.resolve(text).ok_or_else(|| unknown_phase(run, text))?,
    };
    if asked.is_some() && phase.is_done() {
        return Ok(Standing::AlreadyDone(phase));
    }
    require_active(session, "advance")?;
    if !run.is_open() {
        return Err(Refusal::RunFinished {
            doing: "advance",
            workflow: run.workflow.name.clone(),
            ordinal: run.ordinal,
        });
    }
    if phase.id() != run.current().id() {
        return Err(Refusal::PhaseNotCurrent {
            asked: phase.id().clone(),
            current: run.current().id().clone(),
        });
    }
    Ok(Standing::Current(phase))
}

fn complete_phase(
    session: &Session,
    asked: Option<&str>,
    attempt: AttemptReport,
    skips: &[Skip],
) -> Result<Vec<Event>, Refusal> {
    let phase = match standing(session, asked)? {
        Standing::AlreadyDone(_) => return Ok(Vec::new()),
        Standing::Current(phase) => phase.id().clone(),
    };
    if !attempt.passes() {
        return Ok(vec![Event::GateFailed { phase, attempt }]);
    }
    let run = run_of(session, "advance")?;
    let rest = run
        .phases
        .iter()
        .skip(run.position(phase.as_str()).map_or(0, |position| position + 1))
        .filter(|phase| !phase.is_done())
        .map(|phase| &phase.stub);
    let mut events = vec![Event::PhaseCompleted { phase, attempt }];
    let closes = run.workflow.on_complete == OnComplete::Close && !has_other_open_run(session, run);
    events.extend(go_on(rest, skips, closes));
    Ok(events)
}

/// What follows a completed phase: the next one begins, or the run is complete.
fn go_on<'a>(rest: impl Iterator<Item = &'a PhaseStub>, skips: &[Skip], closes: bool) -> Vec<Event> {
    let mut events = Vec::new();
    for stub in rest {
        if let Some(skip) = skips.iter().find(|skip| skip.phase == stub.id) {
            events.push(Event::PhaseSkipped { phase: stub.id.clone(), reason: skip.reason.clone() });
            continue;
        }
        events.push(Event::PhaseStarted { phase: stub.id.clone() });
        if !stub.terminal {
            return events;
        }
        events.push(Event::PhaseCompleted { phase: stub.id.clone(), attempt: AttemptReport::default() });
    }
    events.push(Event::RunCompleted);
    if closes {
        events.push(Event::SessionCompleted { forced: false });
    }
    events
}

fn begin_run(plan: RunPlan, ordinal: u32, other_run_is_open: bool) -> Vec<Event> {
    let closes = plan.workflow.on_complete == OnComplete::Close && !other_run_is_open;
    let first = go_on(plan.phases.iter(), &plan.skips, closes);
    let mut events = vec![Event::RunStarted { workflow: plan.workflow, ordinal, phases: plan.phases }];
    events.extend(first);
    events
}

fn start_run(session: &Session, plan: RunPlan) -> Result<Vec<Event>, Refusal> {
    match session.lifecycle {
        Lifecycle::Active | Lifecycle::Completed { .. } => {}
        Lifecycle::Paused { .. } | Lifecycle::Failed { .. } | Lifecycle::Abandoned { .. } => {
            return Err(not_active(session, "start a run"));
        }
    }
    let name = plan.workflow.name.clone();
    if let Some(open) = session.open_run_of(&name) {
        // The way to the unfinished run is to go on with it, not to begin another.
        let is_current =
            session.run().is_some_and(|run| run.workflow.name == name && run.ordinal == open.ordinal);
        return match &session.lifecycle {
            Lifecycle::Active if is_current => Ok(Vec::new()),
            Lifecycle::Active => Ok(vec![Event::RunSelected { workflow: name, ordinal: open.ordinal }]),
            _ => {
                let (worktree, parallel) = (session.worktree.clone(), session.parallel);
                let mut events = vec![Event::SessionResumed { worktree, parallel }];
                if !is_current {
                    events.push(Event::RunSelected { workflow: name, ordinal: open.ordinal });
                }
                Ok(events)
            }
        };
    }
    let other_open = session.runs.iter().any(Run::is_open);
    Ok(begin_run(plan, session.runs_of(&name) + 1, other_open))
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

fn pause(session: &Session, reason: String, context: Option<String>) -> Result<Vec<Event>, Refusal> {
    match session.lifecycle {
        Lifecycle::Active => Ok(vec![Event::SessionPaused { reason, context }]),
        Lifecycle::Paused { .. } => Ok(Vec::new()),
        Lifecycle::Completed { .. } | Lifecycle::Failed { .. } | Lifecycle::Abandoned { .. } => {
            Err(not_active(session, "pause"))
        }
    }
}

fn resume(session: &Session, worktree: String, parallel: bool) -> Result<Vec<Event>, Refusal> {
    match session.lifecycle {
        Lifecycle::Paused { .. } | Lifecycle::Failed { .. } => {
            Ok(vec![Event::SessionResumed { worktree, parallel }])
        }
        Lifecycle::Active if session.worktree == worktree => Ok(Vec::new()),
        Lifecycle::Active => Ok(vec![Event::SessionResumed { worktree, parallel }]),
        Lifecycle::Completed { .. } | Lifecycle::Abandoned { .. } => Err(not_active(session, "resume")),
    }
}

fn close(session: &Session, force: bool) -> Result<Vec<Event>, Refusal> {
    match session.lifecycle {
        Lifecycle::Completed { .. } => return Ok(Vec::new()),
        Lifecycle::Abandoned { .. } => return Err(not_active(session, "close")),
        Lifecycle::Active | Lifecycle::Paused { .. } | Lifecycle::Failed { .. } => {}
    }
    let unfinished = session.runs.iter().rev().find(|run| run.is_open());
    match unfinished {
        Some(run) if !force => Err(Refusal::Unfinished {
            session: session.id.clone(),
            workflow: run.workflow.name.clone(),
            done: run.done(),
            total: run.phases.len(),
            current: run.current().id().clone(),
        }),
        Some(_) => Ok(vec![Event::SessionCompleted { forced: true }]),
        None => Ok(vec![Event::SessionCompleted { forced: false }]),
    }
}

fn abandon(session: &Session, reason: Option<String>) -> Result<Vec<Event>, Refusal> {
    match session.lifecycle {
        Lifecycle::Abandoned { .. } => Ok(Vec::new()),
        Lifecycle::Completed { .. } => Err(not_active(session, "abandon")),
        Lifecycle::Active | Lifecycle::Paused { .. } | Lifecycle::Failed { .. } => {
            Ok(vec![Event::SessionAbandoned { reason }])
        }
    }
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

fn not_active(session: &Session, doing: &'static str) -> Refusal {
    Refusal::NotActive {
        doing,
        session: session.id.clone(),
        lifecycle: session.lifecycle.name(),
        workflow: session.run().map_or_else(placeholder_name, |run| run.workflow.name.clone()),
    }
}

fn run_of<'a>(session: &'a Session, doing: &'static str) -> Result<&'a Run, Refusal> {
    session.run().ok_or_else(|| not_active(session, doing))
}

/// Stands where a log was cut off after its first event, before its run began.
fn placeholder_name() -> Name {
    Name::parse("workflow").unwrap_or_else(|_| unreachable!("a constant that is a valid name"))
}

fn has_other_open_run(session: &Session, run: &Run) -> bool {
    session.runs.iter().any(|other| {
        other.is_open() && !(other.workflow.name == run.workflow.name && other.ordinal == run.ordinal)
    })
}

fn unknown_phase(run: &Run, asked: &str) -> Refusal {
    let known: Vec<Name> = run.phases.iter().map(|phase| phase.id().clone()).collect();
    let near = nearest(asked, known.iter().map(Name::as_str)).and_then(|name| Name::parse(name).ok());
    Refusal::UnknownPhase {
        asked: asked.to_owned(),
        workflow: run.workflow.name.clone(),
        known,
        nearest: near,
    }
}
