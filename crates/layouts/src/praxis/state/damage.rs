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
];
/// Objects of which nothing may stand there as well: they tell more than where the phases are, and a file may do without.
pub(in crate::praxis) const SECTIONS: &[&str] =
    &["metadata", "workflow_structure", "phase_timing", "phase_timings", "evidence_submitted", "lifecycle"];
const FLAGS: &[&str] = &["completed", "paused"];

/// What is of another kind, a line for each.
pub(in crate::praxis) fn of(fields: &Map<String, Value>) -> Vec<String> {
    let odd = |key: &str, kind: Kind, value: &Value| {
        (!kind.takes(value)).then(|| format!("{key} is {}, not {}", model::gate::shown(value), kind.wanted()))
    };
    let mut found: Vec<String> =
        KINDS.iter().filter_map(|(key, kind)| odd(key, *kind, fields.get(*key)?)).collect();
    let sections = SECTIONS.iter().filter_map(|key| Some((key, fields.get(*key)?)));
    found.extend(
        sections
            .filter(|(_, value)| !value.is_null())
            .filter_map(|(key, value)| odd(key, Kind::Object, value)),
    );
    let lifecycle = fields.get("lifecycle").and_then(Value::as_object);
    for flag in FLAGS {
        let value = lifecycle.and_then(|section| section.get(*flag));
        if let Some(value) = value.filter(|value| !value.is_boolean() && !value.is_null()) {
            found.push(format!("lifecycle.{flag} is {}, not true or false", model::gate::shown(value)));
        }
    }
    found
}

/// Sections that are there and hold nothing.
pub(super) fn empty(fields: &Map<String, Value>) -> impl Iterator<Item = &'static str> {
    SECTIONS.iter().copied().filter(|key| fields.get(*key).is_some_and(Value::is_null))
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
