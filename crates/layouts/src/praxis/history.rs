//! Converts a session's file to events: folding the events gives the session, and adopting the session stores
//! exactly these events.

use super::definition::phase_name;
use super::state::{AttemptSaid, Extent, Life, PhaseSaid, State};
use super::{ATTEMPTS, OURS, TOTAL, evidence_check};
use crate::layout::Folder;
use crate::reading::Dated;
use jiff::{SignedDuration, Timestamp};
use model::event::Event;
use model::gate::{AttemptOutcome, AttemptReport, CheckResult};
use model::phase::PhaseStub;
use model::run::{RunPlan, WorkflowRef};
use model::workflow::{PhaseDefinition, Workflow};
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) fn of(state: &State, extent: &Extent, workflow: &Workflow, folder: &Folder<'_>) -> Vec<Dated> {
    let began = state.created_at.or(state.updated_at).unwrap_or(folder.now);
    let RunPlan { workflow: named, phases, .. } = RunPlan::new(workflow, Vec::new());
    let mut teller = Teller {
        state,
        workflow,
        worktree: folder.worktree,
        events: Vec::new(),
        clock: began,
        is_timed: state.created_at.is_some(),
    };
    teller.add(began, started(state, folder));
    teller.add(began, run(named, phases));
    teller.resumes(began);
    teller.undone(extent);
    for number in extent.range.clone().filter(|number| state.completed.contains(number)) {
        teller.done(number);
    }
    let ended = state.updated_at.unwrap_or(teller.clock).max(began);
    teller.held_up(extent);
    teller.current(extent, ended);
    teller.end(extent, ended);
    teller.last_written(folder, ended);
    teller.events
}

/// Custom fields of the session: all keys of `metadata` except those of the format.
pub(super) fn fields(state: &State) -> BTreeMap<String, Value> {
    let is_own = |key: &str| ![ATTEMPTS, TOTAL, OURS].contains(&key);
    state
        .metadata
        .iter()
        .filter(|(key, _)| is_own(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

fn started(state: &State, folder: &Folder<'_>) -> Event {
    let target = state.target.clone();
    let about = super::spec_of(state);
    let title = about.as_deref().and_then(super::last_name).or(state.workflow_type.as_deref());
    Event::SessionStarted {
        id: folder.id.clone(),
        title: title.unwrap_or(folder.id.as_str()).to_owned(),
        goal: None,
        target,
        layout: "praxis".to_owned(),
        worktree: folder.worktree.to_owned(),
        parallel: false,
        fields: fields(state),
        path: Some(folder.spot.path.clone()),
        machine: None,
        branch: None,
        head: None,
    }
}

fn run(workflow: WorkflowRef, phases: Vec<PhaseStub>) -> Event {
    Event::RunStarted { workflow, ordinal: 1, phases, definition: None }
}

struct Teller<'a> {
    state: &'a State,
    workflow: &'a Workflow,
    worktree: &'a str,
    events: Vec<Dated>,
    /// The latest time known so far.
    clock: Timestamp,
    /// True if the end of the previous phase is known. The next phase then starts at that time, unless the file gives
    /// another.
    is_timed: bool,
}

impl Teller<'_> {
    fn add(&mut self, at: Timestamp, event: Event) {
        self.clock = self.clock.max(at);
        self.events.push(Dated { at, event });
    }

    fn said(&self, number: u32) -> PhaseSaid {
        self.state.phases.get(&number).cloned().unwrap_or_default()
    }

    /// Adds the pauses that are not in the data of any phase.
    fn resumes(&mut self, began: Timestamp) {
        let told = self.state.phases.values().filter(|phase| phase.paused_seconds > 0).count();
        for _ in u32::try_from(told).unwrap_or(u32::MAX)..self.state.resume_count {
            self.pause(began, 0);
        }
    }

    fn pause(&mut self, at: Timestamp, seconds: u64) {
        let reason = "user_request".to_owned();
        self.add(at, Event::SessionPaused { reason, context: None, saved: Vec::new() });
        let seconds = i64::try_from(seconds).unwrap_or_default();
        let until = at.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(at);
        let event =
            Event::SessionResumed { worktree: self.worktree.to_owned(), parallel: false, machine: None };
        self.events.push(Dated { at: until, event });
    }

    /// Reopens phases that passed and are open again because of a rollback.
    fn undone(&mut self, extent: &Extent) {
        let passed = |phase: &PhaseSaid| {
            phase.attempts.iter().any(|attempt| attempt.outcome == AttemptOutcome::Passed)
        };
        let undone: Vec<u32> = extent
            .range
            .clone()
            .filter(|number| !self.state.completed.contains(number) && passed(&self.said(*number)))
            .collect();
        let Some(lowest) = undone.first().copied() else { return };
        let mut left = BTreeMap::new();
        for number in undone {
            let said = self.said(number);
            let last = said.attempts.iter().rposition(|attempt| attempt.outcome == AttemptOutcome::Passed);
            let (before, after) = said.attempts.split_at(last.map_or(0, |last| last + 1));
            self.add(self.clock, Event::PhaseStarted { phase: phase_name(number) });
            for attempt in before {
                self.attempt(number, attempt);
            }
            left.insert(number, after.to_vec());
        }
        self.add(self.clock, Event::RolledBack { phase: phase_name(lowest), reason: None });
        for (number, attempts) in left {
            for attempt in attempts {
                self.attempt(number, &attempt);
            }
        }
    }

    /// Adds the evidence of phases with a failed checkpoint that are neither done nor current.
    fn held_up(&mut self, extent: &Extent) {
        for number in extent.range.clone() {
            let said = self.said(number);
            let has_failed = said.attempts.last().is_some_and(|last| last.outcome == AttemptOutcome::Failed);
            let has_passed = said.attempts.iter().any(|attempt| attempt.outcome == AttemptOutcome::Passed);
            let is_told = has_passed || number == extent.current || self.state.completed.contains(&number);
            if has_failed && !is_told {
                self.begin(number, &said);
                said.attempts.iter().for_each(|attempt| self.attempt(number, attempt));
            }
        }
    }

    /// Adds an edit at the time when the file was written. Everything that the file records happened before that time,
    /// so the session was active then.
    fn last_written(&mut self, folder: &Folder<'_>, ended: Timestamp) {
        let last = self.events.last().map(|last| last.at);
        if last.is_some_and(|last| last < ended.min(folder.now)) {
            let paths = vec![super::file_of(folder.spot, folder.tree)];
            let event = Event::ExternalEdit { paths, title: None, goal: None, target: None };
            self.add(ended.min(folder.now), event);
        }
    }

    fn attempt(&mut self, number: u32, attempt: &AttemptSaid) {
        let (phase, mut report) = (phase_name(number), attempt.report.clone());
        evidence_check::fill_in(&mut report, self.workflow.phase(phase.as_str()));
        let at = attempt.at.unwrap_or(self.clock);
        let event = match attempt.outcome {
            AttemptOutcome::Passed => {
                Event::PhaseCompleted { phase, attempt: report, branch: None, head: None }
            }
            AttemptOutcome::Failed => Event::GateFailed { phase, attempt: report },
        };
        self.add(at, event);
    }

    fn begin(&mut self, number: u32, said: &PhaseSaid) -> Timestamp {
        let at = said.started_at.unwrap_or(self.clock);
        self.add(at, Event::PhaseStarted { phase: phase_name(number) });
        if said.paused_seconds > 0 {
            self.pause(at, said.paused_seconds);
        }
        at
    }

    fn done(&mut self, number: u32) {
        let mut said = self.said(number);
        let phase = phase_name(number);
        let ended = said.attempts.iter().filter_map(|attempt| attempt.at).next_back().or(said.completed_at);
        // The previous phase has no times, so the start of this one is unknown, and it gets no duration.
        if !self.is_timed {
            said.started_at = said.started_at.or(ended);
        }
        self.is_timed = ended.is_some();
        let began = self.begin(number, &said);
        if said.checkpoint.as_deref() == Some("skipped") {
            let at = said.completed_at.unwrap_or(began);
            return self.add(
                at,
                Event::PhaseSkipped {
                    phase,
                    reason: "skipped, as its checkpoint says".to_owned(),
                    not_applicable: false,
                },
            );
        }
        let defined = self.workflow.phase(phase.as_str());
        let is_passed = |last: &&AttemptSaid| last.outcome == AttemptOutcome::Passed;
        let last = said.attempts.last().filter(is_passed);
        if last.is_some_and(|last| is_shown(&last.report, defined)) {
            said.attempts.iter().for_each(|attempt| self.attempt(number, attempt));
            return;
        }
        // The evidence that was submitted is kept. Only the file says that it passed, so the phase is claimed, not
        // proven.
        let before = said.attempts.len() - usize::from(last.is_some());
        said.attempts[..before].iter().for_each(|attempt| self.attempt(number, attempt));
        let at = last.and_then(|last| last.at).or(said.completed_at).unwrap_or(self.clock);
        let attempt = last.map(|last| {
            let mut report = last.report.clone();
            evidence_check::fill_in(&mut report, defined);
            report
        });
        self.add(at, Event::PhaseClaimed { phase, attempt });
    }

    fn current(&mut self, extent: &Extent, ended: Timestamp) {
        let number = extent.current;
        if self.state.completed.contains(&number) {
            return;
        }
        let said = self.said(number);
        let was_undone = said.attempts.iter().any(|attempt| attempt.outcome == AttemptOutcome::Passed);
        // If the earlier phases have no times, this phase started when the tool last wrote the file.
        let otherwise = if self.is_timed { self.clock } else { ended };
        let at = said.started_at.unwrap_or(otherwise).min(ended);
        self.add(at, Event::PhaseStarted { phase: phase_name(number) });
        if said.paused_seconds > 0 {
            self.pause(at, said.paused_seconds);
        }
        // Attempts before a rollback are already recorded. If the last attempt has no time, it was made when the file
        // was last written.
        if was_undone {
            return;
        }
        let Some((last, before)) = said.attempts.split_last() else { return };
        for attempt in before {
            self.attempt(number, attempt);
        }
        self.attempt(number, &AttemptSaid { at: last.at.or(Some(ended.max(self.clock))), ..last.clone() });
    }

    fn end(&mut self, extent: &Extent, ended: Timestamp) {
        let all = self.state.all_completed(extent);
        if all {
            // The file may contain the time at which the session ended.
            let at = if let Life::Completed { at: Some(at) } = self.state.life { at } else { ended };
            self.add(at, Event::RunCompleted);
        }
        let (at, event) = match &self.state.life {
            Life::Unsaid | Life::Active if all => (None, Event::SessionCompleted { forced: false }),
            Life::Unsaid | Life::Active => return,
            Life::Completed { at } => (*at, Event::SessionCompleted { forced: !all && extent.is_known }),
            Life::Failed { at, error } => (*at, Event::SessionFailed { error: error.clone() }),
            Life::Paused { at, reason, context } if reason.as_deref() == Some("abandoned") => {
                (*at, Event::SessionAbandoned { reason: context.clone(), operation: None })
            }
            Life::Paused { at, reason, context } => {
                let reason = reason.clone().unwrap_or_else(|| "user_request".to_owned());
                // If the pause has no context, the last error explains it.
                let context = context.clone().or_else(|| self.state.last_error.clone());
                (*at, Event::SessionPaused { reason, context, saved: Vec::new() })
            }
        };
        self.add(at.unwrap_or(ended), event);
    }
}

/// True if the evidence in the file passes the gate as far as files can show: its types are right, and its rules hold.
/// A check by a person passes only if an attempt contains the answer.
fn is_shown(report: &AttemptReport, defined: Option<&PhaseDefinition>) -> bool {
    let Some(defined) = defined.filter(|defined| defined.strict) else { return true };
    if report.overridden.is_some() {
        return true;
    }
    let mut judged = report.clone();
    evidence_check::fill_in(&mut judged, Some(defined));
    let is_found = |id: &str| judged.checks.iter().any(|check| check.id == id && !check.failed());
    !judged.checks.iter().any(CheckResult::failed)
        && defined.checks.iter().all(|check| is_found(check.id.as_str()))
}
