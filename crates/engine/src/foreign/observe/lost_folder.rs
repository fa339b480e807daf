//! Handles sessions whose folder was removed or renamed. They are reported and never hide other sessions. Their folder
//! is not recreated unless somebody asks for it.

use crate::disk::exchange;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::foreign::observe::{Observation, hash};
use layouts::problem::gone_hint;
use layouts::reader::Located;
use model::id::SessionId;
use std::io;
use std::path::Path;

/// True if leftoff wrote files into a folder that no longer exists. False if leftoff never wrote there, or if the
/// folder moved together with its project.
pub(crate) fn has_lost_its_folder(observation: &Observation, root: &Path) -> bool {
    is_gone_with_folder(&observation.located, root) && root.is_dir() && observation.lacks_a_file()
}

/// True if a session's folder is gone and no registry lists the session, and if the session's tool treats such a session
/// as given up.
pub(crate) fn is_gone_with_folder(located: &Located, root: &Path) -> bool {
    let Located { layout, spot, .. } = located;
    layout.facts().goes_with_folder && is_nowhere(&root.join(&spot.path)) && !is_listed(located, root)
}

fn is_listed(located: &Located, root: &Path) -> bool {
    located.layout.capabilities().registry.is_some_and(|registry| {
        let content = exchange::read(&root.join(registry.file().path()));
        content.is_ok_and(|content| !registry.part(&located.spot, &content).is_empty())
    })
}

impl Engine {
    /// True if the folder of an observed session is gone.
    pub(crate) fn is_gone(&self, id: &SessionId) -> bool {
        self.observed(id).is_some_and(|observation| observation.is_gone)
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
        Error::FolderGone { session: id.to_string(), path, hint: gone_hint(id, renamed.as_ref()) }
    }

    /// Returns the session in a renamed folder. It is recognised by its files, which are exactly those that leftoff
    /// wrote into this session's folder.
    fn renamed_to(&self, observation: &Observation) -> Option<SessionId> {
        let all = self.unadopted();
        let mut others =
            all.iter().filter(|other| other.layout.facts().name == observation.located.layout.facts().name);
        let found = others.find(|other| {
            let home = self.project.root.join(&other.spot.home);
            observation
                .rows()
                .any(|row| exchange::read(&home.join(&row.path)).is_ok_and(|bytes| hash(&bytes) == row.hash))
        });
        found.map(|other| other.id.clone())
    }
}

/// True if nothing exists at a path. False if the path cannot be read, because something may exist there.
pub(crate) fn is_nowhere(folder: &Path) -> bool {
    folder.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}
