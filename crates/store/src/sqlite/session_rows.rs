//! Adds or updates the row of a session if its version is the expected one. Decides nothing else.

use super::append::Step;
use super::columns::Moment;
use super::queries::signed;
use crate::chain::Hash;
use crate::{Error, SessionRow, StreamAppend};
use model::id::SessionId;
use rusqlite::{Connection, ErrorCode, OptionalExtension, params};

/// The stored row of a session.
#[derive(Clone, Copy, Default)]
pub(super) struct Line {
    pub(super) number: i64,
    /// The last link of the session's chain before the change.
    pub(super) head: Option<Hash>,
}

/// Adds or updates a session's row. If `turn` is `None`, the session keeps its position in the order of changes.
pub(super) fn keep_line(
    connection: &Connection,
    stream: &StreamAppend,
    known_by: Option<u64>,
    turn: Option<u64>,
) -> Step<Line> {
    let row = &stream.row;
    let existing = find(connection, &row.id)?;
    let done = match &existing {
        None if stream.expected == 0 => {
            insert(connection, row, free(connection, known_by)?, turn.unwrap_or_default())
        }
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
        // Ids were compared above. The constraint that failed is therefore the one that allows a worktree a single
        // active session.
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

/// The columns that are part of the indexes by worktree and by lifecycle.
#[derive(PartialEq, Eq)]
struct Place {
    worktree: String,
    machine: Option<String>,
    layout: String,
    exclusive: bool,
    lifecycle: String,
    parallel: bool,
}

/// Finds a session by id, ignoring case.
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

/// Returns the requested number for a new session; `None` if another session has this number.
fn free(connection: &Connection, number: Option<u64>) -> rusqlite::Result<Option<i64>> {
    let Some(number) = number.and_then(|number| i64::try_from(number).ok()).filter(|number| *number > 0)
    else {
        return Ok(None);
    };
    let mut taken = connection.prepare_cached("SELECT 1 FROM sessions WHERE number=?1")?;
    Ok((!taken.exists([number])?).then_some(number))
}

/// Adds a row for a new session. Without a given number, assigns the next one.
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
        row.phases_total.unwrap_or_default(),
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

/// Updates a row. Columns of the indexes are set only if they change, because setting them makes SQLite rewrite the
/// indexes.
fn update(
    connection: &Connection,
    existing: &Existing,
    row: &SessionRow,
    turn: Option<u64>,
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
         created_at=?9,updated_at=?10,version=?11,turn=coalesce(?12,turn) WHERE number=?1",
    )?;
    statement.execute(params![
        existing.number,
        row.workflow,
        row.title,
        row.goal,
        row.target,
        row.phase,
        row.phases_done,
        row.phases_total.unwrap_or_default(),
        Moment(row.created_at),
        Moment(row.updated_at),
        row.version,
        turn.map(signed),
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
