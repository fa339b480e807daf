//! Checks for a lost or replaced database, session folders that the store does not know, backups that are too old, and
//! too little room on the disk. Only `fix` changes anything.

use super::Finding;
use crate::backups::{self, LARGEST_COPIED};
use crate::engine::{Engine, Intent, Options};
use crate::error::Result;
use crate::view::Warning;
use crate::words::counted;
use crate::workspace::{ensure_ignored, workspaces};
use model::hint::Hint;
use model::words;
use std::path::Path;
use store::{SqliteStore, Store};

/// By how many seconds the newest backup may be older than the last change. An older backup is reported.
const LONGEST_WITHOUT_BACKUP: i64 = 2 * 24 * 3600;
/// The minimum of free space that a store needs, for its write-ahead log and a copy.
const LEAST_ROOM: u64 = 64 * 1024 * 1024;

impl Engine {
    /// Returns a warning if the project had a database that is now gone or empty. Called only if no session is known,
    /// so that other commands do not pay for it.
    pub(crate) fn lost_store(&self) -> Option<Warning> {
        if self.team.is_some() {
            return None;
        }
        let database = self.project.database().ok()?;
        let is_there = std::fs::metadata(&database).is_ok_and(|found| found.len() > 0);
        if is_there || self.project.is_outside {
            return None;
        }
        let restore = backups::restore_hint(&database);
        let folders = workspaces(&self.project.root);
        if restore.is_none() && folders.is_empty() {
            return None;
        }
        let message = match folders.len() {
            0 => format!("the database {} is gone", database.display()),
            1 => format!(
                "the database {} is gone; 1 session's folder is in .leftoff/sessions",
                database.display()
            ),
            many => format!(
                "the database {} is gone; the folders of {many} sessions are in .leftoff/sessions",
                database.display()
            ),
        };
        let hint = restore.unwrap_or_else(|| {
            Hint::new("restore a copy if you have one: ").run(words!["store", "restore", "<file>"])
        });
        let path = Some(database.display().to_string());
        Some(Warning { kind: "store_lost".to_owned(), message, hint: Some(hint), path, problem: None })
    }

    pub(super) fn store_findings(&self) -> Result<Vec<Finding>> {
        let lost = self.lost_store();
        let database = self.project.database()?;
        let mut findings: Vec<Finding> = Vec::new();
        if let Some(lost) = lost {
            findings.push(Finding { kind: lost.kind, message: lost.message, hint: lost.hint });
        } else {
            findings.extend(self.replaced_store(&database)?);
            findings.extend(self.orphaned_workspaces()?);
            findings.extend(self.missing_backup(&database)?);
        }
        findings.extend(self.unfinished_erasing());
        findings.extend(little_room(&database));
        if !self.project.root.join(".leftoff/.gitignore").exists()
            && !workspaces(&self.project.root).is_empty()
        {
            findings.push(Finding::new(
                "not_ignored",
                ".leftoff/.gitignore is missing: sessions' folders could be committed",
                fixed_by_doctor(),
            ));
        }
        Ok(findings)
    }

    /// Returns a finding if the database is not the one that was last backed up.
    fn replaced_store(&self, database: &Path) -> Result<Option<Finding>> {
        if self.team.is_some() {
            return Ok(None);
        }
        let Some(newest) = backups::newest(database)? else { return Ok(None) };
        let (Ok(copy), Ok(now)) = (SqliteStore::info_of_backup(&newest.path), self.store().info()) else {
            return Ok(None);
        };
        if copy.id == now.id {
            return Ok(None);
        }
        let message = format!(
            "{} is not the database that was backed up {}: it has {}, the backup has {}",
            database.display(),
            newest.at,
            counted(now.sessions, "session"),
            counted(copy.sessions, "session")
        );
        let hint = Hint::new("restore the backup (a copy of this database is kept): ").run(words![
            "store",
            "restore",
            "--replace"
        ]);
        Ok(Some(Finding::new("store_replaced", message, hint)))
    }

    fn orphaned_workspaces(&self) -> Result<Vec<Finding>> {
        let mut findings = Vec::new();
        for id in workspaces(&self.project.root) {
            if self.store.load(&id)?.is_none() {
                let message = format!(".leftoff/sessions/{id} belongs to no session in the store");
                let hint = "restore the store that has this session, import the session's bundle, or move the folder away";
                findings.push(Finding::new("orphaned_workspace", message, hint));
            }
        }
        Ok(findings)
    }

    fn missing_backup(&self, database: &Path) -> Result<Option<Finding>> {
        if self.team.is_some() {
            return Ok(None);
        }
        let bytes = std::fs::metadata(database).map_or(0, |found| found.len());
        let Some(changed) = self.store.list(&store::Filter { limit: Some(1), ..Default::default() })?.pop()
        else {
            return Ok(None);
        };
        let since = match backups::newest(database)? {
            Some(newest) => newest.at,
            None => self.first_event_here()?.unwrap_or(changed.row.updated_at),
        };
        let age = changed.row.updated_at.as_second() - since.as_second();
        if bytes == 0 || age < LONGEST_WITHOUT_BACKUP {
            return Ok(None);
        }
        let days = age / (24 * 3600);
        Ok(Some(if bytes > LARGEST_COPIED {
            let message = format!(
                "the store is too large for automatic backups, and has no backup from the last {days} days"
            );
            Finding::new("no_backup", message, Hint::default().run(words!["store", "backup", "<file>"]))
        } else {
            Finding::new(
                "no_backup",
                format!("the store has no backup from the last {days} days"),
                fixed_by_doctor(),
            )
        }))
    }
}

/// Makes safe fixes and reports them: restores a lost store from its newest copy, makes a missing copy, erases purged
/// text, and excludes sessions' folders from version control.
pub fn fix(options: &Options) -> Result<Vec<String>> {
    let mut done = Vec::new();
    let engine = Engine::open(options.clone(), Intent::Query)?;
    let database = engine.project.database()?;
    if engine.lost_store().is_some() && backups::newest(&database)?.is_some() {
        let restored = backups::restore_store(options.clone(), None, false)?;
        done.push(format!("restored the store from {}", restored.from.display()));
    } else if engine.missing_backup(&database)?.is_some_and(|_| size(&database) <= LARGEST_COPIED) {
        let copy = engine.back_up(&database)?;
        done.push(format!("backed the store up to {}", copy.display()));
    }
    if engine.is_erasing() && !engine.is_shared() {
        let left = Engine::open(options.clone(), Intent::Command)?.finish_erasing(true);
        done.extend(if left.is_empty() {
            vec!["erased purged text from the store's files".to_owned()]
        } else {
            left
        });
    }
    let root = &engine.project.root;
    if !root.join(".leftoff/.gitignore").exists() && !workspaces(root).is_empty() {
        ensure_ignored(root)?;
        done.push("wrote .leftoff/.gitignore".to_owned());
    }
    Ok(done)
}

fn fixed_by_doctor() -> Hint {
    Hint::default().run(words!["doctor", "--fix"])
}

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |found| found.len())
}

fn little_room(database: &Path) -> Option<Finding> {
    let folder = database.ancestors().skip(1).find(|folder| folder.exists())?;
    let found = rustix::fs::statvfs(folder).ok()?;
    let available = found.f_bavail.saturating_mul(found.f_frsize);
    is_little_room(available, size(database)).then(|| {
        let message =
            format!("{} MiB are free where the store is: {}", available / 1024 / 1024, folder.display());
        Finding::new("disk_nearly_full", message, "free some space: nothing can be recorded on a full disk")
    })
}

/// True if the free space is too small for a copy of the store and a reserve.
fn is_little_room(available: u64, store: u64) -> bool {
    available < LEAST_ROOM.saturating_add(store)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_needs_room_for_a_copy_of_itself_and_some_more() {
        const MB: u64 = 1024 * 1024;
        for (available, store, little) in
            [(63 * MB, 0, true), (64 * MB, 0, false), (100 * MB, 40 * MB, true), (200 * MB, 40 * MB, false)]
        {
            assert_eq!(is_little_room(available, store), little, "{available} {store}");
        }
        assert!(little_room(Path::new("/proc/leftoff.db")).is_some(), "nothing is free in /proc");
    }
}
