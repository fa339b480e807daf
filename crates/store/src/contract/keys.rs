//! Contract: keys, with which a repeated command takes effect only once.

use super::Factory;
use super::rows::{batch, everything, go_on, key, line, moment};
use crate::{Batch, Error, KEY_LIFETIME, KeyRow, SessionRow};

const LIFETIME: i64 = KEY_LIFETIME.as_secs();

fn keyed(key: KeyRow, stands_at: u64) -> Batch {
    Batch { key: Some(key), ..batch([go_on(SessionRow { version: stands_at, ..line("first") }, 1)]) }
}

pub(super) fn a_key_counts_once(make: &mut Factory<'_>) {
    let mut store = make();
    store.append(&keyed(key("k1", moment(0)), 0)).unwrap();
    let before = everything(&*store);
    let answered =
        KeyRow { answer: "another".to_owned(), fingerprint: "another".to_owned(), ..key("k1", moment(5)) };
    assert!(matches!(store.append(&keyed(answered, 1)), Err(Error::KeyTaken)));
    assert_eq!(everything(&*store), before);
    assert_eq!(store.recall("k1", moment(-1)).unwrap(), Some(key("k1", moment(0))));
    store.append(&keyed(key("K1", moment(5)), 1)).expect("keys differ in case");
}

pub(super) fn a_key_is_recalled_if_it_was_used_after_a_moment(make: &mut Factory<'_>) {
    let mut store = make();
    store.append(&keyed(key("k1", moment(100)), 0)).unwrap();
    assert_eq!(store.recall("k1", moment(99)).unwrap(), Some(key("k1", moment(100))));
    assert_eq!(store.recall("k1", moment(100)).unwrap(), None);
    assert_eq!(store.recall("k2", moment(0)).unwrap(), None);
}

pub(super) fn a_key_of_a_refused_batch_is_not_kept(make: &mut Factory<'_>) {
    let mut store = make();
    assert!(matches!(store.append(&keyed(key("k1", moment(0)), 4)), Err(Error::Conflict { .. })));
    assert_eq!(store.recall("k1", moment(-1)).unwrap(), None);
    store.append(&keyed(key("k1", moment(0)), 0)).unwrap();
}

pub(super) fn an_old_key_is_replaced(make: &mut Factory<'_>) {
    let mut store = make();
    store.append(&keyed(key("k1", moment(0)), 0)).unwrap();
    let almost = key("k1", moment(LIFETIME - 1));
    assert!(matches!(store.append(&keyed(almost, 1)), Err(Error::KeyTaken)));
    store.append(&keyed(key("k1", moment(LIFETIME)), 1)).unwrap();
    assert_eq!(store.recall("k1", moment(0)).unwrap(), Some(key("k1", moment(LIFETIME))));
    // Removing expired keys does not remove those that are still valid.
    store.append(&keyed(key("k2", moment(LIFETIME + 1)), 2)).unwrap();
    assert_eq!(store.recall("k1", moment(0)).unwrap(), Some(key("k1", moment(LIFETIME))));
}

pub(super) fn a_key_in_the_way_is_told_before_a_conflict(make: &mut Factory<'_>) {
    let mut store = make();
    let command = keyed(key("k1", moment(0)), 0);
    store.append(&command).unwrap();
    assert!(matches!(store.append(&command), Err(Error::KeyTaken)));
}
