//! The result of one look at a session's files: the files, a verdict on each, and problems. Immutable.

use crate::foreign::discover::{Foreign, Located};
use crate::foreign::observe::stamp::Stamp;
use crate::foreign::observe::state_files;
use crate::foreign::publish::folders::Moving;
use crate::view::Warning;
use crate::walk;
use layouts::layout::{Depth, FileRules, Knows, Proof};
use layouts::tree::{Entry, Tree};
use layouts::verdict::{Base, DisplacedEdit, FileState};
use model::workflow::Workflow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use store::ViewRow;

#[derive(Clone)]
pub(crate) struct Observation {
    pub(crate) located: Located,
    /// The folder to which the trees' paths are relative.
    pub(crate) home: PathBuf,
    pub(crate) origin: Origin,
    /// The files as found on disk.
    pub(crate) tree: Tree,
    /// The effective files: edits stand, with dropped keys restored.
    pub(crate) documents: Tree,
    /// Files that we wrote before, and new ones.
    pub(crate) verdicts: BTreeMap<String, FileVerdict>,
    /// Edits made between two of our steps, by path, earlier first: they are in no file any more.
    pub(crate) displaced: Vec<(String, DisplacedEdit)>,
    pub(crate) problems: Vec<Warning>,
    /// Definitions that came with its files.
    pub(crate) workflows: Vec<Workflow>,
    /// Facts proven by other files.
    pub(crate) proofs: Vec<Proof>,
    /// Its folder still has to be moved.
    pub(crate) moving: Option<Moving>,
    /// Its folder existed, and is gone.
    pub(crate) is_gone: bool,
    /// Identifies an unchanged state; `None` if the observation must not be reused.
    pub(crate) stamp: Option<Stamp>,
}

/// Where a session is known from.
#[derive(Clone)]
pub(crate) enum Origin {
    Log,
    /// Just started, without files.
    New,
    /// Known only from files.
    Files(FromFiles),
}

/// A session's data from files that the store lacks.
#[derive(Clone)]
pub(crate) struct FromFiles {
    /// Its place in another project, if it comes from one.
    pub(crate) from: Option<PathBuf>,
    /// Paths that problems report as unreadable, and their substitutes.
    pub(crate) lost: BTreeSet<String>,
    /// Other files prove more than its state says.
    is_proven: bool,
    /// Some state files are missing or unreadable.
    lacks_files: bool,
    /// Its files contain session data, and how much they say.
    holds: bool,
    knows: Knows,
}

/// One file, and its verdict.
#[derive(Clone)]
pub(crate) struct FileVerdict {
    pub(crate) state: FileState,
    /// Our last write; `None` for a file that somebody else created.
    pub(crate) row: Option<ViewRow>,
    /// The base for recognising an edit.
    pub(crate) base: Base,
    /// The actual content, if a displaced edit counts instead.
    pub(crate) over: Option<Vec<u8>>,
    /// The backup that replaces a damaged part that we never wrote.
    pub(crate) stands_for: Option<Vec<u8>>,
    /// Why a damaged file is unreadable.
    pub(crate) why: Option<String>,
}

impl FileVerdict {
    pub(crate) fn of(state: FileState) -> Self {
        Self { state, row: None, base: Base::Written, over: None, stands_for: None, why: None }
    }
}

impl Observation {
    /// A session known only from files: everything on disk is theirs.
    pub(crate) fn of_found(found: Foreign, from: Option<PathBuf>) -> Self {
        let Foreign { located, tree, documents, damaged, told: files, warnings, recorded, session } = found;
        let state = |path: &String| match tree.get(path) {
            Some(Entry::Unusable(_) | Entry::Folder) => FileState::Unreadable,
            Some(_) | None if damaged.contains(path) => FileState::Damaged,
            Some(_) | None if files.cannot_read(path) => FileState::NeverRead,
            Some(_) | None => FileState::Edited,
        };
        let paths = state_files(located.layout, &located.spot, &tree).chain(damaged.clone());
        let verdicts = paths.map(|path| (path.clone(), FileVerdict::of(state(&path)))).collect();
        let lost = damaged.iter().flat_map(|path| [path.clone(), format!("{path}.bak"), String::new()]);
        let below = |path: String| located.spot.below_project(&path).trim_end_matches('/').to_owned();
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
        Self { documents, verdicts, problems: warnings, proofs: files.proofs, ..base }
    }

    /// A session without files so far; shared files may exist.
    pub(crate) fn of_new(located: Located, root: &Path) -> Self {
        let tree = walk::read(located.layout, &located.spot, root, Depth::Short);
        let home = root.join(&located.spot.home);
        Self::of_tree(located, home, Origin::New, tree)
    }

    /// Files without verdicts so far.
    pub(crate) fn of_tree(located: Located, home: PathBuf, origin: Origin, tree: Tree) -> Self {
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
            stamp: None,
        }
    }

    fn files(&self) -> Option<&FromFiles> {
        match &self.origin {
            Origin::Files(files) => Some(files),
            Origin::Log | Origin::New => None,
        }
    }

    /// True if the store lacks the session.
    pub(crate) fn is_foreign(&self) -> bool {
        self.files().is_some()
    }

    /// Its place in another project, if it comes from one.
    pub(crate) fn brought_from(&self) -> Option<&Path> {
        self.files()?.from.as_deref()
    }

    /// Unreadable paths of a session that was not adopted.
    pub(crate) fn lost(&self) -> BTreeSet<String> {
        self.files().map(|files| files.lost.clone()).unwrap_or_default()
    }

    /// True for a place without session content.
    pub(crate) fn holds_nothing(&self) -> bool {
        self.files().is_some_and(|files| !files.holds)
    }

    /// True for a foreign session with nothing known beyond its own state.
    pub(crate) fn is_left_alone(&self) -> bool {
        self.files().is_some_and(|files| !files.is_proven)
    }

    /// True if it was just started, or nothing of its initial files is left.
    pub(crate) fn is_bare(&self) -> bool {
        match &self.origin {
            Origin::New => true,
            Origin::Files(files) => files.lacks_files,
            Origin::Log => false,
        }
    }

    pub(crate) fn rules(&self) -> FileRules {
        self.located.layout.files(&self.located.spot)
    }

    pub(crate) fn state(&self, path: &str) -> Option<FileState> {
        self.verdicts.get(path).map(|verdict| verdict.state)
    }

    pub(crate) fn states(&self) -> impl Iterator<Item = (&String, FileState)> {
        self.verdicts.iter().map(|(path, verdict)| (path, verdict.state))
    }

    /// Our last write of a file.
    pub(crate) fn row(&self, path: &str) -> Option<&ViewRow> {
        self.verdicts.get(path)?.row.as_ref()
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = &ViewRow> {
        self.verdicts.values().filter_map(|verdict| verdict.row.as_ref())
    }

    /// The actual content of a file, if a displaced edit counts instead.
    pub(crate) fn over(&self, path: &str) -> Option<&Vec<u8>> {
        self.verdicts.get(path)?.over.as_ref()
    }

    pub(crate) fn in_state(&self, wanted: FileState) -> Vec<String> {
        self.states().filter(|(_, state)| *state == wanted).map(|(path, _)| path.clone()).collect()
    }

    /// Required files of a session that was not adopted, which are unreadable and have no backup.
    pub(crate) fn untold(&self) -> impl Iterator<Item = &String> {
        let is_bad = |state| matches!(state, FileState::Damaged | FileState::Unreadable);
        let is_all =
            |path: &String| self.files().is_some_and(|files| files.knows == Knows::Nothing(path.clone()));
        self.states().filter(move |(path, state)| is_bad(*state) && is_all(path)).map(|(path, _)| path)
    }
}
