//! A session's own files: its worktree, its workspace, and the output of its phases. Folders are created only when they
//! are needed, and never without the file that keeps them out of version control.

use crate::NATIVE;
use crate::disk::{Operation, Step, below};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::project::{FOLDER, in_workspace, workspace_of, workspace_path};
use crate::setup;
use model::id::{Name, SessionId};
use model::session::Session;
use model::workflow::Workflow;
use std::fs;
use std::path::{Path, PathBuf};

const SESSIONS: &str = "sessions";
const ARCHIVE: &str = "archive";
/// The name of the folder with the journals. A session id never begins with a dot, so no workspace can have this name.
const JOURNALS: &str = ".journal";

/// Returns the path of the journal of a session's file operations, relative to the project's folder.
pub(crate) fn journal_for(id: &SessionId) -> String {
    format!("{FOLDER}/{SESSIONS}/{JOURNALS}/{id}.json")
}

impl Engine {
    /// Returns the folder to which a session's paths are relative.
    pub(crate) fn root_of(&self, session: &Session) -> PathBuf {
        PathBuf::from(&session.worktree)
    }

    /// Returns a session's own folder. It need not exist.
    pub(crate) fn workspace(&self, session: &Session) -> PathBuf {
        self.root_of(session).join(workspace_path(session))
    }

    /// Returns the session's own folder, and creates it if it is missing.
    pub(crate) fn make_workspace(&self, session: &Session) -> Result<PathBuf> {
        if session.layout == NATIVE {
            return make(&self.root_of(session), &session.id);
        }
        let (root, workspace) = (self.root_of(session), workspace_path(session));
        if workspace.is_empty() {
            return Ok(root);
        }
        let path = below(&root, &workspace)?;
        fs::create_dir_all(&path)
            .map_err(|source| Error::io(format!("creating {}", path.display()), source))?;
        Ok(path)
    }

    /// Moves the workspace of an abandoned session back from the archive.
    pub(crate) fn bring_workspace_back(&self, session: &str) -> Result<()> {
        let (_, session) = self.load(&self.resolve(session)?)?;
        let root = self.root_of(&session);
        if session.layout == NATIVE && below(&root, &archive_name(&session.id))?.is_dir() {
            make(&root, &session.id).map(drop)
        } else {
            Ok(())
        }
    }

    /// Returns the path of the journal of a session's file operations, relative to the session's root. It is not in the
    /// workspace, because the workspace may be moved.
    pub(crate) fn journal_of(&self, session: &Session) -> String {
        journal_for(&session.id)
    }

    /// Returns the operation that moves a session's workspace to the archive; `None` if the session has no workspace.
    pub(crate) fn archiving(&self, session: &Session) -> Option<Operation> {
        let root = self.root_of(session);
        let from = workspace_of(&session.id);
        if !root.join(&from).is_dir() {
            return None;
        }
        let first = archive_name(&session.id);
        let mut to = first.clone();
        let mut number = 2;
        while fs::symlink_metadata(root.join(&to)).is_ok() {
            to = format!("{first}.{number}");
            number += 1;
        }
        let mut operation = Operation::new(&root);
        operation.steps.push(Step::Rename { from, to });
        Some(operation)
    }

    /// Returns the path of a file that a workflow names, for one of its runs, relative to the workspace.
    pub(crate) fn file_of_run(&self, session: &Session, ordinal: u32, path: &str) -> String {
        let path = path.replace("{run}", &ordinal.to_string());
        let workspace = self.workspace(session);
        let is_there = |below: &str| workspace.join(below).symlink_metadata().is_ok();
        let layout = layouts::layout::by_name(&session.layout);
        layout.and_then(|layout| layout.facts().older_path(&path, &is_there)).unwrap_or(path)
    }

    /// Returns the existing files that a phase declares, relative to the session's root.
    pub(crate) fn produced(&self, session: &Session, definition: &Workflow, phase: &Name) -> Vec<String> {
        let Some(defined) = definition.phase(phase.as_str()) else { return Vec::new() };
        let ordinal = session.run().map_or(1, |run| run.ordinal);
        let workspace = self.workspace(session);
        let mut found: Vec<String> = defined
            .produces
            .iter()
            .flat_map(|path| matching(&workspace, &self.file_of_run(session, ordinal, path)))
            .map(|path| in_workspace(session, &path))
            .collect();
        found.sort();
        found.dedup();
        found
    }
}

/// Creates a session's workspace, and keeps it out of version control. If the workspace is archived, moves it back.
pub(crate) fn make(root: &Path, id: &SessionId) -> Result<PathBuf> {
    let path = below(root, &workspace_of(id))?;
    let archived = below(root, &archive_name(id))?;
    ensure_ignored(root)?;
    if !path.exists() && archived.is_dir() {
        let back =
            fs::create_dir_all(root.join(FOLDER).join(SESSIONS)).and_then(|()| fs::rename(&archived, &path));
        back.map_err(|source| Error::io(format!("bringing back {}", archived.display()), source))?;
    }
    fs::create_dir_all(&path).map_err(|source| Error::io(format!("creating {}", path.display()), source))?;
    Ok(path)
}

/// Returns the ids of the sessions that have a workspace below this folder.
pub(crate) fn workspaces(root: &Path) -> Vec<SessionId> {
    let Ok(entries) = fs::read_dir(root.join(FOLDER).join(SESSIONS)) else { return Vec::new() };
    let folders = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut ids: Vec<SessionId> =
        folders.filter_map(|entry| SessionId::parse(entry.file_name().to_str()?).ok()).collect();
    ids.sort();
    ids
}

pub(crate) fn archive_name(id: &SessionId) -> String {
    format!("{FOLDER}/{ARCHIVE}/{id}")
}

/// Creates leftoff's folder and in it, unless it exists, `.gitignore`, which keeps sessions out of version control.
pub(crate) fn ensure_ignored(root: &Path) -> Result<()> {
    // A repository may contain a symbolic link with the name of the folder, and the link may lead anywhere.
    let folder = below(root, FOLDER)?;
    fs::create_dir_all(&folder)
        .map_err(|source| Error::io(format!("creating {}", folder.display()), source))?;
    setup::write_new(&folder.join(".gitignore"), setup::IGNORED).map(drop)
}

/// Returns the files that a declared path stands for: a single file, or one for each item.
fn matching(workspace: &Path, declared: &str) -> Vec<String> {
    let Some((before, after)) = declared.split_once("{item}") else {
        let exists = fs::symlink_metadata(workspace.join(declared)).is_ok();
        return if exists { vec![declared.to_owned()] } else { Vec::new() };
    };
    // The id of an item may be part of a file's name. In the name of a folder, it would match any folder.
    if after.contains('/') || after.contains("{item}") {
        return Vec::new();
    }
    let (folder, prefix) = before.rsplit_once('/').map_or(("", before), |(folder, name)| (folder, name));
    let Ok(entries) = fs::read_dir(workspace.join(folder)) else { return Vec::new() };
    entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| {
            let item = name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(after));
            item.is_some_and(|item| !item.is_empty()) && !is_archived_version(name)
        })
        .map(|name| if folder.is_empty() { name } else { format!("{folder}/{name}") })
        .collect()
}

/// True for the name of an archived version, such as `name.v3.md`. Such a file is never a current file.
pub(crate) fn is_archived_version(name: &str) -> bool {
    let mut parts = name.rsplit('.');
    let is_version = |part: &str| {
        part.strip_prefix('v')
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let (last, before) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    is_version(last) || is_version(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_declared_path_means_a_file_for_every_item_and_no_archived_version() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in
            ["section-1-map.md", "section-2a-map.md", "section-1-map.v1.md", "section--map.md", "a.md"]
        {
            fs::write(folder.path().join(name), "x").expect("a file");
        }
        let found = |declared: &str| {
            let mut found = matching(folder.path(), declared);
            found.sort();
            found
        };
        assert_eq!(found("section-{item}-map.md"), ["section-1-map.md", "section-2a-map.md"]);
        assert_eq!(found("a.md"), ["a.md"]);
        assert!(found("{item}/map.md").is_empty() && found("b.md").is_empty());
    }
}
