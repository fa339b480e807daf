//! Reads one phase, as metadata.json or tasks.md describes it.

use super::phase_name;
use crate::praxis::tasks::Named;
use model::workflow::PhaseDefinition;
use serde_json::{Map, Value};

pub(super) fn phase(
    number: u32,
    described: Option<&Map<String, Value>>,
    named: Option<&Named>,
) -> PhaseDefinition {
    let text = |key: &str| described?.get(key)?.as_str().filter(|text| !text.is_empty());
    let title = named.map(|named| named.title.as_str()).filter(|title| !title.is_empty());
    let title = title.or(text("phase_name"));
    let elsewhere = named.filter(|named| named.number != number);
    PhaseDefinition {
        id: phase_name(number),
        title: title.map_or_else(|| format!("Phase {number}"), one_line),
        purpose: described
            .and_then(purpose)
            .or_else(|| elsewhere.map(|named| format!("Phase {} of tasks.md.", named.number))),
        produces: Vec::new(),
        needs: Vec::new(),
        when: None,
        items: Some("task".to_owned()),
        strict: false,
        no_override: false,
        split: false,
        terminal: false,
        evidence: Vec::new(),
        checks: Vec::new(),
    }
}

/// The purpose of a phase: its description, deliverables, validation, tasks and duration.
fn purpose(described: &Map<String, Value>) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    let why = described.get("purpose").and_then(Value::as_str).map(str::trim_end);
    parts.extend(why.filter(|why| !why.is_empty()).map(as_sentence));
    for (key, label) in [("key_deliverables", "Delivers"), ("validation_criteria", "Done when")] {
        let lines = texts(described.get(key));
        if !lines.is_empty() {
            parts.push(format!("{label}: {}.", lines.join("; ")));
        }
    }
    let tasks: Vec<String> = described
        .get("tasks")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|task| {
            let number = task.get("task_number")?;
            let text = |key: &str| task.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
            let file = text("file").map(|file| format!(" ({file})")).unwrap_or_default();
            let why =
                text("purpose").map(|why| format!(": {}", why.trim_end_matches('.'))).unwrap_or_default();
            Some(format!("{number}. {}{file}{why}", text("name")?))
        })
        .collect();
    if !tasks.is_empty() {
        parts.push(format!("Tasks: {}.", tasks.join("; ")));
    }
    if let Some(effort) = described.get("estimated_effort").and_then(Value::as_str) {
        parts.push(format!("Effort: {effort}."));
    }
    (!parts.is_empty()).then(|| one_line(&parts.join(" ")))
}

/// The text, with a full stop at its end, so that more sentences can follow.
fn as_sentence(text: &str) -> String {
    if text.ends_with(['.', '!', '?', ':']) { text.to_owned() } else { format!("{text}.") }
}

pub(super) fn texts(list: Option<&Value>) -> Vec<&str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn p2_a_purpose_without_a_full_stop_does_not_run_into_what_follows() {
        let told = |purpose: &str| {
            let described = json!({"purpose": purpose, "estimated_effort": "1 h"});
            super::purpose(described.as_object().expect("an object")).expect("a purpose")
        };
        assert_eq!(told("Build it"), "Build it. Effort: 1 h.");
        assert_eq!(told("Build it."), "Build it. Effort: 1 h.");
        assert_eq!(told(""), "Effort: 1 h.");
    }
}
