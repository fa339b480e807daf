//! The quarantine, and obstacles to it.

use crate::disk::{self, exchange};
use crate::doctor::Finding;
use crate::error::{Error, Result};
use crate::foreign::observe::hash;
use crate::place::FOLDER;
use crate::view::Warning;
use crate::workspace::ensure_ignored;
use model::hint::Hint;
use model::id::SessionId;
use model::words;
use std::fs;
use std::path::{Path, PathBuf};

const ASIDE: &str = "aside";
const OPEN: &str = "open";
/// How much of a content's hash is part of a name.
const MARK: usize = 8;
/// How many quarantined files with the same original content are kept.
const KEPT_ALIKE: usize = 16;

/// Obstacles at the quarantine or at backup paths.
pub(crate) fn in_the_way(root: &Path, files: &[PathBuf]) -> Vec<Finding> {
    let aside = format!("{FOLDER}/{ASIDE}");
    let is_link = root.join(&aside).is_symlink();
    let link = is_link.then(|| {
        let message = format!("{aside} is a link, and links are not used for quarantine");
        Finding::new("aside_is_a_link", message, "remove the link; the folder is created when needed")
    });
    let backups = files.iter().map(|file| exchange::backup(file));
    let folders = backups.filter(|backup| backup.symlink_metadata().is_ok_and(|found| found.is_dir()));
    let folders = folders.map(|backup| {
        let message = format!("{} is a folder, but the backup belongs there", backup.display());
        Finding::new("backup_is_a_folder", message, "move it away, or the next write quarantines it")
    });
    link.into_iter().chain(folders).collect()
}

/// Quarantines a folder at a backup path, with its contents.
pub(crate) fn clear_the_backup(
    root: &Path,
    id: &SessionId,
    target: &Path,
    path: &str,
) -> Result<Option<Warning>> {
    let backup = exchange::backup(target);
    if !backup.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        return Ok(None);
    }
    let aside = quarantine_entry(root, id, &backup, &format!("{}.bak", path.replace('/', "_")))?;
    let message =
        format!("{} was a folder; it was quarantined to make room for the backup", backup.display());
    Ok(Some(set_aside(message, &aside)))
}

/// A message about a quarantined file, and its location.
pub(crate) fn set_aside(message: String, aside: &Path) -> Warning {
    let aside = aside.display().to_string();
    Warning::new("set_aside", message).hint(format!("its contents: {aside}")).at(aside)
}

/// Quarantines an obstacle under the first free name.
pub(crate) fn quarantine_entry(root: &Path, id: &SessionId, from: &Path, name: &str) -> Result<PathBuf> {
    let folder = quarantine_folder(root, id)?;
    let mut names = (0_u32..).map(|number| folder.join(format!("{name}.{number}")));
    let aside = names.find(|aside| aside.symlink_metadata().is_err()).unwrap_or(folder.join(name));
    fs::rename(from, &aside)
        .map_err(|source| Error::io(format!("quarantining {}", from.display()), source))?;
    Ok(aside)
}

/// A message that a file was written but the replaced one could not be kept.
pub(crate) fn not_kept(target: &Path, error: &Error) -> Warning {
    let waiting = exchange::waiting(target);
    let (target, waiting) = (target.display(), waiting.display());
    let message =
        format!("{target} was written, but its backup could not be: {error}; it is kept as {waiting}");
    let hint = Hint::new("see what blocks it: ").run(words!["doctor"]);
    Warning::new("not_kept", message).hint(hint).at(waiting.to_string())
}

/// Copies content to quarantine, once per distinct content.
pub(crate) fn quarantine_copy(root: &Path, id: &SessionId, path: &str, bytes: &[u8]) -> Result<PathBuf> {
    Ok(free_name(&quarantine_folder(root, id)?, &quarantine_name(path, bytes), bytes, 0))
}

/// Moves a file to quarantine. Its writer may still have it open, as may the writer of an earlier one with
/// the same content: neither replaces the other.
pub(crate) fn quarantine_file(root: &Path, id: &SessionId, path: &str, bytes: &[u8]) -> Result<PathBuf> {
    Ok(free_name(&quarantine_folder(root, id)?, &quarantine_name(path, bytes), bytes, KEPT_ALIKE))
}

/// The first free name or, after so many, one with the same content.
fn free_name(folder: &Path, name: &str, bytes: &[u8], alike: usize) -> PathBuf {
    let numbered = (1_usize..).map(|number| folder.join(format!("{name}.{number}")));
    let mut names = std::iter::once(folder.join(name)).chain(numbered).enumerate();
    let is_it = |path: &Path| exchange::read(path).is_ok_and(|there| there == bytes);
    let found = names.find(|(at, path)| path.symlink_metadata().is_err() || (*at >= alike && is_it(path)));
    found.map_or_else(|| folder.join(name), |(_, path)| path)
}

/// Copies a registry to quarantine.
pub(crate) fn quarantine_registry(root: &Path, path: &str, bytes: &[u8]) -> Result<PathBuf> {
    Ok(made(root, &format!("{FOLDER}/{ASIDE}"))?.join(quarantine_name(path, bytes)))
}

fn quarantine_name(path: &str, bytes: &[u8]) -> String {
    format!("{}.{}", path.replace('/', "_"), mark_of(bytes))
}

fn mark_of(bytes: &[u8]) -> String {
    hash(bytes).chars().take(MARK).collect()
}

/// The place of a backup that may still be in use.
pub(crate) fn open_file(root: &Path, id: &SessionId, name: &str, bytes: &[u8]) -> Result<PathBuf> {
    let folder = made(root, &format!("{FOLDER}/{OPEN}/{id}"))?;
    Ok(free_name(&folder, &quarantine_name(name, bytes), bytes, KEPT_ALIKE))
}

/// A backup that may still have been in use.
pub(crate) struct OpenFile {
    pub(crate) file: PathBuf,
    /// The session whose write replaced it.
    pub(crate) id: SessionId,
    /// Its name without the distinguishing part.
    pub(crate) name: String,
    /// Unchanged since.
    pub(crate) is_as_it_was: bool,
}

/// Such backups of all sessions in a worktree.
pub(crate) fn open_files(root: &Path) -> Vec<OpenFile> {
    let entries = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
    let named = |entry: &fs::DirEntry| entry.file_name().into_string().ok();
    let sessions = entries(root.join(FOLDER).join(OPEN));
    let of_session = |entry: fs::DirEntry| Some((SessionId::parse(&named(&entry)?).ok()?, entry.path()));
    let files = sessions.filter_map(of_session).flat_map(|(id, folder)| {
        entries(folder).filter_map(move |entry| {
            let file = named(&entry)?;
            let (name, rest) = file.rsplit_once(".bak.")?;
            let mark: String = rest.chars().take(MARK).collect();
            let is_as_it_was = exchange::read(&entry.path()).is_ok_and(|bytes| mark_of(&bytes) == mark);
            let name = format!("{name}.bak");
            Some(OpenFile { file: entry.path(), id: id.clone(), name, is_as_it_was })
        })
    });
    files.collect()
}

/// The quarantine folder, created if missing.
pub(crate) fn quarantine_folder(root: &Path, id: &SessionId) -> Result<PathBuf> {
    made(root, &format!("{FOLDER}/{ASIDE}/{id}"))
}

fn made(root: &Path, path: &str) -> Result<PathBuf> {
    ensure_ignored(root)?;
    disk::make_below(root, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f1_no_file_that_is_set_aside_takes_the_place_of_another() {
        let folder = tempfile::tempdir().unwrap();
        let first = free_name(folder.path(), "state.json.ab", b"half", KEPT_ALIKE);
        fs::write(&first, "half").unwrap();
        let second = free_name(folder.path(), "state.json.ab", b"half", KEPT_ALIKE);
        assert_ne!(first, second, "whoever has the first open may write on");
        fs::write(&first, "half, and the rest").unwrap();
        fs::write(&second, "half").unwrap();
        assert_eq!(
            free_name(folder.path(), "state.json.ab", b"half", 0),
            second,
            "an equal copy is kept once"
        );
        for number in 2..=KEPT_ALIKE {
            fs::write(free_name(folder.path(), "state.json.ab", b"half", KEPT_ALIKE), "half").unwrap();
            assert!(folder.path().join(format!("state.json.ab.{number}")).exists());
        }
        let last = free_name(folder.path(), "state.json.ab", b"half", KEPT_ALIKE);
        assert_eq!(last, folder.path().join(format!("state.json.ab.{KEPT_ALIKE}")), "not without end");
    }
}
