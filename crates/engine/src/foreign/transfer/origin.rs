//! Finds the origin of an imported session, the stored copies of its files, and changes to the original files. Writes
//! nothing.

use crate::engine::Engine;
use crate::error::Result;
use crate::foreign::discover::other_id;
use crate::foreign::discover::path::{Pointed, spot_at};
use crate::foreign::observe::hash;
use crate::walk;
use layouts::capabilities::own_part;
use layouts::layout::{self, Depth, Layout, Spot};
use model::event::Event;
use model::id::SessionId;
use model::session::Session;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use store::Filter;

/// A session's last import, according to its log.
pub(crate) struct Origin {
    pub(crate) layout: &'static dyn Layout,
    pub(crate) spot: Spot,
    /// The folder of the source project; `None` if it is this project.
    pub(crate) from: Option<PathBuf>,
    pub(crate) into: String,
    /// The session's version after the import.
    pub(crate) version: u64,
    /// The hashes of the imported state files, by path.
    files: BTreeMap<String, String>,
}

impl Engine {
    /// Returns the import that gave a session its layout; `None` if there was none, or if the session has another
    /// layout now.
    pub(crate) fn origin(&self, id: &SessionId) -> Result<Option<Origin>> {
        let (_, session) = self.load(id)?;
        let found = self.history(id)?.into_iter().rev().find_map(|recorded| match recorded.event {
            Event::Imported { layout, path, into, from, files, .. } => {
                Some((recorded.version, layout, path, into, from, files))
            }
            _ => None,
        });
        let Some((version, layout, path, into, from, files)) = found else { return Ok(None) };
        let found = layout::by_name(&layout).and_then(|layout| Some((layout, spot_at(layout, &path)?)));
        Ok(found.filter(|_| into == session.layout).map(|(layout, spot)| Origin {
            layout,
            spot,
            from: from.map(PathBuf::from),
            into,
            version,
            files,
        }))
    }

    /// Returns the session that was earlier imported from this place.
    pub(crate) fn imported_from(&self, pointed: &Pointed) -> Result<Option<SessionId>> {
        if let Some(id) = self.first_from(pointed, ids_for(pointed)?)? {
            return Ok(Some(id));
        }
        // An imported session that kept its layout may have another name here, so all sessions of the layout are
        // searched.
        let (layout, worktree) =
            (Some(pointed.layout.facts().name.to_owned()), Some(self.project.worktree()));
        let stayed = self.store.list(&Filter { layout, worktree, ..Filter::default() })?;
        self.first_from(pointed, stayed.into_iter().map(|listed| listed.row.id))
    }

    fn first_from(
        &self,
        pointed: &Pointed,
        ids: impl IntoIterator<Item = SessionId>,
    ) -> Result<Option<SessionId>> {
        let is_it = |origin: &Origin| {
            origin.from.as_ref() == Some(&pointed.root) && origin.spot.path == pointed.spot.path
        };
        for id in ids {
            if self.store.load(&id)?.is_some() && self.origin(&id)?.as_ref().is_some_and(is_it) {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// Returns a free id for a session of another project.
    pub(crate) fn free_id(&self, pointed: &Pointed) -> Result<SessionId> {
        let unadopted = self.unadopted();
        let mut last = pointed.spot.id.clone();
        for id in ids_for(pointed)? {
            last = id;
            if self.store.load(&last)?.is_none() && !unadopted.iter().any(|located| located.id == last) {
                break;
            }
        }
        Ok(last)
    }

    /// Returns a session's observed state files. Of a shared file, returns only the session's own part.
    pub(crate) fn files_seen(&self, id: &SessionId) -> BTreeMap<String, Vec<u8>> {
        let Some(observation) = self.observed(id) else { return BTreeMap::new() };
        let located = &observation.located;
        let content = |path: &String| {
            let content = observation.documents.content(path)?;
            Some((path.clone(), own_part(located.layout, &located.spot, path, content)))
        };
        observation.verdicts.keys().filter_map(content).collect()
    }

    /// Returns why nothing is known about a session: its files are unreadable and have no backup. `None` if something
    /// is known.
    pub(crate) fn why_it_tells_nothing(&self, session: &Session) -> Option<String> {
        self.observed(&session.id)?.why_it_tells_nothing(session)
    }

    /// Returns the paths of files that were reported as unreadable, and of the files that replaced them.
    pub(crate) fn lost_of(&self, id: &SessionId) -> BTreeSet<String> {
        self.observed(id).map(|observation| observation.lost()).unwrap_or_default()
    }

    /// Returns the version of the session that its own files show; `None` if leftoff has not written any of them.
    pub(crate) fn shown_by_its_files(&self, id: &SessionId) -> Result<Option<u64>> {
        let observation = self.observe(id)?;
        Ok(observation.and_then(|observation| observation.rows().map(|row| row.version).min()))
    }

    /// Returns an imported session's state files as they were when it was imported. Purged files are missing.
    pub(crate) fn files_kept(&self, origin: &Origin) -> Result<BTreeMap<String, Vec<u8>>> {
        let mut kept = BTreeMap::new();
        for (path, hash) in &origin.files {
            if let Some(content) = self.store.content(hash)? {
                kept.insert(path.clone(), content);
            }
        }
        Ok(kept)
    }

    /// Returns the folder of the project from which a session was imported.
    pub(crate) fn root_of_origin(&self, origin: &Origin, id: &SessionId) -> Result<PathBuf> {
        match &origin.from {
            Some(root) => Ok(root.clone()),
            None => Ok(self.root_of(&self.load(id)?.1)),
        }
    }

    /// Returns those original files of an imported session that were changed or added since the import.
    pub(crate) fn changed_since(&self, origin: &Origin, id: &SessionId) -> Result<Vec<PathBuf>> {
        let root = self.root_of_origin(origin, id)?;
        if origin.files.is_empty() {
            return Ok(Vec::new());
        }
        let Origin { layout, spot, .. } = origin;
        let tree = walk::read(*layout, spot, &root, Depth::Short);
        let is_changed = |path: &String| {
            let Some(content) = tree.content(path) else { return false };
            origin.files.get(path) != Some(&hash(&own_part(*layout, spot, path, content)))
        };
        let paths = layout.files(spot).state_files(&tree).into_iter().filter(is_changed);
        Ok(paths.map(|path| root.join(spot.below_project(&path))).collect())
    }
}

/// Returns the possible ids for a session of another project. The session's own id comes first.
fn ids_for(pointed: &Pointed) -> Result<Vec<SessionId>> {
    const MOST: u32 = 4;
    let place = format!("{}\n{}", pointed.root.display(), pointed.spot.path);
    let mut ids = vec![pointed.spot.id.clone()];
    for again in 0..MOST {
        let what = if again == 0 { place.clone() } else { format!("{place}\n{again}") };
        ids.push(other_id(&pointed.spot.id, &what)?);
    }
    Ok(ids)
}
