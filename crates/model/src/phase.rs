//! A phase of a run: its state, its duration, and all attempts at its gate.

use crate::actor::Actor;
use crate::gate::{Attempt, AttemptOutcome};
use crate::id::Name;
use crate::item::ItemCounts;
use crate::time::seconds_between;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The part of a phase's definition that a run stores, so that folding events needs no definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseStub {
    pub id: Name,
    pub title: String,
    /// True if the phase is completed by entering it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub terminal: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum PhaseState {
    NotStarted,
    InProgress {
        started_at: Timestamp,
    },
    Completed {
        started_at: Timestamp,
        at: Timestamp,
    },
    /// Completed, but an earlier phase was changed later.
    NeedsReview {
        started_at: Timestamp,
        at: Timestamp,
    },
    Skipped {
        at: Timestamp,
        reason: String,
        /// True if the phase was skipped because its `when` is false; false if somebody decided to skip it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        not_applicable: bool,
        /// Who skipped it; nobody if it was not applicable.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Actor>,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    #[serde(flatten)]
    pub stub: PhaseStub,
    #[serde(flatten)]
    pub state: PhaseState,
    /// True if only a file says that the phase is done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub claimed: bool,
    /// True if the proof came from another machine, and no allowed key signed it. Not part of the history: the
    /// engine judges it whenever it shows the session.
    #[serde(skip)]
    pub unsigned: bool,
    /// Seconds within the phase during which the session was paused.
    #[serde(default)]
    pub paused_seconds: u64,
    /// All attempts, if the session is folded from the log. A snapshot has only the last few.
    #[serde(default)]
    pub attempts: Vec<Attempt>,
    #[serde(default)]
    pub attempt_count: u32,
    /// The number of attempts made before the phase was reopened.
    #[serde(default)]
    pub attempts_before: u32,
    /// Custom fields of this phase.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Value>,
    /// The session's fields when the phase was completed, to detect later changes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields_at_completion: BTreeMap<String, Value>,
    /// The number of items of the phase. The items themselves are stored separately.
    #[serde(default, skip_serializing_if = "ItemCounts::is_empty")]
    pub items: ItemCounts,
}

impl Phase {
    pub fn new(stub: PhaseStub) -> Self {
        Self {
            stub,
            state: PhaseState::NotStarted,
            claimed: false,
            unsigned: false,
            paused_seconds: 0,
            attempts: Vec::new(),
            attempt_count: 0,
            attempts_before: 0,
            fields: BTreeMap::new(),
            fields_at_completion: BTreeMap::new(),
            items: ItemCounts::default(),
        }
    }

    pub fn id(&self) -> &Name {
        &self.stub.id
    }

    pub fn is_completed(&self) -> bool {
        match self.state {
            PhaseState::Completed { .. } => true,
            PhaseState::NotStarted
            | PhaseState::InProgress { .. }
            | PhaseState::NeedsReview { .. }
            | PhaseState::Skipped { .. } => false,
        }
    }

    pub fn is_not_applicable(&self) -> bool {
        match self.state {
            PhaseState::Skipped { not_applicable, .. } => not_applicable,
            PhaseState::NotStarted
            | PhaseState::InProgress { .. }
            | PhaseState::NeedsReview { .. }
            | PhaseState::Completed { .. } => false,
        }
    }

    /// True if the phase is completed or skipped.
    pub fn is_done(&self) -> bool {
        match self.state {
            PhaseState::Completed { .. } | PhaseState::Skipped { .. } => true,
            PhaseState::NotStarted | PhaseState::InProgress { .. } | PhaseState::NeedsReview { .. } => false,
        }
    }

    pub fn status(&self) -> &'static str {
        match self.state {
            PhaseState::NotStarted => "not_started",
            PhaseState::InProgress { .. } => "in_progress",
            PhaseState::Completed { .. } => "completed",
            PhaseState::NeedsReview { .. } => "needs_review",
            PhaseState::Skipped { .. } => "skipped",
        }
    }

    pub fn skipped_reason(&self) -> Option<&str> {
        match &self.state {
            PhaseState::Skipped { reason, .. } => Some(reason),
            PhaseState::NotStarted
            | PhaseState::InProgress { .. }
            | PhaseState::Completed { .. }
            | PhaseState::NeedsReview { .. } => None,
        }
    }

    pub fn skipped_by(&self) -> Option<&Actor> {
        match &self.state {
            PhaseState::Skipped { by, .. } => by.as_ref(),
            PhaseState::NotStarted
            | PhaseState::InProgress { .. }
            | PhaseState::Completed { .. }
            | PhaseState::NeedsReview { .. } => None,
        }
    }

    pub fn started_at(&self) -> Option<Timestamp> {
        match self.state {
            PhaseState::InProgress { started_at }
            | PhaseState::Completed { started_at, .. }
            | PhaseState::NeedsReview { started_at, .. } => Some(started_at),
            PhaseState::NotStarted | PhaseState::Skipped { .. } => None,
        }
    }

    pub fn completed_at(&self) -> Option<Timestamp> {
        match self.state {
            PhaseState::Completed { at, .. } | PhaseState::NeedsReview { at, .. } => Some(at),
            PhaseState::NotStarted | PhaseState::InProgress { .. } | PhaseState::Skipped { .. } => None,
        }
    }

    /// Returns the working time of a finished phase, without pauses.
    pub fn duration_seconds(&self) -> Option<u64> {
        match self.state {
            PhaseState::Completed { started_at, at } | PhaseState::NeedsReview { started_at, at } => {
                Some(self.working_seconds(started_at, at))
            }
            PhaseState::NotStarted | PhaseState::InProgress { .. } | PhaseState::Skipped { .. } => None,
        }
    }

    /// Returns the working time of a phase in progress, without pauses, up to the given time.
    pub fn time_in_phase(&self, until: Timestamp) -> Option<u64> {
        match self.state {
            PhaseState::InProgress { started_at } => Some(self.working_seconds(started_at, until)),
            PhaseState::NotStarted
            | PhaseState::Completed { .. }
            | PhaseState::NeedsReview { .. }
            | PhaseState::Skipped { .. } => None,
        }
    }

    /// Returns the last attempt since the phase was last opened. Earlier attempts are only history.
    pub fn last_attempt(&self) -> Option<&Attempt> {
        self.attempts.last().filter(|_| self.attempt_count > self.attempts_before)
    }

    /// Returns the attempts since the phase was last opened, as far as they are stored.
    pub fn attempts_since_opened(&self) -> impl DoubleEndedIterator<Item = &Attempt> {
        let current = self.attempt_count.saturating_sub(self.attempts_before) as usize;
        self.attempts.iter().skip(self.attempts.len().saturating_sub(current))
    }

    pub fn last_attempt_failed(&self) -> bool {
        self.last_attempt().is_some_and(|attempt| attempt.outcome == AttemptOutcome::Failed)
    }

    pub(crate) fn begin(&mut self, at: Timestamp) {
        self.reopen();
        self.state = PhaseState::InProgress { started_at: at };
    }

    /// Reopens the phase. Its duration is measured anew, and its previous attempts become history.
    pub(crate) fn reopen(&mut self) {
        self.state = PhaseState::NotStarted;
        self.claimed = false;
        self.paused_seconds = 0;
        self.attempts_before = self.attempt_count;
    }

    pub(crate) fn flag(&mut self) {
        if let PhaseState::Completed { started_at, at } = self.state {
            self.state = PhaseState::NeedsReview { started_at, at };
        }
    }

    pub(crate) fn claim(&mut self, at: Timestamp) {
        self.complete(at);
        self.claimed = true;
    }

    /// Withdraws the claim that the phase is done. If `goes_on`, the phase is in progress and keeps its attempts and
    /// its start, so that files written since then still count.
    pub(crate) fn drop_claim(&mut self, goes_on: bool) {
        match self.started_at().filter(|_| goes_on) {
            Some(started_at) => {
                self.claimed = false;
                self.state = PhaseState::InProgress { started_at };
            }
            None => self.reopen(),
        }
    }

    pub(crate) fn complete(&mut self, at: Timestamp) {
        self.claimed = false;
        self.state = PhaseState::Completed { started_at: self.started_at().unwrap_or(at), at };
    }

    pub(crate) fn keep(&mut self, attempt: Attempt) {
        self.attempts.push(attempt);
        self.attempt_count = self.attempt_count.saturating_add(1);
    }

    fn working_seconds(&self, from: Timestamp, to: Timestamp) -> u64 {
        seconds_between(from, to).saturating_sub(self.paused_seconds)
    }
}
