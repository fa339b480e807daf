//! The lifecycle of a session. An enum with data, so that impossible states cannot be represented.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Lifecycle {
    Active,
    Paused {
        at: Timestamp,
        reason: String,
        /// The work that was in progress when the session paused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<String>,
        /// Drafts that were recorded when work paused.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        saved: Vec<String>,
    },
    Completed {
        at: Timestamp,
        /// True if the session was closed before all of its phases were done.
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

    /// True if the session is completed or abandoned, and must be reopened before work can continue.
    pub fn is_over(&self) -> bool {
        matches!(self, Self::Completed { .. } | Self::Abandoned { .. })
    }

    /// The names of the states in which work can continue without reopening the session.
    pub const UNFINISHED: [&'static str; 3] = ["active", "paused", "failed"];

    pub const NAMES: [&'static str; 5] = ["active", "paused", "completed", "failed", "abandoned"];
}

/// A pause that has ended: its reason, and the work that it interrupted. Kept until the phase changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interruption {
    pub paused_at: Timestamp,
    pub resumed_at: Timestamp,
    pub reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
}
