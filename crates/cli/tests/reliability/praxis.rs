//! Crashes while leftoff writes praxis OS files. praxis OS itself left every file unreadable when it was
//! killed.

use crate::views::{STEPS, read};
use serde_json::json;
use std::path::PathBuf;
use testkit::Sandbox;

const NAME: &str = "5d1b2c4e-0a7f-4c55-9e11-6b0f3f1c2a77";

/// A project with a session in the first format, with a phase to move back and forth.
fn project() -> Sandbox {
    let sandbox = crate::fresh();
    let file = json!({
        "session_id": NAME, "workflow_type": "ship_v1", "target_file": "docs/import.md", "current_phase": 0,
        "completed_phases": [], "phase_artifacts": {}, "checkpoints": {}, "created_at": "2026-11-14T09:00:00",
        "updated_at": "2026-11-14T09:00:00", "metadata": {"total_phases": 3, "theirs": "kept"},
    });
    sandbox.write(
        &format!(".praxis-os/.cache/state/{NAME}.json"),
        &serde_json::to_string_pretty(&file).unwrap(),
    );
    // The session may have been idle for days by this machine's clock.
    sandbox.run(["resume", NAME]).ok();
    sandbox.run(["advance", "--phase", "0", "--session", NAME]).ok();
    sandbox
}

fn state(sandbox: &Sandbox) -> PathBuf {
    sandbox.path(&format!(".praxis-os/.cache/state/{NAME}.json"))
}

#[test]
fn a_crash_at_each_step_is_mended_by_the_next_command() {
    for place in STEPS {
        let sandbox = project();
        let mut command =
            sandbox.command(["advance", "--phase", "1", "--session", NAME, "--evidence", "n=1"]);
        let crashed = command.env("LEFTOFF_TEST_CRASH", place).output().unwrap();
        assert!(crashed.status.code().is_none(), "{place} was not reached");
        assert_eq!(read(&state(&sandbox))["session_id"], NAME);
        let view = sandbox.run(["status", "--session", NAME, "--json"]).ok().json();
        assert_eq!(view["current_phase"]["number"], 2, "{place}");
        sandbox.run(["note", "next", "--session", NAME]).ok();
        let file = read(&state(&sandbox));
        assert_eq!(
            (&file["current_phase"], &file["phase_artifacts"]["1"]["evidence"]),
            (&json!(2), &json!({"n": 1}))
        );
        sandbox.run(["doctor"]).ok();
    }
}
