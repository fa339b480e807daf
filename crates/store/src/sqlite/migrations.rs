//! Migrates a SQLite database from one schema to the next. Never changes a database whose schema is newer than this
//! program.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// The application id of leftoff's databases: "left" in ASCII.
pub(super) const APPLICATION_ID: i32 = 0x6c65_6674;

/// SQL scripts: the script at index n turns schema n into schema n + 1. Never edit a script that was released.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("schema.sql"),
    include_str!("memory.sql"),
    include_str!("version_0_2.sql"),
    include_str!("sharing.sql"),
    include_str!("sums.sql"),
    include_str!("journal.sql"),
];

/// Returns the number of the newest schema in a list of migrations.
pub(super) fn newest(migrations: &[&str]) -> u32 {
    u32::try_from(migrations.len()).unwrap_or(u32::MAX)
}

/// The values by which a database identifies itself: program and schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) application_id: i32,
    pub(super) schema: u32,
}

pub(super) fn marks(connection: &Connection) -> rusqlite::Result<Marks> {
    Ok(Marks {
        application_id: connection.query_row("PRAGMA application_id", [], |row| row.get(0))?,
        schema: schema(connection)?,
    })
}

/// Runs the missing migrations. Each runs in one transaction, which also stores the schema number.
pub(super) fn run(connection: &mut Connection, migrations: &[&str]) -> rusqlite::Result<()> {
    for (version, sql) in (1..).zip(migrations) {
        let step = Transaction::new(connection, TransactionBehavior::Immediate)?;
        // The schema is checked inside the transaction, because another process may have migrated the database in the
        // meantime.
        if schema(&step)? >= version {
            continue;
        }
        step.execute_batch(sql)?;
        step.pragma_update(None, "application_id", APPLICATION_ID)?;
        step.pragma_update(None, "user_version", version)?;
        step.commit()?;
    }
    Ok(())
}

fn schema(connection: &Connection) -> rusqlite::Result<u32> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]
    use super::*;

    const SECOND: &str = "CREATE TABLE later(what TEXT); INSERT INTO later VALUES('kept')";

    #[test]
    fn every_missing_step_runs_once() {
        let mut database = Connection::open_in_memory().unwrap();
        run(&mut database, MIGRATIONS).unwrap();
        assert_eq!(
            marks(&database).unwrap(),
            Marks { application_id: APPLICATION_ID, schema: newest(MIGRATIONS) }
        );

        let more = [MIGRATIONS, &[SECOND]].concat();
        run(&mut database, &more).unwrap();
        run(&mut database, &more).unwrap();
        assert_eq!(marks(&database).unwrap().schema, newest(&more));
        let rows: u32 = database.query_row("SELECT count(*) FROM later", [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 1);
    }

    #[test]
    fn a_step_that_fails_leaves_the_schema_as_it_was() {
        let mut database = Connection::open_in_memory().unwrap();
        run(&mut database, MIGRATIONS).unwrap();
        let broken = [MIGRATIONS, &["CREATE TABLE later(what TEXT); INSERT INTO nowhere VALUES(1)"]].concat();
        run(&mut database, &broken).unwrap_err();
        assert_eq!(marks(&database).unwrap().schema, newest(MIGRATIONS));
        database.query_row("SELECT 1 FROM later", [], |_| Ok(())).unwrap_err();
    }
}
