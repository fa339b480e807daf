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
        store.confirm_views(&[not_meant], PATIENCE).unwrap();
        assert_eq!(store.views(&id("first")).unwrap(), rows);
    }
    // The content that is stored with the confirmation may be shorter than the content that was written.
    let less =
        ViewRow { body: b"a part".to_vec(), previous: Vec::new(), earlier: Vec::new(), ..rows[0].clone() };
    store.confirm_views(std::slice::from_ref(&less), PATIENCE).unwrap();
    let known = store.views(&id("first")).unwrap();
    assert_eq!(known, [ViewRow { confirmed: true, ..less }, rows[1].clone()]);
}

pub(super) fn a_file_of_no_session_is_refused(make: &mut Factory<'_>) {
    let mut store = make();
    store.append(&Batch { views: vec![view("nobody", "a", b"1")], ..Batch::default() }).unwrap_err();
    assert_eq!(store.views(&id("nobody")).unwrap(), []);
}

pub(super) fn a_write_is_noted_of_known_files_alone(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [paused("first")]);
    let rows = vec![view("first", "a", b"1"), view("first", "b", b"22")];
    store.append(&Batch { views: rows.clone(), ..Batch::default() }).unwrap();
    let journal = WriteJournal {
        put_hash: Some("new".to_owned()),
        put_expected: Some("old".to_owned()),
        put_this: true,
        backup: Some("7 old 12.3".to_owned()),
        loses: None,
    };
    for (session, path) in [("first", "c"), ("FIRST", "a"), ("nobody", "a")] {
        let stranger = ViewRow { journal: journal.clone(), ..view(session, path, b"1") };
        store.note_writes(&[stranger]).unwrap();
        assert_eq!(store.views(&id("first")).unwrap(), rows);
    }
    // Nothing else in the row changes, not even the content that the write removes from the file.
    let noted = ViewRow { journal: journal.clone(), ..rows[0].clone() };
    let given = ViewRow { body: Vec::new(), confirmed: true, ..noted.clone() };
    store.note_writes(&[given, rows[1].clone()]).unwrap();
    assert_eq!(store.views(&id("first")).unwrap(), [noted, rows[1].clone()]);
    let forgotten = ViewRow { journal: WriteJournal::default(), ..rows[0].clone() };
    store.note_writes(std::slice::from_ref(&forgotten)).unwrap();
    assert_eq!(store.views(&id("first")).unwrap()[0], forgotten);
}

pub(super) fn a_new_row_inherits_the_journal_of_its_file_and_was_not_put_itself(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [paused("first")]);
    let journal = WriteJournal {
        put_hash: Some("put".to_owned()),
        put_expected: Some("old".to_owned()),
        put_this: true,
        backup: Some("7 old 12.3".to_owned()),
        loses: None,
    };
    let old = ViewRow { journal: journal.clone(), ..view("first", "a", b"1") };
    store.append(&Batch { views: vec![old.clone()], ..Batch::default() }).unwrap();
    store.note_writes(std::slice::from_ref(&old)).unwrap();
    let loses = Some("a line".to_owned());
    let new = ViewRow {
        journal: WriteJournal { loses: loses.clone(), ..WriteJournal::default() },
        ..view("first", "a", b"22")
    };
    store.append(&Batch { views: vec![new.clone()], ..Batch::default() }).unwrap();
    let inherited = WriteJournal { put_this: false, loses, ..journal.clone() };
    let known = ViewRow { journal: inherited, ..new.clone() };
    assert_eq!(store.views(&id("first")).unwrap(), std::slice::from_ref(&known));
    // A journal that arrives late, with the old row or its confirmation, describes the file and not the new row.
    let late = WriteJournal { put_expected: None, ..journal };
    let noted = WriteJournal { put_expected: None, ..known.journal.clone() };
    store.confirm_views(&[ViewRow { journal: late, ..old }], PATIENCE).unwrap();
    assert_eq!(store.views(&id("first")).unwrap(), [ViewRow { journal: noted, ..known }]);
}

pub(super) fn the_last_writer_of_a_shared_file_is_found_in_its_worktree(make: &mut Factory<'_>) {
    let mut store = make();
    let elsewhere = crate::SessionRow { worktree: "/elsewhere".to_owned(), ..paused("third") };
    let here = paused("first").worktree;
    with(&mut *store, [paused("first"), paused("second"), elsewhere]);
    let writer = |session: &str, put: Option<&str>| ViewRow {
        journal: WriteJournal { put_hash: put.map(ToOwned::to_owned), ..WriteJournal::default() },
        ..view(session, "shared", b"1")
    };
    let rows = ["first", "second", "third"].map(|session| writer(session, None)).to_vec();
    store.append(&Batch { views: rows, ..Batch::default() }).unwrap();
    assert_eq!(store.last_writer(&here, "shared").unwrap(), None);
    store.note_writes(&[writer("first", Some("one")), writer("third", Some("three"))]).unwrap();
    assert_eq!(store.last_writer(&here, "shared").unwrap(), Some(writer("first", Some("one"))));
    assert_eq!(store.last_writer(&here, "other").unwrap(), None);
    store.note_writes(&[writer("second", Some("two")), writer("first", None)]).unwrap();
    assert_eq!(store.last_writer(&here, "shared").unwrap(), Some(writer("second", Some("two"))));
    assert_eq!(store.last_writer("/elsewhere", "shared").unwrap(), Some(writer("third", Some("three"))));
}
