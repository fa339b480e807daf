//! Reports values of the wrong type inside the sections of a session's file, with their full names. Such
//! values count as missing. A wrong type that makes the whole file unusable is reported as damage instead.

use super::fields::{Fields, whole, wrong};
use crate::problem::{Taken, Type, What};
use serde_json::{Map, Value};

#[derive(Clone, Copy)]
enum ValueType {
    Text,
    Number,
    Seconds,
    Object,
    List,
    OneOf(&'static [&'static str]),
}

const BELOW: &[(&str, &str, ValueType)] = &[
    ("workflow_structure", "starting_phase", ValueType::OneOf(&["0", "1"])),
    ("workflow_structure", "indexing_scheme", ValueType::OneOf(&["zero_based", "one_based"])),
    ("workflow_structure", "workflow_version", ValueType::Text),
    ("lifecycle", "resume_count", ValueType::Number),
    ("lifecycle", "last_error", ValueType::Text),
    ("lifecycle", "paused_reason", ValueType::Text),
    ("lifecycle", "paused_context", ValueType::Text),
    ("metadata", "spec_path", ValueType::Text),
    ("metadata", super::super::ATTEMPTS, ValueType::Object),
];

/// Keys in the data of each phase. Each entry has the section, the key and the type.
const OF_PHASES: &[(&str, &str, ValueType)] = &[
    ("phase_timing", "paused_duration_seconds", ValueType::Seconds),
    ("phase_artifacts", "evidence", ValueType::Object),
    ("phase_artifacts", "outputs", ValueType::Object),
    ("phase_artifacts", "commands_executed", ValueType::List),
    ("phase_artifacts", "file_path", ValueType::Text),
];

pub(super) fn check(fields: &mut Fields<'_>) {
    let of = fields.of;
    for (section, key, kind) in BELOW {
        let section_of = of.get(*section).and_then(Value::as_object);
        say(fields, section_of.and_then(|found| found.get(*key)), &format!("{section}.{key}"), *kind);
    }
    for (section, key, kind) in OF_PHASES {
        for (number, phase) in each(of, section) {
            say(fields, phase.get(*key), &format!("{section}.{number}.{key}"), *kind);
        }
    }
    for (number, evidence) in each(of, "evidence_submitted") {
        say(fields, Some(evidence), &format!("evidence_submitted.{number}"), ValueType::Object);
    }
}

fn each<'a>(of: &'a Map<String, Value>, section: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    of.get(section).and_then(Value::as_object).into_iter().flatten()
}

fn say(fields: &mut Fields<'_>, value: Option<&Value>, name: &str, kind: ValueType) {
    if let Some(value) = value.filter(|value| !value.is_null() && !kind.takes(value)) {
        (fields.say)(name, kind.problem(value));
    }
}

impl ValueType {
    fn takes(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Number => value.is_u64(),
            Self::Seconds => value.as_f64().is_some_and(|seconds| seconds >= 0.0),
            Self::Object => value.is_object(),
            Self::List => value.is_array(),
            Self::OneOf(words) => {
                let number = whole(value).filter(|_| value.is_number()).map(|number| number.to_string());
                let word = number.as_deref().or(value.as_str());
                word.is_some_and(|word| words.contains(&word))
            }
        }
    }

    fn problem(self, value: &Value) -> What {
        match self {
            Self::Text => wrong(value, Type::Text),
            Self::Number => wrong(value, Type::WholeNumberFromZero),
            Self::Seconds => wrong(value, Type::Seconds),
            Self::Object => wrong(value, Type::Object),
            Self::List => wrong(value, Type::List),
            Self::OneOf(words) => {
                let known = words.iter().map(|word| (*word).to_owned()).collect();
                What::NotOneOf { found: model::typed_value::shown(value), known, taken: Taken::Nothing }
            }
        }
    }
}
