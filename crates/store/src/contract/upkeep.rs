//! Contract: the store as a whole.

use super::Factory;
use super::rows::{batch, go_on, line, paused, with};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

pub(super) fn a_store_tells_how_much_it_holds(make: &mut Factory<'_>) {
    let mut store = make();
    let empty = store.info().unwrap();
    assert_eq!((empty.sessions, empty.events), (0, 0));
    with(&mut *store, [paused("first"), paused("second")]);
    store.append(&batch([go_on(paused("first"), 3)])).unwrap();
    let info = store.info().unwrap();
    assert_eq!((info.sessions, info.events), (2, 5));
    assert!(!info.engine.is_empty() && !info.place.is_empty());
}

pub(super) fn a_store_in_order_has_no_findings(make: &mut Factory<'_>) {
    let mut store = make();
    assert_eq!(store.check().unwrap(), [""; 0]);
    with(&mut *store, [paused("first"), line("second")]);
    store.append(&batch([go_on(paused("first"), 3)])).unwrap();
    assert_eq!(store.check().unwrap(), [""; 0]);
}

/// Some stores support no backup. If a store supports backups, a backup does not overwrite an existing file.
pub(super) fn a_backup_never_overwrites(make: &mut Factory<'_>) {
    static FOLDERS: AtomicU32 = AtomicU32::new(0);
    let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
    let folder: PathBuf =
        std::env::temp_dir().join(format!("leftoff-contract-{}-{number}", std::process::id()));
    std::fs::create_dir(&folder).expect("the folder is new");
    let mut store = make();
    with(&mut *store, [paused("first")]);
    let (taken, free) = (folder.join("taken"), folder.join("free"));
    std::fs::write(&taken, "somebody's").unwrap();
    store.backup(&taken).unwrap_err();
    let copied = store.backup(&free).is_ok();
    let names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    let kept = std::fs::read_to_string(&taken).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(kept, "somebody's");
    assert_eq!(names.len(), 1 + usize::from(copied), "{names:?}");
}
