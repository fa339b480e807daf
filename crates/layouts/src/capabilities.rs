//! Capabilities that only some layouts have, each a small trait. A layout names the ones that it has, so
//! callers never ask which layout they deal with.

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

/// The capabilities of one layout.
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

/// A registry: a tool's own list of its sessions, in one file that all sessions share.
pub trait Registry: Sync {
    fn file(&self) -> RegistryFile;

    /// All sessions that the registry lists. The tree contains the registry file and the marker files beside
    /// it.
    fn sessions(&self, tree: &Tree) -> BTreeSet<SessionId>;

    /// Sessions that the registry, or a marker file beside it, calls active.
    fn active(&self, tree: &Tree) -> Vec<SessionId>;

    /// Sessions outside all of the layout's places, known only from the registry.
    fn elsewhere(&self, content: &[u8]) -> Vec<Spot>;

    /// The registry split by session, so that reading a thousand sessions passes each only its own lines.
    fn by_session(&self, content: &[u8]) -> BTreeMap<SessionId, Vec<u8>>;

    /// Differences between the registry and the files. The tree has all names directly below the home;
    /// `is_there` returns true for an existing path below the project's folder.
    fn survey(&self, tree: &Tree, is_there: &dyn Fn(&str) -> bool) -> Survey;

    /// The part of the registry that belongs to this session.
    fn part(&self, spot: &Spot, content: &[u8]) -> Vec<u8>;
}

/// The location of a registry.
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
    /// Unfinished sessions whose folders are missing, and where each folder would be.
    pub lost: Vec<Spot>,
    /// Existing sessions that the registry should list.
    pub unlisted: Vec<Spot>,
    /// Existing sessions that the registry lists more than once.
    pub repeated: Vec<Spot>,
    pub problems: Vec<Problem>,
    /// Files of an unknown kind. They are only reported if no session was found, because they are not an
    /// error.
    pub unknown: Option<Problem>,
}

/// A session's part of a shared file; `None` for a file of one session only.
pub fn shared_part(layout: &dyn Layout, spot: &Spot, path: &str, content: &[u8]) -> Option<Vec<u8>> {
    let registry = layout.capabilities().registry?;
    (registry.file().file == path).then(|| registry.part(spot, content))
}

/// The content of a file; of a shared file, only this session's lines.
pub fn own_part(layout: &dyn Layout, spot: &Spot, path: &str, content: &[u8]) -> Vec<u8> {
    let Some(mut own) = shared_part(layout, spot, path, content) else { return content.to_vec() };
    if content.ends_with(b"\n") && !own.is_empty() && !own.ends_with(b"\n") {
        own.push(b'\n');
    }
    own
}

/// True for a file that sessions share.
pub fn is_shared(layout: &dyn Layout, path: &str) -> bool {
    layout.capabilities().registry.is_some_and(|registry| registry.file().file == path)
}

/// Summaries read from a few files, because reading whole histories takes too long for a list of a thousand
/// sessions.
pub trait QuickSummary: Sync {
    /// A summary equal to that of the whole history; `None` if the few files do not suffice.
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

/// Workflows that the layout's own files define.
pub trait OwnDefinitions: Sync {
    fn places(&self) -> Definitions;

    /// A workflow by name, to start a session with.
    fn define(&self, asked: &Asked<'_>) -> Defined;
}

/// Item ids with several spellings.
pub trait IdSpelling: Sync {
    /// The canonical spelling by which ids are compared.
    fn plain(&self, item: &str) -> String;

    /// The id of a new item, spelled like the known ones.
    fn like(&self, item: &str, known: &[&str]) -> Option<String>;
}

/// Items whose ids and fields have meaning for the layout's own tool.
pub trait ItemRules: Sync {
    /// Where an item belongs according to its id.
    fn home(&self, id: &ItemId) -> Option<ItemHome>;

    /// An alternative to setting this field, if setting it has no effect because the tool's file derives
    /// the value from the session or stores it elsewhere.
    fn instead_of_field(&self, of: FieldOf, name: &str) -> Option<String>;

    /// The kind of value that a field takes, if it does not take this one.
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

/// Events that follow from other events, because of limits of the layout's files.
pub trait Consequences: Sync {
    /// Further changes caused by a revision, given the session before it: fields about archived files, and
    /// about work to review. Phases, and items of restarted phases, are already handled.
    fn of_revision(&self, revision: &Revision, publication: &SessionToPublish<'_>) -> Vec<Event>;

    /// Further changes caused by completing a phase, given the session before it: they concern the items that the
    /// phase's files name.
    fn of_completion(
        &self,
        phase: &Name,
        attempt: &AttemptReport,
        publication: &SessionToPublish<'_>,
        tree: &Tree,
    ) -> Vec<Event>;

    /// Further changes caused by a new run, given the session before it, if the files have room for one run
    /// only: results of the earlier run would be taken for results of the new one.
    fn of_new_run(&self, publication: &SessionToPublish<'_>) -> Vec<Event>;
}

/// The wording that a tool uses with its own users.
pub trait ToolVoice: Sync {
    /// The tool's message for an occasion; `None` if the tool has none.
    fn say(&self, saying: &Saying<'_>) -> Option<String>;
}

/// An occasion for which a tool may have its own wording.
#[derive(Debug, Clone, Copy)]
pub enum Saying<'a> {
    /// A message about a session.
    Session { moment: Moment, publication: &'a SessionToPublish<'a>, folder: &'a Folder<'a> },
    /// A command was refused.
    Refused(&'a Refused<'a>),
}

/// The situation of a session in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    Paused,
    Resumed,
    Completed,
    /// The session is shown with all details.
    Shown,
    /// One line, in a list of sessions that could be continued.
    Listed,
}

/// A tool's own screen for a session.
pub trait OwnScreen: Sync {
    /// A session as the tool's screen shows it. The current position comes from the session, everything else
    /// from its files.
    fn screen(&self, session: &Session, folder: &Folder<'_>) -> Screen;
}
