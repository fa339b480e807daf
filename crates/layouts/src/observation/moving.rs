//! Folders whose location shows the state of a session: where the folder is, where it should be, and what
//! follows for the session.

use super::{FileVerdict, Observation};
use crate::layout::{Layout, Spot};
use crate::reader::Located;
use crate::reconcile::Draft;
use crate::tree::Tree;
use crate::verdict::FileState;
use model::artifact::moved_path;
use model::event::Event;
use model::session::Session;
use model::written_file::ViewRow;
use std::collections::BTreeMap;

/// A move of a folder that is not done yet. Paths are relative to the session's home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moving {
    pub from: String,
    pub to: String,
}

/// True for a row that records the place of a folder, not the content of a file.
pub fn is_place(row: &ViewRow) -> bool {
    row.path.ends_with('/')
}

impl Moving {
    /// The move that leftoff's last write recorded, if the folder was not moved.
    pub fn pending(spot: &Spot, rows: &BTreeMap<String, ViewRow>, tree: &Tree) -> Option<Self> {
        let to = spot.folder();
        let pending = rows.get(&format!("{to}/")).filter(|row| !row.confirmed)?;
        let from = String::from_utf8(pending.body.clone()).ok()?;
        let is_unmoved = tree.has_folder(&from) && !tree.has_folder(&to);
        is_unmoved.then_some(Self { from, to })
    }
}

/// The path at which the session's files belong; `None` if they are there.
pub fn belongs(layout: &dyn Layout, spot: &Spot, session: &Session) -> Option<String> {
    let path = layout.files(spot).places.belongs(&spot.folder(), &session.lifecycle)?;
    Some(spot.below_project(&path))
}

impl Observation {
    /// Adopts the new place of a folder that somebody moved. A finished session becomes active if its folder
    /// was moved to the active sessions.
    pub(super) fn adopt_move(&mut self, draft: &mut Draft) {
        let layout = self.located.layout;
        let rules = self.rules();
        let Some(place) = rules.places.now(&self.tree) else { return };
        let path = self.located.below_project(place);
        let spot = layout.identify(&path, true).filter(|spot| spot.path != self.located.spot.path);
        let Some(spot) = spot else { return };
        draft.push(Event::SessionMoved { path });
        let session = draft.session();
        let (worktree, parallel) = (session.worktree.clone(), session.parallel);
        if session.lifecycle.is_over() && belongs(layout, &spot, session).is_some() {
            draft.push(Event::SessionReopened { worktree, parallel, machine: None });
        }
        self.located.spot = spot;
    }

    /// The observation as it will be after the folder was moved.
    #[must_use]
    pub fn moved_to(&self, located: Located) -> Self {
        let (from, to) = (self.located.spot.folder(), located.spot.folder());
        let place = |path: &String| moved_path(path, &from, &to);
        // Files in a place that the session has left do not apply to the new place.
        let live = self.verdicts.iter().filter(|(_, found)| found.state != FileState::Moved);
        let tree = |tree: &Tree| tree.clone().moved(&from, &to);
        let row = |row: &ViewRow| ViewRow { path: place(&row.path), ..row.clone() };
        let found = |found: &FileVerdict| FileVerdict { row: found.row.as_ref().map(row), ..found.clone() };
        Self {
            tree: tree(&self.tree),
            documents: tree(&self.documents),
            verdicts: live.map(|(path, verdict)| (place(path), found(verdict))).collect(),
            displaced: self.displaced.iter().map(|(path, edit)| (place(path), edit.clone())).collect(),
            moving: Some(Moving { from: from.clone(), to: to.clone() }),
            located,
            ..self.clone()
        }
    }
}
