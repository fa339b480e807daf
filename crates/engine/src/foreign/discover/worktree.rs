//! Decides to which worktree a session's files belong. The log of a moved or copied project still names the old place.
//! Nothing is written there; the session must first be resumed where its files are now.

use crate::NATIVE;
use crate::doctor::Finding;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::project::Project;
use model::hint::Hint;
use model::session::Session;
use model::words;
use std::path::Path;
use store::Filter;

impl Engine {
    /// True if a session's files are in another worktree of this repository.
    pub(crate) fn has_files_elsewhere(&self, session: &Session) -> bool {
        session.layout != NATIVE && session.machine.is_none() && self.is_of_this_repository(&session.worktree)
    }

    /// True if a session's files are in another worktree of this repository, and not only recorded at the place where
    /// this project was before.
    pub(crate) fn is_of_another_worktree(&self, loaded: &store::Loaded) -> Result<bool> {
        let is_another = loaded.row.layout != NATIVE && loaded.row.worktree != self.project.worktree();
        Ok(is_another && self.has_files_elsewhere(&self.folded(loaded)?))
    }

    /// True if a session's files came here together with the project: the recorded place is gone, or belongs to another
    /// project.
    fn came_along(&self, session: &Session) -> bool {
        (session.layout != NATIVE && session.machine.is_none())
            && session.worktree != self.project.worktree()
            && !self.project.is_outside
            && !self.is_of_this_repository(&session.worktree)
    }

    fn is_of_this_repository(&self, worktree: &str) -> bool {
        let path = Path::new(worktree);
        let common = |project: &Project| project.git.as_ref().map(|git| git.common.clone());
        path.is_dir()
            && Project::find(path).is_ok_and(|found| match common(&self.project) {
                Some(own) => common(&found) == Some(own),
                None => found.root == self.project.root,
            })
    }

    fn has_its_files_here(&self, session: &Session) -> bool {
        let path = session.path.as_ref().map(|path| self.project.root.join(path));
        path.is_some_and(|path| path.exists())
    }

    /// Refuses to write for a session that came with a moved or copied project, until somebody resumes it here.
    /// Otherwise its files would replace those of the original, or appear in a folder that is gone.
    pub(crate) fn refuse_what_came_along(&self, session: &Session) -> Result<()> {
        if !self.came_along(session) {
            return Ok(());
        }
        Err(Error::CameAlong {
            session: session.id.to_string(),
            worktree: session.worktree.clone(),
            is_here: self.has_its_files_here(session),
        })
    }

    /// Refuses to resume a session that came with a moved or copied project, if the session's files are not here.
    pub(crate) fn refuse_what_is_not_here(&self, session: &Session) -> Result<()> {
        if self.has_its_files_here(session) { Ok(()) } else { self.refuse_what_came_along(session) }
    }

    /// Returns findings about sessions that came with a moved or copied project and were not resumed yet.
    pub(crate) fn came_along_findings(&self) -> Result<Vec<Finding>> {
        let rows = self.store.list(&Filter::default())?.into_iter().map(|listed| listed.row);
        let mut findings = Vec::new();
        for row in rows.filter(|row| row.layout != NATIVE && row.worktree != self.project.worktree()) {
            let Some(loaded) = self.store.load(&row.id)? else { continue };
            let session = self.folded(&loaded)?;
            if self.came_along(&session) && self.has_its_files_here(&session) {
                let error = self.refuse_what_came_along(&session).err();
                findings.extend(error.map(|error| Finding {
                    kind: error.kind().to_owned(),
                    message: error.to_string(),
                    hint: Some(Hint::new("continue the session here: ").run(words!["resume", session.id])),
                }));
            }
        }
        Ok(findings)
    }
}
