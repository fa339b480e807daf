//! Store errors: what happened. Front ends add what to do next.

use model::id::SessionId;
use std::path::PathBuf;
use std::time::Duration;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another writer changed the session first. Load, decide and append again.
    #[error("session {session} is at version {found}, not {expected}")]
    Conflict { session: SessionId, expected: u64, found: u64 },
    /// The worktree already has an active session. Load it and decide again.
    #[error("worktree {worktree} has an active session already")]
    ActiveTaken { worktree: String },
    /// Another session has this id, perhaps in different case.
    #[error("there is a session {existing} already")]
    IdTaken { existing: SessionId },
    /// The key was used while this command was being decided.
    #[error("the key was used already")]
    KeyTaken,
    #[error("another process held the store's lock for {waited:?}")]
    Busy { waited: Duration },
    /// SQLite kept retrying and never got a lock, although nobody holds one.
    #[error("the locks of {path} do not work")]
    LocksFail { path: PathBuf },
    #[error("there is no database at {path}")]
    Missing { path: PathBuf },
    #[error("{path} is not a leftoff database: {why}")]
    NotADatabase { path: PathBuf, why: String },
    #[error("{path} was made by a newer leftoff: its schema is {found}, and this program knows {known}")]
    Newer { path: PathBuf, found: u32, known: u32 },
    /// Changes that were kept are there no longer.
    #[error(
        "{path} has lost changes: it ends at change {found}, and change {kept} was kept; its write-ahead log is damaged, or an older copy stands in its place"
    )]
    Lost { path: PathBuf, kept: u64, found: u64 },
    #[error("{path} cannot be written")]
    ReadOnly { path: PathBuf },
    /// A server that does not answer, or ended the connection.
    #[error("{place} cannot be reached: {why}")]
    Unreachable { place: String, why: String },
    /// A server that does not let this user in, or do this.
    #[error("{place} refuses: {why}")]
    Denied { place: String, why: String },
    #[error("no space is left for {path}")]
    Full { path: PathBuf },
    /// The commit failed, and its effect could not be determined.
    #[error("it is not known whether the change was kept: {why}")]
    Unknown { why: String },
    #[error("{doing}: {source}")]
    Io { doing: String, source: std::io::Error },
    #[error("{doing}: {why}")]
    Engine { doing: String, why: String },
}

impl Error {
    /// Adds how long the writer waited for others.
    pub(crate) fn after(self, waited: Duration) -> Self {
        match self {
            Self::Busy { .. } => Self::Busy { waited },
            other => other,
        }
    }
}
