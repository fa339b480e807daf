//! Sessions whose folder was taken away or renamed: said, not made again unasked, and hiding no other.

use super::late::Before;
use super::look::{FileState, Look, hash};
use crate::disk::exchange;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::view::Warning;
use layouts::problem::{AgainstTheLog, Problem, What};
use model::hint::Hint;
use model::id::SessionId;
use model::lifecycle::Lifecycle;
use model::session::Session;
use model::words;
use std::io;
use std::path::Path;
use store::ViewRow;

impl Look {
    /// Whether files of ours were in a folder that is not there any more. What never got there is yet to be made.
    /// A project that was moved took it along.
    pub(super) fn has_lost_its_folder(&self, root: &Path) -> bool {
        let missing = self.states.iter().filter(|(_, state)| **state == FileState::Missing);
        if !self.located.layout.facts().goes_with_folder || !is_nowhere(&self.home) || !root.is_dir() {
            return false;
        }
        let before = Before::seen(root);
        let mut rows = missing.filter_map(|(path, _)| self.rows.get(path));
        rows.any(|row| was_there(row, &before, &self.home.join(&row.path)))
    }

    /// What is told of such a session in place of each of its files. Whoever finished one may tidy it away.
    pub(super) fn tell_gone(&mut self, session: &Session) {
        let is_over = matches!(session.lifecycle, Lifecycle::Completed { .. } | Lifecycle::Abandoned { .. });
        let path = self.located.spot.path.clone();
        self.warnings = Vec::new();
        if !is_over {
            let how = AgainstTheLog::Gone;
            let kind = how.kind().to_owned();
            let problem = Problem::of_file("", What::Log(how));
            self.warnings.push(Warning {
                kind,
                message: problem.told_of(&path),
                hint: Some(hint(session.id.as_str(), None)),
                path: Some(path),
                problem: Some(Box::new(problem)),
            });
        }
    }
}

impl Engine {
    /// Whether the folder of a session that was looked at is gone.
    pub(crate) fn is_gone(&self, id: &SessionId) -> bool {
        self.seen.looks.borrow().get(id).is_some_and(|look| look.is_gone)
    }

    /// A session whose folder is gone is not changed: its files would come back beside those that were renamed.
    pub(crate) fn refuse_what_is_gone(&self, id: &SessionId) -> Result<()> {
        if !self.is_gone(id) || self.seen.is_mending.get() {
            return Ok(());
        }
        Err(self.gone(id))
    }

    pub(super) fn gone(&self, id: &SessionId) -> Error {
        let looks = self.seen.looks.borrow();
        let look = looks.get(id);
        let path = look.map(|look| look.located.spot.path.clone()).unwrap_or_default();
        let renamed = look.and_then(|look| self.renamed_to(look));
        Error::FolderGone { session: id.to_string(), path, hint: hint(id.as_str(), renamed.as_deref()) }
    }

    /// The session in another folder whose files are just what we wrote into this one.
    fn renamed_to(&self, look: &Look) -> Option<String> {
        let all = self.unadopted();
        let mut others =
            all.iter().filter(|other| other.layout.facts().name == look.located.layout.facts().name);
        let found = others.find(|other| {
            let home = self.project.root.join(&other.spot.home);
            look.rows.iter().any(|(path, row)| {
                exchange::read(&home.join(path)).is_ok_and(|bytes| hash(&bytes) == row.hash)
            })
        });
        found.map(|other| other.id.to_string())
    }
}

/// Whether a file of ours has been in its place: it was seen there, or an earlier one was put there.
pub(super) fn was_there(row: &ViewRow, before: &Before, target: &Path) -> bool {
    row.confirmed || !row.previous.is_empty() || (!row.earlier.is_empty() && before.knows(target))
}

/// What cannot be looked at may be there.
pub(super) fn is_nowhere(folder: &Path) -> bool {
    folder.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

fn hint(id: &str, renamed: Option<&str>) -> Hint {
    let new = match renamed {
        Some(new) => {
            Hint::new(format!("it is called {new} now; go on with that: ")).run(words!["switch", new])
        }
        None => Hint::new("if it was renamed, go on with it under its new name: ").run(words!["list"]),
    };
    new.then("; make it again: ")
        .run(words!["repair", "--session", id])
        .then("; or give it up: ")
        .run(words!["abandon", id])
}
