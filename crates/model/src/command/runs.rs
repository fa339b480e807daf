//! Decides commands about runs: starting and selecting a run, and updating its definition.

use super::phases::go_on;
use super::{not_active, run_of};
use crate::event::Event;
use crate::lifecycle::Lifecycle;
use crate::refusal::Refusal;
use crate::run::{Run, RunPlan};
use crate::session::Session;
use crate::workflow::OnComplete;

pub(super) fn begin(plan: RunPlan, ordinal: u32, other_run_is_open: bool) -> Vec<Event> {
    let closes = plan.workflow.on_complete == OnComplete::Close && !other_run_is_open;
    let first = go_on(plan.phases.iter(), &plan.skips, closes);
    let mut events =
        vec![Event::RunStarted { workflow: plan.workflow, ordinal, phases: plan.phases, definition: None }];
    events.extend(first);
    events
}

pub(super) fn start(session: &Session, plan: RunPlan, is_next: bool) -> Result<Vec<Event>, Refusal> {
    match session.lifecycle {
        Lifecycle::Active | Lifecycle::Completed { .. } => {}
        Lifecycle::Paused { .. } | Lifecycle::Failed { .. } | Lifecycle::Abandoned { .. } => {
            return Err(not_active(session, "start a run"));
        }
    }
    let name = plan.workflow.name.clone();
    let open = session.open_run_of(&name);
    if let Some(open) = open.filter(|_| !is_next) {
        // An unfinished run of the workflow is selected instead of starting another run.
        let mut events = Vec::new();
        match session.lifecycle {
            Lifecycle::Active => {}
            Lifecycle::Paused { .. }
            | Lifecycle::Completed { .. }
            | Lifecycle::Failed { .. }
            | Lifecycle::Abandoned { .. } => {
                let (worktree, parallel) = (session.worktree.clone(), session.parallel);
                events.push(Event::SessionResumed { worktree, parallel, machine: session.machine.clone() });
            }
        }
        if !is_current(session, open) {
            events.push(Event::RunSelected { workflow: name, ordinal: open.ordinal });
        }
        return Ok(events);
    }
    let other_open = session.runs.iter().any(|run| run.is_open() && run.workflow.name != name);
    let Some(ordinal) = session.runs_of(&name).checked_add(1) else {
        return Err(Refusal::NoMoreRuns { session: session.id.clone(), workflow: name });
    };
    let mut events = open.map(|open| end(session, open)).unwrap_or_default();
    events.extend(begin(plan, ordinal, other_open));
    Ok(events)
}

/// Returns the events that end an unfinished run as it is.
fn end(session: &Session, open: &Run) -> Vec<Event> {
    let (workflow, ordinal) = (open.workflow.name.clone(), open.ordinal);
    let selected = (!is_current(session, open)).then_some(Event::RunSelected { workflow, ordinal });
    selected.into_iter().chain([Event::RunCompleted]).collect()
}

fn is_current(session: &Session, run: &Run) -> bool {
    session
        .run()
        .is_some_and(|current| current.workflow.name == run.workflow.name && current.ordinal == run.ordinal)
}

/// Switches the current run to another definition. The results of its phases are kept.
pub(super) fn update(session: &Session, plan: RunPlan) -> Result<Vec<Event>, Refusal> {
    let run = run_of(session, "update")?;
    if !run.is_open() {
        return Err(Refusal::RunFinished {
            doing: "update",
            session: session.id.clone(),
            workflow: run.workflow.name.clone(),
            ordinal: run.ordinal,
        });
    }
    if run.workflow.hash == plan.workflow.hash {
        return Ok(Vec::new());
    }
    let current = run.current().id();
    if !plan.phases.iter().any(|stub| stub.id == *current) {
        return Err(Refusal::UnknownPhase {
            asked: current.to_string(),
            workflow: plan.workflow.name,
            known: plan.phases.into_iter().map(|stub| stub.id).collect(),
            nearest: None,
        });
    }
    Ok(vec![Event::DefinitionUpdated { workflow: plan.workflow, phases: plan.phases, definition: None }])
}
