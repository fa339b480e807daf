//! Tests of leftoff's own writes: state.json has the form that the tool's reader expects, and no file is
//! created that the tool would count.

use super::*;
use serde_json::json;

/// The files of each phase of a review, in order.
const REVIEW_FILES: [&str; 8] = [
    "discovered-standards.md",
    "context.md",
    "context.md",
    "rounds/round-1/reviews/security-1.md",
    "",
    "rounds/round-1/discourse.md",
    "rounds/round-1/final.md",
    "",
];

/// Completes every phase with `advance`. Returns the phases and numbers that were in the file.
fn walked(sandbox: &Sandbox, files: &[&str]) -> Vec<(String, u64)> {
    let mut seen = Vec::new();
    for (minute, file) in files.iter().enumerate() {
        let now = format!("2026-11-14T10:{minute:02}:00Z");
        sandbox.at(&now);
        let written = state(sandbox);
        seen.push((
            written["current_phase"].as_str().unwrap().to_owned(),
            written["phase_number"].as_u64().unwrap(),
        ));
        let current = sandbox.run(["status", "--json"]).ok().json();
        assert_eq!(phase(&current), written["current_phase"], "the file says where the session is");
        if !file.is_empty() {
            artifact_at(sandbox, file, &format!("{minute}\n"), &now);
        }
        sandbox.run(["advance", "--phase", phase(&current)]).ok();
    }
    seen
}

#[test]
fn a_review_goes_through_every_phase_and_is_closed() {
    let sandbox = begun();
    let keys: Vec<String> = state(&sandbox).as_object().unwrap().keys().cloned().collect();
    for expected in [
        "session_id",
        "workflow_type",
        "status",
        "current_phase",
        "phase_number",
        "current_round",
        "started_at",
        "round_started_at",
        "updated_at",
    ] {
        assert!(keys.iter().any(|key| key == expected), "{expected} is not in {keys:?}");
    }
    let expected: Vec<(String, u64)> = REVIEW.iter().map(|name| (*name).to_owned()).zip(1..).collect();
    assert_eq!(walked(&sandbox, &REVIEW_FILES), expected);
    let written = state(&sandbox);
    assert_eq!((&written["status"], &written["session_id"]), (&"closed".into(), &ID.into()));
    assert_eq!(written["started_at"], NOW);
    assert_eq!(written["updated_at"], "2026-11-14T10:07:00Z");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["status"], "completed");
}

#[test]
fn a_map_goes_through_its_phases_and_stays_active() {
    for (requirements, files, expected) in [
        (
            true,
            &[
                "discovered-standards.md",
                "map/runs/run-1/topology.md",
                "map/runs/run-1/flow-analysis.md",
                "map/runs/run-1/requirements-mapping.md",
                "map/runs/run-1/map.md",
                "",
            ][..],
            &MAP[..],
        ),
        (
            false,
            &[
                "discovered-standards.md",
                "map/runs/run-1/topology.md",
                "map/runs/run-1/flow-analysis.md",
                "map/runs/run-1/map.md",
                "",
            ][..],
            &["map-context", "topology", "flow-analysis", "synthesis", "complete"][..],
        ),
    ] {
        let sandbox = project();
        if requirements {
            // Requirements come with the change, so they exist before the session does.
            sandbox.run(["start", "map", "--layout", "ocr"]).ok();
            artifact(&sandbox, "requirements.md", "R1\n");
        } else {
            sandbox.run(["start", "map", "--layout", "ocr"]).ok();
        }
        let names: Vec<String> = walked(&sandbox, files).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, expected, "with requirements: {requirements}");
        let written = state(&sandbox);
        assert_eq!((&written["status"], &written["phase_number"]), (&"active".into(), &6.into()));
        assert_eq!((&written["current_map_run"], written.get("current_round")), (&1.into(), None));
    }
}

#[test]
fn the_id_is_the_day_and_the_branch() {
    let sandbox = begun();
    assert!(sandbox.path(&format!("{FOLDER}/state.json")).is_file());
    let taken = sandbox.run(["start", "--layout", "ocr", "--json"]).code(4);
    assert_eq!(taken.error()["kind"], "id_taken");
    let detached = fresh();
    detached.at(NOW).write(".git/HEAD", "4e1f0aa5a5c2b7d5b5a0f0c9f1c2d3e4f5a6b7c8\n");
    detached.run(["start", "--layout", "ocr"]).ok();
    assert!(detached.path(".ocr/sessions/2026-11-14-/state.json").is_file());
}

#[test]
fn the_day_is_that_of_this_machines_time_zone() {
    for (zone, day) in [("LOC-14", "2026-11-15"), ("LOC+11", "2026-11-13"), ("UTC0", "2026-11-14")] {
        let sandbox = project();
        let ran = sandbox.command(["start", "--layout", "ocr"]).env("TZ", zone).output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
        let path = format!(".ocr/sessions/{day}-feature-login/state.json");
        assert!(sandbox.path(&path).is_file(), "{zone}: {:?}", everything(&sandbox.path(".ocr")).keys());
        assert!(sandbox.read(&path).contains("\"started_at\": \"2026-11-14T10:00:00Z\""), "times are UTC");
    }
}

#[test]
fn standards_that_are_older_than_the_phase_count() {
    for workflow in ["review", "map"] {
        let sandbox = project();
        sandbox.run(["start", workflow, "--layout", "ocr"]).ok();
        artifact_at(&sandbox, "discovered-standards.md", "S\n", "2026-11-01T00:00:00Z");
        let context = if workflow == "map" { "map-context" } else { "context" };
        sandbox.run(["advance", "--phase", context]).ok();
        assert_eq!(state(&sandbox)["phase_number"], 2, "{workflow}");
    }
}

#[test]
fn a_run_of_a_map_is_resumed_until_its_map_is_there_and_the_next_has_its_own_clock() {
    let sandbox = project();
    sandbox.run(["start", "map", "--layout", "ocr"]).ok();
    artifact(&sandbox, "map/runs/run-1/topology.md", "T\n");
    for words in [&["round"][..], &["run", "start", "map"]] {
        let again = sandbox.run(words.iter().chain(&["--json"])).ok().json();
        assert_eq!((&again["already"], &again["run"]["ordinal"]), (&true.into(), &1.into()), "{words:?}");
        assert_eq!(state(&sandbox)["map_started_at"], NOW);
    }
    for (ordinal, words, began) in
        [(2, &["round"][..], "2026-11-14T12:00:00Z"), (3, &["run", "start", "map"], "2026-11-14T14:00:00Z")]
    {
        let finished = began.replace("T12", "T11").replace("T14", "T13");
        artifact_at(&sandbox, &format!("map/runs/run-{}/map.md", ordinal - 1), "M\n", &finished);
        sandbox.at(began);
        let next = sandbox.run(words.iter().chain(&["--json"])).ok().json();
        assert_eq!((&next["run"]["ordinal"], phase(&next)), (&ordinal.into(), "map-context"));
        let written = state(&sandbox);
        assert_eq!((&written["current_map_run"], &written["phase_number"]), (&ordinal.into(), &1.into()));
        assert_eq!((&written["map_started_at"], &written["started_at"]), (&began.into(), &NOW.into()));
    }
}

#[test]
fn a_finished_map_is_closed_without_force() {
    let sandbox = project();
    sandbox.run(["start", "map", "--layout", "ocr"]).ok();
    artifact_at(&sandbox, "map/runs/run-1/map.md", "M\n", "2026-11-14T10:01:00Z");
    sandbox.at("2026-11-14T10:02:00Z");
    sandbox.run(["close"]).code(4);
    assert_eq!(state(&sandbox)["status"], "active", "a file alone finishes nothing");
    edit(&sandbox, &json!({ "current_phase": "complete", "phase_number": 6 }));
    sandbox.run(["close"]).ok();
    let written = state(&sandbox);
    assert_eq!(
        (&written["status"], &written["current_phase"], &written["phase_number"]),
        (&"closed".into(), &"complete".into(), &6.into())
    );
    assert_eq!(sandbox.run(["status", "--session", ID, "--json"]).ok().json()["status"], "completed");
}

#[test]
fn a_round_is_resumed_until_it_is_final_and_reopens_what_was_closed() {
    let sandbox = begun();
    let again = sandbox.run(["round", "--json"]).ok().json();
    assert_eq!((&again["already"], &again["run"]["ordinal"]), (&true.into(), &1.into()));
    walked(&sandbox, &REVIEW_FILES);
    let refused = sandbox.run(["resume", ID, "--json"]).code(4);
    assert!(refused.error()["hint"].as_str().unwrap().contains("leftoff run start"), "{}", refused.stderr);
    sandbox.at("2026-11-14T12:00:00Z");
    let next = sandbox.run(["round", "--json"]).ok().json();
    assert_eq!((&next["run"]["ordinal"], &next["status"]), (&2.into(), &"active".into()));
    let written = state(&sandbox);
    assert_eq!((&written["status"], &written["current_round"]), (&"active".into(), &2.into()));
    assert_eq!((&written["current_phase"], &written["phase_number"]), (&"context".into(), &1.into()));
    assert_eq!(written["round_started_at"], "2026-11-14T12:00:00Z", "a new round starts the clock anew");
    assert_eq!(written["started_at"], NOW);
}

#[test]
fn the_round_after_the_ninth_is_the_tenth_and_the_next_one_follows_it() {
    let sandbox = project();
    foreign(
        &sandbox,
        ID,
        &json!({ "session_id": ID, "status": "closed", "current_phase": "complete", "phase_number": 8,
            "current_round": 10, "updated_at": NOW }),
    );
    for round in [9, 10] {
        artifact(&sandbox, &format!("rounds/round-{round}/final.md"), "x");
    }
    let next = sandbox.run(["round", "--session", ID, "--json"]).ok().json();
    assert_eq!(next["run"]["ordinal"], 11);
    assert_eq!(state(&sandbox)["current_round"], 11);
}

#[test]
fn a_map_begun_in_a_reviews_session_is_named_as_one() {
    let sandbox = begun();
    sandbox.at("2026-11-14T11:00:00Z");
    sandbox.run(["run", "start", "map"]).ok();
    let written = state(&sandbox);
    assert_eq!(
        (&written["workflow_type"], &written["current_phase"]),
        (&"map".into(), &"map-context".into())
    );
    assert_eq!((&written["phase_number"], &written["current_map_run"]), (&1.into(), &1.into()));
    assert_eq!(written["map_started_at"], "2026-11-14T11:00:00Z");
    assert_eq!(written["round_started_at"], NOW, "the round's own clock is left alone");
}

#[test]
fn a_run_of_an_ocr_session_follows_the_tools_phases_whatever_the_project_calls_its_own() {
    let sandbox = begun();
    sandbox.write(
        ".leftoff/workflows/map.toml",
        "name = \"map\"\nversion = \"1\"\ntitle = \"Ours\"\n\n[[phase]]\nid = \"draw\"\ntitle = \"Draw\"\n",
    );
    let view = sandbox.run(["run", "start", "map", "--json"]).ok().json();
    assert_eq!(phase(&view), "map-context");
}

#[test]
fn o1_an_active_review_with_final_md_stays_active_on_screen_and_on_disk() {
    for (name, number) in [("reviews", 4), ("synthesis", 7)] {
        let sandbox = project();
        let fields = json!({ "session_id": ID, "status": "active", "workflow_type": "review", "current_round": 1,
            "current_phase": name, "phase_number": number, "started_at": NOW, "updated_at": NOW });
        foreign(&sandbox, ID, &fields);
        artifact(&sandbox, "rounds/round-1/final.md", "Merge it.\n");
        let screen = sandbox.run(["progress", "--once"]).ok().stdout;
        assert!(screen.starts_with(ID) && screen.contains("Round 1: final"), "{screen}");
        let listed = sandbox.run(["list", "--json"]).ok().json();
        assert_eq!(listed["sessions"][0]["session_id"], ID, "{listed}");
        sandbox.run(["resume", ID]).ok();
        sandbox.run(["set", "a=b"]).ok();
        assert_eq!(state(&sandbox), fields, "{name}");
        let view = sandbox.run(["status", "--json"]).ok().json();
        assert_eq!((phase(&view), &view["lifecycle"]["state"]), (name, &"active".into()), "{view}");
        let told = &view["warnings"][0];
        let message = format!("final.md exists, but the session is at phase {number} ({name})");
        assert!(told["message"].as_str().unwrap().contains(&message), "{told}");
        let hint = format!("leftoff advance --phase {name}");
        assert!(told["hint"].as_str().unwrap().contains(&hint), "{told}");
    }
}

#[test]
fn o2_synthesis_leads_to_complete_and_complete_closes_the_review() {
    for is_ours in [true, false] {
        let sandbox = project();
        foreign(
            &sandbox,
            ID,
            &json!({ "session_id": ID, "status": "active", "workflow_type": "review",
                "current_phase": "synthesis", "phase_number": 7, "current_round": 1, "updated_at": NOW }),
        );
        artifact(&sandbox, "rounds/round-1/final.md", "Merge it.\n");
        if is_ours {
            sandbox.run(["note", "taken in"]).ok();
        }
        let view = sandbox.run(["advance", "--phase", "synthesis", "--json"]).ok().json();
        assert_eq!((phase(&view), &view["status"]), ("complete", &"active".into()), "{view}");
        let written = || {
            let written = state(&sandbox);
            (written["status"].as_str().unwrap().to_owned(), written["phase_number"].as_u64().unwrap())
        };
        assert_eq!(written(), ("active".to_owned(), 8));
        let next = sandbox.run(["next", "--json"]).ok().json();
        let summary = next["summary"].as_str().unwrap();
        assert!(summary.contains("Present the round's final.md to the user"), "{next}");
        assert_eq!(next["command"], "leftoff advance --phase complete");
        assert!(sandbox.run(["progress", "--once"]).ok().stdout.contains(" 100 %\n"), "visible until then");
        sandbox.run_printed("leftoff advance --phase complete").ok();
        assert_eq!(written(), ("closed".to_owned(), 8));
        assert_eq!(sandbox.run(["show", ID, "--json"]).ok().json()["status"], "completed");
    }
}

#[test]
fn o2_a_map_that_was_presented_is_finished_and_its_session_stays_active() {
    let sandbox = project();
    sandbox.run(["start", "map", "--layout", "ocr"]).ok();
    edit(&sandbox, &json!({ "current_phase": "synthesis", "phase_number": 5 }));
    artifact(&sandbox, "map/runs/run-1/map.md", "M\n");
    let view = sandbox.run(["advance", "--phase", "synthesis", "--json"]).ok().json();
    assert_eq!((phase(&view), &view["phases"][5]["status"]), ("complete", &"in_progress".into()), "{view}");
    let next = sandbox.run(["next", "--json"]).ok().json();
    assert!(next["summary"].as_str().unwrap().contains("Present map.md to the user"), "{next}");
    assert_eq!(next["command"], "leftoff advance --phase complete");
    sandbox.at("2026-11-14T11:30:00Z");
    let view = sandbox.run(["advance", "--phase", "complete", "--json"]).ok().json();
    assert_eq!((&view["phases"][5]["status"], &view["status"]), (&"completed".into(), &"active".into()));
    let written = state(&sandbox);
    assert_eq!((&written["status"], &written["phase_number"]), (&"active".into(), &6.into()));
    assert_eq!(written["updated_at"], "2026-11-14T11:30:00Z", "each phase that ends moves it");
    let status = sandbox.run(["status"]).ok().stdout;
    assert!(status.contains("map run 1: final\n"), "{status}");
}

#[test]
fn nothing_of_ours_stands_where_the_tool_counts() {
    let sandbox = begun();
    walked(&sandbox, &REVIEW_FILES[..6]);
    sandbox.run(["revisit", "change-context", "--impact", "major", "--reason", "wrong base", "--yes"]).ok();
    let names = |folder: &str| sandbox.names(folder);
    assert_eq!(names(".ocr/sessions"), [ID]);
    assert_eq!(names(&format!("{FOLDER}/rounds")), ["round-1"]);
    assert_eq!(names(&format!("{FOLDER}/rounds/round-1")), ["reviews"], "discourse.md is archived");
    assert_eq!(names(&format!("{FOLDER}/rounds/round-1/reviews")), [""; 0], "and so are the reviews");
    let archive = format!(".leftoff/archive/{ID}/rounds/round-1");
    assert_eq!(sandbox.read(&format!("{archive}/reviews/security-1.v1.md")), "3\n");
    assert_eq!(sandbox.read(&format!("{archive}/discourse.v1.md")), "5\n");
    let screen = sandbox.run(["progress", "--once"]).ok().stdout;
    assert!(screen.contains("Round 1: in progress, 0 reviewers"), "{screen}");
}

#[test]
fn lifecycles_are_written_in_the_words_that_the_tool_has() {
    let sandbox = begun();
    let status = || state(&sandbox)["status"].as_str().unwrap().to_owned();
    sandbox.run(["pause", "--reason", "lunch"]).ok();
    assert_eq!(status(), "active");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["status"], "paused", "the log knows more");
    sandbox.run(["resume"]).ok();
    sandbox.run(["fail", "--error", "no network"]).ok();
    assert_eq!(status(), "active");
    sandbox.run(["resume"]).ok();
    sandbox.run(["abandon", "--reason", "not needed"]).ok();
    let written = state(&sandbox);
    assert_eq!((&written["status"], &written["current_phase"]), (&"closed".into(), &"context".into()));
    assert!(sandbox.path(FOLDER).is_dir(), "the tool's folder stays where it is");
    sandbox.run(["reopen", ID]).ok();
    assert_eq!(status(), "active");
    sandbox.run(["close", "--force"]).ok();
    assert_eq!(status(), "closed");
}

#[test]
fn a_session_that_is_closed_unfinished_is_closed_and_complete_in_its_file_and_not_in_the_log() {
    let sandbox = begun();
    sandbox.run(["close"]).code(4);
    sandbox.run(["close", "--force"]).ok();
    let written = state(&sandbox);
    let said = (&written["status"], &written["current_phase"], &written["phase_number"]);
    assert_eq!(said, (&"closed".into(), &"complete".into(), &8.into()));
    let view = sandbox.run(["show", ID, "--json"]).ok().json();
    assert_eq!(view["progress"]["percent"], 0);
    assert_eq!(phase(&view), "context", "how far it was is in the log");
    sandbox.run(["doctor"]).ok();
    sandbox.run(["reopen", ID]).ok();
    assert_eq!((&state(&sandbox)["status"], &state(&sandbox)["phase_number"]), (&"active".into(), &1.into()));
}

#[test]
fn a_map_or_a_round_whose_beginning_is_undone_is_gone_from_the_file() {
    let sandbox = begun();
    let before = state(&sandbox);
    let but_updated = |mut state: Value| {
        state.as_object_mut().unwrap().remove("updated_at");
        state
    };
    sandbox.at("2026-11-14T10:10:00Z");
    sandbox.run(["run", "start", "map"]).ok();
    let with_map = state(&sandbox);
    assert_eq!((&with_map["current_map_run"], &with_map["workflow_type"]), (&1.into(), &"map".into()));
    sandbox.at("2026-11-14T10:11:00Z");
    sandbox.run(["undo"]).ok();
    assert_eq!(but_updated(state(&sandbox)), but_updated(before));
    assert!(!sandbox.run(["progress", "--once"]).ok().stdout.contains("Map"), "there is no map");
    sandbox.at("2026-11-14T10:12:00Z");
    sandbox.run(["redo"]).ok();
    assert_eq!(but_updated(state(&sandbox)), but_updated(with_map), "it is brought back");

    // In an active review, the start of a second map is undone. The number and the start of the first map are
    // restored.
    artifact_at(&sandbox, "map/runs/run-1/map.md", "M\n", "2026-11-14T10:12:00Z");
    sandbox.run(["run", "start", "review"]).ok();
    sandbox.run(["checkpoint", "-m", "one map"]).ok();
    sandbox.at("2026-11-14T10:30:00Z");
    sandbox.run(["run", "start", "map"]).ok();
    assert_eq!(state(&sandbox)["current_map_run"], 2);
    sandbox.run(["undo", "--to", "one map"]).ok();
    let back = state(&sandbox);
    assert_eq!(
        (&back["workflow_type"], &back["current_map_run"], &back["map_started_at"]),
        (&"review".into(), &1.into(), &"2026-11-14T10:10:00Z".into())
    );

    // An entry for a map that the tool wrote stays, whatever is undone.
    let sandbox = begun();
    edit(&sandbox, &json!({ "current_map_run": 1, "map_started_at": NOW }));
    sandbox.run(["note", "a word"]).ok();
    sandbox.at("2026-11-14T10:10:00Z");
    sandbox.run(["note", "another"]).ok();
    sandbox.run(["undo"]).ok();
    assert_eq!(state(&sandbox)["current_map_run"], 1);
}

#[test]
fn a_clock_that_steps_back_writes_no_time_before_another() {
    let sandbox = begun();
    artifact(&sandbox, "discovered-standards.md", "S\n");
    sandbox.at("2026-11-14T10:40:00Z");
    sandbox.run(["advance"]).ok();
    assert_eq!(state(&sandbox)["updated_at"], "2026-11-14T10:40:00Z");
    let time = |key: &str| state(&sandbox)[key].as_str().unwrap().to_owned();
    // The first undo returns to the state before the last change, the second to the state before the start.
    for (moment, words) in [
        ("2026-11-14T10:20:00Z", &["skip", "--reason", "x"][..]),
        ("2026-11-14T08:00:00Z", &["run", "start", "map"]),
        ("2026-11-14T08:01:00Z", &["close", "--force"]),
    ] {
        sandbox.at(moment);
        sandbox.run(words).ok();
        assert_eq!(time("updated_at"), "2026-11-14T10:40:00Z", "{words:?}");
    }
    assert_eq!(time("map_started_at"), NOW, "not before the session");
    sandbox.at("2026-11-14T11:00:00Z");
    let view = sandbox.run(["show", ID, "--json"]).ok().json();
    assert_eq!(warnings(&view), "", "nothing is out of order in what we wrote");
}

#[test]
fn b8_a_review_that_only_its_file_calls_complete_is_not_presented_before_its_final_md_is_there() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ocr", "review"]).ok();
    edit(&sandbox, &json!({ "current_phase": "complete", "phase_number": 8 }));
    let next = sandbox.run(["next", "--json"]).ok().json();
    assert_eq!(next["command"], "leftoff advance --phase synthesis", "{next}");
    sandbox.run_printed("leftoff advance --phase synthesis").code(5);
    artifact(&sandbox, "rounds/round-1/final.md", "Merge it.\n");
    sandbox.run_printed("leftoff advance --phase synthesis").ok();
    let next = sandbox.run(["next", "--json"]).ok().json();
    assert_eq!(next["command"], "leftoff advance --phase complete", "{next}");
}

#[test]
fn b1_a_paused_session_continues_with_the_phase_whose_gate_failed_here() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ocr", "review"]).ok();
    sandbox.run(["advance", "--phase", "context"]).code(5);
    sandbox.run(["pause", "--reason", "lunch"]).ok();
    edit(&sandbox, &json!({ "current_phase": "synthesis", "phase_number": 7 }));
    let next = sandbox.run(["next", "--json"]).ok().json();
    assert!(next["summary"].as_str().unwrap().contains("Continue with phase 1,"), "{next}");
}
