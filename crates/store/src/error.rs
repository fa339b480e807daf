//! What can go wrong in a store. Front ends word the next step; this says what happened.

use model::id::SessionId;
use std::path::PathBuf;
use std::time::Duration;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Somebody else changed the session first. Load, decide, append again.
    #[error("session {session} is at version {found}, not {expected}")]
    Conflict { session: SessionId, expected: u64, found: u64 },
    /// The worktree has an active session already. Load it, decide again.
    #[error("worktree {worktree} has an active session already")]
    ActiveTaken { worktree: String },
    /// Another session has this id, perhaps in other case.
    #[error("there is a session {existing} already")]
    IdTaken { existing: SessionId },
    /// The key was used while this command was decided.
    #[error("the key was used already")]
    KeyTaken,
    #[error("another process held the store's lock for {waited:?}")]
    Busy { waited: Duration },
    #[error("there is no database at {path}")]
    Missing { path: PathBuf },
    #[error("{path} is not a leftoff database: {why}")]
    NotADatabase { path: PathBuf, why: String },
    #[error("{path} was made by a newer leftoff: its schema is {found}, and this program knows {known}")]
    Newer { path: PathBuf, found: u32, known: u32 },
    #[error("{path} cannot be written")]
    ReadOnly { path: PathBuf },
    #[error("no space is left for {path}")]
    Full { path: PathBuf },
    /// The commit failed and it could not be found out whether it took effect.
    #[error("it is not known whether the change was kept: {why}")]
    Unknown { why: String },
    #[error("{doing}: {source}")]
    Io { doing: String, source: std::io::Error },
    #[error("{doing}: {why}")]
    Engine { doing: String, why: String },
}
