//! Opens a project's store for what it is wanted for. Never falls back to another one.

use crate::engine::Intent;
use crate::error::Result;
use crate::place::Project;
use crate::sync;
use crate::view::Warning;
use std::path::Path;
use std::time::Duration;
use store::{Access, MemoryStore, SqliteStore, Store};

pub(crate) fn open_store(
    project: &Project,
    intent: Intent,
    warnings: &mut Vec<Warning>,
) -> Result<Box<dyn Store>> {
    let database = project.database()?;
    match intent {
        Intent::Create => create_store(project, &database, warnings),
        Intent::Query => open_or_empty(&database, Access::Read),
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

fn open_for_hook(database: &Path, writes: bool) -> Result<Box<dyn Store>> {
    let open = |access| SqliteStore::open_in_a_hurry(database, access, HOOK_BUSY_WAIT);
    let opened = match (writes, open(if writes { Access::Write } else { Access::Read })) {
        (true, Err(error)) if !matches!(error, store::Error::Missing { .. }) => {
            open(Access::Read).map_err(|_| error)
        }
        (_, opened) => opened,
    };
    or_empty(opened)
}

/// Nothing was ever kept here: an empty store says so to every question.
fn open_or_empty(database: &Path, access: Access) -> Result<Box<dyn Store>> {
    or_empty(SqliteStore::open(database, access))
}

fn or_empty(opened: store::Result<SqliteStore>) -> Result<Box<dyn Store>> {
    match opened {
        Ok(store) => Ok(Box::new(store)),
        Err(store::Error::Missing { .. }) => Ok(Box::new(MemoryStore::default())),
        Err(error) => Err(error.into()),
    }
}

/// Only a store that never existed may be put elsewhere; one that exists and cannot be written is an error.
fn create_store(project: &Project, database: &Path, warnings: &mut Vec<Warning>) -> Result<Box<dyn Store>> {
    let existed = database.exists();
    match SqliteStore::open(database, Access::Create) {
        Ok(store) => Ok(Box::new(store)),
        Err(store::Error::ReadOnly { .. }) if !existed && *database == project.default_database() => {
            let elsewhere = project.move_database_to_state_folder()?;
            warnings.push(Warning {
                kind: "store_elsewhere".to_owned(),
                message: format!(
                    "{} cannot be written, so the store is {}",
                    database.display(),
                    elsewhere.display()
                ),
                hint: Some("it stays there for this project: leftoff store info".to_owned()),
                path: Some(elsewhere.display().to_string()),
            });
            Ok(Box::new(SqliteStore::open(&elsewhere, Access::Create)?))
        }
        Err(error) => Err(error.into()),
    }
}
