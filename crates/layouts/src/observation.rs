//! The result of examining a session's files once: the files, a verdict on each, and problems. Does no I/O,
//! and does not change after it was made.

mod adopt;
mod compare;
mod judge;
mod moving;
mod shared;
#[cfg(test)]
mod tests;
mod unknown;
mod write;

pub use adopt::Log;
pub use judge::Gathered;
pub use moving::{Moving, belongs, is_place};
pub use shared::{beside_others, settled};
pub use write::{Writer, initial, is_on};

use crate::layout::{FileRules, Knows, Proof};
use crate::problem::Problem;
use crate::reader::{Foreign, Located};
use crate::tree::{Entry, Tree};
use crate::verdict::{Base, DisplacedEdit, FileState};
use model::id::Name;
use model::run::Run;
use model::session::Session;
use model::workflow::Workflow;
use model::written_file::ViewRow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

#[derive(Clone)]
pub struct Observation {
    pub located: Located,
    /// The folder to which the trees' paths are relative.
    pub home: PathBuf,
    pub origin: Origin,
    /// The files as found on disk.
    pub tree: Tree,
    /// The files that are used to read the session: external edits are included, with dropped keys restored.
    pub documents: Tree,
    /// Verdicts on files that leftoff wrote, and on new files.
    pub verdicts: BTreeMap<String, FileVerdict>,
    /// Edits that were made between two steps of a write, with their paths, older edits first. No file
    /// contains these edits any more.
    pub displaced: Vec<(String, DisplacedEdit)>,
    pub problems: Vec<Problem>,
    /// Workflow definitions that belong to the session's files.
    pub workflows: Vec<Workflow>,
    /// Facts proven by files other than the state.
    pub proofs: Vec<Proof>,
    /// The move of the session's folder that was recorded and is not done yet.
    pub moving: Option<Moving>,
    /// True if the session's folder existed before and is missing now.
    pub is_gone: bool,
}

/// How leftoff knows the session.
#[derive(Clone)]
pub enum Origin {
    Log,
    /// The session was just started. It has no files yet.
    New,
    /// Only the session's files contain it.
    Files(FromFiles),
}

/// A session's data from its files, because the store does not contain the session.
#[derive(Clone)]
pub struct FromFiles {
    /// The session's folder in another project, if the session is imported from there.
    pub from: Option<PathBuf>,
    /// Paths that problems report as unreadable, and the paths of files used instead.
    pub lost: BTreeSet<String>,
    /// True if other files prove more than the state file says.
    is_proven: bool,
    /// True if some state files are missing or unreadable.
    lacks_files: bool,
    /// True if the folder contains something of a session.
    holds: bool,
    knows: Knows,
}

/// The verdict on one file.
#[derive(Clone)]
pub struct FileVerdict {
    pub state: FileState,
    /// leftoff's last write of the file. `None` for a file that somebody else created.
    pub row: Option<ViewRow>,
    /// The version with which an edit of the file is compared.
    pub base: Base,
    /// The content that is used instead of the file's own, because an edit was displaced.
    pub over: Option<Vec<u8>>,
    /// The backup that is used instead of a damaged part that leftoff never wrote.
    pub stands_for: Option<Vec<u8>>,
}

impl FileVerdict {
    pub fn of(state: FileState) -> Self {
        Self { state, row: None, base: Base::Written, over: None, stands_for: None }
    }
}

impl Observation {
    /// The observation of a session that only files contain. Everything in the files was written by others.
    pub fn of_found(found: Foreign, from: Option<PathBuf>) -> Self {
        let Foreign { located, tree, documents, damaged, told: files, problems, recorded, session } = found;
        let state = |path: &String| match tree.get(path) {
            Some(Entry::Unusable(_) | Entry::Folder) => FileState::Unreadable,
            Some(_) | None if damaged.contains(path) => FileState::Damaged,
            Some(_) | None if files.cannot_read(path) => FileState::NeverRead,
            Some(_) | None => FileState::Edited,
        };
        let own = located.layout.files(&located.spot).state_files(&tree);
        let paths = own.into_iter().chain(damaged.clone());
        let verdicts = paths.map(|path| (path.clone(), FileVerdict::of(state(&path)))).collect();
        let lost = damaged.iter().flat_map(|path| [path.clone(), format!("{path}.bak"), String::new()]);
        let below = |path: String| located.below_project(&path).trim_end_matches('/').to_owned();
        let origin = Origin::Files(FromFiles {
            from,
            lost: lost.map(below).collect(),
            is_proven: recorded.len() > files.history.len(),
            lacks_files: !files.unreadable.is_empty(),
            holds: files.holds,
            knows: files.knows,
        });
        let home = PathBuf::from(&session.worktree).join(&located.spot.home);
        let base = Self::of_tree(located, home, origin, tree);
        Self { documents, verdicts, problems, proofs: files.proofs, ..base }
    }

    /// The observation of files before any verdict on them.
    pub fn of_tree(located: Located, home: PathBuf, origin: Origin, tree: Tree) -> Self {
        Self {
            located,
            home,
            origin,
            documents: tree.clone(),
            tree,
            verdicts: BTreeMap::new(),
            displaced: Vec::new(),
            problems: Vec::new(),
            workflows: Vec::new(),
            proofs: Vec::new(),
            moving: None,
            is_gone: false,
        }
    }

    fn files(&self) -> Option<&FromFiles> {
        match &self.origin {
            Origin::Files(files) => Some(files),
            Origin::Log | Origin::New => None,
        }
    }

    /// True if the store does not contain the session.
    pub fn is_foreign(&self) -> bool {
        self.files().is_some()
    }

    /// The session's folder in another project, if the session is imported from there.
    pub fn brought_from(&self) -> Option<&Path> {
        self.files()?.from.as_deref()
    }

    /// Unreadable paths of a session that was not adopted.
    pub fn lost(&self) -> BTreeSet<String> {
        self.files().map(|files| files.lost.clone()).unwrap_or_default()
    }

    /// True if the folder contains nothing of a session.
    pub fn holds_nothing(&self) -> bool {
        self.files().is_some_and(|files| !files.holds)
    }

    /// True for a session of another tool if other files add nothing to its state file.
    pub fn is_left_alone(&self) -> bool {
        self.files().is_some_and(|files| !files.is_proven)
    }

    /// True if the session was just started, or if only files contain it and some state files are missing or
    /// unreadable.
    fn is_bare(&self) -> bool {
        match &self.origin {
            Origin::New => true,
            Origin::Files(files) => files.lacks_files,
            Origin::Log => false,
        }
    }

    fn rules(&self) -> FileRules {
        self.located.layout.files(&self.located.spot)
    }

    pub fn state(&self, path: &str) -> Option<FileState> {
        self.verdicts.get(path).map(|verdict| verdict.state)
    }

    pub fn states(&self) -> impl Iterator<Item = (&String, FileState)> {
        self.verdicts.iter().map(|(path, verdict)| (path, verdict.state))
    }

    /// leftoff's last write of the file.
    pub fn row(&self, path: &str) -> Option<&ViewRow> {
        self.verdicts.get(path)?.row.as_ref()
    }

    pub fn rows(&self) -> impl Iterator<Item = &ViewRow> {
        self.verdicts.values().filter_map(|verdict| verdict.row.as_ref())
    }

    /// The content that is used instead of the file's own, if an edit of the file was displaced.
    fn over(&self, path: &str) -> Option<&Vec<u8>> {
        self.verdicts.get(path)?.over.as_ref()
    }

    pub fn in_state(&self, wanted: FileState) -> Vec<String> {
        self.states().filter(|(_, state)| *state == wanted).map(|(path, _)| path.clone()).collect()
    }

    /// True if a file that leftoff created is missing.
    pub fn lacks_a_file(&self) -> bool {
        self.rows().any(|row| self.state(&row.path) == Some(FileState::Missing) && row.was_there())
    }

    /// Final files of open phases, if they were written after a phase was last reopened. They show work that
    /// nobody has reported as done.
    pub fn work_ahead<'a>(&'a self, session: &'a Session, run: &'a Run) -> impl Iterator<Item = &'a str> {
        let is_older = |path: &str| self.tree.modified(path) < session.went_back_at;
        let is_open = |phase: &Name| run.phases.iter().any(|found| found.id() == phase && !found.is_done());
        self.proofs.iter().filter_map(move |proof| match proof {
            Proof::Work { workflow, ordinal, phase, path } => {
                let is_of_run = *workflow == run.workflow.name && *ordinal == run.ordinal;
                (is_of_run && is_open(phase) && !is_older(path)).then_some(path.as_str())
            }
            Proof::Run { .. } | Proof::Result { .. } => None,
        })
    }

    /// True if a run has its final file.
    pub fn has_result(&self, name: &Name, ordinal: u32) -> bool {
        self.proofs.iter().any(|proof| match proof {
            Proof::Result { workflow, ordinal: of } => workflow == name && *of == ordinal,
            Proof::Run { .. } | Proof::Work { .. } => false,
        })
    }

    /// The path at which people find the session. A session that moves between folders has a virtual path,
    /// which is not used here.
    pub fn place(&self) -> String {
        let spot = &self.located.spot;
        let mut files = self.verdicts.keys().map(|path| spot.below_project(path));
        let moves = files.clone().all(|path| !path.starts_with(&spot.path));
        files.next().filter(|_| moves).unwrap_or_else(|| spot.path.clone())
    }

    /// The edits that are in the log once this observation is committed, with their paths. Until then, each
    /// of them waits in a file beside the edited file.
    pub fn came_out(&self) -> Vec<(String, Vec<u8>)> {
        let displaced = self.displaced.iter().map(|(path, edit)| (path.clone(), edit.bytes.clone()));
        let over = self.verdicts.iter().filter(|(_, found)| found.over.is_some());
        let over = over.filter_map(|(path, _)| Some((path.clone(), self.tree.content(path)?.to_vec())));
        displaced.chain(over).collect()
    }

    /// True if every file agrees with the log.
    pub fn is_settled(&self) -> bool {
        let is_in_step = |(path, state): (&String, FileState)| match state {
            FileState::Same | FileState::Moved | FileState::Unreadable | FileState::NeverRead => true,
            // Other sessions' parts of a shared file may be adopted before they are written to the file.
            FileState::OfOthers => self.row(path).is_none_or(|row| row.confirmed),
            FileState::Edited
            | FileState::Behind
            | FileState::Leftover
            | FileState::Missing
            | FileState::Damaged => false,
        };
        let is_over = self.verdicts.values().any(|found| found.over.is_some());
        let is_quiet = self.displaced.is_empty() && !is_over && self.moving.is_none();
        is_quiet && self.states().all(is_in_step)
    }
}
