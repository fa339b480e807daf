//! Everything that is known about a file before leftoff classifies it.

use crate::hash::sha256 as hash;

/// The role of a file for its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    State,
    /// A file with some of the session's items. Others may add files of the same kind.
    Part,
    /// A file that several sessions share.
    Shared,
    /// A file that leftoff creates for a new session. From then on it belongs to its users.
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
    /// The entry is a folder or a link, is too large, or cannot be opened.
    Unusable,
}

/// The record of leftoff's last write to a file, from the journal.
#[derive(Debug, Clone, Copy)]
pub struct Wrote<'a> {
    pub hash: &'a str,
    /// The content that was written. For a confirmed write of a shared file, only the session's part of it.
    pub body: &'a [u8],
    /// The version before leftoff's last write; empty if there was none. An edit of that version is compared
    /// with it.
    pub previous: &'a [u8],
    /// Hashes of earlier versions that leftoff knows, in the order in which they were written.
    pub earlier: &'a [String],
    /// True once the write is known to be complete on disk.
    pub confirmed: bool,
}

/// The last write to a file, made by any session.
#[derive(Debug, Clone, Copy)]
pub struct Put<'a> {
    pub hash: &'a str,
    /// The hash of the content that the write replaces. `None` once the replaced content is the backup.
    pub expected: Option<&'a str>,
    /// True if this is the write that the row describes, and not an earlier one.
    pub is_this: bool,
    /// The session that made the write.
    pub by: &'a str,
}

/// The state of the backup when it became the backup.
#[derive(Debug, Clone, Copy)]
pub struct Noted<'a> {
    pub length: usize,
    pub hash: &'a str,
    /// True if the backup is still the same file; `None` if the operating system cannot tell.
    pub is_same_file: Option<bool>,
}

/// Everything that is known about one file.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    pub session: &'a str,
    pub role: Role,
    /// True if the file is in a place that the session has left.
    pub is_left: bool,
    /// True if the machine has not restarted since leftoff's last write.
    pub same_boot: bool,
    pub there: There<'a>,
    pub wrote: Option<Wrote<'a>>,
    /// The content of the waiting file: leftoff's new version, or the version that this replaced.
    pub waiting: Option<&'a [u8]>,
    pub put: Option<Put<'a>>,
    pub backup: Option<&'a [u8]>,
    pub noted: Option<Noted<'a>>,
}

/// Functions of the file's format: reading the parts of a file, and merging versions.
pub trait Own {
    /// The session's part of a shared file; `None` for a file that only one session uses.
    fn part(&self, bytes: &[u8]) -> Option<Vec<u8>>;
    /// True if the content is readable.
    fn is_whole(&self, bytes: &[u8]) -> bool;
    /// `onto`, with the changes from `base` to `theirs` added.
    fn onto(&self, base: &[u8], theirs: &[u8], onto: &[u8]) -> Vec<u8>;
}

impl Wrote<'_> {
    /// True if the file had this content before leftoff's write.
    pub(super) fn knows(&self, bytes: &[u8]) -> bool {
        bytes == self.previous || self.earlier.contains(&hash(bytes))
    }

    pub(super) fn is_ours(&self, bytes: &[u8]) -> bool {
        self.knows(bytes) || hash(bytes) == self.hash
    }
}
