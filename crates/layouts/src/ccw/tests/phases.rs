//! Tests of the current phase, and of the proof that earlier phases are done.

use super::*;
use model::phase::PhaseState;

#[track_caller]
fn check(json: &str, phase: &str, expected: &[&str]) {
    let tree = with_state(json);
    let (session, _) = folded(&tree);
    assert_eq!(session.run().expect("a run").current().id().as_str(), phase, "{json}");
    check_warnings(&tree, expected);
}

#[test]
fn init_brainstorm_vibe_and_complete_are_valid_and_kept() {
    check(r#"{"current_phase":"INIT"}"#, "plan", &[]);
    check(r#"{"current_phase":"BRAINSTORM"}"#, "plan", &[]);
    check(r#"{"current_phase":"VIBE"}"#, "implement", &[]);
    check(r#"{"current_phase":"COMPLETE"}"#, "review", &[]);
    check(r#"{"phase":"review"}"#, "review", &[]);
    for word in ["INIT", "BRAINSTORM", "VIBE", "COMPLETE", "PLAN", "IMPLEMENT", "REVIEW"] {
        let tree = with_state(&format!("{{\"current_phase\":\"{word}\"}}"));
        let paused = Event::SessionPaused { reason: "r".to_owned(), context: None, saved: Vec::new() };
        let json = json_at(&after(&tree, &[paused]), "WFS-login/workflow-session.json");
        assert_eq!((&json["current_phase"], &json["status"]), (&word.into(), &"paused".into()));
    }
    let (session, _) = folded(&with_state(r#"{"current_phase":"COMPLETE"}"#));
    assert!(!session.run().expect("a run").is_open());
}

#[test]
fn an_invalid_phase_is_the_last_valid_one() {
    let moved = r#""state_transitions":[{"phase_completed":"PLAN","next_phase":"IMPLEMENT","completed_at":"2026-01-29T10:00:00Z","artifacts":{}}]"#;
    check(
        &format!("{{\"current_phase\":\"SHIP\",{moved}}}"),
        "implement",
        &["no phase 'SHIP'; the last valid one is IMPLEMENT"],
    );
    check(
        r#"{"current_phase":"SHIP","progress":{"completed_phases":["PLAN","IMPLEMENT"]}}"#,
        "review",
        &["the last valid one is REVIEW"],
    );
    check(
        r#"{"current_phase":9,"status":"implementing"}"#,
        "implement",
        &["current_phase is 9, not a string"],
    );
    check(r#"{"current_phase":"SHIP"}"#, "plan", &["the last valid one is PLAN"]);
    check(r#"{"type":"simple"}"#, "implement", &["current_phase is missing"]);
}

#[test]
fn what_lies_before_is_shown_by_its_document_or_only_claimed() {
    let mut tree = seed();
    assert!(!folded(&tree).0.run().expect("a run").phases[0].claimed);
    let template = documents::template("Log in", Some("with OAuth"));
    tree.insert("WFS-login/IMPL_PLAN.md", Entry::File(template.into_bytes()));
    assert!(folded(&tree).0.run().expect("a run").phases[0].claimed, "a template is no plan");
    let review = SEED.replace("IMPLEMENT", "REVIEW");
    tree.insert("WFS-login/workflow-session.json", Entry::File(review.into_bytes()));
    assert!(folded(&tree).0.run().expect("a run").phases[1].claimed, "a task is unfinished");
    tree.insert("WFS-login/.task/impl-2.json", Entry::File(task("impl-2", "completed", "").into_bytes()));
    assert!(!folded(&tree).0.run().expect("a run").phases[1].claimed);
}

#[test]
fn a_simple_session_begins_with_its_implementation() {
    let (session, _) = folded(&with_state(r#"{"type":"simple","current_phase":"IMPLEMENT"}"#));
    assert!(matches!(session.run().expect("a run").phases[0].state, PhaseState::Skipped { .. }));
    let (session, _) = folded(&with_state(r#"{"type":"simple","current_phase":"PLAN"}"#));
    assert_eq!(session.run().expect("a run").current().id().as_str(), "plan");
}

#[test]
fn a_missing_session_file_is_worked_out_from_the_registry_and_the_other_files() {
    let registry = ("session_status.jsonl", LINE);
    let files: [(&[(&str, &str)], &str); 4] = [
        (&[registry], "plan"),
        (&[registry, ("WFS-login/IMPL_PLAN.md", PLAN_TEXT)], "plan"),
        (
            &[registry, ("WFS-login/.task/impl-1.json", "{\"id\":\"impl-1\",\"status\":\"pending\"}")],
            "implement",
        ),
        (&[registry, ("WFS-login/REVIEW.md", "fine")], "review"),
    ];
    for (files, phase) in files {
        let tree = tree(files);
        let (session, _) = folded(&tree);
        assert_eq!(session.run().expect("a run").current().id().as_str(), phase);
        assert_eq!(session.title, "OAuth");
        assert_eq!(told(&tree).value.unreadable, ["WFS-login/workflow-session.json"]);
        assert!(warnings(&tree)[0].contains("it is missing; the position was derived"));
    }
    // A missing state file is recreated with default values, in the original format.
    let recreated = after(&tree(&[registry]), &[]);
    let json = json_at(&recreated, "WFS-login/workflow-session.json");
    assert_eq!(json["session_id"], NAME);
    assert_eq!((&json["current_phase"], &json["status"]), (&"PLAN".into(), &"active".into()));
    assert_eq!(json["meta"]["created"], "2026-01-28T10:00:00Z");
    assert!(warnings(&recreated).is_empty());
}

#[test]
fn the_seeds_check_of_each_phase_is_a_health_check() {
    let health = |tree: &Tree| details(tree).health.pop().expect("checks");
    let plan = health(&with_state(r#"{"current_phase":"PLAN"}"#));
    assert_eq!(
        (plan.check, plan.is_well, plan.found.as_str()),
        ("plan document", false, "IMPL_PLAN.md is missing")
    );
    let implement = health(&seed());
    assert_eq!(
        (implement.check, implement.is_well, implement.found.as_str()),
        ("active tasks", true, "impl-2")
    );
    let mut tree = seed();
    let gone = SEED.replace("\"impl-1\", \"impl-2\"", "\"impl-7\"");
    tree.insert("WFS-login/workflow-session.json", Entry::File(gone.into_bytes()));
    assert_eq!(health(&tree).found, "current task impl-7 does not exist");
    let review = SEED.replace("IMPLEMENT", "REVIEW");
    tree.insert("WFS-login/workflow-session.json", Entry::File(review.into_bytes()));
    let review = health(&tree);
    assert_eq!(
        (review.check, review.is_well, review.found.as_str()),
        ("implementation", false, "1 task is unfinished")
    );
}

#[test]
fn completed_is_completed_and_leaves_unfinished_work_unfinished() {
    let json = SEED.replace("\"status\": \"active\"", "\"status\": \"completed\"");
    let mut tree = seed();
    tree.insert("WFS-login/workflow-session.json", Entry::File(json.into_bytes()));
    tree.insert("session_status.jsonl", Entry::File(LINE.replace("active", "completed").into_bytes()));
    let (session, items) = folded(&tree);
    assert!(matches!(session.lifecycle, model::lifecycle::Lifecycle::Completed { forced: true, .. }));
    assert_eq!(session.run().expect("a run").current().id().as_str(), "implement");
    assert_eq!(items.iter().filter(|item| item.is_done()).count(), 1);
}

/// Files of later releases have no `current_phase`: their status, or completed entries in `phases`, give the
/// phase without a warning.
#[test]
fn a_file_of_later_releases_needs_no_current_phase() {
    check(r#"{"status":"planning"}"#, "plan", &[]);
    check(r#"{"status":"implementing","created_at":"2026-01-28T10:00:00Z"}"#, "implement", &[]);
    check(r#"{"status":"reviewing"}"#, "review", &[]);
    check(r#"{"status":"active","phases":{"PLAN":{"status":"completed"}}}"#, "implement", &[]);
    check(r#"{"status":"active"}"#, "plan", &["current_phase is missing; PLAN was derived"]);
}

/// If the phase is invalid, the last valid phase is used, and written to the file once the session continues.
#[test]
fn a_word_that_is_no_phase_is_reset_to_the_last_valid_one_by_whoever_goes_on() {
    let tree = with_state(r#"{"current_phase":"SHIP","progress":{"completed_phases":["PLAN"]},"x":1}"#);
    assert_eq!(written(&tree, &[]), []);
    let paused = Event::SessionPaused { reason: "r".to_owned(), context: None, saved: Vec::new() };
    let waits = after(&tree, &[paused]);
    assert_eq!(json_at(&waits, "WFS-login/workflow-session.json")["current_phase"], "SHIP");
    let resumed = Event::SessionResumed { worktree: "/w".to_owned(), parallel: false, machine: None };
    let json = json_at(&after(&waits, &[resumed]), "WFS-login/workflow-session.json");
    assert_eq!((&json["current_phase"], &json["x"]), (&"IMPLEMENT".into(), &1.into()));
    // Any work in an active session continues it.
    let saved = Event::CheckpointMade { name: "s".to_owned() };
    let json = json_at(&after(&tree, &[saved]), "WFS-login/workflow-session.json");
    assert_eq!(json["current_phase"], "IMPLEMENT");
}
