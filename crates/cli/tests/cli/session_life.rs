//! A session from its start to its end.

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
    assert_eq!(view["progress"]["estimated_remaining_seconds"], 3600);

    let again = sandbox.run(["advance", "--phase", "plan", "--json"]).ok().json();
    assert_eq!(again["already"], true);
    assert_eq!(again["version"], view["version"]);

    sandbox.run(["advance", "--phase", "implement"]).ok();
    let done = sandbox.run(["advance", "--phase", "review", "--json"]).ok().json();
    assert_eq!((&done["status"], &done["progress"]["percent"]), (&"completed".into(), &100.into()));
    assert_eq!(done["current_phase"]["number"], 3);
}
