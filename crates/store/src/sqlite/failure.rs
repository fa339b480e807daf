//! Converts errors of SQLite and of the system to store errors. Reads the disk only to distinguish causes.

use super::BUSY_WAIT;
use crate::Error;
use rusqlite::ErrorCode;
use rustix::fs::Access as Permission;
use std::io::ErrorKind;
use std::path::Path;

/// If less space than this is free, an I/O error is reported as a full disk. SQLite's shared memory alone needs 32 KiB.
const FULL_BELOW_BYTES: u64 = 64 * 1024;

pub(super) fn failure(path: &Path, doing: &str, error: &rusqlite::Error) -> Error {
    let why = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Busy { waited: BUSY_WAIT },
        Some(ErrorCode::FileLockingProtocolFailed) => Error::LocksFail { path: path.to_owned() },
        Some(ErrorCode::DiskFull) => Error::Full { path: path.to_owned() },
        Some(ErrorCode::ReadOnly) => Error::ReadOnly { path: path.to_owned() },
        Some(ErrorCode::NotADatabase) => not_a_database(path, "it is not a SQLite file"),
        Some(ErrorCode::SystemIoFailure | ErrorCode::PermissionDenied) => {
            io_cause(path).unwrap_or_else(|| Error::Engine { doing: doing.to_owned(), why })
        }
        // File permissions may allow writing while a sandbox forbids it. SQLite then cannot create a file that it needs
        // beside the database.
        Some(ErrorCode::CannotOpen) => {
            io_cause(path).unwrap_or_else(|| Error::ReadOnly { path: path.to_owned() })
        }
        _ if why.starts_with("no such table") || why.starts_with("no such column") => {
            not_a_database(path, &format!("its tables are not leftoff's ({why})"))
        }
        _ => Error::Engine { doing: doing.to_owned(), why },
    }
}

pub(super) fn io_failure(path: &Path, doing: &str, error: std::io::Error) -> Error {
    match error.kind() {
        ErrorKind::NotFound => Error::Missing { path: path.to_owned() },
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            Error::ReadOnly { path: path.to_owned() }
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Error::Full { path: path.to_owned() },
        _ => Error::Io { doing: doing.to_owned(), source: error },
    }
}

pub(super) fn not_a_database(path: &Path, why: &str) -> Error {
    Error::NotADatabase { path: path.to_owned(), why: why.to_owned() }
}

/// True if both the database and its folder are writable. SQLite's other files are in the folder.
pub(super) fn is_writable(path: &Path) -> bool {
    let may = |path: &Path, what| rustix::fs::access(path, what).is_ok();
    may(path, Permission::WRITE_OK) && may(folder_of(path), Permission::WRITE_OK | Permission::EXEC_OK)
}

pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Returns the cause of an error that SQLite reports only as "disk I/O error" or "unable to open", if a person can fix
/// it.
fn io_cause(path: &Path) -> Option<Error> {
    let path = path.to_owned();
    if !path.exists() {
        return Some(Error::Missing { path });
    }
    if !is_writable(&path) {
        return Some(Error::ReadOnly { path });
    }
    let space = rustix::fs::statvfs(folder_of(&path)).ok()?;
    (space.f_bavail.saturating_mul(space.f_frsize) < FULL_BELOW_BYTES).then_some(Error::Full { path })
}
