//! Finds out whether a commit was stored although it reported an error. Never repeats the change.

use super::columns::Moment;
use super::failure::failure;
use super::open::connect_to_write;
use super::queries::signed;
use super::{SqliteStore, log_size};
use crate::{Batch, Error, Result};
use rusqlite::{Connection, ErrorCode, ffi, params};

/// Says if a batch is stored, according to a second look at the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trace {
    There,
    NotThere,
    /// Unknown, because the batch contains nothing by which it could be recognised in the database.
    CannotTell,
}

impl SqliteStore {
    /// Finds out whether a batch was stored although its commit reported an error. The error alone does not tell.
    pub(super) fn after_failed_commit(&mut self, batch: &Batch, error: &rusqlite::Error) -> Result<()> {
        let unknown = |why: &dyn std::fmt::Display| Error::Unknown { why: format!("{error}; then {why}") };
        let connection = connect_to_write(&self.path, self.busy_wait).map_err(|later| unknown(&later))?;
        let trace = trace(&connection, batch).map_err(|later| unknown(&later))?;
        // Copies committed data from the write-ahead log into the database, and removes uncommitted data from the log,
        // so that a crash cannot restore it.
        let settled = log_size::empty_log(&connection).unwrap_or(false);
        self.connection = connection;
        self.writes = 0;
        match (trace, settled || !is_of_syncing(error)) {
            (Trace::There, true) => Ok(()),
            (Trace::NotThere, true) => Err(failure(&self.path, "saving a change", error)),
            (Trace::CannotTell, _) | (_, false) => {
                Err(unknown(&"reading the database again did not settle it"))
            }
        }
    }
}

/// Looks for a batch by its first event or by its key.
pub(super) fn trace(connection: &Connection, batch: &Batch) -> rusqlite::Result<Trace> {
    let found =
        if let Some((stream, event)) = batch.streams.first().and_then(|s| Some((s, s.events.first()?))) {
            let mut statement = connection.prepare_cached(
                "SELECT 1 FROM events WHERE session=(SELECT number FROM sessions WHERE id=?1)\
             AND version=?2 AND at=?3 AND actor=?4 AND body=?5",
            )?;
            let id = stream.row.id.as_str();
            statement.exists(params![id, signed(event.version), Moment(event.at), event.actor, event.body])?
        } else if let Some(key) = &batch.key {
            let mut statement =
                connection.prepare_cached("SELECT 1 FROM keys WHERE key=?1 AND at=?2 AND fingerprint=?3")?;
            statement.exists(params![key.key, Moment(key.at), key.fingerprint])?
        } else {
            return Ok(Trace::CannotTell);
        };
    Ok(if found { Trace::There } else { Trace::NotThere })
}

/// True if a sync failed. After a failed sync, a power cut may remove data that is visible now, or restore data that is
/// not.
fn is_of_syncing(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|found| {
        found.code == ErrorCode::SystemIoFailure
            && matches!(found.extended_code, ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_DIR_FSYNC)
    })
}
