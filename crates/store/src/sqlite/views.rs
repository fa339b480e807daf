//! Files that show a session, as last written. Outside the log: storing one changes no version.

use super::activity::without_sync;
use super::queries::signed;
use crate::{ViewRow, WriteJournal};
use model::id::SessionId;
use rusqlite::{Connection, Result, Row, params};

const OF_SESSION: &str = "(SELECT number FROM sessions WHERE id=?1 AND id=?1 COLLATE BINARY)";

pub(super) fn of(connection: &Connection, session: &SessionId) -> Result<Vec<ViewRow>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT path,hash,body,previous,earlier,version,boot_id,confirmed,put_hash,put_expected,backup,loses \
         FROM views WHERE session={OF_SESSION} ORDER BY path"
    ))?;
    let rows = statement.query_map([session.as_str()], |row| view_row(session, row))?;
    rows.collect()
}

/// True if its session exists.
pub(super) fn keep(connection: &Connection, view: &ViewRow) -> Result<bool> {
    let mut statement = connection.prepare_cached(&format!(
        "INSERT OR REPLACE INTO views(session,path,hash,body,previous,earlier,version,boot_id,confirmed,\
         put_hash,put_expected,backup,loses)\
         SELECT number,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13 FROM sessions WHERE number={OF_SESSION}"
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

pub(super) fn confirm(connection: &Connection, row: &ViewRow) -> Result<()> {
    let mut statement = connection.prepare_cached(&format!(
        "UPDATE views SET confirmed=1,body=?4,previous=?5,earlier=?6,put_hash=?8,put_expected=?9,backup=?10,loses=?11 \
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
        row.journal.put_hash,
        row.journal.put_expected,
        row.journal.backup,
        row.journal.loses,
    ]);
    changed.map(drop)
}

/// Replaces the write journal of a file. A file without a row has none.
pub(super) fn note_write(
    connection: &Connection,
    session: &SessionId,
    path: &str,
    journal: &WriteJournal,
) -> Result<()> {
    let sql = format!(
        "UPDATE views SET put_hash=?3,put_expected=?4,backup=?5,loses=?6 WHERE session={OF_SESSION} AND path=?2"
    );
    let values = params![
        session.as_str(),
        path,
        journal.put_hash,
        journal.put_expected,
        journal.backup,
        journal.loses,
    ];
    // The journal describes files that are not synced either: it must survive the process, not a power cut.
    without_sync(connection, |transaction| transaction.prepare_cached(&sql)?.execute(values).map(drop))
}

fn view_row(session: &SessionId, row: &Row<'_>) -> Result<ViewRow> {
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
            backup: row.get(10)?,
            loses: row.get(11)?,
        },
    })
}
