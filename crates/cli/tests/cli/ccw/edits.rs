//! Tests of edits as the tool's prompts make them, of five kinds of damage, of recovery, and of the end of
//! the session.

use super::*;

fn edit(sandbox: &Sandbox, path: &str, from: &str, to: &str) {
    let text = sandbox.read(path);
    assert!(text.contains(from), "{from:?} in {text}");
    sandbox.write(path, &text.replace(from, to));
}

/// leftoff starts the session. Then it is advanced by hand, damaged, recovered, and finished.
#[test]
fn a_session_lives_beside_its_own_tool() {
    let sandbox = project();
    sandbox
        .run(["start", "--layout", "ccw", "--type", "medium", "--goal", "Build it", "--id", "WFS-built"])
        .ok();
    let file = state_of("WFS-built");
    sandbox.write(".workflow/WFS-built/IMPL_PLAN.md", "# Plan\n\n1. One\n2. Two\n");
    // The tool advances the session and adds two tasks.
    edit(&sandbox, &file, "\"current_phase\": \"PLAN\"", "\"current_phase\": \"IMPLEMENT\"");
    sandbox.write(
        ".workflow/WFS-built/.task/impl-1.json",
        r#"{"id":"impl-1","title":"One","status":"pending","relations":{"subtasks":[],"dependencies":[]}}"#,
    );
    sandbox.write(
        ".workflow/WFS-built/.task/impl-2.json",
        r#"{"id":"impl-2","title":"Two","status":"pending","relations":{"dependencies":["impl-1"]}}"#,
    );
    let status = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!(status["current_phase"]["id"], "implement");
    assert_eq!(status["item_counts"]["total"], 2);
    let refused = sandbox.run(["item", "start", "impl-2"]).code(4);
    assert!(refused.stderr.contains("impl-1"), "{}", refused.stderr);
    sandbox.run(["item", "done", "impl-1"]).ok();
    assert_eq!(task(&sandbox, "WFS-built", "impl-1")["status"], "completed");
    // leftoff splits a task. Its parent becomes a container; the parent and its parts name each other.
    sandbox.run(["item", "split", "impl-2", "--into", "Half", "--into", "Other half"]).ok();
    assert_eq!(task(&sandbox, "WFS-built", "impl-2")["status"], "container");
    assert_eq!(
        task(&sandbox, "WFS-built", "impl-2")["relations"]["subtasks"],
        json!(["impl-2.1", "impl-2.2"])
    );
    assert_eq!(task(&sandbox, "WFS-built", "impl-2.1")["relations"]["parent"], "impl-2");
    // The tool finishes one part by hand, and leftoff finishes the other. Then the container is done.
    edit(&sandbox, ".workflow/WFS-built/.task/impl-2.1.json", "\"pending\"", "\"completed\"");
    sandbox.run(["item", "done", "impl-2.2"]).ok();
    assert_eq!(task(&sandbox, "WFS-built", "impl-2")["status"], "completed");
    sandbox.run(["advance", "--phase", "implement"]).ok();
    let json = state(&sandbox, "WFS-built");
    assert_eq!(json["progress"]["completed_phases"], json!(["PLAN", "IMPLEMENT"]));
    let moved = json["state_transitions"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&moved["phase_completed"], &moved["next_phase"]), (&json!("IMPLEMENT"), &json!("REVIEW")));
    damage_and_recover(&sandbox);
    sandbox.write(".workflow/WFS-built/REVIEW.md", "Fine.\n");
    sandbox.run(["advance", "--phase", "review"]).ok();
    let json = state(&sandbox, "WFS-built");
    assert_eq!(
        (&json["status"], &json["progress"]["completed_phases"]),
        (&json!("completed"), &json!(["PLAN", "IMPLEMENT", "REVIEW"]))
    );
    assert_eq!(registered(&sandbox), [("WFS-built".to_owned(), "completed".to_owned())]);
    sandbox.run(["doctor"]).ok();
}

fn damage_and_recover(sandbox: &Sandbox) {
    let file = state_of("WFS-built");
    let good = sandbox.read(&file);
    for damage in ["", "{\"session_id\":", "null", "\u{fffd}not JSON at all", "[1,2]"] {
        sandbox.write(&file, damage);
        let status = sandbox.run(["status", "--json"]).ok().json();
        assert_eq!(status["current_phase"]["id"], "review", "{damage:?}: the log knows");
        sandbox.run(["doctor"]).code(4);
        assert_eq!(sandbox.read(&file), damage, "doctor touches nothing");
        sandbox.run(["repair"]).ok();
        assert_eq!(state(sandbox, "WFS-built")["current_phase"], "REVIEW");
        sandbox.run(["repair"]).ok();
        sandbox.run(["doctor"]).ok();
    }
    std::fs::remove_file(sandbox.path(&file)).unwrap();
    sandbox.run(["repair"]).ok();
    assert_eq!(sandbox.read(&file), good, "missing: written again, with all that was in it");
    std::fs::remove_file(sandbox.path(REGISTRY)).unwrap();
    sandbox.run(["repair"]).ok();
    assert_eq!(registered(sandbox), [("WFS-built".to_owned(), "active".to_owned())]);
}

#[test]
fn an_edit_is_claimed_and_never_reverted() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ccw", "--goal", "One"]).ok();
    edit(&sandbox, &state_of("WFS-one"), "\"PLAN\"", "\"REVIEW\"");
    let status = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!(status["current_phase"]["id"], "review");
    assert_eq!(status["phases"][0]["gate"]["outcome"], "claimed", "a template is no plan");
    sandbox.run(["note", "seen"]).ok();
    assert_eq!(state(&sandbox, "WFS-one")["current_phase"], "REVIEW");
    edit(&sandbox, &state_of("WFS-one"), "\"REVIEW\"", "\"VIBE\"");
    sandbox.run(["note", "seen"]).ok();
    assert_eq!(state(&sandbox, "WFS-one")["current_phase"], "VIBE", "a word of theirs is kept");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["current_phase"]["id"], "implement");
}

#[test]
fn a_pause_in_the_registry_alone_or_the_file_alone_is_taken_in() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ccw", "--goal", "One"]).ok();
    edit(&sandbox, REGISTRY, "\"active\"", "\"paused\"");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["status"], "paused");
    sandbox.run(["resume", "--yes"]).ok();
    assert_eq!(registered(&sandbox), [("WFS-one".to_owned(), "active".to_owned())]);
    edit(&sandbox, &state_of("WFS-one"), "\"active\"", "\"interrupted\"");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["status"], "paused");
    sandbox.run(["note", "x"]).ok();
    assert_eq!(state(&sandbox, "WFS-one")["status"], "interrupted", "their word for it stays");
    assert_eq!(registered(&sandbox), [("WFS-one".to_owned(), "paused".to_owned())]);
}

#[test]
fn queries_write_nothing_and_a_foreign_file_keeps_every_byte_that_is_not_set() {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "IMPLEMENT", "active", "2026-11-13T10:00:00Z");
    let (file, registry) = (sandbox.read(&state_of("WFS-a")), sandbox.read(REGISTRY));
    for words in [&["status"][..], &["list"], &["brief"], &["show"], &["item", "list"], &["doctor"]] {
        sandbox.run(words.iter().copied());
    }
    assert_eq!((sandbox.read(&state_of("WFS-a")), sandbox.read(REGISTRY)), (file.clone(), registry));
    assert!(!sandbox.path(".git/leftoff").exists() && !sandbox.path(".leftoff").exists());
    sandbox.run(["pause"]).ok();
    let expected = file
        .replace("\"status\":\"active\"", "\"status\":\"paused\"")
        .replace(
            "\"last_checkpoint\":\"2026-11-13T10:00:00Z\"",
            "\"last_checkpoint\":\"2026-11-14T10:00:00Z\"",
        )
        .replace("\"updated\":\"2026-11-13T10:00:00Z\"", "\"updated\":\"2026-11-14T10:00:00Z\"");
    assert_eq!(sandbox.read(&state_of("WFS-a")), expected);
    assert_eq!(sandbox.read(&format!("{}.bak", state_of("WFS-a"))), file, "a backup before a fix");
}

#[test]
fn sync_adds_missing_lines_folds_doubled_ones_and_keeps_broken_ones() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ccw", "--goal", "One"]).ok();
    sandbox.run(["start", "--layout", "ccw", "--goal", "Two"]).ok();
    let lines = sandbox.read(REGISTRY);
    let (one, two) = lines.trim().split_once('\n').unwrap();
    sandbox.write(REGISTRY, &format!("{two}\n{{\"id\":\"WFS-x\n{two}\n"));
    assert!(!sandbox.run(["doctor"]).code(4).stdout.is_empty());
    sandbox.run(["repair"]).ok();
    let mended = sandbox.read(REGISTRY);
    assert_eq!(mended.matches("\"WFS-two\"").count(), 1, "{mended}");
    assert_eq!(mended.matches("\"WFS-one\"").count(), 1, "{mended}");
    assert!(mended.contains("{\"id\":\"WFS-x\n"), "{mended}");
    assert!(one.contains("paused") && mended.contains("\"paused\""));
    sandbox.run(["repair"]).ok();
    assert_eq!(sandbox.read(REGISTRY), mended, "twice is the same as once");
}

/// The tool starts archiving a session by moving its folder, and is interrupted.
#[test]
fn a_session_that_its_tool_archived_is_completed_and_its_folder_does_not_come_back() {
    let sandbox = project();
    sandbox.write(
        ".workflow/active/WFS-a/workflow-session.json",
        r#"{"current_phase":"IMPLEMENT","status":"active","created_at":"2026-11-10T10:00:00Z"}"#,
    );
    sandbox.write(
        ".workflow/active/WFS-a/.task/IMPL-1.json",
        r#"{"id":"IMPL-1","title":"T","status":"pending"}"#,
    );
    sandbox.run(["note", "taken in"]).ok();
    std::fs::create_dir_all(sandbox.path(".workflow/archives")).unwrap();
    std::fs::rename(sandbox.path(".workflow/active/WFS-a"), sandbox.path(".workflow/archives/WFS-a"))
        .unwrap();
    let view = sandbox.run(["show", "WFS-a", "--json"]).ok().json();
    assert_eq!((&view["status"], &view["current_phase"]["id"]), (&json!("completed"), &json!("implement")));
    sandbox.run(["repair"]).ok();
    assert!(!sandbox.path(".workflow/active/WFS-a").exists());
    let list = sandbox.run(["list", "--all", "--json"]).ok().json();
    assert_eq!(list["sessions"].as_array().unwrap().len(), 1, "{list:#}");
    let task = sandbox.read(".workflow/archives/WFS-a/.task/IMPL-1.json");
    assert!(task.contains("pending"), "archiving completes no task: {task}");
}

#[test]
fn bad_surroundings_are_warnings_and_the_rest_works() {
    let sandbox = project();
    write_session(&sandbox, "WFS-good", "IMPLEMENT", "active", "2026-11-13T10:00:00Z");
    sandbox.write(&state_of("WFS-huge"), &"[".repeat(10 * 1024 * 1024));
    std::fs::create_dir_all(sandbox.path(".workflow/WFS-loop")).unwrap();
    std::os::unix::fs::symlink("workflow-session.json", sandbox.path(&state_of("WFS-loop"))).unwrap();
    std::os::unix::fs::symlink("WFS-good", sandbox.path(".workflow/WFS-link")).unwrap();
    for folder in ["tmp", ".locks", "active", "archives"] {
        std::fs::create_dir_all(sandbox.path(&format!(".workflow/{folder}"))).unwrap();
    }
    std::fs::create_dir_all(sandbox.path(&state_of("WFS-folder"))).unwrap();
    let list = sandbox.run(["list", "--json"]).ok().json();
    let said = list["warnings"].to_string();
    for words in [
        "WFS-huge/workflow-session.json: it is larger",
        "WFS-loop/workflow-session.json: it is a link",
        "WFS-folder/workflow-session.json: it is a folder",
    ] {
        assert!(said.contains(words), "{words} in {said}");
    }
    let ids = list["sessions"].to_string();
    assert!(ids.contains("WFS-good") && !ids.contains("WFS-link") && !ids.contains("\"tmp\""), "{ids}");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "WFS-good");
    sandbox.run(["pause", "--session", "WFS-good"]).ok();
    assert_eq!(sandbox.read(&state_of("WFS-huge")).len(), 10 * 1024 * 1024);
    assert!(sandbox.path(&state_of("WFS-folder")).is_dir());
}
