//! Revisions in a run of four phases, from its third phase.

use super::*;
use crate::actor::Actor;
use crate::artifact::ArtifactVersion;
use crate::command::{Command, decide};
use crate::event::{Event, Recorded};
use crate::gate::AttemptReport;
use crate::id::SessionId;
use crate::phase::PhaseStub;
use crate::progress::Progress;
use crate::refusal::Refusal;
use crate::run::WorkflowRef;
use crate::session::Session;
use crate::workflow::{Indexing, OnComplete};
use jiff::Timestamp;
use std::collections::BTreeMap;

const PHASES: [&str; 4] = ["plan", "build", "test", "ship"];

fn name(text: &str) -> Name {
    Name::parse(text).expect("a name")
}

fn names(texts: &[&str]) -> Vec<Name> {
    texts.iter().map(|text| name(text)).collect()
}

fn at(version: u64) -> Timestamp {
    Timestamp::from_second(1_000_000 + i64::try_from(version).expect("small") * 60).expect("in range")
}

fn with(session: Option<Session>, events: Vec<Event>) -> Session {
    events
        .into_iter()
        .fold(session, |session, event| {
            let version = session.as_ref().map_or(1, |session| session.version + 1);
            let actor = Actor::person("anna", "here");
            let recorded = Recorded { version, at: at(version), actor, event };
            match session {
                Some(session) => Some(session.apply(&recorded)),
                None => Session::begin(&recorded),
            }
        })
        .expect("a session")
}

fn after(session: Session, command: Command) -> Session {
    let events = decide(&session, command).expect("it is allowed");
    with(Some(session), events)
}

fn advance(session: Session) -> Session {
    let command =
        Command::CompletePhase { phase: None, attempt: AttemptReport::default(), skips: Vec::new() };
    after(session, command)
}

/// A session whose first two phases are done and whose third is in progress.
fn in_the_third() -> Session {
    let workflow = WorkflowRef {
        name: name("ship"),
        version: "1".to_owned(),
        title: "Ship".to_owned(),
        hash: "h".to_owned(),
        indexing: Indexing::One,
        on_complete: OnComplete::Close,
    };
    let phases = PHASES.map(|id| PhaseStub { id: name(id), title: id.to_owned(), terminal: false }).to_vec();
    let started = with(
        None,
        vec![
            Event::SessionStarted {
                id: SessionId::parse("k3v9abcd").expect("an id"),
                title: "t".to_owned(),
                goal: None,
                target: None,
                layout: "native".to_owned(),
                worktree: "/p".to_owned(),
                parallel: false,
                fields: BTreeMap::new(),
                path: None,
                machine: None,
                branch: None,
                head: None,
            },
            Event::RunStarted { workflow, ordinal: 1, phases, definition: None },
            Event::PhaseStarted { phase: name("plan") },
        ],
    );
    advance(advance(started))
}

fn revision(session: &Session, phase: &str, impact: Impact, affects: &[&str]) -> Revision {
    let reach = Reach::of(session, session.run().expect("a run"), &name(phase), impact, &names(affects));
    Revision {
        phase: name(phase),
        impact,
        reason: "because".to_owned(),
        flagged: reach.flagged,
        restarted: reach.restarted,
        archived: Vec::new(),
        operation: None,
    }
}

fn revised(session: Session, phase: &str, impact: Impact, affects: &[&str]) -> Session {
    let revision = revision(&session, phase, impact, affects);
    after(session, Command::Revise { revision })
}

fn statuses(session: &Session) -> Vec<&'static str> {
    session.run().expect("a run").phases.iter().map(crate::phase::Phase::status).collect()
}

fn percent(session: &Session) -> u32 {
    Progress::of(session, session.run().expect("a run"), session.updated_at).percent
}

#[test]
fn a_minor_change_flags_finished_phases_and_archives_nothing() {
    let session = in_the_third();
    let run = session.run().expect("a run");
    let reach = Reach::of(&session, run, &name("plan"), Impact::Minor, &[]);
    assert_eq!((reach.flagged, reach.archived), (names(&["build"]), Vec::new()));
    let session = revised(session, "plan", Impact::Minor, &[]);
    assert_eq!(statuses(&session), ["in_progress", "needs_review", "not_started", "not_started"]);
    assert_eq!(percent(&session), 0, "what needs review is not done");
}

#[test]
fn a_moderate_change_archives_and_flags_what_it_affects_and_leaves_the_others() {
    let session = advance(in_the_third());
    let run = session.run().expect("a run");
    let all = Reach::of(&session, run, &name("plan"), Impact::Moderate, &[]);
    assert_eq!((all.flagged.clone(), all.archived), (names(&["build", "test"]), all.flagged));
    let some = Reach::of(&session, run, &name("plan"), Impact::Moderate, &names(&["test"]));
    assert_eq!((some.flagged, some.archived), (names(&["test"]), names(&["test"])));
    let session = revised(session, "plan", Impact::Moderate, &["test"]);
    assert_eq!(statuses(&session), ["in_progress", "completed", "needs_review", "not_started"]);
    assert_eq!(percent(&session), 25);
}

#[test]
fn a_major_change_begins_every_later_phase_again() {
    let session = advance(in_the_third());
    let reach = Reach::of(&session, session.run().expect("a run"), &name("plan"), Impact::Major, &[]);
    assert_eq!(reach.archived, names(&["build", "test", "ship"]));
    assert_eq!((reach.restarted, reach.flagged), (names(&["build", "test", "ship"]), Vec::new()));
    let session = revised(session, "plan", Impact::Major, &[]);
    assert_eq!(statuses(&session), ["in_progress", "not_started", "not_started", "not_started"]);
}

/// If a revision interrupted a phase, a later major revision restarts this phase too.
#[test]
fn e4_a_major_change_after_another_revision_begins_the_interrupted_phase_again() {
    let session = advance(in_the_third());
    for first in [Impact::Minor, Impact::Moderate] {
        let between = revised(session.clone(), "build", first, &[]);
        assert!(between.was_interrupted(&name("ship")), "{first:?}");
        let reach = Reach::of(&between, between.run().expect("a run"), &name("plan"), Impact::Major, &[]);
        assert_eq!(reach.restarted, names(&["build", "test", "ship"]), "{first:?}");
        let major = revised(between, "plan", Impact::Major, &[]);
        assert!(!major.was_interrupted(&name("ship")), "{first:?}");
        let again = Reach::of(&major, major.run().expect("a run"), &name("plan"), Impact::Major, &[]);
        assert_eq!(again.restarted, names(&[]), "what never began does not begin again");
    }
}

#[test]
fn going_on_leads_through_what_needs_review_one_by_one() {
    let mut session = revised(advance(in_the_third()), "plan", Impact::Minor, &[]);
    let mut seen = Vec::new();
    while session.lifecycle.name() == "active" {
        seen.push((session.run().expect("a run").current().id().to_string(), percent(&session)));
        session = advance(session);
    }
    let expected = [("plan", 0), ("build", 25), ("test", 50), ("ship", 75)];
    assert_eq!(seen, expected.map(|(phase, percent)| (phase.to_owned(), percent)));
    assert_eq!(percent(&session), 100);
}

#[test]
fn what_stayed_completed_is_passed_by() {
    let session = revised(advance(in_the_third()), "plan", Impact::Moderate, &["test"]);
    let session = advance(session);
    assert_eq!(session.run().expect("a run").current().id().as_str(), "test");
}

#[test]
fn only_an_earlier_phase_is_revisited() {
    let session = in_the_third();
    for (phase, refused) in [("ship", "phase_not_reached"), ("test", "not_earlier")] {
        let revision = revision(&session, phase, Impact::Minor, &[]);
        let refusal = decide(&session, Command::Revise { revision }).expect_err("it is refused");
        assert_eq!(refusal.kind(), refused);
    }
    let session = revised(session, "plan", Impact::Minor, &[]);
    let later = revision(&session, "build", Impact::Minor, &[]);
    let refusal = decide(&session, Command::Revise { revision: later }).expect_err("plan comes first");
    let (asked, current) = (name("build"), name("plan"));
    assert_eq!(refusal, Refusal::NotEarlier { session: session.id.clone(), asked, current });
}

#[test]
fn an_archived_file_that_comes_again_goes_on_counting_and_a_copied_one_stays() {
    let record = |hash: &str| Command::RecordArtifacts {
        artifacts: ["a.md", "b.md"]
            .map(|path| ArtifactVersion {
                path: path.to_owned(),
                hash: hash.to_owned(),
                size: 1,
                version: 0,
                phase: None,
            })
            .to_vec(),
    };
    let session = after(after(in_the_third(), record("h1")), record("h2"));
    let mut revision = revision(&session, "plan", Impact::Moderate, &[]);
    let archived = |from: &str, copied| Archived { from: from.to_owned(), to: "x".to_owned(), copied };
    revision.archived = vec![archived("a.md", true), archived("b.md", false)];
    let session = after(session, Command::Revise { revision });
    let versions = |session: &Session| -> Vec<(String, u32)> {
        session.artifacts.values().map(|known| (known.newest.path.clone(), known.newest.version)).collect()
    };
    assert_eq!(versions(&session), [("a.md".to_owned(), 2)]);
    let session = after(session, record("h3"));
    assert_eq!(versions(&session), [("a.md".to_owned(), 3), ("b.md".to_owned(), 3)]);
}

/// After a major change, every done item of a later phase is open again. Blocked items stay blocked, and items of other
/// phases stay done.
#[test]
fn items_of_phases_that_begin_again_are_open_again() {
    use crate::item::{ItemBook, NewItem};
    let session = in_the_third();
    let run = session.run().expect("a run");
    let actor = session.last_actor.clone();
    let mut book = ItemBook::default();
    for (id, phase) in [("a", "plan"), ("b", "build"), ("c", "test"), ("d", "test"), ("e", "test")] {
        let item = NewItem {
            id: crate::id::ItemId::parse(id).expect("an id"),
            kind: name("task"),
            title: id.to_owned(),
            run: RunRef::from(run),
            phase: name(phase),
            parent: None,
            order: 1024,
            depends_on: Vec::new(),
            fields: BTreeMap::new(),
        };
        book.apply(&ItemEvent::ItemAdded { item }, at(1), &actor);
    }
    let done = |id: &str, phase: &str| ItemEvent::ItemCompleted {
        id: crate::id::ItemId::parse(id).expect("an id"),
        run: RunRef::from(run),
        phase: name(phase),
    };
    let id = |text: &str| crate::id::ItemId::parse(text).expect("an id");
    for event in [
        done("a", "plan"),
        done("b", "build"),
        done("c", "test"),
        ItemEvent::ItemStarted { id: id("d") },
        ItemEvent::ItemBlocked { id: id("e"), reason: "no key".to_owned() },
    ] {
        book.apply(&event, at(2), &actor);
    }
    let revision = |impact| Revision {
        phase: name("plan"),
        impact,
        reason: "r".to_owned(),
        flagged: Vec::new(),
        restarted: names(&["build", "test"]),
        archived: Vec::new(),
        operation: None,
    };
    assert_eq!(reopens(&revision(Impact::Moderate), run, book.iter()), Vec::new());
    for event in reopens(&revision(Impact::Major), run, book.iter()) {
        book.apply(&event, at(3), &actor);
    }
    let status = |text: &str| book.get(&id(text)).map(|item| item.status.name());
    let found = ["a", "b", "c", "d", "e"].map(status);
    assert_eq!(
        found,
        [Some("completed"), Some("pending"), Some("pending"), Some("pending"), Some("blocked")]
    );
}
