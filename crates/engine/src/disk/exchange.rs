//! Exchanges two files and returns the replaced content, so that an edit made in the meantime is never lost. Knows
//! paths and bytes, not sessions.

use super::sync_folder;
use crate::failpoint;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The maximum size of a file to exchange. Layouts read only far smaller files.
const LONGEST: u64 = 4 * 1024 * 1024;

/// The result of putting a file in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Put {
    /// There was no file before.
    New,
    /// The file replaced another file. This is the content of the replaced file, which now has the waiting name.
    Over(Vec<u8>),
    /// The file had unexpected content, so nothing was written. Happens only where the system cannot exchange files in
    /// one step.
    Changed,
}

/// Returns the name of the waiting file. It has the new content before the exchange, and the old content afterwards.
pub(crate) fn waiting(target: &Path) -> PathBuf {
    beside(target, |name| format!(".{name}.leftoff"))
}

/// Returns the name of the file's previous version.
pub(crate) fn backup(target: &Path) -> PathBuf {
    beside(target, |name| format!("{name}.bak"))
}

fn beside(target: &Path, name: impl FnOnce(&str) -> String) -> PathBuf {
    let own = target.file_name().map(|own| own.to_string_lossy().into_owned()).unwrap_or_default();
    target.with_file_name(name(&own))
}

/// Writes `body` to the target. `expected` is the content that was last seen in the target.
pub(crate) fn put(target: &Path, body: &[u8], expected: &[u8]) -> io::Result<Put> {
    let waiting = waiting(target);
    let there = fs::symlink_metadata(target).ok().filter(fs::Metadata::is_file);
    write(&waiting, body, there.map(|found| found.permissions()))?;
    failpoint::reached("view-written-beside");
    let put = place(target, &waiting, expected);
    // If the new content could not be put in place, it is removed. After an exchange, the waiting file may have
    // somebody else's content, which stays.
    if put.is_err() && read(&waiting).is_ok_and(|bytes| bytes == body) {
        let _ = fs::remove_file(&waiting);
    }
    failpoint::reached("view-in-place");
    let put = put?;
    sync_folder(target.parent().unwrap_or(target))?;
    Ok(put)
}

/// Writes `body` to a new file. Returns false, and changes nothing, if the path already exists.
pub(crate) fn put_new(target: &Path, body: &[u8]) -> io::Result<bool> {
    if target.symlink_metadata().is_ok() {
        return Ok(false);
    }
    let waiting = waiting(target);
    write(&waiting, body, None)?;
    failpoint::reached("view-written-beside");
    let linked = fs::hard_link(&waiting, target);
    let put = match linked {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        // This rename is for file systems without hard links.
        Err(_) => renameat_with(CWD, &waiting, CWD, target, RenameFlags::NOREPLACE)
            .map(|()| true)
            .or_else(|error| if error == Errno::EXIST { Ok(false) } else { Err(error.into()) }),
    };
    failpoint::reached("view-in-place");
    match fs::remove_file(&waiting) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    sync_folder(target.parent().unwrap_or(target))?;
    put
}

fn place(target: &Path, waiting: &Path, expected: &[u8]) -> io::Result<Put> {
    // Between two steps, somebody may create or remove the file. The second step then fails, and both are repeated.
    for _ in 0..100 {
        if is_exchange_on() {
            failpoint::slow("view-place");
            match renameat_with(CWD, waiting, CWD, target, RenameFlags::EXCHANGE) {
                Ok(()) => {
                    failpoint::reached("view-exchanged");
                    return match read(waiting) {
                        Ok(out) => Ok(Put::Over(out)),
                        // The exchange is undone, because the old content cannot be read.
                        Err(error) => {
                            renameat_with(CWD, waiting, CWD, target, RenameFlags::EXCHANGE)?;
                            Err(error)
                        }
                    };
                }
                Err(Errno::NOENT) => {}
                Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                    if target.symlink_metadata().is_ok() {
                        return without_exchange(target, waiting, expected);
                    }
                }
                Err(error) => return Err(error.into()),
            }
        } else if target.exists() {
            return without_exchange(target, waiting, expected);
        }
        match fs::hard_link(waiting, target) {
            Ok(()) => {
                fs::remove_file(waiting)?;
                return Ok(Put::New);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(_) if !target.exists() => {
                fs::rename(waiting, target)?;
                return Ok(Put::New);
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::WouldBlock, "the file appears and disappears"))
}

/// Reads the file, saves its content, then renames. An edit between the last two steps is lost, so this is used only
/// where files cannot be exchanged.
fn without_exchange(target: &Path, waiting: &Path, expected: &[u8]) -> io::Result<Put> {
    let there = read(target)?;
    if there != expected {
        fs::remove_file(waiting)?;
        return Ok(Put::Changed);
    }
    let aside = beside(target, |name| format!(".{name}.leftoff-old"));
    let _ = fs::remove_file(&aside);
    fs::hard_link(target, &aside).or_else(|_| fs::copy(target, &aside).map(drop))?;
    failpoint::slow("view-place");
    fs::rename(waiting, target)?;
    fs::rename(&aside, waiting)?;
    Ok(Put::Over(there))
}

fn write(path: &Path, body: &[u8], like: Option<fs::Permissions>) -> io::Result<()> {
    // The owner must be able to read the file, so that an edit can be recognised later.
    let mode = like.map_or(0o644, |permissions| permissions.mode() & 0o7777 | 0o400);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .custom_flags(i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or(0))
        .open(path)?;
    failpoint::reached("view-waiting-made");
    let written = failpoint::fails("view")
        .and_then(|()| file.write_all(body))
        // Without fsync before the rename, a power cut can leave an empty file.
        .and_then(|()| file.sync_all());
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written
}

/// Makes the waiting file readable for its owner. Returns false if the file does not exist or was readable already.
pub(crate) fn let_read(waiting: &Path) -> io::Result<bool> {
    let found = match fs::symlink_metadata(waiting) {
        Ok(found) if found.is_file() => found.permissions(),
        Ok(_) | Err(_) => return Ok(false),
    };
    if found.mode() & 0o400 != 0 {
        return Ok(false);
    }
    fs::set_permissions(waiting, fs::Permissions::from_mode(found.mode() & 0o7777 | 0o400)).map(|()| true)
}

/// Returns a file's content. Fails for a symbolic link, a folder or a pipe.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Ok(Vec::new());
    }
    // The path may meanwhile be a pipe or a link: opening it must neither wait for a writer nor follow a link.
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or(0);
    let mut content = Vec::new();
    File::options().read(true).custom_flags(flags).open(path)?.take(LONGEST).read_to_end(&mut content)?;
    Ok(content)
}

/// False only in a test that shows that edits would be lost without the exchange.
fn is_exchange_on() -> bool {
    !(cfg!(debug_assertions) && std::env::var_os("LEFTOFF_TEST_NO_EXCHANGE").is_some())
}
