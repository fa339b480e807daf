//! Notices, without reading files again, that nothing has changed since an observation. A change is missed here if it
//! keeps the file's size and happens within one tick of the clock. Such a change is found when the file is written and
//! its content exchanged.

use crate::disk::exchange;
use crate::foreign::observe::Observation;
use model::id::SessionId;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use store::{Store, ViewRow, WriteJournal};

/// The state of a session when it was observed: its version, its known files, and their metadata.
#[derive(Debug)]
pub(crate) struct Stamp {
    version: u64,
    rows: Vec<KnownFile>,
    files: Vec<(PathBuf, Option<FileStamp>)>,
}

/// The path, hash and version of a file, if its write is confirmed, and its write journal.
type KnownFile = (String, String, u64, bool, WriteJournal);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileStamp {
    fn of(path: &Path) -> Option<Self> {
        let found = fs::symlink_metadata(path).ok()?;
        Some(Self {
            inode: found.ino(),
            size: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        })
    }
}

impl Stamp {
    /// Returns the stamp of files that were just read. `None` if they were read as if they were at another place.
    pub(crate) fn of(observation: &Observation, version: u64, rows: &[ViewRow]) -> Option<Self> {
        if observation.moving.is_some() {
            return None;
        }
        let home = &observation.home;
        let files = observation.tree.paths().map(|path| home.join(path));
        let backups = rows.iter().map(|row| exchange::backup(&home.join(&row.path)));
        let all = files.chain(backups).chain([home.clone()]);
        let files = all.map(|path| (path.clone(), FileStamp::of(&path))).collect();
        Some(Self { version, rows: known(rows), files })
    }

    /// True if neither the log nor any file has changed since the observation.
    pub(crate) fn is_current(&self, store: &dyn Store, id: &SessionId) -> bool {
        let (Ok(Some(loaded)), Ok(rows)) = (store.load(id), store.views(id)) else { return false };
        let is_same = |(path, stamp): &(PathBuf, Option<FileStamp>)| FileStamp::of(path) == *stamp;
        loaded.row.version == self.version && known(&rows) == self.rows && self.files.iter().all(is_same)
    }
}

fn known(rows: &[ViewRow]) -> Vec<KnownFile> {
    let known =
        |row: &ViewRow| (row.path.clone(), row.hash.clone(), row.version, row.confirmed, row.journal.clone());
    rows.iter().map(known).collect()
}
