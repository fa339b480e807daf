//! Tests of files of other programs next to those of a session. No wrong conclusion must be drawn from them.

use super::*;
use serde_json::json;

#[test]
fn the_backup_of_somebodys_editor_is_no_edit() {
    let sandbox = begun();
    artifact(&sandbox, "discovered-standards.md", "S\n");
    sandbox.run(["advance"]).ok();
    // An editor makes a backup of its own: after two edits, `.bak` contains the first one.
    edit(&sandbox, &json!({ "current_phase": "analysis", "phase_number": 3 }));
    let first = sandbox.read(&format!("{FOLDER}/state.json"));
    std::fs::remove_file(sandbox.path(&format!("{FOLDER}/state.json.bak"))).unwrap();
    sandbox.write(&format!("{FOLDER}/state.json.bak"), &first);
    edit(&sandbox, &json!({ "current_phase": "reviews", "phase_number": 4 }));
    sandbox.run(["note", "after both"]).ok();
    assert_eq!(state(&sandbox)["current_phase"], "reviews");
    assert_eq!(phase(&sandbox.run(["status", "--json"]).ok().json()), "reviews");
}

/// A program that has the file open writes to it after leftoff has replaced it. The edit is then in the
/// backup.
#[test]
fn what_is_written_late_into_our_own_backup_is_taken_in() {
    let sandbox = begun();
    artifact(&sandbox, "discovered-standards.md", "S\n");
    let open =
        std::fs::File::options().write(true).open(sandbox.path(&format!("{FOLDER}/state.json"))).unwrap();
    let mut theirs = state(&sandbox);
    sandbox.run(["advance"]).ok();
    theirs["reviewer"] = json!("late");
    std::os::unix::fs::FileExt::write_all_at(&open, theirs.to_string().as_bytes(), 0).unwrap();
    open.set_len(theirs.to_string().len() as u64).unwrap();
    sandbox.run(["note", "later"]).ok();
    assert_eq!(state(&sandbox)["reviewer"], "late");
    sandbox.run(["note", "and once only"]).ok();
    sandbox.run(["doctor"]).ok();
}

#[test]
fn a_run_that_somebody_begins_in_the_file_can_be_gone_on_with() {
    let sandbox = begun();
    sandbox.run(["note", "ours"]).ok();
    edit(
        &sandbox,
        &json!({ "workflow_type": "map", "current_phase": "map-context", "phase_number": 1, "current_map_run": 1 }),
    );
    artifact(&sandbox, "discovered-standards.md", "S\n");
    sandbox.run(["advance"]).ok();
    assert_eq!(state(&sandbox)["current_phase"], "topology");
}

#[test]
fn a_secret_in_a_file_is_nowhere_in_the_store() {
    const SECRET: &str = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
    let sandbox = project();
    let name = format!("2026-11-14-{SECRET}");
    foreign(&sandbox, &name, &json!({ "session_id": name, "current_phase": "reviews", "phase_number": 4 }));
    sandbox.run(["note", "taken in"]).ok();
    let log = sandbox.run(["log", "--json"]).ok().stdout;
    let view = sandbox.run(["show", "--json"]).ok().json();
    let title = view["title"].as_str().unwrap();
    assert!(!title.contains(SECRET), "{title}");
    assert!(!log.contains("\"title\":\"2026-11-14-ghp_"), "{log}");
    sandbox.run(["doctor"]).ok();
}

#[test]
fn a_text_that_a_file_holds_is_not_purged() {
    let sandbox = begun();
    sandbox.run(["note", "the word is swordfish"]).ok();
    edit(&sandbox, &json!({ "remark": "swordfish" }));
    let refused = sandbox.run(["purge", "swordfish", "--yes", "--json"]).code(4);
    assert_eq!(refused.error()["kind"], "still_in_files");
    edit(&sandbox, &json!({ "remark": "gone" }));
    sandbox.run(["purge", "swordfish", "--yes"]).ok();
    sandbox.run(["note", "afterwards"]).ok();
    assert!(!sandbox.run(["log", "--json"]).ok().stdout.contains("swordfish"));
}

#[test]
fn going_back_is_not_undone_by_what_was_written_before() {
    let sandbox = begun();
    for (path, text) in [("discovered-standards.md", "S\n"), ("context.md", "C\n")] {
        artifact(&sandbox, path, text);
    }
    artifact_at(&sandbox, "rounds/round-1/discourse.md", "D\n", "2026-11-14T10:00:01Z");
    sandbox.at("2026-11-14T10:05:00Z");
    edit(&sandbox, &serde_json::json!({ "current_phase": "synthesis", "phase_number": 7 }));
    sandbox.run(["note", "taken in"]).ok();
    assert_eq!(phase(&sandbox.run(["status", "--json"]).ok().json()), "synthesis");
    sandbox.run(["rollback", "reviews"]).ok();
    for _ in 0..2 {
        assert_eq!(phase(&sandbox.run(["status", "--json"]).ok().json()), "reviews");
        sandbox.run(["note", "still there"]).ok();
    }
}

#[test]
fn the_gates_of_a_session_without_folders_of_rounds_look_where_its_files_are() {
    let sandbox = project();
    foreign(
        &sandbox,
        ID,
        &serde_json::json!({ "session_id": ID, "status": "active", "current_phase": "reviews",
            "phase_number": 4, "started_at": NOW, "updated_at": NOW }),
    );
    artifact(&sandbox, "reviews/security-1.md", "## Finding 1\n");
    let view = sandbox.run(["advance", "--phase", "reviews", "--json"]).ok().json();
    assert_eq!(phase(&view), "aggregation");
    let kept = sandbox.run(["artifact", "list", "--json"]).ok().stdout;
    assert!(kept.contains(&format!("{FOLDER}/reviews/security-1.md")), "{kept}");
}

#[test]
fn starting_a_session_that_is_finished_names_the_way_to_its_next_round() {
    let sandbox = project();
    foreign(
        &sandbox,
        ID,
        &serde_json::json!({ "session_id": ID, "status": "closed", "workflow_type": "review",
            "current_phase": "complete", "phase_number": 8, "current_round": 1, "updated_at": NOW }),
    );
    artifact(&sandbox, "rounds/round-1/final.md", "F\n");
    let hinted = |sandbox: &Sandbox| {
        let said = sandbox.run(["start", "--layout", "ocr"]).code(4).stderr;
        assert!(said.contains(&format!("leftoff round --session {ID}")), "{said}");
    };
    hinted(&sandbox);
    sandbox.run(["round", "--session", ID]).ok();
    sandbox.run(["close", "--force", "--session", ID]).ok();
    hinted(&sandbox);
    sandbox.run(["round", "--session", ID]).ok();
    // An active session is continued.
    let said = sandbox.run(["start", "--layout", "ocr"]).code(4).stderr;
    assert!(said.contains(&format!("leftoff resume {ID}")), "{said}");
}

/// Runs the program in another folder than the sandbox's project.
fn run_in(sandbox: &Sandbox, folder: &std::path::Path, words: &[&str]) -> testkit::Ran {
    let there = folder.display().to_string();
    sandbox.run(["--project", &there].into_iter().chain(words.iter().copied()))
}

fn copy_all(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_all(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn in_a_project_that_was_moved_a_session_is_taken_up_where_its_files_are() {
    let sandbox = begun();
    sandbox.run(["note", "kept"]).ok();
    let moved = sandbox.folder().join("moved");
    std::fs::rename(sandbox.project(), &moved).unwrap();
    std::fs::create_dir(sandbox.folder().join("elsewhere")).unwrap();
    let run = |words: &[&str]| {
        let there = moved.display().to_string();
        let mut command = sandbox.command(["--project", &there].into_iter().chain(words.iter().copied()));
        sandbox.as_person(command.current_dir(&moved))
    };
    let refused = run(&["skip", "--reason", "x", "--session", ID]).code(4);
    assert!(refused.stderr.contains("the project was moved or copied since"), "{}", refused.stderr);
    assert!(!sandbox.project().exists(), "what is gone is not made again");
    let found = run(&["doctor"]).code(4).stdout;
    assert!(found.contains(&format!("leftoff resume {ID}")), "{found}");
    run(&["resume", ID, "--yes"]).ok();
    run(&["skip", "--reason", "x"]).ok();
    let view = run(&["status", "--json"]).ok().json();
    assert_eq!((&view["session_id"], phase(&view)), (&ID.into(), "change-context"));
    assert_eq!(view["notes"][0]["text"], "kept");
    let written: Value =
        serde_json::from_slice(&std::fs::read(moved.join(FOLDER).join("state.json")).unwrap()).unwrap();
    assert_eq!(written["phase_number"], 2);
    assert!(!sandbox.project().exists());
    assert_eq!(run(&["list", "--json"]).ok().json()["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn in_a_copy_of_a_project_nothing_is_written_into_the_original() {
    let sandbox = begun();
    let copy = sandbox.folder().join("copy");
    copy_all(sandbox.project(), &copy);
    let before = everything(sandbox.project());
    run_in(&sandbox, &copy, &["skip", "--reason", "x", "--session", ID]).code(4);
    run_in(&sandbox, &copy, &["resume", ID, "--yes"]).ok();
    run_in(&sandbox, &copy, &["skip", "--reason", "x", "--session", ID]).ok();
    assert_eq!(everything(sandbox.project()), before);
    let written: Value =
        serde_json::from_slice(&std::fs::read(copy.join(FOLDER).join("state.json")).unwrap()).unwrap();
    assert_eq!(written["phase_number"], 2);
}
