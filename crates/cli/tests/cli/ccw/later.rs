//! Tests with the dashboard of the later CLI: its rules for finding and showing sessions are applied to
//! leftoff's files.

use super::*;
use testkit::ccw_dashboard::{Shown, shown};

fn one(sandbox: &Sandbox, folder: &str) -> Shown {
    let mut found = shown(&sandbox.path(folder));
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

fn expect(id: &str, description: &str, tasks: &[&str]) -> Shown {
    let tasks = tasks.iter().map(|task| (*task).to_owned()).collect();
    Shown { id: id.to_owned(), description: description.to_owned(), tasks, broken: Vec::new() }
}

/// A project of the later CLI that has no session yet.
fn later() -> Sandbox {
    let sandbox = project();
    std::fs::create_dir_all(sandbox.path(".workflow/active")).unwrap();
    sandbox
}

#[test]
fn c7_a_session_in_a_later_project_is_shown_by_its_dashboard_with_all_of_its_tasks() {
    let sandbox = later();
    sandbox.run(["start", "--goal", "Add CSV export"]).ok();
    assert_eq!(one(&sandbox, "."), expect("WFS-add-csv-export", "Add CSV export", &[]));
    sandbox.write(".workflow/active/WFS-add-csv-export/IMPL_PLAN.md", "1. Do it\n");
    sandbox.run(["advance", "--phase", "plan"]).ok();
    sandbox.run(["item", "add", "Parse"]).ok();
    sandbox.run(["item", "add", "Write", "--needs", "impl-1"]).ok();
    sandbox.run(["item", "split", "impl-2", "--into", "Header", "Rows"]).ok();
    sandbox.run(["item", "start", "impl-1"]).ok();
    let tasks = ["IMPL-001", "IMPL-002.1", "IMPL-002.2", "IMPL-002"];
    assert_eq!(one(&sandbox, ".").broken, [""; 0]);
    let mut found = one(&sandbox, ".").tasks;
    found.sort();
    let mut expected = tasks.map(ToOwned::to_owned);
    expected.sort();
    assert_eq!(found, expected);
    let folder = ".workflow/active/WFS-add-csv-export";
    let file: Value =
        serde_json::from_str(&sandbox.read(&format!("{folder}/workflow-session.json"))).unwrap();
    assert_eq!(file["progress"]["current_tasks"], json!(["IMPL-001"]), "{file}");
    assert_eq!(file["meta"], Value::Null, "times are at the top level: {file}");
    let task: Value = serde_json::from_str(&sandbox.read(&format!("{folder}/.task/IMPL-002.json"))).unwrap();
    assert_eq!(task["relations"]["subtasks"], json!(["IMPL-002.1", "IMPL-002.2"]), "{task}");
    assert_eq!(task["relations"]["dependencies"], json!(["IMPL-001"]), "{task}");
    // The session continues to its end. Either spelling of an id can be used.
    sandbox.run(["item", "done", "IMPL-001"]).ok();
    sandbox.run(["item", "done", "impl-2.1"]).ok();
    sandbox.run(["item", "done", "impl-2.2"]).ok();
    sandbox.run(["doctor"]).ok();
    sandbox.run(["advance", "--phase", "implement"]).ok();
    assert_eq!(one(&sandbox, ".").broken, [""; 0]);
    assert!(!sandbox.path(REGISTRY).exists(), "later releases have none");
}

/// A native session with a plan, and with its own names for items.
fn native() -> Sandbox {
    let sandbox = project();
    sandbox.run(["start", "--id", "csv", "--goal", "Add CSV export", "--title", "CSV"]).ok();
    sandbox.write(".leftoff/sessions/csv/PLAN.md", "# Plan\n\n1. Parse\n2. Write\n");
    for line in [
        &["item", "add", "Parse", "--phase", "implement"][..],
        &["item", "add", "Write", "--phase", "implement"],
        &["item", "split", "task-2", "--into", "Header", "Rows"],
    ] {
        sandbox.run(line).ok();
    }
    sandbox
}

#[test]
fn c7_a_native_session_is_exported_for_the_later_dashboard_into_an_empty_folder() {
    let sandbox = native();
    sandbox.run(["export", "--layout", "ccw", "out"]).ok();
    let mut found = one(&sandbox, "out");
    found.tasks.sort();
    assert_eq!(
        found,
        expect("WFS-csv", "Add CSV export", &["IMPL-001", "IMPL-002", "IMPL-002.1", "IMPL-002.2"])
    );
    let plan = sandbox.read("out/.workflow/active/WFS-csv/IMPL_PLAN.md");
    assert_eq!(
        plan,
        sandbox.read(".leftoff/sessions/csv/PLAN.md"),
        "the plan under the name that its tool reads"
    );
    assert!(!sandbox.path(&format!("out/{REGISTRY}")).exists());
    // The exported session continues in a project of the tool.
    let list = sandbox.run(["list", "--project", "out", "--json"]).ok().json();
    let is_it = |line: &Value| line["session_id"] == "WFS-csv" && line["current"] == true;
    assert!(list["sessions"].as_array().unwrap().iter().any(is_it), "{list}");
    assert_eq!(list["warnings"], json!([]));
}

#[test]
fn c7_where_the_seeds_registry_is_an_export_goes_there_with_the_same_names() {
    let sandbox = native();
    sandbox.write(&format!("out/{REGISTRY}"), "");
    sandbox.run(["export", "--layout", "ccw", "out"]).ok();
    assert_eq!(
        sandbox.names("out/.workflow/WFS-csv/.task"),
        ["IMPL-001.json", "IMPL-002.1.json", "IMPL-002.2.json", "IMPL-002.json"]
    );
    assert!(sandbox.read(&format!("out/{REGISTRY}")).contains("\"WFS-csv\""));
}

#[test]
fn c7_start_in_an_empty_project_stays_the_seeds_registry() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ccw", "--goal", "One"]).ok();
    assert_eq!(registered(&sandbox), [("WFS-one".to_owned(), "active".to_owned())]);
    assert!(sandbox.path(&state_of("WFS-one")).exists());
    assert_eq!(state(&sandbox, "WFS-one")["created_at"], Value::Null, "the seed's form");
    sandbox.run(["item", "add", "First", "--phase", "implement"]).ok();
    assert_eq!(sandbox.names(".workflow/WFS-one/.task"), ["impl-1.json"]);
}
