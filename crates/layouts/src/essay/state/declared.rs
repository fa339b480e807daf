//! Checks fields of the session against their declarations in the workflow. A value that `set` would refuse
//! is reported, but stays, because the author of the file decides.

use super::Fields;
use super::reader::Reader;
use crate::essay::history;
use crate::problem::{Range, Taken, Type, What};
use model::typed_value::{Given, coerce, shown};
use model::workflow::{FieldDefinition, ValueType};
use serde_json::Value;

/// Keys that are checked by other code.
const ELSEWHERE: [&str; 2] = ["total_sections", "final_essay_file"];

impl Reader<'_> {
    /// Copies the keys for which `is_wanted` is true and that have a value. `place` is the prefix in their
    /// names, with its dot.
    pub(super) fn declared<'v>(
        &mut self,
        place: &str,
        from: impl Iterator<Item = (&'v String, &'v Value)>,
        fields: &mut Fields,
    ) {
        for (key, value) in from.filter(|(_, value)| !value.is_null()) {
            let Some(declared) = definition_of(key) else {
                fields.insert(key.clone(), value.clone());
                continue;
            };
            let value = as_older_yaml(declared.value_type, value);
            let odd = odd(declared, &value).or_else(|| too_small(key, &value));
            if let Some(odd) = odd.filter(|_| !ELSEWHERE.contains(&key.as_str())) {
                self.odd(&format!("{place}{key}"), odd);
            }
            fields.insert(key.clone(), value);
        }
    }
}

/// The value of a key, with YAML 1.1 spellings converted to the declared type.
pub(in crate::essay) fn meant(key: &str, value: &Value) -> Value {
    definition_of(key).map_or_else(|| value.clone(), |declared| as_older_yaml(declared.value_type, value))
}

fn definition_of(key: &str) -> Option<&'static FieldDefinition> {
    history::defined()?.fields.get(key)
}

/// Converts YAML 1.1 spellings: `1_000` is a number, and `yes` is a boolean.
fn as_older_yaml(wanted: ValueType, value: &Value) -> Value {
    let Some(text) = value.as_str() else { return value.clone() };
    let meant = match wanted {
        ValueType::Integer if text.contains('_') && !text.starts_with('_') => {
            text.replace('_', "").parse::<u64>().ok().map(Value::from)
        }
        ValueType::Boolean if ["yes", "on"].contains(&text.to_ascii_lowercase().as_str()) => {
            Some(true.into())
        }
        ValueType::Boolean if ["no", "off"].contains(&text.to_ascii_lowercase().as_str()) => {
            Some(false.into())
        }
        ValueType::Boolean
        | ValueType::Integer
        | ValueType::Number
        | ValueType::String
        | ValueType::List
        | ValueType::Object => None,
    };
    meant.unwrap_or_else(|| value.clone())
}

fn too_small(key: &str, value: &Value) -> Option<What> {
    let (found, least) = (value.as_i64()?, least(key)?);
    (found < least).then_some(What::OutOfRange { found, range: Range::AtLeast(least) })
}

/// The least value that a number may have.
pub(in crate::essay) fn least(key: &str) -> Option<i64> {
    match key {
        "target_word_count" | "total_sections" => Some(1),
        "sources_verified" | "total_word_count" => Some(0),
        _ => None,
    }
}

fn odd(declared: &FieldDefinition, value: &Value) -> Option<What> {
    let found = if value.is_string() { format!("'{}'", shown(value)) } else { shown(value) };
    let Ok(typed) = coerce(declared.value_type, &Given::Json(value.clone())) else {
        let wanted = match declared.value_type {
            ValueType::Boolean => Type::Flag,
            ValueType::Integer => Type::WholeNumber,
            ValueType::Number => Type::Number,
            ValueType::String => Type::Text,
            ValueType::List => Type::List,
            ValueType::Object => Type::Mapping,
        };
        return Some(What::WrongType { found, wanted });
    };
    let is_allowed = declared.one_of.is_empty() || declared.one_of.contains(&typed);
    let known: Vec<String> = declared.one_of.iter().map(shown).collect();
    (!is_allowed).then_some(What::NotOneOf { found, known, taken: Taken::Nothing })
}
