//! Every store passes the contract.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test stops at the first surprise and tells its cases"
)]

mod reopening;

use reopening::Reopening;
use store::contract::run_all;
use store::{Access, LaidOver, MemoryStore, SqliteStore, Store};

fn tell(name: &str) {
    println!("{name}");
}

#[test]
fn in_memory() {
    run_all(&mut tell, &mut || Box::new(MemoryStore::new()));
}

#[test]
fn with_nothing_laid_over() {
    run_all(&mut tell, &mut || Box::new(LaidOver::new(Box::new(MemoryStore::new()))));
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

/// As one-shot commands use it: each operation opens the database anew, for no more than it needs.
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
