//! Another file in place of the database leads to a clear message and exit code 1, and stays as it is.

use crate::tree::Tree;
use crate::{CHANGES, git, git_with_session};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use testkit::Sandbox;

const DATABASE: &str = ".git/leftoff/leftoff.db";

/// Expects that every command, whether it changes something or not, fails in this way and changes nothing.
#[track_caller]
fn assert_refused(sandbox: &Sandbox, kind: &str, message: &str) {
    let before = Tree::of(sandbox.folder());
    let questions: [&[&str]; 6] =
        [&["status"], &["list"], &["brief"], &["next"], &["log"], &["store", "info"]];
    for arguments in questions.iter().chain(&CHANGES) {
        let ran = sandbox.run(arguments.iter().chain(&["--json"])).code(1);
        let error = ran.error();
        assert_eq!(error["kind"], kind, "{arguments:?}");
        let said = error["message"].as_str().unwrap();
        assert!(said.contains(message), "{arguments:?} said: {said}");
        assert!(error["hint"].is_string(), "{arguments:?} does not say what to do");
        assert_eq!(ran.stdout, "");
    }
    let found = sandbox.run(["doctor", "--json"]).code(4).json();
    assert_eq!(found["findings"][0]["kind"], kind);
    assert_eq!(Tree::of(sandbox.folder()), before);
}

/// Opens a database as leftoff does: its write-ahead log stays beside it when it is closed.
fn open(sandbox: &Sandbox) -> Connection {
    let database = Connection::open(sandbox.path(DATABASE)).unwrap();
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
    database
}

#[test]
fn a_database_of_a_newer_version_is_shown_and_not_written() {
    let sandbox = git_with_session();
    let database = open(&sandbox);
    let known: u32 = database.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    let newer = format!("ALTER TABLE sessions ADD COLUMN mood TEXT; PRAGMA user_version={}", known + 1);
    database.execute_batch(&newer).unwrap();
    drop(database);
    let before = Tree::of(sandbox.folder());
    for question in ["status", "brief", "show"] {
        let answer = sandbox.run([question, "--json"]).ok().stdout;
        assert!(answer.contains("\"newer_database\""), "{question}: {answer}");
    }
    assert!(sandbox.run(["log"]).ok().stdout.contains("written before"));
    assert!(sandbox.run(["list"]).ok().stdout.contains("kept"));
    for change in CHANGES {
        let error = sandbox.run(change.iter().chain(&["--json"])).code(1).error();
        assert_eq!(error["kind"], "newer_database", "{change:?}");
        assert!(error["message"].as_str().unwrap().contains("was written by a newer leftoff"), "{error}");
    }
    let found = sandbox.run(["doctor", "--json"]).code(4).json();
    assert_eq!(found["findings"][0]["kind"], "newer_database");
    assert_eq!(Tree::of(sandbox.folder()), before);
}

/// The tables have other names, so leftoff can only say which version created the database.
#[test]
fn a_newer_database_whose_tables_are_not_known_is_refused_as_such() {
    let sandbox = git_with_session();
    let database = open(&sandbox);
    database.execute_batch("ALTER TABLE sessions RENAME TO works; PRAGMA user_version=999").unwrap();
    drop(database);
    assert_refused(&sandbox, "newer_database", "was written by a newer leftoff");
}

#[test]
fn a_file_that_is_no_database() {
    let sandbox = git();
    sandbox.write(DATABASE, &"these are the notes of last summer\n".repeat(500));
    assert_refused(&sandbox, "not_a_database", "is not a leftoff database");
}

#[test]
fn another_programs_database() {
    let sandbox = git();
    sandbox.write(".git/leftoff/README", "a folder");
    let database = Connection::open(sandbox.path(DATABASE)).unwrap();
    database.execute_batch("CREATE TABLE cookies(name TEXT); INSERT INTO cookies VALUES('choc')").unwrap();
    drop(database);
    assert_refused(&sandbox, "not_a_database", "another program's SQLite file");
}

#[test]
fn a_folder_in_place_of_the_database() {
    let sandbox = git();
    sandbox.write(&format!("{DATABASE}/inside"), "a file");
    assert_refused(&sandbox, "not_a_database", "it is a folder");
}

/// Without a readable log, sessions in other tools' files are shown, with a note that nothing else is.
#[test]
fn where_the_log_cannot_be_read_questions_are_answered_from_files_and_say_so() {
    let sandbox = git();
    let state = r#"{"session_id":"2026-11-14-x","status":"active","current_phase":"reviews","phase_number":4,"started_at":"2026-11-14T08:00:00Z"}"#;
    sandbox.write(".ocr/sessions/2026-11-14-x/state.json", state);
    sandbox.write(DATABASE, "these are the notes of last summer\n");
    let before = Tree::of(sandbox.folder());
    for question in ["status", "list", "brief", "show"] {
        let answer = sandbox.run([question, "--json"]).ok().stdout;
        assert!(answer.contains("\"not_a_database\""), "{question}: {answer}");
    }
    let said = sandbox.run(["status"]).ok();
    assert!(
        said.stdout.contains("2026-11-14-x") && said.stderr.contains("only sessions in files"),
        "{said:?}"
    );
    for change in [&["note", "heard"][..], &["advance"], &["start"], &["repair"], &["store", "info"]] {
        let error = sandbox.run(change.iter().chain(&["--json"])).code(1).error();
        assert_eq!(error["kind"], "not_a_database", "{change:?}");
    }
    let found = sandbox.run(["doctor", "--json"]).code(4).json();
    assert_eq!(found["findings"][0]["kind"], "not_a_database");
    assert_eq!(Tree::of(sandbox.folder()), before);
}

/// This also holds in a project with another tool's sessions, which a command could have adopted.
#[test]
fn a_command_that_is_refused_leaves_no_database_behind() {
    let sandbox = git();
    let state = r#"{"session_id":"2026-11-14-x","status":"active","current_phase":"reviews","phase_number":4,"started_at":"2026-11-14T08:00:00Z"}"#;
    sandbox.write(".ocr/sessions/2026-11-14-x/state.json", state);
    let before = Tree::of(sandbox.folder());
    let refused: [&[&str]; 9] = [
        &["switch", "nope"],
        &["resume", "nope"],
        &["advance", "--phase", "nope"],
        &["note", "heard", "--session", "nope"],
        &["undo"],
        &["close"],
        &["import", "nope"],
        &["start", "--layout", "ocr", "--id", "2026-11-14-x"],
        &["bundle", "take", "nope"],
    ];
    for arguments in refused {
        assert_ne!(sandbox.run(arguments).code, 0, "{arguments:?}");
        assert_eq!(Tree::of(sandbox.folder()), before, "{arguments:?}");
    }
    sandbox.run(["note", "heard"]).ok();
    assert!(sandbox.path(DATABASE).exists());
}

/// A process that died while creating a database left an empty file. Nothing is lost by creating the database
/// again.
#[test]
fn an_empty_file_counts_as_none_and_start_makes_the_database() {
    let sandbox = git();
    sandbox.write(DATABASE, "");
    let before = Tree::of(sandbox.folder());
    sandbox.run(["status"]).ok();
    sandbox.run(["list"]).ok();
    sandbox.run(["note", "heard"]).code(3);
    assert_eq!(Tree::of(sandbox.folder()), before);
    sandbox.run(["start"]).ok();
    sandbox.run(["note", "heard"]).ok();
    sandbox.run(["doctor"]).ok();
}

#[test]
fn an_event_of_a_newer_program_is_shown_and_its_session_is_not_written() {
    let sandbox = git_with_session();
    let database = open(&sandbox);
    // The rows are as a newer program writes them: the event, the version of the row, a snapshot folded by
    // that program.
    database
        .execute_batch(
            r#"INSERT INTO events(session,version,cursor,at,actor,kind,body)
                 SELECT session,version+1,cursor+1,at,actor,'phase_teleported','{"type":"phase_teleported"}'
                 FROM events ORDER BY version DESC LIMIT 1;
               UPDATE sessions SET version=version+1;
               UPDATE snapshots SET version=version+1,fold_version=999;"#,
        )
        .unwrap();
    drop(database);
    let before = sandbox.run(["log", "--json"]).ok().stdout;
    assert!(before.contains("phase_teleported"));
    for question in [["status", "--json"], ["brief", "--json"], ["show", "--json"]] {
        assert!(sandbox.run(question).ok().stdout.contains("newer_event"), "{question:?} warns");
    }
    for change in [&["note", "heard"][..], &["advance", "--phase", "plan"], &["pause"], &["close", "--force"]]
    {
        let error = sandbox.run(change.iter().chain(&["--json"])).code(4).error();
        assert_eq!(error["kind"], "newer_event", "{change:?}");
    }
    assert_eq!(sandbox.run(["log", "--json"]).ok().stdout, before);
}

#[test]
fn an_actor_of_a_kind_that_is_not_known_is_shown_and_kept() {
    let sandbox = git_with_session();
    let actor = r#"{"kind":"fleet","name":"seven","host":"far","size":7}"#;
    let database = open(&sandbox);
    database.execute("UPDATE events SET actor=?1 WHERE kind='note_added'", [actor]).unwrap();
    database.execute("DELETE FROM snapshots", []).unwrap();
    drop(database);
    let log = sandbox.run(["log"]).ok().stdout;
    assert!(log.contains("seven (fleet)"), "{log}");
    sandbox.run(["status"]).ok();
    sandbox.run(["note", "work goes on"]).ok();
    let log = sandbox.run(["log", "--json"]).ok().json();
    let events = log["events"].as_array().unwrap();
    let note = events.iter().find(|event| event["type"] == "note_added").unwrap();
    assert_eq!(note["actor"].to_string(), actor);
    assert_eq!(events.last().unwrap()["actor"]["kind"], "automation");
}
