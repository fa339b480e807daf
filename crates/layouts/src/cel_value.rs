//! Converts JSON values to CEL values, for the expressions of gates.

use cel::Value as CelValue;
use serde_json::Value;
use std::collections::HashMap;

/// The CEL value of a JSON value. Integers become `int`, so that they can be combined with the integers in an
/// expression.
pub fn to_cel(value: &Value) -> CelValue {
    match value {
        Value::Null => CelValue::Null,
        Value::Bool(flag) => CelValue::Bool(*flag),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => CelValue::Int(whole),
            None => CelValue::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => CelValue::String(text.clone().into()),
        Value::Array(values) => CelValue::List(values.iter().map(to_cel).collect::<Vec<_>>().into()),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| (name.clone(), to_cel(value)));
            fields.collect::<HashMap<_, _>>().into()
        }
    }
}
