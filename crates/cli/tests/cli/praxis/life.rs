//! Tests of a session that is found, adopted, advanced, rolled back, paused, failed, retried and finished.

use super::*;

#[test]
fn an_old_session_is_listed_and_shown_without_a_byte_being_written() {
    let sandbox = with_old();
    let before = sandbox.read(OLD);
    let list = sandbox.run(["list", "--json"]).ok().json();
    assert_eq!(list["sessions"][0]["session_id"], ID);
    assert_eq!(
        (&list["sessions"][0]["layout"], &list["sessions"][0]["phases_done"]),
        (&json!("praxis"), &json!(1))
    );
    let shown = sandbox.run(["show", "3f25", "--json"]).ok().json();
    assert_eq!(shown["workflow"]["name"], "ship_v1");
    assert_eq!(
        (&shown["current_phase"]["number"], &shown["workflow"]["total_phases"]),
        (&json!(1), &json!(3))
    );
    assert_eq!(shown["phases"][0]["attempts"][0]["evidence"]["read"], 3);
    let said: Vec<&str> =
        shown["warnings"].as_array().unwrap().iter().map(|w| w["message"].as_str().unwrap()).collect();
    let warned = |part: &str| said.iter().any(|message| message.contains(part));
    assert!(warned("legacy session format, limited resumption context"), "{said:?}");
    assert!(warned("workflow 'ship_v1' is not defined in this project"), "{said:?}");
    for words in [["status"], ["brief"], ["next"], ["log"]] {
        sandbox.run(words).ok();
    }
    assert_eq!(sandbox.read(OLD), before);
    assert!(!sandbox.path(".git/leftoff").exists() && !sandbox.path(".leftoff").exists());
}

#[test]
fn a_command_keeps_an_old_files_place_its_keys_and_its_local_times() {
    let sandbox = with_old();
    let before = sandbox.read(OLD);
    let words = ["advance", "--phase", "1", "--evidence", "built=true", "--json"];
    let mut command = sandbox.command(words);
    let ran = testkit::Ran::from(command.env("TZ", "CET-1CEST,M3.5.0,M10.5.0/3").output().unwrap()).ok();
    assert_eq!(ran.json()["current_phase"]["number"], 2);
    let after = file(&sandbox, OLD);
    let keys: Vec<&String> = after.as_object().unwrap().keys().collect();
    let old = old_file();
    assert_eq!(keys[..10], old.as_object().unwrap().keys().collect::<Vec<_>>());
    assert_eq!(after["updated_at"], "2026-11-14T12:00:00", "eleven in UTC is noon there");
    assert_eq!(after["phase_artifacts"]["1"]["timestamp"], "2026-11-14T12:00:00");
    assert_eq!(after["created_at"], "2026-11-14T09:00:00");
    assert_eq!((&after["current_phase"], &after["completed_phases"]), (&json!(2), &json!([0, 1])));
    assert_eq!(after["metadata"]["theirs"], old["metadata"]["theirs"]);
    assert_eq!(sandbox.read(&format!("{OLD}.bak")), before, "the version before is kept");
    // Nine o'clock in that zone is eight o'clock in UTC.
    let shown = testkit::Ran::from(
        sandbox.command(["show", ID, "--json"]).env("TZ", "CET-1CEST,M3.5.0,M10.5.0/3").output().unwrap(),
    );
    assert_eq!(shown.ok().json()["created_at"], "2026-11-14T08:00:00Z");
}

#[test]
fn a_new_session_has_the_seeds_sections() {
    let sandbox = started();
    let found = file(&sandbox, NEW);
    let keys: Vec<&str> = found.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "session_id",
            "workflow_type",
            "target_file",
            "current_phase",
            "completed_phases",
            "phase_artifacts",
            "checkpoints",
            "created_at",
            "updated_at",
            "metadata",
            "workflow_structure",
            "phase_timing",
            "lifecycle",
        ]
    );
    assert_eq!(
        found["workflow_structure"],
        json!({"total_phases": 3, "starting_phase": 0,
        "indexing_scheme": "zero_based", "workflow_version": "1.0.0"})
    );
    assert_eq!((&found["created_at"], &found["current_phase"]), (&json!("2026-11-14T11:00:00Z"), &json!(0)));
    assert_eq!(found["phase_timing"]["0"]["started_at"], "2026-11-14T11:00:00Z");
    let view = view(&sandbox);
    assert!(view["warnings"].as_array().unwrap().is_empty(), "{}", view["warnings"]);
    let random = sandbox.run(["start", "ship_v1", "--layout", "praxis", "--json"]).ok().json();
    let id = random["session_id"].as_str().unwrap();
    assert_eq!((id.len(), id.matches('-').count()), (36, 4), "{id}");
    assert!(sandbox.path(&format!(".praxis-os/.cache/state/{id}.json")).is_file());
}

#[test]
fn a_whole_life_with_a_gate_that_fails_and_every_attempt_kept() {
    let sandbox = started();
    sandbox.run(["advance", "--phase", "0"]).ok();
    let beyond = sandbox.run(["advance", "--phase", "2"]).code(4);
    let words = "error: Cannot complete phase 2. Current phase is 1. Complete phase 1 first.\n";
    assert!(beyond.stderr.starts_with(words), "{}", beyond.stderr);
    assert!(beyond.stderr.contains("leftoff advance --phase 1"), "{}", beyond.stderr);
    let beyond = sandbox.run(["advance", "--phase", "2", "--json"]).code(4).error();
    assert_eq!(beyond["kind"], "phase_not_current");
    let missing = sandbox.run(["advance", "--phase", "1"]).code(5);
    assert!(missing.stderr.contains("hint: Field 'tests' is required but missing. "), "{}", missing.stderr);
    let words = sandbox.run(["advance", "--phase", "1", "--evidence", "tests=many"]).code(5);
    assert!(words.stderr.contains("hint: Field 'tests' must be integer, got: str. "), "{}", words.stderr);
    assert!(!words.stderr.contains("Validator"), "the type comes first: {}", words.stderr);
    let truth = sandbox.run(["advance", "--phase", "1", "--evidence", "tests=true"]).code(5);
    assert!(truth.stderr.contains("Field 'tests' must be integer, got: bool. "), "{}", truth.stderr);
    let fraction = sandbox.run(["advance", "--phase", "1", "--evidence", "tests=90.0"]).code(5);
    assert!(fraction.stderr.contains("Field 'tests' must be integer, got: float. "), "{}", fraction.stderr);
    let none = sandbox.run(["advance", "--phase", "1", "--evidence", "tests=0"]).code(5);
    assert!(none.stderr.contains("Validator 'positive' failed for field 'tests'"), "{}", none.stderr);
    let brief = crate::unbroken(&sandbox.run(["brief"]).ok().stdout);
    assert!(brief.contains("- tests-positive: tests=0, needs lambda x: x > 0"), "{brief}");
    let crossed =
        sandbox.run(["advance", "--phase", "1", "--evidence", "tests=3", "--evidence", "failed=1"]).code(5);
    assert!(crossed.stderr.contains("what fails"), "{}", crossed.stderr);
    assert_eq!(file(&sandbox, NEW)["checkpoints"]["1"], "failed");
    sandbox.at("2026-11-14T11:30:00Z");
    sandbox.run(["advance", "--phase", "1", "--evidence", "tests=3"]).ok();
    let found = file(&sandbox, NEW);
    let outcomes: Vec<&Value> = found["metadata"]["attempts"]["1"]
        .as_array()
        .unwrap()
        .iter()
        .map(|attempt| &attempt["outcome"])
        .collect();
    assert_eq!(outcomes, ["failed", "failed", "failed", "failed", "failed", "failed", "passed"]);
    assert_eq!(
        (&found["checkpoints"]["1"], &found["phase_artifacts"]["1"]["evidence"]),
        (&json!("passed"), &json!({"tests": 3}))
    );
    sandbox.at("2026-11-14T12:00:00Z");
    sandbox.run(["advance", "--phase", "2"]).ok();
    let found = file(&sandbox, NEW);
    assert_eq!(
        (&found["current_phase"], &found["completed_phases"]),
        (&json!(2), &json!([0, 1, 2])),
        "never past the end"
    );
    assert_eq!(
        (&found["lifecycle"]["completed"], &found["lifecycle"]["total_duration_seconds"]),
        (&json!(true), &json!(3600))
    );
    sandbox.run(["advance", "--phase", "2"]).ok();
    sandbox.run(["advance", "--session", "s"]).code(4);
    let beyond = sandbox.run(["advance", "--phase", "3", "--session", "s"]).code(3);
    assert!(beyond.stderr.contains("there is no phase '3'"), "{}", beyond.stderr);
    assert_eq!(file(&sandbox, NEW), found);
}

#[test]
fn pause_resume_fail_retry_and_rollback_are_written_into_an_old_file() {
    let sandbox = with_old();
    sandbox.run(["pause", "--session", ID, "--reason", "lunch", "--context", "half of it"]).ok();
    let lifecycle = file(&sandbox, OLD)["lifecycle"].clone();
    assert_eq!((&lifecycle["paused"], &lifecycle["paused_reason"]), (&json!(true), &json!("user_request")));
    assert_eq!(lifecycle["paused_context"], "lunch: half of it");
    sandbox.at("2026-11-14T11:10:00Z");
    sandbox.run(["resume", ID]).ok();
    let found = file(&sandbox, OLD);
    assert_eq!(
        (&found["lifecycle"]["paused"], &found["lifecycle"]["resume_count"]),
        (&json!(false), &json!(1))
    );
    sandbox.run(["fail", "--session", ID, "--error", "disk full"]).ok();
    assert_eq!(file(&sandbox, OLD)["lifecycle"]["last_error"], "disk full");
    sandbox.run(["retry", "--session", ID]).ok();
    let lifecycle = file(&sandbox, OLD)["lifecycle"].clone();
    assert_eq!(lifecycle["last_error"], "disk full", "what went wrong stays");
    assert!(lifecycle["resumed_at"].is_string(), "and it is over: {lifecycle}");
    sandbox.run(["rollback", "0", "--session", ID]).ok();
    let found = file(&sandbox, OLD);
    assert_eq!((&found["current_phase"], &found["completed_phases"]), (&json!(0), &json!([])));
    assert_eq!(found["phase_artifacts"]["0"]["evidence"], json!({"read": 3}), "what it had is kept");
    sandbox.run(["skip", "--session", ID, "--reason", "known"]).ok();
    assert_eq!(file(&sandbox, OLD)["checkpoints"]["0"], "skipped");
    sandbox.run(["abandon", ID, "--yes"]).ok();
    assert_eq!(file(&sandbox, OLD)["lifecycle"]["paused_reason"], "abandoned");
}

#[test]
fn tasks_are_items_of_their_phase_and_no_second_list_is_needed() {
    let sandbox = started();
    let brief = sandbox.run(["brief"]).ok().stdout;
    assert!(crate::unbroken(&brief).contains("Tasks: 1. Read the issue (task-1.md)"), "{brief}");
    sandbox.run(["item", "add", "Read the issue"]).ok();
    let listed = sandbox.run(["item", "list", "--json"]).ok().json();
    assert!(listed.to_string().contains("Read the issue"), "{listed}");
}

/// With the original tool, agents left the workflow after phase 0. leftoff tells an agent the current phase
/// whenever the agent returns.
#[test]
fn an_agent_that_comes_or_was_compacted_is_sent_on_to_the_phase_that_is_current() {
    let sandbox = started();
    sandbox.run(["advance", "--phase", "0"]).ok();
    for source in ["startup", "compact"] {
        let input = crate::agent::session_start(&sandbox, "a4326893-7dc8-405b-aaa4-035b9c0d34a8", source);
        let told = sandbox.run_with_input(&["hook", "claude"], &input).ok().json();
        let brief = told["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
        assert!(brief.contains("leftoff advance --phase 1 --evidence 'tests=<number>'"), "{source}: {brief}");
        assert!(brief.contains("Done (do not redo)"), "{source}: {brief}");
    }
}

#[test]
fn sessions_of_every_kind_stand_in_one_list() {
    let sandbox = with_old();
    sandbox.write(
        ".ocr/sessions/2026-11-14-login/state.json",
        r#"{"session_id":"2026-11-14-login","workflow_type":"review","current_phase":"reviews","phase_number":4,"started_at":"2026-11-14T09:00:00Z","updated_at":"2026-11-14T10:00:00Z"}"#,
    );
    for number in 0..4 {
        sandbox.write(&format!(".praxis-os/.cache/state/more{number}.json"), &pretty(&old_file()));
    }
    sandbox.run(["start", "--id", "ours"]).ok();
    sandbox.run(["start", "--layout", "ccw", "--title", "Add login"]).ok();
    sandbox.run(["start", "--layout", "essay", "--id", "essay-pipeline-20261114-110000"]).ok();
    let list = sandbox.run(["list"]).ok();
    for (id, layout) in [
        ("ours", "native"),
        (ID, "praxis"),
        ("2026-11-14-login", "ocr"),
        ("WFS-add-login", "ccw"),
        ("essay-pipeline-20261114-110000", "essay"),
        ("more0", "praxis"),
        ("more3", "praxis"),
    ] {
        let mut lines = list.stdout.lines().filter(|line| line.contains(id));
        let line = lines.next().unwrap_or_else(|| panic!("{id} is not in\n{}", list.stdout));
        // The line of the default session begins with a star.
        let line = line.trim_start_matches("* ");
        assert_eq!(line.split_whitespace().nth(2), Some(layout), "{line}");
    }
    assert_eq!(list.stderr.matches("legacy session format").count(), 1, "said once:\n{}", list.stderr);
    assert!(list.stderr.contains("5 sessions of praxis OS: legacy session format"), "{}", list.stderr);
    let json = sandbox.run(["list", "--layout", "praxis", "--json"]).ok().json();
    assert_eq!(json["sessions"].as_array().unwrap().len(), 5);
    // This holds for sessions that leftoff has adopted, too.
    for id in [ID, "more0"] {
        sandbox.run(["note", "remember", "--session", id]).ok();
    }
    let list = sandbox.run(["list"]).ok();
    assert_eq!(list.stderr.matches("legacy session format").count(), 1, "said once:\n{}", list.stderr);
}

#[test]
fn a_broken_session_of_each_kind_hides_no_other_and_each_is_named() {
    let sandbox = with_old();
    let ocr = |name: &str, text: &str| sandbox.write(&format!(".ocr/sessions/{name}/state.json"), text);
    ocr(
        "2026-11-14-login",
        r#"{"session_id":"2026-11-14-login","workflow_type":"review","current_phase":"reviews","phase_number":4,"started_at":"2026-11-14T09:00:00Z","updated_at":"2026-11-14T10:00:00Z"}"#,
    );
    sandbox.run(["start", "--id", "ours"]).ok();
    sandbox.run(["start", "--layout", "ccw", "--title", "Add login"]).ok();
    sandbox.run(["start", "--layout", "essay", "--id", "essay-pipeline-20261114-110000"]).ok();
    let broken = [
        ".ocr/sessions/2026-11-14-torn/state.json",
        ".workflow/WFS-torn/workflow-session.json",
        ".praxis-os/.cache/state/torn.json",
        "essay-pipeline-20261114-120000/session-state.yaml",
    ];
    for path in broken {
        sandbox.write(path, "{\"session_id\": \"torn");
    }
    let list = sandbox.run(["list"]).ok();
    let is_line = |line: &&str| !line.trim_start().starts_with('!');
    for id in ["ours", ID, "2026-11-14-login", "WFS-add-login", "essay-pipeline-20261114-110000"] {
        assert_eq!(list.stdout.lines().filter(|line| line.contains(id)).count(), 1, "{id}:\n{}", list.stdout);
        assert!(!list.stderr.contains(&format!("{id}/")), "nothing is wrong with {id}:\n{}", list.stderr);
    }
    assert_eq!(list.stdout.lines().filter(is_line).count(), 9, "{}", list.stdout);
    for path in broken {
        assert!(list.stdout.contains(&format!("! {path}: ")), "{path} is not in\n{}", list.stdout);
        assert_eq!(sandbox.read(path), "{\"session_id\": \"torn", "{path} is left as it is");
    }
    let json = sandbox.run(["list", "--json"]).ok().json();
    assert_eq!(json["sessions"].as_array().unwrap().len(), 9);
}

#[test]
fn an_old_session_is_nothing_for_the_doctor_and_the_one_that_changed_last_is_meant() {
    let sandbox = with_old();
    let mut later = old_file();
    later["updated_at"] = json!("2026-11-14T10:45:00");
    later["phase_artifacts"]["0"]["timestamp"] = json!("2026-11-14T10:45:00");
    sandbox.write(".praxis-os/.cache/state/0000-later.json", &pretty(&later));
    sandbox.run(["doctor"]).ok();
    assert_eq!(view(&sandbox)["session_id"], "0000-later");
}

#[test]
fn the_same_name_in_two_places_is_two_sessions() {
    let sandbox = with_old();
    let mut other = old_file();
    other["target_file"] = json!("docs/other.md");
    sandbox.write(&format!(".agent-os/state/{ID}.json"), &pretty(&other));
    let ids = |sandbox: &Sandbox| -> Vec<(String, String)> {
        let list = sandbox.run(["list", "--json"]).ok().json();
        let text = |line: &Value, key: &str| line[key].as_str().unwrap().to_owned();
        let lines = list["sessions"].as_array().unwrap().iter();
        let mut lines: Vec<_> = lines.map(|line| (text(line, "session_id"), text(line, "title"))).collect();
        lines.sort();
        lines
    };
    let before = ids(&sandbox);
    assert_eq!(before.len(), 2);
    assert_ne!(before[0].0, before[1].0);
    for (id, _) in &before {
        sandbox.run(["note", "seen", "--session", id]).ok();
    }
    assert_eq!(ids(&sandbox), before, "each is itself also when both are taken in");
}

/// Observing an edit does not make the session active again.
#[test]
fn an_edit_is_of_when_the_file_was_changed() {
    let sandbox = started();
    edit(&sandbox, NEW, |value| value["metadata"]["theirs"] = json!(1));
    let at: jiff::Timestamp = "2026-11-14T11:30:00Z".parse().unwrap();
    let edited = std::fs::File::options().write(true).open(sandbox.path(NEW)).unwrap();
    edited.set_modified(std::time::SystemTime::from(at)).unwrap();
    sandbox.at("2026-11-23T12:00:00Z");
    assert_eq!(view(&sandbox)["updated_at"], "2026-11-14T11:30:00Z");
    sandbox.run(["note", "seen"]).ok();
    assert!(sandbox.run(["log", "--json"]).ok().stdout.contains("2026-11-14T11:30:00Z"));
    // The time of an edit is never before the last event in the log.
    edit(&sandbox, NEW, |value| value["metadata"]["theirs"] = json!(2));
    let edited = std::fs::File::options().write(true).open(sandbox.path(NEW)).unwrap();
    edited.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    sandbox.at("2026-11-23T13:00:00Z");
    assert_eq!(view(&sandbox)["updated_at"], "2026-11-23T12:00:00Z");
}

#[test]
fn what_would_make_the_file_one_that_is_not_read_is_refused_before_anything_is_written() {
    let sandbox = started();
    sandbox.run(["advance", "--phase", "0", "--session", "s"]).ok();
    let before = (sandbox.read(NEW), sandbox.run(["log", "--session", "s"]).ok().stdout);
    let pieces: Vec<String> = (0..17).map(|n| format!("\"piece{n}\": \"{}\"", "x".repeat(61_600))).collect();
    sandbox.write("evidence.json", &format!("{{\"tests\": 3, {}}}", pieces.join(", ")));
    let refused = sandbox
        .run(["advance", "--phase", "1", "--session", "s", "--evidence-file", "evidence.json"])
        .code(2);
    assert!(refused.stderr.contains(NEW), "{}", refused.stderr);
    assert!(refused.stderr.contains("nothing was changed"), "{}", refused.stderr);
    assert_eq!((sandbox.read(NEW), sandbox.run(["log", "--session", "s"]).ok().stdout), before);
    sandbox.run(["advance", "--phase", "1", "--session", "s", "--evidence", "tests=3"]).ok();
}

#[test]
fn reopen_without_a_name_means_a_session_that_its_file_calls_completed() {
    // No command has adopted this session.
    let sandbox = fresh();
    sandbox.at("2026-11-14T11:00:00Z");
    let mut done = old_file();
    done["completed_phases"] = json!([0, 1, 2]);
    done["current_phase"] = json!(3);
    sandbox.write(OLD, &pretty(&done));
    let reopened = sandbox.run(["reopen"]).ok();
    assert!(reopened.stdout.starts_with(&format!("{ID} reopened")), "{}", reopened.stdout);
    // The tool has finished this session, which leftoff knows.
    let sandbox = started();
    let mut theirs = file(&sandbox, NEW);
    theirs["completed_phases"] = json!([0, 1, 2]);
    theirs["current_phase"] = json!(2);
    theirs["lifecycle"]["completed"] = json!(true);
    sandbox.write(NEW, &pretty(&theirs));
    let reopened = sandbox.run(["reopen"]).ok();
    assert!(reopened.stdout.starts_with("s reopened"), "{}", reopened.stdout);
}

#[test]
fn a_finished_session_does_not_suggest_another_run() {
    let sandbox = with_old();
    sandbox.run(["advance", "--phase", "1", "--session", ID]).ok();
    let done = sandbox.run(["advance", "--phase", "2", "--session", ID]).ok();
    assert!(done.stdout.contains("Finished; nothing remaining."), "{}", done.stdout);
    assert!(!done.stdout.contains("run start"), "{}", done.stdout);
    define(&sandbox);
    let status = sandbox.run(["status", "--session", ID]).ok().stdout;
    assert!(!status.contains("run start"), "{status}");
    sandbox.run(["run", "start", "ship_v1", "--session", ID]).ok();
}
