//! Tests of further rules of the format: rounds by folder, finished reviewers, durations, and a newer release
//! of the tool.

use super::*;
use serde_json::json;

fn review(phase: &str, number: u32) -> Value {
    json!({ "session_id": ID, "status": "active", "workflow_type": "review", "current_phase": phase,
        "phase_number": number, "current_round": 1, "started_at": NOW, "round_started_at": NOW, "updated_at": NOW })
}

fn screen(sandbox: &Sandbox, words: &[&str]) -> String {
    sandbox.run(["progress", "--once"].iter().chain(words)).ok().stdout
}

#[test]
fn o14_a_newer_release_that_keeps_its_state_in_a_database_is_told_wherever_the_two_could_differ() {
    let sandbox = project();
    let said = ".ocr/data/ocr.db exists: Open Code Review 1.5 and later keeps its sessions there and never reads state.json";
    assert!(!sandbox.run(["status"]).ok().stderr.contains(said));
    sandbox.write(".ocr/data/ocr.db", "SQLite format 3\0");
    assert!(sandbox.run(["status"]).ok().stderr.contains(said), "also where there is no session yet");
    let started = sandbox.run(["start", "--layout", "ocr"]).ok().stderr;
    assert!(started.contains(said) && started.contains("ocr state show"), "{started}");
    assert!(sandbox.run(["status"]).ok().stderr.contains(said));
    let held = sandbox.run(["advance"]).code(5).stderr;
    assert!(held.contains(said), "also where the gate does not pass: {held}");
    artifact(&sandbox, "discovered-standards.md", "S\n");
    assert!(sandbox.run(["advance"]).ok().stderr.contains(said));
    let found = sandbox.run(["doctor"]).code(4).stdout;
    assert!(found.contains(said) && found.contains("ocr state transition"), "{found}");
    let brief = sandbox.run(["brief", "--json"]).ok().stdout;
    assert!(brief.contains("kept_elsewhere"), "{brief}");
    // leftoff's own session is not affected.
    sandbox.run(["start", "--id", "ours"]).ok();
    assert!(!sandbox.run(["status"]).ok().stderr.contains(said));
    assert_eq!(sandbox.read(".ocr/data/ocr.db"), "SQLite format 3\0");
}

#[test]
fn o4_a_state_that_claims_a_round_without_a_folder_shows_the_last_folder_and_warns() {
    let sandbox = project();
    let mut fields = review("reviews", 4);
    fields["current_round"] = 5.into();
    foreign(&sandbox, ID, &fields);
    artifact(&sandbox, "rounds/round-1/final.md", "F\n");
    artifact(&sandbox, "rounds/round-2/reviews/security-1.md", "## Finding\n");
    let view = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!(view["run"]["ordinal"], 2);
    assert!(warnings(&view).contains("current_round is 5, but the last folder is rounds/round-2"), "{view}");
    assert!(screen(&sandbox, &[]).contains("Review  Round 2"));
}

#[test]
fn o5_a_round_and_a_run_of_a_map_have_their_folder_at_once() {
    let sandbox = begun();
    artifact(&sandbox, "rounds/round-1/final.md", "F\n");
    let next = |minute: u32, words: &[&str]| {
        sandbox.at(&format!("2026-11-14T10:{minute:02}:00Z"));
        sandbox.run(words).ok();
    };
    next(1, &["round"]);
    assert!(sandbox.path(&format!("{FOLDER}/rounds/round-2")).is_dir());
    next(2, &["run", "start", "map"]);
    assert!(sandbox.path(&format!("{FOLDER}/map/runs/run-1")).is_dir());
    artifact_at(&sandbox, "map/runs/run-1/map.md", "M\n", "2026-11-14T10:02:30Z");
    next(3, &["run", "start", "map"]);
    assert!(sandbox.path(&format!("{FOLDER}/map/runs/run-2")).is_dir());
    next(4, &["undo"]);
    assert!(!sandbox.path(&format!("{FOLDER}/map/runs/run-2")).exists(), "its beginning was undone");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["run"]["ordinal"], 1);
    sandbox.run(["doctor"]).ok();
}

/// The tool shows the round with the highest folder. Without a folder for a later round, it would show the
/// ticks of the round before.
#[test]
fn o5_a_later_round_that_is_restored_announced_or_lost_gets_its_folder_from_the_next_command() {
    let sandbox = begun();
    artifact(&sandbox, "rounds/round-1/final.md", "F\n");
    let second = sandbox.path(&format!("{FOLDER}/rounds/round-2"));
    sandbox.run(["round"]).ok();
    sandbox.run(["undo"]).ok();
    assert!(!second.exists());
    sandbox.run(["redo"]).ok();
    assert!(second.is_dir(), "restored");
    // git does not keep empty folders.
    std::fs::remove_dir(&second).unwrap();
    sandbox.run(["status"]).ok();
    assert!(!second.exists(), "a question writes nothing");
    sandbox.run(["note", "back on this branch"]).ok();
    assert!(second.is_dir(), "lost");

    let sandbox = project();
    let mut fields = review("context", 1);
    fields["current_round"] = 2.into();
    foreign(&sandbox, ID, &fields);
    artifact(&sandbox, "rounds/round-1/final.md", "F\n");
    artifact(&sandbox, "discovered-standards.md", "S\n");
    sandbox.run(["advance", "--phase", "context"]).ok();
    assert!(sandbox.path(&format!("{FOLDER}/rounds/round-2")).is_dir(), "announced");
}

#[test]
fn o6_whoever_resumes_is_told_which_reviewers_are_ready_and_how_long_it_takes() {
    let sandbox = project();
    foreign(&sandbox, ID, &review("reviews", 4));
    artifact(&sandbox, "rounds/round-1/reviews/quality-1.md", "nothing\n");
    artifact(&sandbox, "rounds/round-1/reviews/security-1.md", "## Finding 1\n## Finding 2\n");
    sandbox.at("2026-11-14T10:05:00Z");
    let line = "review round 1: not final; quality-1 (0 findings), security-1 (2 findings)";
    for words in [&["status"][..], &["brief"], &["brief", "--format", "markdown"]] {
        let said = sandbox.run(words).ok().stdout;
        assert!(said.replace("\n   ", " ").contains(line), "{words:?}: {said}");
        assert!(said.contains("5 min"), "{words:?}: {said}");
    }
    let next = sandbox.run(["next", "--json"]).ok().json();
    let summary = next["summary"].as_str().unwrap();
    assert!(summary.contains("Already done: quality-1 (0 findings), security-1 (2 findings)."), "{summary}");
    let view = screen_json(&sandbox);
    assert_eq!(
        view["rounds"],
        json!([{ "title": "review round 1", "workflow": "review", "number": 1, "final": false, "parts": [
            { "kind": "reviewer", "name": "quality-1", "findings": 0 },
            { "kind": "reviewer", "name": "security-1", "findings": 2 } ] }])
    );
    assert_eq!(view["elapsed_seconds"], 300);
}

#[test]
fn o6_the_brief_tells_the_rounds_time_beside_the_phases() {
    let sandbox = project();
    let mut fields = review("reviews", 4);
    fields["started_at"] = "2026-11-14T08:00:00Z".into();
    fields["round_started_at"] = "2026-11-14T09:00:00Z".into();
    foreign(&sandbox, ID, &fields);
    sandbox.at("2026-11-14T10:05:00Z");
    for words in [&["brief"][..], &["brief", "--format", "markdown"]] {
        let said = sandbox.run(words).ok().stdout.replace('\n', " ");
        assert!(said.contains("Elapsed: 1 h 05 min."), "{words:?}: {said}");
    }
}

fn screen_json(sandbox: &Sandbox) -> Value {
    sandbox.run(["progress", "--once", "--json"]).ok().json()
}

#[test]
fn o7_work_of_a_phase_moves_updated_at_and_no_path_is_printed_with_a_placeholder() {
    let sandbox = begun();
    edit(&sandbox, &json!({ "current_phase": "reviews", "phase_number": 4 }));
    sandbox.run(["item", "add", "Security", "--id", "security-1"]).ok();
    let updated = || state(&sandbox)["updated_at"].as_str().unwrap().to_owned();
    let file = format!("{FOLDER}/rounds/round-1/reviews/security-1.md");
    for words in [&["next"][..], &["status"], &["brief"], &["status", "--json"]] {
        let said = sandbox.run(words).ok().stdout;
        assert!(!said.contains("{item}"), "{words:?}: {said}");
    }
    let next = sandbox.run(["next", "--json"]).ok().json();
    assert!(next["summary"].as_str().unwrap().contains(&file), "{next}");
    artifact(&sandbox, "rounds/round-1/reviews/security-1.md", "## Finding\n");
    for (minute, words) in [
        (1, &["item", "done", "security-1"][..]),
        (2, &["artifact", "add", &file]),
        (3, &["checkpoint", "-m", "security is ready"]),
    ] {
        let now = format!("2026-11-14T10:0{minute}:00Z");
        sandbox.at(&now);
        sandbox.run(words).ok();
        assert_eq!(updated(), now, "{words:?}");
    }
    sandbox.at("2026-11-14T10:09:00Z");
    sandbox.run(["note", "nothing of the phase"]).ok();
    assert_eq!(updated(), "2026-11-14T10:03:00Z");
}

#[test]
fn o8_starting_a_map_in_a_reviews_session_offers_its_run() {
    let sandbox = begun();
    for is_closed in [false, true] {
        if is_closed {
            sandbox.run(["close", "--force"]).ok();
        }
        let said = sandbox.run(["start", "map", "--layout", "ocr"]).code(4).stderr;
        let command = format!("leftoff run start map --session {ID}");
        assert!(said.contains(&command), "{said}");
    }
    sandbox.run_printed(&format!("leftoff run start map --session {ID}")).ok();
    assert_eq!(state(&sandbox)["workflow_type"], "map");
}

#[test]
fn o9_of_two_workflows_the_finished_one_keeps_its_time() {
    let sandbox = begun();
    sandbox.at("2026-11-14T10:10:00Z");
    sandbox.run(["run", "start", "map"]).ok();
    edit(&sandbox, &json!({ "current_phase": "synthesis", "phase_number": 5 }));
    sandbox.at("2026-11-14T10:30:00Z");
    artifact_at(&sandbox, "map/runs/run-1/map.md", "M\n", "2026-11-14T10:30:00Z");
    sandbox.run(["advance", "--phase", "synthesis"]).ok();
    sandbox.run(["advance", "--phase", "complete"]).ok();
    sandbox.run(["run", "start", "review"]).ok();
    sandbox.at("2026-11-14T12:00:00Z");
    let shown = screen(&sandbox, &[]);
    assert!(shown.contains("Review  Round 1  2h 0m 0s") && shown.contains("Map  Run 1  20m 0s"), "{shown}");
    // The tool closes the review with its template, which contains no workflow, and no start of the round.
    foreign(
        &sandbox,
        ID,
        &json!({ "session_id": ID, "status": "closed", "current_phase": "complete", "phase_number": 8,
            "current_round": 1, "started_at": NOW, "updated_at": "2026-11-14T12:00:00Z" }),
    );
    sandbox.at("2026-11-14T15:00:00Z");
    let shown = screen(&sandbox, &["--session", ID]);
    assert!(shown.contains("Review  Round 1  2h 0m 0s") && shown.contains("Map  Run 1  20m 0s"), "{shown}");
    sandbox.run(["note", "taken in", "--session", ID]).ok();
    let shown = screen(&sandbox, &["--session", ID]);
    assert!(shown.contains("Review  Round 1  2h 0m 0s") && shown.contains("Map  Run 1  20m 0s"), "{shown}");
}

#[test]
fn o9_a_review_adopted_beside_its_map_keeps_its_time_when_its_template_closes_it() {
    let sandbox = project();
    foreign(
        &sandbox,
        ID,
        &json!({ "session_id": ID, "status": "active", "workflow_type": "map", "current_phase": "complete",
            "phase_number": 6, "current_round": 1, "current_map_run": 1, "started_at": "2026-11-14T07:00:00Z",
            "round_started_at": "2026-11-14T07:00:00Z", "map_started_at": "2026-11-14T09:30:00Z",
            "updated_at": "2026-11-14T09:50:00Z" }),
    );
    artifact_at(&sandbox, "rounds/round-1/final.md", "F\n", "2026-11-14T09:00:00Z");
    artifact_at(&sandbox, "map/runs/run-1/map.md", "M\n", "2026-11-14T09:50:00Z");
    sandbox.run(["note", "adopted"]).ok();
    foreign(
        &sandbox,
        ID,
        &json!({ "session_id": ID, "status": "closed", "current_phase": "complete", "phase_number": 8,
            "current_round": 1, "started_at": "2026-11-14T07:00:00Z", "updated_at": NOW }),
    );
    for said in ["not adopted yet", "adopted"] {
        let shown = screen(&sandbox, &["--session", ID]);
        assert!(shown.contains("Review  Round 1  3h 0m 0s"), "{said}: {shown}");
        sandbox.run(["note", said, "--session", ID]).ok();
    }
}

#[test]
fn o9_a_session_that_only_files_tell_of_keeps_the_time_of_its_finished_map() {
    let sandbox = project();
    let mut fields = review("reviews", 4);
    fields["map_started_at"] = "2026-11-14T08:00:00Z".into();
    fields["started_at"] = "2026-11-14T08:00:00Z".into();
    foreign(&sandbox, ID, &fields);
    artifact(&sandbox, "rounds/round-1/reviews/security-1.md", "## Finding\n");
    artifact_at(&sandbox, "map/runs/run-1/map.md", "M\n", "2026-11-14T08:40:00Z");
    sandbox.at("2026-11-14T10:05:00Z");
    let shown = screen(&sandbox, &[]);
    assert!(shown.contains("Review  Round 1  5m 0s") && shown.contains("Map  Run 1  40m 0s"), "{shown}");
}

#[test]
fn o10_a_copied_example_time_makes_no_session_old() {
    let sandbox = project();
    let mut fields = review("reviews", 4);
    for key in ["started_at", "round_started_at", "updated_at"] {
        fields[key] = "2026-01-27T09:45:00.000Z".into();
    }
    foreign(&sandbox, ID, &fields);
    write_at(&sandbox, &format!("{FOLDER}/state.json"), &fields.to_string(), "2026-11-14T09:50:00Z");
    let view = sandbox.run(["status", "--json"]).ok().json();
    let said = warnings(&view);
    for key in ["started_at", "round_started_at", "updated_at"] {
        assert!(said.contains(&format!("state.json: {key} is long before the session's start")), "{said}");
    }
    assert!(!said.contains("has had no activity"), "{said}");
    assert_eq!(view["created_at"], "2026-11-14T09:50:00Z");
    let shown = screen(&sandbox, &[]);
    assert!(shown.contains("Review  Round 1  10m 0s\n"), "as old as its file: {shown}");
    sandbox.run(["note", "taken in"]).ok();
    assert_eq!(state(&sandbox)["started_at"], "2026-01-27T09:45:00.000Z", "it is left as it is");
}

#[test]
fn o11_a_session_closed_in_the_middle_is_the_same_in_list_and_on_its_screen() {
    let sandbox = project();
    let mut fields = review("reviews", 4);
    fields["status"] = "closed".into();
    foreign(&sandbox, ID, &fields);
    for _ in 0..2 {
        let list = sandbox.run(["list", "--all", "--json"]).ok().json();
        assert_eq!(
            (&list["sessions"][0]["phases_done"], &list["sessions"][0]["phase"]),
            (&3.into(), &"reviews".into())
        );
        let shown = screen(&sandbox, &["--session", ID]);
        assert!(shown.contains(" 50 %  Closed unfinished\n") && !shown.contains('✓'), "{shown}");
        let status = sandbox.run(["status", "--session", ID]).ok().stdout;
        assert!(!status.contains("Finished"), "{status}");
        sandbox.run(["note", "taken in", "--session", ID]).ok();
    }
}

#[test]
fn o12_the_current_phase_is_shown_although_there_are_no_requirements() {
    let sandbox = project();
    foreign(
        &sandbox,
        ID,
        &json!({ "session_id": ID, "status": "active", "workflow_type": "map", "current_map_run": 1,
            "current_phase": "requirements-mapping", "phase_number": 4, "started_at": NOW, "updated_at": NOW }),
    );
    assert!(screen(&sandbox, &[]).contains("▸ Requirements Mapping"));
    let mut fields = review("reviews", 4);
    fields["current_map_run"] = 1.into();
    fields["map_started_at"] = NOW.into();
    foreign(&sandbox, ID, &fields);
    assert!(!screen(&sandbox, &[]).contains("Map"), "a template that names one has begun none");
}

#[test]
fn o13_a_finished_map_does_not_hide_an_older_review_in_progress() {
    let sandbox = project();
    foreign(&sandbox, "2026-11-13-older", &review("reviews", 4));
    foreign(
        &sandbox,
        ID,
        &json!({ "session_id": ID, "status": "active", "workflow_type": "map", "current_map_run": 1,
            "current_phase": "complete", "phase_number": 6, "started_at": NOW, "updated_at": NOW }),
    );
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "2026-11-13-older");
    assert!(screen(&sandbox, &[]).starts_with("2026-11-13-older\n"));
    assert!(screen(&sandbox, &["--session", ID]).contains("100 %  Done"), "by its name it is shown");
}

#[test]
fn o13_a_later_round_takes_the_context_that_rounds_share() {
    let sandbox = begun();
    for (file, phase) in
        [("discovered-standards.md", "context"), ("context.md", "change-context"), ("context.md", "analysis")]
    {
        artifact(&sandbox, file, "x\n");
        sandbox.run(["advance", "--phase", phase]).ok();
    }
    artifact(&sandbox, "rounds/round-1/final.md", "F\n");
    sandbox.at("2026-11-15T10:00:00Z");
    sandbox.run(["round"]).ok();
    for phase in ["context", "change-context", "analysis"] {
        sandbox.run(["advance", "--phase", phase]).ok();
    }
    assert_eq!((&state(&sandbox)["current_round"], &state(&sandbox)["phase_number"]), (&2.into(), &4.into()));
}

/// An active session is in progress and can be resumed, also after commands have adopted it.
#[test]
fn o1_an_active_session_can_be_resumed_before_and_after_it_was_adopted() {
    let sandbox = project();
    foreign(&sandbox, ID, &review("synthesis", 7));
    for _ in 0..2 {
        let view = sandbox.run(["resume", "--json"]).ok().json();
        assert_eq!((&view["session_id"], &view["current_phase"]["id"]), (&ID.into(), &"synthesis".into()));
        sandbox.run(["note", "adopted"]).ok();
    }
    assert_eq!(state(&sandbox)["current_phase"], "synthesis");
}
