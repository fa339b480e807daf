//! A file of the revised phase, compared with its record.

use super::FileChange;
use crate::artifacts::Difference;
use crate::difference;
use crate::files::{FileDigest, PathEntry};
use model::artifact::Artifact;

/// A file of the revised phase.
pub(super) struct OwnFile {
    pub(super) change: FileChange,
    pub(super) hash: String,
    /// The recorded content, if stored.
    pub(super) kept: Option<Vec<u8>>,
    /// Its headings changed, or this is unknown.
    pub(super) structure_changed: bool,
}

impl OwnFile {
    /// A file without a record: only its current content is known.
    pub(super) fn unrecorded(path: &str, seen: PathEntry) -> Option<Self> {
        let PathEntry::File(looked) = seen else { return None };
        let change = FileChange { path: path.to_owned(), difference: Some(Difference::New), lines: None };
        Some(Self { change, hash: looked.hash, kept: None, structure_changed: false })
    }

    /// A file without a record counts as unchanged.
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
                    structure_changed = difference::headings(old) != difference::headings(new);
                    lines = Some(difference::between(old, new));
                }
                Some(Difference::Changed)
            }
        };
        let path = known.newest.path.clone();
        let hash = known.newest.hash.clone();
        Self { change: FileChange { path, difference, lines }, hash, kept, structure_changed }
    }
}

/// Both as text, if both are text and completely known.
fn texts<'a>(kept: Option<&'a [u8]>, looked: &'a FileDigest) -> Option<(&'a str, &'a str)> {
    let is_whole = looked.size == looked.beginning.len() as u64;
    let old = std::str::from_utf8(kept?).ok()?;
    let new = std::str::from_utf8(&looked.beginning).ok()?;
    is_whole.then_some((old, new))
}
