//! What makes a file that is JSON no session's: something else stands where the format has its phases. Its own tool could
//! not load it, and taking it for an edit would undo the work that it does not tell of.

use serde_json::{Map, Value};

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Number,
    Numbers,
    Object,
}

/// Keys that say where things stand, with what they hold. One that is not there says nothing, and is no damage.
const KINDS: &[(&str, Kind)] = &[
    ("workflow_type", Kind::Text),
    ("current_phase", Kind::Number),
    ("completed_phases", Kind::Numbers),
    ("phase_artifacts", Kind::Object),
    ("checkpoints", Kind::Object),
    ("metadata", Kind::Object),
    ("workflow_structure", Kind::Object),
    ("phase_timing", Kind::Object),
    ("phase_timings", Kind::Object),
    ("evidence_submitted", Kind::Object),
    ("lifecycle", Kind::Object),
];
const FLAGS: &[&str] = &["completed", "paused"];

/// What is of another kind, a line for each.
pub(in crate::praxis) fn of(fields: &Map<String, Value>) -> Vec<String> {
    let mut found: Vec<String> = KINDS
        .iter()
        .filter_map(|(key, kind)| {
            let value = fields.get(*key).filter(|value| !kind.takes(value))?;
            Some(format!("{key} is {}, not {}", model::gate::shown(value), kind.wanted()))
        })
        .collect();
    let lifecycle = fields.get("lifecycle").and_then(Value::as_object);
    for flag in FLAGS {
        let value = lifecycle.and_then(|section| section.get(*flag));
        if let Some(value) = value.filter(|value| !value.is_boolean() && !value.is_null()) {
            found.push(format!("lifecycle.{flag} is {}, not true or false", model::gate::shown(value)));
        }
    }
    found
}

impl Kind {
    fn takes(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Number => super::fields::whole(value).is_some(),
            // Single ones that are none are told where they are read.
            Self::Numbers => value.as_array().is_some_and(|all| {
                all.is_empty() || all.iter().any(|one| super::fields::whole(one).is_some())
            }),
            Self::Object => value.is_object(),
        }
    }

    fn wanted(self) -> &'static str {
        match self {
            Self::Text => "a text",
            Self::Number => "a whole number",
            Self::Numbers => "a list of numbers",
            Self::Object => "an object",
        }
    }
}
