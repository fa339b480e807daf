//! Replaces the purged text in events, stored answers and activity.

use crate::error::{Error, Result};
use crate::execute::plan::to_json;
use serde_json::Value;
use store::{ActivityRow, EventRow};

const PURGED: &str = "[purged]";

pub(super) fn without_in_event(row: EventRow, text: &str) -> Result<(EventRow, u64)> {
    let (body, in_body) = without_in_json(&row.body, text)?;
    let (actor, in_actor) = without_in_json(&row.actor, text)?;
    Ok((EventRow { body, actor, ..row }, in_body + in_actor))
}

/// Returns JSON with the text replaced, and the number of replacements. Works on values, not on bytes, because JSON
/// escapes quotation marks and line endings.
fn without_in_json(json: &str, text: &str) -> Result<(String, u64)> {
    let mut value: Value = serde_json::from_str(json)
        .map_err(|error| Error::BrokenLog { session: "(being purged)".to_owned(), why: error.to_string() })?;
    match in_value(&mut value, text) {
        0 => Ok((json.to_owned(), 0)),
        count => Ok((to_json(&value)?, count)),
    }
}

/// Returns a stored answer without the text; `None` if the answer is about another session or does not contain the
/// text.
pub(super) fn without_in_answer(answer: &str, session: &str, text: &str) -> Option<String> {
    let mut value: Value = serde_json::from_str(answer).ok()?;
    if value.pointer("/view/session_id").and_then(Value::as_str) != Some(session) {
        return None;
    }
    let count = in_value(&mut value, text);
    (count > 0).then(|| value.to_string())
}

pub(super) fn in_value(value: &mut Value, text: &str) -> u64 {
    match value {
        Value::String(string) => replace(string, text),
        Value::Array(values) => values.iter_mut().map(|value| in_value(value, text)).sum(),
        Value::Object(fields) => {
            let mut count = 0;
            let held = std::mem::take(fields);
            for (mut name, mut value) in held {
                count += replace(&mut name, text) + in_value(&mut value, text);
                fields.insert(name, value);
            }
            count
        }
        // If the text to purge consists of digits, a number that is equal to it is purged too: the mark replaces the
        // number.
        Value::Number(number) if number.to_string() == text => {
            *value = Value::String(PURGED.to_owned());
            1
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

pub(super) fn replace(string: &mut String, text: &str) -> u64 {
    let count = string.matches(text).count();
    if count > 0 {
        *string = string.replace(text, PURGED);
    }
    count as u64
}

/// Merges rows of activity that are now equal.
pub(super) fn merged(rows: Vec<ActivityRow>) -> Vec<ActivityRow> {
    let mut merged: Vec<ActivityRow> = Vec::with_capacity(rows.len());
    for row in rows {
        match merged.iter_mut().find(|known| known.kind == row.kind && known.what == row.what) {
            Some(known) => known.count += row.count,
            None => merged.push(row),
        }
    }
    merged
}
