//! `docs/reference/states.md`: the effect of each command in each state, from `decide` and `apply`.

use crate::source::{self, snake_case};
use crate::{GENERATED, blessed};
use jiff::Timestamp;
use model::actor::Actor;
use model::command::{self, Start};
use model::gate::{AttemptReport, CheckOutcome, CheckResult};
use model::id::{Name, SessionId};
use model::lifecycle::Lifecycle;
use model::note::NoteKind;
use model::phase::PhaseStub;
use model::revision::{Impact, Revision};
use model::run::{RunPlan, WorkflowRef};
use model::workflow::{Indexing, OnComplete};
use model::{Command, Event, Recorded, Session, decide};
use std::collections::BTreeMap;

#[test]
fn the_states_are_what_decide_says() {
    let mut page = format!(
        "# States\n\n{GENERATED}\n## A session\n\nWhat each command does to a session in each state, as the program decides it. The session in the table is in the second of three phases. *keeps* means that the command succeeds and the state stays the same.\n\n"
    );
    let (table, moves) = lifecycle_table();
    page.push_str(&table);
    page.push_str(&not_shown());
    page.push_str(&diagram(&moves));
    page.push_str(
        "\n## A phase\n\nWhat each event makes of a phase. `—` means that it leaves it as it is.\n\n",
    );
    page.push_str(&phase_table());
    blessed::check("docs/reference/states.md", &page);
}

/// One command of each kind, with its name in the table.
fn samples() -> Vec<(&'static str, Command)> {
    let attempt = |passes| Command::CompletePhase { phase: None, attempt: report(passes), skips: Vec::new() };
    vec![
        ("advance (passes)", attempt(true)),
        ("advance (fails)", attempt(false)),
        ("advance (passes, last phase)", attempt(true)),
        ("skip", Command::SkipPhase { reason: "x".to_owned(), skips: Vec::new() }),
        ("rollback", Command::RollBack { phase: "one".to_owned(), reason: None }),
        ("note", Command::AddNote { kind: NoteKind::Note, text: "x".to_owned(), fields: BTreeMap::new() }),
        ("note resolve", Command::ResolveNote { id: 1 }),
        ("pause", Command::Pause { reason: "x".to_owned(), context: None, saved: Vec::new() }),
        ("resume", Command::Resume { worktree: "/p".to_owned(), parallel: false }),
        ("reopen", Command::Reopen { worktree: "/p".to_owned(), parallel: false }),
        ("fail", Command::Fail { error: "x".to_owned() }),
        ("run start", Command::StartRun { run: plan("other"), is_next: false }),
        ("close", Command::Close { force: false }),
        ("close --force", Command::Close { force: true }),
        ("abandon", Command::Abandon { reason: None, operation: None }),
    ]
}

type Moves = Vec<(&'static str, String, String)>;

fn lifecycle_table() -> (String, Moves) {
    let mut text = format!("| command | {} |\n", Lifecycle::NAMES.join(" | "));
    text.push_str(&format!("|---{}|\n", "|---".repeat(Lifecycle::NAMES.len())));
    let mut moves = Vec::new();
    for (name, command) in samples() {
        text.push_str(&format!("| `{name}` "));
        for lifecycle in Lifecycle::NAMES {
            let session = in_state(lifecycle, name.contains("last"));
            let outcome = match decide(&session, command.clone()) {
                Err(refusal) => format!("refused: `{}`", refusal.kind()),
                Ok(events) => {
                    let after = after(session, events).lifecycle.name();
                    if after == lifecycle {
                        "keeps".to_owned()
                    } else {
                        moves.push((lifecycle, name.to_owned(), after.to_owned()));
                        format!("**{after}**")
                    }
                }
            };
            text.push_str(&format!("| {outcome} "));
        }
        text.push_str("|\n");
    }
    (text, moves)
}

/// The commands that have no sample in the table.
fn not_shown() -> String {
    let shown: Vec<String> = samples().iter().map(|(_, command)| variant(command)).collect();
    let all = source::find("Command").expect("the enum of commands");
    let missing: Vec<String> = all
        .variants
        .iter()
        .filter(|variant| !shown.contains(&variant.name))
        .map(|variant| format!("`{}`", snake_case(&variant.name)))
        .collect();
    if missing.is_empty() { String::new() } else { format!("\nNot in this table: {}.\n", missing.join(", ")) }
}

fn variant(command: &Command) -> String {
    format!("{command:?}").chars().take_while(char::is_ascii_alphanumeric).collect()
}

/// A diagram in which commands between the same two states share an arrow.
fn diagram(moves: &Moves) -> String {
    let mut arrows: Vec<(String, String, Vec<String>)> = Vec::new();
    for (from, command, to) in moves {
        let same = arrows.iter_mut().find(|(a, b, _)| a == from && b == to);
        match same {
            Some((_, _, commands)) => commands.push(command.clone()),
            None => arrows.push(((*from).to_owned(), to.clone(), vec![command.clone()])),
        }
    }
    let mut text = "\n```mermaid\nstateDiagram-v2\n    [*] --> active: start\n".to_owned();
    for (from, to, commands) in &arrows {
        text.push_str(&format!("    {from} --> {to}: {}\n", commands.join(" / ")));
    }
    text.push_str("```\n");
    let unreached = Lifecycle::NAMES
        .iter()
        .filter(|name| **name != "active" && !moves.iter().any(|(_, _, to)| to == *name))
        .map(|name| format!("No command of the table leads to `{name}`.\n"));
    text + &unreached.map(|line| format!("\n{line}")).collect::<String>()
}

fn phase_table() -> String {
    let states = ["not_started", "in_progress", "completed", "needs_review", "skipped"];
    let phase = || name("two");
    let started = Event::PhaseStarted { phase: phase() };
    let completed = Event::PhaseCompleted { phase: phase(), attempt: report(true), branch: None, head: None };
    let skipped = Event::PhaseSkipped { phase: phase(), reason: "x".to_owned(), not_applicable: false };
    let flagged = revised(Impact::Minor);
    let into = |state| match state {
        "in_progress" => vec![started.clone()],
        "completed" => vec![started.clone(), completed.clone()],
        "needs_review" => vec![started.clone(), completed.clone(), flagged.clone()],
        "skipped" => vec![skipped.clone()],
        _ => Vec::new(),
    };
    let events = [
        ("phase_started", started.clone()),
        ("gate_failed", Event::GateFailed { phase: phase(), attempt: report(false) }),
        ("phase_completed", completed.clone()),
        ("phase_skipped", skipped.clone()),
        ("rolled_back to an earlier phase", Event::RolledBack { phase: name("one"), reason: None }),
        ("phase_revised, an earlier one, which flags it", flagged.clone()),
        ("phase_revised, an earlier one, which restarts it", revised(Impact::Major)),
    ];
    let mut text = format!("| event | {} |\n|---{}|\n", states.join(" | "), "|---".repeat(states.len()));
    for (label, event) in &events {
        text.push_str(&format!("| {label} "));
        for state in states {
            let before = after(new_session(), into(state));
            assert_eq!(before.run().unwrap().phases[1].status(), state);
            let now = after(before, vec![event.clone()]).run().unwrap().phases[1].status();
            let shown = if now == state { "—".to_owned() } else { format!("**{now}**") };
            text.push_str(&format!("| {shown} "));
        }
        text.push_str("|\n");
    }
    text
}

/// An event that revises the first phase, with its effect on the second one.
fn revised(impact: Impact) -> Event {
    let second = |holds: bool| if holds { vec![name("two")] } else { Vec::new() };
    Event::PhaseRevised {
        revision: Revision {
            phase: name("one"),
            impact,
            reason: "x".to_owned(),
            flagged: second(impact == Impact::Minor),
            restarted: second(impact == Impact::Major),
            archived: Vec::new(),
            operation: None,
        },
    }
}

fn in_state(lifecycle: &str, in_last_phase: bool) -> Session {
    let done = |phase: &str| Event::PhaseCompleted {
        phase: name(phase),
        attempt: report(true),
        branch: None,
        head: None,
    };
    let began = |phase: &str| Event::PhaseStarted { phase: name(phase) };
    let question = Event::NoteAdded {
        id: 1,
        kind: NoteKind::Question,
        text: "x".to_owned(),
        fields: BTreeMap::new(),
        origin: None,
    };
    let mut events = vec![question, done("one"), began("two")];
    if in_last_phase {
        events.extend([done("two"), began("three")]);
    }
    let mut session = after(new_session(), events);
    let at = Timestamp::UNIX_EPOCH;
    session.lifecycle = match lifecycle {
        "active" => Lifecycle::Active,
        "paused" => Lifecycle::Paused { at, reason: "x".to_owned(), context: None, saved: Vec::new() },
        "completed" => Lifecycle::Completed { at, forced: true },
        "failed" => Lifecycle::Failed { at, error: "x".to_owned() },
        "abandoned" => Lifecycle::Abandoned { at, reason: None },
        other => panic!("no way into the state {other} is known here"),
    };
    session
}

fn new_session() -> Session {
    let start = command::start(Start {
        id: SessionId::parse("s").unwrap(),
        title: "x".to_owned(),
        goal: None,
        target: None,
        layout: "native".to_owned(),
        worktree: "/p".to_owned(),
        parallel: false,
        fields: BTreeMap::new(),
        path: None,
        run: plan("work"),
    });
    Session::fold(&recorded(start, 0)).unwrap()
}

fn plan(workflow: &str) -> RunPlan {
    RunPlan {
        workflow: WorkflowRef {
            name: name(workflow),
            version: "1".to_owned(),
            title: workflow.to_owned(),
            hash: String::new(),
            indexing: Indexing::One,
            on_complete: OnComplete::Close,
        },
        phases: ["one", "two", "three"]
            .map(|id| PhaseStub { id: name(id), title: id.to_owned(), terminal: false })
            .to_vec(),
        skips: Vec::new(),
    }
}

fn report(passes: bool) -> AttemptReport {
    let outcome = if passes { CheckOutcome::Passed } else { CheckOutcome::Failed };
    let check = CheckResult {
        id: "check".to_owned(),
        kind: "expr".to_owned(),
        outcome,
        found: None,
        needed: None,
        help: None,
    };
    AttemptReport { checks: vec![check], ..AttemptReport::default() }
}

fn after(session: Session, events: Vec<Event>) -> Session {
    let from = session.version;
    recorded(events, from).iter().fold(session, Session::apply)
}

fn recorded(events: Vec<Event>, from: u64) -> Vec<Recorded> {
    let actor = Actor::person("anna", "laptop");
    (from + 1..)
        .zip(events)
        .map(|(version, event)| Recorded { version, at: Timestamp::UNIX_EPOCH, actor: actor.clone(), event })
        .collect()
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}
