//! Lists and searches sessions. Writes nothing.

use super::columns::{SESSION, listed};
use super::queries::at_most;
use crate::{Filter, Listed};
use rusqlite::types::Value;
use rusqlite::{Connection, Result, params_from_iter};

/// How many of the newest sessions are searched first. They nearly always include everything that a short list needs,
/// already in order; otherwise an index by worktree or lifecycle is used.
const NEWEST: usize = 64;

/// Most recently changed first.
const ORDER: &str = "ORDER BY s.turn DESC,s.number DESC LIMIT";

pub(super) fn list(connection: &Connection, filter: &Filter) -> Result<Vec<Listed>> {
    if let Some((statement, limit)) = among_newest(filter) {
        let found = run(connection, statement)?;
        if found.len() == limit {
            return Ok(found);
        }
    }
    run(connection, statement(filter))
}

fn run(connection: &Connection, (sql, values): (String, Vec<Value>)) -> Result<Vec<Listed>> {
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params_from_iter(values), listed)?;
    rows.collect()
}

/// Returns a query that searches only the newest sessions, and the limit of the list. `None` unless the list is short
/// and limited to a worktree or a lifecycle.
pub(super) fn among_newest(filter: &Filter) -> Option<((String, Vec<Value>), usize)> {
    let is_of_one_kind = filter.worktree.is_some() || !filter.lifecycles.is_empty();
    let limit = filter.limit.filter(|limit| *limit <= NEWEST && is_of_one_kind && filter.search.is_none())?;
    let Conditions { all, values } = conditions(filter, Some(limit));
    let newest = format!("(SELECT * FROM sessions s ORDER BY s.turn DESC,s.number DESC LIMIT {NEWEST})s");
    let sql = format!("SELECT {SESSION} FROM {newest} WHERE {} {ORDER} ?{}", all.join(" AND "), values.len());
    Some(((sql, values), limit))
}

/// Returns the query for a filter. The query uses the index that leaves the fewest sessions to sort.
pub(super) fn statement(filter: &Filter) -> (String, Vec<Value>) {
    let Conditions { all, values } = conditions(filter, filter.limit);
    let index = match (&filter.worktree, filter.lifecycles.as_slice()) {
        (Some(_), _) => "sessions_by_worktree",
        (None, []) => "sessions_by_activity",
        (None, [_, ..]) => "sessions_by_lifecycle",
    };
    let filtering = if all.is_empty() { String::new() } else { format!(" WHERE {}", all.join(" AND ")) };
    let sql =
        format!("SELECT {SESSION} FROM sessions s INDEXED BY {index}{filtering} {ORDER} ?{}", values.len());
    (sql, values)
}

/// Returns the conditions of a filter and their values. The limit is the last value.
fn conditions(filter: &Filter, limit: Option<usize>) -> Conditions {
    let mut conditions = Conditions::default();
    if !filter.lifecycles.is_empty() {
        let places: Vec<String> = filter.lifecycles.iter().map(|name| conditions.bind(name)).collect();
        conditions.all.push(format!("s.lifecycle IN({})", places.join(",")));
    }
    if let Some(worktree) = &filter.worktree {
        let place = conditions.bind(worktree);
        // Worktrees on different machines may have the same path.
        conditions.all.push(format!("s.worktree={place} AND s.machine IS NULL"));
    }
    if let Some(layout) = &filter.layout {
        let place = conditions.bind(layout);
        conditions.all.push(format!("s.layout={place}"));
    }
    for word in filter.search.iter().flat_map(|text| text.split_whitespace()) {
        let place = conditions.bind(&containing(word));
        conditions.all.push(found_in(&place));
    }
    conditions.values.push(Value::Integer(at_most(limit)));
    conditions
}

#[derive(Default)]
struct Conditions {
    all: Vec<String>,
    values: Vec<Value>,
}

impl Conditions {
    fn bind(&mut self, text: &str) -> String {
        self.values.push(Value::Text(text.to_owned()));
        format!("?{}", self.values.len())
    }
}

/// Returns the condition that searches a session's texts and notes. The text of a note is the only part of an event
/// that the store reads.
fn found_in(place: &str) -> String {
    let matches = |what: &str| format!("{what} LIKE {place} ESCAPE '\\'");
    format!(
        "({} OR {} OR {} OR {} OR s.number IN(SELECT session FROM events WHERE kind='note_added' AND {}))",
        matches("s.id"),
        matches("s.title"),
        matches("s.goal"),
        matches("s.target"),
        matches("CASE WHEN json_valid(body) THEN body->>'$.text' END"),
    )
}

fn containing(word: &str) -> String {
    let escaped = word.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    format!("%{escaped}%")
}
