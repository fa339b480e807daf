//! Tests of the figures in a session's view with a clock that the test sets: progress, durations, and the
//! estimate.

use crate::{git, try_build, with_gate};
use serde_json::{Value, json};
use testkit::Sandbox;

/// The session's view at a moment of the 14th of November.
fn at(sandbox: &Sandbox, time: &str) -> Value {
    sandbox.at(&format!("2026-11-14T{time}Z"));
    sandbox.run(["status", "--json"]).ok().json()
}

fn do_at(sandbox: &Sandbox, time: &str, words: &[&str]) {
    sandbox.at(&format!("2026-11-14T{time}Z"));
    sandbox.run(words).ok();
}

/// The figures in a view: percent, remaining, average, estimate, time in phase, stalled.
fn figures(view: &Value) -> Value {
    let progress = &view["progress"];
    json!([
        progress["percent"],
        progress["remaining"],
        progress["average_phase_seconds"],
        progress["estimated_remaining_seconds"],
        progress["time_in_phase_seconds"],
        progress["stalled"],
    ])
}

#[test]
fn figures_follow_from_the_finished_phases() {
    let sandbox = git();
    do_at(&sandbox, "07:00:00", &["start", "spec"]);
    assert_eq!(figures(&at(&sandbox, "07:10:00")), json!([0, 6, null, null, 600, false]));
    do_at(&sandbox, "07:30:00", &["advance", "--phase", "planning"]);
    assert_eq!(figures(&at(&sandbox, "07:30:00")), json!([17, 5, 1800, null, 0, false]));
    do_at(&sandbox, "08:15:00", &["advance", "--phase", "setup"]);
    // The phases took 30 and 45 minutes, on average 37.5.
    assert_eq!(figures(&at(&sandbox, "08:20:00")), json!([33, 4, 2250, 9000, 300, false]));
    do_at(&sandbox, "09:27:00", &["advance", "--phase", "implementation"]);
    assert_eq!(figures(&at(&sandbox, "09:27:00")), json!([50, 3, 2940, 8820, 0, false]));
    for phase in ["testing", "documentation", "release"] {
        do_at(&sandbox, "09:57:00", &["advance", "--phase", phase]);
    }
    let done = at(&sandbox, "20:00:00");
    assert_eq!(figures(&done)[0], 100);
    assert_eq!(figures(&done)[1], 0);
    assert_eq!(figures(&done)[4], Value::Null);
}

#[test]
fn a_zero_based_workflow_keeps_its_own_numbers_to_the_end() {
    let sandbox = git();
    do_at(&sandbox, "07:00:00", &["start", "spec"]);
    let view = at(&sandbox, "07:00:00");
    assert_eq!(
        (&view["workflow"]["indexing"], &view["workflow"]["starting_phase"]),
        (&json!("zero"), &json!(0))
    );
    let numbers: Vec<&Value> =
        view["phases"].as_array().unwrap().iter().map(|phase| &phase["number"]).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4, 5]);
    // Phases can also be named by their numbers.
    for number in ["0", "1", "2", "3", "4", "5"] {
        do_at(&sandbox, "07:30:00", &["advance", "--phase", number]);
    }
    let done = at(&sandbox, "08:00:00");
    assert_eq!((&done["status"], &done["current_phase"]["number"]), (&json!("completed"), &json!(5)));
    assert_eq!(done["completed_phases"], json!([0, 1, 2, 3, 4, 5]));
    let text = sandbox.run(["brief"]).ok().stdout;
    assert!(text.contains("- 0 Specification and planning (30 min, no gate)"), "{text}");
    assert!(text.contains("- 5 Final validation and release (no gate)"), "{text}");
    assert!(!text.contains("- 6 "), "{text}");
}

#[test]
fn paused_time_is_not_working_time() {
    let sandbox = git();
    do_at(&sandbox, "10:00:00", &["start"]);
    do_at(&sandbox, "10:10:00", &["pause"]);
    assert_eq!(at(&sandbox, "12:00:00")["progress"]["time_in_phase_seconds"], 600);
    do_at(&sandbox, "12:10:00", &["resume"]);
    assert_eq!(at(&sandbox, "12:20:00")["progress"]["time_in_phase_seconds"], 1200);
    do_at(&sandbox, "12:30:00", &["advance", "--phase", "plan"]);
    let view = at(&sandbox, "12:30:00");
    assert_eq!(
        (&view["phases"][0]["duration_seconds"], &view["phases"][0]["paused_seconds"]),
        (&json!(1800), &json!(7200))
    );
    assert_eq!(view["progress"]["average_phase_seconds"], 1800);
    // A pause in one phase does not shorten the time in the next one.
    assert_eq!(at(&sandbox, "12:40:00")["progress"]["time_in_phase_seconds"], 600);
}

#[test]
fn time_while_it_was_closed_is_not_working_time() {
    let sandbox = git();
    do_at(&sandbox, "10:00:00", &["start"]);
    do_at(&sandbox, "10:10:00", &["close", "--force"]);
    assert_eq!(at(&sandbox, "12:00:00")["progress"]["time_in_phase_seconds"], 600);
    do_at(&sandbox, "12:10:00", &["run", "start"]);
    let view = at(&sandbox, "12:20:00");
    assert_eq!((&view["run"]["ordinal"], &view["status"]), (&json!(1), &json!("active")));
    assert_eq!(view["progress"]["time_in_phase_seconds"], 1200);
}

#[test]
fn possibly_stalled_is_over_twice_the_average_and_never_under_15_minutes() {
    // The length of the first phase in seconds. Then the time at which the next phase is stalled, and a time
    // at which it is not stalled yet.
    for (first, is_stalled_at, is_not) in [(60, "10:16:00", "10:15:59"), (1800, "11:30:01", "11:30:00")] {
        let sandbox = git();
        do_at(&sandbox, "10:00:00", &["start"]);
        let ended = if first == 60 { "10:01:00" } else { "10:30:00" };
        do_at(&sandbox, ended, &["advance", "--phase", "plan"]);
        let view = at(&sandbox, is_not);
        assert_eq!(
            (&view["status"], &view["progress"]["stalled"]),
            (&json!("active"), &json!(false)),
            "{is_not}"
        );
        let view = at(&sandbox, is_stalled_at);
        assert_eq!(
            (&view["status"], &view["progress"]["stalled"]),
            (&json!("possibly_stalled"), &json!(true))
        );
        let text = sandbox.run(["brief"]).ok().stdout;
        assert!(text.contains("longer than usual"), "{text}");
        // Somebody works on the session, so it is not stalled.
        do_at(&sandbox, "12:00:00", &["note", "Half of the tests are written"]);
        assert_eq!(at(&sandbox, "12:14:59")["status"], "active");
        assert_eq!(at(&sandbox, "12:15:00")["status"], "possibly_stalled");
    }
    // No phase is finished, so there is no average to compare with.
    let sandbox = git();
    do_at(&sandbox, "00:00:00", &["start"]);
    assert_eq!(at(&sandbox, "23:00:00")["status"], "active");
}

/// The holder of an item may work on it for a long time without recording anything.
#[test]
fn a_session_with_a_held_item_is_not_stalled() {
    let sandbox = git();
    do_at(&sandbox, "10:00:00", &["start"]);
    do_at(&sandbox, "10:01:00", &["advance", "--phase", "plan"]);
    do_at(&sandbox, "11:00:00", &["item", "add", "Cookie flags"]);
    do_at(&sandbox, "11:00:00", &["item", "claim", "task-1"]);
    assert_eq!(at(&sandbox, "11:20:00")["status"], "active");
    assert_eq!(at(&sandbox, "11:31:00")["status"], "possibly_stalled", "the lease has ended");
}

/// The session is stalled; then its gate fails; then it is paused. Each status takes precedence over the one
/// before.
#[test]
fn the_status_is_the_first_that_holds() {
    let sandbox = with_gate();
    do_at(&sandbox, "10:00:00", &["start", "ship", "--id", "login"]);
    do_at(&sandbox, "10:01:00", &["advance", "--phase", "plan"]);
    assert_eq!(at(&sandbox, "10:05:00")["status"], "active");
    assert_eq!(at(&sandbox, "11:00:00")["status"], "possibly_stalled");
    try_build(&sandbox, 1, 2, 10).code(5);
    assert_eq!(at(&sandbox, "12:00:00")["status"], "checkpoint_failed");
    assert_eq!(at(&sandbox, "12:00:00")["progress"]["stalled"], true);
    do_at(&sandbox, "12:00:00", &["pause"]);
    assert_eq!(at(&sandbox, "13:00:00")["status"], "paused");
    do_at(&sandbox, "13:00:00", &["abandon"]);
    assert_eq!(at(&sandbox, "14:00:00")["status"], "abandoned");

    let sandbox = with_gate();
    do_at(&sandbox, "10:00:00", &["start", "ship"]);
    do_at(&sandbox, "10:01:00", &["advance", "--phase", "plan"]);
    try_build(&sandbox, 1, 2, 10).code(5);
    do_at(&sandbox, "10:02:00", &["pause"]);
    do_at(&sandbox, "10:03:00", &["close", "--force"]);
    let view = at(&sandbox, "11:00:00");
    assert_eq!((&view["status"], &view["progress"]["percent"]), (&json!("completed"), &json!(33)));
    let brief = sandbox.run(["brief", "--format", "markdown"]).ok().stdout;
    assert!(brief.contains("**Closed early** 57 minutes ago: 1 of 3 phases done (33 %)."), "{brief}");
}

#[test]
fn a_clock_that_went_back_changes_no_order_and_makes_no_duration_negative() {
    let sandbox = git();
    do_at(&sandbox, "12:00:00", &["start", "--id", "login"]);
    do_at(&sandbox, "11:00:00", &["advance", "--phase", "plan"]);
    do_at(&sandbox, "10:00:00", &["pause"]);
    do_at(&sandbox, "09:00:00", &["resume"]);
    let view = at(&sandbox, "08:00:00");
    assert_eq!(view["phases"][0]["duration_seconds"], 0);
    assert_eq!(
        (&view["phases"][1]["paused_seconds"], &view["progress"]["time_in_phase_seconds"]),
        (&json!(0), &json!(0))
    );
    assert_eq!(view["completed_phases"], json!([1]));
    let log = sandbox.run(["log", "--json"]).ok().json();
    let events: Vec<(u64, &str)> = log["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| (event["version"].as_u64().unwrap(), event["type"].as_str().unwrap()))
        .collect();
    let kinds = [
        "session_started",
        "run_started",
        "phase_started",
        "phase_completed",
        "phase_started",
        "session_paused",
        "session_resumed",
    ];
    assert_eq!(events, (1..).zip(kinds).collect::<Vec<_>>());
    for words in [["brief"], ["status"], ["log"], ["list"]] {
        let shown = sandbox.run(words).ok().stdout;
        let is_negative = |word: &str| {
            word.trim_start_matches(['(', '~']).starts_with('-')
                && word.ends_with(|c: char| c.is_ascii_digit())
        };
        assert!(!shown.split_whitespace().any(is_negative), "{shown}");
    }
}

/// Text output uses the same clock as the figures.
#[test]
fn lists_and_logs_tell_time_by_the_engines_clock() {
    let sandbox = git();
    do_at(&sandbox, "10:00:00", &["start", "--id", "login"]);
    sandbox.at("2026-11-17T10:00:00Z");
    let list = sandbox.run(["list"]).ok().stdout;
    assert!(list.contains("3 days ago"), "{list}");
    let log = sandbox.run(["log"]).ok().stdout;
    assert!(log.contains("14 Nov 10:00 UTC"), "{log}");
    sandbox.at("2026-11-14T11:00:00Z");
    assert!(!sandbox.run(["log"]).ok().stdout.contains("14 Nov"));
}
