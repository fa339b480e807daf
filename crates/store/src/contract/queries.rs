//! Contract: lookups and lists.

use super::Factory;
use super::rows::{WORKTREE, batch, begin, go_on, id, line, listed_ids, moment, paused, with};
use crate::{Batch, Filter, SessionRow, Store};

pub(super) fn what_is_not_there_is_not_found(make: &mut Factory<'_>) {
    let store = make();
    assert_eq!(store.load(&id("none")).unwrap(), None);
    assert_eq!(store.events(&id("none"), 0, None).unwrap(), []);
    assert_eq!(store.definition("none").unwrap(), None);
    assert_eq!(store.active(WORKTREE).unwrap(), None);
    assert_eq!(store.list(&Filter::default()).unwrap(), []);
    assert!(store.with_prefix("", 9).unwrap().is_empty());
    assert_eq!(store.with_number(1).unwrap(), None);
    assert_eq!(store.recall("none", moment(0)).unwrap(), None);
    assert_eq!(store.changes(0, 9).unwrap(), []);
    assert_eq!(store.cursor().unwrap(), 0);
    assert_eq!(store.agents(None).unwrap(), []);
    assert_eq!(store.agent("claude", "none").unwrap(), None);
}

pub(super) fn ids_are_loaded_exactly(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [line("Feature-X")]);
    assert!(store.load(&id("Feature-X")).unwrap().is_some());
    assert_eq!(store.load(&id("feature-x")).unwrap(), None);
    assert_eq!(store.events(&id("feature-x"), 0, None).unwrap(), []);
}

pub(super) fn events_are_read_after_a_version_up_to_a_limit(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [paused("first"), paused("beside")]);
    store.append(&batch([go_on(paused("first"), 4)])).unwrap();
    let versions = |after, limit| -> Vec<u64> {
        store.events(&id("first"), after, limit).unwrap().iter().map(|event| event.version).collect()
    };
    assert_eq!(versions(0, None), [1, 2, 3, 4, 5]);
    assert_eq!(versions(2, None), [3, 4, 5]);
    assert_eq!(versions(2, Some(2)), [3, 4]);
    assert_eq!(versions(0, Some(0)), [0_u64; 0]);
    assert_eq!(versions(5, None), [0_u64; 0]);
    assert_eq!(versions(u64::MAX, Some(usize::MAX)), [0_u64; 0]);
}

pub(super) fn prefixes_find_ids_whatever_the_case(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, ["abc-long", "ABC", "abd", "ab_c", "b", "abc.x", "zz"].map(paused));
    let found = |prefix: &str, limit| -> Vec<String> {
        store.with_prefix(prefix, limit).unwrap().into_iter().map(String::from).collect()
    };
    assert_eq!(found("abc", 9), ["ABC", "abc.x", "abc-long"]);
    assert_eq!(found("ABC-", 9), ["abc-long"]);
    assert_eq!(found("abc", 2), ["ABC", "abc.x"]);
    assert_eq!(found("z", 9), ["zz"]);
    assert_eq!(found("ab_", 9), ["ab_c"]);
    assert_eq!(found("", 9).len(), 7);
    for nothing in ["abcd", "%", "_", "'", "ab*", "ü", "~"] {
        assert_eq!(found(nothing, 9), [""; 0], "{nothing}");
    }
}

pub(super) fn numbers_are_given_once(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [paused("first"), paused("second")]);
    // A refused session uses up no number, and a changed session keeps its own.
    store.append(&batch([begin(paused("third")), begin(paused("FIRST"))])).unwrap_err();
    store.append(&batch([go_on(paused("first"), 1)])).unwrap();
    with(&mut *store, [paused("fourth")]);
    let number = |name: &str| store.load(&id(name)).unwrap().unwrap().number;
    assert_eq!((number("first"), number("second"), number("fourth")), (1, 2, 3));
    for name in ["first", "second", "fourth"] {
        assert_eq!(store.with_number(number(name)).unwrap(), Some(id(name)));
    }
    for listed in store.list(&Filter::default()).unwrap() {
        assert_eq!(listed.number, number(listed.row.id.as_str()));
    }
    assert_eq!(store.with_number(0).unwrap(), None);
    assert_eq!(store.with_number(4).unwrap(), None);
    assert_eq!(store.with_number(u64::MAX).unwrap(), None);
}

/// A session that arrives with a number keeps this number. Sessions that are created later get higher numbers.
pub(super) fn a_number_that_is_known_already_is_given_once(make: &mut Factory<'_>) {
    let mut store = make();
    let mut begin_as = |name: &str, number: u64| {
        let numbers = [(id(name), number)].into();
        store.append(&Batch { numbers, ..batch([begin(paused(name))]) }).unwrap();
        store.load(&id(name)).unwrap().unwrap().number
    };
    assert_eq!(begin_as("third", 3), 3);
    assert_eq!(begin_as("first", 1), 1);
    assert_eq!(begin_as("another", 3), 4, "it is given already");
    assert_eq!(begin_as("nothing", 0), 5, "no number");
    with(&mut *store, [paused("new")]);
    assert_eq!(store.with_number(6).unwrap(), Some(id("new")));
    assert_eq!(store.with_number(3).unwrap(), Some(id("third")));
    assert_eq!(store.with_number(2).unwrap(), None);
}

pub(super) fn changes_follow_the_cursor(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [paused("first"), paused("second")]);
    store.append(&batch([go_on(paused("first"), 2)])).unwrap();
    let all = store.changes(0, 100).unwrap();
    let seen: Vec<(&str, u64)> =
        all.iter().map(|change| (change.session.as_str(), change.event.version)).collect();
    assert_eq!(seen, [("first", 1), ("second", 1), ("first", 2), ("first", 3)]);
    assert!(all.windows(2).all(|pair| pair[0].cursor < pair[1].cursor));
    assert_eq!(store.cursor().unwrap(), all[3].cursor);
    assert_eq!(store.changes(all[1].cursor, 1).unwrap(), all[2..3]);
    assert_eq!(store.changes(all[3].cursor, 100).unwrap(), []);
    assert_eq!(store.events(&id("first"), 1, None).unwrap(), [all[2].event.clone(), all[3].event.clone()]);
}

pub(super) fn streams_of_one_batch_keep_their_order_in_the_changes(make: &mut Factory<'_>) {
    let mut store = make();
    store.append(&batch([begin(line("active")), begin(paused("paused"))])).unwrap();
    let order: Vec<String> =
        store.changes(0, 9).unwrap().into_iter().map(|change| change.session.into()).collect();
    assert_eq!(order, ["active", "paused"]);
}

fn a_small_store(make: &mut Factory<'_>) -> Box<dyn Store> {
    let mut store = make();
    let row = |name: &str, seconds, lifecycle: &str| SessionRow {
        updated_at: moment(seconds),
        lifecycle: lifecycle.to_owned(),
        ..line(name)
    };
    with(
        &mut *store,
        [
            // The clock runs backwards in this test, but the list still begins with the last change.
            row("old", 9, "completed"),
            row("gone", 7, "abandoned"),
            SessionRow { layout: "theirs".to_owned(), exclusive: false, ..row("tie-a", 5, "active") },
            SessionRow { worktree: "/elsewhere".to_owned(), ..row("tie-b", 5, "active") },
            row("new", 1, "paused"),
        ],
    );
    store
}

pub(super) fn lists_begin_with_the_newest_activity(make: &mut Factory<'_>) {
    let mut store = a_small_store(make);
    assert_eq!(listed_ids(&*store, &Filter::default()), ["new", "tie-b", "tie-a", "gone", "old"]);
    let some = |limit| Filter { limit: Some(limit), ..Filter::default() };
    assert_eq!(listed_ids(&*store, &some(2)), ["new", "tie-b"]);
    assert_eq!(listed_ids(&*store, &some(0)), [""; 0]);
    assert_eq!(listed_ids(&*store, &some(usize::MAX)).len(), 5);
    let later = SessionRow { updated_at: moment(0), lifecycle: "completed".to_owned(), ..line("old") };
    store.append(&batch([go_on(later, 1)])).unwrap();
    assert_eq!(listed_ids(&*store, &some(2)), ["old", "new"]);
}

pub(super) fn lists_are_filtered(make: &mut Factory<'_>) {
    let store = a_small_store(make);
    let lifecycles = |names: &[&str]| Filter {
        lifecycles: names.iter().map(|&name| name.to_owned()).collect(),
        ..Filter::default()
    };
    assert_eq!(listed_ids(&*store, &lifecycles(&["active"])), ["tie-b", "tie-a"]);
    assert_eq!(
        listed_ids(&*store, &lifecycles(&["completed", "active", "paused"])),
        ["new", "tie-b", "tie-a", "old"]
    );
    assert_eq!(
        listed_ids(&*store, &Filter { limit: Some(1), ..lifecycles(&["active", "abandoned"]) }),
        ["tie-b"]
    );
    let here = Filter { worktree: Some(WORKTREE.to_owned()), ..lifecycles(&["active"]) };
    assert_eq!(listed_ids(&*store, &here), ["tie-a"]);
    let layout = Filter { layout: Some("native".to_owned()), ..Filter::default() };
    assert_eq!(listed_ids(&*store, &layout), ["new", "tie-b", "gone", "old"]);
    let nothing = Filter { layout: Some("' OR 1=1".to_owned()), ..Filter::default() };
    assert_eq!(listed_ids(&*store, &nothing), [""; 0]);
}
