//! Copies a session from another project that has the same layout. Prepares the session's files for this project, under
//! a free name. The command that adopts the session writes them. Here, only leftovers of a killed import are removed.

use crate::disk::{self, Recovered};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::foreign::discover::path::Pointed;
use crate::foreign::observe::too_little_known::nothing_known;
use crate::foreign::observe::{FileState, Observation};
use crate::walk;
use crate::workspace::journal_for;
use layouts::capabilities::{is_shared, own_part};
use layouts::layout::Merge;
use layouts::layout::{Depth, NewAim, NewName, NewSession, Spot};
use layouts::observation::{FileVerdict, Origin};
use layouts::question::where_to_resume;
use layouts::reader::{Foreign, Located};
use layouts::tree::{Entry, Tree};
use model::hint::Hint;
use model::id::SessionId;
use model::session::Session;
use model::words;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The maximum number of sessions with the same name. Nobody has so many.
const MOST_OF_ONE_NAME: u32 = 10_000;

impl Engine {
    /// Adds a session of another project to the uncommitted changes in memory. The command that adopts the session
    /// writes its files. Returns the id that it gets here.
    pub(crate) fn observe_copied(&self, pointed: &Pointed) -> Result<SessionId> {
        let (found, lost) = self.brought(pointed)?;
        let broken = found.told.unreadable_parts.clone();
        let observation = copied(self.apply_found(found, Some(pointed.place()))?, &broken, lost);
        Ok(self.scope.keep(observation, None).located.id.clone())
    }

    /// Returns the other files in a copied session's folder, which are copied unchanged.
    pub(crate) fn to_copy(&self, id: &SessionId, folder: &Path) -> Vec<String> {
        let Some(observation) = self.observed(id) else { return Vec::new() };
        let spot = &observation.located.spot;
        let is_written = |path: &String| {
            walk::below_home(spot, path).is_some_and(|path| observation.verdicts.contains_key(&path))
        };
        walk::files_below(folder).into_iter().filter(|path| !is_written(path)).collect()
    }

    /// Returns a session of another project as it will be here, and the paths of its files that were reported as
    /// unreadable.
    fn brought(&self, pointed: &Pointed) -> Result<(Foreign, BTreeSet<String>)> {
        let there = self.foreign_elsewhere(pointed)?;
        let session = there.session.clone();
        let there = Observation::of_found(there, None);
        self.refuse_what_tells_nothing(&there, &session)?;
        let layout = pointed.layout;
        let spot = self.free_spot(pointed)?;
        let located = Located { layout, spot: spot.clone(), id: spot.id.clone() };
        let tree = walk::read(layout, &spot, &self.project.root, Depth::Whole);
        let mut documents = placed(pointed, &spot, &there.documents, &tree);
        self.markers_here().add_to(&mut documents, layout);
        let reader = self.tree_reader();
        let told = reader.read(&located, &documents).value;
        let folded = told.fold(&reader.actor(layout));
        let (recorded, session, _) = folded.ok_or_else(|| Error::NotASession {
            asked: pointed.place().display().to_string(),
            why: "it describes no session".to_owned(),
            instead: Hint::new("see: ").run(words!["list"]),
        })?;
        let (lost, problems, damaged) = (there.lost(), there.problems, Vec::new());
        let found = Foreign { located, tree, documents, damaged, told, problems, recorded, session };
        Ok((found, lost))
    }

    /// Refuses to copy a session about which nothing is known. Whatever was written would be made up. If only its
    /// position is unknown, a person can supply it, so the session may be copied.
    fn refuse_what_tells_nothing(&self, there: &Observation, session: &Session) -> Result<()> {
        let (id, spot) = (&session.id, &there.located.spot);
        let folder = self.folder(&there.located, session, &there.documents);
        if where_to_resume(there.located.layout, &folder).is_some() {
            return Ok(());
        }
        let whole = || Some((spot.path.clone(), there.why_it_tells_nothing(session)?));
        match there.what_nobody_knows().or_else(whole) {
            Some((path, why)) => Err(nothing_known(id, path, &why)),
            None => Ok(()),
        }
    }

    /// Returns the session's own place or, if this is taken, a free place with a numbered name.
    fn free_spot(&self, pointed: &Pointed) -> Result<Spot> {
        let Pointed { layout, spot, .. } = pointed;
        self.take_back_what_was_left(spot)?;
        let listed = self.listed_by_registry(*layout);
        let unadopted = self.unadopted();
        let is_free = |spot: &Spot| {
            let is_there = self.project.root.join(&spot.path).symlink_metadata().is_ok();
            let is_known = listed.contains(&spot.id) || unadopted.iter().any(|known| known.id == spot.id);
            !is_known && (!is_there || self.is_empty_place(*layout, spot))
        };
        let others = (2..MOST_OF_ONE_NAME).map_while(|number| {
            layout
                .place(&NewSession {
                    name: NewName::Beside(spot, number),
                    aim: NewAim::Start,
                    is_taken: &|_| false,
                })
                .ok()
        });
        for spot in [spot.clone()].into_iter().chain(others) {
            if is_free(&spot) && self.store.load(&spot.id)?.is_none() {
                return Ok(spot);
            }
        }
        Err(Error::WrongUsage {
            message: format!("every name like '{}' is taken here", spot.id),
            hint: "import the session without --layout".into(),
        })
    }

    /// Removes the files that a killed import left behind.
    fn take_back_what_was_left(&self, spot: &Spot) -> Result<()> {
        if self.store.load(&spot.id)?.is_some() {
            return Ok(());
        }
        let root = &self.project.root;
        let found = disk::recover(root, &journal_for(&spot.id), self.patience.left(), |_| Ok(false))?;
        if found == Recovered::RolledBack {
            remove_empty(&root.join(&spot.workspace));
            self.scope.listing.forget();
        }
        Ok(())
    }
}

/// Removes the empty folders in a folder, and then the folder itself if it is empty.
fn remove_empty(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_empty(&entry.path());
        }
    }
    let _ = fs::remove_dir(folder);
}

/// Returns the files of a copied session for their new place. Names and paths inside the files are adapted.
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
    // The copied session gets this project's shared files, even if it had no part in such files before.
    for path in here.files().filter(|path| is_shared(*layout, path)) {
        if let Some(entry) = here.get(path) {
            placed.insert(path, entry.clone());
        }
    }
    let rules = layout.files(from);
    for path in there.files().filter(|path| rules.is_state(path)) {
        // This project's marker files decide which session is active here. Those of the other project are dropped.
        if layout.facts().is_marker(path) {
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

/// Returns the observation of a copied session. None of its files are here yet, so all state files must be written.
fn copied(mut observation: Observation, broken: &[String], lost: BTreeSet<String>) -> Observation {
    let (located, documents) = (&observation.located, &observation.documents);
    let is_content = |path: &String| documents.content(path).is_some() && !located.is_marker(path);
    // Unreadable files are copied unchanged. They do not count as written by leftoff.
    let is_read = |path: &String| !broken.contains(path);
    let files = located.layout.files(&located.spot).state_files(documents).into_iter();
    let files = files.filter(is_content).filter(is_read);
    observation.verdicts = files.map(|path| (path, FileVerdict::of(FileState::Edited))).collect();
    if let Origin::Files(told) = &mut observation.origin {
        told.lost = lost;
    }
    observation
}
