//! Tests that no data is lost by accident: automatic backups, `store restore`, `artifact restore`, `doctor
//! --fix`.

use crate::{fresh, git};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use testkit::Sandbox;

const DATABASE: &str = ".git/leftoff/leftoff.db";

fn kinds(sandbox: &Sandbox) -> Vec<String> {
    let told = sandbox.run(["doctor", "--json"]).json();
    told["findings"].as_array().unwrap().iter().map(|one| one["kind"].as_str().unwrap().to_owned()).collect()
}

/// A session that was started at 10:00, with a backup from 11:30 and a note that is newer than the backup.
fn with_backup() -> Sandbox {
    let sandbox = fresh();
    sandbox.at("2026-11-14T10:00:00Z").run(["start", "--id", "login", "--goal", "No log-out"]).ok();
    sandbox.at("2026-11-14T10:30:00Z").run(["note", "early"]).ok();
    sandbox.at("2026-11-14T11:30:00Z").run(["note", "an hour later"]).ok();
    sandbox.at("2026-11-14T11:40:00Z").run(["note", "after the backup"]).ok();
    sandbox
}

fn lose_database(sandbox: &Sandbox) {
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(sandbox.path(&format!("{DATABASE}{suffix}")));
    }
}

fn notes(sandbox: &Sandbox) -> Vec<String> {
    let shown = sandbox.run(["show", "login", "--json"]).ok().json();
    let text = |note: &Value| note["text"].as_str().unwrap().to_owned();
    shown["notes"].as_array().unwrap().iter().map(text).collect()
}

#[test]
fn u1_the_store_is_copied_by_itself_after_an_hour_of_work_and_by_no_question() {
    let sandbox = with_backup();
    let listed = sandbox.run(["store", "backups", "--json"]).ok().json();
    let found: Vec<&str> =
        listed["backups"].as_array().unwrap().iter().map(|one| one["at"].as_str().unwrap()).collect();
    assert_eq!(found, ["2026-11-14T11:30:00Z"]);
    // A day later, a query makes no backup, but a change does.
    sandbox.at("2026-11-15T10:00:00Z").run(["status"]).ok();
    assert_eq!(sandbox.names(&format!("{DATABASE}.backups")).len(), 1);
    sandbox.run(["note", "the next day", "--session", "login"]).ok();
    assert_eq!(sandbox.names(&format!("{DATABASE}.backups")), ["20261114T113000Z.db", "20261115T100000Z.db"]);
}

#[test]
fn u1_a_lost_database_is_told_and_comes_back_from_its_backup() {
    for empties in [false, true] {
        let sandbox = with_backup();
        lose_database(&sandbox);
        if empties {
            sandbox.write(DATABASE, "");
        }
        let status = sandbox.run(["status"]).ok();
        assert!(status.stderr.contains("leftoff.db is gone; 1 session's folder"), "{}", status.stderr);
        assert!(status.stderr.contains("leftoff store restore"), "{}", status.stderr);
        assert_eq!(kinds(&sandbox), ["store_lost"]);
        let restored = sandbox.run(["store", "restore", "--json"]).ok().json();
        assert_eq!((&restored["sessions"], &restored["kept"]), (&json!(1), &Value::Null));
        assert_eq!(notes(&sandbox), ["early", "an hour later"]);
        assert_eq!(kinds(&sandbox), [""; 0]);
        sandbox.run(["note", "goes on"]).ok();
    }
}

#[test]
fn u1_doctor_fix_puts_a_lost_store_back_and_keeps_folders_out_of_version_control() {
    let sandbox = with_backup();
    lose_database(&sandbox);
    fs::remove_file(sandbox.path(".leftoff/.gitignore")).unwrap();
    assert_eq!(kinds(&sandbox), ["store_lost", "not_ignored"]);
    let fixed = sandbox.run(["doctor", "--fix", "--json"]).ok().json();
    assert_eq!(fixed["findings"], json!([]));
    assert_eq!(fixed["fixed"].as_array().unwrap().len(), 2, "{fixed}");
    assert_eq!(notes(&sandbox), ["early", "an hour later"]);
    assert_eq!(
        sandbox.run(["doctor", "--fix", "--json"]).ok().json()["fixed"],
        json!([]),
        "again is nothing"
    );
}

#[test]
fn u1_a_damaged_database_is_kept_beside_the_restored_one() {
    let sandbox = with_backup();
    lose_database(&sandbox);
    sandbox.write(DATABASE, "not a database at all");
    let failed = sandbox.run(["status", "--json"]).code(1).error();
    assert!(failed["hint"].as_str().unwrap().contains("leftoff store restore"), "{failed}");
    let restored = sandbox.run(["store", "restore", "--json"]).ok().json();
    let kept = PathBuf::from(restored["kept"].as_str().unwrap());
    assert_eq!(fs::read_to_string(kept).unwrap(), "not a database at all");
    assert_eq!(notes(&sandbox), ["early", "an hour later"]);
}

#[test]
fn u1_a_store_that_holds_sessions_is_replaced_only_by_a_person_and_stays_beside() {
    let sandbox = with_backup();
    let refused = sandbox.run(["store", "restore", "--json"]).code(4).error();
    assert_eq!(refused["kind"], "store_in_use");
    assert!(refused["message"].as_str().unwrap().ends_with("holds 1 session"), "{refused}");
    assert!(refused["hint"].as_str().unwrap().ends_with("leftoff store restore --replace"), "{refused}");
    let named = sandbox.run(["store", "restore", "a copy.db", "--json"]).code(4).error();
    assert!(
        named["hint"].as_str().unwrap().ends_with("leftoff store restore 'a copy.db' --replace"),
        "{named}"
    );
    assert_eq!(
        sandbox.run(["store", "restore", "--replace", "--json"]).code(6).error()["kind"],
        "needs_a_person"
    );
    sandbox.run_as("claude:a4326893", ["store", "restore", "--replace", "--yes"]).code(6);
    assert_eq!(notes(&sandbox), ["early", "an hour later", "after the backup"]);
    let restored = sandbox.run_as_person(["store", "restore", "--replace", "--yes", "--json"]).ok().json();
    assert_eq!(notes(&sandbox), ["early", "an hour later"]);
    let kept = restored["kept"].as_str().unwrap().to_owned();
    sandbox.run_as_person(["store", "restore", &kept, "--replace", "--yes"]).ok();
    assert_eq!(notes(&sandbox), ["early", "an hour later", "after the backup"]);
}

#[test]
fn u1_a_replaced_database_and_orphaned_folders_are_found() {
    let sandbox = with_backup();
    lose_database(&sandbox);
    sandbox.at("2026-11-14T12:00:00Z").run(["start", "--id", "other"]).ok();
    assert_eq!(kinds(&sandbox), ["store_replaced", "orphaned_workspace"]);
}

#[test]
fn u2_a_session_that_is_taken_in_or_resumed_has_its_folder_kept_out_of_version_control() {
    let (here, there) = (git(), git());
    here.run(["start", "--id", "login"]).ok();
    here.run(["pause"]).ok();
    let bundle = here.folder().join("login.leftoff");
    here.run(["bundle", "create", bundle.to_str().unwrap()]).ok();
    there.run(["bundle", "take", bundle.to_str().unwrap()]).ok();
    assert!(there.path(".leftoff/sessions/login").is_dir());
    assert!(there.read(".leftoff/.gitignore").contains("sessions/"));
    fs::remove_dir_all(there.path(".leftoff/sessions")).unwrap();
    there.run(["resume", "login"]).ok();
    assert!(there.path(".leftoff/sessions/login").is_dir());
}

#[test]
fn purging_leaves_no_copy_that_holds_the_text() {
    let sandbox = git();
    sandbox.at("2026-11-14T10:00:00Z").run(["start", "--id", "login"]).ok();
    sandbox.at("2026-11-14T10:30:00Z").run(["note", "the word is xyzzy-plugh"]).ok();
    sandbox.at("2026-11-14T11:30:00Z").run(["note", "later"]).ok();
    let holds = || {
        let folder = sandbox.path(&format!("{DATABASE}.backups"));
        fs::read_dir(folder).unwrap().flatten().any(|entry| {
            let bytes = fs::read(entry.path()).unwrap();
            bytes.windows(11).any(|window| window == b"xyzzy-plugh")
        })
    };
    assert!(holds(), "the backup has it");
    sandbox.at("2026-11-14T11:40:00Z").run(["purge", "xyzzy-plugh", "--yes"]).ok();
    assert!(!holds());
    assert_eq!(sandbox.names(&format!("{DATABASE}.backups")).len(), 1);
}

#[test]
fn a_purge_that_was_killed_is_finished_by_doctor() {
    let sandbox = git();
    sandbox.run(["start", "--id", "login"]).ok();
    sandbox.run(["note", "the word is xyzzy-plugh"]).ok();
    let holds = || {
        let beside = fs::read_dir(sandbox.path(DATABASE).parent().unwrap()).unwrap().flatten();
        let files = beside.map(|entry| entry.path()).filter(|path| path.is_file());
        files
            .into_iter()
            .any(|path| fs::read(path).unwrap().windows(11).any(|window| window == b"xyzzy-plugh"))
    };
    let mut purge = sandbox.command(["purge", "xyzzy-plugh", "--yes"]);
    let killed = sandbox.as_person(purge.env("LEFTOFF_TEST_CRASH", "before-erasing"));
    assert!(killed.code > 128, "{killed:?}");
    assert!(notes(&sandbox).concat().contains("[purged]"));
    assert!(holds(), "only the history lacks it");
    assert!(kinds(&sandbox).contains(&"erasing".to_owned()));
    let told = sandbox.run(["doctor", "--fix"]).stdout;
    assert!(told.contains("erased purged text from the store's files"), "{told}");
    assert!(!holds());
    assert!(!kinds(&sandbox).contains(&"erasing".to_owned()));
}

#[test]
fn u2_a_recorded_file_comes_back_and_what_was_there_can_be_brought_back_too() {
    let sandbox = git();
    sandbox.run(["start", "--id", "login"]).ok();
    sandbox.write("PLAN.md", "first\n");
    sandbox.run(["artifact", "add", "PLAN.md"]).ok();
    sandbox.write("PLAN.md", "second\n");
    sandbox.run(["artifact", "add", "PLAN.md"]).ok();
    fs::remove_file(sandbox.path("PLAN.md")).unwrap();
    let hint = sandbox.run(["artifact", "verify"]).code(4).stdout;
    assert!(hint.contains("leftoff artifact restore PLAN.md"), "{hint}");
    sandbox.run(["artifact", "restore", "PLAN.md"]).ok();
    assert_eq!(sandbox.read("PLAN.md"), "second\n");
    sandbox.write("PLAN.md", "never recorded\n");
    sandbox.run(["artifact", "restore", "PLAN.md", "--version", "1"]).ok();
    assert_eq!(sandbox.read("PLAN.md"), "first\n");
    sandbox.run(["artifact", "restore", "PLAN.md", "--version", "3"]).ok();
    assert_eq!(sandbox.read("PLAN.md"), "never recorded\n");
    sandbox.run(["artifact", "verify"]).ok();
    assert_eq!(
        sandbox.run(["artifact", "restore", "PLAN.md", "--version", "9", "--json"]).code(3).error()["kind"],
        "unknown_version"
    );
    let unknown = sandbox.run(["artifact", "restore", "PLAM.md", "--json"]).code(3).error();
    assert!(unknown["hint"].as_str().unwrap().contains("PLAN.md"), "{unknown}");
}

/// The first session in the list was not adopted. The second was adopted, with a history that is older than
/// the store.
#[test]
fn u1_a_store_that_adopted_only_the_second_of_two_sessions_is_copied() {
    let sandbox = fresh();
    for name in ["WFS-first", "WFS-second"] {
        sandbox.write(
            &format!(".workflow/{name}/workflow-session.json"),
            &json!({ "session_id": name, "project": "Old", "current_phase": "IMPLEMENT", "status": "paused",
                "progress": { "completed_phases": ["PLAN"], "current_tasks": [] },
                "meta": { "created": "2025-09-05T10:00:00Z", "updated": "2025-09-07T10:00:00Z" } })
            .to_string(),
        );
        sandbox.write(&format!(".workflow/{name}/IMPL_PLAN.md"), "# Plan\n\nDo it.\n");
    }
    sandbox.at("2026-11-14T10:00:00Z").run(["note", "adopted", "--session", "WFS-second"]).ok();
    assert!(!kinds(&sandbox).contains(&"no_backup".to_owned()));
    sandbox.at("2026-11-14T11:30:00Z").run(["note", "later", "--session", "WFS-second"]).ok();
    assert_eq!(sandbox.names(&format!("{DATABASE}.backups")), ["20261114T113000Z.db"]);
}
