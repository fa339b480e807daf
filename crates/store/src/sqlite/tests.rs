//! Tests that need internals: settings, query plans, and the result of failed commits.

use super::columns::Moment;
use super::commit_outcome::{Trace, trace};
use super::file_system::Place;
use super::migrations::{MIGRATIONS, marks, newest};
use super::{Access, SqliteStore, create, items, list, open, queries};
use crate::contract::rows::{batch, begin, everything, go_on, id, item_id, key, line, moment, paused, with};
use crate::contract::run_all;
use crate::{Batch, Error, Filter, ItemFilter, SessionRow, Snapshot, Store};
use jiff::Timestamp;
use model::item::ItemState;
use rusqlite::config::DbConfig;
use rusqlite::{ffi, params};
use std::path::Path;
use tempfile::TempDir;

fn new_store() -> (TempDir, SqliteStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&folder.path().join("leftoff.db"), Access::Create).unwrap();
    (folder, store)
}

fn pragma(store: &SqliteStore, name: &str) -> String {
    let read = |row: &rusqlite::Row<'_>| {
        Ok(row.get_ref(0)?.as_str().map_or_else(|_| row.get::<_, i64>(0).unwrap().to_string(), str::to_owned))
    };
    store.connection.query_row(&format!("PRAGMA {name}"), [], read).unwrap()
}

fn assert_durable(store: &SqliteStore, journal: &str) {
    assert_eq!(pragma(store, "journal_mode"), journal);
    assert_eq!(pragma(store, "synchronous"), "3", "EXTRA, which with a write-ahead log is FULL");
    assert_eq!(pragma(store, "wal_autocheckpoint"), "0");
    assert!(store.connection.db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE).unwrap());
}

/// A database as created on a network file system.
fn store_on_a_shared_file_system(path: &Path) -> SqliteStore {
    create::create_in_turn(path, Place::Shared("NFS")).unwrap();
    SqliteStore::open(path, Access::Write).unwrap()
}

#[test]
fn writing_is_durable_whenever_a_store_is_opened_to_write() {
    let (_folder, store) = new_store();
    assert_durable(&store, "wal");
    for access in [Access::Create, Access::Write] {
        assert_durable(&SqliteStore::open(&store.path, access).unwrap(), "wal");
    }
    let connection = open::connect_to_write(&store.path, super::BUSY_WAIT).unwrap();
    assert_durable(&SqliteStore { connection, ..store }, "wal");
}

#[test]
fn a_store_opened_to_read_cannot_write_even_by_mistake() {
    let (_folder, store) = new_store();
    let reader = SqliteStore::open(&store.path, Access::Read).unwrap();
    assert!(reader.connection.is_readonly(rusqlite::MAIN_DB).unwrap());
}

#[test]
fn on_a_shared_file_system_a_rollback_journal_serves_as_well() {
    let folders = tempfile::tempdir().unwrap();
    let mut number = 0;
    run_all(&mut |name| println!("{name}"), &mut || {
        number += 1;
        let store = store_on_a_shared_file_system(&folders.path().join(format!("{number}.db")));
        assert_durable(&store, "delete");
        Box::new(store)
    });
    let mut store = store_on_a_shared_file_system(&folders.path().join("last.db"));
    with(&mut store, [line("first")]);
    assert!(!folders.path().join("last.db-wal").exists());
    assert_eq!(store.info().unwrap().warnings.len(), 1);
}

/// SQLite's plan for a statement, from `EXPLAIN QUERY PLAN`.
fn plan(store: &SqliteStore, sql: &str) -> String {
    let mut statement = store.connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let rows = statement.raw_query().mapped(|row| row.get::<_, String>(3)).collect::<Vec<_>>();
    rows.into_iter().map(Result::unwrap).collect::<Vec<_>>().join("\n")
}

#[test]
fn look_ups_go_by_an_index() {
    let (_folder, store) = new_store();
    let active = plan(&store, &queries::active_statement());
    assert!(active.contains("one_active"), "{active}");
    for sql in
        [&queries::load_statement(), queries::EVENTS, queries::WITH_PREFIX, queries::CHANGES, queries::CURSOR]
    {
        let plan = plan(&store, sql);
        assert!(plan.contains("SEARCH") && !plan.contains("SCAN"), "{sql}: {plan}");
    }
}

#[test]
fn lists_go_by_an_index_and_the_newest_are_not_sorted() {
    let (_folder, store) = new_store();
    let all = Filter { limit: Some(20), ..Filter::default() };
    let active = Filter { lifecycles: vec!["active".to_owned()], ..all.clone() };
    let here = Filter { worktree: Some("/w".into()), limit: Some(1), ..Filter::default() };
    let paused_here = Filter { lifecycles: vec!["paused".into(), "failed".into()], ..here.clone() };
    for (filter, index, sorts) in [
        (&all, "sessions_by_activity", false),
        (&active, "sessions_by_lifecycle", true),
        (&here, "sessions_by_worktree", true),
        (&paused_here, "sessions_by_worktree (worktree=? AND lifecycle=?)", true),
    ] {
        let plan = plan(&store, &list::statement(filter).0);
        assert!(plan.contains(index) && plan.contains("B-TREE") == sorts, "{plan}");
    }
    for filter in [&active, &here, &paused_here] {
        let plan = plan(&store, &list::among_newest(filter).unwrap().0.0);
        assert!(plan.contains("sessions_by_activity") && !plan.contains("B-TREE"), "{plan}");
    }
    let searching = Filter { search: Some("word".to_owned()), ..all };
    let plan = plan(&store, &list::statement(&searching).0);
    assert!(plan.contains("LIST SUBQUERY"), "notes are read once, not once for each session: {plan}");
}

/// A short list is read from the newest sessions only. It must equal the beginning of the sorted list of all sessions.
#[test]
fn a_short_list_is_the_beginning_of_the_long_one() {
    let (_folder, mut store) = new_store();
    for number in 0..200 {
        let name = format!("s{number}");
        let row = if number % 3 == 0 { paused(&name) } else { SessionRow { parallel: true, ..line(&name) } };
        let worktree = if number % 50 == 0 { "/rare" } else { "/w" };
        with(&mut store, [SessionRow { worktree: worktree.to_owned(), ..row }]);
    }
    let filters = [
        Filter { worktree: Some("/rare".to_owned()), ..Filter::default() },
        Filter { worktree: Some("/w".to_owned()), ..Filter::default() },
        Filter { lifecycles: vec!["paused".to_owned()], ..Filter::default() },
        Filter { worktree: Some("/none".to_owned()), ..Filter::default() },
    ];
    for filter in filters {
        let long = store.list(&filter).unwrap();
        for limit in [1, 3, 20, 64, 65] {
            let short = store.list(&Filter { limit: Some(limit), ..filter.clone() }).unwrap();
            assert_eq!(short, long[..limit.min(long.len())], "{limit} of {filter:?}");
        }
    }
}

#[test]
fn items_go_by_an_index_and_ready_ones_are_not_sorted() {
    let (_folder, store) = new_store();
    let state = |state| ItemFilter {
        run: Some("ship#1".to_owned()),
        phase: Some("build".to_owned()),
        state: Some(state),
        ..ItemFilter::default()
    };
    let parts = ItemFilter { parent: Some(item_id("a")), ..ItemFilter::default() };
    for (sql, index, sorts) in [
        (items::one_statement(), "PRIMARY KEY", false),
        (items::ready_statement(), "items_by_place", false),
        (items::list_statement(&id("first"), &state(ItemState::Waiting)).0, "items_by_place", false),
        (items::list_statement(&id("first"), &parts).0, "items_by_parent", true),
        (items::held_statement(), "items_by_holder", true),
        (items::dependents_statement(), "PRIMARY KEY", true),
    ] {
        let plan = plan(&store, &sql);
        assert!(plan.contains(index) && !plan.contains("SCAN"), "{sql}: {plan}");
        assert!(sorts || !plan.contains("B-TREE"), "{sql}: {plan}");
    }
}

#[test]
fn moments_are_exact_to_the_nanosecond_and_end_at_the_ends() {
    let (_folder, store) = new_store();
    let through = |moment: Timestamp| -> Timestamp {
        store.connection.query_row("SELECT ?1", [Moment(moment)], |row| row.get::<_, Moment>(0)).unwrap().0
    };
    for text in ["2026-01-01T00:00:00.123456789Z", "1969-12-31T23:59:59.999999999Z", "1700-01-01T00:00:00Z"] {
        let moment: Timestamp = text.parse().unwrap();
        assert_eq!(through(moment), moment);
    }
    assert_eq!(through(Timestamp::MAX).as_nanosecond(), i128::from(i64::MAX));
    assert_eq!(through(Timestamp::MIN).as_nanosecond(), i128::from(i64::MIN));
}

#[test]
fn a_number_is_not_given_again_after_its_session_is_gone() {
    let (_folder, mut store) = new_store();
    with(&mut store, [paused("first"), paused("second")]);
    store
        .connection
        .execute_batch("DELETE FROM sessions WHERE number=2; DELETE FROM events WHERE session=2")
        .unwrap();
    std::fs::remove_file(&store.lock).unwrap();
    with(&mut store, [paused("third")]);
    assert_eq!(store.load(&id("third")).unwrap().unwrap().number, 3);
}

#[test]
fn expired_keys_are_swept_away() {
    let (_folder, mut store) = new_store();
    let day = 24 * 3600;
    for number in 0..100 {
        let key = Some(key(&format!("k{number}"), moment(i64::from(number) * day)));
        store.append(&Batch { key, ..Batch::default() }).unwrap();
    }
    let kept: u32 = store.connection.query_row("SELECT count(*) FROM keys", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, 7);
}

#[test]
fn an_older_schema_is_read_as_a_migrated_copy_and_left_as_it_was() {
    let (folder, mut store) = new_store();
    with(&mut store, [line("first")]);
    let later = "CREATE TABLE later(what TEXT); INSERT INTO later SELECT id FROM sessions";
    let more = [MIGRATIONS, &[later]].concat();
    let path = store.path.clone();
    let names = |folder: &std::path::Path| std::fs::read_dir(folder).unwrap().count();
    let before = (std::fs::read(&path).unwrap(), names(folder.path()));
    let read = open::open_to_read(&path, &more, super::BUSY_WAIT).unwrap();
    let found: String = read.connection.query_row("SELECT what FROM later", [], |row| row.get(0)).unwrap();
    assert_eq!(found, "first");
    assert_eq!(everything(&read), everything(&store));
    assert_eq!((std::fs::read(&path).unwrap(), names(folder.path())), before);
    assert_eq!(marks(&store.connection).unwrap().schema, newest(MIGRATIONS));
}

#[test]
fn a_migration_leaves_a_copy_and_never_overwrites_one() {
    let (folder, mut store) = new_store();
    with(&mut store, [line("first")]);
    let more = [MIGRATIONS, &["ALTER TABLE sessions ADD COLUMN later TEXT"]].concat();
    let known = newest(MIGRATIONS);
    let copy_named = |rest: &str| folder.path().join(format!("leftoff.db.v{known}{rest}.bak"));
    let taken = copy_named("");
    std::fs::write(&taken, "somebody's").unwrap();
    let path = store.path.clone();
    open::migrate(&mut store.connection, &path, &more, super::PATIENCE).unwrap();
    open::migrate(&mut store.connection, &path, &more, super::PATIENCE).unwrap();

    assert_eq!(marks(&store.connection).unwrap().schema, newest(&more));
    assert_eq!(std::fs::read_to_string(&taken).unwrap(), "somebody's");
    let copy = SqliteStore::open(&copy_named(".2"), Access::Read).unwrap();
    assert_eq!(everything(&copy), everything(&store));
    assert_eq!(marks(&copy.connection).unwrap().schema, newest(MIGRATIONS));
    assert!(!copy_named(".3").exists());
    drop(store);
    let is_newer = |error: &Error| matches!(error, Error::Newer { found, .. } if *found == known + 1);
    for access in [Access::Create, Access::Write] {
        let told = SqliteStore::open(&path, access);
        assert!(told.as_ref().is_err_and(is_newer), "{told:?}");
    }
    let shown = SqliteStore::open(&path, Access::Read).unwrap();
    assert_eq!(everything(&shown), everything(&copy));
    assert!(shown.reservations().iter().any(is_newer));
}

fn commit_error(extended_code: i32) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(extended_code), None)
}

#[test]
fn a_batch_is_known_by_its_first_event_or_its_key() {
    let (_folder, mut store) = new_store();
    let kept = batch([begin(line("first")), begin(paused("second"))]);
    let keyed = Batch { key: Some(key("k1", moment(3))), ..Batch::default() };
    store.append(&kept).unwrap();
    store.append(&keyed).unwrap();
    let mut another = kept.clone();
    another.streams[0].events[0].at = moment(999);
    let other_key = Batch { key: Some(key("k1", moment(4))), ..Batch::default() };
    for (batch, expected) in [
        (kept, Trace::There),
        (keyed, Trace::There),
        (another, Trace::NotThere),
        (other_key, Trace::NotThere),
        (batch([go_on(line("first"), 1)]), Trace::NotThere),
        (Batch::default(), Trace::CannotTell),
    ] {
        assert_eq!(trace(&store.connection, &batch).unwrap(), expected, "{batch:?}");
    }
}

#[test]
fn a_commit_that_failed_after_it_took_effect_is_acknowledged() {
    for code in [ffi::SQLITE_IOERR_FSYNC, ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_FULL] {
        let (folder, mut store) = new_store();
        let kept = batch([begin(line("first"))]);
        store.append(&kept).unwrap();
        store.after_failed_commit(&kept, &commit_error(code)).unwrap();
        let log = std::fs::metadata(folder.path().join("leftoff.db-wal")).unwrap().len();
        assert_eq!(log, 0, "it is in the database itself by now");
        assert_durable(&store, "wal");
        store.append(&batch([go_on(line("first"), 1)])).unwrap();
    }
}

#[test]
fn a_commit_that_failed_without_effect_is_told_by_its_cause() {
    let (_folder, mut store) = new_store();
    let lost = batch([begin(line("first"))]);
    let full = store.after_failed_commit(&lost, &commit_error(ffi::SQLITE_FULL));
    assert!(matches!(full, Err(Error::Full { .. })), "{full:?}");
    let broken = store.after_failed_commit(&lost, &commit_error(ffi::SQLITE_IOERR_FSYNC));
    assert!(matches!(broken, Err(Error::Engine { .. })), "{broken:?}");
    store.append(&lost).unwrap();
}

#[test]
fn a_commit_of_which_nothing_can_be_found_out_is_unknown() {
    let (_folder, mut store) = new_store();
    let kept = batch([begin(line("first"))]);
    store.append(&kept).unwrap();
    let fsync = commit_error(ffi::SQLITE_IOERR_FSYNC);
    let told = store.after_failed_commit(&Batch::default(), &fsync);
    assert!(matches!(told, Err(Error::Unknown { .. })), "{told:?}");

    // While somebody reads, the write-ahead log cannot be emptied, so a failed sync cannot be repaired.
    store.append(&batch([go_on(line("first"), 1)])).unwrap();
    let reader = SqliteStore::open(&store.path, Access::Read).unwrap();
    let reading = reader.connection.unchecked_transaction().unwrap();
    reader.cursor().unwrap();
    store.append(&batch([go_on(SessionRow { version: 2, ..line("first") }, 1)])).unwrap();
    for batch in [&kept, &batch([begin(line("never"))])] {
        let told = store.after_failed_commit(batch, &fsync);
        assert!(matches!(told, Err(Error::Unknown { .. })), "{told:?}");
    }
    drop(reading);

    std::fs::remove_file(&store.path).unwrap();
    let told = store.after_failed_commit(&kept, &commit_error(ffi::SQLITE_FULL));
    assert!(matches!(told, Err(Error::Unknown { .. })), "{told:?}");
}

#[test]
fn a_check_finds_what_was_tampered_with() {
    for (damage, finding) in [
        (
            "UPDATE sessions SET version=9 WHERE id='first'",
            "session first: its row does not match its last event",
        ),
        ("DELETE FROM events WHERE version=2", "session first: its history has a gap"),
        (
            "UPDATE snapshots SET version=9 WHERE session=1",
            "session first: its snapshot is newer than its last event",
        ),
        ("DELETE FROM sessions WHERE number=1", "session number 1: it has events, but its row is missing"),
        (
            "DELETE FROM sessions WHERE number=1",
            "session number 1: it has a snapshot, but its row is missing",
        ),
    ] {
        let (_folder, mut store) = new_store();
        with(&mut store, [paused("first"), line("second")]);
        store.append(&batch([go_on(paused("first"), 2)])).unwrap();
        assert_eq!(store.check().unwrap(), [""; 0]);
        assert_ne!(store.connection.execute(damage, params![]).unwrap(), 0);
        assert!(
            store.check().unwrap().contains(&finding.to_owned()),
            "{damage}: {:?}",
            store.check().unwrap()
        );
    }
}

#[test]
fn a_damaged_page_is_a_finding_or_an_error_and_no_panic() {
    let (folder, mut store) = new_store();
    let long = "x".repeat(3000);
    for number in 0..50 {
        with(&mut store, [SessionRow { title: long.clone(), ..paused(&format!("s{number}")) }]);
    }
    store.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(store);
    let path = folder.path().join("leftoff.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle..middle + 8192].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
    let store = SqliteStore::open(&path, Access::Read).unwrap();
    assert!(store.check().map_or(true, |findings| !findings.is_empty()));
    let _ = store.list(&Filter::default());
}

/// Counts the pages that another event writes to the log, which determine the cost of a command.
#[test]
fn a_note_writes_at_most_five_pages() {
    const FRAME_BYTES: u64 = 24 + 4096;
    let (_folder, mut store) = new_store();
    with(&mut store, [line("first")]);
    let path = store.path.clone();
    let log = || std::fs::metadata(open::beside(&path, "-wal")).unwrap().len();
    let mut pages = Vec::new();
    for version in 1..100 {
        let mut stream = go_on(SessionRow { version, ..line("first") }, 1);
        stream.events[0].kind = "note_added".to_owned();
        // The text is as long as that of a session with many notes, and varies slightly.
        let length = 6600 + usize::try_from(version * 37 % 90).unwrap();
        stream.snapshot = stream.snapshot.map(|snapshot| Snapshot { body: "x".repeat(length), ..snapshot });
        let before = log();
        // A separate process stores each event, as with commands.
        SqliteStore::open(&path, Access::Write).unwrap().append(&batch([stream])).unwrap();
        pages.extend(log().checked_sub(before).map(|grown| grown / FRAME_BYTES));
    }
    pages.sort_unstable();
    let (count, whole) = (pages.len() as u64, pages.iter().sum::<u64>());
    assert!(pages[pages.len() / 2] <= 5, "{pages:?}");
    // Occasionally, a full page is split.
    assert!(whole <= count * 6, "{pages:?}");
}

#[test]
fn a_store_that_stays_open_copies_its_log_back_without_cutting_it() {
    let (_folder, mut store) = new_store();
    with(&mut store, [line("first")]);
    let mut longest = 0;
    for version in 1..500 {
        store.append(&batch([go_on(SessionRow { version, ..line("first") }, 1)])).unwrap();
        longest = longest.max(std::fs::metadata(open::beside(&store.path, "-wal")).unwrap().len());
    }
    assert_eq!(pragma(&store, "wal_autocheckpoint"), "192");
    assert_eq!(pragma(&store, "synchronous"), "3");
    assert!(longest < 1024 * 1024, "{longest} bytes");
    let log = std::fs::metadata(open::beside(&store.path, "-wal")).unwrap().len();
    assert!(log > 0, "cutting it makes every later write extend the file");
    // The next single command finds a long log and truncates it.
    let mut once = SqliteStore::open(&store.path, Access::Write).unwrap();
    assert_durable(&once, "wal");
    once.append(&batch([go_on(SessionRow { version: 500, ..line("first") }, 1)])).unwrap();
}

/// Databases created by version 0.1 and by each schema since, as a person may have them.
#[test]
fn a_database_of_every_schema_is_brought_up_to_date_whole() {
    const MADE_BY_0_1: &[u8] = include_bytes!("../../tests/version_0_1/leftoff.db");
    const OLDEST: usize = 2;
    let mut shown = Vec::new();
    for steps in OLDEST..=MIGRATIONS.len() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("leftoff.db");
        std::fs::write(&path, MADE_BY_0_1).unwrap();
        let mut connection = rusqlite::Connection::open(&path).unwrap();
        super::migrations::run(&mut connection, &MIGRATIONS[..steps]).unwrap();
        let schema = marks(&connection).unwrap().schema;
        assert_eq!(schema, u32::try_from(steps).unwrap());
        drop(connection);
        // The database is read first, as a query would. This changes nothing.
        let read = everything(&SqliteStore::open(&path, Access::Read).unwrap());
        let mut store = SqliteStore::open(&path, Access::Write).unwrap();
        assert_eq!(marks(&store.connection).unwrap().schema, newest(MIGRATIONS));
        assert_eq!(everything(&store), read, "schema {schema}");
        assert_eq!(store.check().unwrap(), [""; 0], "schema {schema}");
        let backup = folder.path().join(format!("leftoff.db.v{schema}.bak"));
        assert_eq!(backup.exists(), steps < MIGRATIONS.len(), "schema {schema}");
        with(&mut store, [paused("after-the-migration")]);
        shown.push(read);
    }
    assert!(shown.iter().all(|other| *other == shown[0]), "every schema tells the same");
}

#[test]
fn in_its_next_turn_a_store_knows_what_it_wrote_and_reads_what_another_one_wrote() {
    let (_folder, mut store) = new_store();
    with(&mut store, [line("login")]);
    let session = id("login");
    let mut other = SqliteStore::open(&store.path, Access::Write).unwrap();
    for (writer, reader) in [(0, 0), (0, 1), (1, 0), (1, 1), (0, 1)] {
        let stores = [&mut store, &mut other];
        let written = &mut *stores[writer];
        written.take_turn(super::PATIENCE).unwrap();
        let row = written.load(&session).unwrap().unwrap().row;
        let before = row.version;
        written.append(&batch([go_on(row, 1)])).unwrap();
        let reading = &mut *stores[reader];
        reading.take_turn(super::PATIENCE).unwrap();
        let loaded = reading.load(&session).unwrap().unwrap();
        let active = reading.active_row(&loaded.row.worktree).unwrap();
        let cursor = reading.cursor().unwrap();
        reading.give_turn_back();
        // Outside a turn, a session is read from the database every time.
        let found = reading.load(&session).unwrap().unwrap();
        assert_eq!((loaded.row.version, cursor), (before + 1, before + 1), "{writer} {reader}");
        assert_eq!((&loaded, active), (&found, Some(found.row.clone())), "{writer} {reader}");
    }
}
