//! Every command in every state of a session, as a table.

use crate::given::{Given, advance, at, fail_the_gate, given, note, pause, plan, resume, started};
use model::command::Command;
use model::event::Event;
use model::lifecycle::Lifecycle;
use model::note::NoteKind;
use model::workflow::OnComplete::{Close, Stay};

fn two_phases() -> Given {
    given(started(plan("build", Close, &["first", "second"])))
        .after([note(NoteKind::Blocker, "waiting for the key"), advance(None)])
}

/// A session in the named state. In every state note 1 is an open blocker; `first` is done and `second` is
/// not, unless all phases are done.
fn state(named: &str) -> Given {
    match named {
        "active" => two_phases(),
        "paused" => two_phases().after([pause()]),
        "completed" => two_phases().after([advance(None)]),
        "closed early" => two_phases().after([Command::Close { force: true }]),
        "failed" => {
            let mut failed = two_phases();
            failed.session.lifecycle = Lifecycle::Failed { at: at(900), error: "it broke".to_owned() };
            failed
        }
        "abandoned" => two_phases().after([Command::Abandon { reason: None, operation: None }]),
        "done, but stays" => given(started(plan("build", Stay, &["first", "second"]))).after([
            note(NoteKind::Blocker, "waiting for the key"),
            advance(None),
            advance(None),
        ]),
        "newer" => two_phases().and([Event::Unknown { kind: "phase_teleported".to_owned() }]),
        other => panic!("there is no state {other}"),
    }
}

fn command(named: &str) -> Command {
    let start_run = |workflow: &str| Command::StartRun {
        run: plan(workflow, Close, &["first", "second"]),
        is_next: false,
    };
    match named {
        "advance" => advance(None),
        "advance first" => advance(Some("first")),
        "advance second" => advance(Some("second")),
        "advance third" => advance(Some("third")),
        "advance, gate fails" => fail_the_gate(),
        "run start build" => start_run("build"),
        "run start other" => start_run("other"),
        "note" => note(NoteKind::Tried, "a hammer"),
        "resolve 1" => Command::ResolveNote { id: 1 },
        "resolve 2" => Command::ResolveNote { id: 2 },
        "pause" => pause(),
        "resume" => resume(),
        "resume elsewhere" => Command::Resume { worktree: "/there".to_owned(), parallel: false },
        "close" => Command::Close { force: false },
        "close --force" => Command::Close { force: true },
        "abandon" => Command::Abandon { reason: Some("no longer needed".to_owned()), operation: None },
        other => panic!("there is no command {other}"),
    }
}

const TABLE: &str = include_str!("table.txt");

/// The rows of the table: a state, a command, the result.
fn rows(table: &str) -> Vec<[&str; 3]> {
    let mut state = "";
    let mut rows = Vec::new();
    for line in table.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        match line.split_once(" -> ") {
            None => state = line.trim_end_matches(':'),
            Some((command, outcome)) => rows.push([state, command.trim(), outcome.trim()]),
        }
    }
    rows
}

#[test]
fn every_command_in_every_state() {
    let mut surprises = Vec::new();
    for [named, asked, expected] in rows(TABLE) {
        let outcome = state(named).when(command(asked)).in_words();
        if outcome != expected {
            surprises.push(format!("{named}: {asked} -> {outcome}, and the table has {expected}"));
        }
    }
    assert!(surprises.is_empty(), "\n{}", surprises.join("\n"));
}

#[test]
fn the_table_has_every_command_for_every_state() {
    let rows = rows(TABLE);
    let distinct =
        |column: usize| rows.iter().map(|row| row[column]).collect::<std::collections::BTreeSet<_>>().len();
    assert_eq!((distinct(0), distinct(1), rows.len()), (8, 16, 8 * 16));
}
