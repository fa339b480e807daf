//! A full disk, a read-only one, and somebody who holds the lock and does not let go.

use crate::tree::Tree;
use crate::{CHANGES, QUESTIONS, QUESTIONS_ABOUT_A_SESSION, git, git_with_session};
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use testkit::{Ran, Sandbox};

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

    fn mount(&self, arguments: &[&str]) -> bool {
        let mut command = Command::new("mount");
        command.args(arguments).arg(&self.0).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    /// Takes all the room there is.
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
    let sandbox = git();
    let Some(disk) = SmallDisk::under_the_store_of(&sandbox) else { return };
    sandbox.run(["start", "--goal", "kept"]).ok();
    // Written until it does not fit any more: what was acknowledged is there, what was refused is not.
    let long = "x".repeat(20_000);
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
        sandbox.run(*question).ok();
    }
    assert_eq!(sandbox.run(["log", "--json"]).ok().stdout, before);

    std::fs::remove_file(ballast).unwrap();
    assert!(disk.mount(&["-o", "remount,size=4m"]));
    sandbox.run(["note", "room again"]).ok();
    assert_eq!(notes(&sandbox), acknowledged + 1);
    sandbox.run(["doctor"]).ok();
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
    sandbox.run(["doctor"]).ok();
}

#[test]
fn on_a_read_only_disk_questions_work_and_changes_fail() {
    let sandbox = git();
    let Some(disk) = SmallDisk::under_the_store_of(&sandbox) else { return };
    sandbox.run(["start", "--goal", "kept"]).ok();
    assert!(disk.mount(&["-o", "remount,ro"]));
    let before = Tree::of(sandbox.folder());
    for question in QUESTIONS.iter().chain(&QUESTIONS_ABOUT_A_SESSION) {
        sandbox.run(*question).ok();
    }
    assert!(sandbox.run(["status"]).ok().stdout.contains("kept"));
    for change in CHANGES {
        let error = sandbox.run(change.iter().chain(&["--json"])).code(1).error();
        assert_eq!(error["kind"], "read_only", "{change:?}");
    }
    assert_eq!(Tree::of(sandbox.folder()), before);
}

/// All of them wait at the same time, so that it takes ten seconds once.
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
