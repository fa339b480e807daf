//! Corruption on disk: lost changes are detected before anything overwrites them, and damaged rows are never
//! shown as intact.

use crate::{git, git_with_session};
use rusqlite::Connection;
use std::path::PathBuf;
use testkit::Sandbox;

const DATABASE: &str = ".git/leftoff/leftoff.db";

fn log_of(sandbox: &Sandbox) -> PathBuf {
    sandbox.path(&format!("{DATABASE}-wal"))
}

fn noted(count: u32) -> Sandbox {
    let sandbox = git();
    sandbox.run(["start"]).ok();
    for number in 1..=count {
        sandbox.run(["note", &format!("number {number}")]).ok();
    }
    sandbox
}

/// Flips a bit of a byte in the middle of the file, at or after this offset.
fn flip_a_bit(file: &PathBuf, from: usize) {
    let mut bytes = std::fs::read(file).unwrap();
    let middle = from + (bytes.len() - from) / 2;
    bytes[middle] ^= 0x10;
    std::fs::write(file, bytes).unwrap();
}

fn notes(sandbox: &Sandbox) -> usize {
    let log = sandbox.run(["log", "--json"]).ok().json();
    log["events"].as_array().unwrap().iter().filter(|event| event["type"] == "note_added").count()
}

#[test]
fn f5_a_damaged_write_ahead_log_is_noticed_before_anything_is_written_over_it() {
    let sandbox = noted(8);
    flip_a_bit(&log_of(&sandbox), 0);
    assert!(notes(&sandbox) < 8, "the bit that was flipped is in the log");
    let found = sandbox.run(["doctor", "--json"]).code(4).json();
    assert_eq!(found["findings"][0]["kind"], "changes_lost", "{found}");
    let status = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!(status["warnings"][0]["kind"], "changes_lost", "{status}");
    let before = std::fs::read(log_of(&sandbox)).unwrap();
    let error = sandbox.run(["note", "over it", "--json"]).code(1).error();
    assert_eq!(error["kind"], "changes_lost");
    assert!(error["hint"].as_str().unwrap().contains("nothing was changed"), "{error}");
    assert!(std::fs::read(log_of(&sandbox)).unwrap() == before, "what is left of them is still there");
    // A person who accepts the loss can continue.
    let left = notes(&sandbox);
    std::fs::remove_file(sandbox.path(&format!("{DATABASE}.lock"))).unwrap();
    sandbox.run(["note", "after it"]).ok();
    assert_eq!(notes(&sandbox), left + 1);
    sandbox.run(["doctor"]).ok();
}

#[test]
fn f5_a_log_that_is_gone_is_noticed_and_a_backup_in_its_place_is_not_a_loss() {
    let sandbox = noted(2);
    sandbox.run(["store", "backup", "copy.db"]).ok();
    sandbox.run(["note", "after the copy"]).ok();
    std::fs::write(log_of(&sandbox), "").unwrap();
    assert_eq!(sandbox.run(["note", "lost", "--json"]).code(1).error()["kind"], "changes_lost");
    for suffix in ["", "-wal", "-shm"] {
        std::fs::remove_file(sandbox.path(&format!("{DATABASE}{suffix}"))).unwrap();
    }
    std::fs::rename(sandbox.path("copy.db"), sandbox.path(DATABASE)).unwrap();
    sandbox.run(["doctor"]).ok();
    sandbox.run(["note", "restored"]).ok();
    assert_eq!(notes(&sandbox), 3);
}

#[test]
fn f5_a_damaged_snapshot_is_not_shown_and_its_log_is_read_instead() {
    let sandbox = git_with_session();
    let before = sandbox.run(["status", "--json"]).ok().json();
    for damage in ["replace(body,'kept','lost')", "CAST(x'7b22ff00' AS TEXT)"] {
        let database = Connection::open(sandbox.path(DATABASE)).unwrap();
        assert_eq!(database.execute(&format!("UPDATE snapshots SET body={damage}"), []).unwrap(), 1);
        drop(database);
        let after = sandbox.run(["status", "--json"]).ok().json();
        assert_eq!(after["goal"], before["goal"], "{damage}");
        let found = sandbox.run(["doctor"]).code(4).stdout;
        assert!(found.contains("its snapshot is damaged"), "{damage}: {found}");
    }
    sandbox.run(["note", "written anew"]).ok();
    sandbox.run(["doctor"]).ok();
}

#[test]
fn f5_an_event_that_was_damaged_is_told_by_the_question_that_reads_it() {
    let sandbox = git_with_session();
    let database = Connection::open(sandbox.path(DATABASE)).unwrap();
    let damage = "UPDATE events SET body=replace(body,'written','wrizten') WHERE kind='note_added'";
    assert_eq!(database.execute(damage, []).unwrap(), 1);
    drop(database);
    for question in ["log", "show"] {
        let said = sandbox.run([question]).ok();
        assert!(said.stderr.contains("does not match its hash chain"), "{question}: {said:?}");
        let answer = sandbox.run([question, "--json"]).ok().json();
        assert_eq!(answer["warnings"][0]["kind"], "chain", "{question}: {answer}");
    }
}
