//! Files that a session produced, as they were when they were recorded. Never reads one.

use crate::id::Name;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A file at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactVersion {
    /// Relative to the project's folder, with `/` between its parts.
    pub path: String,
    /// SHA-256 of its content, in hex.
    pub hash: String,
    pub size: u64,
    /// From 1, for every path on its own.
    pub version: u32,
    /// The phase that it proves, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Name>,
}

/// The newest version of a file that a session knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    #[serde(flatten)]
    pub newest: ArtifactVersion,
    pub recorded_at: Timestamp,
}

/// A file's path after a folder went to another place; the same where it is not in that folder.
pub fn moved_path(path: &str, from: &str, to: &str) -> String {
    match path.strip_prefix(from).and_then(|rest| rest.strip_prefix('/')) {
        Some(rest) => format!("{to}/{rest}"),
        None => path.to_owned(),
    }
}
