//! A file that shows a session to another tool, as we last wrote it, and the journal of that write.

use crate::id::SessionId;

/// A file that shows a session to another tool, as last written. The log is authoritative.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewRow {
    pub session: SessionId,
    /// Relative to the folder of the session's files.
    pub path: String,
    /// Hash of `body`.
    pub hash: String,
    pub body: Vec<u8>,
    /// The previous content when this was written; empty if there was none.
    pub previous: Vec<u8>,
    /// Hashes of earlier writes, newest last.
    pub earlier: Vec<String>,
    /// The session version that the file shows.
    pub version: u64,
    /// The machine's boot id at the time of writing.
    pub boot_id: String,
    /// The file is known to have reached its place.
    pub confirmed: bool,
    pub journal: WriteJournal,
}

/// The write journal of a file, for recovery after a crash in the middle of a write. It describes the file on
/// disk, so a row that replaces another one inherits it, except `put_this` and `loses`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WriteJournal {
    /// Hash of the content that we last put into the file. Of the sessions that share a file, only the last
    /// writer has one.
    pub put_hash: Option<String>,
    /// Hash of the content which that write is to replace; absent once the replaced content is dealt with.
    pub put_expected: Option<String>,
    /// That write was of this very row, not of an earlier one.
    pub put_this: bool,
    /// Identifies the backup of the previous version.
    pub backup: Option<String>,
    /// Content of the file that the write drops.
    pub loses: Option<String>,
}

impl ViewRow {
    /// True if the file has been in place: it was seen there, or an earlier one was written there.
    pub fn was_there(&self) -> bool {
        self.confirmed
            || !self.previous.is_empty()
            || (!self.earlier.is_empty() && self.journal.has_written())
    }
}

impl WriteJournal {
    /// True if we ever wrote there.
    pub fn has_written(&self) -> bool {
        self.put_hash.is_some() || self.backup.is_some()
    }
}
