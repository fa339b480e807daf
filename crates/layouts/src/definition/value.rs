//! Converts TOML values to JSON values of the same type, and names types.

use super::mistake::{Found, Report};
use model::workflow::ValueType;
use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::DeValue;

/// The name of a value's type in messages.
pub(super) fn kind(value: &DeValue) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a number with a decimal point",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}

/// Converts a value to JSON, the form in which sessions store values. A value that JSON cannot express is a
/// mistake.
pub(super) fn json(report: &mut Report, value: &Spanned<DeValue>) -> Found<Value> {
    let offset = value.span().start;
    match value.get_ref() {
        DeValue::String(text) => Ok(Value::String(text.clone().into_owned())),
        DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix())
            .map(Value::from)
            .map_err(|_| report.add(offset, format!("{integer} does not fit into 64 bits"))),
        DeValue::Float(float) => {
            let number: Option<f64> = float.as_str().parse().ok();
            number
                .and_then(Number::from_f64)
                .map(Value::Number)
                .ok_or_else(|| report.add(offset, format!("{float} cannot be written in JSON")))
        }
        DeValue::Boolean(boolean) => Ok(Value::Bool(*boolean)),
        DeValue::Datetime(date) => {
            Err(report.add(offset, format!("{date} is a date; write it as a string, in quotes")))
        }
        DeValue::Array(array) => array.iter().map(|value| json(report, value)).collect(),
        DeValue::Table(table) => {
            let mut object = Map::new();
            for (key, value) in table {
                object.insert(key.get_ref().clone().into_owned(), json(report, value)?);
            }
            Ok(Value::Object(object))
        }
    }
}

pub(super) fn fits(value_type: ValueType, value: &Value) -> bool {
    match value_type {
        ValueType::Boolean => value.is_boolean(),
        ValueType::Integer => value.is_i64(),
        ValueType::Number => value.is_number(),
        ValueType::String => value.is_string(),
        ValueType::List => value.is_array(),
        ValueType::Object => value.is_object(),
    }
}

/// True for equal values. Numbers are equal whether or not they are written with a fraction, such as 82 and
/// 82.0.
pub(super) fn same(left: &Value, right: &Value) -> bool {
    match (left.as_f64(), right.as_f64()) {
        (Some(left), Some(right)) => left.total_cmp(&right).is_eq(),
        (Some(_), None) | (None, Some(_) | None) => left == right,
    }
}
