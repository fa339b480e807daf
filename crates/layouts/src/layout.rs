//! The contract of a foreign format: a tree of paths and bytes in, a session with problems out; a session in, file
//! operations out. Never touches a disk or a clock: the engine reads, compares, merges and writes for all layouts.

pub use crate::capabilities::Capabilities;
pub use crate::defined::{Asked, Defined, Definitions};
pub use crate::facts::{Facts, Place, Shows, Unpromised};
pub use crate::file_op::{FileChange, FileOp, Purpose, WriteRequest, puts};
pub use crate::file_rules::{Depth, FileRules, Fits, Need, Places, Role, Rule, SessionPlace};
pub use crate::foreign_session::{Approved, ForeignSession, Health, Knows};
pub use crate::new_session::{NewName, NewSession, Occasion, Unplaced};
pub use crate::proof::Proof;
pub use crate::question::Question;
pub use crate::refused::Refused;

use crate::reading::Reading;
use crate::tree::Tree;
use jiff::Timestamp;
use model::event::Recorded;
use model::id::SessionId;
use model::item::ItemBook;
use model::session::Session;
use std::collections::BTreeMap;

/// A foreign format. Every method is needed by every layout; an ability of a few is a capability.
pub trait Layout: Sync {
    /// Plain data about it.
    fn facts(&self) -> &'static Facts;

    /// The session that an entry of one of the places belongs to; none when it is something else.
    fn identify(&self, path: &str, is_folder: bool) -> Option<Spot>;

    /// The rules for a session's files: which are read, which only listed, and where they can be.
    fn files(&self, spot: &Spot) -> FileRules;

    /// Files that are needed beside those, because the session's own files name them. Asked again with what came of it,
    /// until nothing new is asked for; the tree knows which of them are not there.
    fn more_files(&self, spot: &Spot, tree: &Tree, depth: Depth) -> Vec<Need>;

    /// The session that the files tell. Never fails: a file that cannot be read is a problem, and the rest is told.
    fn read(&self, folder: &Folder<'_>) -> Reading<ForeignSession>;

    /// The operations after which the files show the session. Keep all that is not the session's: unknown keys, their
    /// order, how a number is written, comments. A file that shows the session already is in none of them.
    fn write(&self, request: &WriteRequest<'_>, folder: &Folder<'_>) -> Vec<FileOp>;

    /// Where a new session goes.
    fn place(&self, new: &NewSession<'_>) -> Result<Spot, Unplaced>;

    /// A file of a session's state for a place where the session has another name.
    fn rename(&self, path: &str, content: &[u8], from: &Spot, to: &Spot) -> Vec<u8>;

    /// One version of a file, with what another one has.
    fn merge(&self, path: &str, merge: Merge<'_>) -> Vec<u8>;

    /// True for a file of a session's state that can be read at all: a damaged one never becomes the backup.
    fn is_whole(&self, path: &str, content: &[u8]) -> bool;

    /// Questions about the files that only a person can answer.
    fn questions(&self, folder: &Folder<'_>) -> Vec<Question>;

    /// Abilities that only some layouts have.
    fn capabilities(&self) -> Capabilities;
}

/// Every layout that this program knows.
pub fn all() -> &'static [&'static dyn Layout] {
    &[&crate::ocr::Ocr, &crate::ccw::Ccw, &crate::praxis::Praxis, &crate::essay::Essay]
}

pub fn by_name(name: &str) -> Option<&'static dyn Layout> {
    all().iter().copied().find(|layout| layout.facts().name == name)
}

/// A name on disk as an id; characters that an id may not have are written as their code, so that no two become one.
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
    /// A path of its tree, relative to the project's folder.
    pub fn below_project(&self, path: &str) -> String {
        if self.home.is_empty() { path.to_owned() } else { format!("{}/{path}", self.home) }
    }
}

/// Where one session's files are. Paths are relative to the project's folder, or absolute where they are not below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    /// The id that its files suggest.
    pub id: SessionId,
    /// What tells this session from all others of its layout: its own folder, or its own file. Kept with the session.
    pub path: String,
    /// The folder that the paths of its tree are relative to: its own, or one that it shares with others.
    pub home: String,
    /// Where its artifacts are.
    pub workspace: String,
    /// A file without which a folder of this name is something else; none where the name tells. Below the project's
    /// folder.
    pub known_by: Option<String>,
}

/// Names on one line: all of them, or the first and how many more there are.
pub fn some_of(names: &[String]) -> String {
    const MOST: usize = 10;
    let more = names.len().saturating_sub(MOST);
    let named = names[..names.len().min(MOST)].join(", ");
    if more > 0 { format!("{named} and {more} more") } else { named }
}

/// One session's files as they were found.
#[derive(Debug, Clone, Copy)]
pub struct Folder<'a> {
    pub spot: &'a Spot,
    /// The id that the session has; not always what its files suggest, which may be taken.
    pub id: &'a SessionId,
    pub worktree: &'a str,
    pub tree: &'a Tree,
    pub now: Timestamp,
    pub read_as: ReadAs,
}

/// Of which moment a session's files are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadAs {
    /// As they were found.
    Found,
    /// As we wrote the files of the state, as far as they tell: all others are as they are today, and those that came
    /// since are no part of what we wrote.
    Written,
}

/// How two versions of a file become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge<'a> {
    /// `theirs`, with what it dropped of `base` put back: a key that is missing from another writer's file is never a
    /// deletion.
    Dropped { base: &'a [u8], theirs: &'a [u8] },
    /// `onto`, with what differs between `base` and `theirs`: an edit that came while we wrote.
    Onto { base: &'a [u8], theirs: &'a [u8], onto: &'a [u8] },
}

/// A session that is to be shown by files.
#[derive(Debug, Clone, Copy)]
pub struct Standing<'a> {
    /// As commands know it: the newest attempts, open notes.
    pub session: &'a Session,
    /// All of its items.
    pub items: &'a ItemBook,
    /// What happened since one of the files was last written; all of it for a new session.
    pub since: &'a [Recorded],
    /// What was undone since then.
    pub undone: &'a [Recorded],
    /// Which version of the session each file showed when it was last written.
    pub shown: &'a BTreeMap<String, u64>,
}

/// No file has shown anything yet.
static NOTHING_SHOWN: BTreeMap<String, u64> = BTreeMap::new();

impl<'a> Standing<'a> {
    /// One of which no file shows anything yet.
    pub fn new(session: &'a Session, items: &'a ItemBook, since: &'a [Recorded]) -> Self {
        Self { session, items, since, undone: &[], shown: &NOTHING_SHOWN }
    }

    /// What happened since this file was last written: what it shows already is not written there twice.
    pub fn since_written(&self, path: &str) -> &'a [Recorded] {
        let shown = self.shown.get(path).copied().unwrap_or_default();
        &self.since[self.since.partition_point(|recorded| recorded.version <= shown)..]
    }
}
