//! What files show by being there: a run that has begun, a phase that is done. Moves a session forward, never back.

use super::Draft;
use crate::layout::{Proof, Told};
use crate::{builtin, definition};
use model::event::Event;
use model::gate::{AttemptReport, CheckOutcome, CheckResult};
use model::id::Name;
use model::lifecycle::Lifecycle;
use model::phase::PhaseStub;
use model::run::{Run, RunPlan};
use model::workflow::OnComplete;

/// Brings into `draft` what the files show and it does not have. `counts` tells whether a proof's file is not older
/// than what it is to prove.
pub fn prove(draft: &mut Draft, told: &Told, counts: &dyn Fn(&Proof) -> bool) {
    prove_but(draft, told, counts, None);
}

/// A phase that a command has more to say of than that its file is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Left {
    /// By its id or number.
    Phase(String),
    /// The one that the session is in, whatever files show.
    Current,
}

/// The same up to the phase that is `left` to a command. It is only begun, and what comes after it is for later.
pub fn prove_but(draft: &mut Draft, told: &Told, counts: &dyn Fn(&Proof) -> bool, left: Option<&Left>) {
    let current = draft.session().run().map(|run| run.current().id().to_string());
    let left = left.and_then(|left| match left {
        Left::Phase(asked) => Some(asked.clone()),
        Left::Current => current,
    });
    for proof in told.proofs.iter().filter(|proof| counts(proof)) {
        match proof {
            Proof::Run { workflow, ordinal, phase, at, .. } => {
                draft.happens_at(*at);
                begin(draft, told, workflow, *ordinal, phase);
            }
            Proof::Phase { workflow, ordinal, phase, path, at } => {
                if !is_current(draft, workflow, *ordinal) || draft.is_done(phase) {
                    continue;
                }
                draft.happens_at(*at);
                let earlier: Vec<&Proof> = told.proofs.iter().filter(|proof| counts(proof)).collect();
                pass(draft, &earlier, phase);
                if left.as_ref().is_some_and(|left| is_meant(draft, left, phase)) {
                    arrive(draft, phase);
                    return;
                }
                complete(draft, phase, path);
            }
            // Looked for where a later phase is done.
            Proof::Earlier { .. } => {}
        }
    }
}

fn begin(draft: &mut Draft, told: &Told, workflow: &Name, ordinal: u32, current: &Name) {
    // Only the next of its kind: an old folder says nothing about what goes on now, nor does one of another workflow
    // than the session is in.
    let is_another = |run: &Run| run.workflow.name != *workflow;
    if draft.session().runs_of(workflow) >= ordinal || draft.session().run().is_some_and(is_another) {
        return;
    }
    let Some(RunPlan { workflow, phases, .. }) = plan(told, workflow) else { return };
    let before: Vec<Name> =
        phases.iter().map(|stub| stub.id.clone()).take_while(|phase| phase != current).collect();
    draft.push(Event::RunStarted { workflow, ordinal, phases });
    for phase in before {
        draft.push(Event::PhaseClaimed { phase, attempt: None });
    }
    draft.push(Event::PhaseStarted { phase: current.clone() });
}

fn is_current(draft: &Draft, workflow: &Name, ordinal: u32) -> bool {
    let run = draft.session().run();
    run.is_some_and(|run| run.workflow.name == *workflow && run.ordinal == ordinal && run.is_open())
}

fn is_meant(draft: &Draft, asked: &str, phase: &Name) -> bool {
    let run = draft.session().run();
    run.and_then(|run| run.resolve(asked)).is_some_and(|found| found.id() == phase)
}

/// All that lies before is over: as its own file shows it, or claimed where nothing does.
fn pass(draft: &mut Draft, earlier: &[&Proof], at: &Name) {
    let Some(run) = draft.session().run() else { return };
    let phases = run.phases.iter().map(|phase| phase.id().clone());
    let before: Vec<Name> = phases.take_while(|phase| phase != at).collect();
    for passed in before {
        if draft.is_done(&passed) {
            continue;
        }
        let shown = earlier.iter().find_map(|proof| match proof {
            Proof::Earlier { workflow, ordinal, phase, by }
                if *phase == passed && is_current(draft, workflow, *ordinal) =>
            {
                Some(by.event(passed.clone()))
            }
            Proof::Earlier { .. } | Proof::Run { .. } | Proof::Phase { .. } => None,
        });
        draft.push(shown.unwrap_or(Event::PhaseClaimed { phase: passed, attempt: None }));
    }
}

fn arrive(draft: &mut Draft, at: &Name) {
    if !draft.is_in_progress(at) {
        draft.push(Event::PhaseStarted { phase: at.clone() });
    }
}

/// The phase is done, and what comes next begins.
fn complete(draft: &mut Draft, proven: &Name, path: &str) {
    let Some(run) = draft.session().run() else { return };
    let stubs: Vec<PhaseStub> = run.phases.iter().map(|phase| phase.stub.clone()).collect();
    draft.push(Event::PhaseCompleted { phase: proven.clone(), attempt: shown_by(path) });
    let stubs = stubs.into_iter().skip_while(|stub| stub.id != *proven).skip(1);
    for stub in stubs {
        if draft.is_done(&stub.id) {
            continue;
        }
        draft.push(Event::PhaseStarted { phase: stub.id.clone() });
        if !stub.terminal {
            return;
        }
        draft.push(Event::PhaseCompleted { phase: stub.id, attempt: AttemptReport::default() });
    }
    draft.push(Event::RunCompleted);
    close(draft);
}

/// A run that ends its session does so whoever completes it.
fn close(draft: &mut Draft) {
    let session = draft.session();
    let closes = session.run().is_some_and(|run| run.workflow.on_complete == OnComplete::Close);
    let is_active = matches!(session.lifecycle, Lifecycle::Active);
    if closes && is_active && !session.runs.iter().any(Run::is_open) {
        draft.push(Event::SessionCompleted { forced: false });
    }
}

fn plan(told: &Told, workflow: &Name) -> Option<RunPlan> {
    if let Some(own) = told.workflows.iter().find(|own| own.name == *workflow) {
        return Some(RunPlan::new(own, Vec::new()));
    }
    let text = builtin::find(workflow.as_str())?.text;
    Some(RunPlan::new(&definition::read(text).ok()?.workflow, Vec::new()))
}

/// A gate that passed because a file is there.
pub fn shown_by(path: &str) -> AttemptReport {
    let check = CheckResult {
        id: "file".to_owned(),
        kind: "artifact".to_owned(),
        outcome: CheckOutcome::Passed,
        found: Some(path.to_owned()),
        needed: None,
        help: None,
    };
    AttemptReport { checks: vec![check], ..AttemptReport::default() }
}
