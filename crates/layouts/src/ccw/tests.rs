mod damage;
mod phases;
mod places;
mod registry;
mod relations;
mod rows;
mod sources;
mod writing;

use super::*;
use crate::layout::{ReadAs, SessionToPublish, puts};
use crate::tree::{Entry, Tree};
use jiff::Timestamp;
use model::actor::Actor;
use model::event::{Event, Recorded};
use model::item::ItemBook;
use model::session::Session;

const NAME: &str = "WFS-login";
const FOLDER: &str = ".workflow/WFS-login";

fn now() -> Timestamp {
    at("2026-02-01T12:00:00Z")
}

fn at(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

fn actor() -> Actor {
    Actor::person("ccw", String::new())
}

/// A home with these files; parent folders are implied.
fn tree(files: &[(&str, &str)]) -> Tree {
    let mut tree = Tree::default();
    for (path, text) in files {
        let mut folder = String::new();
        for part in
            path.rsplit_once('/').map(|(above, _)| above).into_iter().flat_map(|above| above.split('/'))
        {
            folder = if folder.is_empty() { part.to_owned() } else { format!("{folder}/{part}") };
            tree.insert(folder.clone(), Entry::Folder);
        }
        tree.insert(*path, Entry::File(text.as_bytes().to_vec()));
    }
    tree
}

fn spot_at(path: &str) -> Spot {
    Ccw.identify(path, true).expect("a session's folder")
}

fn read_at(path: &str, tree: &Tree) -> Reading<ForeignSession> {
    let spot = spot_at(path);
    Ccw.read(&Folder { spot: &spot, id: &spot.id, worktree: "/w", tree, now: now(), read_as: ReadAs::Found })
}

fn told(tree: &Tree) -> Reading<ForeignSession> {
    read_at(FOLDER, tree)
}

/// A session folded from its files, with its items.
fn folded(tree: &Tree) -> (Session, ItemBook) {
    let (_, session, items) = told(tree).value.fold(&actor()).expect("a session");
    (session, items)
}

fn details(tree: &Tree) -> CcwSession {
    let spot = spot_at(FOLDER);
    let folder =
        Folder { spot: &spot, id: &spot.id, worktree: "/w", tree, now: now(), read_as: ReadAs::Found };
    super::read(&folder).value
}

fn warnings(tree: &Tree) -> Vec<String> {
    told(tree).warnings.iter().map(|problem| format!("{}: {problem}", problem.path)).collect()
}

#[track_caller]
fn check_warnings(tree: &Tree, expected: &[&str]) {
    let found = warnings(tree);
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.contains(expected), "{expected:?} is not in {found:?}");
    }
}

fn updated(publication: &SessionToPublish<'_>, folder: &Folder<'_>) -> Vec<FileOp> {
    Ccw.write(&WriteRequest { purpose: Purpose::Update, publication }, folder)
}

/// The changes that a write would make after these events.
fn written(tree: &Tree, events: &[Event]) -> Vec<FileChange> {
    let (before, _, _) = told(tree).value.fold(&actor()).expect("a session");
    let first = before.len() as u64 + 1;
    let adopted = Event::Adopted { layout: "ccw".to_owned(), path: FOLDER.to_owned() };
    let new = std::iter::once(adopted).chain(events.iter().cloned()).zip(first..);
    let new = new.map(|(event, version)| Recorded { version, at: now(), actor: actor(), event });
    let all: Vec<Recorded> = before.into_iter().chain(new).collect();
    let session = Session::fold(&all).expect("a session");
    let items = ItemBook::fold(&all);
    let spot = spot_at(FOLDER);
    let folder =
        Folder { spot: &spot, id: &spot.id, worktree: "/w", tree, now: now(), read_as: ReadAs::Found };
    puts(updated(&SessionToPublish::new(&session, &items, &all), &folder))
}

/// The tree after a write of these events.
fn after(tree: &Tree, events: &[Event]) -> Tree {
    let mut tree = tree.clone();
    for change in written(&tree, events) {
        tree.insert(change.path, Entry::File(change.content));
    }
    tree
}

fn text(tree: &Tree, path: &str) -> String {
    String::from_utf8(tree.content(path).expect("a file").to_vec()).expect("text")
}

fn json_at(tree: &Tree, path: &str) -> serde_json::Value {
    serde_json::from_str(&text(tree, path)).expect("JSON")
}

fn name(text: &str) -> model::id::Name {
    model::id::Name::parse(text).expect("a name")
}

/// A state file in the original format.
const SEED: &str = r#"{
  "session_id": "WFS-login",
  "project": "Log in with OAuth",
  "type": "medium",
  "current_phase": "IMPLEMENT",
  "status": "active",

  "progress": {
    "completed_phases": ["PLAN"],
    "current_tasks": ["impl-1", "impl-2"],
    "last_checkpoint": "2026-01-30T10:00:00Z"
  },

  "meta": {
    "created": "2026-01-28T10:00:00Z",
    "updated": "2026-01-31T10:00:00Z"
  }
}
"#;
const LINE: &str = r#"{"id":"WFS-login","status":"active","description":"OAuth","created":"2026-01-28T10:00:00Z","directory":".workflow/WFS-login"}"#;
const PLAN_TEXT: &str = "# Plan\n\n1. Ask the provider\n";

/// A session whose implementation is half done.
fn seed() -> Tree {
    tree(&[
        ("session_status.jsonl", &format!("{LINE}\n")),
        ("WFS-login/workflow-session.json", SEED),
        ("WFS-login/IMPL_PLAN.md", PLAN_TEXT),
        ("WFS-login/.task/impl-1.json", &task("impl-1", "completed", "")),
        (
            "WFS-login/.task/impl-2.json",
            &task(
                "impl-2",
                "active",
                r#","relations":{"parent":null,"subtasks":[],"dependencies":["impl-1"]}"#,
            ),
        ),
    ])
}

fn task(id: &str, status: &str, more: &str) -> String {
    format!(
        "{{\"id\":\"{id}\",\"title\":\"Do {id}\",\"status\":\"{status}\",\"type\":\"feature\",\"agent\":\"code-developer\",\
         \"context\":{{\"requirements\":[\"r\"],\"scope\":\"s\",\"acceptance\":[\"a\"],\"inherited_from\":\"WFS-login\"}}{more},\
         \"execution\":{{\"attempts\":1,\"last_attempt\":\"2026-01-29T10:00:00Z\"}},\
         \"meta\":{{\"created\":\"2026-01-29T09:00:00Z\",\"updated\":\"2026-01-29T10:00:00Z\"}}}}"
    )
}

fn with_state(json: &str) -> Tree {
    tree(&[("session_status.jsonl", &format!("{LINE}\n")), ("WFS-login/workflow-session.json", json)])
}

#[test]
fn the_seeds_form_is_read() {
    let (session, items) = folded(&seed());
    let run = session.run().expect("a run");
    assert_eq!((session.title.as_str(), session.id.as_str()), ("Log in with OAuth", NAME));
    assert_eq!(session.fields["type"], "medium");
    assert_eq!((run.workflow.name.as_str(), run.current().id().as_str()), ("ccw", "implement"));
    assert_eq!((run.phases[0].status(), run.phases[0].claimed), ("completed", false));
    assert_eq!(
        (session.created_at, session.updated_at),
        (at("2026-01-28T10:00:00Z"), at("2026-01-31T10:00:00Z"))
    );
    let states: Vec<(&str, &str)> = items.iter().map(|item| (item.id.as_str(), item.status.name())).collect();
    assert_eq!(states, [("impl-1", "completed"), ("impl-2", "active")]);
    assert_eq!(session.run().expect("a run").phases[1].items.done, 1);
    assert!(warnings(&seed()).is_empty(), "{:?}", warnings(&seed()));
}
