//! Everything known about a file before it is judged.

use crate::hash::sha256 as hash;

/// The role of a file for its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    State,
    /// A file with some of a session's items: others may add some.
    Part,
    /// Shared by several sessions.
    Shared,
    /// An initial file of a new session; its users own it from then on.
    Initial,
    /// A marker file, and whether it should exist.
    Marker {
        is_on: bool,
    },
}

/// The entry at a file's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum There<'a> {
    Bytes(&'a [u8]),
    Nothing,
    /// A parent folder is unreadable.
    Hidden,
    /// A folder, a link, too large, or impossible to open.
    Unusable,
}

/// The journal's record of our last write to a file.
#[derive(Debug, Clone, Copy)]
pub struct Wrote<'a> {
    pub hash: &'a str,
    /// For a confirmed shared file: only the session's part.
    pub body: &'a [u8],
    /// The base for edits of the previous version; empty if there was none.
    pub previous: &'a [u8],
    /// Hashes of known earlier versions, newest last.
    pub earlier: &'a [String],
    /// It is known to have reached its place.
    pub confirmed: bool,
}

/// The last write into a file, by whichever session.
#[derive(Debug, Clone, Copy)]
pub struct Put<'a> {
    pub hash: &'a str,
    /// Hash of the content to be replaced; `None` once the replaced content is dealt with.
    pub expected: Option<&'a str>,
    /// It was the write that the journal's record of our last write describes, not an earlier one of ours.
    pub is_this: bool,
    /// The session that wrote it.
    pub by: &'a str,
}

/// The backup when it became the backup.
#[derive(Debug, Clone, Copy)]
pub struct Noted<'a> {
    pub length: usize,
    pub hash: &'a str,
    /// True if it is still the same file; `None` if the system cannot tell.
    pub is_same_file: Option<bool>,
}

/// Everything known about one file.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    pub session: &'a str,
    pub role: Role,
    /// The file is in a place that the session has left.
    pub is_left: bool,
    /// The machine has not rebooted since our last write.
    pub same_boot: bool,
    pub there: There<'a>,
    pub wrote: Option<Wrote<'a>>,
    /// The waiting file: our new version, or the replaced one.
    pub waiting: Option<&'a [u8]>,
    pub put: Option<Put<'a>>,
    pub backup: Option<&'a [u8]>,
    pub noted: Option<Noted<'a>>,
}

/// Parsing and merging for the file's format.
pub trait Own {
    /// The session's part of a shared file; `None` for a file of one session.
    fn part(&self, bytes: &[u8]) -> Option<Vec<u8>>;
    /// True if it is readable.
    fn is_whole(&self, bytes: &[u8]) -> bool;
    /// `onto` with the differences between `base` and `theirs`.
    fn onto(&self, base: &[u8], theirs: &[u8], onto: &[u8]) -> Vec<u8>;
}

impl Wrote<'_> {
    /// True if this content preceded our write.
    pub(super) fn knows(&self, bytes: &[u8]) -> bool {
        bytes == self.previous || self.earlier.contains(&hash(bytes))
    }

    pub(super) fn is_ours(&self, bytes: &[u8]) -> bool {
        self.knows(bytes) || hash(bytes) == self.hash
    }
}
