//! Copies the store automatically, and restores a copy. Never waits for a writer. A failed copy does not make any
//! command fail.

use crate::config::Config;
use crate::engine::{Engine, Patience};
use crate::error::{Error, NotRestored, Result};
use crate::policy::Restricted;
use crate::project::Project;
use crate::server_store::Team;
use crate::{Intent, Options};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use model::actor::Actor;
use model::hint::Hint;
use model::words;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::{Access, SqliteStore, Store};

/// How many of the newest copies are kept. Older copies are kept as well: one for each of the last days.
const NEWEST_KEPT: usize = 3;
const DAYS_KEPT: usize = 7;
const NAME: &str = "%Y%m%dT%H%M%SZ";
const HOUR: i64 = 3600;
/// How many of the oldest events are searched for the first event that was recorded here.
const FIRST_EVENTS: usize = 100;
/// A database larger than this is copied once a day, a smaller one every hour.
const COPIED_HOURLY: u64 = 16 * 1024 * 1024;
/// A database larger than this is never copied automatically, only by `store backup`.
pub(crate) const LARGEST_COPIED: u64 = 512 * 1024 * 1024;

/// A copy of the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Backup {
    pub path: PathBuf,
    pub at: Timestamp,
    pub bytes: u64,
    pub made: Made,
}

/// Why a copy of the store was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Made {
    Automatically,
    BeforeMigration,
}

/// The result of restoring.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoreRestored {
    pub store: PathBuf,
    pub from: PathBuf,
    /// The new name of the previous database; `None` if there was none.
    pub kept: Option<PathBuf>,
    pub sessions: u64,
    pub events: u64,
}

/// Returns the copies of this project's store, newest first.
pub fn backups(options: &Options) -> Result<Vec<Backup>> {
    found(&project_of(options)?.database()?)
}

/// Restores a copy of the store: the file `from`, or the newest copy. If the store has sessions, it is replaced only if
/// the caller asks for it with `replace`.
pub fn restore_store(options: Options, from: Option<&Path>, replace: bool) -> Result<StoreRestored> {
    let project = project_of(&options)?;
    if Team::of(&project, &Config::read(&project)?)?.is_some() {
        return Err(Error::NotSupported {
            what: "restoring a server's store".to_owned(),
            hint: "restore its database with pg_restore (docs/guides/postgres.md)".into(),
        });
    }
    let database = project.database()?;
    let named = from.map(Path::to_owned);
    let from = match from {
        Some(path) => path.to_owned(),
        None => newest(&database)?.ok_or_else(|| NotRestored::NoBackup { store: database.clone() })?.path,
    };
    let held = SqliteStore::open(&database, Access::Read).and_then(|store| Ok(store.info()?.sessions));
    match held {
        Ok(sessions) if sessions > 0 => {
            if !replace {
                return Err(NotRestored::StoreInUse { store: database, sessions, from: named }.into());
            }
            Engine::open(options, Intent::Query)?.require_person(Restricted::Restore)?;
        }
        Ok(_) | Err(_) => {}
    }
    let kept = SqliteStore::restore(&database, &from)?;
    let info = SqliteStore::open(&database, Access::Write)?.info()?;
    Ok(StoreRestored { store: database, from, kept, sessions: info.sessions, events: info.events })
}

impl Engine {
    /// Copies the store if the last copy is old enough. Failures are ignored here; `doctor` reports them.
    pub(crate) fn back_up_when_due(&mut self) {
        // A hook has no time to make a copy. Outside projects, and with a server, there are no local copies either.
        let is_hook = matches!(self.patience, Patience::Until(_));
        if is_hook || self.project.is_outside || self.team.is_some() {
            return;
        }
        let now = self.clock.now();
        if self.next_copy.is_some_and(|due| now < due) {
            return;
        }
        let Ok(database) = self.project.database() else { return };
        self.next_copy = self.next_copy_of(&database).unwrap_or_default();
        if self.next_copy.is_some_and(|due| due <= now) {
            let _ = self.back_up(&database);
            self.next_copy = None;
        }
    }

    /// Returns when the next copy is due; `None` if the database is missing, empty of sessions, or too large.
    fn next_copy_of(&self, database: &Path) -> Result<Option<Timestamp>> {
        let Ok(bytes) = fs::metadata(database).map(|found| found.len()) else { return Ok(None) };
        let last = match last_copy(database)? {
            Some(last) => Some(last),
            None => self.first_session_at()?,
        };
        Ok(last.and_then(|last| due_after(last, bytes)))
    }

    /// Returns when the first session was created. If no stored session has number 1, the logs are searched, which
    /// takes longer.
    fn first_session_at(&self) -> Result<Option<Timestamp>> {
        match self.store.with_number(1)? {
            Some(first) => Ok(self.store.load(&first)?.map(|loaded| loaded.row.created_at)),
            None => self.first_event_here(),
        }
    }

    /// Returns the time of the first event that was recorded here. Events derived from other tools' files can be older
    /// than the store, so they are skipped. If the searched events are all of that kind, the last of them counts.
    pub(crate) fn first_event_here(&self) -> Result<Option<Timestamp>> {
        let is_imported = |actor: &str| matches!(serde_json::from_str(actor), Ok(Actor::Tool { .. }));
        let first: Vec<_> =
            self.store.changes(0, FIRST_EVENTS)?.into_iter().map(|change| change.event).collect();
        let here = first.iter().find(|event| !is_imported(&event.actor)).or(first.last());
        Ok(here.map(|event| event.at))
    }

    /// Copies the store into the folder of its copies, and drops copies that are no longer needed.
    pub(crate) fn back_up(&self, database: &Path) -> Result<PathBuf> {
        let folder = folder(database);
        fs::create_dir_all(&folder)
            .map_err(|source| Error::io(format!("creating {}", folder.display()), source))?;
        let name = self.clock.now().to_zoned(TimeZone::UTC).strftime(NAME).to_string();
        let path = folder.join(format!("{name}.db"));
        match self.store.backup(&path) {
            Err(store::Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::AlreadyExists => {}
            done => done?,
        }
        prune(&folder, database)?;
        Ok(path)
    }

    /// Replaces copies that were made before a purge, because they contain the purged text. Returns a message if this
    /// fails.
    pub(crate) fn renew_backups_or_say(&self) -> Option<String> {
        let error = self.renew_backups().err()?;
        Some(format!("the store's backups may still contain purged text: {error}; run the command again"))
    }

    fn renew_backups(&self) -> Result<()> {
        if self.team.is_some() {
            return Ok(());
        }
        let database = self.project.database()?;
        let old: Vec<Backup> =
            found(&database)?.into_iter().filter(|copy| copy.made == Made::Automatically).collect();
        for copy in &old {
            fs::remove_file(&copy.path)
                .map_err(|source| Error::io(format!("removing {}", copy.path.display()), source))?;
        }
        if old.is_empty() { Ok(()) } else { self.back_up(&database).map(drop) }
    }
}

/// Returns the newest copy of a database, if there is one.
pub(crate) fn newest(database: &Path) -> Result<Option<Backup>> {
    Ok(found(database)?.into_iter().next())
}

fn project_of(options: &Options) -> Result<Project> {
    let from = match &options.project {
        Some(folder) => folder.clone(),
        None => std::env::current_dir().map_err(|source| Error::io("finding the current folder", source))?,
    };
    Project::find(&from)
}

fn due_after(last: Timestamp, bytes: u64) -> Option<Timestamp> {
    if bytes > LARGEST_COPIED {
        return None;
    }
    let wait = if bytes <= COPIED_HOURLY { HOUR } else { 24 * HOUR };
    Timestamp::from_second(last.as_second().saturating_add(wait)).ok()
}

/// Returns when the newest automatic copy was made, according to its name.
fn last_copy(database: &Path) -> Result<Option<Timestamp>> {
    Ok(entries(&folder(database))?.filter_map(|path| moment_of(&path)).max())
}

fn moment_of(copy: &Path) -> Option<Timestamp> {
    let name = copy.file_name()?.to_str()?.strip_suffix(".db")?;
    Some(jiff::civil::DateTime::strptime(NAME, name).ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

/// Returns the folder of the copies. Its name begins with that of the database, so that the project's `.gitignore`
/// excludes it.
fn folder(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".backups");
    PathBuf::from(name)
}

fn found(database: &Path) -> Result<Vec<Backup>> {
    let mut copies: Vec<Backup> = entries(&folder(database))?
        .filter_map(|path| {
            let at = moment_of(&path)?;
            Some(Backup { bytes: fs::metadata(&path).ok()?.len(), path, at, made: Made::Automatically })
        })
        .collect();
    copies.extend(before_migrations(database)?);
    copies.sort_by_key(|copy| std::cmp::Reverse(copy.at));
    Ok(copies)
}

/// Returns the copies made before an upgrade of the schema, such as `leftoff.db.v2.bak`.
fn before_migrations(database: &Path) -> Result<Vec<Backup>> {
    let Some((folder, name)) = database.parent().zip(database.file_name().and_then(|name| name.to_str()))
    else {
        return Ok(Vec::new());
    };
    let is_copy = |path: &PathBuf| {
        let found = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        found
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with(".v") && path.extension().is_some_and(|end| end == "bak"))
    };
    let copies = entries(folder)?.filter(is_copy).filter_map(|path| {
        let metadata = fs::metadata(&path).ok()?;
        let at = Timestamp::try_from(metadata.modified().ok()?).ok()?;
        Some(Backup { bytes: metadata.len(), path, at, made: Made::BeforeMigration })
    });
    Ok(copies.collect())
}

fn entries(folder: &Path) -> Result<impl Iterator<Item = PathBuf> + use<>> {
    let read = match fs::read_dir(folder) {
        Ok(entries) => Some(entries),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(source) => return Err(Error::io(format!("reading {}", folder.display()), source)),
    };
    Ok(read.into_iter().flatten().filter_map(std::result::Result::ok).map(|entry| entry.path()))
}

fn prune(folder: &Path, database: &Path) -> Result<()> {
    let copies: Vec<Backup> =
        found(database)?.into_iter().filter(|copy| copy.made == Made::Automatically).collect();
    let kept = kept(&copies.iter().map(|copy| copy.at).collect::<Vec<_>>());
    for copy in copies.iter().filter(|copy| !kept.contains(&copy.at)) {
        let _ = fs::remove_file(&copy.path);
    }
    // The file is an incomplete copy, left by a process that was killed.
    let is_left_over = |path: &PathBuf| {
        let is_part = path.to_string_lossy().contains(".db.part-");
        let age = fs::metadata(path).and_then(|found| found.modified()).ok().and_then(|at| at.elapsed().ok());
        is_part && age.is_some_and(|age| age > Duration::from_hours(1))
    };
    for path in entries(folder)?.filter(is_left_over) {
        let _ = fs::remove_file(path);
    }
    Ok(())
}

/// Returns the times of the copies to keep, given the times of all copies.
fn kept(moments: &[Timestamp]) -> BTreeSet<Timestamp> {
    let day = |at: &Timestamp| at.to_zoned(TimeZone::UTC).date();
    let mut kept: BTreeSet<Timestamp> = moments.iter().take(NEWEST_KEPT).copied().collect();
    let mut days = BTreeSet::new();
    for at in moments {
        if days.len() < DAYS_KEPT && days.insert(day(at)) {
            kept.insert(*at);
        }
    }
    kept
}

/// Returns a hint on how to restore a lost store; `None` if there is no copy.
pub(crate) fn restore_hint(database: &Path) -> Option<Hint> {
    let newest = newest(database).ok().flatten()?;
    let bytes = newest.bytes;
    Some(
        Hint::new(format!("there is a backup of {} ({bytes} bytes); restore the backup: ", newest.at))
            .run(words!["store", "restore"]),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    #[test]
    fn a_small_store_is_copied_each_hour_a_large_one_each_day_a_huge_one_never() {
        let last = at("2026-11-14T10:00:00Z");
        for (bytes, due) in [
            (1, Some("2026-11-14T11:00:00Z")),
            (COPIED_HOURLY + 1, Some("2026-11-15T10:00:00Z")),
            (LARGEST_COPIED + 1, None),
        ] {
            assert_eq!(due_after(last, bytes), due.map(at), "{bytes}");
        }
    }

    #[test]
    fn the_newest_three_and_one_a_day_for_a_week_are_kept() {
        let moments: Vec<Timestamp> = (1..=10)
            .rev()
            .flat_map(|day| (8..=12).rev().map(move |hour| at(&format!("2026-11-{day:02}T{hour:02}:00:00Z"))))
            .collect();
        let kept: Vec<String> = kept(&moments).iter().rev().map(ToString::to_string).collect();
        assert_eq!(
            kept,
            [
                "2026-11-10T12:00:00Z",
                "2026-11-10T11:00:00Z",
                "2026-11-10T10:00:00Z",
                "2026-11-09T12:00:00Z",
                "2026-11-08T12:00:00Z",
                "2026-11-07T12:00:00Z",
                "2026-11-06T12:00:00Z",
                "2026-11-05T12:00:00Z",
                "2026-11-04T12:00:00Z",
            ]
        );
    }
}
