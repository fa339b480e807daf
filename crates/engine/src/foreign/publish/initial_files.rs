//! Initial files of a session's folder, besides its state: stored with the session's start until written, so
//! that no crash loses them, and owned by its users from then on.

use crate::disk;
use crate::engine::{Engine, is_unfinished};
use crate::error::Result;
use crate::foreign::discover::Located;
use crate::foreign::observe::Observation;
use layouts::layout::{FileOp, Folder, Purpose, ReadAs, SessionToPublish, WriteRequest};
use layouts::tree::Tree;
use model::item::ItemBook;
use model::session::Session;
use std::path::Path;
use store::ViewRow;

/// The initial files of a new session.
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
    let publication = SessionToPublish::new(session, &items, &[]);
    located.layout.write(&WriteRequest { purpose: Purpose::New, publication: &publication }, &folder)
}

/// The initial folders of a session.
pub(crate) fn make_folders(located: &Located, session: &Session, root: &Path) -> Result<()> {
    let folders = initial(located, session).into_iter().filter_map(|op| match op {
        FileOp::Folder(path) => Some(path),
        FileOp::Put { .. } | FileOp::Create(_) | FileOp::Marker { .. } => None,
    });
    for folder in folders {
        disk::make_below(root, &located.spot.below_project(&folder))?;
    }
    Ok(())
}

impl Engine {
    /// The initial files of a session without any.
    pub(crate) fn initial_rows(&self, session: &Session, observation: &Observation) -> Vec<ViewRow> {
        if !observation.is_bare() || !is_unfinished(session.lifecycle.name()) {
            return Vec::new();
        }
        let files = initial(&observation.located, session).into_iter().filter_map(|op| match op {
            FileOp::Create(file) => Some(file),
            FileOp::Put { .. } | FileOp::Folder(_) | FileOp::Marker { .. } => None,
        });
        let missing = files.filter(|file| observation.tree.get(&file.path).is_none());
        missing.filter_map(|file| self.view_row(session, observation, &file.path, &file.content)).collect()
    }
}
