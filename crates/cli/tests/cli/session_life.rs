//! Tests of a session from its start to its end.

use crate::git;

#[test]
fn a_session_goes_through_its_phases_and_is_completed() {
    let sandbox = git();
    sandbox.at("2026-11-14T10:00:00Z");
    let started = sandbox.run(["start", "--goal", "No log-out", "--json"]).ok().json();
    assert_eq!(started["current_phase"]["id"], "plan");
    assert_eq!(started["title"], "No log-out");

    sandbox.at("2026-11-14T10:30:00Z");
    let view = sandbox.run(["advance", "--phase", "plan", "--json"]).ok().json();
    assert_eq!(view["completed_phases"], serde_json::json!([1]));
    assert_eq!(view["progress"]["average_phase_seconds"], 1800);
    assert_eq!(view["progress"]["estimated_remaining_seconds"], serde_json::Value::Null);

    let again = sandbox.run(["advance", "--phase", "plan", "--json"]).ok().json();
    assert_eq!(again["already"], true);
    assert_eq!(again["version"], view["version"]);

    sandbox.run(["advance", "--phase", "implement"]).ok();
    let done = sandbox.run(["advance", "--phase", "review", "--json"]).ok().json();
    assert_eq!((&done["status"], &done["progress"]["percent"]), (&"completed".into(), &100.into()));
    assert_eq!(done["current_phase"]["number"], 3);
}

#[test]
fn a_new_session_that_is_about_the_same_as_another_says_so() {
    let sandbox = git();
    sandbox.run(["start", "--id", "first", "--title", "Add CSV export"]).ok();
    for (title, is_similar) in [
        ("CSV export adding", true),
        ("add a csv-export", true),
        ("Exporting CSVs", true),
        ("Add PDF import", false),
        ("Export", false),
        ("Rotate the tokens", false),
    ] {
        let said = sandbox.run(["start", "--title", title]).ok().stderr;
        assert_eq!(
            said.contains("a similar session exists: first (Add CSV export)"),
            is_similar,
            "{title}: {said}"
        );
        sandbox.run(["abandon"]).ok();
    }
    // Both sessions are named after the branch. That alone does not make them similar.
    sandbox.run(["start"]).ok();
    assert!(!sandbox.run(["start"]).ok().stderr.contains("similar"));
}
