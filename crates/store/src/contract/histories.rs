//! Contract: histories written by other replicas.

use super::Factory;
use super::rows::{batch, begin, everything, go_on, id, item, key, line, moment, with};
use crate::chain::{self, Given, Hash, SALT_BYTES, Seal};
use crate::{
    Arrival, Arrived, Batch, ContentRow, DefinitionRow, Error, KeyRow, SessionRow, Snapshot, Store,
    StreamAppend, TakenHistory,
};
use std::collections::BTreeMap;

fn salts(events: u64, salt: u8) -> BTreeMap<u64, Given> {
    (1..=events).map(|version| (version, Given::Salt([salt; SALT_BYTES]))).collect()
}

/// A history of `events` events. The first `shared` ones may already be in the store.
fn history(name: &str, expected: u64, shared: u64, events: u64, salt: u8) -> TakenHistory {
    let row = SessionRow { version: 0, machine: Some("laptop".to_owned()), ..line(name) };
    let StreamAppend { events, row, snapshot, .. } = go_on(row, events);
    let seals = salts(row.version, salt);
    let links = chain::seal(None, &events, |event| seals[&event.version]);
    let arrival = Arrival {
        session: row.id.clone(),
        replica: "c0ffee".to_owned(),
        stream: links[0].link,
        version: row.version,
        head: links.last().expect("a history has events").link,
        at: moment(60),
    };
    let items = vec![item(name, "one")];
    let snapshot = snapshot.expect("rows of a session have a snapshot");
    TakenHistory { expected, shared, events, seals, row, snapshot, items, arrival: Some(arrival) }
}

fn only<const N: usize>(histories: [TakenHistory; N]) -> Arrived {
    Arrived { histories: histories.into(), ..Arrived::default() }
}

fn head(store: &dyn Store, name: &str) -> Option<Hash> {
    store.chain(&id(name)).expect("a chain is read").head
}

pub(super) fn a_history_from_elsewhere_is_kept_as_it_came(make: &mut Factory<'_>) {
    let mut store = make();
    let given = history("first", 0, 0, 3, 7);
    store.take_histories(&only([given.clone()])).expect("it is taken");
    let loaded = store.load(&id("first")).expect("it loads").expect("it is there");
    assert_eq!((loaded.row, loaded.snapshot), (given.row.clone(), Some(given.snapshot.clone())));
    assert_eq!(store.events(&id("first"), 0, None).expect("events are read"), given.events);
    let kept = store.chain(&id("first")).expect("a chain is read");
    assert_eq!(chain::check(&kept, &given.events, &BTreeMap::new()), []);
    let arrival = given.arrival.clone().expect("it came from elsewhere");
    assert_eq!(kept.head, Some(arrival.head));
    assert_eq!(store.arrival(&id("first")).expect("it is read"), Some(arrival.clone()));
    assert_eq!(store.arrival(&id("second")).expect("it is read"), None);
    assert_eq!(store.arrivals().expect("arrivals are read"), [arrival]);
    assert_eq!(
        store.item(&id("first"), &given.items[0].id).expect("it is read"),
        Some(given.items[0].clone())
    );
    assert_eq!(store.changes(0, 10).expect("changes are read").len(), 3);
}

pub(super) fn a_history_takes_the_place_of_another_after_what_they_share(make: &mut Factory<'_>) {
    let mut store = make();
    store.take_histories(&only([history("first", 0, 0, 3, 7)])).expect("it is taken");
    with(&mut *store, [line("second")]);
    let before = store.cursor().expect("there is a cursor");
    let mut other = history("first", 3, 2, 4, 7);
    r#"{"another":"third"}"#.clone_into(&mut other.events[2].body);
    other.arrival = None;
    store.take_histories(&only([other.clone()])).expect("it is taken");
    assert_eq!(store.events(&id("first"), 0, None).expect("events are read"), other.events);
    let kept = store.chain(&id("first")).expect("a chain is read");
    assert_eq!(chain::check(&kept, &other.events, &BTreeMap::new()), []);
    assert_eq!(store.arrivals().expect("arrivals are read"), []);
    let newest = store.cursor().expect("there is a cursor");
    let sessions = store.changed_sessions(before).expect("changed sessions are read");
    assert_eq!(sessions, ([id("first")].into(), newest), "not the second, which is older");
    assert_eq!(store.changed_sessions(newest).expect("they are read"), ([].into(), newest));
    let changed: Vec<u64> = store
        .changes(before, 10)
        .expect("changes are read")
        .iter()
        .map(|change| change.event.version)
        .collect();
    assert_eq!(changed, [3, 4], "only what is new counts as a change");

    let sealed: Vec<Seal> = kept.seals.values().copied().collect();
    store
        .append(&super::rows::batch([go_on(SessionRow { version: 4, ..other.row }, 1)]))
        .expect("it is continued here");
    let kept = store.chain(&id("first")).expect("a chain is read");
    assert_eq!(kept.seals.values().take(4).copied().collect::<Vec<_>>(), sealed);
}

pub(super) fn a_history_decided_on_another_version_changes_nothing(make: &mut Factory<'_>) {
    let mut store = make();
    store.take_histories(&only([history("first", 0, 0, 3, 7)])).expect("it is taken");
    let before = (everything(&*store), head(&*store, "first"));
    let refused = store.take_histories(&only([history("other", 0, 0, 2, 1), history("first", 2, 2, 4, 7)]));
    assert!(matches!(refused, Err(Error::Conflict { expected: 2, found: 3, .. })), "{refused:?}");
    assert_eq!((everything(&*store), head(&*store, "first")), before);
    assert!(matches!(
        store.take_histories(&only([history("FIRST", 0, 0, 3, 7)])),
        Err(Error::IdTaken { .. })
    ));
    assert_eq!(everything(&*store), before.0);
}

pub(super) fn a_history_that_is_not_whole_is_refused(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [line("second")]);
    let before = everything(&*store);
    let cases: [fn(&mut TakenHistory); 5] = [
        |history| history.events.clear(),
        |history| drop(history.events.remove(1)),
        |history| history.shared = 1,
        |history| {
            history.seals.remove(&2);
        },
        |history| history.snapshot = Snapshot { version: 9, ..history.snapshot.clone() },
    ];
    for break_it in cases {
        let mut history = history("first", 0, 0, 3, 7);
        break_it(&mut history);
        store.take_histories(&only([history])).expect_err("it is not whole");
        assert_eq!(everything(&*store), before);
    }
}

pub(super) fn known_definitions_and_contents_stay_as_they_are(make: &mut Factory<'_>) {
    let mut store = make();
    let definition = |body: &str| DefinitionRow { hash: "d1".to_owned(), body: body.to_owned() };
    let content = |body: &str| ContentRow { hash: "c1".to_owned(), body: body.as_bytes().to_vec() };
    let mut batch = super::rows::batch([begin(line("second"))]);
    batch.definitions.push(definition("ours"));
    store.append(&batch).expect("it is kept");
    let take = |store: &mut dyn Store, name: &str, body: &str| {
        store
            .take_histories(&Arrived {
                definitions: vec![definition("theirs")],
                contents: vec![content(body)],
                ..only([history(name, 0, 0, 1, 7)])
            })
            .expect("it is taken");
    };
    take(&mut *store, "first", "one");
    take(&mut *store, "third", "two");
    assert_eq!(store.definition("d1").expect("it is read").as_deref(), Some("ours"));
    assert_eq!(store.content("c1").expect("it is read"), Some(b"one".to_vec()));
}

pub(super) fn purged_contents_go_and_answers_about_the_session_are_emptied(make: &mut Factory<'_>) {
    let mut store = make();
    for (name, about, hash) in [("k1", "first", "c1"), ("k2", "second", "c2")] {
        let answer = format!("{{\"session_id\":\"{about}\"}}");
        let content = ContentRow { hash: hash.to_owned(), body: hash.as_bytes().to_vec() };
        let key = Some(KeyRow { answer, ..key(name, moment(1)) });
        let other = SessionRow { worktree: format!("/{name}"), ..line(&format!("of-{name}")) };
        store.append(&Batch { key, contents: vec![content], ..batch([begin(other)]) }).expect("it is kept");
    }
    let arrived = Arrived {
        purged: vec![id("first")],
        purged_contents: vec!["c1".to_owned()],
        ..only([history("first", 0, 0, 1, 7)])
    };
    store.take_histories(&arrived).expect("it is taken");
    assert_eq!(store.content("c1").expect("it is read"), None);
    assert_eq!(store.content("c2").expect("it is read"), Some(b"c2".to_vec()));
    let answer = |name: &str| store.recall(name, moment(0)).expect("it is read").expect("it is there").answer;
    assert_eq!((answer("k1").as_str(), answer("k2").as_str()), ("", "{\"session_id\":\"second\"}"));
}

pub(super) fn a_copy_that_is_not_needed_goes_with_all_that_it_had(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [line("second")]);
    let before = store.load(&id("second")).expect("it loads");
    store.take_histories(&only([history("first", 0, 0, 3, 7)])).expect("it is taken");
    let gone = |version| Arrived { gone: vec![(id("first"), version)], ..Arrived::default() };
    assert!(matches!(store.take_histories(&gone(2)), Err(Error::Conflict { found: 3, .. })));
    store.take_histories(&gone(3)).expect("it goes");
    assert_eq!(store.load(&id("first")).expect("it is looked for"), None);
    assert_eq!(store.events(&id("first"), 0, None).expect("events are read"), []);
    assert_eq!(store.arrivals().expect("arrivals are read"), []);
    assert_eq!(store.load(&id("second")).expect("it loads"), before);
    assert_eq!(store.cursor().expect("there is a cursor"), 4, "a cursor is not given twice");
    store.take_histories(&only([history("first", 0, 0, 2, 7)])).expect("the id is free again");
}
