//! Tests of damaged task files in `.task/`. Known tasks are restored, and unknown ones stay as they are.

use super::*;

const TASKS: &str = ".workflow/WFS-one/.task";

fn path(id: &str) -> String {
    format!("{TASKS}/{id}.json")
}

fn asides(sandbox: &Sandbox) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(sandbox.path(".leftoff/aside/WFS-one")) else { return Vec::new() };
    let mut found: Vec<String> =
        entries.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap()).collect();
    found.sort();
    found
}

/// Three tasks that leftoff created. One of them is split into parts, and another depends on it.
fn ours() -> Sandbox {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ccw", "--type", "simple", "--goal", "One"]).ok();
    sandbox.run(["item", "add", "First"]).ok();
    sandbox.run(["item", "add", "Second", "--needs", "impl-1"]).ok();
    sandbox.run(["item", "split", "impl-1", "--into", "Half", "--into", "Other half"]).ok();
    sandbox
}

/// Tasks that the tool planned and a command adopted.
fn adopted() -> Sandbox {
    let sandbox = project();
    write_session(&sandbox, "WFS-one", "IMPLEMENT", "active", "2026-11-13T10:00:00Z");
    let task = |id: &str, status: &str, parent: &str, parts: &str, needs: &str| {
        let text = format!(
            "{{\"id\":\"{id}\",\"title\":\"T {id}\",\"status\":\"{status}\",\"type\":\"bugfix\",\"theirs\":1.50,\
             \"relations\":{{\"parent\":{parent},\"subtasks\":[{parts}],\"dependencies\":[{needs}]}}}}"
        );
        sandbox.write(&path(id), &text);
    };
    task("impl-1", "container", "null", "\"impl-1.1\",\"impl-1.2\"", "");
    task("impl-1.1", "pending", "\"impl-1\"", "", "");
    task("impl-1.2", "pending", "\"impl-1\"", "", "");
    task("impl-2", "pending", "null", "", "\"impl-1\"");
    sandbox.run(["note", "taken in"]).ok();
    sandbox
}

#[test]
fn a_damaged_task_is_written_again_with_its_relations_and_the_damaged_one_is_set_aside() {
    for (sandbox, whose) in [(ours(), "ours"), (adopted(), "taken in")] {
        for (id, damage) in [
            ("impl-1", "{\"id\":\"impl-1\",\"title\":\"Fi"),
            ("impl-1.2", ""),
            ("impl-2", "[1,2]"),
            ("impl-1.1", "\u{fffd}\u{0}"),
        ] {
            let good = sandbox.read(&path(id));
            sandbox.write(&path(id), damage);
            let list = sandbox.run(["item", "list", "--json"]).ok().json().to_string();
            for known in ["impl-1", "impl-1.1", "impl-1.2", "impl-2"] {
                assert!(list.contains(&format!("\"{known}\"")), "{whose}, {id}: the log knows {known}");
            }
            let told = sandbox.run(["doctor"]).code(4).stdout;
            assert!(told.contains(&format!("{id}.json is damaged")), "{told}");
            assert_eq!(sandbox.read(&path(id)), damage, "doctor touches nothing");
            sandbox.run(["repair"]).ok();
            assert_eq!(sandbox.read(&path(id)), good, "{whose}, {id}: byte for byte");
            assert!(asides(&sandbox).contains(&damage.to_owned()), "{whose}, {id}: {:?}", asides(&sandbox));
            sandbox.run(["doctor"]).ok();
        }
        // Dependencies and parts are intact.
        sandbox.run(["item", "start", "impl-2"]).code(4);
        for part in ["impl-1.1", "impl-1.2"] {
            sandbox.run(["item", "done", part]).ok();
        }
        assert_eq!(task(&sandbox, "WFS-one", "impl-1")["status"], "completed");
        sandbox.run(["item", "done", "impl-2"]).ok();
    }
}

#[test]
fn a_command_on_a_damaged_task_goes_on_from_the_log() {
    let sandbox = ours();
    let cut = &sandbox.read(&path("impl-1.1"))[..40];
    sandbox.write(&path("impl-1.1"), cut);
    sandbox.run(["item", "done", "impl-1.1"]).ok();
    let json = task(&sandbox, "WFS-one", "impl-1.1");
    assert_eq!((&json["status"], &json["relations"]["parent"]), (&json!("completed"), &json!("impl-1")));
    assert_eq!(asides(&sandbox), [cut]);
    sandbox.run(["doctor"]).ok();
}

#[test]
fn a_task_whose_file_is_gone_is_written_again() {
    let sandbox = ours();
    let good = sandbox.read(&path("impl-2"));
    std::fs::remove_file(sandbox.path(&path("impl-2"))).unwrap();
    sandbox.run(["doctor"]).code(4);
    let said = sandbox.run(["repair"]).ok().stdout;
    assert!(said.contains("impl-2.json was missing; it was rewritten from the log"), "{said}");
    assert_eq!(sandbox.read(&path("impl-2")), good);
}

/// The content of the task's file was never known. The file is reported and hides no other task. It stays as
/// it is, even when the session is adopted.
#[test]
fn a_task_that_nobody_ever_read_is_left_alone() {
    let sandbox = project();
    write_session(&sandbox, "WFS-one", "IMPLEMENT", "active", "2026-11-13T10:00:00Z");
    sandbox.write(&path("impl-1"), r#"{"id":"impl-1","title":"T","status":"pending"}"#);
    let torn = r#"{"id":"impl-2","title":"#;
    sandbox.write(&path("impl-2"), torn);
    let list = sandbox.run(["item", "list", "--json"]).ok();
    assert!(list.stdout.contains("impl-1") && !list.stdout.contains("impl-2"), "{}", list.stdout);
    for words in [&["note", "taken in"][..], &["repair"], &["note", "again"], &["repair"]] {
        sandbox.run(words.iter().copied()).ok();
        assert_eq!(sandbox.read(&path("impl-2")), torn, "{words:?}");
    }
    assert!(sandbox.run(["repair"]).ok().stderr.contains("nothing to repair"));
    let told = sandbox.run(["doctor"]).code(4).stdout;
    assert!(told.contains("impl-2.json: it is not JSON") && told.contains("fix the file by hand"), "{told}");
    assert_eq!(asides(&sandbox), [""; 0]);
    // The author repairs the file.
    sandbox.write(&path("impl-2"), r#"{"id":"impl-2","title":"Whole","status":"pending"}"#);
    assert!(sandbox.run(["item", "list"]).ok().stdout.contains("impl-2 Whole"));
    sandbox.run(["note", "seen"]).ok();
    sandbox.run(["doctor"]).ok();
}

/// If the file is unreadable, and somebody left a backup of it, the backup is used.
#[test]
fn a_task_that_nobody_ever_read_is_mended_from_the_version_before() {
    for taken_in in [false, true] {
        let sandbox = project();
        write_session(&sandbox, "WFS-one", "IMPLEMENT", "active", "2026-11-13T10:00:00Z");
        if taken_in {
            sandbox.run(["note", "taken in"]).ok();
        }
        sandbox.write(&path("impl-2"), "{\"id\":\"impl-2\",");
        let before = r#"{"id":"impl-2","title":"From before","status":"pending","theirs":1.50}"#;
        sandbox.write(&format!("{}.bak", path("impl-2")), before);
        assert!(sandbox.run(["item", "list"]).ok().stdout.contains("impl-2 From before"), "{taken_in}");
        sandbox.run(["repair"]).ok();
        assert_eq!(sandbox.read(&path("impl-2")), before, "{taken_in}");
        assert_eq!(asides(&sandbox), ["{\"id\":\"impl-2\","], "{taken_in}");
        sandbox.run(["doctor"]).ok();
    }
}

/// The next command does not write data again that a file already contains.
#[test]
fn attempts_and_transitions_are_written_once() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ccw", "--goal", "One"]).ok();
    std::fs::write(sandbox.path(".workflow/WFS-one/IMPL_PLAN.md"), "# Plan\n\nTwo steps.\n").unwrap();
    sandbox.run(["advance", "--phase", "plan"]).ok();
    sandbox.run(["item", "add", "First"]).ok();
    for second in ["01", "02"] {
        sandbox.at(&format!("2026-11-14T11:00:{second}Z"));
        sandbox.run(["item", "start", "impl-1"]).ok();
        sandbox.run(["item", "block", "impl-1", "--reason", "x"]).ok();
        sandbox.run(["item", "unblock", "impl-1"]).ok();
    }
    sandbox.run(["rollback", "plan"]).ok();
    let transitions =
        |sandbox: &Sandbox| state(sandbox, "WFS-one")["state_transitions"].as_array().unwrap().len();
    let attempts = |sandbox: &Sandbox| task(sandbox, "WFS-one", "impl-1")["execution"]["attempts"].clone();
    let before = (attempts(&sandbox), transitions(&sandbox));
    assert_eq!(before, (json!(2), 1));
    for text in ["a", "b", "c"] {
        sandbox.run(["note", text]).ok();
        sandbox.run(["item", "add", text]).ok();
    }
    assert_eq!((attempts(&sandbox), transitions(&sandbox)), before);
}

fn write_task(sandbox: &Sandbox, id: &str, status: &str, relations: &str) {
    let text = format!(
        "{{\"id\":\"{id}\",\"title\":\"T {id}\",\"status\":\"{status}\",\"type\":\"bugfix\",\"relations\":{{{relations}}}}}"
    );
    sandbox.write(&path(id), &text);
}

/// According to its file, the container has work of its own.
#[test]
fn a_blocked_parent_stays_blocked_after_its_parts_and_is_finished_on_its_own() {
    let sandbox = project();
    write_session(&sandbox, "WFS-one", "IMPLEMENT", "active", "2026-11-13T10:00:00Z");
    write_task(&sandbox, "impl-1", "blocked", r#""subtasks":["impl-1.1"]"#);
    write_task(&sandbox, "impl-1.1", "pending", r#""parent":"impl-1""#);
    sandbox.run(["item", "done", "impl-1.1"]).ok();
    assert_eq!(task(&sandbox, "WFS-one", "impl-1")["status"], "blocked");
    let refused = sandbox.run(["item", "done", "impl-1"]).code(4).stderr;
    assert!(
        refused.contains("it is blocked") && refused.contains("leftoff item unblock impl-1"),
        "{refused}"
    );
    sandbox.run(["item", "unblock", "impl-1"]).ok();
    assert_eq!(task(&sandbox, "WFS-one", "impl-1")["status"], "pending");
    sandbox.run(["item", "start", "impl-1"]).ok();
    assert_eq!(task(&sandbox, "WFS-one", "impl-1")["status"], "active");
    sandbox.run(["item", "done", "impl-1"]).ok();
    assert_eq!(task(&sandbox, "WFS-one", "impl-1")["status"], "completed");
    sandbox.run(["doctor"]).ok();
}

/// The files can represent only one run. The gate checks the tasks of the current run.
#[test]
fn tasks_that_are_made_by_hand_in_a_second_run_belong_to_it() {
    let sandbox = project();
    write_session(&sandbox, "WFS-one", "REVIEW", "active", "2026-11-13T10:00:00Z");
    write_task(&sandbox, "impl-1", "completed", "");
    sandbox.write(".workflow/WFS-one/IMPL_PLAN.md", "# Plan\n\nTwo steps, one after the other.\n");
    sandbox.write(".workflow/WFS-one/REVIEW.md", "# Review\n\nNothing was found.\n");
    sandbox.run(["advance"]).ok();
    let again = sandbox.run(["run", "start", "--json"]).ok().json();
    assert_eq!(again["run"]["ordinal"], 2);
    sandbox.run(["advance", "--phase", "plan"]).ok();
    write_task(&sandbox, "impl-2", "pending", "");
    let list = sandbox.run(["item", "list"]).ok().stdout;
    assert!(list.contains("impl-2") && !list.contains("impl-1"), "{list}");
    let refused = sandbox.run(["advance", "--phase", "implement"]).code(5);
    assert!(refused.stderr.contains("0 of 1") || refused.stdout.contains("0 of 1"), "{}", refused.stderr);
    sandbox.run(["item", "done", "impl-2"]).ok();
    sandbox.run(["advance", "--phase", "implement"]).ok();
}

fn with_current(sandbox: &Sandbox, session: &str, names: &[&str]) {
    let mut json = state(sandbox, session);
    json["progress"]["current_tasks"] = json!(names);
    sandbox.write(&state_of(session), &json.to_string());
}

/// In an example of the original tool, current tasks have no task files.
#[test]
fn c1_current_tasks_without_files_are_open_work_until_they_are_done_or_off_the_list() {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "IMPLEMENT", "active", "2026-11-14T09:00:00Z");
    with_current(&sandbox, "WFS-a", &["impl-1", "impl-2"]);
    let brief = sandbox.run(["brief"]).ok().stdout;
    assert!(brief.contains("impl-1") && brief.contains("impl-2"), "{brief}");
    let refused = sandbox.run(["advance"]).code(5).stderr;
    assert!(refused.contains("impl-1") && refused.contains("impl-2"), "{refused}");
    sandbox.run(["note", "still at it"]).ok();
    assert!(!sandbox.path(".workflow/WFS-a/.task").exists(), "the list alone tells of them");
    assert_eq!(state(&sandbox, "WFS-a")["progress"]["current_tasks"], json!(["impl-1", "impl-2"]));
    sandbox.run(["item", "done", "impl-1"]).ok();
    assert_eq!(task(&sandbox, "WFS-a", "impl-1")["status"], "completed");
    assert_eq!(state(&sandbox, "WFS-a")["progress"]["current_tasks"], json!(["impl-2"]));
    sandbox.run(["advance"]).code(5);
    with_current(&sandbox, "WFS-a", &[]);
    sandbox.run(["advance"]).ok();
    assert_eq!(state(&sandbox, "WFS-a")["current_phase"], "REVIEW");
}

#[test]
fn c1_a_claimed_task_is_a_current_one_and_so_is_one_that_another_tool_began() {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "IMPLEMENT", "active", "2026-11-14T09:00:00Z");
    for id in ["impl-1", "impl-2"] {
        let task = json!({ "id": id, "title": id, "status": "pending" });
        sandbox.write(&format!(".workflow/WFS-a/.task/{id}.json"), &task.to_string());
    }
    let current = |sandbox: &Sandbox| state(sandbox, "WFS-a")["progress"]["current_tasks"].clone();
    sandbox.run(["item", "claim", "impl-1"]).ok();
    assert_eq!(current(&sandbox), json!(["impl-1"]));
    assert_eq!(task(&sandbox, "WFS-a", "impl-1")["status"], "active");
    sandbox.run(["item", "release", "impl-1"]).ok();
    assert_eq!(current(&sandbox), json!([]));
    assert_eq!(task(&sandbox, "WFS-a", "impl-1")["status"], "pending");
    sandbox.run(["item", "claim", "impl-1"]).ok();
    sandbox.run(["item", "start", "impl-1"]).ok();
    assert_eq!(task(&sandbox, "WFS-a", "impl-1")["execution"]["attempts"], 1, "a claim is no attempt");
    let theirs = json!({ "id": "impl-2", "title": "impl-2", "status": "active" });
    sandbox.write(".workflow/WFS-a/.task/impl-2.json", &theirs.to_string());
    sandbox.run(["note", "something else"]).ok();
    assert_eq!(current(&sandbox), json!(["impl-1", "impl-2"]));
}
