//! Tests of praxis OS sessions: the whole program reads and writes their files, in every format.

mod audited;
mod definitions;
mod edited;
mod going_on;
mod left_failed;
mod life;
mod outside;
mod quiet;
mod resumption;
mod rows;
mod story;
mod there_and_back;
mod times;
mod version_two;

use crate::fresh;
use serde_json::{Value, json};
use testkit::Sandbox;

const OLD: &str = ".praxis-os/.cache/state/3f2504e0-4f89-41d3-9a0c-0305e82c3301.json";
const ID: &str = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
const METADATA: &str = ".praxis-os/workflows/ship_v1/metadata.json";
const GATE: &str = ".praxis-os/workflows/ship_v1/phases/1/gate-definition.yaml";

/// A file in the first format: phase 1 of three, with a total and with times without a zone.
fn old_file() -> Value {
    json!({
        "session_id": ID,
        "workflow_type": "ship_v1",
        "target_file": "docs/import.md",
        "current_phase": 1,
        "completed_phases": [0],
        "phase_artifacts": {"0": {"phase_number": 0, "evidence": {"read": 3}, "outputs": {},
            "commands_executed": [], "timestamp": "2026-11-14T09:30:00.500000"}},
        "checkpoints": {"0": "passed"},
        "created_at": "2026-11-14T09:00:00",
        "updated_at": "2026-11-14T09:30:00.500000",
        "metadata": {"total_phases": 3, "theirs": {"kept": [1.50]}},
    })
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap()
}

/// A project with a session in the first format, at eleven o'clock.
fn with_old() -> Sandbox {
    let sandbox = fresh();
    sandbox.at("2026-11-14T11:00:00Z");
    sandbox.write(OLD, &pretty(&old_file()));
    sandbox
}

/// Defines a workflow of three phases. The second has a strict gate.
fn define(sandbox: &Sandbox) {
    sandbox.write(
        METADATA,
        r#"{"workflow_type": "ship_v1", "version": "1.0.0", "total_phases": 3, "phases": [
            {"phase_number": 0, "phase_name": "Plan", "purpose": "Agree.",
             "tasks": [{"task_number": 1, "name": "Read the issue", "file": "task-1.md"}]},
            {"phase_number": 1, "phase_name": "Build"},
            {"phase_number": 2, "phase_name": "Release"}]}"#,
    );
    sandbox.write(
        GATE,
        "checkpoint: {strict: true}\nevidence_schema:\n  tests: {type: integer, required: true, validator: positive}\n  failed: {type: integer}\nvalidators:\n  positive: \"lambda x: x > 0\"\ncross_field_validation:\n  - rule: \"lambda e: e.get('failed', 0) == 0\"\n    error_message: fix what fails\n",
    );
}

/// A project with the workflow, and with a session `s` that started at eleven o'clock.
pub(crate) fn started() -> Sandbox {
    let sandbox = fresh();
    define(&sandbox);
    sandbox.at("2026-11-14T11:00:00Z");
    sandbox.run(["start", "ship_v1", "--layout", "praxis", "--id", "s", "--target", "docs/import.md"]).ok();
    sandbox
}

pub(crate) const NEW: &str = ".praxis-os/.cache/state/s.json";

fn file(sandbox: &Sandbox, path: &str) -> Value {
    serde_json::from_str(&sandbox.read(path)).unwrap()
}

pub(crate) fn edit(sandbox: &Sandbox, path: &str, change: impl FnOnce(&mut Value)) {
    let mut value = file(sandbox, path);
    change(&mut value);
    sandbox.write(path, &pretty(&value));
}

fn view(sandbox: &Sandbox) -> Value {
    sandbox.run(["status", "--json"]).ok().json()
}
