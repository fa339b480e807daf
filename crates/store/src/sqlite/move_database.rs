//! Moves a database that other processes may be using. The old file stays, under another name.

use super::open::{beside, io};
use super::{PATIENCE, SqliteStore, log_size, upkeep};
use crate::Result;
use std::path::{Path, PathBuf};

impl SqliteStore {
    /// Moves the database, and returns the new name of the old file. Before the old file is renamed, `record` must
    /// record the new location. Writers that are waiting for their turn then get an error that says that the store was
    /// moved.
    pub fn move_to(
        mut self,
        to: &Path,
        record: impl FnOnce() -> std::result::Result<(), crate::Error>,
    ) -> Result<PathBuf> {
        // Takes the turn, but without the transaction for queries: an open transaction would prevent emptying the
        // write-ahead log.
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
