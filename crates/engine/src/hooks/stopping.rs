//! Decides if an agent may end its turn, or must continue because of unproven claims or remaining steps. The number of
//! times is limited, so that no agent loops.

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::hooks::memory::{Heard, Known, Memory};
use crate::hooks::{HookEvent, Reply, Verdict};
use crate::next::Waits;
use crate::view::{CheckView, GateOutcome, View};
use jiff::Timestamp;
use model::id::SessionId;
use model::lifecycle::Lifecycle;
use model::note::NoteKind;
use model::workflow::Workflow;
use std::rc::Rc;
use store::ActivityKind;

/// The maximum length of an agent's last words, in characters.
const LONGEST_WORDS: usize = 1_000;
/// How often in a row an agent must continue, since a person's last prompt.
const MOST_CONTINUED: u32 = 50;
/// How often in a row an agent must continue while the session does not change. An agent that did nothing twice will do
/// nothing the third time either.
const MOST_IN_VAIN: u32 = 3;

/// How often a stop is decided again because another event of the same agent session was recorded meanwhile.
const TRIES: usize = 4;

/// The decision about a stop, and the state of the agent session to store.
struct Decided {
    verdict: Verdict,
    /// The new state, if the agent must continue and this counts towards the limits; otherwise `None`.
    counted: Option<Memory>,
}

impl Engine {
    pub(super) fn stopping(
        &mut self,
        event: &HookEvent,
        again: bool,
        last_words: Option<&str>,
    ) -> Result<Reply> {
        let gated = self.at_stop(&event.agent, again);
        let mut problems = gated.problems;
        let required = gated.answer.map_or(Verdict::Allow, Verdict::Hold);
        let Some(session) = self.at_work()? else {
            return Ok(Reply { verdict: required, ..Reply::unless(&problems) });
        };
        let mut trace = self.trace_of(event);
        let said = last_words.filter(|words| !words.trim().is_empty());
        let kind = ActivityKind::Words;
        let row = said.and_then(|_| self.bounded_row(kind, &event.agent.to_string(), said, LONGEST_WORDS));
        trace.activity = row.map(|row| (session.clone(), vec![row]));
        for _ in 0..TRIES {
            let known = self.known(event)?;
            let delivery = event.delivery.as_deref();
            let heard = known.as_ref().and_then(|known| known.heard_before(delivery?, trace.at));
            let mut decided = match &required {
                Verdict::Allow => self.held_by_workflow(&session, again, known.as_ref(), heard)?,
                Verdict::Hold(_) | Verdict::Deny(_) => Decided::of(required.clone()),
            };
            if heard.is_some() && decided.counted.is_none() {
                return Ok(Reply { verdict: decided.verdict, ..Reply::unless(&problems) });
            }
            let continued = decided.counted.is_some();
            if let Some(known) = known {
                let mut memory = decided.counted.take().unwrap_or(known.memory);
                memory.heard =
                    event.delivery.clone().map(|delivery| Heard { delivery, at: trace.at, continued });
                (trace.memory, trace.expects) = (Some(memory.text()), Some(known.text));
            }
            match self.store.trace(&trace, self.patience.left()) {
                // Another event of this agent session was recorded meanwhile, so the stop is decided again.
                Ok(false) => continue,
                Ok(true) => {}
                // While this process waited, another process may have counted the same stop.
                Err(_) if continued && self.was_continued(event, trace.at)? => {}
                Err(error) => {
                    problems.push(Error::from(error).to_string());
                    // If the count cannot be stored, the agent may stop. Otherwise it could be told to continue for
                    // ever.
                    decided.verdict = if continued { Verdict::Allow } else { decided.verdict };
                }
            }
            return Ok(Reply { verdict: decided.verdict, ..Reply::unless(&problems) });
        }
        Ok(Reply { verdict: required, ..Reply::unless(&problems) })
    }

    pub(super) fn subagent_stopping(&mut self, event: &HookEvent, again: bool) -> Result<Reply> {
        if again || event.subagent.as_ref().is_none_or(|subagent| subagent.is_internal) {
            return Ok(Reply::default());
        }
        let gated = self.at_stop(&event.agent, again);
        let mut verdict = gated.answer.map_or(Verdict::Allow, Verdict::Hold);
        if verdict == Verdict::Allow
            && let Some(session) = self.at_work()?
            && let Some(workflow) = self.workflow_that_holds(&session)?
            && let Some(reason) = claimed(&workflow, &self.view_by_id(&session)?)
        {
            verdict = Verdict::Hold(reason);
        }
        Ok(Reply { verdict, ..Reply::unless(&gated.problems) })
    }

    /// Returns the decision of the session's workflow about a stop. A repeated stop gets the same answer, unless the
    /// session has changed.
    fn held_by_workflow(
        &self,
        session: &SessionId,
        again: bool,
        known: Option<&Known>,
        heard: Option<&Heard>,
    ) -> Result<Decided> {
        let let_go = || Ok(Decided::of(Verdict::Allow));
        let Some(workflow) = self.workflow_that_holds(session)? else { return let_go() };
        let view = self.view_by_id(session)?;
        if let Some(reason) = claimed(&workflow, &view).filter(|_| !again) {
            return Ok(Decided::of(Verdict::Hold(reason)));
        }
        let Some(reason) = next_step(&view).filter(|_| workflow.keep_going) else { return let_go() };
        // The stops of an unknown agent cannot be counted, so it may stop.
        let Some(memory) = known.map(|known| known.memory.clone()) else { return let_go() };
        let verdict = Verdict::Hold(reason);
        if let Some(heard) = heard.filter(|_| memory.continued_at == Some(view.version)) {
            return if heard.continued { Ok(Decided::of(verdict)) } else { let_go() };
        }
        match continued(memory, &view) {
            Some(memory) => Ok(Decided { verdict, counted: Some(memory) }),
            None => let_go(),
        }
    }

    /// True if another process has already counted this stop and told the agent to continue.
    fn was_continued(&self, event: &HookEvent, now: Timestamp) -> Result<bool> {
        let known = self.known(event)?;
        let delivery = event.delivery.as_deref();
        let heard = known.as_ref().and_then(|known| known.heard_before(delivery?, now));
        Ok(heard.is_some_and(|heard| heard.continued))
    }

    /// Returns the definition of the session's run, if it can keep an agent from stopping.
    fn workflow_that_holds(&self, session: &SessionId) -> Result<Option<Rc<Workflow>>> {
        let (_, session) = self.load(session)?;
        let Some(run) = session.run().filter(|_| matches!(session.lifecycle, Lifecycle::Active)) else {
            return Ok(None);
        };
        let workflow = self.definition(&run.workflow.hash)?;
        Ok(workflow.filter(|workflow| workflow.keep_going || workflow.hold_at_stop))
    }
}

impl Decided {
    fn of(verdict: Verdict) -> Self {
        Self { verdict, counted: None }
    }
}

/// Returns the reason to continue because of claimed but unproven work, if the workflow asks for this.
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
            format!("the gate of phase '{}' did not pass: {}", phase.id, lines.join("; "))
        }
        GateOutcome::Claimed => {
            format!("phase '{}' is claimed as done, but its gate is still open", phase.id)
        }
        GateOutcome::Open if counts.total > 0 && counts.done == counts.total => {
            format!("all {} items of phase '{}' are done, but its gate is still open", counts.total, phase.id)
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

/// Returns the reason to continue with the next step; `None` if somebody else must act first.
fn next_step(view: &View) -> Option<String> {
    let is_open = view.run.completed_at.is_none() && matches!(view.lifecycle, Lifecycle::Active);
    if !is_open || waits_for_a_person(view) {
        return None;
    }
    match view.next.waits {
        Waits::Nobody => Some(format!(
            "Do not stop yet: workflow '{}' continues until its run is finished.{} If a person must decide \
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

/// Returns the state to store if the agent must continue once more; `None` if a limit is reached.
fn continued(mut memory: Memory, view: &View) -> Option<Memory> {
    memory.in_vain = if memory.continued_at == Some(view.version) { memory.in_vain + 1 } else { 0 };
    memory.continued += 1;
    memory.continued_at = Some(view.version);
    (memory.continued <= MOST_CONTINUED && memory.in_vain < MOST_IN_VAIN).then_some(memory)
}
