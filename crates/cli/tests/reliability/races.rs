//! Many processes at once: all of them are answered, no change is lost, and one session is active.

use crate::{git, worktrees};
use std::collections::{BTreeMap, BTreeSet};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use testkit::{Ran, Sandbox, proof};

fn begin(sandbox: &Sandbox, arguments: &[&str]) -> Child {
    sandbox.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn end(child: Child) -> Ran {
    Ran::from(child.wait_with_output().unwrap())
}

fn lifecycles(sandbox: &Sandbox) -> BTreeMap<String, usize> {
    let listing = sandbox.run(["list", "--all", "--json"]).ok().json();
    let mut counts = BTreeMap::new();
    for session in listing["sessions"].as_array().unwrap() {
        *counts.entry(session["lifecycle"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    counts
}

#[test]
fn processes_that_start_at_once_all_succeed_and_one_is_active() {
    for crowd in [2, 8] {
        for round in 0..4 {
            // The first process creates the store.
            let sandbox = git();
            let children: Vec<Child> = (0..crowd).map(|_| begin(&sandbox, &["start", "--json"])).collect();
            let ids: BTreeSet<String> = children
                .into_iter()
                .map(|child| end(child).ok().json()["session_id"].as_str().unwrap().to_owned())
                .collect();
            assert_eq!(ids.len(), crowd);
            let expected = BTreeMap::from([("active".to_owned(), 1), ("paused".to_owned(), crowd - 1)]);
            assert_eq!(lifecycles(&sandbox), expected, "{crowd} at once, round {round}");
            sandbox.run(["doctor"]).ok();
        }
    }
}

#[test]
fn processes_that_start_with_one_key_start_one_session() {
    let sandbox = git();
    let start = ["start", "--goal", "once", "--key", "k1", "--json"];
    let children: Vec<Child> = (0..8).map(|_| begin(&sandbox, &start)).collect();
    let ids: BTreeSet<String> = children
        .into_iter()
        .map(|child| end(child).ok().json()["session_id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(ids.len(), 1);
    assert_eq!(lifecycles(&sandbox), BTreeMap::from([("active".to_owned(), 1)]));
}

#[test]
fn eight_processes_that_note_at_once_lose_nothing() {
    const WRITERS: usize = 8;
    let notes_each = usize::try_from(proof::count("NOTES_EACH", 25)).unwrap();
    let sandbox = git();
    sandbox.run(["start"]).ok();
    // Each process writes one note after the other, as soon as it is answered.
    let waits = std::thread::scope(|scope| {
        let write = |writer: usize| {
            let program = sandbox.command([""; 0]);
            move || (0..notes_each).map(|number| timed_note(&program, writer, number)).max()
        };
        let writers: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(write(writer))).collect();
        writers.into_iter().filter_map(|writer| writer.join().unwrap()).collect::<Vec<_>>()
    });
    let log = sandbox.run(["log", "--json"]).ok().json();
    let events = log["events"].as_array().unwrap();
    let notes: Vec<_> = events.iter().filter(|event| event["type"] == "note_added").collect();
    let texts: BTreeSet<&str> = notes.iter().map(|event| event["text"].as_str().unwrap()).collect();
    assert_eq!((notes.len(), texts.len()), (WRITERS * notes_each, WRITERS * notes_each));
    let numbers: Vec<u64> = notes.iter().map(|event| event["id"].as_u64().unwrap()).collect();
    assert!(numbers.into_iter().eq(1..=(WRITERS * notes_each) as u64), "numbered in their order");
    sandbox.run(["doctor"]).ok();
    let worst = waits.into_iter().max().unwrap_or_default().as_millis();
    let result = format!("0 lost, 0 busy; the slowest command took {worst} ms");
    proof::proven("8 processes on one session", &format!("{} commands", WRITERS * notes_each), 0, &result);
}

/// Adds a note, which must be acknowledged; returns how long that took.
fn timed_note(program: &Command, writer: usize, number: usize) -> Duration {
    let mut command = testkit::like(program, ["note", &format!("{writer} says {number}")]);
    let since = Instant::now();
    Ran::from(command.output().unwrap()).ok();
    since.elapsed()
}

#[test]
fn a_phase_that_eight_processes_complete_at_once_is_completed_once() {
    let sandbox = git();
    sandbox.run(["start"]).ok();
    let advance = ["advance", "--phase", "plan", "--json"];
    let children: Vec<Child> = (0..8).map(|_| begin(&sandbox, &advance)).collect();
    let answers: Vec<_> = children.into_iter().map(|child| end(child).ok().json()).collect();
    let first = answers.iter().filter(|answer| answer["already"] == false).count();
    assert_eq!(first, 1, "the others are told that it is done already");
    assert!(answers.iter().all(|answer| answer["current_phase"]["id"] == "implement"));
}

#[test]
fn each_worktree_has_its_own_active_session_also_in_a_race() {
    let sandbox = git();
    let trees: Vec<_> = (0..4).map(|at| worktrees::add(&sandbox, &format!("tree{at}"))).collect();
    let children: Vec<Child> = trees
        .iter()
        .cycle()
        .take(8)
        .map(|tree| {
            let mut command = sandbox.command(["start"]);
            command.current_dir(tree).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for child in children {
        end(child).ok();
    }
    let expected = BTreeMap::from([("active".to_owned(), 4), ("paused".to_owned(), 4)]);
    assert_eq!(lifecycles(&sandbox), expected);
}

#[test]
fn eight_processes_on_one_review_lose_nothing_in_the_log_and_nothing_in_its_file() {
    const WRITERS: usize = 7;
    const NOTES: usize = 6;
    let sandbox = git();
    sandbox.run(["start", "--layout", "ocr", "--id", "2026-11-14-x"]).ok();
    sandbox.allow_anyone(&["skip"]);
    let file = ".ocr/sessions/2026-11-14-x/state.json";
    let text = sandbox.read(file).replacen('{', "{ \"x_team\": 1.50,", 1);
    sandbox.write(file, &text);
    for number in 0..NOTES {
        let texts: Vec<String> = (0..WRITERS).map(|writer| format!("{writer} says {number}")).collect();
        let skip = begin(&sandbox, &["skip", "--reason", "raced", "--session", "2026-11-14-x"]);
        let notes = texts.iter().map(|text| begin(&sandbox, &["note", text, "--session", "2026-11-14-x"]));
        for child in notes.chain([skip]).collect::<Vec<Child>>() {
            end(child).ok();
        }
    }
    let view = sandbox.run(["show", "2026-11-14-x", "--json"]).ok().json();
    let notes: BTreeSet<&str> =
        view["notes"].as_array().unwrap().iter().map(|note| note["text"].as_str().unwrap()).collect();
    assert_eq!(notes.len(), WRITERS * NOTES);
    let written: serde_json::Value = serde_json::from_str(&sandbox.read(file)).unwrap();
    assert_eq!((&written["current_phase"], &written["phase_number"]), (&"synthesis".into(), &7.into()));
    assert_eq!(view["current_phase"]["id"], "synthesis");
    assert!(sandbox.read(file).contains("\"x_team\": 1.50"), "{}", sandbox.read(file));
    let log = sandbox.run(["log", "--session", "2026-11-14-x"]).ok().stdout;
    assert_eq!(
        log.matches("changed by somebody else").count(),
        1,
        "our own writes are nobody's edits: {log}"
    );
    sandbox.run(["doctor"]).ok();
}

/// Of several repairs at the same time one does the work; the damaged file is quarantined once, and a command
/// that runs meanwhile loses nothing.
#[test]
fn repairs_that_race_each_other_and_a_command_set_a_damaged_file_aside_once() {
    let id = "2026-11-14-x";
    for round in 0..8 {
        let sandbox = git();
        sandbox.run(["start", "--layout", "ocr", "--id", id]).ok();
        sandbox.run(["skip", "--reason", "known"]).ok();
        let file = ".ocr/sessions/2026-11-14-x/state.json";
        sandbox.write(file, "{\"session_id\": \"2026-11-");
        let repairs = (0..4).map(|_| begin(&sandbox, &["repair"]));
        let note = std::iter::once_with(|| begin(&sandbox, &["note", "heard", "--session", id]));
        for child in repairs.chain(note).collect::<Vec<Child>>() {
            end(child).ok();
        }
        let aside = std::fs::read_dir(sandbox.path(&format!(".leftoff/aside/{id}"))).unwrap();
        let aside: Vec<_> =
            aside.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap()).collect();
        assert_eq!(aside, ["{\"session_id\": \"2026-11-"], "round {round}");
        let written: serde_json::Value = serde_json::from_str(&sandbox.read(file)).unwrap();
        assert_eq!(written["current_phase"], "change-context", "round {round}");
        let view = sandbox.run(["show", id, "--json"]).ok().json();
        assert_eq!(view["notes"].as_array().unwrap().len(), 1, "round {round}");
        sandbox.run(["doctor"]).ok();
    }
}
