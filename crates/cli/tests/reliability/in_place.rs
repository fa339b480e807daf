//! Programs that rewrite a layout's file in place while leftoff writes it: they truncate it and write at
//! once, or in two steps with a pause. Such a program continues in the file that it has opened, wherever that
//! file is by then, so each edit must be in the file, in the backup, or in quarantine.

use crate::foreign_edits::{COMMENT, Ended, Ground, next, write_until};
use engine::{Engine, Intent, Options};
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use testkit::Sandbox;

const ASKED: &str = "LEFTOFF_IN_PLACE";
const LAYOUTS: [&str; 6] = ["ocr", "ccw", "ccw registry", "ccw registry of two", "praxis", "essay"];
/// Every so many edits, the pause is longer than anybody waits for a file that is being written.
const LONG_PAUSE_EVERY: u64 = 7;

/// Every so many edits, the program waits until commands have ended, because on a busy machine hardly any may
/// run.
const WAITS_EVERY: u64 = 5;

/// How another program writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writer {
    Rename,
    /// The file is truncated when it is opened, then written at once.
    Truncating,
    /// The file is truncated when it is opened, then written in two steps.
    TwoSteps,
}

const WRITERS: [Writer; 3] = [Writer::Rename, Writer::Truncating, Writer::TwoSteps];

impl Writer {
    fn write(self, file: &Path, text: &str, pause: Duration) {
        let bytes = text.as_bytes();
        let (first, second) = bytes.split_at(bytes.len() / 2);
        match self {
            Self::Rename => {
                let temporary = file.with_file_name(".theirs.tmp");
                fs::write(&temporary, text).unwrap();
                fs::rename(&temporary, file).unwrap();
            }
            Self::Truncating => fs::write(file, text).unwrap(),
            Self::TwoSteps => {
                let mut open = OpenOptions::new().write(true).truncate(true).open(file).unwrap();
                open.write_all(first).unwrap();
                std::thread::sleep(pause);
                open.write_all(second).unwrap();
            }
        }
    }
}

/// A text with one more mark; `None` if the text is incomplete. Nobody removes marks.
fn marked(layout: &str, text: &str, number: u64) -> Option<String> {
    match layout {
        "ccw registry" | "ccw registry of two" => Some(marked_line(text, number)),
        "essay" => {
            let edit = text.lines().find(|line| line.starts_with("edit: "))?;
            Some(text.replace(edit, &format!("mark-{number}: {number}\nedit: {number}{COMMENT}")))
        }
        _ => {
            let mut document: Value = serde_json::from_str(text).ok()?;
            document["metadata"][format!("mark-{number}")] = json!(number);
            document["metadata"]["last"] = json!(number);
            Some(serde_json::to_string_pretty(&document).unwrap())
        }
    }
}

/// Adds a line with a session of its own, so that no later edit overwrites it.
fn marked_line(text: &str, number: u64) -> String {
    let mark = format!("mark-{number}");
    let line = json!({"id": format!("WFS-{mark}"), "status": "completed", mark: number});
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{text}{end}{line}\n")
}

fn has_mark(text: &str, number: u64) -> bool {
    text.contains(&format!("mark-{number}:")) || text.contains(&format!("mark-{number}\":"))
}

/// True if both the changed value and the added line of an edit are in the text, in formats that have both.
fn is_last(text: &str, number: u64) -> bool {
    let document: Option<Value> =
        serde_json::from_str(text).ok().filter(|value: &Value| !value["metadata"].is_null());
    document.is_none_or(|document| document["metadata"]["last"] == number)
}

/// The contents of every file that may have a displaced edit: beside the file itself, or in quarantine.
pub fn kept_elsewhere(sandbox: &Sandbox, file: &Path) -> Vec<String> {
    let beside = fs::read_dir(file.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let folders = [".leftoff/aside", ".leftoff/open"].map(|folder| sandbox.path(folder));
    let folders = folders.into_iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    let aside = folders.filter_map(|folder| fs::read_dir(folder.unwrap().path()).ok()).flatten();
    let files = beside.chain(aside.map(|entry| entry.unwrap().path()));
    let files = files.filter(|path| path != file && path.is_file());
    files.map(|path| fs::read_to_string(path).unwrap_or_default()).collect()
}

/// The number of edits, how many of them are only beside the file, and which are lost.
struct Counted {
    edits: u64,
    elsewhere: u64,
    lost: Vec<u64>,
    ours: u64,
}

fn race(layout: &str, writer: Writer, edits: u64) -> Counted {
    let ground = Ground::of(layout);
    let (stop, ours) = (AtomicBool::new(false), AtomicU64::new(0));
    let options = Options {
        project: Some(ground.sandbox.project().to_owned()),
        session: Some(ground.session.to_owned()),
        ..Options::default()
    };
    let (turn, stop_all, ours_all) = (ground.ours, &stop, &ours);
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    std::thread::scope(|scope| {
        let _ended = Ended(&stop);
        let writers: Vec<_> = (0..ground.writers)
            .map(|_| scope.spawn(|| write_until(&options, turn, stop_all, ours_all)))
            .collect();
        for number in 1..=edits {
            let is_over = writers.iter().any(std::thread::ScopedJoinHandle::is_finished);
            assert!(!is_over, "a command of ours went wrong");
            let text = fs::read_to_string(&ground.file).unwrap_or_default();
            let edited = marked(layout, &text, number).unwrap_or_else(|| panic!("torn: {text}"));
            let pause = if number.is_multiple_of(LONG_PAUSE_EVERY) { 90_000 } else { 12_000 };
            writer.write(&ground.file, &edited, Duration::from_micros(next(&mut seed) % pause));
            if number.is_multiple_of(WAITS_EVERY) {
                wait_for_ours(&ours, next(&mut seed) % 3);
                let there = fs::read_to_string(&ground.file).unwrap_or_default();
                assert!(
                    !has_mark(&there, number) || is_last(&there, number),
                    "{number} is half there: {there}"
                );
            }
            std::thread::sleep(Duration::from_micros(next(&mut seed) % 20_000));
        }
    });
    ground.sandbox.run(["note", "afterwards", "--session", ground.session]).ok();
    ground.sandbox.run(["note", "and again", "--session", ground.session]).ok();
    let (there, others) =
        (fs::read_to_string(&ground.file).unwrap(), kept_elsewhere(&ground.sandbox, &ground.file));
    let missing: Vec<u64> = (1..=edits).filter(|number| !has_mark(&there, *number)).collect();
    let is_lost = |number: &u64| !others.iter().any(|text| has_mark(text, *number));
    let lost: Vec<u64> = missing.iter().copied().filter(is_lost).collect();
    let elsewhere = (missing.len() - lost.len()) as u64;
    Counted { edits, elsewhere, lost, ours: ours.load(Ordering::Relaxed) }
}

/// Waits until this many commands have ended, because on a busy machine hardly any may run between two edits.
fn wait_for_ours(ours: &AtomicU64, commands: u64) {
    let (enough, until) = (ours.load(Ordering::Relaxed) + commands, Instant::now() + Duration::from_secs(10));
    while ours.load(Ordering::Relaxed) < enough && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Runs the race in a separate process; returns the number of lost edits.
fn lost(layout: &str, writer: usize, edits: u64) -> usize {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child
        .args(["--exact", "in_place::the_race", "--ignored", "--nocapture"])
        .env(ASKED, format!("{layout}/{writer}/{edits}"))
        .env("LEFTOFF_TEST_SLOW", "view-place");
    let done = child.output().unwrap();
    let told = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{layout}: {told}{}", String::from_utf8_lossy(&done.stderr));
    let line = told.lines().find(|line| line.contains("edits in place")).unwrap_or_default();
    println!("{line}");
    line.rsplit(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("{told}"))
}

#[test]
#[ignore = "the tests below start it as a process of its own"]
fn the_race() {
    let asked = std::env::var(ASKED).unwrap();
    let [layout, writer, edits] = asked.split('/').collect::<Vec<_>>().try_into().unwrap();
    let writer = WRITERS[writer.parse::<usize>().unwrap()];
    let Counted { edits, elsewhere, lost, ours } = race(layout, writer, edits.parse().unwrap());
    println!(
        "{layout}, {writer:?}: {edits} edits in place against {ours} commands of ours: {elsewhere} kept beside the \
         file, nowhere {lost:?}: {} lost",
        lost.len()
    );
}

#[test]
fn f1_edits_in_place_are_in_the_file_the_backup_or_quarantine() {
    for layout in LAYOUTS {
        for (writer, kind) in WRITERS.iter().enumerate() {
            let edits = if layout == "ccw" { 150 } else { 50 };
            assert_eq!(lost(layout, writer, edits), 0, "{layout}, {kind:?}");
        }
    }
}

/// Queries a session while others change it and its files.
fn ask_until(options: &Options, stop: &AtomicBool) -> (u64, Vec<String>) {
    let (mut asked, mut failed) = (0, Vec::new());
    while !stop.load(Ordering::Relaxed) {
        let view = Engine::open(options.clone(), Intent::Query).and_then(|engine| engine.sessions().status());
        failed.extend(view.err().map(|error| error.to_string()));
        asked += 1;
    }
    (asked, failed)
}

#[test]
fn f8_under_external_edits_nobody_is_told_that_a_session_is_at_another_version() {
    let ground = Ground::of("ocr");
    let (stop, ours) = (AtomicBool::new(false), AtomicU64::new(0));
    let options = Options {
        project: Some(ground.sandbox.project().to_owned()),
        session: Some(ground.session.to_owned()),
        ..Options::default()
    };
    let (turn, stop_all, ours_all) = (ground.ours, &stop, &ours);
    let asked = std::thread::scope(|scope| {
        let ended = Ended(&stop);
        let asking: Vec<_> = (0..2).map(|_| scope.spawn(|| ask_until(&options, stop_all))).collect();
        let writing = scope.spawn(|| write_until(&options, turn, stop_all, ours_all));
        for number in 1..=400 {
            assert!(!writing.is_finished(), "a command of ours went wrong");
            let text = fs::read_to_string(&ground.file).unwrap_or_default();
            let edited = marked("ocr", &text, number).unwrap_or_else(|| panic!("torn: {text}"));
            Writer::Rename.write(&ground.file, &edited, Duration::ZERO);
            wait_for_ours(&ours, number % 2);
        }
        drop(ended);
        asking.into_iter().map(|asked| asked.join().unwrap()).collect::<Vec<_>>()
    });
    let failed: Vec<&String> = asked.iter().flat_map(|(_, failed)| failed).collect();
    let count: u64 = asked.iter().map(|(count, _)| count).sum();
    println!("{count} questions beside {} commands: {} failed", ours.load(Ordering::Relaxed), failed.len());
    assert!(failed.is_empty(), "{failed:?}");
}
