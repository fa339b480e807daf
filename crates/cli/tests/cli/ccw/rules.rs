//! Tests of the format's rules in commands: ids and levels of tasks, archiving, unclear states.

use super::*;

fn with_tasks(titles: &[&str]) -> Sandbox {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ccw", "--type", "simple", "--goal", "One"]).ok();
    for title in titles {
        sandbox.run(["item", "add", title]).ok();
    }
    sandbox
}

/// `impl-1` and `IMPL-001` are the same id, so no second task gets one of them.
#[test]
fn a_task_is_meant_by_any_spelling_of_its_id_and_none_is_made_twice() {
    let sandbox = with_tasks(&["First", "Second"]);
    sandbox.run(["item", "set", "Impl-2", "--needs", "IMPL-001"]).ok();
    assert_eq!(task(&sandbox, "WFS-one", "impl-2")["relations"]["dependencies"], json!(["impl-1"]));
    for id in ["impl-1", "IMPL-001", "Impl-01"] {
        let refused = sandbox.run(["item", "add", "Again", "--id", id]).code(4);
        assert!(refused.stderr.contains("item 'impl-1' already exists"), "{}", refused.stderr);
    }
    sandbox.run(["item", "start", "IMPL-001"]).ok();
    assert_eq!(task(&sandbox, "WFS-one", "impl-1")["status"], "active");
    sandbox.run(["item", "done", "IMPL-01"]).ok();
    assert_eq!(task(&sandbox, "WFS-one", "impl-1")["title"], "First");
    sandbox.run(["item", "done", "impl-9"]).code(3);
}

/// Later releases write `IMPL-N`. leftoff spells new tasks in the same way.
#[test]
fn a_new_task_is_called_as_its_neighbours_are() {
    let sandbox = project();
    write_session(&sandbox, "WFS-one", "IMPLEMENT", "active", "2026-11-13T10:00:00Z");
    for id in ["IMPL-001", "IMPL-002"] {
        let json = format!("{{\"id\":\"{id}\",\"title\":\"T\",\"status\":\"pending\"}}");
        sandbox.write(&format!(".workflow/WFS-one/.task/{id}.json"), &json);
    }
    sandbox.run(["item", "add", "Third"]).ok();
    assert_eq!(task(&sandbox, "WFS-one", "IMPL-003")["title"], "Third");
    sandbox.run(["item", "split", "impl-2", "--into", "Half", "--into", "Rest"]).ok();
    assert_eq!(task(&sandbox, "WFS-one", "IMPL-002.1")["relations"]["parent"], "IMPL-002");
    sandbox.run(["doctor"]).ok();
}

#[test]
fn three_levels_are_the_most_and_only_a_pending_task_is_broken_down() {
    let sandbox = with_tasks(&["First", "Second"]);
    sandbox.run(["item", "split", "impl-1", "--into", "A", "--into", "B"]).ok();
    sandbox.run(["item", "split", "impl-1.1", "--into", "C", "--into", "D"]).ok();
    assert_eq!(task(&sandbox, "WFS-one", "impl-1.1.1")["relations"]["parent"], "impl-1.1");
    let refused = sandbox.run(["item", "split", "impl-1.1.1", "--into", "E", "--into", "F"]).code(4);
    assert!(refused.stderr.contains("at most three levels deep"), "{}", refused.stderr);
    for (command, why) in [("start", "only a pending item"), ("done", "it is finished")] {
        sandbox.run(["item", command, "impl-2"]).ok();
        let refused = sandbox.run(["item", "split", "impl-2", "--into", "E", "--into", "F"]).code(4);
        assert!(refused.stderr.contains(why), "{command}: {}", refused.stderr);
    }
    let names = std::fs::read_dir(sandbox.path(".workflow/WFS-one/.task")).unwrap();
    let names: Vec<String> = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(
        !names.iter().any(|name| name.contains("impl-2.") && name.ends_with("json") && name != "impl-2.json")
    );
}

#[test]
fn a_container_is_complete_only_after_its_children() {
    let sandbox = with_tasks(&["First"]);
    sandbox.run(["item", "split", "impl-1", "--into", "A", "--into", "B"]).ok();
    let refused = sandbox.run(["item", "done", "impl-1"]).code(4);
    assert!(
        refused.stderr.contains("it is done when all of its parts are (2 are open)"),
        "{}",
        refused.stderr
    );
    sandbox.run(["item", "done", "impl-1.1"]).ok();
    assert_eq!(task(&sandbox, "WFS-one", "impl-1")["status"], "container");
    sandbox.run(["item", "done", "impl-1.2"]).ok();
    assert_eq!(task(&sandbox, "WFS-one", "impl-1")["status"], "completed");
}

#[test]
fn dependencies_exist_and_have_no_cycle() {
    let sandbox = with_tasks(&["First", "Second"]);
    sandbox.run(["item", "set", "impl-2", "--needs", "impl-1"]).ok();
    let refused = sandbox.run(["item", "set", "impl-1", "--needs", "impl-2"]).code(4);
    assert!(refused.stderr.contains("wait for each other forever"), "{}", refused.stderr);
    sandbox.run(["item", "set", "impl-1", "--needs", "impl-7"]).code(3);
    assert_eq!(task(&sandbox, "WFS-one", "impl-1")["relations"]["dependencies"], json!([]));
    // A cycle in the tool's files is reported, and blocks no command.
    let file = ".workflow/WFS-one/.task/impl-1.json";
    let text = sandbox.read(file).replace("\"dependencies\": []", "\"dependencies\": [\"impl-2\"]");
    sandbox.write(file, &text);
    let told = sandbox.run(["doctor"]).code(4).stdout;
    assert!(told.contains("it waits for itself: impl-1 → impl-2 → impl-1"), "{told}");
    sandbox.run(["item", "list"]).ok();
}

/// Archived versions are not in `.task/`, because the tool reads every file in that folder as a task.
#[test]
fn an_archived_version_of_a_task_file_lies_elsewhere() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ccw", "--goal", "One"]).ok();
    sandbox.write(".workflow/WFS-one/IMPL_PLAN.md", "1. Do it\n");
    sandbox.run(["advance", "--phase", "plan"]).ok();
    sandbox.run(["item", "add", "First"]).ok();
    sandbox.write(".workflow/WFS-one/.task/notes.md", "Mine.\n");
    sandbox.run(["artifact", "add", ".workflow/WFS-one/.task/notes.md", "--phase", "implement"]).ok();
    sandbox.run(["item", "done", "impl-1"]).ok();
    sandbox.run(["advance", "--phase", "implement"]).ok();
    sandbox.run(["revisit", "plan", "--impact", "major", "--reason", "changed", "--yes"]).ok();
    let names = std::fs::read_dir(sandbox.path(".workflow/WFS-one/.task")).unwrap();
    let names: Vec<String> = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(!names.iter().any(|name| name.contains(".v1")), "{names:?}");
    assert_eq!(sandbox.read(".leftoff/archive/WFS-one/.task/notes.v1.md"), "Mine.\n");
    assert!(sandbox.path(".workflow/WFS-one/IMPL_PLAN.v1.md").exists(), "the plan's is beside it");
}

/// Task files are read from `.task/` and written there. When its phase restarts, a recorded task file stays
/// there, and its old version is stored in another folder.
#[test]
fn a_tasks_own_file_stays_when_its_phase_begins_again() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ccw", "--goal", "One"]).ok();
    sandbox.write(".workflow/WFS-one/IMPL_PLAN.md", "1. Do it\n");
    sandbox.run(["advance", "--phase", "plan"]).ok();
    sandbox.run(["item", "add", "First"]).ok();
    let file = ".workflow/WFS-one/.task/impl-1.json";
    sandbox.run(["item", "done", "impl-1"]).ok();
    sandbox.run(["artifact", "add", file, "--phase", "implement"]).ok();
    let before = sandbox.read(file);
    sandbox.run(["advance", "--phase", "implement"]).ok();
    sandbox.run(["revisit", "plan", "--impact", "major", "--reason", "changed", "--yes"]).ok();
    assert_eq!(sandbox.read(".leftoff/archive/WFS-one/.task/impl-1.v1.json"), before);
    assert!(sandbox.path(file).exists());
    assert!(!sandbox.run(["status"]).ok().stderr.contains("missing"));
    sandbox.run(["doctor"]).ok();
}

#[test]
fn complete_with_force_names_what_is_left_unfinished() {
    let sandbox = with_tasks(&["First", "Second", "Third"]);
    sandbox.run(["item", "done", "impl-1"]).ok();
    sandbox.run(["item", "split", "impl-2", "--into", "A", "--into", "B"]).ok();
    let closed = sandbox.run(["close", "--force"]).ok();
    assert!(closed.stderr.contains("closed unfinished: impl-2.1, impl-2.2, impl-3"), "{}", closed.stderr);
    let again = sandbox.run(["close", "--force"]).ok();
    assert!(!again.stderr.contains("left unfinished"), "{}", again.stderr);
}

/// If no session is paused, `resume` lists the existing ones.
#[test]
fn resume_with_none_paused_says_which_there_are() {
    let sandbox = project();
    write_session(&sandbox, "WFS-done", "REVIEW", "completed", "2026-11-10T10:00:00Z");
    sandbox.run(["start", "--layout", "ccw", "--goal", "Ours"]).ok();
    sandbox.run(["close", "--force"]).ok();
    let refused = sandbox.run(["resume"]).code(3);
    assert!(
        refused.stderr.contains("there are WFS-ours (completed), WFS-done (completed)"),
        "{}",
        refused.stderr
    );
}

/// `pause` checks the files that it saves. An unreadable file is quarantined, and written again.
#[test]
fn pause_validates_what_it_saves() {
    let sandbox = with_tasks(&["First"]);
    sandbox.write(&state_of("WFS-one"), "{\"session_id\":");
    let paused = sandbox.run(["pause"]).ok();
    assert!(paused.stderr.contains("could not be read; it was quarantined"), "{}", paused.stderr);
    let json = state(&sandbox, "WFS-one");
    assert_eq!((&json["status"], &json["current_phase"]), (&json!("paused"), &json!("IMPLEMENT")));
    sandbox.run(["doctor"]).ok();
}

/// `resume` checks that the folder exists. A missing folder is created again from the log, with a message.
#[test]
fn resume_makes_a_folder_again_that_is_gone() {
    let sandbox = with_tasks(&["First"]);
    sandbox.run(["pause"]).ok();
    std::fs::remove_dir_all(sandbox.path(".workflow/WFS-one")).unwrap();
    let told = sandbox.run(["doctor"]).code(4).stdout;
    assert!(told.contains("WFS-one/workflow-session.json is missing; the log has its content"), "{told}");
    sandbox.run(["resume", "--yes"]).ok();
    assert_eq!(state(&sandbox, "WFS-one")["status"], "active");
    assert_eq!(task(&sandbox, "WFS-one", "impl-1")["title"], "First");
    sandbox.run(["doctor"]).ok();
}

/// For an unknown layout, the original tool printed *No sessions found* with exit code 0.
#[test]
fn list_over_a_layout_that_is_not_known_says_so() {
    let sandbox = project();
    sandbox.write(".workflow/sessions/abc/state.json", "{}");
    let list = sandbox.run(["list"]).ok();
    assert!(list.stderr.contains(".workflow: it contains no session"), "{}", list.stderr);
    assert!(list.stderr.contains("only sessions"), "{}", list.stderr);
    sandbox.run(["doctor"]).ok();
    sandbox.run(["start", "--layout", "ccw", "--goal", "One"]).ok();
    assert!(!sandbox.run(["list"]).ok().stderr.contains("it contains no session"));
}

/// If the state is unclear, the user is asked, and the phase restarts.
#[test]
fn an_unclear_state_is_asked_about_and_the_phase_begun_again() {
    let sandbox = project();
    write_session(&sandbox, "WFS-one", "REVIEW", "paused", "2026-11-10T10:00:00Z");
    sandbox.write(".workflow/WFS-one/.task/impl-1.json", r#"{"id":"impl-1","title":"T","status":"pending"}"#);
    let asked = sandbox.run(["resume"]).code(6);
    assert!(asked.stderr.contains("leftoff rollback implement"), "{}", asked.stderr);
    assert_eq!(state(&sandbox, "WFS-one")["status"], "paused", "nothing was done without an answer");
    sandbox.run(["resume", "--yes"]).ok();
    sandbox.run(["rollback", "implement"]).ok();
    assert_eq!(state(&sandbox, "WFS-one")["current_phase"], "IMPLEMENT");
    // An invalid phase is replaced by the last valid one, with a message.
    let odd = project();
    write_session(&odd, "WFS-odd", "SHIPPING", "active", "2026-11-10T10:00:00Z");
    let status = odd.run(["status"]).ok();
    assert!(
        status.stderr.contains("there is no phase 'SHIPPING'; the last valid one is PLAN"),
        "{}",
        status.stderr
    );
    odd.run(["note", "seen"]).ok();
    assert_eq!(
        state(&odd, "WFS-odd")["current_phase"],
        "SHIPPING",
        "their word stays until it is gone on with"
    );
    odd.run(["pause"]).ok();
    odd.write(".workflow/WFS-odd/IMPL_PLAN.md", "1. Do it\n");
    odd.run(["resume"]).ok();
    assert_eq!(state(&odd, "WFS-odd")["current_phase"], "PLAN", "reset to the last valid one");
    assert!(!odd.run(["status"]).ok().stderr.contains("SHIPPING"));
}

#[test]
fn the_remedy_of_an_invalid_phase_resets_it() {
    let sandbox = project();
    write_session(&sandbox, "WFS-odd", "SHIPPING", "active", "2026-11-10T10:00:00Z");
    sandbox.write(".workflow/WFS-odd/IMPL_PLAN.md", "1. Do it\n");
    let remedy = "leftoff checkpoint --session WFS-odd";
    assert!(sandbox.run(["doctor"]).code(4).stdout.contains(remedy));
    sandbox.run_printed(remedy).ok();
    assert_eq!(state(&sandbox, "WFS-odd")["current_phase"], "PLAN");
    sandbox.run(["doctor"]).ok();
}

/// Checkpoints are saved after a completed phase, on request, and at the end of the session. A resume starts
/// at the last one.
#[test]
fn a_checkpoint_is_kept_at_each_of_the_three_moments_and_by_nothing_else() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ccw", "--goal", "One"]).ok();
    let checkpoint = || state(&sandbox, "WFS-one")["progress"]["last_checkpoint"].clone();
    assert_eq!(checkpoint(), Value::Null);
    sandbox.write(".workflow/WFS-one/IMPL_PLAN.md", "1. Do it\n");
    sandbox.at("2026-11-14T11:00:00Z").run(["advance", "--phase", "plan"]).ok();
    assert_eq!(checkpoint(), "2026-11-14T11:00:00Z", "phase_complete");
    sandbox.at("2026-11-14T12:00:00Z").run(["item", "add", "First"]).ok();
    assert_eq!(checkpoint(), "2026-11-14T11:00:00Z", "not by work that goes on");
    sandbox.at("2026-11-14T13:00:00Z").run(["checkpoint", "-m", "before the rewrite"]).ok();
    assert_eq!(checkpoint(), "2026-11-14T13:00:00Z", "user_request");
    sandbox.at("2026-11-14T14:00:00Z").run(["pause"]).ok();
    assert_eq!(checkpoint(), "2026-11-14T14:00:00Z");
    let resumed = sandbox.at("2026-11-14T15:00:00Z").run(["resume"]).ok();
    assert!(resumed.stdout.contains("continues in phase 2 (implement)"), "{}", resumed.stdout);
    assert_eq!(checkpoint(), "2026-11-14T14:00:00Z");
    sandbox.at("2026-11-14T16:00:00Z").run(["close", "--force"]).ok();
    assert_eq!(checkpoint(), "2026-11-14T16:00:00Z", "session_end");
}

#[test]
fn circles_and_silent_parents_are_told_shortly_and_left_to_their_authors() {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "IMPLEMENT", "active", "2026-11-14T09:00:00Z");
    let write = |id: &str, relations: Value| {
        let task = json!({ "id": id, "title": id, "status": "pending", "relations": relations });
        sandbox.write(&format!(".workflow/WFS-a/.task/{id}.json"), &task.to_string());
    };
    write("impl-1", json!({ "dependencies": ["impl-2"] }));
    write("impl-2", json!({ "dependencies": ["impl-1"] }));
    write("impl-3", json!({ "subtasks": [] }));
    for part in 1..=3 {
        write(&format!("impl-3.{part}"), json!({ "parent": "impl-3" }));
    }
    let before = sandbox.read(".workflow/WFS-a/.task/impl-3.json");
    let done = sandbox.run(["item", "done", "impl-2"]).ok();
    let odd = done.stderr.lines().filter(|line| line.contains(".task/")).count();
    assert!(odd == 3 && done.stderr.contains("1 more problem in the session's files"), "{}", done.stderr);
    assert_eq!(sandbox.run(["doctor"]).code(4).stdout.matches("WFS-a/.task/").count(), 4);
    let repaired = sandbox.run(["repair"]).ok();
    assert!(
        repaired.stderr.contains("4 problems in files must be fixed by their authors"),
        "{}",
        repaired.stderr
    );
    assert_eq!(sandbox.read(".workflow/WFS-a/.task/impl-3.json"), before);
    sandbox.run(["item", "done", "impl-1"]).ok();
}
