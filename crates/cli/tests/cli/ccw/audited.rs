//! Tests for former defects: the question of `resume`, the requirements of a task, places of sessions, files
//! of later releases.

use super::*;

fn with_completed(sandbox: &Sandbox, id: &str, completed: &[&str]) {
    let mut file = state(sandbox, id);
    file["progress"]["completed_phases"] = json!(completed);
    sandbox.write(&state_of(id), &file.to_string());
}

#[test]
fn c4_back_in_the_resume_question_goes_back_to_the_first_phase_concerned() {
    for (answer, phase, completed) in
        [("g\n", "REVIEW", json!(["PLAN", "IMPLEMENT"])), ("b\n", "IMPLEMENT", json!(["PLAN"]))]
    {
        let sandbox = project();
        write_session(&sandbox, "WFS-r", "REVIEW", "paused", "2026-11-10T10:00:00Z");
        with_completed(&sandbox, "WFS-r", &["PLAN", "IMPLEMENT"]);
        sandbox
            .write(".workflow/WFS-r/.task/impl-1.json", r#"{"id":"impl-1","title":"T","status":"pending"}"#);
        sandbox.answer_at_terminal(["resume"], answer).expect("a terminal").ok();
        let file = state(&sandbox, "WFS-r");
        assert_eq!((&file["status"], &file["current_phase"]), (&json!("active"), &json!(phase)), "{answer}");
        assert_eq!(file["progress"]["completed_phases"], completed, "{answer}");
    }
}

#[test]
fn c4_a_contradictory_list_of_completed_phases_raises_the_question() {
    for (current, listed, told, back_to, kept) in [
        (
            "PLAN",
            &["PLAN", "IMPLEMENT"][..],
            "the list includes PLAN, but the current phase is PLAN",
            "PLAN",
            json!([]),
        ),
        (
            "REVIEW",
            &["PLAN"],
            "IMPLEMENT is missing from the list, but the current phase is REVIEW",
            "IMPLEMENT",
            json!(["PLAN"]),
        ),
        (
            "REVIEW",
            &["REVIEW"],
            "PLAN is missing from the list, but the current phase is REVIEW",
            "PLAN",
            json!([]),
        ),
        (
            "IMPLEMENT",
            &["REVIEW"],
            "PLAN is missing from the list, but the current phase is IMPLEMENT",
            "PLAN",
            json!([]),
        ),
    ] {
        let sandbox = project();
        write_session(&sandbox, "WFS-c", current, "paused", "2026-11-10T10:00:00Z");
        with_completed(&sandbox, "WFS-c", listed);
        // A plan proves that planning is done only if it has content.
        sandbox.write(".workflow/WFS-c/IMPL_PLAN.md", "# Plan\n");
        let before = sandbox.read(&state_of("WFS-c"));
        let asked = sandbox.run(["resume"]).code(6);
        assert!(asked.stderr.contains(&format!("completed phases: {told}")), "{current}: {}", asked.stderr);
        assert_eq!(sandbox.read(&state_of("WFS-c")), before, "nothing was done without an answer");
        sandbox.answer_at_terminal(["resume"], "b\n").expect("a terminal").ok();
        let file = state(&sandbox, "WFS-c");
        assert_eq!((&file["current_phase"], &file["progress"]["completed_phases"]), (&json!(back_to), &kept));
        sandbox.run(["pause"]).ok();
        sandbox.run(["resume"]).ok();
    }
}

#[test]
fn c4_the_way_back_names_its_session_where_another_one_is_active() {
    let sandbox = project();
    write_session(&sandbox, "WFS-odd", "REVIEW", "paused", "2026-11-10T10:00:00Z");
    with_completed(&sandbox, "WFS-odd", &["IMPLEMENT"]);
    write_session(&sandbox, "WFS-well", "REVIEW", "active", "2026-11-13T10:00:00Z");
    with_completed(&sandbox, "WFS-well", &["PLAN", "IMPLEMENT"]);
    let command = "leftoff rollback plan --session WFS-odd";
    let told = sandbox.run(["doctor"]).code(4).stdout;
    assert!(told.contains(command), "{told}");
    let asked = sandbox.run(["resume", "WFS-odd"]).code(6).stderr;
    assert!(asked.contains(command), "{asked}");
    sandbox.run_printed(command);
    assert_eq!(state(&sandbox, "WFS-well")["current_phase"], "REVIEW");
}

#[test]
fn c4_a_list_that_fits_or_is_empty_raises_no_question() {
    for (current, listed) in [
        ("IMPLEMENT", &["PLAN"][..]),
        ("REVIEW", &["PLAN", "IMPLEMENT"]),
        ("REVIEW", &["PLAN", "IMPLEMENT", "REVIEW"]),
        ("IMPLEMENT", &[]),
        ("PLAN", &["BRAINSTORM"]),
    ] {
        let sandbox = project();
        write_session(&sandbox, "WFS-c", current, "paused", "2026-11-10T10:00:00Z");
        with_completed(&sandbox, "WFS-c", listed);
        sandbox.write(".workflow/WFS-c/IMPL_PLAN.md", "# Plan\n");
        sandbox.run(["resume"]).ok();
    }
}

#[test]
fn c5_begun_tasks_come_before_pending_ones_and_tell_what_they_ask_for() {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "IMPLEMENT", "active", "2026-11-13T10:00:00Z");
    let task = |id: &str, title: &str, status: &str, requirements: &[&str]| {
        let json = json!({ "id": id, "title": title, "status": status, "context": { "requirements": requirements,
            "acceptance": ["A token is refused after 15 minutes"] } });
        sandbox.write(&format!(".workflow/WFS-a/.task/{id}.json"), &json.to_string());
    };
    task("impl-1", "Tables", "pending", &["a table of users"]);
    task("impl-2", "Tokens", "active", &["JWT with 15 minutes", "refresh by cookie"]);
    let next = sandbox.run(["next", "--json"]).ok().json();
    assert_eq!(next["command"], "leftoff item claim impl-2", "{next}");
    let brief = sandbox.run(["brief", "--format", "markdown"]).ok().stdout;
    let (begun, pending) = (brief.find("impl-2 Tokens"), brief.find("impl-1 Tables"));
    assert!(begun.is_some() && begun < pending, "{brief}");
    assert!(brief.contains(r#"requirements: "JWT with 15 minutes; refresh by cookie""#), "{brief}");
    assert!(brief.contains(r#"acceptance: "A token is refused after 15 minutes""#), "{brief}");
    let text = sandbox.run(["brief"]).ok().stdout;
    assert!(text.contains("requirements: \"JWT with 15 minutes; refresh by cookie\""), "{text}");
    let script = "echo $LEFTOFF_TASK; echo $LEFTOFF_TASK_TITLE; echo \"$LEFTOFF_TASK_REQUIREMENTS\"";
    let told = sandbox.run(["exec", "--", "sh", "-c", script]).ok().stdout;
    assert_eq!(told, "impl-2\nTokens\nJWT with 15 minutes\nrefresh by cookie\n");
    // A claim that names no task claims the started task.
    assert_eq!(sandbox.run(["item", "claim", "--json"]).ok().json()["item"]["id"], "impl-2");
}

#[test]
fn c5_all_missing_tasks_are_named() {
    let sandbox = project();
    write_session(&sandbox, "WFS-i", "IMPLEMENT", "paused", "2026-11-10T10:00:00Z");
    let names: Vec<String> = (1..=12).map(|number| format!("impl-{number}")).collect();
    let mut file = state(&sandbox, "WFS-i");
    file["progress"]["current_tasks"] = json!(names);
    sandbox.write(&state_of("WFS-i"), &file.to_string());
    let asked = sandbox.run(["resume"]).code(6);
    assert!(
        asked.stderr.contains(&format!("current tasks {} do not exist", names.join(", "))),
        "{}",
        asked.stderr
    );
}

/// The registry may give a place in which no tool looks for sessions, below `.workflow` or anywhere in the
/// project.
#[test]
fn c6_a_directory_elsewhere_that_the_registry_names_is_used() {
    for directory in [".workflow/2026/WFS-far", "docs/flows/WFS-far"] {
        let sandbox = project();
        write_session(&sandbox, "WFS-far", "IMPLEMENT", "active", "2026-11-14T09:00:00Z");
        sandbox.write(
            ".workflow/WFS-far/.task/impl-1.json",
            r#"{"id":"impl-1","title":"T","status":"pending"}"#,
        );
        let moved = sandbox.path(directory);
        std::fs::create_dir_all(moved.parent().unwrap()).unwrap();
        std::fs::rename(sandbox.path(".workflow/WFS-far"), &moved).unwrap();
        sandbox.write(REGISTRY, &sandbox.read(REGISTRY).replace(".workflow/WFS-far", directory));
        let line = sandbox.read(REGISTRY);
        let status = sandbox.run(["status", "--json"]).ok().json();
        assert_eq!(status["session_id"], "WFS-far", "{directory}: {status}");
        assert_eq!(status["warnings"], json!([]), "{directory}");
        sandbox.run(["doctor"]).ok();
        sandbox.run(["item", "done", "impl-1"]).ok();
        let task: Value =
            serde_json::from_str(&sandbox.read(&format!("{directory}/.task/impl-1.json"))).unwrap();
        assert_eq!(task["status"], "completed", "{directory}");
        sandbox.run(["pause"]).ok();
        assert_eq!(
            sandbox.read(REGISTRY),
            line.replace("active", "paused"),
            "its line still names the folder"
        );
        sandbox.run(["note", "kept", "--session", "WFS-far"]).ok();
        let log = sandbox.run(["log", "--session", "WFS-far"]).ok().stdout;
        assert!(log.contains("kept") && log.contains("impl-1 done"), "{directory}: {log}");
        assert!(!sandbox.path(".workflow/WFS-far").exists(), "nothing is made where it is not");
        assert_eq!(
            sandbox.names(directory),
            [".task", "workflow-session.json", "workflow-session.json.bak"],
            "{directory}"
        );
        sandbox.run(["doctor"]).ok();
        let told = sandbox.run(["exec", "--session", "WFS-far", "--", "sh", "-c", "echo $LEFTOFF_WORKSPACE"]);
        assert_eq!(told.ok().stdout.trim_end(), moved.to_str().unwrap());
    }
}

#[test]
fn c6_doctor_agrees_with_status_before_a_session_is_adopted() {
    let sandbox = project();
    write_session(&sandbox, "WFS-r", "REVIEW", "active", "2026-11-13T10:00:00Z");
    sandbox.write(".workflow/WFS-r/.task/impl-1.json", r#"{"id":"impl-1","title":"T","status":"pending"}"#);
    let status = sandbox.run(["status"]).ok();
    assert!(status.stdout.contains("1 task is unfinished"), "{}", status.stdout);
    let before = sandbox.run(["doctor"]).code(4).stdout;
    assert!(before.contains("session WFS-r: implementation: 1 task is unfinished"), "{before}");
    sandbox.run(["note", "adopted"]).ok();
    assert_eq!(sandbox.run(["doctor"]).code(4).stdout, before, "adopting it changes nothing about that");
}

/// A session can be created without being activated.
#[test]
fn c6_a_session_is_created_without_being_activated() {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "IMPLEMENT", "active", "2026-11-13T10:00:00Z");
    let said = sandbox.run(["start", "--layout", "ccw", "--goal", "Later", "--paused"]).ok();
    assert!(said.stdout.contains("created, paused: Later"), "{}", said.stdout);
    let pair = |id: &str, status: &str| (id.to_owned(), status.to_owned());
    assert_eq!(registered(&sandbox), [pair("WFS-a", "active"), pair("WFS-later", "paused")]);
    assert_eq!(state(&sandbox, "WFS-later")["status"], "paused");
    assert_eq!(
        sandbox.run(["status", "--json"]).ok().json()["session_id"],
        "WFS-a",
        "what is active stays so"
    );
    sandbox.run(["switch", "later"]).ok();
    assert_eq!(registered(&sandbox), [pair("WFS-a", "paused"), pair("WFS-later", "active")]);
    sandbox.run(["start", "--paused", "--parallel"]).code(2);
}

#[test]
fn c1_a_task_that_is_only_listed_is_no_task_file() {
    let sandbox = project();
    write_session(&sandbox, "WFS-l", "IMPLEMENT", "active", "2026-11-13T10:00:00Z");
    let mut file = state(&sandbox, "WFS-l");
    file["progress"]["current_tasks"] = json!(["impl-1", "impl-2"]);
    sandbox.write(&state_of("WFS-l"), &file.to_string());
    sandbox.write(".workflow/WFS-l/.task/impl-2.json", r#"{"id":"impl-2","title":"T","status":"active"}"#);
    let status = sandbox.run(["status"]).ok().stdout;
    assert!(status.contains("task files: 1 can be read"), "{status}");
    assert!(status.contains("current task impl-1 does not exist"), "{status}");
}

/// The times in a file of a later release are at the top level, and the file stays in the format of that
/// release.
#[test]
fn c7_a_later_releases_file_keeps_its_times_at_the_top_level() {
    let sandbox = project();
    let later = json!({ "session_id": "WFS-m", "project": "M", "status": "planning",
        "created_at": "2026-11-13T08:00:00Z" });
    sandbox.write(&state_of("WFS-m"), &later.to_string());
    sandbox.write(".workflow/.active-WFS-m", "");
    sandbox.run(["pause"]).ok();
    let file = state(&sandbox, "WFS-m");
    assert_eq!((&file["status"], &file["meta"]), (&json!("paused"), &Value::Null), "{file}");
    assert!(file["updated_at"].is_string(), "{file}");
    // In this release, there is no plan until planning is done, so `resume` does not ask about a plan.
    sandbox.run(["resume"]).ok();
    sandbox.run(["doctor"]).ok();
}

/// A task in the list of current tasks is open work, even if the file says that the implementation is
/// completed.
#[test]
fn c1_a_review_with_current_tasks_raises_the_question_and_leads_back_to_them() {
    let sandbox = project();
    write_session(&sandbox, "WFS-r", "REVIEW", "paused", "2026-11-10T10:00:00Z");
    let mut file = state(&sandbox, "WFS-r");
    file["progress"]["completed_phases"] = json!(["PLAN", "IMPLEMENT"]);
    file["progress"]["current_tasks"] = json!(["impl-1", "impl-2"]);
    sandbox.write(&state_of("WFS-r"), &file.to_string());
    let shown = sandbox.run(["status", "--session", "WFS-r"]).ok().stdout;
    assert!(shown.contains("[!] implementation: 2 tasks are unfinished"), "{shown}");
    let asked = sandbox.run(["resume", "WFS-r"]).code(6).stderr;
    assert!(asked.contains("2 tasks are unfinished"), "{asked}");
    sandbox.answer_at_terminal(["resume"], "b\n").expect("a terminal").ok();
    assert_eq!(state(&sandbox, "WFS-r")["current_phase"], "IMPLEMENT");
    let refused = sandbox.run(["advance"]).code(5).stderr;
    assert!(refused.contains("impl-1") && refused.contains("impl-2"), "{refused}");
}

#[test]
fn c8_a_session_with_a_marker_misses_no_registry() {
    let sandbox = project();
    write_session(&sandbox, "WFS-m", "IMPLEMENT", "active", "2026-11-10T10:00:00Z");
    std::fs::remove_file(sandbox.path(REGISTRY)).unwrap();
    sandbox.write(".workflow/.active-WFS-m", "");
    let shown = sandbox.run(["status"]).ok().stdout;
    assert!(shown.contains("session file") && !shown.contains("registry"), "{shown}");
    std::fs::remove_file(sandbox.path(".workflow/.active-WFS-m")).unwrap();
    let shown = sandbox.run(["status", "--session", "WFS-m"]).ok().stdout;
    assert!(shown.contains("[!] registry: the session is not in the registry"), "{shown}");
}
