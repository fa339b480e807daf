//! The errors of a store: what happened. Front ends add what to do next.

use model::id::SessionId;
use std::path::PathBuf;
use std::time::Duration;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another writer changed the session first. The caller must load it again and repeat the decision.
    #[error("session {session} is at version {found}, not {expected}")]
    Conflict { session: SessionId, expected: u64, found: u64 },
    /// The worktree already has another active session. The caller must load that session and repeat the decision.
    #[error("worktree {worktree} already has an active session")]
    ActiveTaken { worktree: String },
    /// Another session has this id, perhaps in another letter case.
    #[error("session {existing} already exists")]
    IdTaken { existing: SessionId },
    /// Another process used the key while this command was being decided.
    #[error("the key was already used")]
    KeyTaken,
    /// Another writer changed the project since this turn started. The caller must load again and repeat the decision.
    #[error("another writer changed the store meanwhile")]
    Overtaken,
    #[error("another process has held the store's lock for {waited:?}")]
    Busy { waited: Duration },
    /// SQLite could not obtain a lock within all of its retries, although nobody holds one.
    #[error("the locks of {path} do not work")]
    LocksFail { path: PathBuf },
    #[error("there is no database at {path}")]
    Missing { path: PathBuf },
    #[error("{path} is not a leftoff database: {why}")]
    NotADatabase { path: PathBuf, why: String },
    #[error("{path} was written by a newer leftoff: its schema is {found}, this program supports {known}")]
    Newer { path: PathBuf, found: u32, known: u32 },
    /// The store lacks changes that it had acknowledged.
    #[error(
        "{path} has lost changes: it ends at change {found}, but change {kept} was acknowledged; the write-ahead log is damaged, or the database was replaced by an older copy"
    )]
    Lost { path: PathBuf, kept: u64, found: u64 },
    #[error("{path} cannot be written")]
    ReadOnly { path: PathBuf },
    /// The server does not answer, or ended the connection.
    #[error("{place} cannot be reached: {why}")]
    Unreachable { place: String, why: String },
    /// The server refused to log in or to run the statement.
    #[error("{place} refuses the request: {why}")]
    Denied { place: String, why: String },
    #[error("no space left for {path}")]
    Full { path: PathBuf },
    /// The commit failed, and it could not be determined whether the change is stored.
    #[error("it is unknown whether the change was saved: {why}")]
    Unknown { why: String },
    #[error("{doing}: {source}")]
    Io { doing: String, source: std::io::Error },
    #[error("{doing}: {why}")]
    Engine { doing: String, why: String },
}

impl Error {
    /// Sets how long the writer waited for other writers.
    pub(crate) fn after(self, waited: Duration) -> Self {
        match self {
            Self::Busy { .. } => Self::Busy { waited },
            other => other,
        }
    }
}
