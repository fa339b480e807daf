//! The one shape that every front end shows: a session as it is now. Built from the model, never stored.

use crate::error::Error;
use crate::items::{ItemView, ItemsSeen};
use crate::next::Next;
use crate::place::in_workspace;
use crate::requirements::RequirementView;
use jiff::Timestamp;
use layouts::problem::Problem;
use model::actor::Actor;
use model::artifact::Artifact;
use model::gate::{Attempt, AttemptOutcome, CheckOutcome, CheckResult};
use model::hint::{CommandLine, Hint};
use model::id::Name;
use model::item::ItemCounts;
use model::lifecycle::Lifecycle;
use model::note::{Note, NoteKind};
use model::outcome::Outcome;
use model::phase::{Phase, PhaseState};
use model::progress::{Progress, SignsOfWork, Status};
use model::run::Run;
use model::session::{RevisionMade, Session};
use model::words;
use model::workflow::{CheckKind, Indexing, OnComplete, PhaseDefinition, Workflow};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct View {
    pub session_id: String,
    /// Its number in `leftoff list`.
    pub number: u64,
    pub title: String,
    pub goal: Option<String>,
    pub target: Option<String>,
    pub layout: String,
    pub worktree: String,
    pub parallel: bool,
    pub status: Status,
    pub lifecycle: Lifecycle,
    pub workflow: WorkflowView,
    pub run: RunView,
    pub phases: Vec<PhaseView>,
    pub current_phase: CurrentPhase,
    pub completed_phases: Vec<u32>,
    pub progress: Progress,
    /// The first of the current phase that are not done; `leftoff item list` has more.
    pub items: Vec<ItemView>,
    /// Of the current phase.
    pub item_counts: ItemCounts,
    /// The item that the command was about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemView>,
    pub artifacts: Vec<Artifact>,
    /// The last few; `leftoff show` has them all.
    pub revisions: Vec<RevisionMade>,
    pub notes: Vec<Note>,
    pub fields: BTreeMap<String, Value>,
    /// What agents need here before they may use a tool, as it stands for the agent session that asks.
    pub requirements: Vec<RequirementView>,
    pub resume_count: u32,
    pub next: Next,
    pub warnings: Vec<Warning>,
    /// Checks of a layout's files, where its sessions have such and `status` asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub health: Vec<HealthView>,
    /// Rounds as the tool's own files show them, where it has rounds and `status` or `brief` asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<RoundView>,
    /// How long the current round goes on, or went; with `rounds`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_seconds: Option<u64>,
    /// The command had been done before, and changed nothing.
    pub already: bool,
    pub view_stale: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub last_actor: Actor,
    pub version: u64,
    /// All about where it stands as the tool that it comes from tells it; only where everything is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_words: Option<String>,
    /// Commands must name this session: without a name they would mean another.
    #[serde(skip)]
    pub name_session: bool,
}

/// One round or run, as its files show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundView {
    pub workflow: String,
    pub number: u32,
    /// Its result is there.
    #[serde(rename = "final")]
    pub is_final: bool,
    /// Work that has its file.
    pub parts: Vec<PartView>,
}

/// A part of a round's work: a reviewer, for example.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartView {
    pub kind: String,
    pub name: String,
    /// None where its file could not be read.
    pub findings: Option<usize>,
}

/// One check of a session's files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HealthView {
    pub check: String,
    pub ok: bool,
    pub found: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowView {
    pub name: Name,
    pub version: String,
    pub title: String,
    pub indexing: Indexing,
    pub starting_phase: u32,
    pub total_phases: usize,
    /// Nobody knows which phase is the last: `total_phases` are those that are known so far.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub total_unknown: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub describe: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunView {
    pub workflow: Name,
    pub ordinal: u32,
    pub started_at: Timestamp,
    pub completed_at: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseView {
    pub number: u32,
    pub id: Name,
    pub title: String,
    pub status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub produces: Vec<String>,
    pub started_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    pub duration_seconds: Option<u64>,
    pub paused_seconds: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped_reason: Option<String>,
    /// How it came to be over; none while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    pub gate: GateView,
    /// A file calls it done, against a gate that failed here or items that are open here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub contested: bool,
    /// The last few; `leftoff show` has them all.
    pub attempts: Vec<Attempt>,
    pub attempt_count: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurrentPhase {
    pub number: u32,
    pub id: Name,
    pub title: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateOutcome {
    Passed,
    Failed,
    Open,
    Claimed,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GateView {
    pub outcome: GateOutcome,
    pub checks: Vec<CheckView>,
}

/// A check as it was found, or as it waits to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckView {
    pub id: String,
    pub kind: String,
    pub outcome: GateOutcome,
    pub found: Option<String>,
    pub needed: Option<String>,
    pub help: Option<String>,
}

/// Something that a person should know, though nothing failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    pub kind: String,
    pub message: String,
    pub hint: Option<Hint>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What it is, where it is about a session's files: whoever decides something about it looks here.
    #[serde(skip)]
    pub(crate) problem: Option<Box<Problem>>,
}

impl Warning {
    /// Somebody should put it right, and it is not only worth knowing.
    pub(crate) fn is_to_mend(&self) -> bool {
        self.problem.as_ref().is_none_or(|problem| problem.is_to_mend())
    }

    pub(crate) fn from_error(kind: &str, error: &Error) -> Self {
        Self {
            kind: kind.to_owned(),
            message: error.to_string(),
            hint: error.hint(),
            path: None,
            problem: None,
        }
    }
}

/// A session on one line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShortView {
    pub number: u64,
    pub session_id: String,
    pub title: String,
    pub goal: Option<String>,
    pub target: Option<String>,
    pub layout: String,
    pub workflow: String,
    pub worktree: String,
    pub lifecycle: String,
    pub parallel: bool,
    pub phase: String,
    pub phases_done: u32,
    pub total_phases: u32,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub version: u64,
    /// The one that a command means here that names none.
    #[serde(default)]
    pub current: bool,
    /// The line that its own tool's list has for it; only in a list of that tool's sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_words: Option<String>,
    /// What is wrong with its files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// What is shown where there is no session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Nothing {
    pub session_id: Option<String>,
    pub next: Next,
    pub warnings: Vec<Warning>,
}

/// What a view is made of.
pub(crate) struct Material<'a> {
    pub(crate) session: &'a Session,
    pub(crate) run: &'a Run,
    pub(crate) number: u64,
    /// Gone only from a store that lost rows: the session is shown all the same.
    pub(crate) definition: Option<&'a Workflow>,
    /// Of a session that is finished: another run can be begun with what it followed.
    pub(crate) can_run_again: bool,
    pub(crate) now: Timestamp,
    /// Of somebody who is at work in its files.
    pub(crate) signs: SignsOfWork,
    /// Commands must name this session: it is not the one that is meant without a name.
    pub(crate) name_session: bool,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) already: bool,
    pub(crate) items: ItemsSeen,
    /// Checks of the current phase that failed at its last attempt, and hold by now.
    pub(crate) settled: BTreeSet<String>,
    pub(crate) requirements: Vec<RequirementView>,
}

pub(crate) fn build(material: Material<'_>) -> View {
    let Material { session, run, now, .. } = material;
    let next = Next::of(&material);
    View {
        session_id: session.id.to_string(),
        number: material.number,
        title: session.title.clone(),
        goal: session.goal.clone(),
        target: session.target.clone(),
        layout: session.layout.clone(),
        worktree: session.worktree.clone(),
        parallel: session.parallel,
        status: Status::with_signs(session, now, material.signs),
        lifecycle: session.lifecycle.clone(),
        workflow: WorkflowView {
            name: run.workflow.name.clone(),
            version: run.workflow.version.clone(),
            title: run.workflow.title.clone(),
            indexing: run.workflow.indexing,
            starting_phase: run.number_at(0),
            total_phases: run.phases.len(),
            total_unknown: run.workflow.on_complete == OnComplete::Grow
                && !matches!(session.lifecycle, Lifecycle::Completed { .. }),
            describe: material.definition.and_then(|definition| definition.describe.clone()),
        },
        run: RunView {
            workflow: run.workflow.name.clone(),
            ordinal: run.ordinal,
            started_at: run.started_at,
            completed_at: run.completed_at,
        },
        phases: phases(session, run, material.definition),
        current_phase: CurrentPhase {
            number: run.current_number(),
            id: run.current().id().clone(),
            title: run.current().stub.title.clone(),
        },
        completed_phases: completed(session, run),
        progress: Progress::with_signs(session, run, now, material.signs),
        item_counts: material.items.counts,
        items: material.items.open,
        item: None,
        artifacts: session.artifacts.values().cloned().collect(),
        revisions: session.revisions.clone(),
        notes: session.notes.clone(),
        fields: session.fields.clone(),
        requirements: material.requirements,
        resume_count: session.resume_count,
        next,
        warnings: material.warnings,
        health: Vec::new(),
        rounds: Vec::new(),
        elapsed_seconds: None,
        already: material.already,
        view_stale: false,
        created_at: session.created_at,
        updated_at: session.updated_at,
        last_actor: session.last_actor.clone(),
        version: session.version,
        own_words: None,
        name_session: material.name_session,
    }
}

fn completed(session: &Session, run: &Run) -> Vec<u32> {
    let is_counted = |phase: &Phase| phase.is_completed() && !session.is_contested(phase);
    let done = run.phases.iter().enumerate().filter(|(_, phase)| is_counted(phase));
    done.map(|(position, _)| run.number_at(position)).collect()
}

fn phases(session: &Session, run: &Run, definition: Option<&Workflow>) -> Vec<PhaseView> {
    run.phases
        .iter()
        .enumerate()
        .map(|(position, phase)| {
            let defined = definition.and_then(|workflow| workflow.phase(phase.id().as_str()));
            let contested = session.is_contested(phase);
            let produces = produced(session, run, defined);
            PhaseView { contested, ..phase_view(run.number_at(position), phase, defined, produces) }
        })
        .collect()
}

/// The files of a phase, below the project's folder.
pub(crate) fn produced(session: &Session, run: &Run, defined: Option<&PhaseDefinition>) -> Vec<String> {
    let paths = defined.map(|defined| defined.produces.as_slice()).unwrap_or_default();
    // The files of items are told by what stands for one of them.
    let item = defined.and_then(|defined| defined.items.as_deref()).unwrap_or("item");
    let filled = |path: &String| {
        path.replace("{run}", &run.ordinal.to_string()).replace("{item}", &format!("<{item}>"))
    };
    // Whoever works on a session outside of projects may be anywhere: its files are told with their whole path.
    let above =
        if session.path.as_deref() == Some(&session.worktree) { session.worktree.as_str() } else { "" };
    let told = |path: &String| std::path::Path::new(above).join(in_workspace(session, &filled(path)));
    paths.iter().map(|path| told(path).to_string_lossy().into_owned()).collect()
}

fn phase_view(
    number: u32,
    phase: &Phase,
    defined: Option<&PhaseDefinition>,
    produces: Vec<String>,
) -> PhaseView {
    PhaseView {
        number,
        id: phase.id().clone(),
        title: phase.stub.title.clone(),
        status: phase.status().to_owned(),
        purpose: defined.and_then(|defined| defined.purpose.clone()),
        produces,
        started_at: phase.started_at(),
        completed_at: phase.completed_at(),
        duration_seconds: phase.duration_seconds(),
        paused_seconds: phase.paused_seconds,
        skipped_reason: match &phase.state {
            PhaseState::Skipped { reason, .. } => Some(reason.clone()),
            PhaseState::NotStarted
            | PhaseState::InProgress { .. }
            | PhaseState::Completed { .. }
            | PhaseState::NeedsReview { .. } => None,
        },
        outcome: Outcome::of(phase),
        gate: gate(phase, defined),
        contested: false,
        attempts: phase.attempts.clone(),
        attempt_count: phase.attempt_count,
    }
}

/// What the last attempt found, else what the gate will ask for.
fn gate(phase: &Phase, defined: Option<&PhaseDefinition>) -> GateView {
    if let Some(attempt) = phase.last_attempt().filter(|_| !phase.claimed) {
        let outcome = match attempt.outcome {
            AttemptOutcome::Passed => GateOutcome::Passed,
            AttemptOutcome::Failed => GateOutcome::Failed,
        };
        return GateView { outcome, checks: attempt.report.checks.iter().map(CheckView::from).collect() };
    }
    let waiting = |id: &str, kind: &str, needed: Option<String>, help: Option<&String>| CheckView {
        id: id.to_owned(),
        kind: kind.to_owned(),
        outcome: GateOutcome::Open,
        found: None,
        needed,
        help: help.cloned(),
    };
    let mut checks = Vec::new();
    if let Some(defined) = defined {
        for field in defined.evidence.iter().filter(|field| field.required) {
            let needed = Some(field.value_type.name().to_owned());
            checks.push(waiting(&field.name, "evidence", needed, field.describe.as_ref()));
        }
        for check in &defined.checks {
            let needed = match &check.kind {
                CheckKind::Expr { expr, written } => Some(written.as_ref().unwrap_or(expr).clone()),
                CheckKind::Artifact { .. }
                | CheckKind::Command { .. }
                | CheckKind::Git { .. }
                | CheckKind::Items
                | CheckKind::Approval { .. } => None,
            };
            checks.push(waiting(check.id.as_str(), check.kind.name(), needed, check.help.as_ref()));
        }
    }
    let outcome = if phase.claimed { GateOutcome::Claimed } else { GateOutcome::Open };
    GateView { outcome, checks }
}

impl From<&CheckResult> for CheckView {
    fn from(check: &CheckResult) -> Self {
        Self {
            id: check.id.clone(),
            kind: check.kind.clone(),
            outcome: match check.outcome {
                CheckOutcome::Passed => GateOutcome::Passed,
                CheckOutcome::Failed => GateOutcome::Failed,
            },
            found: check.found.clone(),
            needed: check.needed.clone(),
            help: check.help.clone(),
        }
    }
}

impl View {
    pub fn current(&self) -> Option<&PhaseView> {
        self.phases.iter().find(|phase| phase.number == self.current_phase.number)
    }

    /// Phases that wait for a review, each with the revision that made it so.
    pub fn waiting_for_review(&self) -> Vec<(&PhaseView, Option<&RevisionMade>)> {
        let waiting = self.phases.iter().filter(|phase| phase.status == "needs_review");
        waiting
            .map(|phase| {
                let why = self.revisions.iter().rfind(|made| made.revision.flagged.contains(&phase.id));
                (phase, why)
            })
            .collect()
    }

    /// The first phase that a file calls done, against what is known here.
    pub fn contested(&self) -> Option<&PhaseView> {
        self.phases.iter().find(|phase| phase.contested)
    }

    /// Phases that a file says are done and that nothing shows to be.
    pub fn claimed(&self) -> impl Iterator<Item = &PhaseView> {
        self.phases.iter().filter(|phase| phase.gate.outcome == GateOutcome::Claimed)
    }

    /// What still waits for somebody: what blocks before what is only asked or put off, the newest first.
    pub fn open_notes(&self) -> Vec<&Note> {
        let mut open: Vec<&Note> = self.notes.iter().rev().filter(|note| note.is_open()).collect();
        open.sort_by_key(|note| match note.kind {
            NoteKind::Blocker => 0,
            NoteKind::Question => 1,
            NoteKind::Note
            | NoteKind::Decision
            | NoteKind::Tried
            | NoteKind::Assumption
            | NoteKind::Override
            | NoteKind::Deferred => 2,
        });
        open
    }

    /// What a printed command ends with, so that it means this session.
    pub fn naming(&self) -> String {
        if self.name_session { format!(" --session {}", self.session_id) } else { String::new() }
    }

    /// A command about this session, which is named where a command without a name would mean another.
    pub fn command(&self, words: Vec<String>) -> CommandLine {
        CommandLine::new([words, self.naming_words()].concat())
    }

    /// Words that a printed command ends with, so that it means this session.
    pub fn naming_words(&self) -> Vec<String> {
        if self.name_session { words!["--session", self.session_id] } else { Vec::new() }
    }

    /// The last failed attempt at the current phase, if nothing has passed since; else at another that is open.
    pub fn failed_attempt(&self) -> Option<(&PhaseView, &Attempt)> {
        let current = self.current().filter(|_| self.run.completed_at.is_none())?;
        let is_open = |phase: &&PhaseView| phase.status == "in_progress";
        let others = self.phases.iter().filter(is_open).filter(|phase| phase.number != current.number);
        std::iter::once(current).chain(others).find_map(|phase| {
            let last = phase.attempts.last()?;
            (last.outcome == AttemptOutcome::Failed).then_some((phase, last))
        })
    }

    /// `2 of 4 phases done (50 %)`; without a number that nobody knows, and with what else became of phases where that is
    /// not plain.
    pub fn how_far(&self) -> String {
        let outcomes = &self.progress.outcomes;
        let done = self.completed_phases.len();
        let counted = if let Some(percent) = self.percent() {
            let total = self.workflow.total_phases - outcomes.not_applicable as usize;
            format!("{done} of {total} phases done ({percent} %)")
        } else {
            let phases = if done == 1 { "phase" } else { "phases" };
            format!("{done} {phases} done, of an unknown number")
        };
        if outcomes.is_plain() { counted } else { format!("{counted}: {outcomes}") }
    }

    /// How long a phase took. What another tool's file does not tell is dated to one moment.
    pub fn timed(&self, phase: &PhaseView) -> Option<u64> {
        phase.duration_seconds.filter(|seconds| *seconds > 0 || self.layout == crate::sync::NATIVE)
    }

    pub fn percent(&self) -> Option<u32> {
        Some(self.progress.percent).filter(|_| !self.workflow.total_unknown)
    }
}
