//! Handles `NaN`, `Infinity` and `-Infinity`, which Python writes as numbers and no other reader accepts.
//! During an edit they are strings with a mark, so that they are written back unchanged. When read, they are
//! null.

use serde_json::Value;

/// The character that marks one of these words, from Unicode's private use area. If a file contains this
/// character, no word in it is marked.
const MARK: char = '\u{e0f1}';
const WORDS: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

/// The text, with each of these words replaced by a marked string. `None` if the text contains none.
pub(super) fn marked(text: &str) -> Option<String> {
    if !WORDS.iter().any(|word| text.contains(word)) || text.contains(MARK) {
        return None;
    }
    let mut found = String::with_capacity(text.len());
    let mut rest = text;
    // A value follows one of these characters, possibly after white space.
    let mut before = ' ';
    while let Some(letter) = rest.chars().next() {
        let word = WORDS.iter().find(|word| matches!(before, ':' | '[' | ',') && is_value(rest, word));
        let taken = if let Some(word) = word {
            found.push_str(&as_text(word));
            word.len()
        } else {
            let taken = if letter == '"' { length_of_text(rest) } else { letter.len_utf8() };
            found.push_str(&rest[..taken]);
            taken
        };
        if !letter.is_whitespace() {
            before = letter;
        }
        rest = &rest[taken..];
    }
    (found.len() > text.len()).then_some(found)
}

/// The text, with each marked string replaced by the word that it stands for.
pub(super) fn unmarked(text: String) -> String {
    if !text.contains(MARK) {
        return text;
    }
    WORDS.iter().fold(text, |text, word| text.replace(&as_text(word), word))
}

/// The value as it is read: each of these words becomes null.
pub(super) fn read(value: Value) -> Value {
    match value {
        Value::String(text) if word_of(&text).is_some() => Value::Null,
        Value::Array(values) => Value::Array(values.into_iter().map(read).collect()),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(key, value)| (key, read(value))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

/// Each of these words, with its path as a list of keys. In a list, the index is the key.
pub(super) fn places(value: &Value) -> Vec<(Vec<String>, &'static str)> {
    fn below(value: &Value, above: &mut Vec<String>, found: &mut Vec<(Vec<String>, &'static str)>) {
        let members: Vec<(String, &Value)> = match value {
            Value::String(text) => {
                found.extend(word_of(text).map(|word| (above.clone(), word)));
                return;
            }
            Value::Array(values) => {
                values.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect()
            }
            Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), value)).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) => return,
        };
        for (key, value) in members {
            above.push(key);
            below(value, above, found);
            above.pop();
        }
    }
    let mut found = Vec::new();
    below(value, &mut Vec::new(), &mut found);
    found
}

fn as_text(word: &str) -> String {
    format!("\"{MARK}{word}{MARK}\"")
}

fn word_of(text: &str) -> Option<&'static str> {
    let inner = text.strip_prefix(MARK)?.strip_suffix(MARK)?;
    WORDS.into_iter().find(|word| *word == inner)
}

fn is_value(rest: &str, word: &str) -> bool {
    rest.strip_prefix(word).is_some_and(|after| after.trim_start().starts_with([',', ']', '}']))
}

/// The length of a quoted string, including its quotation marks. A string without an end extends to the end
/// of the text.
fn length_of_text(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use crate::json::{Document, not_numbers, object, object_of_python};
    use serde_json::{Value, json};

    const TEXT: &str =
        r#"{"a": NaN, "b": [-Infinity, {"c" : Infinity }], "d": "NaN, Infinity\\", "e": 1.50}"#;

    #[test]
    fn words_of_python_are_read_as_nothing_and_named_with_their_place() {
        let fields = object_of_python(TEXT.as_bytes()).expect("an object");
        assert_eq!(
            Value::Object(fields),
            json!({"a": null, "b": [null, {"c": null}], "d": "NaN, Infinity\\", "e": 1.5})
        );
        let named = not_numbers(TEXT.as_bytes());
        let expected = [("a", "NaN"), ("b.0", "-Infinity"), ("b.1.c", "Infinity")];
        assert_eq!(named, expected.map(|(place, word)| (place.to_owned(), word)));
        assert!(object(TEXT.as_bytes()).is_err(), "for a tool that cannot read them either");
        assert!(not_numbers(b"{\"a\": \"NaN\"}").is_empty());
    }

    #[test]
    fn words_of_python_stay_as_they_are_in_an_edit() {
        let mut document = Document::parse_python(TEXT.as_bytes()).expect("an object");
        document.set(&["e"], &json!(2));
        document.set(&["a"], &Value::Null);
        assert_eq!(document.get(&["b"]), Some(json!([null, {"c": null}])));
        let mut copy = Document::new();
        copy.copy_missing(&["b"], &document);
        let text = String::from_utf8(document.into_bytes()).expect("text");
        assert_eq!(text, TEXT.replace("1.50", "2"));
        let text = String::from_utf8(copy.into_bytes()).expect("text");
        assert!(text.contains("-Infinity") && !text.contains("\"-Infinity"), "{text}");
    }

    #[test]
    fn what_python_does_not_write_is_no_json() {
        for text in [
            "{NaN: 1}",
            "{\"a\": 1, NaN: 2}",
            "{\"a\": nan}",
            "{\"a\": NaNs}",
            "{\"a\": +Infinity}",
            "{\"a\": NaN",
            "NaN",
        ] {
            assert!(object_of_python(text.as_bytes()).is_err(), "{text}");
            assert!(Document::parse_python(text.as_bytes()).is_err(), "{text}");
        }
    }
}
