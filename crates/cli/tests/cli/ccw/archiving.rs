//! Tests of later releases, in which a session is active or archived according to its folder in `.workflow/`.
//! A session that ends moves to the archives with all of its tasks. A session that continues moves back.

use super::*;

const ACTIVE: &str = ".workflow/active/WFS-one";
const ARCHIVED: &str = ".workflow/archives/WFS-one";

/// A project of a later release, with a half-finished session: one task is done, one is started, and one is
/// pending.
fn half_way() -> Sandbox {
    let sandbox = project();
    std::fs::create_dir_all(sandbox.path(".workflow/active")).unwrap();
    sandbox.run(["start", "--layout", "ccw", "--goal", "One"]).ok();
    sandbox.write(&format!("{ACTIVE}/IMPL_PLAN.md"), "1. Do it\n");
    sandbox.run(["advance", "--phase", "plan"]).ok();
    for title in ["First", "Second", "Third"] {
        sandbox.run(["item", "add", title]).ok();
    }
    sandbox.run(["item", "done", "impl-1"]).ok();
    sandbox.run(["item", "start", "impl-2"]).ok();
    sandbox.write(&format!("{ACTIVE}/.summaries/IMPL-1-summary.md"), "Done.\n");
    sandbox
}

fn statuses(sandbox: &Sandbox, folder: &str) -> Vec<Value> {
    ["IMPL-001", "IMPL-002", "IMPL-003"]
        .map(|id| {
            let task: Value =
                serde_json::from_str(&sandbox.read(&format!("{folder}/.task/{id}.json"))).unwrap();
            task["status"].clone()
        })
        .to_vec()
}

fn status(sandbox: &Sandbox, folder: &str) -> Value {
    let json: Value =
        serde_json::from_str(&sandbox.read(&format!("{folder}/workflow-session.json"))).unwrap();
    json["status"].clone()
}

#[test]
fn closing_moves_the_whole_folder_to_the_archives_and_completes_no_task() {
    let sandbox = half_way();
    sandbox.run(["close", "--force"]).ok();
    assert!(!sandbox.path(ACTIVE).exists(), "nothing of it is left among the active ones");
    assert_eq!(status(&sandbox, ARCHIVED), "completed");
    assert_eq!(statuses(&sandbox, ARCHIVED), ["completed", "in_progress", "pending"], "each as it was");
    assert_eq!(sandbox.read(&format!("{ARCHIVED}/.summaries/IMPL-1-summary.md")), "Done.\n");
    let view = sandbox.run(["show", "WFS-one", "--json"]).ok().json();
    assert_eq!((&view["status"], &view["warnings"]), (&json!("completed"), &json!([])));
    assert_eq!(
        view["artifacts"][0]["path"],
        format!("{ARCHIVED}/IMPL_PLAN.md"),
        "recorded files went with it"
    );
    let versions = sandbox.run(["artifact", "history", &format!("{ARCHIVED}/IMPL_PLAN.md")]).ok().stdout;
    assert!(versions.contains("IMPL_PLAN.md"), "{versions}");
    sandbox.run(["doctor"]).ok();
    // Repeating the command changes nothing.
    assert_eq!(sandbox.run(["close", "--json"]).ok().json()["already"], true);
    assert!(sandbox.run(["repair"]).ok().stderr.contains("nothing to repair"));
    let list = sandbox.run(["list", "--all", "--json"]).ok().json();
    assert_eq!(list["sessions"].as_array().unwrap().len(), 1, "{list:#}");
}

#[test]
fn the_last_phase_completes_it_and_giving_it_up_ends_it_in_the_same_place() {
    let sandbox = half_way();
    for item in ["impl-2", "impl-3"] {
        sandbox.run(["item", "done", item]).ok();
    }
    sandbox.run(["advance", "--phase", "implement"]).ok();
    sandbox.write(&format!("{ACTIVE}/REVIEW.md"), "Fine.\n");
    sandbox.run(["advance", "--phase", "review"]).ok();
    assert_eq!(status(&sandbox, ARCHIVED), "completed");
    let transitions = sandbox.read(&format!("{ARCHIVED}/workflow-session.json"));
    assert!(transitions.contains("\"review_document\": \"REVIEW.md\""), "{transitions}");
    let given_up = half_way();
    given_up.run(["abandon"]).ok();
    let text = given_up.read(&format!("{ARCHIVED}/workflow-session.json"));
    assert!(text.contains("\"completion_type\": \"abandoned\""), "{text}");
    sandbox.run(["doctor"]).ok();
    given_up.run(["doctor"]).ok();
}

#[test]
fn opening_it_again_and_undoing_bring_it_back_to_the_active_ones() {
    let sandbox = half_way();
    sandbox.run(["close", "--force"]).ok();
    sandbox.run(["reopen", "WFS-one"]).ok();
    assert!(!sandbox.path(ARCHIVED).exists());
    assert_eq!(status(&sandbox, ACTIVE), "active");
    let shown = sandbox.run(["exec", "--", "sh", "-c", "echo $LEFTOFF_WORKSPACE"]).ok().stdout;
    assert!(shown.trim().ends_with(ACTIVE), "{shown}");
    sandbox.at("2026-11-14T11:00:00Z").run(["close", "--force"]).ok();
    assert!(sandbox.path(ARCHIVED).is_dir());
    sandbox.at("2026-11-14T12:00:00Z").run_as_person(["undo"]).ok();
    assert!(!sandbox.path(ARCHIVED).exists());
    assert_eq!(status(&sandbox, ACTIVE), "active");
    assert_eq!(statuses(&sandbox, ACTIVE), ["completed", "in_progress", "pending"]);
    sandbox.run(["item", "done", "impl-2"]).ok();
    assert_eq!(statuses(&sandbox, ACTIVE), ["completed", "completed", "pending"]);
    sandbox.run(["doctor"]).ok();
}

#[test]
fn a_place_that_is_taken_is_told_and_nothing_there_is_touched() {
    let sandbox = half_way();
    let theirs = r#"{"session_id":"WFS-one","current_phase":"REVIEW","status":"completed"}"#;
    sandbox.write(&format!("{ARCHIVED}/workflow-session.json"), theirs);
    let closed = sandbox.run(["close", "--force"]).ok();
    assert!(
        closed.stderr.contains("the session's files stay in .workflow/active/WFS-one"),
        "{}",
        closed.stderr
    );
    assert_eq!(status(&sandbox, ACTIVE), "completed");
    assert_eq!(sandbox.read(&format!("{ARCHIVED}/workflow-session.json")), theirs);
    let told = sandbox.run(["doctor"]).code(4).stdout;
    assert!(told.contains("they belong in .workflow/archives/WFS-one"), "{told}");
    sandbox.run(["repair"]).ok();
    assert!(sandbox.path(ACTIVE).is_dir());
    std::fs::rename(sandbox.path(ARCHIVED), sandbox.path(".workflow/archives/WFS-older")).unwrap();
    sandbox.run(["repair"]).ok();
    assert_eq!(status(&sandbox, ARCHIVED), "completed");
    sandbox.run(["doctor"]).ok();
}

/// The tool archives a session only by moving its folder.
#[test]
fn a_folder_that_their_tool_archived_is_followed_with_all_that_was_recorded_in_it() {
    let sandbox = half_way();
    std::fs::create_dir_all(sandbox.path(".workflow/archives")).unwrap();
    std::fs::rename(sandbox.path(ACTIVE), sandbox.path(ARCHIVED)).unwrap();
    let view = sandbox.run(["show", "WFS-one", "--json"]).ok().json();
    assert_eq!(view["status"], "completed");
    assert_eq!(view["artifacts"][0]["path"], format!("{ARCHIVED}/IMPL_PLAN.md"));
    assert!(!view["warnings"].to_string().contains("artifact_missing"), "{}", view["warnings"]);
    assert!(!sandbox.path(ACTIVE).exists());
    sandbox.run(["repair"]).ok();
    sandbox.run(["doctor"]).ok();
    assert_eq!(statuses(&sandbox, ARCHIVED), ["completed", "in_progress", "pending"]);
    let log = sandbox.run(["log", "--session", "WFS-one"]).ok().stdout;
    assert!(log.contains("the session's files were moved to .workflow/archives/WFS-one"), "{log}");
    // Somebody moves the folder back, which makes the session active.
    std::fs::rename(sandbox.path(ARCHIVED), sandbox.path(ACTIVE)).unwrap();
    let view = sandbox.run(["show", "WFS-one", "--json"]).ok().json();
    assert_eq!(view["status"], "active");
    sandbox.run(["item", "done", "impl-2", "--session", "WFS-one"]).ok();
    assert_eq!(status(&sandbox, ACTIVE), "active");
    assert!(!sandbox.path(ARCHIVED).exists());
    sandbox.run(["doctor"]).ok();
}

/// Without a registry the folders alone say which sessions are active, and the latest of them is meant by
/// every command.
#[test]
fn a_second_active_folder_of_their_tool_is_the_active_one_for_every_command() {
    let sandbox = half_way();
    let copied = ".workflow/active/WFS-two/workflow-session.json";
    let later =
        sandbox.read(&format!("{ACTIVE}/workflow-session.json")).replace("2026-11-14T10", "2026-11-14T11");
    sandbox.at("2026-11-14T12:00:00Z");
    sandbox.write(copied, &later);
    let list = sandbox.run(["list", "--json"]).ok().json();
    let active = |line: &&Value| line["lifecycle"] == "active";
    let active: Vec<&Value> = list["sessions"].as_array().unwrap().iter().filter(active).collect();
    assert_eq!((active.len(), &active[0]["session_id"]), (1, &json!("WFS-two")), "{list:#}");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "WFS-two");
    let said = sandbox.run(["note", "here"]).ok();
    assert!(said.stdout.starts_with("WFS-two") && said.stderr.contains("paused WFS-one"), "{}", said.stderr);
    assert_eq!(status(&sandbox, ACTIVE), "paused");
    sandbox.run(["switch", "WFS-one"]).ok();
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "WFS-one");
}

/// The tool's folder takes leftoff's backup with it, wherever it goes.
#[test]
fn a_backup_that_leftoff_made_is_known_as_such_after_the_folder_was_moved_or_copied() {
    let sandbox = half_way();
    std::fs::create_dir_all(sandbox.path(".workflow/archives")).unwrap();
    for (from, to, at) in
        [(ACTIVE, ARCHIVED, "2026-11-14T10:10:00Z"), (ARCHIVED, ACTIVE, "2026-11-14T10:20:00Z")]
    {
        sandbox.at(at);
        std::fs::rename(sandbox.path(from), sandbox.path(to)).unwrap();
        let said = sandbox.run(["checkpoint", "-m", to, "--session", "WFS-one"]).ok().stderr;
        assert!(!said.contains("was not written by leftoff"), "{said}");
    }
    let copied = ".workflow/active/WFS-two";
    std::fs::create_dir_all(sandbox.path(copied)).unwrap();
    for name in ["workflow-session.json", "workflow-session.json.bak"] {
        std::fs::copy(sandbox.path(&format!("{ACTIVE}/{name}")), sandbox.path(&format!("{copied}/{name}")))
            .unwrap();
    }
    sandbox.at("2026-11-14T10:30:00Z");
    let said = sandbox.run(["checkpoint", "-m", "copied", "--session", "WFS-two"]).ok().stderr;
    assert!(!said.contains("was not written by leftoff"), "{said}");
    assert!(!sandbox.path(".leftoff/aside").exists(), "nothing is set aside");
}

/// The tool did not finish archiving: the file says that the session is completed, but its folder is still
/// among the active ones.
#[test]
fn an_archive_that_their_tool_left_half_is_told_and_finished() {
    let sandbox = half_way();
    let file = format!("{ACTIVE}/workflow-session.json");
    sandbox.write(&file, &sandbox.read(&file).replace("\"status\": \"active\"", "\"status\": \"completed\""));
    let told = sandbox.run(["doctor"]).code(4).stdout;
    assert!(told.contains("misplaced: session WFS-one is completed"), "{told}");
    sandbox.run(["repair"]).ok();
    assert_eq!(status(&sandbox, ARCHIVED), "completed");
    assert_eq!(statuses(&sandbox, ARCHIVED), ["completed", "in_progress", "pending"]);
    assert!(!sandbox.path(ACTIVE).exists());
    sandbox.run(["doctor"]).ok();
}

#[test]
fn a_session_of_theirs_is_archived_by_the_command_that_takes_it_in() {
    let sandbox = project();
    let json = r#"{"session_id":"WFS-one","current_phase":"IMPLEMENT","status":"implementing","created_at":"2026-11-10T10:00:00Z","theirs":1.50}"#;
    sandbox.write(&format!("{ACTIVE}/workflow-session.json"), json);
    sandbox.write(
        &format!("{ACTIVE}/.task/IMPL-1.json"),
        r#"{"id":"IMPL-1","title":"T","status":"in_progress"}"#,
    );
    sandbox.run(["close", "--force"]).ok();
    assert_eq!(status(&sandbox, ARCHIVED), "completed");
    assert!(sandbox.read(&format!("{ARCHIVED}/workflow-session.json")).contains("\"theirs\":1.50"));
    let task = sandbox.read(&format!("{ARCHIVED}/.task/IMPL-1.json"));
    assert!(task.contains("in_progress"), "{task}");
    assert!(!sandbox.path(ACTIVE).exists());
    assert!(!sandbox.path(REGISTRY).exists(), "those have no registry");
    sandbox.run(["doctor"]).ok();
}

#[test]
fn where_there_is_a_registry_too_its_line_follows_the_folder() {
    let sandbox = project();
    std::fs::create_dir_all(sandbox.path(".workflow/active")).unwrap();
    sandbox.write(REGISTRY, "");
    sandbox.run(["start", "--layout", "ccw", "--goal", "One"]).ok();
    assert!(sandbox.read(REGISTRY).contains(&format!("\"directory\":\"{ACTIVE}\"")));
    sandbox.run(["close", "--force"]).ok();
    let line = sandbox.read(REGISTRY);
    assert!(
        line.contains(&format!("\"directory\":\"{ARCHIVED}\"")) && line.contains("\"completed\""),
        "{line}"
    );
}

/// The tool uses the name of an archived session for a new one. These are two sessions, each with its own
/// folder.
#[test]
fn a_new_session_of_theirs_with_the_name_of_an_archived_one_is_another_one() {
    let sandbox = half_way();
    sandbox.run(["close", "--force"]).ok();
    let json = r#"{"session_id":"WFS-one","project":"Again","current_phase":"PLAN","status":"planning","created_at":"2026-11-14T10:00:00Z"}"#;
    sandbox.write(&format!("{ACTIVE}/workflow-session.json"), json);
    let list = sandbox.run(["list", "--all", "--json"]).ok().json();
    let lines: Vec<(&str, &str)> = list["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| (line["title"].as_str().unwrap(), line["lifecycle"].as_str().unwrap()))
        .collect();
    assert!(lines.contains(&("One", "completed")) && lines.contains(&("Again", "active")), "{lines:?}");
    assert_eq!(lines.len(), 2);
    sandbox.run(["note", "goes to the new one"]).ok();
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["title"], "Again");
    assert_eq!(status(&sandbox, ARCHIVED), "completed");
    assert_eq!(statuses(&sandbox, ARCHIVED), ["completed", "in_progress", "pending"]);
    sandbox.write(&format!("{ACTIVE}/IMPL_PLAN.md"), "1. Again\n");
    sandbox.run(["doctor"]).ok();
    let log = sandbox.run(["log", "--session", "WFS-one"]).ok().stdout;
    assert!(!log.contains("changed by somebody else"), "{log}");
}

/// A folder directly below `.workflow/` does not show whether its session is active. A session that ends
/// stays there.
#[test]
fn a_session_of_the_first_era_ends_where_it_is() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ccw", "--goal", "One"]).ok();
    sandbox.run(["close", "--force"]).ok();
    assert_eq!(state(&sandbox, "WFS-one")["status"], "completed");
    assert!(!sandbox.path(".workflow/archives").exists());
}

/// In this release, the status may be the only field that shows the phase, and a pause overwrites the status.
#[test]
fn a_session_whose_status_tells_its_phase_goes_on_in_it_after_a_pause() {
    let sandbox = project();
    let file = ".workflow/active/WFS-x/workflow-session.json";
    sandbox.write(
        file,
        r#"{"session_id":"WFS-x","project":"Login","status":"implementing","created_at":"2026-11-10T09:00:00Z"}"#,
    );
    sandbox.run(["pause"]).ok();
    let json: Value = serde_json::from_str(&sandbox.read(file)).unwrap();
    assert_eq!((&json["status"], &json["current_phase"]), (&json!("paused"), &json!("IMPLEMENT")));
    sandbox.run(["doctor"]).ok();
    sandbox.run(["resume", "--yes"]).ok();
    // The tool itself still reads the phase from the status.
    let moved = sandbox.read(file).replace("\"status\":\"active\"", "\"status\":\"reviewing\"");
    sandbox.write(file, &moved);
    let view = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!(view["phases"][2]["status"], "in_progress", "{view}");
}
