//! Snapshots: data that is trimmed never matters to a command, and what remains does not grow with the log.

use crate::given::{advance, at, fail_the_gate, given, name, note, plan, recorded, started};
use crate::play::{Step, history, play, scripts, scripts_of};
use jiff::Timestamp;
use model::command::{Command, decide};
use model::note::NoteKind;
use model::session::Session;
use model::workflow::OnComplete::Close;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

proptest! {
    #[test]
    fn trimming_after_every_event_is_trimming_once_at_the_end(script in scripts()) {
        let played = play(&script);
        let mut snapshot = Session::begin(&played.history[0]).unwrap().trimmed();
        let mut whole = Session::begin(&played.history[0]).unwrap();
        for kept in &played.history[1..] {
            snapshot = snapshot.apply(kept).trimmed();
            whole = whole.apply(kept);
            prop_assert_eq!(&snapshot, &whole.clone().trimmed());
            prop_assert_eq!(snapshot.basis(), whole.basis(), "a gate sees no more than the snapshot has");
        }
        prop_assert_eq!(snapshot.clone().trimmed(), snapshot, "trimming twice is trimming once");
    }

    #[test]
    fn a_command_is_decided_from_a_snapshot_as_from_the_whole_log(script in scripts()) {
        for step in play(&script).steps {
            let snapshot: Session =
                serde_json::from_str(&serde_json::to_string(&step.before.clone().trimmed()).unwrap()).unwrap();
            // The snapshot may lack a resolved note. This is the only command that then reads the log.
            if !matches!(step.command, Command::ResolveNote { .. }) {
                prop_assert_eq!(
                    decide(&snapshot, step.command.clone()),
                    decide(&step.before, step.command)
                );
            }
        }
    }
}

/// The life is long enough to exceed every limit: dozens of runs, hundreds of notes of each kind.
#[test]
fn a_long_life_is_trimmed_the_same_step_by_step_and_at_once() {
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(2) });
    let lives = scripts_of(2, 2_000..=2_000);
    let trimmed_away = std::cell::Cell::new((0, 0));
    runner
        .run(&lives, |mut script| {
            script.steps.retain(|(_, step)| !matches!(step, Step::Abandon));
            script.steps.iter_mut().for_each(|(dice, step)| few_kinds_and_many_answers(*dice, step));
            let history = history(&script);
            let mut whole = Session::begin(&history[0]).unwrap();
            let mut snapshot = whole.clone().trimmed();
            for kept in &history[1..] {
                snapshot = snapshot.apply(kept).trimmed();
                whole = whole.apply(kept);
                if kept.version % 397 == 0 {
                    prop_assert_eq!(&snapshot, &whole.clone().trimmed());
                }
            }
            prop_assert_eq!(&snapshot, &whole.clone().trimmed());
            let (notes, runs) = trimmed_away.get();
            trimmed_away.set((
                notes + whole.notes.len() - snapshot.notes.len(),
                runs + whole.runs.len() - snapshot.runs.len(),
            ));
            Ok(())
        })
        .unwrap();
    let (notes, runs) = trimmed_away.get();
    assert!(notes > 50 && runs > 50, "too little was trimmed: {notes} notes, {runs} runs");
}

/// Changes a step of the script: there are then two kinds of notes instead of eight, and all of these notes are
/// resolved.
fn few_kinds_and_many_answers(dice: i64, step: &mut Step) {
    match step {
        Step::Note(kind) => *kind = if *kind % 2 == 0 { 0 } else { 4 },
        Step::Resolve(id) => *id = u32::try_from(dice.unsigned_abs() % 300).unwrap(),
        _ => {}
    }
}

/// A session that is stored only as a snapshot.
struct Kept(Session);

impl Kept {
    fn does(&mut self, command: Command) {
        let events = decide(&self.0, command).unwrap();
        let from = self.0.version + 1;
        let now = Timestamp::from_second(self.0.updated_at.as_second() + 1).unwrap();
        let session = self.0.clone();
        let folded = (from..)
            .zip(events)
            .fold(session, |session, (version, event)| session.apply(&recorded(version, now, event)));
        self.0 = folded.trimmed();
    }

    fn bytes(&self) -> usize {
        serde_json::to_string(&self.0).unwrap().len()
    }

    /// Repeats a change. Returns the snapshot's size after a tenth of the repetitions and after all of them.
    fn grows(mut self, times: usize, mut one: impl FnMut(&mut Self, usize)) -> (Self, usize, usize) {
        let mut early = 0;
        for number in 0..times {
            one(&mut self, number);
            if number == times / 10 {
                early = self.bytes();
            }
        }
        let late = self.bytes();
        (self, early, late)
    }
}

const TIMES: usize = 5_000;

fn new() -> Kept {
    Kept(given(started(plan("round", Close, &["plan", "build", "review"]))).session.trimmed())
}

/// Expects no growth, except that numbers may get longer.
fn assert_flat((early, late): (usize, usize)) {
    assert!(late < early + early / 20 + 200, "from {early} to {late} bytes");
}

#[test]
fn five_thousand_notes_leave_a_snapshot_as_it_was() {
    let kinds =
        [NoteKind::Note, NoteKind::Decision, NoteKind::Tried, NoteKind::Assumption, NoteKind::Override];
    let (kept, early, late) = new().grows(TIMES, |kept, number| {
        kept.does(note(kinds[number % kinds.len()], &format!("note {number:05}")));
    });
    assert_flat((early, late));
    assert_eq!(kept.0.highest_note as usize, TIMES);
    assert!(kept.0.notes.iter().any(|note| note.text == format!("note {:05}", TIMES - 1)));
}

#[test]
fn five_thousand_settled_questions_leave_a_snapshot_as_it_was_and_an_open_one_stays() {
    let mut begun = new();
    begun.does(note(NoteKind::Blocker, "the oldest, and still open"));
    let (kept, early, late) = begun.grows(TIMES, |kept, _| {
        kept.does(note(NoteKind::Blocker, "why"));
        kept.does(Command::ResolveNote { id: kept.0.highest_note });
    });
    assert_flat((early, late));
    let open: Vec<u32> = kept.0.open_notes().map(|note| note.id).collect();
    assert_eq!(open, [1]);
}

#[test]
fn five_thousand_attempts_leave_a_snapshot_as_it_was() {
    let (kept, early, late) = new().grows(TIMES, |kept, _| kept.does(fail_the_gate()));
    assert_flat((early, late));
    let phase = kept.0.run().unwrap().current();
    assert_eq!(phase.attempt_count as usize, TIMES);
    assert!(phase.last_attempt_failed());
}

#[test]
fn five_thousand_runs_leave_a_snapshot_as_it_was() {
    let round = plan("round", Close, &["plan", "build", "review"]);
    let (kept, early, late) = new().grows(TIMES, |kept, _| {
        (0..3).for_each(|_| kept.does(advance(None)));
        kept.does(Command::StartRun { run: round.clone(), is_next: false });
    });
    assert_flat((early, late));
    assert_eq!(kept.0.runs_of(&name("round")) as usize, TIMES + 1);
    assert_eq!(kept.0.run().unwrap().ordinal as usize, TIMES + 1);
    assert_eq!(kept.0.created_at, at(60));
}
