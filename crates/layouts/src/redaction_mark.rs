//! The placeholder that replaces a secret in the log. It is never written over the secret in a file of
//! another tool.

use serde_json::Value;

/// The beginning of the placeholder. The kind of the secret and a bracket follow.
pub const REDACTED: &str = "[redacted: ";

/// True if any string in this value contains the placeholder.
pub(crate) fn hides_a_secret(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(REDACTED),
        Value::Array(values) => values.iter().any(hides_a_secret),
        Value::Object(fields) => fields.values().any(hides_a_secret),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_mark_is_found_at_any_depth_and_only_in_values() {
        assert!(hides_a_secret(&json!({ "a": [1, { "b": "token [redacted: API key]" }] })));
        assert!(!hides_a_secret(&json!({ "[redacted: key]": [1, null, true, "redacted"] })));
    }
}
