//! Tests of a tool that continues, closes or reopens a session after leftoff closed it.

use super::*;
use serde_json::json;

const LATER: &str = "2026-11-14T10:30:00Z";

/// Writes the template with which the tool closes a session. It contains no workflow, and no start of the
/// round.
fn closes(sandbox: &Sandbox, last: u32, number: &str, which: u32) {
    sandbox.at(LATER);
    foreign(
        sandbox,
        ID,
        &json!({ "session_id": ID, "status": "closed", "current_phase": "complete", "phase_number": last,
            number: which, "started_at": NOW, "updated_at": LATER }),
    );
}

/// Expects that the session is shown as completed, and that commands leave its file closed.
#[track_caller]
fn is_closed(sandbox: &Sandbox, workflow: &str, ordinal: u32) {
    let view = sandbox.run(["status", "--session", ID, "--json"]).ok().json();
    assert_eq!((&view["status"], phase(&view)), (&"completed".into(), "complete"), "{view}");
    let run = (&view["run"]["workflow"], &view["run"]["ordinal"]);
    assert_eq!(run, (&workflow.into(), &ordinal.into()), "{view}");
    for command in [&["note", "seen", "--session", ID][..], &["close", "--session", ID]] {
        sandbox.run(command).ok();
        let written = state(sandbox);
        assert_eq!((&written["status"], &written["workflow_type"]), (&"closed".into(), &workflow.into()));
    }
    let listed = sandbox.run(["list"]).ok().stdout;
    assert!(!listed.contains(ID), "{listed}");
    sandbox.run(["doctor"]).ok();
}

#[test]
fn a_further_round_that_the_tool_did_and_closed_is_closed() {
    for has_file in [true, false] {
        for ours in [&["close", "--force"][..], &["abandon", "--yes"]] {
            let sandbox = begun();
            artifact_at(&sandbox, "rounds/round-1/final.md", "F\n", "2026-11-14T10:04:00Z");
            sandbox.at("2026-11-14T10:05:00Z");
            sandbox.run(ours).ok();
            if has_file {
                artifact_at(&sandbox, "rounds/round-2/final.md", "F\n", "2026-11-14T10:29:00Z");
            }
            closes(&sandbox, 8, "current_round", 2);
            is_closed(&sandbox, "review", 2);
        }
    }
}

#[test]
fn a_map_closed_after_a_closed_review_is_closed_and_so_is_a_review_after_a_map() {
    for (ours, last, number, theirs) in
        [("review", 6, "current_map_run", "map"), ("map", 8, "current_round", "review")]
    {
        let sandbox = project();
        sandbox.run(["start", ours, "--layout", "ocr"]).ok();
        sandbox.at("2026-11-14T10:05:00Z");
        sandbox.run(["close", "--force"]).ok();
        closes(&sandbox, last, number, 1);
        is_closed(&sandbox, theirs, 1);
    }
}

#[test]
fn a_round_whose_files_are_newer_than_the_word_closed_goes_on() {
    let sandbox = begun();
    artifact_at(&sandbox, "rounds/round-1/final.md", "F\n", "2026-11-14T10:04:00Z");
    sandbox.at("2026-11-14T10:05:00Z");
    sandbox.run(["close", "--force"]).ok();
    artifact_at(&sandbox, "rounds/round-2/reviews/security-1.md", "R\n", "2026-11-14T10:29:00Z");
    sandbox.at(LATER);
    for key in ["x_seen_before", "x_seen_after"] {
        edit(&sandbox, &json!({ key: true }));
        let view = sandbox.run(["status", "--session", ID, "--json"]).ok().json();
        assert_eq!((&view["status"], &view["run"]["ordinal"]), (&"active".into(), &2.into()), "{view}");
        sandbox.run(["note", "taken in", "--session", ID]).ok();
        assert_eq!(state(&sandbox)["status"], "active");
    }
}

#[test]
fn what_we_close_is_called_closed_also_where_its_phase_was_complete() {
    let sandbox = begun();
    edit(&sandbox, &json!({ "current_phase": "complete", "phase_number": 8 }));
    sandbox.at("2026-11-14T10:05:00Z");
    for words in [&["advance", "--phase", "complete"][..], &["close", "--session", ID]] {
        sandbox.run(words).ok();
        assert_eq!(state(&sandbox)["status"], "closed");
        sandbox.run(["reopen", ID]).ok();
        assert_eq!(state(&sandbox)["status"], "active");
    }
}

#[test]
fn an_active_of_the_tool_beside_complete_is_left_as_it_wrote_it() {
    let sandbox = begun();
    edit(&sandbox, &json!({ "current_phase": "complete", "phase_number": 8 }));
    sandbox.run(["note", "taken in", "--session", ID]).ok();
    let view = sandbox.run(["status", "--session", ID, "--json"]).ok().json();
    assert_eq!((&view["status"], &state(&sandbox)["status"]), (&"active".into(), &"active".into()));
}

#[test]
fn one_that_we_closed_unfinished_and_the_tool_opens_further_on_has_claims_up_to_there() {
    for (reached, number) in [("change-context", 2), ("reviews", 4), ("synthesis", 7)] {
        let sandbox = begun();
        sandbox.run(["close", "--force"]).ok();
        sandbox.at("2026-11-14T10:05:00Z");
        edit(&sandbox, &json!({ "status": "active", "current_phase": reached, "phase_number": number }));
        let view = sandbox.run(["status", "--json"]).ok().json();
        assert_eq!((&view["status"], phase(&view)), (&"active".into(), reached));
        let statuses = crate::statuses(&view);
        assert_eq!(statuses[..number - 1], vec!["completed"; number - 1], "{reached}");
        assert_eq!(statuses.iter().filter(|status| **status == "in_progress").count(), 1, "{statuses:?}");
        let gate = sandbox.run(["gate", "--json"]).code(5).json();
        // Aggregation has no checks, so it is done only according to the file.
        assert_eq!(gate["claimed"], json!(REVIEW[..number - 1]));
        sandbox.run(["note", "taken in"]).ok();
        edit(&sandbox, &json!({ "current_phase": "synthesis", "phase_number": 7 }));
        sandbox.run(["note", "and on"]).ok();
        assert_eq!(state(&sandbox)["current_phase"], "synthesis");
        sandbox.run(["doctor"]).ok();
    }
}

#[test]
fn one_that_we_closed_unfinished_claims_nothing_while_it_is_closed() {
    for changes in [json!({ "x_team": "ours" }), json!({ "updated_at": "2026-11-14T10:04:00Z" })] {
        let sandbox = begun();
        sandbox.run(["close", "--force"]).ok();
        sandbox.at("2026-11-14T10:05:00Z");
        edit(&sandbox, &changes);
        let view = sandbox.run(["note", "seen", "--session", ID, "--json"]).ok().json();
        assert_eq!((&view["status"], phase(&view)), (&"completed".into(), "context"), "{view}");
        assert_eq!(crate::statuses(&view)[..2], ["in_progress", "not_started"]);
        sandbox.run(["reopen", ID]).ok();
        assert_eq!(state(&sandbox)["current_phase"], "context");
    }
}

/// The tool's template for an active review. It does not name the workflow.
fn template(phase: &str, number: u32) -> Value {
    json!({ "session_id": ID, "status": "active", "current_phase": phase, "phase_number": number,
        "current_round": 1, "started_at": "2026-11-14T09:00:00Z", "updated_at": "2026-11-14T09:30:00Z" })
}

#[test]
fn a_map_file_beside_a_review_makes_no_map_of_it() {
    for (name, number) in [("context", 1), ("reviews", 4), ("synthesis", 7)] {
        let sandbox = project();
        foreign(&sandbox, ID, &template(name, number));
        sandbox.run(["note", "taken in"]).ok();
        artifact_at(&sandbox, "map/runs/run-1/topology.md", "T\n", "2026-11-14T10:10:00Z");
        sandbox.at("2026-11-14T10:20:00Z");
        let list = sandbox.run(["list", "--json"]).ok().json();
        assert_eq!(list["sessions"][0]["workflow"], "review");
        let view = sandbox.run(["status", "--json"]).ok().json();
        assert_eq!((&view["run"]["workflow"], phase(&view)), (&"review".into(), name), "{view}");
        sandbox.run(["note", "after it"]).ok();
        let written = state(&sandbox);
        assert_ne!(written["workflow_type"], "map", "{written}");
        assert_eq!((&written["current_phase"], &written["phase_number"]), (&name.into(), &number.into()));
    }
}

#[test]
fn a_round_beside_a_map_makes_no_review_of_it() {
    let sandbox = project();
    let at_synthesis = json!({ "session_id": ID, "status": "active", "current_phase": "synthesis", "phase_number": 5,
        "current_map_run": 1, "started_at": "2026-11-14T09:00:00Z", "updated_at": "2026-11-14T09:30:00Z" });
    foreign(&sandbox, ID, &at_synthesis);
    sandbox.run(["note", "taken in"]).ok();
    artifact_at(&sandbox, "rounds/round-1/final.md", "F\n", "2026-11-14T10:10:00Z");
    sandbox.at("2026-11-14T10:20:00Z");
    let view = sandbox.run(["note", "after it", "--json"]).ok().json();
    assert_eq!((&view["run"]["workflow"], phase(&view)), (&"map".into(), "synthesis"), "{view}");
    assert_eq!(state(&sandbox)["phase_number"], 5);
}

#[test]
fn one_that_is_known_stays_in_its_workflow_also_where_its_file_tells_none() {
    let sandbox = project();
    foreign(&sandbox, ID, &json!({ "session_id": ID, "status": "active", "current_phase": "synthesis" }));
    assert_eq!(sandbox.run(["note", "taken in", "--json"]).ok().json()["run"]["workflow"], "review");
    artifact_at(&sandbox, "map/runs/run-1/topology.md", "T\n", "2026-11-14T10:10:00Z");
    sandbox.at("2026-11-14T10:20:00Z");
    let view = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!((&view["run"]["workflow"], phase(&view)), (&"review".into(), "synthesis"), "{view}");
    sandbox.run(["note", "after it"]).ok();
    let written = state(&sandbox);
    assert_eq!(
        (&written["workflow_type"], &written["current_phase"]),
        (&"review".into(), &"synthesis".into())
    );
    // The file itself has another phase.
    edit(&sandbox, &json!({ "workflow_type": "map", "current_phase": "topology", "phase_number": 2 }));
    let view = sandbox.run(["note", "a map", "--json"]).ok().json();
    assert_eq!((&view["run"]["workflow"], phase(&view)), (&"map".into(), "topology"), "{view}");
}
