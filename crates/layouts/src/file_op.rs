//! Operations by which files come to show a session. The engine carries them out and knows none of their reasons.

use crate::layout::Standing;

/// A session that files are to show, and what for.
#[derive(Debug, Clone, Copy)]
pub struct WriteRequest<'a> {
    pub purpose: Purpose,
    pub standing: &'a Standing<'a>,
}

/// The reason for which files are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The session changed: whatever shows it already is left alone.
    Update,
    /// The initial files of a new session's folder, beside its state.
    New,
    /// The shape that new sessions have, whatever the files were like: an import.
    Newest,
    /// The session's files for another folder, which is the worktree of `Folder`: in their shape, with what names the
    /// place that they are in.
    Export,
    /// A session that was imported, for its own tool again: in the shape that its files had then.
    Restore,
}

/// One operation. Paths are relative to the session's home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileOp {
    /// The file as it is to be. `loses` names what it said before that nobody understood, and says no longer: such a
    /// file is kept whole.
    Put { file: FileChange, loses: Option<String> },
    /// A file that is made once, where nothing is, and is its users' own from then on.
    Create(FileChange),
    /// A folder that is made with it.
    Folder(String),
    /// An empty file that is there, or is not.
    Marker { path: String, on: bool },
}

/// A file as it is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Relative to the session's home.
    pub path: String,
    /// From the first byte to the last.
    pub content: Vec<u8>,
}

impl FileOp {
    /// Nothing that nobody understood is lost.
    pub fn put(file: FileChange) -> Self {
        Self::Put { file, loses: None }
    }
}

/// The files that are put among these operations.
pub fn puts(ops: Vec<FileOp>) -> Vec<FileChange> {
    let put = |op| match op {
        FileOp::Put { file, .. } => Some(file),
        FileOp::Create(_) | FileOp::Folder(_) | FileOp::Marker { .. } => None,
    };
    ops.into_iter().filter_map(put).collect()
}
