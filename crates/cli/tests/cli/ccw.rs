//! Tests of Claude-Code-Workflow's files with the whole program, while somebody edits the files as the tool's
//! prompts would.

mod archiving;
mod audited;
mod carrying;
mod commands;
mod edits;
mod exporting;
mod later;
mod lines;
mod markers;
mod rows;
mod rules;
mod several;
mod spellings;
mod story;
mod switching;
mod sync;
mod tasks;
mod worktrees;

use crate::fresh as git;
use serde_json::{Value, json};
use testkit::Sandbox;

const REGISTRY: &str = ".workflow/session_status.jsonl";

fn state_of(session: &str) -> String {
    format!(".workflow/{session}/workflow-session.json")
}

fn state(sandbox: &Sandbox, session: &str) -> Value {
    serde_json::from_str(&sandbox.read(&state_of(session))).expect("JSON")
}

fn task(sandbox: &Sandbox, session: &str, id: &str) -> Value {
    serde_json::from_str(&sandbox.read(&format!(".workflow/{session}/.task/{id}.json"))).expect("JSON")
}

/// The id and status of each session in the registry.
fn registered(sandbox: &Sandbox) -> Vec<(String, String)> {
    let text = sandbox.read(REGISTRY);
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines
        .map(|line| (line["id"].as_str().unwrap().to_owned(), line["status"].as_str().unwrap().to_owned()))
        .collect()
}

/// A session as the tool writes it.
fn write_session(sandbox: &Sandbox, id: &str, phase: &str, status: &str, updated: &str) {
    let json = json!({
        "session_id": id, "project": format!("About {id}"), "type": "medium", "current_phase": phase,
        "status": status, "progress": { "completed_phases": [], "current_tasks": [], "last_checkpoint": updated },
        "meta": { "created": "2026-11-01T10:00:00Z", "updated": updated }, "stats": { "kept": 1.50 },
    });
    sandbox.write(&state_of(id), &json.to_string());
    let line = json!({ "id": id, "status": status, "description": id, "created": "2026-11-01T10:00:00Z",
        "directory": format!(".workflow/{id}") });
    let known = if sandbox.path(REGISTRY).exists() { sandbox.read(REGISTRY) } else { String::new() };
    sandbox.write(REGISTRY, &format!("{known}{line}\n"));
}

fn project() -> Sandbox {
    let sandbox = git();
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox
}
