//! Runs that files show to have begun, as events. Phases are completed by commands and by the files of a session's
//! state, never by a file that exists.

use super::Draft;
use crate::layout::{ForeignSession, Proof};
use crate::{builtin, definition};
use model::event::Event;
use model::gate::{AttemptReport, CheckOutcome, CheckResult};
use model::id::Name;
use model::run::{Run, RunPlan};

/// Brings into `draft` the runs that files show and it does not have. `counts` tells whether a proof's file is not older
/// than what it is to prove.
pub fn prove(draft: &mut Draft, told: &ForeignSession, counts: &dyn Fn(&Proof) -> bool) {
    for proof in told.proofs.iter().filter(|proof| counts(proof)) {
        match proof {
            Proof::Run { workflow, ordinal, phase, at, .. } => {
                draft.happens_at(*at);
                begin(draft, told, workflow, *ordinal, phase);
            }
            Proof::Work { .. } | Proof::Result { .. } => {}
        }
    }
}

fn begin(draft: &mut Draft, told: &ForeignSession, workflow: &Name, ordinal: u32, current: &Name) {
    // Only the next of its kind: an old folder says nothing about what goes on now, nor does one of another workflow
    // than the session is in.
    let is_another = |run: &Run| run.workflow.name != *workflow;
    if draft.session().runs_of(workflow) >= ordinal || draft.session().run().is_some_and(is_another) {
        return;
    }
    let Some(RunPlan { workflow, phases, .. }) = plan(told, workflow) else { return };
    let before: Vec<Name> =
        phases.iter().map(|stub| stub.id.clone()).take_while(|phase| phase != current).collect();
    draft.push(Event::RunStarted { workflow, ordinal, phases, definition: None });
    for phase in before {
        draft.push(Event::PhaseClaimed { phase, attempt: None });
    }
    draft.push(Event::PhaseStarted { phase: current.clone() });
}

fn plan(told: &ForeignSession, workflow: &Name) -> Option<RunPlan> {
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
