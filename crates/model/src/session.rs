//! Folds events into a session. Never refuses an event and never reads the clock.

use crate::actor::Actor;
use crate::event::{Event, Recorded};
use crate::gate::{Attempt, AttemptOutcome, AttemptReport};
use crate::id::{Name, SessionId};
use crate::lifecycle::Lifecycle;
use crate::note::Note;
use crate::phase::PhaseState;
use crate::run::Run;
use crate::time::seconds_between;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Changes whenever the same events would fold into something else: a snapshot of another version is not trusted.
pub const FOLD_VERSION: u32 = 1;

/// How much of the past a snapshot holds; the log holds all of it.
const KEPT_ATTEMPTS: usize = 5;
const KEPT_NOTES_OF_A_KIND: usize = 50;
const KEPT_RUNS: usize = 4;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    pub id: SessionId,
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    pub layout: String,
    pub worktree: String,
    /// Stands beside the one active session of its worktree.
    pub parallel: bool,
    pub lifecycle: Lifecycle,
    /// Never empty once a run has started; the newest last.
    pub runs: Vec<Run>,
    current_run: usize,
    /// How often each workflow was begun, which a snapshot's shortened `runs` cannot tell.
    run_counts: BTreeMap<String, u32>,
    pub notes: Vec<Note>,
    /// The highest number that a note was given.
    pub highest_note: u32,
    #[serde(default)]
    pub fields: BTreeMap<String, Value>,
    #[serde(default)]
    pub resume_count: u32,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Who changed it last.
    pub last_actor: Actor,
    pub version: u64,
    /// The first event that this program did not know. Such a session is not written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown_event: Option<String>,
}

impl Session {
    /// The session after all these events; none when they do not begin with its start.
    pub fn fold<'a>(events: impl IntoIterator<Item = &'a Recorded>) -> Option<Self> {
        let mut events = events.into_iter();
        let session = Self::begin(events.next()?)?;
        Some(events.fold(session, Self::apply))
    }

    /// The session that a first event makes.
    pub fn begin(recorded: &Recorded) -> Option<Self> {
        let Event::SessionStarted { id, title, goal, target, layout, worktree, parallel, fields } =
            &recorded.event
        else {
            return None;
        };
        Some(Self {
            id: id.clone(),
            title: title.clone(),
            goal: goal.clone(),
            target: target.clone(),
            layout: layout.clone(),
            worktree: worktree.clone(),
            parallel: *parallel,
            lifecycle: Lifecycle::Active,
            runs: Vec::new(),
            current_run: 0,
            run_counts: BTreeMap::new(),
            notes: Vec::new(),
            highest_note: 0,
            fields: fields.clone(),
            resume_count: 0,
            created_at: recorded.at,
            updated_at: recorded.at,
            last_actor: recorded.actor.clone(),
            version: recorded.version,
            unknown_event: None,
        })
    }

    #[must_use]
    pub fn apply(mut self, recorded: &Recorded) -> Self {
        self.version = recorded.version;
        self.updated_at = recorded.at;
        self.last_actor = recorded.actor.clone();
        match &recorded.event {
            // Only the first event starts a session; `begin` has read it.
            Event::SessionStarted { .. } => {}
            Event::RunStarted { .. } | Event::RunSelected { .. } | Event::RunCompleted => {
                self.apply_to_runs(recorded);
            }
            Event::PhaseStarted { .. }
            | Event::GateFailed { .. }
            | Event::PhaseCompleted { .. }
            | Event::PhaseSkipped { .. } => self.apply_to_phase(recorded),
            Event::NoteAdded { .. } | Event::NoteResolved { .. } => self.apply_to_notes(recorded),
            Event::SessionPaused { .. }
            | Event::SessionResumed { .. }
            | Event::SessionCompleted { .. }
            | Event::SessionAbandoned { .. } => self.apply_to_lifecycle(recorded),
            Event::Unknown { kind } => {
                self.unknown_event.get_or_insert_with(|| kind.clone());
            }
        }
        self
    }

    /// The run that commands mean. None only between a session's first two events.
    pub fn run(&self) -> Option<&Run> {
        self.runs.get(self.current_run)
    }

    pub fn open_run_of(&self, workflow: &Name) -> Option<&Run> {
        self.runs.iter().rev().find(|run| run.workflow.name == *workflow && run.is_open())
    }

    /// How many runs of this workflow there have been.
    pub fn runs_of(&self, workflow: &Name) -> u32 {
        self.run_counts.get(workflow.as_str()).copied().unwrap_or(0)
    }

    pub fn open_notes(&self) -> impl Iterator<Item = &Note> {
        self.notes.iter().filter(|note| note.is_open())
    }

    /// Until when time counts as work: a paused session's clock stands still.
    pub fn working_until(&self, now: Timestamp) -> Timestamp {
        match &self.lifecycle {
            Lifecycle::Active => now,
            Lifecycle::Paused { at, .. }
            | Lifecycle::Completed { at, .. }
            | Lifecycle::Failed { at, .. }
            | Lifecycle::Abandoned { at, .. } => *at,
        }
    }

    /// What commands need, without the long tail of history: the size of a snapshot does not grow with the log.
    /// Trimming after every event gives the same as trimming once at the end.
    #[must_use]
    pub fn trimmed(mut self) -> Self {
        self.trim_runs();
        for phase in self.runs.iter_mut().flat_map(|run| &mut run.phases) {
            let surplus = phase.attempts.len().saturating_sub(KEPT_ATTEMPTS);
            phase.attempts.drain(..surplus);
        }
        self.trim_notes();
        self
    }

    fn trim_runs(&mut self) {
        let current = self.run().map(|run| (run.workflow.name.clone(), run.ordinal));
        let first_kept = self.runs.len().saturating_sub(KEPT_RUNS);
        let mut position = 0;
        self.runs.retain(|run| {
            position += 1;
            let is_current = current
                .as_ref()
                .is_some_and(|(name, ordinal)| run.workflow.name == *name && run.ordinal == *ordinal);
            position > first_kept || run.is_open() || is_current
        });
        if let Some((name, ordinal)) = current {
            self.select(&name, ordinal);
        }
    }

    fn trim_notes(&mut self) {
        let mut seen: BTreeMap<_, usize> = BTreeMap::new();
        let mut kept: Vec<Note> = Vec::with_capacity(self.notes.len());
        for note in self.notes.drain(..).rev() {
            let rank = seen.entry(note.kind).or_default();
            if note.is_open() {
                kept.push(note);
                continue;
            }
            *rank += 1;
            if *rank <= KEPT_NOTES_OF_A_KIND {
                kept.push(note);
            }
        }
        kept.reverse();
        self.notes = kept;
    }

    fn apply_to_runs(&mut self, recorded: &Recorded) {
        match &recorded.event {
            Event::RunStarted { workflow, ordinal, phases } => {
                self.settle_pause(recorded.at);
                self.lifecycle = Lifecycle::Active;
                self.run_counts.insert(workflow.name.to_string(), *ordinal);
                self.runs.push(Run::new(workflow.clone(), *ordinal, phases.clone(), recorded.at));
                self.current_run = self.runs.len() - 1;
            }
            Event::RunSelected { workflow, ordinal } => self.select(workflow, *ordinal),
            Event::RunCompleted => {
                if let Some(run) = self.run_mut() {
                    run.finish(recorded.at);
                }
            }
            _ => {}
        }
    }

    fn apply_to_phase(&mut self, recorded: &Recorded) {
        let at = recorded.at;
        let Some(run) = self.run_mut() else { return };
        match &recorded.event {
            Event::PhaseStarted { phase } => run.enter(phase, at),
            Event::GateFailed { phase, attempt } => {
                if let Some(phase) = run.phase_mut(phase) {
                    phase.keep(attempt_of(recorded, AttemptOutcome::Failed, attempt));
                }
            }
            Event::PhaseCompleted { phase, attempt } => {
                if let Some(phase) = run.phase_mut(phase) {
                    phase.keep(attempt_of(recorded, AttemptOutcome::Passed, attempt));
                    phase.complete(at);
                }
            }
            Event::PhaseSkipped { phase, reason } => {
                if let Some(phase) = run.phase_mut(phase) {
                    phase.state = PhaseState::Skipped { at, reason: reason.clone() };
                }
            }
            _ => {}
        }
    }

    fn apply_to_notes(&mut self, recorded: &Recorded) {
        match &recorded.event {
            Event::NoteAdded { id, kind, text, fields } => {
                self.highest_note = self.highest_note.max(*id);
                self.notes.push(Note {
                    id: *id,
                    kind: *kind,
                    text: text.clone(),
                    fields: fields.clone(),
                    at: recorded.at,
                    actor: recorded.actor.clone(),
                    resolved_at: None,
                });
            }
            Event::NoteResolved { id } => {
                if let Some(note) = self.notes.iter_mut().find(|note| note.id == *id) {
                    note.resolved_at = Some(recorded.at);
                }
            }
            _ => {}
        }
    }

    fn apply_to_lifecycle(&mut self, recorded: &Recorded) {
        let at = recorded.at;
        self.settle_pause(at);
        match &recorded.event {
            Event::SessionPaused { reason, context } => {
                self.lifecycle = Lifecycle::Paused { at, reason: reason.clone(), context: context.clone() };
            }
            Event::SessionResumed { worktree, parallel } => {
                self.worktree.clone_from(worktree);
                self.parallel = *parallel;
                self.resume_count = self.resume_count.saturating_add(1);
                self.lifecycle = Lifecycle::Active;
            }
            Event::SessionCompleted { forced } => {
                self.lifecycle = Lifecycle::Completed { at, forced: *forced };
            }
            Event::SessionAbandoned { reason } => {
                self.lifecycle = Lifecycle::Abandoned { at, reason: reason.clone() };
            }
            _ => {}
        }
    }

    /// Time while the session was paused, or closed, is no working time of the phase that was interrupted.
    fn settle_pause(&mut self, until: Timestamp) {
        let at = match self.lifecycle {
            Lifecycle::Active => return,
            Lifecycle::Paused { at, .. }
            | Lifecycle::Completed { at, .. }
            | Lifecycle::Failed { at, .. }
            | Lifecycle::Abandoned { at, .. } => at,
        };
        let Some(phase) = self.run_mut().and_then(Run::current_mut) else { return };
        if matches!(phase.state, PhaseState::InProgress { .. }) {
            phase.paused_seconds = phase.paused_seconds.saturating_add(seconds_between(at, until));
        }
    }

    fn select(&mut self, workflow: &Name, ordinal: u32) {
        let found = self.runs.iter().position(|run| run.workflow.name == *workflow && run.ordinal == ordinal);
        if let Some(position) = found {
            self.current_run = position;
        }
    }

    fn run_mut(&mut self) -> Option<&mut Run> {
        self.runs.get_mut(self.current_run)
    }
}

fn attempt_of(recorded: &Recorded, outcome: AttemptOutcome, report: &AttemptReport) -> Attempt {
    Attempt { at: recorded.at, actor: recorded.actor.clone(), outcome, report: report.clone() }
}
