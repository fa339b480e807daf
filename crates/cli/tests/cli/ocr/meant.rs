//! Tests of what a partial change of state.json means, of clocks, and of unknown values. An unknown value
//! stays until the thing that it describes changes; then it is archived.

use super::*;
use serde_json::json;

/// The state of a session at its reviews, as the tool writes it.
fn at_reviews() -> Value {
    json!({ "session_id": ID, "status": "active", "workflow_type": "review", "current_phase": "reviews",
        "phase_number": 4, "current_round": 1, "started_at": "2026-11-14T09:00:00Z",
        "round_started_at": "2026-11-14T09:00:00Z", "updated_at": "2026-11-14T09:50:00Z" })
}

/// An adopted session with these changes of its state.
fn taken_in(changes: &Value) -> Sandbox {
    let sandbox = project();
    foreign(&sandbox, ID, &at_reviews());
    edit(&sandbox, changes);
    sandbox.run(["note", "taken in"]).ok();
    sandbox
}

fn said(sandbox: &Sandbox) -> (String, String) {
    let view = sandbox.run(["status", "--session", ID, "--json"]).ok().json();
    (phase(&view).to_owned(), warnings(&view))
}

/// The session's quarantined files.
fn aside(sandbox: &Sandbox) -> Vec<Vec<u8>> {
    let folder = sandbox.path(&format!(".leftoff/aside/{ID}"));
    if folder.exists() { everything(&folder).into_values().collect() } else { Vec::new() }
}

fn clock(sandbox: &Sandbox) -> String {
    let shown = sandbox.run(["progress", "--once", "--session", ID]).ok().stdout;
    shown.lines().nth(1).unwrap().split("    ").next().unwrap().to_owned()
}

/// Writes the state as the tool does when it starts a session, without a time.
fn beginning(sandbox: &Sandbox, fields: &Value, moment: &str) {
    sandbox.at(moment);
    let mut all = json!({ "session_id": ID, "status": "active", "phase_number": 1, "updated_at": moment });
    all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    write_at(sandbox, &format!("{FOLDER}/state.json"), &all.to_string(), moment);
}

#[test]
fn a_round_that_the_tool_begins_has_a_clock_of_its_own() {
    let sandbox = begun();
    artifact_at(&sandbox, "rounds/round-1/final.md", "F\n", "2026-11-14T10:01:00Z");
    sandbox.at("2026-11-14T10:05:00Z");
    edit(&sandbox, &json!({ "status": "closed", "current_phase": "complete", "phase_number": 8 }));
    sandbox.run(["note", "closed", "--session", ID]).ok();
    beginning(
        &sandbox,
        &json!({ "current_phase": "context", "current_round": 2, "started_at": NOW }),
        "2026-11-14T12:00:00Z",
    );
    sandbox.at("2026-11-14T12:01:00Z");
    assert_eq!(clock(&sandbox), "Review  Round 2  1m 0s");
    sandbox.run(["note", "taken in"]).ok();
    assert_eq!(state(&sandbox)["round_started_at"], "2026-11-14T12:00:00Z");
    assert_eq!(clock(&sandbox), "Review  Round 2  1m 0s");
}

#[test]
fn a_run_of_a_map_that_the_tool_begins_has_a_clock_of_its_own() {
    let sandbox = project();
    sandbox.run(["start", "map", "--layout", "ocr"]).ok();
    artifact_at(&sandbox, "map/runs/run-1/map.md", "M\n", "2026-11-14T10:01:00Z");
    sandbox.at("2026-11-14T10:05:00Z");
    edit(&sandbox, &json!({ "current_phase": "complete", "phase_number": 6 }));
    sandbox.run(["note", "presented"]).ok();
    let fields = json!({ "workflow_type": "map", "current_phase": "map-context", "current_map_run": 2,
        "started_at": NOW });
    beginning(&sandbox, &fields, "2026-11-14T12:00:00Z");
    sandbox.at("2026-11-14T12:01:00Z");
    assert_eq!(clock(&sandbox), "Map  Run 2  1m 0s");
    sandbox.run(["note", "taken in"]).ok();
    assert_eq!(state(&sandbox)["map_started_at"], "2026-11-14T12:00:00Z");
}

#[test]
fn a_round_that_the_tool_begins_anew_counts_from_then() {
    let sandbox = taken_in(&json!({}));
    let moment = "2026-11-14T12:00:00Z";
    let fields = json!({ "current_phase": "context", "current_round": 1, "started_at": moment });
    beginning(&sandbox, &fields, moment);
    sandbox.at("2026-11-14T12:02:00Z");
    assert_eq!(clock(&sandbox), "Review  Round 1  2m 0s");
    sandbox.run(["skip", "--reason", "known"]).ok();
    assert_eq!(state(&sandbox)["round_started_at"], moment);
    assert_eq!(clock(&sandbox), "Review  Round 1  2m 0s");
}

#[test]
fn whichever_of_name_and_number_somebody_changed_decides() {
    for (changes, expected) in [
        (json!({ "phase_number": 5 }), ("aggregation", 5)),
        (json!({ "phase_number": 2 }), ("change-context", 2)),
        (json!({ "current_phase": "discourse" }), ("discourse", 6)),
    ] {
        let sandbox = taken_in(&json!({}));
        edit(&sandbox, &changes);
        let (phase, warnings) = said(&sandbox);
        assert_eq!(phase, expected.0, "{changes}");
        assert!(!warnings.contains("the name is used"), "{warnings}");
        sandbox.run(["note", "taken in"]).ok();
        let written = state(&sandbox);
        assert_eq!(
            (&written["current_phase"], &written["phase_number"]),
            (&expected.0.into(), &expected.1.into()),
            "{changes}"
        );
    }
    let sandbox = taken_in(&json!({}));
    edit(&sandbox, &json!({ "current_phase": "discourse", "phase_number": 7 }));
    let (phase, warnings) = said(&sandbox);
    assert_eq!(phase, "discourse");
    assert!(
        warnings.contains("current_phase is 'discourse', but phase_number is 7; the name is used"),
        "{warnings}"
    );
    sandbox.run(["note", "taken in"]).ok();
    assert_eq!(state(&sandbox)["phase_number"], 6, "the tool's own screen goes by the number");
}

#[test]
fn a_number_that_is_written_as_a_text_or_with_a_point_is_that_number() {
    for round in [json!("2"), json!(2.0)] {
        let sandbox = taken_in(&json!({ "current_round": round }));
        let view = sandbox.run(["skip", "--reason", "known", "--json"]).ok().json();
        assert_eq!(view["run"]["ordinal"], 2);
        assert_eq!(state(&sandbox)["current_round"], round, "it is left as it is");
        assert!(said(&sandbox).1.contains(&format!("current_round is {round}, read as 2")));
    }
}

#[test]
fn what_nobody_understands_stays_while_something_else_changes() {
    for (changes, key) in [
        (json!({ "status": "paused" }), "status"),
        (json!({ "status": null }), "status"),
        (json!({ "workflow_type": "audit" }), "workflow_type"),
        (json!({ "started_at": "soon" }), "started_at"),
        (json!({ "session_id": 5 }), "session_id"),
    ] {
        for is_known in [false, true] {
            let sandbox = if is_known { taken_in(&json!({})) } else { project() };
            if !is_known {
                foreign(&sandbox, ID, &at_reviews());
            }
            edit(&sandbox, &changes);
            sandbox.run(["skip", "--reason", "known", "--session", ID]).ok();
            let written = state(&sandbox);
            assert_eq!(written[key], changes[key], "known: {is_known}");
            assert_eq!(
                (&written["current_phase"], &written["phase_number"]),
                (&"aggregation".into(), &5.into())
            );
            assert_eq!(aside(&sandbox).len(), 0, "nothing of it was written over");
        }
    }
}

#[test]
fn a_phase_that_there_is_not_stays_until_the_session_moves_and_is_kept_then() {
    for changes in [
        json!({ "current_phase": "banana", "phase_number": 9 }),
        json!({ "current_phase": null, "phase_number": null }),
        json!({ "current_phase": "Reviews" }),
    ] {
        for is_known in [false, true] {
            let sandbox = if is_known { taken_in(&json!({})) } else { project() };
            if !is_known {
                foreign(&sandbox, ID, &at_reviews());
            }
            edit(&sandbox, &changes);
            let theirs = sandbox.read(&format!("{FOLDER}/state.json"));
            sandbox.run(["note", "not about it", "--session", ID]).ok();
            assert_eq!(sandbox.read(&format!("{FOLDER}/state.json")), theirs, "known: {is_known}");
            let view = sandbox.run(["skip", "--reason", "known", "--session", ID, "--json"]).ok().json();
            assert!(warnings(&view).contains("had unreadable contents (current_phase: "), "{view}");
            assert_eq!(aside(&sandbox), [theirs.as_bytes()], "known: {is_known}");
            assert_eq!(state(&sandbox)["current_phase"], phase(&view));
            sandbox.run(["skip", "--reason", "known", "--session", ID]).ok();
            assert_eq!(aside(&sandbox).len(), 1, "it is kept once");
        }
    }
}

#[test]
fn a_status_that_there_is_not_is_kept_when_the_session_is_closed() {
    let sandbox = taken_in(&json!({ "status": "paused" }));
    let theirs = sandbox.read(&format!("{FOLDER}/state.json"));
    let view = sandbox.run(["abandon", "--reason", "not needed", "--json"]).ok().json();
    assert!(warnings(&view).contains("had unreadable contents (status: \"paused\")"), "{view}");
    assert_eq!(state(&sandbox)["status"], "closed");
    assert_eq!(aside(&sandbox), [theirs.as_bytes()]);
}

#[test]
fn a_note_adds_no_key_to_a_state_that_lacks_some() {
    let whole = at_reviews();
    for dropped in [
        &["workflow_type"][..],
        &["round_started_at"],
        &["current_round"],
        &["status"],
        &["started_at"],
        &["workflow_type", "round_started_at", "current_round", "status", "started_at", "updated_at"],
    ] {
        let sandbox = project();
        let mut fields = whole.clone();
        for key in dropped {
            fields.as_object_mut().unwrap().remove(*key);
        }
        foreign(&sandbox, ID, &fields);
        let before = sandbox.read(&format!("{FOLDER}/state.json"));
        for text in ["one", "two"] {
            sandbox.run(["note", text, "--session", ID]).ok();
            assert_eq!(sandbox.read(&format!("{FOLDER}/state.json")), before, "without {dropped:?}");
        }
        sandbox.run(["skip", "--reason", "known", "--session", ID]).ok();
        let written = state(&sandbox);
        for key in whole.as_object().unwrap().keys() {
            assert!(written.get(key).is_some(), "{key} comes with the first change: {written}");
        }
    }
}

#[test]
fn a_round_in_which_somebody_writes_files_or_commands_is_not_stalled() {
    let sandbox = project();
    foreign(
        &sandbox,
        ID,
        &json!({ "session_id": ID, "status": "active", "workflow_type": "review", "current_phase": "reviews",
            "phase_number": 4, "current_round": 1, "started_at": NOW, "updated_at": NOW }),
    );
    let status = || sandbox.run(["status", "--json"]).ok().json()["status"].as_str().unwrap().to_owned();
    sandbox.at("2026-11-14T10:40:00Z");
    assert_eq!(status(), "possibly_stalled", "nothing was written for 40 minutes");
    artifact_at(&sandbox, "rounds/round-1/reviews/security-1.md", "x", "2026-11-14T10:39:00Z");
    assert_eq!(status(), "active", "a reviewer wrote a minute ago");
    let taken_in = sandbox.run(["note", "still at it", "--json"]).ok().json();
    assert_eq!(taken_in["status"], "active");
    sandbox.at("2026-11-14T11:30:00Z");
    assert_eq!(status(), "possibly_stalled");
    artifact_at(&sandbox, "rounds/round-1/reviews/design-1.md", "x", "2026-11-14T11:29:00Z");
    assert_eq!(status(), "active");

    // Each phase took one minute. The next one takes longer than usual, but is not stalled yet.
    let sandbox = begun();
    sandbox.at("2026-11-14T10:01:00Z");
    artifact_at(&sandbox, "discovered-standards.md", "S\n", "2026-11-14T10:01:00Z");
    sandbox.run(["advance"]).ok();
    sandbox.at("2026-11-14T10:02:00Z");
    sandbox.run(["note", "a word"]).ok();
    sandbox.at("2026-11-14T10:40:00Z");
    let status = || sandbox.run(["status", "--json"]).ok().json()["status"].as_str().unwrap().to_owned();
    assert_eq!(status(), "possibly_stalled");
    for words in [&["undo"][..], &["pause"], &["resume"], &["run", "start", "map"]] {
        let answer = sandbox.run(words.iter().chain(&["--json"])).ok().json();
        assert_ne!(answer["status"], "possibly_stalled", "{words:?}");
    }
    assert_eq!(status(), "active");
}
