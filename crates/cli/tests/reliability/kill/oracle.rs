//! The promises that answers made, and whether the logs keep them.

use serde_json::Value;
use std::collections::BTreeMap;
use testkit::Sandbox;

/// How often a mark may be in the logs, according to the answer to its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// The command was acknowledged.
    Once,
    /// The process was killed before it answered.
    AtMostOnce,
    /// The answer said that nothing changed.
    Never,
}

/// The promises of one writer, keyed by what to look for in the logs.
#[derive(Debug, Default)]
pub struct Promises {
    /// Texts of notes, tokens in evidence, goals of sessions. Each is used for one command only.
    pub marks: BTreeMap<String, Promise>,
    /// Completed phases, by session, run and phase.
    pub phases: BTreeMap<(String, u64, String), Promise>,
    /// The final lifecycle of each of the writer's own sessions.
    pub lifecycles: BTreeMap<String, &'static str>,
}

/// How many promises were kept.
#[derive(Debug, Default)]
pub struct Kept {
    pub lost: Vec<String>,
    pub doubled: Vec<String>,
    /// Commands that were killed after the commit and before the answer. This is not wrong, and shows that
    /// kills come at the right moments.
    pub unanswered: usize,
}

impl Kept {
    fn look(&mut self, what: &str, promise: Promise, found: usize) {
        let (least, most) = match promise {
            Promise::Once => (1, 1),
            Promise::AtMostOnce => (0, 1),
            Promise::Never => (0, 0),
        };
        self.unanswered += usize::from(promise == Promise::AtMostOnce && found == 1);
        if found < least {
            self.lost.push(what.to_owned());
        }
        if found > most {
            self.doubled.push(format!("{what}: {found} times, and {promise:?} was promised"));
        }
    }
}

/// The contents of all logs.
#[derive(Default)]
struct Found {
    marks: BTreeMap<String, usize>,
    phases: BTreeMap<(String, u64, String), usize>,
    lifecycles: BTreeMap<String, String>,
}

pub fn compare(sandbox: &Sandbox, promises: &[Promises]) -> Kept {
    let found = read(sandbox);
    let mut kept = Kept::default();
    for promised in promises {
        for (mark, promise) in &promised.marks {
            kept.look(mark, *promise, found.marks.get(mark).copied().unwrap_or(0));
        }
        for (phase, promise) in &promised.phases {
            kept.look(&format!("{phase:?}"), *promise, found.phases.get(phase).copied().unwrap_or(0));
        }
        for (session, lifecycle) in &promised.lifecycles {
            let is = found.lifecycles.get(session).map(String::as_str);
            if is != Some(*lifecycle) {
                kept.lost.push(format!("{session} was left {lifecycle} and is {is:?}"));
            }
        }
    }
    // No phase is completed twice in a run, whichever writer completed it.
    let twice = found.phases.iter().filter(|(_, count)| **count > 1);
    kept.doubled.extend(twice.map(|(phase, count)| format!("{phase:?}: {count} times")));
    kept
}

fn read(sandbox: &Sandbox) -> Found {
    let mut found = Found::default();
    let listing = sandbox.run(["list", "--all", "--json"]).ok().json();
    for line in listing["sessions"].as_array().expect("a list of sessions") {
        let session = text(&line["session_id"]);
        found.lifecycles.insert(session.clone(), text(&line["lifecycle"]));
        let log = sandbox.run(["log", &session, "--json"]).ok().json();
        let mut run = 0;
        let events = log["events"].as_array().expect("a list of events");
        for (event, version) in events.iter().zip(1_u64..) {
            assert_eq!(event["version"], version, "the history of {session} has no gap");
            run += u64::from(event["type"] == "run_started");
            read_event(&mut found, &session, run, event);
        }
    }
    found
}

fn read_event(found: &mut Found, session: &str, run: u64, event: &Value) {
    let mark = match event["type"].as_str() {
        Some("session_started") => &event["goal"],
        Some("note_added") => &event["text"],
        Some("phase_completed") => {
            let phase = (session.to_owned(), run, text(&event["phase"]));
            *found.phases.entry(phase).or_default() += 1;
            &event["attempt"]["evidence"]["mark"]
        }
        _ => return,
    };
    if let Some(mark) = mark.as_str() {
        *found.marks.entry(mark.to_owned()).or_default() += 1;
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}
