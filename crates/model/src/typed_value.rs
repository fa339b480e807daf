//! Reads values from a caller, for example those of evidence and custom fields. The declared type of a value decides
//! how its text is read. Also writes values for messages.

use crate::workflow::ValueType;
use serde_json::{Number, Value};

/// A value from the caller: a string from a command line, or JSON.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    Text(String),
    Json(Value),
}

/// Converts a value to a declared type. The error is the value as the caller gave it.
pub fn coerce(value_type: ValueType, given: &Given) -> Result<Value, Value> {
    let value = match (value_type, given) {
        // A value from the command line stays a string even if it looks like a number.
        (ValueType::String, Given::Text(text)) => return Ok(Value::String(text.clone())),
        (_, given) => guess(given),
    };
    let fits = match value_type {
        ValueType::Boolean => return boolean(&value, given).map(Value::Bool).ok_or(value),
        ValueType::Integer => return whole(&value).map(Value::Number).ok_or(value),
        ValueType::Number => value.is_number(),
        ValueType::String => value.is_string(),
        ValueType::List => value.is_array(),
        ValueType::Object => value.is_object(),
    };
    if fits { Ok(value) } else { Err(value) }
}

/// Returns true or false, which a command line may also write as yes or no.
fn boolean(value: &Value, given: &Given) -> Option<bool> {
    match given {
        Given::Text(text) if text.eq_ignore_ascii_case("yes") => Some(true),
        Given::Text(text) if text.eq_ignore_ascii_case("no") => Some(false),
        Given::Text(_) | Given::Json(_) => value.as_bool(),
    }
}

/// Returns the value of an undeclared field: JSON if the text parses as JSON, otherwise a string.
pub fn guess(given: &Given) -> Value {
    match given {
        Given::Json(value) => value.clone(),
        Given::Text(text) => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone())),
    }
}

/// Returns the integer that a value equals, whether written as 82 or as 82.0.
fn whole(value: &Value) -> Option<Number> {
    let number = value.as_number()?;
    if number.is_i64() || number.is_u64() {
        return Some(number.clone());
    }
    let float = number.as_f64()?;
    #[allow(clippy::cast_possible_truncation, reason = "the range is checked first")]
    (float.fract() == 0.0 && float.abs() < 9e15).then(|| Number::from(float as i64))
}

/// Describes a value for a message: its type and its printable form.
pub fn describe(value: &Value, seen: &Value) -> String {
    let kind = match value {
        Value::Null => return "null".to_owned(),
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    };
    format!("{kind} {}", quoted(seen))
}

/// Returns a value for a message: in quotes if it contains a space.
pub fn quoted(value: &Value) -> String {
    let text = shown(value).replace('"', "\u{201d}");
    if text.contains(char::is_whitespace) { format!("\"{text}\"") } else { text }
}

/// Returns a value on one line, shortened if it is long.
pub fn shown(value: &Value) -> String {
    const LONGEST: usize = 80;
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_number_is_a_number_whichever_way_it_is_written() {
        for text in ["82", "82.0"] {
            assert_eq!(coerce(ValueType::Integer, &Given::Text(text.into())), Ok(json!(82)));
        }
        assert!(coerce(ValueType::Number, &Given::Text("82".into())).is_ok());
        assert!(coerce(ValueType::Integer, &Given::Text("82.5".into())).is_err());
    }

    #[test]
    fn a_declared_type_decides_how_text_is_read() {
        assert_eq!(coerce(ValueType::String, &Given::Text("42".into())), Ok(json!("42")));
        assert_eq!(coerce(ValueType::Boolean, &Given::Text("true".into())), Ok(json!(true)));
        assert_eq!(coerce(ValueType::Boolean, &Given::Text("yes".into())), Ok(json!(true)));
        assert_eq!(coerce(ValueType::Boolean, &Given::Text("No".into())), Ok(json!(false)));
        assert!(coerce(ValueType::Boolean, &Given::Text("1".into())).is_err());
        assert!(coerce(ValueType::Boolean, &Given::Json(json!("yes"))).is_err(), "JSON has words of its own");
        assert!(coerce(ValueType::Integer, &Given::Json(json!(true))).is_err(), "true is no integer");
        assert_eq!(coerce(ValueType::List, &Given::Text("[1]".into())), Ok(json!([1])));
    }

    #[test]
    fn what_somebody_wrote_stands_in_quotation_marks() {
        for (value, expected) in [
            (json!("many"), "many"),
            (json!(42), "42"),
            (json!("all \"of\" them"), "\"all ”of” them\""),
            (json!(["a b"]), "\"[”a b”]\""),
        ] {
            assert_eq!(quoted(&value), expected);
        }
    }
}
