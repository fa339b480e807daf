//! Converts between Rust values and SQLite's columns. Runs no statements.

use crate::{CommandMark, EventRow, Listed, SessionRow};
use jiff::Timestamp;
use model::id::SessionId;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, Type, ValueRef};
use rusqlite::{Error, Result, Row};

/// A session's columns, in the order in which `listed` reads them.
pub(super) const SESSION: &str = "s.number,s.id,s.worktree,s.layout,s.workflow,s.title,s.goal,s.target,s.lifecycle,\
    s.parallel,s.phase,s.phases_done,s.phases_total,s.created_at,s.updated_at,s.version,s.machine,s.exclusive";

/// The number of columns in `SESSION`; in a join, the next columns start at this index.
pub(super) const AFTER_SESSION: usize = 18;

/// A time, stored as whole nanoseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment(pub(super) Timestamp);

impl ToSql for Moment {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        let nanoseconds = self.0.as_nanosecond();
        let end = if nanoseconds < 0 { i64::MIN } else { i64::MAX };
        Ok(ToSqlOutput::from(i64::try_from(nanoseconds).unwrap_or(end)))
    }
}

impl FromSql for Moment {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let nanoseconds = i64::column_result(value)?;
        let moment = Timestamp::from_nanosecond(i128::from(nanoseconds));
        moment.map(Self).map_err(|error| FromSqlError::Other(Box::new(error)))
    }
}

pub(super) fn listed(row: &Row<'_>) -> Result<Listed> {
    Ok(Listed {
        number: row.get(0)?,
        row: SessionRow {
            id: session_id(row, 1)?,
            worktree: row.get(2)?,
            layout: row.get(3)?,
            workflow: row.get(4)?,
            title: row.get(5)?,
            goal: row.get(6)?,
            target: row.get(7)?,
            lifecycle: row.get(8)?,
            parallel: row.get(9)?,
            phase: row.get(10)?,
            phases_done: row.get(11)?,
            phases_total: Some(row.get(12)?).filter(|total| *total > 0),
            created_at: moment(row, 13)?,
            updated_at: moment(row, 14)?,
            version: row.get(15)?,
            machine: row.get(16)?,
            exclusive: row.get(17)?,
        },
    })
}

/// Reads `version, at, actor, kind, body, command, ordinal`, starting at column `first`.
pub(super) fn event(row: &Row<'_>, first: usize) -> Result<EventRow> {
    let name: Option<String> = row.get(first + 5)?;
    let ordinal: Option<u64> = row.get(first + 6)?;
    Ok(EventRow {
        version: row.get(first)?,
        at: moment(row, first + 1)?,
        actor: row.get(first + 2)?,
        kind: row.get(first + 3)?,
        body: row.get(first + 4)?,
        command: name.zip(ordinal).map(|(name, ordinal)| CommandMark { name, ordinal }),
    })
}

pub(super) fn moment(row: &Row<'_>, column: usize) -> Result<Timestamp> {
    row.get::<_, Moment>(column).map(|moment| moment.0)
}

pub(super) fn session_id(row: &Row<'_>, column: usize) -> Result<SessionId> {
    parse_id(row.get_ref(column)?.as_str()?, column)
}

pub(super) fn optional_session_id(row: &Row<'_>, column: usize) -> Result<Option<SessionId>> {
    row.get_ref(column)?.as_str_or_null()?.map(|text| parse_id(text, column)).transpose()
}

fn parse_id(text: &str, column: usize) -> Result<SessionId> {
    SessionId::parse(text)
        .map_err(|error| Error::FromSqlConversionFailure(column, Type::Text, Box::new(error)))
}
