//! Every rule about items, and properties that hold for any sequence of commands.

use super::*;
use crate::command::items::{AddItem, Context, Count, ItemCommand, ItemEdit, decide};
use crate::command::{self, Command, Start};
use crate::event::{Event, ItemEvent, Recorded};
use crate::id::SessionId;
use crate::phase::PhaseStub;
use crate::refusal::{ItemRefusal, Refusal};
use crate::run::{RunPlan, WorkflowRef};
use crate::session::Session;
use crate::workflow::{Indexing, OnComplete};
use proptest::prelude::*;

mod properties;

fn id(text: &str) -> ItemId {
    ItemId::parse(text).expect("an id of a test is valid")
}

fn name(text: &str) -> Name {
    Name::parse(text).expect("a name of a test is valid")
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).expect("in range")
}

fn agent(session: &str) -> Actor {
    Actor::Agent {
        agent: "claude".to_owned(),
        id: session.to_owned(),
        host: "workshop".to_owned(),
        known_by: None,
    }
}

fn anna() -> Actor {
    Actor::person("anna", "workshop")
}

fn stub(id: &str) -> PhaseStub {
    PhaseStub { id: name(id), title: id.to_owned(), terminal: false }
}

/// A session of two phases, with its log so that every test can replay it.
struct Work {
    log: Vec<Recorded>,
    session: Session,
    book: ItemBook,
    now: Timestamp,
    gone: Vec<Actor>,
    seen: Vec<(Actor, Timestamp)>,
}

impl Work {
    fn new() -> Self {
        let workflow = WorkflowRef {
            name: name("ship"),
            version: "1".to_owned(),
            title: "Ship".to_owned(),
            hash: "h".to_owned(),
            indexing: Indexing::One,
            on_complete: OnComplete::Close,
        };
        let events = command::start(Start {
            id: SessionId::parse("k3v9x2mp").expect("valid"),
            title: "t".to_owned(),
            goal: None,
            target: None,
            layout: "native".to_owned(),
            worktree: "/w".to_owned(),
            parallel: false,
            fields: BTreeMap::new(),
            path: None,
            run: RunPlan { workflow, phases: vec![stub("plan"), stub("build")], skips: Vec::new() },
        });
        let log: Vec<Recorded> = (1..)
            .zip(events)
            .map(|(version, event)| Recorded { version, at: at(0), actor: anna(), event })
            .collect();
        let session = Session::fold(&log).expect("it begins with a start");
        Self { log, session, book: ItemBook::default(), now: at(0), gone: Vec::new(), seen: Vec::new() }
    }

    /// Creates a session with these items in the current phase, all of them ready.
    fn with(ids: &[&str]) -> Self {
        let mut work = Self::new();
        for id in ids {
            work.did(&anna(), add(id));
        }
        work
    }

    fn later(&mut self, seconds: i64) -> &mut Self {
        self.now = Timestamp::from_second(self.now.as_second() + seconds).expect("in range");
        self
    }

    fn try_to(&mut self, actor: &Actor, command: ItemCommand) -> Result<Vec<ItemEvent>, Refusal> {
        let context = Context {
            session: &self.session,
            book: &self.book,
            actor,
            now: self.now,
            gone: &self.gone,
            seen: &self.seen,
        };
        let events = decide(&context, command)?;
        self.keep(actor, &events);
        Ok(events.into_iter().filter_map(item_event).collect())
    }

    fn keep(&mut self, actor: &Actor, events: &[Event]) {
        for event in events {
            let version = self.session.version + 1;
            let recorded = Recorded { version, at: self.now, actor: actor.clone(), event: event.clone() };
            self.session = self.session.clone().apply(&recorded);
            if let Event::Item(event) = event {
                self.book.apply(event, self.now, actor);
            }
            self.log.push(recorded);
        }
    }

    #[track_caller]
    fn did(&mut self, actor: &Actor, command: ItemCommand) -> Vec<ItemEvent> {
        match self.try_to(actor, command) {
            Ok(events) => events,
            Err(refusal) => panic!("refused: {refusal}"),
        }
    }

    #[track_caller]
    fn refused(&mut self, actor: &Actor, command: ItemCommand) -> ItemRefusal {
        match self.try_to(actor, command) {
            Err(Refusal::Item(refusal)) => refusal,
            other => panic!("not refused by a rule about items: {other:?}"),
        }
    }

    #[track_caller]
    fn refused_because_it_exists(&mut self, name: &str) {
        let refused = self.try_to(&anna(), add(name));
        assert!(matches!(refused, Err(Refusal::Item(ItemRefusal::Exists { .. }))), "{refused:?}");
    }

    fn item(&self, name: &str) -> &Item {
        self.book.get(&id(name)).expect("the item exists")
    }

    fn counts(&self) -> (u32, u32) {
        let items = self.session.run().expect("a run").current().items;
        (items.done, items.total)
    }
}

fn item_event(event: Event) -> Option<ItemEvent> {
    match event {
        Event::Item(event) => Some(event),
        _ => None,
    }
}

fn new(text: &str) -> AddItem {
    AddItem {
        id: id(text),
        kind: name("task"),
        title: format!("Title of {text}"),
        phase: None,
        parent: None,
        needs: Vec::new(),
        fields: BTreeMap::new(),
    }
}

fn add(text: &str) -> ItemCommand {
    ItemCommand::Add(new(text))
}

fn add_needing(text: &str, needs: &[&str]) -> ItemCommand {
    ItemCommand::Add(AddItem { needs: needs.iter().map(|need| id(need)).collect(), ..new(text) })
}

fn add_part(text: &str, parent: &str, needs: &[&str]) -> ItemCommand {
    let needs = needs.iter().map(|need| id(need)).collect();
    ItemCommand::Add(AddItem { parent: Some(id(parent)), needs, ..new(text) })
}

fn start(text: &str) -> ItemCommand {
    ItemCommand::Start { id: id(text) }
}

fn done(text: &str) -> ItemCommand {
    ItemCommand::Complete { id: id(text) }
}

fn claim(text: &str) -> ItemCommand {
    ItemCommand::Claim { id: id(text), seconds: 600 }
}

fn release(text: &str) -> ItemCommand {
    ItemCommand::Release { id: id(text) }
}

fn block(text: &str) -> ItemCommand {
    ItemCommand::Block { id: id(text), reason: "no certificate".to_owned() }
}

fn split(text: &str, parts: usize) -> ItemCommand {
    ItemCommand::Split { id: id(text), titles: vec!["A part".to_owned(); parts] }
}

fn needs(text: &str, needs: &[&str]) -> ItemCommand {
    let needs = needs.iter().map(|need| id(need)).collect();
    ItemCommand::Set { id: id(text), edit: ItemEdit { needs, ..ItemEdit::default() } }
}

#[test]
fn an_item_is_added_to_the_current_phase_and_counted() {
    let mut work = Work::with(&["impl-1", "impl-2"]);
    assert_eq!((work.item("impl-1").phase.as_str(), work.item("impl-1").level()), ("plan", 1));
    assert_eq!(work.counts(), (0, 2));
    work.did(&anna(), done("impl-2"));
    assert_eq!(work.counts(), (1, 2));
    let later = AddItem { phase: Some("2".to_owned()), ..new("impl-3") };
    work.did(&anna(), ItemCommand::Add(later));
    assert_eq!(work.item("impl-3").phase, name("build"));
    assert_eq!((work.counts(), work.session.items_added), ((1, 2), 3));
}

#[test]
fn a_dropped_item_is_none_any_more_and_nothing_waits_for_it() {
    let mut work = Work::with(&["a", "b"]);
    work.did(&anna(), split("a", 2));
    work.did(&anna(), needs("b", &["a.2"]));
    let dropped = |item: &Item| ItemEvent::ItemDropped {
        id: item.id.clone(),
        run: item.run.clone(),
        phase: item.phase.clone(),
        reason: None,
    };
    let event = Event::Item(dropped(work.item("a.2")));
    work.keep(&anna(), &[event]);
    assert!(work.book.get(&id("a.2")).is_none());
    assert_eq!((work.item("a").parts, work.item("a").open_parts), (1, 1));
    assert!(work.item("b").waits_for.is_empty() && work.item("b").depends_on.is_empty());
    assert_eq!(work.counts(), (0, 3));
    // The id of a dropped item can be used again.
    work.did(&anna(), add_part("a.2", "a", &[]));
    assert_eq!((work.item("a").parts, work.counts()), (2, (0, 4)));
}

#[test]
fn an_item_given_up_stays_with_its_reason_and_is_counted_apart() {
    let mut work = Work::with(&["a", "b"]);
    work.did(&anna(), needs("b", &["a"]));
    let give_up = |id_text: &str| ItemCommand::Drop { id: id(id_text), reason: "one tab".to_owned() };
    work.did(&anna(), give_up("a"));
    assert_eq!(work.item("a").status, ItemStatus::Dropped { reason: "one tab".to_owned() });
    assert!(work.item("b").waits_for.is_empty(), "nothing waits for it any longer");
    assert_eq!(work.counts(), (0, 1));
    assert_eq!(work.session.run().expect("a run").current().items.dropped, 1);
    assert_eq!(work.item("a").state(), ItemState::Done);
    let refused = work.refused(&anna(), done("a"));
    assert!(matches!(refused, ItemRefusal::Dropped { .. }), "{refused:?}");
    assert_eq!(work.did(&anna(), give_up("a")), [], "once more changes nothing");
}

#[test]
fn a_container_without_open_parts_is_done_if_a_part_was_and_else_given_up() {
    let give_up = |id_text: &str| ItemCommand::Drop { id: id(id_text), reason: "late".to_owned() };
    for (done_first, expected) in [(true, "completed"), (false, "dropped")] {
        let mut work = Work::with(&["a"]);
        work.did(&anna(), split("a", 2));
        let refused = work.refused(&anna(), give_up("a"));
        assert!(matches!(refused, ItemRefusal::Container { .. }), "{refused:?}");
        let first = if done_first { done("a.1") } else { give_up("a.1") };
        work.did(&anna(), first);
        assert!(work.item("a").is_open());
        work.did(&anna(), give_up("a.2"));
        assert_eq!(work.item("a").status.name(), expected);
        let counts = work.item("a").part_counts();
        assert_eq!((counts.done, counts.total), if done_first { (1, 1) } else { (0, 0) });
    }
}

#[test]
fn f7_a_million_siblings_have_an_order_each() {
    let mut work = Work::new();
    let mut last = 0;
    for siblings in [0, 1, 104_856, 104_857, 209_715, 999_999] {
        work.session.items_added = siblings;
        work.did(&anna(), add(&format!("item-{siblings}")));
        let order = work.item(&format!("item-{siblings}")).order();
        assert!(order > last, "{siblings}: {order}");
        last = order;
    }
    work.session.items_added = u32::MAX - 1;
    assert!(matches!(work.refused(&anna(), add("one-too-many")), ItemRefusal::OrderTooHigh { .. }));
}

#[test]
fn ids_are_unique_whatever_their_case() {
    let mut work = Work::with(&["impl-1"]);
    assert_eq!(work.refused(&anna(), add("IMPL-1")), ItemRefusal::Exists { existing: id("impl-1") });
    work.did(&anna(), done("Impl-1"));
    assert!(work.item("impl-1").is_done());
    assert!(work.refused(&anna(), done("impl-9")).is_unknown_name());
}

#[test]
fn an_item_belongs_to_a_phase_that_is_not_done() {
    let mut work = Work::new();
    let unknown = ItemCommand::Add(AddItem { phase: Some("biuld".to_owned()), ..new("a") });
    assert!(matches!(work.try_to(&anna(), unknown), Err(Refusal::UnknownPhase { .. })));
    let advance = Command::CompletePhase {
        phase: None,
        attempt: crate::gate::AttemptReport::default(),
        skips: Vec::new(),
    };
    let events = command::decide(&work.session, advance).expect("the gate is empty");
    work.keep(&anna(), &events);
    let late = ItemCommand::Add(AddItem { phase: Some("plan".to_owned()), ..new("a") });
    assert!(matches!(work.refused(&anna(), late), ItemRefusal::PhaseDone { .. }));
}

#[test]
fn a_session_that_is_not_active_changes_no_items() {
    let mut work = Work::with(&["a"]);
    let pause = Command::Pause { reason: "lunch".to_owned(), context: None, saved: Vec::new() };
    let events = command::decide(&work.session, pause).expect("it is active");
    work.keep(&anna(), &events);
    assert!(matches!(work.try_to(&anna(), done("a")), Err(Refusal::NotActive { .. })));
}

#[test]
fn items_nest_three_levels_deep_at_most() {
    let mut work = Work::with(&["a"]);
    work.did(&anna(), split("a", 1));
    work.did(&anna(), split("a.1", 1));
    assert_eq!((work.item("a.1.1").level(), work.item("a.1.1").parent.clone()), (3, Some(id("a.1"))));
    assert!(matches!(work.refused(&anna(), split("a.1.1", 1)), ItemRefusal::TooDeep { .. }));
    assert!(matches!(work.refused(&anna(), add_part("x", "a.1.1", &[])), ItemRefusal::TooDeep { .. }));
}

#[test]
fn a_container_completes_by_itself_after_its_last_part() {
    let mut work = Work::with(&["a"]);
    work.did(&anna(), split("a", 2));
    work.did(&anna(), split("a.2", 1));
    let container = |doing| ItemRefusal::Container { doing, id: id("a"), open: 2 };
    assert_eq!(work.refused(&anna(), done("a")), container("complete"));
    assert_eq!(work.refused(&anna(), claim("a")), container("claim"));
    assert_eq!(work.refused(&anna(), start("a")), container("start"));
    assert_eq!(work.refused(&anna(), block("a")), container("block"));
    assert_eq!(work.did(&anna(), done("a.1")).len(), 1);
    assert!(!work.item("a").is_done());
    let events = work.did(&anna(), done("a.2.1"));
    assert_eq!(events.len(), 3, "the part, its container, and the container of that");
    assert!(work.item("a").is_done() && work.item("a.2").is_done());
    assert_eq!(work.counts(), (4, 4));
}

#[test]
fn only_a_pending_item_is_split_and_its_parts_are_numbered() {
    let mut work = Work::with(&["impl-1", "impl-2"]);
    work.did(&anna(), split("impl-1", 2));
    let parts: Vec<&str> = work.book.parts_of(&id("impl-1")).map(|part| part.id.as_str()).collect();
    assert_eq!(parts, ["impl-1.1", "impl-1.2"]);
    assert_eq!((work.item("impl-1").parts, work.item("impl-1").open_parts), (2, 2));
    assert!(matches!(work.refused(&anna(), split("impl-1", 1)), ItemRefusal::Container { .. }));
    work.did(&anna(), start("impl-2"));
    assert!(matches!(
        work.refused(&anna(), split("impl-2", 2)),
        ItemRefusal::NotPending { status: "active", .. }
    ));
    assert!(matches!(work.refused(&anna(), add_part("x", "impl-2", &[])), ItemRefusal::NotPending { .. }));
    work.did(&anna(), done("impl-2"));
    assert!(matches!(work.refused(&anna(), split("impl-2", 2)), ItemRefusal::Finished { .. }));
    assert!(matches!(work.refused(&anna(), add_part("x", "impl-2", &[])), ItemRefusal::Finished { .. }));
    work.did(&anna(), add("impl-3"));
    work.did(&anna(), add("impl-3.1"));
    assert!(matches!(work.refused(&anna(), split("impl-3", 2)), ItemRefusal::Exists { .. }));
}

#[test]
fn parts_wait_for_what_their_container_waits_for() {
    let mut work = Work::with(&["a"]);
    work.did(&anna(), add_needing("b", &["a"]));
    work.did(&anna(), split("b", 1));
    work.did(&anna(), add_part("b.x", "b", &[]));
    for part in ["b.1", "b.x"] {
        assert!(matches!(work.refused(&anna(), start(part)), ItemRefusal::Waits { .. }), "{part}");
    }
    work.did(&anna(), done("a"));
    work.did(&anna(), start("b.1"));
    assert_eq!(work.item("b.x").state(), ItemState::Ready);
}

#[test]
fn a_part_stands_in_the_phase_of_its_container() {
    let mut work = Work::new();
    work.did(&anna(), ItemCommand::Add(AddItem { phase: Some("build".to_owned()), ..new("a") }));
    work.did(&anna(), add_part("a.1", "a", &[]));
    assert_eq!(work.item("a.1").phase, name("build"));
    let elsewhere =
        ItemCommand::Add(AddItem { phase: Some("plan".to_owned()), parent: Some(id("a")), ..new("a.2") });
    assert!(matches!(work.refused(&anna(), elsewhere), ItemRefusal::OtherPhase { .. }));
}

#[test]
fn dependencies_exist_and_hold_back_start_claim_and_done() {
    let mut work = Work::with(&["a"]);
    assert_eq!(work.refused(&anna(), add_needing("b", &["x"])), ItemRefusal::Unknown { id: id("x") });
    work.did(&anna(), add_needing("b", &["a", "A"]));
    assert_eq!(work.item("b").depends_on, [id("a")]);
    let waits = |doing| ItemRefusal::Waits { doing, id: id("b"), waits_for: vec![id("a")] };
    assert_eq!(work.refused(&anna(), done("b")), waits("complete"));
    assert_eq!(work.refused(&anna(), start("b")), waits("start"));
    assert_eq!(work.refused(&anna(), claim("b")), waits("claim"));
    work.did(&anna(), done("a"));
    work.did(&anna(), done("b"));
    work.did(&anna(), add_needing("c", &["a"]));
    assert_eq!(work.item("c").state(), ItemState::Ready, "what is done holds nothing back");
}

#[test]
fn a_container_holds_back_until_its_parts_are_done() {
    let mut work = Work::with(&["a"]);
    work.did(&anna(), add_needing("b", &["a"]));
    work.did(&anna(), split("a", 2));
    work.did(&anna(), done("a.1"));
    assert_eq!(work.item("b").state(), ItemState::Waiting);
    work.did(&anna(), done("a.2"));
    assert_eq!(work.item("b").state(), ItemState::Ready);
}

#[test]
fn a_cycle_is_refused_by_name() {
    let mut work = Work::with(&["a"]);
    work.did(&anna(), add_needing("b", &["a"]));
    work.did(&anna(), add_needing("c", &["b"]));
    let refusal = work.refused(&anna(), needs("a", &["c"]));
    assert_eq!(refusal.to_string(), "these items would wait for each other forever: c -> b -> a -> c");
    assert!(matches!(work.refused(&anna(), needs("a", &["a"])), ItemRefusal::Cycle { .. }));
}

#[test]
fn a_cycle_through_a_container_is_refused_too() {
    let mut work = Work::with(&["box", "x"]);
    work.did(&anna(), needs("x", &["box"]));
    let refusal = work.refused(&anna(), add_part("box.1", "box", &["x"]));
    assert_eq!(refusal, ItemRefusal::Cycle { path: vec![id("x"), id("box"), id("box.1"), id("x")] });
    assert!(matches!(work.refused(&anna(), add_part("box.1", "box", &["box"])), ItemRefusal::Cycle { .. }));
    work.did(&anna(), split("box", 1));
    assert!(matches!(work.refused(&anna(), needs("box.1", &["x"])), ItemRefusal::Cycle { .. }));
    assert!(matches!(work.refused(&anna(), needs("box", &["x"])), ItemRefusal::ContainerWaits { .. }));
}

#[test]
fn of_two_claimants_one_has_it_and_the_other_is_told_until_when() {
    let (one, other) = (agent("one"), agent("other"));
    let mut work = Work::with(&["a"]);
    work.did(&one, claim("a"));
    let refusal = work.refused(&other, claim("a"));
    let until = at(600);
    assert_eq!(
        refusal,
        ItemRefusal::Held { doing: "claim", id: id("a"), holder: "claude one".to_owned(), until }
    );
    assert!(matches!(work.refused(&anna(), claim("a")), ItemRefusal::Held { .. }));
    assert_eq!(work.did(&one, claim("a")), [], "what one holds one holds");
}

#[test]
fn only_its_holder_or_a_person_works_on_a_held_item() {
    let (one, other) = (agent("one"), agent("other"));
    let mut work = Work::with(&["a", "b", "c", "d"]);
    for item in ["a", "b", "c", "d"] {
        work.did(&one, claim(item));
        for command in [start(item), done(item), release(item), block(item), split(item, 2)] {
            assert!(matches!(work.refused(&other, command), ItemRefusal::Held { .. }));
        }
    }
    work.did(&one, start("a"));
    work.did(&one, done("a"));
    work.did(&anna(), done("b"));
    work.did(&anna(), release("c"));
    work.did(&other, claim("c"));
    work.did(&anna(), start("d"));
    assert_eq!(work.item("d").lease.as_ref().map(|lease| &lease.actor), Some(&anna()));
}

#[test]
fn an_expired_lease_is_free() {
    let (one, other) = (agent("one"), agent("other"));
    let mut work = Work::with(&["a"]);
    work.did(&one, claim("a"));
    work.did(&one, start("a"));
    work.later(599);
    assert!(matches!(work.refused(&other, claim("a")), ItemRefusal::Held { .. }));
    work.later(1);
    work.did(&other, claim("a"));
    assert!(work.item("a").is_held_by(&other, work.now));
    assert!(matches!(work.refused(&one, done("a")), ItemRefusal::Held { .. }));
    work.later(6000);
    work.did(&one, done("a"));
}

#[test]
fn f6_a_lease_lasts_no_longer_than_its_length_when_the_clock_is_set_back() {
    let (one, other) = (agent("one"), agent("other"));
    let mut work = Work::with(&["a", "b"]);
    work.later(72_000);
    work.did(&one, claim("a"));
    work.did(&one, claim("b"));
    // The clocks of two machines, or one clock that is corrected, differ by a little.
    work.later(-60);
    assert!(matches!(work.refused(&other, claim("a")), ItemRefusal::Held { .. }));
    work.later(-71_000);
    let renewals = |work: &Work, actor: &Actor| command::items::renewals(work.book.iter(), actor, work.now);
    assert_eq!(renewals(&work, &one).len(), 2, "its holder's activity keeps it");
    work.did(&other, claim("a"));
    assert!(work.item("a").is_held_by(&other, work.now));
    work.did(&one, claim("b"));
    work.later(600);
    work.did(&other, claim("b"));
}

#[test]
fn b8_a_lease_outlasts_its_length_while_its_holder_is_seen_at_work() {
    let (one, other) = (agent("one"), agent("other"));
    let mut work = Work::with(&["a"]);
    work.did(&one, claim("a"));
    let length = 600;
    work.later(length - 60);
    work.seen = vec![(one.clone(), work.now)];
    let until = work.now + jiff::SignedDuration::from_secs(length);
    work.later(120);
    let held = ItemRefusal::Held { doing: "claim", id: id("a"), holder: one.to_string(), until };
    assert_eq!(work.refused(&other, claim("a")), held);
    work.later(length);
    work.did(&other, claim("a"));
}

#[test]
fn b7_an_item_that_was_claimed_counts_as_started_once_its_holder_pauses() {
    let one = agent("one");
    let mut work = Work::with(&["a", "b"]);
    work.did(&one, claim("b"));
    for event in command::items::set_aside(work.book.iter(), &one) {
        work.book.apply(&event, work.now, &one);
    }
    assert_eq!((&work.item("b").status, &work.item("b").lease), (&ItemStatus::Active, &None));
    assert_eq!(work.item("a").status, ItemStatus::Pending);
}

#[test]
fn a_claim_on_a_finished_item_is_refused() {
    let mut work = Work::with(&["a"]);
    work.did(&anna(), done("a"));
    assert_eq!(work.refused(&anna(), claim("a")), ItemRefusal::Finished { doing: "claim", id: id("a") });
    assert!(matches!(work.refused(&anna(), start("a")), ItemRefusal::Finished { .. }));
    assert!(matches!(work.refused(&anna(), block("a")), ItemRefusal::Finished { .. }));
    assert_eq!(work.did(&anna(), done("a")), [], "done is done");
}

#[test]
fn starting_holds_and_releasing_stops() {
    let one = agent("one");
    let mut work = Work::with(&["a"]);
    work.did(&one, start("a"));
    assert_eq!(work.item("a").status, ItemStatus::Active);
    assert!(work.item("a").is_held_by(&one, work.now));
    assert_eq!(work.did(&one, start("a")), []);
    work.did(&one, release("a"));
    assert_eq!((&work.item("a").status, &work.item("a").lease), (&ItemStatus::Pending, &None));
    assert_eq!(work.did(&one, release("a")), []);
}

#[test]
fn a_blocked_item_waits_until_it_is_unblocked() {
    let one = agent("one");
    let mut work = Work::with(&["a"]);
    work.did(&one, claim("a"));
    work.did(&one, block("a"));
    assert_eq!((work.item("a").state(), &work.item("a").lease), (ItemState::Waiting, &None));
    assert_eq!(work.did(&one, block("a")), []);
    for command in [start("a"), claim("a"), done("a")] {
        assert!(matches!(work.refused(&one, command), ItemRefusal::Blocked { .. }));
    }
    work.did(&one, ItemCommand::Unblock { id: id("a") });
    work.did(&one, done("a"));
}

#[test]
fn a_lease_is_renewed_when_over_half_of_it_has_gone() {
    let one = agent("one");
    let mut work = Work::with(&["a"]);
    work.did(&one, claim("a"));
    let renewals = |work: &Work, actor: &Actor| command::items::renewals(work.book.iter(), actor, work.now);
    work.later(300);
    assert_eq!(renewals(&work, &one), []);
    work.later(1);
    assert_eq!(renewals(&work, &agent("other")), []);
    assert_eq!(
        renewals(&work, &one),
        [ItemEvent::ItemLeaseRenewed { id: id("a"), until: at(901), seconds: 600 }]
    );
    work.later(299);
    assert_eq!(renewals(&work, &one), [], "what has expired is not renewed");
}

#[test]
fn fields_counters_title_and_order_are_set_and_again_is_not_twice() {
    let mut work = Work::with(&["a", "b"]);
    let edit = |more: i64| ItemEdit {
        title: Some("Another".to_owned()),
        order: Some(25),
        fields: BTreeMap::from([("voice".to_owned(), Value::from(4))]),
        counters: BTreeMap::from([("words".to_owned(), Count::By(more)), ("tries".to_owned(), Count::To(2))]),
        ..ItemEdit::default()
    };
    work.did(&anna(), ItemCommand::Set { id: id("a"), edit: edit(120) });
    let item = work.item("a");
    assert_eq!((item.title.as_str(), item.order()), ("Another", 25));
    assert_eq!((item.counters["words"], item.counters["tries"]), (120, 2));
    assert!(work.item("b").sort_key() < item.sort_key());
    assert_eq!(work.did(&anna(), ItemCommand::Set { id: id("a"), edit: edit(0) }), []);
    work.did(&anna(), ItemCommand::Set { id: id("a"), edit: edit(i64::MAX) });
    assert_eq!(work.item("a").counters["words"], i64::MAX);
    let far = ItemEdit { order: Some(u64::MAX), ..ItemEdit::default() };
    let far = ItemCommand::Set { id: id("a"), edit: far };
    assert!(matches!(work.refused(&anna(), far), ItemRefusal::OrderTooHigh { .. }));
}

#[test]
fn parts_are_sorted_behind_their_container_and_move_with_it() {
    let mut work = Work::with(&["a", "b"]);
    work.did(&anna(), split("a", 2));
    let sorted = |work: &Work| {
        let mut items: Vec<&Item> = work.book.iter().collect();
        items.sort_by_key(|item| item.sort_key());
        items.into_iter().map(|item| item.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(sorted(&work), ["a", "a.1", "a.2", "b"]);
    let edit = ItemEdit { order: Some(30), ..ItemEdit::default() };
    work.did(&anna(), ItemCommand::Set { id: id("a"), edit });
    assert_eq!(sorted(&work), ["b", "a", "a.1", "a.2"]);
}

#[test]
fn a_dependency_can_be_dropped() {
    let mut work = Work::with(&["a"]);
    work.did(&anna(), add_needing("b", &["a"]));
    let edit = ItemEdit { no_longer: vec![id("A")], ..ItemEdit::default() };
    work.did(&anna(), ItemCommand::Set { id: id("b"), edit });
    assert_eq!(work.item("b").state(), ItemState::Ready);
    work.did(&anna(), needs("a", &["b"]));
}

#[test]
fn going_back_restores_items_and_leaves_leases_alone() {
    let one = agent("one");
    let mut work = Work::with(&["a", "b"]);
    let before = work.session.version;
    work.did(&one, claim("b"));
    work.did(&anna(), done("a"));
    work.did(&anna(), add("c"));
    work.keep(&anna(), &[Event::Restored { to_version: before }]);
    let restored = ItemBook::fold(&work.log);
    assert!(!restored.get(&id("a")).expect("it was there").is_done());
    assert!(restored.get(&id("b")).expect("it was there").is_held_by(&one, work.now));
    assert_eq!(restored.get(&id("c")), None);
}

#[test]
fn events_are_kept_flat_and_read_back() {
    let mut work = Work::with(&["a"]);
    work.did(&agent("one"), start("a"));
    work.did(&agent("one"), done("a"));
    for recorded in &work.log {
        let body = serde_json::to_string(&recorded.event).expect("it can be written");
        assert!(body.contains(&format!("\"type\":\"{}\"", recorded.event.kind())), "{body}");
        assert_eq!(Event::read(recorded.event.kind(), &body), recorded.event);
    }
    let newer = Event::read("item_teleported", r#"{"type":"item_teleported","id":"a"}"#);
    assert_eq!(newer, Event::Unknown { kind: "item_teleported".to_owned() });
}

#[test]
fn b3_a_lease_whose_holder_is_gone_holds_nothing() {
    let mut work = Work::with(&["a"]);
    work.did(&agent("one"), claim("a"));
    assert!(work.try_to(&agent("two"), claim("a")).is_err(), "the holder may be at work");
    work.gone = vec![agent("one")];
    work.did(&agent("two"), claim("a"));
    assert!(work.item("a").is_held_by(&agent("two"), work.now));
}

#[test]
fn b1_an_id_is_free_again_in_the_next_round_and_not_before() {
    let mut work = Work::with(&["security-1"]);
    work.did(&anna(), add("dependent-1"));
    let refused = work.refused(&anna(), add("Security-1"));
    assert_eq!(refused, ItemRefusal::Exists { existing: id("security-1") });
    work.keep(&anna(), &[Event::RunCompleted]);
    work.refused_because_it_exists("security-1");
    let run = work.session.run().expect("a run").clone();
    let phases = run.phases.iter().map(|phase| phase.stub.clone()).collect();
    let next = RunPlan { workflow: run.workflow, phases, skips: Vec::new() };
    let begun = command::decide(&work.session, Command::StartRun { run: next, is_next: false });
    work.keep(&anna(), &begun.expect("another run"));
    work.did(&anna(), add("security-1"));
    assert_eq!(work.counts(), (0, 1), "one in this round");
    assert_eq!(work.item("security-1").run.ordinal, 2);
    assert_eq!(work.session.runs[0].phases[0].items.total, 2, "the first round keeps its count");
    assert_eq!(ItemBook::fold(&work.log).get(&id("security-1")), work.book.get(&id("security-1")));
}
