//! Notes for the next reader.

use crate::actor::Actor;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteKind {
    Note,
    Decision,
    Tried,
    Assumption,
    Blocker,
    Question,
    Override,
    Deferred,
}

impl NoteKind {
    pub const ALL: [Self; 8] = [
        Self::Note,
        Self::Decision,
        Self::Tried,
        Self::Assumption,
        Self::Blocker,
        Self::Question,
        Self::Override,
        Self::Deferred,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Decision => "decision",
            Self::Tried => "tried",
            Self::Assumption => "assumption",
            Self::Blocker => "blocker",
            Self::Question => "question",
            Self::Override => "override",
            Self::Deferred => "deferred",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == text)
    }

    /// True for kinds of notes that stay open until somebody resolves them.
    pub fn waits_for_an_answer(self) -> bool {
        match self {
            Self::Blocker | Self::Question | Self::Deferred => true,
            Self::Note | Self::Decision | Self::Tried | Self::Assumption | Self::Override => false,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// The number of the note in its session, counted from 1.
    pub id: u32,
    pub kind: NoteKind,
    pub text: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Value>,
    pub at: Timestamp,
    pub actor: Actor,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_at: Option<Timestamp>,
}

impl Note {
    pub fn is_open(&self) -> bool {
        self.kind.waits_for_an_answer() && self.resolved_at.is_none()
    }

    pub(crate) fn change(&mut self, text: Option<&str>, fields: &BTreeMap<String, Value>, reopened: bool) {
        if let Some(text) = text {
            text.clone_into(&mut self.text);
        }
        self.fields.extend(fields.clone());
        self.resolved_at = self.resolved_at.filter(|_| !reopened);
    }
}
