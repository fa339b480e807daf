//! Sessions whose folder was removed or renamed: reported, not recreated unasked, and hiding no other.

use crate::disk::exchange;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::foreign::observe::{FileState, Observation, hash};
use crate::foreign::publish::journal::knows;
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

impl Observation {
    /// True if our files were in a folder that no longer exists. A write that never arrived is still pending.
    /// A moved project took its folder along.
    pub(crate) fn has_lost_its_folder(&self, root: &Path) -> bool {
        if !self.located.layout.facts().goes_with_folder || !is_nowhere(&self.home) || !root.is_dir() {
            return false;
        }
        let mut missing = self.rows().filter(|row| self.state(&row.path) == Some(FileState::Missing));
        missing.any(was_there)
    }

    /// Describes such a session instead of each of its files. A finished one may have been tidied away.
    pub(crate) fn describe_gone(&mut self, session: &Session) {
        let is_over = matches!(session.lifecycle, Lifecycle::Completed { .. } | Lifecycle::Abandoned { .. });
        let path = self.located.spot.path.clone();
        self.problems = Vec::new();
        if !is_over {
            let kind = AgainstTheLog::Gone.kind();
            let problem = Problem::of_file("", What::Log(AgainstTheLog::Gone));
            let warning = Warning::new(kind, problem.sentence(&path)).hint(hint(session.id.as_str(), None));
            self.problems.push(warning.at(path).of(problem));
        }
    }
}

impl Engine {
    /// True if the folder of an observed session is gone.
    pub(crate) fn is_gone(&self, id: &SessionId) -> bool {
        self.observed(id).is_some_and(|observation| observation.is_gone)
    }

    /// A session without its folder is not changed: its files would reappear beside the renamed ones.
    pub(crate) fn refuse_what_is_gone(&self, id: &SessionId) -> Result<()> {
        if !self.is_gone(id) || self.scope.aim.is_repair() {
            return Ok(());
        }
        Err(self.gone(id))
    }

    pub(crate) fn gone(&self, id: &SessionId) -> Error {
        let observation = self.observed(id);
        let path = observation.as_ref().map(|observation| observation.located.spot.path.clone());
        let path = path.unwrap_or_default();
        let renamed = observation.as_deref().and_then(|observation| self.renamed_to(observation));
        Error::FolderGone { session: id.to_string(), path, hint: hint(id.as_str(), renamed.as_deref()) }
    }

    /// The session in another folder whose files are exactly what we wrote here.
    fn renamed_to(&self, observation: &Observation) -> Option<String> {
        let all = self.unadopted();
        let mut others =
            all.iter().filter(|other| other.layout.facts().name == observation.located.layout.facts().name);
        let found = others.find(|other| {
            let home = self.project.root.join(&other.spot.home);
            observation
                .rows()
                .any(|row| exchange::read(&home.join(&row.path)).is_ok_and(|bytes| hash(&bytes) == row.hash))
        });
        found.map(|other| other.id.to_string())
    }
}

/// True if a file of ours has been in place: it was seen there, or an earlier one was written there.
pub(crate) fn was_there(row: &ViewRow) -> bool {
    row.confirmed || !row.previous.is_empty() || (!row.earlier.is_empty() && knows(&row.journal))
}

/// An unreadable path may exist.
pub(crate) fn is_nowhere(folder: &Path) -> bool {
    folder.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

fn hint(id: &str, renamed: Option<&str>) -> Hint {
    let new = match renamed {
        Some(new) => Hint::new(format!("it is now called {new}; continue it: ")).run(words!["switch", new]),
        None => Hint::new("if it was renamed, continue it under its new name: ").run(words!["list"]),
    };
    new.then("; recreate it: ")
        .run(words!["repair", "--session", id])
        .then("; or abandon it: ")
        .run(words!["abandon", id])
}
