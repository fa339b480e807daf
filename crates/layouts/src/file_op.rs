//! File operations that publish a session. The engine executes them without knowing the reasons for them.

use crate::layout::SessionToPublish;

/// A session to publish, and the purpose of the write.
#[derive(Debug, Clone, Copy)]
pub struct WriteRequest<'a> {
    pub purpose: Purpose,
    pub publication: &'a SessionToPublish<'a>,
}

/// Why files are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The session changed. Files that already agree with it are not rewritten.
    Update,
    /// The initial files of a new session's folder, besides its state.
    New,
    /// An import: files are written in the format of new sessions, whatever format they had before.
    Newest,
    /// An export: the session's files for another folder, which is the worktree of `Folder`. They keep their
    /// format, with paths adapted.
    Export,
    /// An imported session is written for its own tool again, in the original format.
    Restore,
}

/// One file operation. Paths are relative to the session's home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileOp {
    /// Write a file. `loses` names unknown content that the new version drops; a copy of the old file is then
    /// kept.
    Put { file: FileChange, loses: Option<String> },
    /// Create a file if it does not exist. The file belongs to its users from then on.
    Create(FileChange),
    /// Create a folder.
    Folder(String),
    /// Create or remove an empty marker file.
    Marker { path: String, on: bool },
}

/// A file's new content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The path of the file, relative to the session's home.
    pub path: String,
    /// The complete new content.
    pub content: Vec<u8>,
}

impl FileOp {
    /// A write that drops no unknown content.
    pub fn put(file: FileChange) -> Self {
        Self::Put { file, loses: None }
    }
}

/// The files written by these operations.
pub fn puts(ops: Vec<FileOp>) -> Vec<FileChange> {
    let put = |op| match op {
        FileOp::Put { file, .. } => Some(file),
        FileOp::Create(_) | FileOp::Folder(_) | FileOp::Marker { .. } => None,
    };
    ops.into_iter().filter_map(put).collect()
}
