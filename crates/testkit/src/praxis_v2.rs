//! The rules by which praxis OS version 2 loads the file of a session. Its data models forbid unknown keys,
//! and it ignores a file that breaks a rule. The rules are taken from the tool's models, and not from
//! leftoff's reader of the format.

use serde_json::{Map, Value};

type Check = fn(&Value) -> bool;

const TOP: &[(&str, Check, bool)] = &[
    ("session_id", is_text, true),
    ("workflow_type", is_text, true),
    ("target_file", is_text, true),
    ("current_phase", is_phase, true),
    ("completed_phases", are_phases, false),
    ("phase_artifacts", Value::is_object, false),
    ("checkpoints", are_checkpoints, false),
    ("evidence_submitted", is_evidence, false),
    ("phase_timings", Value::is_object, false),
    ("created_at", is_local_time, false),
    ("updated_at", is_local_time, false),
    ("completed_at", is_local_time_or_null, false),
    ("metadata", Value::is_object, false),
];

const TIMING: &[(&str, Check, bool)] = &[
    ("phase", is_phase, true),
    ("started_at", is_local_time, true),
    ("completed_at", is_local_time_or_null, false),
    ("duration_seconds", is_number_or_null, false),
];

const ARTIFACT: &[(&str, Check, bool)] = &[
    ("phase", is_phase, true),
    ("artifact_type", is_text, true),
    ("file_path", is_text, true),
    ("metadata", Value::is_object, false),
    ("timestamp", is_local_time, false),
];

/// The rules that a file breaks. Empty if the tool loads the file.
pub fn broken_rules(file: &str) -> Vec<String> {
    let mut fields = match serde_json::from_str::<Value>(file) {
        Ok(Value::Object(fields)) => fields,
        Ok(other) => return vec![format!("it is {other}, no object")],
        Err(error) => return vec![error.to_string()],
    };
    // The tool removes this key before it checks a file.
    fields.remove("status");
    let mut broken = object("", &fields, TOP);
    for (section, rules) in [("phase_timings", TIMING), ("phase_artifacts", ARTIFACT)] {
        for (number, entry) in fields.get(section).and_then(Value::as_object).into_iter().flatten() {
            let name = format!("{section}.{number}.");
            match entry.as_object().filter(|_| number.parse::<u32>().is_ok()) {
                Some(entry) => broken.extend(object(&name, entry, rules)),
                None => broken.push(format!("{name} is {entry}")),
            }
        }
    }
    broken
}

fn object(name: &str, fields: &Map<String, Value>, rules: &[(&str, Check, bool)]) -> Vec<String> {
    let is_known = |key: &str| rules.iter().any(|(known, ..)| *known == key);
    let unknown = fields.keys().filter(|key| !is_known(key)).map(|key| format!("{name}{key} is unknown"));
    let wrong = rules.iter().filter_map(|(key, check, is_required)| match fields.get(*key) {
        Some(value) if check(value) => None,
        Some(value) => Some(format!("{name}{key} is {value}")),
        None => is_required.then(|| format!("{name}{key} is missing")),
    });
    unknown.chain(wrong).collect()
}

fn is_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

fn is_phase(value: &Value) -> bool {
    value.is_u64()
}

fn are_phases(value: &Value) -> bool {
    value.as_array().is_some_and(|all| all.iter().all(is_phase))
}

fn are_checkpoints(value: &Value) -> bool {
    let is_known =
        |word: &Value| ["pending", "passed", "failed"].iter().any(|known| word.as_str() == Some(known));
    value.as_object().is_some_and(|all| all.values().all(is_known))
}

fn is_evidence(value: &Value) -> bool {
    value.as_object().is_some_and(|all| all.values().all(Value::is_object))
}

/// True for a time without a zone. The tool compares times with its own, which have no zone.
fn is_local_time(value: &Value) -> bool {
    let is_local = |time: &str| !time.ends_with('Z') && !time.contains('+') && time.matches('-').count() == 2;
    value.as_str().and_then(|text| text.split_once('T')).is_some_and(|(date, time)| {
        is_local(&format!("{date}T{time}")) && date.len() == 10 && time.len() >= 8
    })
}

fn is_local_time_or_null(value: &Value) -> bool {
    value.is_null() || is_local_time(value)
}

fn is_number_or_null(value: &Value) -> bool {
    value.is_null() || value.is_number()
}
