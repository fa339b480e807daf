//! Handles sessions whose folder was removed or renamed. They are reported and never hide other sessions. Their folder
//! is not recreated unless somebody asks for it.

use crate::disk::{self, exchange};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::foreign::discover::registry::MOST_MADE;
use crate::foreign::observe::{Observation, hash};
use crate::outside_projects;
use layouts::problem::gone_hint;
use layouts::reader::Located;
use model::id::SessionId;
use model::session::Session;
use std::io;
use std::path::Path;

/// True if a session's folder is gone and no registry lists the session, and if the session's tool treats such a session
/// as given up.
pub(crate) fn is_gone_with_folder(located: &Located, root: &Path) -> bool {
    is_without_folder(located, root) && !is_listed(located, root)
}

fn is_without_folder(Located { layout, spot, .. }: &Located, root: &Path) -> bool {
    layout.facts().goes_with_folder && is_nowhere(&root.join(&spot.path))
}

fn is_listed(located: &Located, root: &Path) -> bool {
    located.layout.capabilities().registry.is_some_and(|registry| {
        let content = exchange::read(&root.join(registry.file().path()));
        content.is_ok_and(|content| !registry.part(&located.spot, &content).is_empty())
    })
}

impl Engine {
    /// True if leftoff wrote files into a folder that no longer exists, or has another name now. False if leftoff never
    /// wrote there, or if the folder moved together with its project.
    pub(crate) fn has_lost_its_folder(&self, observation: &Observation, root: &Path) -> bool {
        let located = &observation.located;
        is_without_folder(located, root)
            && root.is_dir()
            && observation.lacks_a_file()
            && (!is_listed(located, root) || self.renamed_to(observation).is_some())
    }

    /// True if the folder of an observed session is gone.
    pub(crate) fn is_gone(&self, id: &SessionId) -> bool {
        self.observed(id).is_some_and(|observation| observation.is_gone)
    }

    /// True if a stored session had a folder that does not exist.
    pub(crate) fn lacks_its_folder(&self, session: &Session) -> bool {
        let located = self.located(session).filter(|_| self.store.base_has(&session.id));
        located.is_some_and(|located| is_without_folder(&located, &self.root_of(session)))
    }

    /// Refuses to change a session whose folder is gone. If the folder was renamed, the session's files would appear a
    /// second time.
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
        let moved = if renamed.is_none() { outside_projects::moved_to(id, &self.project) } else { None };
        Error::FolderGone {
            session: id.to_string(),
            path,
            hint: gone_hint(id, renamed.as_ref(), moved.as_deref()),
        }
    }

    /// Recreates the folders of sessions that are known only from a registry. Their files are then written like other
    /// missing files.
    pub(crate) fn make_lost_folders(&self, asked: Option<&str>) -> Result<()> {
        let mut lost = self.lost();
        match asked {
            Some(asked) => lost.retain(|spot| spot.id.as_str().eq_ignore_ascii_case(asked)),
            None if lost.len() > MOST_MADE => lost.clear(),
            None => {}
        }
        for spot in lost {
            let folder = disk::make_below(&self.project.root, &spot.path)?;
            // In an unusual place, only a folder with a state file is a session.
            if let Some(name) = spot.known_by.as_deref().and_then(|path| path.rsplit('/').next()) {
                let file = folder.join(name);
                let failed = |source| Error::io(format!("creating {}", file.display()), source);
                exchange::put_new(&file, b"").map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Returns the session in a renamed folder. It is recognised by its files, which are exactly those that leftoff
    /// wrote into this session's folder.
    fn renamed_to(&self, observation: &Observation) -> Option<SessionId> {
        let (all, own) = (self.unadopted(), observation.located.spot.folder());
        let mut others =
            all.iter().filter(|other| other.layout.facts().name == observation.located.layout.facts().name);
        let found = others.find(|other| {
            let (home, folder) = (self.project.root.join(&other.spot.home), other.spot.folder());
            observation.rows().any(|row| {
                let file = row.path.strip_prefix(&own).map(|rest| home.join(format!("{folder}{rest}")));
                file.is_some_and(|file| exchange::read(&file).is_ok_and(|bytes| hash(&bytes) == row.hash))
            })
        });
        found.map(|other| other.id.clone())
    }
}

/// True if nothing exists at a path. False if the path cannot be read, because something may exist there.
pub(crate) fn is_nowhere(folder: &Path) -> bool {
    folder.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}
