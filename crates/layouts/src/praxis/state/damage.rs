//! Finds valid JSON with wrong values where the phases must be. The tool could not load such a file. Adopting
//! it as an edit would undo work, because it says nothing about the phases.

use crate::problem::{Damage, Type};
use serde_json::{Map, Value};

#[derive(Clone, Copy)]
enum ValueType {
    Text,
    Number,
    Numbers,
    Object,
}

/// Keys that determine the position, with their types. A missing key is not damage.
const KINDS: &[(&str, ValueType)] = &[
    ("workflow_type", ValueType::Text),
    ("current_phase", ValueType::Number),
    ("completed_phases", ValueType::Numbers),
    ("phase_artifacts", ValueType::Object),
    ("checkpoints", ValueType::Object),
];
/// Keys whose value must be an object or null. They are optional, and contain more than the position.
pub(in crate::praxis) const SECTIONS: &[&str] =
    &["metadata", "workflow_structure", "phase_timing", "phase_timings", "evidence_submitted", "lifecycle"];
const FLAGS: &[&str] = &["completed", "paused"];

/// The damage: keys with a value of the wrong type.
pub(in crate::praxis) fn of(fields: &Map<String, Value>) -> Vec<Damage> {
    let odd = |key: &str, kind: ValueType, value: &Value| {
        (!kind.takes(value)).then(|| damage(key, value, kind.wanted()))
    };
    let mut found: Vec<Damage> =
        KINDS.iter().filter_map(|(key, kind)| odd(key, *kind, fields.get(*key)?)).collect();
    let sections = SECTIONS.iter().filter_map(|key| Some((key, fields.get(*key)?)));
    found.extend(
        sections
            .filter(|(_, value)| !value.is_null())
            .filter_map(|(key, value)| odd(key, ValueType::Object, value)),
    );
    let lifecycle = fields.get("lifecycle").and_then(Value::as_object);
    for flag in FLAGS {
        let value = lifecycle.and_then(|section| section.get(*flag));
        if let Some(value) = value.filter(|value| !value.is_boolean() && !value.is_null()) {
            found.push(damage(&format!("lifecycle.{flag}"), value, Type::Flag));
        }
    }
    found
}

fn damage(field: &str, value: &Value, wanted: Type) -> Damage {
    Damage { field: field.to_owned(), found: super::fields::short(value), wanted }
}

/// The sections that exist but are null.
pub(super) fn empty(fields: &Map<String, Value>) -> impl Iterator<Item = &'static str> {
    SECTIONS.iter().copied().filter(|key| fields.get(*key).is_some_and(Value::is_null))
}

impl ValueType {
    fn takes(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Number => super::fields::whole(value).is_some(),
            // A wrong entry of the list is reported later, when the entries are read.
            Self::Numbers => value.as_array().is_some_and(|all| {
                all.is_empty() || all.iter().any(|one| super::fields::whole(one).is_some())
            }),
            Self::Object => value.is_object(),
        }
    }

    fn wanted(self) -> Type {
        match self {
            Self::Text => Type::Text,
            Self::Number => Type::WholeNumber,
            Self::Numbers => Type::Numbers,
            Self::Object => Type::Object,
        }
    }
}
