//! Where an imported session came from: by what it is known again, what is kept of its files, and whether they have
//! changed since. Writes nothing.

use super::eyes::reason;
use super::find::other_id;
use super::look::{FileState, Look, hash, state_files};
use super::pointed::{Pointed, spot_at};
use super::tree;
use crate::engine::Engine;
use crate::error::Result;
use layouts::capabilities::shared_part;
use layouts::layout::{self, Depth, Layout, Spot};
use model::event::Event;
use model::id::SessionId;
use model::session::Session;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use store::Filter;

/// A session's last import, as its log has it.
pub(crate) struct Origin {
    pub(crate) layout: &'static dyn Layout,
    pub(crate) spot: Spot,
    /// The folder of the project that it was in; none for the one that it is in.
    pub(crate) from: Option<PathBuf>,
    pub(crate) into: String,
    /// The version that the session had with it.
    pub(crate) version: u64,
    /// Files of its state by path, as hashes of what was in them.
    files: BTreeMap<String, String>,
}

impl Engine {
    /// The import that made a session what it is; none of one that never was, or is so no longer.
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

    /// The session that was imported from there before.
    pub(crate) fn imported_from(&self, pointed: &Pointed) -> Result<Option<SessionId>> {
        if let Some(id) = self.first_from(pointed, ids_for(pointed)?)? {
            return Ok(Some(id));
        }
        // One that stayed what it is may have another name here.
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

    /// An id for a session of another project that no session has here, ours or another tool's.
    pub(super) fn free_id(&self, pointed: &Pointed) -> Result<SessionId> {
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

    /// The files of a session's state as they were looked at; of one that is shared, its own part.
    pub(crate) fn files_seen(&self, id: &SessionId) -> BTreeMap<String, Vec<u8>> {
        let looks = self.seen.looks.borrow();
        let Some(look) = looks.get(id) else { return BTreeMap::new() };
        let located = &look.located;
        let content = |path: &String| {
            let content = look.documents.content(path)?;
            Some((path.clone(), own_part(located.layout, &located.spot, path, content)))
        };
        look.states.keys().filter_map(content).collect()
    }

    /// Why nothing is known of a session that only its files tell of: they cannot be read, and nothing stands for them.
    pub(crate) fn why_it_tells_nothing(&self, session: &Session) -> Option<String> {
        self.seen.looks.borrow().get(&session.id)?.why_it_tells_nothing(session)
    }

    /// The paths under which it is told what of a session could not be read, and what stands for it.
    pub(crate) fn lost_of(&self, id: &SessionId) -> BTreeSet<String> {
        self.seen.looks.borrow().get(id).map(|look| look.lost.clone()).unwrap_or_default()
    }

    /// The version of a session that its own files show; none where they are all that tells of it.
    pub(crate) fn shown_by_its_files(&self, id: &SessionId) -> Result<Option<u64>> {
        self.attend(id)?;
        let looks = self.seen.looks.borrow();
        Ok(looks.get(id).and_then(|look| look.rows.values().map(|row| row.version).min()))
    }

    /// The files of an imported session's state as they were then. What was purged is not among them.
    pub(crate) fn files_kept(&self, origin: &Origin) -> Result<BTreeMap<String, Vec<u8>>> {
        let mut kept = BTreeMap::new();
        for (path, hash) in &origin.files {
            if let Some(content) = self.store.content(hash)? {
                kept.insert(path.clone(), content);
            }
        }
        Ok(kept)
    }

    /// The folder of the project that a session was imported from.
    pub(crate) fn root_of_origin(&self, origin: &Origin, id: &SessionId) -> Result<PathBuf> {
        match &origin.from {
            Some(root) => Ok(root.clone()),
            None => Ok(self.root_of(&self.load(id)?.1)),
        }
    }

    /// Files of an imported session's state that somebody has changed, or made, since.
    pub(crate) fn changed_since(&self, origin: &Origin, id: &SessionId) -> Result<Vec<PathBuf>> {
        let root = self.root_of_origin(origin, id)?;
        if origin.files.is_empty() {
            return Ok(Vec::new());
        }
        let Origin { layout, spot, .. } = origin;
        let tree = tree::read(*layout, spot, &root, Depth::Short);
        let is_changed = |path: &String| {
            let Some(content) = tree.content(path) else { return false };
            origin.files.get(path) != Some(&hash(&own_part(*layout, spot, path, content)))
        };
        let paths = state_files(*layout, spot, &tree).filter(is_changed);
        Ok(paths.map(|path| root.join(spot.below_project(&path))).collect())
    }
}

/// A file; of one that sessions share, this session's lines.
pub(crate) fn own_part(layout: &dyn Layout, spot: &Spot, path: &str, content: &[u8]) -> Vec<u8> {
    let Some(mut own) = shared_part(layout, spot, path, content) else { return content.to_vec() };
    if content.ends_with(b"\n") && !own.is_empty() && !own.ends_with(b"\n") {
        own.push(b'\n');
    }
    own
}

/// The ids that a session of another project can have here, the one that it has there first.
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

impl Look {
    /// Why nothing is known of a session that only these files tell of.
    pub(super) fn why_it_tells_nothing(&self, session: &Session) -> Option<String> {
        let is_lost = |path: &String| {
            let state = self.states.get(path);
            matches!(state, Some(FileState::Damaged | FileState::Unreadable))
                && self.documents.get(path) == self.tree.get(path)
        };
        let run = session.run().filter(|_| self.is_foreign)?;
        let is_at_the_beginning = run.over() == 0 && run.current_number() == run.number_at(0);
        let located = &self.located;
        let tells = |path: &String| {
            let content = self.documents.content(path).unwrap_or_default();
            !is_lost(path) && !own_part(located.layout, &located.spot, path, content).is_empty()
        };
        if !is_at_the_beginning || session.items_added > 0 || self.states.keys().any(tells) {
            return None;
        }
        let first = self.states.keys().find(|path| is_lost(path))?;
        let place = located.spot.below_project(first);
        let below = place.strip_prefix(&located.spot.path).unwrap_or(&place).trim_start_matches('/');
        let why = match (self.why_of(&place), below) {
            (Some(why), "") => why,
            (Some(why), below) => format!("{below}: {why}"),
            (None, "") => "cannot be read".to_owned(),
            (None, below) => format!("{below} cannot be read"),
        };
        Some(why)
    }

    /// The file without which nothing is known, and why it cannot be read.
    pub(super) fn what_nobody_knows(&self) -> Option<(String, String)> {
        let path = self.located.spot.below_project(self.untold().next()?);
        let why = self.why_of(&path).unwrap_or_default();
        Some((path, why))
    }

    /// Why a file cannot be read, as far as it was told.
    fn why_of(&self, path: &str) -> Option<String> {
        let said = self.warnings.iter().find(|warning| warning.path.as_deref() == Some(path))?;
        Some(said.problem.as_deref().map_or_else(|| said.message.clone(), reason))
    }
}
