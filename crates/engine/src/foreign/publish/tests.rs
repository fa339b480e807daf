//! Tests of publishing: confirmed writes, and writes that are executed late.

use super::*;
use crate::disk::exchange;
use crate::foreign::observe::disk::file_at;
use crate::foreign::observe::hash;
use crate::foreign::tests::Place;
use crate::{PauseRequest, Request};
use layouts::verdict::backup_record::Backup;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::MetadataExt;

const REGISTRY: &str = "session_status.jsonl";

/// Returns the row of a file of a session.
fn row(place: &Place, session: &SessionId, path: &str) -> ViewRow {
    let rows = place.engine().store.views(session).unwrap();
    rows.into_iter().find(|row| row.path == path).unwrap()
}

fn lock_file(place: &Place) -> std::path::PathBuf {
    place.folder.path().join(".leftoff/views.lock")
}

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
    assert!(observation.is_settled());
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
    // The editor changes the version of the file from before the interrupted write.
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
fn the_write_journal_is_in_the_row_and_the_lock_is_nothing_but_a_lock() {
    let place = Place::with(Some("ocr"));
    let journal = row(&place, &place.session, "state.json").journal;
    assert_eq!((journal.put_expected, journal.backup), (None, None), "a new file replaces nothing");
    let before = fs::read(place.file("state.json")).unwrap();
    place.advance();
    let row = row(&place, &place.session, "state.json");
    assert_eq!((row.journal.put_hash.as_ref(), row.journal.put_expected.as_ref()), (Some(&row.hash), None));
    assert!(row.journal.put_this);
    let backup = Backup::of(&row.journal).unwrap();
    assert_eq!((backup.hash, backup.is_of_others), (hash(&before).as_str(), false));
    let there = file_at(&exchange::backup(&place.file("state.json")));
    assert_eq!(backup.compared_with(there).is_same_file, Some(true));
    assert!(fs::read(lock_file(&place)).unwrap().is_empty());
}

#[test]
fn notes_of_version_0_1_are_read_once() {
    let place = Place::with(Some("ocr"));
    let (file, known) = (place.file("state.json"), row(&place, &place.session, "state.json"));
    let mut engine = place.engine();
    let forgotten = ViewRow { journal: store::WriteJournal::default(), ..known.clone() };
    engine.store.note_writes(&[forgotten]).unwrap();
    let text = format!("7 abc 12.34 {}\n9 def 5.6 /somewhere/else\nnonsense\n", file.display());
    fs::write(lock_file(&place), text).unwrap();
    engine.publish_session(&place.session).unwrap();
    let journal = row(&place, &place.session, "state.json").journal;
    assert_eq!(journal.backup.as_deref(), Some("7 abc 12.34"));
    assert_eq!(journal.put_hash, Some(known.hash));
    assert!(!journal.put_this && journal.put_expected.is_none());
    assert!(fs::read(lock_file(&place)).unwrap().is_empty());
}

#[test]
fn the_journal_of_a_shared_file_is_with_its_last_writer_alone() {
    let place = Place::with_registry();
    let has_it = |session: &SessionId| row(&place, session, REGISTRY).journal.put_hash.is_some();
    assert!(has_it(&place.session));
    let other = place.another();
    let by_both = [&place.session, &other].map(has_it);
    assert_eq!(by_both.into_iter().filter(|has_it| *has_it).count(), 1);
    let worktree = place.engine().project.worktree();
    let last = place.engine().store.last_writer(&worktree, REGISTRY).unwrap().unwrap();
    assert!(has_it(&last.session));
    let file = fs::read(place.folder.path().join(".workflow").join(REGISTRY)).unwrap();
    assert_eq!(last.journal.put_hash, Some(hash(&file)));
}

/// A session adopts a line that was added to the registry and is now in no file. Before the session writes its own
/// content, another session writes the registry. The content that both sessions replace then becomes the backup.
#[test]
fn f1_a_line_on_its_way_survives_another_sessions_write() {
    let place = Place::with_registry();
    let other = place.another();
    let file = place.folder.path().join(".workflow").join(REGISTRY);
    let (known, there) = (row(&place, &place.session, REGISTRY), fs::read(&file).unwrap());
    let body = [&there[..], b"{\"id\":\"WFS-theirs\",\"edit\":7}\n"].concat();
    let on_its_way = ViewRow { hash: hash(&body), body, previous: there, confirmed: false, ..known };
    let mut engine = place.engine();
    engine.store.append(&Batch { views: vec![on_its_way], ..Batch::default() }).unwrap();
    engine.options.session = Some(other.to_string());
    engine.execute(Request::Pause(PauseRequest::default())).unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(!text(&fs::read(&file).unwrap()).contains("WFS-theirs"), "it is not there yet");
    let mut engine = place.engine();
    let observation = engine.observe(&place.session).unwrap().unwrap();
    assert!(text(observation.documents.content(REGISTRY).unwrap()).contains("WFS-theirs"));
    engine.write_files(&place.session);
    assert!(text(&fs::read(&file).unwrap()).contains("WFS-theirs"));
}
