//! Lists the branches that have a file, and removes the files of branches that no longer exist.

use super::shared_file::{self, SharedFile};
use super::{OUR_FOLDER, nowhere};
use crate::error::{Error, Result};
use crate::project::Project;
use crate::time_limits::PATIENCE;
use layouts::requirements::Document;
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A branch for which requirements are recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrackedBranch {
    pub branch: String,
    /// The number of requirements in the branch's file.
    pub requirements: usize,
    pub path: PathBuf,
}

impl TrackedBranch {
    /// Returns every branch with a readable file, by name.
    pub fn all(project: &Project) -> Result<Vec<Self>> {
        let Some(git) = &project.git else { return Err(nowhere(project)) };
        let folder = git.common.join("requirements");
        let mut tracked: Vec<Self> =
            [folder.join(OUR_FOLDER), folder].iter().flat_map(|folder| tracked_in(folder)).collect();
        tracked.sort_by(|one, other| one.branch.cmp(&other.branch));
        Ok(tracked)
    }

    /// Removes the files of branches that git no longer has. Returns these branches. A file that names no branch stays.
    pub fn prune(project: &Project) -> Result<Vec<Self>> {
        let existing = branches_of_git(&project.root)?;
        let mut gone = Self::all(project)?;
        let current = project.branch();
        gone.retain(|one| !existing.contains(&one.branch) && current.as_ref() != Some(&one.branch));
        for one in &gone {
            SharedFile::new(one.path.clone()).remove(PATIENCE)?;
        }
        Ok(gone)
    }
}

fn tracked_in(folder: &Path) -> Vec<TrackedBranch> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_state = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "json");
    entries.filter(is_state).filter_map(tracked).collect()
}

fn tracked(path: PathBuf) -> Option<TrackedBranch> {
    let document = Document::read(&shared_file::read(&path).ok()??).ok()?;
    let branch = document.branch()?.to_owned();
    Some(TrackedBranch { branch, requirements: document.names().count(), path })
}

/// Returns the names of git's branches. git is asked, because its files have more than one format.
fn branches_of_git(root: &Path) -> Result<Vec<String>> {
    let doing = |source| Error::io("listing git's branches".to_owned(), source);
    let said = Command::new("git")
        .args(["for-each-ref", "--format=%(refname)", "refs/heads"])
        .current_dir(root)
        .env_remove("GIT_DIR")
        .stdin(Stdio::null())
        .output()
        .map_err(doing)?;
    if !said.status.success() {
        let why = String::from_utf8_lossy(&said.stderr).trim().to_owned();
        return Err(doing(std::io::Error::other(why)));
    }
    let names = String::from_utf8_lossy(&said.stdout).into_owned();
    Ok(names.lines().filter_map(|name| name.strip_prefix("refs/heads/")).map(ToOwned::to_owned).collect())
}
