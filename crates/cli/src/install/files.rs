//! Reads and writes agents' files. A file is replaced as a whole, and links are not followed.

use crate::failure::Failure;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;

/// The maximum size of a settings file, in bytes. leftoff adds only a few lines.
const LONGEST: u64 = 4 * 1024 * 1024;

/// The text of a file. `None` if the file does not exist. Refuses symbolic links below `base`.
pub fn read(base: &Path, path: &Path) -> Result<Option<String>, Failure> {
    refuse_links(base, path)?;
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => return Err(cannot(path, "it is not a regular file")),
        Ok(found) if found.len() > LONGEST => return Err(cannot(path, "the file is longer than 4 MiB")),
        Ok(_) => {}
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(cannot(path, &error.to_string())),
    }
    fs::read_to_string(path).map(Some).map_err(|error| cannot(path, &error.to_string()))
}

/// Writes a temporary file and renames it, so that a reader sees either the old text or the new one.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let done = write_beside(path, text);
    done.map_err(|error| cannot(path, &error.to_string()))
}

/// Removes a file that only leftoff uses, and the folders up to `base` that become empty.
pub fn remove(base: &Path, path: &Path) -> Result<(), Failure> {
    fs::remove_file(path).map_err(|error| cannot(path, &error.to_string()))?;
    for folder in path.ancestors().skip(1).take_while(|folder| *folder != base && folder.starts_with(base)) {
        // The system does not remove a folder that is not empty.
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(())
}

pub fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink())
}

fn refuse_links(base: &Path, path: &Path) -> Result<(), Failure> {
    let below = path.ancestors().take_while(|folder| *folder != base && folder.starts_with(base));
    match below.into_iter().find(|folder| is_link(folder)) {
        None => Ok(()),
        Some(link) => Err(Failure::refused(
            format!("{} is a symbolic link, and links are not followed", link.display()),
            "edit its target by hand, or replace it with a file; `leftoff init --dry-run` shows what to write",
        )),
    }
}

fn write_beside(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = folder.join(format!(".{name}.leftoff-{}", std::process::id()));
    let written = fill(&temporary, path, text).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written?;
    // The folder is written to the disk, too, so that the name of the file survives a power failure.
    File::open(folder)?.sync_all()
}

fn fill(temporary: &Path, path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(temporary)?;
    if let Ok(found) = fs::metadata(path) {
        file.set_permissions(found.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn cannot(path: &Path, why: &str) -> Failure {
    Failure::failed(
        format!("cannot use {}: {why}", path.display()),
        "the file was not changed; fix the problem, then try again",
    )
}
