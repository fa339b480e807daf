//! Describes, copies and checks the database. Never changes sessions.

use super::create::{empty_private_file, remove_if_there, sync};
use super::failure::{failure, folder_of};
use super::file_system::{Place, place_of};
use super::log_size::STUCK_LOG_BYTES;
use super::migrations::marks;
use super::open::{beside, io};
use super::queries::{own_id, undamaged};
use super::{BUSY_WAIT, SqliteStore};
use crate::{Error, Info, Result};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, params};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::path::Path;

impl SqliteStore {
    pub(super) fn describe(&self) -> Result<Info> {
        let number = |sql: &str| -> Result<u64> {
            self.connection
                .query_row(sql, [], |row| row.get(0))
                .map_err(self.fail("counting sessions and events"))
        };
        let journal: String = self
            .connection
            .query_row("PRAGMA journal_mode", [], |row| row.get(0))
            .map_err(self.fail("reading the journal mode"))?;
        let log = size(&beside(&self.path, "-wal"));
        Ok(Info {
            engine: "sqlite".to_owned(),
            id: own_id(&self.connection).map_err(self.fail("reading the store's id"))?,
            place: self.path.display().to_string(),
            schema_version: marks(&self.connection).map_err(self.fail("reading the schema version"))?.schema,
            sessions: number("SELECT count(*) FROM sessions")?,
            events: number("SELECT count(*) FROM events")?,
            bytes: size(&self.path) + log,
            warnings: warnings(&self.path, &journal, log),
            journal,
        })
    }
}

/// Copies the database. The copy is written under another name beside its destination, and moved there when it is
/// complete. An existing file is not replaced.
pub(super) fn copy_database(connection: &Connection, path: &Path, to: &Path) -> Result<()> {
    let exists = || Error::Io {
        doing: format!("copying {} to {}", path.display(), to.display()),
        source: std::io::ErrorKind::AlreadyExists.into(),
    };
    if to.symlink_metadata().is_ok() {
        return Err(exists());
    }
    let draft = beside(to, &format!(".part-{}", std::process::id()));
    let copied = fill(connection, &draft).and_then(|()| match move_without_replacing(&draft, to) {
        Err(Errno::EXIST) => Err(exists()),
        Err(error) => Err(io(to, "writing")(error.into())),
        Ok(()) => sync(folder_of(to)).map_err(io(to, "writing")),
    });
    if copied.is_err() {
        let _ = remove_if_there(&draft);
    }
    copied
}

/// Returns the defects of the database, one line for each.
pub(super) fn check(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut findings: Vec<String> = Vec::new();
    let mut structure = connection.prepare("PRAGMA quick_check")?;
    for line in structure.query_map([], |row| row.get::<_, String>(0))? {
        findings.extend(Some(line?).filter(|line| line != "ok"));
    }
    for (what, sql) in SUSPICIONS {
        let mut statement = connection.prepare(sql)?;
        for session in statement.query_map(params![], |row| row.get::<_, String>(0))? {
            findings.push(format!("session {}: {what}", session?));
        }
    }
    // Snapshots stored with an older schema have no checksum. Each gets one with the next change of its session.
    let sums = "SELECT s.id,p.body,p.sum FROM snapshots p JOIN sessions s ON s.number=p.session \
                WHERE p.sum IS NOT NULL";
    let Ok(mut snapshots) = connection.prepare(sums) else { return Ok(findings) };
    let mut rows = snapshots.query([])?;
    while let Some(row) = rows.next()? {
        if undamaged(row, 1)?.is_none() {
            let session: String = row.get(0)?;
            findings
                .push(format!("session {session}: its snapshot is damaged; commands read the log instead"));
        }
    }
    Ok(findings)
}

/// Defects, each with a query that returns the sessions that have it.
const SUSPICIONS: &[(&str, &str)] = &[
    (
        "its row does not match its last event",
        "SELECT id FROM sessions s WHERE version IS NOT (SELECT max(version) FROM events WHERE session=s.number)",
    ),
    (
        "its history has a gap",
        "SELECT s.id FROM sessions s JOIN events e ON e.session=s.number \
         GROUP BY s.number HAVING min(e.version)<>1 OR count(*)<>max(e.version)",
    ),
    (
        "its snapshot is newer than its last event",
        "SELECT s.id FROM sessions s JOIN snapshots p ON p.session=s.number WHERE p.version>s.version",
    ),
    (
        "it has events, but its row is missing",
        "SELECT DISTINCT 'number '||session FROM events WHERE session NOT IN(SELECT number FROM sessions)",
    ),
    (
        "it has a snapshot, but its row is missing",
        "SELECT 'number '||session FROM snapshots WHERE session NOT IN(SELECT number FROM sessions)",
    ),
    (
        "it has items, but its row is missing",
        "SELECT DISTINCT 'number '||session FROM items WHERE session NOT IN(SELECT number FROM sessions)",
    ),
];

fn fill(connection: &Connection, draft: &Path) -> Result<()> {
    remove_if_there(draft).and_then(|()| empty_private_file(draft)).map_err(io(draft, "writing"))?;
    let fail = |error| failure(draft, &format!("writing {}", draft.display()), &error);
    let mut copy = Connection::open(draft).map_err(fail)?;
    // The copy is synced once, below, when it is complete.
    copy.execute_batch("PRAGMA synchronous=OFF; PRAGMA journal_mode=OFF").map_err(fail)?;
    let step = Backup::new(connection, &mut copy).and_then(|backup| backup.step(-1)).map_err(fail)?;
    if step != StepResult::Done {
        return Err(Error::Busy { waited: BUSY_WAIT });
    }
    copy.close().map_err(|(_, error)| fail(error))?;
    sync(draft).map_err(io(draft, "writing"))
}

fn move_without_replacing(from: &Path, to: &Path) -> rustix::io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Some systems have no rename that never overwrites. A hard link does not overwrite either.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            rustix::fs::link(from, to)?;
            rustix::fs::unlink(from)
        }
        done => done,
    }
}

fn warnings(path: &Path, journal: &str, log: u64) -> Vec<String> {
    let mut warnings = Vec::new();
    let place = place_of(folder_of(path));
    match (place, journal) {
        (Place::Shared(name), "wal") => warnings.push(format!(
            "the database is on {name} and has a write-ahead log, which is safe only on a local disk"
        )),
        (Place::Shared(name), _) => warnings.push(format!(
            "the database is on {name}: writes are slower, and locks are only as reliable as those of {name}"
        )),
        (Place::Local, "wal") | (Place::SmallBlocks, _) => {}
        (Place::Local, other) => {
            warnings.push(format!(
                "the database has a rollback journal ({other}), although it is on a local disk: writes are slower"
            ));
        }
    }
    if log > STUCK_LOG_BYTES {
        warnings.push(format!(
            "the write-ahead log has {} MiB and cannot be shortened, because another program never stops reading the database",
            log / 1024 / 1024
        ));
    }
    warnings
}

pub(super) fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |metadata| metadata.len())
}
