//! Tests of working next to the tool in the order in which it works: it first writes the file of a phase, and
//! then its state.

use super::*;
use serde_json::json;

fn at_discourse(sandbox: &Sandbox) {
    for (minute, (phase, file)) in [
        ("context", "discovered-standards.md"),
        ("change-context", "context.md"),
        ("analysis", "context.md"),
        ("reviews", "rounds/round-1/reviews/security-1.md"),
        ("aggregation", ""),
    ]
    .into_iter()
    .enumerate()
    {
        let now = format!("2026-11-14T10:{minute:02}:00Z");
        sandbox.at(&now);
        if !file.is_empty() {
            artifact_at(sandbox, file, "x\n", &now);
        }
        sandbox.run(["advance", "--phase", phase]).ok();
    }
}

#[test]
fn whoever_names_a_phase_completes_it_with_what_they_hand_in_though_its_file_shows_it() {
    for named in ["discourse", "6"] {
        let sandbox = begun();
        at_discourse(&sandbox);
        artifact_at(&sandbox, "rounds/round-1/discourse.md", "D\n", "2026-11-14T10:06:00Z");
        sandbox.at("2026-11-14T10:07:00Z");
        let seen = sandbox.run(["status", "--json"]).ok().json();
        assert_eq!(phase(&seen), "discourse", "the file alone does not complete it");
        let words =
            ["advance", "--phase", named, "--evidence", "challenged=3", "--output", "verdict=ok", "--json"];
        let view = sandbox.run(words).ok().json();
        assert_eq!((phase(&view), &view["already"]), ("synthesis", &false.into()), "{view}");
        let shown = sandbox.run(["show", "--json"]).ok().json();
        let attempt = shown["phases"][5]["attempts"].as_array().unwrap().last().unwrap();
        assert_eq!(attempt["evidence"]["challenged"], 3, "{attempt}");
        assert_eq!(attempt["outputs"]["verdict"], "ok", "{attempt}");
        assert_ne!(attempt["actor"]["name"], "ocr", "{attempt}");
        let artifacts = sandbox.run(["artifact", "list"]).ok().stdout;
        assert!(artifacts.contains("rounds/round-1/discourse.md"), "{artifacts}");
        artifact_at(&sandbox, "rounds/round-1/final.md", "F\n", "2026-11-14T10:08:00Z");
        sandbox.at("2026-11-14T10:09:00Z");
        sandbox.run(["advance", "--phase", "synthesis"]).ok();
        assert_eq!(
            (&state(&sandbox)["status"], &state(&sandbox)["phase_number"]),
            (&"active".into(), &8.into())
        );
        let artifacts = sandbox.run(["artifact", "list", "--session", ID]).ok().stdout;
        assert!(artifacts.contains("rounds/round-1/final.md"), "{artifacts}");
    }
}

/// Expects that both final files of the round exist, and that each phase is named together with the evidence
/// that must stay.
fn complete_both(sandbox: &Sandbox) {
    for (position, named, after) in [(5, "discourse", "synthesis"), (6, "synthesis", "complete")] {
        let words = ["advance", "--phase", named, "--evidence", "count=3", "--session", ID, "--json"];
        let view = sandbox.run(words).ok().json();
        assert_eq!((phase(&view), &view["already"]), (after, &false.into()), "{view}");
        let shown = sandbox.run(["show", ID, "--json"]).ok().json();
        let attempt = shown["phases"][position]["attempts"].as_array().unwrap().last().unwrap();
        assert_eq!(attempt["evidence"]["count"], 3, "{named}: {attempt}");
    }
    assert_eq!(state(sandbox)["status"], "active");
}

#[test]
fn whoever_names_a_phase_completes_it_though_the_file_of_the_next_one_is_there_too() {
    let sandbox = begun();
    at_discourse(&sandbox);
    artifact_at(&sandbox, "rounds/round-1/discourse.md", "D\n", "2026-11-14T10:06:00Z");
    artifact_at(&sandbox, "rounds/round-1/final.md", "F\n", "2026-11-14T10:06:30Z");
    sandbox.at("2026-11-14T10:07:00Z");
    complete_both(&sandbox);
}

#[test]
fn whoever_names_a_phase_completes_it_also_with_the_first_command_on_a_session() {
    let sandbox = project();
    foreign(
        &sandbox,
        ID,
        &json!({ "session_id": ID, "status": "active", "workflow_type": "review", "current_phase": "reviews",
            "phase_number": 4, "current_round": 1, "started_at": NOW, "updated_at": NOW }),
    );
    artifact(&sandbox, "rounds/round-1/reviews/security-1.md", "R\n");
    artifact(&sandbox, "rounds/round-1/discourse.md", "D\n");
    artifact(&sandbox, "rounds/round-1/final.md", "F\n");
    let later = sandbox.run(["advance", "--phase", "synthesis", "--session", ID, "--json"]).code(4);
    assert_eq!(later.error()["kind"], "phase_not_current", "a later file lets no phase be passed over");
    sandbox.at("2026-11-14T12:00:00Z");
    for phase in ["reviews", "aggregation"] {
        sandbox.run(["advance", "--phase", phase, "--session", ID]).ok();
    }
    complete_both(&sandbox);
}

#[test]
fn evidence_for_what_is_done_already_is_not_dropped_in_silence() {
    let sandbox = begun();
    artifact(&sandbox, "discovered-standards.md", "S\n");
    let words = ["advance", "--phase", "context", "--evidence", "found=2"];
    sandbox.run(words).ok();
    let again = sandbox.run(words).ok();
    assert!(!again.stderr.contains("evidence"), "the same again is not twice: {}", again.stderr);
    let other = sandbox.run(["advance", "--phase", "context", "--evidence", "found=3"]).ok();
    let said = "context was already completed, so this evidence was not recorded: found;";
    assert!(other.stderr.contains(said), "{}", other.stderr);
}

#[test]
fn a_file_that_was_written_before_the_state_moved_on_is_not_older_than_the_phase() {
    for is_taken_in_before in [true, false] {
        let sandbox = begun();
        artifact_at(&sandbox, "discovered-standards.md", "S\n", "2026-11-14T10:01:00Z");
        artifact_at(&sandbox, "context.md", "C\n", "2026-11-14T10:02:00Z");
        edit(&sandbox, &json!({ "current_phase": "change-context", "phase_number": 2 }));
        sandbox.at("2026-11-14T10:07:00Z");
        if is_taken_in_before {
            sandbox.run(["note", "taken in"]).ok();
        }
        sandbox.run(["advance", "--phase", "change-context"]).ok();
        artifact_at(&sandbox, "context.md", "C2\n", "2026-11-14T09:00:00Z");
        let old = sandbox.run(["advance", "--phase", "analysis"]).code(5);
        assert!(old.stderr.contains("older than the phase"), "ours began when it did: {}", old.stderr);
    }
}

#[test]
fn what_was_written_before_somebody_went_back_is_older_than_the_phase() {
    let sandbox = begun();
    artifact_at(&sandbox, "discovered-standards.md", "S\n", "2026-11-14T10:01:00Z");
    artifact_at(&sandbox, "context.md", "C\n", "2026-11-14T10:02:00Z");
    edit(&sandbox, &json!({ "current_phase": "analysis", "phase_number": 3 }));
    sandbox.at("2026-11-14T10:07:00Z");
    sandbox.run(["note", "taken in"]).ok();
    sandbox.at("2026-11-14T10:10:00Z");
    sandbox.run(["rollback", "change-context"]).ok();
    sandbox.at("2026-11-14T10:11:00Z");
    let old = sandbox.run(["advance", "--phase", "change-context"]).code(5);
    assert!(old.stderr.contains("older than the phase"), "{}", old.stderr);
}

#[test]
fn a_state_that_is_dated_hours_ahead_makes_no_file_old() {
    let sandbox = project();
    foreign(
        &sandbox,
        ID,
        &json!({ "session_id": ID, "status": "active", "workflow_type": "review", "current_round": 1,
            "current_phase": "change-context", "phase_number": 2, "started_at": "2026-11-14T12:00:00Z",
            "round_started_at": "2026-11-14T12:00:00Z", "updated_at": "2026-11-14T12:30:00Z" }),
    );
    let text = sandbox.read(&format!("{FOLDER}/state.json"));
    write_at(&sandbox, &format!("{FOLDER}/state.json"), &text, "2026-11-14T09:30:00Z");
    sandbox.run(["note", "taken in"]).ok();
    artifact_at(&sandbox, "context.md", "C\n", "2026-11-14T10:04:00Z");
    sandbox.at("2026-11-14T10:05:00Z");
    sandbox.run(["advance", "--phase", "change-context"]).ok();
    edit(&sandbox, &json!({ "current_phase": "discourse", "phase_number": 6 }));
    artifact_at(&sandbox, "rounds/round-1/discourse.md", "D\n", "2026-11-14T10:06:00Z");
    sandbox.at("2026-11-14T10:07:00Z");
    sandbox.run(["advance", "--phase", "discourse"]).ok();
}

#[test]
fn a_closed_session_that_the_tool_opened_again_is_listed_and_meant() {
    let sandbox = begun();
    sandbox.run(["close", "--force"]).ok();
    let listed = || sandbox.run(["list", "--json"]).ok().json()["sessions"].as_array().unwrap().len();
    assert_eq!(listed(), 0);
    edit(&sandbox, &json!({ "status": "active", "current_phase": "reviews", "phase_number": 4 }));
    assert_eq!(listed(), 1, "as status shows it");
    sandbox.run(["note", "goes on"]).ok();
    assert_eq!(state(&sandbox)["status"], "active");
}

#[test]
fn o3_a_review_that_is_active_and_complete_is_shown() {
    let sandbox = project();
    let review = |name: &str, phase: &str, number: u32| {
        json!({ "session_id": name, "status": "active", "workflow_type": "review", "current_round": 1,
            "current_phase": phase, "phase_number": number, "updated_at": NOW })
    };
    foreign(&sandbox, "2026-11-12-older", &review("2026-11-12-older", "reviews", 4));
    foreign(&sandbox, "2026-11-13-newer", &review("2026-11-13-newer", "complete", 8));
    let view = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!((&view["session_id"], phase(&view)), (&"2026-11-13-newer".into(), "complete"));
    assert_eq!(view["lifecycle"]["state"], "active");
    let screen = sandbox.run(["progress", "--once"]).ok().stdout;
    assert!(screen.starts_with("2026-11-13-newer\n") && screen.contains("▸ Complete"), "{screen}");
    assert_eq!(sandbox.run(["list", "--json"]).ok().json()["sessions"].as_array().unwrap().len(), 2);
}

#[test]
fn a_name_that_is_written_just_so_comes_before_one_in_other_letters() {
    let sandbox = project();
    let review = |name: &str| {
        json!({ "session_id": name, "status": "active", "workflow_type": "review", "current_round": 1,
            "current_phase": "reviews", "phase_number": 4, "updated_at": NOW })
    };
    foreign(&sandbox, "2026-11-14-FEAT", &review("2026-11-14-FEAT"));
    sandbox.run(["note", "taken in", "--session", "2026-11-14-FEAT"]).ok();
    foreign(&sandbox, "2026-11-14-feat", &review("2026-11-14-feat"));
    let view = sandbox.run(["status", "--session", "2026-11-14-feat", "--json"]).ok().json();
    // The ids of two sessions must differ in more than upper and lower case.
    let id = view["session_id"].as_str().unwrap();
    assert!(id.starts_with("2026-11-14-feat-"), "{id}");
    sandbox.run(["note", "the other", "--session", "2026-11-14-feat"]).ok();
    let log = sandbox.run(["log", "--session", "2026-11-14-FEAT"]).ok().stdout;
    assert!(!log.contains("the other"), "{log}");
}

#[test]
fn a_round_that_only_its_folder_tells_of_has_a_clock_of_its_own() {
    for is_ours in [true, false] {
        let sandbox = if is_ours { begun() } else { project() };
        if is_ours {
            sandbox.run(["close", "--force"]).ok();
        } else {
            let closed = json!({ "session_id": ID, "status": "closed", "workflow_type": "review",
                "current_round": 1, "current_phase": "complete", "phase_number": 8,
                "started_at": "2026-11-14T08:00:00Z", "round_started_at": "2026-11-14T08:00:00Z",
                "updated_at": "2026-11-14T09:00:00Z" });
            foreign(&sandbox, ID, &closed);
        }
        artifact_at(&sandbox, "rounds/round-1/final.md", "x", "2026-11-14T09:00:00Z");
        artifact_at(&sandbox, "rounds/round-2/reviews/security-1.md", "x", "2026-11-14T10:30:00Z");
        sandbox.at("2026-11-14T10:31:00Z");
        sandbox.run(["round", "--session", ID]).ok();
        let written = state(&sandbox);
        assert_eq!((&written["current_round"], &written["status"]), (&2.into(), &"active".into()));
        let began = written["round_started_at"].as_str().unwrap();
        assert!(began >= "2026-11-14T10:30:00Z", "{written}");
    }
}

#[test]
fn the_screen_stands_where_the_status_does() {
    let screen = |sandbox: &Sandbox| sandbox.run(["progress", "--once"]).ok().stdout;
    let sandbox = begun();
    at_discourse(&sandbox);
    artifact_at(&sandbox, "rounds/round-1/discourse.md", "D\n", "2026-11-14T10:06:00Z");
    sandbox.at("2026-11-14T10:07:00Z");
    sandbox.run(["advance", "--phase", "discourse"]).ok();
    assert!(screen(&sandbox).contains("88 %"), "{}", screen(&sandbox));
    sandbox.run(["rollback", "reviews"]).ok();
    assert_eq!(phase(&sandbox.run(["status", "--json"]).ok().json()), "reviews");
    assert!(screen(&sandbox).contains("50 %"), "{}", screen(&sandbox));
    edit(&sandbox, &json!({ "current_phase": "banana", "phase_number": 9 }));
    assert_eq!(phase(&sandbox.run(["status", "--json"]).ok().json()), "reviews");
    assert!(screen(&sandbox).contains("50 %"), "{}", screen(&sandbox));
}

#[test]
fn a_round_that_the_tool_left_without_a_file_is_over_when_it_begins_the_next() {
    let sandbox = begun();
    edit(
        &sandbox,
        &json!({ "current_round": 2, "current_phase": "context", "phase_number": 1,
            "round_started_at": "2026-11-14T10:05:00Z" }),
    );
    sandbox.at("2026-11-14T10:06:00Z");
    sandbox.run(["note", "taken in"]).ok();
    artifact_at(&sandbox, "rounds/round-2/final.md", "F\n", "2026-11-14T10:07:00Z");
    sandbox.at("2026-11-14T10:08:00Z");
    sandbox.run(["note", "taken in", "--session", ID]).ok();
    assert_eq!(state(&sandbox)["status"], "active");
    let view = sandbox.run(["round", "--session", ID, "--json"]).ok().json();
    assert_eq!(view["run"]["ordinal"], 3);
    assert_eq!(state(&sandbox)["current_round"], 3);
}

#[test]
fn a_finished_map_leads_back_to_the_review_that_goes_on() {
    let sandbox = begun();
    sandbox.run(["run", "start", "map"]).ok();
    artifact(&sandbox, "map/runs/run-1/map.md", "M\n");
    edit(&sandbox, &json!({ "current_phase": "complete", "phase_number": 6 }));
    let next = sandbox.run(["next", "--json"]).ok().json();
    assert!(next["summary"].as_str().unwrap().contains("Run 1 of review is still open"), "{next}");
    sandbox.run_printed(next["command"].as_str().unwrap()).ok();
    assert_eq!(state(&sandbox)["workflow_type"], "review");
}

#[test]
fn one_that_was_given_up_is_waited_beside_and_can_be_taken_up_again() {
    let sandbox = begun();
    sandbox.run(["abandon", "--yes"]).ok();
    let screen = sandbox.run(["progress", "--once"]).ok().stdout;
    assert!(screen.starts_with("Waiting for session…"), "{screen}");
    let next = sandbox.run(["next", "--session", ID, "--json"]).ok().json();
    assert_eq!(next["command"], Value::Null, "what was given up suggests nothing");
    sandbox.run(["reopen", ID]).ok();
    assert_eq!(state(&sandbox)["status"], "active");
}
