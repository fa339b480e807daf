//! Capabilities that only some layouts have. Each is a small trait. A layout names the capabilities that it has, so
//! callers never ask for a particular layout.

use crate::layout::{Folder, Layout, SessionToPublish, Spot};
use crate::problem::Problem;
use crate::reading::Reading;
use crate::refused::Refused;
use crate::screen::Screen;
use crate::tool_workflows::{Asked, Defined, Definitions};
use crate::tree::Tree;
use jiff::Timestamp;
use model::event::Event;
use model::gate::AttemptReport;
use model::id::{ItemId, Name, SessionId};
use model::revision::Revision;
use model::session::Session;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The capabilities of one layout; `None` for each that the layout does not have.
#[derive(Clone, Copy, Default)]
pub struct Capabilities {
    pub registry: Option<&'static dyn Registry>,
    pub quick_summary: Option<&'static dyn QuickSummary>,
    pub own_definitions: Option<&'static dyn OwnDefinitions>,
    pub id_spelling: Option<&'static dyn IdSpelling>,
    pub item_rules: Option<&'static dyn ItemRules>,
    pub consequences: Option<&'static dyn Consequences>,
    pub tool_voice: Option<&'static dyn ToolVoice>,
    pub own_screen: Option<&'static dyn OwnScreen>,
}

/// A registry: the list that a tool keeps of its sessions, in one file for all sessions.
pub trait Registry: Sync {
    fn file(&self) -> RegistryFile;

    /// All sessions that the registry lists. The tree contains the registry file and the marker files beside
    /// it.
    fn sessions(&self, tree: &Tree) -> BTreeSet<SessionId>;

    /// Sessions that are active according to the registry or to a marker file beside it.
    fn active(&self, tree: &Tree) -> Vec<SessionId>;

    /// Sessions outside all of the layout's places. Only the registry contains their locations.
    fn elsewhere(&self, content: &[u8]) -> Vec<Spot>;

    /// The lines of the registry, by session. When a thousand sessions are read, each one then gets only its own lines.
    fn by_session(&self, content: &[u8]) -> BTreeMap<SessionId, Vec<u8>>;

    /// The differences between the registry and the files. The tree contains all names directly below the home.
    /// `is_there` returns true for a path that exists below the project's folder.
    fn survey(&self, tree: &Tree, is_there: &dyn Fn(&str) -> bool) -> Survey;

    /// The part of the registry that is about this session.
    fn part(&self, spot: &Spot, content: &[u8]) -> Vec<u8>;
}

/// The location of a registry, and the maximum size that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegistryFile {
    /// The folder of the registry, below the project's folder. Paths in the registry's tree are relative to
    /// it.
    pub home: &'static str,
    pub file: &'static str,
    /// The maximum size that is read, in bytes.
    pub most: u64,
}

impl RegistryFile {
    /// The path of the registry, below the project's folder.
    pub fn path(&self) -> String {
        format!("{}/{}", self.home, self.file)
    }
}

/// Differences between a registry and the files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Survey {
    /// Unfinished sessions whose folders are missing, with the place where each folder would be.
    pub lost: Vec<Spot>,
    /// Existing sessions that the registry should list.
    pub unlisted: Vec<Spot>,
    /// Existing sessions that the registry lists more than once.
    pub repeated: Vec<Spot>,
    pub problems: Vec<Problem>,
    /// The problem with files of an unknown kind. Reported only if no session was found, because such files are not an
    /// error.
    pub unknown: Option<Problem>,
}

/// A session's part of a shared file; `None` for a file that only one session uses.
pub fn shared_part(layout: &dyn Layout, spot: &Spot, path: &str, content: &[u8]) -> Option<Vec<u8>> {
    let registry = layout.capabilities().registry?;
    (registry.file().file == path).then(|| registry.part(spot, content))
}

/// The content of a file that belongs to this session. For a shared file, only the session's lines.
pub fn own_part(layout: &dyn Layout, spot: &Spot, path: &str, content: &[u8]) -> Vec<u8> {
    let Some(mut own) = shared_part(layout, spot, path, content) else { return content.to_vec() };
    if content.ends_with(b"\n") && !own.is_empty() && !own.ends_with(b"\n") {
        own.push(b'\n');
    }
    own
}

/// True for a file that several sessions share.
pub fn is_shared(layout: &dyn Layout, path: &str) -> bool {
    layout.capabilities().registry.is_some_and(|registry| registry.file().file == path)
}

/// Reads summaries from a few files. A list of a thousand sessions needs this, because reading whole histories takes
/// too long.
pub trait QuickSummary: Sync {
    /// A summary equal to the one that the whole history would give; `None` if the few files do not suffice.
    fn summary(&self, folder: &Folder<'_>) -> Option<Reading<Summary>>;
}

/// A session in one line of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    pub title: String,
    pub workflow: &'static str,
    pub lifecycle: &'static str,
    pub phase: &'static str,
    pub phases_done: usize,
    pub phases: usize,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Workflows that are defined in the layout's own files.
pub trait OwnDefinitions: Sync {
    fn places(&self) -> Definitions;

    /// The definition of the workflow with the requested name, for a new session.
    fn define(&self, asked: &Asked<'_>) -> Defined;
}

/// For layouts in which one item id has several spellings.
pub trait IdSpelling: Sync {
    /// The spelling of an id that is used for comparisons.
    fn plain(&self, item: &str) -> String;

    /// The id of a new item, spelled like the ids in `known`.
    fn like(&self, item: &str, known: &[&str]) -> Option<String>;
}

/// For layouts in which ids and fields of items have a meaning for the tool.
pub trait ItemRules: Sync {
    /// The phase of an item, and its kind, according to the item's id.
    fn home(&self, id: &ItemId) -> Option<ItemHome>;

    /// The command to use instead of setting this field. `None` if the field can be set. A field cannot be set if the
    /// tool's file derives its value from the session, or stores the value elsewhere.
    fn instead_of_field(&self, of: FieldOf, name: &str) -> Option<String>;

    /// The kind of value that a field accepts, if it does not accept `value`.
    fn wanted_instead(&self, _of: FieldOf, _name: &str, _value: &Value) -> Option<&'static str> {
        None
    }
}

/// A phase, and the kind of its items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemHome {
    pub phase: &'static str,
    pub kind: &'static str,
}

/// The owner of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldOf {
    Session,
    Phase,
    Item,
}

/// Further events that are needed after some events, because the layout's files cannot represent everything.
pub trait Consequences: Sync {
    /// The further events after a revision: changes of fields about archived files, and about work to review. Phases,
    /// and items of restarted phases, are changed elsewhere. The session is the one before the revision.
    fn of_revision(&self, revision: &Revision, publication: &SessionToPublish<'_>) -> Vec<Event>;

    /// The further events after the completion of a phase: changes of the items that the phase's files name. The
    /// session is the one before the completion.
    fn of_completion(
        &self,
        phase: &Name,
        attempt: &AttemptReport,
        publication: &SessionToPublish<'_>,
        tree: &Tree,
    ) -> Vec<Event>;

    /// The further events after the start of a new run, for files that can contain only one run. Without these events,
    /// results of the earlier run would seem to belong to the new one. The session is the one before the start.
    fn of_new_run(&self, publication: &SessionToPublish<'_>) -> Vec<Event>;

    /// Further changes caused by a note that is added or resolved, given the session before it.
    fn of_note(&self, event: &Event, publication: &SessionToPublish<'_>) -> Vec<Event>;
}

/// Messages in the words that a tool uses with its own users.
pub trait ToolVoice: Sync {
    /// The tool's message for an occasion; `None` if the tool has no message for it.
    fn say(&self, saying: &Saying<'_>) -> Option<String>;
}

/// An occasion for which a tool may have its own message.
#[derive(Debug, Clone, Copy)]
pub enum Saying<'a> {
    /// Something happened to a session, or a session is shown.
    Session { moment: Moment, publication: &'a SessionToPublish<'a>, folder: &'a Folder<'a> },
    /// leftoff refused a command.
    Refused(&'a Refused<'a>),
}

/// The reason for a message about a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    Paused,
    Resumed,
    Completed,
    /// The session is shown with all details.
    Shown,
    /// The session is one line in a list of sessions that can be continued.
    Listed,
}

/// A layout whose tool has its own view of a session.
pub trait OwnScreen: Sync {
    /// The tool's view of a session. The current position is the session's; everything else comes from the files.
    fn screen(&self, session: &Session, folder: &Folder<'_>) -> Screen;
}
