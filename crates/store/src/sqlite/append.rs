//! Appends a batch in one transaction. The caller holds the turn.

use super::columns::Moment;
use super::queries::signed;
use super::session_rows::{Line, keep_line};
use super::{SqliteStore, agents, chain, control, items, queries, views};
use crate::batch_rules::{check_shape, item_rows, malformed, takes_the_worktree};
use crate::chain::{Given, Hash, Seal, checksum, seal_new};
use crate::retention::{KEYS_SWEPT, keys_expire_at};
use crate::{Batch, Error, EventRow, KeyRow, Result, Snapshot, StreamAppend};
use model::id::SessionId;
use rusqlite::{Connection, ErrorCode, params};
use std::collections::BTreeMap;

impl SqliteStore {
    /// Stores a batch. Returns the cursor of the newest event.
    pub(super) fn append_in_turn(&mut self, batch: &Batch) -> Result<u64> {
        check_shape(batch)?;
        let transaction = Change::begin(&self.connection).map_err(self.fail("starting a transaction"))?;
        let newest = match write(&self.connection, batch) {
            Ok(newest) => newest,
            Err(Stop::Refused(error)) => return Err(error),
            Err(Stop::Failed(error)) => return Err(self.fail("saving a change")(error)),
        };
        match transaction.commit() {
            Ok(()) => Ok(newest),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                Err(self.fail("saving a change")(error))
            }
            Err(error) => self.after_failed_commit(batch, &error).map(|()| newest),
        }
    }
}

/// A transaction that is rolled back unless it is committed. Unlike rusqlite's own, it parses its statements only once
/// per connection.
struct Change<'c> {
    connection: &'c Connection,
}

impl<'c> Change<'c> {
    fn begin(connection: &'c Connection) -> rusqlite::Result<Self> {
        control(connection, "BEGIN IMMEDIATE")?;
        Ok(Self { connection })
    }

    fn commit(self) -> rusqlite::Result<()> {
        control(self.connection, "COMMIT")
    }
}

impl Drop for Change<'_> {
    fn drop(&mut self) {
        // SQLite has already ended the transaction after a commit and after some errors.
        if !self.connection.is_autocommit() {
            let _ = control(self.connection, "ROLLBACK");
        }
    }
}

/// The reason why a transaction ends without a commit.
pub(super) enum Stop {
    Refused(Error),
    Failed(rusqlite::Error),
}

impl From<rusqlite::Error> for Stop {
    fn from(error: rusqlite::Error) -> Self {
        Self::Failed(error)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

pub(super) type Step<T> = std::result::Result<T, Stop>;

fn write(connection: &Connection, batch: &Batch) -> Step<u64> {
    if let Some(key) = &batch.key {
        keep_key(connection, key)?;
    }
    for definition in &batch.definitions {
        let sql = "INSERT INTO definitions(hash,body)VALUES(?1,?2)\
                   ON CONFLICT(hash)DO UPDATE SET body=excluded.body WHERE body<>excluded.body";
        connection.prepare_cached(sql)?.execute([&definition.hash, &definition.body])?;
    }
    for content in &batch.contents {
        let sql = "INSERT OR IGNORE INTO contents(hash,body)VALUES(?1,?2)";
        connection.prepare_cached(sql)?.execute(params![content.hash, content.body])?;
    }
    let mut cursor = queries::cursor(connection)?;
    let turn = cursor + batch.streams.iter().map(|stream| stream.events.len() as u64).sum::<u64>();
    let lines = keep_lines(connection, batch, turn)?;
    for (stream, line) in batch.streams.iter().zip(lines) {
        keep_history(connection, line, cursor, stream, batch.seals.get(&stream.row.id))?;
        cursor += stream.events.len() as u64;
    }
    for binding in &batch.bindings {
        if !agents::bind(connection, binding)? {
            return Ok(malformed(format!(
                "the batch binds an agent to session {}, which does not exist",
                binding.session
            ))?);
        }
    }
    keep_items(connection, batch)?;
    for view in &batch.views {
        if !views::keep(connection, view)? {
            let why = format!("the batch has a file of session {}, which does not exist", view.session);
            return Ok(malformed(why)?);
        }
    }
    Ok(turn)
}

fn keep_items(connection: &Connection, batch: &Batch) -> Step<()> {
    let of = |session: &SessionId| -> Step<i64> {
        match items::session_number(connection, session)? {
            Some(number) => Ok(number),
            None => Ok(malformed(format!("the batch has items of session {session}, which does not exist"))?),
        }
    };
    for replaced in &batch.replace_items {
        items::remove_all(connection, of(&replaced.session)?)?;
    }
    let mut known: Option<(&SessionId, i64)> = None;
    for row in item_rows(batch) {
        let number = match known {
            Some((session, number)) if *session == row.session => number,
            Some(_) | None => of(&row.session)?,
        };
        known = Some((&row.session, number));
        items::keep(connection, number, row)?;
    }
    Ok(())
}

/// Stores the changes of one session; returns the session's number.
pub(super) fn keep_stream(connection: &Connection, stream: &StreamAppend) -> Step<i64> {
    let cursor = queries::cursor(connection)?;
    let line = keep_line(connection, stream, None, Some(cursor + stream.events.len() as u64))?;
    keep_history(connection, line, cursor, stream, None)?;
    Ok(line.number)
}

/// Stores the events, seals and snapshot of a session. `cursor` is the cursor of the newest event before them.
fn keep_history(
    connection: &Connection,
    line: Line,
    cursor: u64,
    stream: &StreamAppend,
    known: Option<&BTreeMap<u64, Given>>,
) -> Step<()> {
    let before = match line.head {
        None if stream.expected > 0 => chain_older(connection, line.number)?,
        head => head,
    };
    let seals = seal_new(before, &stream.events, known)?;
    keep_events(connection, line.number, cursor, &stream.events, &seals)?;
    if let Some(last) = seals.last() {
        chain::keep_head(connection, line.number, last.link, stream.expected + 1)?;
    }
    if let Some(snapshot) = &stream.snapshot {
        keep_snapshot(connection, line.number, snapshot)?;
    }
    Ok(())
}

/// Seals the older events of a session that was never changed by a program with chains, with the content that they have
/// now.
fn chain_older(connection: &Connection, session: i64) -> Step<Option<Hash>> {
    let events = chain::older_events(connection, session)?;
    let seals = chain::seal_older(&events)?;
    chain::keep_older(connection, session, &events, &seals)?;
    Ok(seals.last().map(|seal| seal.link))
}

/// Stores the key of the batch. This is done first: a repeated command must learn that its key was used, not that there
/// is a conflict.
fn keep_key(connection: &Connection, key: &KeyRow) -> Step<()> {
    if is_new_key(connection, key)? { Ok(()) } else { Err(Error::KeyTaken.into()) }
}

/// Stores a key; returns false if the key was used before.
pub(super) fn is_new_key(connection: &Connection, key: &KeyRow) -> rusqlite::Result<bool> {
    let expired = Moment(keys_expire_at(key.at));
    let mut used = connection.prepare_cached("SELECT 1 FROM keys WHERE key=?1 AND at>?2")?;
    if used.exists(params![key.key, expired])? {
        return Ok(false);
    }
    let mut keep = connection.prepare_cached(
        "INSERT OR REPLACE INTO keys(key,fingerprint,answer,at,version,session)VALUES(?1,?2,?3,?4,?5,?6)",
    )?;
    let session = key.session.as_ref().map(SessionId::as_str);
    keep.execute(params![key.key, key.fingerprint, key.answer, Moment(key.at), key.version, session])?;
    let mut sweep = connection.prepare_cached(
        "DELETE FROM keys WHERE rowid IN(SELECT rowid FROM keys ORDER BY rowid LIMIT ?1)AND at<=?2",
    )?;
    sweep.execute(params![KEYS_SWEPT, expired])?;
    Ok(true)
}

/// Stores the rows of sessions; returns their numbers in the order of the streams. Sessions that stop being active are
/// stored first, so that another session of the batch can become active in the same worktree.
fn keep_lines(connection: &Connection, batch: &Batch, turn: u64) -> Step<Vec<Line>> {
    let streams = &batch.streams;
    let mut lines = vec![Line::default(); streams.len()];
    for takes in [false, true] {
        for (stream, line) in streams.iter().zip(&mut lines) {
            if takes_the_worktree(&stream.row) == takes {
                let known_by = batch.numbers.get(&stream.row.id).copied();
                *line = keep_line(connection, stream, known_by, Some(turn))?;
            }
        }
    }
    Ok(lines)
}

pub(super) fn keep_events(
    connection: &Connection,
    session: i64,
    cursor: u64,
    events: &[EventRow],
    seals: &[Seal],
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO events(session,version,at,actor,kind,body,cursor,command,ordinal,salt,hash,link)\
         VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12)",
    )?;
    for ((event, seal), cursor) in events.iter().zip(seals).zip(cursor + 1..) {
        let command = event.command.as_ref();
        statement.execute(params![
            session,
            signed(event.version),
            Moment(event.at),
            event.actor,
            event.kind,
            event.body,
            signed(cursor),
            command.map(|command| &command.name),
            command.map(|command| signed(command.ordinal)),
            seal.salt,
            seal.hash,
            seal.link,
        ])?;
    }
    Ok(())
}

pub(super) fn keep_snapshot(
    connection: &Connection,
    session: i64,
    snapshot: &Snapshot,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO snapshots(session,fold_version,version,body,sum)VALUES(?1,?2,?3,?4,?5)ON CONFLICT DO UPDATE SET \
         fold_version=excluded.fold_version,version=excluded.version,body=excluded.body,sum=excluded.sum",
    )?;
    let body = padded(&snapshot.body);
    let sum = checksum(&body);
    statement.execute(params![session, snapshot.fold_version, signed(snapshot.version), body, sum]).map(drop)
}

/// Pads the text with white space to a multiple of one KiB. While the size of a row stays the same, SQLite overwrites
/// the row in place and writes only pages that differ. If the size changed, SQLite would free and reallocate overflow
/// pages, and write two more pages of bookkeeping.
fn padded(body: &str) -> String {
    const STEP: usize = 1024;
    let length = body.len().next_multiple_of(STEP);
    let mut padded = String::with_capacity(length);
    padded.push_str(body);
    padded.extend(std::iter::repeat_n(' ', length - body.len()));
    padded
}
