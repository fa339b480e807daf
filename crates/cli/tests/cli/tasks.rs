//! Task lists of other tools become items; `start --from` does it in one step.

use crate::{fresh, git};
use serde_json::{Value, json};
use testkit::Sandbox;

const SPEC_KIT: &str = "# Tasks: Photo albums\n\n- [x] T001 Create the structure\n- [ ] T002 [P] Configure linting (depends on T001)\n- [ ] T003 Album model\n\n- T002 blocks T003\n";

fn items(sandbox: &Sandbox) -> Vec<(String, String, Value, String)> {
    let listed = sandbox.run(["item", "list", "--all", "--json"]).ok().json();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let line = |item: &Value| {
        let status =
            item["status"].as_str().unwrap_or_else(|| item["status"]["state"].as_str().unwrap_or("?"));
        (text(&item["id"]), status.to_owned(), item["depends_on"].clone(), text(&item["title"]))
    };
    listed["items"].as_array().unwrap().iter().map(line).collect()
}

#[test]
fn start_from_a_list_makes_items_and_again_is_no_second_session() {
    let sandbox = fresh();
    sandbox.write("specs/001-photo-albums/tasks.md", SPEC_KIT);
    let started = sandbox.run(["start", "--from", "specs/001-photo-albums", "--json"]).ok().json();
    assert_eq!(started["title"], "Photo albums");
    let ids: Vec<String> = items(&sandbox).into_iter().map(|item| item.0).collect();
    assert_eq!(ids, ["T001", "T002", "T003"]);
    let listed = sandbox.run(["item", "list", "--all"]).ok().stdout;
    assert!(listed.contains("claimed done in specs/001-photo-albums/tasks.md, not verified"), "{listed}");
    assert!(listed.contains("waits for T002"), "{listed}");

    sandbox.run(["item", "claim", "T002"]).ok();
    sandbox.run(["item", "done", "T002"]).ok();
    sandbox.write(
        "specs/001-photo-albums/tasks.md",
        &SPEC_KIT
            .replace("Album model", "Album and photo models")
            .replace("- T002", "- [x] T004 Docs\n- T002"),
    );
    let again = sandbox.run(["start", "--from", "specs/001-photo-albums/tasks.md", "--json"]).ok().json();
    assert_eq!(again["session_id"], started["session_id"]);
    let found = items(&sandbox);
    let titles: Vec<&str> = found.iter().map(|item| item.3.as_str()).collect();
    assert_eq!(
        titles,
        ["Create the structure", "Configure linting (depends on T001)", "Album and photo models", "Docs"]
    );
    let unchanged = sandbox.run(["import", "specs/001-photo-albums", "--json"]).ok().json();
    assert_eq!(unchanged["already"], true, "{unchanged}");
    assert_eq!(sandbox.run(["list", "--json"]).ok().json()["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(sandbox.run(["doctor", "--json"]).ok().json()["findings"], json!([]));
    // The whole import is one command.
    sandbox.run(["undo"]).ok();
    assert_eq!(items(&sandbox).len(), 3);
}

#[test]
fn nested_boxes_and_task_master_are_items_with_parts_and_needs() {
    let sandbox = git();
    sandbox.run(["start"]).ok();
    sandbox.write(
        ".kiro/specs/login/tasks.md",
        "# Implementation Plan\n\n- [ ] 1. Models\n  - [x] 1.1 Interfaces\n  - [ ] 1.2 Validation\n",
    );
    sandbox.run(["import", ".kiro/specs/login"]).ok();
    let ids: Vec<String> = items(&sandbox).into_iter().map(|item| item.0).collect();
    assert_eq!(ids, ["task-1", "task-1.1", "task-1.2"]);
    let sandbox = git();
    sandbox.run(["start"]).ok();
    sandbox.write(
        ".taskmaster/tasks/tasks.json",
        r#"{"master":{"tasks":[{"id":1,"title":"Setup","status":"done","dependencies":[]},{"id":2,"title":"API","status":"pending","dependencies":[1]}]}}"#,
    );
    sandbox.run(["import", "."]).ok();
    let found = items(&sandbox);
    assert_eq!((found[1].0.as_str(), &found[1].2), ("task-2", &json!(["task-1"])));
}

#[test]
fn what_is_no_list_is_refused_and_without_a_session_the_way_is_told() {
    let sandbox = git();
    sandbox.write("tasks.md", SPEC_KIT);
    let refused = sandbox.run(["import", "tasks.md", "--json"]).code(2).error();
    assert!(refused["hint"].as_str().unwrap().contains("leftoff start --from tasks.md"), "{refused}");
    sandbox.write("NOTES.md", "# Notes\n");
    sandbox.run(["start", "--from", "NOTES.md"]).code(2);
    sandbox.run(["start", "--from", "nothing-here"]).code(2);
    assert_eq!(
        sandbox.run(["status", "--json"]).ok().json()["session_id"],
        Value::Null,
        "nothing was started"
    );
}
