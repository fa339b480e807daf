//! Looks up single rows and short lists by an index. Writes nothing.

use super::columns::{
    AFTER_SESSION, Moment, SESSION, event, listed, moment, optional_session_id, session_id,
};
use crate::chain::checksum;
use crate::{Change, EventRow, KeyRow, Loaded, SessionRow, Snapshot};
use jiff::Timestamp;
use model::id::SessionId;
use rusqlite::{Connection, OptionalExtension, Result, Row, params};
use std::collections::BTreeSet;

pub(super) const EVENTS: &str = "SELECT version,at,actor,kind,body,command,ordinal FROM events \
    WHERE session=(SELECT number FROM sessions WHERE id=?1 AND id=?1 COLLATE BINARY) AND version>?2 \
    ORDER BY version LIMIT ?3";

pub(super) const WITH_PREFIX: &str =
    "SELECT id FROM sessions WHERE id>=?1 AND id<?2 ORDER BY length(id),id LIMIT ?3";

/// Reads the events of each changed session backwards, from the last event to the first that the caller does not know
/// yet. This works because cursors and versions of a session grow together.
pub(super) const CHANGES: &str = "SELECT e.cursor,s.id,e.version,e.at,e.actor,e.kind,e.body,e.command,e.ordinal \
    FROM sessions s JOIN events e ON e.session=s.number AND e.version>coalesce((SELECT version FROM events \
    WHERE session=s.number AND cursor<=?1 ORDER BY version DESC LIMIT 1),0) \
    WHERE s.turn>?1 ORDER BY e.cursor LIMIT ?2";

pub(super) const CURSOR: &str = "SELECT coalesce(max(turn),0) FROM sessions";

/// Returns the query for the active session. Its condition must be exactly that of the partial index, or SQLite does
/// not use the index.
pub(super) fn active_statement() -> String {
    format!(
        "SELECT {SESSION} FROM sessions s INDEXED BY one_active \
         WHERE s.worktree=?1 AND s.lifecycle='active' AND s.parallel=0 AND s.exclusive=1 AND s.machine IS NULL"
    )
}

/// Returns the query that loads a session, which takes as long for a long history as for a short one. The index ignores
/// case, so the id is compared again.
pub(super) fn load_statement() -> String {
    format!(
        "SELECT {SESSION},p.fold_version,p.version,p.body,p.sum FROM sessions s \
         LEFT JOIN snapshots p ON p.session=s.number WHERE s.id=?1 AND s.id=?1 COLLATE BINARY"
    )
}

pub(super) fn load(connection: &Connection, id: &SessionId) -> Result<Option<Loaded>> {
    connection.prepare_cached(&load_statement())?.query_row([id.as_str()], loaded).optional()
}

/// Uses one transaction, because otherwise every query would acquire and release locks.
pub(super) fn which_exist(connection: &Connection, ids: &[&SessionId]) -> Result<Vec<bool>> {
    let _transaction = connection.is_autocommit().then(|| connection.unchecked_transaction()).transpose()?;
    let mut statement =
        connection.prepare_cached("SELECT 1 FROM sessions WHERE id=?1 AND id=?1 COLLATE BINARY")?;
    ids.iter().map(|id| statement.exists([id.as_str()])).collect()
}

pub(super) fn events(
    connection: &Connection,
    id: &SessionId,
    after: u64,
    limit: Option<usize>,
) -> Result<Vec<EventRow>> {
    let mut statement = connection.prepare_cached(EVENTS)?;
    let rows =
        statement.query_map(params![id.as_str(), signed(after), at_most(limit)], |row| event(row, 0))?;
    rows.collect()
}

pub(super) fn definition(connection: &Connection, hash: &str) -> Result<Option<String>> {
    let mut statement = connection.prepare_cached("SELECT body FROM definitions WHERE hash=?1")?;
    statement.query_row([hash], |row| row.get(0)).optional()
}

pub(super) fn content(connection: &Connection, hash: &str) -> Result<Option<Vec<u8>>> {
    let mut statement = connection.prepare_cached("SELECT body FROM contents WHERE hash=?1")?;
    statement.query_row([hash], |row| row.get(0)).optional()
}

pub(super) fn active(connection: &Connection, worktree: &str) -> Result<Option<SessionRow>> {
    let mut statement = connection.prepare_cached(&active_statement())?;
    Ok(statement.query_row([worktree], listed).optional()?.map(|active| active.row))
}

pub(super) fn with_prefix(connection: &Connection, prefix: &str, limit: usize) -> Result<Vec<SessionId>> {
    let mut statement = connection.prepare_cached(WITH_PREFIX)?;
    // Ids contain letters, digits, '-', '_' and '.', which all sort before this character.
    let end = format!("{prefix}\u{7f}");
    let rows = statement.query_map(params![prefix, end, at_most(Some(limit))], |row| session_id(row, 0))?;
    rows.collect()
}

pub(super) fn with_number(connection: &Connection, number: u64) -> Result<Option<SessionId>> {
    let mut statement = connection.prepare_cached("SELECT id FROM sessions WHERE number=?1")?;
    statement.query_row([signed(number)], |row| session_id(row, 0)).optional()
}

pub(super) fn recall(connection: &Connection, key: &str, since: Timestamp) -> Result<Option<KeyRow>> {
    let mut statement = connection.prepare_cached(
        "SELECT key,fingerprint,answer,at,version,session FROM keys WHERE key=?1 AND at>?2",
    )?;
    statement.query_row(params![key, Moment(since)], key_row).optional()
}

pub(super) fn keys(connection: &Connection) -> Result<Vec<KeyRow>> {
    let sql = "SELECT key,fingerprint,answer,at,version,session FROM keys ORDER BY at,key";
    connection.prepare(sql)?.query_map([], key_row)?.collect()
}

pub(super) fn hashes(connection: &Connection) -> Result<(Vec<String>, Vec<String>)> {
    let of = |sql: &str| -> Result<Vec<String>> {
        connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
    };
    Ok((of("SELECT hash FROM definitions ORDER BY hash")?, of("SELECT hash FROM contents ORDER BY hash")?))
}

pub(super) fn changes(connection: &Connection, after: u64, limit: usize) -> Result<Vec<Change>> {
    let mut statement = connection.prepare_cached(CHANGES)?;
    let rows = statement.query_map(params![signed(after), at_most(Some(limit))], |row| {
        Ok(Change { cursor: row.get(0)?, session: session_id(row, 1)?, event: event(row, 2)? })
    })?;
    rows.collect()
}

/// Returns the sessions with events after a cursor, and the newest cursor. Only the newest event of each session is
/// read.
pub(super) fn changed_sessions(connection: &Connection, after: u64) -> Result<(BTreeSet<SessionId>, u64)> {
    let newest = "SELECT cursor FROM events WHERE session=s.number ORDER BY version DESC LIMIT 1";
    let sql = format!("SELECT s.id,coalesce(({newest}),0) FROM sessions s WHERE s.turn>?1");
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement
        .query_map([signed(after)], |row| Ok((session_id(row, 0)?, row.get::<_, u64>(1)?)))?
        .collect::<Result<Vec<_>>>()?;
    let changed = rows.into_iter().filter(|(_, cursor)| *cursor > after);
    let start = (BTreeSet::new(), after);
    Ok(changed.fold(start, |(mut sessions, newest), (id, cursor)| {
        sessions.insert(id);
        (sessions, newest.max(cursor))
    }))
}

pub(super) fn cursor(connection: &Connection) -> Result<u64> {
    connection.prepare_cached(CURSOR)?.query_row([], |row| row.get(0))
}

/// Converts to SQLite's signed integers. No stored number is greater than their maximum.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Converts a limit to a value for `LIMIT`, where a negative number means all.
pub(super) fn at_most(limit: Option<usize>) -> i64 {
    limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX))
}

fn loaded(row: &Row<'_>) -> Result<Loaded> {
    let session = listed(row)?;
    let snapshot = match row.get(AFTER_SESSION)? {
        Some(fold_version) => {
            let version = row.get(AFTER_SESSION + 1)?;
            let body = undamaged(row, AFTER_SESSION + 2)?.map(without_padding);
            body.map(|body| Snapshot { fold_version, version, body })
        }
        None => None,
    };
    Ok(Loaded { number: session.number, row: session.row, snapshot })
}

/// Returns the body of a snapshot if it matches the checksum in the next column. Without a valid snapshot, the caller
/// folds the log.
pub(super) fn undamaged(row: &Row<'_>, at: usize) -> Result<Option<String>> {
    let body = row.get_ref(at)?.as_bytes()?;
    let Ok(body) = std::str::from_utf8(body) else { return Ok(None) };
    let sum: Option<Vec<u8>> = row.get(at + 1)?;
    let is_whole = sum.is_some_and(|sum| sum == checksum(body));
    Ok(is_whole.then(|| body.to_owned()))
}

/// Removes the padding that the store added.
fn without_padding(mut body: String) -> String {
    body.truncate(body.trim_end().len());
    body
}

fn key_row(row: &Row<'_>) -> Result<KeyRow> {
    Ok(KeyRow {
        key: row.get(0)?,
        fingerprint: row.get(1)?,
        answer: row.get(2)?,
        at: moment(row, 3)?,
        version: row.get(4)?,
        session: optional_session_id(row, 5)?,
    })
}

/// Returns the store's own id.
pub(super) fn own_id(connection: &Connection) -> Result<String> {
    connection.query_row("SELECT id FROM about", [], |row| row.get(0))
}
