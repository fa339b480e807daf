//! Where a session stands as a whole. An enum with its data, so that an impossible state cannot be written.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Lifecycle {
    Active,
    Paused {
        at: Timestamp,
        reason: String,
        /// In the middle of what.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<String>,
        /// Drafts that were recorded as they were when work stopped.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        saved: Vec<String>,
    },
    Completed {
        at: Timestamp,
        /// Closed before its work was finished.
        #[serde(default)]
        forced: bool,
    },
    Failed {
        at: Timestamp,
        error: String,
    },
    Abandoned {
        at: Timestamp,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

impl Lifecycle {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused { .. } => "paused",
            Self::Completed { .. } => "completed",
            Self::Failed { .. } => "failed",
            Self::Abandoned { .. } => "abandoned",
        }
    }

    /// Those of sessions that somebody can go on with.
    pub const UNFINISHED: [&'static str; 3] = ["active", "paused", "failed"];

    pub const NAMES: [&'static str; 5] = ["active", "paused", "completed", "failed", "abandoned"];
}
