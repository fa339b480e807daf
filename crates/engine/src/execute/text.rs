//! Checks texts from callers: their length is limited, and none may be a placeholder.

use super::placeholder;
use crate::error::{Error, Result};
use model::hint::Hint;

/// The maximum length of a note, goal or reason, in bytes.
const LONGEST_TEXT: usize = 64 * 1024;

/// Returns a reason from a caller without surrounding white space. An empty reason is refused.
pub(super) fn checked_reason(text: &str) -> Result<String> {
    let reason = bounded("the reason", text.trim())?;
    if reason.is_empty() {
        return Err(Error::WrongUsage {
            message: "the reason is empty".to_owned(),
            hint: Hint::new("write the reason in a few words, for whoever reads the history"),
        });
    }
    Ok(reason)
}

/// Returns a text from a caller. Refused if it is too long, or nothing but a placeholder.
pub(super) fn bounded(what: &'static str, text: &str) -> Result<String> {
    if text.len() > LONGEST_TEXT {
        return Err(Error::TooLong { what, length: text.len(), longest: LONGEST_TEXT });
    }
    placeholder::refuse_placeholder(what, text)?;
    Ok(text.to_owned())
}
