//! The contract of a foreign format: a tree of paths and bytes in, a session with problems out; a session in,
//! file operations out. No disk and no clock: the engine reads, compares, merges and writes for all layouts.

pub use crate::capabilities::Capabilities;
pub use crate::facts::{Facts, Place, Shows, Unpromised};
pub use crate::file_op::{FileChange, FileOp, Purpose, WriteRequest, puts};
pub use crate::file_rules::{Depth, FileRules, Fits, Need, Places, Role, Rule, SessionPlace};
pub use crate::foreign_session::{Approved, ForeignSession, Health, Knows};
pub use crate::new_session::{NewAim, NewName, NewSession, Occasion, Unplaced};
pub use crate::proof::Proof;
pub use crate::question::Question;
pub use crate::refused::Refused;
pub use crate::tool_workflows::{Asked, Defined, Definitions};

use crate::reading::Reading;
use crate::tree::Tree;
use jiff::Timestamp;
use model::event::Recorded;
use model::id::SessionId;
use model::item::ItemBook;
use model::session::Session;
use std::collections::BTreeMap;

/// A foreign format. Every layout needs every method of this trait; anything optional is a capability.
pub trait Layout: Sync {
    /// Plain data about the layout.
    fn facts(&self) -> &'static Facts;

    /// The session of an entry in one of the places; `None` if it is something else.
    fn identify(&self, path: &str, is_folder: bool) -> Option<Spot>;

    /// The rules for a session's files: which of them are read, which are listed, and where they can be.
    fn files(&self, spot: &Spot) -> FileRules;

    /// Further files that the session's own files name. Called with the results until nothing new is
    /// requested; the tree knows which files are missing.
    fn more_files(&self, spot: &Spot, tree: &Tree, depth: Depth) -> Vec<Need>;

    /// Reads a session from its files. Never fails: an unreadable file is a problem, and the rest is read.
    fn read(&self, folder: &Folder<'_>) -> Reading<ForeignSession>;

    /// The operations that publish the session. They must preserve everything foreign: unknown keys, their
    /// order, the spelling of numbers, comments. Files that already show the session are left out.
    fn write(&self, request: &WriteRequest<'_>, folder: &Folder<'_>) -> Vec<FileOp>;

    /// The location of a new session.
    fn place(&self, new: &NewSession<'_>) -> Result<Spot, Unplaced>;

    /// A state file, adapted to another name of its session.
    fn rename(&self, path: &str, content: &[u8], from: &Spot, to: &Spot) -> Vec<u8>;

    /// Merges two versions of a file.
    fn merge(&self, path: &str, merge: Merge<'_>) -> Vec<u8>;

    /// True for a readable state file. A damaged state file never becomes the backup.
    fn is_whole(&self, path: &str, content: &[u8]) -> bool;

    /// Questions about the files that only a person can answer.
    fn questions(&self, folder: &Folder<'_>) -> Vec<Question>;

    /// Optional capabilities.
    fn capabilities(&self) -> Capabilities;
}

/// Every known layout.
pub fn all() -> &'static [&'static dyn Layout] {
    &[&crate::ocr::Ocr, &crate::ccw::Ccw, &crate::praxis::Praxis, &crate::essay::Essay]
}

pub fn by_name(name: &str) -> Option<&'static dyn Layout> {
    all().iter().copied().find(|layout| layout.facts().name == name)
}

/// A file name as an id; invalid characters become their codes, so that ids stay distinct.
pub fn id_of_name(layout: &str, name: &str) -> SessionId {
    if let Ok(id) = SessionId::parse(name) {
        return id;
    }
    let mut text = format!("{layout}-");
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || byte == b'-' {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("_{byte:02x}"));
        }
    }
    text.truncate(110);
    SessionId::parse(&text).unwrap_or_else(|_| unreachable!("every character was made a valid one"))
}

impl Spot {
    /// A path in the session's tree, relative to the project's folder. A path that begins with `..` is beside
    /// the session's home.
    pub fn below_project(&self, path: &str) -> String {
        let (mut home, mut rest) = (self.home.as_str(), path);
        while let Some(above) = rest.strip_prefix("../") {
            home = home.rsplit_once('/').map_or("", |(parent, _)| parent);
            rest = above;
        }
        if home.is_empty() { rest.to_owned() } else { format!("{home}/{rest}") }
    }

    /// The session's own path within its tree.
    pub fn folder(&self) -> String {
        self.in_tree(&self.path).unwrap_or_else(|| self.path.clone())
    }

    /// A path below the project's folder, relative to the session's tree; `None` for a path in another
    /// project.
    pub fn in_tree(&self, path: &str) -> Option<String> {
        match path.strip_prefix(self.home.as_str()) {
            Some(rest) if self.home.is_empty() || rest.is_empty() => Some(rest.to_owned()),
            Some(rest) if rest.starts_with('/') => Some(rest.trim_start_matches('/').to_owned()),
            Some(_) | None if path.starts_with('/') || self.home.starts_with('/') => None,
            Some(_) | None => Some(format!("{}{path}", "../".repeat(self.home.split('/').count()))),
        }
    }
}

/// The location of one session's files. Paths are relative to the project's folder, or absolute if outside
/// it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    /// The id that the session's files suggest.
    pub id: SessionId,
    /// Identifies this session within its layout: the session's own folder or file. Stored with the session.
    pub path: String,
    /// The folder to which paths in the session's tree are relative: the session's own folder, or a shared
    /// one.
    pub home: String,
    /// The folder of the session's artifacts.
    pub workspace: String,
    /// A file that must exist for a folder of this name to be a session; `None` if the name suffices. Below
    /// the project's folder.
    pub known_by: Option<String>,
}

/// Names joined on one line: all of them, or the first few and a count.
pub fn some_of(names: &[String]) -> String {
    const MOST: usize = 10;
    let more = names.len().saturating_sub(MOST);
    let named = names[..names.len().min(MOST)].join(", ");
    if more > 0 { format!("{named} and {more} more") } else { named }
}

/// The files of one session as found.
#[derive(Debug, Clone, Copy)]
pub struct Folder<'a> {
    pub spot: &'a Spot,
    /// The session's id. It may differ from the id that the files suggest, if another session has that one.
    pub id: &'a SessionId,
    pub worktree: &'a str,
    pub tree: &'a Tree,
    pub now: Timestamp,
    pub read_as: ReadAs,
}

/// The point in time for which a session's files are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadAs {
    /// Files as they are now.
    Found,
    /// State files as leftoff wrote them. All other files are as they are now, without files created since.
    Written,
}

/// How two versions of a file are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge<'a> {
    /// `theirs`, with keys of `base` that it dropped restored: a key missing from another writer's file is
    /// never a deletion.
    Dropped { base: &'a [u8], theirs: &'a [u8] },
    /// `onto`, with the differences between `base` and `theirs`: an edit that somebody made while leftoff
    /// wrote the file.
    Onto { base: &'a [u8], theirs: &'a [u8], onto: &'a [u8] },
}

/// A session to publish.
#[derive(Debug, Clone, Copy)]
pub struct SessionToPublish<'a> {
    /// The session in the form that commands use: with the newest attempts and the open notes only.
    pub session: &'a Session,
    /// All items of the session.
    pub items: &'a ItemBook,
    /// Events that at least one of the files does not show yet; all events for a new session.
    pub since: &'a [Recorded],
    /// Events undone since the files were last written.
    pub undone: &'a [Recorded],
    /// The session version that each file showed when last written.
    pub shown: &'a BTreeMap<String, u64>,
}

/// No file shows anything yet.
static NOTHING_SHOWN: BTreeMap<String, u64> = BTreeMap::new();

impl<'a> SessionToPublish<'a> {
    /// A session that no file shows yet.
    pub fn new(session: &'a Session, items: &'a ItemBook, since: &'a [Recorded]) -> Self {
        Self { session, items, since, undone: &[], shown: &NOTHING_SHOWN }
    }

    /// Events since this file was last written, so that nothing is written there twice.
    pub fn since_written(&self, path: &str) -> &'a [Recorded] {
        let shown = self.shown.get(path).copied().unwrap_or_default();
        &self.since[self.since.partition_point(|recorded| recorded.version <= shown)..]
    }
}
