//! What a session's folder has from the beginning, beside its state: kept with the session's start until it is there, so
//! that no crash leaves it out, and its users' own from then on.

use super::find::Located;
use super::look::Look;
use crate::disk;
use crate::engine::{Engine, is_unfinished};
use crate::error::{Error, Result};
use layouts::layout::{FileOp, Folder, Purpose, ReadAs, Standing, WriteRequest};
use layouts::tree::Tree;
use model::item::ItemBook;
use model::session::Session;
use std::fs;
use std::path::Path;
use store::ViewRow;

/// What a new session's folder starts with.
fn initial(located: &Located, session: &Session) -> Vec<FileOp> {
    let (items, tree) = (ItemBook::default(), Tree::default());
    let folder = Folder {
        spot: &located.spot,
        id: &session.id,
        worktree: &session.worktree,
        tree: &tree,
        now: session.updated_at,
        read_as: ReadAs::Found,
    };
    let standing = Standing::new(session, &items, &[]);
    located.layout.write(&WriteRequest { purpose: Purpose::New, standing: &standing }, &folder)
}

/// Folders that a session begins with.
pub(super) fn make_folders(located: &Located, session: &Session, root: &Path) -> Result<()> {
    let folders = initial(located, session).into_iter().filter_map(|op| match op {
        FileOp::Folder(path) => Some(path),
        FileOp::Put { .. } | FileOp::Create(_) | FileOp::Marker { .. } => None,
    });
    for folder in folders {
        let folder = disk::below(root, &located.spot.below_project(&folder))?;
        fs::create_dir_all(&folder)
            .map_err(|source| Error::io(format!("making {}", folder.display()), source))?;
    }
    Ok(())
}

impl Look {
    /// What is there is its users' own: nothing is known of it any more.
    pub(super) fn leave_out_furniture(&mut self) {
        let (rules, tree) = (self.rules(), &self.tree);
        let is_to_come = |path: &String, row: &ViewRow| !row.confirmed && tree.get(path).is_none();
        self.rows.retain(|path, row| rules.is_state(path) || is_to_come(path, row));
    }
}

impl Engine {
    /// What a session begins with, where it has nothing yet.
    pub(super) fn furniture_rows(&self, session: &Session, look: &Look) -> Vec<ViewRow> {
        if !look.is_bare || !is_unfinished(session.lifecycle.name()) {
            return Vec::new();
        }
        let files = initial(&look.located, session).into_iter().filter_map(|op| match op {
            FileOp::Create(file) => Some(file),
            FileOp::Put { .. } | FileOp::Folder(_) | FileOp::Marker { .. } => None,
        });
        let missing = files.filter(|file| look.tree.get(&file.path).is_none());
        missing.filter_map(|file| self.view_row(session, look, &file.path, &file.content)).collect()
    }
}
