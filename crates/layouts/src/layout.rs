//! What a foreign format is to the engine: a tree of paths and bytes in, a session with warnings out; a session in,
//! changed files out. Never touches a disk or a clock: the engine reads, compares, merges and writes for all layouts.

pub use crate::defined::{Asked, Defined, Definitions};
pub use crate::proof::Proof;
pub use crate::refused::Refused;

use crate::problem::Problem;
use crate::reading::{Dated, Reading};
use crate::reconcile::{Draft, prove};
use crate::tree::Tree;
use jiff::Timestamp;
use jiff::civil::Date;
use model::actor::Actor;
use model::event::{Event, Recorded};
use model::id::{ItemId, SessionId};
use model::item::ItemBook;
use model::revision::Revision;
use model::run::Run;
use model::session::Session;
use model::workflow::Workflow;
use std::collections::{BTreeMap, BTreeSet};

/// A foreign format. What the engine does with it is the same for all of them.
pub trait Layout: Sync {
    /// As `--layout` and the session view name it.
    fn name(&self) -> &'static str;

    /// As people call the tool that it comes from.
    fn title(&self) -> &'static str;

    /// Folders whose entries may be sessions.
    fn places(&self) -> &'static [Place];

    /// The session at a path that is an entry of one of the places; none when it is something else.
    fn spot(&self, path: &str, is_folder: bool) -> Option<Spot>;

    /// A file, below the project's folder, without which what is called so is something else; none where the name tells.
    fn known_by(&self, spot: &Spot) -> Option<String> {
        let _ = spot;
        None
    }

    /// The only entries of its home that can be this session's, where many share it; all of them when none are named.
    fn entrances(&self, spot: &Spot) -> Vec<String> {
        let _ = spot;
        Vec::new()
    }

    /// Whether a folder among its sessions, which is none, may be taken for one by its own tool.
    fn is_mistaken(&self, path: &str) -> bool {
        let _ = path;
        false
    }

    /// How much of a file or folder below `spot.home` is wanted. What is not a session's own is skipped.
    fn interest(&self, spot: &Spot, path: &str, is_folder: bool, depth: Depth) -> Interest;

    /// What the files tell. Never fails: what cannot be read is a warning, and the rest is told.
    fn read(&self, folder: &Folder<'_>) -> Reading<Told>;

    /// The files that must change so that they show the session, as they are then from their first byte to their
    /// last. Keeps all that is not the session's: unknown keys, their order, how a number is written, comments.
    /// What shows the session already is not in the answer.
    fn write(&self, standing: &Standing<'_>, folder: &Folder<'_>) -> Vec<FileChange>;

    /// Where a new session goes.
    fn begin(&self, beginning: &Beginning<'_>) -> Result<Spot, String>;

    /// What a new session's folder has from the beginning, beside its state. Made once, and its users' own from then on.
    fn furnish(&self, session: &Session, spot: &Spot) -> Furniture {
        let _ = (session, spot);
        Furniture::default()
    }

    /// Of a file that sessions share: the part that is this session's. None for a file that is all its own.
    fn share(&self, spot: &Spot, path: &str, content: &[u8]) -> Option<Vec<u8>> {
        let _ = (spot, path, content);
        None
    }

    /// The most of a file that is read.
    fn most_bytes(&self, path: &str) -> u64 {
        let _ = path;
        1024 * 1024
    }

    /// What a session of it is on disk, for whoever named something else: "a folder in .ocr/sessions".
    fn looks_for(&self) -> &'static str;

    /// Whether its files have words for the phases of such a run.
    fn can_tell(&self, run: &Run) -> bool;

    /// The workflows that its sessions can follow; the first one when none is asked for.
    fn workflows(&self) -> &'static [&'static str];

    /// Files below the spot's home that are needed beside those that were walked over: what the session's own files
    /// name. Asked again with what came of it, until nothing new is asked for; a path that is not there stays out of
    /// the tree.
    fn wanted(&self, spot: &Spot, tree: &Tree) -> Vec<String> {
        let _ = (spot, tree);
        Vec::new()
    }

    /// Whether a file that is missing went to another place, where the session's file is now.
    fn has_moved(&self, spot: &Spot, path: &str, tree: &Tree) -> bool {
        let _ = (spot, path, tree);
        false
    }

    /// Where the workflows of its sessions are defined; none where they are defined as ours are.
    fn definitions(&self) -> Option<Definitions> {
        None
    }

    /// Where a session's files are by now, if somebody moved them: its path there.
    fn found_at(&self, spot: &Spot, tree: &Tree) -> Option<String> {
        let _ = (spot, tree);
        None
    }

    /// Where a session's files belong that stands so, if that is another place: its path there.
    fn belongs(&self, session: &Session, spot: &Spot) -> Option<String> {
        let _ = (session, spot);
        None
    }

    /// A workflow that is defined in the layout's own files, to begin a session with.
    fn define(&self, asked: &Asked<'_>) -> Defined {
        let _ = asked;
        Defined::Elsewhere
    }

    /// Whether a path that sorts after another is of a later session. Where it does not tell, times are compared.
    fn paths_tell_the_order(&self) -> bool {
        true
    }

    /// Whether times in its files can be without a zone. The tree then has the zone of this machine.
    fn has_local_times(&self) -> bool {
        false
    }

    /// The session in the shape that new ones have, whatever its files were like: what an import asks for.
    fn write_anew(&self, standing: &Standing<'_>, folder: &Folder<'_>) -> Vec<FileChange> {
        self.write(standing, folder)
    }

    /// The session's files for another folder, in which the folder's worktree is: in the shape that they have, with what
    /// names the place that they are in.
    fn write_elsewhere(&self, standing: &Standing<'_>, folder: &Folder<'_>) -> Vec<FileChange> {
        self.write(standing, folder)
    }

    /// A session that was imported, for its own tool again: its files are as they were then.
    fn write_back(&self, standing: &Standing<'_>, folder: &Folder<'_>) -> Vec<FileChange> {
        self.write_anew(standing, folder)
    }

    /// Where a file of its state belongs by now, in another folder: some layouts have a place for each status.
    fn belongs_at(&self, session: &Session, path: &str) -> String {
        let _ = session;
        path.to_owned()
    }

    /// Whether a session can be gone on with, as far as its files tell. Nothing where a layout has no such checks.
    fn health(&self, details: &Details) -> Vec<Health> {
        let _ = details;
        Vec::new()
    }

    /// Whether a worktree has one active session of it at most, together with native ones.
    fn takes_the_worktree(&self) -> bool {
        false
    }

    /// An item's id in the one spelling by which ids are compared; none where each is written in one way only.
    fn spelling(&self, item: &str) -> Option<String> {
        let _ = item;
        None
    }

    /// The id of a new item, written as those that are there are.
    fn spelled_like(&self, item: &str, known: &[&str]) -> Option<String> {
        let _ = (item, known);
        None
    }

    /// Whether pausing is an error where no session is active: its tool then has nothing to pause.
    fn pauses_only_what_is_active(&self) -> bool {
        false
    }

    /// How the names of files right below its home begin that hold nothing and say something by being there; the rest of
    /// such a name is a session's.
    fn sign(&self) -> Option<&'static str> {
        None
    }

    /// Which of those files must be there, and which must not, so that they show the session. None in a project that
    /// has no such files: in one that has, the tree knows of one that is there, or was.
    fn signs(&self, standing: &Standing<'_>, folder: &Folder<'_>) -> Vec<(String, bool)> {
        let _ = (standing, folder);
        Vec::new()
    }

    /// What tells of all of its sessions at once; none where each has to be looked at.
    fn index(&self) -> Option<Index> {
        None
    }

    /// All sessions that the index tells of.
    fn indexed(&self, index: &Tree) -> BTreeSet<SessionId> {
        let _ = index;
        BTreeSet::new()
    }

    /// The sessions that the index calls active.
    fn called_active(&self, index: &Tree) -> Vec<SessionId> {
        let _ = index;
        Vec::new()
    }

    /// What the index says about each session, cut from its content: whoever reads a thousand of them gives each no more
    /// than that. None where it cannot be cut.
    fn index_by_session(&self, content: &[u8]) -> Option<BTreeMap<SessionId, Vec<u8>>> {
        let _ = content;
        None
    }

    /// What the index tells that does not fit what is there. It has all names right below the home; `is_there` is asked
    /// about paths below the project.
    fn survey(&self, index: &Tree, is_there: &dyn Fn(&str) -> bool) -> Survey {
        let _ = (index, is_there);
        Survey::default()
    }

    /// The files that alone tell what stands on a session's line in a list; none where all must be looked at.
    fn line_files(&self) -> &'static [&'static str] {
        &[]
    }

    /// The file that a finished session is opened again in, where no line files tell: a list looks at its time, and reads
    /// it only where somebody wrote it after the log was.
    fn opened_in(&self) -> Option<&'static str> {
        None
    }

    /// Folders that tell it, only by being there, where those files do not. Asked of every line of a list: a glance.
    fn line_folders(&self, tree: &Tree) -> &'static [&'static str] {
        let _ = tree;
        &[]
    }

    /// What stands on a session's line, from those alone; none where they do not tell. The same as what its whole
    /// history folds into: a list of a thousand has no time for that.
    fn line(&self, folder: &Folder<'_>) -> Option<Reading<Line>> {
        let _ = folder;
        None
    }

    /// Whether a session's folder is looked through; not where every file has a name that is known beforehand.
    fn walks(&self) -> bool {
        true
    }

    /// Whether its files say how many parts an item has, and list the items of a phase. A part beyond that number, and an
    /// item that was taken out of the list, is none any more, unless somebody worked on it.
    fn counts_parts(&self) -> bool {
        false
    }

    /// Where an item of this id belongs, where its own tool's ids tell; of a phase that is not done yet.
    fn home_of_item(&self, id: &ItemId) -> Option<ItemHome> {
        let _ = id;
        None
    }

    /// What to do instead of setting a field of this name, where the tool's file has something there that follows from
    /// the session, or a place elsewhere: whoever set it would change nothing.
    fn no_field(&self, of: FieldOf, name: &str) -> Option<&'static str> {
        let _ = (of, name);
        None
    }

    /// The folder below a session's own, empty for all of it, in which no archived version may lie beside its file: the
    /// tool takes every file there for one of the session's.
    fn no_archives_in(&self) -> Option<&'static str> {
        None
    }

    /// Somebody else's version of a file, with what it dropped of ours put back: a key that is missing from another
    /// writer's file is never a deletion.
    fn merge(&self, path: &str, base: &[u8], theirs: &[u8]) -> Vec<u8> {
        let _ = path;
        crate::json::with_missing_of(base, theirs)
    }

    /// What `before` says and nobody understood, and `after` says no longer: each in a few words. Such a file is kept
    /// whole.
    fn not_understood(&self, path: &str, before: &[u8], after: &[u8]) -> Vec<String> {
        let _ = (path, before, after);
        Vec::new()
    }

    /// What its screen shows, for a session that is known: where it stands is what the session says.
    fn details_of(&self, details: Details, session: &Session) -> Details {
        let _ = session;
        details
    }

    /// What there was when we wrote the files of the state, as far as they tell: the others are as they are today, and
    /// what came since is no part of what we wrote.
    fn as_we_wrote(&self, tree: &Tree) -> Tree {
        tree.clone()
    }

    /// `onto` with what differs between `base` and `theirs`: an edit that came while we wrote.
    fn merge_slipped(&self, path: &str, base: &[u8], theirs: &[u8], onto: &[u8]) -> Vec<u8> {
        let _ = path;
        crate::json::with_changes(base, theirs, onto)
    }

    /// Where a file of a phase is in a session that keeps it elsewhere than its workflow says; `is_there` looks below the
    /// session's workspace.
    fn place_of_file(&self, path: &str, is_there: &dyn Fn(&str) -> bool) -> Option<String> {
        let _ = (path, is_there);
        None
    }

    /// Files that whoever works on a session has before them, beside those that finished phases produced. Below its home.
    fn context(&self, folder: &Folder<'_>) -> Vec<String> {
        let _ = folder;
        Vec::new()
    }

    /// Whether a place where a session could be holds anything of one: a folder may stand there for another reason.
    fn holds_any(&self, spot: &Spot, tree: &Tree) -> bool {
        let _ = (spot, tree);
        true
    }

    /// Whether a session may be begun in a folder that is there already: nothing of one is in it.
    fn may_begin_in(&self, tree: &Tree) -> bool {
        tree.files().next().is_none()
    }

    /// Whether a file of a session's state could be read at all: a damaged one never becomes the backup.
    fn is_readable(&self, path: &str, content: &[u8]) -> bool {
        let _ = path;
        crate::json::object(content).is_ok()
    }

    /// Whether a phase that somebody calls done in the files of a session that we know is only claimed, also where its
    /// file is there: not where a tool writes that down only once it is so.
    fn edits_only_claim(&self) -> bool {
        false
    }

    /// Whether nothing can be known of a session whose state is in such a file, which cannot be read as a whole. None
    /// where not even its bytes were read. Not where other files tell as well.
    fn knows_nothing_of(&self, content: Option<&[u8]>) -> bool {
        let _ = content;
        false
    }

    /// What its own tool says to its user at such a moment, in its words; nothing where it says nothing.
    fn says(&self, moment: Moment, standing: &Standing<'_>, folder: &Folder<'_>) -> Option<String> {
        let _ = (moment, standing, folder);
        None
    }

    /// What its own tool says when something is refused, in its words; nothing where ours will do.
    fn refuses(&self, why: &Refused<'_>) -> Option<String> {
        let _ = why;
        None
    }

    /// What its own tool's list of sessions begins with.
    fn heading(&self) -> Option<&'static str> {
        None
    }

    /// What its own tool reports when the version before took the place of a file that cannot be read.
    fn recovered(&self) -> Option<&'static str> {
        None
    }

    /// What its own tool reports when nothing in the files tells where a session stands, and a person must say; nothing as
    /// long as something does.
    fn asks_where(&self, folder: &Folder<'_>) -> Option<String> {
        let _ = folder;
        None
    }

    /// What does not fit together in the files. A session that is taken up again is asked about it.
    fn discrepancies(&self, folder: &Folder<'_>) -> Vec<Problem> {
        let _ = folder;
        Vec::new()
    }

    /// Checks that were approved, as the files had it, and are not any more: phases with the checks' ids.
    fn withdrawn(&self, before: &Session, now: &Session) -> Vec<(&'static str, &'static str)> {
        let _ = (before, now);
        Vec::new()
    }

    /// What else a revision changes in a session, as it was before: what was said of files that are put away, and of work
    /// that is to be looked at again. Phases, and items of phases that begin again, are seen to.
    fn revised(&self, revision: &Revision, standing: &Standing<'_>) -> Vec<Event> {
        let _ = (revision, standing);
        Vec::new()
    }

    /// Whether a session goes with its folder: whoever takes that away or renames it means the session, and it is not
    /// made again unasked.
    fn goes_with_its_folder(&self) -> bool {
        false
    }

    /// Whether a session may be stalled only where nothing was written for a while, however long its phase takes.
    fn stalls_only_in_silence(&self) -> bool {
        false
    }

    /// A session of the same name told apart by a number, for a project where that name is taken.
    fn numbered(&self, spot: &Spot, number: u32) -> Option<Spot> {
        let path = format!("{}-{number:03}", spot.path);
        self.spot(&path, true).or_else(|| self.spot(&path, false))
    }

    /// A file of a session's state for a place where the session has another name.
    fn renamed(&self, from: &Spot, to: &Spot, path: &str, content: &[u8]) -> Vec<u8> {
        let _ = (from, to, path);
        content.to_vec()
    }

    /// Whether its tool takes up a session again that is in progress, with the same checks and words: whoever left it may
    /// not have said so.
    fn takes_up_again(&self) -> bool {
        false
    }

    /// What else a further run changes in a session, as it was before, where its files have room for one run alone: what
    /// is left of an earlier one would be taken for the new one's.
    fn begun_again(&self, standing: &Standing<'_>) -> Vec<Event> {
        let _ = standing;
        Vec::new()
    }

    /// Whether a folder that is made for a session is its user's alone.
    fn is_private(&self) -> bool {
        false
    }
}

/// A phase, and what kind of item it is there.
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

/// When a tool has something to say about a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    Paused,
    Resumed,
    Completed,
    /// Everything about where it stands is asked for.
    Shown,
    /// On one line, among others that could be gone on with.
    Listed,
}

/// Every layout that this program knows.
pub fn all() -> &'static [&'static dyn Layout] {
    &[&crate::ocr::Ocr, &crate::ccw::Ccw, &crate::praxis::Praxis, &crate::essay::Essay]
}

pub fn by_name(name: &str) -> Option<&'static dyn Layout> {
    all().iter().copied().find(|layout| layout.name() == name)
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

/// Where sessions are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Below the project's folder; empty for the folder itself.
    Project(&'static str),
    /// In the folders for temporary files, and in places that are configured: entries whose names begin so.
    Temporary(&'static str),
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
}

/// What tells of all sessions of a layout at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Index {
    /// Below the project's folder; paths in the index's tree are relative to it.
    pub home: &'static str,
    /// The file that has something about each.
    pub file: &'static str,
}

/// What an index tells that does not fit what is there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Survey {
    /// Unfinished sessions without a folder, and where each would be.
    pub lost: Vec<Spot>,
    /// Sessions that are there and that the index should tell of.
    pub unlisted: Vec<Spot>,
    /// Sessions that are there and that the index tells of more than once.
    pub repeated: Vec<Spot>,
    pub problems: Vec<Problem>,
    /// Files of another kind, for somebody who finds no session: nothing is wrong with them.
    pub unknown: Option<Problem>,
}

/// Names on one line: all of them, or the first and how many more there are.
pub fn some_of(names: &[String]) -> String {
    const MOST: usize = 10;
    let more = names.len().saturating_sub(MOST);
    let named = names[..names.len().min(MOST)].join(", ");
    if more > 0 { format!("{named} and {more} more") } else { named }
}

/// How much of a session's files is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Its state and which files there are: enough for a line in a list.
    Short,
    Whole,
}

/// What is wanted of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interest {
    /// Nothing; of a folder, nothing in it either.
    Skip,
    /// That it is there; of a folder, what is in it.
    Name,
    /// What is in the file, which is no state: it may show something, and who changes it changes no session.
    Evidence,
    /// What is in the file, which is state.
    Content,
}

/// What a new session's folder has from the beginning. Paths are relative to the session's home.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Furniture {
    pub folders: Vec<String>,
    pub files: Vec<FileChange>,
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
}

/// What a session's files tell.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// What happened, as far as the files of its state tell: folding it gives the session. Begins with its start.
    /// What other files prove is not in it.
    pub history: Vec<Dated>,
    /// The definitions that the runs in the history follow, where they are not built in.
    pub workflows: Vec<Workflow>,
    /// What other files show, in the order in which it counts.
    pub proofs: Vec<Proof>,
    /// Files of its state that are missing or cannot be read. Without one of them the history is approximate.
    pub unreadable: Vec<String>,
    /// Files of single parts of it that cannot be read; all else is told.
    pub unreadable_parts: Vec<String>,
    pub details: Details,
}

impl Told {
    /// Whether a file is among those that cannot be read.
    pub fn cannot_read(&self, path: &str) -> bool {
        self.unreadable.iter().chain(&self.unreadable_parts).any(|unreadable| unreadable == path)
    }

    /// Whether the files of its state can be read and say where it stands. One of which that is not so never hides
    /// another of which it is.
    pub fn says_where_it_stands(&self) -> bool {
        self.unreadable.is_empty()
            && match &self.details {
                Details::None | Details::Ccw(_) => true,
                Details::Ocr(session) => session.says_phase,
            }
    }

    /// The same without a gate that passed: what is called done is claimed.
    #[must_use]
    pub fn only_claiming(mut self) -> Self {
        for dated in &mut self.history {
            if let Event::PhaseCompleted { phase, .. } = &dated.event {
                dated.event = Event::PhaseClaimed { phase: phase.clone(), attempt: None };
            }
        }
        self
    }

    /// The whole history with what the files prove, as a session that nobody has taken in yet has it; the session and
    /// the items that it makes. None when it does not begin with the session's start.
    pub fn fold(&self, actor: &Actor) -> Option<(Vec<Recorded>, Session, ItemBook)> {
        let record = |(dated, version): (&Dated, u64)| Recorded {
            version,
            at: dated.at,
            actor: actor.clone(),
            event: dated.event.clone(),
        };
        let mut recorded: Vec<Recorded> = self.history.iter().zip(1..).map(record).collect();
        let session = Session::fold(&recorded)?;
        let at = session.updated_at;
        let mut draft = Draft::new(session, ItemBook::fold(&recorded), at, actor.clone());
        // Nothing has been opened again here: whatever is there counts.
        prove(&mut draft, self, &|_| true);
        let version = recorded.len() as u64;
        let proven = draft.dated().into_iter().zip(version + 1..);
        recorded.extend(proven.map(|(dated, version)| record((&dated, version))));
        let (_, session, items) = draft.into_parts();
        Some((recorded, session, items))
    }
}

/// A session on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub title: String,
    pub workflow: &'static str,
    pub lifecycle: &'static str,
    pub phase: &'static str,
    pub phases_done: usize,
    pub phases: usize,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// What only a layout's own screen shows.
#[derive(Debug, Clone, PartialEq)]
pub enum Details {
    None,
    Ocr(Box<crate::ocr::OcrSession>),
    Ccw(Box<crate::ccw::CcwSession>),
}

/// One check of a session's files, and what it found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    pub check: &'static str,
    pub is_well: bool,
    pub found: String,
    /// What to do about it, where whoever goes on should be asked first.
    pub remedy: Option<String>,
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

/// A file as it is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Relative to the session's home.
    pub path: String,
    pub content: Vec<u8>,
}

/// What a new session is begun with.
#[derive(Clone, Copy)]
pub struct Beginning<'a> {
    /// Asked for by name.
    pub id: Option<&'a str>,
    pub title: &'a str,
    pub today: Date,
    pub now: Timestamp,
    pub branch: Option<&'a str>,
    /// Whether a path is taken.
    pub is_taken: &'a dyn Fn(&str) -> bool,
    /// Random, for layouts whose ids are.
    pub random: [u8; 16],
}
