//! Compares recorded files with the worktree. A file that git does not track may be missing if its content is stored.

use super::material::Material;
use crate::artifacts::look;
use crate::files::PathEntry;
use crate::git::about;
use crate::hex;
use model::artifact::Artifact;
use model::id::Name;
use model::session::Session;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::path::Path;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileReport {
    pub path: String,
    pub phase: Option<Name>,
    pub hash: String,
    pub state: FileState,
}

/// The state of a recorded file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileState {
    AsRecorded,
    /// The file is missing and git does not track it, but its recorded content is stored.
    Kept,
    Changed,
    Missing,
    /// The path is no longer that of a regular file, or it is a link that leads out of the project.
    Unusable,
}

impl FileState {
    pub fn name(self) -> &'static str {
        match self {
            Self::AsRecorded => "as recorded",
            Self::Kept => "kept with the session",
            Self::Changed => "changed since",
            Self::Missing => "missing",
            Self::Unusable => "no longer a regular file",
        }
    }

    pub fn is_good(self) -> bool {
        match self {
            Self::AsRecorded | Self::Kept => true,
            Self::Changed | Self::Missing | Self::Unusable => false,
        }
    }
}

impl FileReport {
    pub(super) fn reason(&self) -> Option<String> {
        let state = self.state.name();
        match self.state {
            FileState::AsRecorded | FileState::Kept => None,
            FileState::Changed => Some(format!("{} changed since it was recorded", self.path)),
            FileState::Missing | FileState::Unusable => Some(format!("{} is {state}", self.path)),
        }
    }
}

/// Returns a report about every file that the session recorded, in order of path.
pub(super) fn compare(material: &Material<'_>, session: &Session) -> Vec<FileReport> {
    let mut reports: Vec<FileReport> =
        session.artifacts.values().map(|known| report(&material.root, known)).collect();
    let missing: Vec<&str> = reports
        .iter()
        .filter(|report| report.state == FileState::Missing)
        .map(|report| report.path.as_str())
        .collect();
    if missing.is_empty() {
        return reports;
    }
    let tracked = tracked(&material.root, &missing);
    for report in reports.iter_mut().filter(|report| report.state == FileState::Missing) {
        let is_kept = || (material.contents)(&report.hash).is_some_and(|body| hash(&body) == report.hash);
        if !tracked.contains(&report.path) && is_kept() {
            report.state = FileState::Kept;
        }
    }
    reports
}

fn report(root: &Path, known: &Artifact) -> FileReport {
    let state = match look(root, &known.newest.path) {
        PathEntry::Missing => FileState::Missing,
        PathEntry::Unusable(_) => FileState::Unusable,
        PathEntry::File(looked) if looked.hash == known.newest.hash => FileState::AsRecorded,
        PathEntry::File(_) => FileState::Changed,
    };
    FileReport {
        path: known.newest.path.clone(),
        phase: known.newest.phase.clone(),
        hash: known.newest.hash.clone(),
        state,
    }
}

/// Returns those of the paths that git tracks; none outside a repository.
fn tracked(root: &Path, paths: &[&str]) -> BTreeSet<String> {
    let listed = about(root).args(["--literal-pathspecs", "ls-files", "-z", "--"]).args(paths).output();
    let text = listed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.split('\0').filter(|path| !path.is_empty()).map(ToOwned::to_owned).collect()
}

fn hash(body: &[u8]) -> String {
    hex(&Sha256::digest(body))
}
