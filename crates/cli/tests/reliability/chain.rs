//! The hash chain of a session's log, as `doctor` checks it and bundles contain it.

use crate::{git, git_with_session};
use rusqlite::Connection;
use testkit::Sandbox;

const DATABASE: &str = ".git/leftoff/leftoff.db";

fn tamper(sandbox: &Sandbox, sql: &str) {
    let database = Connection::open(sandbox.path(DATABASE)).unwrap();
    assert_ne!(database.execute(sql, []).unwrap(), 0, "{sql}");
}

fn head(sandbox: &Sandbox, version: u64) -> Vec<u8> {
    let database = Connection::open(sandbox.path(DATABASE)).unwrap();
    database.query_row("SELECT link FROM events WHERE version=?1", [version], |row| row.get(0)).unwrap()
}

#[test]
fn doctor_tells_of_every_row_that_was_tampered_with() {
    for (sql, told) in [
        (
            "UPDATE events SET body=replace(body,'written before','forged') WHERE kind='note_added'",
            "was changed",
        ),
        ("UPDATE events SET actor=replace(actor,'anna','ben') WHERE version=2", "event 2 was changed"),
        ("UPDATE events SET at=at-1 WHERE version=1", "event 1 was changed"),
        ("UPDATE events SET salt=NULL WHERE version=2", "event 2 was changed"),
        ("UPDATE events SET link=zeroblob(32) WHERE version=2", "event 2 does not follow"),
        ("UPDATE events SET hash=NULL WHERE version=2", "event 2 was inserted without leftoff"),
        ("UPDATE sessions SET head=zeroblob(32)", "events at the end are missing"),
    ] {
        let sandbox = git_with_session();
        sandbox.run(["doctor"]).ok();
        tamper(&sandbox, sql);
        let found = sandbox.run(["doctor", "--json"]).code(4).json();
        let findings = found["findings"].as_array().unwrap();
        let is_told = |finding: &serde_json::Value| {
            finding["kind"] == "chain" && finding["message"].as_str().unwrap().contains(told)
        };
        assert!(findings.iter().any(is_told), "{sql}: {findings:?}");
    }
}

#[test]
fn purging_is_no_tampering_and_leaves_no_salt() {
    let sandbox = git_with_session();
    sandbox.run(["note", "the password is mellon"]).ok();
    sandbox.run(["note", "and mellon again"]).ok();
    sandbox.run(["purge", "mellon", "--yes"]).ok();
    sandbox.run(["note", "work goes on"]).ok();
    sandbox.run(["doctor"]).ok();
    let database = Connection::open(sandbox.path(DATABASE)).unwrap();
    let unsalted: u64 =
        database.query_row("SELECT count(*) FROM events WHERE salt IS NULL", [], |row| row.get(0)).unwrap();
    assert_eq!(unsalted, 2);
    drop(database);
    tamper(&sandbox, "UPDATE events SET body=replace(body,'[purged]','forged') WHERE salt IS NULL");
    assert!(sandbox.run(["doctor"]).code(4).stdout.contains("was changed"));
}

#[test]
fn a_bundle_brings_the_chain_along() {
    let (there, here) = (git_with_session(), git());
    there.run(["note", "the password is mellon"]).ok();
    there.run(["purge", "mellon", "--yes"]).ok();
    let file = here.path("session.bundle");
    there.run(["bundle", "create", file.to_str().unwrap()]).ok();
    here.run(["bundle", "take", "session.bundle"]).ok();
    let last = there.run(["log", "--json"]).ok().json()["events"].as_array().unwrap().len() as u64;
    for version in 1..=last {
        assert_eq!(head(&here, version), head(&there, version), "{version}");
    }
    here.run(["doctor"]).ok();
}
