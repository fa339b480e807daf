//! Tests of the form: given these events, when this command comes, then these events follow, or the command
//! is refused.

use jiff::Timestamp;
use model::actor::Actor;
use model::command::{Command, Start, decide, start};
use model::event::{Event, Recorded};
use model::gate::{AttemptReport, CheckOutcome, CheckResult};
use model::id::{Name, SessionId};
use model::note::NoteKind;
use model::phase::PhaseStub;
use model::refusal::Refusal;
use model::run::{RunPlan, Skip, WorkflowRef};
use model::session::Session;
use model::workflow::{Indexing, OnComplete};
use std::collections::BTreeMap;

pub const HERE: &str = "/here";
/// The time at which every history starts.
pub const BEGINNING: i64 = 1_700_000_000;

/// A history to which commands are applied.
#[derive(Clone)]
pub struct Given {
    pub history: Vec<Recorded>,
    pub session: Session,
}

/// The result of a command: the events, or the refusal.
pub struct Met(pub Result<Vec<Event>, Refusal>);

pub fn given(events: impl IntoIterator<Item = Event>) -> Given {
    let recorded: Vec<Recorded> = events
        .into_iter()
        .zip(1..)
        .map(|(event, version)| recorded(version, at(i64::try_from(version).unwrap() * 60), event))
        .collect();
    let session = Session::fold(&recorded).expect("a history begins with a session's start");
    Given { history: recorded, session }
}

impl Given {
    /// This history, extended by commands that must not be refused.
    pub fn after(self, commands: impl IntoIterator<Item = Command>) -> Self {
        commands.into_iter().fold(self, |before, command| {
            let events = decide(&before.session, command).expect("a command that is not refused");
            before.and(events)
        })
    }

    pub fn and(self, events: impl IntoIterator<Item = Event>) -> Self {
        given(self.history.into_iter().map(|recorded| recorded.event).chain(events))
    }

    pub fn when(&self, command: Command) -> Met {
        Met(decide(&self.session, command))
    }
}

impl Met {
    #[track_caller]
    pub fn then(self, events: impl IntoIterator<Item = Event>) {
        assert_eq!(self.0, Ok(events.into_iter().collect()));
    }

    #[track_caller]
    pub fn then_nothing(self) {
        self.then([]);
    }

    #[track_caller]
    pub fn then_refused(self, kind: &str, message: &str) {
        match self.0 {
            Err(refusal) => {
                assert_eq!((refusal.kind(), refusal.to_string().as_str()), (kind, message));
                assert!(!refusal.hint().to_string().is_empty(), "a refusal says what to do next");
            }
            Ok(events) => panic!("it was not refused: {events:?}"),
        }
    }

    /// The result in short: the events' names, `nothing`, or `refused:` and the reason.
    pub fn in_words(&self) -> String {
        match &self.0 {
            Ok(events) if events.is_empty() => "nothing".to_owned(),
            Ok(events) => events.iter().map(Event::kind).collect::<Vec<_>>().join(" "),
            Err(refusal) => format!("refused: {}", refusal.kind()),
        }
    }
}

pub fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(BEGINNING + seconds).unwrap()
}

pub fn recorded(version: u64, at: Timestamp, event: Event) -> Recorded {
    let actor = Actor::person("anna", "desk");
    Recorded { version, at, actor, event }
}

pub fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

/// A plan of these phases; a trailing `!` marks a terminal phase.
pub fn plan(workflow: &str, on_complete: OnComplete, phases: &[&str]) -> RunPlan {
    let stub = |text: &&str| PhaseStub {
        id: name(text.trim_end_matches('!')),
        title: text.to_uppercase(),
        terminal: text.ends_with('!'),
    };
    RunPlan {
        workflow: WorkflowRef {
            name: name(workflow),
            version: "1".to_owned(),
            title: workflow.to_uppercase(),
            hash: format!("hash of {workflow}"),
            indexing: Indexing::One,
            on_complete,
        },
        phases: phases.iter().map(stub).collect(),
        skips: Vec::new(),
    }
}

pub fn started(run: RunPlan) -> Vec<Event> {
    start(Start {
        id: SessionId::parse("k3v9x2mp").unwrap(),
        title: "No log-out".to_owned(),
        goal: None,
        target: None,
        layout: "native".to_owned(),
        worktree: HERE.to_owned(),
        parallel: false,
        fields: BTreeMap::new(),
        path: None,
        run,
    })
}

pub fn advance(phase: Option<&str>) -> Command {
    advance_past(phase, &[])
}

pub fn advance_past(phase: Option<&str>, skips: &[&str]) -> Command {
    Command::CompletePhase {
        phase: phase.map(ToOwned::to_owned),
        attempt: AttemptReport::default(),
        skips: skips.iter().map(|id| skip(id)).collect(),
    }
}

pub fn skip(phase: &str) -> Skip {
    Skip { phase: name(phase), reason: "not for this one".to_owned() }
}

pub fn failing_attempt() -> AttemptReport {
    let check = CheckResult {
        id: "tests".to_owned(),
        kind: "evidence".to_owned(),
        outcome: CheckOutcome::Failed,
        found: Some("3".to_owned()),
        needed: Some("0".to_owned()),
        help: Some("mend the three".to_owned()),
    };
    AttemptReport { checks: vec![check], ..AttemptReport::default() }
}

pub fn fail_the_gate() -> Command {
    Command::CompletePhase { phase: None, attempt: failing_attempt(), skips: Vec::new() }
}

pub fn note(kind: NoteKind, text: &str) -> Command {
    Command::AddNote { kind, text: text.to_owned(), fields: BTreeMap::new() }
}

pub fn pause() -> Command {
    Command::Pause {
        reason: "lunch".to_owned(),
        context: Some("half a sentence".to_owned()),
        saved: Vec::new(),
    }
}

pub fn resume() -> Command {
    Command::Resume { worktree: HERE.to_owned(), parallel: false }
}
