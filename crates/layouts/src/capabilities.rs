//! Capabilities that only some layouts have, each a small trait. A layout without one leaves it out, so
//! callers never ask which layout it is.

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

/// A tool's own list of its sessions, in one file that they share.
pub trait Registry: Sync {
    fn file(&self) -> RegistryFile;

    /// All sessions listed. The tree contains the registry file and the marker files beside it.
    fn sessions(&self, tree: &Tree) -> BTreeSet<SessionId>;

    /// Sessions that the registry, or a marker file beside it, calls active.
    fn active(&self, tree: &Tree) -> Vec<SessionId>;

    /// Sessions outside all of the layout's places, known only from this file.
    fn elsewhere(&self, content: &[u8]) -> Vec<Spot>;

    /// The registry split by session, so that reading a thousand sessions passes each only its own lines.
    fn by_session(&self, content: &[u8]) -> BTreeMap<SessionId, Vec<u8>>;

    /// Differences between the registry and the files. The tree has all names directly below the home;
    /// `is_there` tests paths below the project.
    fn survey(&self, tree: &Tree, is_there: &dyn Fn(&str) -> bool) -> Survey;

    /// The part of the file that belongs to this session.
    fn part(&self, spot: &Spot, content: &[u8]) -> Vec<u8>;
}

/// The location of a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegistryFile {
    /// Below the project's folder; paths in the registry's tree are relative to it.
    pub home: &'static str,
    pub file: &'static str,
    /// The maximum number of bytes to read.
    pub most: u64,
}

impl RegistryFile {
    /// Below the project's folder.
    pub fn path(&self) -> String {
        format!("{}/{}", self.home, self.file)
    }
}

/// Differences between a registry and the files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Survey {
    /// Unfinished sessions without a folder, and where each would be.
    pub lost: Vec<Spot>,
    /// Existing sessions that the registry should list.
    pub unlisted: Vec<Spot>,
    /// Existing sessions that the registry lists more than once.
    pub repeated: Vec<Spot>,
    pub problems: Vec<Problem>,
    /// Files of another kind, reported to somebody who finds no session. They are not an error.
    pub unknown: Option<Problem>,
}

/// A session's part of a shared file; `None` if the file belongs to one session.
pub fn shared_part(layout: &dyn Layout, spot: &Spot, path: &str, content: &[u8]) -> Option<Vec<u8>> {
    let registry = layout.capabilities().registry?;
    (registry.file().file == path).then(|| registry.part(spot, content))
}

/// A file; of a shared one, this session's lines.
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

/// A summary from a few files: a list of a thousand sessions has no time for whole histories.
pub trait QuickSummary: Sync {
    /// Equal to the summary of the whole history; `None` if the few files do not suffice.
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

    /// The alternative to setting this field, if the tool's file derives its value from the session or
    /// keeps it elsewhere, so that setting it would have no effect.
    fn instead_of_field(&self, of: FieldOf, name: &str) -> Option<String>;
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

/// Events that follow from others, because of limits of the layout's files.
pub trait Consequences: Sync {
    /// Further changes caused by a revision, given the session before it: fields about archived files, and
    /// about work to review. Phases, and items of restarted phases, are already handled.
    fn of_revision(&self, revision: &Revision, publication: &SessionToPublish<'_>) -> Vec<Event>;

    /// Further changes caused by completing a phase, given the session before it: the items that the phase's
    /// files name.
    fn of_completion(
        &self,
        phase: &Name,
        attempt: &AttemptReport,
        publication: &SessionToPublish<'_>,
        tree: &Tree,
    ) -> Vec<Event>;

    /// Further changes caused by a new run, given the session before it, if the files have room for one run
    /// only: leftovers would be taken for the new run's.
    fn of_new_run(&self, publication: &SessionToPublish<'_>) -> Vec<Event>;
}

/// The wording that a tool uses with its own users.
pub trait ToolVoice: Sync {
    /// `None` if the tool has no wording for it.
    fn say(&self, saying: &Saying<'_>) -> Option<String>;
}

/// An occasion for which a tool may have its own wording.
#[derive(Debug, Clone, Copy)]
pub enum Saying<'a> {
    /// About a session.
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
    /// Full details are requested.
    Shown,
    /// One line, in a list of sessions that could be continued.
    Listed,
}

/// A screen of the tool's own.
pub trait OwnScreen: Sync {
    /// A session as that screen shows it. The session determines the current position.
    fn screen(&self, session: &Session, folder: &Folder<'_>) -> Screen;
}
