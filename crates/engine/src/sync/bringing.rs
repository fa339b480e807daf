//! A session of another project that stays in its layout: its files as they are to be in this one, under a name that is
//! free here. They are put in place with the command that takes the session in; only what an import left that was killed
//! before it counted is taken away here.

use super::find::{Foreign, Located};
use super::look::{FileState, Look, state_files};
use super::origin::own_part;
use super::pointed::Pointed;
use super::signs::is_sign;
use super::tree;
use crate::disk::{self, Recovered};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::workspace::journal_for;
use layouts::capabilities::is_shared;
use layouts::layout::Merge;
use layouts::layout::{Depth, Folder, NewName, NewSession, ReadAs, Spot};
use layouts::question::where_to_resume;
use layouts::tree::{Entry, Tree};
use model::hint::Hint;
use model::id::SessionId;
use model::session::Session;
use model::words;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// More sessions of one name than anybody has.
const MOST_OF_ONE_NAME: u32 = 10_000;

impl Engine {
    /// Lays such a session over as one whose files are yet to be written here. Tells its id.
    pub(crate) fn attend_brought(&self, pointed: &Pointed) -> Result<SessionId> {
        let (found, lost) = self.brought(pointed)?;
        let (id, broken) = (found.id.clone(), found.told.unreadable_parts.clone());
        let mut look = self.adopt(found)?;
        look.come_from(pointed, &broken);
        look.lost = lost;
        self.seen.looks.borrow_mut().insert(id.clone(), look);
        Ok(id)
    }

    /// The files of its folder there that are no such files: they are copied as they are.
    pub(crate) fn to_copy(&self, id: &SessionId, folder: &Path) -> Vec<String> {
        let looks = self.seen.looks.borrow();
        let Some(look) = looks.get(id) else { return Vec::new() };
        let spot = &look.located.spot;
        let is_written =
            |path: &String| tree::below_home(spot, path).is_some_and(|path| look.states.contains_key(&path));
        tree::files_below(folder).into_iter().filter(|path| !is_written(path)).collect()
    }

    /// With the paths under which it is told what could not be read of it.
    fn brought(&self, pointed: &Pointed) -> Result<(Foreign, BTreeSet<String>)> {
        let there = self.foreign_elsewhere(pointed)?;
        let session = there.session.clone();
        let there = Look::of_foreign(there);
        self.refuse_what_tells_nothing(&there, &session)?;
        let layout = pointed.layout;
        let spot = self.free_spot(pointed)?;
        let located = Located { layout, spot: spot.clone(), id: spot.id.clone() };
        let tree = tree::read(layout, &spot, &self.project.root, Depth::Whole);
        let mut documents = placed(pointed, &spot, &there.documents, &tree);
        self.signs_here().add_to(&mut documents, layout);
        let told = self.read_tree(&located, &documents).value;
        let folded = told.fold(&self.actor_of(layout));
        let (recorded, session, _) = folded.ok_or_else(|| Error::NotASession {
            asked: pointed.place().display().to_string(),
            why: "it tells of no session".to_owned(),
            instead: Hint::new("see: ").run(words!["list"]),
        })?;
        let (id, warnings) = (spot.id.clone(), there.warnings);
        let damaged = Vec::new();
        let found = Foreign { layout, spot, id, tree, documents, damaged, told, warnings, recorded, session };
        Ok((found, there.lost))
    }

    /// What nobody can read there is no session here either: whatever was written of it would be invented. Where its
    /// tool asks a person how far it was, that is asked.
    fn refuse_what_tells_nothing(&self, there: &Look, session: &Session) -> Result<()> {
        let (id, spot, tree) = (&session.id, &there.located.spot, &there.documents);
        let folder = Folder {
            spot,
            id,
            worktree: &session.worktree,
            tree,
            now: self.clock.now(),
            read_as: ReadAs::Found,
        };
        if where_to_resume(there.located.layout, &folder).is_some() {
            return Ok(());
        }
        let whole = || Some((spot.path.clone(), there.why_it_tells_nothing(session)?));
        match there.what_nobody_knows().or_else(whole) {
            Some((path, why)) => Err(Error::NothingKnown { session: id.to_string(), path, why }),
            None => Ok(()),
        }
    }

    /// Its own place, or one beside it where somebody has that.
    fn free_spot(&self, pointed: &Pointed) -> Result<Spot> {
        let Pointed { layout, spot, .. } = pointed;
        self.take_back_what_was_left(spot)?;
        let listed = self.listed_by_index(*layout);
        let unadopted = self.unadopted();
        let is_free = |spot: &Spot| {
            let is_there = self.project.root.join(&spot.path).symlink_metadata().is_ok();
            let is_known = listed.contains(&spot.id) || unadopted.iter().any(|known| known.id == spot.id);
            !is_known && (!is_there || self.is_empty_place(*layout, spot))
        };
        let others = (2..MOST_OF_ONE_NAME).map_while(|number| {
            layout.place(&NewSession { name: NewName::Beside(spot, number), is_taken: &|_| false }).ok()
        });
        for spot in [spot.clone()].into_iter().chain(others) {
            if is_free(&spot) && self.store.load(&spot.id)?.is_none() {
                return Ok(spot);
            }
        }
        Err(Error::WrongUsage {
            message: format!("there is no free name like '{}' here", spot.id),
            hint: "import it without --layout".into(),
        })
    }

    /// An import that was killed before it counted leaves copies that wait for their place.
    fn take_back_what_was_left(&self, spot: &Spot) -> Result<()> {
        if self.store.load(&spot.id)?.is_some() {
            return Ok(());
        }
        let root = &self.project.root;
        let found = disk::recover(root, &journal_for(&spot.id), self.patience, |_| Ok(false))?;
        if found == Recovered::RolledBack {
            remove_empty(&root.join(&spot.workspace));
        }
        Ok(())
    }
}

/// Folders with nothing in them; any other stays.
fn remove_empty(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_empty(&entry.path());
        }
    }
    let _ = fs::remove_dir(folder);
}

/// The files of a session as they are to be at a place in a project whose own files are these.
fn placed(pointed: &Pointed, to: &Spot, there: &Tree, here: &Tree) -> Tree {
    let Pointed { layout, spot: from, .. } = pointed;
    let is_renamed = from.path != to.path;
    let name = |spot: &Spot| spot.path.rsplit('/').next().unwrap_or_default().to_owned();
    let (old, new) = (name(from), name(to));
    let is_named = is_renamed && from.home != from.path;
    let place = |path: &str| {
        let named = path.split('/').map(|part| if is_named && part == old { new.as_str() } else { part });
        named.collect::<Vec<_>>().join("/")
    };
    let mut placed = there.clone().with_paths(|path| place(&path));
    // What sessions share here is there for this one as well, whether it had its part of such a file before or not.
    for path in here.files().filter(|path| is_shared(*layout, path)) {
        if let Some(entry) = here.get(path) {
            placed.insert(path, entry.clone());
        }
    }
    let rules = layout.files(from);
    for path in there.files().filter(|path| rules.is_state(path)) {
        // What calls a session active here is said here.
        if is_sign(*layout, path) {
            placed.remove(&place(path));
            continue;
        }
        let Some(content) = there.content(path) else { continue };
        let own = own_part(*layout, from, path, content);
        let own = if is_renamed { layout.rename(path, &own, from, to) } else { own };
        let known = here.content(path).unwrap_or_default();
        let whole = if is_shared(*layout, path) {
            layout.merge(path, Merge::Onto { base: &[], theirs: &own, onto: known })
        } else {
            own
        };
        placed.insert(place(path), Entry::File(whole));
    }
    placed
}

impl Look {
    /// Nothing of it is here yet: all files of its state are to be written.
    fn come_from(&mut self, pointed: &Pointed, broken: &[String]) {
        let Located { layout, spot, .. } = &self.located;
        let is_content = |path: &String| self.documents.content(path).is_some() && !is_sign(*layout, path);
        // What nobody can read is copied as it is, and nobody's here either.
        let is_read = |path: &String| !broken.contains(path);
        let files = state_files(*layout, spot, &self.documents).filter(is_content).filter(is_read);
        self.states = files.map(|path| (path, FileState::Edited)).collect();
        self.brought_from = Some(pointed.place());
    }
}
