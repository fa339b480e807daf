//! The answer of a tool: the session view, or the part of it that a model needs next, and a short text.

use engine::Next;
use engine::view::{View, Warning};
use engine::words::{one_line, phase_called, quoted};
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::{Map, Value, json};

const LONGEST_TITLE: usize = 120;
const LONGEST_LINE: usize = 600;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) content: Map<String, Value>,
}

impl Answer {
    pub(crate) fn new(outcome: &str, text: impl Into<String>) -> Self {
        let mut content = Map::new();
        content.insert("outcome".to_owned(), outcome.into());
        Self { text: text.into(), content }
    }

    pub(crate) fn with(mut self, name: &str, value: impl Serialize) -> Self {
        self.content.insert(name.to_owned(), json(value));
        self
    }

    /// Adds all fields of an object to the answer.
    pub(crate) fn with_fields(mut self, value: impl Serialize) -> Self {
        if let Value::Object(fields) = json(value) {
            self.content.extend(fields);
        }
        self
    }

    /// The answer to a command: its result, and the new state of the session.
    pub(crate) fn of_command(done: &str, answer: &engine::Answer) -> Self {
        let view = &answer.view;
        let outcome = if view.already { "already" } else { "done" };
        let mut text = if done.is_empty() { String::new() } else { format!("{done}\n") };
        for line in &answer.said {
            text.push_str(&format!("{line}\n"));
        }
        text.push_str(&standing(view));
        Self::new(outcome, text).with_fields(short(view)).with_said(&answer.said)
    }

    pub(crate) fn with_said(self, said: &[String]) -> Self {
        if said.is_empty() { self } else { self.with("said", said) }
    }

    pub(crate) fn into_result(self) -> CallToolResult {
        let mut result = CallToolResult::success(vec![ContentBlock::text(self.text)]);
        result.structured_content = Some(Value::Object(self.content));
        result
    }
}

/// The part of the session view that every tool returns after a change, under the same field names.
pub(crate) fn short(view: &View) -> Value {
    let mut short = json!({
        "session_id": view.session_id,
        "title": view.title,
        "status": view.status,
        "current_phase": view.current_phase,
        "completed_phases": view.completed_phases,
        "total_phases": view.workflow.total_phases,
        "progress": {
            "percent": view.progress.percent,
            "remaining": view.progress.remaining,
            "outcomes": view.progress.outcomes,
        },
        "next": view.next,
    });
    if let Some(pause) = &view.interrupted {
        short["interrupted"] = json(pause);
    }
    if !view.warnings.is_empty() {
        short["warnings"] = json(&view.warnings);
    }
    short
}

/// A session's state in a few lines of text.
pub(crate) fn standing(view: &View) -> String {
    let mut text = format!(
        "{} \"{}\": {}, {}, {}\n",
        view.session_id,
        one_line(&view.title, LONGEST_TITLE),
        phase_called(view.current_phase.number, &view.current_phase.id),
        view.how_far(),
        json(view.status).as_str().unwrap_or_default().replace('_', " "),
    );
    if let Some(pause) = &view.interrupted {
        let context = view.in_the_middle_of(|text| quoted(text, LONGEST_LINE));
        let context = context.map(|what| format!(", in the middle of {what}"));
        let reason = quoted(&pause.reason, LONGEST_LINE);
        text.push_str(&format!("The session was paused: {reason}{}\n", context.unwrap_or_default()));
    }
    text.push_str(&warned(&view.warnings));
    text.push_str(&next(&view.next));
    text
}

pub(crate) fn next(next: &Next) -> String {
    let mut text = format!("Next: {}", one_line(&next.summary.to_string(), LONGEST_LINE));
    if let Some(command) = &next.command {
        text.push_str(&format!("\n`{command}`"));
    }
    text
}

pub(crate) fn warned(warnings: &[Warning]) -> String {
    warnings
        .iter()
        .map(|warning| format!("Warning: {}\n", one_line(&warning.message, LONGEST_LINE)))
        .collect()
}

pub(crate) fn json(value: impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or(Value::Null)
}
