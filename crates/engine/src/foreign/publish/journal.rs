//! The write journal: what was written into each file, and the state of the file's backup, for recovery. It is stored
//! in columns of the store's rows. Only the process that holds the file lock of the worktree changes it.

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::project::FOLDER;
use crate::workspace::ensure_ignored;
use layouts::reader::Located;
use layouts::verdict::backup_record::Backup;
use rustix::fs::{FlockOperation, flock};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};
use store::{Filter, ViewRow, WriteJournal};

const LOCK: &str = "views.lock";
impl Engine {
    /// Returns the row that has the journal of a file. For a shared file, this is the row of the session that wrote it
    /// last.
    pub(crate) fn journal_row(&self, located: &Located, worktree: &str, row: &ViewRow) -> Result<ViewRow> {
        if !located.is_shared(&row.path) {
            return Ok(row.clone());
        }
        Ok(self.store.last_writer(worktree, &row.path)?.unwrap_or_else(|| row.clone()))
    }

    /// Locks the files of a worktree for writing, so that one process at a time writes them. Must be called without the
    /// turn to write, which the holder takes later.
    pub(crate) fn lock_views(&mut self, root: &Path) -> Result<File> {
        let folder = root.join(FOLDER);
        ensure_ignored(root)?;
        let path = folder.join(LOCK);
        let failed = |source| Error::io(format!("locking {}", path.display()), source);
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            // The repository may contain a symbolic link with the name of the lock file.
            .custom_flags(i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or(0))
            .open(&path)
            .map_err(failed)?;
        let until = Instant::now() + self.patience.left();
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => break,
                Err(rustix::io::Errno::WOULDBLOCK) if Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(error) => return Err(failed(error.into())),
            }
        }
        if file.metadata().is_ok_and(|found| found.len() > 0) {
            self.move_notes_to_the_store(&file, root)?;
            file.set_len(0).map_err(failed)?;
        }
        Ok(file)
    }

    /// Moves the journal into the store. Version 0.1 kept it in the lock file.
    fn move_notes_to_the_store(&mut self, mut lock: &File, root: &Path) -> Result<()> {
        let mut text = String::new();
        // An unreadable journal is treated as empty.
        let _ = lock.read_to_string(&mut text);
        let mut backups: BTreeMap<&str, &str> = text.lines().filter_map(old_note).collect();
        let worktree = Some(root.display().to_string());
        let mut noted = Vec::new();
        for listed in self.store.list(&Filter { worktree, ..Filter::default() })? {
            let session = self.load_kept(&listed.row.id)?.1;
            let Some(located) = self.located(&session) else { continue };
            let home = root.join(&located.spot.home);
            for row in self.store.views(&session.id)? {
                let place = home.join(&row.path).display().to_string();
                if let Some(backup) = backups.remove(place.as_str()).filter(|_| !row.journal.has_written()) {
                    let (put_hash, backup) = (Some(row.hash.clone()), Some(backup.to_owned()));
                    let journal = WriteJournal { put_hash, backup, ..WriteJournal::default() };
                    noted.push(ViewRow { journal, ..row });
                }
            }
        }
        Ok(self.store.note_writes(&noted)?)
    }
}

/// Parses a line of the journal of version 0.1: the path of a file, and its backup.
fn old_note(line: &str) -> Option<(&str, &str)> {
    let at = line.find(" /")?;
    let (backup, path) = (line.get(..at)?, line.get(at + 1..)?);
    Backup::parse(backup).map(|_| (path, backup))
}
