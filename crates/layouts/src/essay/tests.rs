//! Tests without a disk: the place of every key in the model, files that stay the same byte for byte,
//! validation, recovery, and wording.

mod keys;
mod moved;
mod mutations;
mod recovery;
mod rows;
mod validation;
mod wording;

use super::*;
use crate::layout::{Occasion, ReadAs, SessionToPublish, puts};
use crate::tree::Tree;
use model::actor::Actor;
use model::event::{Event, Recorded};
use model::item::{Item, ItemBook};
use model::session::Session;

const EARLY: &str = include_str!("tests/early.yaml");
const LATE: &str = include_str!("tests/late.yaml");
const FOLDER: &str = "/tmp/essay-pipeline-20260214-143022";

/// All artifacts that the state of the late session names.
const ARTIFACTS: [(&str, &str); 6] = [
    ("stage-1-thesis.md", "Harbours make towns."),
    ("stage-2-outline.md", "# Outline\n\n## Section 1: Sand\n\n## Section 2: Stone\n\n## Section 3: Ships\n"),
    ("stage-3-section-1-arguments.md", "map"),
    ("stage-3-section-2-arguments.md", "map"),
    ("stage-3-section-3-arguments.md", "map"),
    (
        "stage-4-draft.md",
        "# Harbours\n\n## Sand\n\nOne two.\n\nThree.\n\nFour.\n\n## Stone\n\nFive six.\n\nSeven.\n",
    ),
];

fn now() -> Timestamp {
    "2026-02-16T12:00:00Z".parse().expect("a time")
}

fn tree(files: &[(&str, &str)]) -> Tree {
    let mut tree = Tree::default();
    for (path, text) in files {
        tree.insert(*path, Entry::File(text.as_bytes().to_vec()));
    }
    tree
}

/// The late session, with all artifacts that its state names.
fn whole(state: &str) -> Tree {
    let mut files = ARTIFACTS.to_vec();
    files.push((STATE, state));
    tree(&files)
}

/// The session and the items that were read from a folder.
struct Read {
    tree: Tree,
    session: Session,
    items: ItemBook,
    warnings: Vec<String>,
    unreadable: Vec<String>,
    approved: Vec<Approved>,
}

fn spot() -> Spot {
    Essay.identify(FOLDER, true).expect("a session's folder")
}

fn with_folder<T>(tree: &Tree, look: impl FnOnce(&Folder<'_>) -> T) -> T {
    let spot = spot();
    look(&Folder {
        spot: &spot,
        id: &spot.id,
        worktree: "/home/ada/essays",
        tree,
        now: now(),
        read_as: ReadAs::Found,
    })
}

fn actor() -> Actor {
    Actor::person("ada", String::new())
}

fn read(tree: Tree) -> Read {
    let reading = with_folder(&tree, |folder| Essay.read(folder));
    let (_, session, items) = reading.value.fold(&actor()).expect("a session");
    let warnings = reading.warnings.into_iter().map(|problem| problem.to_string()).collect();
    Read {
        tree,
        session,
        items,
        warnings,
        unreadable: reading.value.unreadable,
        approved: reading.value.approved,
    }
}

impl Read {
    /// The state written after these events.
    fn written_after(&self, events: Vec<Event>) -> Option<String> {
        let mut session = self.session.clone();
        let mut items = self.items.clone();
        let mut since = Vec::new();
        for event in events {
            let recorded = Recorded { version: session.version + 1, at: now(), actor: actor(), event };
            if let Event::Item(event) = &recorded.event {
                items.apply(event, recorded.at, &recorded.actor);
            }
            session = session.apply(&recorded);
            since.push(recorded);
        }
        let publication = SessionToPublish::new(&session, &items, &since);
        let changes = with_folder(&self.tree, |folder| {
            puts(Essay.write(&WriteRequest { purpose: Purpose::Update, publication: &publication }, folder))
        });
        changes.into_iter().next().map(|change| {
            assert_eq!(change.path, STATE);
            String::from_utf8(change.content).expect("text")
        })
    }

    fn says(&self, moment: Moment) -> String {
        let publication = SessionToPublish::new(&self.session, &self.items, &[]);
        with_folder(&self.tree, |folder| {
            Essay.say(&Saying::Session { moment, publication: &publication, folder })
        })
        .expect("words")
    }

    fn item(&self, id: &str) -> &Item {
        self.items.get(&ItemId::parse(id).expect("an id")).expect("an item")
    }

    fn statuses(&self) -> Vec<&'static str> {
        let run = self.session.run().expect("a run");
        run.phases.iter().map(model::phase::Phase::status).collect()
    }
}

#[test]
fn folders_of_the_right_name_are_sessions_wherever_they_are() {
    for good in [
        "/tmp/essay-pipeline-20260214-143022",
        "essay-pipeline-20260214-143022",
        "drafts/essay-pipeline-99999999-999999",
    ] {
        assert!(Essay.identify(good, true).is_some(), "{good}");
        assert!(Essay.identify(good, false).is_none(), "a file is none: {good}");
    }
    for bad in [
        "essay-pipeline-2026-143022",
        "essay-pipeline-20260214-1430221",
        "essay-pipeline-20260214",
        "essay-pipeline-2026021x-143022",
        "x-essay-pipeline-20260214-143022",
        "essay-pipeline-20260214-143022.bak",
    ] {
        assert!(Essay.identify(bad, true).is_none(), "{bad}");
    }
    assert_eq!(Essay.facts().places, [Place::Project(""), Place::Temporary("essay-pipeline-")]);
}

#[test]
fn the_folder_itself_is_looked_into_and_no_folder_in_it() {
    for (path, is_folder, wanted) in [
        ("", true, Role::Listed),
        (".leftoff", true, Role::Skip),
        (STATE, false, Role::State),
        ("stage-1-thesis.md", false, Role::ReadIfWhole),
        ("stage-1-development-log.md", false, Role::Listed),
    ] {
        assert_eq!(Essay.files(&spot()).role(path, is_folder), wanted, "{path:?}");
    }
    assert_eq!(Essay.files(&spot()).role("final-essay.md", false), Role::ReadIfWhole);
}

#[test]
fn a_new_session_has_a_folder_that_nobody_has() {
    let taken = |path: &str| path == "essay-pipeline-20260216-120000";
    let beginning = |id| {
        NewSession::new(
            id,
            Occasion {
                title: "t",
                today: jiff::civil::date(2026, 2, 16),
                now: now(),
                branch: None,
                random: [0; 16],
            },
            &taken,
        )
    };
    assert_eq!(Essay.place(&beginning(None)).expect("a spot").path, "essay-pipeline-20260216-120001");
    let asked = Essay.place(&beginning(Some("essay-pipeline-20260101-000000"))).expect("a spot");
    assert_eq!(asked.id.as_str(), "essay-pipeline-20260101-000000");
    for bad in ["mine", "../essay-pipeline-20260101-000000", "/tmp/essay-pipeline-20260101-000000"] {
        assert!(
            Essay.place(&beginning(Some(bad))).is_err_and(|why| why.to_string().contains("must look like")),
            "{bad}"
        );
    }
}

/// Every fixture is read and written without losing a byte, also with other line endings or a byte order
/// mark.
#[test]
fn what_did_not_change_keeps_every_byte() {
    for text in [EARLY, LATE, include_str!("template.yaml")] {
        for text in [text.to_owned(), text.replace('\n', "\r\n"), format!("\u{feff}{text}")] {
            let read = read(whole(&text));
            assert_eq!(read.written_after(Vec::new()), None);
        }
    }
}

#[test]
fn a_new_file_shows_the_session_and_reads_back_as_it() {
    let empty = read(tree(&[]));
    let text = empty.written_after(Vec::new()).expect("a file");
    for line in [
        "status: \"in_progress\"  # in_progress | paused",
        "session_dir: \"/tmp/essay-pipeline-20260214-143022\"",
        "started_at: \"2026-02-14T14:30:22Z\"",
        "pipeline_id: \"essay-",
        "  stage_1:\n    status: \"in_progress\"",
    ] {
        assert!(text.contains(line), "{line:?} is not in\n{text}");
    }
    let again = read(tree(&[(STATE, &text)]));
    assert_eq!(again.warnings, Vec::<String>::new());
    assert_eq!(again.statuses(), empty.statuses());
    assert_eq!(again.written_after(Vec::new()), None);
}
