//! Invariant 1 during a power cut: the store is on a loop-mounted image, whose file contains only what
//! reached the disk. At a random moment the writer is stopped and the image is copied; the copy is mounted as
//! after a reboot, and must contain everything that was acknowledged.

use crate::git;
use rusqlite::Connection;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use testkit::proof::{self, Random};
use testkit::{Sandbox, like};

const IMAGE_BYTES: u64 = 16 * 1024 * 1024;
/// The number of changes after which a fresh image replaces the small one.
const CHANGES_OF_A_DISK: u64 = 400;

/// A mounted image, which is unmounted when this value is dropped.
struct Mounted(PathBuf);

impl Mounted {
    fn at(image: &Path, folder: PathBuf) -> Option<Self> {
        std::fs::create_dir_all(&folder).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-o", "loop"]).arg(image).arg(&folder).stderr(Stdio::null());
        mount.status().is_ok_and(|status| status.success()).then_some(Self(folder))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// The state that the writer shares with the thread that cuts the power.
#[derive(Default)]
struct Shared {
    acknowledged: Mutex<BTreeSet<u64>>,
    /// The running process; `None` between two runs.
    running: Mutex<Option<Pid>>,
    changes: AtomicU64,
    stop: AtomicBool,
}

struct Stopping<'a>(&'a Shared);

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }
}

/// A fresh disk with a session on it.
fn disk(sandbox: &Sandbox) -> Option<(PathBuf, Mounted)> {
    let image = sandbox.folder().join("image");
    File::create(&image).unwrap().set_len(IMAGE_BYTES).unwrap();
    let mut make = Command::new("mkfs.ext4");
    make.args(["-q", "-F", "-b", "4096", "-E", "lazy_itable_init=0,lazy_journal_init=0"]).arg(&image);
    let is_made = make.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
    let mounted = is_made.then(|| Mounted::at(&image, sandbox.path(".git/leftoff"))).flatten();
    if mounted.is_none() {
        testkit::left_out("power cuts: an image cannot be mounted here");
    }
    Some((image, mounted?))
}

fn write(program: &Command, shared: &Shared) {
    for number in 1.. {
        if shared.stop.load(Ordering::Relaxed) {
            return;
        }
        let mut command = like(program, ["note", &format!("note {number}"), "-q"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let pid = Pid::from_child(&child);
        *shared.running.lock().unwrap() = Some(pid);
        let status = rustix::process::waitid(
            rustix::process::WaitId::Pid(pid),
            rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT,
        );
        status.unwrap();
        // Nothing stops the process from here on, so that its answer and the record of it are one step.
        let mut running = shared.running.lock().unwrap();
        let status = child.wait().unwrap();
        if status.success() {
            shared.acknowledged.lock().unwrap().insert(number);
            shared.changes.fetch_add(1, Ordering::Relaxed);
        }
        *running = None;
        drop(running);
        if !status.success() {
            let mut said = String::new();
            std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
            panic!("a note was refused: {said}");
        }
    }
}

/// Stops the writer, copies the image, and lets the writer continue. Returns the changes that were
/// acknowledged by then.
fn cut(shared: &Shared, image: &Path, copy: &Path) -> BTreeSet<u64> {
    let running = shared.running.lock().unwrap();
    if let Some(pid) = *running {
        let _ = kill_process(pid, Signal::STOP);
    }
    let acknowledged = shared.acknowledged.lock().unwrap().clone();
    // The kernel may still be writing, but the copy must show a single moment.
    while {
        std::fs::copy(image, copy).unwrap();
        std::fs::read(image).unwrap() != std::fs::read(copy).unwrap()
    } {}
    if let Some(pid) = *running {
        let _ = kill_process(pid, Signal::CONT);
    }
    acknowledged
}

/// The notes that the database of an image has after a reboot.
fn found_on(copy: &Path, folder: PathBuf) -> BTreeSet<u64> {
    let mounted = Mounted::at(copy, folder).expect("the image is mounted again");
    let database = Connection::open(mounted.0.join("leftoff.db")).unwrap();
    let is_whole: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(is_whole, "ok");
    let mut statement = database.prepare("SELECT body FROM events WHERE kind='note_added'").unwrap();
    let bodies = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let number = |body: String| {
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        body["text"].as_str().unwrap().trim_start_matches("note ").parse().unwrap()
    };
    bodies.map(|body| number(body.unwrap())).collect()
}

#[test]
fn what_was_acknowledged_survives_a_power_cut() {
    let seed = proof::seed();
    let wanted = proof::count("POWER_CUTS", 12);
    let mut random = Random::new(seed);
    let (mut cuts, mut acknowledged, mut unanswered) = (0, 0, 0);
    while cuts < wanted {
        let sandbox = git();
        let Some((image, mounted)) = disk(&sandbox) else { return };
        sandbox.run(["start"]).ok();
        let (shared, program) = (Shared::default(), sandbox.command([""; 0]));
        std::thread::scope(|scope| {
            // The writer is also stopped after a failure, so that it does not run for ever.
            let _stopping = Stopping(&shared);
            let writer = scope.spawn(|| write(&program, &shared));
            while cuts < wanted && shared.changes.load(Ordering::Relaxed) < CHANGES_OF_A_DISK {
                assert!(!writer.is_finished(), "the writer is there");
                std::thread::sleep(Duration::from_micros(random.below(60_000)));
                let copy = sandbox.folder().join("copy");
                let promised = cut(&shared, &image, &copy);
                let found = found_on(&copy, sandbox.folder().join("after"));
                let lost: Vec<&u64> = promised.difference(&found).collect();
                assert!(lost.is_empty(), "seed {seed}, cut {cuts}: acknowledged and gone: {lost:?}");
                assert!(found.len() <= promised.len() + 1, "only one was on its way");
                unanswered += found.len() - promised.len();
                cuts += 1;
            }
        });
        acknowledged += shared.changes.load(Ordering::Relaxed);
        drop(mounted);
    }
    let result = format!("{acknowledged} acknowledged, 0 lost, {unanswered} there without an answer");
    proof::proven("power cuts", &format!("{cuts} cuts"), seed, &result);
}
