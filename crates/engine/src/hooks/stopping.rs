//! An agent wants to end its turn: whether something is left that it claimed to have done, or that comes next.
//! Holds once; never in a circle.

use crate::engine::Engine;
use crate::error::Result;
use crate::hooks::memory::Memory;
use crate::hooks::{HookEvent, Reply, Verdict};
use crate::next::Waits;
use crate::view::{CheckView, GateOutcome, View};
use model::id::SessionId;
use model::lifecycle::Lifecycle;
use model::note::NoteKind;
use model::workflow::Workflow;
use std::rc::Rc;
use store::ActivityKind;

/// What is kept of an agent's last words.
const LONGEST_WORDS: usize = 1_000;
/// In a row, since a person last said something.
const MOST_SENT_ON: u32 = 50;
/// In a row without any change of the session: whoever does nothing twice does nothing the third time.
const MOST_IN_VAIN: u32 = 3;

impl Engine {
    pub(super) fn stopping(
        &mut self,
        event: &HookEvent,
        again: bool,
        last_words: Option<&str>,
    ) -> Result<Reply> {
        let gated = self.at_stop(&event.agent, again);
        let mut problems = gated.problems;
        let mut verdict = gated.answer.map_or(Verdict::GoOn, Verdict::Hold);
        let Some(session) = self.at_work()? else {
            return Ok(Reply { verdict, ..Reply::unless(&problems) });
        };
        let mut trace = self.trace_of(event);
        let kind = ActivityKind::Words;
        let said = last_words.filter(|words| !words.trim().is_empty());
        let row = said.and_then(|_| self.bounded_row(kind, &event.agent.to_string(), said, LONGEST_WORDS));
        trace.activity = row.map(|row| (session.clone(), vec![row]));
        if verdict == Verdict::GoOn {
            let (decided, memory) = self.held_by_workflow(event, &session, again)?;
            (verdict, trace.memory) = (decided, memory);
        }
        let left = self.leave(&trace);
        if left.is_some() && trace.memory.is_some() {
            // What cannot be counted could go on for ever.
            verdict = Verdict::GoOn;
        }
        problems.extend(left);
        Ok(Reply { verdict, ..Reply::unless(&problems) })
    }

    pub(super) fn subagent_stopping(&mut self, event: &HookEvent, again: bool) -> Result<Reply> {
        if again || event.subagent.as_ref().is_none_or(|subagent| subagent.is_internal) {
            return Ok(Reply::default());
        }
        let gated = self.at_stop(&event.agent, again);
        let mut verdict = gated.answer.map_or(Verdict::GoOn, Verdict::Hold);
        if verdict == Verdict::GoOn
            && let Some(session) = self.at_work()?
            && let Some(workflow) = self.workflow_that_holds(&session)?
            && let Some(reason) = claimed(&workflow, &self.view_by_id(&session)?)
        {
            verdict = Verdict::Hold(reason);
        }
        Ok(Reply { verdict, ..Reply::unless(&gated.problems) })
    }

    /// Whether the session's workflow holds the agent, and what is to be remembered of that.
    fn held_by_workflow(
        &self,
        event: &HookEvent,
        session: &SessionId,
        again: bool,
    ) -> Result<(Verdict, Option<String>)> {
        let Some(workflow) = self.workflow_that_holds(session)? else { return Ok((Verdict::GoOn, None)) };
        let view = self.view_by_id(session)?;
        if let Some(reason) = claimed(&workflow, &view).filter(|_| !again) {
            return Ok((Verdict::Hold(reason), None));
        }
        let Some(reason) = next_step(&view).filter(|_| workflow.keep_going) else {
            return Ok((Verdict::GoOn, None));
        };
        // Of an agent that is not known nothing can be counted.
        match self.memory_of(event)?.and_then(|memory| sent_on(memory, &view)) {
            Some(memory) => Ok((Verdict::Hold(reason), Some(memory.text()))),
            None => Ok((Verdict::GoOn, None)),
        }
    }

    /// The definition of the session's run, if it has a say in when an agent stops.
    fn workflow_that_holds(&self, session: &SessionId) -> Result<Option<Rc<Workflow>>> {
        let (_, session) = self.load(session)?;
        let Some(run) = session.run().filter(|_| matches!(session.lifecycle, Lifecycle::Active)) else {
            return Ok(None);
        };
        let workflow = self.definition(&run.workflow.hash)?;
        Ok(workflow.filter(|workflow| workflow.keep_going || workflow.hold_at_stop))
    }
}

/// What was claimed to be done and is not proved, where the workflow wants that to be looked at.
fn claimed(workflow: &Workflow, view: &View) -> Option<String> {
    if !workflow.hold_at_stop || waits_for_a_person(view) || view.run.completed_at.is_some() {
        return None;
    }
    let phase = view.phases.iter().find(|phase| phase.id == view.current_phase.id)?;
    let counts = view.item_counts;
    let what = match phase.gate.outcome {
        GateOutcome::Failed => {
            let failed = phase.gate.checks.iter().filter(|check| check.outcome == GateOutcome::Failed);
            let lines: Vec<String> = failed.map(line).collect();
            format!("the gate of phase '{}' was tried and did not pass: {}", phase.id, lines.join("; "))
        }
        GateOutcome::Claimed => {
            format!("phase '{}' is claimed to be done, and its gate is still open", phase.id)
        }
        GateOutcome::Open if counts.total > 0 && counts.done == counts.total => {
            format!("all {} items of phase '{}' are done, and its gate is still open", counts.total, phase.id)
        }
        GateOutcome::Open | GateOutcome::Passed => return None,
    };
    Some(format!("Not finished yet: {what}.{}", step(view)))
}

fn line(check: &CheckView) -> String {
    match &check.needed {
        Some(needed) => format!("{} needs {needed}", check.id),
        None => check.id.clone(),
    }
}

/// Where an agent is sent on to, unless somebody else must act first.
fn next_step(view: &View) -> Option<String> {
    let is_open = view.run.completed_at.is_none() && matches!(view.lifecycle, Lifecycle::Active);
    if !is_open || waits_for_a_person(view) {
        return None;
    }
    match view.next.waits {
        Waits::Nobody => Some(format!(
            "Do not stop yet: workflow '{}' keeps going until its run is finished.{} If a person must decide \
             something first, say so: `leftoff note \"…\" --kind question`.",
            view.workflow.name,
            step(view)
        )),
        Waits::Person | Waits::Others => None,
    }
}

fn step(view: &View) -> String {
    match &view.next.command {
        Some(command) => format!(" Next: {} `{command}`", view.next.summary),
        None => format!(" Next: {}", view.next.summary),
    }
}

fn waits_for_a_person(view: &View) -> bool {
    let asks = |kind: NoteKind| matches!(kind, NoteKind::Question | NoteKind::Blocker);
    view.next.waits == Waits::Person || view.notes.iter().any(|note| note.is_open() && asks(note.kind))
}

/// What is to be remembered when the agent is sent on once more; none when it was often enough.
fn sent_on(mut memory: Memory, view: &View) -> Option<Memory> {
    memory.in_vain = if memory.sent_on_at == Some(view.version) { memory.in_vain + 1 } else { 0 };
    memory.sent_on += 1;
    memory.sent_on_at = Some(view.version);
    (memory.sent_on <= MOST_SENT_ON && memory.in_vain < MOST_IN_VAIN).then_some(memory)
}
