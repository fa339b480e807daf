//! Every kind of store fulfils the contract.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test stops at the first surprise and tells its cases"
)]

mod reopening;

use reopening::Reopening;
use store::contract::run_all;
use store::{Access, MemoryStore, SqliteStore, Store, WithUncommitted};

fn tell(name: &str) {
    println!("{name}");
}

#[test]
fn in_memory() {
    run_all(&mut tell, &mut || Box::new(MemoryStore::new()));
}

#[test]
fn with_nothing_laid_over() {
    run_all(&mut tell, &mut || Box::new(WithUncommitted::new(Box::new(MemoryStore::new()))));
}

#[test]
fn in_sqlite() {
    let folders = tempfile::tempdir().unwrap();
    let mut number = 0;
    run_all(&mut tell, &mut || {
        number += 1;
        let path = folders.path().join(format!("{number}/leftoff.db"));
        Box::new(SqliteStore::open(&path, Access::Create).unwrap())
    });
    assert!(number > 0);
}

/// A store as single commands use it: each operation reopens the database, with no more access than it needs.
#[test]
fn in_sqlite_opened_anew_for_each_operation() {
    let folders = tempfile::tempdir().unwrap();
    let mut number = 0;
    run_all(&mut tell, &mut || -> Box<dyn Store> {
        number += 1;
        let path = folders.path().join(format!("{number}/leftoff.db"));
        drop(SqliteStore::open(&path, Access::Create).unwrap());
        Box::new(Reopening::new(path))
    });
    assert!(number > 0);
}

/// Each case has a schema of its own.
#[cfg(feature = "postgres")]
#[test]
fn in_postgres() {
    let folders = tempfile::tempdir().unwrap();
    let mut number = 0;
    if testkit::postgres::shared("the contract of stores in PostgreSQL").is_none() {
        return;
    }
    run_all(&mut tell, &mut || {
        number += 1;
        let url = testkit::postgres::schema("").unwrap();
        let opening = store::Opening {
            url: &url,
            project: "a1b2c3",
            machine: "workshop",
            host: "workshop",
            local: &folders.path().join(number.to_string()),
            access: Access::Create,
            budget: None,
        };
        Box::new(store::PostgresStore::open(&opening).unwrap())
    });
    assert!(number > 0);
}
