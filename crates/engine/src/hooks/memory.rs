//! What is known about an agent session from one event to the next. Lost memory costs a repetition, nothing else.

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
