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

/// The reason of a pause by expiry.
pub const REASON_INACTIVITY: &str = "inactivity";

/// The reason of the pause with which a session arrives from another machine.
pub const REASON_TAKEN: &str = "taken from a bundle";

/// The worktree in which a session from a bundle is paused until somebody resumes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The last event of the bundle.
    pub version: u64,
    pub worktree: String,
    pub at: Timestamp,
}

/// The version of the folding rules. Increase it whenever the same events fold into a different state: snapshots of
/// other versions are ignored.
pub const FOLD_VERSION: u32 = 13;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    pub id: SessionId,
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    pub layout: String,
    /// The folder of the session's files, if its layout has files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub worktree: String,
    /// The machine of the worktree; `None` means the store's own machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// True if the session can be active beside another one in the same worktree.
    pub parallel: bool,
    pub lifecycle: Lifecycle,
    /// True if a file finished the session, and not a command.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended_by_file: bool,
    /// The runs, newest last; never empty once a run has started. A snapshot has only the last ones.
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
    /// The newest version of every file, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub artifacts: BTreeMap<String, Artifact>,
    /// The last version of each archived file. A new file of that name gets the next version.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub archived_versions: BTreeMap<String, u32>,
    /// The revisions, newest last; a snapshot has only the last ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revisions: Vec<RevisionMade>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checkpoints: Vec<Checkpoint>,
    /// The number of top-level items that were ever added, used to number the next one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub items_added: u32,
    #[serde(default)]
    pub resume_count: u32,
    /// The last pause, until the phase that it interrupted is over.
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
    /// The first event that this program does not know. A session with such an event cannot be changed.
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
    /// Folds all events; `None` if the first event does not start a session. After a `Restored` event, the session has
    /// the state of the earlier version with the number of the newer one.
    pub fn fold(events: &[Recorded]) -> Option<Self> {
        Self::fold_taken(events, None)
    }

    /// Folds all events of a session, and pauses it as it arrived in a bundle, which is not recorded in the log.
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
        // Undone events are checked too, because a newer program may give them a meaning that this one does not know.
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

    /// The current run; `None` only if the log ends after the session's first event.
    pub fn run(&self) -> Option<&Run> {
        self.runs.get(self.current_run)
    }

    /// The session with this run as the current one; `None` if it has no such run.
    pub fn about_run(&self, run: &Run) -> Option<Self> {
        let is_it = |own: &Run| own.workflow.name == run.workflow.name && own.ordinal == run.ordinal;
        let current_run = self.runs.iter().position(is_it)?;
        Some(Self { current_run, ..self.clone() })
    }

    /// The number of phases of the current run; `None` while more can be added.
    pub fn total_phases(&self) -> Option<usize> {
        let is_completed = matches!(self.lifecycle, Lifecycle::Completed { .. });
        let is_known = |run: &&Run| run.workflow.on_complete != OnComplete::Grow || is_completed;
        self.run().filter(is_known).map(|run| run.phases.len())
    }

    pub fn open_run_of(&self, workflow: &Name) -> Option<&Run> {
        self.runs.iter().rev().find(|run| run.workflow.name == *workflow && run.is_open())
    }

    /// The number of runs of this workflow so far.
    pub fn runs_of(&self, workflow: &Name) -> u32 {
        self.run_counts.get(workflow.as_str()).copied().unwrap_or(0)
    }

    /// True for a phase that only a file calls done, although the log has a failed gate or open items for it. The run
    /// does not end before the phase is proven.
    pub fn is_contested(&self, phase: &Phase) -> bool {
        phase.claimed && (self.failed_last(phase) || phase.items.open() > 0) || self.is_passed_over(phase)
    }

    /// True if the session is in a later phase although this phase is open and its gate failed.
    pub fn is_passed_over(&self, phase: &Phase) -> bool {
        let is_earlier = |run: &Run| {
            let position = |phase: &Phase| run.position(phase.id().as_str());
            position(phase).is_some_and(|at| Some(at) < position(run.current()))
        };
        !phase.is_done() && self.failed_last(phase) && self.run().is_some_and(is_earlier)
    }

    /// True if the last attempt at the gate failed, whether leftoff or the session's own tool made it.
    pub fn failed_last(&self, phase: &Phase) -> bool {
        let last = phase.attempts_since_opened().next_back();
        self.failed_here(phase) || last.is_some_and(|last| last.outcome == AttemptOutcome::Failed)
    }

    /// True if any phase of the current run is contested; see `is_contested`.
    pub fn has_contested(&self) -> bool {
        self.run().is_some_and(|run| run.phases.iter().any(|phase| self.is_contested(phase)))
    }

    /// True if the last attempt that leftoff made at the gate failed. Attempts of the session's own tool do not count.
    pub fn failed_here(&self, phase: &Phase) -> bool {
        let is_ours = |attempt: &&Attempt| !self.is_its_tool(&attempt.actor);
        let last = phase.attempts_since_opened().rfind(is_ours);
        last.is_some_and(|attempt| attempt.outcome == AttemptOutcome::Failed)
    }

    /// True for the tool whose files the session is stored in, which is the actor of every edit of those files.
    pub fn is_its_tool(&self, actor: &Actor) -> bool {
        match actor {
            Actor::Tool { .. } => true,
            // Older logs name the tool as a person.
            Actor::Person { name, .. } => *name == self.layout,
            Actor::Agent { .. } | Actor::Automation { .. } | Actor::Unknown(_) => false,
        }
    }

    /// For a completed session that nobody closed with force, returns the position of the first phase that is not
    /// proven: the log contradicts the claim that it is done, or, if a file finished the session, only a file says that
    /// it is done. A run that a file started, without any proven phase, ends as the file says.
    pub fn closed_over(&self) -> Option<usize> {
        let run = self.run()?;
        match self.lifecycle {
            Lifecycle::Completed { .. } if self.ended_by_file => {
                let overruled = run.phases.iter().position(|phase| self.is_overruled(phase));
                // A session that was closed in the middle claims no end: it continues where it was left.
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

    /// True if a file ended the session although the log contradicts it for this phase: the gate failed, or items are
    /// open.
    fn is_overruled(&self, phase: &Phase) -> bool {
        match phase.state {
            PhaseState::InProgress { .. } => self.failed_here(phase) || phase.items.open() > 0,
            PhaseState::NotStarted
            | PhaseState::Completed { .. }
            | PhaseState::NeedsReview { .. }
            | PhaseState::Skipped { .. } => self.is_contested(phase),
        }
    }

    /// The number of the next note: follows the highest one so far.
    pub fn next_note(&self) -> u32 {
        self.highest_note.saturating_add(1)
    }

    pub fn open_notes(&self) -> impl Iterator<Item = &Note> {
        self.notes.iter().filter(|note| note.is_open())
    }

    /// The newest approval of a check, even if it has expired.
    pub fn approval(&self, phase: &Name, check: &Name) -> Option<&Approval> {
        self.approvals.iter().rev().find(|approval| approval.phase == *phase && approval.check == *check)
    }

    /// True if any stored run has items.
    pub fn has_items(&self) -> bool {
        self.runs.iter().flat_map(|run| &run.phases).any(|phase| !phase.items.is_empty())
    }

    /// The end of working time: now for an active session, and otherwise when it paused or ended.
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
