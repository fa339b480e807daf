//! Checks the types of configuration values. Reads no file and merges nothing.

use serde_json::{Map, Value};

/// The type that a key expects.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Bool,
    Text,
    /// A string, or a list of strings.
    Texts,
    /// A number that is not negative.
    Count,
    OneOf(&'static [&'static str]),
    Counts,
    Triggers,
    Table(&'static [(&'static str, Shape)]),
    /// A table of tables. The author chooses their names.
    Named(&'static [(&'static str, Shape)]),
}

const SCOPES: Shape = Shape::OneOf(&["session", "branch", "single_use", "permanent"]);

const REQUIREMENT: &[(&str, Shape)] = &[
    ("enabled", Shape::Bool),
    ("type", Shape::OneOf(&["blocking", "dynamic", "guard"])),
    ("scope", SCOPES),
    ("trigger_tools", Shape::Triggers),
    ("message", Shape::Text),
    ("checklist", Shape::Texts),
    ("satisfied_by_skill", Shape::Texts),
    ("auto_resolve_skill", Shape::Text),
    ("approval_ttl", Shape::Count),
    ("stop_only", Shape::Bool),
    ("blocking", Shape::Bool),
    ("calculator", Shape::Text),
    ("thresholds", Shape::Counts),
    ("cache_ttl", Shape::Count),
    ("guard_type", Shape::OneOf(&["protected_branch", "single_session"])),
    ("protected_branches", Shape::Texts),
    ("blocking_message", Shape::Text),
];

const CARRY_OVER: &[(&str, Shape)] =
    &[("enabled", Shape::Bool), ("window_seconds", Shape::Count), ("scopes", Shape::Texts)];

const HOOKS: &[(&str, Shape)] = &[
    (
        "session_start",
        Shape::Table(&[("inject_context", Shape::Bool), ("carry_over", Shape::Table(CARRY_OVER))]),
    ),
    ("stop", Shape::Table(&[("verify_requirements", Shape::Bool), ("verify_scopes", Shape::Texts)])),
    ("session_end", Shape::Table(&[("clear_session_state", Shape::Bool)])),
];

const ROOT: &[(&str, Shape)] = &[
    ("enabled", Shape::Bool),
    ("inherit", Shape::Bool),
    ("requirements", Shape::Named(REQUIREMENT)),
    ("hooks", Shape::Table(HOOKS)),
];

/// A key with an unusable value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mistake {
    /// The path of the key: `requirements.commit_plan.scope`.
    pub(super) key: String,
    pub(super) message: String,
}

impl Mistake {
    /// The name of the requirement to which the key belongs; `None` if the key belongs to none.
    pub(super) fn requirement(&self) -> Option<&str> {
        self.key.strip_prefix("requirements.")?.split('.').next()
    }
}

/// Removes values of the wrong type from the content of a file, and returns them as mistakes.
pub(super) fn prune(root: &mut Map<String, Value>) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    table("", root, ROOT, &mut mistakes);
    mistakes
}

fn table(
    path: &str,
    values: &mut Map<String, Value>,
    keys: &[(&'static str, Shape)],
    mistakes: &mut Vec<Mistake>,
) {
    for (name, shape) in keys {
        let Some(value) = values.get_mut(*name) else { continue };
        if value.is_null() {
            values.shift_remove(*name);
            continue;
        }
        if let Err(message) = check(&joined(path, name), value, *shape, mistakes) {
            mistakes.push(Mistake { key: joined(path, name), message });
            values.shift_remove(*name);
        }
    }
}

fn named(
    path: &str,
    entries: &mut Map<String, Value>,
    keys: &[(&'static str, Shape)],
    mistakes: &mut Vec<Mistake>,
) {
    for (name, value) in entries.iter_mut() {
        let path = joined(path, name);
        match value {
            Value::Object(values) => table(&path, values, keys, mistakes),
            other => {
                mistakes.push(Mistake { key: path, message: not("a table", other) });
                *other = Value::Object(Map::new());
            }
        }
    }
}

fn check(path: &str, value: &mut Value, shape: Shape, mistakes: &mut Vec<Mistake>) -> Result<(), String> {
    match shape {
        // The YAML reader accepts words such as `yes` as booleans if they are not quoted. Quoted words are
        // strings.
        Shape::Bool if !value.is_boolean() => return Err(not("true or false", value)),
        Shape::Text if !value.is_string() => return Err(not("a string", value)),
        Shape::Texts if !(value.is_string() || is_list_of(value, Value::is_string)) => {
            return Err(not("a list of strings", value));
        }
        Shape::Count if count(value).is_none() => return Err(not("a number, 0 or more", value)),
        Shape::OneOf(words) if !value.as_str().is_some_and(|word| words.contains(&word)) => {
            return Err(not(&format!("one of {}", words.join(", ")), value));
        }
        Shape::Counts => match value {
            Value::Object(entries) if entries.values().all(|entry| count(entry).is_some()) => {}
            other => return Err(not("a table of numbers", other)),
        },
        Shape::Triggers if !is_list_of(value, is_trigger) => {
            return Err(not("a list of tools, each a name or { tool, command_pattern }", value));
        }
        Shape::Table(keys) => match value {
            Value::Object(values) => table(path, values, keys, mistakes),
            other => return Err(not("a table", other)),
        },
        Shape::Named(keys) => match value {
            Value::Object(entries) => named(path, entries, keys, mistakes),
            other => return Err(not("a table", other)),
        },
        Shape::Bool | Shape::Text | Shape::Texts | Shape::Count | Shape::OneOf(_) | Shape::Triggers => {}
    }
    Ok(())
}

/// A number as an integer. A fraction is dropped.
pub(super) fn count(value: &Value) -> Option<u64> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in range")]
    let from_float = |number: f64| (0.0..1e15).contains(&number).then_some(number as u64);
    value.as_u64().or_else(|| value.as_f64().and_then(from_float))
}

fn is_trigger(value: &Value) -> bool {
    match value {
        Value::String(_) => true,
        Value::Object(fields) => {
            fields.get("tool").is_some_and(Value::is_string)
                && fields.get("command_pattern").is_none_or(Value::is_string)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => false,
    }
}

fn is_list_of(value: &Value, is: impl Fn(&Value) -> bool) -> bool {
    value.as_array().is_some_and(|list| list.iter().all(is))
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn not(wanted: &str, found: &Value) -> String {
    const LONGEST: usize = 60;
    let mut text: String = found.to_string().chars().take(LONGEST).collect();
    if text.chars().count() == LONGEST {
        text.push('…');
    }
    format!("{text} is not {wanted}")
}
