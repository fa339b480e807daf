//! Random workflows and random commands, played from a session's start, with a clock that jumps in both
//! directions.

use crate::given::{HERE, at, failing_attempt, name, recorded, skip, started};
use jiff::Timestamp;
use model::command::{Command, decide};
use model::event::{Event, Recorded};
use model::gate::AttemptReport;
use model::note::NoteKind;
use model::phase::PhaseStub;
use model::run::{RunPlan, Skip, WorkflowRef};
use model::session::Session;
use model::workflow::{Indexing, OnComplete};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

const MOST_COMMANDS: usize = 50;
const MOST_PHASES: usize = 12;
/// The maximum jump of the clock between two commands, in either direction.
const FARTHEST_JUMP: i64 = 100_000;

/// The input of a test: workflows, of which the first one starts, and commands, each with a jump of the clock
/// before it.
#[derive(Debug, Clone)]
pub struct Script {
    pub workflows: Vec<RunPlan>,
    pub steps: Vec<(i64, Step)>,
}

/// A command of a script, chosen before the session's state is known.
#[derive(Debug, Clone)]
pub enum Step {
    Advance { phase: Option<usize>, by_number: bool, passes: bool, skips: Vec<usize> },
    StartRun(usize),
    Note(usize),
    Resolve(u32),
    Pause,
    Resume { elsewhere: bool, parallel: bool },
    Close { force: bool },
    Abandon,
    Skip,
    RollBack(usize),
    Fail(bool),
    Reopen,
    SetField { phase: bool, value: u8 },
    Checkpoint(u8),
}

/// One step of a play: the session before it, the command, the result, and the session after it.
pub struct Played {
    pub before: Session,
    pub command: Command,
    pub events: Vec<Recorded>,
    pub refused: bool,
    pub after: Session,
    pub now: Timestamp,
}

/// A whole script with its results.
pub struct Play {
    pub history: Vec<Recorded>,
    pub steps: Vec<Played>,
    pub session: Session,
    /// The earliest and the latest time that the clock showed.
    pub earliest: Timestamp,
    pub latest: Timestamp,
}

pub fn scripts() -> impl Strategy<Value = Script> {
    scripts_of(MOST_PHASES, 0..=MOST_COMMANDS)
}

pub fn scripts_of(most_phases: usize, commands: RangeInclusive<usize>) -> impl Strategy<Value = Script> {
    let workflows =
        (workflow("one", most_phases), workflow("two", most_phases), workflow("three", most_phases));
    let steps = vec((-FARTHEST_JUMP..FARTHEST_JUMP, step()), commands);
    (workflows, steps)
        .prop_map(|((one, two, three), steps)| Script { workflows: vec![one, two, three], steps })
}

/// Returns workflows of one to twelve phases, numbered from zero or from one. Some of them close the session at their
/// end, and some have a terminal last phase.
fn workflow(named: &'static str, most_phases: usize) -> impl Strategy<Value = RunPlan> {
    let skips = vec(0..MOST_PHASES, 0..3);
    (1..=most_phases, any::<bool>(), any::<bool>(), any::<bool>(), skips).prop_map(
        move |(count, zero, stays, terminal, skips)| RunPlan {
            workflow: WorkflowRef {
                name: name(named),
                version: "1".to_owned(),
                title: named.to_uppercase(),
                hash: format!("{named} {count}"),
                indexing: if zero { Indexing::Zero } else { Indexing::One },
                on_complete: if stays { OnComplete::Stay } else { OnComplete::Close },
            },
            phases: (0..count).map(|at| stub(at, terminal && at + 1 == count)).collect(),
            // The first phase is skipped too, but less often than later phases.
            skips: skips.into_iter().filter(|at| *at < count).map(skip_of).collect(),
        },
    )
}

pub fn play(script: &Script) -> Play {
    let mut stage = Stage::set(script);
    let (mut earliest, mut latest) = (stage.now, stage.now);
    let mut steps = Vec::new();
    for (jump, step) in &script.steps {
        let before = stage.session.clone();
        let (command, events, refused) = stage.step(&script.workflows, *jump, step);
        let now = stage.now;
        (earliest, latest) = (earliest.min(now), latest.max(now));
        steps.push(Played { before, command, events, refused, after: stage.session.clone(), now });
    }
    Play { history: stage.history, steps, session: stage.session, earliest, latest }
}

/// Returns only the history of a script. Some scripts are too long to store the session after every step.
pub fn history(script: &Script) -> Vec<Recorded> {
    let mut stage = Stage::set(script);
    for (jump, step) in &script.steps {
        stage.step(&script.workflows, *jump, step);
    }
    stage.history
}

struct Stage {
    history: Vec<Recorded>,
    session: Session,
    now: Timestamp,
}

impl Stage {
    fn set(script: &Script) -> Self {
        let mut history = Vec::new();
        record(&mut history, at(0), started(script.workflows[0].clone()));
        let session = Session::fold(&history).unwrap();
        Self { history, session, now: at(0) }
    }

    fn step(&mut self, workflows: &[RunPlan], jump: i64, step: &Step) -> (Command, Vec<Recorded>, bool) {
        self.now = Timestamp::from_second(self.now.as_second() + jump).unwrap();
        let command = step.command(workflows, &self.session);
        let decided = decide(&self.session, command.clone());
        let refused = decided.is_err();
        let first_new = self.history.len();
        record(&mut self.history, self.now, decided.unwrap_or_default());
        let events = self.history[first_new..].to_vec();
        self.session = events.iter().fold(self.session.clone(), Session::apply);
        (command, events, refused)
    }
}

impl Play {
    /// Returns the first session, the session after each step, and the last session, each with its time.
    pub fn sessions(&self) -> impl Iterator<Item = (&Session, Timestamp)> {
        let first = self.steps.first().map(|step| (&step.before, at(0)));
        let last = (&self.session, self.latest);
        first.into_iter().chain(self.steps.iter().map(|step| (&step.after, step.now))).chain([last])
    }
}

impl Step {
    fn command(&self, workflows: &[RunPlan], session: &Session) -> Command {
        match self {
            Self::Advance { phase, by_number, passes, skips } => Command::CompletePhase {
                phase: phase.map(|at| asked(session, at, *by_number)),
                attempt: if *passes { AttemptReport::default() } else { failing_attempt() },
                skips: skips.iter().copied().map(skip_of).collect(),
            },
            Self::StartRun(at) => {
                Command::StartRun { run: workflows[at % workflows.len()].clone(), is_next: false }
            }
            Self::Note(kind) => Command::AddNote {
                kind: NoteKind::ALL[kind % NoteKind::ALL.len()],
                text: "something".to_owned(),
                fields: BTreeMap::from([("weight".to_owned(), 0.1.into())]),
            },
            Self::Resolve(id) => Command::ResolveNote { id: *id },
            Self::Pause => Command::Pause { reason: "night".to_owned(), context: None, saved: Vec::new() },
            Self::Resume { elsewhere, parallel } => Command::Resume {
                worktree: if *elsewhere { "/there" } else { HERE }.to_owned(),
                parallel: *parallel,
            },
            Self::Close { force } => Command::Close { force: *force },
            Self::Abandon => Command::Abandon { reason: None, operation: None },
            Self::Skip => Command::SkipPhase { reason: "not needed".to_owned(), skips: Vec::new() },
            Self::RollBack(back) => {
                let run = session.run().unwrap();
                let current = run.position(run.current().id().as_str()).unwrap();
                Command::RollBack { phase: id_of(current.saturating_sub(*back)), reason: None }
            }
            Self::Fail(again) => Command::Fail { error: if *again { "again" } else { "broke" }.to_owned() },
            Self::Reopen => Command::Reopen { worktree: HERE.to_owned(), parallel: false },
            Self::SetField { phase, value } => Command::SetFields {
                phase: phase.then(|| session.run().unwrap().current().id().to_string()),
                fields: BTreeMap::from([("level".to_owned(), (*value).into())]),
            },
            Self::Checkpoint(name) => Command::MakeCheckpoint { name: format!("point {name}") },
        }
    }
}

/// Returns a phase near the current one, by id or number, so that commands often name the right phase.
fn asked(session: &Session, around: usize, by_number: bool) -> String {
    let run = session.run().unwrap();
    let current = run.position(run.current().id().as_str()).unwrap();
    let position = (current + around).saturating_sub(1);
    if by_number { run.number_at(position).to_string() } else { id_of(position) }
}

fn step() -> impl Strategy<Value = Step> {
    let advance =
        (proptest::option::of(0..4_usize), any::<bool>(), 0..4_u8, vec(0..MOST_PHASES, 0..2)).prop_map(
            |(phase, by_number, passes, skips)| Step::Advance { phase, by_number, passes: passes > 0, skips },
        );
    prop_oneof![
        14 => advance,
        3 => (0..3_usize).prop_map(Step::StartRun),
        4 => (0..8_usize).prop_map(Step::Note),
        2 => (1..6_u32).prop_map(Step::Resolve),
        2 => Just(Step::Pause),
        3 => (0..4_u8, any::<bool>())
            .prop_map(|(elsewhere, parallel)| Step::Resume { elsewhere: elsewhere == 0, parallel }),
        1 => any::<bool>().prop_map(|force| Step::Close { force }),
        1 => (0..4_u8).prop_map(|dice| if dice == 0 { Step::Abandon } else { Step::Reopen }),
        1 => Just(Step::Skip),
        1 => (0..4_usize).prop_map(Step::RollBack),
        1 => any::<bool>().prop_map(Step::Fail),
        1 => (any::<bool>(), 0..3_u8).prop_map(|(phase, value)| Step::SetField { phase, value }),
        1 => (0..6_u8).prop_map(Step::Checkpoint),
    ]
}

fn stub(position: usize, terminal: bool) -> PhaseStub {
    PhaseStub { id: name(&id_of(position)), title: format!("Phase {position}"), terminal }
}

fn id_of(position: usize) -> String {
    format!("phase-{position}")
}

fn skip_of(position: usize) -> Skip {
    skip(&id_of(position))
}

fn record(history: &mut Vec<Recorded>, now: Timestamp, events: Vec<Event>) {
    for event in events {
        let version = history.len() as u64 + 1;
        // All timestamps differ, so that a change of only a time is noticed.
        let at = now + jiff::SignedDuration::from_nanos(i64::try_from(version).unwrap());
        history.push(recorded(version, at, event));
    }
}
