//! Placeholders in printed commands stand for values that only the caller knows. A placeholder is refused as a value
//! before any gate runs, so that typing a printed command unchanged does not count as an attempt.

use crate::error::{Error, Result};
use model::hint::Hint;
use model::typed_value::Given;
use model::workflow::ValueType;

/// Returns the placeholder for a value of this type.
pub fn placeholder(value_type: ValueType) -> &'static str {
    match value_type {
        ValueType::Boolean => "<true or false>",
        ValueType::Integer | ValueType::Number => "<number>",
        ValueType::String => "<text>",
        ValueType::List => "<list>",
        ValueType::Object => "<object>",
    }
}

/// Other words that definitions and help use as placeholders.
const WORDS: [&str; 9] = ["N", "TEXT", "LIST", "OBJECT", "VALUE", "PATH", "TITLE", "REASON", "WHY"];

pub(crate) fn refuse_placeholders<'a>(
    given: impl IntoIterator<Item = (&'a String, &'a Given)>,
) -> Result<()> {
    for (name, value) in given {
        let text = match value {
            Given::Text(text) => text.as_str(),
            Given::Json(value) => value.as_str().unwrap_or_default(),
        };
        if is_placeholder(text) {
            return Err(Error::WrongUsage {
                message: format!("'{name}={text}' is a placeholder, not a value; nothing was done"),
                hint: Hint::new(format!("replace it with the value of {name}")),
            });
        }
    }
    Ok(())
}

/// Refuses a text that is nothing but a placeholder.
pub(crate) fn refuse_placeholder(what: &str, text: &str) -> Result<()> {
    if is_placeholder(text.trim()) {
        return Err(Error::WrongUsage {
            message: format!("'{text}' is a placeholder for {what}; nothing was done"),
            hint: Hint::new("replace it with your own words"),
        });
    }
    Ok(())
}

fn is_placeholder(text: &str) -> bool {
    // When text is quoted, angle brackets are replaced by similar characters that mean nothing in markup. Such brackets
    // count too.
    let inner = text.strip_prefix(['<', '\u{2039}']).and_then(|text| text.strip_suffix(['>', '\u{203a}']));
    WORDS.contains(&text) || inner.is_some_and(|inner| !inner.is_empty() && !inner.contains(['<', '>']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b8_only_what_stands_for_a_value_is_a_placeholder() {
        for text in ["<number>", "<true or false>", "N", "TEXT", "LIST", "TITLE", "\u{2039}number\u{203a}"] {
            assert!(is_placeholder(text), "{text}");
        }
        for text in ["", "<>", "12", "n", "a<b>c", "<a><b>", "Not", "<b>bold</b>"] {
            assert!(!is_placeholder(text), "{text}");
        }
    }
}
