//! Edits by another program while leftoff writes, in every layout: each edit must survive, whenever it was
//! made. Also kills in the middle of writes: no file is ever torn or empty.

use engine::{AdvanceRequest, Answer, Engine, Intent, OnDiscrepancy, Options, PauseRequest, Request, Taking};
use model::typed_value::Given;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use testkit::Sandbox;
use testkit::proof::{self, Random};

/// The number of edits after which the other program waits until everything is written.
const SETTLED_EVERY: u64 = 101;
/// The minimum number of commands during the edits; with fewer, there was no race.
const COMMANDS: u64 = 50;
const LAYOUT: &str = "LEFTOFF_RACE";
const UUID: &str = "5d1b2c4e-0a7f-4c55-9e11-6b0f3f1c2a77";
const ESSAY: &str = "essay-pipeline-20261114-100000";
pub const COMMENT: &str = "  # counted by somebody else";

pub type Turn = fn(&mut Engine, u64) -> engine::Result<Answer>;

/// A session of one layout, a file that another program edits, and commands that run at the same time.
pub struct Ground {
    pub sandbox: Sandbox,
    pub file: PathBuf,
    pub session: &'static str,
    /// The number of the last edit in a text, which must be a complete file.
    edit_of: fn(&str) -> u64,
    /// The text with one more edit.
    edited: fn(&str, u64) -> String,
    /// A command that changes the file, in turns.
    pub ours: Turn,
    pub writers: u64,
    /// The commands as command lines, for kills.
    words: [&'static [&'static str]; 2],
}

impl Ground {
    pub fn of(layout: &str) -> Self {
        match layout {
            "ocr" => ocr(),
            "ccw" => ccw(".workflow/WFS-race/workflow-session.json", json_edit, json_edited),
            "ccw registry" => ccw(".workflow/session_status.jsonl", line_edit, line_edited),
            "ccw registry of two" => two_of_ccw(),
            "praxis" => praxis(),
            "essay" => essay(),
            other => panic!("there is no layout {other}"),
        }
    }

    fn read(&self) -> String {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        (self.edit_of)(&text);
        text
    }

    fn edit(&self) -> u64 {
        (self.edit_of)(&self.read())
    }

    /// Writes the file as most programs do: a new file beside it, which then replaces it.
    fn put(&self, text: &str) {
        let temporary = self.file.with_file_name(".theirs.tmp");
        fs::write(&temporary, text).unwrap();
        fs::rename(&temporary, &self.file).unwrap();
    }
}

fn json_edit(text: &str) -> u64 {
    let document: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("torn: {error}: {text}"));
    document["metadata"]["edit"].as_u64().unwrap_or(0)
}

fn json_edited(text: &str, number: u64) -> String {
    let mut document: Value = serde_json::from_str(text).unwrap();
    document["metadata"]["edit"] = json!(number);
    document.to_string()
}

/// The number of edits in the registry line of a foreign session.
fn line_edit(text: &str) -> u64 {
    let lines =
        text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|_| panic!("{text}")));
    let theirs = lines.rev().find(|line| line["id"] == "WFS-theirs");
    theirs.map_or(0, |line| line["edit"].as_u64().unwrap())
}

fn line_edited(text: &str, number: u64) -> String {
    let others = text.lines().filter(|line| !line.contains("WFS-theirs"));
    let others: String = others.map(|line| format!("{line}\n")).collect();
    format!("{others}{}\n", json!({"id": "WFS-theirs", "status": "paused", "edit": number}))
}

fn ocr() -> Ground {
    const SESSION: &str = "2026-11-14-main";
    let sandbox = crate::fresh();
    sandbox.run(["start", "--layout", "ocr", "--id", SESSION]).ok();
    sandbox.write(&format!(".ocr/sessions/{SESSION}/discovered-standards.md"), "found\n");
    Ground {
        file: sandbox.path(&format!(".ocr/sessions/{SESSION}/state.json")),
        sandbox,
        session: SESSION,
        edit_of: json_edit,
        edited: json_edited,
        ours: |engine, turn| there_and_back(engine, turn, "context"),
        writers: 1,
        words: [&["advance", "--phase", "context"], &["rollback", "context"]],
    }
}

fn there_and_back(engine: &mut Engine, turn: u64, phase: &str) -> engine::Result<Answer> {
    if turn.is_multiple_of(2) {
        let request = AdvanceRequest { phase: Some(phase.to_owned()), ..AdvanceRequest::default() };
        engine.execute(Request::Advance(request))
    } else {
        engine.execute(Request::RollBack { phase: phase.to_owned(), reason: None })
    }
}

fn ccw(file: &str, edit_of: fn(&str) -> u64, edited: fn(&str, u64) -> String) -> Ground {
    let sandbox = crate::fresh();
    sandbox.run(["start", "--layout", "ccw", "--goal", "Race"]).ok();
    let file = sandbox.path(file);
    fs::write(&file, edited(&fs::read_to_string(&file).unwrap(), 0)).unwrap();
    sandbox.run(["note", "seen"]).ok();
    Ground {
        file,
        sandbox,
        session: "WFS-race",
        edit_of,
        edited,
        ours: |engine, turn| {
            if turn.is_multiple_of(2) {
                engine.execute(Request::Pause(PauseRequest::default()))
            } else {
                let session = Some("WFS-race".to_owned());
                let (on, taking) = (OnDiscrepancy::Continue, Taking::Refused);
                engine.execute(Request::Resume { session, on, taking })
            }
        },
        writers: 1,
        words: [&["pause"], &["resume", "WFS-race"]],
    }
}

/// Two processes of leftoff change sessions that share a file, while another program edits it.
fn two_of_ccw() -> Ground {
    let ground = ccw(".workflow/session_status.jsonl", line_edit, line_edited);
    ground.sandbox.run(["start", "--layout", "ccw", "--goal", "Other"]).ok();
    let ours: Turn = |engine, turn| {
        let session = ["WFS-race", "WFS-other"][usize::from(turn.is_multiple_of(2))].to_owned();
        engine.execute(Request::Switch { session })
    };
    Ground { ours, writers: 2, words: [&["switch", "WFS-race"], &["switch", "WFS-other"]], ..ground }
}

/// A session in the first format, with a phase to move back and forth.
fn praxis() -> Ground {
    let sandbox = crate::fresh();
    let file = json!({
        "session_id": UUID, "workflow_type": "ship_v1", "target_file": "docs/import.md", "current_phase": 0,
        "completed_phases": [], "phase_artifacts": {}, "checkpoints": {}, "created_at": "2026-11-14T09:00:00",
        "updated_at": "2026-11-14T09:00:00", "metadata": {"total_phases": 3, "theirs": "kept"},
    });
    let path = format!(".praxis-os/.cache/state/{UUID}.json");
    sandbox.write(&path, &serde_json::to_string_pretty(&file).unwrap());
    // The session may have been idle for days by this machine's clock.
    sandbox.run(["resume", UUID]).ok();
    sandbox.run(["advance", "--phase", "0", "--session", UUID]).ok();
    Ground {
        file: sandbox.path(&path),
        sandbox,
        session: UUID,
        edit_of: json_edit,
        edited: json_edited,
        ours: |engine, turn| there_and_back(engine, turn, "1"),
        writers: 1,
        words: [&["rollback", "0"], &["advance", "--phase", "0"]],
    }
}

fn essay() -> Ground {
    let sandbox = crate::fresh();
    sandbox.run(["start", "--layout", "essay", "--id", ESSAY]).ok();
    let file = sandbox.path(&format!("{ESSAY}/session-state.yaml"));
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{text}edit: 0{COMMENT}\n")).unwrap();
    sandbox.run(["note", "taken in"]).ok();
    Ground {
        file,
        sandbox,
        session: ESSAY,
        edit_of: |text| {
            let is_whole =
                text.starts_with("# State of one essay") && text.ends_with(&format!("{COMMENT}\n"));
            assert!(is_whole, "torn: {text}");
            yaml_edit(text).0
        },
        edited: |text, number| text.replace(yaml_edit(text).1, &format!("edit: {number}{COMMENT}")),
        ours: |engine, turn| {
            let level = if turn.is_multiple_of(2) { "full" } else { "light" };
            let fields = BTreeMap::from([("pushback_level".to_owned(), Given::Text(level.to_owned()))]);
            engine.execute(Request::SetFields { phase: None, fields })
        },
        writers: 1,
        words: [&["set", "pushback_level=full"], &["set", "pushback_level=light"]],
    }
}

pub fn yaml_edit(text: &str) -> (u64, &str) {
    let line = text.lines().find(|line| line.starts_with("edit: ")).unwrap_or_default();
    let number = line.trim_start_matches("edit: ").split(' ').next().unwrap_or_default();
    (number.parse().unwrap_or_else(|_| panic!("{line:?} in {text}")), line)
}

/// A deterministic pseudo-random number.
pub fn next(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

/// The result of many edits by another program while leftoff wrote.
#[derive(Debug, Default)]
struct Raced {
    edits: u64,
    lost: u64,
    ours: u64,
}

/// Edits the file repeatedly, as a program that does not know leftoff: reads it, changes a key of its own,
/// renames a new file over it. Each edit must be visible before the next one is made; an edit that never is,
/// is lost.
fn race(ground: &Ground, edits: u64, patience: Duration) -> Raced {
    let (stop, ours) = (AtomicBool::new(false), AtomicU64::new(0));
    let options = Options {
        project: Some(ground.sandbox.project().to_owned()),
        session: Some(ground.session.to_owned()),
        ..Options::default()
    };
    let (turn, stop_all, ours_all) = (ground.ours, &stop, &ours);
    let mut raced = Raced::default();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    std::thread::scope(|scope| {
        let _ended = Ended(&stop);
        let writers: Vec<_> = (0..ground.writers)
            .map(|_| scope.spawn(|| write_until(&options, turn, stop_all, ours_all)))
            .collect();
        // The edits continue until there was a race, because a busy machine may let hardly any command run.
        while raced.edits < edits || ours.load(Ordering::Relaxed) <= COMMANDS {
            assert!(
                !writers.iter().any(std::thread::ScopedJoinHandle::is_finished),
                "a command of ours went wrong"
            );
            let mut text = when_it_is_back(ground, &mut raced, patience);
            let number = raced.edits + 1;
            // Every tenth edit starts at the worst moment: while leftoff's bytes, or the ones that they
            // replaced, wait beside the file.
            if number.is_multiple_of(10) {
                let most = Duration::from_micros(next(&mut seed) % 20_000);
                wait_for_worst(&ground.file, number.is_multiple_of(20), most);
            }
            if number.is_multiple_of(SETTLED_EVERY) {
                text = when_all_is_written(ground, &mut raced, &ours);
            }
            ground.put(&(ground.edited)(&text, number));
            raced.edits = number;
        }
    });
    raced.ours = ours.load(Ordering::Relaxed);
    raced
}

/// Stops the writers when it is dropped, however the race ends.
pub struct Ended<'a>(pub &'a AtomicBool);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn when_it_is_back(ground: &Ground, raced: &mut Raced, patience: Duration) -> String {
    let until = Instant::now() + patience;
    loop {
        let text = ground.read();
        if (ground.edit_of)(&text) == raced.edits {
            return text;
        }
        if Instant::now() > until {
            raced.lost += 1;
            println!("edit {} did not come back; there is {text}", raced.edits);
            return text;
        }
    }
}

/// Waits until no write is pending, now and then during the race: adopted edits must survive later commands.
fn when_all_is_written(ground: &Ground, raced: &mut Raced, ours: &AtomicU64) -> String {
    let (later, until) = (ours.load(Ordering::Relaxed) + 2, Instant::now() + Duration::from_mins(1));
    while ours.load(Ordering::Relaxed) < later && Instant::now() < until {
        std::thread::yield_now();
    }
    let text = ground.read();
    if (ground.edit_of)(&text) != raced.edits {
        raced.lost += 1;
        println!("edit {} is gone; there is {text}", raced.edits);
    }
    text
}

fn wait_for_worst(file: &Path, is_old: bool, patience: Duration) {
    let name = file.file_name().unwrap().to_string_lossy();
    let waiting = file.with_file_name(format!(".{name}.leftoff{}", if is_old { "-old" } else { "" }));
    let until = Instant::now() + patience;
    while !waiting.exists() && Instant::now() < until {
        std::thread::yield_now();
    }
}

/// Runs commands that write the file, one after the other.
pub fn write_until(options: &Options, turn: Turn, stop: &AtomicBool, ours: &AtomicU64) {
    while !stop.load(Ordering::Relaxed) {
        let mut engine = Engine::open(options.clone(), Intent::Command).unwrap();
        // The other program may restore an older state at any time, so a refusal is valid.
        let step = turn(&mut engine, ours.load(Ordering::Relaxed));
        // Without exchanging files, a write may never find the content that it observed.
        let must_be_written = std::env::var_os("LEFTOFF_TEST_NO_EXCHANGE").is_none();
        if let Err(error) = &step {
            assert!(!error.to_string().contains("is at version"), "{error}");
        }
        let Ok(answer) = step else { continue };
        if must_be_written {
            assert!(!answer.view.view_stale, "{:?}", answer.view.warnings);
        }
        ours.fetch_add(1, Ordering::Relaxed);
    }
}

/// Runs the race in a separate process, with or without exchanging files; returns the number of lost edits.
fn raced(layout: &str, edits: u64, without_exchange: bool) -> u64 {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child
        .args(["--exact", "foreign_edits::the_race", "--ignored", "--nocapture"])
        .env(LAYOUT, format!("{layout}/{edits}"))
        .env("LEFTOFF_TEST_SLOW", "view-place");
    if without_exchange {
        child.env("LEFTOFF_TEST_NO_EXCHANGE", "1");
    }
    let done = child.output().unwrap();
    let told = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{layout}: {told}{}", String::from_utf8_lossy(&done.stderr));
    let line = told.lines().find(|line| line.contains("foreign edits against")).unwrap_or_default();
    println!("{layout}{}: {line}", if without_exchange { " without the exchange" } else { "" });
    line.rsplit(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("{told}"))
}

#[test]
fn edits_of_another_program_that_race_our_writes_are_not_lost() {
    let edits = proof::count("EDITS", 20_000);
    assert_eq!(raced("ocr", edits, false), 0);
    proof::proven("external edits against our writes, ocr", &format!("{edits} edits"), 0, "0 lost");
}

#[test]
fn nor_are_they_in_any_other_layout() {
    let edits = proof::count("EDITS_OF_OTHERS", 3_000);
    for layout in ["ccw", "ccw registry", "ccw registry of two", "praxis", "essay"] {
        assert_eq!(raced(layout, edits, false), 0, "{layout}");
    }
    let number = format!("5 × {edits} edits");
    proof::proven("external edits against our writes, other layouts", &number, 0, "0 lost");
}

/// The race must be able to find lost edits: it does if files are not exchanged.
#[test]
fn without_the_exchange_the_same_race_loses_edits() {
    assert!(raced("ocr", 20_000, true) > 0, "the harness finds nothing");
}

#[test]
#[ignore = "the tests above start it as a process of its own"]
fn the_race() {
    let asked = std::env::var(LAYOUT).unwrap();
    let (layout, edits) = asked.split_once('/').unwrap();
    let is_exchanged = std::env::var_os("LEFTOFF_TEST_NO_EXCHANGE").is_none();
    let ground = Ground::of(layout);
    let patience = if is_exchanged { Duration::from_mins(1) } else { Duration::from_millis(50) };
    let raced = race(&ground, edits.parse().unwrap(), patience);
    println!("{} foreign edits against {} commands of ours: {} lost", raced.edits, raced.ours, raced.lost);
    if !is_exchanged {
        return;
    }
    ground.sandbox.run(["note", "afterwards", "--session", ground.session]).ok();
    assert_eq!(ground.edit(), raced.edits);
    let left = fs::read_dir(ground.file.parent().unwrap()).unwrap();
    let names: Vec<String> = left.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.iter().all(|name| !name.contains("leftoff")), "{names:?}");
    // The other program may have restored an older state of the session, which is an edit like any other.
    ground.sandbox.run(["repair"]).ok();
    ground.sandbox.run(["doctor"]).ok();
    assert_eq!(ground.edit(), raced.edits);
}

/// Ends commands with SIGKILL at a random moment.
fn kill_in_the_middle(layout: &str, kills: u64) {
    let ground = Ground::of(layout);
    ground.put(&(ground.edited)(&ground.read(), 7));
    let mut backup = ground.file.clone().into_os_string();
    backup.push(".bak");
    let chosen = proof::seed();
    let mut random = Random::new(chosen);
    let (mut killed, mut finished) = (0, 0);
    for words in ground.words {
        ground.sandbox.run(words.iter().chain(&["--session", ground.session])).ok();
    }
    while killed < kills {
        let words = ground.words[usize::try_from((killed + finished) % 2).unwrap()];
        let mut command = ground.sandbox.command(words.iter().chain(&["--session", ground.session]));
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(random.below(14_000)));
        child.kill().unwrap();
        match child.wait().unwrap().code() {
            Some(_) => finished += 1,
            None => killed += 1,
        }
        assert_eq!(ground.edit(), 7);
        let before = fs::read_to_string(&backup).unwrap();
        assert_eq!((ground.edit_of)(&before), 7, "the version before: {before:?}");
        assert!(finished < 20 * kills, "commands end before they are killed");
    }
    ground.sandbox.run(["repair"]).ok();
    ground.sandbox.run(["note", "afterwards", "--session", ground.session]).ok();
    ground.sandbox.run(["doctor"]).ok();
    assert_eq!(ground.edit(), 7);
    let result = format!("0 files torn or empty; {finished} commands ended before");
    proof::proven(
        &format!("kill -9 while files are written, {layout}"),
        &format!("{killed} kills"),
        chosen,
        &result,
    );
}

#[test]
fn five_hundred_kills_in_the_middle_of_writes_tear_no_file() {
    kill_in_the_middle("ocr", proof::count("TEARS", 500));
}

#[test]
fn a_hundred_kills_tear_no_file_of_any_other_layout() {
    for layout in ["ccw", "ccw registry", "praxis", "essay"] {
        kill_in_the_middle(layout, proof::count("TEARS", 500) / 5);
    }
}
