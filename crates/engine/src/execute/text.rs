//! Texts from callers: bounded in length, and never a placeholder.

use super::placeholder;
use crate::error::{Error, Result};
use model::hint::Hint;

/// The maximum length of a note, goal or reason, in bytes.
const LONGEST_TEXT: usize = 64 * 1024;

/// A reason from a caller; refused if it is empty.
pub(super) fn checked_reason(text: &str) -> Result<String> {
    let reason = bounded("the reason", text.trim())?;
    if reason.is_empty() {
        return Err(Error::WrongUsage {
            message: "the reason is empty".to_owned(),
            hint: Hint::new("write it in a few words, for whoever reads the history"),
        });
    }
    Ok(reason)
}

/// A text from a caller; refused if it is too long or only a placeholder.
pub(super) fn bounded(what: &'static str, text: &str) -> Result<String> {
    if text.len() > LONGEST_TEXT {
        return Err(Error::TooLong { what, length: text.len(), longest: LONGEST_TEXT });
    }
    placeholder::refuse_placeholder(what, text)?;
    Ok(text.to_owned())
}
