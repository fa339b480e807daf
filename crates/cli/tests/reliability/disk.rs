//! A full disk, a read-only disk, and a lock that is never released.

use crate::tree::Tree;
use crate::{CHANGES, QUESTIONS, QUESTIONS_ABOUT_A_SESSION, git, git_with_session};
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use testkit::{Ran, Sandbox, proof};

/// A small file system of its own for the store, if this process may mount one.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn under_the_store_of(sandbox: &Sandbox) -> Option<Self> {
        let folder = sandbox.path(".git/leftoff");
        std::fs::create_dir_all(&folder).unwrap();
        let disk = Self(folder);
        if disk.mount(&["-t", "tmpfs", "-o", "size=1m", "tmpfs"]) {
            return Some(disk);
        }
        testkit::left_out("a full and a read-only disk: a small tmpfs cannot be mounted here");
        std::mem::forget(disk);
        None
    }

    /// Mounts an ext4 image with blocks of 1 KiB, so that a page of memory has four.
    fn with_small_blocks(sandbox: &Sandbox) -> Option<Self> {
        let (folder, image) = (sandbox.path(".git/leftoff"), sandbox.folder().join("image"));
        std::fs::create_dir_all(&folder).unwrap();
        File::create(&image).unwrap().set_len(4 * 1024 * 1024).unwrap();
        let disk = Self(folder);
        let mut make = Command::new("mkfs.ext4");
        make.args(["-q", "-b", "1024", "-m", "0"]).arg(&image).stderr(Stdio::null());
        let is_made = make.status().is_ok_and(|status| status.success());
        if is_made && disk.mount(&["-o", "loop", image.to_str().unwrap()]) {
            return Some(disk);
        }
        testkit::left_out("a full disk with small blocks: an ext4 image cannot be made and mounted here");
        std::mem::forget(disk);
        None
    }

    fn mount(&self, arguments: &[&str]) -> bool {
        let mut command = Command::new("mount");
        command.args(arguments).arg(&self.0).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    /// Fills the disk completely.
    fn fill(&self) -> PathBuf {
        let ballast = self.0.join("ballast");
        let mut size = 0;
        for step in [64 * 1024, 4 * 1024, 512] {
            while std::fs::write(&ballast, vec![b'x'; size + step]).is_ok() {
                size += step;
            }
        }
        ballast
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_refuses_changes_and_works_again_when_there_is_room() {
    let fills = proof::count("FILLS", 1);
    let acknowledged: Option<usize> = (0..fills).map(|fill| fill_once(20_000 >> (fill % 4))).sum();
    if let Some(acknowledged) = acknowledged {
        let result = format!("{acknowledged} acknowledged, 0 lost; every change refused while it was full");
        proof::proven("full disks", &format!("{fills} fills"), 0, &result);
    }
}

/// Writes notes of this length until the disk is full. Returns how many were acknowledged; `None` if nothing
/// can be mounted.
fn fill_once(length: usize) -> Option<usize> {
    let sandbox = git();
    let disk = SmallDisk::under_the_store_of(&sandbox)?;
    sandbox.run(["start", "--goal", "kept"]).ok();
    // Acknowledged notes are in the log, refused ones are not.
    let long = "x".repeat(length);
    let mut acknowledged = 0;
    let full = loop {
        let ran = sandbox.run(["note", &format!("{acknowledged} {long}"), "--json"]);
        if ran.code != 0 {
            break ran.code(1);
        }
        acknowledged += 1;
        assert!(acknowledged < 1_000, "a full disk is not told");
    };
    assert_eq!(full.error()["kind"], "disk_full");
    assert!(acknowledged > 5, "only {acknowledged}");
    let notes = |sandbox: &Sandbox| {
        let log = sandbox.run(["log", "--json"]).ok().json();
        log["events"].as_array().unwrap().iter().filter(|event| event["type"] == "note_added").count()
    };
    assert_eq!(notes(&sandbox), acknowledged);

    let ballast = disk.fill();
    let before = sandbox.run(["log", "--json"]).ok().stdout;
    for change in CHANGES {
        let error = sandbox.run(change.iter().chain(&["--json"])).code(1).error();
        assert_eq!(error["kind"], "disk_full", "{change:?}");
        assert!(error["hint"].as_str().unwrap().contains("nothing was changed"), "{error}");
    }
    for question in QUESTIONS.iter().chain(&QUESTIONS_ABOUT_A_SESSION) {
        ask(&sandbox, question);
    }
    assert_eq!(sandbox.run(["log", "--json"]).ok().stdout, before);

    std::fs::remove_file(ballast).unwrap();
    assert!(disk.mount(&["-o", "remount,size=4m"]));
    sandbox.run(["note", "room again"]).ok();
    assert_eq!(notes(&sandbox), acknowledged + 1);
    ask(&sandbox, &["doctor"]);
    Some(acknowledged)
}

/// Asks a question. A small disk is nearly full from the start, which `doctor` reports, but nothing else.
fn ask(sandbox: &Sandbox, question: &[&str]) {
    if question.first() != Some(&"doctor") {
        sandbox.run(question).ok();
        return;
    }
    let told = sandbox.run(["doctor", "--json"]).code(4).json();
    let findings = told["findings"].as_array().unwrap();
    assert!(findings.iter().all(|found| found["kind"] == "disk_nearly_full"), "{told}");
}

#[test]
fn a_disk_that_is_full_from_the_start_leaves_nothing_half_made() {
    let sandbox = git();
    let Some(disk) = SmallDisk::under_the_store_of(&sandbox) else { return };
    let ballast = disk.fill();
    let error = sandbox.run(["start", "--json"]).code(1).error();
    assert_eq!(error["kind"], "disk_full");
    sandbox.run(["status"]).ok();
    std::fs::remove_file(ballast).unwrap();
    sandbox.run(["start"]).ok();
    ask(&sandbox, &["doctor"]);
}

/// SQLite's shared memory has holes on such a disk, and touching a hole on a full disk is SIGBUS.
#[test]
fn f3_a_full_disk_with_small_blocks_ends_no_process() {
    let sandbox = git();
    let Some(disk) = SmallDisk::with_small_blocks(&sandbox) else { return };
    sandbox.run(["start", "--goal", "kept"]).ok();
    assert_full(&sandbox, &disk);
    // The database has a write-ahead log, as if it had been created on another disk.
    let database = rusqlite::Connection::open(sandbox.path(".git/leftoff/leftoff.db")).unwrap();
    database.query_row("PRAGMA journal_mode=WAL", [], |_| Ok(())).unwrap();
    drop(database);
    assert_full(&sandbox, &disk);
    sandbox.run(["note", "room again"]).ok();
    assert!(!sandbox.path(".git/leftoff/leftoff.db-wal").exists(), "it has a rollback journal now");
    assert_full(&sandbox, &disk);
    ask(&sandbox, &["doctor"]);
}

/// Expects that on a full disk every question is answered, and every change refused unless it fits into an
/// existing page.
#[track_caller]
fn assert_full(sandbox: &Sandbox, disk: &SmallDisk) {
    let ballast = disk.fill();
    for question in QUESTIONS.iter().chain(&QUESTIONS_ABOUT_A_SESSION) {
        ask(sandbox, question);
    }
    for change in CHANGES {
        let ran = sandbox.run(change.iter().chain(&["--json"]));
        let is_refused = ran.code == 1 && ran.error()["kind"] == "disk_full";
        // A change that fits may end the session, and a hook that fits makes this process an agent's: rules
        // may then refuse later commands.
        assert!([0, 4, 6].contains(&ran.code) || is_refused, "{change:?}: {ran:?}");
    }
    let hook = r#"{"hook_event_name":"SessionStart","session_id":"a1","source":"startup","cwd":"."}"#;
    sandbox.run_with_input(&["hook", "claude"], hook).ok();
    std::fs::remove_file(ballast).unwrap();
}

#[test]
fn on_a_read_only_disk_questions_work_and_changes_fail() {
    let sandbox = git();
    let Some(disk) = SmallDisk::under_the_store_of(&sandbox) else { return };
    sandbox.run(["start", "--goal", "kept"]).ok();
    assert!(disk.mount(&["-o", "remount,ro"]));
    let before = Tree::of(sandbox.folder());
    for question in QUESTIONS.iter().chain(&QUESTIONS_ABOUT_A_SESSION) {
        ask(&sandbox, question);
    }
    assert!(sandbox.run(["status"]).ok().stdout.contains("kept"));
    for change in CHANGES {
        let error = sandbox.run(change.iter().chain(&["--json"])).code(1).error();
        assert_eq!(error["kind"], "read_only", "{change:?}");
    }
    assert_eq!(Tree::of(sandbox.folder()), before);
}

/// All commands wait at the same time, so that the test takes ten seconds only once.
#[test]
fn somebody_who_holds_the_lock_and_stops_makes_changes_fail_and_nothing_is_changed() {
    let sandbox = git_with_session();
    let lock = File::options().write(true).open(sandbox.path(".git/leftoff/leftoff.db.lock")).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    let before = Tree::of(sandbox.folder());
    let children: Vec<_> = CHANGES
        .iter()
        .map(|change| {
            let mut command = sandbox.command(change.iter().chain(&["--json"]));
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for question in QUESTIONS.iter().chain(&QUESTIONS_ABOUT_A_SESSION) {
        sandbox.run(*question).ok();
    }
    for (child, change) in children.into_iter().zip(CHANGES) {
        let error = Ran::from(child.wait_with_output().unwrap()).code(1).error();
        assert_eq!(error["kind"], "store_busy", "{change:?}");
        assert!(error["hint"].as_str().unwrap().contains("nothing was changed"));
    }
    assert_eq!(Tree::of(sandbox.folder()), before);
    drop(lock);
    sandbox.run(["note", "my turn"]).ok();
}
