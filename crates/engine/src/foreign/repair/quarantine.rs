//! The quarantine, and findings about files or folders that prevent its use.

use crate::disk::{self, exchange};
use crate::doctor::Finding;
use crate::error::{Error, Result};
use crate::foreign::observe::hash;
use crate::project::FOLDER;
use crate::view::Warning;
use crate::workspace::ensure_ignored;
use model::hint::Hint;
use model::id::SessionId;
use model::words;
use std::fs;
use std::path::{Path, PathBuf};

const ASIDE: &str = "aside";
const OPEN: &str = "open";
/// How many characters of the content's hash are part of a quarantined file's name.
const MARK: usize = 8;
/// How many quarantined files may have started with the same content. Programs may have written more into them since.
const KEPT_ALIKE: usize = 16;

/// Returns findings about entries that prevent the use of the quarantine or the writing of backups.
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
        Finding::new("backup_is_a_folder", message, "move the folder away, or the next write quarantines it")
    });
    link.into_iter().chain(folders).collect()
}

/// If a folder has the name of a file's backup, quarantines it with everything in it.
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
    Ok(Some(quarantined(message, &aside)))
}

/// Returns a warning about a quarantined file, with its new path.
pub(crate) fn quarantined(message: String, aside: &Path) -> Warning {
    let aside = aside.display().to_string();
    Warning::new("set_aside", message).hint(format!("its contents: {aside}")).at(aside)
}

/// Quarantines an entry that has the name of another file, under the first free name.
pub(crate) fn quarantine_entry(root: &Path, id: &SessionId, from: &Path, name: &str) -> Result<PathBuf> {
    let folder = quarantine_folder(root, id)?;
    let mut names = (0_u32..).map(|number| folder.join(format!("{name}.{number}")));
    let aside = names.find(|aside| aside.symlink_metadata().is_err()).unwrap_or(folder.join(name));
    fs::rename(from, &aside)
        .map_err(|source| Error::io(format!("quarantining {}", from.display()), source))?;
    Ok(aside)
}

/// Returns a warning that a file was written but the replaced content was not kept as its backup.
pub(crate) fn not_kept(target: &Path, error: &Error) -> Warning {
    let waiting = exchange::waiting(target);
    let (target, waiting) = (target.display(), waiting.display());
    let message = format!(
        "{target} was written, but the previous version could not become its backup: {error}; the previous version is {waiting}"
    );
    let hint = Hint::new("see what prevents the backup: ").run(words!["doctor"]);
    Warning::new("not_kept", message).hint(hint).at(waiting.to_string())
}

/// Returns the path for a copy of content in quarantine. The same content has only one copy.
pub(crate) fn quarantine_copy(root: &Path, id: &SessionId, path: &str, bytes: &[u8]) -> Result<PathBuf> {
    Ok(free_name(&quarantine_folder(root, id)?, &quarantine_name(path, bytes), bytes, 0))
}

/// Returns the path for a file that is moved to quarantine. Programs may still write to this file, and to an earlier
/// one with the same content, so neither replaces the other.
pub(crate) fn quarantine_file(root: &Path, id: &SessionId, path: &str, bytes: &[u8]) -> Result<PathBuf> {
    Ok(free_name(&quarantine_folder(root, id)?, &quarantine_name(path, bytes), bytes, KEPT_ALIKE))
}

/// Returns the first free name. After `alike` numbered names, the name of a file with the same content is used again.
fn free_name(folder: &Path, name: &str, bytes: &[u8], alike: usize) -> PathBuf {
    let numbered = (1_usize..).map(|number| folder.join(format!("{name}.{number}")));
    let mut names = std::iter::once(folder.join(name)).chain(numbered).enumerate();
    let is_it = |path: &Path| exchange::read(path).is_ok_and(|there| there == bytes);
    let found = names.find(|(at, path)| path.symlink_metadata().is_err() || (*at >= alike && is_it(path)));
    found.map_or_else(|| folder.join(name), |(_, path)| path)
}

/// Returns the path for a copy of a registry in quarantine.
pub(crate) fn quarantine_registry(root: &Path, path: &str, bytes: &[u8]) -> Result<PathBuf> {
    Ok(made(root, &format!("{FOLDER}/{ASIDE}"))?.join(quarantine_name(path, bytes)))
}

fn quarantine_name(path: &str, bytes: &[u8]) -> String {
    format!("{}.{}", path.replace('/', "_"), mark_of(bytes))
}

fn mark_of(bytes: &[u8]) -> String {
    hash(bytes).chars().take(MARK).collect()
}

/// Returns the path for a replaced backup to which a program may still be writing.
pub(crate) fn open_file(root: &Path, id: &SessionId, name: &str, bytes: &[u8]) -> Result<PathBuf> {
    let folder = made(root, &format!("{FOLDER}/{OPEN}/{id}"))?;
    Ok(free_name(&folder, &quarantine_name(name, bytes), bytes, KEPT_ALIKE))
}

/// A replaced backup to which a program may still be writing.
pub(crate) struct OpenFile {
    pub(crate) file: PathBuf,
    /// The session whose write replaced the backup.
    pub(crate) id: SessionId,
    /// The backup's name, without the hash.
    pub(crate) name: String,
    /// True if the backup has not changed since it was replaced.
    pub(crate) is_as_it_was: bool,
}

/// Returns all replaced backups in a worktree to which programs may still be writing.
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

/// Returns the folder of a session's quarantined files, and creates it if it is missing.
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
