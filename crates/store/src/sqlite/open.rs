//! Opens a database and makes sure that it is one of ours. Reading leaves the disk as it was.

use super::failure::{failure, io_failure, is_writable, not_a_database};
use super::turn::Turn;
use super::{BUSY_WAIT, PATIENCE, SqliteStore, create, detached, upkeep};
use crate::migrate::{APPLICATION_ID, MIGRATIONS, Marks, marks, newest, run};
use crate::{Error, Result};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a store is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Writes, and makes the folder and the database where there is none.
    Create,
    /// Writes to a database that exists.
    Write,
    /// Changes nothing; works where nothing can be written.
    Read,
}

/// How long somebody can wait.
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

/// What stands at a database's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    /// A file without a byte: a program died while it made a database, or somebody touched it.
    Empty,
    Something,
}

pub(super) fn open(path: &Path, access: Access, pace: Pace) -> Result<SqliteStore> {
    let found = look(path)?;
    match (access, found) {
        (Access::Create, Found::Nothing | Found::Empty) => {
            create::create(path)?;
            open_to_write(path, pace)
        }
        (Access::Create | Access::Write, Found::Something) => open_to_write(path, pace),
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
        Err(source) => Err(Error::Io { doing: format!("looking at {}", path.display()), source }),
    }
}

/// A connection that writes durably. Used again to look at what a failed commit left.
pub(super) fn connect_to_write(path: &Path, busy_wait: Duration) -> Result<Connection> {
    let fail = failing(path);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(&fail)?;
    // SQLite opens what it may not write for reading, without a word.
    if connection.is_readonly(rusqlite::MAIN_DB).map_err(&fail)? {
        return Err(Error::ReadOnly { path: path.to_owned() });
    }
    make_durable(&connection, busy_wait).map_err(&fail)?;
    Ok(connection)
}

/// The file beside a database whose name has this added.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

fn open_to_write(path: &Path, pace: Pace) -> Result<SqliteStore> {
    let mut connection = connect_to_write(path, pace.busy_wait())?;
    let found = marks(&connection).map_err(failing(path))?;
    if known_schema(found, path, MIGRATIONS)? < newest(MIGRATIONS) {
        match pace {
            Pace::Patient => migrate(&mut connection, path, MIGRATIONS, PATIENCE)?,
            Pace::Hurried(wait) if is_small(path) => migrate(&mut connection, path, MIGRATIONS, wait)?,
            Pace::Hurried(_) => return Err(left_to_others(path)),
        }
    }
    Ok(store(connection, path, true, pace.busy_wait()))
}

/// Copied in no time.
fn is_small(path: &Path) -> bool {
    const SMALL_BYTES: u64 = 4 * 1024 * 1024;
    std::fs::metadata(path).is_ok_and(|found| found.len() <= SMALL_BYTES)
}

fn left_to_others(path: &Path) -> Error {
    Error::Engine {
        doing: format!("opening {}", path.display()),
        why: "it has an older schema; the next command that changes something brings it up to date"
            .to_owned(),
    }
}

/// A database of an older schema is read as a copy that has the newest: what stands there is not ours to change.
pub(super) fn open_to_read(path: &Path, migrations: &[&str], busy_wait: Duration) -> Result<SqliteStore> {
    let attached = if is_writable(path) {
        connect_to_read(path, busy_wait)
    } else {
        Err(Error::ReadOnly { path: path.to_owned() })
    };
    let (connection, found) = match attached {
        Ok(attached) => attached,
        // SQLite's shared memory cannot be made here.
        Err(Error::ReadOnly { .. } | Error::Full { .. }) => {
            let (connection, copy) = detached::connect(path)?;
            let found = marks(&connection).map_err(failing(path))?;
            // Having read, SQLite has all its files open. Without a name they end with this process, however it ends.
            drop(copy);
            (connection, found)
        }
        Err(error) => return Err(error),
    };
    if known_schema(found, path, migrations)? < newest(migrations) {
        return Ok(store(migrated_copy(path, migrations)?, path, false, busy_wait));
    }
    Ok(store(connection, path, false, busy_wait))
}

fn migrated_copy(path: &Path, migrations: &[&str]) -> Result<Connection> {
    let (mut connection, copy) = detached::copy(path)?;
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
    // The first read maps the shared memory: if that cannot be had, it shows here.
    let found = marks(&connection).map_err(&fail)?;
    Ok((connection, found))
}

fn failing(path: &Path) -> impl Fn(rusqlite::Error) -> Error {
    move |error| failure(path, &format!("opening {}", path.display()), &error)
}

fn store(connection: Connection, path: &Path, writable: bool, busy_wait: Duration) -> SqliteStore {
    let lock = beside(path, ".lock");
    SqliteStore { connection, path: path.to_owned(), lock, writable, busy_wait, turn: None, writes: 0 }
}

fn make_durable(connection: &Connection, busy_wait: Duration) -> rusqlite::Result<()> {
    connection.busy_timeout(busy_wait)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // With a write-ahead log EXTRA is FULL, to the flag; with a rollback journal FULL may lose the last commit.
    connection.execute_batch("PRAGMA synchronous=EXTRA; PRAGMA wal_autocheckpoint=0")?;
    // On macOS fsync alone leaves the data in the drive's cache.
    #[cfg(target_os = "macos")]
    connection.execute_batch("PRAGMA fullfsync=1; PRAGMA checkpoint_fullfsync=1")?;
    Ok(())
}

/// The schema of a database of ours that this program can read.
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

/// Copies the database before it changes its schema, under the queue's lock so that one process does it.
pub(super) fn migrate(
    connection: &mut Connection,
    path: &Path,
    migrations: &[&str],
    patience: Duration,
) -> Result<()> {
    let fail = |error| failure(path, &format!("bringing {} to a newer schema", path.display()), &error);
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

/// For errors of the file system while a database is made or copied.
pub(super) fn io(path: &Path, doing: &str) -> impl Fn(std::io::Error) -> Error {
    move |error| io_failure(path, &format!("{doing} {}", path.display()), error)
}
