//! What makes a file that is JSON no session's: something else stands where the format has its phases. Its own tool could
//! not load it, and taking it for an edit would undo the work that it does not tell of.

use crate::problem::{Damage, Type};
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

/// Keys of another kind than the format has.
pub(in crate::praxis) fn of(fields: &Map<String, Value>) -> Vec<Damage> {
    let odd = |key: &str, kind: Kind, value: &Value| {
        (!kind.takes(value)).then(|| damage(key, value, kind.wanted()))
    };
    let mut found: Vec<Damage> =
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
            found.push(damage(&format!("lifecycle.{flag}"), value, Type::Flag));
        }
    }
    found
}

fn damage(field: &str, value: &Value, wanted: Type) -> Damage {
    Damage { field: field.to_owned(), found: model::gate::shown(value), wanted }
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

    fn wanted(self) -> Type {
        match self {
            Self::Text => Type::Text,
            Self::Number => Type::WholeNumber,
            Self::Numbers => Type::Numbers,
            Self::Object => Type::Object,
        }
    }
}
