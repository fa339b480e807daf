//! Why a store or a file was not restored.

use super::Class;
use crate::words::counted;
use model::hint::Hint;
use model::words;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum NotRestored {
    #[error("there is no backup of {store}", store = store.display())]
    NoBackup { store: PathBuf },
    #[error("{store} is in use and holds {}", counted(*sessions, "session"), store = store.display())]
    StoreInUse {
        store: PathBuf,
        sessions: u64,
        /// The backup that was named.
        from: Option<PathBuf>,
    },
    #[error("no file '{path}' was recorded in this session")]
    UnknownFile { path: String, nearest: Option<String> },
    #[error("version {asked} of {path} was never recorded; the newest is {newest}")]
    UnknownVersion { path: String, asked: u32, newest: u32 },
    #[error("the content of {path}, version {version}, was not kept")]
    ContentNotKept { path: String, version: u32 },
    #[error("{path} changed since it was recorded, and is too large to be kept")]
    WouldBeLost { path: String },
    #[error("{path} is not restored: {why}")]
    Forbidden { path: String, why: &'static str },
}

impl NotRestored {
    pub(super) fn class(&self) -> Class {
        match self {
            Self::NoBackup { .. }
            | Self::UnknownFile { .. }
            | Self::UnknownVersion { .. }
            | Self::ContentNotKept { .. } => Class::NothingThere,
            Self::StoreInUse { .. } | Self::WouldBeLost { .. } | Self::Forbidden { .. } => Class::Refused,
        }
    }

    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::NoBackup { .. } => "no_backup",
            Self::StoreInUse { .. } => "store_in_use",
            Self::UnknownFile { .. } => "unknown_file",
            Self::UnknownVersion { .. } => "unknown_version",
            Self::ContentNotKept { .. } => "content_not_kept",
            Self::WouldBeLost { .. } => "would_be_lost",
            Self::Forbidden { .. } => "forbidden_file",
        }
    }

    pub(super) fn hint(&self) -> Hint {
        match self {
            Self::NoBackup { .. } => {
                Hint::new("name a backup that you have: ").run(words!["store", "restore", "<file>"])
            }
            Self::StoreInUse { from, .. } => {
                let named = from.iter().map(|path| path.display().to_string());
                let words = words!["store", "restore"].into_iter().chain(named).chain(words!["--replace"]);
                Hint::new("replace the store; a copy of it is kept: ").run(words.collect())
            }
            Self::UnknownFile { nearest: Some(name), .. } => format!("did you mean '{name}'?").into(),
            Self::UnknownFile { nearest: None, .. } => {
                Hint::new("see which files are recorded: ").run_here(words!["artifact", "list"])
            }
            Self::UnknownVersion { path, .. } => {
                Hint::new("see the versions of the file: ").run_here(words!["artifact", "history", path])
            }
            Self::ContentNotKept { .. } => {
                "content over 256 KiB is not kept, purged content is removed, and not all content comes from other machines; look in git".into()
            }
            Self::Forbidden { path, .. } => Hint::new("see which files are recorded, and by whom: ")
                .run_here(words!["artifact", "history", path]),
            Self::WouldBeLost { .. } => "move the file away, then restore the recorded version".into(),
        }
    }
}
