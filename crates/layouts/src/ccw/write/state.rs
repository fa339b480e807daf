//! workflow-session.json as it is to be: phase, status, progress, transitions, checkpoints, times.

use super::{Changes, Said, ours, size, word};
use crate::ccw::STATE;
use crate::ccw::documents::{self, PLAN, REVIEW};
use crate::ccw::fields::written;
use crate::ccw::place::Ground;
use crate::ccw::state::{State, phase_told};
use crate::ccw::status::{Stands, Word};
use crate::ccw::tasks::{TaskStatus, plain};
use crate::ccw::words::{PhaseWord, Size};
use crate::layout::{FileChange, Folder, Standing};
use jiff::Timestamp;
use model::event::{Event, Recorded};
use model::item::{Item, ItemBook, ItemStatus};
use model::lifecycle::Lifecycle;
use model::phase::PhaseState;
use model::session::Session;
use serde_json::{Map, Value, json};

const UPDATED: &[&[&str]] = &[&["meta", "updated"], &["updated_at"]];

pub(super) fn file(standing: &Standing<'_>, said: &Said<'_>, folder: &Folder<'_>) -> Option<FileChange> {
    let path = format!("{}/{STATE}", said.read.folder);
    let session = standing.session;
    // What cannot be read was set aside by whoever asks for this file.
    let content = folder.tree.content(&path).filter(|_| said.read.state.is_readable);
    let mut changes = Changes::to(content)?;
    if content.is_none() {
        begin(&mut changes, standing, said);
    }
    describe(&mut changes, session, said);
    let since = ours(standing.since_written(&path));
    phase(&mut changes, session, said, since);
    status(&mut changes, session, said, since);
    progress(&mut changes, standing, said, since);
    for recorded in since {
        transition(&mut changes, recorded, standing, said);
    }
    if let Some(at) = checkpoint(since) {
        changes.set(&["progress", "last_checkpoint"], &written(at));
    }
    changes.set_missing_created(session);
    if changes.any {
        changes.set_where_it_is(UPDATED, &written(session.updated_at));
    }
    changes.into_file(path)
}

impl Changes {
    fn set_missing_created(&mut self, session: &Session) {
        let known = [&["meta", "created"][..], &["created_at"], &["created"]];
        if self.any && known.iter().all(|path| self.document.get(path).is_none()) {
            self.set(&["meta", "created"], &written(session.created_at));
        }
    }
}

/// A new file, in the order in which the tool writes it.
fn begin(changes: &mut Changes, standing: &Standing<'_>, said: &Said<'_>) {
    let session = standing.session;
    changes.set(&["session_id"], &json!(said.read.name));
    changes.set(&["project"], &json!(session.title));
    if let Some(goal) = session.goal.as_ref().filter(|goal| **goal != session.title) {
        changes.set(&["description"], &json!(goal));
    }
    changes.set(&["type"], &json!(size(session).unwrap_or(Size::Medium).word()));
    changes.set(&["current_phase"], &json!(current(session).word()));
    changes.set(&["status"], &json!(word(&session.lifecycle).text()));
    changes.set(&["progress", "completed_phases"], &json!(completed(session)));
    changes.set(&["progress", "current_tasks"], &json!(active(standing.items, session.updated_at)));
    changes.set(&["meta", "created"], &written(session.created_at));
    changes.set(&["meta", "updated"], &written(session.updated_at));
}

fn describe(changes: &mut Changes, session: &Session, said: &Said<'_>) {
    if session.title != said.session.title {
        changes.set_where_it_is(&[&["project"], &["description"]], &json!(session.title));
    }
    if session.goal != said.session.goal
        && let Some(goal) = session.goal.as_ref().filter(|goal| **goal != session.title)
    {
        changes.set(&["description"], &json!(goal));
    }
    if let Some(size) = size(session).filter(|size| said.read.state.size != Some(*size)) {
        changes.set(&["type"], &json!(size.word()));
    }
}

/// Other words for the same phase are left to whoever wrote them.
fn phase(changes: &mut Changes, session: &Session, said: &Said<'_>, since: &[Recorded]) {
    let (Some(ours), Some(theirs)) = (session.run(), said.session.run()) else { return };
    let is_there = ours.current().id() == theirs.current().id() && ours.is_open() == theirs.is_open();
    let states = |run: &model::run::Run| -> Vec<bool> { run.phases.iter().map(is_completed).collect() };
    let done = (states(ours), states(theirs));
    let word = json!(current(session).word());
    // Whoever goes on does so in a valid phase; until then a word that is none is its author's, perhaps a newer tool.
    let goes_on = since.iter().any(|recorded| matches!(recorded.event, Event::SessionResumed { .. }));
    let is_odd = said.read.state.odd_phase.is_some() && goes_on;
    if is_odd || (!is_there && said.read.phase != current(session)) {
        changes.set_where_it_is(&[&["current_phase"], &["phase"]], &word);
        // Where both are there, both tell the same.
        if changes
            .document
            .get(&["phase"])
            .and_then(|known| known.as_str().and_then(PhaseWord::parse))
            .is_some()
        {
            changes.set(&["phase"], &word);
        }
    }
    if !is_there || done.0 != done.1 {
        changes.set(&["progress", "completed_phases"], &json!(completed(session)));
    }
}

fn status(changes: &mut Changes, session: &Session, said: &Said<'_>, since: &[Recorded]) {
    let ends = |recorded: &Recorded| {
        matches!(
            recorded.event,
            Event::SessionCompleted { .. } | Event::SessionAbandoned { .. } | Event::Restored { .. }
        )
    };
    let word = word(&session.lifecycle);
    let known = said.read.state.status.as_deref();
    let is_moved = known.is_some_and(|known| ["planning", "implementing", "reviewing"].contains(&known))
        && session.run().map(|run| run.current().id()) != said.session.run().map(|run| run.current().id());
    // A session that was found among the archived ones is completed by its place, whatever stands in its file.
    let is_told_by_place =
        said.read.ground == Ground::Archives && word == Word::Completed && !since.iter().any(ends);
    // Where the file has no word for it, what the others say has to do, as long as it is true.
    let shown = known.and_then(Word::parse).unwrap_or_else(|| super::word(&said.session.lifecycle));
    if shown != word && !is_told_by_place {
        keep_phase(changes, session, said, word);
        changes.set(&["status"], &json!(word.text()));
    } else if is_moved && word == Word::Active {
        let text = match current(session) {
            PhaseWord::Init | PhaseWord::Brainstorm | PhaseWord::Plan => "planning",
            PhaseWord::Implement | PhaseWord::Vibe => "implementing",
            PhaseWord::Review | PhaseWord::Complete => "reviewing",
        };
        changes.set(&["status"], &json!(text));
    }
    match &session.lifecycle {
        Lifecycle::Failed { error, .. } => changes.set(&["last_error"], &json!(error)),
        // It would make a mere pause a failure.
        Lifecycle::Paused { .. } => changes.remove(&["last_error"]),
        Lifecycle::Abandoned { .. } => changes.set(&["completion_type"], &json!("abandoned")),
        Lifecycle::Completed { .. } if said.read.state.is_abandoned => {
            changes.set(&["completion_type"], &json!("completed"));
        }
        Lifecycle::Active => goes_on(changes, said),
        Lifecycle::Completed { .. } => {}
    }
}

/// What said how it had ended is over: with it the next pause would be a failure, the next end an abandonment. What
/// else stands there is somebody's.
fn goes_on(changes: &mut Changes, said: &Said<'_>) {
    match said.read.stands {
        Stands::Failed => changes.remove(&["last_error"]),
        Stands::Abandoned => changes.remove(&["completion_type"]),
        Stands::Active | Stands::Paused | Stands::Completed => {}
    }
}

/// Where the status told the phase, another one that takes its place does not.
fn keep_phase(changes: &mut Changes, session: &Session, said: &Said<'_>, word: Word) {
    let known = &said.read.state;
    let then = State { status: Some(word.text().to_owned()), ..known.clone() };
    let told = |state: &State| phase_told(state, said.read.ground).map(PhaseWord::position);
    if known.odd_phase.is_none() && told(&then) != told(known) {
        changes.set_where_it_is(&[&["current_phase"], &["phase"]], &json!(current(session).word()));
    }
}

/// Current tasks: those that are begun or held, by whomever. What others listed stays until it is done or given back.
fn progress(changes: &mut Changes, standing: &Standing<'_>, said: &Said<'_>, since: &[Recorded]) {
    let named = &said.read.state.current_tasks;
    let current = current_tasks(standing, said);
    let spelled = |ids: &[String]| ids.iter().map(|id| plain(id)).collect::<Vec<_>>();
    let now = standing.session.updated_at;
    let is_moved = spelled(&active(standing.items, now)) != spelled(&active(said.items, now));
    if (is_moved || !since.is_empty()) && spelled(&current) != spelled(named) {
        changes.set(&["progress", "current_tasks"], &json!(current));
    }
}

fn current_tasks(standing: &Standing<'_>, said: &Said<'_>) -> Vec<String> {
    let now = standing.session.updated_at;
    let find = |items: &'_ ItemBook, name: &str| -> Option<Item> {
        items.iter().find(|item| plain(item.id.as_str()) == plain(name)).cloned()
    };
    let stays = |name: &&String| match find(standing.items, name) {
        None => true,
        Some(item) if item.is_done() || matches!(item.status, ItemStatus::Blocked { .. }) => false,
        Some(item) => {
            let was_current = find(said.items, name).is_some_and(|known| is_current(&known, now));
            is_current(&item, now) || !was_current
        }
    };
    let mut current: Vec<String> = said.read.state.current_tasks.iter().filter(stays).cloned().collect();
    for id in active(standing.items, now) {
        if !current.iter().any(|known| plain(known) == plain(&id)) {
            current.push(id);
        }
    }
    current
}

/// As the seed has it: what was completed, what comes next, when, and what it left behind. Whoever moved the file on
/// by hand has told of it there, or not.
fn transition(changes: &mut Changes, recorded: &Recorded, standing: &Standing<'_>, said: &Said<'_>) {
    let Event::PhaseCompleted { phase, .. } = &recorded.event else { return };
    let Some(word) = PhaseWord::of_step(phase.as_str()) else { return };
    if said.read.position() > word.position() {
        return;
    }
    let entry = json!({
        "phase_completed": word.word(),
        "next_phase": PhaseWord::at(word.position() + 1).word(),
        "completed_at": written(recorded.at),
        "artifacts": artifacts(word, said, standing),
    });
    changes.push(&["state_transitions"], &entry);
}

fn artifacts(word: PhaseWord, said: &Said<'_>, standing: &Standing<'_>) -> Map<String, Value> {
    let has = |path: &str| documents::has(&said.read.documents, path);
    let mut artifacts = Map::new();
    match word {
        PhaseWord::Plan if has(PLAN) => {
            artifacts.insert("plan_document".to_owned(), json!(PLAN));
        }
        PhaseWord::Implement => {
            // What was cancelled is over, and was not completed.
            let is_cancelled = |item: &Item| {
                said.read.tasks.get(&item.id).is_some_and(|task| task.status == TaskStatus::Cancelled)
            };
            let done = standing.items.iter().filter(|item| item.is_done() && !is_cancelled(item));
            let done = done.map(|item| &item.id);
            let mut done: Vec<String> = done.map(ToString::to_string).collect();
            done.sort_by_cached_key(|id| crate::ccw::tasks::natural(id));
            artifacts.insert("completed_tasks".to_owned(), json!(done));
        }
        PhaseWord::Review if has(REVIEW) => {
            artifacts.insert("review_document".to_owned(), json!(REVIEW));
        }
        PhaseWord::Init
        | PhaseWord::Brainstorm
        | PhaseWord::Vibe
        | PhaseWord::Plan
        | PhaseWord::Review
        | PhaseWord::Complete => {}
    }
    artifacts
}

/// A phase that is complete, somebody who asks for it (a checkpoint, a pause), the session's end.
fn checkpoint(since: &[Recorded]) -> Option<Timestamp> {
    let is_saved = |recorded: &&Recorded| {
        matches!(
            recorded.event,
            Event::PhaseCompleted { .. }
                | Event::PhaseSkipped { .. }
                | Event::CheckpointMade { .. }
                | Event::SessionPaused { .. }
                | Event::SessionCompleted { .. }
                | Event::SessionAbandoned { .. }
        )
    };
    since.iter().rev().find(is_saved).map(|recorded| recorded.at)
}

fn current(session: &Session) -> PhaseWord {
    session.run().and_then(|run| PhaseWord::of_step(run.current().id().as_str())).unwrap_or(PhaseWord::Plan)
}

/// What was passed over was not completed.
fn completed(session: &Session) -> Vec<&'static str> {
    let phases = session.run().into_iter().flat_map(|run| run.phases.iter());
    phases
        .filter(|phase| is_completed(phase))
        .filter_map(|phase| PhaseWord::of_step(phase.id().as_str()).map(PhaseWord::word))
        .collect()
}

fn is_completed(phase: &model::phase::Phase) -> bool {
    match phase.state {
        PhaseState::Completed { .. } | PhaseState::NeedsReview { .. } => true,
        PhaseState::NotStarted | PhaseState::InProgress { .. } | PhaseState::Skipped { .. } => false,
    }
}

fn active(items: &ItemBook, now: Timestamp) -> Vec<String> {
    let current = items.iter().filter(|item| is_current(item, now) && !item.is_container());
    let mut ids: Vec<String> = current.map(|item| item.id.to_string()).collect();
    ids.sort_by_cached_key(|id| crate::ccw::tasks::natural(id));
    ids
}

/// Begun, or held by somebody.
fn is_current(item: &Item, now: Timestamp) -> bool {
    match item.status {
        ItemStatus::Active => true,
        ItemStatus::Pending => item.live_lease(now).is_some(),
        ItemStatus::Completed { .. } | ItemStatus::Blocked { .. } => false,
    }
}
