//! Other tools' folders and files that this user may not read: each is named, hides no other session, and is
//! the same afterwards.

use crate::nobody::{Nobody, set_mode};
use serde_json::{Value, json};
use std::path::PathBuf;
use testkit::Sandbox;

/// Files that only root can read, until this value is dropped.
struct Locked(Vec<(PathBuf, u32)>);

impl Locked {
    fn new(sandbox: &Sandbox, paths: &[&str]) -> Self {
        let paths: Vec<(PathBuf, u32)> = paths
            .iter()
            .map(|path| sandbox.path(path))
            .map(|path| (path.clone(), if path.is_dir() { 0o755 } else { 0o644 }))
            .collect();
        for (path, _) in &paths {
            set_mode(path, 0o000);
        }
        Self(paths)
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Permissions of parent folders are restored first.
        for (path, mode) in self.0.iter().rev() {
            set_mode(path, *mode);
        }
    }
}

fn warnings(answer: &Value) -> String {
    let all = answer["warnings"].as_array().unwrap();
    all.iter().map(|warning| format!("{}\n", warning["message"].as_str().unwrap())).collect()
}

fn ids(answer: &Value) -> String {
    answer["sessions"].to_string()
}

/// A folder that cannot be read may exist: it is not called missing, and no command fails because of it.
#[test]
fn a_review_whose_folder_or_place_may_not_be_read_is_worked_on_in_the_log_and_written_later() {
    const ID: &str = "2026-11-14-main";
    for shut in [".ocr/sessions", ".ocr/sessions/2026-11-14-main"] {
        let sandbox = crate::fresh();
        sandbox.run(["start", "--layout", "ocr", "--id", ID]).ok();
        sandbox.allow_anyone(&["skip"]);
        let nobody = Nobody::in_sandbox(&sandbox);
        let locked = Locked::new(&sandbox, &[shut]);
        let status = nobody.run(&["status", "--session", ID, "--json"]).ok().json();
        let said = warnings(&status);
        assert!(said.contains("state.json cannot be inspected") && !said.contains("missing"), "{said}");
        let skipped = nobody.run(&["skip", "--reason", "x", "--session", ID, "--json"]).ok().json();
        assert_eq!(skipped["view_stale"], true, "{skipped}");
        drop(locked);
        nobody.run(&["note", "heard", "--session", ID]).ok();
        let state = sandbox.read(&format!(".ocr/sessions/{ID}/state.json"));
        assert!(state.contains("\"change-context\""), "{shut}: {state}");
    }
}

#[test]
fn a_ccw_session_or_task_or_registry_that_may_not_be_read_is_named_and_hides_no_other() {
    let sandbox = crate::fresh();
    let write = |id: &str, status: &str| {
        let state =
            json!({ "session_id": id, "project": id, "current_phase": "IMPLEMENT", "status": status });
        sandbox.write(&format!(".workflow/{id}/workflow-session.json"), &state.to_string());
        sandbox.write(
            &format!(".workflow/{id}/.task/impl-1.json"),
            r#"{"id":"impl-1","title":"T","status":"pending"}"#,
        );
    };
    write("WFS-well", "active");
    write("WFS-shut", "paused");
    write("WFS-task", "paused");
    sandbox.write(".workflow/session_status.jsonl", "{\"id\":\"WFS-well\",\"status\":\"active\"}\n");
    let nobody = Nobody::in_sandbox(&sandbox);
    let shut =
        [".workflow/WFS-shut", ".workflow/WFS-task/.task/impl-1.json", ".workflow/session_status.jsonl"];
    let locked = Locked::new(&sandbox, &shut);
    let list = nobody.run(&["list", "--json"]).ok().json();
    let said = warnings(&list);
    for (path, why) in [
        (
            ".workflow/WFS-shut/workflow-session.json: it cannot be read, because its folder cannot be read",
            "Permission denied",
        ),
        (".workflow/session_status.jsonl", "Permission denied"),
    ] {
        let is_told = said.lines().any(|line| line.contains(path) && line.contains(why));
        assert!(is_told, "{path}: {why} is not in\n{said}");
    }
    assert!(ids(&list).contains("WFS-well") && ids(&list).contains("WFS-task"), "{list:#}");
    let shown = nobody.run(&["show", "WFS-task", "--json"]).ok().json();
    assert!(warnings(&shown).contains(".task/impl-1.json: Permission denied"), "{}", warnings(&shown));
    let status = nobody.run(&["status", "--json"]).ok().json();
    assert_eq!(status["session_id"], "WFS-well");
    nobody.run(&["item", "start", "impl-1", "--session", "WFS-well"]).ok();
    nobody.run(&["repair"]);
    drop(locked);
    assert!(sandbox.read(".workflow/WFS-well/.task/impl-1.json").contains("\"active\""));
    assert_eq!(
        sandbox.read(".workflow/WFS-task/.task/impl-1.json"),
        r#"{"id":"impl-1","title":"T","status":"pending"}"#
    );
    let state: Value =
        serde_json::from_str(&sandbox.read(".workflow/WFS-shut/workflow-session.json")).unwrap();
    assert_eq!(state["project"], "WFS-shut", "nothing was written over");
}

#[test]
fn a_praxis_session_or_folder_or_definition_that_may_not_be_read_is_named_and_hides_no_other() {
    const PLACE: &str = ".praxis-os/.cache/state";
    let sandbox = crate::fresh();
    sandbox.at("2026-11-14T10:00:00Z");
    let text = |id: &str| {
        json!({ "session_id": id, "workflow_type": "ship_v1", "target_file": "x.md", "current_phase": 1,
            "completed_phases": [0], "phase_artifacts": {}, "checkpoints": {"0": "passed"},
            "created_at": "2026-11-14T09:00:00", "updated_at": "2026-11-14T09:30:00", "metadata": {"total_phases": 3} })
        .to_string()
    };
    let second = ".praxis-os/state/workflow/completed";
    sandbox.write(&format!("{PLACE}/well.json"), &text("well"));
    sandbox.write(&format!("{PLACE}/shut.json"), &text("shut"));
    sandbox.write(&format!("{second}/workflow_default_1.json"), &text("workflow_default_1"));
    sandbox.write(".praxis-os/workflows/ship_v1/metadata.json", r#"{"phases": [{"phase_number": 0}]}"#);
    let nobody = Nobody::in_sandbox(&sandbox);
    let shut = format!("{PLACE}/shut.json");
    let locked = Locked::new(&sandbox, &[&shut, second, ".praxis-os/workflows/ship_v1"]);
    let list = nobody.run(&["list", "--json"]).ok().json();
    let said = warnings(&list);
    for path in [shut.as_str(), second] {
        let is_told = said.lines().any(|line| line.contains(path) && line.contains("Permission denied"));
        assert!(is_told, "{path} is not in\n{said}");
    }
    assert!(ids(&list).contains("\"well\""), "{list:#}");
    nobody.run(&["pause", "--session", "well"]).ok();
    let refused = nobody.run(&["start", "ship_v1", "--layout", "praxis"]);
    assert!(![0, 101].contains(&refused.code), "{refused:?}");
    assert!(refused.stderr.contains("ship_v1"), "{}", refused.stderr);
    nobody.run(&["repair"]);
    drop(locked);
    assert_eq!(
        (sandbox.read(&shut), sandbox.read(&format!("{second}/workflow_default_1.json"))),
        (text("shut"), text("workflow_default_1"))
    );
    let well: Value = serde_json::from_str(&sandbox.read(&format!("{PLACE}/well.json"))).unwrap();
    assert_eq!(well["lifecycle"]["paused"], true);
}

#[test]
fn an_essay_s_folder_or_state_that_may_not_be_read_is_named_and_hides_no_other() {
    const WELL: &str = "essay-pipeline-20261114-100000";
    const SHUT: &str = "essay-pipeline-20261113-100000";
    const STATE: &str = "essay-pipeline-20261112-100000";
    let text =
        "status: paused\nstarted_at: \"2026-11-14T10:00:00Z\"\ncurrent_stage: 1\npushback_level: full\n";
    let sandbox = crate::fresh();
    for folder in [WELL, SHUT, STATE] {
        sandbox.write(&format!("{folder}/session-state.yaml"), text);
    }
    let nobody = Nobody::in_sandbox(&sandbox);
    let state = format!("{STATE}/session-state.yaml");
    let locked = Locked::new(&sandbox, &[SHUT, &state]);
    let list = nobody.run(&["list", "--json"]).ok().json();
    let said = warnings(&list);
    let shut = format!("{SHUT}/session-state.yaml: it cannot be read, because its folder cannot be read");
    for path in [shut.as_str(), state.as_str()] {
        let is_told = said.lines().any(|line| line.contains(path) && line.contains("Permission denied"));
        assert!(is_told, "{path} is not in\n{said}");
    }
    assert!(ids(&list).contains(WELL), "{list:#}");
    nobody.run(&["set", "pushback_level=light", "--session", WELL]).ok();
    nobody.run(&["repair"]);
    drop(locked);
    assert!(sandbox.read(&format!("{WELL}/session-state.yaml")).contains("pushback_level: light"));
    for folder in [SHUT, STATE] {
        assert_eq!(sandbox.read(&format!("{folder}/session-state.yaml")), text, "{folder}");
    }
}
