//! Finds the project, its git folder and its database. Reads git's files; never starts git.

use crate::error::{Error, Result};
use crate::outside_projects;
use crate::project_registry;
use model::id::SessionId;
use model::session::Session;
use std::fs;
use std::path::{Path, PathBuf};

/// The name of leftoff's folder in a project, which is committed together with the code.
pub const FOLDER: &str = ".leftoff";
const DATABASE: &str = "leftoff.db";

/// One worktree, and the store that it shares with the other worktrees of its repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// The folder of this worktree, in canonical form.
    pub root: PathBuf,
    pub git: Option<Git>,
    /// True if this is the folder of a session outside projects. Its log is in the user's store.
    pub is_outside: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Git {
    /// This worktree's own git folder.
    pub folder: PathBuf,
    /// The git folder that all worktrees of the repository share.
    pub common: PathBuf,
}

impl Project {
    /// Returns the nearest of this folder and its parents that is a leftoff project or a git repository, or that has
    /// sessions in a known layout.
    pub fn find(from: &Path) -> Result<Self> {
        let from = canonical(from)?;
        let project =
            from.ancestors().find(|folder| is_project(folder) && !outside_projects::is_session(folder));
        if let Some(folder) = project {
            return Ok(Self::at(folder));
        }
        let session = from.ancestors().find(|folder| outside_projects::is_session(folder));
        session.map(Self::outside).ok_or(Error::NoProject { folder: from.clone() })
    }

    /// Like `find`, but if there is no project, this folder becomes one.
    pub fn find_or_here(from: &Path) -> Result<Self> {
        match Self::find(from) {
            Err(Error::NoProject { folder }) => Ok(Self::at(&folder)),
            found => found,
        }
    }

    fn at(root: &Path) -> Self {
        Self { root: root.to_owned(), git: root.ancestors().find_map(git_at), is_outside: false }
    }

    /// Returns a project for the folder of a session outside projects.
    pub(crate) fn outside(folder: &Path) -> Self {
        Self { root: folder.to_owned(), git: None, is_outside: true }
    }

    /// Returns the name of the worktree in the store.
    pub fn worktree(&self) -> String {
        self.root.to_string_lossy().into_owned()
    }

    pub fn folder(&self) -> PathBuf {
        self.root.join(FOLDER)
    }

    /// Returns where the database is if no other location was recorded.
    pub fn default_database(&self) -> PathBuf {
        match &self.git {
            Some(git) => git.common.join("leftoff").join(DATABASE),
            None => self.folder().join(DATABASE),
        }
    }

    /// Returns where the database is.
    pub fn database(&self) -> Result<PathBuf> {
        if self.is_outside {
            return project_registry::users_database(DATABASE);
        }
        if let Some(chosen) = project_registry::database_of(self.registry_key())? {
            return Ok(chosen);
        }
        let default = self.default_database();
        let before_git = self.folder().join(DATABASE);
        // If a folder became a repository after its store was created, the store stays where it is.
        if default != before_git && !default.exists() && before_git.exists() {
            return Ok(before_git);
        }
        Ok(default)
    }

    /// Chooses a location in the user's state folder because the usual one is not writable. Records the location for
    /// every process.
    pub fn move_database_to_state_folder(&self) -> Result<PathBuf> {
        project_registry::choose_database(self.registry_key(), DATABASE)
    }

    /// Returns the location of the database if it is not in the project or its git folder.
    pub(crate) fn database_outside_git(&self) -> Result<PathBuf> {
        project_registry::place_for(self.registry_key(), DATABASE)
    }

    pub(crate) fn is_in_git_folder(&self, path: &Path) -> bool {
        self.git.as_ref().is_some_and(|git| path.starts_with(&git.common) || path.starts_with(&git.folder))
    }

    /// Removes the recorded location of a store that was removed.
    pub(crate) fn forget_database(&self) -> Result<()> {
        project_registry::forget(self.registry_key())
    }

    /// Returns the folders of the user's other projects that have their store in the state folder.
    pub fn others_in_state_folder(project: Option<&Self>) -> Vec<PathBuf> {
        let folder = |key: PathBuf| match key.parent() {
            Some(parent) if key.ends_with(".git") => parent.to_owned(),
            Some(_) | None => key,
        };
        let keys = project_registry::others_in_state_folder(project.map(Self::registry_key));
        keys.into_iter().map(folder).collect()
    }

    /// Returns the project's key in the registry. All worktrees of a repository have the same key.
    fn registry_key(&self) -> &Path {
        self.git.as_ref().map_or(&self.root, |git| &git.common)
    }

    /// Returns the checked-out branch; `None` outside git, or if HEAD is detached.
    pub fn branch(&self) -> Option<String> {
        let head = fs::read_to_string(self.git.as_ref()?.folder.join("HEAD")).ok()?;
        head.trim().strip_prefix("ref: refs/heads/").map(ToOwned::to_owned)
    }

    /// Returns the checked-out commit, as far as plain files show it; `None` outside git and before the first commit.
    pub fn head(&self) -> Option<String> {
        let git = self.git.as_ref()?;
        let head = fs::read_to_string(git.folder.join("HEAD")).ok()?;
        let Some(name) = head.trim().strip_prefix("ref: ") else { return commit(&head) };
        let loose = [&git.folder, &git.common]
            .into_iter()
            .find_map(|folder| fs::read_to_string(folder.join(name)).ok());
        loose.as_deref().and_then(commit).or_else(|| packed(&git.common, name))
    }
}

/// Returns the commit of a packed ref.
fn packed(common: &Path, name: &str) -> Option<String> {
    let refs = fs::read_to_string(common.join("packed-refs")).ok()?;
    let of_name = |line: &str| {
        line.split_once(' ').filter(|(_, found)| *found == name).map(|(hash, _)| hash.to_owned())
    };
    refs.lines().find_map(of_name).as_deref().and_then(commit)
}

/// Returns the line if it is a commit hash of either length.
fn commit(line: &str) -> Option<String> {
    let hash = line.trim();
    let is_hash = matches!(hash.len(), 40 | 64) && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| hash.to_owned())
}

/// Returns the folder of a session's artifacts. It is below the project's folder, unless the session's layout has
/// another place.
pub(crate) fn workspace_path(session: &Session) -> String {
    let spot = session.path.as_deref().and_then(|path| {
        let layout = layouts::layout::by_name(&session.layout)?;
        layout.identify(path, true).or_else(|| layout.identify(path, false))
    });
    let Some(spot) = spot else { return workspace_of(&session.id) };
    // The root of a session outside projects is the session's own folder, and the workspace is this folder too.
    match Path::new(&spot.workspace).strip_prefix(&session.worktree) {
        Ok(below) => below.to_string_lossy().into_owned(),
        Err(_) => spot.workspace,
    }
}

/// Returns the path of a file in a session's workspace, relative to the session's root.
pub(crate) fn in_workspace(session: &Session, path: &str) -> String {
    Path::new(&workspace_path(session)).join(path).to_string_lossy().into_owned()
}

/// Returns a native session's folder, relative to the project's folder.
pub(crate) fn workspace_of(session: &SessionId) -> String {
    format!("{FOLDER}/sessions/{session}")
}

fn is_project(folder: &Path) -> bool {
    folder.join(FOLDER).is_dir()
        || folder.join(".git").exists()
        || layouts::layout::all()
            .iter()
            .flat_map(|layout| layout.facts().folders)
            .any(|name| folder.join(name).is_dir())
}

/// Returns the git folders of the worktree at `folder`, whose path must be canonical.
fn git_at(folder: &Path) -> Option<Git> {
    let dot_git = folder.join(".git");
    let found = fs::symlink_metadata(&dot_git).ok()?;
    let own = if found.is_dir() {
        dot_git
    } else if found.is_symlink() && dot_git.is_dir() {
        dot_git.canonicalize().ok()?
    } else {
        let text = fs::read_to_string(&dot_git).ok()?;
        folder.join(text.trim().strip_prefix("gitdir:")?.trim()).canonicalize().ok()?
    };
    let common = match fs::read_to_string(own.join("commondir")) {
        Ok(text) => own.join(text.trim()).canonicalize().ok()?,
        Err(_) => own.clone(),
    };
    Some(Git { folder: own, common })
}

fn canonical(path: &Path) -> Result<PathBuf> {
    path.canonicalize().map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => Error::NoProject { folder: path.to_owned() },
        _ => Error::io(format!("looking at {}", path.display()), source),
    })
}
