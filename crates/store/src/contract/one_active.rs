//! Contract: one active session per worktree.

use super::Factory;
use super::rows::{WORKTREE, batch, begin, everything, go_on, id, line, paused, with};
use crate::{Error, SessionRow, Store, StreamAppend};

fn active(store: &dyn Store, worktree: &str) -> Option<String> {
    let active = store.active(worktree).unwrap();
    let row = active.as_ref().map(|id| store.load(id).unwrap().unwrap().row);
    assert_eq!(store.active_row(worktree).unwrap(), row);
    active.map(String::from)
}

fn refused(store: &mut dyn Store, streams: Vec<StreamAppend>) {
    let before = everything(store);
    let told = store.append(&batch(streams));
    assert!(matches!(&told, Err(Error::ActiveTaken { worktree }) if worktree == WORKTREE), "{told:?}");
    assert_eq!(everything(store), before);
}

pub(super) fn a_worktree_has_one_active_session(make: &mut Factory<'_>) {
    let mut store = make();
    assert_eq!(active(&*store, WORKTREE), None);
    with(&mut *store, [line("first"), paused("second")]);
    assert_eq!(active(&*store, WORKTREE).as_deref(), Some("first"));
    refused(&mut *store, vec![begin(line("third"))]);
    refused(&mut *store, vec![go_on(line("second"), 1)]);
    refused(&mut *store, vec![begin(SessionRow { layout: "ccw".to_owned(), ..line("third") })]);
    store.append(&batch([go_on(line("first"), 1)])).unwrap();
    assert_eq!(active(&*store, WORKTREE).as_deref(), Some("first"));
}

pub(super) fn pausing_one_and_starting_another_passes_in_both_orders(make: &mut Factory<'_>) {
    for starting_first in [false, true] {
        let mut store = make();
        with(&mut *store, [line("first")]);
        let mut streams = vec![go_on(paused("first"), 1), begin(line("second"))];
        if starting_first {
            streams.reverse();
        }
        store.append(&batch(streams)).unwrap();
        assert_eq!(active(&*store, WORKTREE).as_deref(), Some("second"));
        assert_eq!(store.load(&id("first")).unwrap().unwrap().row.lifecycle, "paused");
    }
}

pub(super) fn pausing_one_and_resuming_another_passes_in_both_orders(make: &mut Factory<'_>) {
    for resuming_first in [false, true] {
        let mut store = make();
        with(&mut *store, [paused("first"), line("second")]);
        let mut streams = vec![go_on(paused("second"), 1), go_on(line("first"), 1)];
        if resuming_first {
            streams.reverse();
        }
        store.append(&batch(streams)).unwrap();
        assert_eq!(active(&*store, WORKTREE).as_deref(), Some("first"));
    }
}

pub(super) fn two_active_sessions_in_one_batch_are_refused(make: &mut Factory<'_>) {
    let mut store = make();
    refused(&mut *store, vec![begin(line("first")), begin(line("second"))]);
    assert_eq!(active(&*store, WORKTREE), None);
}

pub(super) fn parallel_sessions_are_free_of_it(make: &mut Factory<'_>) {
    let mut store = make();
    let parallel = |name: &str| SessionRow { parallel: true, ..line(name) };
    with(&mut *store, [parallel("first"), line("second"), parallel("third")]);
    assert_eq!(active(&*store, WORKTREE).as_deref(), Some("second"));
    refused(&mut *store, vec![go_on(line("first"), 1)]);
}

pub(super) fn layouts_that_are_not_exclusive_are_free_of_it(make: &mut Factory<'_>) {
    let mut store = make();
    let of = |layout: &str, exclusive, name: &str| SessionRow {
        layout: layout.to_owned(),
        exclusive,
        ..line(name)
    };
    with(&mut *store, [of("theirs", false, "first"), of("theirs", false, "second")]);
    assert_eq!(active(&*store, WORKTREE), None);
    with(&mut *store, [of("strict", true, "third")]);
    assert_eq!(active(&*store, WORKTREE).as_deref(), Some("third"));
    refused(&mut *store, vec![begin(of("native", true, "fourth"))]);
    refused(&mut *store, vec![go_on(of("theirs", true, "first"), 1)]);
}

pub(super) fn worktrees_of_other_machines_are_free_of_it(make: &mut Factory<'_>) {
    let mut store = make();
    let far = |name: &str| SessionRow { machine: Some("another".to_owned()), ..line(name) };
    with(&mut *store, [far("first"), line("second"), far("third")]);
    assert_eq!(active(&*store, WORKTREE).as_deref(), Some("second"));
    refused(&mut *store, vec![go_on(line("first"), 1)]);
}

pub(super) fn other_worktrees_are_free_of_it(make: &mut Factory<'_>) {
    let mut store = make();
    let elsewhere = |name: &str| SessionRow { worktree: "/elsewhere".to_owned(), ..line(name) };
    with(&mut *store, [line("first"), elsewhere("second")]);
    assert_eq!(active(&*store, "/elsewhere").as_deref(), Some("second"));
    // A session that is active in another worktree may not move to this worktree either.
    refused(&mut *store, vec![go_on(line("second"), 1)]);
    store.append(&batch([go_on(paused("first"), 1), go_on(line("second"), 1)])).unwrap();
    assert_eq!(active(&*store, WORKTREE).as_deref(), Some("second"));
    assert_eq!(active(&*store, "/elsewhere"), None);
}

pub(super) fn a_session_that_ended_leaves_its_place(make: &mut Factory<'_>) {
    for lifecycle in ["paused", "completed", "failed", "abandoned"] {
        let mut store = make();
        with(&mut *store, [line("first")]);
        let ended = SessionRow { lifecycle: lifecycle.to_owned(), ..line("first") };
        store.append(&batch([go_on(ended, 1)])).unwrap();
        assert_eq!(active(&*store, WORKTREE), None);
        with(&mut *store, [line("second")]);
        assert_eq!(active(&*store, WORKTREE).as_deref(), Some("second"));
    }
}
