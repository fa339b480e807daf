//! Reads a database where nothing can be written. Never writes beside the database.

use super::failure::failure;
use super::open::beside;
use crate::{Error, Result};
use rusqlite::{Connection, OpenFlags};
use std::fmt::Write;
use std::fs::{DirBuilder, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The suffixes of files beside a database that hold content. Without these files, commits may be missing or
/// incomplete.
const LOGS: [&str; 2] = ["-wal", "-journal"];

/// How often to try to copy a database. A try fails if another user's process changes the files meanwhile.
const COPY_ATTEMPTS: u32 = 5;

/// A private folder with a copy of a database. The folder is removed when the value is dropped.
#[derive(Debug)]
pub(super) struct TemporaryCopy {
    folder: PathBuf,
}

impl Drop for TemporaryCopy {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

pub(super) fn connect(path: &Path) -> Result<(Connection, Option<TemporaryCopy>)> {
    let fail = |error| failure(path, &format!("reading {}", path.display()), &error);
    rustix::fs::access(path, rustix::fs::Access::READ_OK).map_err(|error| reading(path, error.into()))?;
    if LOGS.iter().all(|suffix| is_absent_or_empty(&beside(path, suffix))) {
        let flags =
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        return Ok((Connection::open_with_flags(immutable_address(path), flags).map_err(fail)?, None));
    }
    let (connection, copy) = copy(path)?;
    Ok((connection, Some(copy)))
}

/// Opens a writable copy of a database. Writes affect only the copy. After the connection has read something, the
/// folder may be removed.
pub(super) fn copy(path: &Path) -> Result<(Connection, TemporaryCopy)> {
    let fail = |error| failure(path, &format!("reading {}", path.display()), &error);
    let copy = TemporaryCopy { folder: make_folder().map_err(|error| reading(path, error))? };
    let database = copy.folder.join("copy.db");
    copy_consistently(path, &database).map_err(|error| reading(path, error))?;
    // The connection must be writable, or SQLite could not replay the write-ahead log.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&database, flags).map_err(fail)?;
    Ok((connection, copy))
}

fn reading(path: &Path, source: std::io::Error) -> Error {
    Error::Io { doing: format!("reading {}", path.display()), source }
}

fn is_absent_or_empty(path: &Path) -> bool {
    std::fs::metadata(path).map_or(true, |metadata| metadata.len() == 0)
}

fn immutable_address(path: &Path) -> String {
    let mut address = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(byte) {
            address.push(char::from(*byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(address, "%{byte:02X}");
        }
    }
    address.push_str("?immutable=1");
    address
}

/// Creates a private folder. Fails if anything, even a link, exists at its path, so that nobody can prepare the folder.
fn make_folder() -> std::io::Result<PathBuf> {
    let temporary = std::env::temp_dir();
    let process = std::process::id();
    let mut number = 0_u32;
    loop {
        let folder = temporary.join(format!("leftoff-read-{process}-{number}"));
        match DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

fn copy_consistently(from: &Path, to: &Path) -> std::io::Result<()> {
    for _ in 0..COPY_ATTEMPTS {
        let before = state(from);
        copy_once(from, to)?;
        if state(from) == before {
            return Ok(());
        }
    }
    Err(std::io::Error::new(
        std::io::ErrorKind::ResourceBusy,
        "the database kept changing while it was copied",
    ))
}

fn copy_once(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::copy(from, to)?;
    for suffix in LOGS {
        match std::fs::copy(beside(from, suffix), beside(to, suffix)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

/// Returns the size and the modification time of each file. If a file changes while it is copied, they differ
/// afterwards.
fn state(path: &Path) -> Vec<Option<(u64, i64, i64)>> {
    let names = [path.to_owned()].into_iter().chain(LOGS.map(|suffix| beside(path, suffix)));
    let marks = |found: Metadata| (found.len(), found.mtime(), found.mtime_nsec());
    names.map(|name| std::fs::metadata(name).ok().map(marks)).collect()
}
