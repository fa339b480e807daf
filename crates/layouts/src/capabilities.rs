//! Abilities that only some layouts have, each a small trait of its own. A layout that has none of one leaves it out, so
//! that nobody has to know which layout it is.

use crate::defined::{Asked, Defined, Definitions};
use crate::layout::{Folder, Layout, Spot, Standing};
use crate::problem::Problem;
use crate::reading::Reading;
use crate::refused::Refused;
use crate::screen::Screen;
use crate::tree::Tree;
use jiff::Timestamp;
use model::event::Event;
use model::id::{ItemId, SessionId};
use model::revision::Revision;
use model::session::Session;
use std::collections::{BTreeMap, BTreeSet};

/// The abilities of one layout.
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

    /// All sessions that it lists. The tree has the registry's file and the marker files beside it.
    fn sessions(&self, tree: &Tree) -> BTreeSet<SessionId>;

    /// The sessions that it, or a marker file beside it, calls active.
    fn active(&self, tree: &Tree) -> Vec<SessionId>;

    /// The lines of each session, cut from the file's content: whoever reads a thousand sessions gives each no more
    /// than that.
    fn by_session(&self, content: &[u8]) -> BTreeMap<SessionId, Vec<u8>>;

    /// Where the registry does not fit the files. The tree has all names right below the home; `is_there` is asked
    /// about paths below the project.
    fn survey(&self, tree: &Tree, is_there: &dyn Fn(&str) -> bool) -> Survey;

    /// The part of the file's content that is this session's.
    fn part(&self, spot: &Spot, content: &[u8]) -> Vec<u8>;
}

/// Where a registry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegistryFile {
    /// Below the project's folder; paths in the registry's tree are relative to it.
    pub home: &'static str,
    pub file: &'static str,
    /// The most bytes of it that are read.
    pub most: u64,
}

/// Where a registry does not fit the files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Survey {
    /// Unfinished sessions without a folder, and where each would be.
    pub lost: Vec<Spot>,
    /// Sessions that are there and that the registry should list.
    pub unlisted: Vec<Spot>,
    /// Sessions that are there and that the registry lists more than once.
    pub repeated: Vec<Spot>,
    pub problems: Vec<Problem>,
    /// Files of another kind, for somebody who finds no session: nothing is wrong with them.
    pub unknown: Option<Problem>,
}

/// A session's part of a file that sessions share; none for a file that is all its own.
pub fn shared_part(layout: &dyn Layout, spot: &Spot, path: &str, content: &[u8]) -> Option<Vec<u8>> {
    let registry = layout.capabilities().registry?;
    (registry.file().file == path).then(|| registry.part(spot, content))
}

/// True for a file that sessions share.
pub fn is_shared(layout: &dyn Layout, path: &str) -> bool {
    layout.capabilities().registry.is_some_and(|registry| registry.file().file == path)
}

/// A summary from a few files: a list of a thousand has no time for the whole history of each.
pub trait QuickSummary: Sync {
    /// Equal to the summary of the whole history; none where the few files do not say enough.
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

/// Ids of items that are written in several ways.
pub trait IdSpelling: Sync {
    /// The one spelling by which ids are compared.
    fn plain(&self, item: &str) -> String;

    /// The id of a new item, written as the known ones are.
    fn like(&self, item: &str, known: &[&str]) -> Option<String>;
}

/// Items whose ids and fields mean something to the layout's own tool.
pub trait ItemRules: Sync {
    /// Where an item of this id belongs, where its id says so.
    fn home(&self, id: &ItemId) -> Option<ItemHome>;

    /// The way to follow instead of setting a field of this name, where the tool's file has something there that follows from
    /// the session, or a place elsewhere: whoever set it would change nothing.
    fn instead_of_field(&self, of: FieldOf, name: &str) -> Option<&'static str>;
}

/// A phase, and the kind of an item there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemHome {
    pub phase: &'static str,
    pub kind: &'static str,
}

/// Whose field it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldOf {
    Session,
    Phase,
    Item,
}

/// Events that follow from others, because of what the layout's files have room for.
pub trait Consequences: Sync {
    /// Further changes by a revision to a session, as it was before: fields about files that are put away, and about work
    /// that needs another look. Phases, and items of phases that begin again, are seen to.
    fn of_revision(&self, revision: &Revision, standing: &Standing<'_>) -> Vec<Event>;

    /// Further changes by another run to a session, as it was before, where its files have room for one run alone:
    /// whatever an earlier run left would be taken for the new one's.
    fn of_new_run(&self, standing: &Standing<'_>) -> Vec<Event>;
}

/// The words in which a tool speaks to its own user.
pub trait ToolVoice: Sync {
    /// None where it has no words for it.
    fn say(&self, saying: &Saying<'_>) -> Option<String>;
}

/// An occasion at which a tool may have words of its own.
#[derive(Debug, Clone, Copy)]
pub enum Saying<'a> {
    /// Something about a session.
    Session { moment: Moment, standing: &'a Standing<'a>, folder: &'a Folder<'a> },
    /// A command was refused.
    Refused(&'a Refused<'a>),
}

/// When a tool has something to say about a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    Paused,
    Resumed,
    Completed,
    /// Everything about where it stands is asked for.
    Shown,
    /// On one line, among others that could be continued.
    Listed,
}

/// A screen of the tool's own.
pub trait OwnScreen: Sync {
    /// A session as that screen shows it; where it stands is what the session says.
    fn screen(&self, session: &Session, folder: &Folder<'_>) -> Screen;
}
