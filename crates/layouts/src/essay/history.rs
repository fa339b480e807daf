//! Converts a state to events: folding the events gives the session, and adopting the session stores exactly
//! these events.

use super::artifacts::{artifact_of, current_name};
use super::state::{Claim, Revised, Section, StageStatus, State, Status};
use super::{NAME, STAGES, draft_id, messages, moved_folder, section_id};
use crate::layout::Folder;
use crate::reading::Dated;
use crate::reconcile::shown_by;
use crate::{builtin, definition};
use jiff::Timestamp;
use model::command::REASON_USER_REQUEST;
use model::event::{Event, ItemEvent};
use model::id::{ItemId, Name};
use model::item::{ItemChange, NewItem, ORDER_STEP, RunRef};
use model::note::NoteKind;
use model::phase::PhaseStub;
use model::revision::{Archived, Revision};
use model::run::{RunPlan, WorkflowRef};
use model::workflow::Workflow;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::OnceLock;

pub(super) fn of(state: &State, folder: &Folder<'_>) -> Vec<Dated> {
    let Some((workflow, phases)) = workflow() else { return Vec::new() };
    let state = &moved_folder::here(state, &messages::place(folder));
    let begin = state.started_at.or(state.last_activity).unwrap_or(folder.now);
    let end = state.last_activity.unwrap_or(begin).max(begin);
    let run = RunRef { workflow: workflow.name.clone(), ordinal: 1 };
    let mut telling = Telling { state, folder, phases, run, begin, end, events: Vec::new() };
    telling.add(begin, started(folder));
    telling.add(
        begin,
        Event::RunStarted {
            workflow: workflow.clone(),
            ordinal: 1,
            phases: phases.clone(),
            definition: None,
        },
    );
    state.revisions.iter().for_each(|revised| telling.revised(revised));
    telling.stages();
    telling.sections();
    telling.drafts();
    telling.notes(&state.deferred, NoteKind::Deferred);
    telling.notes(&state.overrides, NoteKind::Override);
    telling.fields();
    telling.status();
    telling.last_active();
    telling.events
}

fn started(folder: &Folder<'_>) -> Event {
    Event::SessionStarted {
        id: folder.id.clone(),
        title: folder.spot.path.rsplit('/').next().unwrap_or_default().to_owned(),
        goal: None,
        target: None,
        layout: NAME.to_owned(),
        worktree: folder.worktree.to_owned(),
        parallel: false,
        fields: BTreeMap::new(),
        path: Some(folder.spot.path.clone()),
        machine: None,
        branch: None,
        head: None,
    }
}

struct Telling<'a> {
    state: &'a State,
    folder: &'a Folder<'a>,
    phases: &'a [PhaseStub],
    run: RunRef,
    begin: Timestamp,
    end: Timestamp,
    events: Vec<Dated>,
}

impl Telling<'_> {
    fn add(&mut self, at: Timestamp, event: Event) {
        self.events.push(Dated { at, event });
    }

    fn item(&mut self, at: Timestamp, event: ItemEvent) {
        self.add(at, Event::Item(event));
    }

    fn phase(&self, position: usize) -> Name {
        self.phases[position].id.clone()
    }

    fn revised(&mut self, revised: &Revised) {
        // Archived files have the paths that the log uses. In a session outside the project, paths are only
        // file names.
        let spot = &self.folder.spot;
        let recorded = |name: String| {
            if spot.home.starts_with('/') { name } else { spot.below_project(&name) }
        };
        let archived = revised.archived.iter().map(|to| Archived {
            from: recorded(current_name(to)),
            to: recorded(to.clone()),
            copied: false,
        });
        let revision = Revision {
            phase: self.phase(revised.stage),
            impact: revised.impact,
            reason: revised.reason.clone(),
            flagged: Vec::new(),
            restarted: Vec::new(),
            archived: archived.collect(),
            operation: None,
        };
        self.add(revised.at.unwrap_or(self.end), Event::PhaseRevised { revision });
    }

    /// Adds the events of all stages. The current stage comes last, so that it becomes the current phase.
    fn stages(&mut self) {
        let current = current(self.state);
        let mut since = self.begin;
        for position in 0..STAGES.len() {
            let stage = &self.state.stages[position];
            let is_open = matches!(stage.status, StageStatus::NotStarted | StageStatus::InProgress);
            if Some(position) != current || !is_open {
                self.stage(position, since);
            }
            since = stage.completed_at.unwrap_or(since).max(since);
        }
        match current {
            // The end of the previous stage is its earliest possible start.
            Some(position) => {
                let before = self.state.stages.iter().take(position).filter_map(|stage| stage.completed_at);
                let since = before.max().unwrap_or(self.begin).clamp(self.begin, self.end);
                let stage = &self.state.stages[position];
                if matches!(stage.status, StageStatus::NotStarted | StageStatus::InProgress) {
                    self.fields_of(position, since);
                    self.add(since, Event::PhaseStarted { phase: self.phase(position) });
                } else {
                    // The stage needs review, and that review is the current work.
                    self.stage(position, since);
                }
            }
            None => self.add(self.end, Event::RunCompleted),
        }
    }

    fn stage(&mut self, position: usize, since: Timestamp) {
        let stage = &self.state.stages[position];
        let phase = self.phase(position);
        // If the file does not say when the stage ended, the stage gets no duration, because nobody measured
        // one.
        let at = stage.completed_at.unwrap_or(since);
        match stage.status {
            StageStatus::NotStarted => self.fields_of(position, since),
            StageStatus::InProgress => {
                self.fields_of(position, since);
                self.add(since, Event::PhaseStarted { phase });
            }
            StageStatus::Completed | StageStatus::NeedsReview => {
                self.add(since.min(at), Event::PhaseStarted { phase: phase.clone() });
                self.fields_of(position, at);
                let done = match artifact_of(self.state, position, self.folder) {
                    Some(path) => Event::PhaseCompleted {
                        phase: phase.clone(),
                        attempt: shown_by(&path),
                        branch: None,
                        head: None,
                    },
                    None => Event::PhaseClaimed { phase: phase.clone(), attempt: None },
                };
                self.add(at, done);
                if stage.status == StageStatus::NeedsReview {
                    self.add(self.end, Event::PhaseFlagged { phase });
                }
            }
        }
    }

    /// Adds the fields of a completed stage, so that later changes of these fields can be detected.
    fn fields_of(&mut self, position: usize, at: Timestamp) {
        let own = self.state.stages[position].fields.clone();
        if !own.is_empty() {
            self.add(at, Event::FieldsSet { phase: Some(self.phase(position)), fields: own });
        }
        let is_its = |name: &str| super::state::SHARED_KEYS.contains(&(position, name));
        let shared: BTreeMap<String, Value> = self.taken(is_its);
        if !shared.is_empty() {
            self.add(at, Event::FieldsSet { phase: None, fields: shared });
        }
    }

    /// Adds the other fields. They come last, at the time of the session's last activity according to the
    /// file.
    fn fields(&mut self) {
        let is_shared = |name: &str| super::state::SHARED_KEYS.iter().any(|(_, shared)| *shared == name);
        let fields = self.taken(|name| !is_shared(name));
        if !fields.is_empty() {
            self.add(self.end, Event::FieldsSet { phase: None, fields });
        }
    }

    fn taken(&self, is_wanted: impl Fn(&str) -> bool) -> BTreeMap<String, Value> {
        let fields = self.state.fields.iter().filter(|(name, _)| is_wanted(name));
        fields.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    fn sections(&mut self) {
        let active = self.state.stages[2].current_section.filter(|_| current(self.state) == Some(2));
        for section in &self.state.sections {
            let Some(id) = section_id(section.index) else { continue };
            self.section(2, section, &id);
            self.move_on(2, &id, section, active == Some(i64::from(section.index)));
        }
    }

    fn drafts(&mut self) {
        let is_current = current(self.state) == Some(3);
        let active = self.state.stages[3].current_section.filter(|_| is_current);
        for section in &self.state.drafts {
            let Some(id) = draft_id(section.index) else { continue };
            self.section(3, section, &id);
            let is_active = active == Some(i64::from(section.index));
            let paragraph = self.state.stages[3].current_paragraph.filter(|_| is_active);
            self.paragraphs(section, &id, paragraph);
            // A section is done only if all its paragraphs are done, even if the file says otherwise.
            let is_short = section.paragraphs.is_some_and(|total| section.approved < total);
            let status = match section.status {
                StageStatus::Completed if is_short => StageStatus::InProgress,
                said => said,
            };
            self.move_on(3, &id, &Section { status, ..section.clone() }, is_active);
        }
    }

    fn section(&mut self, position: usize, section: &Section, id: &ItemId) {
        let mut fields = section.fields.clone();
        if section.status == StageStatus::NeedsReview {
            fields.insert(super::NEEDS_REVIEW.to_owned(), Value::Bool(true));
        }
        let title = format!("Section {}", section.index);
        let item = self.new_item(position, id, ("section", title), None, section.index, fields);
        self.item(self.end, ItemEvent::ItemAdded { item });
        if !section.counters.is_empty() {
            let change = ItemChange { counters: section.counters.clone(), ..ItemChange::default() };
            self.item(self.end, ItemEvent::ItemSet { id: id.clone(), change });
        }
    }

    fn paragraphs(&mut self, section: &Section, parent: &ItemId, active: Option<i64>) {
        let active = active.and_then(|number| u32::try_from(number).ok());
        for number in 1..=section.paragraphs.unwrap_or(0) {
            let Ok(id) = parent.part(number) else { continue };
            let named = ("paragraph", format!("Paragraph {number}"));
            let item = self.new_item(3, &id, named, Some(parent), number, BTreeMap::new());
            self.item(self.end, ItemEvent::ItemAdded { item });
            if number <= section.approved {
                let (run, phase) = (self.run.clone(), self.phase(3));
                let at = section.completed_at.unwrap_or(self.end);
                self.item(at, ItemEvent::ItemCompleted { id, run, phase });
            } else if active == Some(number) {
                self.item(self.end, ItemEvent::ItemStarted { id });
            }
        }
    }

    fn new_item(
        &self,
        position: usize,
        id: &ItemId,
        (kind, title): (&str, String),
        parent: Option<&ItemId>,
        number: u32,
        fields: BTreeMap<String, Value>,
    ) -> NewItem {
        NewItem {
            id: id.clone(),
            kind: Name::parse(kind).unwrap_or_else(|_| unreachable!("a word of ours")),
            title,
            run: self.run.clone(),
            phase: self.phase(position),
            parent: parent.cloned(),
            order: number * ORDER_STEP,
            depends_on: Vec::new(),
            fields,
        }
    }

    fn move_on(&mut self, position: usize, id: &ItemId, section: &Section, is_active: bool) {
        let id = id.clone();
        match section.status {
            StageStatus::Completed => {
                let (run, phase) = (self.run.clone(), self.phase(position));
                let at = section.completed_at.unwrap_or(self.end);
                self.item(at, ItemEvent::ItemCompleted { id, run, phase });
            }
            StageStatus::InProgress => self.item(self.end, ItemEvent::ItemStarted { id }),
            StageStatus::NotStarted if is_active => self.item(self.end, ItemEvent::ItemStarted { id }),
            StageStatus::NotStarted | StageStatus::NeedsReview => {}
        }
    }

    fn notes(&mut self, claims: &[Claim], kind: NoteKind) {
        for claim in claims {
            let id = 1 + self.events.iter().filter(|dated| is_note(&dated.event)).count();
            let id = u32::try_from(id).unwrap_or(u32::MAX);
            let (text, fields) = (claim.text.clone(), claim.fields.clone());
            self.add(claim.at.unwrap_or(self.end), Event::NoteAdded { id, kind, text, fields, origin: None });
            if claim.is_resolved {
                self.add(self.end, Event::NoteResolved { id });
            }
        }
    }

    /// Adds an event at the time of the last activity in the file, unless another event is as late.
    fn last_active(&mut self) {
        let at = self.end.min(self.folder.now);
        let is_in_progress = matches!(self.state.status, Some(Status::InProgress) | None);
        if is_in_progress && self.events.last().is_some_and(|last| last.at < at) {
            let paths = vec![super::STATE.to_owned()];
            self.add(at, Event::ExternalEdit { paths, title: None, goal: None, target: None });
        }
    }

    fn status(&mut self) {
        let forced = current(self.state).is_some();
        match self.state.status {
            Some(Status::InProgress) | None => {}
            Some(Status::Paused) => {
                let reason = REASON_USER_REQUEST.to_owned();
                self.add(self.end, Event::SessionPaused { reason, context: None, saved: Vec::new() });
            }
            Some(Status::Completed) => {
                let at = self.state.completed_at.unwrap_or(self.end).max(self.begin);
                self.add(at, Event::SessionCompleted { forced });
            }
            Some(Status::Abandoned) => {
                self.add(self.end, Event::SessionAbandoned { reason: None, operation: None });
            }
        }
    }
}

fn is_note(event: &Event) -> bool {
    matches!(event, Event::NoteAdded { .. })
}

/// The index of the stage in progress: the stage that the file names, or else the next one if that stage is
/// completed. `None` if all stages are completed.
pub(super) fn current(state: &State) -> Option<usize> {
    let is_done = |position: &usize| state.stages[*position].status == StageStatus::Completed;
    let said = state.current.filter(|position| !is_done(position));
    let after = || (state.current.unwrap_or(0)..STAGES.len()).find(|position| !is_done(position));
    said.or_else(after).or_else(|| (0..STAGES.len()).find(|position| !is_done(position)))
}

/// The built-in workflow. Its definition has no mistakes, because tests check it. It is parsed only once,
/// because a list may contain a thousand sessions.
pub(super) fn workflow() -> Option<&'static (WorkflowRef, Vec<PhaseStub>)> {
    static ESSAY: OnceLock<Option<(WorkflowRef, Vec<PhaseStub>)>> = OnceLock::new();
    let found = ESSAY.get_or_init(|| {
        let plan = RunPlan::new(defined()?, Vec::new());
        Some((plan.workflow, plan.phases))
    });
    found.as_ref().filter(|(_, phases)| phases.len() == STAGES.len())
}

/// The definition of the built-in workflow, including its declared fields.
pub(super) fn defined() -> Option<&'static Workflow> {
    static ESSAY: OnceLock<Option<Workflow>> = OnceLock::new();
    let read = || Some(definition::read(builtin::find(NAME)?.text).ok()?.workflow);
    ESSAY.get_or_init(read).as_ref()
}
