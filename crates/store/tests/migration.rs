//! Databases created by version 0.1 are migrated completely, with a copy of the original, and can be read
//! without a change.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use store::chain::{Chain, check};
use store::contract::rows::{batch, everything, go_on, id};
use store::{Access, Filter, SessionRow, SqliteStore, Store};
use tempfile::TempDir;

/// A database with six sessions, among them two of foreign layouts, with items, notes, undo, a key and a
/// checkpoint.
const MADE_BY_0_1: &[u8] = include_bytes!("version_0_1/leftoff.db");

/// The schema of version 0.1.
const OLD: u32 = 2;

/// Queries for everything that version 0.1 stored, in an order that both schemas have.
const KEPT: &[&str] = &[
    "SELECT number,id,worktree,layout,workflow,title,goal,target,lifecycle,parallel,phase,phases_done,phases_total,\
     created_at,updated_at,version FROM sessions ORDER BY turn DESC,number DESC",
    "SELECT cursor,session,version,at,actor,kind,body FROM events ORDER BY cursor",
    "SELECT session,fold_version,version,body FROM snapshots ORDER BY session",
    "SELECT * FROM definitions ORDER BY hash",
    "SELECT * FROM contents ORDER BY hash",
    "SELECT key,fingerprint,answer,at FROM keys ORDER BY key",
    "SELECT * FROM agents ORDER BY agent,agent_session",
    "SELECT * FROM activity ORDER BY session,kind,what",
    "SELECT * FROM items ORDER BY session,id",
    "SELECT * FROM needs ORDER BY session,needed,item",
    "SELECT session,path,hash,body,previous,earlier,version,boot_id,confirmed FROM views ORDER BY session,path",
];

fn old_database() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("leftoff.db");
    std::fs::write(&path, MADE_BY_0_1).unwrap();
    // Version 0.1 leaves its write-ahead log behind, however short it is.
    std::fs::write(path.with_extension("db-wal"), "").unwrap();
    (folder, path)
}

/// Every row of every table, read without leftoff.
fn kept(path: &Path) -> Vec<Vec<Vec<Value>>> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    KEPT.iter().map(|sql| rows(&connection, sql)).collect()
}

fn rows(connection: &Connection, sql: &str) -> Vec<Vec<Value>> {
    let mut statement = connection.prepare(sql).unwrap();
    let columns = statement.column_count();
    let row = |row: &rusqlite::Row<'_>| (0..columns).map(|column| row.get(column)).collect();
    statement.query_map([], row).unwrap().collect::<Result<_, _>>().unwrap()
}

fn schema(path: &Path) -> u32 {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

/// The names and contents of the files in a folder, except for SQLite's shared memory and the queue's lock.
fn content(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let named = entries.map(|entry| (entry.file_name().into_string().unwrap(), entry.path()));
    let is_content = |(name, _): &(String, PathBuf)| !name.ends_with("-shm") && name != "leftoff.db.lock";
    named.filter(is_content).map(|(name, path)| (name, std::fs::read(path).unwrap())).collect()
}

#[test]
fn an_upgrade_is_announced_once_and_opening_an_upgraded_database_is_not() {
    let (_folder, path) = old_database();
    let announced = std::cell::Cell::new(0);
    let open = || {
        SqliteStore::open_announcing(&path, Access::Write, &|| announced.set(announced.get() + 1)).unwrap();
    };
    open();
    open();
    assert_eq!(announced.get(), 1);
}

#[test]
fn every_row_is_there_after_the_migration_and_in_the_copy() {
    let (folder, path) = old_database();
    let before = kept(&path);
    assert!(before[0].len() >= 6 && before[1].len() > 40, "the fixture is the one that was made");
    let store = SqliteStore::open(&path, Access::Write).unwrap();
    assert_eq!(store.check().unwrap(), [""; 0]);
    drop(store);
    assert!(kept(&path) == before);
    assert!(schema(&path) > OLD);
    let copy = folder.path().join("leftoff.db.v2.bak");
    assert_eq!(schema(&copy), OLD);
    assert!(kept(&copy) == before);
}

#[test]
fn a_session_keeps_what_its_layout_allowed() {
    let (_folder, path) = old_database();
    let store = SqliteStore::open(&path, Access::Write).unwrap();
    let listed = store.list(&Filter::default()).unwrap();
    let exclusive: Vec<(&str, bool)> =
        listed.iter().map(|listed| (listed.row.layout.as_str(), listed.row.exclusive)).collect();
    for (layout, exclusive) in exclusive {
        assert_eq!(exclusive, layout != "ocr", "{layout}");
    }
    assert_eq!(store.active("/home/anna/project").unwrap(), Some(id("first")));
    assert!(listed.iter().all(|listed| listed.row.machine.is_none()));
}

#[test]
fn reading_changes_nothing_and_shows_all_of_it() {
    let (folder, path) = old_database();
    let before = content(folder.path());
    let read = everything(&SqliteStore::open(&path, Access::Read).unwrap());
    assert!(content(folder.path()) == before, "{:?}", content(folder.path()).keys());
    assert_eq!(read.sessions.len(), 6);
    let migrated = SqliteStore::open(&path, Access::Write).unwrap();
    assert_eq!(everything(&migrated), read);
}

#[test]
fn work_goes_on_after_the_newest_event() {
    let (_folder, path) = old_database();
    let mut store = SqliteStore::open(&path, Access::Write).unwrap();
    let (cursor, row) = (store.cursor().unwrap(), store.load(&id("second")).unwrap().unwrap().row);
    store.append(&batch([go_on(row, 2)])).unwrap();
    let new = store.changes(cursor, 10).unwrap();
    assert_eq!(new.iter().map(|change| change.cursor).collect::<Vec<_>>(), [cursor + 1, cursor + 2]);
    assert!(new.iter().all(|change| change.session == id("second")));
    assert_eq!(store.list(&Filter::default()).unwrap()[0].row.id, id("second"));
    assert_eq!(store.check().unwrap(), [""; 0]);
}

#[test]
fn the_first_change_of_a_session_seals_what_was_there() {
    let (_folder, path) = old_database();
    let mut store = SqliteStore::open(&path, Access::Write).unwrap();
    let row = store.load(&id("first")).unwrap().unwrap().row;
    assert_eq!(store.chain(&id("first")).unwrap(), Chain::default());
    let version = row.version;
    for version in version..version + 2 {
        store.append(&batch([go_on(SessionRow { version, ..row.clone() }, 1)])).unwrap();
    }
    let chain = store.chain(&id("first")).unwrap();
    assert_eq!((chain.since, chain.seals.len() as u64), (Some(version + 1), version + 2));
    let events = store.events(&id("first"), 0, None).unwrap();
    assert_eq!(check(&chain, &events, &BTreeMap::new()), []);
    assert_eq!(store.chain(&id("second")).unwrap(), Chain::default(), "others wait for theirs");
}

#[test]
fn every_cursor_of_version_0_1_finds_what_came_after_it() {
    let (_folder, path) = old_database();
    let store = SqliteStore::open(&path, Access::Read).unwrap();
    let all = store.changes(0, usize::MAX).unwrap();
    for after in 0..=store.cursor().unwrap() {
        let expected: Vec<_> = all.iter().filter(|change| change.cursor > after).take(3).cloned().collect();
        assert_eq!(store.changes(after, 3).unwrap(), expected, "after {after}");
    }
}

/// A killed process leaves uncommitted pages of a migration in the write-ahead log.
#[test]
fn a_migration_that_was_killed_in_the_middle_is_done_by_the_next() {
    let (_folder, path) = old_database();
    let before = kept(&path);
    let killed = Connection::open(&path).unwrap();
    killed.execute_batch("PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=1; BEGIN IMMEDIATE").unwrap();
    let halfway =
        "DROP INDEX one_active; UPDATE events SET body=body||' '; DROP TABLE items; PRAGMA user_version=3";
    killed.execute_batch(halfway).unwrap();
    let left = tempfile::tempdir().unwrap();
    let there = left.path().join("leftoff.db");
    std::fs::copy(&path, &there).unwrap();
    let log = std::fs::copy(path.with_extension("db-wal"), there.with_extension("db-wal")).unwrap();
    assert!(log > 0, "some of it had reached the disk");
    // A copy that the killed process had already made is kept beside the new one.
    std::fs::write(left.path().join("leftoff.db.v2.bak"), MADE_BY_0_1).unwrap();

    let store = SqliteStore::open(&there, Access::Write).unwrap();
    assert_eq!(store.check().unwrap(), [""; 0]);
    drop(store);
    assert!(kept(&there) == before);
    assert!(left.path().join("leftoff.db.v2.2.bak").exists());
}

#[test]
fn several_processes_that_come_at_once_migrate_once() {
    let (folder, path) = old_database();
    let before = kept(&path);
    std::thread::scope(|scope| {
        let opened: Vec<_> =
            (0..4).map(|_| scope.spawn(|| drop(SqliteStore::open(&path, Access::Write).unwrap()))).collect();
        for thread in opened {
            thread.join().unwrap();
        }
    });
    assert!(kept(&path) == before);
    let copies = content(folder.path()).into_keys().filter(|name| name.contains(".v2.")).count();
    assert_eq!(copies, 1);
}
