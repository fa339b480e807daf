//! Whether a session can be gone on with: its files, and the one check that each phase asks for. Changes nothing.

use super::documents::{self, PLAN};
use super::place::Ground;
use super::tasks::{Task, TaskStatus};
use super::words::PhaseWord;
use super::{CcwSession, HOME, STATE};
use crate::layout::{Health, some_of};

pub(super) fn of(session: &CcwSession) -> Vec<Health> {
    let mut checks = vec![state(session)];
    if session.ground == Ground::Home {
        checks.push(registry(session));
    }
    checks.push(files_of_tasks(session));
    checks.push(files(session));
    checks.push(phase(session));
    checks
}

fn state(session: &CcwSession) -> Health {
    let is_well = session.state.is_readable;
    let found =
        if is_well { format!("{STATE} can be read") } else { format!("{STATE} is missing or broken") };
    Health { check: "session file", is_well, found, remedy: None }
}

fn registry(session: &CcwSession) -> Health {
    let lines = session.line.as_ref().map_or(0, |line| line.count);
    let found = match lines {
        0 => "it has no line in the registry".to_owned(),
        1 => "it is registered".to_owned(),
        several => format!("it has {several} lines in the registry"),
    };
    Health { check: "registry", is_well: lines == 1, found, remedy: None }
}

fn files_of_tasks(session: &CcwSession) -> Health {
    let broken = session.tasks.broken.len();
    let count = session.tasks.count();
    let found = if broken == 0 {
        format!("{count} can be read")
    } else {
        format!("{broken} of {} cannot be read", count + broken)
    };
    Health { check: "task files", is_well: broken == 0, found, remedy: None }
}

fn files(session: &CcwSession) -> Health {
    let there = session.documents.iter().filter(|document| document.says_something);
    let names: Vec<&str> = there.map(|document| document.path).collect();
    let found = if names.is_empty() { "none yet".to_owned() } else { names.join(", ") };
    Health { check: "documents", is_well: true, found, remedy: None }
}

/// What going on in each phase needs: a plan's document, tasks to work on, an implementation to review.
fn phase(session: &CcwSession) -> Health {
    match session.phase {
        PhaseWord::Init | PhaseWord::Brainstorm | PhaseWord::Plan => plan(session),
        PhaseWord::Implement | PhaseWord::Vibe => active_tasks(session),
        PhaseWord::Review | PhaseWord::Complete => implementation(session),
    }
}

fn plan(session: &CcwSession) -> Health {
    let is_there = session.documents.iter().any(|document| document.path == PLAN && document.files > 0);
    let found = match (is_there, documents::has(&session.documents, PLAN)) {
        (_, true) => format!("{PLAN} is there"),
        (true, false) => format!("{PLAN} says nothing yet"),
        (false, false) => format!("{PLAN} is missing"),
    };
    let remedy =
        (!is_there).then(|| format!("begin the phase again by writing {HOME}/{}/{PLAN}", session.folder));
    Health { check: "plan document", is_well: is_there, found, remedy }
}

fn implementation(session: &CcwSession) -> Health {
    let open = session.tasks.tasks.iter().filter(|task| !task.is_over()).count();
    let found = if open == 0 { "it is complete".to_owned() } else { format!("{open} tasks are unfinished") };
    let remedy = (open > 0).then(|| "go back to them: leftoff rollback implement".to_owned());
    Health { check: "implementation", is_well: open == 0, found, remedy }
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
            [one] => format!("current task {one} is not there"),
            _ => format!("current tasks {} are not there", some_of(&names)),
        };
        let remedy = Some("see which there are: leftoff item list".to_owned());
        return Health { check: "active tasks", is_well: false, found, remedy };
    }
    let active: Vec<&str> =
        tasks.iter().filter(|task| is_active(task)).map(|task| task.id.as_str()).collect();
    let found = if active.is_empty() { "none is active".to_owned() } else { active.join(", ") };
    Health { check: "active tasks", is_well: true, found, remedy: None }
}

fn is_active(task: &Task) -> bool {
    task.status == TaskStatus::Active
}
