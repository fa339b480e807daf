//! Everything known about a file before it is judged.

use crate::hash::sha256 as hash;

/// The role of a file for its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    State,
    /// A file with some of a session's items, to which others may add files of the same kind.
    Part,
    /// A file that several sessions share.
    Shared,
    /// An initial file of a new session, which belongs to its users from then on.
    Initial,
    /// A marker file. `on` is true if it should exist.
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
    /// The entry is a folder, a link, a file that is too large, or one that cannot be opened.
    Unusable,
}

/// The journal's record of our last write to a file.
#[derive(Debug, Clone, Copy)]
pub struct Wrote<'a> {
    pub hash: &'a str,
    /// The content that was written; for a confirmed write of a shared file, only the session's part.
    pub body: &'a [u8],
    /// The version before our write, to which an edit of that version is compared; empty if there was none.
    pub previous: &'a [u8],
    /// Hashes of earlier versions that leftoff knows, the newest last.
    pub earlier: &'a [String],
    /// True once the write is known to be complete on disk.
    pub confirmed: bool,
}

/// The last write to a file, by whichever session.
#[derive(Debug, Clone, Copy)]
pub struct Put<'a> {
    pub hash: &'a str,
    /// The hash of the content that the write replaces; `None` once the replaced content is in the backup.
    pub expected: Option<&'a str>,
    /// True if this is the write that the row describes, rather than an earlier write of ours.
    pub is_this: bool,
    /// The session that made the write.
    pub by: &'a str,
}

/// The backup as it was when it became the backup.
#[derive(Debug, Clone, Copy)]
pub struct Noted<'a> {
    pub length: usize,
    pub hash: &'a str,
    /// True if the backup is still the same file; `None` if the operating system cannot tell.
    pub is_same_file: Option<bool>,
}

/// Everything known about one file.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    pub session: &'a str,
    pub role: Role,
    /// True if the file is in a place that the session has left.
    pub is_left: bool,
    /// True if the machine has not rebooted since our last write.
    pub same_boot: bool,
    pub there: There<'a>,
    pub wrote: Option<Wrote<'a>>,
    /// The content of the waiting file: our new version, or the version that it replaced.
    pub waiting: Option<&'a [u8]>,
    pub put: Option<Put<'a>>,
    pub backup: Option<&'a [u8]>,
    pub noted: Option<Noted<'a>>,
}

/// Parsing and merging for the file's format.
pub trait Own {
    /// The session's part of a shared file; `None` for a file of one session.
    fn part(&self, bytes: &[u8]) -> Option<Vec<u8>>;
    /// True if the content is readable.
    fn is_whole(&self, bytes: &[u8]) -> bool;
    /// `onto` with the differences between `base` and `theirs`.
    fn onto(&self, base: &[u8], theirs: &[u8], onto: &[u8]) -> Vec<u8>;
}

impl Wrote<'_> {
    /// True if this content was in the file before our write.
    pub(super) fn knows(&self, bytes: &[u8]) -> bool {
        bytes == self.previous || self.earlier.contains(&hash(bytes))
    }

    pub(super) fn is_ours(&self, bytes: &[u8]) -> bool {
        self.knows(bytes) || hash(bytes) == self.hash
    }
}
