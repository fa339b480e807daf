//! The state of an agent session between its events. If the state is lost, a message may be repeated, but nothing else
//! goes wrong.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Memory {
    /// The session that was last reported to the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<String>,
    /// The version of the last change that the agent knows.
    #[serde(default)]
    pub(super) told: u64,
    /// How often in a row the agent was told to continue, since a person's last prompt.
    #[serde(rename = "sent_on", default, skip_serializing_if = "is_zero")]
    pub(super) continued: u32,
    /// How often in a row the agent was told to continue while the session did not change.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) in_vain: u32,
    /// The session's version when the agent was last told to continue.
    #[serde(rename = "sent_on_at", default, skip_serializing_if = "Option::is_none")]
    pub(super) continued_at: Option<u64>,
    /// The last stop event of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) heard: Option<Heard>,
    /// True if the agent reported the end of its conversation. Its process may still run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) ended: bool,
}

/// True if this memory says that the agent session has ended.
pub(crate) fn has_ended(memory: &str) -> bool {
    Memory::read(memory).ended
}

/// Returns the memory of an agent session that has ended.
pub(crate) fn ended(memory: &str) -> String {
    Memory { ended: true, ..Memory::read(memory) }.text()
}

/// A stop event, and the answer to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Heard {
    pub(super) delivery: String,
    pub(super) at: Timestamp,
    /// True if the agent was told to continue, and this was counted.
    #[serde(rename = "sent_on", default)]
    pub(super) continued: bool,
}

/// The state of an agent session, as read for a decision.
pub(super) struct Known {
    pub(super) memory: Memory,
    /// The text of the state, as stored.
    pub(super) text: String,
    pub(super) last_seen: Timestamp,
}

impl Known {
    /// Returns the last stop event if `delivery` only repeats it: both are equal, and the second follows at once,
    /// without another event of the agent session in between. An idle agent also sends equal events, but a little
    /// later. The time is measured from the first delivery, so that repetitions cannot go on for ever.
    pub(super) fn heard_before(&self, delivery: &str, now: Timestamp) -> Option<&Heard> {
        const APART: SignedDuration = SignedDuration::from_secs(2);
        let heard = self.memory.heard.as_ref()?;
        let is_right_after = now.duration_since(heard.at).abs() < APART;
        (heard.delivery == delivery && is_right_after && self.last_seen <= heard.at).then_some(heard)
    }
}

impl Memory {
    /// Parses a stored state. An unreadable state counts as empty.
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
