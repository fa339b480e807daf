//! Creates the tables on a server, and upgrades them from one schema to the next. The machines of a team need not be
//! upgraded at the same time.

use super::columns::values;
use super::turn::BEGIN;
use super::wire::{Step, Wire, named};
use crate::{Error, Result};
use tokio_postgres::error::SqlState;

/// SQL scripts: the script at index n upgrades version n to n + 1. Never edit a script that was released. A script must
/// keep everything that older programs use, because a team's machines do not upgrade at the same time.
const MIGRATIONS: &[&str] = &[include_str!("schema.sql"), include_str!("functions.sql")];

/// The oldest schema version whose programs can still use the tables of the newest version.
const READABLE_BY: u32 = 1;

/// The oldest schema version that this program can read without an upgrade.
pub(super) const READS: u32 = 1;

/// The oldest supported version of PostgreSQL.
const OLDEST_SERVER: i32 = 150_000;

/// The number of the lock that a migration holds: "left" in ASCII.
const LOCK: i64 = 0x6c65_6674;

/// Returns the statements that create all tables of the newest version. An administrator may want to read these
/// statements before they are executed.
pub fn schema(name: &str) -> String {
    let make = format!("BEGIN;\nCREATE SCHEMA IF NOT EXISTS {name};\n");
    let steps: String = MIGRATIONS.iter().map(|step| named(step, name).into_owned()).collect();
    let mark =
        format!("UPDATE leftoff.about SET version={}, readable_by={READABLE_BY};\nCOMMIT;\n", newest());
    format!("{make}{steps}{}", named(&mark, name))
}

/// Upgrades the tables. A lock admits one process at a time; the next process finds the upgrade done.
pub(super) fn migrate(wire: &Wire) -> Result<()> {
    let ask = wire.ask();
    let schema = wire.address.schema.clone();
    let done = wire.wait(async {
        refuse_old_server(&ask.plainly("SHOW server_version_num").await?)?;
        ask.plainly(&format!("{BEGIN}SELECT pg_advisory_xact_lock({LOCK})")).await?;
        let sql = "SELECT to_regnamespace($1) IS NOT NULL,to_regclass($1||'.about') IS NOT NULL";
        let rows = ask.rows(sql, values![schema]).await?;
        let is = |column| rows.first().map_or(Ok(false), |row| row.try_get::<_, bool>(column));
        if !is(0)? {
            ask.plainly(&format!("CREATE SCHEMA {schema}")).await?;
        }
        let now = if is(1)? {
            let row = ask.row("SELECT version FROM leftoff.about", values![]).await?;
            row.map_or(Ok(0), |row| row.try_get::<_, i32>(0))?
        } else {
            0
        };
        for step in MIGRATIONS.iter().skip(usize::try_from(now).unwrap_or_default()) {
            ask.plainly(step).await?;
        }
        let version = i32::try_from(MIGRATIONS.len()).unwrap_or(i32::MAX);
        let sql = "UPDATE leftoff.about SET version=$1,readable_by=$2 WHERE version<$1";
        ask.change(sql, values![version, i32::try_from(READABLE_BY).unwrap_or(i32::MAX)]).await?;
        ask.plainly("COMMIT").await?;
        Ok(())
    });
    done.map_err(|stop| {
        let is_of_rights = stop.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE);
        match wire.failure("creating the tables", stop) {
            Error::Denied { place, why } if is_of_rights => {
                Error::Denied { place, why: format!("the tables cannot be created or upgraded: {why}") }
            }
            other => other,
        }
    })
}

fn refuse_old_server(rows: &[tokio_postgres::SimpleQueryRow]) -> Step<()> {
    let version = rows.first().and_then(|row| row.get(0)?.parse::<i32>().ok()).unwrap_or_default();
    if version >= OLDEST_SERVER {
        return Ok(());
    }
    let why = format!("PostgreSQL 15 or newer is needed; this is {}", version / 10_000);
    Err(Error::Engine { doing: "creating the tables".to_owned(), why }.into())
}

pub(super) fn newest() -> u32 {
    u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX)
}
