//! Restores a backup. The previous database is never discarded: it stays beside the restored one under another name.

use super::create::{remove_if_there, rename_leftover};
use super::failure::failure;
use super::migrations::{APPLICATION_ID, MIGRATIONS, marks, newest};
use super::open::{Found, beside, connect_to_write, io, look, store};
use super::turn::Turn;
use super::{BUSY_WAIT, PATIENCE, SqliteStore, read_only, upkeep};
use crate::{Error, Info, Result};
use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};
use std::path::{Path, PathBuf};

impl SqliteStore {
    /// Describes a copy of a database, without leaving files beside it.
    pub fn info_of_backup(path: &Path) -> Result<Info> {
        let (connection, _copy) = read_only::connect(path)?;
        refuse_foreign(&connection, path)?;
        store(connection, path, false, BUSY_WAIT).describe()
    }

    /// Restores a backup, and returns the new name of the previous database, if there was one. If the previous database
    /// was healthy, processes that have it open see the restored one from their next transaction on.
    pub fn restore(path: &Path, from: &Path) -> Result<Option<PathBuf>> {
        let (source, _copy) = read_only::connect(from)?;
        refuse_foreign(&source, from)?;
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(io(path, "creating the folder of"))?;
        }
        let turn = Turn::take(&beside(path, ".lock"), path, PATIENCE)?;
        // A backup has fewer changes than the database that it replaces. They must not be reported as lost, so the
        // record of the newest change is cleared.
        turn.forget();
        match look(path)? {
            Found::Nothing => put(&source, path).map(|()| None),
            Found::Empty => {
                remove_if_there(path).map_err(io(path, "replacing"))?;
                put(&source, path).map(|()| None)
            }
            Found::Something => {
                match connect_to_write(path, BUSY_WAIT).and_then(|found| healthy(found, path)) {
                    Ok(mut connection) => {
                        let kept = free_name(path, "replaced");
                        upkeep::copy_database(&connection, path, &kept)?;
                        overwrite(&source, &mut connection, path)?;
                        Ok(Some(kept))
                    }
                    Err(error @ (Error::Busy { .. } | Error::ReadOnly { .. } | Error::Newer { .. })) => {
                        Err(error)
                    }
                    Err(_) => {
                        let kept = free_name(path, "damaged");
                        std::fs::rename(path, &kept).map_err(io(path, "renaming"))?;
                        put(&source, path).map(|()| Some(kept))
                    }
                }
            }
        }
    }
}

/// Refuses a file that is not a backup of leftoff, or that this program cannot read.
fn refuse_foreign(source: &Connection, from: &Path) -> Result<()> {
    let found =
        marks(source).map_err(|error| failure(from, &format!("reading {}", from.display()), &error))?;
    if found.application_id != APPLICATION_ID || found.schema == 0 {
        let why = "it is another program's SQLite file".to_owned();
        return Err(Error::NotADatabase { path: from.to_owned(), why });
    }
    let known = newest(MIGRATIONS);
    if found.schema > known {
        return Err(Error::Newer { path: from.to_owned(), found: found.schema, known });
    }
    match upkeep::check(source) {
        Ok(findings) if findings.is_empty() => Ok(()),
        Ok(findings) => Err(Error::NotADatabase { path: from.to_owned(), why: findings.join("; ") }),
        Err(error) => Err(failure(from, &format!("checking {}", from.display()), &error)),
    }
}

/// Returns the connection if SQLite finds no fault with its database.
fn healthy(connection: Connection, path: &Path) -> Result<Connection> {
    let fail = |error| failure(path, &format!("checking {}", path.display()), &error);
    let damaged = |why: String| Error::NotADatabase { path: path.to_owned(), why };
    if marks(&connection).map_err(fail)?.application_id != APPLICATION_ID {
        return Err(damaged("it is another program's SQLite file".to_owned()));
    }
    let line: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(fail)?;
    if line == "ok" { Ok(connection) } else { Err(damaged(line)) }
}

/// Puts the backup in the place of a lost database. The old write-ahead log is renamed first, because SQLite would
/// replay it into the backup.
fn put(source: &Connection, path: &Path) -> Result<()> {
    for suffix in ["-wal", "-journal"] {
        rename_leftover(&beside(path, suffix)).map_err(io(path, "renaming the log of"))?;
    }
    remove_if_there(&beside(path, "-shm")).map_err(io(path, "restoring"))?;
    upkeep::copy_database(source, path, path)
}

fn overwrite(source: &Connection, to: &mut Connection, path: &Path) -> Result<()> {
    let fail = |error| failure(path, &format!("restoring {}", path.display()), &error);
    let step = Backup::new(source, to).and_then(|backup| backup.step(-1)).map_err(fail)?;
    if step == StepResult::Done { Ok(()) } else { Err(Error::Busy { waited: BUSY_WAIT }) }
}

fn free_name(path: &Path, word: &str) -> PathBuf {
    let mut names = (1_u32..).map(|number| beside(path, &format!(".{word}-{number}")));
    names.find(|name| !name.exists()).unwrap_or_else(|| beside(path, &format!(".{word}")))
}
