//! The write journal: what was put into each file, and the state of its backup, for recovery. Kept in the
//! columns of the store's rows; whoever changes it holds the lock of the worktree's files.

use crate::disk::exchange;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::foreign::discover::Located;
use crate::foreign::observe::hash;
use crate::place::FOLDER;
use crate::workspace::ensure_ignored;
use layouts::capabilities::is_shared;
use layouts::verdict;
use rustix::fs::{FlockOperation, flock};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};
use store::{Filter, ViewRow, WriteJournal};

const LOCK: &str = "views.lock";
/// Who wrote the backup.
const OURS: &str = "ours";
const THEIRS: &str = "theirs";

/// The backup of a file when it became the backup. Text: length, hash, file, who wrote it.
#[derive(Debug)]
pub(crate) struct Backup<'a> {
    length: usize,
    pub(crate) hash: &'a str,
    /// Identifies the file: another one was put there by somebody else. `None` if the system cannot tell.
    file: Option<(u64, u128)>,
    pub(crate) is_of_others: bool,
}

impl<'a> Backup<'a> {
    pub(crate) fn of(journal: &'a WriteJournal) -> Option<Self> {
        Self::parse(journal.backup.as_deref()?)
    }

    fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.split(' ');
        let (length, hash, file) = (parts.next()?.parse().ok()?, parts.next()?, parts.next()?);
        let file =
            file.split_once('.').and_then(|(inode, born)| Some((inode.parse().ok()?, born.parse().ok()?)));
        Some(Self { length, hash, file, is_of_others: parts.next() == Some(THEIRS) })
    }

    pub(crate) fn noted(&self, target: &Path) -> verdict::Noted<'a> {
        let is_same_file = self.file.map(|file| file_at(&exchange::backup(target)) == Some(file));
        verdict::Noted { length: self.length, hash: self.hash, is_same_file }
    }
}

/// A journal after the replaced content became the backup.
pub(crate) fn with_backup(
    journal: &WriteJournal,
    target: &Path,
    bytes: &[u8],
    is_of_others: bool,
) -> WriteJournal {
    let (inode, born) = file_at(&exchange::backup(target)).unwrap_or_default();
    let by = if is_of_others { THEIRS } else { OURS };
    let backup = format!("{} {} {inode}.{born} {by}", bytes.len(), hash(bytes));
    WriteJournal { put_expected: None, backup: Some(backup), ..journal.clone() }
}

/// True if we ever wrote there.
pub(crate) fn knows(journal: &WriteJournal) -> bool {
    journal.put_hash.is_some() || journal.backup.is_some()
}

/// Tells a file from a later one with the same inode number.
fn file_at(path: &Path) -> Option<(u64, u128)> {
    let found = std::fs::symlink_metadata(path).ok()?;
    let born = found.created().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some((found.ino(), born.as_nanos()))
}

impl Engine {
    /// The row with the journal of a file: of a shared one, that of its last writer.
    pub(crate) fn journal_row(&self, located: &Located, worktree: &str, row: &ViewRow) -> Result<ViewRow> {
        if !is_shared(located.layout, &row.path) {
            return Ok(row.clone());
        }
        Ok(self.store.last_writer(worktree, &row.path)?.unwrap_or_else(|| row.clone()))
    }

    /// One process writes a worktree's files at a time. Taken outside of any turn of the store, because its
    /// holder takes turns.
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
            // A repository may contain a link of that name.
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

    /// Version 0.1 kept the journal in the lock file: it is read once.
    fn move_notes_to_the_store(&mut self, mut lock: &File, root: &Path) -> Result<()> {
        let mut text = String::new();
        // Notes that cannot be read are like notes that were never made.
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
                if let Some(backup) = backups.remove(place.as_str()).filter(|_| !knows(&row.journal)) {
                    let (put_hash, backup) = (Some(row.hash.clone()), Some(backup.to_owned()));
                    let journal = WriteJournal { put_hash, backup, ..WriteJournal::default() };
                    noted.push(ViewRow { journal, ..row });
                }
            }
        }
        Ok(self.store.note_writes(&noted)?)
    }
}

/// A line of version 0.1's journal: the path of a file, and its backup.
fn old_note(line: &str) -> Option<(&str, &str)> {
    let at = line.find(" /")?;
    let (backup, path) = (line.get(..at)?, line.get(at + 1..)?);
    Backup::parse(backup).map(|_| (path, backup))
}
