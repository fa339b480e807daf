//! The id of an agent session. The files use its first eight characters as the key, and contain the full id
//! as well. An id is never guessed.

use crate::hash::hex;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// The key of the full id in an entry. The short form does not suffice: the first eight characters of
/// `session-10` and `session-11` are equal.
pub(super) const FULL_ID: &str = "session_id";
const SHORT: usize = 8;

/// An agent session, as the files name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentKey {
    full: String,
    short: String,
}

impl AgentKey {
    /// The key of an agent session. `None` for an id without usable characters.
    pub fn new(id: &str) -> Option<Self> {
        let short = shortened(id);
        (!short.is_empty()).then(|| Self { full: id.to_owned(), short })
    }

    pub fn full(&self) -> &str {
        &self.full
    }

    /// The first eight characters of the id, without hyphens; the whole id if it is shorter.
    pub fn short(&self) -> &str {
        &self.short
    }

    /// The key to use if another agent session has the same short key. It is as long as a short key and has
    /// no hyphen, so that no program shortens it again.
    pub fn spare(&self) -> String {
        let letters: String = self.full.chars().filter(|c| *c != '-').collect();
        let digest = Sha256::digest(letters.as_bytes());
        format!("x{}", &hex(&digest)[..SHORT - 1])
    }

    /// True if both ids mean the same agent session, whether they are full or short, with or without hyphens.
    pub fn is(&self, other: &Self) -> bool {
        let is_short = |key: &Self| key.full == key.short;
        is_same_id(&self.full, &other.full)
            || (self.short == other.short && (is_short(self) || is_short(other)))
    }

    /// True if the entry under this key is about this agent session.
    pub(super) fn owns(&self, key: &str, entry: &Value) -> bool {
        match entry.get(FULL_ID).and_then(Value::as_str) {
            // A person may give only eight characters. They mean the session whose full id begins with these
            // characters.
            Some(full) => {
                is_same_id(full, &self.full) || (self.full == self.short && shortened(full) == self.short)
            }
            None => shortened(key) == self.short,
        }
    }

    /// The key of the entry of this agent session; `None` if there is no entry.
    pub(super) fn key_in<'a>(&self, entries: &'a Map<String, Value>) -> Option<&'a str> {
        let short = entries.get_key_value(&self.short).filter(|(key, entry)| self.owns(key, entry));
        short
            .or_else(|| entries.iter().find(|(key, entry)| self.owns(key, entry)))
            .map(|(key, _)| key.as_str())
    }

    /// The key of the entry of this agent session; the key for a new entry if there is none.
    pub(super) fn key_for(&self, entries: &Map<String, Value>) -> String {
        match self.key_in(entries) {
            Some(key) => key.to_owned(),
            None if entries.contains_key(&self.short) => self.spare(),
            None => self.short.clone(),
        }
    }
}

/// True if two full ids are equal when hyphens are ignored.
fn is_same_id(one: &str, other: &str) -> bool {
    one.chars().filter(|c| *c != '-').eq(other.chars().filter(|c| *c != '-'))
}

/// An id in its short form. An id that is already short stays the same.
pub(super) fn shortened(id: &str) -> String {
    id.chars().filter(|c| *c != '-').take(SHORT).collect()
}
