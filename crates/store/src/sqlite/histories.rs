//! Stores histories from other replicas as they arrived. Decides nothing, and keeps the seals of the events.

use super::append::{self, Stop, keep_events, keep_snapshot};
use super::columns::{Moment, moment, session_id};
use super::queries::signed;
use super::session_rows::keep_line;
use super::{SqliteStore, chain, items, queries};
use crate::batch_rules::{check_history, takes_the_worktree};
use crate::chain::{Given, Seal, seal};
use crate::{Arrival, Arrived, ContentRow, DefinitionRow, Error, Result, StreamAppend, TakenHistory};
use model::id::SessionId;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

impl SqliteStore {
    pub(super) fn take_histories_in_turn(&mut self, arrived: &Arrived) -> Result<()> {
        let Arrived { histories, gone, definitions, contents, purged, purged_contents } = arrived;
        histories.iter().try_for_each(check_history)?;
        // Content that was purged on another replica must not remain in a freed page.
        self.connection
            .execute_batch("PRAGMA secure_delete=ON")
            .map_err(self.fail("storing a received history"))?;
        self.in_transaction("storing a received history", |connection| {
            keep_texts(connection, definitions, contents)?;
            remove_purged(connection, purged, purged_contents)?;
            for takes in [false, true] {
                let now = histories.iter().filter(|history| takes_the_worktree(&history.row) == takes);
                for history in now {
                    take(connection, history)?;
                }
            }
            let cursor = queries::cursor(connection)?;
            for (id, version) in gone {
                forget(connection, id, *version)?;
            }
            keep_cursor(connection, cursor)?;
            Ok(())
        })
    }

    /// Seals sessions that have no chain. All of them are sealed in a single transaction, because the first sync may
    /// have to seal every session of an old store.
    pub(super) fn seal_histories_in_turn(&mut self, ids: &[SessionId]) -> Result<()> {
        self.in_transaction("sealing histories", |connection| {
            for id in unsealed(connection, ids)? {
                seal_one(connection, &id)?;
            }
            Ok(())
        })
    }

    fn in_transaction(
        &mut self,
        doing: &str,
        work: impl FnOnce(&Connection) -> append::Step<()>,
    ) -> Result<()> {
        let begun = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate);
        let transaction = begun.map_err(self.fail("starting a transaction"))?;
        match work(&transaction) {
            Ok(()) => {}
            Err(Stop::Refused(error)) => return Err(error),
            Err(Stop::Failed(error)) => return Err(self.fail(doing)(error)),
        }
        // The transaction can be repeated without harm, so an unknown outcome need not be settled.
        transaction.commit().map_err(|error| Error::Unknown { why: error.to_string() })
    }
}

const ARRIVALS: &str = "SELECT s.id,a.replica,a.stream,a.version,a.head,a.at FROM arrivals a \
    JOIN sessions s ON s.number=a.session";

pub(super) fn arrivals(connection: &Connection) -> rusqlite::Result<Vec<Arrival>> {
    let mut statement = connection.prepare_cached(&format!("{ARRIVALS} ORDER BY s.id"))?;
    statement.query_map([], read_arrival)?.collect()
}

pub(super) fn arrival(connection: &Connection, id: &SessionId) -> rusqlite::Result<Option<Arrival>> {
    let sql = format!("{ARRIVALS} WHERE s.id=?1 AND s.id=?1 COLLATE BINARY");
    connection.prepare_cached(&sql)?.query_row([id.as_str()], read_arrival).optional()
}

fn read_arrival(row: &rusqlite::Row<'_>) -> rusqlite::Result<Arrival> {
    Ok(Arrival {
        session: session_id(row, 0)?,
        replica: row.get(1)?,
        stream: row.get(2)?,
        version: row.get(3)?,
        head: row.get(4)?,
        at: moment(row, 5)?,
    })
}

/// Returns those of the given sessions that have no chain.
pub(super) fn unsealed(connection: &Connection, ids: &[SessionId]) -> rusqlite::Result<Vec<SessionId>> {
    let sql = "SELECT 1 FROM sessions WHERE id=?1 AND id=?1 COLLATE BINARY AND head IS NULL";
    let mut statement = connection.prepare_cached(sql)?;
    let mut found = Vec::new();
    for id in ids {
        if statement.exists([id.as_str()])? {
            found.push(id.clone());
        }
    }
    Ok(found)
}

fn seal_one(connection: &Connection, id: &SessionId) -> append::Step<()> {
    let Some(number) = items::session_number(connection, id)? else { return Ok(()) };
    let events = chain::older_events(connection, number)?;
    let Some(last) = events.last() else { return Ok(()) };
    let seals = chain::seal_older(&events)?;
    chain::keep_older(connection, number, &events, &seals)?;
    let head = seals.last().map(|seal| seal.link).unwrap_or_default();
    chain::keep_head(connection, number, head, last.version + 1)?;
    Ok(())
}

fn keep_texts(
    connection: &Connection,
    definitions: &[DefinitionRow],
    contents: &[ContentRow],
) -> rusqlite::Result<()> {
    let mut keep = connection.prepare_cached("INSERT OR IGNORE INTO definitions(hash,body)VALUES(?1,?2)")?;
    for definition in definitions {
        keep.execute([&definition.hash, &definition.body])?;
    }
    let mut keep = connection.prepare_cached("INSERT OR IGNORE INTO contents(hash,body)VALUES(?1,?2)")?;
    for content in contents {
        keep.execute(params![content.hash, content.body])?;
    }
    Ok(())
}

fn remove_purged(
    connection: &Connection,
    sessions: &[SessionId],
    contents: &[String],
) -> rusqlite::Result<()> {
    let mut empty = connection.prepare_cached("UPDATE keys SET answer='' WHERE instr(answer,?1)>0")?;
    for session in sessions {
        empty.execute([session.as_str()])?;
    }
    let mut delete = connection.prepare_cached("DELETE FROM contents WHERE hash=?1")?;
    for hash in contents {
        delete.execute([hash])?;
    }
    Ok(())
}

/// Deletes all rows of a session. The rows of agents and keys keep the session's id.
fn forget(connection: &Connection, id: &SessionId, version: u64) -> append::Step<()> {
    let found = queries::load(connection, id)?;
    if found.as_ref().is_none_or(|found| found.row.version != version) {
        let found = found.map_or(0, |found| found.row.version);
        return Err(Error::Conflict { session: id.clone(), expected: version, found }.into());
    }
    let Some(number) = items::session_number(connection, id)? else { return Ok(()) };
    items::remove_all(connection, number)?;
    for table in ["events", "snapshots", "activity", "views", "arrivals"] {
        connection.execute(&format!("DELETE FROM {table} WHERE session=?1"), [number])?;
    }
    connection.execute("DELETE FROM sessions WHERE number=?1", [number])?;
    Ok(())
}

/// Makes sure that no cursor is ever used again, even if the session of its event was removed.
fn keep_cursor(connection: &Connection, cursor: u64) -> rusqlite::Result<()> {
    let newest = "SELECT number FROM sessions ORDER BY turn DESC LIMIT 1";
    let sql = format!("UPDATE sessions SET turn=?1 WHERE number=({newest})AND turn<?1");
    connection.execute(&sql, [signed(cursor)]).map(drop)
}

fn take(connection: &Connection, history: &TakenHistory) -> append::Step<()> {
    let seals = sealed(history);
    let shared = usize::try_from(history.shared).unwrap_or(usize::MAX).min(history.events.len());
    let new = &history.events[shared..];
    let cursor = queries::cursor(connection)?;
    let turn = if new.is_empty() { None } else { Some(cursor + new.len() as u64) };
    let line = StreamAppend {
        expected: history.expected,
        events: Vec::new(),
        row: history.row.clone(),
        snapshot: Some(history.snapshot.clone()),
    };
    let number = keep_line(connection, &line, None, turn)?.number;
    connection
        .prepare_cached("DELETE FROM events WHERE session=?1 AND version>?2")?
        .execute(params![number, signed(history.shared)])?;
    keep_events(connection, number, cursor, new, &seals[shared..])?;
    if let Some(last) = seals.last() {
        let sql = "UPDATE sessions SET head=?2,chained_since=coalesce(chained_since,1)WHERE number=?1";
        connection.prepare_cached(sql)?.execute(params![number, last.link])?;
    }
    keep_snapshot(connection, number, &history.snapshot)?;
    items::remove_all(connection, number)?;
    for row in &history.items {
        items::keep(connection, number, row)?;
    }
    keep_arrival(connection, number, history.arrival.as_ref())?;
    Ok(())
}

fn keep_arrival(connection: &Connection, number: i64, arrival: Option<&Arrival>) -> rusqlite::Result<()> {
    let Some(arrival) = arrival else {
        return connection
            .prepare_cached("DELETE FROM arrivals WHERE session=?1")?
            .execute([number])
            .map(drop);
    };
    let sql =
        "INSERT OR REPLACE INTO arrivals(session,replica,stream,version,head,at)VALUES(?1,?2,?3,?4,?5,?6)";
    let values = params![
        number,
        arrival.replica,
        arrival.stream,
        signed(arrival.version),
        arrival.head,
        Moment(arrival.at)
    ];
    connection.prepare_cached(sql)?.execute(values).map(drop)
}

fn sealed(history: &TakenHistory) -> Vec<Seal> {
    seal(None, &history.events, |event| {
        history.seals.get(&event.version).copied().unwrap_or(Given::Salt([0; crate::chain::SALT_BYTES]))
    })
}
