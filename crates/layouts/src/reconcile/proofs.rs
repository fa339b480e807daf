//! Converts runs that files prove to events. The existence of a file never completes a phase: only commands
//! and state files do.

use super::Draft;
use crate::layout::{ForeignSession, Proof};
use crate::{builtin, definition};
use model::event::Event;
use model::gate::{AttemptReport, CheckOutcome, CheckResult};
use model::id::Name;
use model::run::{Run, RunPlan};

/// Adds the runs that files prove to `draft`. `counts` returns true for a proof whose file is new enough.
pub fn prove(draft: &mut Draft, foreign: &ForeignSession, counts: &dyn Fn(&Proof) -> bool) {
    for proof in foreign.proofs.iter().filter(|proof| counts(proof)) {
        match proof {
            Proof::Run { workflow, ordinal, phase, at, .. } => {
                draft.happens_at(*at);
                begin(draft, foreign, workflow, *ordinal, phase);
            }
            Proof::Work { .. } | Proof::Result { .. } => {}
        }
    }
}

fn begin(draft: &mut Draft, foreign: &ForeignSession, workflow: &Name, ordinal: u32, current: &Name) {
    // Only the next run of the current workflow is added. Old folders, and folders of other workflows, do not
    // show that another run has started.
    let is_another = |run: &Run| run.workflow.name != *workflow;
    if draft.session().runs_of(workflow) >= ordinal || draft.session().run().is_some_and(is_another) {
        return;
    }
    let Some(RunPlan { workflow, phases, .. }) = plan(foreign, workflow) else { return };
    let before: Vec<Name> =
        phases.iter().map(|stub| stub.id.clone()).take_while(|phase| phase != current).collect();
    draft.push(Event::RunStarted { workflow, ordinal, phases, definition: None });
    for phase in before {
        draft.push(Event::PhaseClaimed { phase, attempt: None });
    }
    draft.push(Event::PhaseStarted { phase: current.clone() });
}

fn plan(foreign: &ForeignSession, workflow: &Name) -> Option<RunPlan> {
    if let Some(own) = foreign.workflows.iter().find(|own| own.name == *workflow) {
        return Some(RunPlan::new(own, Vec::new()));
    }
    let text = builtin::find(workflow.as_str())?.text;
    Some(RunPlan::new(&definition::read(text).ok()?.workflow, Vec::new()))
}

/// The report of a gate that passed because the file at `path` exists.
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
