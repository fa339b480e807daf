//! The settings of sharing for this store, in `sync.json` beside the database. Written atomically.

use super::arrivals::Witness;
use crate::engine::Engine;
use crate::error::{Error, Result};
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const NAME: &str = "sync.json";
/// The name of the file with the settings while sharing is off. With them, the store is the same replica again
/// afterwards.
const OFF: &str = "sync.off.json";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Settings {
    /// The name of the project's git remote.
    pub(super) remote: String,
    /// The URL of the remote at the last sync, without a password, by which a renamed remote is known again.
    #[serde(default)]
    pub(super) address: Option<String>,
    /// True if the host accepts only branches. Refs are then called `refs/heads/leftoff/<replica>`.
    #[serde(default)]
    pub(super) branches: bool,
    /// The id of this store's replica.
    pub(super) replica: String,
    /// The ids that this replica had earlier, for example before it was restored from a backup.
    #[serde(default)]
    pub(super) former: BTreeSet<String>,
    /// Ids of the clones from which this one was copied. It follows their purges in what it inherited.
    #[serde(default)]
    pub(super) copied_from: BTreeSet<String>,
    /// The path of the database at the last sync. By it, a copy is told from the original.
    pub(super) place: PathBuf,
    /// The newest event that was checked for sending.
    #[serde(default)]
    pub(super) mark: Mark,
    /// The last commit that was taken from each other replica.
    #[serde(default)]
    pub(super) taken: BTreeMap<String, String>,
    /// The last commit of this replica that the remote is known to have.
    #[serde(default)]
    pub(super) pushed: Option<String>,
    /// The names that replicas give themselves, by id.
    #[serde(default)]
    pub(super) names: BTreeMap<String, String>,
    /// The sessions that are not sent, with the reasons.
    #[serde(default)]
    pub(super) held: BTreeMap<String, String>,
    /// The sessions in use here that another replica has continued.
    #[serde(default)]
    pub(super) waiting: BTreeSet<String>,
    /// Where histories came from, as older programs recorded it. Now it is in a file of its own, because the settings
    /// are read often.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) arrived: BTreeMap<String, Witness>,
    /// When a sync was last tried. Background syncs are limited by it.
    #[serde(default)]
    pub(super) tried: Option<Timestamp>,
    #[serde(default)]
    pub(super) done: Option<Timestamp>,
    #[serde(default)]
    pub(super) error: Option<String>,
    /// The data that the last sync refused, with reasons.
    #[serde(default)]
    pub(super) refused: Vec<String>,
}

/// The settings as last read. They are needed several times for one answer, and seldom change.
#[derive(Debug, Default)]
pub(crate) struct KnownSettings(Option<(FileState, Arc<Settings>)>);

/// The identity of a file's content: its inode, time of change and size.
type FileState = (u64, i64, i64, u64);

impl KnownSettings {
    /// Returns the settings; `None` if sharing is off, or if they cannot be read.
    fn read(&mut self, folder: &Path) -> Option<Arc<Settings>> {
        let found = fs::metadata(folder.join(NAME)).ok()?;
        let state = (found.ino(), found.mtime(), found.mtime_nsec(), found.size());
        if let Some((known, settings)) = &self.0
            && *known == state
        {
            return Some(Arc::clone(settings));
        }
        let settings = Arc::new(Settings::read(folder).ok().flatten()?);
        self.0 = Some((state, Arc::clone(&settings)));
        Some(settings)
    }
}

impl Engine {
    /// Returns the settings of sharing; `None` if it is off, or if they cannot be read.
    pub(crate) fn sharing_settings(&self) -> Option<Arc<Settings>> {
        let folder = self.sharing_folder().ok()?;
        self.sharing_settings.borrow_mut().read(&folder)
    }
}

/// The newest event at a sync. If the store lacks it later, an older copy has replaced the store.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Mark {
    pub(super) cursor: u64,
    #[serde(default)]
    pub(super) session: Option<String>,
    #[serde(default)]
    pub(super) version: u64,
    #[serde(default)]
    pub(super) link: Option<String>,
}

impl Settings {
    pub(super) fn new(remote: String, branches: bool, place: PathBuf) -> Result<Self> {
        Ok(Self {
            remote,
            address: None,
            branches,
            replica: new_replica()?,
            former: BTreeSet::new(),
            copied_from: BTreeSet::new(),
            place,
            mark: Mark::default(),
            taken: BTreeMap::new(),
            pushed: None,
            names: BTreeMap::new(),
            held: BTreeMap::new(),
            waiting: BTreeSet::new(),
            arrived: BTreeMap::new(),
            tried: None,
            done: None,
            error: None,
            refused: Vec::new(),
        })
    }

    /// Makes this store a new replica. Data that it sent under its old id is then taken like that of any other replica.
    pub(super) fn become_another(&mut self, place: PathBuf) -> Result<()> {
        self.replica = new_replica()?;
        self.place = place;
        self.mark = Mark::default();
        self.taken.clear();
        self.pushed = None;
        Ok(())
    }

    /// Returns all ids whose purges count in the events of this replica.
    pub(super) fn relatives(&self) -> BTreeSet<String> {
        let all = self.former.iter().chain(&self.copied_from).chain([&self.replica]);
        all.cloned().collect()
    }

    pub(super) fn is_own(&self, replica: &str) -> bool {
        self.replica == replica || self.former.contains(replica)
    }

    /// Reads the settings; returns `None` if sharing is off.
    pub(super) fn read(folder: &Path) -> Result<Option<Self>> {
        read_json(&folder.join(NAME))
    }

    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        write_json(&folder.join(NAME), &serde_json::to_vec_pretty(self).unwrap_or_default())
    }

    /// Reads the settings that are kept while sharing is off; returns `None` if there are none.
    pub(super) fn read_off(folder: &Path) -> Result<Option<Self>> {
        read_json(&folder.join(OFF))
    }

    pub(super) fn switch_off(folder: &Path) -> Result<()> {
        let path = folder.join(NAME);
        fs::rename(&path, folder.join(OFF))
            .map_err(|source| Error::io(format!("renaming {}", path.display()), source))
    }

    pub(super) fn remove_off(folder: &Path) {
        let _ = fs::remove_file(folder.join(OFF));
    }

    /// Moves the settings that are kept while sharing is off, after the database was moved to another folder.
    pub(super) fn move_off_between(from: &Path, to: &Path) {
        let _ = fs::rename(from.join(OFF), to.join(OFF));
    }

    pub(super) fn remove(folder: &Path) -> Result<()> {
        let path = folder.join(NAME);
        match fs::remove_file(&path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::io(format!("removing {}", path.display()), source))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// True if sharing is on. Reads no file.
    pub(super) fn exist(folder: &Path) -> bool {
        folder.join(NAME).exists()
    }
}

pub(super) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| Error::Sharing {
            message: format!("{} cannot be read: {error}", path.display()),
            hint: if path.ends_with(NAME) || path.ends_with(OFF) {
                "remove the file, then switch sharing on again: leftoff init --sync".into()
            } else {
                "move the file away; the next sync makes a new one".into()
            },
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::io(format!("reading {}", path.display()), source)),
    }
}

/// Replaces a file atomically.
pub(super) fn write_json(path: &Path, bytes: &[u8]) -> Result<()> {
    let draft = path.with_extension("json.new");
    let written = || -> std::io::Result<()> {
        let _ = fs::remove_file(&draft);
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&draft, path)
    };
    written().map_err(|source| Error::io(format!("writing {}", path.display()), source))
}

fn new_replica() -> Result<String> {
    let mut bytes = [0u8; 8];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::io("generating a replica's id", std::io::Error::other(error.to_string())))?;
    Ok(crate::hex(&bytes))
}
