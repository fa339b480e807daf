//! A file that shows a session to another tool, as leftoff last wrote it, and the journal of that write.

use crate::id::SessionId;

/// A file that shows a session to another tool, as leftoff last wrote it. The log is authoritative.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewRow {
    pub session: SessionId,
    /// The path from the folder of the session's files.
    pub path: String,
    /// Hash of `body`.
    pub hash: String,
    pub body: Vec<u8>,
    /// The content of the file before this write; empty if there was no file.
    pub previous: Vec<u8>,
    /// Hashes of what earlier writes put into the file, newest last.
    pub earlier: Vec<String>,
    /// The session version that the file shows.
    pub version: u64,
    /// The boot id of the machine at the time of writing.
    pub boot_id: String,
    /// True once the write is known to be complete on disk.
    pub confirmed: bool,
    pub journal: WriteJournal,
}

/// The write journal of a file, for recovery after a crash in the middle of a write. The journal describes the file on
/// disk, so a row that replaces another one inherits all of it, except `put_this` and `loses`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WriteJournal {
    /// Hash of the content that leftoff last put into the file. If several sessions share the file, only the session
    /// that wrote last has this hash.
    pub put_hash: Option<String>,
    /// Hash of the content that the write replaces; `None` once the replaced content has been dealt with.
    pub put_expected: Option<String>,
    /// True if the journal is about the write of this row, and not of an earlier one.
    pub put_this: bool,
    /// Identifies the backup of the file's previous version.
    pub backup: Option<String>,
    /// The content that the write removes from the file.
    pub loses: Option<String>,
}

impl ViewRow {
    /// True if the file is known to have existed: a write was confirmed, or replaced an earlier content.
    pub fn was_there(&self) -> bool {
        self.confirmed
            || !self.previous.is_empty()
            || (!self.earlier.is_empty() && self.journal.has_written())
    }
}

impl WriteJournal {
    /// True if leftoff ever wrote the file.
    pub fn has_written(&self) -> bool {
        self.put_hash.is_some() || self.backup.is_some()
    }
}
