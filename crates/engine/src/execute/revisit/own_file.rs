//! Compares a file of the revised phase with its recorded version.

use super::FileChange;
use crate::artifacts::Difference;
use crate::files::{FileDigest, PathEntry};
use crate::hex;
use crate::line_differences;
use jiff::Timestamp;
use model::artifact::Artifact;
use sha2::{Digest, Sha256};

/// How many seconds may pass between a tool's note that a phase ended and the tool's writing of the phase's file.
const WRITTEN_WITH_THE_STATE: i64 = 60;

/// A file of the revised phase.
pub(super) struct OwnFile {
    pub(super) change: FileChange,
    pub(super) hash: String,
    /// The recorded content, if it was stored.
    pub(super) kept: Option<Vec<u8>>,
    /// True if the file's headings changed, or if the old headings are unknown.
    pub(super) structure_changed: bool,
    /// True if the file was written after its phase was completed, and its earlier text is unknown.
    pub(super) is_lost: bool,
}

impl OwnFile {
    /// Returns a file of the revised phase that has no record, for example because the session's own tool completed the
    /// phase. `None` if there is no file. `before` returns the earlier text, if known; it is called if the file was
    /// written after the phase ended.
    pub(super) fn unrecorded(
        path: &str,
        seen: PathEntry,
        finished: Option<Timestamp>,
        before: impl FnOnce() -> Option<String>,
    ) -> Option<Self> {
        let PathEntry::File(looked) = seen else { return None };
        let is_written_since =
            finished.is_some_and(|at| looked.modified.as_second() > at.as_second() + WRITTEN_WITH_THE_STATE);
        let old = if is_written_since { before() } else { None };
        let mut own = Self {
            change: FileChange { path: path.to_owned(), difference: Some(Difference::New), lines: None },
            hash: looked.hash.clone(),
            kept: None,
            structure_changed: false,
            is_lost: false,
        };
        match old.as_deref().and_then(|old| texts(Some(old.as_bytes()), &looked)) {
            Some((old, new)) if old != new => {
                own.change.difference = Some(Difference::Changed);
                own.change.lines = Some(line_differences::between(old, new));
                own.structure_changed = line_differences::headings(old) != line_differences::headings(new);
                own.hash = hex(&Sha256::digest(old.as_bytes()));
                own.kept = Some(old.as_bytes().to_vec());
            }
            None if is_written_since => {
                own.change.difference = Some(Difference::Changed);
                own.structure_changed = true;
                own.is_lost = true;
            }
            Some(_) | None => {}
        }
        Some(own)
    }

    /// True if the file changed. A file without a record counts as unchanged if it was not written after the phase
    /// ended.
    pub(super) fn is_changed(&self) -> bool {
        !matches!(self.change.difference, None | Some(Difference::New))
    }

    pub(super) fn compare(known: &Artifact, seen: PathEntry, kept: Option<Vec<u8>>) -> Self {
        let mut lines = None;
        let mut structure_changed = true;
        let difference = match seen {
            PathEntry::Missing => Some(Difference::Missing),
            PathEntry::Unusable(_) => Some(Difference::Unusable),
            PathEntry::File(looked) if looked.hash == known.newest.hash => {
                structure_changed = false;
                None
            }
            PathEntry::File(looked) => {
                if let Some((old, new)) = texts(kept.as_deref(), &looked) {
                    structure_changed = line_differences::headings(old) != line_differences::headings(new);
                    lines = Some(line_differences::between(old, new));
                }
                Some(Difference::Changed)
            }
        };
        let path = known.newest.path.clone();
        let hash = known.newest.hash.clone();
        Self { change: FileChange { path, difference, lines }, hash, kept, structure_changed, is_lost: false }
    }
}

/// Returns the old and the new text, if both are complete and really text.
fn texts<'a>(kept: Option<&'a [u8]>, looked: &'a FileDigest) -> Option<(&'a str, &'a str)> {
    let is_whole = looked.size == looked.beginning.len() as u64;
    let old = std::str::from_utf8(kept?).ok()?;
    let new = std::str::from_utf8(&looked.beginning).ok()?;
    is_whole.then_some((old, new))
}
