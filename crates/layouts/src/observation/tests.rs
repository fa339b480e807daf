//! Tests of verdicts, adoption and writing without a disk. Tables give the files as written and as found.

use super::write::with_loss;
use super::{Log, Observation, Origin, Writer};
use crate::layout::{self, FileChange, FileOp};
use crate::problem::{AgainstTheLog, What};
use crate::reader::{Disk, Located, Reader};
use crate::tree::{Entry, Tree};
use crate::verdict::{FileId, FileState, hash};
use jiff::Timestamp;
use model::id::SessionId;
use model::item::ItemBook;
use model::session::Session;
use model::written_file::{ViewRow, WriteJournal};
use std::collections::BTreeMap;
use std::path::PathBuf;

const STATE: &str = "state.json";
const FIRST: &str = r#"{"session_id":"s","current_phase":"context","phase_number":1,"status":"active","started_at":"2026-11-14T10:00:00Z","updated_at":"2026-11-14T10:00:00Z","own":1}"#;

/// The files next to the state file: the waiting file and the backup.
#[derive(Default)]
struct Beside {
    backup: Option<&'static str>,
    waiting: Option<String>,
}

impl Disk for Beside {
    fn backup(&self, _: &str) -> Option<Vec<u8>> {
        self.backup.map(|text| text.as_bytes().to_vec())
    }

    fn backup_file(&self, _: &str) -> Option<FileId> {
        None
    }

    fn waiting(&self, _: &str) -> Option<Vec<u8>> {
        self.waiting.as_ref().map(|text| text.as_bytes().to_vec())
    }

    fn unusable(&self, _: &str) -> Vec<u8> {
        b"beyond the limit".to_vec()
    }

    fn add_named(&self, _: &mut Tree) {}
}

fn located() -> Located {
    let layout = layout::by_name("ocr").expect("a layout");
    let spot = layout.identify(".ocr/sessions/s", true).expect("a session");
    Located { layout, id: spot.id.clone(), spot }
}

fn reader() -> Reader {
    let now = "2026-11-14T12:00:00Z".parse().expect("a time");
    Reader { worktree: "/project".to_owned(), host: "here".to_owned(), now }
}

fn tree(content: Option<&str>) -> Tree {
    let mut tree = Tree::default();
    if let Some(content) = content {
        tree.insert(STATE, Entry::File(content.as_bytes().to_vec()));
        tree.set_modified(STATE, Timestamp::UNIX_EPOCH);
    }
    tree
}

/// The session in the log after the first version of its file was adopted.
fn session() -> Session {
    let told = reader().foreign(&located(), tree(Some(FIRST)), &Beside::default()).expect("a session");
    told.session
}

fn row(body: &str, previous: &str, confirmed: bool) -> ViewRow {
    ViewRow {
        session: session().id,
        path: STATE.to_owned(),
        hash: hash(body.as_bytes()),
        body: body.as_bytes().to_vec(),
        previous: previous.as_bytes().to_vec(),
        earlier: Vec::new(),
        version: 1,
        boot_id: "boot".to_owned(),
        confirmed,
        journal: WriteJournal::default(),
    }
}

/// The observation of files after leftoff wrote the first version of the state file, and the names of the
/// events.
fn look(there: Option<&str>, written: ViewRow, beside: &Beside) -> (Observation, Vec<String>) {
    let home = PathBuf::from("/project/.ocr/sessions/s");
    let mut found = Observation::of_tree(located(), home, Origin::Log, tree(there));
    let rows = BTreeMap::from([(STATE.to_owned(), written)]);
    found.judge_written(rows, "boot", beside, |rows, _| rows.clone());
    found.judge_new(&reader(), beside);
    let session = session();
    let log = Log { session: &session, items: ItemBook::default(), began: None, put: &BTreeMap::new() };
    let events = found.adopt(&reader(), beside, log);
    (found, events.iter().map(|dated| dated.event.kind().to_owned()).collect())
}

fn second() -> String {
    FIRST.replace("\"context\",\"phase_number\":1", "\"change-context\",\"phase_number\":2")
}

#[test]
fn an_edit_becomes_events_and_anything_else_does_not() {
    let dropped = second().replace(",\"own\":1", "");
    let second = second();
    let claim = "external_edit phase_claimed";
    let cases = [
        ("as written", Some(FIRST), FileState::Same, "", None),
        ("edited", Some(&second[..]), FileState::Edited, claim, Some("edited_outside")),
        ("a key dropped", Some(&dropped[..]), FileState::Edited, claim, Some("edited_outside")),
        ("half written", Some("{\"session_id\""), FileState::Damaged, "", Some("view_damaged")),
        ("gone", None, FileState::Missing, "", Some("view_missing")),
    ];
    for (what, there, state, begins, kind) in cases {
        let (found, events) = look(there, row(FIRST, "", true), &Beside::default());
        assert_eq!(found.state(STATE), Some(state), "{what}");
        let events = events.join(" ");
        assert!(events.starts_with(begins) && events.is_empty() == begins.is_empty(), "{what}: {events}");
        let kinds: Vec<&str> = found.problems.iter().map(crate::problem::Problem::kind).collect();
        assert_eq!(kinds, Vec::from_iter(kind), "{what}");
        // The session's own key is always restored, and the session is never unknown, whatever the file
        // contains.
        let text = String::from_utf8_lossy(found.documents.content(STATE).expect("a file")).into_owned();
        assert!(text.contains("\"own\""), "{what}: {text}");
    }
}

#[test]
fn a_session_without_its_folder_is_one_problem_unless_it_is_over() {
    let (mut found, _) = look(None, row(FIRST, "", true), &Beside::default());
    assert!(found.lacks_a_file(), "it was confirmed");
    found.is_gone = true;
    let reading = reader().read(&located(), &Tree::default());
    found.compare(&reader(), &session(), &reading);
    let whats: Vec<&What> = found.problems.iter().map(|problem| &problem.what).collect();
    assert_eq!(whats, [&What::Log(AgainstTheLog::Gone)]);
    let mut over = session();
    over.lifecycle = model::lifecycle::Lifecycle::Completed { at: Timestamp::UNIX_EPOCH, forced: false };
    found.compare(&reader(), &over, &reading);
    assert!(found.problems.is_empty());
}

#[test]
fn an_edit_before_our_write_arrived_and_our_write_are_merged() {
    // leftoff's write added a key to the first version. In the meantime, somebody edited the first version.
    let ours = FIRST.replace("\"own\":1", "\"own\":1,\"ours\":2");
    let theirs = FIRST.replace("\"own\":1", "\"own\":1,\"theirs\":3");
    let (found, _) = look(Some(&theirs), row(&ours, FIRST, false), &Beside::default());
    let text = String::from_utf8_lossy(found.documents.content(STATE).expect("a file")).into_owned();
    assert!(text.contains("\"ours\"") && text.contains("\"theirs\""), "{text}");
}

/// The next write of the state file with the new content `body`. `None` if nothing changes.
fn next(found: &Observation, body: &str, is_repair: bool) -> Option<ViewRow> {
    let session = session();
    let writer = Writer { session: &session, boot_id: "boot", is_repair, disk: &Beside::default() };
    let file = FileChange { path: STATE.to_owned(), content: body.as_bytes().to_vec() };
    let rows = found.rows_after(&writer, &[FileOp::put(file)]);
    rows.into_iter().find(|row| row.path == STATE)
}

#[test]
fn the_next_write_knows_what_it_replaces() {
    let second = second();
    let (quiet, _) = look(Some(FIRST), row(FIRST, "", true), &Beside::default());
    assert!(quiet.is_settled() && next(&quiet, FIRST, false).is_none(), "nothing is to change");
    let written = next(&quiet, &second, false).expect("a write");
    assert_eq!((written.previous, written.confirmed), (FIRST.as_bytes().to_vec(), false));
    assert_eq!(written.earlier.last(), Some(&hash(FIRST.as_bytes())), "ours is last");
    // An edit that the file already contains is confirmed at once.
    let (edited, _) = look(Some(&second), row(FIRST, "", true), &Beside::default());
    assert!(!edited.is_settled());
    assert!(next(&edited, &second, false).expect("a row").confirmed);
    // When a write replaces damaged content, that content is recognised later, but edits are not compared
    // with it.
    let (damaged, _) = look(Some("{"), row(FIRST, "", true), &Beside::default());
    let written = next(&damaged, FIRST, false).expect("a write");
    assert!(written.earlier.contains(&hash(b"{")));
    assert_eq!(written.previous, FIRST.as_bytes());
}

#[test]
fn a_file_that_cannot_be_read_is_left_alone_until_it_is_repaired() {
    let mut found = look(None, row(FIRST, "", true), &Beside::default()).0;
    found.verdicts.clear();
    found.tree.insert(STATE, Entry::Unusable("it is larger than it may be".to_owned()));
    found.verdicts.insert(STATE.to_owned(), super::FileVerdict::of(FileState::Unreadable));
    assert!(next(&found, FIRST, false).is_none());
    assert_eq!(next(&found, FIRST, true).expect("a write").previous, b"beyond the limit");
}

#[test]
fn a_loss_of_a_write_that_never_arrived_is_not_forgotten() {
    let row = |confirmed, loses: Option<&str>| ViewRow {
        journal: WriteJournal { loses: loses.map(ToOwned::to_owned), ..WriteJournal::default() },
        ..row("", "", confirmed)
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

#[test]
fn a_session_outside_the_log_is_read_from_the_backup_of_an_unreadable_file() {
    let beside = Beside { backup: Some(FIRST), ..Beside::default() };
    let found = reader().foreign(&located(), tree(Some("{")), &beside).expect("a session");
    assert_eq!(found.damaged, [STATE]);
    let observation = Observation::of_found(found, None);
    assert_eq!(observation.state(STATE), Some(FileState::Damaged));
    assert_eq!(observation.documents.content(STATE), Some(FIRST.as_bytes()));
    assert!(observation.is_foreign() && observation.untold().next().is_none());
    assert!(observation.lost().contains(".ocr/sessions/s/state.json"));
    let id = SessionId::parse("s").expect("an id");
    assert_eq!(observation.located.id, id);
}
