//! Health checks of a session's files and phases, made before the session continues. The checks change
//! nothing.

use super::documents::{self, PLAN};
use super::phase_and_size_names::PhaseWord;
use super::place::Ground;
use super::tasks::{Task, TaskStatus};
use super::{CcwSession, HOME, STATE, history};
use crate::layout::Health;
use model::hint::Hint;
use model::words;

/// The name of the check of the list of completed phases. The check appears only if the list contradicts the
/// current phase.
pub(super) const COMPLETED_PHASES: &str = "completed phases";

/// The health checks of a session. The registry is not checked if marker files say which session is active.
pub(super) fn of(session: &CcwSession, has_markers: bool) -> Vec<Health> {
    let mut checks = vec![state(session)];
    if session.ground == Ground::Home && (session.line.is_some() || !has_markers) {
        checks.push(registry(session));
    }
    checks.push(files_of_tasks(session));
    checks.push(files(session));
    checks.extend(contradiction(session));
    checks.push(phase(session));
    checks
}

fn state(session: &CcwSession) -> Health {
    let is_well = session.state.is_readable;
    let found =
        if is_well { format!("{STATE} can be read") } else { format!("{STATE} is missing or broken") };
    Health { check: "session file", is_well, found, phase: None, remedy: None }
}

fn registry(session: &CcwSession) -> Health {
    let lines = session.line.as_ref().map_or(0, |line| line.count);
    let found = match lines {
        0 => "the session is not in the registry".to_owned(),
        1 => "the session is registered".to_owned(),
        several => format!("the session is in the registry {several} times"),
    };
    Health { check: "registry", is_well: lines == 1, found, phase: None, remedy: None }
}

fn files_of_tasks(session: &CcwSession) -> Health {
    let broken = session.tasks.broken.len();
    let listed = session.tasks.tasks.iter().filter(|task| task.is_only_listed).count();
    let count = session.tasks.count() - listed;
    let found = if broken == 0 {
        format!("{count} can be read")
    } else {
        format!("{broken} of {} cannot be read", count + broken)
    };
    Health { check: "task files", is_well: broken == 0, found, phase: None, remedy: None }
}

fn files(session: &CcwSession) -> Health {
    let there = session.documents.iter().filter(|document| document.says_something);
    let names: Vec<&str> = there.map(|document| document.path).collect();
    let found = if names.is_empty() { "none yet".to_owned() } else { names.join(", ") };
    Health { check: "documents", is_well: true, found, phase: None, remedy: None }
}

/// The health check that belongs to the current phase: the plan document while planning, the current tasks
/// while implementing, and the finished implementation while reviewing.
fn phase(session: &CcwSession) -> Health {
    match session.phase {
        PhaseWord::Init | PhaseWord::Brainstorm | PhaseWord::Plan => plan(session),
        PhaseWord::Implement | PhaseWord::Vibe => active_tasks(session),
        PhaseWord::Review | PhaseWord::Complete => implementation(session),
    }
}

fn plan(session: &CcwSession) -> Health {
    let is_there = session.documents.iter().any(|document| document.path == PLAN && document.files > 0);
    // Early: before planning starts no plan exists; in later releases, no plan exists until planning is done.
    let is_early = session.state.is_later || session.phase != PhaseWord::Plan;
    let found = match (is_there, documents::has(&session.documents, PLAN)) {
        (_, true) => format!("{PLAN} exists"),
        (true, false) => format!("{PLAN} is empty"),
        (false, false) if is_early => format!("{PLAN} is not written yet"),
        (false, false) => format!("{PLAN} is missing"),
    };
    let is_well = is_there || is_early;
    let remedy =
        (!is_well).then(|| format!("restart the phase by writing {}/{PLAN}", below_project(session)).into());
    Health { check: "plan document", is_well, found, phase: None, remedy }
}

/// The session's folder, relative to the project's folder. A registry may name a folder outside `.workflow`.
fn below_project(session: &CcwSession) -> String {
    session.folder.strip_prefix("../").map_or_else(|| format!("{HOME}/{}", session.folder), ToOwned::to_owned)
}

fn implementation(session: &CcwSession) -> Health {
    let open = session.tasks.tasks.iter().filter(|task| !task.is_over()).count();
    let found = if open == 0 { "all tasks are finished".to_owned() } else { unfinished(open) };
    let remedy = (open > 0)
        .then(|| Hint::new("go back to the implementation: ").run_here(words!["rollback", "implement"]));
    Health { check: "implementation", is_well: open == 0, found, phase: Some("implement"), remedy }
}

fn unfinished(open: usize) -> String {
    if open == 1 { "1 task is unfinished".to_owned() } else { format!("{open} tasks are unfinished") }
}

fn active_tasks(session: &CcwSession) -> Health {
    let tasks = &session.tasks.tasks;
    let plain = super::tasks::plain;
    let is_there = |name: &&String| {
        tasks.iter().any(|task| !task.is_only_listed && plain(task.id.as_str()) == plain(name))
    };
    let missing: Vec<&String> = session
        .state
        .current_tasks
        .iter()
        .filter(|name| !is_there(name) && session.tasks.unread == 0)
        .collect();
    if !missing.is_empty() {
        let names: Vec<String> = missing.iter().map(|name| super::fields::cut(name)).collect();
        let found = match names.as_slice() {
            [one] => format!("current task {one} does not exist"),
            _ => format!("current tasks {} do not exist", names.join(", ")),
        };
        let remedy = Some(Hint::new("see the tasks: ").run_here(words!["item", "list"]));
        return Health { check: "active tasks", is_well: false, found, phase: None, remedy };
    }
    let active: Vec<&str> =
        tasks.iter().filter(|task| is_active(task)).map(|task| task.id.as_str()).collect();
    let found = if active.is_empty() { "none is active".to_owned() } else { active.join(", ") };
    Health { check: "active tasks", is_well: true, found, phase: None, remedy: None }
}

/// A failed check if the list of completed phases contradicts the current phase. The list contradicts it in
/// two ways: a phase on the list is not over, or an earlier phase is neither on the list nor proven by other
/// files. An empty list contradicts nothing.
fn contradiction(session: &CcwSession) -> Option<Health> {
    // A completed last phase is both on the list and still the current phase.
    let last = PhaseWord::STEPS.last().filter(|last| last.0 == session.phase);
    let current = PhaseWord::STEPS.get(session.position()).or(last)?;
    let listed = |word: PhaseWord| session.state.completed.contains(&word);
    let is_listed_early =
        |(word, _): &&(PhaseWord, &str)| listed(*word) && word.position() >= session.position();
    let early = PhaseWord::STEPS.iter().find(is_listed_early);
    let is_left_out = |(word, _): &&(PhaseWord, &str)| {
        !session.state.completed.is_empty() && !listed(*word) && !history::is_shown(session, *word)
    };
    let left_out = PhaseWord::STEPS.iter().take(session.position()).find(is_left_out);
    let (concerned, found) = match (left_out, early) {
        (Some(missing), _) => (
            missing.1,
            format!(
                "{} is missing from the list, but the current phase is {}",
                missing.0.word(),
                current.0.word()
            ),
        ),
        (None, Some(early)) => (
            current.1,
            format!("the list includes {}, but the current phase is {}", early.0.word(), current.0.word()),
        ),
        (None, None) => return None,
    };
    let remedy = Some(Hint::new("restart that phase: ").run_here(words!["rollback", concerned]));
    Some(Health { check: COMPLETED_PHASES, is_well: false, found, phase: Some(concerned), remedy })
}

fn is_active(task: &Task) -> bool {
    task.status == TaskStatus::Active
}
