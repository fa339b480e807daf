//! Tests of each row in the format's table of commands.

use super::*;

#[test]
fn start_makes_id_line_folder_template_and_place_for_tasks_and_pauses_the_active_one() {
    let sandbox = project();
    let first = sandbox
        .run(["start", "--layout", "ccw", "--type", "complex", "--goal", "Add OAuth log-in", "--json"])
        .ok()
        .json();
    assert_eq!((&first["session_id"], &first["layout"]), (&json!("WFS-add-oauth-log-in"), &json!("ccw")));
    assert_eq!(first["current_phase"]["id"], "plan");
    assert!(sandbox.path(".workflow/WFS-add-oauth-log-in/.task").is_dir());
    assert!(sandbox.read(".workflow/WFS-add-oauth-log-in/IMPL_PLAN.md").contains("Add OAuth log-in"));
    let line: Value = serde_json::from_str(sandbox.read(REGISTRY).trim()).unwrap();
    assert_eq!(
        line,
        json!({ "id": "WFS-add-oauth-log-in", "status": "active", "description": "Add OAuth log-in",
        "created": "2026-11-14T10:00:00Z", "directory": ".workflow/WFS-add-oauth-log-in", "complexity": "complex" })
    );
    let second = sandbox.run(["start", "--layout", "ccw", "--type", "simple", "--goal", "Fix typo"]).ok();
    assert!(second.stderr.contains("paused WFS-add-oauth-log-in"), "{}", second.stderr);
    assert_eq!(state(&sandbox, "WFS-fix-typo")["current_phase"], "IMPLEMENT", "simple starts at IMPLEMENT");
    assert_eq!(state(&sandbox, "WFS-add-oauth-log-in")["status"], "paused");
    let expected = [("WFS-add-oauth-log-in", "paused"), ("WFS-fix-typo", "active")];
    assert_eq!(registered(&sandbox), expected.map(|(id, status)| (id.to_owned(), status.to_owned())));
}

/// Only a simple session starts at IMPLEMENT. Every other session starts at PLAN.
#[test]
fn start_begins_at_plan_unless_it_is_simple() {
    for (size, phase) in
        [(None, "PLAN"), (Some("medium"), "PLAN"), (Some("complex"), "PLAN"), (Some("simple"), "IMPLEMENT")]
    {
        let sandbox = project();
        let words = ["start", "--layout", "ccw", "--goal", "One"].into_iter();
        sandbox.run(words.chain(size.iter().flat_map(|size| ["--type", size]))).ok();
        let json = state(&sandbox, "WFS-one");
        // The session's file always contains a size. The default is medium.
        let written = size.or(Some("medium"));
        assert_eq!((&json["current_phase"], json["type"].as_str()), (&json!(phase), written));
        let line: Value = serde_json::from_str(sandbox.read(REGISTRY).trim()).unwrap();
        assert_eq!(line["complexity"].as_str(), size, "complexity is optional");
        if phase == "IMPLEMENT" {
            let brief = sandbox.run(["brief"]).ok().stdout;
            assert!(
                crate::unbroken(&brief)
                    .contains("1 Plan (not applicable, \"a simple task starts with its implementation\")"),
                "{brief}"
            );
            let refused = sandbox.run(["close"]).code(4).stderr;
            assert!(refused.contains("0 of 2 phases of 'ccw' are done"), "{refused}");
        }
    }
}

#[test]
fn start_warns_of_a_similar_session_and_numbers_a_name_that_is_taken() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ccw", "--goal", "Fix the login timeout"]).ok();
    let again = sandbox.run(["start", "--layout", "ccw", "--goal", "Fix the login timeout"]).ok();
    assert!(again.stderr.contains("a similar session exists: WFS-fix-the-login-timeout"), "{}", again.stderr);
    assert!(sandbox.path(".workflow/WFS-fix-the-login-timeout-002").is_dir());
    let other = sandbox.run(["start", "--layout", "ccw", "--goal", "Write the manual"]).ok();
    assert!(!other.stderr.contains("similar"), "{}", other.stderr);
}

#[test]
fn pause_saves_and_says_how_to_resume_and_is_an_error_without_a_session() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ccw", "--goal", "One"]).ok();
    let paused = sandbox.run(["pause"]).ok();
    for word in ["WFS-one", "phase 1", "leftoff resume WFS-one"] {
        assert!(paused.stdout.contains(word), "{word} in {}", paused.stdout);
    }
    let json = state(&sandbox, "WFS-one");
    assert_eq!(
        (&json["status"], &json["progress"]["last_checkpoint"]),
        (&json!("paused"), &json!("2026-11-14T10:00:00Z"))
    );
    sandbox.run(["close", "--force"]).ok();
    sandbox.run(["pause"]).code(3);
    project().run(["pause"]).code(3);
}

/// If no session is active, `pause` is an error, even if a paused session exists. The message names that
/// session, and how to resume it.
#[test]
fn pause_is_an_error_when_all_are_paused_unless_one_is_named() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ccw", "--goal", "One"]).ok();
    sandbox.run(["start", "--layout", "ccw", "--goal", "Two"]).ok();
    sandbox.run(["pause", "--key", "once"]).ok();
    let refused = sandbox.run(["pause", "--json"]).code(3).error();
    assert_eq!(refused["kind"], "nothing_active");
    let message = refused["message"].as_str().unwrap();
    assert!(message.ends_with("paused: WFS-two, WFS-one"), "{message}");
    let hint = refused["hint"].as_str().unwrap();
    assert!(hint.contains("leftoff resume WFS-two"), "{hint}");
    assert_eq!(sandbox.run(["log"]).ok().stdout.matches("paused").count(), 1, "nothing was changed");
    // Repeating the command with its key repeats the answer.
    sandbox.run(["pause", "--key", "once"]).ok();
    sandbox.run(["pause", "--session", "WFS-one", "--reason", "waits for the design"]).ok();
    assert!(sandbox.run(["show", "WFS-one"]).ok().stdout.contains("waits for the design"));
    // `pause` does not adopt a session that the tool has paused.
    let theirs = project();
    write_session(&theirs, "WFS-a", "IMPLEMENT", "paused", "2026-11-10T10:00:00Z");
    let before = theirs.read(&state_of("WFS-a"));
    theirs.run(["pause"]).code(3);
    assert_eq!(theirs.read(&state_of("WFS-a")), before);
    // A native session that is paused can be paused again.
    let native = project();
    native.run(["start", "--goal", "Native"]).ok();
    native.run(["pause"]).ok();
    native.run(["pause"]).ok();
}

#[test]
fn resume_takes_the_one_paused_last_or_the_one_named_and_lists_when_none_is_paused() {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "IMPLEMENT", "paused", "2026-11-10T10:00:00Z");
    write_session(&sandbox, "WFS-b", "IMPLEMENT", "interrupted", "2026-11-12T10:00:00Z");
    write_session(&sandbox, "WFS-c", "IMPLEMENT", "paused", "2026-11-11T10:00:00Z");
    assert_eq!(sandbox.run(["resume", "--json"]).ok().json()["session_id"], "WFS-b");
    assert_eq!(state(&sandbox, "WFS-b")["status"], "active");
    assert_eq!(sandbox.run(["resume", "WFS-a", "--json"]).ok().json()["session_id"], "WFS-a");
    assert_eq!(registered(&sandbox).iter().filter(|(_, status)| status == "active").count(), 1);
    let none = project();
    write_session(&none, "WFS-done", "REVIEW", "completed", "2026-11-10T10:00:00Z");
    let refused = none.run(["resume"]).code(3);
    assert!(refused.stderr.contains("leftoff list --all"), "{}", refused.stderr);
}

#[test]
fn resume_checks_what_the_phase_needs_and_asks() {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "PLAN", "paused", "2026-11-10T10:00:00Z");
    let asked = sandbox.run(["resume"]).code(6);
    assert!(asked.stderr.contains("plan document: IMPL_PLAN.md is missing"), "{}", asked.stderr);
    assert_eq!(state(&sandbox, "WFS-a")["status"], "paused");
    sandbox.write(".workflow/WFS-a/IMPL_PLAN.md", "# Plan\n");
    sandbox.run(["resume"]).ok();
    let review = project();
    write_session(&review, "WFS-r", "REVIEW", "paused", "2026-11-10T10:00:00Z");
    review.write(".workflow/WFS-r/.task/impl-1.json", r#"{"id":"impl-1","title":"T","status":"pending"}"#);
    let asked = review.run(["resume"]).code(6);
    assert!(asked.stderr.contains("implementation: 1 task is unfinished"), "{}", asked.stderr);
    review.run(["resume", "--yes"]).ok();
}

#[test]
fn switch_takes_an_id_a_unique_part_or_a_number_and_a_failure_keeps_the_current_one() {
    let sandbox = project();
    write_session(&sandbox, "WFS-oauth", "IMPLEMENT", "active", "2026-11-13T10:00:00Z");
    write_session(&sandbox, "WFS-profile-page", "IMPLEMENT", "paused", "2026-11-12T10:00:00Z");
    write_session(&sandbox, "WFS-profile-bug", "IMPLEMENT", "paused", "2026-11-11T10:00:00Z");
    let number = |id: &str| {
        let list = sandbox.run(["list", "--json"]).ok().json();
        let line = list["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .find(|line| line["session_id"] == id)
            .unwrap()
            .clone();
        line["number"].to_string()
    };
    let before = sandbox.read(REGISTRY);
    sandbox.run(["switch", "profile"]).code(3);
    sandbox.run(["switch", "nothing-of-the-kind"]).code(3);
    sandbox.run(["switch", "99"]).code(3);
    assert_eq!(sandbox.read(REGISTRY), before, "a failure keeps the current one");
    assert_eq!(sandbox.run(["switch", "page", "--json"]).ok().json()["session_id"], "WFS-profile-page");
    assert_eq!(sandbox.run(["switch", "WFS-oauth", "--json"]).ok().json()["session_id"], "WFS-oauth");
    let again = sandbox.run(["switch", "oauth", "--json"]).ok().json();
    assert_eq!(again["already"], true, "switching to the active one changes nothing");
    let bug = number("WFS-profile-bug");
    assert_eq!(sandbox.run(["switch", &bug, "--json"]).ok().json()["session_id"], "WFS-profile-bug");
    let active: Vec<String> =
        registered(&sandbox).into_iter().filter(|(_, status)| status == "active").map(|(id, _)| id).collect();
    assert_eq!(active, ["WFS-profile-bug"]);
}

#[test]
fn list_is_by_last_activity_and_a_corrupt_one_is_a_warning() {
    let sandbox = project();
    write_session(&sandbox, "WFS-old", "PLAN", "paused", "2026-11-02T10:00:00Z");
    write_session(&sandbox, "WFS-new", "PLAN", "active", "2026-11-13T10:00:00Z");
    write_session(&sandbox, "WFS-mid", "PLAN", "paused", "2026-11-09T10:00:00Z");
    sandbox.write(&state_of("WFS-bad"), "{\"session_id\":");
    let list = sandbox.run(["list", "--json"]).ok().json();
    let ids: Vec<&str> = list["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["session_id"].as_str().unwrap())
        .collect();
    let at = |id: &str| ids.iter().position(|known| *known == id).unwrap();
    assert!(at("WFS-new") < at("WFS-mid") && at("WFS-mid") < at("WFS-old"), "{ids:?}");
    assert!(ids.contains(&"WFS-bad"));
    let said = list["warnings"].to_string();
    assert!(said.contains("WFS-bad/workflow-session.json: it is not JSON"), "{said}");
    // If the layout is known, "No sessions found" is never printed.
    assert!(sandbox.run(["list"]).ok().stdout.contains("WFS-old"));
}

/// If a name is taken, `-002` is added. A session that is only in the registry, or in another worktree, takes
/// its name, too.
#[test]
fn a_name_in_the_registry_or_in_the_store_is_taken() {
    let sandbox = project();
    let old = r#"{"id":"WFS-fix","status":"completed","description":"Last year's","created":"2025-01-01T10:00:00Z","directory":".workflow/WFS-fix"}"#;
    sandbox.write(REGISTRY, &format!("{old}\n"));
    sandbox.run(["start", "--layout", "ccw", "--goal", "Fix"]).ok();
    assert!(sandbox.path(".workflow/WFS-fix-002").is_dir() && !sandbox.path(".workflow/WFS-fix").exists());
    assert!(sandbox.read(REGISTRY).starts_with(old), "its line is as it was");
    sandbox.run(["start", "--layout", "ccw", "--goal", "Other"]).ok();
    std::fs::remove_dir_all(sandbox.path(".workflow")).unwrap();
    sandbox.run(["start", "--layout", "ccw", "--goal", "Other"]).ok();
    assert!(sandbox.path(".workflow/WFS-other-002").is_dir());
}

/// The ids have 50 characters each, and differ only at the end.
#[test]
fn long_ids_are_told_apart_in_a_list() {
    let sandbox = project();
    for _ in 0..2 {
        sandbox
            .run(["start", "--layout", "ccw", "--goal", "Rework how the importer reads very old files"])
            .ok();
    }
    let text = sandbox.run(["list"]).ok().stdout;
    assert!(text.contains("WFS-rework-how-the-importer-reads-very-old-files "), "{text}");
    assert!(text.contains("-002 "), "{text}");
}

#[test]
fn later_layouts_are_listed_too() {
    let sandbox = project();
    let json = r#"{"session_id":"x","current_phase":"PLAN","status":"planning","created_at":"2026-11-10T10:00:00Z"}"#;
    sandbox.write(".workflow/active/WFS-now/workflow-session.json", json);
    sandbox.write(".workflow/archives/WFS-then/workflow-session.json", json);
    sandbox.write(".workflow/.active-WFS-now", "");
    let list = sandbox.run(["list", "--all", "--json"]).ok().json();
    let lines: Vec<(String, String)> = list["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| (line["session_id"].to_string(), line["lifecycle"].to_string()))
        .collect();
    assert!(lines.contains(&("\"WFS-now\"".to_owned(), "\"active\"".to_owned())), "{lines:?}");
    assert!(lines.contains(&("\"WFS-then\"".to_owned(), "\"completed\"".to_owned())), "{lines:?}");
    sandbox.write(".workflow/active/WFS-now/IMPL_PLAN.md", "1. Do it\n");
    sandbox.run(["advance", "--session", "WFS-now"]).ok();
    let after: Value =
        serde_json::from_str(&sandbox.read(".workflow/active/WFS-now/workflow-session.json")).unwrap();
    assert_eq!((&after["current_phase"], &after["status"]), (&json!("IMPLEMENT"), &json!("implementing")));
    assert!(!sandbox.path(REGISTRY).exists(), "those have no registry");
}

#[test]
fn status_shows_phase_tasks_documents_and_health() {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "IMPLEMENT", "active", "2026-11-13T10:00:00Z");
    sandbox.write(".workflow/WFS-a/IMPL_PLAN.md", "1. Do it\n");
    sandbox.write(".workflow/WFS-a/.task/impl-1.json", r#"{"id":"impl-1","title":"T","status":"active"}"#);
    let text = sandbox.run(["status"]).ok().stdout;
    for words in [
        "Items of implement: 0 of 1 done",
        "documents: IMPL_PLAN.md",
        "registry: the session is registered",
        "active tasks: impl-1",
    ] {
        assert!(text.contains(words), "{words} in {text}");
    }
    let line = sandbox.read(REGISTRY);
    sandbox.write(REGISTRY, &format!("{line}{line}"));
    let json = sandbox.run(["status", "--json"]).ok().json();
    let health =
        json["health"].as_array().unwrap().iter().find(|health| health["check"] == "registry").unwrap();
    assert_eq!(
        (&health["ok"], &health["found"]),
        (&json!(false), &json!("the session is in the registry 2 times"))
    );
}

#[test]
fn status_without_an_active_one_names_candidates() {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "IMPLEMENT", "paused", "2026-11-13T10:00:00Z");
    write_session(&sandbox, "WFS-b", "IMPLEMENT", "paused", "2026-11-12T10:00:00Z");
    let status = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!(status["session_id"], "WFS-a");
    assert!(
        status["warnings"].to_string().contains("no active session; also paused: WFS-b"),
        "{}",
        status["warnings"]
    );
    // An agent that follows the brief never leaves this session for another one.
    let brief = sandbox.run(["brief", "--format", "markdown"]).ok().stdout;
    assert!(brief.contains("also paused: WFS-b (see all sessions: `leftoff list`)"), "{brief}");
    assert!(!brief.contains("leftoff switch"), "{brief}");
}

#[test]
fn a_brief_tells_what_the_files_of_the_session_contradict() {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "PLAN", "active", "2026-11-13T10:00:00Z");
    let path = ".workflow/WFS-a/workflow-session.json";
    let mut file: serde_json::Value = serde_json::from_str(&sandbox.read(path)).unwrap();
    file["progress"]["completed_phases"] = json!(["PLAN", "IMPLEMENT"]);
    sandbox.write(path, &file.to_string());
    let brief = sandbox.run(["brief", "--format", "markdown"]).ok().stdout;
    assert!(
        brief.contains("- completed phases: the list includes PLAN, but the current phase is PLAN"),
        "{brief}"
    );
}

#[test]
fn complete_warns_of_unfinished_tasks_and_leaves_them_as_they_are() {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "IMPLEMENT", "active", "2026-11-13T10:00:00Z");
    let open = r#"{"id":"impl-1","title":"T","status":"pending"}"#;
    sandbox.write(".workflow/WFS-a/.task/impl-1.json", open);
    let refused = sandbox.run(["close"]).code(4);
    assert!(refused.stderr.contains("--force"), "{}", refused.stderr);
    let closed = sandbox.run(["close", "--force"]).ok();
    assert!(closed.stderr.contains("closed unfinished: impl-1"), "{}", closed.stderr);
    assert_eq!(state(&sandbox, "WFS-a")["status"], "completed");
    assert_eq!(sandbox.read(".workflow/WFS-a/.task/impl-1.json"), open, "archiving completes no task");
}

#[test]
fn before_any_command_the_active_session_gives_folder_and_documents_and_without_one_a_temporary_workspace() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ccw", "--goal", "One"]).ok();
    let refused = sandbox.run(["advance"]).code(5).stderr;
    assert!(refused.contains(r"IMPL_PLAN.md does not match `(?m)^\s*[^#<\s]`"), "{refused}");
    sandbox.write(".workflow/WFS-one/IMPL_PLAN.md", "1. Do it\n");
    sandbox.run(["advance"]).ok();
    let shown = sandbox
        .run([
            "exec",
            "--",
            "sh",
            "-c",
            "echo $LEFTOFF_WORKSPACE; echo $LEFTOFF_DOCUMENTS; echo $LEFTOFF_PHASE",
        ])
        .ok()
        .stdout;
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].ends_with(".workflow/WFS-one"), "{shown}");
    assert!(
        lines[1].ends_with(".workflow/WFS-one/IMPL_PLAN.md"),
        "the next phase inherits the plan: {shown}"
    );
    assert_eq!(lines[2], "implement");
    assert!(sandbox.run(["brief"]).ok().stdout.contains("IMPL_PLAN.md"));
    let none = project().run(["exec", "--", "sh", "-c", "echo $LEFTOFF_WORKSPACE"]).ok();
    assert!(!none.stdout.trim().is_empty() && !none.stdout.contains(".workflow"), "{}", none.stdout);
}

/// The workspace is the folder of the active session. The folder of a paused session is never used.
#[test]
fn c2_exec_uses_a_temporary_workspace_when_all_sessions_are_paused() {
    let workspace = |sandbox: &Sandbox, named: &[&str]| {
        let mut words = vec!["exec"];
        words.extend(named);
        words.extend(["--", "sh", "-c", "echo $LEFTOFF_WORKSPACE"]);
        sandbox.run(words).ok().stdout
    };
    let ours = project();
    ours.run(["start", "--layout", "ccw", "--goal", "One"]).ok();
    assert!(workspace(&ours, &[]).contains(".workflow/WFS-one"));
    ours.run(["pause"]).ok();
    assert!(!workspace(&ours, &[]).contains(".workflow"), "it is paused");
    assert!(
        workspace(&ours, &["--session", "WFS-one"]).contains(".workflow/WFS-one"),
        "who names it means it"
    );
    let theirs = project();
    write_session(&theirs, "WFS-a", "IMPLEMENT", "paused", "2026-11-10T10:00:00Z");
    assert!(!workspace(&theirs, &[]).contains(".workflow"));
}

#[test]
fn c3_a_second_active_session_beside_the_first_is_refused_with_the_reason() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ccw", "--goal", "One"]).ok();
    let refused = sandbox.run(["start", "--layout", "ccw", "--goal", "Two", "--parallel"]).code(2).stderr;
    assert!(
        refused.contains("cannot be parallel: the files of such sessions can record only one active session"),
        "{refused}"
    );
    assert_eq!(registered(&sandbox), [("WFS-one".to_owned(), "active".to_owned())]);
    sandbox.run(["start", "--goal", "Native", "--parallel"]).ok();
}

#[test]
fn before_any_command_the_task_that_is_begun_and_all_documents_are_the_context() {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "IMPLEMENT", "active", "2026-11-14T09:00:00Z");
    for (id, status) in [("impl-1", "pending"), ("impl-2", "active")] {
        let task = json!({ "id": id, "title": id, "status": status });
        sandbox.write(&format!(".workflow/WFS-a/.task/{id}.json"), &task.to_string());
    }
    for path in ["IMPL_PLAN.md", "TODO_LIST.md", ".summaries/IMPL-0-summary.md"] {
        sandbox.write(&format!(".workflow/WFS-a/{path}"), "Something\n");
    }
    let script = "echo $LEFTOFF_TASK; echo $LEFTOFF_GOAL; echo $LEFTOFF_DOCUMENTS | tr : '\\n'";
    let shown = sandbox.run(["exec", "--", "sh", "-c", script]).ok().stdout;
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[..2], ["impl-2", "About WFS-a"], "{shown}");
    let named: Vec<&str> = lines[2..].iter().map(|line| line.split("WFS-a/").last().unwrap()).collect();
    assert_eq!(named, ["IMPL_PLAN.md", "TODO_LIST.md", ".summaries/IMPL-0-summary.md"]);
    sandbox.run(["item", "claim", "impl-1"]).ok();
    let held = sandbox.run(["exec", "--", "sh", "-c", "echo $LEFTOFF_TASK"]).ok().stdout;
    assert_eq!(held.trim(), "impl-1", "what somebody holds comes first");
}

#[test]
fn inactivity_is_told_and_pauses_nothing() {
    let sandbox = project();
    write_session(&sandbox, "WFS-monday", "IMPLEMENT", "active", "2026-11-02T10:00:00Z");
    let status = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!(status["lifecycle"]["state"], "active");
    sandbox.run(["note", "Friday"]).ok();
    assert_eq!(state(&sandbox, "WFS-monday")["status"], "active");
}

/// The status alone shows the progress of a review.
#[test]
fn c6_the_review_completes_without_a_document_and_a_new_file_has_a_type() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ccw", "--goal", "One"]).ok();
    assert_eq!(state(&sandbox, "WFS-one")["type"], "medium");
    let review = project();
    write_session(&review, "WFS-r", "REVIEW", "active", "2026-11-14T09:00:00Z");
    review.run(["advance"]).ok();
    assert_eq!(state(&review, "WFS-r")["status"], "completed");
}

#[test]
fn c9_files_as_a_later_release_writes_them_raise_no_warning() {
    let sandbox = project();
    let json = json!({
        "session_id": "WFS-a", "description": "About it", "type": "workflow", "status": "initialized",
        "created_at": "2026-11-14T09:00:00Z", "updated_at": "2026-11-14T09:00:00Z",
    });
    sandbox.write(".workflow/active/WFS-a/workflow-session.json", &json.to_string());
    let status = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!((&status["lifecycle"]["state"], &status["warnings"]), (&json!("active"), &json!([])));
    sandbox.run(["doctor"]).ok();
}

#[test]
fn c9_several_sessions_that_nobody_began_are_healthy_and_none_is_paused_for_another() {
    let sandbox = project();
    let made = |id: &str, at: &str| {
        let json = json!({"session_id": id, "type": "workflow", "status": "initialized", "created_at": at});
        sandbox.write(&format!(".workflow/active/{id}/workflow-session.json"), &json.to_string());
    };
    made("WFS-a", "2026-11-14T09:00:00Z");
    made("WFS-b", "2026-11-14T10:00:00Z");
    sandbox.run(["doctor"]).ok();
    assert_eq!(sandbox.run(["list", "--json"]).ok().json()["warnings"], json!([]));
    let path = |id: &str| format!(".workflow/active/{id}/workflow-session.json");
    let before = sandbox.read(&path("WFS-a"));
    sandbox.run(["note", "seen", "--session", "WFS-b"]).ok();
    assert_eq!(sandbox.read(&path("WFS-a")), before);
    sandbox.run(["doctor"]).ok();
}
