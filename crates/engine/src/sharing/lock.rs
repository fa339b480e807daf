//! The lock file beside the database. With it, only one sync of a store runs at a time.

use crate::error::{Error, Result};
use rustix::fs::{FlockOperation, flock};
use std::fs::{File, OpenOptions};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long to wait before trying to lock again.
const BETWEEN: Duration = Duration::from_millis(20);

/// The lock of a sync. It is released when the value is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file would not be enough: a child process that has forked but not yet called exec would still
        // hold the lock.
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

/// Locks the store in this folder until the result is dropped. Waits at most `patience` for another sync. A sync that
/// waits for a remote must not block the next one for ever.
pub(super) fn locked(folder: &Path, patience: Duration) -> Result<Lock> {
    let path = folder.join("sync.lock");
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(|source| Error::io(format!("opening {}", path.display()), source))?;
    let end = Instant::now() + patience;
    loop {
        match rustix::io::retry_on_intr(|| flock(&file, FlockOperation::NonBlockingLockExclusive)) {
            Ok(()) => return Ok(Lock { file }),
            Err(_) if Instant::now() < end => std::thread::sleep(BETWEEN),
            Err(_) => {
                return Err(Error::Sharing {
                    message: "another sync of this store is running".to_owned(),
                    hint: "try again later; it ends within minutes, even if the remote does not answer"
                        .into(),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]
    use super::*;

    #[test]
    fn a_second_sync_does_not_wait_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let first = locked(folder.path(), Duration::ZERO).unwrap();
        for patience in [Duration::ZERO, BETWEEN] {
            let refused = locked(folder.path(), patience).unwrap_err();
            assert_eq!(refused.to_string(), "another sync of this store is running");
        }
        let waiting = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| locked(folder.path(), Duration::from_mins(5)).is_ok());
            drop(first);
            waiting.join().unwrap()
        });
        assert!(waiting, "it takes the lock when the first has ended");
    }
}
