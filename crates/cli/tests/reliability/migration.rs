//! A project whose store was created by version 0.1: every session looks the same before and after the
//! migration.

use crate::fresh;
use crate::tree::Tree;
use rusqlite::Connection;
use serde_json::Value;
use testkit::Sandbox;

const DATABASE: &str = ".git/leftoff/leftoff.db";
const SESSIONS: [&str; 6] =
    ["first", "second", "third", "fourth", "2026-01-04-main", "WFS-sixth-of-another-layout"];

/// A project as version 0.1 left it, and its sessions as version 0.1 described them.
fn made_by_0_1() -> (Sandbox, Value) {
    let sandbox = fresh();
    std::fs::create_dir_all(sandbox.path(".git/leftoff")).unwrap();
    std::fs::write(sandbox.path(DATABASE), include_bytes!("../../../store/tests/version_0_1/leftoff.db"))
        .unwrap();
    std::fs::write(sandbox.path(".git/leftoff/leftoff.db-wal"), "").unwrap();
    sandbox.at("2026-01-05T10:01:10Z");
    let told = include_str!("../../../store/tests/version_0_1/list.json");
    (sandbox, serde_json::from_str(told).unwrap())
}

/// The output of all queries about each session.
fn shown(sandbox: &Sandbox) -> Vec<Value> {
    let ask = |arguments: &[&str]| sandbox.run(arguments).ok().json();
    let about = |id: &&str| {
        vec![
            ask(&["show", "--session", id, "--json"]),
            ask(&["log", "--session", id, "--json"]),
            ask(&["history", "--session", id, "--json"]),
        ]
    };
    let mut all = vec![ask(&["list", "--all", "--json"])];
    all.extend(SESSIONS.iter().flat_map(about));
    all
}

fn events(sandbox: &Sandbox) -> u64 {
    let database = Connection::open(sandbox.path(DATABASE)).unwrap();
    database.query_row("SELECT count(*) FROM events", [], |row| row.get(0)).unwrap()
}

#[test]
fn questions_show_what_version_0_1_showed_and_write_nothing() {
    let (sandbox, told) = made_by_0_1();
    let before = Tree::of(sandbox.folder());
    let shown = shown(&sandbox);
    assert_eq!(Tree::of(sandbox.folder()), before);
    let (then, now) = (told["sessions"].as_array().unwrap(), shown[0]["sessions"].as_array().unwrap());
    assert_eq!(then.len(), now.len());
    for (then, now) in then.iter().zip(now) {
        for (key, value) in then.as_object().unwrap().iter().filter(|(key, _)| *key != "current") {
            assert_eq!(&now[key], value, "{key} of {}", then["session_id"]);
        }
    }
}

#[test]
fn the_first_change_migrates_with_a_copy_and_every_session_shows_the_same() {
    let (sandbox, _) = made_by_0_1();
    let (before, count) = (shown(&sandbox), events(&sandbox));
    // This command changes no session, so only the schema changes.
    sandbox.run(["resume", "nobody"]).code(3);
    assert_eq!(shown(&sandbox), before);
    assert_eq!(events(&sandbox), count);
    assert!(sandbox.path(".git/leftoff/leftoff.db.v2.bak").exists());
    sandbox.run(["note", "--session", "first", "after the migration"]).ok();
    assert_eq!(events(&sandbox), count + 1);
    // The fixture is only a database, so the plan of the session in files is missing. Nothing else is wrong.
    let told = sandbox.run(["doctor"]).stdout;
    let findings: Vec<&str> = told.lines().filter(|line| !line.starts_with(' ')).collect();
    assert!(
        findings.iter().all(|line| line.starts_with("unwell: ") && line.contains("is missing")),
        "{told}"
    );
}

#[test]
fn a_bundle_of_version_0_1_is_taken() {
    let sandbox = fresh();
    let bundle = include_bytes!("../../../store/tests/version_0_1/first.bundle");
    std::fs::write(sandbox.path("first.bundle"), bundle).unwrap();
    let taken = sandbox.run(["bundle", "take", "first.bundle", "--json"]).ok().json();
    assert_eq!((&taken["session_id"], &taken["lifecycle"]["state"]), (&"first".into(), &"paused".into()));
    let log = sandbox.run(["log", "--session", "first", "--json"]).ok().json();
    let (old, _) = made_by_0_1();
    let then = old.run(["log", "--session", "first", "--json"]).ok().json();
    let then = then["events"].as_array().unwrap();
    assert_eq!(&log["events"].as_array().unwrap()[..then.len()], then.as_slice());
}

/// Another program stored the answer, in a format that leftoff does not know.
#[test]
fn a_key_whose_answer_cannot_be_read_is_done_and_not_decided_again() {
    let sandbox = crate::git_with_session();
    let note = ["note", "--key", "once", "said once"];
    sandbox.run(note).ok();
    let count = events(&sandbox);
    for damage in
        ["answer='{\"shape\":\"of another program\"}'", "version=99", "answer='{}',session=NULL,version=NULL"]
    {
        let database = Connection::open(sandbox.path(DATABASE)).unwrap();
        database.execute(&format!("UPDATE keys SET {damage}"), []).unwrap();
        drop(database);
        let again = sandbox.run(note).ok();
        assert!(again.stderr.contains("already done under the key 'once'"), "{damage}: {}", again.stderr);
        assert_eq!(events(&sandbox), count, "{damage}");
    }
    sandbox.run(["note", "--key", "once", "something else"]).code(4);
}
