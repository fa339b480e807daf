//! File operations that publish a session. The engine carries them out without knowing their reasons.

use crate::layout::SessionToPublish;

/// A session to publish, and the purpose of the write.
#[derive(Debug, Clone, Copy)]
pub struct WriteRequest<'a> {
    pub purpose: Purpose,
    pub publication: &'a SessionToPublish<'a>,
}

/// The reason for writing the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The session changed. A file that already shows the session is not written.
    Update,
    /// The session is new. This writes the initial files of its folder, except its state.
    New,
    /// The session is imported. Its files are written in the format of new sessions, even if they had another
    /// format.
    Newest,
    /// The session is exported. Its files are written for another folder, which is the worktree of `Folder`.
    /// They keep their format, and the paths in them are adapted.
    Export,
    /// An imported session is written back for its own tool, in its original format.
    Restore,
}

/// One file operation. Paths are relative to the session's home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileOp {
    /// Writes a file. `loses` names unknown content that the new version drops; a copy of the old file is
    /// then kept.
    Put { file: FileChange, loses: Option<String> },
    /// Creates a file if it does not exist. From then on, the file belongs to its users.
    Create(FileChange),
    /// Creates a folder.
    Folder(String),
    /// Creates or removes an empty marker file.
    Marker { path: String, on: bool },
}

/// A file and its new content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The path of the file, relative to the session's home.
    pub path: String,
    /// The complete new content.
    pub content: Vec<u8>,
}

impl FileOp {
    /// The operation that writes this file and drops no unknown content.
    pub fn put(file: FileChange) -> Self {
        Self::Put { file, loses: None }
    }
}

/// The files that these operations write.
pub fn puts(ops: Vec<FileOp>) -> Vec<FileChange> {
    let put = |op| match op {
        FileOp::Put { file, .. } => Some(file),
        FileOp::Create(_) | FileOp::Folder(_) | FileOp::Marker { .. } => None,
    };
    ops.into_iter().filter_map(put).collect()
}
