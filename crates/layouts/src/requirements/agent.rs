//! An agent session's id: eight characters as in the files, and the whole id beside it. Never guesses.

use crate::hash::hex;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// The key of an entry's full id: the first eight characters of `session-10` and `session-11` are equal.
pub(super) const FULL_ID: &str = "session_id";
const SHORT: usize = 8;

/// An agent session as named in the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentKey {
    full: String,
    short: String,
}

impl AgentKey {
    /// `None` for an id without usable characters.
    pub fn new(id: &str) -> Option<Self> {
        let short = shortened(id);
        (!short.is_empty()).then(|| Self { full: id.to_owned(), short })
    }

    pub fn full(&self) -> &str {
        &self.full
    }

    /// The first eight characters without hyphens; a shorter id stays.
    pub fn short(&self) -> &str {
        &self.short
    }

    /// The name to use if another agent session has the short one. No longer than a short one and without a
    /// hyphen, so that no program shortens it again.
    pub fn spare(&self) -> String {
        let letters: String = self.full.chars().filter(|c| *c != '-').collect();
        let digest = Sha256::digest(letters.as_bytes());
        format!("x{}", &hex(&digest)[..SHORT - 1])
    }

    /// True if both, whole or short, with or without hyphens, are the same agent session.
    pub fn is(&self, other: &Self) -> bool {
        let is_short = |key: &Self| key.full == key.short;
        is_same_id(&self.full, &other.full)
            || (self.short == other.short && (is_short(self) || is_short(other)))
    }

    /// True if an entry under this key belongs to this agent session.
    pub(super) fn owns(&self, key: &str, entry: &Value) -> bool {
        match entry.get(FULL_ID).and_then(Value::as_str) {
            // Eight typed characters mean the id that begins with them.
            Some(full) => {
                is_same_id(full, &self.full) || (self.full == self.short && shortened(full) == self.short)
            }
            None => shortened(key) == self.short,
        }
    }

    /// The key of this agent session's entry, if any.
    pub(super) fn key_in<'a>(&self, entries: &'a Map<String, Value>) -> Option<&'a str> {
        let short = entries.get_key_value(&self.short).filter(|(key, entry)| self.owns(key, entry));
        short
            .or_else(|| entries.iter().find(|(key, entry)| self.owns(key, entry)))
            .map(|(key, _)| key.as_str())
    }

    /// The existing or new key for this agent session.
    pub(super) fn key_for(&self, entries: &Map<String, Value>) -> String {
        match self.key_in(entries) {
            Some(key) => key.to_owned(),
            None if entries.contains_key(&self.short) => self.spare(),
            None => self.short.clone(),
        }
    }
}

/// True if two whole ids are equal, ignoring hyphens.
fn is_same_id(one: &str, other: &str) -> bool {
    one.chars().filter(|c| *c != '-').eq(other.chars().filter(|c| *c != '-'))
}

/// Idempotent.
pub(super) fn shortened(id: &str) -> String {
    id.chars().filter(|c| *c != '-').take(SHORT).collect()
}
