//! Random item commands through the whole engine: stored rows match the log and the views.
#![allow(clippy::expect_used, reason = "a test that cannot go on should say where")]

use super::*;
use crate::clock::Clock;
use crate::{Intent, presence::AgentIdentity};
use crate::{ItemAdd, ItemRequest, ItemSetting, Options, StartRequest};
use model::note::NoteKind;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use store::{ItemsReplaced, MemoryStore};

/// A clock that a test sets.
#[derive(Clone)]
struct SetClock(Rc<Cell<i64>>);

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.0.get()).expect("in range")
    }
}

/// Deterministic pseudo-random numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % sides
    }

    fn id(&mut self) -> String {
        const IDS: [&str; 10] = ["a", "b", "c", "d", "a.1", "a.2", "b.1", "a.1.1", "task-1", "C"];
        IDS[self.roll(IDS.len())].to_owned()
    }

    fn ids(&mut self) -> Vec<String> {
        (0..self.roll(3)).map(|_| self.id()).collect()
    }
}

struct Bench {
    engine: Engine,
    time: Rc<Cell<i64>>,
    _folder: tempfile::TempDir,
}

fn bench(in_memory: bool) -> Bench {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join(".git")).expect("a repository");
    std::fs::write(folder.path().join(".git/HEAD"), "ref: refs/heads/main\n").expect("its head");
    let options = Options { project: Some(folder.path().to_owned()), ..Options::default() };
    let mut engine = Engine::open(options, Intent::Create).expect("a project");
    if in_memory {
        engine.store = store::WithUncommitted::new(Box::new(MemoryStore::new()));
    }
    let time = Rc::new(Cell::new(1_800_000_000));
    engine.clock = Box::new(SetClock(Rc::clone(&time)));
    engine.start(&StartRequest::default()).expect("a session");
    Bench { engine, time, _folder: folder }
}

/// Executes a random command by a random actor; returns true if it succeeded.
fn step(bench: &mut Bench, dice: &mut Dice) -> bool {
    bench.time.set(bench.time.get() + i64::try_from(dice.roll(900)).expect("small"));
    let agents = ["one", "two"];
    bench.engine.caller.agent =
        agents.get(dice.roll(3)).map(|id| AgentIdentity { agent: "claude".to_owned(), id: (*id).to_owned() });
    let engine = &mut bench.engine;
    let done = match dice.roll(15) {
        0..=3 => engine.change_item(ItemRequest::Add(ItemAdd {
            title: "A title".to_owned(),
            id: (dice.roll(3) > 0).then(|| dice.id()),
            parent: (dice.roll(4) == 0).then(|| dice.id()),
            needs: dice.ids(),
            phase: Some("1".to_owned()),
            ..ItemAdd::default()
        })),
        4 => engine.change_item(ItemRequest::Start { id: dice.id() }),
        5..=7 => engine.change_item(ItemRequest::Done { id: dice.id() }),
        8 => engine.change_item(ItemRequest::Block { id: dice.id(), reason: "why".to_owned() }),
        9 => engine.change_item(ItemRequest::Unblock { id: dice.id() }),
        10 => engine.change_item(ItemRequest::Claim { id: None, seconds: Some(600) }),
        11 => engine.change_item(ItemRequest::Release { id: dice.id() }),
        12 => engine.change_item(ItemRequest::Split {
            id: dice.id(),
            titles: vec!["A part".to_owned(); dice.roll(2) + 1],
        }),
        13 => engine.change_item(ItemRequest::Set {
            id: dice.id(),
            setting: ItemSetting {
                needs: dice.ids(),
                order: Some(dice.roll(50) as u64),
                ..ItemSetting::default()
            },
        }),
        14 if dice.roll(4) == 0 => engine.undo(Some(&(3 + dice.roll(20)).to_string())),
        _ => engine.note(NoteKind::Note, "a note", BTreeMap::new()),
    };
    done.is_ok()
}

fn check(bench: &Bench) {
    let engine = &bench.engine;
    let id = engine.select(Want::Latest).expect("the session");
    assert!(
        engine.items_agree(&id, ItemBook::fold(&engine.history(&id).expect("a log"))).expect("rows"),
        "rows are what the log says"
    );
    let (_, session) = engine.load(&id).expect("the session");
    let run = session.run().expect("a run");
    let rows = engine.store.items(&id, &ItemFilter::default()).expect("rows");
    let done = rows.iter().filter(|row| row.state == ItemState::Done).count();
    let counts = run.current().items;
    assert_eq!((counts.total as usize, counts.done as usize), (rows.len(), done), "counts agree");
    let seen = engine.items_seen(&session, run, &Batch::default()).expect("a view");
    assert_eq!(seen.open.len(), rows.len() - done);
    assert_eq!(seen.next.is_some(), seen.open.iter().any(|item| item.ready), "next is ready if anything is");
    if let Some(next) = seen.next {
        let actor = engine.actor(engine.caller.agent.as_ref());
        let was_held = |item: &&ItemView| {
            item.ready && item.item.lease.as_ref().is_some_and(|lease| lease.actor == actor)
        };
        let find = |wanted: &dyn Fn(&&ItemView) -> bool| seen.open.iter().find(wanted);
        let first = find(&|item| item.mine).or(find(&was_held)).or(find(&|item| item.ready));
        assert_eq!(Some(next), first.cloned());
    }
}

#[test]
fn whatever_is_asked_the_rows_are_what_the_log_says() {
    let mut done = 0;
    for seed in 0..40 {
        let mut bench = bench(true);
        let mut dice = Dice(seed);
        for _ in 0..60 {
            done += usize::from(step(&mut bench, &mut dice));
            check(&bench);
        }
    }
    assert!(done > 600, "only {done} commands were done");
}

#[test]
fn the_same_in_a_database() {
    let mut bench = bench(false);
    let mut dice = Dice(7);
    for _ in 0..80 {
        step(&mut bench, &mut dice);
    }
    check(&bench);
}

/// The view in a command's answer is built before the change is committed, and equals the view that is shown
/// afterwards.
#[test]
fn an_answer_shows_items_as_they_are_afterwards() {
    let mut bench = bench(true);
    let mut dice = Dice(3);
    for _ in 0..200 {
        step(&mut bench, &mut dice);
        let engine = &mut bench.engine;
        let Ok(answer) = engine.change_item(ItemRequest::Add(ItemAdd {
            title: "One more".to_owned(),
            phase: Some("1".to_owned()),
            ..ItemAdd::default()
        })) else {
            continue;
        };
        let crate::Current::Session(view) = engine.sessions().status().expect("a session") else {
            panic!("there is a session");
        };
        assert_eq!(answer.view.items, view.items);
        assert_eq!(answer.view.next, view.next);
    }
}

#[test]
fn rows_that_were_lost_are_noticed() {
    let mut bench = bench(true);
    let mut dice = Dice(5);
    for _ in 0..30 {
        step(&mut bench, &mut dice);
    }
    let id = bench.engine.select(Want::Latest).expect("the session");
    let lost = Batch {
        replace_items: vec![ItemsReplaced { session: id.clone(), rows: Vec::new() }],
        ..Batch::default()
    };
    bench.engine.store.append(&lost).expect("kept");
    let from_log = ItemBook::fold(&bench.engine.history(&id).expect("a log"));
    assert!(!bench.engine.items_agree(&id, from_log).expect("rows"));
}

#[test]
fn a_lease_of_another_machine_is_unconfirmed() {
    let mut bench = bench(true);
    bench.engine.caller.host = "laptop".to_owned();
    bench.engine.caller.agent = Some(AgentIdentity { agent: "claude".to_owned(), id: "one".to_owned() });
    let new = ItemAdd { title: "A title".to_owned(), id: Some("a".to_owned()), ..ItemAdd::default() };
    bench.engine.change_item(ItemRequest::Add(new)).expect("an item");
    let claim = ItemRequest::Claim { id: Some("a".to_owned()), seconds: None };
    bench.engine.change_item(claim).expect("a lease");
    let told = |bench: &Bench| {
        let listed = bench
            .engine
            .items(&ItemListRequest { all: true, limit: 10, ..ItemListRequest::default() })
            .expect("items");
        listed.items[0].standing(bench.engine.clock.now())
    };
    bench.engine.caller.agent = None;
    assert!(!told(&bench).contains("another machine"), "{}", told(&bench));
    bench.engine.caller.host = "desk".to_owned();
    assert!(told(&bench).contains("on another machine (unconfirmed) until"), "{}", told(&bench));
}
