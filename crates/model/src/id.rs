//! Identifiers from outside, validated on parsing. `parse` is their only constructor.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The maximum length of a session id. A session id becomes the name of a folder.
const LONGEST_SESSION_ID: usize = 120;
const LONGEST_NAME: usize = 64;
const LONGEST_ITEM_ID: usize = 80;

/// Why a text is not a valid id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidId {
    #[error("it is empty")]
    Empty,
    #[error("it has {length} characters; the maximum is {longest}")]
    TooLong { length: usize, longest: usize },
    #[error("it starts with {0:?}; the first character must be a letter or a digit")]
    BadStart(char),
    #[error("{0:?} is not allowed in it")]
    BadCharacter(char),
    #[error("it contains '..'")]
    DotDot,
    #[error("it ends with '.'")]
    TrailingDot,
    #[error("it is all digits, but a bare number means a row of `leftoff list`")]
    OnlyDigits,
}

/// The id of a session. Safe as a file name on every supported file system.
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

/// A name in a definition: of a workflow, a phase, a check or a field.
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

/// The id of an item, unique in its run: `impl-1.1`, `section-3`. Comparisons ignore case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ItemId(String);

impl ItemId {
    pub fn parse(text: &str) -> Result<Self, InvalidId> {
        check(text, LONGEST_ITEM_ID, |c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))?;
        if text.contains("..") {
            return Err(InvalidId::DotDot);
        }
        if text.ends_with('.') {
            return Err(InvalidId::TrailingDot);
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the id of this item's part with the given number, such as `impl-1.2`.
    pub fn part(&self, number: u32) -> Result<Self, InvalidId> {
        Self::parse(&format!("{self}.{number}"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the id in lower case, the form in which ids are compared.
    pub fn key(&self) -> String {
        self.0.to_ascii_lowercase()
    }

    pub fn is(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
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
text_newtype!(ItemId);

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

    #[test]
    fn an_item_id_may_be_dotted_or_a_number_and_its_case_does_not_matter() {
        for bad in ["", "a/b", "..", "impl-1.", ".1", "a b", "impl-1..2", &"x".repeat(81)] {
            assert!(ItemId::parse(bad).is_err(), "{bad:?} was taken");
        }
        let id = |text: &str| ItemId::parse(text).expect("a valid id");
        assert_eq!(id("impl-1").part(2), Ok(id("impl-1.2")));
        assert!(id("IMPL-001").is(&id("impl-001")) && id("3").is(&id("3")) && !id("3").is(&id("03")));
        assert!(id(&"x".repeat(79)).part(1).is_err());
    }
}
