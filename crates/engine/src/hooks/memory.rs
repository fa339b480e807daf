//! What is known about an agent session from one event to the next. Lost memory costs a repetition, nothing else.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Memory {
    /// The session that the agent was told about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<String>,
    /// The last change of it that the agent knows of.
    #[serde(default)]
    pub(super) told: u64,
    /// How often it was sent on in a row, since a person last said something.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) sent_on: u32,
    /// How often of these in a row without any change of the session.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) in_vain: u32,
    /// The session's version when it was last sent on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sent_on_at: Option<u64>,
    /// The stop that was heard of last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) heard: Option<Heard>,
}

/// A stop, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Heard {
    pub(super) delivery: String,
    pub(super) at: Timestamp,
    /// The agent was sent on, and that was counted.
    #[serde(default)]
    pub(super) sent_on: bool,
}

/// What is known of an agent session when something is decided about it.
pub(super) struct Known {
    pub(super) memory: Memory,
    /// As it is kept.
    pub(super) text: String,
    pub(super) last_seen: Timestamp,
}

impl Known {
    /// The stop that was heard of last, if this is the same one delivered again: it says the same, right after, and
    /// nothing else was heard of the agent session in between. Whoever does nothing says the same again as well, a
    /// little later: the time runs from the first delivery on, so that nobody goes on like this for ever.
    pub(super) fn heard_before(&self, delivery: &str, now: Timestamp) -> Option<&Heard> {
        const APART: SignedDuration = SignedDuration::from_secs(2);
        let heard = self.memory.heard.as_ref()?;
        let is_right_after = now.duration_since(heard.at).abs() < APART;
        (heard.delivery == delivery && is_right_after && self.last_seen <= heard.at).then_some(heard)
    }
}

impl Memory {
    /// Whatever cannot be read is forgotten.
    pub(super) fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    pub(super) fn of(session: &str, told: u64) -> Self {
        Self { session: Some(session.to_owned()), told, ..Self::default() }
    }

    pub(super) fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}
