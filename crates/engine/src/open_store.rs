//! Opens a project's store for an intent. Never uses another store instead. If the store is unreadable, queries are
//! answered from files alone.

use crate::engine::{HookNeeds, Intent};
use crate::error::{Error, Result};
use crate::foreign;
use crate::long_work::{Progress, Watcher};
use crate::project::Project;
use crate::server_store::Team;
use crate::time_limits::{ARRIVAL_SERVER_WAIT, HOOK_BUSY_WAIT, HOOK_SERVER_WAIT};
use crate::view::Warning;
use model::hint::Hint;
use model::words;
use rustix::fs::Access as Permission;
use std::path::Path;
use std::time::Duration;
use store::{Access, MemoryStore, SqliteStore, Store, WithUncommitted};

pub(crate) fn open_store(
    project: &Project,
    intent: Intent,
    watcher: &Watcher,
    warnings: &mut Vec<Warning>,
) -> Result<WithUncommitted> {
    let database = || project.database();
    match intent {
        Intent::Create => create_store(project, &database()?, watcher, warnings),
        Intent::Query => open_to_ask(project, &database()?, warnings),
        Intent::Command => {
            let database = database()?;
            // A command may adopt another tool's session, wherever that was found. So a missing store is created for
            // it.
            if !database.exists() && (can_be_made(&database) || foreign::has_foreign(project)) {
                return create_store(project, &database, watcher, warnings);
            }
            open_or_empty(&database, watcher)
        }
        Intent::Hook(needs) => open_for_hook(&database()?, needs != HookNeeds::Reads),
        Intent::WithoutStore => Ok(WithUncommitted::new(Box::new(MemoryStore::default()))),
    }
}

/// Opens the store on a server. A project that the server does not know has no sessions. It is added together with its
/// first session.
pub(crate) fn open_on_server(project: &Project, team: &Team, intent: Intent) -> Result<WithUncommitted> {
    let opened = match intent {
        Intent::Query => team.open(Access::Read, None),
        Intent::Command | Intent::Create => team.open(Access::Write, None),
        Intent::Hook(HookNeeds::WritesDown) | Intent::WithoutStore => {
            return Ok(WithUncommitted::new(Box::new(MemoryStore::default())));
        }
        Intent::Hook(HookNeeds::Reads) => team.open(Access::Read, Some(hook_budget(HOOK_SERVER_WAIT))),
        Intent::Hook(HookNeeds::Writes) => team.open(Access::Write, Some(hook_budget(HOOK_SERVER_WAIT))),
        Intent::Hook(HookNeeds::Arrives) => team.open(Access::Write, Some(hook_budget(ARRIVAL_SERVER_WAIT))),
    };
    let is_made = intent == Intent::Create || (intent == Intent::Command && foreign::has_foreign(project));
    match opened {
        Ok(store) => Ok(WithUncommitted::new(store)),
        Err(store::Error::Missing { .. }) if is_made => {
            let (project, team) = (project.clone(), team.clone());
            Ok(WithUncommitted::made_when_kept(Box::new(move || {
                team.make(&project).map(|made| made as Box<dyn Store>)
            })))
        }
        Err(store::Error::Missing { .. }) => Ok(WithUncommitted::new(Box::new(MemoryStore::default()))),
        Err(error) => Err(error.into()),
    }
}

/// Returns how long a hook may wait for a server. Debug builds read the time from a variable, for tests on a busy
/// machine.
fn hook_budget(usual: Duration) -> Duration {
    #[cfg(debug_assertions)]
    if let Some(given) = std::env::var("LEFTOFF_TEST_HOOK_MS").ok().and_then(|text| text.parse().ok()) {
        return Duration::from_millis(given);
    }
    usual
}

fn open_for_hook(database: &Path, writes: bool) -> Result<WithUncommitted> {
    let open = |access| SqliteStore::open_in_a_hurry(database, access, HOOK_BUSY_WAIT);
    let opened = match (writes, open(if writes { Access::Write } else { Access::Read })) {
        // If the store is locked or missing, it cannot be read either, and trying would only wait once more.
        (true, Err(error)) if !is_missing_or_locked(&error) => open(Access::Read).map_err(|_| error),
        (_, opened) => opened,
    };
    or_empty(opened)
}

fn is_missing_or_locked(error: &store::Error) -> bool {
    use store::Error as E;
    matches!(error, E::Missing { .. } | E::Busy { .. } | E::LocksFail { .. })
}

/// Opens a store for a query. If the store is unreadable, sessions in files are still shown.
fn open_to_ask(project: &Project, database: &Path, warnings: &mut Vec<Warning>) -> Result<WithUncommitted> {
    match SqliteStore::open(database, Access::Read) {
        Err(error @ store::Error::NotADatabase { .. }) if foreign::has_foreign(project) => {
            let error = error.into();
            let mut warning = Warning::from_error(Error::kind(&error), &error);
            warning.message.push_str("; only sessions in files are shown");
            warnings.push(warning);
            Ok(WithUncommitted::new(Box::new(MemoryStore::default())))
        }
        Ok(store) => {
            warnings.extend(store.reservations().into_iter().map(|error| {
                let error = error.into();
                Warning::from_error(Error::kind(&error), &error)
            }));
            Ok(WithUncommitted::new(Box::new(store)))
        }
        opened => or_empty(opened),
    }
}

/// Opens a store for reading. If nothing was ever stored here, an empty store answers every query.
fn open_or_empty(database: &Path, watcher: &Watcher) -> Result<WithUncommitted> {
    or_empty(SqliteStore::open_announcing(database, Access::Write, &|| watcher.see(Progress::Upgrade)))
}

fn or_empty(opened: store::Result<SqliteStore>) -> Result<WithUncommitted> {
    match opened {
        Ok(store) => Ok(WithUncommitted::new(Box::new(store))),
        Err(store::Error::Missing { .. }) => Ok(WithUncommitted::new(Box::new(MemoryStore::default()))),
        Err(error) => Err(error.into()),
    }
}

/// Creates a store: in the project or, if that is not writable, in the user's state folder. If a store exists but
/// cannot be written, this is an error.
fn create_store(
    project: &Project,
    database: &Path,
    watcher: &Watcher,
    warnings: &mut Vec<Warning>,
) -> Result<WithUncommitted> {
    let existed = database.exists();
    if !existed && can_be_made(database) {
        let (database, watcher) = (database.to_owned(), watcher.clone());
        return Ok(WithUncommitted::made_when_kept(Box::new(move || made_at(&database, &watcher))));
    }
    match made_at(database, watcher) {
        Ok(store) => Ok(WithUncommitted::new(store)),
        Err(store::Error::ReadOnly { .. }) if !existed && *database == project.default_database() => {
            let elsewhere = project.move_database_to_state_folder()?;
            warnings.push(Warning {
                kind: "store_elsewhere".to_owned(),
                message: format!(
                    "{} is not writable, so the store is at {}",
                    database.display(),
                    elsewhere.display()
                ),
                hint: Some(Hint::new("see where the store is: ").run(words!["store", "info"])),
                path: Some(elsewhere.display().to_string()),
                problem: None,
            });
            Ok(WithUncommitted::new(made_at(&elsewhere, watcher)?))
        }
        Err(error) => Err(error.into()),
    }
}

fn made_at(database: &Path, watcher: &Watcher) -> store::Result<Box<dyn Store>> {
    let upgrading = || watcher.see(Progress::Upgrade);
    Ok(Box::new(SqliteStore::open_announcing(database, Access::Create, &upgrading)?))
}

/// True if the nearest folder on the path that exists accepts a new file.
fn can_be_made(database: &Path) -> bool {
    let folder = database.ancestors().skip(1).find(|folder| folder.exists());
    let may = |folder| rustix::fs::access(folder, Permission::WRITE_OK | Permission::EXEC_OK).is_ok();
    folder.is_some_and(|folder| folder.is_dir() && may(folder))
}
