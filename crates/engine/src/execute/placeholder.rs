//! What stands in a printed command for a value that only its giver knows. Given as a value it is refused, before any
//! gate is tried: whoever types a printed command as it stands has tried nothing.

use crate::error::{Error, Result};
use model::gate::Given;
use model::hint::Hint;
use model::workflow::ValueType;

/// How such a value is printed.
pub fn placeholder(value_type: ValueType) -> &'static str {
    match value_type {
        ValueType::Boolean => "<true or false>",
        ValueType::Integer | ValueType::Number => "<number>",
        ValueType::String => "<text>",
        ValueType::List => "<list>",
        ValueType::Object => "<object>",
    }
}

/// Words that texts of definitions and of help use for the same.
const WORDS: [&str; 6] = ["N", "TEXT", "LIST", "OBJECT", "VALUE", "PATH"];

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
                message: format!("'{name}={text}' is a placeholder, not a value; nothing was tried"),
                hint: Hint::new(format!("put the value of {name} in its place")),
            });
        }
    }
    Ok(())
}

fn is_placeholder(text: &str) -> bool {
    let inner = text.strip_prefix('<').and_then(|text| text.strip_suffix('>'));
    WORDS.contains(&text) || inner.is_some_and(|inner| !inner.is_empty() && !inner.contains(['<', '>']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b8_only_what_stands_for_a_value_is_a_placeholder() {
        for text in ["<number>", "<true or false>", "N", "TEXT", "LIST"] {
            assert!(is_placeholder(text), "{text}");
        }
        for text in ["", "<>", "12", "n", "a<b>c", "<a><b>", "Not", "<b>bold</b>"] {
            assert!(!is_placeholder(text), "{text}");
        }
    }
}
