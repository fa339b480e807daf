//! What a session's folder has from the beginning, beside its state: kept with the session's start until it is there, so
//! that no crash leaves it out, and its users' own from then on.

use super::find::Located;
use super::look::Look;
use crate::disk;
use crate::engine::{Engine, is_unfinished};
use crate::error::{Error, Result};
use layouts::layout::{Depth, Interest};
use model::session::Session;
use std::fs;
use std::path::Path;
use store::ViewRow;

/// Whether it is such a file: one that is no state.
pub(super) fn is_furniture(located: &Located, path: &str) -> bool {
    located.layout.interest(&located.spot, path, false, Depth::Short) != Interest::Content
}

/// Folders that a session begins with.
pub(super) fn make_folders(located: &Located, session: &Session, root: &Path) -> Result<()> {
    for folder in located.layout.furnish(session, &located.spot).folders {
        let folder = disk::below(root, &located.spot.below_project(&folder))?;
        fs::create_dir_all(&folder)
            .map_err(|source| Error::io(format!("making {}", folder.display()), source))?;
    }
    Ok(())
}

impl Look {
    /// What is there is its users' own: nothing is known of it any more.
    pub(super) fn leave_out_furniture(&mut self) {
        let (located, tree) = (&self.located, &self.tree);
        let is_to_come = |path: &String, row: &ViewRow| !row.confirmed && tree.get(path).is_none();
        self.rows.retain(|path, row| !is_furniture(located, path) || is_to_come(path, row));
    }
}

impl Engine {
    /// What a session begins with, where it has nothing yet.
    pub(super) fn furniture_rows(&self, session: &Session, look: &Look) -> Vec<ViewRow> {
        if !look.is_bare || !is_unfinished(session.lifecycle.name()) {
            return Vec::new();
        }
        let furniture = look.located.layout.furnish(session, &look.located.spot);
        let missing = furniture.files.into_iter().filter(|file| look.tree.get(&file.path).is_none());
        missing.filter_map(|file| self.view_row(session, look, &file.path, &file.content)).collect()
    }
}
