//! Files that a session produced, as they were when they were recorded. Never reads a file.

use crate::id::Name;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A recorded file: its path and the hash of its content at that time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactVersion {
    /// The path relative to the project's folder, with `/` as the separator.
    pub path: String,
    /// SHA-256 of the file's content, in hexadecimal.
    pub hash: String,
    pub size: u64,
    /// The version of the file, counted from 1 for each path.
    pub version: u32,
    /// The phase that this file proves, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Name>,
}

/// The newest recorded version of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    #[serde(flatten)]
    pub newest: ArtifactVersion,
    pub recorded_at: Timestamp,
}

/// Returns the path of a file after its folder moved from one path to another. Paths outside the folder are returned
/// unchanged.
pub fn moved_path(path: &str, from: &str, to: &str) -> String {
    match path.strip_prefix(from).and_then(|rest| rest.strip_prefix('/')) {
        Some(rest) => format!("{to}/{rest}"),
        None => path.to_owned(),
    }
}
