//! The differences between two states of a session. Each is one line of plain words.

use crate::ui::{Out, Tone, set_in};
use engine::DiffReport;
use engine::words::one_line;
use model::difference::{Difference, Subject};
use model::typed_value::shown;
use serde_json::Value;

const LONGEST_NOTE: usize = 2_000;

pub fn text(report: &DiffReport, out: &Out) -> String {
    let heading = format!("{}, version {} to {}", report.session, report.from, report.to);
    let mut text = format!("{}\n", out.paint(Tone::Heading, &heading));
    if report.differences.is_empty() {
        text.push_str("nothing changed\n");
    }
    for difference in &report.differences {
        text.push_str(&set_in(2, &words(difference), out));
    }
    text
}

/// One difference in words.
fn words(difference: &Difference) -> String {
    let step = format!("{} → {}", value_text(&difference.before), value_text(&difference.after));
    let is_new = difference.before.is_null();
    let is_gone = difference.after.is_null();
    match &difference.subject {
        Subject::Title => format!("title: {step}"),
        Subject::Goal => format!("goal: {step}"),
        Subject::Target => format!("target: {step}"),
        Subject::Worktree => format!("worktree: {step}"),
        Subject::Lifecycle => format!("session: {step}"),
        Subject::CurrentPhase => format!("current phase: {step}"),
        Subject::Run { workflow, ordinal } if is_new => format!("run {ordinal} of {workflow} started"),
        Subject::Run { workflow, ordinal } => format!("run {ordinal} of {workflow}: {step}"),
        Subject::PhaseStatus { workflow, ordinal, phase } => {
            format!("phase {phase}{}: {step}", of_run(workflow.as_str(), *ordinal))
        }
        Subject::Attempts { workflow, ordinal, phase } => {
            format!("attempts at {phase}{}: {step}", of_run(workflow.as_str(), *ordinal))
        }
        Subject::Items { phase, .. } => {
            format!("items of {phase}: {} → {}", done_of(&difference.before), done_of(&difference.after))
        }
        Subject::PhaseField { phase, field, .. } => format!("field {field} of {phase}: {step}"),
        Subject::Field { field } => format!("field {field}: {step}"),
        Subject::Approval { phase, check } if is_gone => {
            format!("approval of {check} ({phase}) is no longer valid")
        }
        Subject::Approval { phase, check } => {
            format!("{check} ({phase}) approved: {}", value_text(&difference.after))
        }
        Subject::Artifact { path } => artifact(path, difference),
        Subject::Note { id } => note(*id, difference),
        Subject::Revision { .. } if is_gone => format!("revision undone: {}", value_text(&difference.before)),
        Subject::Revision { .. } => format!("revision: {}", value_text(&difference.after)),
        Subject::Checkpoint { name } if is_gone => format!("checkpoint removed: {name}"),
        Subject::Checkpoint { name } => format!("checkpoint made: {name}"),
    }
}

fn done_of(items: &Value) -> String {
    let count = |name: &str| items.get(name).map_or_else(|| "0".to_owned(), shown);
    format!("{} of {} done", count("done"), count("total"))
}

fn of_run(workflow: &str, ordinal: u32) -> String {
    if ordinal == 1 { String::new() } else { format!(" (run {ordinal} of {workflow})") }
}

fn artifact(path: &str, difference: &Difference) -> String {
    let version = |value: &Value| value.get("version").map(shown).unwrap_or_default();
    match (&difference.before, &difference.after) {
        (Value::Null, after) => format!("file {path} recorded (version {})", version(after)),
        (_, Value::Null) => format!("file {path} no longer recorded"),
        (before, after) => format!("file {path}: version {} → {}", version(before), version(after)),
    }
}

fn note(id: u32, difference: &Difference) -> String {
    let of = |value: &Value, name: &str| {
        value.get(name).map(|value| one_line(&shown(value), LONGEST_NOTE)).unwrap_or_default()
    };
    let (before, after) = (&difference.before, &difference.after);
    if before.is_null() {
        return format!("{} {id} added: {}", of(after, "kind"), of(after, "text"));
    }
    if after.is_null() {
        return format!("{} {id} removed: {}", of(before, "kind"), of(before, "text"));
    }
    if of(before, "text") == of(after, "text") {
        let word = if of(after, "resolved") == "true" { "resolved" } else { "open again" };
        return format!("{} {id} {word}: {}", of(after, "kind"), of(after, "text"));
    }
    format!("note {id}: {} → {}", of(before, "text"), of(after, "text"))
}

fn value_text(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Object(fields) => {
            let values: Vec<String> = fields.values().map(|value| one_line(&shown(value), 120)).collect();
            values.join(", ")
        }
        Value::String(text) => one_line(&text.replace('_', " "), 200),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => one_line(&shown(value), 200),
    }
}
