//! Creates a new database, completely or not at all. Never touches one that has content.

use super::PATIENCE;
use super::failure::{failure, folder_of};
use super::file_system::{Place, place_of};
use super::open::{Found, beside, io, look};
use super::turn::Turn;
use crate::Result;
use crate::migrate::{MIGRATIONS, run};
use rusqlite::Connection;
use std::fs::{DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Several processes may arrive here at once: the first creates it, the others find it.
pub(super) fn create(path: &Path) -> Result<()> {
    let folder = folder_of(path);
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(io(path, "making the folder of"))?;
    let _turn = Turn::take(&beside(path, ".lock"), path, PATIENCE)?;
    if look(path)? == Found::Something {
        return Ok(());
    }
    create_in_turn(path, place_of(folder))
}

/// Built under another name, so that a visible database is always complete, even after a crash.
pub(super) fn create_in_turn(path: &Path, place: Place) -> Result<()> {
    let draft = beside(path, ".new");
    for leftover in
        [draft.clone(), beside(&draft, "-journal"), beside(&draft, "-wal"), beside(&draft, "-shm")]
    {
        remove_if_there(&leftover).map_err(io(path, "making"))?;
    }
    empty_private_file(&draft).map_err(io(path, "making"))?;
    build(&draft, place).map_err(|error| failure(path, &format!("making {}", path.display()), &error))?;
    sync(&draft).map_err(io(path, "making"))?;
    for suffix in ["-wal", "-journal"] {
        set_aside(&beside(path, suffix)).map_err(io(path, "making"))?;
    }
    std::fs::rename(&draft, path).map_err(io(path, "making"))?;
    let folder = folder_of(path);
    sync(folder).and_then(|()| sync(folder_of(folder))).map_err(io(path, "making"))
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
    // Nobody sees the draft before it is complete and synced.
    connection.execute_batch("PRAGMA synchronous=OFF")?;
    run(&mut connection, MIGRATIONS)?;
    if place == Place::Local {
        connection.query_row("PRAGMA journal_mode=WAL", [], |_| Ok(()))?;
    }
    connection.close().map_err(|(_, error)| error)
}

/// SQLite would replay the log of a deleted database into the new one. The log is kept: it may contain
/// somebody's work.
pub(super) fn set_aside(leftover: &Path) -> std::io::Result<()> {
    if !leftover.exists() {
        return Ok(());
    }
    let mut names = (1_u32..).map(|number| beside(leftover, &format!(".orphan-{number}")));
    let free: Option<PathBuf> = names.find(|name| !name.exists());
    free.map_or(Ok(()), |name| std::fs::rename(leftover, name))
}
