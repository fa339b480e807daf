//! Finds sessions of other tools in a project, and those of them that are not adopted yet. Writes nothing.

pub(crate) mod elsewhere;
pub(crate) mod markers;
pub(crate) mod numbers;
pub(crate) mod path;
pub(crate) mod registry;
pub(crate) mod summary;
pub(crate) mod worktree;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::foreign::discover::path::{Pointed, spot_at};
use crate::foreign::observe::read::Reader;
use crate::project::Project;
use crate::walk;
use layouts::layout::{self, Depth, ForeignSession, Layout, Place, Spot};
use layouts::reader::{self, Foreign, Located};
use model::hint::Hint;
use model::id::SessionId;
use model::session::Session;
use model::words;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

impl Engine {
    /// Returns the sessions in this project's files that the store does not have, in order of path.
    pub(crate) fn unadopted(&self) -> Vec<Located> {
        let mut found = Vec::new();
        for layout in layout::all() {
            let mut spots = self.spots(*layout);
            spots.sort_by(|one, other| one.path.cmp(&other.path));
            // While a session's folder is moved, the session may be found both in its old and in its new place.
            spots.dedup_by(|one, other| one.path == other.path);
            let asked: Vec<&SessionId> = spots.iter().map(|spot| &spot.id).collect();
            // If the store cannot answer, all sessions are treated as existing: each of them is then looked up, and an
            // error is reported there.
            let exist = self.store.which_exist(&asked).unwrap_or_else(|_| vec![true; spots.len()]);
            let ours = self.ours_of_several(&spots, &exist);
            let mut ids = BTreeSet::new();
            for (spot, exists) in spots.into_iter().zip(exist) {
                // If several places have a session of the same name, the one in the log counts as the first. If none is
                // in the log, the first that was found counts.
                let is_first = match ours.get(&spot.id) {
                    Some(path) => *path == spot.path,
                    // Ids that differ only in case are the same id in the store.
                    None => ids.insert(spot.id.as_str().to_ascii_lowercase()),
                };
                let owner = match (exists, is_first) {
                    (false, true) => Ok(Owner::Nobody(spot.id.clone())),
                    (true, _) | (false, false) => self.owner(*layout, &spot, is_first),
                };
                if let Ok(Owner::Nobody(id)) = owner {
                    found.push(Located { layout: *layout, spot, id });
                }
            }
        }
        found
    }

    /// Returns the recorded path of each stored session whose name was found in several places.
    fn ours_of_several(&self, spots: &[Spot], exist: &[bool]) -> BTreeMap<SessionId, String> {
        let mut paths: BTreeMap<&SessionId, Vec<&str>> = BTreeMap::new();
        for (spot, _) in spots.iter().zip(exist).filter(|(_, exists)| **exists) {
            paths.entry(&spot.id).or_default().push(&spot.path);
        }
        let several = paths.into_iter().filter(|(_, paths)| paths.len() > 1);
        several
            .filter_map(|(id, paths)| {
                let loaded = self.store.load(id).ok()??;
                let path = self.folded(&loaded).ok()?.path?;
                paths.contains(&path.as_str()).then(|| (id.clone(), path))
            })
            .collect()
    }

    /// Returns the foreign session with this id.
    pub(crate) fn foreign(&self, id: &SessionId) -> Option<Foreign> {
        let located = self.unadopted().into_iter().find(|located| located.id == *id)?;
        self.foreign_found(&located)
    }

    /// Returns the foreign session at a known place.
    pub(crate) fn foreign_found(&self, located: &Located) -> Option<Foreign> {
        let found = self.foreign_below(located, &self.project.root);
        found.map(|found| self.beside_others(found))
    }

    /// Returns the foreign session at a known place, read with data that a list of sessions shares.
    pub(crate) fn foreign_among_many(&self, located: &Located) -> Option<Foreign> {
        let found = self.reader_for_many().foreign(located, Depth::Whole);
        found.map(|found| self.beside_others(found))
    }

    /// Returns the ids of foreign sessions that begin with this text.
    pub(crate) fn foreign_ids(&self, prefix: &str) -> Vec<SessionId> {
        let prefix = prefix.to_lowercase();
        let ids = self.unadopted().into_iter().map(|located| located.id);
        ids.filter(|id| !prefix.is_empty() && id.as_str().to_lowercase().starts_with(&prefix)).collect()
    }

    /// Returns the ids of stored and foreign sessions that contain this text.
    pub(crate) fn ids_with_part(&self, part: &str) -> Result<Vec<SessionId>> {
        let part = part.to_lowercase();
        let kept = self.store.list(&store::Filter::default())?.into_iter().map(|listed| listed.row.id);
        let ids = kept.chain(self.unadopted().into_iter().map(|located| located.id));
        Ok(ids.filter(|id| !part.is_empty() && id.as_str().to_lowercase().contains(&part)).collect())
    }

    /// Returns a reader for session files on the disk.
    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader {
            root: &self.project.root,
            trees: self.tree_reader(),
            markers: self.markers_here(),
            parts: None,
        }
    }

    /// Returns a reader for session files that are already in memory.
    pub(crate) fn tree_reader(&self) -> reader::Reader {
        let (worktree, host) = (self.project.worktree(), self.caller.host.clone());
        reader::Reader { worktree, host, now: self.clock.now() }
    }

    /// Returns a reader for a list of sessions. It splits shared registries only once.
    pub(crate) fn reader_for_many(&self) -> Reader<'_> {
        Reader { parts: Some(self.parts_here()), ..self.reader() }
    }

    /// Reads all files of a session completely.
    pub(crate) fn read_whole(&self, session: &Session) -> Option<(Located, ForeignSession)> {
        let (located, tree) = self.whole_tree(session)?;
        let told = self.tree_reader().read(&located, &tree).value;
        Some((located, told))
    }

    /// Returns the place of a stored session's files; `None` for a native session.
    pub(crate) fn located(&self, session: &Session) -> Option<Located> {
        let layout = layout::by_name(&session.layout)?;
        let spot = spot_at(layout, session.path.as_deref()?)?;
        Some(Located { layout, spot, id: session.id.clone() })
    }

    /// True if the folder for a new session exists already but contains no session.
    pub(crate) fn is_empty_place(&self, layout: &dyn Layout, spot: &Spot) -> bool {
        let is_folder = |found: std::fs::Metadata| found.is_dir();
        self.project.root.join(&spot.path).symlink_metadata().is_ok_and(is_folder)
            && layout.facts().may_start_in(&walk::read(layout, spot, &self.project.root, Depth::Whole))
    }

    fn foreign_below(&self, located: &Located, root: &Path) -> Option<Foreign> {
        let is_here = root == self.project.root;
        let markers = if is_here { self.markers_here() } else { Arc::default() };
        Reader { root, markers, ..self.reader() }.foreign(located, Depth::Whole)
    }

    pub(crate) fn spots(&self, layout: &dyn Layout) -> Vec<Spot> {
        let mut known = self.scope.listing.spots.borrow_mut();
        known.entry(layout.facts().name).or_insert_with(|| self.spots_now(layout)).clone()
    }

    fn spots_now(&self, layout: &dyn Layout) -> Vec<Spot> {
        let mut found = spots_of(&self.project, layout);
        let is_there = |spot: &Spot| {
            link_on_the_way(&self.project.root, &spot.path).is_none() && is_known(&self.project.root, spot)
        };
        found.extend(walk::registered_elsewhere(layout, &self.project.root).into_iter().filter(is_there));
        // Configured places are used only if they are inside the project. Absolute paths are outside.
        let can_be_anywhere = layout.facts().places.iter().any(|place| matches!(place, Place::Temporary(_)));
        for place in self.config.places.iter().filter(|_| can_be_anywhere && !self.project.is_outside) {
            if Path::new(place).is_relative() {
                entries(&self.project.root, place.trim_matches('/'), layout, &mut found);
            }
        }
        found
    }

    /// Returns a session in another project's files, under an id that is free here.
    pub(crate) fn foreign_elsewhere(&self, pointed: &Pointed) -> Result<Foreign> {
        let id = self.free_id(pointed)?;
        let located = Located { layout: pointed.layout, spot: pointed.spot.clone(), id };
        let path = pointed.root.join(&pointed.spot.path);
        self.foreign_below(&located, &pointed.root).ok_or_else(|| Error::WrongUsage {
            message: format!("{} describes no session", path.display()),
            hint: Hint::new("see: ").run(words!["list"]),
        })
    }

    fn is_imported_from(&self, loaded: &store::Loaded, spot: &Spot) -> Result<bool> {
        let is_here = loaded.row.worktree == self.project.worktree() && loaded.row.layout == crate::NATIVE;
        Ok(is_here && self.folded(loaded)?.path.as_deref() == Some(&spot.path))
    }

    /// Returns the session of a file or folder in this project, adopted or not.
    pub(crate) fn session_at(&self, pointed: &Pointed) -> Result<SessionId> {
        let spots = self.spots(pointed.layout);
        let first = spots.iter().filter(|spot| spot.id == pointed.spot.id).map(|spot| &spot.path).min();
        let is_first = first.is_none_or(|first| *first == pointed.spot.path);
        Ok(match self.owner(pointed.layout, &pointed.spot, is_first)? {
            Owner::Ours(id) | Owner::Nobody(id) => id,
        })
    }

    /// Returns the owner of a place in this worktree. If a session moved to another machine, its files here still
    /// belong to it.
    pub(crate) fn owner(&self, layout: &dyn Layout, spot: &Spot, is_first: bool) -> Result<Owner> {
        let worktree = self.project.worktree();
        let mark = |again: u32| format!("{worktree}\n{}\n{again}", spot.path);
        // If the layout has a second place with the same name, the session there is a different one.
        let mut id = if is_first { spot.id.clone() } else { other_id(&spot.id, &mark(0))? };
        for again in 0..3 {
            match self.store.load(&id)? {
                None => return Ok(Owner::Nobody(id)),
                Some(loaded)
                    if (loaded.row.worktree == worktree || loaded.row.machine.is_some())
                        && loaded.row.layout == layout.facts().name =>
                {
                    return Ok(Owner::Ours(id));
                }
                // A native session that was imported from this place still owns the place. Its original files are not
                // changed any more.
                Some(loaded) if self.is_imported_from(&loaded, spot)? => return Ok(Owner::Ours(id)),
                // If a session of another worktree or layout has this name, the session in this place is a different
                // one.
                Some(_) => id = other_id(&spot.id, &mark(again))?,
            }
        }
        Ok(Owner::Ours(id))
    }
}

/// The owner of a place with session files.
pub(crate) enum Owner {
    Ours(SessionId),
    Nobody(SessionId),
}

pub(crate) fn other_id(id: &SessionId, what: &str) -> Result<SessionId> {
    let mark: String = crate::hex(&Sha256::digest(what.as_bytes())).chars().take(6).collect();
    let kept: String = id.as_str().chars().take(100).collect();
    let text = format!("{kept}-{mark}");
    SessionId::parse(&text).map_err(|why| Error::InvalidSessionId { asked: text, why })
}

/// Returns the names of all layouts of other tools.
pub fn layout_names() -> Vec<&'static str> {
    layout::all().iter().map(|layout| layout.facts().name).collect()
}

/// True if another tool stores sessions in a project.
pub(crate) fn has_foreign(project: &Project) -> bool {
    let is_registered = |layout: &dyn Layout| {
        !project.is_outside && !walk::registered_elsewhere(layout, &project.root).is_empty()
    };
    layout::all().iter().any(|layout| !spots_of(project, *layout).is_empty() || is_registered(*layout))
}

/// Returns all places of a layout's sessions in a project. If the folder is itself a session outside any project, it is
/// the only place.
pub(crate) fn spots_of(project: &Project, layout: &dyn Layout) -> Vec<Spot> {
    if project.is_outside {
        return layout.identify(&project.worktree(), true).into_iter().collect();
    }
    let mut found = Vec::new();
    for folder in folders_of(layout) {
        entries(&project.root, folder, layout, &mut found);
    }
    found
}

/// Returns the folders below a project that contain a layout's sessions.
pub(crate) fn folders_of(layout: &dyn Layout) -> impl Iterator<Item = &'static str> {
    layout.facts().places.iter().filter_map(|place| match place {
        Place::Project(folder) => Some(*folder),
        Place::Temporary(_) => None,
    })
}

pub(crate) fn entries(root: &Path, folder: &str, layout: &dyn Layout, found: &mut Vec<Spot>) {
    each_entry(root, folder, |path, is_folder| {
        let spot = layout.identify(path, is_folder).filter(|spot| is_known(root, spot));
        found.extend(spot.filter(|spot| !layout.facts().private || !is_of_others(root, &spot.path)));
    });
}

/// True if a place that looks right by its name really contains a session.
pub(crate) fn is_known(root: &Path, spot: &Spot) -> bool {
    spot.known_by.as_ref().is_none_or(|file| root.join(file).symlink_metadata().is_ok())
}

/// True if a folder belongs neither to this user nor to the owner of the project. A private session in it is somebody
/// else's.
pub(crate) fn is_of_others(root: &Path, path: &str) -> bool {
    let owner = |path: &Path| std::fs::symlink_metadata(path).ok().map(|found| found.uid());
    let folder = owner(&root.join(path));
    folder.is_some() && folder != Some(rustix::process::geteuid().as_raw()) && folder != owner(root)
}

/// Calls a function for every file and folder directly in a folder, with the path below the root, and with true for a
/// folder.
pub(crate) fn each_entry(root: &Path, folder: &str, mut observation: impl FnMut(&str, bool)) {
    if link_on_the_way(root, folder).is_some() {
        return;
    }
    let Ok(entries) = std::fs::read_dir(root.join(folder)) else { return };
    for entry in entries.flatten() {
        // A link is skipped, because its target may be anywhere or missing.
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_symlink() {
            continue;
        }
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        observation(&path, kind.is_dir());
    }
}

/// Returns the first symbolic link on the path to a layout's sessions.
pub(crate) fn link_on_the_way(root: &Path, folder: &str) -> Option<String> {
    let ends = folder.match_indices('/').map(|(end, _)| end).chain([folder.len()]);
    let mut all = ends.map(|end| &folder[..end]).filter(|part| !part.is_empty());
    all.find(|part| root.join(part).is_symlink()).map(ToOwned::to_owned)
}
