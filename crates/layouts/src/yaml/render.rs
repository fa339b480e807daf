//! Writes values as YAML: on one line, or as a block in the style of the text around it.

use super::node::{Node, NodeKind, Style, plain};
use serde_json::Value;

/// The value on one line. Strings are in double quotation marks.
pub(super) fn inline(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(values) => format!("[{}]", values.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => {
            let entry = |(key, value): (&String, &Value)| format!("{}: {}", key_text(key), inline(value));
            format!("{{{}}}", fields.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}

/// The value on one line, in the style of the value that it replaces.
pub(super) fn like(node: &Node, was: &str, value: &Value) -> String {
    let (NodeKind::Scalar { value: old, style, is_block: false }, Value::String(text)) = (&node.kind, value)
    else {
        return inline(value);
    };
    match style {
        Style::Plain if old.is_string() && !was.is_empty() && is_plain(text) => text.clone(),
        Style::Single if !text.chars().any(char::is_control) => format!("'{}'", text.replace('\'', "''")),
        Style::Plain | Style::Single | Style::Double => quoted(text),
    }
}

/// The lines for one key of a mapping, indented by `indent` spaces.
pub(super) fn block_entry(key: &str, value: &Value, indent: usize) -> String {
    let (space, key) = (" ".repeat(indent), key_text(key));
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let inner: String =
                fields.iter().map(|(key, value)| block_entry(key, value, indent + 2)).collect();
            format!("{space}{key}:\n{inner}")
        }
        Value::Array(values) if values.iter().any(Value::is_object) => {
            let inner: String = values.iter().map(|value| block_item(value, indent + 2)).collect();
            format!("{space}{key}:\n{inner}")
        }
        other => format!("{space}{key}: {}\n", inline(other)),
    }
}

/// The lines for one entry of a list. The dash is indented by `indent` spaces.
pub(super) fn block_item(value: &Value, indent: usize) -> String {
    let space = " ".repeat(indent);
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let lines: String =
                fields.iter().map(|(key, value)| block_entry(key, value, indent + 2)).collect();
            format!("{space}- {}", lines.trim_start_matches(' '))
        }
        other => format!("{space}- {}\n", inline(other)),
    }
}

pub(super) fn key_text(key: &str) -> String {
    if is_plain(key) { key.to_owned() } else { quoted(key) }
}

/// True for a string that every reader understands literally without quotation marks.
fn is_plain(text: &str) -> bool {
    let is_word = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let older_words = ["y", "n", "yes", "no", "on", "off"];
    is_word && plain(text).is_string() && !older_words.contains(&text.to_ascii_lowercase().as_str())
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            // YAML cannot contain this character, or reads it as a line ending.
            _ if letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{feff}') => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(letter)));
            }
            '\u{fffe}' | '\u{ffff}' => quoted.push_str(&format!("\\u{:04x}", u32::from(letter))),
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}
