//! `import` and `export`: a session of another tool's files, fully into leftoff and back out.

use crate::fresh;
use serde_json::{Value, json};
use testkit::Sandbox;

const OLD: &str = ".praxis-os/.cache/state/old.json";
const REVIEW: &str = ".ocr/sessions/2026-11-14-login";

fn project() -> Sandbox {
    let sandbox = fresh();
    sandbox.at("2026-11-14T11:00:00Z");
    let old = json!({
        "session_id": "old", "workflow_type": "ship_v1", "target_file": "docs/import.md", "current_phase": 1,
        "completed_phases": [0],
        "phase_artifacts": {"0": {"phase_number": 0, "evidence": {"read": 3}, "outputs": {},
            "commands_executed": [], "timestamp": "2026-11-14T09:30:00.500000"}},
        "checkpoints": {"0": "passed"}, "created_at": "2026-11-14T09:00:00",
        "updated_at": "2026-11-14T09:30:00.500000", "metadata": {"total_phases": 3}, "extra": {"kept": true},
    });
    sandbox.write(OLD, &serde_json::to_string_pretty(&old).unwrap());
    sandbox.write(
        &format!("{REVIEW}/state.json"),
        r#"{"session_id":"2026-11-14-login","workflow_type":"review","status":"active","current_phase":"reviews","phase_number":4,"current_round":1,"started_at":"2026-11-14T09:00:00Z","updated_at":"2026-11-14T10:00:00Z"}"#,
    );
    sandbox
}

fn json_at(sandbox: &Sandbox, path: &str) -> Value {
    serde_json::from_str(&sandbox.read(path)).unwrap()
}

#[test]
fn a_foreign_session_becomes_a_native_one_and_its_files_are_left_alone() {
    let sandbox = project();
    let (old, review) = (sandbox.read(OLD), sandbox.read(&format!("{REVIEW}/state.json")));
    let imported = sandbox.run(["import", OLD, "--json"]).ok().json();
    assert_eq!((&imported["session_id"], &imported["layout"]), (&json!("old"), &json!("native")));
    assert_eq!(
        (&imported["lifecycle"]["state"], &imported["current_phase"]["number"]),
        (&json!("paused"), &json!(1))
    );
    let by_id = sandbox.run(["import", "2026-11-14-login", "--json"]).ok().json();
    assert_eq!((&by_id["layout"], &by_id["current_phase"]["id"]), (&json!("native"), &json!("reviews")));
    let list = sandbox.run(["list", "--json"]).ok().json();
    assert_eq!(list["sessions"].as_array().unwrap().len(), 2, "not once more as the tool's own: {list}");
    sandbox.run(["resume", "old"]).ok();
    sandbox.run(["advance", "--phase", "1", "--evidence", "n=1"]).ok();
    sandbox.run(["resume", "2026-11-14-login"]).ok();
    assert_eq!((sandbox.read(OLD), sandbox.read(&format!("{REVIEW}/state.json"))), (old, review));
    assert!(!sandbox.path(&format!("{OLD}.bak")).exists());
    let log = sandbox.run(["log", "--session", "old"]).ok().stdout;
    assert!(log.contains("imported from praxis") && log.contains("phase 0 completed"), "{log}");
    let again = sandbox.run(["import", OLD, "--json"]).ok().json();
    assert_eq!((&again["already"], &again["session_id"]), (&json!(true), &json!("old")));
}

#[test]
fn a_session_of_another_project_is_imported_by_its_path() {
    let elsewhere = project();
    let sandbox = fresh();
    let path = elsewhere.path(OLD).display().to_string();
    let imported = sandbox.run(["import", &path, "--json"]).ok().json();
    assert_eq!((&imported["session_id"], &imported["layout"]), (&json!("old"), &json!("native")));
    assert_eq!(imported["phases"][0]["attempts"][0]["evidence"]["read"], 3);
    let review = elsewhere.path(REVIEW).display().to_string();
    sandbox.run(["import", &review]).ok();
    assert_eq!(sandbox.run(["list", "--json"]).ok().json()["sessions"].as_array().unwrap().len(), 2);
    assert!(!sandbox.path(".praxis-os").exists() && !sandbox.path(".ocr").exists());
}

#[test]
fn what_is_no_session_is_not_imported() {
    let sandbox = project();
    sandbox.run(["import", "nothing-there"]).code(3);
    sandbox.run(["import", "README.md"]).code(3);
    let other = sandbox.run(["import", OLD, "--layout", "ocr"]).code(2);
    assert!(other.stderr.contains("cannot become one of ocr"), "{}", other.stderr);
    assert_eq!(sandbox.run(["list", "--layout", "native", "--json"]).ok().json()["sessions"], json!([]));
}

#[test]
fn only_import_brings_an_old_praxis_file_into_the_newest_shape() {
    let sandbox = project();
    let before = sandbox.read(OLD);
    sandbox.run(["note", "a command", "--session", "old"]).ok();
    assert!(json_at(&sandbox, OLD).get("lifecycle").is_none(), "no migration by itself");
    assert_eq!(json_at(&sandbox, OLD)["created_at"], "2026-11-14T09:00:00");
    let imported = sandbox.run(["import", "old", "--layout", "praxis", "--json"]).ok().json();
    assert_eq!((&imported["layout"], &imported["lifecycle"]["state"]), (&json!("praxis"), &json!("active")));
    let found = json_at(&sandbox, OLD);
    assert_eq!(found["created_at"], "2026-11-14T09:00:00Z");
    assert_eq!(
        (&found["workflow_structure"]["total_phases"], &found["lifecycle"]["completed"]),
        (&json!(3), &json!(false))
    );
    assert_eq!(found["extra"], json!({"kept": true}), "what nobody here knows is kept");
    assert_eq!(found["phase_artifacts"]["0"]["evidence"], json!({"read": 3}));
    let backup = json_at(&sandbox, &format!("{OLD}.bak"));
    assert_eq!(backup["created_at"], serde_json::from_str::<Value>(&before).unwrap()["created_at"]);
    let seen = sandbox.run(["show", "old", "--json"]).ok().json();
    assert!(!seen["warnings"].to_string().contains("legacy"), "{}", seen["warnings"]);
    sandbox.run(["advance", "--phase", "1", "--session", "old"]).ok();
    assert_eq!(json_at(&sandbox, OLD)["updated_at"], "2026-11-14T11:00:00Z");
}

#[test]
fn any_session_is_exported_as_plain_json() {
    let sandbox = project();
    sandbox.run(["start", "--id", "ours", "--goal", "a goal"]).ok();
    sandbox.run(["note", "remember"]).ok();
    let export = sandbox.run(["export", "--session", "ours"]).ok().json();
    assert_eq!((&export["leftoff_export"], &export["session"]["goal"]), (&json!(1), &json!("a goal")));
    let kinds: Vec<&str> =
        export["events"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert!(
        kinds.starts_with(&["session_started", "run_started"]) && kinds.contains(&"note_added"),
        "{kinds:?}"
    );
    assert_eq!(export["workflows"][0]["name"], "plan-implement-review");
    let foreign = sandbox.run(["export", "--session", "old"]).ok().json();
    assert_eq!(foreign["session"]["layout"], "praxis");
    assert_eq!(sandbox.run(["export", "out", "--session", "ours"]).ok().stdout.trim(), "out/ours.json");
    assert_eq!(json_at(&sandbox, "out/ours.json")["session"]["session_id"], "ours");
    let again = sandbox.run(["export", "out", "--session", "ours", "--json"]).code(4);
    assert_eq!(again.error()["kind"], "already_there");
}

#[test]
fn a_session_goes_in_and_comes_out_into_its_own_layout() {
    let sandbox = project();
    let untouched = sandbox.run(["export", "--layout", "praxis", "out", "--session", "old"]).ok();
    assert_eq!(untouched.stdout.trim(), format!("out/{OLD}"));
    assert!(!sandbox.path(".git/leftoff").exists(), "a foreign session is exported without being taken in");
    sandbox.run(["import", OLD]).ok();
    sandbox.run(["resume", "old"]).ok();
    sandbox.run(["advance", "--phase", "1", "--evidence", "n=1"]).ok();
    sandbox.run(["advance", "--phase", "2"]).ok();
    sandbox.run(["export", "--layout", "praxis", "back", "--session", "old"]).ok();
    let found = json_at(&sandbox, &format!("back/{OLD}"));
    assert_eq!(found["completed_phases"], json!([0, 1, 2]));
    assert_eq!(found["phase_artifacts"]["0"]["evidence"], json!({"read": 3}));
    assert_eq!(
        (&found["phase_artifacts"]["1"]["evidence"], &found["lifecycle"]["completed"]),
        (&json!({"n": 1}), &json!(true))
    );
    // What came out is a session of that tool again.
    let other = fresh();
    let text = sandbox.read(&format!("back/{OLD}"));
    other.write(OLD, &text);
    let shown = other.run(["show", "old", "--json"]).ok().json();
    assert_eq!((&shown["layout"], &shown["lifecycle"]["state"]), (&json!("praxis"), &json!("completed")));
    let review = sandbox.run(["export", "--layout", "ocr", "back", "--session", "2026-11-14-login"]).ok();
    assert_eq!(review.stdout.trim(), format!("back/{REVIEW}/state.json"));
    assert_eq!(json_at(&sandbox, &format!("back/{REVIEW}/state.json"))["current_phase"], "reviews");
}

#[test]
fn what_a_layout_cannot_show_is_refused_and_where_to_must_be_said() {
    let sandbox = project();
    sandbox.run(["start", "--id", "ours"]).ok();
    let refused = sandbox.run(["export", "--layout", "ocr", "out", "--session", "ours"]).code(2);
    assert!(
        refused.stderr.contains("has no way to show a session that follows 'plan-implement-review'"),
        "{}",
        refused.stderr
    );
    sandbox.run(["export", "--layout", "nowhere", "out"]).code(2);
    sandbox.run(["export", "--layout", "praxis"]).code(2);
    assert!(!sandbox.path("out").exists());
    // A native session has phases, and so it can be shown by a file of praxis OS.
    sandbox.run(["export", "--layout", "praxis", "out", "--session", "ours"]).ok();
    assert_eq!(json_at(&sandbox, "out/.praxis-os/.cache/state/ours.json")["current_phase"], 1);
}
