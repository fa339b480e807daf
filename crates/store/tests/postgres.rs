//! Two processes that use one project on a server.
#![cfg(feature = "postgres")]
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::time::Duration;
use store::contract::rows::{PATIENCE, WORKTREE, agent, batch, begin, go_on, id, line, paused};
use store::{
    Access, Arrived, Batch, Binding, Error, Filter, Opening, PostgresStore, SessionRow, Store, ViewRow,
    WriteJournal,
};

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

/// An open store remembers what it has read, and must notice each kind of change by another process.
#[test]
fn what_another_process_changed_between_two_turns_is_seen() {
    let Some(url) = testkit::postgres::schema("two processes on one project") else { return };
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut other) = (on_server(&url, folder.path()), on_server(&url, folder.path()));
    let seen = |store: &mut PostgresStore| loop {
        store.take_turn(PATIENCE).unwrap();
        let row =
            store.load(&id("first")).unwrap().map(|loaded| (loaded.number, loaded.row, loaded.snapshot));
        let seen = (row, store.active(WORKTREE).unwrap(), store.agents(None).unwrap());
        if store.is_turn_current().unwrap() {
            store.give_turn_back();
            break seen;
        }
    };
    let first = begin(line("first"));
    let second = go_on(SessionRow { title: "\0 is no letter".to_owned(), ..first.row.clone() }, 2);
    let third = go_on(SessionRow { lifecycle: "paused".to_owned(), ..second.row.clone() }, 1);
    for (step, stream) in [&first, &second, &third].into_iter().enumerate() {
        // The writer remembers the row that it stored. The other process must read the row again.
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

/// The store that wrote last relies on the answers that it read then. If somebody else has written meanwhile, its next
/// change is refused.
#[test]
fn a_change_without_the_lock_is_refused_once_somebody_else_has_written() {
    let Some(url) = testkit::postgres::schema("a change without the lock") else { return };
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut other) = (on_server(&url, folder.path()), on_server(&url, folder.path()));
    let mut row = begin(line("first")).row;
    one.append(&batch([begin(line("first"))])).unwrap();
    let others = |store: &mut PostgresStore, row: &SessionRow| {
        store.append(&batch([go_on(row.clone(), 1)])).unwrap();
    };
    for (overtake, is_refused) in [(false, false), (true, true), (false, false)] {
        one.take_turn(PATIENCE).unwrap();
        row.version = one.load(&id("first")).unwrap().unwrap().row.version;
        if overtake {
            others(&mut other, &row);
        }
        let told = one.append(&batch([go_on(row.clone(), 1)]));
        assert_eq!(matches!(told, Err(Error::Overtaken)), is_refused, "{told:?}");
    }
    let versions: Vec<u64> =
        one.events(&id("first"), 0, None).unwrap().iter().map(|row| row.version).collect();
    assert_eq!(versions, [1, 2, 3, 4]);
    assert_eq!(one.chain(&id("first")).unwrap().head, other.chain(&id("first")).unwrap().head);
    // The presence of agents is also read without the lock. Storing the presence counts as a change.
    for _ in 0..20 {
        one.take_turn(PATIENCE).unwrap();
        row.version = one.load(&id("first")).unwrap().unwrap().row.version;
        one.append(&batch([go_on(row.clone(), 1)])).unwrap();
    }
    one.take_turn(PATIENCE).unwrap();
    other.see_agent(&agent("a1"), PATIENCE).unwrap();
    row.version += 1;
    assert!(matches!(one.append(&batch([go_on(row.clone(), 1)])), Err(Error::Overtaken)));
    one.take_turn(PATIENCE).unwrap();
    one.append(&batch([go_on(row, 1)])).unwrap();
}

/// Such a change has no transaction in which the writer could limit its wait.
#[test]
fn a_change_without_the_lock_waits_no_longer_than_it_may() {
    let Some(url) = testkit::postgres::schema("how long a change waits for the lock") else { return };
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut other) = (on_server(&url, folder.path()), on_server(&url, folder.path()));
    one.append(&batch([begin(line("first"))])).unwrap();
    let change = || batch([go_on(begin(line("first")).row, 1)]);
    one.take_turn(Duration::from_millis(50)).unwrap();
    other.take_turn(PATIENCE).unwrap();
    assert!(matches!(one.append(&change()), Err(Error::Busy { .. })));
    other.give_turn_back();
    one.append(&change()).unwrap();
}

fn state_file(body: &str) -> ViewRow {
    ViewRow {
        session: id("first"),
        path: "state.json".to_owned(),
        hash: format!("hash of {body}"),
        body: body.as_bytes().to_vec(),
        previous: Vec::new(),
        earlier: Vec::new(),
        version: 2,
        boot_id: "boot".to_owned(),
        confirmed: false,
        journal: WriteJournal::default(),
    }
}

/// Two processes of one machine record a file in the same journal, both for the same version of the session.
#[test]
fn a_refused_change_takes_nothing_from_the_journal_but_its_own_row() {
    let Some(url) = testkit::postgres::schema("a refused change and the journal of files") else { return };
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut other) = (on_server(&url, folder.path()), on_server(&url, folder.path()));
    let row = begin(line("first")).row;
    one.append(&batch([begin(line("first"))])).unwrap();
    one.take_turn(PATIENCE).unwrap();
    let with_file = |body| Batch { views: vec![state_file(body)], ..batch([go_on(row.clone(), 1)]) };
    other.append(&with_file("kept")).unwrap();
    assert!(matches!(one.append(&with_file("refused")), Err(Error::Overtaken)));
    assert_eq!(other.views(&id("first")).unwrap(), [state_file("kept")]);
    assert_eq!(one.views(&id("first")).unwrap(), [state_file("kept")]);
}

/// If the writer knows that a session is already the first one in lists, a change does not set the session's place again.
#[test]
fn the_session_that_changed_last_is_listed_first_whoever_changed_it() {
    let Some(url) = testkit::postgres::schema("the order of lists") else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut stores = [on_server(&url, folder.path()), on_server(&url, folder.path())];
    let names = ["first", "second", "third"];
    for name in names {
        stores[0].append(&batch([begin(paused(name))])).unwrap();
    }
    let together = names.map(|name| go_on(begin(paused(name)).row, 1));
    stores[0].append(&batch(together)).unwrap();
    let changes = [(0, 0), (0, 0), (0, 1), (0, 0), (1, 2), (0, 0), (1, 0), (1, 1), (1, 1), (0, 1), (0, 2)];
    for (step, (writer, session)) in changes.into_iter().enumerate() {
        let name = id(names[session]);
        let store = &mut stores[writer];
        loop {
            store.take_turn(PATIENCE).unwrap();
            let row = store.load(&name).unwrap().unwrap().row;
            match store.append(&batch([go_on(row, 1)])) {
                Ok(()) => break,
                Err(error) => assert!(matches!(error, Error::Overtaken), "{error}"),
            }
        }
        let listed = stores[1 - writer].list(&Filter::default()).unwrap();
        assert_eq!(listed[0].row.id, name, "step {step}");
    }
}

/// Writers with open connections decide on the answers that they read last. No event may be lost or written twice.
#[test]
fn writers_that_overtake_each_other_lose_nothing() {
    let Some(url) = testkit::postgres::schema("writers that overtake each other") else { return };
    writers_lose_nothing(&url);
}

/// An administrator may have chosen another default for the transactions of all programs.
#[test]
fn the_servers_default_isolation_of_transactions_does_not_matter() {
    let settings = "default_transaction_isolation='repeatable read'";
    let Some(server) = testkit::postgres::Server::start_with(settings) else {
        return testkit::left_out("another isolation of transactions: PostgreSQL could not be found");
    };
    writers_lose_nothing(&server.url());
}

fn writers_lose_nothing(url: &str) {
    const WRITERS: usize = 4;
    const EACH: u64 = 25;
    let folder = tempfile::tempdir().unwrap();
    on_server(url, folder.path()).append(&batch([begin(line("first"))])).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                let mut store = on_server(url, folder.path());
                let mut kept = 0;
                while kept < EACH {
                    store.take_turn(PATIENCE).unwrap();
                    let row = store.load(&id("first")).unwrap().unwrap().row;
                    match store.append(&batch([go_on(row, 1)])) {
                        Ok(()) => kept += 1,
                        Err(Error::Overtaken | Error::Conflict { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
    let store = on_server(url, folder.path());
    let versions: Vec<u64> =
        store.events(&id("first"), 0, None).unwrap().iter().map(|row| row.version).collect();
    assert_eq!(versions, (1..=1 + WRITERS as u64 * EACH).collect::<Vec<_>>());
}
