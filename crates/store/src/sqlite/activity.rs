//! Touched files and executed commands, as rows outside the log. Never changes a session or its version.

use super::agents;
use super::append::is_new_key;
use super::columns::{Moment, moment};
use super::queries::at_most;
use crate::{ActivityKind, ActivityRow, KEPT_ACTIVITIES, KeyRow, Trace};
use model::id::SessionId;
use rusqlite::types::Type;
use rusqlite::{Connection, Error, OptionalExtension, Result, Row, Transaction, TransactionBehavior, params};

/// The setting for data that may be lost in a crash. It is not used with a rollback journal, because a commit without a
/// sync could then damage the database.
const WITHOUT_SYNC: &str = "PRAGMA synchronous=NORMAL";
const AS_BEFORE: &str = "PRAGMA synchronous=EXTRA";

/// Records activity of a session. Entries for an unknown session are ignored.
pub(super) fn record(connection: &Connection, session: &SessionId, rows: &[ActivityRow]) -> Result<()> {
    without_sync(connection, |transaction| record_all(transaction, session, rows))
}

/// Records a trace. Returns false if the trace's key was used before, or if the agent's memory is not what the trace
/// expects.
pub(super) fn trace(connection: &Connection, trace: &Trace) -> Result<bool> {
    without_sync(connection, |transaction| {
        if !agents::is_as_expected(transaction, trace)? {
            return Ok(false);
        }
        if let Some(key) = &trace.once {
            let key = KeyRow::of_hook(key, trace.at);
            if !is_new_key(transaction, &key)? {
                return Ok(false);
            }
        }
        agents::touch(transaction, trace)?;
        if let Some((session, rows)) = &trace.activity {
            record_all(transaction, session, rows)?;
        }
        Ok(true)
    })
}

/// Runs a transaction whose data may be lost in a crash.
pub(super) fn without_sync<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T>,
) -> Result<T> {
    let journal: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
    let is_log = journal == "wal";
    if is_log {
        connection.execute_batch(WITHOUT_SYNC)?;
    }
    let done = in_transaction(connection, work);
    if is_log {
        connection.execute_batch(AS_BEFORE)?;
    }
    done
}

pub(super) fn in_transaction<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T>,
) -> Result<T> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let done = work(&transaction)?;
    transaction.commit()?;
    Ok(done)
}

pub(super) fn newest(connection: &Connection, session: &SessionId, limit: usize) -> Result<Vec<ActivityRow>> {
    let mut statement = connection.prepare_cached(
        "SELECT kind,what,detail,at,count FROM activity \
         WHERE session=(SELECT number FROM sessions WHERE id=?1 AND id=?1 COLLATE BINARY) \
         ORDER BY at DESC,what LIMIT ?2",
    )?;
    let rows = statement.query_map(params![session.as_str(), at_most(Some(limit))], activity_row)?;
    rows.collect()
}

/// Replaces all activity of a session.
pub(super) fn replace(connection: &Connection, number: i64, rows: &[ActivityRow]) -> Result<()> {
    connection.prepare_cached("DELETE FROM activity WHERE session=?1")?.execute([number])?;
    rows.iter().try_for_each(|row| keep(connection, number, row))
}

fn record_all(connection: &Connection, session: &SessionId, rows: &[ActivityRow]) -> Result<()> {
    let mut find =
        connection.prepare_cached("SELECT number FROM sessions WHERE id=?1 AND id=?1 COLLATE BINARY")?;
    let Some(number) = find.query_row([session.as_str()], |row| row.get::<_, i64>(0)).optional()? else {
        return Ok(());
    };
    rows.iter().try_for_each(|row| keep(connection, number, row))?;
    let mut forget = connection.prepare_cached(
        "DELETE FROM activity WHERE session=?1 AND(kind,what)IN(\
         SELECT kind,what FROM activity WHERE session=?1 ORDER BY at DESC,what LIMIT -1 OFFSET ?2)",
    )?;
    forget.execute(params![number, at_most(Some(KEPT_ACTIVITIES))]).map(drop)
}

/// Adds an entry, or updates the stored one. The later of the two times is stored.
fn keep(connection: &Connection, number: i64, row: &ActivityRow) -> Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO activity(session,kind,what,detail,at,count)VALUES(?1,?2,?3,?4,?5,?6)\
         ON CONFLICT DO UPDATE SET count=count+excluded.count,\
         detail=CASE WHEN excluded.at>=at THEN excluded.detail ELSE detail END,at=max(at,excluded.at)",
    )?;
    let values = params![number, row.kind.name(), row.what, row.detail, Moment(row.at), row.count];
    statement.execute(values).map(drop)
}

fn activity_row(row: &Row<'_>) -> Result<ActivityRow> {
    let kind = row.get_ref(0)?.as_str()?;
    let kind = ActivityKind::parse(kind).ok_or_else(|| {
        Error::FromSqlConversionFailure(0, Type::Text, format!("unknown kind of activity: {kind}").into())
    })?;
    Ok(ActivityRow { kind, what: row.get(1)?, detail: row.get(2)?, at: moment(row, 3)?, count: row.get(4)? })
}
