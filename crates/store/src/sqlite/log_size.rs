//! How long SQLite's write-ahead log may become, and what shortens it. Never waits for a reader.

use super::SqliteStore;
use super::open::beside;
use super::upkeep::size;
use rusqlite::Connection;
use std::time::Duration;

/// The maximum length of the log before it is copied into the database and truncated. Every new process reads the whole
/// log once.
const LONG_LOG_BYTES: u64 = 256 * 1024;

/// A connection with this many writes belongs to a long-lived process; a single command writes less often.
const WRITES_OF_ONE_COMMAND: u32 = 8;

/// Copies the log into the database every 192 pages, and keeps the length of its file, because overwriting is cheaper
/// than extending. Not for single commands: SQLite remembers how much was copied only while the database is open, so
/// every command would copy everything again.
const COPY_BACK_OFTEN: &str = "PRAGMA wal_autocheckpoint=192";

/// After how many writes a long-lived connection looks at the size of the log.
const WRITES_BETWEEN_LOOKS: u32 = 16;

/// A log of this length has not been copied for long, because somebody was always reading.
const BLOCKED_LOG_BYTES: u64 = 1024 * 1024;

/// A log of this length shows that some reader never ends.
pub(super) const STUCK_LOG_BYTES: u64 = 16 * 1024 * 1024;

impl SqliteStore {
    /// Shortens the log, or, if a reader prevents it, leaves that to a later writer.
    pub(super) fn shorten_log(&mut self) {
        self.writes = self.writes.saturating_add(1);
        if self.writes == WRITES_OF_ONE_COMMAND {
            // If this fails, the setting stays as it was.
            let _ = self.connection.execute_batch(COPY_BACK_OFTEN);
        }
        if self.writes > WRITES_OF_ONE_COMMAND && !self.writes.is_multiple_of(WRITES_BETWEEN_LOOKS) {
            return;
        }
        let longest = if self.writes < WRITES_OF_ONE_COMMAND { LONG_LOG_BYTES } else { BLOCKED_LOG_BYTES };
        if size(&beside(&self.path, "-wal")) <= longest {
            return;
        }
        // The change is committed, so an error from here on does not matter.
        let _ = self.connection.busy_timeout(Duration::ZERO);
        let _ = empty_log(&self.connection);
        let _ = self.connection.busy_timeout(self.busy_wait);
    }
}

/// Copies the whole log into the database. True if the log is now empty; false for a database without a log, where
/// there is nothing to do.
pub(super) fn empty_log(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
        let (blocked, frames): (i64, i64) = (row.get(0)?, row.get(1)?);
        Ok(blocked == 0 && frames >= 0)
    })
}
