//! Folds events into a session. Never refuses an event and never reads the clock.

mod apply;
mod gate_basis;
mod lifecycle;
mod trim;

use crate::actor::Actor;
use crate::approval::Approval;
use crate::artifact::Artifact;
use crate::event::{Event, Recorded};
use crate::gate::{Attempt, AttemptOutcome};
use crate::id::{Name, SessionId};
use crate::lifecycle::{Interruption, Lifecycle};
use crate::lineage::lineage;
use crate::note::Note;
use crate::phase::{Phase, PhaseState};
use crate::revision::Revision;
use crate::run::Run;
use crate::workflow::OnComplete;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The reason of the pause if a session expired.
pub const REASON_INACTIVITY: &str = "inactivity";

/// The reason of the pause if a session arrived from another machine.
pub const REASON_TAKEN: &str = "taken from a bundle";

/// The arrival of a session in a bundle. The session is paused in this worktree until somebody resumes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The version of the bundle's last event.
    pub version: u64,
    pub worktree: String,
    pub at: Timestamp,
}

/// The version of the folding rules. Increase it when the same events fold into a different state. Snapshots with
/// another version are ignored.
pub const FOLD_VERSION: u32 = 14;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    pub id: SessionId,
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    pub layout: String,
    /// The folder of the session's files; `None` if its layout has no files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub worktree: String,
    /// The machine of the worktree; `None` if it is the machine of the store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// True if the session can be active while another session is active in the same worktree.
    pub parallel: bool,
    pub lifecycle: Lifecycle,
    /// True if a file, and not a command, finished the session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended_by_file: bool,
    /// The runs, newest last. Never empty after the first run started. A snapshot contains only the newest runs.
    pub runs: Vec<Run>,
    current_run: usize,
    /// The number of runs of each workflow, including those that a snapshot omits.
    run_counts: BTreeMap<String, u32>,
    pub notes: Vec<Note>,
    /// The highest note number so far.
    pub highest_note: u32,
    #[serde(default)]
    pub fields: BTreeMap<String, Value>,
    /// The approvals for open phases of the current run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<Approval>,
    /// The newest recorded version of every file, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub artifacts: BTreeMap<String, Artifact>,
    /// The last archived version of each file, by path. The next file of that name gets the next version.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub archived_versions: BTreeMap<String, u32>,
    /// The revisions, newest last. A snapshot contains only the newest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revisions: Vec<RevisionMade>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checkpoints: Vec<Checkpoint>,
    /// The number of top-level items added so far, including dropped ones, used to number the next item.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub items_added: u32,
    #[serde(default)]
    pub resume_count: u32,
    /// The last pause. Kept until the phase that it interrupted is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupted: Option<Interruption>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// The actor of the last change.
    pub last_actor: Actor,
    /// The last time that work returned to an earlier phase or version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub went_back_at: Option<Timestamp>,
    pub version: u64,
    /// The name of the first event that this program does not know. A session with such an event cannot be changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown_event: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RevisionMade {
    pub at: Timestamp,
    pub actor: Actor,
    #[serde(flatten)]
    pub revision: Revision,
}

/// A named point in a session's history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    pub name: String,
    pub version: u64,
    pub at: Timestamp,
}

impl Session {
    /// Folds all events. Returns `None` if the first event does not start a session. A `Restored` event brings back the
    /// state of an earlier version, but its own number becomes the session's version.
    pub fn fold(events: &[Recorded]) -> Option<Self> {
        Self::fold_taken(events, None)
    }

    /// Folds all events of a session. If the session arrived in a bundle, it is then paused; the log does not record
    /// this pause.
    pub fn fold_taken(events: &[Recorded], taken: Option<&Taken>) -> Option<Self> {
        let settled = |mut session: Self| {
            if let Some(taken) = taken.filter(|taken| taken.version == session.version) {
                session.take(&taken.worktree, None, taken.at);
            }
            session
        };
        let newest = events.last().map_or(0, |recorded| recorded.version);
        let line = lineage(events, newest);
        let (first, rest) = line.split_first()?;
        let mut session = rest
            .iter()
            .fold(settled(Self::begin(first)?), |session, recorded| settled(session.apply(recorded)));
        // Undone events are searched too: a newer program may give an unknown event an effect in spite of the undo.
        if session.unknown_event.is_none() {
            session.unknown_event = events.iter().find_map(|recorded| {
                let Event::Unknown { kind } = &recorded.event else { return None };
                Some(kind.clone())
            });
        }
        Some(session)
    }

    /// Creates a session from its first event.
    pub fn begin(recorded: &Recorded) -> Option<Self> {
        let Event::SessionStarted {
            id,
            title,
            goal,
            target,
            layout,
            worktree,
            parallel,
            fields,
            path,
            machine,
            ..
        } = &recorded.event
        else {
            return None;
        };
        Some(Self {
            id: id.clone(),
            title: title.clone(),
            goal: goal.clone(),
            target: target.clone(),
            layout: layout.clone(),
            path: path.clone(),
            worktree: worktree.clone(),
            machine: machine.clone(),
            parallel: *parallel,
            lifecycle: Lifecycle::Active,
            ended_by_file: false,
            runs: Vec::new(),
            current_run: 0,
            run_counts: BTreeMap::new(),
            notes: Vec::new(),
            highest_note: 0,
            fields: fields.clone(),
            approvals: Vec::new(),
            artifacts: BTreeMap::new(),
            archived_versions: BTreeMap::new(),
            revisions: Vec::new(),
            checkpoints: Vec::new(),
            items_added: 0,
            resume_count: 0,
            interrupted: None,
            created_at: recorded.at,
            updated_at: recorded.at,
            last_actor: recorded.actor.clone(),
            went_back_at: None,
            version: recorded.version,
            unknown_event: None,
        })
    }

    /// Returns the current run; `None` only if the log ends after the session's first event.
    pub fn run(&self) -> Option<&Run> {
        self.runs.get(self.current_run)
    }

    /// Returns the session with the given run as its current one; `None` if the session has no such run.
    pub fn about_run(&self, run: &Run) -> Option<Self> {
        let is_it = |own: &Run| own.workflow.name == run.workflow.name && own.ordinal == run.ordinal;
        let current_run = self.runs.iter().position(is_it)?;
        Some(Self { current_run, ..self.clone() })
    }

    /// Returns the number of phases of the current run; `None` while more phases can be added.
    pub fn total_phases(&self) -> Option<usize> {
        let is_completed = matches!(self.lifecycle, Lifecycle::Completed { .. });
        let is_known = |run: &&Run| run.workflow.on_complete != OnComplete::Grow || is_completed;
        self.run().filter(is_known).map(|run| run.phases.len())
    }

    pub fn open_run_of(&self, workflow: &Name) -> Option<&Run> {
        self.runs.iter().rev().find(|run| run.workflow.name == *workflow && run.is_open())
    }

    /// Returns the number of runs of this workflow so far.
    pub fn runs_of(&self, workflow: &Name) -> u32 {
        self.run_counts.get(workflow.as_str()).copied().unwrap_or(0)
    }

    /// True if a failed gate or open items in the log contradict a file that calls the phase done, or if the session
    /// continued after the phase's gate failed. A run does not end while one of its phases is contested.
    pub fn is_contested(&self, phase: &Phase) -> bool {
        phase.claimed && (self.failed_last(phase) || phase.items.open() > 0) || self.is_passed_over(phase)
    }

    /// True if the session is in a later phase although this phase is still open and its gate failed.
    pub fn is_passed_over(&self, phase: &Phase) -> bool {
        let is_earlier = |run: &Run| {
            let position = |phase: &Phase| run.position(phase.id().as_str());
            position(phase).is_some_and(|at| Some(at) < position(run.current()))
        };
        !phase.is_done() && self.failed_last(phase) && self.run().is_some_and(is_earlier)
    }

    /// True if the last attempt at the phase's gate failed. Attempts of leftoff and of the session's own tool count.
    pub fn failed_last(&self, phase: &Phase) -> bool {
        let last = phase.attempts_since_opened().next_back();
        self.failed_here(phase) || last.is_some_and(|last| last.outcome == AttemptOutcome::Failed)
    }

    /// True if any phase of the current run is contested; see `is_contested`.
    pub fn has_contested(&self) -> bool {
        self.run().is_some_and(|run| run.phases.iter().any(|phase| self.is_contested(phase)))
    }

    /// True if the last attempt of leftoff at the phase's gate failed. Attempts of the session's own tool do not count.
    pub fn failed_here(&self, phase: &Phase) -> bool {
        let is_ours = |attempt: &&Attempt| !self.is_its_tool(&attempt.actor);
        let last = phase.attempts_since_opened().rfind(is_ours);
        last.is_some_and(|attempt| attempt.outcome == AttemptOutcome::Failed)
    }

    /// True if the actor is the tool in whose files the session is stored. This tool is the actor of every edit of
    /// these files.
    pub fn is_its_tool(&self, actor: &Actor) -> bool {
        match actor {
            Actor::Tool { .. } => true,
            // Older logs record the tool as a person.
            Actor::Person { name, .. } => *name == self.layout,
            Actor::Agent { .. } | Actor::Automation { .. } | Actor::Unknown(_) => false,
        }
    }

    /// Returns the position of the first unproven phase of a completed session; `None` if there is none, or if a
    /// command closed the session with force.
    ///
    /// A phase is unproven if the log contradicts that it is done. If a file ended the session, claimed phases after
    /// the last proven phase are unproven too. There is one exception: if a file also started the run, and no phase is
    /// proven, the file's claims count.
    pub fn closed_over(&self) -> Option<usize> {
        let run = self.run()?;
        match self.lifecycle {
            Lifecycle::Completed { .. } if self.ended_by_file => {
                let overruled = run.phases.iter().position(|phase| self.is_overruled(phase));
                // A session closed in the middle of a phase does not claim that its phases are done: it continues in
                // that phase.
                let claims_its_end = !matches!(run.current().state, PhaseState::InProgress { .. });
                overruled.or_else(|| run.first_claim_after_proof().filter(|_| claims_its_end))
            }
            Lifecycle::Completed { forced: false, .. } => {
                run.phases.iter().position(|phase| self.is_contested(phase))
            }
            Lifecycle::Completed { forced: true, .. }
            | Lifecycle::Active
            | Lifecycle::Paused { .. }
            | Lifecycle::Failed { .. }
            | Lifecycle::Abandoned { .. } => None,
        }
    }

    /// True if a file ended the session although the phase's gate failed or the phase has open items.
    fn is_overruled(&self, phase: &Phase) -> bool {
        match phase.state {
            PhaseState::InProgress { .. } => self.failed_here(phase) || phase.items.open() > 0,
            PhaseState::NotStarted
            | PhaseState::Completed { .. }
            | PhaseState::NeedsReview { .. }
            | PhaseState::Skipped { .. } => self.is_contested(phase),
        }
    }

    /// Returns the number for the next note: one more than the highest so far.
    pub fn next_note(&self) -> u32 {
        self.highest_note.saturating_add(1)
    }

    pub fn open_notes(&self) -> impl Iterator<Item = &Note> {
        self.notes.iter().filter(|note| note.is_open())
    }

    /// Returns the newest approval of a check, even if it has expired.
    pub fn approval(&self, phase: &Name, check: &Name) -> Option<&Approval> {
        self.approvals.iter().rev().find(|approval| approval.phase == *phase && approval.check == *check)
    }

    /// True if any stored run has items.
    pub fn has_items(&self) -> bool {
        self.runs.iter().flat_map(|run| &run.phases).any(|phase| !phase.items.is_empty())
    }

    /// Returns the end of the working time: `now` for an active session, otherwise the time when it paused or ended.
    pub fn working_until(&self, now: Timestamp) -> Timestamp {
        match &self.lifecycle {
            Lifecycle::Active => now,
            Lifecycle::Paused { at, .. }
            | Lifecycle::Completed { at, .. }
            | Lifecycle::Failed { at, .. }
            | Lifecycle::Abandoned { at, .. } => *at,
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}
