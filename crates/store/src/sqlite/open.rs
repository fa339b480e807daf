//! Opens a database and checks that it belongs to leftoff. Opening for reading leaves the disk unchanged.

use super::failure::{failure, folder_of, io_failure, is_writable, not_a_database};
use super::file_system::{Place, place_of};
use super::migrations::{APPLICATION_ID, MIGRATIONS, Marks, marks, newest, run};
use super::turn::Turn;
use super::{BUSY_WAIT, PATIENCE, SqliteStore, create, read_only, upkeep};
use crate::{Error, Result};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::cell::RefCell;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The purpose for which a store is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Writing; the folder and the database are created if they are missing.
    Create,
    /// Writing to an existing database.
    Write,
    /// Reading only. This works even where nothing can be written.
    Read,
}

/// How long the caller can wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    Patient,
    Hurried(Duration),
}

impl Pace {
    fn busy_wait(self) -> Duration {
        match self {
            Self::Patient => BUSY_WAIT,
            Self::Hurried(wait) => wait,
        }
    }
}

/// The file found at the path of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    /// An empty file: a process ended while it was creating the database, or somebody created the file.
    Empty,
    Something,
}

pub(super) fn open(path: &Path, access: Access, pace: Pace, upgrading: &dyn Fn()) -> Result<SqliteStore> {
    let found = look(path)?;
    match (access, found) {
        (Access::Create, Found::Nothing | Found::Empty) => {
            create::create(path)?;
            open_to_write(path, pace, upgrading)
        }
        (Access::Create | Access::Write, Found::Something) => open_to_write(path, pace, upgrading),
        (Access::Read, Found::Something) => open_to_read(path, MIGRATIONS, pace.busy_wait()),
        (Access::Write | Access::Read, Found::Nothing | Found::Empty) => {
            Err(Error::Missing { path: path.to_owned() })
        }
    }
}

pub(super) fn look(path: &Path) -> Result<Found> {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Err(not_a_database(path, "it is a folder")),
        Ok(metadata) if metadata.len() == 0 => Ok(Found::Empty),
        Ok(_) => Ok(Found::Something),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(Found::Nothing)
        }
        Err(source) => Err(Error::Io { doing: format!("reading {}", path.display()), source }),
    }
}

/// Returns a connection whose commits are durable. Also used to find out whether a failed commit was stored.
pub(super) fn connect_to_write(path: &Path, busy_wait: Duration) -> Result<Connection> {
    let fail = failing(path);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(&fail)?;
    // SQLite does not fail for a read-only file, but opens it for reading.
    if connection.is_readonly(rusqlite::MAIN_DB).map_err(&fail)? {
        return Err(Error::ReadOnly { path: path.to_owned() });
    }
    make_durable(&connection, busy_wait).map_err(&fail)?;
    Ok(connection)
}

/// Returns the path of a database with a suffix added to the file's name.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

fn open_to_write(path: &Path, pace: Pace, upgrading: &dyn Fn()) -> Result<SqliteStore> {
    if maps_holes(path) {
        leave_write_ahead_log(path, pace)?;
    }
    let mut connection = connect_to_write(path, pace.busy_wait())?;
    let found = marks(&connection).map_err(failing(path))?;
    if known_schema(found, path, MIGRATIONS)? < newest(MIGRATIONS) {
        match pace {
            Pace::Patient => {
                upgrading();
                migrate(&mut connection, path, MIGRATIONS, PATIENCE)?;
            }
            Pace::Hurried(wait) if is_small(path) => migrate(&mut connection, path, MIGRATIONS, wait)?,
            Pace::Hurried(_) => return Err(left_to_others(path)),
        }
    }
    Ok(store(connection, path, true, pace.busy_wait()))
}

/// True for a database with a write-ahead log on a file system with small blocks. On a full disk, accessing the log's
/// shared memory would end the process.
fn maps_holes(path: &Path) -> bool {
    place_of(folder_of(path)) == Place::SmallBlocks && has_write_ahead_log(path)
}

/// True if the header of the database says that the database uses a write-ahead log.
fn has_write_ahead_log(path: &Path) -> bool {
    const VERSIONS: u64 = 18;
    let mut versions = [0; 2];
    let read = std::fs::File::open(path).and_then(|file| file.read_exact_at(&mut versions, VERSIONS));
    read.is_ok() && versions.contains(&2)
}

/// Switches the database to a rollback journal. The connection is exclusive, so that SQLite needs no shared memory for
/// the write-ahead log.
fn leave_write_ahead_log(path: &Path, pace: Pace) -> Result<()> {
    let fail = failing(path);
    let patience = if pace == Pace::Patient { PATIENCE } else { pace.busy_wait() };
    let _turn = Turn::take(&beside(path, ".lock"), path, patience)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(&fail)?;
    connection.busy_timeout(pace.busy_wait()).map_err(&fail)?;
    connection.execute_batch("PRAGMA synchronous=EXTRA; PRAGMA locking_mode=EXCLUSIVE").map_err(&fail)?;
    connection.query_row("PRAGMA journal_mode=DELETE", [], |_| Ok(())).map_err(&fail)
}

/// True if the database is so small that copying it takes no noticeable time.
fn is_small(path: &Path) -> bool {
    const SMALL_BYTES: u64 = 4 * 1024 * 1024;
    std::fs::metadata(path).is_ok_and(|found| found.len() <= SMALL_BYTES)
}

fn left_to_others(path: &Path) -> Error {
    Error::Engine {
        doing: format!("opening {}", path.display()),
        why: "the database has an older schema; the next command that changes something upgrades it"
            .to_owned(),
    }
}

/// Opens a database for reading. If its schema is older, a migrated copy is read instead, because the original must not
/// change.
pub(super) fn open_to_read(path: &Path, migrations: &[&str], busy_wait: Duration) -> Result<SqliteStore> {
    let attached = if is_writable(path) && !maps_holes(path) {
        connect_to_read(path, busy_wait)
    } else {
        Err(Error::ReadOnly { path: path.to_owned() })
    };
    let (connection, found) = match attached {
        Ok(attached) => attached,
        // In a read-only folder or on a full disk, SQLite cannot create its shared memory. A copy is read instead.
        Err(Error::ReadOnly { .. } | Error::Full { .. }) => {
            let (connection, copy) = read_only::connect(path)?;
            let found = marks(&connection).map_err(failing(path))?;
            // The copy can be deleted now: SQLite has opened all of its files, so they exist until this process ends.
            drop(copy);
            (connection, found)
        }
        Err(error) => return Err(error),
    };
    let newer = match known_schema(found, path, migrations) {
        Ok(schema) if schema < newest(migrations) => {
            return Ok(store(migrated_copy(path, migrations)?, path, false, busy_wait));
        }
        Ok(_) => None,
        // Newer schemas only add tables, so the tables that this program knows can still be read.
        Err(Error::Newer { found, .. }) => Some(found),
        Err(error) => return Err(error),
    };
    Ok(SqliteStore { newer, ..store(connection, path, false, busy_wait) })
}

fn migrated_copy(path: &Path, migrations: &[&str]) -> Result<Connection> {
    let (mut connection, copy) = read_only::copy(path)?;
    run(&mut connection, migrations).map_err(failing(path))?;
    marks(&connection).map_err(failing(path))?;
    drop(copy);
    Ok(connection)
}

fn connect_to_read(path: &Path, busy_wait: Duration) -> Result<(Connection, Marks)> {
    let fail = failing(path);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(&fail)?;
    connection.busy_timeout(busy_wait).map_err(&fail)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(&fail)?;
    // The first read maps the shared memory, so an error in mapping it occurs here.
    let found = marks(&connection).map_err(&fail)?;
    Ok((connection, found))
}

fn failing(path: &Path) -> impl Fn(rusqlite::Error) -> Error {
    move |error| failure(path, &format!("opening {}", path.display()), &error)
}

pub(super) fn store(connection: Connection, path: &Path, writable: bool, busy_wait: Duration) -> SqliteStore {
    let lock = beside(path, ".lock");
    SqliteStore {
        connection,
        path: path.to_owned(),
        lock,
        writable,
        busy_wait,
        turn: None,
        remembered: RefCell::default(),
        writes: 0,
        newer: None,
    }
}

fn make_durable(connection: &Connection, busy_wait: Duration) -> rusqlite::Result<()> {
    connection.busy_timeout(busy_wait)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // With a write-ahead log, EXTRA is the same as FULL. With a rollback journal, FULL may lose the last commit.
    connection.execute_batch("PRAGMA synchronous=EXTRA; PRAGMA wal_autocheckpoint=0")?;
    if crate::lose_on_purpose::is("no-sync") {
        connection.execute_batch("PRAGMA synchronous=NORMAL")?;
    }
    // On macOS, fsync alone leaves data in the drive's cache.
    #[cfg(target_os = "macos")]
    connection.execute_batch("PRAGMA fullfsync=1; PRAGMA checkpoint_fullfsync=1")?;
    Ok(())
}

/// Returns the schema of a database; fails if the database is not leftoff's, or if this program cannot read it.
fn known_schema(found: Marks, path: &Path, migrations: &[&str]) -> Result<u32> {
    if found.application_id != APPLICATION_ID || found.schema == 0 {
        return Err(not_a_database(path, "it is another program's SQLite file"));
    }
    let known = newest(migrations);
    if found.schema > known {
        return Err(Error::Newer { path: path.to_owned(), found: found.schema, known });
    }
    Ok(found.schema)
}

/// Upgrades the schema, after copying the database. Takes the turn, so that only one process upgrades.
pub(super) fn migrate(
    connection: &mut Connection,
    path: &Path,
    migrations: &[&str],
    patience: Duration,
) -> Result<()> {
    let fail = |error| failure(path, &format!("upgrading the schema of {}", path.display()), &error);
    let _turn = Turn::take(&beside(path, ".lock"), path, patience)?;
    let found = marks(connection).map_err(fail)?.schema;
    if found >= newest(migrations) {
        return Ok(());
    }
    upkeep::copy_database(connection, path, &free_backup_name(path, found))?;
    run(connection, migrations).map_err(fail)
}

fn free_backup_name(path: &Path, schema: u32) -> PathBuf {
    let plain = beside(path, &format!(".v{schema}.bak"));
    let numbered = (2_u32..).map(|number| beside(path, &format!(".v{schema}.{number}.bak")));
    std::iter::once(plain.clone()).chain(numbered).find(|name| !name.exists()).unwrap_or(plain)
}

/// Converts errors of the file system that occur while a database is created or copied.
pub(super) fn io(path: &Path, doing: &str) -> impl Fn(std::io::Error) -> Error {
    move |error| io_failure(path, &format!("{doing} {}", path.display()), error)
}
