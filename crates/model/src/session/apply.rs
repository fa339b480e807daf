//! Applies one event to a session. Never refuses an event and never reads the clock.

use super::{Checkpoint, RevisionMade, Session};
use crate::actor::{Actor, Origin};
use crate::approval::Approval;
use crate::artifact::{Artifact, ArtifactVersion, moved_path};
use crate::event::{Event, ItemEvent, Recorded};
use crate::expiry::paused_by_inactivity;
use crate::gate::{Attempt, AttemptOutcome, AttemptReport};
use crate::id::Name;
use crate::item::{ItemCounts, NewItem, RunRef};
use crate::lifecycle::Lifecycle;
use crate::note::Note;
use crate::phase::{Phase, PhaseState, PhaseStub};
use crate::revision::Revision;
use crate::run::{Run, WorkflowRef};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;

impl Session {
    #[must_use]
    pub fn apply(mut self, recorded: &Recorded) -> Self {
        self.touch(recorded);
        let at = recorded.at;
        match &recorded.event {
            // The session does not change by these events. The first event is applied by `begin`. The text that a purge
            // removed is already gone from the events. Satisfied requirements are in the file of the branch.
            Event::SessionStarted { .. }
            | Event::Purged { .. }
            | Event::ForkResolved { .. }
            | Event::Signed { .. }
            | Event::RequirementSatisfied { .. }
            | Event::RequirementCleared { .. } => {}
            // Restoring needs the whole history, which only `fold` has.
            Event::Restored { .. } => self.went_back_at = Some(at),
            Event::Adopted { path, .. } => self.path = Some(path.clone()),
            Event::Imported { path, into, from, layout, .. } => {
                // Files in another project's folder are different files, even if their relative paths are the same.
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
            Event::RunStarted { workflow, ordinal, phases, definition } => {
                self.start_run(workflow, *ordinal, phases, recorded);
                self.on_run(|run| run.definition.clone_from(definition));
            }
            Event::PhasesAdded { phases } => self.on_run(|run| run.add(phases)),
            Event::DefinitionUpdated { workflow, phases, definition } => {
                self.redefine(workflow, phases);
                self.on_run(|run| run.definition.clone_from(definition));
            }
            Event::RunSelected { workflow, ordinal } => {
                // Approvals belong to the run that was current, and do not hold for a phase of the same name in another
                // run.
                self.approvals.clear();
                self.select(workflow, *ordinal);
            }
            Event::RunCompleted => self.on_run(|run| run.finish(at)),
            Event::PhaseStarted { phase } => self.on_run(|run| run.enter(phase, at)),
            Event::GateFailed { phase, attempt } => {
                let attempt = attempt_of(recorded, AttemptOutcome::Failed, attempt);
                self.on_phase(phase, |phase| phase.keep(attempt));
            }
            Event::PhaseCompleted { phase, attempt, .. } => self.complete(phase, attempt, recorded),
            Event::PhaseSkipped { phase, reason, not_applicable } => self.on_phase(phase, |phase| {
                let by = (!not_applicable).then(|| recorded.actor.clone());
                let (reason, not_applicable) = (reason.clone(), *not_applicable);
                phase.state = PhaseState::Skipped { at, reason, not_applicable, by };
            }),
            Event::RolledBack { phase, .. } => {
                self.roll_back(phase, at);
                self.went_back_at = Some(at);
            }
            Event::PhaseRevised { revision } => {
                self.revise(revision, recorded);
                self.went_back_at = Some(at);
            }
            Event::CheckApproved { .. } => {
                if let Some(approval) = approval_of(recorded) {
                    self.approve(approval);
                }
            }
            Event::ApprovalWithdrawn { phase, check } => {
                self.approvals.retain(|approval| approval.phase != *phase || approval.check != *check);
            }
            Event::FieldsSet { phase, fields } => self.set_fields(phase.as_ref(), fields),
            Event::ArtifactRecorded { artifact } => self.record(artifact, at),
            Event::NoteAdded { .. } => self.add_note(recorded),
            Event::NoteResolved { id } => self.on_note(*id, |note| note.resolved_at = Some(at)),
            Event::NoteChanged { id, text, fields, reopened } => {
                self.on_note(*id, |note| note.change(text.as_deref(), fields, *reopened));
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
                self.remember_pause(at);
                self.activate(worktree, machine.as_ref(), *parallel, at);
            }
            Event::SessionReopened { worktree, parallel, machine } => {
                self.drop_claims(&recorded.actor);
                self.activate(worktree, machine.as_ref(), *parallel, at);
            }
            Event::SessionCompleted { forced } => {
                self.enter(Lifecycle::Completed { at, forced: *forced }, at);
                self.ended_by_file = self.is_its_tool(&recorded.actor);
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

    fn on_note(&mut self, id: u32, change: impl FnOnce(&mut Note)) {
        if let Some(note) = self.notes.iter_mut().find(|note| note.id == id) {
            change(note);
        }
    }

    fn touch(&mut self, recorded: &Recorded) {
        self.version = recorded.version;
        self.updated_at = recorded.at;
        self.last_actor = recorded.actor.clone();
        // An edit that only claims a phase as done does not end the interruption, because the log contradicts it.
        if recorded.event.moves_phase() && !self.has_contested() {
            self.interrupted = None;
        }
    }

    fn start_run(&mut self, workflow: &WorkflowRef, ordinal: u32, phases: &[PhaseStub], recorded: &Recorded) {
        let at = recorded.at;
        let Some(mut run) = Run::new(workflow.clone(), ordinal, phases.to_vec(), at) else { return };
        run.begun_by_file = self.is_its_tool(&recorded.actor);
        self.settle_pause(at);
        self.lifecycle = Lifecycle::Active;
        self.ended_by_file = false;
        self.approvals.clear();
        self.run_counts.insert(workflow.name.to_string(), ordinal);
        self.runs.push(run);
        self.current_run = self.runs.len() - 1;
    }

    /// If only a file had ended the session, drops the claims of the phase where the log ends and of all later phases,
    /// and continues there.
    fn drop_claims(&mut self, actor: &Actor) {
        if let Some(position) = self.closed_over().filter(|_| !self.is_its_tool(actor)) {
            self.on_run(|run| run.drop_claims_from(position));
        }
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

    /// Sets title, goal and target to the values from a file. Missing values do not change.
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

    /// Drops the approvals of reopened phases. These phases must be approved again.
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

    /// Changes the session's path, and the paths of artifacts in its folder.
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

    fn add_note(&mut self, recorded: &Recorded) {
        let Event::NoteAdded { id, kind, text, fields, origin } = &recorded.event else { return };
        let (id, kind, text, fields) = (*id, *kind, text.clone(), fields.clone());
        let Origin { actor, at } = recorded.origin(origin.as_ref());
        self.highest_note = self.highest_note.max(id);
        self.notes.push(Note { id, kind, text, fields, at, actor, resolved_at: None });
    }

    /// Updates the counts of items. The items themselves are stored separately.
    fn count_items(&mut self, event: &ItemEvent) {
        match event {
            ItemEvent::ItemAdded { item } => self.count_added(item),
            ItemEvent::ItemSplit { parts, .. } => parts.iter().for_each(|part| self.count_added(part)),
            ItemEvent::ItemCompleted { run, phase, .. } => self.on_items(run, phase, |items| items.done += 1),
            ItemEvent::ItemReopened { run, phase, .. } => {
                self.on_items(run, phase, |items| items.done = items.done.saturating_sub(1));
            }
            ItemEvent::ItemDropped { run, phase, reason: Some(_), .. } => {
                self.on_items(run, phase, |items| {
                    items.total = items.total.saturating_sub(1);
                    items.dropped += 1;
                });
            }
            ItemEvent::ItemDropped { run, phase, reason: None, .. } => {
                // The counts of an earlier run do not change.
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

    pub(super) fn select(&mut self, workflow: &Name, ordinal: u32) {
        let found = self.runs.iter().position(|run| run.workflow.name == *workflow && run.ordinal == ordinal);
        if let Some(position) = found {
            self.current_run = position;
        }
    }

    pub(super) fn run_mut(&mut self) -> Option<&mut Run> {
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
    let report = AttemptReport { judged: None, ..report.clone() };
    let Origin { actor, at } = recorded.origin(report.origin.as_deref());
    Attempt { at, actor, outcome, report }
}

fn approval_of(recorded: &Recorded) -> Option<Approval> {
    let Event::CheckApproved { phase, check, by, remark, expires_at, evidence } = &recorded.event else {
        return None;
    };
    Some(Approval {
        phase: phase.clone(),
        check: check.clone(),
        by: by.clone(),
        remark: remark.clone(),
        at: recorded.at,
        expires_at: *expires_at,
        evidence: evidence.clone(),
    })
}
