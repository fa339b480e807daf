//! Keeps a batch in one transaction. The caller holds the turn.

use super::columns::Moment;
use super::queries::signed;
use super::{SqliteStore, agents, items, views};
use crate::batch::{check_shape, item_rows, keys_expire_at, malformed, takes_the_worktree};
use crate::{Batch, Error, EventRow, KeyRow, Result, SessionRow, Snapshot, StreamAppend};
use model::id::SessionId;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Transaction, TransactionBehavior, params};

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
    let numbers = keep_lines(connection, batch)?;
    for (stream, number) in batch.streams.iter().zip(numbers) {
        keep_history(connection, number, stream)?;
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
    let number = keep_line(connection, stream, None)?;
    keep_history(connection, number, stream)?;
    Ok(number)
}

fn keep_history(connection: &Connection, number: i64, stream: &StreamAppend) -> Step<()> {
    keep_events(connection, number, &stream.events)?;
    keep_snapshot(connection, number, &stream.snapshot)?;
    Ok(())
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
    let mut keep = connection
        .prepare_cached("INSERT OR REPLACE INTO keys(key,fingerprint,answer,at)VALUES(?1,?2,?3,?4)")?;
    keep.execute(params![key.key, key.fingerprint, key.answer, Moment(key.at)])?;
    let mut sweep = connection.prepare_cached(
        "DELETE FROM keys WHERE rowid IN(SELECT rowid FROM keys ORDER BY rowid LIMIT ?1)AND at<=?2",
    )?;
    sweep.execute(params![KEYS_SWEPT, expired])?;
    Ok(true)
}

/// Gives the sessions' numbers in the order of the streams. Those that leave a worktree's one place go first,
/// so that another stream of the batch can take it.
fn keep_lines(connection: &Connection, batch: &Batch) -> Step<Vec<i64>> {
    let streams = &batch.streams;
    let mut numbers = vec![0; streams.len()];
    for takes in [false, true] {
        for (stream, number) in streams.iter().zip(&mut numbers) {
            if takes_the_worktree(&stream.row) == takes {
                *number = keep_line(connection, stream, batch.numbers.get(&stream.row.id).copied())?;
            }
        }
    }
    Ok(numbers)
}

fn keep_line(connection: &Connection, stream: &StreamAppend, known_by: Option<u64>) -> Step<i64> {
    let row = &stream.row;
    let existing = find(connection, &row.id)?;
    let done = match &existing {
        None if stream.expected == 0 => insert(connection, row, free(connection, known_by)?),
        Some(existing) if stream.expected == 0 || existing.id != row.id.as_str() => {
            let existing = SessionId::parse(&existing.id).unwrap_or_else(|_| row.id.clone());
            return Err(Error::IdTaken { existing }.into());
        }
        Some(existing) if existing.version == stream.expected => update(connection, existing, row),
        None | Some(_) => {
            let found = existing.map_or(0, |existing| existing.version);
            return Err(Error::Conflict { session: row.id.clone(), expected: stream.expected, found }.into());
        }
    };
    done.map_err(|error| match error.sqlite_error_code() {
        // Ids were compared above, so the one thing left that must be unique is the worktree's active session.
        Some(ErrorCode::ConstraintViolation) => Error::ActiveTaken { worktree: row.worktree.clone() }.into(),
        _ => error.into(),
    })
}

struct Existing {
    number: i64,
    id: String,
    version: u64,
    worktree: String,
    layout: String,
    lifecycle: String,
    parallel: bool,
}

/// By id, case ignored.
fn find(connection: &Connection, id: &SessionId) -> rusqlite::Result<Option<Existing>> {
    let mut statement = connection.prepare_cached(
        "SELECT number,id,version,worktree,layout,lifecycle,parallel FROM sessions WHERE id=?1",
    )?;
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Existing {
            number: row.get(0)?,
            id: row.get(1)?,
            version: row.get(2)?,
            worktree: row.get(3)?,
            layout: row.get(4)?,
            lifecycle: row.get(5)?,
            parallel: row.get(6)?,
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
fn insert(connection: &Connection, row: &SessionRow, number: Option<i64>) -> rusqlite::Result<i64> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO sessions(workflow,title,goal,target,phase,phases_done,phases_total,created_at,updated_at,version,\
         id,worktree,layout,lifecycle,parallel,number,turn)VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,\
         ?16,(SELECT coalesce(max(cursor),0)+1 FROM events))",
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
    ])
}

/// The columns of the worktree's index are set only when they change: naming them makes SQLite write that index again.
fn update(connection: &Connection, existing: &Existing, row: &SessionRow) -> rusqlite::Result<i64> {
    let stays = existing.worktree == row.worktree
        && existing.layout == row.layout
        && existing.lifecycle == row.lifecycle
        && existing.parallel == row.parallel;
    if !stays {
        let sql = "UPDATE sessions SET worktree=?2,layout=?3,lifecycle=?4,parallel=?5 WHERE number=?1";
        let values = params![existing.number, row.worktree, row.layout, row.lifecycle, row.parallel];
        connection.prepare_cached(sql)?.execute(values)?;
    }
    let mut statement = connection.prepare_cached(
        "UPDATE sessions SET workflow=?2,title=?3,goal=?4,target=?5,phase=?6,phases_done=?7,phases_total=?8,\
         created_at=?9,updated_at=?10,version=?11,turn=(SELECT coalesce(max(cursor),0)+1 FROM events)WHERE number=?1",
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
    ])?;
    Ok(existing.number)
}

fn keep_events(connection: &Connection, session: i64, events: &[EventRow]) -> rusqlite::Result<()> {
    let mut statement = connection
        .prepare_cached("INSERT INTO events(session,version,at,actor,kind,body)VALUES(?1,?2,?3,?4,?5,?6)")?;
    for event in events {
        let values =
            params![session, signed(event.version), Moment(event.at), event.actor, event.kind, event.body];
        statement.execute(values)?;
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
