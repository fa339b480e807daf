//! Limits the length of SQLite's write-ahead log and shortens the log. Never waits for a reader.

use super::SqliteStore;
use super::open::beside;
use super::upkeep::size;
use rusqlite::Connection;
use std::time::Duration;

/// The length above which a command copies the write-ahead log into the database and truncates it. Every new process
/// must read the whole log once.
const LONG_LOG_BYTES: u64 = 256 * 1024;

/// A connection with this many writes belongs to a long-lived process, because a single command writes less often.
const WRITES_OF_ONE_COMMAND: u32 = 8;

/// Makes SQLite copy the write-ahead log into the database every 192 pages, and keep the log's file at its length,
/// because overwriting is cheaper than extending. Single commands do not use this setting: SQLite remembers how much
/// was copied only while the database is open, so every command would copy everything again.
const COPY_BACK_OFTEN: &str = "PRAGMA wal_autocheckpoint=192";

/// A long-lived connection checks the length of the write-ahead log once in this many writes.
const WRITES_BETWEEN_LOOKS: u32 = 16;

/// A write-ahead log of this length has not been copied for a long time, because somebody was always reading.
const BLOCKED_LOG_BYTES: u64 = 1024 * 1024;

/// A write-ahead log of this length shows that some reader never stops reading.
pub(super) const STUCK_LOG_BYTES: u64 = 16 * 1024 * 1024;

impl SqliteStore {
    /// Shortens the write-ahead log if it is too long. If a reader prevents it, a later writer shortens the log.
    pub(super) fn shorten_log(&mut self) {
        self.writes = self.writes.saturating_add(1);
        if self.writes == WRITES_OF_ONE_COMMAND {
            // If the statement fails, the old setting stays.
            let _ = self.connection.execute_batch(COPY_BACK_OFTEN);
        }
        if self.writes > WRITES_OF_ONE_COMMAND && !self.writes.is_multiple_of(WRITES_BETWEEN_LOOKS) {
            return;
        }
        let longest = if self.writes < WRITES_OF_ONE_COMMAND { LONG_LOG_BYTES } else { BLOCKED_LOG_BYTES };
        if size(&beside(&self.path, "-wal")) <= longest {
            return;
        }
        // The change is already committed, so errors of the following statements do not matter.
        let _ = self.connection.busy_timeout(Duration::ZERO);
        let _ = empty_log(&self.connection);
        let _ = self.connection.busy_timeout(self.busy_wait);
    }
}

/// Copies the whole write-ahead log into the database. Returns true if the log is now empty, and false for a database
/// without such a log.
pub(super) fn empty_log(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
        let (blocked, frames): (i64, i64) = (row.get(0)?, row.get(1)?);
        Ok(blocked == 0 && frames >= 0)
    })
}
