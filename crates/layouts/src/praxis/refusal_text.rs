//! Refusals in the words of praxis OS. Formats values, and decides nothing.

use crate::layout::Refused;
use serde_json::Value;

pub(super) fn refusal(why: &Refused<'_>) -> String {
    match why {
        Refused::PhaseNotCurrent { asked, current } => format!(
            "Cannot complete phase {asked}. Current phase is {current}. Complete phase {current} first."
        ),
        Refused::Mistyped { field, needed, given } => {
            format!("Field '{field}' must be {}, got: {}", needed.name(), type_name(given))
        }
    }
}

/// The name that Python gives to a value's type.
fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "NoneType",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float",
        Value::Number(_) => "int",
        Value::String(_) => "str",
        Value::Array(_) => "list",
        Value::Object(_) => "dict",
    }
}
