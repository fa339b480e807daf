//! The rules by which the dashboard of Claude-Code-Workflow's later CLI finds and shows sessions: folders,
//! names and keys. The rules are taken from that tool, and not from leftoff's reader of the format.

use serde_json::Value;
use std::fs;
use std::path::Path;

type Check = fn(&Value) -> bool;

/// The folders below a project in which the dashboard looks for sessions.
const PLACES: [&str; 2] = [".workflow/active", ".workflow/archives"];

/// The keys of `workflow-session.json` that the dashboard shows. All of them are at the top level.
const SESSION: &[(&str, Check)] = &[
    ("session_id", is_text),
    ("project", is_text),
    ("description", is_text),
    ("status", is_session_status),
    ("created_at", is_time),
    ("updated_at", is_time),
];

/// The keys of a task's file that the dashboard shows.
const TASK: &[(&str, Check)] = &[("id", is_task_id), ("title", is_text), ("status", is_task_status)];

/// A session as the dashboard shows it.
#[derive(Debug, PartialEq, Eq)]
pub struct Shown {
    pub id: String,
    pub description: String,
    /// The ids of the session's tasks, in order.
    pub tasks: Vec<String>,
    /// The rules that the session's files break. The dashboard shows an empty cell for each, or does not show
    /// the task.
    pub broken: Vec<String>,
}

/// All sessions that the dashboard finds. If it finds none, it shows "No sessions found".
pub fn shown(project: &Path) -> Vec<Shown> {
    let mut found = Vec::new();
    for place in PLACES {
        for name in names(&project.join(place)).into_iter().filter(|name| name.starts_with("WFS-")) {
            let folder = project.join(place).join(&name);
            found.extend(session(&folder, name));
        }
    }
    found
}

fn session(folder: &Path, name: String) -> Option<Shown> {
    let file: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("workflow-session.json")).ok()?).ok()?;
    let mut broken = broken_rules("", &file, SESSION);
    if file["session_id"] != name.as_str() {
        broken.push(format!("session_id is {}, and the folder {name}", file["session_id"]));
    }
    let mut tasks = Vec::new();
    for name in names(&folder.join(".task")) {
        let Some(stem) = name.strip_suffix(".json") else { continue };
        if !is_task_name(stem) {
            broken.push(format!("{name} is no IMPL-*.json"));
            continue;
        }
        let text = fs::read_to_string(folder.join(".task").join(&name)).unwrap_or_default();
        let task: Value = serde_json::from_str(&text).unwrap_or_default();
        broken.extend(broken_rules(&format!("{name}: "), &task, TASK));
        tasks.push(task["id"].as_str().unwrap_or_default().to_owned());
    }
    let description = file["description"].as_str().unwrap_or_default().to_owned();
    Some(Shown { id: name, description, tasks, broken })
}

fn broken_rules(name: &str, file: &Value, rules: &[(&str, Check)]) -> Vec<String> {
    let is_broken = |(key, check): &&(&str, Check)| !check(&file[*key]);
    rules.iter().filter(is_broken).map(|(key, _)| format!("{name}{key} is {}", file[*key])).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn is_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

fn is_session_status(value: &Value) -> bool {
    const WORDS: [&str; 6] = ["planning", "active", "implementing", "reviewing", "completed", "paused"];
    value.as_str().is_some_and(|word| WORDS.contains(&word))
}

fn is_task_status(value: &Value) -> bool {
    const WORDS: [&str; 6] = ["pending", "in_progress", "completed", "blocked", "cancelled", "container"];
    value.as_str().is_some_and(|word| WORDS.contains(&word))
}

fn is_task_id(value: &Value) -> bool {
    value.as_str().is_some_and(is_task_name)
}

/// True for `IMPL-` followed by numbers with dots between them.
fn is_task_name(name: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    name.strip_prefix("IMPL-").is_some_and(|numbers| numbers.split('.').all(is_number))
}

fn is_time(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.len() >= 20 && text.as_bytes()[10] == b'T' && text.ends_with('Z'))
}
