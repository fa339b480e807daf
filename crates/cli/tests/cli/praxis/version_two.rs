//! Tests of files of version 2 after commands of leftoff. The tool must be able to load each of them.

use super::*;
use testkit::praxis_v2::broken_rules;

const ACTIVE: &str = ".praxis-os/state/workflow/active";
const TOOLS_ID: &str = "workflow_default_9b2d6f1e-5a0c-4c7e-8f3d-1e2a3b4c5d6e";

/// A file in phase 1 of three, as the tool left it.
fn tools_file() -> Value {
    json!({
        "session_id": TOOLS_ID,
        "workflow_type": "ship_v1",
        "target_file": "docs/import.md",
        "current_phase": 1,
        "completed_phases": [0],
        "phase_artifacts": {},
        "checkpoints": {"0": "passed"},
        "evidence_submitted": {"0": {"read": 3}},
        "phase_timings": {
            "0": {"phase": 0, "started_at": "2026-11-14T09:00:00", "completed_at": "2026-11-14T09:30:00",
                "duration_seconds": 1800.0},
            "1": {"phase": 1, "started_at": "2026-11-14T09:30:00", "completed_at": null,
                "duration_seconds": null}},
        "created_at": "2026-11-14T09:00:00",
        "updated_at": "2026-11-14T10:30:00",
        "completed_at": null,
        "metadata": {},
        "status": "active",
    })
}

fn beside_version_2() -> Sandbox {
    let sandbox = fresh();
    define(&sandbox);
    sandbox.at("2026-11-14T11:00:00Z");
    sandbox.write(&format!("{ACTIVE}/{TOOLS_ID}.json"), &pretty(&tools_file()));
    sandbox
}

/// Checks that the tool would load every session file of version 2, in any folder.
#[track_caller]
fn all_load(sandbox: &Sandbox, after: &str) {
    let mut files = 0;
    for status in ["active", "completed", "error"] {
        let folder = format!(".praxis-os/state/workflow/{status}");
        let names = if sandbox.path(&folder).exists() { sandbox.names(&folder) } else { Vec::new() };
        for name in names
            .iter()
            .filter(|name| std::path::Path::new(name).extension().is_some_and(|end| end == "json"))
        {
            let text = sandbox.read(&format!("{folder}/{name}"));
            assert_eq!(broken_rules(&text), [""; 0], "{name} after {after}:\n{text}");
            files += 1;
        }
    }
    assert_eq!(files, 2, "after {after}");
}

#[test]
fn p1_its_own_tool_loads_every_file_after_every_command() {
    let sandbox = beside_version_2();
    sandbox.run(["start", "ship_v1", "--layout", "praxis", "--id", "ours", "--parallel"]).ok();
    assert!(sandbox.path(&format!("{ACTIVE}/ours.json")).exists(), "beside version 2's files");
    all_load(&sandbox, "start");
    sandbox.run(["advance", "--phase", "0", "--session", "ours"]).ok();
    for id in [TOOLS_ID, "ours"] {
        for line in [
            "note remember",
            "advance --phase 1 --evidence tests=0",
            "pause --reason lunch --context half",
            "resume",
            "fail --error broken",
            "retry",
            "rollback 0",
            "skip --reason known",
            "set k=1",
            "advance --phase 1 --evidence tests=3",
            "abandon --yes",
        ] {
            let mut words: Vec<&str> = line.split(' ').collect();
            if words[0] == "resume" {
                words.push(id);
            } else {
                words.extend(["--session", id]);
            }
            let ran = sandbox.run(&words);
            assert!([0, 5].contains(&ran.code), "{line}: {}", ran.stderr);
            all_load(&sandbox, &format!("{line} of {id}"));
        }
    }
    let shown = sandbox.run(["show", "ours", "--json"]).ok().json();
    assert_eq!(shown["lifecycle"]["state"], "abandoned");
    sandbox.run(["doctor"]).ok();
}

#[test]
fn p1_a_session_of_ours_beside_version_2_is_finished_and_its_tool_goes_on_with_another() {
    let sandbox = beside_version_2();
    sandbox.run(["start", "ship_v1", "--layout", "praxis", "--id", "ours", "--parallel"]).ok();
    for line in ["advance --phase 0", "advance --phase 1 --evidence tests=3", "advance --phase 2"] {
        sandbox.run(line.split(' ').chain(["--session", "ours"])).ok();
        all_load(&sandbox, line);
    }
    let shown = sandbox.run(["show", "ours", "--json"]).ok().json();
    assert_eq!(shown["lifecycle"]["state"], "completed");
    assert!(!sandbox.run(["show", "ours"]).ok().stderr.contains("legacy"), "it has all that the newest has");
    // leftoff has paused the tool's own session. Meanwhile the tool completes a phase of it.
    sandbox.run(["pause", "--session", TOOLS_ID]).ok();
    sandbox.run(["resume", TOOLS_ID]).ok();
    edit(&sandbox, &format!("{ACTIVE}/{TOOLS_ID}.json"), |value| {
        value["completed_phases"] = json!([0, 1]);
        value["checkpoints"]["1"] = json!("passed");
        value["evidence_submitted"]["1"] = json!({"tests": 4});
        value["current_phase"] = json!(2);
    });
    let shown = sandbox.run(["show", TOOLS_ID, "--json"]).ok().json();
    assert_eq!(shown["current_phase"]["number"], 2, "{shown:#}");
}

/// Version 2 does not store the time of an attempt, only that of the file.
#[test]
fn a_failed_checkpoint_without_a_time_happened_when_its_file_was_written() {
    let sandbox = beside_version_2();
    let mut failed = tools_file();
    failed["checkpoints"]["1"] = json!("failed");
    failed["evidence_submitted"]["1"] = json!({ "tests": 0 });
    sandbox.write(&format!("{ACTIVE}/{TOOLS_ID}.json"), &pretty(&failed));
    let shown = sandbox.run(["show", TOOLS_ID, "--json"]).ok().json();
    let tried = &shown["phases"][1]["attempts"][0];
    assert_eq!(
        (&tried["outcome"], &tried["at"]),
        (&json!("failed"), &json!("2026-11-14T10:30:00Z")),
        "{tried}"
    );
}
