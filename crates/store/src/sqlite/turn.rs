//! The queue of writers: one lock file beside the database, first come, first served. Never opens the database.

use super::failure::io_failure;
use crate::{Error, Result};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

/// This process's turn to write, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    file: File,
}

impl Turn {
    /// `lock` stands beside `database`, which the messages name.
    pub(super) fn take(lock: &Path, database: &Path, patience: Duration) -> Result<Self> {
        let file =
            open(lock).map_err(|error| io_failure(database, "opening the lock of the store", error))?;
        match try_now(&file) {
            Err(Errno::WOULDBLOCK) => wait(file, database, patience),
            // Without flock there is no queue; SQLite's own locks still keep writers apart.
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::NOLCK) => Ok(Self { file }),
            Err(error) => Err(io_failure(database, "taking the lock of the store", error.into())),
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // Closing alone would leave the lock to a process that is being started just now and has not yet run exec.
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

fn open(lock: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(lock)
}

fn try_now(file: &File) -> rustix::io::Result<()> {
    rustix::io::retry_on_intr(|| flock(file, FlockOperation::NonBlockingLockExclusive))
}

/// Waits in the kernel's queue, which is fair; polling is not. The wait cannot be called off, so a thread does it:
/// when the patience ends first, the receiver is gone, and the lock is let go as soon as it comes.
fn wait(file: File, database: &Path, patience: Duration) -> Result<Turn> {
    let (sender, receiver) = mpsc::channel();
    std::thread::Builder::new()
        .name("waiting for the store".to_owned())
        .spawn(move || {
            let taken = rustix::io::retry_on_intr(|| flock(&file, FlockOperation::LockExclusive));
            let _ = sender.send(taken.map(|()| Turn { file }));
        })
        .map_err(|error| io_failure(database, "waiting for the lock of the store", error))?;
    match receiver.recv_timeout(patience) {
        Ok(Ok(turn)) => Ok(turn),
        Ok(Err(error)) => Err(io_failure(database, "waiting for the lock of the store", error.into())),
        Err(mpsc::RecvTimeoutError::Timeout | mpsc::RecvTimeoutError::Disconnected) => {
            Err(Error::Busy { waited: patience })
        }
    }
}
