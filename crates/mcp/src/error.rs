//! Errors in a form that a model can use: kind, message, hint, and valid values. The engine's messages stay as they
//! are.

use engine::Error;
use model::Refusal;
use model::hint::Hint;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

/// The maximum length of a message. A message may quote input of any length.
const LONGEST_MESSAGE: usize = 2_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mishap {
    pub(crate) kind: String,
    pub(crate) message: String,
    pub(crate) hint: Option<Hint>,
    pub(crate) valid: Vec<String>,
}

impl Mishap {
    pub(crate) fn wrong_usage(message: impl Into<String>, hint: impl Into<Hint>) -> Self {
        Self {
            kind: "wrong_usage".to_owned(),
            message: message.into(),
            hint: Some(hint.into()),
            valid: Vec::new(),
        }
    }

    /// The error for an action that only a person can take.
    pub(crate) fn needs_a_person(doing: &str, command: &str) -> Self {
        Self {
            kind: "needs_a_person".to_owned(),
            message: format!("{doing} needs a person at a terminal"),
            hint: Some(format!("ask a person to run: {command}").into()),
            valid: Vec::new(),
        }
    }

    pub(crate) fn with_valid(mut self, valid: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.valid = valid.into_iter().map(Into::into).collect();
        self
    }

    fn json(&self) -> Value {
        let mut error = json!({ "kind": self.kind, "message": cut(&self.message) });
        if let Some(hint) = &self.hint {
            error["hint"] = cut(&hint.to_string()).into();
        }
        if !self.valid.is_empty() {
            error["valid"] = json!(self.valid);
        }
        json!({ "outcome": "error", "error": error })
    }

    fn text(&self) -> String {
        let mut text = cut(&self.message);
        if let Some(hint) = &self.hint {
            text.push_str(" — ");
            text.push_str(&cut(&hint.to_string()));
        }
        // A hint that lists or names the valid values says enough.
        let is_said = |hint: &Hint| self.valid.iter().any(|word| hint.to_string().contains(word.as_str()));
        if !self.valid.is_empty() && !self.hint.as_ref().is_some_and(is_said) {
            text.push_str(&format!(" (valid: {})", cut(&self.valid.join(", "))));
        }
        text
    }

    pub(crate) fn into_result(self) -> CallToolResult {
        let mut result = CallToolResult::error(vec![ContentBlock::text(self.text())]);
        result.structured_content = Some(self.json());
        result
    }
}

impl From<Error> for Mishap {
    fn from(error: Error) -> Self {
        Self {
            kind: error.kind().to_owned(),
            message: error.to_string(),
            hint: error.hint(),
            valid: valid_instead(&error),
        }
    }
}

/// The values that are valid in place of a wrong one, if there is a list of them.
fn valid_instead(error: &Error) -> Vec<String> {
    let names = |names: &[model::id::Name]| names.iter().map(ToString::to_string).collect();
    match error {
        Error::UnknownWorkflow { known, .. }
        | Error::UnknownCheck { known, .. }
        | Error::UnknownRequirement { known, .. } => known.clone(),
        Error::AmbiguousSession { candidates, .. } => candidates.clone(),
        Error::NeedsChoice { choices, .. } => {
            choices.iter().map(|choice| choice.phase.clone().unwrap_or(choice.session.clone())).collect()
        }
        Error::UnknownSession { nearest, .. } => nearest.iter().cloned().collect(),
        other => match other.refusal() {
            Some(Refusal::UnknownPhase { known, .. }) => names(known),
            Some(
                Refusal::PhaseNotCurrent { current, .. }
                | Refusal::PhaseNotReached { current, .. }
                | Refusal::NotEarlier { current, .. },
            ) => vec![current.to_string()],
            // All other errors have a hint that says what to do.
            _ => Vec::new(),
        },
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
