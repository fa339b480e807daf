//! Converts between Rust values and PostgreSQL's columns. Runs no statements.

use super::wire::{Step, Stop};
use crate::chain::Hash;
use crate::{CommandMark, Error, EventRow, Listed, SessionRow};
use jiff::Timestamp;
use model::id::SessionId;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSqlOwned, ToSql, Type};

/// A value whose column type follows from its Rust type. With typed values, a statement needs only one round trip.
pub(super) trait Column: ToSql + Sync {
    fn kind() -> Type;
}

macro_rules! columns {
    ($($type:ty => $kind:ident),* $(,)?) => {
        $(impl Column for $type { fn kind() -> Type { Type::$kind } })*
    };
}

columns![
    bool => BOOL, i32 => INT4, i64 => INT8, String => TEXT, &str => TEXT, &String => TEXT, Vec<u8> => BYTEA,
    &[u8] => BYTEA, &Vec<u8> => BYTEA, Vec<i64> => INT8_ARRAY, Vec<i32> => INT4_ARRAY, Vec<String> => TEXT_ARRAY,
    &Vec<String> => TEXT_ARRAY, Vec<&str> => TEXT_ARRAY, Vec<Option<&str>> => TEXT_ARRAY, Vec<Option<String>> => TEXT_ARRAY,
    Vec<Option<i64>> => INT8_ARRAY, Vec<&[u8]> => BYTEA_ARRAY, Vec<Option<&[u8]>> => BYTEA_ARRAY,
];

impl<T: Column> Column for Option<T> {
    fn kind() -> Type {
        T::kind()
    }
}

pub(super) fn kind_of<T: Column>(_: &T) -> Type {
    T::kind()
}

/// The values of a statement, each with its column type.
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        &[$((&$value as &(dyn tokio_postgres::types::ToSql + Sync), $crate::postgres::columns::kind_of(&$value))),*]
    };
}
pub(super) use values;

/// A session's columns, in the order in which `listed` reads them.
pub(super) const SESSION: &str = "s.number,s.id,s.worktree,s.layout,s.workflow,s.title,s.goal,s.target,s.lifecycle,\
    s.parallel,s.phase,s.phases_done,s.phases_total,s.created_at,s.updated_at,s.version,s.machine,s.exclusive";

/// The number of columns in `SESSION`; in a join, the next columns start at this index.
pub(super) const AFTER_SESSION: usize = 18;

/// An event's columns, in the order in which `event` reads them.
pub(super) const EVENT: &str = "e.version,e.at,e.actor,e.kind,e.body,e.command,e.ordinal";

/// Reads the columns of `SESSION`. Rows of the machine `own` are returned without a machine.
pub(super) fn listed(row: &Row, own: &str) -> Step<Listed> {
    let machine: String = row.try_get(16)?;
    Ok(Listed {
        number: unsigned(row, 0)?,
        row: SessionRow {
            id: session_id(row, 1)?,
            worktree: row.try_get(2)?,
            layout: row.try_get(3)?,
            workflow: row.try_get(4)?,
            title: row.try_get(5)?,
            goal: row.try_get(6)?,
            target: row.try_get(7)?,
            lifecycle: row.try_get(8)?,
            parallel: row.try_get(9)?,
            phase: row.try_get(10)?,
            phases_done: small(row, 11)?,
            phases_total: Some(small(row, 12)?).filter(|total| *total > 0),
            created_at: moment(row, 13)?,
            updated_at: moment(row, 14)?,
            version: unsigned(row, 15)?,
            machine: (machine != own).then_some(machine),
            exclusive: row.try_get(17)?,
        },
    })
}

/// Reads the columns of `EVENT`, starting at column `first`.
pub(super) fn event(row: &Row, first: usize) -> Step<EventRow> {
    let name: Option<String> = row.try_get(first + 5)?;
    let ordinal: Option<i64> = row.try_get(first + 6)?;
    Ok(EventRow {
        version: unsigned(row, first)?,
        at: moment(row, first + 1)?,
        actor: row.try_get(first + 2)?,
        kind: row.try_get(first + 3)?,
        body: row.try_get(first + 4)?,
        command: name
            .zip(ordinal)
            .map(|(name, ordinal)| CommandMark { name, ordinal: ordinal.cast_unsigned() }),
    })
}

pub(super) fn unsigned(row: &Row, column: usize) -> Step<u64> {
    Ok(u64::try_from(row.try_get::<_, i64>(column)?).unwrap_or_default())
}

pub(super) fn small(row: &Row, column: usize) -> Step<u32> {
    Ok(u32::try_from(row.try_get::<_, i64>(column)?).unwrap_or(u32::MAX))
}

pub(super) fn moment(row: &Row, column: usize) -> Step<Timestamp> {
    timestamp(row.try_get(column)?)
}

pub(super) fn timestamp(nanoseconds: i64) -> Step<Timestamp> {
    Timestamp::from_nanosecond(i128::from(nanoseconds)).map_err(|error| unreadable(&error))
}

/// Returns nanoseconds since 1970, limited to the range of the column.
pub(super) fn nanoseconds(at: Timestamp) -> i64 {
    let exact = at.as_nanosecond();
    i64::try_from(exact).unwrap_or(if exact < 0 { i64::MIN } else { i64::MAX })
}

pub(super) fn session_id(row: &Row, column: usize) -> Step<SessionId> {
    parse_id(row.try_get(column)?)
}

pub(super) fn optional_session_id(row: &Row, column: usize) -> Step<Option<SessionId>> {
    row.try_get::<_, Option<&str>>(column)?.map(parse_id).transpose()
}

pub(super) fn hash(row: &Row, column: usize) -> Step<Hash> {
    fixed(row, column)
}

pub(super) fn optional_hash(row: &Row, column: usize) -> Step<Option<Hash>> {
    let found: Option<&[u8]> = row.try_get(column)?;
    found.map(|bytes| bytes.try_into().map_err(|error| unreadable(&error))).transpose()
}

pub(super) fn fixed<const N: usize>(row: &Row, column: usize) -> Step<[u8; N]> {
    row.try_get::<_, &[u8]>(column)?.try_into().map_err(|error| unreadable(&error))
}

/// Converts to PostgreSQL's signed integers. A number above their maximum becomes the maximum, which no row has.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Converts a limit to a value for `LIMIT`, where NULL means all.
pub(super) fn at_most(limit: Option<usize>) -> Option<i64> {
    limit.map(|limit| i64::try_from(limit).unwrap_or(i64::MAX))
}

/// Replaces NUL, the only character that PostgreSQL cannot store.
pub(super) fn plain(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

pub(super) fn optional_plain(text: Option<&String>) -> Option<String> {
    text.map(|text| plain(text))
}

/// Converts ASCII letters only to lower case, as SQLite does.
pub(super) fn folded(id: &str) -> String {
    id.to_ascii_lowercase()
}

/// Returns the text of a note. The store reads no other part of an event.
pub(super) fn note_of(event: &EventRow) -> Option<String> {
    if event.kind != "note_added" {
        return None;
    }
    let body: serde_json::Value = serde_json::from_str(&event.body).ok()?;
    body.get("text").and_then(serde_json::Value::as_str).map(plain)
}

pub(super) fn unreadable(error: &dyn std::fmt::Display) -> Stop {
    Stop::Refused(Error::Engine { doing: "reading a row".to_owned(), why: error.to_string() })
}

fn parse_id(text: &str) -> Step<SessionId> {
    SessionId::parse(text).map_err(|error| unreadable(&error))
}

/// Returns the first column of the first row.
pub(super) fn first<T: FromSqlOwned>(rows: &[Row]) -> Step<Option<T>> {
    rows.first().map(|row| row.try_get(0).map_err(Stop::from)).transpose()
}
