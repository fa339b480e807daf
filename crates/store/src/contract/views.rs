//! Contract: files that show a session. Stored with a batch, confirmed later, separate per session.

use super::Factory;
use super::rows::{batch, begin, id, line, paused, with};
use crate::{Batch, ViewRow, WriteJournal};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(1);

fn view(session: &str, path: &str, body: &[u8]) -> ViewRow {
    ViewRow {
        session: id(session),
        path: path.to_owned(),
        hash: format!("hash of {}", body.len()),
        body: body.to_vec(),
        previous: b"\x00\xff".to_vec(),
        earlier: vec!["one".to_owned(), "two".to_owned()],
        version: 7,
        boot_id: "boot".to_owned(),
        confirmed: false,
        journal: WriteJournal { put_hash: Some("put".to_owned()), ..WriteJournal::default() },
    }
}

pub(super) fn a_file_comes_back_as_it_was_given(make: &mut Factory<'_>) {
    let mut store = make();
    let rows = vec![view("first", "a/b.json", b"{}"), view("first", "c", &[0, 1, 2, 255])];
    store.append(&Batch { views: rows.clone(), ..batch([begin(line("first"))]) }).unwrap();
    assert_eq!(store.views(&id("first")).unwrap(), rows);
    assert_eq!(store.views(&id("FIRST")).unwrap(), []);
}

pub(super) fn a_file_replaces_what_was_known_of_it(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [paused("first"), paused("second")]);
    let keep = |store: &mut dyn crate::Store, row: ViewRow| {
        store.append(&Batch { views: vec![row], ..Batch::default() }).unwrap();
    };
    keep(&mut *store, view("first", "a", b"old"));
    keep(&mut *store, view("second", "a", b"other"));
    keep(&mut *store, view("first", "a", b"newer"));
    assert_eq!(store.views(&id("first")).unwrap(), [view("first", "a", b"newer")]);
    assert_eq!(store.views(&id("second")).unwrap(), [view("second", "a", b"other")]);
}

pub(super) fn only_the_file_that_is_meant_is_confirmed(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [paused("first")]);
    let rows = vec![view("first", "a", b"1"), view("first", "b", b"22")];
    store.append(&Batch { views: rows.clone(), ..Batch::default() }).unwrap();
    let other_bytes = view("first", "a", b"333");
    let other_version = ViewRow { version: 6, ..rows[0].clone() };
    for not_meant in [other_bytes, other_version, view("first", "c", b"1")] {
        store.confirm_view(&not_meant, PATIENCE).unwrap();
        assert_eq!(store.views(&id("first")).unwrap(), rows);
    }
    // The stored content may now be shorter than what was written.
    let less =
        ViewRow { body: b"a part".to_vec(), previous: Vec::new(), earlier: Vec::new(), ..rows[0].clone() };
    store.confirm_view(&less, PATIENCE).unwrap();
    let known = store.views(&id("first")).unwrap();
    assert_eq!(known, [ViewRow { confirmed: true, ..less }, rows[1].clone()]);
}

pub(super) fn a_file_of_no_session_is_refused(make: &mut Factory<'_>) {
    let mut store = make();
    store.append(&Batch { views: vec![view("nobody", "a", b"1")], ..Batch::default() }).unwrap_err();
    assert_eq!(store.views(&id("nobody")).unwrap(), []);
}

pub(super) fn a_write_is_noted_of_a_known_file_alone(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [paused("first")]);
    let rows = vec![view("first", "a", b"1"), view("first", "b", b"22")];
    store.append(&Batch { views: rows.clone(), ..Batch::default() }).unwrap();
    let journal = WriteJournal {
        put_hash: Some("new".to_owned()),
        put_expected: Some("old".to_owned()),
        backup: Some("7 old 12.3".to_owned()),
        loses: Some("a line".to_owned()),
    };
    for (session, path) in [("first", "c"), ("FIRST", "a"), ("nobody", "a")] {
        store.note_write(&id(session), path, &journal, PATIENCE).unwrap();
        assert_eq!(store.views(&id("first")).unwrap(), rows);
    }
    store.note_write(&id("first"), "a", &journal, PATIENCE).unwrap();
    let noted = ViewRow { journal, ..rows[0].clone() };
    assert_eq!(store.views(&id("first")).unwrap(), [noted.clone(), rows[1].clone()]);
    store.note_write(&id("first"), "a", &WriteJournal::default(), PATIENCE).unwrap();
    assert_eq!(store.views(&id("first")).unwrap()[0].journal, WriteJournal::default());
}
