//! Publishing: confirmed writes, and later ones.

use super::*;
use crate::foreign::tests::Place;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::MetadataExt;

fn state(place: &Place) -> Value {
    serde_json::from_slice(&fs::read(place.file("state.json")).unwrap()).unwrap()
}

#[test]
fn what_was_published_is_confirmed_and_not_written_twice() {
    let place = Place::with(Some("ocr"));
    place.advance();
    let inode = || fs::metadata(place.file("state.json")).unwrap().ino();
    let (mut engine, before) = (place.engine(), inode());
    let observation = engine.observe(&place.session).unwrap().unwrap();
    assert!(is_settled(&observation));
    assert!(observation.rows().count() > 0 && observation.rows().all(|row| row.confirmed));
    assert!(engine.publish_session(&place.session).unwrap().is_empty());
    assert_eq!(inode(), before, "no byte was to be changed");
}

#[test]
fn a_file_that_cannot_be_written_is_told_and_written_later() {
    let place = Place::with(Some("ocr"));
    let (file, elsewhere) = (place.file("state.json"), place.folder.path().join("elsewhere"));
    fs::rename(&file, &elsewhere).unwrap();
    fs::create_dir(&file).unwrap();
    place.advance();
    let waiting =
        |engine: &Engine| engine.store.views(&place.session).unwrap().iter().any(|row| !row.confirmed);
    assert!(waiting(&place.engine()), "the log has it, the file does not");
    fs::remove_dir(&file).unwrap();
    fs::rename(&elsewhere, &file).unwrap();
    assert!(place.engine().publish_session(&place.session).unwrap().is_empty());
    assert!(!waiting(&place.engine()));
    assert_eq!(state(&place)["current_phase"], "change-context");
}

#[test]
fn an_edit_that_a_write_takes_out_is_adopted_and_written_again() {
    let place = Place::with(Some("ocr"));
    let (file, elsewhere) = (place.file("state.json"), place.folder.path().join("elsewhere"));
    fs::rename(&file, &elsewhere).unwrap();
    fs::create_dir(&file).unwrap();
    place.advance();
    fs::remove_dir(&file).unwrap();
    // The editor has the version before the write that never arrived.
    let mut edited: Value = serde_json::from_slice(&fs::read(&elsewhere).unwrap()).unwrap();
    edited["theirs"] = Value::from(7);
    fs::write(&file, edited.to_string()).unwrap();
    place.engine().publish_session(&place.session).unwrap();
    let there = state(&place);
    assert_eq!(
        (&there["theirs"], &there["current_phase"]),
        (&Value::from(7), &Value::from("change-context"))
    );
}

#[test]
fn a_loss_of_a_write_that_never_arrived_is_not_forgotten() {
    let session = SessionId::parse("a").unwrap();
    let row = |confirmed, loses: Option<&str>| ViewRow {
        session: session.clone(),
        path: "p".to_owned(),
        hash: String::new(),
        body: Vec::new(),
        previous: Vec::new(),
        earlier: Vec::new(),
        version: 1,
        boot_id: String::new(),
        confirmed,
        journal: store::WriteJournal {
            loses: loses.map(ToOwned::to_owned),
            ..store::WriteJournal::default()
        },
    };
    let cases = [
        (None, None, None),
        (Some("new"), None, Some("new")),
        (Some("new"), Some(row(false, Some("old"))), Some("new")),
        (None, Some(row(false, Some("old"))), Some("old")),
        (None, Some(row(true, Some("old"))), None),
    ];
    for (lost, known, kept) in cases {
        let found = with_loss(row(false, None), lost.map(ToOwned::to_owned).as_ref(), known.as_ref());
        assert_eq!(found.journal.loses.as_deref(), kept);
    }
}
