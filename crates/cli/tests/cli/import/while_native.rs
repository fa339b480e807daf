//! Tests of work on imported sessions. Their documents are available. Results are exported to the original
//! layout, together with the original content.

use super::round_trips::{Case, ESSAY, OCR, ccw, essay, ocr, praxis, put, same, task};
use crate::fresh;
use serde_json::{Value, json};
use testkit::Sandbox;

/// Imports a session, works on it, and exports it to the project that is returned. The export must contain
/// everything that leftoff knows, except for keys of phases, attempts and items that the files cannot
/// represent.
#[track_caller]
fn worked_on(
    case: &Case,
    id: &str,
    cannot_be_said: (&[&str], &[&str]),
    work: impl FnOnce(&Sandbox),
) -> Sandbox {
    let (there, here, back) = (fresh(), fresh(), fresh());
    for sandbox in [&there, &here, &back] {
        sandbox.at("2026-11-14T11:00:00Z");
    }
    put(&there, case);
    here.run(["import", &there.path(&case.path).display().to_string()]).ok();
    here.at("2026-11-14T11:10:00Z").run(["resume", id]).ok();
    here.at("2026-11-14T11:20:00Z");
    work(&here);
    let folder = back.project().display().to_string();
    here.run(["export", "--layout", case.layout, &folder, "--session", id]).ok();
    back.at("2026-11-14T11:30:00Z");
    let read = |sandbox: &Sandbox| {
        let mut export = sandbox.run(["export", "--session", id]).ok().json();
        leave_out(&mut export["session"]["phases"], cannot_be_said.0);
        leave_out(&mut export["items"], cannot_be_said.1);
        // If each kind of note has its own list in the files, notes get other numbers, and the time of their
        // entry in the list.
        let notes = &mut export["session"]["notes"];
        leave_out(notes, &["actor", "id", "resolved_at", "added_at"]);
        notes.as_array_mut().unwrap().sort_by_key(|note| note["text"].to_string());
        export
    };
    let (native, theirs) = (read(&here), read(&back));
    same(&theirs, &native, &case.path);
    assert_eq!(theirs["session"]["lifecycle"]["state"], native["session"]["lifecycle"]["state"]);
    for (path, text) in &case.files {
        assert_eq!(there.read(path), *text, "what it came from is left alone");
    }
    back
}

fn leave_out(value: &mut Value, keys: &[&str]) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, _| !keys.contains(&key.as_str()));
            fields.values_mut().for_each(|value| leave_out(value, keys));
            fields.retain(|_, value| value.as_object().is_none_or(|fields| !fields.is_empty()));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| leave_out(value, keys)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn phases_attempts_and_fields_of_a_praxis_session_come_out() {
    let case = praxis(".praxis-os/.cache/state/s.json", &json!({}));
    // The files of this tool do not contain who made an attempt.
    let back = worked_on(&case, "s", (&["actor", "lenient"], &[]), |here| {
        here.run(["rollback", "1", "--reason", "the tests were wrong"]).ok();
        here.run(["advance", "--phase", "1", "--evidence", "tests=7"]).ok();
        here.run(["set", "agent_version=2"]).ok();
        here.run(["advance", "--phase", "2", "--evidence", "released=true", "--output", "tag=v1"]).ok();
    });
    let found: Value = serde_json::from_str(&back.read(&case.path)).unwrap();
    assert_eq!(found["lifecycle"]["completed"], true);
    assert_eq!(found["metadata"]["agent_version"], 2);
    assert_eq!(found["phase_artifacts"]["2"]["outputs"], json!({"tag": "v1"}));
    let tried = |at: usize| &found["metadata"]["attempts"]["1"][at]["evidence"]["tests"];
    assert_eq!((tried(0), tried(1)), (&json!(5), &json!(7)), "the attempt before is kept");
    assert_eq!(found["phase_artifacts"]["0"]["commands_executed"][0]["command"], "make");
}

#[test]
fn notes_and_fields_of_an_essay_come_out_with_its_documents() {
    // The files of this tool contain no times for sections and paragraphs.
    let times = ["created_at", "updated_at", "completed_at"];
    let back = worked_on(&essay(ESSAY), "essay-pipeline-20261114-100000", (&["actor"], &times), |here| {
        let copied = ".leftoff/sessions/essay-pipeline-20261114-100000/stage-1-thesis.md";
        here.write(copied, "## Section 1\n\nbetter\n");
        here.run(["note", "Ships were lost here", "--kind", "deferred"]).ok();
        here.run(["set", "audience=expert"]).ok();
    });
    let written = back.read("essay-pipeline-20261114-100000/session-state.yaml");
    for part in ["Ships were lost here", "audience: expert", "# since the revision", "# the end"] {
        assert!(written.contains(part), "{part} is not in\n{written}");
    }
    let thesis = back.read("essay-pipeline-20261114-100000/stage-1-thesis.md");
    assert_eq!(thesis, "## Section 1\n\nbetter\n", "as it was left");
}

fn in_its_reviews() -> Case {
    let state = json!({"workflow_type": "review", "status": "active", "current_phase": "reviews",
        "phase_number": 4, "current_round": 1, "round_started_at": "2026-11-14T09:30:00Z"});
    ocr(&state, &["discovered-standards.md", "context.md", "rounds/round-1/reviews/principal-1.md"])
}

#[test]
fn the_phases_of_a_review_come_out_and_its_gates_find_its_documents() {
    // The state contains one phase and no times. Facts that other files prove are found again.
    let not_said = ["attempts", "gate", "started_at", "completed_at"];
    let back = worked_on(&in_its_reviews(), "2026-11-14-login", (&not_said, &[]), |here| {
        here.run(["advance", "--phase", "reviews"]).ok();
    });
    let state: Value = serde_json::from_str(&back.read(&format!("{OCR}/state.json"))).unwrap();
    assert_eq!((&state["current_phase"], &state["phase_number"]), (&json!("aggregation"), &json!(5)));
    assert_eq!(state["branch"], "feat/login");
}

#[test]
fn tasks_that_were_begun_done_and_added_come_out() {
    let tasks = [task("impl-1", "pending", None, &[], &[]), task("impl-2", "pending", None, &[], &[])];
    let fields = json!({"current_phase": "IMPLEMENT", "status": "active",
        "progress": {"completed_phases": ["PLAN"], "current_tasks": []}});
    // The files contain no leases. They count an attempt whenever a task is started, and give a new task a
    // type.
    let not_said = ["lease", "counters", "fields"];
    worked_on(&ccw(".workflow/WFS-csv", &fields, &tasks), "WFS-csv", (&[], &not_said), |here| {
        here.run(["item", "start", "impl-1"]).ok();
        here.run(["item", "done", "impl-1"]).ok();
        here.run(["item", "add", "Docs", "--id", "impl-3"]).ok();
        here.run(["item", "start", "impl-2"]).ok();
    });
}

#[test]
fn the_documents_of_a_session_are_copied_once_and_the_state_of_its_tool_is_not() {
    let case = in_its_reviews();
    for from_elsewhere in [true, false] {
        let (there, here) = (fresh(), fresh());
        let project = if from_elsewhere { &there } else { &here };
        put(project, &case);
        let path = project.path(&case.path).display().to_string();
        let workspace = ".leftoff/sessions/2026-11-14-login";
        here.write(&format!("{workspace}/context.md"), "mine\n");
        let imported = here.run(["import", &path]).ok();
        let said = format!("2 documents were copied into {workspace}");
        assert!(imported.stderr.contains(&said), "{}", imported.stderr);
        assert!(imported.stderr.contains("context.md already exists"), "{}", imported.stderr);
        let name = "rounds/round-1/reviews/principal-1.md";
        assert_eq!(here.read(&format!("{workspace}/{name}")), project.read(&format!("{OCR}/{name}")));
        assert_eq!(here.read(&format!("{workspace}/context.md")), "mine\n", "nothing is written over");
        assert!(!here.path(&format!("{workspace}/state.json")).exists());
        std::fs::remove_file(here.path(&format!("{workspace}/{name}"))).unwrap();
        here.run(["import", &path]).ok();
        assert!(!here.path(&format!("{workspace}/{name}")).exists(), "again is not twice");
    }
}

#[test]
fn an_import_that_was_killed_has_all_documents_or_none() {
    for (point, counts) in [
        ("disk-staged", false),
        ("before-append", false),
        ("after-append", true),
        ("disk-after-step-0", true),
    ] {
        let sandbox = fresh();
        put(&sandbox, &in_its_reviews());
        let crashed = sandbox.command(["import", OCR]).env("LEFTOFF_TEST_CRASH", point).output().unwrap();
        assert_eq!(testkit::Ran::from(crashed).code, 134, "{point}");
        let id = "2026-11-14-login";
        let layout = sandbox.run(["show", id, "--json"]).ok().json()["layout"].clone();
        assert_eq!(layout, if counts { "native" } else { "ocr" }, "{point}");
        sandbox.run(["note", "go on", "--session", id]).ok();
        let found = ["discovered-standards.md", "context.md", "rounds/round-1/reviews/principal-1.md"]
            .map(|name| sandbox.path(&format!(".leftoff/sessions/{id}/{name}")).exists());
        assert_eq!(found, [counts; 3], "{point}");
    }
}

#[test]
fn what_happened_since_the_import_is_told_on_the_way_back() {
    let tasks = [task("impl-1", "pending", None, &[], &[]), task("impl-2", "pending", None, &[], &[])];
    let case = ccw(
        ".workflow/WFS-csv",
        &json!({"current_phase": "IMPLEMENT", "status": "active",
        "progress": {"completed_phases": ["PLAN"], "current_tasks": []}}),
        &tasks,
    );
    let (there, here) = (fresh(), fresh());
    put(&there, &case);
    here.run(["import", &there.path(&case.path).display().to_string()]).ok();
    here.run(["resume", "WFS-csv"]).ok();
    here.run(["item", "start", "impl-1"]).ok();
    here.run(["item", "done", "impl-1"]).ok();
    here.run(["item", "add", "Docs", "--id", "impl-3"]).ok();
    here.run(["export", "--layout", "ccw", "out"]).ok();
    let read =
        |path: &str| -> Value { serde_json::from_str(&here.read(&format!("out/.workflow/{path}"))).unwrap() };
    let state = read("WFS-csv/workflow-session.json");
    assert_eq!((&state["status"], &state["stats"]["velocity"]), (&json!("active"), &json!(3.25)));
    let first = read("WFS-csv/.task/impl-1.json");
    assert_eq!((&first["status"], &first["execution"]["attempts"]), (&json!("completed"), &json!(3)));
    assert_eq!(first["estimate"], "2h", "what is the tool's alone");
    assert_eq!(here.read("out/.workflow/WFS-csv/.task/impl-2.json"), tasks[1].to_string(), "to the byte");
    assert_eq!(read("WFS-csv/.task/impl-3.json")["title"], "Docs");
    assert_eq!(here.read("out/.workflow/WFS-csv/IMPL_PLAN.md"), "# Plan\nWrite rows.\n");
}

#[test]
fn what_its_own_files_told_already_when_it_was_imported_is_not_told_twice() {
    let case = ccw(
        ".workflow/WFS-csv",
        &json!({"current_phase": "IMPLEMENT", "status": "active",
            "progress": {"completed_phases": ["PLAN"], "current_tasks": []}}),
        &[task("impl-1", "pending", None, &[], &[])],
    );
    let here = fresh();
    here.at("2026-11-14T11:00:00Z");
    put(&here, &case);
    here.run(["item", "start", "impl-1"]).ok();
    here.at("2026-11-14T11:01:00Z").run(["item", "release", "impl-1"]).ok();
    here.at("2026-11-14T11:02:00Z").run(["item", "start", "impl-1"]).ok();
    here.at("2026-11-14T11:03:00Z").run(["item", "done", "impl-1"]).ok();
    let path = ".workflow/WFS-csv/.task/impl-1.json";
    let before = here.read(path);
    here.run(["import", "WFS-csv"]).ok();
    here.run(["export", "--layout", "ccw", "out", "--session", "WFS-csv"]).ok();
    assert_eq!(here.read(&format!("out/{path}")), before);
}
