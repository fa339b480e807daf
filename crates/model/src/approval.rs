//! A person's approval of a check, which may expire.

use crate::id::Name;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    pub phase: Name,
    pub check: Name,
    /// The name of the approving person, as in the log.
    pub by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
    pub at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Hash of the phase's files at the time of approval. Missing in older approvals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
}

impl Approval {
    pub fn holds(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|end| now < end)
    }
}
