//! Builds a session's view from the folded model and the engine's findings.

use super::{
    CheckView, CurrentPhase, GateOutcome, GateView, PhaseView, RunView, SharedView, View, Warning,
    WorkflowView,
};
use crate::items::{ItemView, ItemsSeen};
use crate::next::{Next, submitting};
use crate::project::in_workspace;
use crate::requirements::RequirementView;
use jiff::Timestamp;
use model::command::to_prove_before;
use model::gate::{AttemptOutcome, CheckOutcome, CheckResult};
use model::id::Name;
use model::outcome::Outcome;
use model::phase::Phase;
use model::progress::{Progress, SignsOfWork};
use model::run::Run;
use model::session::Session;
use model::status::Status;
use model::workflow::{CheckKind, PhaseDefinition, Workflow};
use std::collections::BTreeSet;

/// The input of a view.
pub(crate) struct Material<'a> {
    pub(crate) session: &'a Session,
    pub(crate) run: &'a Run,
    pub(crate) number: u64,
    /// The definition; `None` only if the store has lost rows. The session is shown even then.
    pub(crate) definition: Option<&'a Workflow>,
    pub(crate) now: Timestamp,
    /// Signs of work in the session's files.
    pub(crate) signs: SignsOfWork,
    /// True if commands must name this session because they would otherwise mean another one.
    pub(crate) name_session: bool,
    pub(crate) shared: Option<SharedView>,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) already: bool,
    pub(crate) items: ItemsSeen,
    /// The checks of the current phase that failed in its last attempt but pass now.
    pub(crate) settled: BTreeSet<String>,
    /// The checks of the current phase whose command is not trusted here yet.
    pub(crate) untrusted: BTreeSet<String>,
    /// The first unproven phase, if a file closed the session.
    pub(crate) closed_over: Option<Name>,
    pub(crate) requirements: Vec<RequirementView>,
}

impl Material<'_> {
    /// True if a check of the current phase failed in the last attempt but passes now, for example because it was
    /// approved.
    pub(crate) fn is_settled(&self, check: &str, kind: &str) -> bool {
        let items = &at_work(self.session, self.run).items;
        match kind {
            "items" => {
                let all_dropped = items.total == 0 && items.dropped > 0;
                items.open() == 0 && !all_dropped || self.settled.contains(check)
            }
            _ => self.settled.contains(check),
        }
    }
}

/// Returns the phase whose gate is tried next: a contested phase, or else the current one.
pub(crate) fn at_work<'a>(session: &Session, run: &'a Run) -> &'a Phase {
    run.phases.iter().find(|phase| session.is_contested(phase)).unwrap_or(run.current())
}

pub(crate) fn build(material: Material<'_>) -> View {
    let Material { session, run, now, .. } = material;
    let next = Next::of(&material);
    let signs = signs(&material);
    View {
        session_id: session.id.to_string(),
        number: material.number,
        title: session.title.clone(),
        goal: session.goal.clone(),
        target: session.target.clone(),
        layout: session.layout.clone(),
        worktree: session.worktree.clone(),
        parallel: session.parallel,
        status: Status::with_signs(session, now, signs),
        lifecycle: session.lifecycle.clone(),
        workflow: WorkflowView {
            name: run.workflow.name.clone(),
            version: run.workflow.version.clone(),
            title: run.workflow.title.clone(),
            indexing: run.workflow.indexing,
            starting_phase: run.number_at(0),
            total_phases: run.phases.len(),
            total_unknown: session.total_phases().is_none(),
            describe: material.definition.and_then(|definition| definition.describe.clone()),
        },
        run: RunView {
            workflow: run.workflow.name.clone(),
            ordinal: run.ordinal,
            started_at: run.started_at,
            completed_at: run.completed_at,
        },
        phases: phases(&material),
        current_phase: CurrentPhase {
            number: run.current_number(),
            id: run.current().id().clone(),
            title: run.current().stub.title.clone(),
        },
        completed_phases: completed(session, run),
        progress: Progress::with_signs(session, run, now, signs),
        item_counts: material.items.counts,
        items: material.items.open,
        item: None,
        artifacts: session.artifacts.values().cloned().collect(),
        revisions: session.revisions.clone(),
        notes: session.notes.clone(),
        fields: session.fields.clone(),
        requirements: material.requirements,
        resume_count: session.resume_count,
        interrupted: session.interrupted.clone(),
        next,
        shared: material.shared,
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
        closed_over: material.closed_over,
        files_shown: None,
    }
}

/// Returns the signs of work. A held item is such a sign: its holder is at work, even if nothing is recorded.
fn signs(material: &Material<'_>) -> SignsOfWork {
    let is_held = material.items.open.iter().any(ItemView::is_at_work);
    let written = if is_held { Some(material.now) } else { material.signs.written };
    SignsOfWork { written, ..material.signs }
}

fn completed(session: &Session, run: &Run) -> Vec<u32> {
    let is_counted = |phase: &Phase| phase.is_completed() && !session.is_contested(phase);
    let done = run.phases.iter().enumerate().filter(|(_, phase)| is_counted(phase));
    done.map(|(position, _)| run.number_at(position)).collect()
}

fn phases(material: &Material<'_>) -> Vec<PhaseView> {
    let Material { session, run, definition, .. } = material;
    run.phases
        .iter()
        .enumerate()
        .map(|(position, phase)| {
            let defined = definition.and_then(|workflow| workflow.phase(phase.id().as_str()));
            let contested = session.is_contested(phase);
            let produces = produced(session, run, defined);
            let has_gate = defined.is_some_and(PhaseDefinition::has_gate);
            let waits = to_prove_before(session, run, phase, has_gate).is_some();
            let proving = (phase.claimed && !waits).then(|| submitting(material, phase, defined, &|_| None));
            let view = phase_view(run.number_at(position), phase, defined, produces);
            let mut view = PhaseView { contested, proving, ..view };
            if phase.id() == at_work(session, run).id() {
                for check in &mut view.gate.checks {
                    check.settled =
                        check.outcome == GateOutcome::Failed && material.is_settled(&check.id, &check.kind);
                }
            }
            view
        })
        .collect()
}

/// Returns the paths of a phase's files, relative to the project's folder.
pub(crate) fn produced(session: &Session, run: &Run, defined: Option<&PhaseDefinition>) -> Vec<String> {
    let paths = defined.map(|defined| defined.produces.as_slice()).unwrap_or_default();
    // The files of items are shown with a placeholder for the item.
    let item = defined.and_then(|defined| defined.items.as_deref()).unwrap_or("item");
    let filled = |path: &String| {
        path.replace("{run}", &run.ordinal.to_string()).replace("{item}", &format!("<{item}>"))
    };
    // The user of a session outside projects may be in any folder. So the session's files are shown with their full
    // paths.
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
        skipped_reason: phase.skipped_reason().map(ToOwned::to_owned),
        skipped_by: phase.skipped_by().cloned(),
        outcome: Outcome::of(phase),
        unsigned: phase.unsigned,
        gate: gate(phase, defined),
        contested: false,
        proving: None,
        attempts: phase.attempts.clone(),
        attempt_count: phase.attempt_count,
        items: phase.items,
    }
}

/// Returns the results of the last attempt or, without one, what the gate will require.
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
        settled: false,
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
            settled: false,
        }
    }
}
