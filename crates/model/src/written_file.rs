//! A file that shows a session to another tool, as leftoff last wrote it, with the journal of that write.

use crate::id::SessionId;

/// A file that shows a session to another tool, as leftoff last wrote it. If the file and the log differ, the log is
/// right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewRow {
    pub session: SessionId,
    /// The path relative to the folder of the session's files.
    pub path: String,
    /// Hash of `body`.
    pub hash: String,
    pub body: Vec<u8>,
    /// The content of the file before this write; empty if there was no file.
    pub previous: Vec<u8>,
    /// Hashes of the contents that earlier writes put into the file, newest last.
    pub earlier: Vec<String>,
    /// The version of the session that the file shows.
    pub version: u64,
    /// The boot id of the machine when the file was written.
    pub boot_id: String,
    /// True once the write is known to be complete on disk.
    pub confirmed: bool,
    pub journal: WriteJournal,
}

/// The write journal of a file, for recovery after a crash during a write. The journal describes the file on disk. A
/// row that replaces another therefore inherits its journal, except `put_this` and `loses`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WriteJournal {
    /// Hash of the content that leftoff last put into the file. If several sessions share the file, only the last
    /// session that wrote it has this hash.
    pub put_hash: Option<String>,
    /// Hash of the content that the write replaces. `None` as soon as the replaced content has been dealt with.
    pub put_expected: Option<String>,
    /// True if the journal describes the write of this row; false if an earlier write.
    pub put_this: bool,
    /// Identifies the backup of the file's previous version.
    pub backup: Option<String>,
    /// The content that the write removes from the file.
    pub loses: Option<String>,
}

impl ViewRow {
    /// True if the file is known to have existed: a write was confirmed, or a write replaced earlier content.
    pub fn was_there(&self) -> bool {
        self.confirmed
            || !self.previous.is_empty()
            || (!self.earlier.is_empty() && self.journal.has_written())
    }
}

impl WriteJournal {
    /// True if leftoff has ever written the file.
    pub fn has_written(&self) -> bool {
        self.put_hash.is_some() || self.backup.is_some()
    }
}
