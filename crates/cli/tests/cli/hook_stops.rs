//! Tests of when an agent may stop: claims, the next step, and no endless loop.

use crate::hook_events::{ID, arrive, claude, stop};
use crate::hook_twice::delivered;
use crate::{SHIP, git, try_build};
use serde_json::{Value, json};
use testkit::Sandbox;

/// A project with the usual test workflow, and with these lines at the top of the workflow.
fn with(lines: &str) -> Sandbox {
    let sandbox = git();
    let text = SHIP.replacen("version = \"1\"\n", &format!("version = \"1\"\n{lines}\n"), 1);
    sandbox.write(".leftoff/workflows/ship.toml", &text);
    sandbox.run(["start", "ship", "--id", "s"]).ok();
    arrive(&sandbox);
    sandbox
}

#[track_caller]
fn held(sandbox: &Sandbox, fields: &Value) -> String {
    let answer = claude(sandbox, fields).json();
    assert_eq!(answer["decision"], "block", "{answer}");
    assert_eq!(answer.as_object().unwrap().len(), 2, "no more than an agent knows: {answer}");
    answer["reason"].as_str().expect("a reason").to_owned()
}

#[track_caller]
fn let_go(sandbox: &Sandbox, fields: &Value) {
    assert_eq!(claude(sandbox, fields).stdout, "");
}

fn subagent(kind: &str) -> Value {
    json!({ "hook_event_name": "SubagentStop", "stop_hook_active": false, "agent_id": "a1", "agent_type": kind })
}

#[test]
fn nobody_is_held_unless_the_workflow_asks_for_it() {
    let sandbox = with("");
    sandbox.run(["advance"]).ok();
    try_build(&sandbox, 1, 2, 90).code(5);
    let_go(&sandbox, &stop(false, "done"));
}

#[test]
fn a_gate_that_did_not_pass_holds_once() {
    let sandbox = with("hold_at_stop = true");
    let_go(&sandbox, &stop(false, "nothing claimed yet"));
    sandbox.run(["advance"]).ok();
    let_go(&sandbox, &stop(false, "the next phase has just begun"));
    try_build(&sandbox, 42, 45, 65).code(5);
    let reason = held(&sandbox, &stop(false, "done"));
    assert!(reason.contains("the gate of phase 'build' did not pass: all-pass"), "{reason}");
    assert!(reason.contains("`leftoff advance --phase build --evidence 'tests_passed=<number>'"), "{reason}");
    let_go(&sandbox, &stop(true, "done"));
    held(&sandbox, &subagent("reviewer"));
    let_go(&sandbox, &subagent(""));
    sandbox.run(["note", "which tests?", "--kind", "question"]).ok();
    let_go(&sandbox, &stop(false, "a person must answer first"));
    sandbox.run(["note", "resolve", "1"]).ok();
    held(&sandbox, &stop(false, "done"));
    try_build(&sandbox, 45, 45, 90).ok();
    let_go(&sandbox, &stop(false, "done"));
}

#[test]
fn items_that_are_all_done_hold_until_the_gate_is_tried() {
    let sandbox = git();
    sandbox.write(
        ".leftoff/workflows/tasks.toml",
        "name = \"tasks\"\nhold_at_stop = true\n[[phase]]\nid = \"build\"\nitems = \"task\"\n[[phase]]\nid = \"review\"\n",
    );
    sandbox.run(["start", "tasks"]).ok();
    arrive(&sandbox);
    sandbox.run(["item", "add", "one"]).ok();
    let_go(&sandbox, &stop(false, "still at it"));
    let listed = sandbox.run(["item", "list", "--json"]).ok().json();
    let id = listed["items"][0]["id"].as_str().expect("an id").to_owned();
    sandbox.run(["item", "done", &id]).ok();
    let reason = held(&sandbox, &stop(false, "all done"));
    assert!(reason.contains("all 1 items of phase 'build' are done, but its gate is still open"), "{reason}");
    assert!(reason.contains("`leftoff advance --phase build`"), "{reason}");
}

#[test]
fn a_workflow_that_keeps_going_sends_on_until_it_is_finished() {
    let sandbox = with("keep_going = true");
    let reason = held(&sandbox, &stop(false, "planned"));
    assert!(reason.contains("`leftoff advance --phase plan`"), "{reason}");
    sandbox.run(["advance", "--phase", "plan"]).ok();
    assert!(held(&sandbox, &stop(true, "built")).contains("--phase build"));
    try_build(&sandbox, 2, 2, 90).ok();
    assert!(held(&sandbox, &stop(true, "built")).contains("--phase review"));
    let_go(&sandbox, &subagent("reviewer"));
    sandbox.run(["advance", "--phase", "review"]).ok();
    let_go(&sandbox, &stop(true, "finished"));
}

#[test]
fn whoever_does_nothing_is_not_sent_on_for_ever() {
    let sandbox = with("keep_going = true");
    for second in [0, 3, 6] {
        sandbox.at(&format!("2026-11-14T10:00:0{second}Z"));
        held(&sandbox, &stop(true, "no"));
    }
    sandbox.at("2026-11-14T10:00:09Z");
    let_go(&sandbox, &stop(true, "no"));
    let_go(&sandbox, &stop(false, "no"));
    // A prompt by a person resets the count.
    claude(&sandbox, &json!({ "hook_event_name": "UserPromptSubmit", "prompt": "go on" }));
    held(&sandbox, &stop(false, "no"));
}

#[test]
fn nobody_is_sent_on_while_a_person_must_answer_or_the_session_rests() {
    let sandbox = git();
    sandbox.write(
        ".leftoff/workflows/agreed.toml",
        "name = \"agreed\"\nkeep_going = true\nhold_at_stop = true\n[[phase]]\nid = \"plan\"\n[[phase.check]]\nid = \"yes\"\nkind = \"approval\"\n",
    );
    sandbox.run(["start", "agreed"]).ok();
    arrive(&sandbox);
    held(&sandbox, &stop(false, "planned"));
    sandbox.run(["advance", "--phase", "plan"]).code(5);
    let_go(&sandbox, &stop(true, "a person must approve"));
    let_go(&sandbox, &stop(false, "a person must approve"));
    sandbox.run(["pause"]).ok();
    let_go(&sandbox, &stop(false, "paused"));
}

#[test]
fn a_stop_that_is_delivered_twice_is_held_twice_and_counts_once() {
    for times in [2, 4] {
        let sandbox = with("keep_going = true");
        // Three stops without progress are blocked. Several processes report each stop, at the same time and
        // one after the other.
        for second in [10, 20, 30] {
            sandbox.at(&format!("2026-11-14T10:00:{second}Z"));
            let answers =
                delivered(&sandbox, "claude", &crate::agent::event(&sandbox, ID, &stop(true, "no")), times);
            assert!(answers.iter().all(|answer| answer.contains("\"block\"")), "{second}: {answers:?}");
            sandbox.at(&format!("2026-11-14T10:00:{}.900Z", second + 1));
            held(&sandbox, &stop(true, "no"));
        }
        sandbox.at("2026-11-14T10:00:40Z");
        let answers =
            delivered(&sandbox, "claude", &crate::agent::event(&sandbox, ID, &stop(true, "no")), times);
        assert!(
            answers.iter().all(String::is_empty),
            "nor is one of them held when the others are let go: {answers:?}"
        );
    }
}

#[test]
fn the_same_words_after_new_work_are_another_stop() {
    let sandbox = with("keep_going = true");
    let tool = |id: &str| crate::hook_events::after("Bash", &json!({ "command": "ls" }), id);
    for (stopped, worked) in [("0", "1"), ("2", "3"), ("4", "5")] {
        sandbox.at(&format!("2026-11-14T10:00:00.{stopped}Z"));
        held(&sandbox, &stop(true, "no"));
        sandbox.at(&format!("2026-11-14T10:00:00.{worked}Z"));
        claude(&sandbox, &tool(worked));
    }
    sandbox.at("2026-11-14T10:00:00.6Z");
    let_go(&sandbox, &stop(true, "no"));
    // A change of the session resets the count.
    sandbox.run(["note", "one"]).ok();
    sandbox.at("2026-11-14T10:00:10Z");
    held(&sandbox, &stop(true, "no"));
    sandbox.run(["note", "two"]).ok();
    for moment in ["10:00:11", "10:00:20", "10:00:30"] {
        sandbox.at(&format!("2026-11-14T{moment}Z"));
        held(&sandbox, &stop(true, "no"));
    }
    sandbox.at("2026-11-14T10:00:40Z");
    let_go(&sandbox, &stop(true, "no"));
}

/// The stops of this agent cannot be counted. If it was kept from stopping, that might never end.
#[test]
fn an_agent_that_was_never_seen_is_not_sent_on() {
    let sandbox = with("keep_going = true");
    let stranger = crate::agent::event(&sandbox, "stranger", &stop(false, "done"));
    assert_eq!(sandbox.run_with_input(&["hook", "claude"], &stranger).ok().stdout, "");
}
