//! Going back to change an earlier phase: how far the change reaches, and what it does to later phases.

use crate::id::Name;
use serde::{Deserialize, Serialize};

/// How much of the later work a change touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Impact {
    /// The substance of later phases stands: they are flagged for review.
    Minor,
    /// Some later phases are affected: their files are archived, they are flagged.
    Moderate,
    /// The direction changed: the files of all later phases are archived, they begin again.
    Major,
}

impl Impact {
    pub const ALL: [Self; 3] = [Self::Minor, Self::Moderate, Self::Major];

    pub fn name(self) -> &'static str {
        match self {
            Self::Minor => "minor",
            Self::Moderate => "moderate",
            Self::Major => "major",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|impact| impact.name() == text)
    }
}

/// One change of an earlier phase, as the log keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    pub phase: Name,
    pub impact: Impact,
    pub reason: String,
    /// Later phases that are flagged for review.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flagged: Vec<Name>,
    /// Later phases that begin again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restarted: Vec<Name>,
    /// Files that were archived, with the names they have now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub archived: Vec<Archived>,
    /// Ties the event to the work on disk that belongs to it, so that a crash between the two can be mended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Archived {
    pub from: String,
    pub to: String,
}
