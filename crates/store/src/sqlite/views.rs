//! The files that show a session to its tool, as last written. The rows are outside the log, so storing them changes no
//! version.

use super::activity::{in_transaction, without_sync};
use super::columns::session_id;
use super::queries::signed;
use crate::{ViewRow, WriteJournal};
use model::id::SessionId;
use rusqlite::{Connection, OptionalExtension, Result, Row, params};

const OF_SESSION: &str = "(SELECT number FROM sessions WHERE id=?1 AND id=?1 COLLATE BINARY)";
const COLUMNS: &str =
    "path,hash,body,previous,earlier,v.version,boot_id,confirmed,put_hash,put_expected,put_this,backup,loses";
/// The number of columns in `COLUMNS`; in a join, the next columns start at this index.
const AFTER_VIEW: usize = 13;

pub(super) fn of(connection: &Connection, session: &SessionId) -> Result<Vec<ViewRow>> {
    let sql = format!("SELECT {COLUMNS} FROM views v WHERE session={OF_SESSION} ORDER BY path");
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([session.as_str()], |row| view_row(session.clone(), row))?;
    rows.collect()
}

pub(super) fn last_writer(connection: &Connection, worktree: &str, path: &str) -> Result<Option<ViewRow>> {
    let sql = format!(
        "SELECT {COLUMNS},s.id FROM views v JOIN sessions s ON s.number=v.session \
         WHERE path=?2 AND put_hash IS NOT NULL AND worktree=?1 AND machine IS NULL LIMIT 1"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let found = |row: &Row<'_>| view_row(session_id(row, AFTER_VIEW)?, row);
    statement.query_row([worktree, path], found).optional()
}

/// Stores a row; returns false if its session does not exist. The row inherits the write journal of the row that it
/// replaces: the journal describes the file on disk, which has not changed yet.
pub(super) fn keep(connection: &Connection, view: &ViewRow) -> Result<bool> {
    let mut statement = connection.prepare_cached(&format!(
        "INSERT INTO views(session,path,hash,body,previous,earlier,version,boot_id,confirmed,\
         put_hash,put_expected,put_this,backup,loses)\
         SELECT number,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,0,?12,?13 FROM sessions WHERE number={OF_SESSION} \
         ON CONFLICT(session,path)DO UPDATE SET hash=excluded.hash,body=excluded.body,previous=excluded.previous,\
         earlier=excluded.earlier,version=excluded.version,boot_id=excluded.boot_id,confirmed=excluded.confirmed,\
         put_this=0,loses=excluded.loses"
    ))?;
    let kept = statement.execute(params![
        view.session.as_str(),
        view.path,
        view.hash,
        view.body,
        view.previous,
        view.earlier.join(" "),
        signed(view.version),
        view.boot_id,
        view.confirmed,
        view.journal.put_hash,
        view.journal.put_expected,
        view.journal.backup,
        view.journal.loses,
    ])?;
    Ok(kept > 0)
}

pub(super) fn confirm_all(connection: &Connection, rows: &[ViewRow]) -> Result<()> {
    in_transaction(connection, |transaction| rows.iter().try_for_each(|row| confirm(transaction, row)))
}

fn confirm(connection: &Connection, row: &ViewRow) -> Result<()> {
    note(connection, row)?;
    let mut statement = connection.prepare_cached(&format!(
        "UPDATE views SET confirmed=1,body=?4,previous=?5,earlier=?6,loses=?8 \
         WHERE session={OF_SESSION} AND path=?2 AND hash=?3 AND version=?7"
    ))?;
    let changed = statement.execute(params![
        row.session.as_str(),
        row.path,
        row.hash,
        row.body,
        row.previous,
        row.earlier.join(" "),
        signed(row.version),
        row.journal.loses,
    ]);
    changed.map(drop)
}

pub(super) fn note_all(connection: &Connection, rows: &[ViewRow]) -> Result<()> {
    // No sync is needed: the files that the journal describes are not synced either. The journal must survive the end
    // of the process, but not a power cut.
    without_sync(connection, |transaction| rows.iter().try_for_each(|row| note(transaction, row)))
}

fn note(connection: &Connection, row: &ViewRow) -> Result<()> {
    let mut statement = connection.prepare_cached(&format!(
        "UPDATE views SET put_hash=?3,put_expected=?4,put_this=(?5 AND hash=?6 AND version=?7),backup=?8 \
         WHERE session={OF_SESSION} AND path=?2"
    ))?;
    let changed = statement.execute(params![
        row.session.as_str(),
        row.path,
        row.journal.put_hash,
        row.journal.put_expected,
        row.journal.put_this,
        row.hash,
        signed(row.version),
        row.journal.backup,
    ]);
    changed.map(drop)
}

fn view_row(session: SessionId, row: &Row<'_>) -> Result<ViewRow> {
    let earlier: String = row.get(4)?;
    Ok(ViewRow {
        session,
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
