//! Updates workflow-session.json: phase, status, progress, transitions, checkpoints, times.

use super::task_names::Names;
use super::{Changes, Said, ours, size, word};
use crate::ccw::STATE;
use crate::ccw::documents::{self, PLAN, REVIEW};
use crate::ccw::fields::written;
use crate::ccw::health::COMPLETED_PHASES;
use crate::ccw::phase_and_size_names::{PhaseWord, Size};
use crate::ccw::place::Ground;
use crate::ccw::session_status::{Stands, Word};
use crate::ccw::state::{State, phase_in_file};
use crate::ccw::tasks::{TaskStatus, plain};
use crate::layout::{FileChange, Folder, SessionToPublish};
use jiff::Timestamp;
use model::event::{Event, Recorded};
use model::item::{Item, ItemBook, ItemStatus};
use model::lifecycle::Lifecycle;
use model::phase::PhaseState;
use model::session::Session;
use serde_json::{Map, Value, json};

const UPDATED: &[&[&str]] = &[&["meta", "updated"], &["updated_at"]];
/// The key for the time of the last change, in files of later releases, which have no object `meta`.
const UPDATED_LATER: &[&[&str]] = &[&["updated_at"]];

pub(super) fn file(
    publication: &SessionToPublish<'_>,
    said: &Said<'_>,
    folder: &Folder<'_>,
) -> Option<FileChange> {
    let path = format!("{}/{STATE}", said.read.folder);
    let session = publication.session;
    // Unreadable content is ignored: the caller has already quarantined the file.
    let content = folder.tree.content(&path).filter(|_| said.read.state.is_readable);
    let mut changes = Changes::to(content)?;
    if content.is_none() {
        begin(&mut changes, publication, said);
    }
    describe(&mut changes, session, said);
    let since = ours(publication.since_written(&path));
    phase(&mut changes, session, said, since);
    status(&mut changes, session, said, since);
    progress(&mut changes, publication, said, since);
    for recorded in since {
        transition(&mut changes, recorded, publication, said);
    }
    if let Some(at) = checkpoint(since) {
        changes.set(&["progress", "last_checkpoint"], &written(at));
    }
    changes.set_missing_created(session);
    if changes.any {
        let place = if said.read.state.is_later { UPDATED_LATER } else { UPDATED };
        changes.set_where_it_is(place, &written(session.updated_at));
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

/// Fills a new state file, with the keys in the order that the tool uses.
fn begin(changes: &mut Changes, publication: &SessionToPublish<'_>, said: &Said<'_>) {
    let session = publication.session;
    changes.set(&["session_id"], &json!(said.read.name));
    changes.set(&["project"], &json!(session.title));
    // The dashboard of later releases reads a description and times at the top level.
    let is_later = said.read.ground != Ground::Home;
    match session.goal.as_ref().filter(|goal| **goal != session.title) {
        Some(goal) => changes.set(&["description"], &json!(goal)),
        None if is_later => changes.set(&["description"], &json!(session.title)),
        None => {}
    }
    changes.set(&["type"], &json!(size(session).unwrap_or(Size::Medium).word()));
    changes.set(&["current_phase"], &json!(current(session).word()));
    changes.set(&["status"], &json!(word(&session.lifecycle).text()));
    changes.set(&["progress", "completed_phases"], &json!(completed(session)));
    let tasks = active(publication.items, session.updated_at, &said.names);
    changes.set(&["progress", "current_tasks"], &json!(tasks));
    let (created, updated) = (written(session.created_at), written(session.updated_at));
    if is_later {
        changes.set(&["created_at"], &created);
        changes.set(&["updated_at"], &updated);
    } else {
        changes.set(&["meta", "created"], &created);
        changes.set(&["meta", "updated"], &updated);
    }
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

/// Sets the phase, unless the file already names it. Synonyms of the phase are left as written.
fn phase(changes: &mut Changes, session: &Session, said: &Said<'_>, since: &[Recorded]) {
    let (Some(ours), Some(theirs)) = (session.run(), said.session.run()) else { return };
    let is_there = ours.current().id() == theirs.current().id() && ours.is_open() == theirs.is_open();
    let states = |run: &model::run::Run| -> Vec<bool> { run.phases.iter().map(is_completed).collect() };
    let done = (states(ours), states(theirs));
    let word = json!(current(session).word());
    // An unknown phase may come from a newer tool. It stays until the session continues, which requires a
    // valid phase.
    let is_resumed = since.iter().any(|recorded| matches!(recorded.event, Event::SessionResumed { .. }));
    let is_odd = said.read.state.odd_phase.is_some() && (is_resumed || since.iter().any(is_work));
    if is_odd || (!is_there && said.read.phase != current(session)) {
        changes.set_where_it_is(&[&["current_phase"], &["phase"]], &word);
        // If a file has both keys for the phase, both get the same value.
        if changes
            .document
            .get(&["phase"])
            .and_then(|known| known.as_str().and_then(PhaseWord::parse))
            .is_some()
        {
            changes.set(&["phase"], &word);
        }
    }
    // The user has agreed to continue although the list of completed phases contradicts the phase.
    let is_contradicted =
        is_resumed && said.read.health.iter().any(|health| health.check == COMPLETED_PHASES);
    // With its status alone the file can already show as completed what it does not list yet.
    let is_completed_here =
        since.iter().any(|recorded| matches!(recorded.event, Event::PhaseCompleted { .. }));
    if !is_there || done.0 != done.1 || is_contradicted || is_completed_here {
        changes.set(&["progress", "completed_phases"], &json!(completed(session)));
    }
}

/// True for work inside a phase. Such work continues the session, even a paused one.
fn is_work(recorded: &Recorded) -> bool {
    matches!(recorded.event, Event::Item(_) | Event::CheckpointMade { .. } | Event::GateFailed { .. })
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
    // A session in the archive is completed, whatever status its file contains.
    let is_completed_by_place =
        said.read.ground == Ground::Archives && word == Word::Completed && !since.iter().any(ends);
    // No status is added to a file without a status while the other sources are right.
    let shown = known.and_then(Word::parse).unwrap_or_else(|| super::word(&said.session.lifecycle));
    if shown != word && !is_completed_by_place {
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
        // A paused session with this key would be read as failed.
        Lifecycle::Paused { .. } => changes.remove(&["last_error"]),
        Lifecycle::Abandoned { .. } => changes.set(&["completion_type"], &json!("abandoned")),
        Lifecycle::Completed { .. } if said.read.state.is_abandoned => {
            changes.set(&["completion_type"], &json!("completed"));
        }
        Lifecycle::Active => forget_end(changes, said),
        Lifecycle::Completed { .. } => {}
    }
}

/// Removes leftoff's record of how the session ended. With that record, the next pause would be read as a
/// failure, and the next end as an abandonment. Values that other tools wrote stay.
fn forget_end(changes: &mut Changes, said: &Said<'_>) {
    match said.read.stands {
        Stands::Failed => changes.remove(&["last_error"]),
        Stands::Abandoned => changes.remove(&["completion_type"]),
        Stands::Active | Stands::Paused | Stands::Completed => {}
    }
}

/// Writes the phase if the file showed it only by its old status, and no longer shows it with the new status.
fn keep_phase(changes: &mut Changes, session: &Session, said: &Said<'_>, word: Word) {
    let known = &said.read.state;
    let then = State { status: Some(word.text().to_owned()), ..known.clone() };
    let told = |state: &State| phase_in_file(state, said.read.ground).map(PhaseWord::position);
    if known.odd_phase.is_none() && told(&then) != told(known) {
        changes.set_where_it_is(&[&["current_phase"], &["phase"]], &json!(current(session).word()));
    }
}

/// Updates the list of current tasks: those that are started, or held by somebody. A task that another tool
/// put on the list stays until it is done or released.
fn progress(changes: &mut Changes, publication: &SessionToPublish<'_>, said: &Said<'_>, since: &[Recorded]) {
    let named = &said.read.state.current_tasks;
    let current = current_tasks(publication, said);
    let spelled = |ids: &[String]| ids.iter().map(|id| plain(id)).collect::<Vec<_>>();
    let now = publication.session.updated_at;
    let active = |items| spelled(&active(items, now, &said.names));
    let is_moved = active(publication.items) != active(said.items);
    if (is_moved || !since.is_empty()) && spelled(&current) != spelled(named) {
        changes.set(&["progress", "current_tasks"], &json!(current));
    }
}

fn current_tasks(publication: &SessionToPublish<'_>, said: &Said<'_>) -> Vec<String> {
    let now = publication.session.updated_at;
    let find = |items: &'_ ItemBook, name: &str| -> Option<Item> {
        items.iter().find(|item| plain(item.id.as_str()) == plain(name)).cloned()
    };
    let stays = |name: &&String| match find(publication.items, name) {
        None => true,
        Some(item) if item.is_done() || matches!(item.status, ItemStatus::Blocked { .. }) => false,
        Some(item) => {
            let was_current = find(said.items, name).is_some_and(|known| is_current(&known, now));
            is_current(&item, now) || !was_current
        }
    };
    let mut current: Vec<String> = said.read.state.current_tasks.iter().filter(stays).cloned().collect();
    for id in active(publication.items, now, &said.names) {
        if !current.iter().any(|known| plain(known) == plain(&id)) {
            current.push(id);
        }
    }
    current
}

/// Adds a transition in the original form: completed phase, next phase, time, results. No transition is added
/// for a phase that the file already shows as completed: whoever edited the file decided whether to record
/// one.
fn transition(
    changes: &mut Changes,
    recorded: &Recorded,
    publication: &SessionToPublish<'_>,
    said: &Said<'_>,
) {
    let Event::PhaseCompleted { phase, .. } = &recorded.event else { return };
    let Some(word) = PhaseWord::of_step(phase.as_str()) else { return };
    if said.read.position() > word.position() {
        return;
    }
    let entry = json!({
        "phase_completed": word.word(),
        "next_phase": PhaseWord::at(word.position() + 1).word(),
        "completed_at": written(recorded.at),
        "artifacts": artifacts(word, said, publication),
    });
    changes.push(&["state_transitions"], &entry);
}

fn artifacts(word: PhaseWord, said: &Said<'_>, publication: &SessionToPublish<'_>) -> Map<String, Value> {
    let has = |path: &str| documents::has(&said.read.documents, path);
    let mut artifacts = Map::new();
    match word {
        PhaseWord::Plan if has(PLAN) => {
            artifacts.insert("plan_document".to_owned(), json!(PLAN));
        }
        PhaseWord::Implement => {
            // A cancelled task is over but not completed.
            let is_cancelled = |item: &Item| {
                said.read.tasks.get(&item.id).is_some_and(|task| task.status == TaskStatus::Cancelled)
            };
            let done = publication.items.iter().filter(|item| item.is_done() && !is_cancelled(item));
            let done = said.names.sorted(done.map(|item| &item.id));
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

/// The time of the last event that counts as a checkpoint: a phase completed or skipped, a checkpoint, a
/// pause, or the session's end.
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

/// The names of the completed phases. Skipped phases are left out.
fn completed(session: &Session) -> Vec<&'static str> {
    let phases = session.run().into_iter().flat_map(|run| run.phases.iter());
    phases
        .filter(|phase| is_completed(phase))
        .filter_map(|phase| PhaseWord::of_step(phase.id().as_str()).map(PhaseWord::word))
        .collect()
}

/// True for a completed phase. A phase that needs review is not completed: it comes after the current one, so
/// a list with both would contradict itself.
fn is_completed(phase: &model::phase::Phase) -> bool {
    match phase.state {
        PhaseState::Completed { .. } => true,
        PhaseState::NotStarted
        | PhaseState::InProgress { .. }
        | PhaseState::NeedsReview { .. }
        | PhaseState::Skipped { .. } => false,
    }
}

fn active(items: &ItemBook, now: Timestamp, names: &Names) -> Vec<String> {
    let current = items.iter().filter(|item| is_current(item, now) && !item.is_container());
    names.sorted(current.map(|item| &item.id))
}

/// True for a task that is started, or held by somebody.
fn is_current(item: &Item, now: Timestamp) -> bool {
    match item.status {
        ItemStatus::Active => true,
        ItemStatus::Pending => item.live_lease(now).is_some(),
        ItemStatus::Completed { .. } | ItemStatus::Blocked { .. } | ItemStatus::Dropped { .. } => false,
    }
}
