//! Layouts in which the place of a session's files says how it stands: they go where they belong, in one step, after the
//! log says so. Where the folder is to be is kept with the command's events as any file is, and confirmed when it is there.

use super::find::Located;
use super::late::Before;
use super::look::{FileState, Look, hash};
use super::slips::Slip;
use crate::disk::{self, below};
use crate::doctor::Finding;
use crate::engine::{Engine, is_unfinished};
use crate::error::{Error, Result};
use crate::execute::plan::Plan;
use crate::failpoint;
use layouts::layout::{Layout, Spot};
use layouts::reconcile::Draft;
use layouts::tree::Tree;
use model::artifact::moved_path;
use model::event::{Event, Recorded};
use model::hint::Hint;
use model::session::Session;
use model::words;
use std::fs::{self, File};
use std::path::Path;
use store::ViewRow;

/// A folder that is to go to another place. Paths are relative to the session's home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Moving {
    pub(super) from: String,
    pub(super) to: String,
}

/// Whether it is about a folder's place, and about no file.
pub(super) fn is_place(row: &ViewRow) -> bool {
    row.path.ends_with('/')
}

/// Below its home.
fn folder_of(spot: &Spot) -> &str {
    spot.path.strip_prefix(&spot.home).and_then(|rest| rest.strip_prefix('/')).unwrap_or(&spot.path)
}

impl Look {
    /// A folder that our last write was to move and did not: everything is told as if it were there already.
    pub(super) fn find_unmoved(&mut self) {
        let to = folder_of(&self.located.spot).to_owned();
        let pending = self.rows.get(&format!("{to}/")).filter(|row| !row.confirmed);
        let from = pending.and_then(|row| String::from_utf8(row.body.clone()).ok());
        self.rows.retain(|_, row| !is_place(row));
        let is_unmoved = |from: &String| self.tree.has_folder(from) && !self.tree.has_folder(&to);
        if let Some(from) = from.filter(is_unmoved) {
            self.tree = std::mem::take(&mut self.tree).moved(&from, &to);
            self.documents = self.tree.clone();
            self.moving = Some(Moving { from, to });
        }
    }

    /// Where somebody has put it, if that is elsewhere. A finished one that they put among those that go on, goes on.
    pub(super) fn bring_in_move(&mut self, draft: &mut Draft) {
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

    /// The same with its folder in another place, to which it is yet to go.
    pub(super) fn gone_to(&self, located: Located) -> Self {
        let (from, to) = (folder_of(&self.located.spot), folder_of(&located.spot));
        let place = |path: &String| moved_path(path, from, to);
        // What is known of files in a place where it once was says nothing about that place.
        let is_live = |path: &String| self.states.get(path) != Some(&FileState::Moved);
        let tree = |tree: &Tree| tree.clone().moved(from, to);
        let row = |row: &ViewRow| ViewRow { path: place(&row.path), ..row.clone() };
        let slip = |slip: &Slip| Slip { path: place(&slip.path), ..slip.clone() };
        Self {
            home: self.home.clone(),
            tree: tree(&self.tree),
            documents: tree(&self.documents),
            states: self
                .states
                .iter()
                .filter(|(path, _)| is_live(path))
                .map(|(path, state)| (place(path), *state))
                .collect(),
            rows: self
                .rows
                .values()
                .filter(|row| is_live(&row.path))
                .map(row)
                .map(|row| (row.path.clone(), row))
                .collect(),
            slipped: self.slipped.iter().map(slip).collect(),
            over: self.over.iter().map(|(path, bytes)| (place(path), bytes.clone())).collect(),
            put: self.put.iter().map(|(path, bytes)| (place(path), bytes.clone())).collect(),
            not_there_yet: self.not_there_yet.iter().map(place).collect(),
            stands_for: self.stands_for.iter().map(|(path, bytes)| (place(path), bytes.clone())).collect(),
            damage: self.damage.iter().map(|(path, why)| (place(path), why.clone())).collect(),
            warnings: self.warnings.clone(),
            workflows: self.workflows.clone(),
            is_foreign: self.is_foreign,
            is_proven: self.is_proven,
            proofs: self.proofs.clone(),
            is_bare: false,
            moving: Some(Moving { from: from.to_owned(), to: to.to_owned() }),
            brought_from: None,
            lost: self.lost.clone(),
            is_gone: self.is_gone,
            holds: self.holds,
            knows: self.knows.clone(),
            located,
        }
    }

    /// What is kept of a move, until it is done.
    pub(super) fn place_row(&self, session: &Session, boot_id: String) -> Option<ViewRow> {
        let Moving { from, to } = self.moving.as_ref()?;
        Some(ViewRow {
            session: session.id.clone(),
            path: format!("{to}/"),
            hash: hash(from.as_bytes()),
            body: from.clone().into_bytes(),
            previous: Vec::new(),
            earlier: Vec::new(),
            version: session.version,
            boot_id,
            confirmed: false,
            journal: store::WriteJournal::default(),
        })
    }
}

impl Engine {
    /// Sessions that end, or go on after their end, go to where such sessions belong. Never over anything.
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
                    said.push(format!("its files stay in {own}: there is something at {path} already"));
                }
                None => {}
            }
        }
        plan.said.extend(said);
    }

    /// Where a session's files belong, if they are elsewhere, and whether that place is free.
    pub(super) fn to_be_at(&self, session: &Session) -> Option<(String, bool)> {
        let located = self.located(session)?;
        let path = belongs(located.layout, &located.spot, session)?;
        let is_free = self.root_of(session).join(&path).symlink_metadata().is_err();
        Some((path, is_free))
    }

    /// That a session of ours is in a place that says something else than it does.
    pub(super) fn misplaced(&self, session: &Session) -> Option<Finding> {
        let (path, is_free) = self.to_be_at(session)?;
        let own = session.path.as_deref().unwrap_or_default();
        let hint = if is_free {
            Hint::new("move it: ").run(words!["repair", "--session", session.id])
        } else {
            format!("there is something at {path} already: move one of the two by hand").into()
        };
        Some(Finding {
            kind: "misplaced".to_owned(),
            message: format!(
                "session {} is {}, and its files are in {own}; they belong in {path}",
                session.id,
                session.lifecycle.name()
            ),
            hint: Some(hint),
        })
    }

    /// A look at a session's files as they are to be after a command: in another place, if it is to go there.
    pub(super) fn where_it_is_to_be(&self, session: &Session, look: &Look) -> Option<Look> {
        let located = self.located(session)?;
        (located.spot.path != look.located.spot.path).then(|| look.gone_to(located))
    }

    /// Puts a session's folder in its place. Done before, nothing happens.
    pub(super) fn move_folder(
        &self,
        located: &Located,
        root: &Path,
        row: &ViewRow,
        (before, lock): (&mut Before, &File),
    ) -> Result<()> {
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
        before.moved(lock, &source, &target).map_err(failed)
    }
}

/// Where a session's files belong that stands so, if that is another place: its path there.
fn belongs(layout: &dyn Layout, spot: &Spot, session: &Session) -> Option<String> {
    let path = layout.files(spot).places.belongs(folder_of(spot), &session.lifecycle)?;
    Some(spot.below_project(&path))
}

/// A session after events that nobody has kept yet; when and by whom makes no difference here.
fn folded(before: &Session, events: &[Event]) -> Session {
    let recorded = |event: &Event| Recorded {
        version: before.version + 1,
        at: before.updated_at,
        actor: before.last_actor.clone(),
        event: event.clone(),
    };
    events.iter().map(recorded).fold(before.clone(), |session, recorded| session.apply(&recorded))
}
