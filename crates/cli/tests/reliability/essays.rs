//! The same for essays, whose file is YAML with comments: edits that race our writes, kills, crashes at every step.
//! No edit is lost, no comment, no byte that was not ours.

use engine::{Engine, Intent, Options};
use model::gate::Given;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use testkit::Sandbox;

const FOLDER: &str = "essay-pipeline-20261114-100000";
const EDITS: u64 = 3_000;
const COMMENT: &str = "  # counted by somebody else";

/// A session with a key of somebody else's.
fn essay() -> Sandbox {
    let sandbox = crate::fresh();
    sandbox.run(["start", "--layout", "essay", "--id", FOLDER]).ok();
    let text = fs::read_to_string(state(&sandbox)).unwrap();
    fs::write(state(&sandbox), format!("{text}edit: 0{COMMENT}\n")).unwrap();
    sandbox.run(["note", "taken in"]).ok();
    sandbox
}

fn state(sandbox: &Sandbox) -> PathBuf {
    sandbox.path(&format!("{FOLDER}/session-state.yaml"))
}

/// The whole text; one that has lost its end is torn.
#[track_caller]
fn read(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    assert!(
        text.starts_with("# State of one essay") && text.ends_with(&format!("{COMMENT}\n")),
        "torn: {text}"
    );
    text
}

fn edit_of(text: &str) -> (u64, &str) {
    let line = text.lines().find(|line| line.starts_with("edit: ")).unwrap_or_default();
    let number = line.trim_start_matches("edit: ").split(' ').next().unwrap_or_default();
    (number.parse().unwrap_or_else(|_| panic!("{line:?} in {text}")), line)
}

/// Sets a field back and forth, each time a command of its own that writes the state.
fn write_until(project: &Path, stop: &AtomicBool, ours: &AtomicU64) {
    let options = Options { project: Some(project.to_owned()), ..Options::default() };
    while !stop.load(Ordering::Relaxed) {
        let level = if ours.load(Ordering::Relaxed).is_multiple_of(2) { "full" } else { "light" };
        let fields = BTreeMap::from([("pushback_level".to_owned(), Given::Text(level.to_owned()))]);
        let mut engine = Engine::open(options.clone(), Intent::Command).unwrap();
        let answer = engine.set_fields(None, &fields).unwrap();
        assert!(!answer.view.view_stale, "{:?}", answer.view.warnings);
        ours.fetch_add(1, Ordering::Relaxed);
    }
}

/// Another program reads, counts its own key on, and renames a new file over ours. Each edit must be there before it
/// makes the next one; one that does not come back is lost.
#[test]
fn edits_that_race_our_writes_are_not_lost() {
    let sandbox = essay();
    let (stop, ours) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let writer = {
        let (stop, ours, project) = (Arc::clone(&stop), Arc::clone(&ours), sandbox.project().to_owned());
        std::thread::spawn(move || write_until(&project, &stop, &ours))
    };
    let path = state(&sandbox);
    let temporary = path.with_file_name("theirs.tmp");
    let mut number = 0;
    // On until there was a race: a busy machine may let hardly a command of ours through.
    while number < EDITS || ours.load(Ordering::Relaxed) <= 50 {
        number += 1;
        let until = Instant::now() + Duration::from_mins(1);
        let text = loop {
            let text = read(&path);
            if edit_of(&text).0 == number - 1 {
                break text;
            }
            assert!(Instant::now() < until, "edit {} did not come back", number - 1);
        };
        let edited = text.replace(edit_of(&text).1, &format!("edit: {number}{COMMENT}"));
        fs::write(&temporary, edited).unwrap();
        fs::rename(&temporary, &path).unwrap();
    }
    stop.store(true, Ordering::Relaxed);
    writer.join().unwrap();
    let ours = ours.load(Ordering::Relaxed);
    println!("{number} foreign edits against {ours} commands of ours: 0 lost");
    sandbox.run(["note", "afterwards"]).ok();
    assert_eq!(edit_of(&read(&path)).0, number);
    sandbox.run(["doctor"]).ok();
}

#[test]
fn kills_in_the_middle_of_writes_tear_no_file() {
    const KILLS: u32 = 150;
    let sandbox = essay();
    sandbox.run(["set", "pushback_level=minimal"]).ok();
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let (mut killed, mut finished) = (0, 0);
    while killed < KILLS {
        let level = ["pushback_level=full", "pushback_level=light"][finished % 2];
        let mut child =
            sandbox.command(["set", level]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        std::thread::sleep(Duration::from_micros(seed % 14_000));
        child.kill().unwrap();
        if child.wait().unwrap().code().is_some() {
            finished += 1;
        } else {
            killed += 1;
        }
        read(&state(&sandbox));
        read(&state(&sandbox).with_file_name("session-state.yaml.bak"));
        assert!(finished < 3_000, "commands end before they are killed");
    }
    println!("{killed} kills in the middle of commands ({finished} had ended before): no file torn or empty");
    sandbox.run(["repair"]).ok();
    sandbox.run(["doctor"]).ok();
    let level = sandbox.run(["status", "--json"]).ok().json()["fields"]["pushback_level"].clone();
    assert!(read(&state(&sandbox)).contains(&format!("pushback_level: {level}  #")));
}

#[test]
fn a_crash_at_each_step_is_mended_by_the_next_command() {
    for place in ["after-append", "view-written-beside", "view-exchanged", "view-in-place", "view-confirmed"]
    {
        let sandbox = essay();
        let crashed =
            sandbox.command(["set", "pushback_level=minimal"]).env("LEFTOFF_TEST_CRASH", place).output();
        assert!(crashed.unwrap().status.code().is_none(), "{place} was not reached");
        read(&state(&sandbox));
        let view = sandbox.run(["status", "--json"]).ok().json();
        assert_eq!(view["fields"]["pushback_level"], "minimal", "{place}");
        sandbox.run(["note", "next"]).ok();
        assert!(read(&state(&sandbox)).contains("pushback_level: \"minimal\"  # full"), "{place}");
        sandbox.run(["doctor"]).ok();
        let log = sandbox.run(["log"]).ok().stdout;
        assert_eq!(log.matches("changed by somebody else").count(), 1, "{place}: {log}");
    }
}

/// A start that ends before its file is there: the next command writes it.
#[test]
fn a_crash_in_a_start_leaves_a_session_that_can_be_gone_on_with() {
    for place in ["after-append", "view-written-beside", "view-in-place"] {
        let sandbox = crate::fresh();
        let words = ["start", "--layout", "essay", "--id", FOLDER];
        let crashed = sandbox.command(words).env("LEFTOFF_TEST_CRASH", place).output();
        assert!(crashed.unwrap().status.code().is_none(), "{place} was not reached");
        sandbox.run(["note", "next"]).ok();
        let text = fs::read_to_string(state(&sandbox)).unwrap();
        assert!(
            text.contains("status: \"in_progress\"") && text.contains("session_dir: \"/"),
            "{place}: {text}"
        );
        sandbox.run(["doctor"]).ok();
    }
}
