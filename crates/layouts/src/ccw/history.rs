//! Converts a session's files to events: folding the events gives the session, and adopting the session
//! stores exactly these events.

use super::documents::{self, PLAN, REVIEW};
use super::phase_and_size_names::{PhaseWord, Size};
use super::session_status::{Stands, Word};
use super::tasks::{Task, TaskStatus, natural, plain};
use super::{CcwSession, MARKER, REGISTRY, STATE, WORKFLOW};
use crate::layout::Folder;
use crate::reading::Dated;
use crate::reconcile::{LISTED, shown_by};
use crate::{builtin, definition};
use jiff::Timestamp;
use model::event::{Event, ItemEvent};
use model::gate::{AttemptReport, CheckOutcome, CheckResult};
use model::id::{ItemId, Name};
use model::item::{HIGHEST_ORDER, ItemChange, NewItem, ORDER_STEP, RunRef};
use model::phase::PhaseStub;
use model::run::{RunPlan, WorkflowRef};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// The reason recorded for a paused session, because its files give none.
const PAUSED: &str = "paused, as its files say";
const BLOCKED: &str = "blocked, as its file says";
/// The item field that distinguishes a cancelled task from a completed one.
pub(super) const OUTCOME: &str = "outcome";

pub(super) fn of(session: &CcwSession, folder: &Folder<'_>) -> Vec<Dated> {
    let begin = begin(session, folder);
    let end = switched_at(session, folder).into_iter().fold(end(session, begin), Timestamp::max);
    let mut events = vec![Dated { at: begin, event: started(session, folder) }];
    let Some((workflow, stubs)) = workflow() else { return events };
    let run =
        Event::RunStarted { workflow: workflow.clone(), ordinal: 1, phases: stubs.clone(), definition: None };
    events.push(Dated { at: begin, event: run });
    let run = RunRef { workflow: workflow.name.clone(), ordinal: 1 };
    tasks(session, &run, begin, &mut events);
    phases(session, stubs, (begin, end), &mut events);
    lifecycle(session, end, &mut events);
    if events.last().is_some_and(|last| last.at < end) {
        let paths = vec![folder.spot.below_project(&format!("{}/{STATE}", session.folder))];
        let event = Event::ExternalEdit { paths, title: None, goal: None, target: None };
        events.push(Dated { at: end, event });
    }
    events
}

/// When the session started. If the files contain no time, the modification time of the state file is used,
/// so that repeated reads give the same start.
fn begin(session: &CcwSession, folder: &Folder<'_>) -> Timestamp {
    let registered = session.line.as_ref().and_then(|line| line.created);
    let written = folder.tree.modified(&format!("{}/{STATE}", session.folder));
    let written = written.map_or(folder.now, |written| written.min(folder.now));
    session.state.created.or(registered).or(session.state.updated).unwrap_or(written)
}

/// The last activity known from the files.
fn end(session: &CcwSession, begin: Timestamp) -> Timestamp {
    let state = &session.state;
    let moved = state.transitions.iter().filter_map(|transition| transition.at);
    let worked = session.tasks.tasks.iter().filter_map(|task| task.updated);
    [state.updated, state.paused_at, state.completed_at]
        .into_iter()
        .flatten()
        .chain(moved)
        .chain(worked)
        .fold(begin, Timestamp::max)
}

/// When the tool made this session active without changing the session's state file: the time of the registry
/// or marker file that shows the change.
fn switched_at(session: &CcwSession, folder: &Folder<'_>) -> Option<Timestamp> {
    let own = session.state.status.as_deref().and_then(Word::parse);
    if session.stands != Stands::Active || !matches!(own, Some(Word::Paused | Word::Completed)) {
        return None;
    }
    let registered = session.line.as_ref().and_then(|line| line.status.as_deref()).and_then(Word::parse);
    let by_line = (registered == Some(Word::Active)).then(|| REGISTRY.to_owned());
    let paths = [Some(format!("{MARKER}{}", session.name)), by_line];
    let told = paths.into_iter().flatten().filter_map(|path| folder.tree.modified(&path)).max();
    told.map(|at| at.min(folder.now))
}

fn started(session: &CcwSession, folder: &Folder<'_>) -> Event {
    let size = session.size().map(|size| ("type".to_owned(), Value::from(size.word())));
    Event::SessionStarted {
        id: folder.id.clone(),
        title: session.title().to_owned(),
        goal: session.goal().map(ToOwned::to_owned),
        target: None,
        layout: "ccw".to_owned(),
        worktree: folder.worktree.to_owned(),
        parallel: false,
        fields: size.into_iter().collect(),
        path: Some(folder.spot.path.clone()),
        machine: None,
        branch: None,
        head: None,
    }
}

/// Completes the phases before the current one: proven by files, or only claimed by the tool.
fn phases(
    session: &CcwSession,
    stubs: &[PhaseStub],
    (begin, end): (Timestamp, Timestamp),
    events: &mut Vec<Dated>,
) {
    let current = session.first_open();
    let mut since = begin;
    for (position, stub) in stubs.iter().enumerate().take(current + 1) {
        let phase = stub.id.clone();
        let word = PhaseWord::at(position);
        if position < current && word == PhaseWord::Plan && is_plan_skipped(session) {
            let reason = "a simple task starts with its implementation".to_owned();
            events.push(Dated {
                at: since,
                event: Event::PhaseSkipped { phase, reason, not_applicable: true },
            });
            continue;
        }
        events.push(Dated { at: since, event: Event::PhaseStarted { phase: phase.clone() } });
        if position < current {
            since = session.state.done_at(word).unwrap_or(if current == stubs.len() { end } else { since });
            events.push(Dated { at: since, event: done(session, word, phase) });
        }
    }
    if current >= stubs.len() {
        events.push(Dated { at: end, event: Event::RunCompleted });
    }
}

fn is_plan_skipped(session: &CcwSession) -> bool {
    let has_plan = documents::has(&session.documents, PLAN);
    session.size() == Some(Size::Simple) && !has_plan && !session.state.completed.contains(&PhaseWord::Plan)
}

/// True if files other than the state file prove that a phase was done, or if the session skips the phase.
pub(super) fn is_shown(session: &CcwSession, word: PhaseWord) -> bool {
    shown(session, word).is_some() || (word == PhaseWord::Plan && is_plan_skipped(session))
}

fn shown(session: &CcwSession, word: PhaseWord) -> Option<AttemptReport> {
    match word {
        PhaseWord::Plan => documents::has(&session.documents, PLAN).then(|| shown_by(PLAN)),
        PhaseWord::Implement => tasks_done(session),
        PhaseWord::Review => documents::has(&session.documents, REVIEW).then(|| shown_by(REVIEW)),
        PhaseWord::Init | PhaseWord::Brainstorm | PhaseWord::Vibe | PhaseWord::Complete => None,
    }
}

fn done(session: &CcwSession, word: PhaseWord, phase: Name) -> Event {
    match shown(session, word) {
        Some(attempt) => Event::PhaseCompleted { phase, attempt, branch: None, head: None },
        None => Event::PhaseClaimed { phase, attempt: None },
    }
}

/// The gate's report if all tasks are done. A one-line summary reads no tasks, and so has no such report.
fn tasks_done(session: &CcwSession) -> Option<AttemptReport> {
    let tasks = &session.tasks.tasks;
    let total = session.tasks.count();
    let is_shown = total > 0 && tasks.iter().all(Task::is_over) && session.tasks.broken.is_empty();
    is_shown.then(|| {
        let check = CheckResult {
            id: "tasks".to_owned(),
            kind: "items".to_owned(),
            outcome: CheckOutcome::Passed,
            found: Some(format!("{total} of {total} are done")),
            needed: None,
            help: None,
        };
        // Task files are what the tool claims, not what leftoff checked.
        AttemptReport { checks: vec![check], claimed_items: true, ..AttemptReport::default() }
    })
}

/// Adds events for all tasks, then for their dependencies, then for their status, parts before containers.
fn tasks(session: &CcwSession, run: &RunRef, begin: Timestamp, events: &mut Vec<Dated>) {
    let (Ok(phase), Ok(kind)) = (Name::parse("implement"), Name::parse("impl")) else { return };
    let tasks = &session.tasks.tasks;
    let orders = orders(tasks);
    let mut known: BTreeSet<String> = BTreeSet::new();
    let mut later: Vec<Dated> = Vec::new();
    let add = |events: &mut Vec<Dated>, at, event| events.push(Dated { at, event: Event::Item(event) });
    for task in tasks {
        let at = task.created.unwrap_or(begin);
        let has_all = task.needs.iter().all(|need| known.contains(&need.key()));
        known.insert(task.id.key());
        let item = NewItem {
            id: task.id.clone(),
            kind: kind.clone(),
            title: task.title.clone(),
            run: run.clone(),
            phase: phase.clone(),
            parent: task.parent.clone(),
            order: orders.get(&task.id.key()).copied().unwrap_or_default(),
            depends_on: if has_all { task.needs.clone() } else { Vec::new() },
            fields: fields(task),
        };
        add(events, at, ItemEvent::ItemAdded { item });
        let counters = task.attempts.map(|count| ("attempts".to_owned(), count)).into_iter().collect();
        let depends_on = (!has_all).then(|| task.needs.clone());
        let change = ItemChange { counters, depends_on, ..ItemChange::default() };
        if !change.is_empty() {
            add(&mut later, at, ItemEvent::ItemSet { id: task.id.clone(), change });
        }
    }
    for task in tasks.iter().rev() {
        let at = task.updated.or(task.created).unwrap_or(begin);
        let id = task.id.clone();
        let event = match task.status {
            TaskStatus::Pending | TaskStatus::Container => continue,
            TaskStatus::Active => ItemEvent::ItemStarted { id },
            TaskStatus::Completed | TaskStatus::Cancelled => {
                ItemEvent::ItemCompleted { id, run: run.clone(), phase: phase.clone() }
            }
            TaskStatus::Blocked => ItemEvent::ItemBlocked { id, reason: BLOCKED.to_owned() },
        };
        add(&mut later, at, event);
    }
    events.extend(later);
}

fn fields(task: &Task) -> BTreeMap<String, Value> {
    let mut fields = task.fields.clone();
    if task.is_only_listed {
        fields.insert(LISTED.to_owned(), Value::from("progress.current_tasks"));
    }
    if task.status == TaskStatus::Cancelled {
        fields.insert(OUTCOME.to_owned(), Value::from("cancelled"));
    }
    fields
}

/// The order of each task among its siblings: by the number at the end of its id. If two siblings have the
/// same number, the order of the list is used.
fn orders(tasks: &[Task]) -> BTreeMap<String, u32> {
    let mut siblings: BTreeMap<Option<String>, Vec<&ItemId>> = BTreeMap::new();
    for task in tasks {
        siblings.entry(task.parent.as_ref().map(ItemId::key)).or_default().push(&task.id);
    }
    let mut orders = BTreeMap::new();
    for mut ids in siblings.into_values() {
        ids.sort_by_cached_key(|id| natural(id.as_str()));
        let numbers: Vec<Option<u32>> = ids.iter().map(|id| last_number(id)).collect();
        let distinct: BTreeSet<u32> = numbers.iter().flatten().copied().collect();
        for (place, (id, number)) in ids.iter().zip(&numbers).enumerate() {
            let by_place = u32::try_from(place + 1).unwrap_or(HIGHEST_ORDER);
            let number = number.filter(|_| distinct.len() == ids.len()).unwrap_or(by_place);
            orders.insert(id.key(), number.saturating_mul(ORDER_STEP).min(HIGHEST_ORDER));
        }
    }
    orders
}

fn last_number(id: &ItemId) -> Option<u32> {
    let plain = plain(id.as_str());
    let start = plain.rfind(|letter: char| !letter.is_ascii_digit()).map_or(0, |at| at + 1);
    plain[start..].parse().ok().filter(|number| *number <= HIGHEST_ORDER / ORDER_STEP)
}

fn lifecycle(session: &CcwSession, end: Timestamp, events: &mut Vec<Dated>) {
    let is_finished = session.first_open() >= PhaseWord::STEPS.len();
    let state = &session.state;
    let (at, event) = match session.stands {
        Stands::Active => return,
        Stands::Paused => {
            let event = Event::SessionPaused { reason: PAUSED.to_owned(), context: None, saved: Vec::new() };
            (
                state
                    .paused_at
                    .filter(|at| state.updated.is_none_or(|updated| updated <= *at))
                    .unwrap_or(end),
                event,
            )
        }
        Stands::Failed => (end, Event::SessionFailed { error: state.last_error.clone().unwrap_or_default() }),
        Stands::Completed => {
            (state.completed_at.unwrap_or(end), Event::SessionCompleted { forced: !is_finished })
        }
        Stands::Abandoned => (end, Event::SessionAbandoned { reason: None, operation: None }),
    };
    events.push(Dated { at, event });
}

/// The built-in workflow. Its definition has no mistakes, because tests check it. It is parsed only once,
/// because a list may contain a thousand sessions.
fn workflow() -> Option<&'static (WorkflowRef, Vec<PhaseStub>)> {
    static WORKFLOW_READ: OnceLock<Option<(WorkflowRef, Vec<PhaseStub>)>> = OnceLock::new();
    let found = WORKFLOW_READ.get_or_init(|| {
        let text = builtin::find(WORKFLOW)?.text;
        let plan = RunPlan::new(&definition::read(text).ok()?.workflow, Vec::new());
        Some((plan.workflow, plan.phases))
    });
    found.as_ref()
}
