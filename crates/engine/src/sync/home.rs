//! Files belong to one worktree. A project that is moved or copied takes its log along, and that goes on naming the old
//! place: nothing is written there, and the session is taken up where its files are now.

use super::NATIVE;
use crate::doctor::Finding;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::place::Project;
use model::hint::Hint;
use model::session::Session;
use model::words;
use std::path::Path;
use store::Filter;

impl Engine {
    /// Whether a session is kept in files of another worktree of this repository.
    pub(crate) fn has_files_elsewhere(&self, session: &Session) -> bool {
        session.layout != NATIVE && self.is_of_this_repository(&session.worktree)
    }

    /// Whether its files are in another worktree, and not where this project was before it was moved or copied.
    pub(crate) fn is_of_another_worktree(&self, loaded: &store::Loaded) -> Result<bool> {
        let is_another = loaded.row.layout != NATIVE && loaded.row.worktree != self.project.worktree();
        Ok(is_another && self.has_files_elsewhere(&self.folded(loaded)?))
    }

    /// Whether a session's files came here with the project: where the log has them is gone, or is another project's.
    fn came_along(&self, session: &Session) -> bool {
        session.layout != NATIVE
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

    /// Until somebody takes it up here, nothing is written for a session that came along: not over the files of the
    /// project that this one is a copy of, nor into a folder that is gone.
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

    /// One that came along can be gone on with here, if its files did as well.
    pub(crate) fn refuse_what_is_not_here(&self, session: &Session) -> Result<()> {
        if self.has_its_files_here(session) { Ok(()) } else { self.refuse_what_came_along(session) }
    }

    /// Sessions that came along and wait for somebody to take them up.
    pub(crate) fn came_along_findings(&self) -> Result<Vec<Finding>> {
        let listed = self.store.list(&Filter::default())?;
        let rows = listed.into_iter().map(|listed| listed.row).filter(|row| row.layout != NATIVE);
        let mut findings = Vec::new();
        for row in rows.filter(|row| row.worktree != self.project.worktree()) {
            let Some(loaded) = self.store.load(&row.id)? else { continue };
            let session = self.folded(&loaded)?;
            if self.came_along(&session) && self.has_its_files_here(&session) {
                let error = self.refuse_what_came_along(&session).err();
                findings.extend(error.map(|error| Finding {
                    kind: error.kind().to_owned(),
                    message: error.to_string(),
                    hint: Some(Hint::new("go on with it here: ").run(words!["resume", session.id])),
                }));
            }
        }
        Ok(findings)
    }
}
