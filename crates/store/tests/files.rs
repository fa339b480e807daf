//! A store's files: how they are created, which are refused, and which are left alone.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use rusqlite::Connection;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::contract::rows::{
    PATIENCE, agent, batch, begin, everything, go_on, id, line, moment, paused, with,
};
use store::{Access, Error, Filter, SessionRow, Snapshot, SqliteStore, Store};
use tempfile::TempDir;

const EVERY_ACCESS: [Access; 3] = [Access::Create, Access::Write, Access::Read];

fn new_store() -> (TempDir, PathBuf, SqliteStore) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("leftoff.db");
    let store = SqliteStore::open(&path, Access::Create).unwrap();
    (folder, path, store)
}

/// The names and contents of the files in a folder, except for SQLite's shared memory.
fn content(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let named = entries.map(|entry| (entry.file_name().into_string().unwrap(), entry.path()));
    named
        .filter(|(name, _)| !name.ends_with("-shm"))
        .map(|(name, path)| (name, std::fs::read(path).unwrap()))
        .collect()
}

fn log_size(path: &Path) -> u64 {
    std::fs::metadata(path.with_extension("db-wal")).map_or(0, |found| found.len())
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn what_is_not_there_is_missing_and_stays_so() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().join("leftoff.db"), folder.path().join("deeper/leftoff.db")] {
        for access in [Access::Write, Access::Read] {
            let told = SqliteStore::open(&path, access);
            assert!(matches!(&told, Err(Error::Missing { path: missing }) if *missing == path), "{told:?}");
        }
    }
    assert!(content(folder.path()).is_empty());
}

#[test]
fn folder_and_files_are_the_owners_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/leftoff.db");
    let mut store = SqliteStore::open(&path, Access::Create).unwrap();
    with(&mut store, [line("first")]);
    store.backup(&folder.path().join("copy.db")).unwrap();
    assert_eq!(mode(&folder.path().join("a")), 0o700);
    assert_eq!(mode(&folder.path().join("a/b")), 0o700);
    assert_eq!(mode(&folder.path().join("copy.db")), 0o600);
    let names: Vec<String> = content(&folder.path().join("a/b")).into_keys().collect();
    assert_eq!(names, ["leftoff.db", "leftoff.db-wal", "leftoff.db.lock"]);
    for name in names {
        assert_eq!(mode(&folder.path().join("a/b").join(&name)), 0o600, "{name}");
    }
}

#[test]
fn creating_where_there_is_a_database_opens_it() {
    let (_folder, path, mut store) = new_store();
    with(&mut store, [line("first")]);
    let before = everything(&store);
    drop(store);
    assert_eq!(everything(&SqliteStore::open(&path, Access::Create).unwrap()), before);
}

#[test]
fn an_empty_file_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("leftoff.db");
    std::fs::write(&path, "").unwrap();
    for access in [Access::Write, Access::Read] {
        assert!(matches!(SqliteStore::open(&path, access), Err(Error::Missing { .. })));
    }
    assert_eq!(std::fs::read(&path).unwrap(), b"");
    let mut store = SqliteStore::open(&path, Access::Create).unwrap();
    with(&mut store, [line("first")]);
}

#[test]
fn the_leftovers_of_a_creation_that_died_are_no_obstacle() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("leftoff.db");
    for name in ["leftoff.db.new", "leftoff.db.new-journal", "leftoff.db.new-wal"] {
        std::fs::write(folder.path().join(name), "half of something").unwrap();
    }
    let mut store = SqliteStore::open(&path, Access::Create).unwrap();
    with(&mut store, [line("first")]);
    assert_eq!(store.check().unwrap(), [""; 0]);
    let names: Vec<String> = content(folder.path()).into_keys().collect();
    assert_eq!(names, ["leftoff.db", "leftoff.db-wal", "leftoff.db.lock"]);
}

#[test]
fn the_log_of_a_deleted_database_is_set_aside() {
    let (folder, path, mut store) = new_store();
    with(&mut store, [line("first")]);
    drop(store);
    let log = std::fs::read(folder.path().join("leftoff.db-wal")).unwrap();
    assert!(!log.is_empty());
    std::fs::remove_file(&path).unwrap();
    let store = SqliteStore::open(&path, Access::Create).unwrap();
    assert_eq!(store.load(&id("first")).unwrap(), None);
    assert_eq!(store.check().unwrap(), [""; 0]);
    assert_eq!(std::fs::read(folder.path().join("leftoff.db-wal.orphan-1")).unwrap(), log);
}

#[test]
fn what_is_no_database_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("text"), "just a text\n".repeat(1000)).unwrap();
    std::fs::write(folder.path().join("short"), "x").unwrap();
    let before = content(folder.path());
    for name in ["text", "short"] {
        for access in EVERY_ACCESS {
            let told = SqliteStore::open(&folder.path().join(name), access);
            assert!(matches!(told, Err(Error::NotADatabase { .. })), "{name} {access:?}: {told:?}");
        }
    }
    assert_eq!(content(folder.path()), before);
    for access in EVERY_ACCESS {
        assert!(matches!(SqliteStore::open(folder.path(), access), Err(Error::NotADatabase { .. })));
    }
}

#[test]
fn another_programs_database_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("theirs.db");
    let theirs = Connection::open(&path).unwrap();
    theirs.execute_batch("CREATE TABLE sessions(id TEXT); PRAGMA user_version=1").unwrap();
    theirs.close().unwrap();
    let before = content(folder.path());
    for access in EVERY_ACCESS {
        let told = SqliteStore::open(&path, access);
        assert!(matches!(told, Err(Error::NotADatabase { .. })), "{told:?}");
    }
    assert_eq!(content(folder.path()), before);
}

#[test]
fn a_database_with_our_marks_and_other_tables_is_told_to_be_none() {
    let (_folder, path, store) = new_store();
    drop(store);
    Connection::open(&path).unwrap().execute_batch("DROP TABLE sessions").unwrap();
    let store = SqliteStore::open(&path, Access::Read).unwrap();
    assert!(matches!(store.load(&id("first")), Err(Error::NotADatabase { .. })));
}

#[test]
fn a_newer_database_is_shown_refused_for_writing_and_left_alone() {
    let (folder, path, store) = new_store();
    drop(store);
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version=7").unwrap();
    let before = content(folder.path());
    for access in EVERY_ACCESS {
        match SqliteStore::open(&path, access) {
            Ok(store) => {
                assert_eq!(access, Access::Read);
                assert!(matches!(store.reservations()[..], [Error::Newer { found: 7, .. }]));
            }
            told => assert!(matches!(told, Err(Error::Newer { found: 7, .. })), "{told:?}"),
        }
        let after = content(folder.path());
        assert_eq!(after.get("leftoff.db"), before.get("leftoff.db"));
    }
}

#[test]
fn reading_writes_nothing() {
    let (folder, path, mut store) = new_store();
    with(&mut store, [line("first"), paused("second")]);
    let expected = everything(&store);
    drop(store);
    let before = content(folder.path());
    let mut store = SqliteStore::open(&path, Access::Read).unwrap();
    assert_eq!(everything(&store), expected);
    store.info().unwrap();
    store.check().unwrap();
    store.recall("k", moment(0)).unwrap();
    let some = Filter { search: Some("first".to_owned()), ..Filter::default() };
    assert_eq!(store.list(&some).unwrap().len(), 1);

    let told = store.append(&batch([go_on(line("first"), 1)]));
    assert!(matches!(told, Err(Error::ReadOnly { .. })), "{told:?}");
    assert!(matches!(store.take_turn(PATIENCE), Err(Error::ReadOnly { .. })));
    assert!(matches!(store.see_agent(&agent("a1"), PATIENCE), Err(Error::ReadOnly { .. })));
    drop(store);
    assert_eq!(content(folder.path()), before);
}

#[test]
fn closing_does_not_empty_the_log() {
    let (_folder, path, mut store) = new_store();
    with(&mut store, [line("first")]);
    let size = log_size(&path);
    assert!(size > 0);
    drop(store);
    assert_eq!(log_size(&path), size);
    drop(SqliteStore::open(&path, Access::Read).unwrap().load(&id("first")).unwrap());
    assert_eq!(log_size(&path), size);
}

#[test]
fn the_log_stays_short() {
    let (_folder, path, mut store) = new_store();
    with(&mut store, [line("first")]);
    let (mut longest, mut cuts) = (0, 0);
    for version in 1..=2_000 {
        let before = log_size(&path);
        // Each process makes one change, as commands do.
        let mut once = SqliteStore::open(&path, Access::Write).unwrap();
        once.append(&batch([go_on(SessionRow { version, ..line("first") }, 1)])).unwrap();
        longest = longest.max(log_size(&path));
        cuts += u32::from(log_size(&path) < before);
    }
    assert!(longest < 1024 * 1024, "{longest} bytes");
    assert!(cuts > 10, "it was cut {cuts} times");
    for name in ["a1", "a2"].repeat(500) {
        store.see_agent(&agent(name), PATIENCE).unwrap();
        assert!(log_size(&path) < 1024 * 1024, "agents count too");
    }
    assert_eq!(store.load(&id("first")).unwrap().unwrap().row.version, 2_001);
}

#[test]
fn a_reader_in_the_way_delays_the_cut_and_nothing_else() {
    let (_folder, path, mut store) = new_store();
    with(&mut store, [line("first")]);
    let reader = Connection::open(&path).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM events").unwrap();
    for version in 1..=100 {
        let mut once = SqliteStore::open(&path, Access::Write).unwrap();
        once.append(&batch([go_on(SessionRow { version, ..line("first") }, 1)])).unwrap();
    }
    assert!(log_size(&path) > 256 * 1024);
    reader.execute_batch("COMMIT").unwrap();
    store.append(&batch([go_on(SessionRow { version: 101, ..line("first") }, 1)])).unwrap();
    assert_eq!(log_size(&path), 0);
}

#[test]
fn a_backup_is_a_store_and_is_consistent_while_others_write() {
    let (folder, path, mut store) = new_store();
    with(&mut store, [line("first")]);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut store = SqliteStore::open(&path, Access::Write).unwrap();
            for version in 1..=300 {
                store.append(&batch([go_on(SessionRow { version, ..line("first") }, 1)])).unwrap();
            }
        });
        for number in 0..20 {
            let to = folder.path().join(format!("copy-{number}.db"));
            store.backup(&to).unwrap();
            let copy = SqliteStore::open(&to, Access::Write).unwrap();
            assert_eq!(copy.check().unwrap(), [""; 0]);
            assert_eq!(copy.info().unwrap().journal, "wal");
            assert!(copy.load(&id("first")).unwrap().is_some());
        }
        writer.join().unwrap();
    });
    let told = store.backup(&folder.path().join("copy-0.db"));
    assert!(
        matches!(&told, Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::AlreadyExists)
    );
    assert!(matches!(store.backup(&folder.path().join("nowhere/copy.db")), Err(Error::Missing { .. })));
    assert!(!content(folder.path()).keys().any(|name| name.contains(".part-")));
}

#[test]
fn a_turn_is_waited_for_and_given_up_with_nothing_held() {
    let (_folder, path, mut first) = new_store();
    let mut second = SqliteStore::open(&path, Access::Write).unwrap();
    for _ in 0..20 {
        first.take_turn(PATIENCE).unwrap();
        let patience = Duration::from_millis(5);
        assert!(matches!(second.take_turn(patience), Err(Error::Busy { waited }) if waited == patience));
        // The writer that gave up is still in the queue. When its turn comes, it must give the turn back without
        // waiting.
        first.give_turn_back();
        let mut third = SqliteStore::open(&path, Access::Write).unwrap();
        third.take_turn(PATIENCE).unwrap();
    }
    std::thread::scope(|scope| {
        first.take_turn(PATIENCE).unwrap();
        let waiting = scope.spawn(|| second.take_turn(PATIENCE));
        first.append(&batch([begin(line("first"))])).unwrap();
        waiting.join().unwrap().unwrap();
    });
}

#[test]
fn another_programs_transaction_makes_a_store_busy_and_changes_nothing() {
    let (_folder, path, mut store) = new_store();
    with(&mut store, [line("first")]);
    let before = everything(&store);
    let shell = Connection::open(&path).unwrap();
    shell.execute_batch("BEGIN IMMEDIATE").unwrap();
    let told = store.append(&batch([go_on(line("first"), 1)]));
    assert!(matches!(told, Err(Error::Busy { .. })), "{told:?}");
    assert_eq!(everything(&store), before);
    shell.execute_batch("COMMIT").unwrap();
    store.append(&batch([go_on(line("first"), 1)])).unwrap();
}

#[test]
fn another_program_that_writes_is_waited_for() {
    let (_folder, path, mut store) = new_store();
    with(&mut store, [line("first")]);
    let shell = Connection::open(&path).unwrap();
    for version in 1..=20 {
        shell.execute_batch("BEGIN IMMEDIATE; UPDATE sessions SET title='theirs'").unwrap();
        std::thread::scope(|scope| {
            let appending =
                scope.spawn(|| store.append(&batch([go_on(SessionRow { version, ..line("first") }, 1)])));
            // The append must succeed, whether it comes before or after the transaction.
            for _ in 0..100_000 {
                std::hint::spin_loop();
            }
            shell.execute_batch("COMMIT").unwrap();
            appending.join().unwrap().unwrap();
        });
    }
    assert_eq!(store.cursor().unwrap(), 21);
}

#[test]
fn threads_with_a_connection_each_lose_nothing() {
    let (_folder, path, mut store) = new_store();
    with(&mut store, [line("first")]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut store = SqliteStore::open(&path, Access::Write).unwrap();
                for _ in 0..100 {
                    store.take_turn(PATIENCE).unwrap();
                    let row = store.load(&id("first")).unwrap().unwrap().row;
                    store.append(&batch([go_on(row, 1)])).unwrap();
                }
            });
        }
    });
    assert_eq!(store.load(&id("first")).unwrap().unwrap().row.version, 401);
    assert_eq!(store.events(&id("first"), 0, None).unwrap().len(), 401);
    assert_eq!(store.check().unwrap(), [""; 0]);
}

/// True if any file in the folder contains these bytes.
fn stands_somewhere(folder: &Path, bytes: &[u8]) -> bool {
    let held = |content: &Vec<u8>| content.windows(bytes.len()).any(|window| window == bytes);
    content(folder).values().any(held)
}

#[test]
fn what_was_purged_is_gone_from_the_database_and_its_log() {
    let (folder, _path, mut store) = new_store();
    with(&mut store, [line("first")]);
    let secret = "correct horse battery staple";
    let mut row = SessionRow { title: secret.to_owned(), version: 1, ..line("first") };
    for version in 1..40 {
        let mut next = go_on(SessionRow { version, ..row.clone() }, 1);
        next.events[0].body = format!(r#"{{"text":"{secret}","padding":"{}"}}"#, "x".repeat(900));
        let body = format!(r#"{{"note":"{secret}"}}"#);
        next.snapshot = next.snapshot.map(|snapshot| Snapshot { body, ..snapshot });
        store.append(&batch([next])).unwrap();
        row.version = version + 1;
    }
    assert!(stands_somewhere(folder.path(), secret.as_bytes()));

    let events = store.events(&id("first"), 0, None).unwrap();
    let clean =
        |event: store::EventRow| store::EventRow { body: event.body.replace(secret, "[purged]"), ..event };
    let stream = go_on(SessionRow { title: "[purged]".to_owned(), ..row }, 1);
    let rewrite = store::Rewrite {
        stream,
        events: events.into_iter().map(clean).collect(),
        activity: Vec::new(),
        contents: Vec::new(),
        items: Vec::new(),
    };
    store.rewrite(&rewrite, &|_| None).unwrap();
    assert!(store.erase(PATIENCE).unwrap());
    assert!(!stands_somewhere(folder.path(), secret.as_bytes()));
    assert!(store.check().unwrap().is_empty());

    // A reader that is active keeps the old pages: the result says so, and erasing can be repeated.
    let reader = Connection::open(folder.path().join("leftoff.db")).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM events").unwrap();
    assert!(!store.erase(PATIENCE).unwrap());
    drop(reader);
    assert!(store.erase(PATIENCE).unwrap());
}

#[test]
fn a_store_that_is_moved_is_whole_in_its_new_place_and_kept_in_the_old() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old/leftoff.db"), folder.path().join("new/deep/leftoff.db"));
    let mut store = SqliteStore::open(&old, Access::Create).unwrap();
    with(&mut store, [line("first")]);
    let before = everything(&store);
    // This writer opened the store before the move, and writes after it.
    let mut late = SqliteStore::open(&old, Access::Write).unwrap();
    let mut recorded = false;
    let left = store.move_to(&new, || {
        recorded = true;
        Ok(())
    });
    let left = left.unwrap();
    assert!(recorded && !old.exists());
    assert_eq!(everything(&SqliteStore::open(&new, Access::Read).unwrap()), before);
    assert_eq!(everything(&SqliteStore::open(&left, Access::Read).unwrap()), before);
    late.take_turn(PATIENCE).unwrap_err();
    let again = SqliteStore::open(&new, Access::Write).unwrap();
    again.move_to(&left, || Ok(())).unwrap_err();
    assert!(new.exists(), "nothing is overwritten, and nothing is given up then");
}
