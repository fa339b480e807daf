//! Moves a database while others may be using it. The old one stays, under another name.

use super::open::{beside, io};
use super::{PATIENCE, SqliteStore, upkeep};
use crate::Result;
use std::path::{Path, PathBuf};

impl SqliteStore {
    /// `record` publishes the new location before the old one is given up. Returns the name of the file left
    /// behind.
    /// A writer waiting for its turn gets an error that the store has moved.
    pub fn move_to(
        mut self,
        to: &Path,
        record: impl FnOnce() -> std::result::Result<(), crate::Error>,
    ) -> Result<PathBuf> {
        // Without the transaction of a turn, which would keep the log from being emptied.
        self.queue(PATIENCE)?;
        if let Some(folder) = to.parent() {
            std::fs::create_dir_all(folder).map_err(io(to, "making the folder of"))?;
        }
        upkeep::copy_database(&self.connection, &self.path, to)?;
        upkeep::empty_log(&self.connection).map_err(self.fail("moving"))?;
        record()?;
        let left = beside(&self.path, ".moved");
        std::fs::rename(&self.path, &left).map_err(io(&self.path, "moving"))?;
        for suffix in ["-wal", "-shm", ".lock"] {
            let _ = std::fs::remove_file(beside(&self.path, suffix));
        }
        Ok(left)
    }
}
