//! Rows that this connection has read or written in its last turn. A long-lived process need not read them again in its
//! next turn, as long as no other connection has changed the database. The only query here is for SQLite's counter of
//! such changes.

use crate::{Batch, Loaded, SessionRow};
use model::id::SessionId;
use rusqlite::Connection;

/// Rows that need not be read again in a turn.
#[derive(Debug, Default)]
pub(super) struct Remembered {
    /// SQLite's counter of changes by other connections, at the start of this turn.
    counter: Option<i64>,
    /// The cursor of the newest event.
    pub(super) cursor: Option<u64>,
    session: Option<Loaded>,
}

impl Remembered {
    /// Returns the rows that are still current when the next turn begins: none if another connection has changed the
    /// database.
    pub(super) fn in_next_turn(self, connection: &Connection) -> Self {
        let counter = connection
            .prepare_cached("PRAGMA data_version")
            .and_then(|mut counter| counter.query_row([], |row| row.get(0)))
            .ok();
        if counter.is_some() && counter == self.counter { self } else { Self { counter, ..Self::default() } }
    }

    /// Returns the rows as they are after this connection has stored a batch. `newest` is the cursor of the batch's
    /// last event.
    pub(super) fn after(self, batch: &Batch, newest: u64) -> Self {
        let session = match batch.streams.as_slice() {
            [stream] => self.session.filter(|before| before.row.id == stream.row.id).map(|before| Loaded {
                number: before.number,
                row: as_stored(&stream.row),
                snapshot: stream.snapshot.clone().or(before.snapshot),
            }),
            _ => None,
        };
        Self { counter: self.counter, cursor: Some(newest), session }
    }

    /// Returns no rows. After a change that is not a batch, everything must be read again.
    pub(super) fn after_any_change(self) -> Self {
        Self { counter: self.counter, ..Self::default() }
    }

    pub(super) fn session(&self, id: &SessionId) -> Option<&Loaded> {
        self.session.as_ref().filter(|known| known.row.id == *id)
    }

    pub(super) fn keep(&mut self, loaded: &Loaded) {
        self.session = Some(loaded.clone());
    }

    /// Returns the active session that occupies a worktree, if it is the remembered one. A worktree has at most one
    /// such session.
    pub(super) fn active(&self, worktree: &str) -> Option<&SessionRow> {
        let row = &self.session.as_ref()?.row;
        let is_active = row.lifecycle == "active" && !row.parallel && row.exclusive && row.machine.is_none();
        (is_active && row.worktree == worktree).then_some(row)
    }
}

/// Returns the row as it would be read again. An unknown number of phases is stored as 0.
fn as_stored(row: &SessionRow) -> SessionRow {
    SessionRow { phases_total: row.phases_total.filter(|total| *total > 0), ..row.clone() }
}
