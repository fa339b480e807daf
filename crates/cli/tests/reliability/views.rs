//! Files that show a session to another tool: edits that race our writes, kills in the middle of them, a machine that
//! starts anew, a full disk. Whatever happens, no edit is lost and no file is torn.

use engine::{AdvanceRequest, Engine, Intent, Options};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use testkit::Sandbox;

const SESSION: &str = ".ocr/sessions/2026-11-14-main";
const EDITS: u64 = 20_000;
/// After how many edits the other program waits until all is written.
const SETTLED_EVERY: u64 = 101;

fn review() -> Sandbox {
    let sandbox = crate::fresh();
    sandbox.run(["start", "--layout", "ocr", "--id", "2026-11-14-main"]).ok();
    sandbox.write(&format!("{SESSION}/discovered-standards.md"), "found\n");
    sandbox
}

fn state(sandbox: &Sandbox) -> PathBuf {
    sandbox.path(&format!("{SESSION}/state.json"))
}

fn read(path: &Path) -> Value {
    let bytes = fs::read(path).unwrap_or_default();
    serde_json::from_slice(&bytes)
        .unwrap_or_else(|error| panic!("{} is torn: {error}: {bytes:?}", path.display()))
}

/// A number that looks random, the same in every run.
fn next(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

/// What came of many edits by another program while we wrote.
#[derive(Debug, Default)]
struct Raced {
    edits: u64,
    lost: u64,
    ours: u64,
}

/// Another program edits the state again and again, knowing nothing of us: reads, changes a key of its own, renames a
/// new file over it. Each edit must be there before it makes the next one; one that does not come back is lost.
fn race(sandbox: &Sandbox, edits: u64, patience: Duration) -> Raced {
    let stop = Arc::new(AtomicBool::new(false));
    let ours = Arc::new(AtomicU64::new(0));
    let project = sandbox.project().to_owned();
    let writer = {
        let (stop, ours) = (Arc::clone(&stop), Arc::clone(&ours));
        std::thread::spawn(move || write_until(&project, &stop, &ours))
    };
    let path = state(sandbox);
    let temporary = path.with_file_name("theirs.tmp");
    let mut raced = Raced { edits, ..Raced::default() };
    let mut made = 0;
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    for number in 1..=edits {
        let until = Instant::now() + patience;
        let mut document = loop {
            let document = read(&path);
            if document["edit"].as_u64().unwrap_or(0) == made {
                break document;
            }
            if Instant::now() > until {
                raced.lost += 1;
                println!("edit {made} did not come back; there is {document}");
                break document;
            }
        };
        // Ten in a row, beginning at the worst moments: while our bytes wait beside the file, or what was there does.
        if number.is_multiple_of(10) {
            let worst =
                [".state.json.leftoff", ".state.json.leftoff-old"][usize::from(number.is_multiple_of(20))];
            wait_for(&path.with_file_name(worst), Duration::from_micros(next(&mut seed) % 20_000));
        }
        // Now and then until all is quiet: what was taken in before a later command must still be there after it.
        if number.is_multiple_of(SETTLED_EVERY) {
            let until = ours.load(Ordering::Relaxed) + 2;
            while ours.load(Ordering::Relaxed) < until {
                std::thread::yield_now();
            }
            document = read(&path);
            if document["edit"].as_u64() != Some(made) {
                raced.lost += 1;
                println!("edit {made} is gone; there is {document}");
            }
        }
        document["edit"] = json!(number);
        fs::write(&temporary, document.to_string()).unwrap();
        fs::rename(&temporary, &path).unwrap();
        made = number;
    }
    stop.store(true, Ordering::Relaxed);
    writer.join().unwrap();
    raced.ours = ours.load(Ordering::Relaxed);
    raced
}

fn wait_for(path: &Path, patience: Duration) {
    let until = Instant::now() + patience;
    while !path.exists() && Instant::now() < until {
        std::thread::yield_now();
    }
}

/// Back and forth between two phases, each step a command of its own that writes the state.
fn write_until(project: &Path, stop: &AtomicBool, ours: &AtomicU64) {
    let options = Options { project: Some(project.to_owned()), ..Options::default() };
    while !stop.load(Ordering::Relaxed) {
        let mut engine = Engine::open(options.clone(), Intent::Command).unwrap();
        // The other program may put an older phase back at any time: a refusal is an answer.
        let step = if ours.load(Ordering::Relaxed).is_multiple_of(2) {
            let request = AdvanceRequest { phase: Some("context".to_owned()), ..AdvanceRequest::default() };
            engine.advance(&request)
        } else {
            engine.roll_back("context", None)
        };
        // Without the exchange a write may never find what it saw.
        let must_be_written = std::env::var_os("LEFTOFF_TEST_NO_EXCHANGE").is_none();
        if let Some(answer) = step.ok().filter(|_| must_be_written) {
            assert!(!answer.view.view_stale, "{:?}", answer.view.warnings);
        }
        ours.fetch_add(1, Ordering::Relaxed);
    }
}

/// The race in a process of its own, with or without the exchange of files; gives how many edits were lost.
fn raced(without_exchange: bool) -> u64 {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child
        .args(["--exact", "views::the_race", "--ignored", "--nocapture"])
        .env("LEFTOFF_TEST_SLOW", "view-place");
    if without_exchange {
        child.env("LEFTOFF_TEST_NO_EXCHANGE", "1");
    }
    let done = child.output().unwrap();
    let told = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{told}{}", String::from_utf8_lossy(&done.stderr));
    let line = told.lines().find(|line| line.contains("foreign edits against")).unwrap_or_default();
    println!("{}{line}", if without_exchange { "without the exchange: " } else { "" });
    line.rsplit(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("{told}"))
}

#[test]
fn edits_of_another_program_that_race_our_writes_are_not_lost() {
    assert_eq!(raced(false), 0);
}

/// The same harness must be able to fail: without the exchange it finds edits that are gone.
#[test]
fn without_the_exchange_the_same_race_loses_edits() {
    assert!(raced(true) > 0, "the harness finds nothing");
}

#[test]
#[ignore = "the tests above start it as a process of its own"]
fn the_race() {
    let is_exchanged = std::env::var_os("LEFTOFF_TEST_NO_EXCHANGE").is_none();
    let sandbox = review();
    let patience = if is_exchanged { Duration::from_mins(1) } else { Duration::from_millis(50) };
    let raced = race(&sandbox, EDITS, patience);
    println!("{} foreign edits against {} commands of ours: {} lost", raced.edits, raced.ours, raced.lost);
    assert!(raced.ours > 100, "there was hardly a race: {raced:?}");
    if !is_exchanged {
        return;
    }
    sandbox.run(["note", "afterwards"]).ok();
    assert_eq!(read(&state(&sandbox))["edit"], EDITS);
    let left = fs::read_dir(sandbox.path(SESSION)).unwrap();
    let names: Vec<String> = left.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.iter().all(|name| !name.contains("leftoff")), "{names:?}");
    sandbox.run(["doctor"]).ok();
}

/// Ends commands with SIGKILL at a random moment of their work.
#[test]
fn five_hundred_kills_in_the_middle_of_writes_tear_no_file() {
    const KILLS: u32 = 500;
    let sandbox = review();
    sandbox.run(["advance", "--phase", "context"]).ok();
    let (path, backup) = (state(&sandbox), state(&sandbox).with_file_name("state.json.bak"));
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let (mut killed, mut finished) = (0, 0);
    let mut forward = false;
    while killed < KILLS {
        let words: &[&str] =
            if forward { &["advance", "--phase", "context"] } else { &["rollback", "context"] };
        forward = !forward;
        let mut child = sandbox
            .command(words)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(next(&mut seed) % 14_000));
        child.kill().unwrap();
        let ended = child.wait().unwrap();
        if ended.code().is_some() {
            finished += 1;
        } else {
            killed += 1;
        }
        assert!(read(&path)["session_id"].is_string());
        assert!(read(&backup)["session_id"].is_string());
        assert!(finished < 20 * KILLS, "commands end before they are killed");
    }
    println!("{killed} kills in the middle of commands ({finished} had ended before): no file torn or empty");
    sandbox.run(["repair"]).ok();
    sandbox.run(["doctor"]).ok();
    let view = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!(read(&path)["current_phase"], view["current_phase"]["id"]);
}

/// Every place at which a process can end between the log and the file.
#[test]
fn a_crash_at_each_step_is_mended_by_the_next_command() {
    for place in ["after-append", "view-written-beside", "view-exchanged", "view-in-place", "view-confirmed"]
    {
        let sandbox = review();
        let crashed =
            sandbox.command(["advance", "--phase", "context"]).env("LEFTOFF_TEST_CRASH", place).output();
        assert!(crashed.unwrap().status.code().is_none(), "{place} was not reached");
        let before = read(&state(&sandbox));
        assert!(before["session_id"].is_string());
        let view = sandbox.run(["status", "--json"]).ok().json();
        assert_eq!(view["current_phase"]["id"], "change-context", "{place}");
        sandbox.run(["note", "next"]).ok();
        assert_eq!(read(&state(&sandbox))["current_phase"], "change-context", "{place}");
        sandbox.run(["doctor"]).ok();
        let log = sandbox.run(["log"]).ok().stdout;
        assert!(
            !log.contains("changed by somebody else"),
            "{place}: our own bytes were taken for an edit: {log}"
        );
        assert!(!sandbox.path(&format!("{SESSION}/.state.json.leftoff")).exists(), "{place}");
    }
}

/// Bytes that we wrote earlier: a crash's leftover after a start of the machine, an edit without one.
#[test]
fn old_bytes_are_a_leftover_after_a_reboot_and_an_edit_without_one() {
    for (boot, is_edit) in [(Some("another-start"), false), (None, true)] {
        let sandbox = review();
        let old = fs::read(state(&sandbox)).unwrap();
        sandbox.run(["advance", "--phase", "context"]).ok();
        let new = fs::read(state(&sandbox)).unwrap();
        fs::write(state(&sandbox), &old).unwrap();
        let run = |words: &[&str]| {
            let mut command = sandbox.command(words.iter().copied());
            if let Some(boot) = boot {
                command.env("LEFTOFF_TEST_BOOT", boot);
            }
            let done = command.output().unwrap();
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
            String::from_utf8(done.stdout).unwrap()
        };
        run(&["note", "after"]);
        let log = run(&["log"]);
        assert_eq!(log.contains("changed by somebody else"), is_edit, "{log}");
        let view: Value = serde_json::from_str(&run(&["status", "--json"])).unwrap();
        if is_edit {
            assert_eq!(view["current_phase"]["id"], "context");
        } else {
            assert_eq!(view["current_phase"]["id"], "change-context");
            assert_eq!(fs::read(state(&sandbox)).unwrap(), new, "the view is written again");
        }
    }
}

#[test]
fn a_full_disk_leaves_the_old_file_whole_and_the_command_is_done() {
    let sandbox = review();
    let before = fs::read(state(&sandbox)).unwrap();
    let done = sandbox
        .command(["advance", "--phase", "context", "--json"])
        .env("LEFTOFF_TEST_FULL", "view")
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let view: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(view["view_stale"], true);
    assert_eq!(fs::read(state(&sandbox)).unwrap(), before);
    assert!(!sandbox.path(&format!("{SESSION}/.state.json.leftoff")).exists());
    let told = sandbox.run(["status"]).ok().stderr;
    assert!(told.contains("older than the log"), "{told}");
    sandbox.run(["repair"]).ok();
    assert_eq!(read(&state(&sandbox))["current_phase"], "change-context");
    sandbox.run(["doctor"]).ok();
}

/// Two edits one after the other while we write: the first comes out of the exchange, the second takes our file's place.
#[test]
fn of_two_edits_in_a_row_the_later_one_stands_and_nothing_of_the_earlier_is_lost() {
    let sandbox = review();
    let crashed = sandbox
        .command(["advance", "--phase", "context"])
        .env("LEFTOFF_TEST_CRASH", "view-exchanged")
        .output();
    assert!(crashed.unwrap().status.code().is_none());
    let path = state(&sandbox);
    let waiting = path.with_file_name(".state.json.leftoff");
    let mut document = read(&waiting);
    document["edit"] = json!(1);
    document["earlier"] = json!("alone");
    document["current_phase"] = json!("analysis");
    fs::write(&waiting, document.to_string()).unwrap();
    document.as_object_mut().unwrap().remove("earlier");
    document["edit"] = json!(2);
    document["current_phase"] = json!("reviews");
    fs::write(&path, document.to_string()).unwrap();
    sandbox.run(["note", "next"]).ok();
    let there = read(&path);
    assert_eq!((&there["edit"], &there["earlier"]), (&json!(2), &json!("alone")), "{there}");
    assert_eq!(there["current_phase"], "reviews", "{there}");
    sandbox.run(["doctor"]).ok();
}
