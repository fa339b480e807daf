//! Keeps replaced files, as the backup or, if they are unreadable, in quarantine. A program that has a file open still
//! writes to it after the file was renamed. So a backup that may still grow is never replaced.

use crate::disk::exchange;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::foreign::observe::disk::{Home, file_at};
use crate::foreign::observe::read::LONGEST_WARNING;
use crate::foreign::observe::wait_for_writer::is_torn;
use crate::foreign::repair::quarantine::{
    OpenFile, open_file, open_files, quarantine_copy, quarantine_file, quarantined,
};
use crate::view::Warning;
use crate::words::one_line;
use layouts::observation::Gathered;
use layouts::reader::Located;
use layouts::verdict::backup_record::{self, Backup, is_version_of};
use layouts::verdict::{There, hash};
use model::id::SessionId;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};
use store::{Filter, ViewRow, WriteJournal};

/// A file that was modified this recently may still be in use.
const STILL_WRITING: Duration = Duration::from_secs(1);

/// A file of a session, and where it is on the disk.
pub(crate) struct OnDisk<'a> {
    pub(crate) root: &'a Path,
    pub(crate) id: &'a SessionId,
    pub(crate) located: &'a Located,
    pub(crate) home: Home<'a>,
    pub(crate) target: &'a Path,
    pub(crate) path: &'a str,
}

impl OnDisk<'_> {
    /// Keeps replaced content as the backup. Unreadable content goes to quarantine instead, and the existing backup
    /// stays. `before` is the existing backup; `knows` is true for content that is already in the log.
    pub(crate) fn keep_old(
        &self,
        out: &[u8],
        before: Option<&Backup<'_>>,
        knows: impl Fn(&[u8]) -> bool,
    ) -> Result<Option<Warning>> {
        let (target, path, layout) = (self.target, self.path, self.located.layout);
        let waiting = exchange::waiting(target);
        let failed = |source| Error::io(format!("backing up {}", target.display()), source);
        // Content that was not read completely must not become the backup, because the next write would replace the
        // backup.
        let is_read = out.len() as u64 <= layout.files(&self.located.spot).most_bytes(path)
            && layout.is_whole(path, out);
        if is_read {
            // If the replaced file is empty, a program may be about to fill it. It is watched, and does not replace a
            // good backup.
            let is_empty = out.is_empty();
            let said = if is_empty { None } else { self.keep_backup_in_use(before, knows)? };
            let open =
                is_empty.then(|| open_file(self.root, self.id, &format!("{path}.bak"), out)).transpose()?;
            fs::rename(&waiting, open.unwrap_or_else(|| exchange::backup(target))).map_err(failed)?;
            return Ok(said);
        }
        let aside = quarantine_file(self.root, self.id, path, out)?;
        fs::rename(&waiting, &aside)
            .or_else(|_| fs::copy(&waiting, &aside).and_then(|_| fs::remove_file(&waiting)))
            .map_err(failed)?;
        let message = format!("{} could not be read; it was quarantined and rewritten", target.display());
        Ok(Some(quarantined(message, &aside)))
    }

    /// Keeps a copy of leftoff's backup before a new backup replaces it, if somebody wrote to the old one or may still
    /// be writing to it.
    fn keep_backup_in_use(
        &self,
        noted: Option<&Backup<'_>>,
        knows: impl Fn(&[u8]) -> bool,
    ) -> Result<Option<Warning>> {
        let backup = exchange::backup(self.target);
        let Ok(bytes) = exchange::read(&backup) else { return Ok(None) };
        let Some(noted) = noted else { return Ok(None) };
        let is_changed = noted.hash != hash(&bytes);
        let is_known = if self.located.is_shared(self.path) {
            let there = exchange::read(self.target).unwrap_or_default();
            self.located.onto(self.path, &[], &bytes, &there) == there
        } else {
            knows(&bytes)
        };
        let is_lost = is_changed && (!is_known || is_torn(self.located, self.path, &bytes));
        let is_in_use = noted.is_of_others && is_recent(&backup);
        let name = format!("{}.bak", self.path);
        let aside = match (is_lost, is_in_use) {
            (true, _) => quarantine_file(self.root, self.id, &name, &bytes)?,
            (false, true) => open_file(self.root, self.id, &name, &bytes)?,
            (false, false) => return Ok(None),
        };
        // With a hard link, the backup is in its place at every moment, and the copy is the file to which a program may
        // still be writing.
        fs::hard_link(&backup, &aside)
            .or_else(|_| fs::rename(&backup, &aside))
            .map_err(|source| Error::io(format!("keeping a copy of {}", backup.display()), source))?;
        Ok(is_lost.then(|| written_on(&backup.display().to_string(), &aside)))
    }

    /// Returns the write journal after the replaced content was made the backup or quarantined.
    pub(crate) fn dealt_with(&self, row: &ViewRow, last: &ViewRow, out: &[u8]) -> WriteJournal {
        let is_whole = self.located.is_whole(self.path, out);
        backup_record::dealt_with(row, last, out, is_whole, file_at(&exchange::backup(self.target)))
    }

    /// Quarantines a backup that somebody else made, before leftoff's own backup replaces it.
    pub(crate) fn keep_others_backup(&self, bytes: &[u8]) -> Result<Warning> {
        let backup = exchange::backup(self.target);
        let aside = quarantine_copy(self.root, self.id, &format!("{}.bak", self.path), bytes)?;
        fs::copy(&backup, &aside)
            .map_err(|source| Error::io(format!("keeping a copy of {}", backup.display()), source))?;
        let message = format!(
            "{} was not written by leftoff; it was kept under another name and replaced by the backup",
            backup.display()
        );
        Ok(quarantined(message, &aside))
    }

    /// Quarantines a copy of a file with content that leftoff does not fully understand, before the file is
    /// overwritten.
    pub(crate) fn keep_not_understood(&self, row: &ViewRow, bytes: &[u8]) -> Result<Option<Warning>> {
        let Some(lost) = &row.journal.loses else { return Ok(None) };
        let aside = quarantine_copy(self.root, self.id, self.path, bytes)?;
        fs::write(&aside, bytes)
            .map_err(|source| Error::io(format!("keeping a copy of {}", self.target.display()), source))?;
        let lost = one_line(lost, LONGEST_WARNING);
        let message = format!(
            "{} had unreadable contents ({lost}); it was overwritten, and a copy was kept",
            self.target.display()
        );
        Ok(Some(quarantined(message, &aside)))
    }

    /// Returns the evidence about a file: its content, its row, and the files beside it.
    pub(crate) fn gathered<'a>(&'a self, row: &'a ViewRow, found: Option<&'a [u8]>) -> Gathered<'a> {
        let rules = self.located.layout.files(&self.located.spot);
        let there = found.map_or(There::Nothing, There::Bytes);
        Gathered::of_row(self.located, &rules, &self.home, row, there)
    }
}

impl Engine {
    /// True if leftoff wrote this content to a session's file, or made it the backup of one: a folder that was
    /// moved or copied has its backups with it.
    pub(crate) fn has_written(&self, worktree: &str, first: &SessionId, bytes: &[u8]) -> bool {
        let wanted = hash(bytes);
        let is_in = |id: &SessionId| {
            let rows = self.store.base().views(id).unwrap_or_default();
            rows.iter().any(|row| is_version_of(row, &wanted))
        };
        let filter = Filter { worktree: Some(worktree.to_owned()), ..Filter::default() };
        let others = || self.store.list(&filter).unwrap_or_default();
        is_in(first) || others().iter().any(|listed| is_in(&listed.row.id))
    }
}

/// Checks replaced backups to which programs could still write. A changed one is quarantined and reported, an unchanged
/// one is removed.
pub(crate) fn settle_open(root: &Path) -> Result<Vec<Warning>> {
    let mut said = Vec::new();
    for OpenFile { file, id, name, is_as_it_was } in open_files(root) {
        let failed = |source| Error::io(format!("checking {}", file.display()), source);
        if !is_as_it_was {
            let bytes = exchange::read(&file).map_err(failed)?;
            let aside = quarantine_file(root, &id, &name, &bytes)?;
            fs::rename(&file, &aside).map_err(failed)?;
            said.push(written_on(&name, &aside));
        } else if !is_recent(&file) {
            fs::remove_file(&file).map_err(failed)?;
        }
    }
    Ok(said)
}

fn written_on(backup: &str, aside: &Path) -> Warning {
    quarantined(format!("somebody else changed {backup}, the backup; a copy was kept"), aside)
}

/// True if a file was modified a moment ago. A time in the future also counts.
fn is_recent(file: &Path) -> bool {
    let modified = fs::symlink_metadata(file).and_then(|found| found.modified());
    modified.is_ok_and(|at| SystemTime::now().duration_since(at).map_or(true, |age| age < STILL_WRITING))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::FOLDER;

    #[test]
    fn f1_a_backup_that_its_writer_may_not_be_done_with_is_kept_until_that_is_known() {
        let root = tempfile::tempdir().unwrap();
        let id = SessionId::parse("a").unwrap();
        let age = |file: &Path| {
            let then = SystemTime::now() - STILL_WRITING * 2;
            fs::File::options().write(true).open(file).unwrap().set_modified(then).unwrap();
        };
        let [fresh, quiet, grown] = ["fresh", "quiet", "grown"].map(|bytes| {
            let file = open_file(root.path(), &id, "x_state.json.bak", bytes.as_bytes()).unwrap();
            fs::write(&file, bytes).unwrap();
            file
        });
        age(&quiet);
        fs::write(&grown, "grown, and the rest").unwrap();
        let said = settle_open(root.path()).unwrap();
        assert!(fresh.exists(), "somebody may write into it still");
        assert!(!quiet.exists() && !grown.exists());
        assert_eq!(said.len(), 1);
        let aside = said[0].path.clone().unwrap();
        assert!(aside.contains(FOLDER) && aside.contains("x_state.json.bak."));
        assert_eq!(fs::read_to_string(aside).unwrap(), "grown, and the rest");
        assert!(settle_open(root.path()).unwrap().is_empty());
    }
}
