//! The journal of the files that show sessions to other tools, stored only on this machine. A row is written before the
//! change to which it belongs, and is valid as soon as the server has the change.

use super::open::failed;
use crate::chain::Hash;
use crate::{Result, ViewRow, WriteJournal};
use model::id::SessionId;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

const BUSY_WAIT: Duration = Duration::from_secs(2);

/// `event` and `link` identify the last event of the session after the change. Two processes that change a session at the
/// same time expect the same version, but never the same link: each has a row of its own.
const TABLES: &str = "CREATE TABLE IF NOT EXISTS views(project TEXT NOT NULL,session TEXT NOT NULL,path TEXT NOT NULL,\
    event INTEGER NOT NULL,link BLOB NOT NULL,version INTEGER NOT NULL,hash TEXT NOT NULL,body BLOB NOT NULL,previous BLOB NOT NULL,\
    earlier TEXT NOT NULL,boot_id TEXT NOT NULL,confirmed INTEGER NOT NULL,put_hash TEXT,put_expected TEXT,put_this INTEGER NOT NULL,backup TEXT,\
    loses TEXT,PRIMARY KEY(project,session,path,event,link))STRICT";

/// The row of a file to write, and the event that makes the row valid.
pub(super) struct Intent<'b> {
    pub(super) view: &'b ViewRow,
    pub(super) event: u64,
    pub(super) link: Hash,
}

/// The journal, opened at its first use. A session without files never needs it.
#[derive(Debug)]
pub(super) struct Local {
    path: PathBuf,
    project: String,
    connection: OnceCell<Connection>,
}

impl Local {
    pub(super) fn new(folder: &Path, project: &str) -> Self {
        Self { path: folder.join("journal.db"), project: project.to_owned(), connection: OnceCell::new() }
    }

    /// Opens the journal. Returns `None` if nothing was ever written to it.
    fn existing(&self) -> Result<Option<&Connection>> {
        if self.connection.get().is_none() && !self.path.exists() {
            Ok(None)
        } else {
            self.opened().map(Some)
        }
    }

    fn opened(&self) -> Result<&Connection> {
        if let Some(connection) = self.connection.get() {
            return Ok(connection);
        }
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder).map_err(|source| crate::Error::Io {
                doing: format!("creating {}", folder.display()),
                source,
            })?;
        }
        let open = || {
            let connection = Connection::open(&self.path)?;
            connection.busy_timeout(BUSY_WAIT)?;
            connection.query_row("PRAGMA journal_mode=WAL", [], |_| Ok(()))?;
            connection.execute_batch("PRAGMA synchronous=FULL")?;
            connection.execute_batch(TABLES)?;
            Ok(connection)
        };
        let connection = open().map_err(failed("opening", &self.path))?;
        Ok(self.connection.get_or_init(|| connection))
    }

    /// Returns the journal rows of a session's files, each with the event that makes the row valid. The newest row of a
    /// file comes first.
    pub(super) fn views(&self, session: &SessionId) -> Result<Vec<(ViewRow, u64, Hash)>> {
        let Some(connection) = self.existing()? else { return Ok(Vec::new()) };
        let read = || {
            let mut statement = connection.prepare_cached(
                "SELECT path,hash,body,previous,earlier,version,boot_id,confirmed,put_hash,put_expected,put_this,backup,\
                 loses,event,link FROM views WHERE project=?1 AND session=?2 ORDER BY path,event DESC",
            )?;
            let read = |row: &Row<'_>| Ok((view_row(session, row)?, row.get(13)?, row.get(14)?));
            let rows = statement.query_map(params![self.project, session.as_str()], read)?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(failed("reading", &self.path))
    }

    pub(super) fn intend(&self, intents: &[Intent<'_>]) -> Result<()> {
        if intents.is_empty() {
            return Ok(());
        }
        let connection = self.opened()?;
        let write = || {
            // This transaction takes its write lock at the start. If it read first and wrote later, it would fail
            // instead of waiting for another writer.
            let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
            for intent in intents {
                self.keep(&transaction, intent)?;
            }
            transaction.commit()
        };
        write().map_err(failed("writing", &self.path))
    }

    fn keep(&self, connection: &Connection, intent: &Intent<'_>) -> rusqlite::Result<()> {
        let mut statement = connection.prepare_cached(
            "INSERT OR REPLACE INTO views(project,session,path,version,event,link,hash,body,previous,earlier,boot_id,\
             confirmed,put_hash,put_expected,put_this,backup,loses)\
             VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,0,?15,?16)",
        )?;
        let view = intent.view;
        let WriteJournal { put_hash, put_expected, backup, .. } = self.inherited(connection, view)?;
        let values = params![
            self.project,
            view.session.as_str(),
            view.path,
            view.version,
            intent.event,
            intent.link,
            view.hash,
            view.body,
            view.previous,
            view.earlier.join(" "),
            view.boot_id,
            view.confirmed,
            put_hash,
            put_expected,
            backup,
            view.journal.loses,
        ];
        statement.execute(values).map(drop)
    }

    /// Returns the write journal of the file's current row. The new row inherits it: the journal describes the file on
    /// disk, which has not changed yet.
    fn inherited(&self, connection: &Connection, view: &ViewRow) -> rusqlite::Result<WriteJournal> {
        let sql = "SELECT put_hash,put_expected,backup FROM views WHERE project=?1 AND session=?2 AND path=?3 \
                   ORDER BY event DESC LIMIT 1";
        let found = |row: &Row<'_>| {
            let (put_hash, put_expected, backup) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(WriteJournal { put_hash, put_expected, backup, ..WriteJournal::default() })
        };
        let known = params![self.project, view.session.as_str(), view.path];
        let known = connection.prepare_cached(sql)?.query_row(known, found).optional()?;
        Ok(known.unwrap_or_else(|| view.journal.clone()))
    }

    /// Removes the rows of these files that can no longer become valid, because the server has stored the change. Rows of
    /// later changes stay: another process may have written them since.
    pub(super) fn carried_out(&self, intents: &[Intent<'_>]) -> Result<()> {
        self.remove(intents, "event<?4 OR(event=?4 AND link<>?5)")
    }

    /// Removes these rows, because the server has not stored the change.
    pub(super) fn discard(&self, intents: &[Intent<'_>]) -> Result<()> {
        self.remove(intents, "event=?4 AND link=?5")
    }

    fn remove(&self, intents: &[Intent<'_>], which: &str) -> Result<()> {
        if intents.is_empty() {
            return Ok(());
        }
        let connection = self.opened()?;
        let sql = format!("DELETE FROM views WHERE project=?1 AND session=?2 AND path=?3 AND({which})");
        for Intent { view, event, link } in intents {
            let values = params![self.project, view.session.as_str(), view.path, event, link];
            connection.execute(&sql, values).map_err(failed("writing", &self.path))?;
        }
        Ok(())
    }

    pub(super) fn confirm_all(&self, rows: &[ViewRow]) -> Result<()> {
        self.change(|transaction| rows.iter().try_for_each(|row| self.confirm(transaction, row)))
    }

    fn confirm(&self, connection: &Connection, row: &ViewRow) -> rusqlite::Result<()> {
        self.note(connection, row)?;
        let sql = "UPDATE views SET confirmed=1,body=?5,previous=?6,earlier=?7,loses=?8 \
                   WHERE project=?1 AND session=?2 AND path=?3 AND hash=?4 AND version=?9";
        let values = params![
            self.project,
            row.session.as_str(),
            row.path,
            row.hash,
            row.body,
            row.previous,
            row.earlier.join(" "),
            row.journal.loses,
            row.version,
        ];
        connection.execute(sql, values).map(drop)
    }

    pub(super) fn note_all(&self, rows: &[ViewRow]) -> Result<()> {
        self.change(|transaction| rows.iter().try_for_each(|row| self.note(transaction, row)))
    }

    /// Updates all rows of a file: only the server knows which of them is valid.
    fn note(&self, connection: &Connection, row: &ViewRow) -> rusqlite::Result<()> {
        let sql = "UPDATE views SET put_hash=?4,put_expected=?5,put_this=(?6 AND hash=?7 AND version=?8),backup=?9 \
                   WHERE project=?1 AND session=?2 AND path=?3";
        let WriteJournal { put_hash, put_expected, put_this, backup, .. } = &row.journal;
        let (session, path) = (row.session.as_str(), &row.path);
        let values = params![
            self.project,
            session,
            path,
            put_hash,
            put_expected,
            put_this,
            row.hash,
            row.version,
            backup
        ];
        connection.execute(sql, values).map(drop)
    }

    /// Returns the sessions that were the last in their worktree to write this file, for all worktrees.
    pub(super) fn writers(&self, path: &str) -> Result<Vec<String>> {
        let Some(connection) = self.existing()? else { return Ok(Vec::new()) };
        let read = || {
            let sql =
                "SELECT DISTINCT session FROM views WHERE project=?1 AND path=?2 AND put_hash IS NOT NULL";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map(params![self.project, path], |row| row.get(0))?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(failed("reading", &self.path))
    }

    /// Calls `work` to change rows, all or none. Does nothing if nothing was ever written to the journal.
    fn change(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<()>) -> Result<()> {
        let Some(connection) = self.existing()? else { return Ok(()) };
        let write = || {
            let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
            work(&transaction)?;
            transaction.commit()
        };
        write().map_err(failed("writing", &self.path))
    }

    pub(super) fn forget(&self, session: &SessionId) -> Result<()> {
        let Some(connection) = self.existing()? else { return Ok(()) };
        let sql = "DELETE FROM views WHERE project=?1 AND session=?2";
        let gone = connection.execute(sql, params![self.project, session.as_str()]);
        gone.map(drop).map_err(failed("writing", &self.path))
    }
}

fn view_row(session: &SessionId, row: &Row<'_>) -> rusqlite::Result<ViewRow> {
    let earlier: String = row.get(4)?;
    Ok(ViewRow {
        session: session.clone(),
        path: row.get(0)?,
        hash: row.get(1)?,
        body: row.get(2)?,
        previous: row.get(3)?,
        earlier: earlier.split_whitespace().map(ToOwned::to_owned).collect(),
        version: row.get(5)?,
        boot_id: row.get(6)?,
        confirmed: row.get(7)?,
        journal: WriteJournal {
            put_hash: row.get(8)?,
            put_expected: row.get(9)?,
            put_this: row.get(10)?,
            backup: row.get(11)?,
            loses: row.get(12)?,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(body: &[u8]) -> ViewRow {
        ViewRow {
            session: SessionId::parse("first").unwrap(),
            path: "state.json".to_owned(),
            hash: format!("hash of {}", body.len()),
            body: body.to_vec(),
            previous: Vec::new(),
            earlier: Vec::new(),
            version: 1,
            boot_id: "boot".to_owned(),
            confirmed: false,
            journal: WriteJournal::default(),
        }
    }

    fn known(journal: &Local) -> Vec<(u64, Hash)> {
        let rows = journal.views(&SessionId::parse("first").unwrap()).unwrap();
        rows.into_iter().map(|(_, event, link)| (event, link)).collect()
    }

    /// A process is often stopped between its commit and the removal of the rows that the commit made outdated.
    #[test]
    fn the_row_of_a_change_survives_a_process_that_finishes_an_earlier_change_late() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (Local::new(folder.path(), "a1b2c3"), Local::new(folder.path(), "a1b2c3"));
        let (first, second) = (view(b"1"), view(b"22"));
        let earlier = [Intent { view: &first, event: 4, link: [4; 32] }];
        let later = [Intent { view: &second, event: 5, link: [5; 32] }];
        one.intend(&earlier).unwrap();
        other.intend(&later).unwrap();
        one.carried_out(&earlier).unwrap();
        assert_eq!(known(&other), [(5, [5; 32]), (4, [4; 32])]);
        other.carried_out(&later).unwrap();
        assert_eq!(known(&one), [(5, [5; 32])]);
    }

    /// Only one of two changes of the same version can be stored, and the other process takes only its own row back.
    #[test]
    fn the_row_of_a_change_survives_another_change_of_the_same_version_that_is_refused() {
        for is_refused_last in [true, false] {
            let folder = tempfile::tempdir().unwrap();
            let (one, other) = (Local::new(folder.path(), "a1b2c3"), Local::new(folder.path(), "a1b2c3"));
            let (first, second) = (view(b"1"), view(b"22"));
            let kept = [Intent { view: &first, event: 4, link: [4; 32] }];
            let refused = [Intent { view: &second, event: 4, link: [9; 32] }];
            one.intend(&kept).unwrap();
            other.intend(&refused).unwrap();
            if is_refused_last {
                one.carried_out(&kept).unwrap();
                other.discard(&refused).unwrap();
            } else {
                other.discard(&refused).unwrap();
                one.carried_out(&kept).unwrap();
            }
            assert_eq!(known(&one), [(4, [4; 32])]);
        }
    }
}
