//! Contract: items. Rows are stored with a batch and found by the queries that commands use.

use super::Factory;
use super::rows::{batch, begin, everything, go_on, id, item, item_id, line, moment, paused, with};
use crate::{Batch, Error, ItemFilter, ItemRow, ItemsReplaced, ReadyQuery, Store};
use model::item::ItemState;

fn keep(store: &mut dyn Store, items: Vec<ItemRow>) {
    store.append(&Batch { items, ..Batch::default() }).unwrap();
}

fn at(name: &str, place: i64) -> ItemRow {
    ItemRow { place, ..item("first", name) }
}

fn held(name: &str, place: i64, holder: &str, seconds: i64) -> ItemRow {
    ItemRow { holder: Some(holder.to_owned()), lease_until: Some(moment(seconds)), ..at(name, place) }
}

fn names(rows: &[ItemRow]) -> Vec<&str> {
    rows.iter().map(|row| row.id.as_str()).collect()
}

pub(super) fn an_item_comes_back_as_it_was_given(make: &mut Factory<'_>) {
    let mut store = make();
    let row = ItemRow {
        id: item_id("impl-1.2"),
        run: "it's a \"run\" %_#2".to_owned(),
        phase: "Gate; DROP TABLE items".to_owned(),
        parent: Some(item_id("impl-1")),
        place: i64::MAX,
        state: ItemState::Waiting,
        status: "blocked".to_owned(),
        holder: Some("agent:claude:a1@workshop".to_owned()),
        lease_until: Some(moment(60)),
        depends_on: vec![item_id("impl-3"), item_id("impl-2")],
        body: "\u{1f980} ".repeat(10_000),
        ..item("first", "x")
    };
    store.append(&Batch { items: vec![row.clone()], ..batch([begin(line("first"))]) }).unwrap();
    assert_eq!(store.item(&id("first"), &row.id).unwrap(), Some(row.clone()));
    assert_eq!(store.items(&id("first"), &ItemFilter::default()).unwrap(), [row]);
}

pub(super) fn an_item_is_one_whatever_its_case_and_of_its_session_alone(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [paused("first"), paused("second")]);
    keep(&mut *store, vec![item("first", "IMPL-1")]);
    assert_eq!(store.item(&id("first"), &item_id("impl-1")).unwrap(), Some(item("first", "IMPL-1")));
    assert_eq!(store.item(&id("second"), &item_id("impl-1")).unwrap(), None);
    assert_eq!(store.item(&id("FIRST"), &item_id("impl-1")).unwrap(), None);
    keep(&mut *store, vec![item("first", "impl-1"), item("second", "impl-1")]);
    assert_eq!(names(&store.items(&id("first"), &ItemFilter::default()).unwrap()), ["impl-1"]);
    assert_eq!(names(&store.items(&id("second"), &ItemFilter::default()).unwrap()), ["impl-1"]);
}

pub(super) fn a_changed_item_replaces_what_was_kept(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [paused("first")]);
    keep(&mut *store, vec![held("a", 10, "one", 60), at("b", 20)]);
    let changed = ItemRow { state: ItemState::Done, status: "completed".to_owned(), ..at("a", 30) };
    keep(&mut *store, vec![changed.clone()]);
    assert_eq!(store.item(&id("first"), &item_id("a")).unwrap(), Some(changed));
    assert_eq!(names(&store.items(&id("first"), &ItemFilter::default()).unwrap()), ["b", "a"]);
    assert_eq!(store.held_items(&id("first"), "one").unwrap(), []);
}

pub(super) fn items_are_listed_by_place_and_filtered(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [paused("first")]);
    let part = |name: &str, place| ItemRow { parent: Some(item_id("a")), ..at(name, place) };
    keep(
        &mut *store,
        vec![
            at("c", 30),
            ItemRow { state: ItemState::Waiting, ..at("a", 10) },
            part("a.2", 12),
            part("a.1", 11),
            ItemRow { state: ItemState::Done, status: "completed".to_owned(), ..at("b", 20) },
            ItemRow { phase: "review".to_owned(), ..at("d", 5) },
            ItemRow { run: "ship#2".to_owned(), ..at("e", 5) },
            at("C2", 30),
        ],
    );
    let all = ItemFilter::default();
    let found = |filter: ItemFilter| -> Vec<String> {
        let rows = store.items(&id("first"), &filter).unwrap();
        rows.into_iter().map(|row| row.id.to_string()).collect()
    };
    assert_eq!(found(all.clone()), ["d", "e", "a", "a.1", "a.2", "b", "c", "C2"]);
    assert_eq!(found(ItemFilter { limit: Some(2), ..all.clone() }), ["d", "e"]);
    let here = ItemFilter { run: Some("ship#1".to_owned()), phase: Some("build".to_owned()), ..all.clone() };
    assert_eq!(found(here.clone()), ["a", "a.1", "a.2", "b", "c", "C2"]);
    let ready = ItemFilter { state: Some(ItemState::Ready), limit: Some(3), ..here.clone() };
    assert_eq!(found(ready), ["a.1", "a.2", "c"]);
    assert_eq!(found(ItemFilter { state: Some(ItemState::Waiting), ..here.clone() }), ["a"]);
    assert_eq!(found(ItemFilter { status: Some("completed".to_owned()), ..here }), ["b"]);
    assert_eq!(found(ItemFilter { parent: Some(item_id("A")), ..all }), ["a.1", "a.2"]);
    assert_eq!(store.items(&id("none"), &ItemFilter::default()).unwrap(), []);
}

pub(super) fn the_first_ready_item_is_one_that_nobody_else_holds(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [paused("first")]);
    keep(
        &mut *store,
        vec![
            ItemRow { state: ItemState::Done, ..at("done", 1) },
            ItemRow { state: ItemState::Waiting, ..at("waits", 2) },
            ItemRow { phase: "review".to_owned(), ..at("later", 3) },
            ItemRow { run: "ship#2".to_owned(), ..at("other-run", 3) },
            held("theirs", 4, "two", 60),
            held("mine", 6, "one", 60),
            held("expired", 5, "two", 30),
            at("free", 7),
        ],
    );
    let ready = |holder: &str, limit| -> Vec<String> {
        let query = ReadyQuery { run: "ship#1", phase: "build", holder, now: moment(30), limit };
        let rows = store.ready_items(&id("first"), &query).unwrap();
        rows.into_iter().map(|row| row.id.to_string()).collect()
    };
    assert_eq!(ready("one", 9), ["expired", "mine", "free"]);
    assert_eq!(ready("two", 2), ["theirs", "expired"]);
    assert_eq!(ready("three", 1), ["expired"]);
    assert_eq!(ready("three", 0), [""; 0]);
}

pub(super) fn held_items_are_found_by_their_holder(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [paused("first"), paused("second")]);
    keep(
        &mut *store,
        vec![
            held("b", 20, "one", 60),
            held("a", 10, "one", -60),
            held("c", 5, "two", 60),
            at("d", 1),
            ItemRow { session: id("second"), ..held("e", 1, "one", 60) },
        ],
    );
    assert_eq!(names(&store.held_items(&id("first"), "one").unwrap()), ["a", "b"]);
    assert_eq!(store.held_items(&id("first"), "").unwrap(), []);
}

pub(super) fn dependents_are_what_the_rows_say(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [paused("first"), paused("second")]);
    let needing = |name: &str, place, needs: &[&str]| ItemRow {
        depends_on: needs.iter().map(|need| item_id(need)).collect(),
        ..at(name, place)
    };
    keep(
        &mut *store,
        vec![
            at("a", 10),
            needing("c", 30, &["a", "b"]),
            needing("b", 20, &["A"]),
            ItemRow { session: id("second"), ..needing("d", 1, &["a"]) },
        ],
    );
    let dependents = |store: &dyn Store, of: &str| -> Vec<String> {
        let rows = store.dependents(&id("first"), &item_id(of)).unwrap();
        rows.into_iter().map(|row| row.id.to_string()).collect()
    };
    assert_eq!(dependents(&*store, "a"), ["b", "c"]);
    assert_eq!(dependents(&*store, "B"), ["c"]);
    keep(&mut *store, vec![needing("c", 30, &["b"]), needing("b", 20, &[])]);
    assert_eq!(dependents(&*store, "a"), [""; 0]);
    assert_eq!(dependents(&*store, "b"), ["c"]);
}

pub(super) fn all_items_of_a_session_are_replaced(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [paused("first"), paused("second")]);
    let needing = ItemRow { depends_on: vec![item_id("a")], ..at("b", 20) };
    keep(&mut *store, vec![at("a", 10), needing, item("second", "a")]);
    let replaced = ItemsReplaced { session: id("first"), rows: vec![at("c", 30), at("a", 40)] };
    let replacing = Batch { replace_items: vec![replaced], ..batch([go_on(paused("first"), 1)]) };
    store.append(&replacing).unwrap();
    assert_eq!(store.items(&id("first"), &ItemFilter::default()).unwrap(), [at("c", 30), at("a", 40)]);
    assert_eq!(store.dependents(&id("first"), &item_id("a")).unwrap(), []);
    assert_eq!(names(&store.items(&id("second"), &ItemFilter::default()).unwrap()), ["a"]);
}

pub(super) fn items_of_no_session_are_refused(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [paused("first")]);
    let before = everything(&*store);
    let stray = ItemsReplaced { session: id("first"), rows: vec![item("second", "a")] };
    for batch in [
        Batch { items: vec![item("none", "a")], ..batch([go_on(paused("first"), 1)]) },
        Batch { items: vec![item("FIRST", "a")], ..Batch::default() },
        Batch {
            replace_items: vec![ItemsReplaced { session: id("none"), rows: Vec::new() }],
            ..Batch::default()
        },
        Batch { replace_items: vec![stray], ..Batch::default() },
    ] {
        let told = store.append(&batch);
        assert!(matches!(told, Err(Error::Engine { .. })), "{told:?}");
        assert_eq!(everything(&*store), before);
    }
}
