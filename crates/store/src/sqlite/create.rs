//! Creates a new database, completely or not at all. Never changes a file that has content.

use super::PATIENCE;
use super::failure::{failure, folder_of};
use super::file_system::{Place, place_of};
use super::migrations::{MIGRATIONS, run};
use super::open::{Found, beside, io, look};
use super::turn::Turn;
use crate::Result;
use rusqlite::Connection;
use std::fs::{DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Creates a database. Does nothing if another process creates it first.
pub(super) fn create(path: &Path) -> Result<()> {
    let folder = folder_of(path);
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(io(path, "creating the folder of"))?;
    let _turn = Turn::take(&beside(path, ".lock"), path, PATIENCE)?;
    if look(path)? == Found::Something {
        return Ok(());
    }
    create_in_turn(path, place_of(folder))
}

/// Creates a database while holding the turn. The database is built under another name first, so that the final name
/// always has a complete database, even after a crash.
pub(super) fn create_in_turn(path: &Path, place: Place) -> Result<()> {
    let draft = beside(path, ".new");
    for leftover in
        [draft.clone(), beside(&draft, "-journal"), beside(&draft, "-wal"), beside(&draft, "-shm")]
    {
        remove_if_there(&leftover).map_err(io(path, "creating"))?;
    }
    empty_private_file(&draft).map_err(io(path, "creating"))?;
    build(&draft, place).map_err(|error| failure(path, &format!("creating {}", path.display()), &error))?;
    sync(&draft).map_err(io(path, "creating"))?;
    for suffix in ["-wal", "-journal"] {
        rename_leftover(&beside(path, suffix)).map_err(io(path, "creating"))?;
    }
    std::fs::rename(&draft, path).map_err(io(path, "creating"))?;
    let folder = folder_of(path);
    sync(folder).and_then(|()| sync(folder_of(folder))).map_err(io(path, "creating"))
}

/// Creates a new file that only its owner can read.
pub(super) fn empty_private_file(path: &Path) -> std::io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map(drop)
}

pub(super) fn sync(path: &Path) -> std::io::Result<()> {
    File::open(path)?.sync_all()
}

pub(super) fn remove_if_there(path: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn build(draft: &Path, place: Place) -> rusqlite::Result<()> {
    let mut connection = Connection::open(draft)?;
    // No sync is needed: nobody sees the draft before it is complete and synced.
    connection.execute_batch("PRAGMA synchronous=OFF")?;
    run(&mut connection, MIGRATIONS)?;
    if place == Place::Local {
        connection.query_row("PRAGMA journal_mode=WAL", [], |_| Ok(()))?;
    }
    connection.close().map_err(|(_, error)| error)
}

/// Renames the write-ahead log of a deleted database, which SQLite would otherwise replay into the new database. The
/// log is not deleted, because it may contain somebody's work.
pub(super) fn rename_leftover(leftover: &Path) -> std::io::Result<()> {
    if !leftover.exists() {
        return Ok(());
    }
    let mut names = (1_u32..).map(|number| beside(leftover, &format!(".orphan-{number}")));
    let free: Option<PathBuf> = names.find(|name| !name.exists());
    free.map_or(Ok(()), |name| std::fs::rename(leftover, name))
}
