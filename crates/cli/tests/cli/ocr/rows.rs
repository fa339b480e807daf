//! Tests of further rules of the format.

use super::{FOLDER, ID, NOW, artifact, foreign, project};
use serde_json::json;

#[test]
fn what_is_archived_of_a_map_stands_outside_of_its_runs() {
    let sandbox = project();
    sandbox.run(["start", "map", "--layout", "ocr"]).ok();
    for (file, phase) in [
        ("discovered-standards.md", "map-context"),
        ("map/runs/run-1/topology.md", "topology"),
        ("map/runs/run-1/flow-analysis.md", "flow-analysis"),
    ] {
        artifact(&sandbox, file, "1\n");
        sandbox.run(["advance", "--phase", phase]).ok();
    }
    sandbox.run(["revisit", "topology", "--impact", "major", "--reason", "wrong base", "--yes"]).ok();
    assert_eq!(sandbox.names(&format!("{FOLDER}/map/runs")), ["run-1"]);
    assert_eq!(sandbox.names(&format!("{FOLDER}/map/runs/run-1")), ["topology.md"]);
    let archived = format!(".leftoff/archive/{ID}/map/runs/run-1/flow-analysis.v1.md");
    assert_eq!(sandbox.read(&archived), "1\n");
}

#[test]
fn a_discourse_that_lies_in_the_session_itself_counts_as_before_rounds_had_folders() {
    let sandbox = project();
    let flat = json!({ "session_id": "flat", "status": "active", "current_phase": "discourse",
        "phase_number": 6, "started_at": "2026-11-14T09:00:00Z", "updated_at": "2026-11-14T09:30:00Z" });
    foreign(&sandbox, "flat", &flat);
    sandbox.write(".ocr/sessions/flat/reviews/security-1.md", "## Finding: one\n");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["current_phase"]["id"], "discourse");
    super::write_at(&sandbox, ".ocr/sessions/flat/discourse.md", "agreed\n", "2026-11-14T09:40:00Z");
    let view = sandbox.run(["status", "--json"]).ok().json();
    assert!(super::warnings(&view).contains(".ocr/sessions/flat/discourse.md exists"), "{view}");
    sandbox.run(["advance", "--phase", "discourse"]).ok();
    let listed = sandbox.run(["list", "--json"]).ok().json();
    assert_eq!(listed["sessions"][0]["phase"], "synthesis", "{listed}");
}

#[test]
fn a_session_that_was_left_active_is_shown_for_ever_and_told_as_idle() {
    let sandbox = project();
    let left = json!({ "session_id": "x", "status": "active", "current_phase": "reviews", "phase_number": 4,
        "started_at": NOW, "updated_at": NOW });
    foreign(&sandbox, "2026-11-14-left", &left);
    super::write_at(&sandbox, ".ocr/sessions/2026-11-14-left/state.json", &left.to_string(), NOW);
    sandbox.at("2027-03-14T10:00:00Z");
    let view = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!(
        (&view["session_id"], &view["lifecycle"]["state"]),
        (&"2026-11-14-left".into(), &"active".into())
    );
    assert_eq!(view["status"], "possibly_stalled");
    let idle = "session 2026-11-14-left has had no activity for 120 days";
    assert!(super::warnings(&view).contains(idle), "{view}");
    assert_eq!(sandbox.names(".ocr/sessions/2026-11-14-left"), ["state.json"], "and it is left as it is");
}

/// In this case, the tool's own reader shows nothing.
#[test]
fn a_session_without_a_state_hides_no_healthy_older_one() {
    let sandbox = project();
    let healthy = json!({ "session_id": "x", "status": "active", "current_phase": "reviews",
        "phase_number": 4, "started_at": NOW, "updated_at": NOW });
    foreign(&sandbox, "2026-11-10-healthy", &healthy);
    sandbox.write(".ocr/sessions/2026-11-15-without/context.md", "x\n");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "2026-11-10-healthy");
    let screen = sandbox.run(["progress", "--once"]).ok().stdout;
    assert!(screen.starts_with("2026-11-10-healthy\n"), "{screen}");
    let listed = sandbox.run(["list", "--json"]).ok().stdout;
    assert!(listed.contains("2026-11-15-without"), "it is told of: {listed}");
}

#[test]
fn progress_goes_on_past_a_broken_link_among_the_sessions() {
    let sandbox = project();
    foreign(&sandbox, "2026-11-10-healthy", &json!({ "current_phase": "reviews", "phase_number": 4 }));
    std::os::unix::fs::symlink("nowhere", sandbox.path(".ocr/sessions/2026-11-15-broken")).unwrap();
    let screen = sandbox.run(["progress", "--once"]).ok();
    assert!(screen.stdout.starts_with("2026-11-10-healthy\n"), "{screen:?}");
}

/// The tool reads any folder in the place of sessions as a session. A folder with a later name hides the real
/// sessions.
#[test]
fn a_folder_among_the_sessions_that_is_none_is_named() {
    let sandbox = project();
    foreign(&sandbox, "2026-11-10-healthy", &json!({ "current_phase": "reviews", "phase_number": 4 }));
    for folder in ["tmp", ".locks"] {
        sandbox.write(&format!(".ocr/sessions/{folder}/state.json"), "{\"current_phase\":\"reviews\"}");
        let said = format!(".ocr/sessions/{folder}: it is not a session, but its tool may treat it as one");
        let list = sandbox.run(["list", "--json"]).ok().json();
        assert!(super::warnings(&list).contains(&said), "{list}");
        assert_eq!(list["sessions"].as_array().unwrap().len(), 1, "{list}");
        assert!(sandbox.run(["doctor"]).code(4).stdout.contains(&said));
    }
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "2026-11-10-healthy");
}

/// In any layout, starting a session makes it the default one.
#[test]
fn a_review_that_is_begun_takes_the_place_of_what_was_active() {
    let sandbox = project();
    sandbox.run(["start", "--id", "ours"]).ok();
    let begun = sandbox.run(["start", "--layout", "ocr"]).ok();
    assert!(begun.stderr.contains("paused ours"), "{begun:?}");
    assert!(begun.stdout.trim_end().ends_with("leftoff advance --phase context"), "{begun:?}");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], ID);
    sandbox.run(["resume", "ours"]).ok();
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "ours");
}

/// A completed phase stays completed, whatever happens to the file.
#[test]
fn what_a_command_found_done_already_is_kept() {
    let sandbox = super::begun();
    super::edit(&sandbox, &json!({ "status": "closed", "current_phase": "complete", "phase_number": 8 }));
    assert_eq!(sandbox.run(["close", "--json"]).ok().json()["already"], true);
    sandbox.write(&format!("{FOLDER}/state.json"), "{\"se");
    let view = sandbox.run(["status", "--session", ID, "--json"]).ok().json();
    assert_eq!(view["current_phase"]["id"], "complete");
}
