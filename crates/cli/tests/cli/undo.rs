//! Tests of undo, comparisons, and history.

use crate::git;
use serde_json::{Value, json};

fn words(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|entry| entry["type"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn undo_takes_the_last_command_back_and_redo_brings_it_back() {
    let sandbox = git();
    sandbox.at("2026-11-14T10:00:00Z").run(["start"]).ok();
    sandbox.at("2026-11-14T10:30:00Z").run(["advance", "--phase", "plan"]).ok();

    let undone = sandbox.at("2026-11-14T10:31:00Z").run(["undo", "--json"]).ok().json();
    assert_eq!(undone["current_phase"]["id"], "plan");
    assert_eq!(undone["phases"][0]["status"], "in_progress");
    assert_eq!(words(&undone["undo"]["undone"]), ["phase_completed", "phase_started"]);

    let back = sandbox.at("2026-11-14T10:32:00Z").run(["redo"]).ok();
    assert!(back.stderr.contains("restored 4: phase plan completed (anna)"), "{}", back.stderr);
    let status = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!((&status["current_phase"]["id"], &status["version"]), (&json!("implement"), &json!(7)));
}

#[test]
fn undo_again_goes_further_back_and_redo_comes_forward() {
    let sandbox = git();
    sandbox.at("2026-11-14T10:00:00Z").run(["start"]).ok();
    for text in ["one", "two", "three"] {
        sandbox.run(["note", text]).ok();
    }
    let notes = |ran: testkit::Ran| {
        let notes = ran.ok().json()["notes"].clone();
        notes
            .as_array()
            .unwrap()
            .iter()
            .map(|note| note["text"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(notes(sandbox.run(["undo", "--json"])), ["one", "two"]);
    assert_eq!(notes(sandbox.run(["undo", "--json"])), ["one"]);
    assert_eq!(notes(sandbox.run(["redo", "--json"])), ["one", "two"]);
    assert_eq!(notes(sandbox.run(["redo", "--json"])), ["one", "two", "three"]);
    let refused = sandbox.run(["redo", "--json"]).code(4).error();
    assert_eq!(refused["kind"], "nothing_to_redo");
    assert_eq!(notes(sandbox.run(["undo", "--json"])), ["one", "two"]);
    sandbox.run(["note", "other"]).ok();
    sandbox.run(["redo"]).code(4);
    assert_eq!(sandbox.run(["doctor", "--json"]).ok().json()["findings"], json!([]));
}

#[test]
fn undo_crosses_another_actors_command_only_with_to() {
    let sandbox = git();
    sandbox.at("2026-11-14T10:00:00Z").run(["start"]).ok();
    sandbox.at("2026-11-14T10:01:00Z").run_as("claude:a4326893", ["note", "from the agent"]).ok();
    let refused = sandbox.at("2026-11-14T10:02:00Z").run(["undo", "--json"]).code(4);
    assert_eq!(refused.error()["kind"], "anothers_change");
    let hint = refused.error()["hint"].as_str().unwrap().to_owned();
    assert!(hint.contains("leftoff undo --to 3"), "{hint}");
    let undone = sandbox.run(["undo", "--to", "3", "--json"]).ok().json();
    assert_eq!(undone["notes"], json!([]));
}

/// One's own change at a terminal is that of somebody else for a script, although both have one name.
#[test]
fn undo_tells_a_person_from_a_script_of_the_same_name() {
    let sandbox = git();
    sandbox.run_as_person(["start"]).ok();
    sandbox.run_as_person(["note", "at a terminal"]).ok();
    let refused = sandbox.run(["undo"]).code(4);
    assert!(refused.stderr.contains("the last change is by anna at a terminal\n"), "{}", refused.stderr);
    sandbox.run(["note", "in a script"]).ok();
    let refused = sandbox.run_as_person(["undo"]).code(4);
    let said = refused.stdout + &refused.stderr;
    assert!(said.contains("the last change is by anna without a terminal"), "{said}");
}

#[test]
fn undo_refuses_the_start_and_points_that_are_not_there() {
    let sandbox = git();
    sandbox.at("2026-11-14T10:00:00Z").run(["start"]).ok();
    let refused = sandbox.run(["undo", "--json"]).code(4);
    assert!(refused.error()["hint"].as_str().unwrap().contains("leftoff abandon"));
    sandbox.run(["undo", "--to", "99"]).code(3);
    sandbox.run(["undo", "--to", "nowhere"]).code(3);
    assert_eq!(sandbox.run(["undo", "--to", "3", "--json"]).ok().json()["already"], true);
}

#[test]
fn undo_does_not_make_a_second_session_active() {
    let sandbox = git();
    let first = sandbox.at("2026-11-14T10:00:00Z").run(["start", "--id", "first", "--json"]).ok().json();
    sandbox.at("2026-11-14T10:01:00Z").run(["start", "--id", "second"]).ok();
    let refused = sandbox.at("2026-11-14T10:02:00Z").run(["undo", "--session", "first", "--json"]).code(4);
    assert_eq!(refused.error()["kind"], "active_already");
    let version = sandbox.run(["show", "first", "--json"]).ok().json()["version"].clone();
    assert_eq!(version, json!(first["version"].as_u64().unwrap() + 1));
    // The session can be restored after the other session was paused.
    sandbox.run(["pause", "--session", "second"]).ok();
    let undone = sandbox.run(["undo", "--session", "first", "--json"]).ok().json();
    assert_eq!(undone["status"], "active");
}

#[test]
fn undo_takes_back_a_close_and_keeps_a_snapshot_that_agrees_with_the_log() {
    let sandbox = git();
    sandbox.at("2026-11-14T10:00:00Z").run(["start"]).ok();
    sandbox.at("2026-11-14T10:01:00Z").run(["close", "--force"]).ok();
    let undone = sandbox.at("2026-11-14T10:02:00Z").run_as_person(["undo", "--json"]).ok().json();
    assert_eq!(undone["status"], "active");
    // `status` reads the snapshot, `show` folds the whole log.
    let status = sandbox.run(["status", "--json"]).ok().json();
    let shown = sandbox.run(["show", "--json"]).ok().json();
    assert_eq!(status, shown);
    // Later decisions are based on the restored state.
    sandbox.at("2026-11-14T10:03:00Z").run(["advance", "--phase", "plan"]).ok();
}

#[test]
fn a_checkpoint_names_a_moment_for_undo_and_diff() {
    let sandbox = git();
    sandbox.at("2026-11-14T10:00:00Z").run(["start"]).ok();
    sandbox.at("2026-11-14T10:01:00Z").run(["checkpoint", "-m", "before the rewrite"]).ok();
    sandbox.run(["checkpoint", "-m", "before the rewrite"]).code(4);
    sandbox.run(["checkpoint", "-m", "12"]).code(2);
    let named = sandbox.at("2026-11-14T10:02:00Z").run(["checkpoint"]).ok();
    assert!(named.stdout.contains("checkpoint at version 5"), "{}", named.stdout);
    sandbox.at("2026-11-14T10:03:00Z").run(["note", "Cookies, not headers", "--kind", "decision"]).ok();
    sandbox.run(["set", "ticket=ABC-12"]).ok();
    sandbox.at("2026-11-14T10:04:00Z").run(["advance", "--phase", "plan"]).ok();

    let text = sandbox.run(["diff", "before the rewrite"]).ok().stdout;
    for line in [
        "checkpoint made: plan, 14 Nov 10:02",
        "phase plan: in progress → completed",
        "current phase: plan → implement",
        "decision 1 added: Cookies, not headers",
        "field ticket: nothing → ABC-12",
    ] {
        assert!(text.contains(line), "{line:?} is not in\n{text}");
    }
    let json = sandbox.run(["diff", "before the rewrite", "6", "--json"]).ok().json();
    let changes = json["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 2, "{changes:?}");
    assert_eq!(changes[0]["path"], "notes.1");
    assert_eq!(
        (&changes[0]["before"], &changes[0]["after"]["text"]),
        (&Value::Null, &json!("Cookies, not headers"))
    );

    sandbox.run(["undo", "--to", "before the rewrite"]).ok();
    let after = sandbox.run(["diff", "before the rewrite", "--json"]).ok().json();
    assert_eq!(after["changes"], json!([]));
}

#[test]
fn history_groups_a_life_by_runs_attempts_pauses_and_people() {
    let sandbox = git();
    sandbox.at("2026-11-14T10:00:00Z").run(["start", "--title", "Log-in"]).ok();
    sandbox.at("2026-11-14T10:30:00Z").run(["pause", "--reason", "lunch", "--context", "half a test"]).ok();
    sandbox.at("2026-11-14T11:30:00Z").run_as("claude:a4326893", ["resume"]).ok();
    // Another child process of the same parent is not the agent.
    sandbox.at("2026-11-14T12:00:00Z").run(["advance", "--phase", "plan"]).ok();
    let history = sandbox.run(["history", "--json"]).ok().json();
    assert_eq!(history["runs"][0]["phases"][0]["duration_seconds"], 3600);
    assert_eq!(history["runs"][0]["phases"][0]["attempts"][0]["outcome"], "passed");
    assert_eq!(history["pauses"][0]["seconds"], 3600);
    assert_eq!(history["who"].as_array().unwrap().len(), 2);
    let text = sandbox.run(["history"]).ok().stdout;
    for line in [
        "  1 Plan: completed in 1 h, paused for 1 h",
        "lunch by anna, in the middle of half a test",
        "claude a4326893: 1 event",
    ] {
        assert!(text.contains(line), "{line:?} is not in\n{text}");
    }
}

#[test]
fn reopen_goes_on_with_a_finished_session_and_makes_room() {
    let sandbox = git();
    sandbox.run(["start", "--id", "first"]).ok();
    sandbox.run(["reopen"]).code(3);
    sandbox.run(["close", "--force"]).ok();
    sandbox.run(["start", "--id", "second"]).ok();
    let reopened = sandbox.run(["reopen", "first", "--json"]).ok().json();
    assert_eq!(reopened["status"], "active");
    assert!(reopened["said"][0].as_str().unwrap().starts_with("paused second"));
    assert_eq!(sandbox.run(["reopen", "first", "--json"]).ok().json()["already"], true);
    sandbox.run(["reopen", "second"]).code(4);
    sandbox.run(["abandon", "--session", "first"]).ok();
    assert_eq!(sandbox.run(["reopen", "--json"]).ok().json()["session_id"], "first");
}

#[test]
fn fields_are_checked_where_the_workflow_declares_them() {
    let sandbox = git();
    sandbox.write(
        ".leftoff/workflows/ship.toml",
        "name = \"ship\"\nversion = \"1\"\ntitle = \"Ship\"\n[fields]\nlevel = { type = \"integer\" }\nrisk = { type = \"string\", one_of = [\"low\", \"high\"] }\n[[phase]]\nid = \"build\"\ntitle = \"Build\"\n",
    );
    sandbox.run(["start", "ship"]).ok();
    sandbox.run(["set", "level=high"]).code(2);
    sandbox.run(["set", "risk=none"]).code(2);
    sandbox.run(["set", "level"]).code(2);
    sandbox.run(["set", "level=1", "level=2"]).code(2);
    sandbox.run(["set", "--phase", "nope", "x=1"]).code(3);
    let set = sandbox.run(["set", "level=2", "risk=low", "free=a b", "--json"]).ok().json();
    assert_eq!(set["fields"], json!({ "free": "a b", "level": 2, "risk": "low" }));
    assert_eq!(sandbox.run(["set", "level=2", "--json"]).ok().json()["already"], true);
    sandbox.run(["set", "--phase", "build", "note=x"]).ok();
    let changed = sandbox.run(["diff", "4", "--json"]).ok().json();
    assert_eq!(changed["changes"][0]["path"], "runs.ship.1.phases.build.fields.note");
}

#[test]
fn reopen_says_which_others_are_finished_and_where_there_is_none() {
    let sandbox = git();
    sandbox.run(["start", "--id", "going-on"]).ok();
    let refused = sandbox.run(["reopen", "--json"]).code(3).error();
    assert_eq!(refused["kind"], "nothing_finished");
    assert!(refused["hint"].as_str().unwrap().contains("leftoff list"), "{refused}");
    for id in ["one", "two", "three"] {
        sandbox.run(["start", "--id", id, "--title", &format!("The work {id}")]).ok();
        sandbox.run(["close", "--force"]).ok();
    }
    let reopened = sandbox.run(["reopen"]).ok();
    assert!(reopened.stdout.starts_with("three reopened"), "{}", reopened.stdout);
    let told = "also finished: two (The work two), one (The work one); to reopen another: leftoff reopen two";
    assert!(reopened.stderr.contains(told), "{}", reopened.stderr);
    let named = sandbox.run(["reopen", "two"]).ok();
    assert!(!named.stderr.contains("also finished"), "{}", named.stderr);
}
