//! Tests of a task whose id has two spellings, `impl-1` and `IMPL-001`. It is one task, and can still be
//! used.

use super::*;

/// A session in its implementation phase, with one task that leftoff created.
fn at_work() -> Sandbox {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ccw", "--goal", "One"]).ok();
    sandbox.write(".workflow/WFS-one/IMPL_PLAN.md", "# Plan\n\nreal\n");
    sandbox.run(["advance", "--phase", "plan"]).ok();
    sandbox.run(["item", "add", "First"]).ok();
    sandbox
}

fn write_task(sandbox: &Sandbox, name: &str, fields: &str) {
    let json = format!("{{\"id\":\"{name}\",\"title\":\"First\",{fields}}}");
    sandbox.write(&format!(".workflow/WFS-one/.task/{name}.json"), &json);
}

fn items(sandbox: &Sandbox) -> Vec<(String, String)> {
    let list = sandbox.run(["item", "list", "--all", "--json"]).ok().json();
    let text = |item: &Value, key: &str| item[key].as_str().unwrap().to_owned();
    list["items"].as_array().unwrap().iter().map(|item| (text(item, "id"), text(item, "status"))).collect()
}

fn one(id: &str, status: &str) -> Vec<(String, String)> {
    vec![(id.to_owned(), status.to_owned())]
}

#[test]
fn a_second_file_of_a_task_is_an_edit_of_it_and_the_phase_goes_on() {
    let sandbox = at_work();
    write_task(&sandbox, "IMPL-001", "\"status\":\"completed\"");
    assert_eq!(items(&sandbox), one("impl-1", "completed"));
    let told = sandbox.run(["status"]).ok();
    assert!(
        told.stderr.contains("is also in WFS-one/.task/IMPL-001.json; that file is used"),
        "{}",
        told.stderr
    );
    let view = sandbox.run(["advance", "--phase", "implement", "--json"]).ok().json();
    assert_eq!(view["current_phase"]["id"], "review");
    // Only the second file is read and written from now on.
    assert_eq!(task(&sandbox, "WFS-one", "impl-1")["status"], "pending");
    assert_eq!(items(&sandbox), one("impl-1", "completed"));
}

#[test]
fn a_task_whose_file_was_written_anew_under_another_spelling_is_that_task() {
    let sandbox = at_work();
    std::fs::remove_file(sandbox.path(".workflow/WFS-one/.task/impl-1.json")).unwrap();
    write_task(&sandbox, "IMPL-001", "\"status\":\"active\"");
    assert_eq!(items(&sandbox), one("impl-1", "active"));
    sandbox.run(["item", "done", "impl-1"]).ok();
    assert_eq!(task(&sandbox, "WFS-one", "IMPL-001")["status"], "completed");
    assert_eq!(items(&sandbox), one("impl-1", "completed"));
}

/// Of two files of a task, the one that changed later is used, whatever it contains.
#[test]
fn of_two_files_that_tell_when_they_were_changed_the_later_counts() {
    let sandbox = at_work();
    write_task(
        &sandbox,
        "IMPL-001",
        "\"status\":\"completed\",\"meta\":{\"updated\":\"2020-01-01T00:00:00Z\"}",
    );
    assert_eq!(items(&sandbox), one("impl-1", "pending"));
    sandbox.run(["item", "start", "IMPL-001"]).ok();
    assert_eq!(task(&sandbox, "WFS-one", "impl-1")["status"], "active");
    assert_eq!(task(&sandbox, "WFS-one", "IMPL-001")["status"], "completed", "it is left as it is");
}

/// Dependencies and parts refer to the existing task in any spelling. Their own spelling stays.
#[test]
fn what_depends_on_a_task_in_another_spelling_waits_for_it() {
    let sandbox = at_work();
    write_task(&sandbox, "IMPL-001", "\"status\":\"active\"");
    write_task(&sandbox, "IMPL-002", "\"status\":\"pending\",\"depends_on\":[\"IMPL-001\"]");
    let list = sandbox.run(["item", "list", "--all", "--json"]).ok().json();
    let second = list["items"].as_array().unwrap().iter().find(|item| item["id"] == "IMPL-002").unwrap();
    assert_eq!(second["depends_on"], json!(["impl-1"]), "{second}");
    sandbox.run(["item", "done", "impl-1"]).ok();
    assert_eq!(task(&sandbox, "WFS-one", "IMPL-002")["depends_on"], json!(["IMPL-001"]));
    sandbox.run(["item", "start", "impl-2"]).ok();
}
