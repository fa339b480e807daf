//! The contract between leftoff and a format of another tool. Reading: from a tree of paths and bytes to a
//! session and problems. Writing: from a session to file operations. A layout uses no disk and no clock. The
//! engine reads, compares, merges and writes for all layouts.

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

/// A format of another tool. Every layout needs every method of this trait; anything that only some layouts
/// need is a capability.
pub trait Layout: Sync {
    /// Plain data about the layout.
    fn facts(&self) -> &'static Facts;

    /// The session at an entry in one of the layout's places. `None` if the entry is not a session.
    fn identify(&self, path: &str, is_folder: bool) -> Option<Spot>;

    /// The rules for a session's files: which of them are read, which are listed, and where they can be.
    fn files(&self, spot: &Spot) -> FileRules;

    /// Further files that must be read because the session's own files name them. Called again with the files
    /// read so far until it returns no new ones. The tree records which files are missing.
    fn more_files(&self, spot: &Spot, tree: &Tree, depth: Depth) -> Vec<Need>;

    /// Reads a session from its files. Never fails: an unreadable file is reported as a problem, and the rest
    /// is read.
    fn read(&self, folder: &Folder<'_>) -> Reading<ForeignSession>;

    /// The file operations that publish a session. They keep everything of other writers: unknown keys, the
    /// order of keys, the spelling of numbers, comments. Files that already show the session are not written.
    fn write(&self, request: &WriteRequest<'_>, folder: &Folder<'_>) -> Vec<FileOp>;

    /// The location for a new session.
    fn place(&self, new: &NewSession<'_>) -> Result<Spot, Unplaced>;

    /// The content of a state file after its session was renamed.
    fn rename(&self, path: &str, content: &[u8], from: &Spot, to: &Spot) -> Vec<u8>;

    /// Merges two versions of a file.
    fn merge(&self, path: &str, merge: Merge<'_>) -> Vec<u8>;

    /// True if the content of a state file is readable. A damaged state file never becomes the backup.
    fn is_whole(&self, path: &str, content: &[u8]) -> bool;

    /// Questions about the session's files that only a person can answer.
    fn questions(&self, folder: &Folder<'_>) -> Vec<Question>;

    /// The optional capabilities of this layout.
    fn capabilities(&self) -> Capabilities;
}

/// All layouts.
pub fn all() -> &'static [&'static dyn Layout] {
    &[&crate::ocr::Ocr, &crate::ccw::Ccw, &crate::praxis::Praxis, &crate::essay::Essay]
}

pub fn by_name(name: &str) -> Option<&'static dyn Layout> {
    all().iter().copied().find(|layout| layout.facts().name == name)
}

/// An id made from a file name. Characters that an id may not contain become their codes, so that different
/// names give different ids.
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
    /// Converts a path in the session's tree to a path relative to the project's folder. A path in the tree
    /// that begins with `..` is outside the session's home.
    pub fn below_project(&self, path: &str) -> String {
        let (mut home, mut rest) = (self.home.as_str(), path);
        while let Some(above) = rest.strip_prefix("../") {
            home = home.rsplit_once('/').map_or("", |(parent, _)| parent);
            rest = above;
        }
        if home.is_empty() { rest.to_owned() } else { format!("{home}/{rest}") }
    }

    /// The path of the session itself in its tree.
    pub fn folder(&self) -> String {
        self.in_tree(&self.path).unwrap_or_else(|| self.path.clone())
    }

    /// The path in the session's tree of a path below the project's folder. `None` for a path in another
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

/// The location of one session's files. Paths are relative to the project's folder, or absolute outside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    /// The id that follows from the name of the session's files.
    pub id: SessionId,
    /// The session's own folder or file. This path identifies the session in its layout, and is stored with
    /// it.
    pub path: String,
    /// The folder to which paths in the session's tree are relative: the session's own folder, or a shared
    /// one.
    pub home: String,
    /// The folder for the session's artifacts.
    pub workspace: String,
    /// The file that must exist for a folder of this name to be a session; `None` if the name suffices. The
    /// path is below the project's folder.
    pub known_by: Option<String>,
}

/// The names on one line: all of them, or the first few and the number of the others.
pub fn some_of(names: &[String]) -> String {
    const MOST: usize = 10;
    let more = names.len().saturating_sub(MOST);
    let named = names[..names.len().min(MOST)].join(", ");
    if more > 0 { format!("{named} and {more} more") } else { named }
}

/// The files of one session as they were found.
#[derive(Debug, Clone, Copy)]
pub struct Folder<'a> {
    pub spot: &'a Spot,
    /// The session's id. It differs from the id that follows from the files if another session has that id.
    pub id: &'a SessionId,
    pub worktree: &'a str,
    pub tree: &'a Tree,
    pub now: Timestamp,
    pub read_as: ReadAs,
}

/// Which version of a session's files is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadAs {
    /// All files as they are now.
    Found,
    /// State files as leftoff wrote them. Other files are as they are now, except that later files are left
    /// out.
    Written,
}

/// How two versions of a file are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge<'a> {
    /// `theirs`, with the keys of `base` restored that it lacks: a key that is missing in another writer's
    /// file was not deleted.
    Dropped { base: &'a [u8], theirs: &'a [u8] },
    /// `onto`, with the changes from `base` to `theirs`: somebody edited the file while leftoff wrote it.
    Onto { base: &'a [u8], theirs: &'a [u8], onto: &'a [u8] },
}

/// A session to publish, and the events that its files do not show yet.
#[derive(Debug, Clone, Copy)]
pub struct SessionToPublish<'a> {
    /// The session as commands load it: with its newest attempts and its open notes only.
    pub session: &'a Session,
    /// All items of the session.
    pub items: &'a ItemBook,
    /// Events that at least one of the files does not show yet. For a new session, all of its events.
    pub since: &'a [Recorded],
    /// Events that were undone since the files were last written.
    pub undone: &'a [Recorded],
    /// For each file, the version of the session that it showed when it was last written.
    pub shown: &'a BTreeMap<String, u64>,
}

/// Used for a session that no file shows yet.
static NOTHING_SHOWN: BTreeMap<String, u64> = BTreeMap::new();

impl<'a> SessionToPublish<'a> {
    /// A new session that no file shows yet.
    pub fn new(session: &'a Session, items: &'a ItemBook, since: &'a [Recorded]) -> Self {
        Self { session, items, since, undone: &[], shown: &NOTHING_SHOWN }
    }

    /// The events since this file was last written. They are the only ones that must be written to it.
    pub fn since_written(&self, path: &str) -> &'a [Recorded] {
        let shown = self.shown.get(path).copied().unwrap_or_default();
        &self.since[self.since.partition_point(|recorded| recorded.version <= shown)..]
    }
}
