//! Lists and searches sessions. Nothing here writes.

use super::columns::{SESSION, listed};
use super::queries::at_most;
use crate::{Filter, Listed};
use rusqlite::types::Value;
use rusqlite::{Connection, Result, params_from_iter};

pub(super) fn list(connection: &Connection, filter: &Filter) -> Result<Vec<Listed>> {
    let (sql, values) = statement(filter);
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params_from_iter(values), listed)?;
    rows.collect()
}

pub(super) fn statement(filter: &Filter) -> (String, Vec<Value>) {
    let mut conditions = Conditions::default();
    if !filter.lifecycles.is_empty() {
        let places: Vec<String> = filter.lifecycles.iter().map(|name| conditions.bind(name)).collect();
        conditions.all.push(format!("s.lifecycle IN({})", places.join(",")));
    }
    if let Some(worktree) = &filter.worktree {
        let place = conditions.bind(worktree);
        conditions.all.push(format!("s.worktree={place}"));
    }
    if let Some(layout) = &filter.layout {
        let place = conditions.bind(layout);
        conditions.all.push(format!("s.layout={place}"));
    }
    for word in filter.search.iter().flat_map(|text| text.split_whitespace()) {
        let place = conditions.bind(&containing(word));
        conditions.all.push(found_in(&place));
    }
    let filtering = if conditions.all.is_empty() {
        String::new()
    } else {
        format!(" WHERE {}", conditions.all.join(" AND "))
    };
    conditions.values.push(Value::Integer(at_most(filter.limit)));
    let sql =
        format!("SELECT {SESSION} FROM sessions s{filtering} ORDER BY s.turn DESC,s.number DESC LIMIT ?");
    (sql, conditions.values)
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

/// A note's text is the one thing inside an event that a store knows.
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
