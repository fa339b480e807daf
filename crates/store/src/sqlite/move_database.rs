//! Moves a database that others may be using. The old file stays, under another name.

use super::open::{beside, io};
use super::{PATIENCE, SqliteStore, log_size, upkeep};
use crate::Result;
use std::path::{Path, PathBuf};

impl SqliteStore {
    /// Moves the database. `record` publishes the new location before the old file is renamed. Returns the new name of
    /// the old file. Writers that wait for their turn get an error that says that the store was moved.
    pub fn move_to(
        mut self,
        to: &Path,
        record: impl FnOnce() -> std::result::Result<(), crate::Error>,
    ) -> Result<PathBuf> {
        // Takes the turn without its transaction, which would prevent emptying the log.
        self.queue(PATIENCE)?;
        if let Some(folder) = to.parent() {
            std::fs::create_dir_all(folder).map_err(io(to, "creating the folder of"))?;
        }
        upkeep::copy_database(&self.connection, &self.path, to)?;
        log_size::empty_log(&self.connection).map_err(self.fail("moving"))?;
        record()?;
        let left = beside(&self.path, ".moved");
        std::fs::rename(&self.path, &left).map_err(io(&self.path, "moving"))?;
        for suffix in ["-wal", "-shm", ".lock"] {
            let _ = std::fs::remove_file(beside(&self.path, suffix));
        }
        Ok(left)
    }
}
