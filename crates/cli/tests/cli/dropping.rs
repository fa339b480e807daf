//! Items that are no longer needed, evidence that nobody reads, and decisions of persons: who may change what, and what
//! the gate makes of it.

use crate::{fresh, git};
use serde_json::json;
use testkit::Sandbox;

const AGENT: &str = "claude:a4326893";

/// A session of the default workflow whose agent has planned two tasks.
fn planned() -> Sandbox {
    let sandbox = fresh();
    sandbox.at("2026-11-14T10:00:00Z").run_as(AGENT, ["start", "--id", "login"]).ok();
    sandbox.write(".leftoff/sessions/login/PLAN.md", "Rotate tokens.\n");
    sandbox.run_as(AGENT, ["advance", "plan"]).ok();
    sandbox.run_as(AGENT, ["item", "add", "Rotate tokens"]).ok();
    sandbox.run_as(AGENT, ["item", "add", "Cookie flags", "--needs", "task-1"]).ok();
    sandbox
}

#[test]
fn a_task_of_the_gate_is_dropped_by_a_person_and_no_gate_passes_on_dropped_tasks_alone() {
    let sandbox = planned();
    let reason = ["--reason", "one tab is enough"];
    let refused = sandbox.run_as(AGENT, ["item", "drop", "task-1", reason[0], reason[1]]).code(6);
    assert!(refused.stderr.contains("dropping an item that a gate waits for"), "{}", refused.stderr);

    sandbox.run_as_person(["item", "drop", "task-1", reason[0], reason[1]]).ok();
    let listed = sandbox.run_as(AGENT, ["item", "list", "--all"]).ok().stdout;
    assert!(listed.contains("implement: 0 of 1 done, 1 dropped"), "{listed}");
    assert!(listed.contains("[-] task-1 Rotate tokens: dropped: \"one tab is enough\""), "{listed}");
    assert!(listed.contains("[ ] task-2 Cookie flags: ready"), "the dependant is free: {listed}");
    sandbox.run_as(AGENT, ["item", "done", "task-1"]).code(4);

    sandbox.run_as_person(["item", "drop", "task-2", reason[0], reason[1]]).ok();
    let failed = sandbox.run_as(AGENT, ["advance", "implement"]).code(5);
    assert!(failed.stderr.contains("tasks (every item was dropped)"), "{}", failed.stderr);
    sandbox.run_as_person(["undo", "--to", "9"]).ok();

    sandbox.run_as(AGENT, ["item", "done", "task-2"]).ok();
    let brief = sandbox.run_as(AGENT, ["brief", "--format", "markdown"]).ok().stdout;
    assert!(brief.contains("- Done: task-2 Cookie flags\n"), "a dropped task is not done: {brief}");
    let passed = sandbox.run_as(AGENT, ["advance", "implement", "--json"]).ok().json();
    let counts = json!({ "total": 1, "done": 1, "dropped": 1 });
    assert_eq!(passed["phases"][1]["items"], counts);
    let proof = sandbox.run_as(AGENT, ["verify"]).code(5).stdout;
    assert!(proof.contains("tasks: 1 of 1 are done; dropped: task-1"), "{proof}");
    assert_eq!(sandbox.run(["doctor", "--json"]).ok().json()["findings"], json!([]));
}

#[test]
fn what_a_person_dropped_or_skipped_or_approved_no_agent_takes_back_or_repeats() {
    let sandbox = planned();
    sandbox.run_as_person(["item", "drop", "task-1", "--reason", "late"]).ok();
    let before = sandbox.run(["log"]).ok().stdout;
    for undo in [&["undo"][..], &["undo", "--to", "8"]] {
        let refused = sandbox.run_as(AGENT, undo).code(6);
        assert!(refused.stderr.contains("undoing a person's decision"), "{}", refused.stderr);
        assert!(!refused.stderr.contains("undo it anyway"), "{}", refused.stderr);
    }
    assert_eq!(sandbox.run(["log"]).ok().stdout, before);
    sandbox.run_as_person(["undo"]).ok();
    sandbox.run_as(AGENT, ["undo", "--to", "9"]).code(6);

    sandbox.run_as_person(["skip", "--reason", "nobody is there"]).ok();
    sandbox.run_as(AGENT, ["undo", "--to", "8"]).code(6);
    sandbox.run_as_person(["undo", "--to", "8"]).ok();
}

#[test]
fn verify_names_a_task_that_an_agent_dropped_where_a_person_must() {
    let sandbox = planned();
    sandbox.allow_anyone(&["drop"]);
    sandbox.run_as(AGENT, ["item", "drop", "task-1", "--reason", "late"]).ok();
    let allowed = sandbox.run(["verify"]).code(5).stdout;
    assert!(!allowed.contains("dropping an item"), "{allowed}");
    sandbox.write(".leftoff/config.toml", "");
    let judged = sandbox.run(["verify"]).code(5);
    assert!(judged.stdout.contains("dropping an item that a gate waits for"), "{}", judged.stdout);
}

#[test]
fn a_session_in_another_tools_files_cannot_drop_items() {
    let sandbox = git();
    sandbox.run(["start", "--layout", "ccw", "--id", "WFS-a"]).ok();
    sandbox.run(["item", "add", "one", "--id", "IMPL-1", "--phase", "implement"]).ok();
    let refused = sandbox.run_as_person(["item", "drop", "IMPL-1", "--reason", "late"]).code(4);
    assert!(refused.stderr.contains("leftoff item block IMPL-1"), "{}", refused.stderr);
}

#[test]
fn an_implementation_without_a_task_proves_nothing() {
    let sandbox = fresh();
    sandbox.run_as(AGENT, ["start", "--id", "login"]).ok();
    sandbox.write(".leftoff/sessions/login/PLAN.md", "plan\n");
    let told = sandbox.run_as(AGENT, ["advance", "plan"]).ok().stdout;
    assert!(told.contains("leftoff item add '<title>' --phase implement"), "{told}");
    let refused = sandbox.run_as(AGENT, ["advance", "implement"]).code(5);
    assert!(refused.stderr.contains("Add every step of the plan as a task"), "{}", refused.stderr);
}

const SHIP: &str = r#"
name = "ship"
version = "1"
title = "Ship"

[[phase]]
id = "build"
title = "Build"

  [phase.evidence]
  tests_passed = { type = "integer", required = true }
  clean = { type = "boolean" }

  [[phase.check]]
  id = "tests"
  kind = "expr"
  expr = "evidence.tests_passed > 0"
"#;

#[test]
fn evidence_that_no_check_reads_is_said_whether_the_gate_passes_or_not() {
    let sandbox = git();
    sandbox.write(".leftoff/workflows/ship.toml", SHIP);
    sandbox.run(["start", "ship", "--id", "s"]).ok();
    let failed = sandbox.run(["advance", "--evidence", "foo=1"]).code(5).stderr;
    let said = "no check of phase 'build' reads evidence 'foo'; it declares tests_passed, clean";
    assert!(failed.contains(said), "{failed}");
    assert!(failed.contains("did not pass: tests_passed (not given)\n"), "each name once: {failed}");
    assert!(failed.contains("'tests_passed=<number>'"), "{failed}");
    let passed = sandbox.run(["advance", "--evidence", "tests_passed=1", "--evidence", "claen=yes"]).ok();
    assert!(passed.stderr.contains("reads evidence 'claen'; did you mean 'clean'?"), "{}", passed.stderr);
}

#[test]
fn a_failed_gate_tells_a_program_what_is_missing_and_what_comes_next() {
    let sandbox = git();
    sandbox.write(".leftoff/workflows/ship.toml", SHIP);
    sandbox.run(["start", "ship", "--id", "s"]).ok();
    let error = sandbox.run(["advance", "--json"]).code(5).error();
    let missing: Vec<&str> =
        error["missing"].as_array().unwrap().iter().map(|check| check["id"].as_str().unwrap()).collect();
    assert_eq!(missing, ["tests_passed", "tests"]);
    let next = "leftoff advance --phase build --evidence 'tests_passed=<number>'";
    assert_eq!(error["next"]["command"], next);
}

#[test]
fn a_finished_session_is_named_and_its_open_questions_are_told() {
    let sandbox = git();
    sandbox.run(["start", "--id", "login"]).ok();
    sandbox.run(["note", "Which tab?", "--kind", "question"]).ok();
    for phase in ["plan", "implement", "review"] {
        sandbox.run(["advance", phase]).ok();
    }
    let next = sandbox.run(["next", "login"]).ok().stdout;
    assert!(next.contains("Finished; question 1 is still open"), "{next}");
    for late in [&["note", "late"][..], &["note", "resolve", "1"]] {
        let refused = sandbox.run(late).code(3).stderr;
        assert!(refused.contains("add --session login"), "{refused}");
    }
    sandbox.run(["note", "resolve", "1", "--session", "login"]).ok();
    assert!(sandbox.run(["next", "login"]).ok().stdout.contains("nothing remaining"));
}
