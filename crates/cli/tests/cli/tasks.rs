//! Tests of importing other tools' task lists as items. `start --from` starts a session and imports a list.

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
    // The import is one command, so one undo reverts it.
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

/// Each item as `id title`, in order. An `x` follows if it is done.
fn lines(sandbox: &Sandbox) -> Vec<String> {
    let line = |(id, status, _, title): (String, String, Value, String)| {
        format!("{id} {title}{}", if status == "completed" { " x" } else { "" })
    };
    items(sandbox).into_iter().map(line).collect()
}

#[test]
fn a_renumbered_reordered_or_reworded_list_keeps_the_state_of_each_task() {
    let sandbox = git();
    sandbox.run(["start"]).ok();
    sandbox.write("tasks.md", "- [ ] 1.1 Schema\n- [ ] 1.2 Endpoint\n- [ ] Write docs\n- [ ] Схема базы\n");
    sandbox.run(["import", "tasks.md"]).ok();
    sandbox.run(["item", "done", "task-1.2"]).ok();
    // A new task has the number that a finished task had. The other tasks are reworded or spelled
    // differently.
    sandbox.write(
        "tasks.md",
        "\u{feff}- [ ] 1.1 Schema\r\n- [ ] 1.2 Migration\r\n- [ ] 1.3 Endpoint\r\n- [ ] Схемы базы\r\n- [ ] Write the docs\r\n",
    );
    for said in ["5 tasks, 1 new", "5 tasks, unchanged"] {
        let answer = sandbox.run(["import", "tasks.md"]).ok();
        assert!(answer.stderr.contains(said), "{}", answer.stderr);
        assert_eq!(
            lines(&sandbox),
            [
                "task-1.1 Schema",
                "task-1.2 Endpoint x",
                "write-docs Write the docs",
                "task Схемы базы",
                "task-1.2-2 Migration"
            ]
        );
    }
    // Finished work with another title is other work. The item of a task that was removed from the list
    // stays.
    sandbox.write("tasks.md", "- [ ] 1.1 Tables\n- [ ] 1.3 Telemetry\n- [ ] Write the docs\n");
    let answer = sandbox.run(["import", "tasks.md"]).ok();
    assert!(answer.stderr.contains("no longer in the list, and kept: task, task-1.2-2"), "{}", answer.stderr);
    let found = lines(&sandbox);
    assert!(
        found.contains(&"task-1.1 Tables".to_owned()) && found.contains(&"task-1.2 Endpoint x".to_owned())
    );
    assert!(found.contains(&"task-1.3 Telemetry".to_owned()), "{found:?}");
}

#[test]
fn two_lists_with_the_same_numbers_and_items_added_by_hand_stay_apart() {
    let sandbox = git();
    sandbox.run(["start"]).ok();
    sandbox.run(["item", "add", "By hand", "--id", "T001"]).ok();
    sandbox.run(["item", "add", "Write docs"]).ok();
    sandbox.write(
        "specs/001-a/tasks.md",
        "- [ ] T001 One\n- [ ] T002 Two (depends on T001)\n- [ ] Write docs\n",
    );
    sandbox.write("specs/002-b/tasks.md", "- [x] T001 Other\n");
    for list in ["specs/001-a", "specs/002-b", "specs/001-a", "specs/002-b"] {
        sandbox.run(["import", list]).ok();
    }
    let expected =
        ["T001 By hand", "task-2 Write docs", "T001-2 One", "T002 Two (depends on T001)", "T001-3 Other x"];
    assert_eq!(lines(&sandbox), expected);
    assert_eq!(items(&sandbox)[3].2, json!(["T001-2"]));
}

#[test]
fn a_folder_of_lists_names_them() {
    let sandbox = git();
    sandbox.write(".kiro/specs/login/tasks.md", "- [ ] 1. One\n");
    sandbox.write(".kiro/specs/search/tasks.md", "- [ ] 1. One\n");
    let refused = sandbox.run(["start", "--from", ".kiro"]).code(2).stderr;
    assert_eq!(
        refused,
        "error: .kiro is not a task list\nhint: task lists below this folder: leftoff start --from .kiro/specs/login, .kiro/specs/search\n"
    );
    let refused = sandbox.run(["start", "--from", "nowhere"]).code(2).stderr;
    assert!(refused.starts_with("error: there is no file or folder nowhere\n"), "{refused}");
    let refused = sandbox.run(["import", "nowhere.md"]).code(3).stderr;
    assert!(refused.contains("there is no such file, folder or session"), "{refused}");
}
