//! Names from outside, checked once at the door. The only way to make one is `parse`.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The longest session id that is taken; it becomes a folder's name.
const LONGEST_SESSION_ID: usize = 120;
const LONGEST_NAME: usize = 64;

/// Why a text is no id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidId {
    #[error("it is empty")]
    Empty,
    #[error("it has {length} characters, and {longest} is the most")]
    TooLong { length: usize, longest: usize },
    #[error("it begins with {0:?}; the first character must be a letter or a digit")]
    BadStart(char),
    #[error("{0:?} is not allowed in it; use letters, digits, '-', '_' and '.'")]
    BadCharacter(char),
    #[error("it holds '..'")]
    DotDot,
    #[error("it ends with '.'")]
    TrailingDot,
    #[error("it is all digits, and a bare number means a row of `leftoff list`")]
    OnlyDigits,
}

/// The id of a session. Safe as a file name on every file system that we run on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(String);

impl SessionId {
    pub fn parse(text: &str) -> Result<Self, InvalidId> {
        check(text, LONGEST_SESSION_ID, |c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))?;
        if text.contains("..") {
            return Err(InvalidId::DotDot);
        }
        if text.ends_with('.') {
            return Err(InvalidId::TrailingDot);
        }
        if text.chars().all(|c| c.is_ascii_digit()) {
            return Err(InvalidId::OnlyDigits);
        }
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A name inside a definition: of a workflow, a phase, a check, a field.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

impl Name {
    pub fn parse(text: &str) -> Result<Self, InvalidId> {
        check(text, LONGEST_NAME, |c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))?;
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn check(text: &str, longest: usize, allowed: impl Fn(char) -> bool) -> Result<(), InvalidId> {
    let first = text.chars().next().ok_or(InvalidId::Empty)?;
    let length = text.chars().count();
    if length > longest {
        return Err(InvalidId::TooLong { length, longest });
    }
    if let Some(bad) = text.chars().find(|c| !allowed(*c)) {
        return Err(InvalidId::BadCharacter(bad));
    }
    if !first.is_ascii_alphanumeric() {
        return Err(InvalidId::BadStart(first));
    }
    Ok(())
}

macro_rules! text_newtype {
    ($type:ident) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
        impl TryFrom<String> for $type {
            type Error = InvalidId;
            fn try_from(text: String) -> Result<Self, InvalidId> {
                Self::parse(&text)
            }
        }
        impl From<$type> for String {
            fn from(id: $type) -> String {
                id.0
            }
        }
        impl PartialEq<str> for $type {
            fn eq(&self, other: &str) -> bool {
                self.0 == other
            }
        }
    };
}
text_newtype!(SessionId);
text_newtype!(Name);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_would_leave_their_folder_or_confuse_a_reader_are_refused() {
        let long = "x".repeat(300);
        for bad in ["", "a/b", "..", "a..b", "a\0b", "a\nb", "-x", ".x", "x.", "42", "ü", "a b", &long] {
            assert!(SessionId::parse(bad).is_err(), "{bad:?} was taken");
        }
        for good in ["k3v9x2mp", "2026-01-01-feature-x", "WFS-oauth", "7f3a2c", "v1.2", "2026-01-01-"] {
            assert_eq!(SessionId::parse(good).map(String::from), Ok(good.to_owned()));
        }
    }
}
