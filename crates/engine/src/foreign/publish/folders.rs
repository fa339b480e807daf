//! Layouts whose folders express a session's state: moves them in one step after the log says so. The move is
//! stored with the command's events like any file, and confirmed when done.

use crate::disk::{self, below};
use crate::doctor::Finding;
use crate::engine::{Engine, is_unfinished};
use crate::error::{Error, Result};
use crate::execute::plan::Plan;
use crate::failpoint;
use crate::foreign::discover::Located;
use crate::foreign::observe::{FileState, FileVerdict, Observation, hash};
use crate::foreign::publish::new_row;
use layouts::layout::{Layout, Spot};
use layouts::reconcile::Draft;
use layouts::tree::Tree;
use model::artifact::moved_path;
use model::event::{Event, Recorded};
use model::hint::Hint;
use model::session::Session;
use model::words;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use store::ViewRow;

/// A folder to be moved. Paths are relative to the session's home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Moving {
    pub(crate) from: String,
    pub(crate) to: String,
}

/// True for a row about a folder's place rather than a file.
pub(crate) fn is_place(row: &ViewRow) -> bool {
    row.path.ends_with('/')
}

impl Moving {
    /// A folder that our last write should have moved and did not.
    pub(crate) fn pending(spot: &Spot, rows: &BTreeMap<String, ViewRow>, tree: &Tree) -> Option<Self> {
        let to = spot.folder();
        let pending = rows.get(&format!("{to}/")).filter(|row| !row.confirmed)?;
        let from = String::from_utf8(pending.body.clone()).ok()?;
        let is_unmoved = tree.has_folder(&from) && !tree.has_folder(&to);
        is_unmoved.then_some(Self { from, to })
    }
}

impl Observation {
    /// The folder's place if somebody moved it. A finished session moved to the active ones is active.
    pub(crate) fn apply_move(&mut self, draft: &mut Draft) {
        let layout = self.located.layout;
        let rules = layout.files(&self.located.spot);
        let Some(place) = rules.places.now(&self.tree) else { return };
        let path = self.located.spot.below_project(place);
        let spot = layout.identify(&path, true).filter(|spot| spot.path != self.located.spot.path);
        let Some(spot) = spot else { return };
        draft.push(Event::SessionMoved { path });
        let session = draft.session();
        let (worktree, parallel) = (session.worktree.clone(), session.parallel);
        if !is_unfinished(session.lifecycle.name()) && belongs(layout, &spot, session).is_some() {
            draft.push(Event::SessionReopened { worktree, parallel, machine: None });
        }
        self.located.spot = spot;
    }

    /// The observation with its folder in its future place.
    pub(crate) fn gone_to(&self, located: Located) -> Self {
        let (from, to) = (self.located.spot.folder(), located.spot.folder());
        let place = |path: &String| moved_path(path, &from, &to);
        // Files known from an old place say nothing about that place now.
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

    /// The row of a move, until it is done.
    pub(crate) fn place_row(&self, session: &Session, boot_id: String) -> Option<ViewRow> {
        let Moving { from, to } = self.moving.as_ref()?;
        let row = new_row(session, format!("{to}/"), hash(from.as_bytes()), boot_id);
        Some(ViewRow { body: from.clone().into_bytes(), ..row })
    }
}

impl Engine {
    /// Sessions that end, or continue after their end, move to their proper place. Never over anything.
    pub(crate) fn send_to_places(&self, plan: &mut Plan) {
        let mut said = Vec::new();
        for change in std::iter::once(&mut plan.subject).chain(&mut plan.others) {
            let Some(before) = &change.before else { continue };
            let after = folded(before, &change.events);
            let is_open = |session: &Session| is_unfinished(session.lifecycle.name());
            if is_open(before) == is_open(&after) {
                continue;
            }
            match self.to_be_at(&after) {
                Some((path, true)) => change.events.push(Event::SessionMoved { path }),
                Some((path, false)) => {
                    let own = before.path.clone().unwrap_or_default();
                    said.push(format!("its files stay in {own}: {path} already exists"));
                }
                None => {}
            }
        }
        plan.said.extend(said);
    }

    /// A session's proper place, if elsewhere, and whether it is free.
    pub(crate) fn to_be_at(&self, session: &Session) -> Option<(String, bool)> {
        let located = self.located(session)?;
        let path = belongs(located.layout, &located.spot, session)?;
        let is_free = self.root_of(session).join(&path).symlink_metadata().is_err();
        Some((path, is_free))
    }

    /// A finding that our session is in a place that contradicts it.
    pub(crate) fn misplaced(&self, session: &Session) -> Option<Finding> {
        let (path, is_free) = self.to_be_at(session)?;
        let own = session.path.as_deref().unwrap_or_default();
        let hint = if is_free {
            Hint::new("move it: ").run(words!["repair", "--session", session.id])
        } else {
            format!("{path} already exists: move one of the two by hand").into()
        };
        Some(Finding {
            kind: "misplaced".to_owned(),
            message: format!(
                "session {} is {}, but its files are in {own}; they belong in {path}",
                session.id,
                session.lifecycle.name()
            ),
            hint: Some(hint),
        })
    }

    /// The observation of a session's files after a command: in another place, if it moves.
    pub(crate) fn where_it_is_to_be(
        &self,
        session: &Session,
        observation: &Observation,
    ) -> Option<Observation> {
        let located = self.located(session)?;
        (located.spot.path != observation.located.spot.path).then(|| observation.gone_to(located))
    }

    /// Moves a session's folder to its place. Safe to repeat.
    pub(crate) fn move_folder(&self, located: &Located, root: &Path, row: &ViewRow) -> Result<()> {
        let from = String::from_utf8_lossy(&row.body).into_owned();
        let source = below(root, &located.spot.below_project(&from))?;
        let target = below(root, &located.spot.path)?;
        failpoint::reached("folder-before-move");
        let failed = |source| Error::io(format!("moving {from} to {}", target.display()), source);
        if source.symlink_metadata().is_err() {
            return Ok(());
        }
        if target.symlink_metadata().is_ok() {
            return Err(Error::AlreadyThere { path: target });
        }
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        disk::move_to_free(&source, &target).map_err(failed)?;
        failpoint::reached("folder-moved");
        Ok(())
    }
}

/// The proper path of a session's files, if different.
fn belongs(layout: &dyn Layout, spot: &Spot, session: &Session) -> Option<String> {
    let path = layout.files(spot).places.belongs(&spot.folder(), &session.lifecycle)?;
    Some(spot.below_project(&path))
}

/// A session after uncommitted events; their time and actor do not matter here.
fn folded(before: &Session, events: &[Event]) -> Session {
    let recorded = |event: &Event| Recorded {
        version: before.version + 1,
        at: before.updated_at,
        actor: before.last_actor.clone(),
        event: event.clone(),
    };
    events.iter().map(recorded).fold(before.clone(), |session, recorded| session.apply(&recorded))
}
