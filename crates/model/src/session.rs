//! Folds events into a session. Never refuses an event and never reads the clock.

mod trim;

use crate::actor::Actor;
use crate::approval::Approval;
use crate::artifact::{Artifact, ArtifactVersion, moved_path};
use crate::event::{Event, ItemEvent, Recorded};
use crate::expiry::paused_by_inactivity;
use crate::gate::{Attempt, AttemptOutcome, AttemptReport};
use crate::id::{Name, SessionId};
use crate::item::{ItemCounts, NewItem, RunRef};
use crate::lifecycle::Lifecycle;
use crate::lineage::lineage;
use crate::note::{Note, NoteKind};
use crate::phase::{Phase, PhaseState, PhaseStub};
use crate::revision::Revision;
use crate::run::{Run, WorkflowRef};
use crate::time::seconds_between;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The reason of a pause that nobody ordered.
pub const REASON_INACTIVITY: &str = "inactivity";

/// The reason of a pause that began when the session came from another machine.
pub const REASON_TAKEN: &str = "taken from a bundle";

/// Changes whenever the same events would fold into something else: a snapshot of another version is not trusted.
pub const FOLD_VERSION: u32 = 7;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    pub id: SessionId,
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    pub layout: String,
    /// Where its files are, in a layout that has some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub worktree: String,
    /// The machine of the worktree; none: the store's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
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
    /// Of the current run's open phases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<Approval>,
    /// The newest version of every file, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub artifacts: BTreeMap<String, Artifact>,
    /// The last version of files that were archived: a new file of that name goes on counting.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub archived_versions: BTreeMap<String, u32>,
    /// The last few; the log has all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revisions: Vec<RevisionMade>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checkpoints: Vec<Checkpoint>,
    /// How many items were ever added, those that are parts of others left out: numbers the next one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub items_added: u32,
    #[serde(default)]
    pub resume_count: u32,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Who changed it last.
    pub last_actor: Actor,
    /// When somebody last went back: to an earlier phase, or to an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub went_back_at: Option<Timestamp>,
    pub version: u64,
    /// The first event that this program did not know. Such a session is not written.
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

/// A point in a session's history that somebody gave a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    pub name: String,
    pub version: u64,
    pub at: Timestamp,
}

impl Session {
    /// The session after all these events; none when they do not begin with its start.
    /// Resolves what was restored: the state of an earlier version, under the newer version's number.
    pub fn fold(events: &[Recorded]) -> Option<Self> {
        let newest = events.last().map_or(0, |recorded| recorded.version);
        let line = lineage(events, newest);
        let (first, rest) = line.split_first()?;
        let mut session = rest.iter().fold(Self::begin(first)?, |session, recorded| session.apply(recorded));
        // Also what was taken back must be known: a newer program may have meant more by it.
        if session.unknown_event.is_none() {
            session.unknown_event = events.iter().find_map(|recorded| {
                let Event::Unknown { kind } = &recorded.event else { return None };
                Some(kind.clone())
            });
        }
        Some(session)
    }

    /// The session that a first event makes.
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
            created_at: recorded.at,
            updated_at: recorded.at,
            last_actor: recorded.actor.clone(),
            went_back_at: None,
            version: recorded.version,
            unknown_event: None,
        })
    }

    #[must_use]
    pub fn apply(mut self, recorded: &Recorded) -> Self {
        self.touch(recorded);
        let at = recorded.at;
        match &recorded.event {
            // `begin` reads the first event; what was purged is gone from the events themselves; requirements stand
            // in the branch's file.
            Event::SessionStarted { .. }
            | Event::Purged { .. }
            | Event::RequirementSatisfied { .. }
            | Event::RequirementCleared { .. } => {}
            // What is restored needs the history, which only `fold` has.
            Event::Restored { .. } => self.went_back_at = Some(at),
            Event::Adopted { path, .. } => self.path = Some(path.clone()),
            Event::Imported { path, into, from, layout, .. } => {
                // What was left behind in another project is not what has the same path in this one.
                let elsewhere = from.as_ref().filter(|_| layout != into);
                self.path = Some(elsewhere.map_or_else(|| path.clone(), |root| format!("{root}/{path}")));
                self.layout.clone_from(into);
            }
            Event::SessionMoved { path } => self.go_to(path),
            Event::ExternalEdit { title, goal, target, .. } => {
                self.describe(title.as_ref(), goal.as_ref(), target.as_ref());
            }
            Event::PhaseClaimed { phase, attempt } => self.claim(phase, attempt.as_ref(), recorded),
            Event::PhaseFlagged { phase } => self.on_phase(phase, Phase::flag),
            Event::RunStarted { workflow, ordinal, phases, .. } => {
                self.start_run(workflow, *ordinal, phases, at);
            }
            Event::PhasesAdded { phases } => self.on_run(|run| run.add(phases)),
            Event::DefinitionUpdated { workflow, phases } => self.redefine(workflow, phases),
            Event::RunSelected { workflow, ordinal } => self.select(workflow, *ordinal),
            Event::RunCompleted => self.on_run(|run| run.finish(at)),
            Event::PhaseStarted { phase } => self.on_run(|run| run.enter(phase, at)),
            Event::GateFailed { phase, attempt } => {
                let attempt = attempt_of(recorded, AttemptOutcome::Failed, attempt);
                self.on_phase(phase, |phase| phase.keep(attempt));
            }
            Event::PhaseCompleted { phase, attempt, .. } => self.complete(phase, attempt, recorded),
            Event::PhaseSkipped { phase, reason, not_applicable } => self.on_phase(phase, |phase| {
                phase.state =
                    PhaseState::Skipped { at, reason: reason.clone(), not_applicable: *not_applicable };
            }),
            Event::RolledBack { phase, .. } => {
                self.roll_back(phase, at);
                self.went_back_at = Some(at);
            }
            Event::PhaseRevised { revision } => {
                self.revise(revision, recorded);
                self.went_back_at = Some(at);
            }
            Event::CheckApproved { phase, check, by, remark, expires_at } => {
                self.approve(Approval {
                    phase: phase.clone(),
                    check: check.clone(),
                    by: by.clone(),
                    remark: remark.clone(),
                    at,
                    expires_at: *expires_at,
                });
            }
            Event::ApprovalWithdrawn { phase, check } => {
                self.approvals.retain(|approval| approval.phase != *phase || approval.check != *check);
            }
            Event::FieldsSet { phase, fields } => self.set_fields(phase.as_ref(), fields),
            Event::ArtifactRecorded { artifact } => self.record(artifact, at),
            Event::NoteAdded { id, kind, text, fields } => self.add_note(recorded, *id, *kind, text, fields),
            Event::NoteResolved { id } => {
                if let Some(note) = self.notes.iter_mut().find(|note| note.id == *id) {
                    note.resolved_at = Some(at);
                }
            }
            Event::NoteChanged { id, text, fields, reopened } => {
                if let Some(note) = self.notes.iter_mut().find(|note| note.id == *id) {
                    note.change(text.as_deref(), fields, *reopened);
                }
            }
            Event::CheckpointMade { name } => {
                self.checkpoints.push(Checkpoint { name: name.clone(), version: recorded.version, at });
            }
            Event::SessionPaused { reason, context, saved } => {
                self.pause(reason.clone(), context.clone(), saved.clone(), at);
            }
            Event::SessionExpired { since } => self.enter(paused_by_inactivity(*since), at),
            Event::SessionTaken { worktree, machine } => self.take(worktree, machine.as_ref(), at),
            Event::SessionResumed { worktree, parallel, machine } => {
                self.resume_count = self.resume_count.saturating_add(1);
                self.activate(worktree, machine.as_ref(), *parallel, at);
            }
            Event::SessionReopened { worktree, parallel, machine } => {
                self.activate(worktree, machine.as_ref(), *parallel, at);
            }
            Event::SessionCompleted { forced } => {
                self.enter(Lifecycle::Completed { at, forced: *forced }, at);
            }
            Event::SessionFailed { error } => self.enter(Lifecycle::Failed { at, error: error.clone() }, at),
            Event::SessionAbandoned { reason, .. } => {
                self.enter(Lifecycle::Abandoned { at, reason: reason.clone() }, at);
            }
            Event::Item(event) => self.count_items(event),
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

    /// A phase that only a file calls done, against a gate that failed here or items that are open here. Its run does
    /// not end before somebody has shown it to be done.
    pub fn is_contested(&self, phase: &Phase) -> bool {
        phase.claimed && (self.failed_here(phase) || phase.items.open() > 0)
    }

    /// The gate of the phase failed here the last time that it was tried; what the session's own tool tells of its
    /// attempts does not count.
    pub fn failed_here(&self, phase: &Phase) -> bool {
        let is_of_tool = |attempt: &Attempt| match &attempt.actor {
            Actor::Tool { .. } => true,
            // As older logs name the tool.
            Actor::Person { name, .. } => *name == self.layout,
            Actor::Agent { .. } | Actor::Automation { .. } | Actor::Unknown(_) => false,
        };
        let last = phase.attempts_since_opened().rfind(|attempt| !is_of_tool(attempt));
        last.is_some_and(|attempt| attempt.outcome == AttemptOutcome::Failed)
    }

    pub fn open_notes(&self) -> impl Iterator<Item = &Note> {
        self.notes.iter().filter(|note| note.is_open())
    }

    /// The newest approval of a check, whether it still holds or not.
    pub fn approval(&self, phase: &Name, check: &Name) -> Option<&Approval> {
        self.approvals.iter().rev().find(|approval| approval.phase == *phase && approval.check == *check)
    }

    /// Whether any run that is still known has items.
    pub fn has_items(&self) -> bool {
        self.runs.iter().flat_map(|run| &run.phases).any(|phase| !phase.items.is_empty())
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

    fn touch(&mut self, recorded: &Recorded) {
        self.version = recorded.version;
        self.updated_at = recorded.at;
        self.last_actor = recorded.actor.clone();
    }

    fn start_run(&mut self, workflow: &WorkflowRef, ordinal: u32, phases: &[PhaseStub], at: Timestamp) {
        let Some(run) = Run::new(workflow.clone(), ordinal, phases.to_vec(), at) else { return };
        self.settle_pause(at);
        self.lifecycle = Lifecycle::Active;
        self.approvals.clear();
        self.run_counts.insert(workflow.name.to_string(), ordinal);
        self.runs.push(run);
        self.current_run = self.runs.len() - 1;
    }

    fn complete(&mut self, phase: &Name, attempt: &AttemptReport, recorded: &Recorded) {
        let attempt = attempt_of(recorded, AttemptOutcome::Passed, attempt);
        let fields = self.fields.clone();
        self.on_phase(phase, |phase| {
            phase.keep(attempt);
            phase.complete(recorded.at);
            phase.fields_at_completion = fields;
        });
    }

    /// What a file says a session is about; what it does not say stays.
    fn describe(&mut self, title: Option<&String>, goal: Option<&String>, target: Option<&String>) {
        if let Some(title) = title {
            title.clone_into(&mut self.title);
        }
        self.goal = goal.cloned().or_else(|| self.goal.take());
        self.target = target.cloned().or_else(|| self.target.take());
    }

    fn roll_back(&mut self, phase: &Name, at: Timestamp) {
        self.settle_pause(at);
        self.on_run(|run| run.roll_back(phase, at));
        self.forget_approvals();
    }

    /// What was approved of a phase that is open again must be approved again.
    fn forget_approvals(&mut self) {
        let Some(run) = self.runs.get(self.current_run) else { return };
        let done: Vec<Name> =
            run.phases.iter().filter(|phase| phase.is_done()).map(|phase| phase.id().clone()).collect();
        self.approvals.retain(|approval| done.contains(&approval.phase));
    }

    fn revise(&mut self, revision: &Revision, recorded: &Recorded) {
        self.on_run(|run| {
            for phase in &mut run.phases {
                if revision.flagged.contains(phase.id()) {
                    phase.flag();
                } else if revision.restarted.contains(phase.id()) {
                    phase.reopen();
                }
            }
            run.completed_at = None;
            run.enter(&revision.phase, recorded.at);
        });
        self.forget_approvals();
        for archived in revision.archived.iter().filter(|archived| !archived.copied) {
            if let Some(gone) = self.artifacts.remove(&archived.from) {
                self.archived_versions.insert(archived.from.clone(), gone.newest.version);
            }
        }
        self.revisions.push(RevisionMade {
            at: recorded.at,
            actor: recorded.actor.clone(),
            revision: revision.clone(),
        });
    }

    fn approve(&mut self, approval: Approval) {
        self.approvals.retain(|old| old.phase != approval.phase || old.check != approval.check);
        self.approvals.push(approval);
    }

    fn set_fields(&mut self, phase: Option<&Name>, fields: &BTreeMap<String, Value>) {
        let fields = fields.clone();
        match phase {
            None => self.fields.extend(fields),
            Some(id) => self.on_phase(id, |phase| phase.fields.extend(fields)),
        }
    }

    fn record(&mut self, version: &ArtifactVersion, at: Timestamp) {
        let artifact = Artifact { newest: version.clone(), recorded_at: at };
        self.archived_versions.remove(&version.path);
        self.artifacts.insert(version.path.clone(), artifact);
    }

    /// What it recorded in its own folder went with it.
    fn go_to(&mut self, path: &str) {
        let Some(from) = self.path.replace(path.to_owned()) else { return };
        let moved = |known: &String| moved_path(known, &from, path);
        let artifacts = std::mem::take(&mut self.artifacts).into_values();
        self.artifacts = artifacts
            .map(|mut artifact| {
                artifact.newest.path = moved(&artifact.newest.path);
                (artifact.newest.path.clone(), artifact)
            })
            .collect();
        let archived = std::mem::take(&mut self.archived_versions).into_iter();
        self.archived_versions = archived.map(|(known, version)| (moved(&known), version)).collect();
    }

    fn add_note(
        &mut self,
        recorded: &Recorded,
        id: u32,
        kind: NoteKind,
        text: &str,
        fields: &BTreeMap<String, Value>,
    ) {
        self.highest_note = self.highest_note.max(id);
        self.notes.push(Note {
            id,
            kind,
            text: text.to_owned(),
            fields: fields.clone(),
            at: recorded.at,
            actor: recorded.actor.clone(),
            resolved_at: None,
        });
    }

    /// Items are rows of their own; a session only knows how many there are.
    fn count_items(&mut self, event: &ItemEvent) {
        match event {
            ItemEvent::ItemAdded { item } => self.count_added(item),
            ItemEvent::ItemSplit { parts, .. } => parts.iter().for_each(|part| self.count_added(part)),
            ItemEvent::ItemCompleted { run, phase, .. } => self.on_items(run, phase, |items| items.done += 1),
            ItemEvent::ItemReopened { run, phase, .. } => {
                self.on_items(run, phase, |items| items.done = items.done.saturating_sub(1));
            }
            ItemEvent::ItemDropped { run, phase, .. } => {
                // What an earlier run came to stays what it was.
                if self.run().is_some_and(|current| run.is(current)) {
                    self.on_items(run, phase, |items| items.total = items.total.saturating_sub(1));
                }
            }
            ItemEvent::ItemStarted { .. }
            | ItemEvent::ItemBlocked { .. }
            | ItemEvent::ItemUnblocked { .. }
            | ItemEvent::ItemClaimed { .. }
            | ItemEvent::ItemReleased { .. }
            | ItemEvent::ItemLeaseRenewed { .. }
            | ItemEvent::ItemSet { .. } => {}
        }
    }

    fn count_added(&mut self, item: &NewItem) {
        if item.parent.is_none() {
            self.items_added = self.items_added.saturating_add(1);
        }
        self.on_items(&item.run, &item.phase, |items| items.total += 1);
    }

    fn on_items(&mut self, named: &RunRef, phase: &Name, change: impl FnOnce(&mut ItemCounts)) {
        let run = self.runs.iter_mut().find(|run| named.is(run));
        if let Some(phase) = run.and_then(|run| run.phase_mut(phase)) {
            change(&mut phase.items);
        }
    }

    fn enter(&mut self, lifecycle: Lifecycle, at: Timestamp) {
        self.settle_pause(at);
        self.lifecycle = lifecycle;
    }

    /// What is said about a pause that goes on already does not begin it anew.
    fn pause(&mut self, reason: String, context: Option<String>, saved: Vec<String>, now: Timestamp) {
        let at = match &self.lifecycle {
            Lifecycle::Paused { at, .. } => *at,
            Lifecycle::Active
            | Lifecycle::Completed { .. }
            | Lifecycle::Failed { .. }
            | Lifecycle::Abandoned { .. } => {
                self.settle_pause(now);
                now
            }
        };
        self.lifecycle = Lifecycle::Paused { at, reason, context, saved };
    }

    fn activate(&mut self, worktree: &str, machine: Option<&String>, parallel: bool, at: Timestamp) {
        self.enter(Lifecycle::Active, at);
        self.go_to_worktree(worktree, machine);
        self.parallel = parallel;
    }

    fn go_to_worktree(&mut self, worktree: &str, machine: Option<&String>) {
        worktree.clone_into(&mut self.worktree);
        self.machine = machine.cloned();
    }

    /// What is finished stays finished. Taken in once more, it has been paused since the first time.
    fn take(&mut self, worktree: &str, machine: Option<&String>, at: Timestamp) {
        self.go_to_worktree(worktree, machine);
        self.parallel = false;
        let reason = REASON_TAKEN.to_owned();
        let paused = Lifecycle::Paused { at, reason, context: None, saved: Vec::new() };
        match &self.lifecycle {
            Lifecycle::Active => self.enter(paused, at),
            Lifecycle::Paused { .. }
            | Lifecycle::Completed { .. }
            | Lifecycle::Failed { .. }
            | Lifecycle::Abandoned { .. } => {}
        }
    }

    /// Time since work stopped is no working time of the phase that was interrupted.
    fn settle_pause(&mut self, until: Timestamp) {
        let stopped = self.working_until(until);
        let Some(phase) = self.run_mut().and_then(Run::current_mut) else { return };
        if matches!(phase.state, PhaseState::InProgress { .. }) {
            phase.paused_seconds = phase.paused_seconds.saturating_add(seconds_between(stopped, until));
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

    fn redefine(&mut self, workflow: &WorkflowRef, phases: &[PhaseStub]) {
        self.on_run(|run| run.redefine(workflow, phases));
    }

    fn on_run(&mut self, change: impl FnOnce(&mut Run)) {
        if let Some(run) = self.run_mut() {
            change(run);
        }
    }

    fn claim(&mut self, id: &Name, handed_in: Option<&AttemptReport>, recorded: &Recorded) {
        let attempt = handed_in.map(|report| attempt_of(recorded, AttemptOutcome::Passed, report));
        let fields = attempt.is_some().then(|| self.fields.clone());
        self.on_phase(id, |phase| {
            if let Some(attempt) = attempt {
                phase.keep(attempt);
            }
            phase.claim(recorded.at);
            phase.fields_at_completion = fields.unwrap_or_else(|| phase.fields_at_completion.clone());
        });
    }

    fn on_phase(&mut self, id: &Name, change: impl FnOnce(&mut Phase)) {
        if let Some(phase) = self.run_mut().and_then(|run| run.phase_mut(id)) {
            change(phase);
        }
    }
}

fn attempt_of(recorded: &Recorded, outcome: AttemptOutcome, report: &AttemptReport) -> Attempt {
    Attempt { at: recorded.at, actor: recorded.actor.clone(), outcome, report: report.clone() }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}
