//! Files that a session produced, as they were when recorded. Never reads a file.

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
    /// Counted from 1, separately for each path.
    pub version: u32,
    /// The phase that this file proves, if any.
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

/// A file's path after its folder moved. Paths outside that folder are returned unchanged.
pub fn moved_path(path: &str, from: &str, to: &str) -> String {
    match path.strip_prefix(from).and_then(|rest| rest.strip_prefix('/')) {
        Some(rest) => format!("{to}/{rest}"),
        None => path.to_owned(),
    }
}
