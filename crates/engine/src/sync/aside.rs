//! Where what cannot stay in its place is kept, and what stands in the way of that.

use super::look::hash;
use crate::disk::{self, exchange};
use crate::doctor::Finding;
use crate::error::{Error, Result};
use crate::place::FOLDER;
use crate::view::Warning;
use crate::workspace::ensure_ignored;
use model::hint::Hint;
use model::id::SessionId;
use model::words;
use std::fs;
use std::path::{Path, PathBuf};

const ASIDE: &str = "aside";
/// How many files are kept that had the same content when they were set aside.
const KEPT_ALIKE: usize = 16;

/// What stands where files are set aside, or kept as the version before, and cannot stay there.
pub(super) fn in_the_way(root: &Path, files: &[PathBuf]) -> Vec<Finding> {
    let aside = format!("{FOLDER}/{ASIDE}");
    let is_link = root.join(&aside).is_symlink();
    let link = is_link.then(|| {
        let message = format!("{aside} is a link, and nothing is set aside over one");
        Finding::new("aside_is_a_link", message, "take the link away; the folder is made when it is needed")
    });
    let backups = files.iter().map(|file| exchange::backup(file));
    let folders = backups.filter(|backup| backup.symlink_metadata().is_ok_and(|found| found.is_dir()));
    let folders = folders.map(|backup| {
        let message = format!("{} is a folder, where the version before belongs", backup.display());
        Finding::new("backup_is_a_folder", message, "move it away, or let the next write set it aside")
    });
    link.into_iter().chain(folders).collect()
}

/// A folder that stands where the version before belongs goes aside, with all that is in it.
pub(super) fn clear_the_backup(
    root: &Path,
    id: &SessionId,
    target: &Path,
    path: &str,
) -> Result<Option<Warning>> {
    let backup = exchange::backup(target);
    if !backup.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        return Ok(None);
    }
    let aside = move_aside(root, id, &backup, &format!("{}.bak", path.replace('/', "_")))?;
    Ok(Some(Warning {
        kind: "set_aside".to_owned(),
        message: format!("{} was a folder; it was set aside for the version before", backup.display()),
        hint: Some(format!("what was in it: {}", aside.display()).into()),
        path: Some(aside.display().to_string()),
        problem: None,
    }))
}

/// Something that stands in the way goes aside under the first name that is free.
pub(super) fn move_aside(root: &Path, id: &SessionId, from: &Path, name: &str) -> Result<PathBuf> {
    let folder = aside_folder(root, id)?;
    let mut names = (0_u32..).map(|number| folder.join(format!("{name}.{number}")));
    let aside = names.find(|aside| aside.symlink_metadata().is_err()).unwrap_or(folder.join(name));
    fs::rename(from, &aside)
        .map_err(|source| Error::io(format!("setting {} aside", from.display()), source))?;
    Ok(aside)
}

/// That a file was written, and what it took the place of could not be put away.
pub(super) fn not_kept(target: &Path, error: &Error) -> Warning {
    let waiting = exchange::waiting(target);
    Warning {
        kind: "not_kept".to_owned(),
        message: format!(
            "{} was written, but the version before has no place: {error}; it waits as {}",
            target.display(),
            waiting.display()
        ),
        hint: Some(Hint::new("what is in the way: ").run(words!["doctor"])),
        path: Some(waiting.display().to_string()),
        problem: None,
    }
}

/// Where a copy of a file's content is kept, by that content: equal copies are kept once.
pub(super) fn aside_of(root: &Path, id: &SessionId, path: &str, bytes: &[u8]) -> Result<PathBuf> {
    Ok(free_name(&aside_folder(root, id)?, &aside_name(path, bytes), bytes, 0))
}

/// Where a file itself goes. Somebody may have it open and write on, and so may the writer of one that went there
/// earlier with the same content: neither takes the other's place.
pub(super) fn aside_for_file(root: &Path, id: &SessionId, path: &str, bytes: &[u8]) -> Result<PathBuf> {
    Ok(free_name(&aside_folder(root, id)?, &aside_name(path, bytes), bytes, KEPT_ALIKE))
}

/// The first name that is free, or, after so many others, under which the same content is.
fn free_name(folder: &Path, name: &str, bytes: &[u8], alike: usize) -> PathBuf {
    let numbered = (1_usize..).map(|number| folder.join(format!("{name}.{number}")));
    let mut names = std::iter::once(folder.join(name)).chain(numbered).enumerate();
    let is_it = |path: &Path| exchange::read(path).is_ok_and(|there| there == bytes);
    let found = names.find(|(at, path)| path.symlink_metadata().is_err() || (*at >= alike && is_it(path)));
    found.map_or_else(|| folder.join(name), |(_, path)| path)
}

/// The same for a file of all sessions of a layout.
pub(super) fn aside_of_index(root: &Path, path: &str, bytes: &[u8]) -> Result<PathBuf> {
    Ok(made(root, &format!("{FOLDER}/{ASIDE}"))?.join(aside_name(path, bytes)))
}

fn aside_name(path: &str, bytes: &[u8]) -> String {
    let mark: String = hash(bytes).chars().take(8).collect();
    format!("{}.{mark}", path.replace('/', "_"))
}

/// Where what cannot be left in its place goes; made if need be.
pub(super) fn aside_folder(root: &Path, id: &SessionId) -> Result<PathBuf> {
    made(root, &format!("{FOLDER}/{ASIDE}/{id}"))
}

fn made(root: &Path, path: &str) -> Result<PathBuf> {
    ensure_ignored(root)?;
    let folder = disk::below(root, path)?;
    fs::create_dir_all(&folder)
        .map_err(|source| Error::io(format!("making {}", folder.display()), source))?;
    Ok(folder)
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
