//! Invariant 4: a clock that was set back changes no order and makes no duration negative.

use crate::git;
use serde_json::json;

#[test]
fn a_clock_that_went_back_between_commands() {
    let sandbox = git();
    sandbox.at("2026-11-14T10:00:00Z").run(["start", "--goal", "kept"]).ok();
    sandbox.at("2026-11-14T09:00:00Z").run(["note", "an hour earlier"]).ok();
    sandbox.at("2026-11-14T08:30:00Z").run(["pause"]).ok();
    sandbox.at("2026-11-14T08:00:00Z").run(["resume"]).ok();
    let view = sandbox.at("2026-11-14T07:00:00Z").run(["advance", "--phase", "plan", "--json"]).ok().json();
    assert_eq!(view["phases"][0]["duration_seconds"], 0);
    assert_eq!(view["phases"][0]["paused_seconds"], 0);
    assert_eq!(view["progress"]["average_phase_seconds"], 0);
    assert_eq!(view["current_phase"]["id"], "implement");

    let earlier = sandbox.at("2020-01-01T00:00:00Z").run(["status", "--json"]).ok().json();
    assert_eq!(earlier["progress"]["time_in_phase_seconds"], 0);
    assert_eq!(earlier["status"], "active");
    for question in [&["status"][..], &["brief"], &["list"], &["log"], &["next"]] {
        let text = sandbox.run(question).ok().stdout;
        assert!(!text.contains("-1") || text.contains("2026-11-14"), "{text}");
    }

    let log = sandbox.run(["log", "--json"]).ok().json();
    let events = log["events"].as_array().unwrap();
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        [
            "session_started",
            "run_started",
            "phase_started",
            "note_added",
            "session_paused",
            "session_resumed",
            "phase_completed",
            "phase_started"
        ]
    );
    let versions: Vec<u64> = events.iter().map(|event| event["version"].as_u64().unwrap()).collect();
    assert!(versions.into_iter().eq(1..=8), "the order is the one in which it happened");
    sandbox.run(["doctor"]).ok();
}

#[test]
fn a_key_is_remembered_by_a_clock_that_went_back() {
    let sandbox = git();
    sandbox.at("2026-11-14T10:00:00Z").run(["start"]).ok();
    let note = ["note", "once", "--key", "k1", "--json"];
    let first = sandbox.run(note).ok().json();
    let again = sandbox.at("2026-11-13T10:00:00Z").run(note).ok().json();
    assert_eq!(again["version"], first["version"]);
    assert_eq!(again["notes"].as_array().unwrap().len(), 1);
}

/// Times come from the engine's clock: a time that a caller submits is evidence, and nothing more.
#[test]
fn a_callers_idea_of_time_changes_no_time() {
    let sandbox = git();
    sandbox.at("2026-11-14T10:00:00Z").run(["start"]).ok();
    sandbox.run(["note", "then", "--field", "at=2001-01-01T00:00:00Z"]).ok();
    let advance = ["advance", "--phase", "plan", "--evidence", "at=2001-01-01T00:00:00Z", "--json"];
    let view = sandbox.at("2026-11-14T11:00:00Z").run(advance).ok().json();
    assert_eq!(view["phases"][0]["completed_at"], "2026-11-14T11:00:00Z");
    assert_eq!(view["notes"][0]["at"], "2026-11-14T10:00:00Z");
    assert_eq!(view["phases"][0]["duration_seconds"], json!(3600));
}

#[test]
fn a_clock_that_went_back_changes_no_order_between_sessions() {
    let sandbox = git();
    sandbox.at("2026-11-14T12:00:00Z").run(["start", "--id", "first"]).ok();
    sandbox.at("2026-11-14T08:00:00Z").run(["start", "--id", "second"]).ok();
    sandbox.run(["pause"]).ok();
    let listed = sandbox.run(["list", "--json"]).ok().json();
    let ids: Vec<&str> = listed["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|session| session["session_id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["second", "first"]);
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "second");
}

#[test]
fn f6_a_lease_of_a_clock_that_was_ahead_holds_nobody_up() {
    let sandbox = git();
    sandbox.at("2026-11-14T10:00:00Z").run(["start"]).ok();
    sandbox.run(["item", "add", "first"]).ok();
    sandbox.at("2026-11-15T06:00:00Z").run_as("claude:a1", ["item", "claim"]).ok();
    let other = ["item", "claim", "--json"];
    sandbox.at("2026-11-15T05:59:30Z").run_as("claude:b2", other).code(3);
    sandbox.at("2026-11-14T10:01:00Z").run_as("claude:b2", other).ok();
    sandbox.at("2026-11-14T10:02:00Z").run_as("claude:a1", other).code(3);
}
