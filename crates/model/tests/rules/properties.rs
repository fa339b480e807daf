//! Properties of every workflow and every sequence of commands. `PROPTEST_CASES` sets how many are tried.

use crate::given::{advance, recorded};
use crate::play::{Play, Played, Script, play, scripts};
use model::command::decide;
use model::event::Event;
use model::lifecycle::Lifecycle;
use model::progress::Progress;
use model::run::Run;
use model::session::Session;
use model::status::Status;
use model::workflow::{Indexing, OnComplete};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::collections::{BTreeMap, BTreeSet};

proptest! {
    /// Invariant 8: the current phase exists.
    #[test]
    fn the_current_phase_exists_and_its_number_is_in_range(script in scripts()) {
        for (session, _) in play(&script).sessions() {
            let run = session.run().expect("a session has a run");
            prop_assert!(run.position(run.current().id().as_str()).is_some());
            let first = match run.workflow.indexing { Indexing::Zero => 0, Indexing::One => 1 };
            let count = u32::try_from(run.phases.len()).unwrap();
            prop_assert!((first..first + count).contains(&run.current_number()));
            prop_assert_eq!(run.resolve(&run.current_number().to_string()), Some(run.current()));
        }
    }

    #[test]
    fn a_run_is_complete_after_its_last_phase_and_stays_on_it(script in scripts()) {
        for (session, _) in play(&script).sessions() {
            for run in &session.runs {
                prop_assert_eq!(run.is_open(), run.over() < run.phases.len());
                if run.is_open() {
                    prop_assert!(!run.current().is_done(), "the current phase of an open run is to be done");
                }
            }
            let run = session.run().unwrap();
            if !run.is_open() {
                prop_assert_eq!(run.current(), run.phases.last().unwrap());
            }
        }
    }

    #[test]
    fn the_last_phase_closes_the_session_or_leaves_it_as_the_workflow_says(script in scripts()) {
        for step in play(&script).steps {
            let kinds: Vec<&str> = step.events.iter().map(|recorded| recorded.event.kind()).collect();
            if kinds.contains(&"run_completed") {
                let run = step.after.run().unwrap();
                let closes = run.workflow.on_complete == OnComplete::Close
                    && !step.after.runs.iter().any(Run::is_open);
                let expected = if closes { "completed" } else { "active" };
                prop_assert_eq!(step.after.lifecycle.name(), expected, "after {:?}", kinds);
            }
        }
    }

    /// `advance` without the name of a phase, repeated, always reaches the end.
    #[test]
    fn advancing_ends(script in scripts()) {
        let mut session = play(&Script { steps: Vec::new(), ..script }).session;
        for _ in 0..session.run().unwrap().phases.len() {
            let Ok(events) = decide(&session, advance(None)) else { break };
            prop_assert!(!events.is_empty());
            let from = session.version + 1;
            let at = session.updated_at;
            session = (from..).zip(events).fold(session, |session, (version, event)| {
                session.apply(&recorded(version, at, event))
            });
        }
        prop_assert!(!session.run().unwrap().is_open());
        prop_assert_eq!(Progress::of(&session, session.run().unwrap(), session.updated_at).percent, 100);
    }

    /// Invariant 3: the log gives the same state when it is folded again, in two pieces, or from its JSON.
    #[test]
    fn replaying_the_log_gives_the_same_session(script in scripts(), cut in 0..200_usize) {
        let Play { history, session, .. } = play(&script);
        let again = Session::fold(&history).unwrap();
        prop_assert_eq!(&again, &session);

        let read: Vec<_> = history.iter().map(|kept| {
            let body = serde_json::to_string(&kept.event).unwrap();
            let mut read = kept.clone();
            read.event = Event::read(kept.event.kind(), &body);
            read
        }).collect();
        prop_assert_eq!(&read, &history);

        let cut = 1 + cut % history.len();
        let half = Session::fold(&history[..cut]).unwrap();
        let half: Session = serde_json::from_str(&serde_json::to_string(&half).unwrap()).unwrap();
        let whole = history[cut..].iter().fold(half, Session::apply);
        prop_assert_eq!(whole, session);
    }

    /// Invariant 2, the model's part: a refused command adds no event.
    #[test]
    fn a_refused_command_changes_nothing(script in scripts()) {
        for step in play(&script).steps {
            if step.refused {
                prop_assert!(step.events.is_empty());
                prop_assert_eq!(step.before, step.after);
            }
        }
    }

    /// Invariant 4: whatever the clock did, no duration is negative or longer than the elapsed time.
    #[test]
    fn no_duration_is_negative_and_order_is_by_version(script in scripts(), later in -200_000..200_000_i64) {
        let played = play(&script);
        let (earliest, latest) = (played.earliest, played.latest);
        let asked_at = |now: jiff::Timestamp| now.checked_add(jiff::SignedDuration::from_secs(later)).unwrap();
        let longest = |now: jiff::Timestamp| {
            u64::try_from(latest.max(now).as_second() - earliest.min(now).as_second()).unwrap()
        };
        for (session, now) in played.sessions() {
            let now = asked_at(now);
            for run in &session.runs {
                let figures = Progress::of(session, run, now);
                let durations = run.phases.iter().filter_map(|phase| {
                    phase.duration_seconds().or_else(|| phase.time_in_phase(session.working_until(now)))
                });
                for seconds in durations.chain(figures.average_phase_seconds).chain(figures.time_in_phase_seconds) {
                    prop_assert!(seconds <= longest(now), "{seconds} s");
                }
                for phase in &run.phases {
                    prop_assert!(phase.paused_seconds <= script.steps.len() as u64 * 100_000);
                }
                prop_assert!(figures.percent <= 100);
                prop_assert_eq!(figures.percent == 100, run.completed() == run.applicable());
                prop_assert!(figures.percent < 100 || figures.remaining == 0);
                prop_assert_eq!(figures.remaining, run.phases.len() - run.over());
            }
            let _ = Status::of(session, now).name();
        }
        let versions = played.history.iter().map(|kept| kept.version);
        prop_assert!(versions.eq(1..=played.history.len() as u64));
    }

    #[test]
    fn every_event_changes_what_it_reports(script in scripts()) {
        for Played { before, events, command, .. } in play(&script).steps {
            let mut session = before;
            for recorded in events {
                let after = session.clone().apply(&recorded);
                prop_assert_ne!(
                    what_it_says(session),
                    what_it_says(after.clone()),
                    "{:?} after {:?} changed nothing",
                    recorded.event,
                    command
                );
                session = after;
            }
        }
    }

    #[test]
    fn a_phase_is_completed_once_in_a_run_unless_somebody_went_back(script in scripts()) {
        let mut run = (String::new(), 0);
        let mut completed = BTreeSet::new();
        for recorded in play(&script).history {
            match recorded.event {
                Event::RunStarted { workflow, ordinal, .. } => run = (workflow.name.to_string(), ordinal),
                Event::RunSelected { workflow, ordinal } => run = (workflow.to_string(), ordinal),
                Event::PhaseCompleted { phase, .. } | Event::PhaseSkipped { phase, .. } => {
                    prop_assert!(completed.insert((run.clone(), phase.clone())), "{phase} of {run:?} twice");
                }
                Event::RolledBack { .. } => completed.retain(|(done, _)| *done != run),
                _ => {}
            }
        }
    }

    #[test]
    fn the_same_command_again_at_once_is_refused_or_changes_what_it_must(script in scripts()) {
        for step in play(&script).steps.iter().filter(|step| !step.refused) {
            let again = decide(&step.after, step.command.clone());
            let kinds: Vec<String> =
                again.unwrap_or_default().iter().map(|event| event.kind().to_owned()).collect();
            for once in ["session_paused", "session_resumed", "session_completed", "session_abandoned", "note_resolved"] {
                // Completing a phase, or a run of another workflow, may also close the session.
                let is_that_very_command = step.events.first().is_some_and(|first| first.event.kind() == once);
                prop_assert!(!(is_that_very_command && kinds.first().is_some_and(|kind| kind == once)), "{once} twice");
            }
        }
    }

    #[test]
    fn an_unknown_event_makes_a_session_unwritable_and_it_is_still_shown(script in scripts(), place in 0..200_usize) {
        let Play { mut history, steps, latest, .. } = play(&script);
        // The place is after the start of the run. Later events are folded as far as they are known.
        let place = 2 + place % (history.len() - 1);
        let kept = history[place - 1].clone();
        let body = r#"{"type":"phase_teleported","phase":"phase-0","to":"the moon"}"#;
        history.insert(place, recorded(0, kept.at, Event::read("phase_teleported", body)));
        for (recorded, version) in history.iter_mut().zip(1..) {
            recorded.version = version;
        }
        let session = Session::fold(&history).unwrap();
        prop_assert_eq!(session.unknown_event.as_deref(), Some("phase_teleported"));
        for step in steps {
            let refusal = decide(&session, step.command).expect_err("it must not be written");
            prop_assert_eq!(refusal.kind(), "newer_event");
        }
        let run = session.run().expect("it is shown");
        prop_assert!(Progress::of(&session, run, latest).percent <= 100);
        let kept: Session = serde_json::from_str(&serde_json::to_string(&session.clone().trimmed()).unwrap()).unwrap();
        prop_assert_eq!(kept.unknown_event, session.unknown_event, "a snapshot does not forget it");
    }
}

/// Returns the session without the time and actor of its last change.
fn what_it_says(mut session: Session) -> Session {
    session.version = 0;
    session.updated_at = session.created_at;
    session
}

/// The other properties prove little if the random scripts do not reach all states.
#[test]
fn the_random_scripts_get_everywhere() {
    let mut runner = TestRunner::new_with_rng(
        Config { failure_persistence: None, ..Config::with_cases(200) },
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let seen = std::cell::RefCell::new(BTreeMap::<String, u32>::new());
    runner
        .run(&scripts(), |script| {
            let played = play(&script);
            let mut seen = seen.borrow_mut();
            for kept in &played.history {
                *seen.entry(kept.event.kind().to_owned()).or_default() += 1;
            }
            for step in &played.steps {
                *seen.entry(format!("{} session", step.after.lifecycle.name())).or_default() += 1;
                *seen.entry("refused".to_owned()).or_default() += u32::from(step.refused);
                let forced = matches!(step.after.lifecycle, Lifecycle::Completed { forced: true, .. });
                *seen.entry("closed early".to_owned()).or_default() += u32::from(forced);
                let again = step.after.run().is_some_and(|run| run.ordinal > 1);
                *seen.entry("a second run".to_owned()).or_default() += u32::from(again);
            }
            Ok(())
        })
        .unwrap();
    let seen = seen.into_inner();
    for what in [
        "run_completed",
        "run_selected",
        "phase_skipped",
        "gate_failed",
        "note_resolved",
        "session_resumed",
        "rolled_back",
        "session_failed",
        "session_reopened",
        "fields_set",
        "checkpoint_made",
        "paused session",
        "completed session",
        "abandoned session",
        "refused",
        "closed early",
        "a second run",
    ] {
        assert!(seen.get(what).is_some_and(|count| *count >= 20), "{what} is too rare: {seen:?}");
    }
}
