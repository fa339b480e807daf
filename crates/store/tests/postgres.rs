//! Two processes on one project of a server.
#![cfg(feature = "postgres")]
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use store::contract::rows::{PATIENCE, WORKTREE, agent, batch, begin, go_on, id, line};
use store::{Access, Arrived, Batch, Binding, Error, Opening, PostgresStore, SessionRow, Store};

fn on_server(url: &str, local: &std::path::Path) -> PostgresStore {
    let opening = Opening {
        url,
        project: "a1b2c3",
        machine: "workshop",
        host: "workshop",
        local,
        access: Access::Create,
        budget: None,
    };
    PostgresStore::open(&opening).unwrap()
}

/// An open store remembers what it has seen, and must notice each kind of change by another process.
#[test]
fn what_another_process_changed_between_two_turns_is_seen() {
    let Some(url) = testkit::postgres::schema("two processes on one project") else { return };
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut other) = (on_server(&url, folder.path()), on_server(&url, folder.path()));
    let seen = |store: &mut PostgresStore| {
        store.take_turn(PATIENCE).unwrap();
        let row =
            store.load(&id("first")).unwrap().map(|loaded| (loaded.number, loaded.row, loaded.snapshot));
        let seen = (row, store.active(WORKTREE).unwrap(), store.agents(None).unwrap());
        store.give_turn_back();
        seen
    };
    let first = begin(line("first"));
    let second = go_on(SessionRow { title: "\0 is no letter".to_owned(), ..first.row.clone() }, 2);
    let third = go_on(SessionRow { lifecycle: "paused".to_owned(), ..second.row.clone() }, 1);
    for (step, stream) in [&first, &second, &third].into_iter().enumerate() {
        // The writer remembers the row as stored; the reader asks for it.
        let writer = if step % 2 == 0 { &mut one } else { &mut other };
        writer.append(&batch([stream.clone()])).unwrap();
        assert_eq!(seen(&mut one), seen(&mut other), "step {step}");
        assert_eq!(seen(&mut one).0.unwrap().1.version, stream.row.version);
    }
    other.see_agent(&agent("a1"), PATIENCE).unwrap();
    assert_eq!(seen(&mut one).2.len(), 1, "presence is counted");
    let binding =
        Binding { agent: "claude".to_owned(), agent_session: "a2".to_owned(), session: id("first") };
    other.append(&Batch { bindings: vec![binding], ..Batch::default() }).unwrap();
    assert_eq!(seen(&mut one).2.len(), 2, "so is a binding without an event");
    one.take_turn(PATIENCE).unwrap();
    let stale = go_on(second.row.clone(), 1);
    assert!(matches!(one.append(&batch([stale])), Err(Error::Conflict { .. })));
    let gone = Arrived { gone: vec![(id("first"), third.row.version)], ..Arrived::default() };
    other.take_histories(&gone).unwrap();
    assert_eq!(seen(&mut one).0, None, "it is gone, without an event");
}
