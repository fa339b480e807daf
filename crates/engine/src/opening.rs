//! Opens a project's store for what it is wanted for. Never falls back to another one: where it cannot be read, questions
//! are answered from files alone.

use crate::engine::Intent;
use crate::error::{Error, Result};
use crate::place::Project;
use crate::sync;
use crate::view::Warning;
use model::hint::Hint;
use model::words;
use rustix::fs::Access as Permission;
use std::path::Path;
use std::time::Duration;
use store::{Access, LaidOver, MemoryStore, SqliteStore, Store};

pub(crate) fn open_store(project: &Project, intent: Intent, warnings: &mut Vec<Warning>) -> Result<LaidOver> {
    let database = project.database()?;
    match intent {
        Intent::Create => create_store(project, &database, warnings),
        Intent::Query => open_to_ask(project, &database, warnings),
        // A command may take in a session that another tool keeps here: what it does must be kept.
        Intent::Command if !database.exists() && sync::has_foreign(project) => {
            create_store(project, &database, warnings)
        }
        Intent::Command => open_or_empty(&database, Access::Write),
        Intent::Hook { writes } => open_for_hook(&database, writes),
    }
}

/// How long a hook waits for another program that has the database locked.
const HOOK_BUSY_WAIT: Duration = Duration::from_millis(20);

fn open_for_hook(database: &Path, writes: bool) -> Result<LaidOver> {
    let open = |access| SqliteStore::open_in_a_hurry(database, access, HOOK_BUSY_WAIT);
    let opened = match (writes, open(if writes { Access::Write } else { Access::Read })) {
        (true, Err(error)) if !matches!(error, store::Error::Missing { .. }) => {
            open(Access::Read).map_err(|_| error)
        }
        (_, opened) => opened,
    };
    or_empty(opened)
}

/// Where the log cannot be read, what other tools' files tell is told: that much is known.
fn open_to_ask(project: &Project, database: &Path, warnings: &mut Vec<Warning>) -> Result<LaidOver> {
    match SqliteStore::open(database, Access::Read) {
        Err(error @ store::Error::NotADatabase { .. }) if sync::has_foreign(project) => {
            let error = error.into();
            let mut warning = Warning::from_error(Error::kind(&error), &error);
            warning.message.push_str("; only what is in files is shown, as those tell it");
            warnings.push(warning);
            Ok(LaidOver::new(Box::new(MemoryStore::default())))
        }
        opened => or_empty(opened),
    }
}

/// Nothing was ever kept here: an empty store says so to every question.
fn open_or_empty(database: &Path, access: Access) -> Result<LaidOver> {
    or_empty(SqliteStore::open(database, access))
}

fn or_empty(opened: store::Result<SqliteStore>) -> Result<LaidOver> {
    match opened {
        Ok(store) => Ok(LaidOver::new(Box::new(store))),
        Err(store::Error::Missing { .. }) => Ok(LaidOver::new(Box::new(MemoryStore::default()))),
        Err(error) => Err(error.into()),
    }
}

/// Only a store that never existed may be put elsewhere; one that exists and cannot be written is an error.
fn create_store(project: &Project, database: &Path, warnings: &mut Vec<Warning>) -> Result<LaidOver> {
    let existed = database.exists();
    if !existed && can_be_made(database) {
        let database = database.to_owned();
        return Ok(LaidOver::made_when_kept(Box::new(move || made_at(&database))));
    }
    match made_at(database) {
        Ok(store) => Ok(LaidOver::new(store)),
        Err(store::Error::ReadOnly { .. }) if !existed && *database == project.default_database() => {
            let elsewhere = project.move_database_to_state_folder()?;
            warnings.push(Warning {
                kind: "store_elsewhere".to_owned(),
                message: format!(
                    "{} cannot be written, so the store is {}",
                    database.display(),
                    elsewhere.display()
                ),
                hint: Some(Hint::new("it stays there for this project: ").run(words!["store", "info"])),
                path: Some(elsewhere.display().to_string()),
                problem: None,
            });
            Ok(LaidOver::new(made_at(&elsewhere)?))
        }
        Err(error) => Err(error.into()),
    }
}

fn made_at(database: &Path) -> store::Result<Box<dyn Store>> {
    Ok(Box::new(SqliteStore::open(database, Access::Create)?))
}

/// Whether the folder that is there, of those that lead to it, takes another file.
fn can_be_made(database: &Path) -> bool {
    let folder = database.ancestors().skip(1).find(|folder| folder.exists());
    let may = |folder| rustix::fs::access(folder, Permission::WRITE_OK | Permission::EXEC_OK).is_ok();
    folder.is_some_and(|folder| folder.is_dir() && may(folder))
}
