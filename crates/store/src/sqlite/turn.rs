//! The queue of writers: one lock file beside the database, first come, first served. Never opens the database. The
//! lock file also records the newest stored change, so that a loss of changes is noticed.

use super::failure::io_failure;
use crate::{Error, Result};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, UNIX_EPOCH};

/// This process's turn to write. It ends when the value is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    file: File,
    /// The database file at the start of the turn; `None` if there was no file.
    database: Option<Identity>,
}

/// Distinguishes a database file from another file in the same place. A new file may get the inode of a deleted one,
/// but not its creation time. Some file systems have no creation times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    inode: u64,
    born: u64,
}

impl Identity {
    fn of(database: &Path) -> Option<Self> {
        let found = std::fs::metadata(database).ok()?;
        let born = found.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let born = born.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(0));
        Some(Self { inode: found.ino(), born })
    }
}

impl Turn {
    /// Waits for the turn. `lock` is the file to lock; `database` is the file that messages name.
    pub(super) fn take(lock: &Path, database: &Path, patience: Duration) -> Result<Self> {
        let file =
            open(lock).map_err(|error| io_failure(database, "opening the lock of the store", error))?;
        let file = match try_now(&file) {
            Err(Errno::WOULDBLOCK) => wait(file, database, patience)?,
            // A file system without flock has no queue, but SQLite's own locks still keep writers apart.
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::NOLCK) => file,
            Err(error) => return Err(io_failure(database, "taking the lock of the store", error.into())),
        };
        Ok(Self { file, database: Identity::of(database) })
    }

    /// True if the database existed at its path when the turn started.
    pub(super) fn has_database(&self) -> bool {
        self.database.is_some()
    }
}

/// The length of the record: three numbers of 20 digits, spaces and a newline.
const RECORD_BYTES: usize = 63;

impl Turn {
    /// Records the newest change of the database. The record is not synced: after a power cut it may be older than the
    /// database, but never newer. If it cannot be written, the old record stays.
    pub(super) fn record(&self, newest: u64) {
        if let Some(database) = self.database {
            let _ = self.file.write_all_at(line(database, newest).as_bytes(), 0);
        }
    }

    /// Clears the record of the newest change.
    pub(super) fn forget(&self) {
        let _ = self.file.set_len(0);
    }

    pub(super) fn recorded(&self) -> Option<u64> {
        recorded_in(&self.file, self.database?)
    }
}

/// Returns the recorded newest change of this database, for a process that only reads.
pub(super) fn recorded(lock: &Path, database: &Path) -> Option<u64> {
    recorded_in(&File::open(lock).ok()?, Identity::of(database)?)
}

fn recorded_in(lock: &File, database: Identity) -> Option<u64> {
    let mut bytes = [0; RECORD_BYTES];
    lock.read_exact_at(&mut bytes, 0).ok()?;
    let text = std::str::from_utf8(&bytes).ok()?;
    let newest = text.split_whitespace().next_back()?.parse().ok()?;
    // If the record names another database file, somebody has restored a backup or created the store again. Changes
    // that are missing then are not reported as lost.
    (line(database, newest) == text).then_some(newest)
}

fn line(Identity { inode, born }: Identity, newest: u64) -> String {
    format!("{inode:020} {born:020} {newest:020}\n")
}

impl Drop for Turn {
    fn drop(&mut self) {
        // Closing the file would not be enough: a child process that has forked but not yet called exec would still
        // hold the lock.
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

fn open(lock: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(lock)
}

fn try_now(file: &File) -> rustix::io::Result<()> {
    rustix::io::retry_on_intr(|| flock(file, FlockOperation::NonBlockingLockExclusive))
}

/// Waits in the kernel's queue, which is fair, unlike polling. The wait cannot be cancelled, so a separate thread
/// waits. If the patience ends first, the thread releases the lock as soon as it gets it.
fn wait(file: File, database: &Path, patience: Duration) -> Result<File> {
    if patience.is_zero() {
        return Err(Error::Busy { waited: patience });
    }
    let (sender, receiver) = mpsc::channel();
    std::thread::Builder::new()
        .name("waiting for the store".to_owned())
        .spawn(move || {
            let taken = rustix::io::retry_on_intr(|| flock(&file, FlockOperation::LockExclusive));
            if let Err(mpsc::SendError(Ok(file))) = sender.send(taken.map(|()| file)) {
                let _ = flock(&file, FlockOperation::Unlock);
            }
        })
        .map_err(|error| io_failure(database, "waiting for the lock of the store", error))?;
    match receiver.recv_timeout(patience) {
        Ok(Ok(file)) => Ok(file),
        Ok(Err(error)) => Err(io_failure(database, "waiting for the lock of the store", error.into())),
        Err(mpsc::RecvTimeoutError::Timeout | mpsc::RecvTimeoutError::Disconnected) => {
            Err(Error::Busy { waited: patience })
        }
    }
}
