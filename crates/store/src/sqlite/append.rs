//! Keeps a batch in one transaction. The caller holds the turn.

use super::columns::Moment;
use super::queries::signed;
use super::{SqliteStore, agents, chain, items, queries, views};
use crate::batch::{check_shape, item_rows, keys_expire_at, malformed, takes_the_worktree};
use crate::chain::{Given, Hash, Seal, seal_new};
use crate::{Batch, Error, EventRow, KeyRow, Result, SessionRow, Snapshot, StreamAppend};
use model::id::SessionId;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Transaction, TransactionBehavior, params};
use std::collections::BTreeMap;

/// How many expired keys one new key sweeps away: enough to keep up, too few to be felt.
const KEYS_SWEPT: i64 = 8;

impl SqliteStore {
    pub(super) fn append_in_turn(&mut self, batch: &Batch) -> Result<()> {
        check_shape(batch)?;
        let begun = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate);
        let transaction = begun.map_err(self.fail("beginning a change"))?;
        match write(&transaction, batch) {
            Ok(()) => {}
            Err(Stop::Refused(error)) => return Err(error),
            Err(Stop::Failed(error)) => return Err(self.fail("keeping a change")(error)),
        }
        match transaction.commit() {
            Ok(()) => Ok(()),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                Err(self.fail("keeping a change")(error))
            }
            Err(error) => self.after_failed_commit(batch, &error),
        }
    }
}

/// Why a transaction ends without a commit.
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

fn write(connection: &Connection, batch: &Batch) -> Step<()> {
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
                "it binds an agent to session {}, which does not exist",
                binding.session
            ))?);
        }
    }
    keep_items(connection, batch)?;
    for view in &batch.views {
        if !views::keep(connection, view)? {
            let why = format!("it has a file of session {}, which does not exist", view.session);
            return Ok(malformed(why)?);
        }
    }
    Ok(())
}

fn keep_items(connection: &Connection, batch: &Batch) -> Step<()> {
    let of = |session: &SessionId| -> Step<i64> {
        match items::session_number(connection, session)? {
            Some(number) => Ok(number),
            None => Ok(malformed(format!("it has items of session {session}, which does not exist"))?),
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

/// What a change of one session alone keeps; gives the session's number.
pub(super) fn keep_stream(connection: &Connection, stream: &StreamAppend) -> Step<i64> {
    let cursor = queries::cursor(connection)?;
    let line = keep_line(connection, stream, None, cursor + stream.events.len() as u64)?;
    keep_history(connection, line, cursor, stream, None)?;
    Ok(line.number)
}

/// A session's line that was kept.
#[derive(Clone, Copy, Default)]
struct Line {
    number: i64,
    /// Of its chain, as it was before.
    head: Option<Hash>,
}

/// `cursor` is that of the newest event before these.
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
    keep_snapshot(connection, line.number, &stream.snapshot)?;
    Ok(())
}

/// The first change of a session since there are chains: its older events are sealed as they stand.
fn chain_older(connection: &Connection, session: i64) -> Step<Option<Hash>> {
    let events = chain::older_events(connection, session)?;
    let seals = chain::seal_older(&events)?;
    chain::keep_older(connection, session, &events, &seals)?;
    Ok(seals.last().map(|seal| seal.link))
}

/// Before everything else: whoever repeats a command under its key is to hear that, and not of a conflict.
fn keep_key(connection: &Connection, key: &KeyRow) -> Step<()> {
    if is_new_key(connection, key)? { Ok(()) } else { Err(Error::KeyTaken.into()) }
}

/// Keeps a key, unless it is taken.
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

/// Gives the sessions' numbers in the order of the streams. Those that leave a worktree's one place go first,
/// so that another stream of the batch can take it.
fn keep_lines(connection: &Connection, batch: &Batch, turn: u64) -> Step<Vec<Line>> {
    let streams = &batch.streams;
    let mut lines = vec![Line::default(); streams.len()];
    for takes in [false, true] {
        for (stream, line) in streams.iter().zip(&mut lines) {
            if takes_the_worktree(&stream.row) == takes {
                let known_by = batch.numbers.get(&stream.row.id).copied();
                *line = keep_line(connection, stream, known_by, turn)?;
            }
        }
    }
    Ok(lines)
}

fn keep_line(connection: &Connection, stream: &StreamAppend, known_by: Option<u64>, turn: u64) -> Step<Line> {
    let row = &stream.row;
    let existing = find(connection, &row.id)?;
    let done = match &existing {
        None if stream.expected == 0 => insert(connection, row, free(connection, known_by)?, turn),
        Some(existing) if stream.expected == 0 || existing.id != row.id.as_str() => {
            let existing = SessionId::parse(&existing.id).unwrap_or_else(|_| row.id.clone());
            return Err(Error::IdTaken { existing }.into());
        }
        Some(existing) if existing.version == stream.expected => update(connection, existing, row, turn),
        None | Some(_) => {
            let found = existing.map_or(0, |existing| existing.version);
            return Err(Error::Conflict { session: row.id.clone(), expected: stream.expected, found }.into());
        }
    };
    let head = existing.and_then(|existing| existing.head);
    done.map(|number| Line { number, head }).map_err(|error| match error.sqlite_error_code() {
        // Ids were compared above, so the one thing left that must be unique is the worktree's active session.
        Some(ErrorCode::ConstraintViolation) => Error::ActiveTaken { worktree: row.worktree.clone() }.into(),
        _ => error.into(),
    })
}

struct Existing {
    number: i64,
    id: String,
    version: u64,
    head: Option<Hash>,
    place: Place,
}

/// The columns of the indexes by worktree and lifecycle.
#[derive(PartialEq, Eq)]
struct Place {
    worktree: String,
    machine: Option<String>,
    layout: String,
    exclusive: bool,
    lifecycle: String,
    parallel: bool,
}

/// By id, case ignored.
fn find(connection: &Connection, id: &SessionId) -> rusqlite::Result<Option<Existing>> {
    let mut statement = connection.prepare_cached(
        "SELECT number,id,version,worktree,machine,layout,exclusive,lifecycle,parallel,head FROM sessions WHERE id=?1",
    )?;
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Existing {
            number: row.get(0)?,
            id: row.get(1)?,
            version: row.get(2)?,
            head: row.get(9)?,
            place: Place {
                worktree: row.get(3)?,
                machine: row.get(4)?,
                layout: row.get(5)?,
                exclusive: row.get(6)?,
                lifecycle: row.get(7)?,
                parallel: row.get(8)?,
            },
        })
    };
    statement.query_row([id.as_str()], read).optional()
}

/// The number that a new session is known by, unless another has it.
fn free(connection: &Connection, number: Option<u64>) -> rusqlite::Result<Option<i64>> {
    let Some(number) = number.and_then(|number| i64::try_from(number).ok()).filter(|number| *number > 0)
    else {
        return Ok(None);
    };
    let mut taken = connection.prepare_cached("SELECT 1 FROM sessions WHERE number=?1")?;
    Ok((!taken.exists([number])?).then_some(number))
}

/// Without a number the next one is given.
fn insert(
    connection: &Connection,
    row: &SessionRow,
    number: Option<i64>,
    turn: u64,
) -> rusqlite::Result<i64> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO sessions(workflow,title,goal,target,phase,phases_done,phases_total,created_at,updated_at,version,\
         id,worktree,layout,lifecycle,parallel,number,turn,machine,exclusive)VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,\
         ?12,?13,?14,?15,?16,?17,?18,?19)",
    )?;
    statement.insert(params![
        row.workflow,
        row.title,
        row.goal,
        row.target,
        row.phase,
        row.phases_done,
        row.phases_total,
        Moment(row.created_at),
        Moment(row.updated_at),
        row.version,
        row.id.as_str(),
        row.worktree,
        row.layout,
        row.lifecycle,
        row.parallel,
        number,
        signed(turn),
        row.machine,
        row.exclusive,
    ])
}

/// The columns of the worktree's index are set only when they change: naming them makes SQLite write that index again.
fn update(
    connection: &Connection,
    existing: &Existing,
    row: &SessionRow,
    turn: u64,
) -> rusqlite::Result<i64> {
    if existing.place != place_of(row) {
        let sql = "UPDATE sessions SET worktree=?2,machine=?3,layout=?4,exclusive=?5,lifecycle=?6,parallel=?7 \
                   WHERE number=?1";
        connection.prepare_cached(sql)?.execute(params![
            existing.number,
            row.worktree,
            row.machine,
            row.layout,
            row.exclusive,
            row.lifecycle,
            row.parallel,
        ])?;
    }
    let mut statement = connection.prepare_cached(
        "UPDATE sessions SET workflow=?2,title=?3,goal=?4,target=?5,phase=?6,phases_done=?7,phases_total=?8,\
         created_at=?9,updated_at=?10,version=?11,turn=?12 WHERE number=?1",
    )?;
    statement.execute(params![
        existing.number,
        row.workflow,
        row.title,
        row.goal,
        row.target,
        row.phase,
        row.phases_done,
        row.phases_total,
        Moment(row.created_at),
        Moment(row.updated_at),
        row.version,
        signed(turn),
    ])?;
    Ok(existing.number)
}

fn place_of(row: &SessionRow) -> Place {
    Place {
        worktree: row.worktree.clone(),
        machine: row.machine.clone(),
        layout: row.layout.clone(),
        exclusive: row.exclusive,
        lifecycle: row.lifecycle.clone(),
        parallel: row.parallel,
    }
}

fn keep_events(
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

fn keep_snapshot(connection: &Connection, session: i64, snapshot: &Snapshot) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT OR REPLACE INTO snapshots(session,fold_version,version,body)VALUES(?1,?2,?3,?4)",
    )?;
    let values = params![session, snapshot.fold_version, signed(snapshot.version), snapshot.body];
    statement.execute(values).map(drop)
}
