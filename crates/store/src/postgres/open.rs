//! Opens a project's part of a server's store. The module `migrations` creates or upgrades the tables if requested.

use super::address::Address;
use super::columns::{moment, values};
use super::local_journal::Local;
use super::migrations::{READS, migrate, newest};
use super::turn::BEGIN;
use super::wire::{Limit, PATIENT, Wire};
use super::{PostgresStore, Scope};
use crate::{Access, Error, Result};
use jiff::Timestamp;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio_postgres::error::SqlState;

/// Parameters for opening a server's store.
#[derive(Debug, Clone)]
pub struct Opening<'a> {
    pub url: &'a str,
    /// The project's id, which all clones share.
    pub project: &'a str,
    /// This machine's id.
    pub machine: &'a str,
    /// This machine's name.
    pub host: &'a str,
    /// The folder for data that stays on this machine.
    pub local: &'a Path,
    pub access: Access,
    /// The limit of all waits together; `None` if the caller can wait for long.
    pub budget: Option<Duration>,
}

pub(super) fn open(opening: &Opening<'_>) -> Result<PostgresStore> {
    let address = Address::parse(opening.url)?;
    let limit = opening.budget.map_or(PATIENT, |budget| Limit::Until(Instant::now() + budget));
    let wire = Wire::connect(address, limit)?;
    let mut found = look(&wire, opening)?;
    if opening.access == Access::Create && !matches!(found, Found { project: Some(_), version: Some(_), .. })
    {
        if found.version.is_none_or(|version| version < newest()) {
            migrate(&wire)?;
        }
        make_project(&wire, opening.project)?;
        found = look(&wire, opening)?;
    }
    let version = found.checked(&wire)?;
    if version < newest() {
        match (opening.access, opening.budget) {
            (Access::Create | Access::Write, None) => migrate(&wire)?,
            (Access::Read, _) if version >= READS => {}
            (Access::Read, _) | (_, Some(_)) => return Err(left_to_others(&wire)),
        }
    }
    let Some(project) = found.project else { return Err(missing(&wire)) };
    if opening.access != Access::Read && found.host.as_deref() != Some(opening.host) {
        name_machine(&wire, project, opening)?;
    }
    Ok(PostgresStore {
        wire,
        project,
        machine: opening.machine.to_owned(),
        local: Local::new(opening.local, opening.project),
        writable: opening.access != Access::Read,
        must_sync: found.must_sync,
        must_begin: found.must_begin,
        time: found.time,
        turn: None,
        locked_turns: 0,
        remembered: None,
    })
}

struct Found {
    /// The version of the tables; `None` if the schema has no tables of this program.
    version: Option<u32>,
    readable_by: u32,
    project: Option<i32>,
    must_sync: bool,
    must_begin: bool,
    time: Timestamp,
    /// This machine's name as stored on the server.
    host: Option<String>,
}

impl Found {
    fn checked(&self, wire: &Wire) -> Result<u32> {
        let Some(version) = self.version else { return Err(missing(wire)) };
        if self.readable_by > newest() {
            let path = wire.address.place.clone().into();
            return Err(Error::Newer { path, found: version, known: newest() });
        }
        Ok(version)
    }
}

fn look(wire: &Wire, opening: &Opening<'_>) -> Result<Found> {
    let sql = "SELECT a.version,a.readable_by,p.project,current_setting('synchronous_commit')='off',\
               (extract(epoch FROM clock_timestamp())*1000000)::bigint*1000,m.host,\
               current_setting('synchronous_commit')='off' OR \
               current_setting('default_transaction_isolation')<>'read committed' \
               FROM leftoff.about a LEFT JOIN leftoff.projects p ON p.id=$1 \
               LEFT JOIN leftoff.machines m ON m.project=p.project AND m.machine=$2";
    let ask = wire.ask();
    let found = wire.wait(async {
        let Some(row) = ask.row(sql, values![opening.project, opening.machine]).await? else {
            return Ok(None);
        };
        Ok(Some(Found {
            version: Some(u32::try_from(row.try_get::<_, i32>(0)?).unwrap_or_default()),
            readable_by: u32::try_from(row.try_get::<_, i32>(1)?).unwrap_or_default(),
            project: row.try_get(2)?,
            must_sync: row.try_get(3)?,
            must_begin: row.try_get(6)?,
            time: moment(&row, 4)?,
            host: row.try_get(5)?,
        }))
    });
    let nothing = || Found {
        version: None,
        readable_by: 0,
        project: None,
        must_sync: false,
        must_begin: false,
        time: Timestamp::UNIX_EPOCH,
        host: None,
    };
    match found {
        Ok(found) => Ok(found.unwrap_or_else(nothing)),
        Err(stop)
            if stop.code().is_some_and(|code| {
                *code == SqlState::UNDEFINED_TABLE || *code == SqlState::INVALID_SCHEMA_NAME
            }) =>
        {
            Ok(nothing())
        }
        Err(stop) => Err(wire.failure("opening", stop)),
    }
}

fn make_project(wire: &Wire, project: &str) -> Result<()> {
    let ask = wire.ask();
    wire.run("adding the project", async {
        ask.plainly(BEGIN).await?;
        let sql = "INSERT INTO leftoff.projects(id)VALUES($1)ON CONFLICT(id)DO NOTHING";
        ask.change(sql, values![project]).await?;
        let sql = "INSERT INTO leftoff.signs(project)SELECT project FROM leftoff.projects WHERE id=$1 ON CONFLICT DO NOTHING";
        ask.change(sql, values![project]).await?;
        ask.plainly("COMMIT").await.map(drop)
    })
}

fn name_machine(wire: &Wire, project: i32, opening: &Opening<'_>) -> Result<()> {
    let ask = wire.ask();
    wire.run("registering this machine", async {
        let sql = "INSERT INTO leftoff.machines(project,machine,host)VALUES($1,$2,$3)\
                   ON CONFLICT(project,machine)DO UPDATE SET host=excluded.host";
        ask.change(sql, values![project, opening.machine, opening.host]).await.map(drop)
    })
}

fn missing(wire: &Wire) -> Error {
    Error::Missing { path: wire.address.place.clone().into() }
}

fn left_to_others(wire: &Wire) -> Error {
    Error::Engine {
        doing: format!("opening {}", wire.address.place),
        why: "the database has an older schema; the next command that changes something upgrades it"
            .to_owned(),
    }
}

/// Converts an error of the journal on this machine to a store error.
pub(super) fn failed(doing: &'static str, path: &Path) -> impl Fn(rusqlite::Error) -> Error {
    move |error| Error::Engine { doing: format!("{doing} {}", path.display()), why: error.to_string() }
}

/// Everything that a statement needs: the connection, the project and the machine.
impl PostgresStore {
    pub(super) fn scope(&self) -> Scope<'_> {
        Scope { ask: self.wire.ask(), project: self.project, machine: &self.machine }
    }
}
