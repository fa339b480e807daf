//! Finds the sessions that other tools keep in a project, and tells which of them are not ours yet. Writes nothing.

use super::eyes::Eyes;
use super::pointed::Pointed;
use super::tree;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::place::Project;
use crate::view::{HealthView, Warning};
use layouts::layout::{self, Depth, ForeignSession, Health, Layout, Place, ReadAs, Spot};
use layouts::reading::Reading;
use layouts::screen::Screen;
use layouts::tree::{Entry, Tree};
use model::actor::Actor;
use model::event::Recorded;
use model::hint::Hint;
use model::id::SessionId;
use model::session::Session;
use model::words;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

/// A session that only its own tool's files tell of.
pub(crate) struct Foreign {
    pub(crate) layout: &'static dyn Layout,
    pub(crate) spot: Spot,
    pub(crate) id: SessionId,
    /// As it is on disk.
    pub(crate) tree: Tree,
    /// The same with the version before in place of a file that cannot be read.
    pub(crate) documents: Tree,
    /// Files of its state that cannot be read.
    pub(crate) damaged: Vec<String>,
    pub(crate) told: ForeignSession,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) recorded: Vec<Recorded>,
    pub(crate) session: Session,
}

impl Foreign {
    /// A place without anything of a session is one only for whoever names it.
    pub(super) fn holds_any(&self) -> bool {
        self.told.holds
    }
}

/// Where a session's files are and how they are read.
#[derive(Clone)]
pub(crate) struct Located {
    pub(crate) layout: &'static dyn Layout,
    pub(crate) spot: Spot,
    pub(crate) id: SessionId,
}

impl Engine {
    /// Sessions in files of this project that the store does not have, in the order of their paths.
    pub(crate) fn unadopted(&self) -> Vec<Located> {
        let mut found = Vec::new();
        for layout in layout::all() {
            let mut spots = self.spots(*layout);
            spots.sort_by(|one, other| one.path.cmp(&other.path));
            // A session that is on its way from one place to another is found in both.
            spots.dedup_by(|one, other| one.path == other.path);
            let asked: Vec<&SessionId> = spots.iter().map(|spot| &spot.id).collect();
            // What cannot be asked counts as there: each is then looked up, and told of.
            let exist = self.store.which_exist(&asked).unwrap_or_else(|_| vec![true; spots.len()]);
            let ours = self.ours_of_several(&spots, &exist);
            let mut ids = BTreeSet::new();
            for (spot, exists) in spots.into_iter().zip(exist) {
                // Of several of one name the one where it is known to be counts; else the first.
                let is_first = match ours.get(&spot.id) {
                    Some(path) => *path == spot.path,
                    // Two that differ only in case are one id to the store.
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

    /// Where those sessions of ours are whose names stand in several places.
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

    /// A foreign session by its id.
    pub(crate) fn foreign(&self, id: &SessionId) -> Option<Foreign> {
        let located = self.unadopted().into_iter().find(|located| located.id == *id)?;
        self.foreign_found(&located)
    }

    /// The same, where it was found before.
    pub(super) fn foreign_found(&self, located: &Located) -> Option<Foreign> {
        self.foreign_at(located, Depth::Whole).map(|found| self.beside_others(found))
    }

    /// The same for a look at many of them.
    pub(super) fn foreign_among_many(&self, located: &Located) -> Option<Foreign> {
        let found = self.eyes_for_many().foreign(located, Depth::Whole);
        found.map(|found| self.beside_others(found))
    }

    /// Ids of foreign sessions that begin with this text.
    pub(crate) fn foreign_ids(&self, prefix: &str) -> Vec<SessionId> {
        let prefix = prefix.to_lowercase();
        let ids = self.unadopted().into_iter().map(|located| located.id);
        ids.filter(|id| !prefix.is_empty() && id.as_str().to_lowercase().starts_with(&prefix)).collect()
    }

    /// Ids that hold this text, ours and foreign ones.
    pub(crate) fn ids_with_part(&self, part: &str) -> Result<Vec<SessionId>> {
        let part = part.to_lowercase();
        let kept = self.store.list(&store::Filter::default())?.into_iter().map(|listed| listed.row.id);
        let ids = kept.chain(self.unadopted().into_iter().map(|located| located.id));
        Ok(ids.filter(|id| !part.is_empty() && id.as_str().to_lowercase().contains(&part)).collect())
    }

    /// What reading files needs of the engine.
    pub(super) fn eyes(&self) -> Eyes<'_> {
        Eyes {
            root: &self.project.root,
            worktree: self.project.worktree(),
            now: self.clock.now(),
            host: &self.caller.host,
            signs: self.signs_here(),
            shares: None,
        }
    }

    /// The same where many are read one after the other.
    pub(super) fn eyes_for_many(&self) -> Eyes<'_> {
        Eyes { shares: Some(self.shares_here()), ..self.eyes() }
    }

    /// A session as its tool's own screen shows it, adopted or not; none where its tool has none.
    pub fn screen(&self, id: &SessionId) -> Option<Screen> {
        let (_, session) = self.load(id).ok()?;
        let located = self.located(&session)?;
        let own = located.layout.capabilities().own_screen?;
        let mut tree = tree::read(located.layout, &located.spot, &self.root_of(&session), Depth::Whole);
        // Where a file of its state is missing or damaged, what stands for it in the session stands for it here.
        if let Some(look) = self.seen.looks.borrow().get(id) {
            for path in look.states.keys() {
                if let Some(content) = look.documents.content(path) {
                    tree.insert(path.clone(), Entry::File(content.to_vec()));
                }
            }
        }
        Some(own.screen(&session, &self.folder(&located, &session, &tree)))
    }

    /// The checks of its layout over a session's files, adopted or laid over.
    pub(crate) fn health(&self, id: &SessionId) -> Vec<Health> {
        let Ok((_, session)) = self.load(id) else { return Vec::new() };
        self.read_whole(&session).map(|(_, told)| told.checks).unwrap_or_default()
    }

    /// All that a session's files tell now.
    pub(crate) fn read_whole(&self, session: &Session) -> Option<(Located, ForeignSession)> {
        let (located, tree) = self.whole_tree(session)?;
        let told = self.read_tree(&located, &tree).value;
        Some((located, told))
    }

    /// Where the files of a session of ours are; none for a native one.
    pub(crate) fn located(&self, session: &Session) -> Option<Located> {
        let layout = layout::by_name(&session.layout)?;
        let path = session.path.as_deref()?;
        let spot = layout.identify(path, true).or_else(|| layout.identify(path, false))?;
        Some(Located { layout, spot, id: session.id.clone() })
    }

    pub(crate) fn foreign_at(&self, located: &Located, depth: Depth) -> Option<Foreign> {
        self.foreign_below(located, &self.project.root, depth)
    }

    /// Whether a folder stands where a session is to begin that holds nothing of one.
    pub(crate) fn is_empty_place(&self, layout: &dyn Layout, spot: &Spot) -> bool {
        let is_folder = |found: std::fs::Metadata| found.is_dir();
        self.project.root.join(&spot.path).symlink_metadata().is_ok_and(is_folder)
            && layout.facts().may_start_in(&tree::read(layout, spot, &self.project.root, Depth::Whole))
    }

    fn foreign_below(&self, located: &Located, root: &Path, depth: Depth) -> Option<Foreign> {
        let is_here = root == self.project.root;
        let signs = if is_here { self.signs_here() } else { Arc::default() };
        Eyes { root, signs, ..self.eyes() }.foreign(located, depth)
    }

    pub(crate) fn read_tree(&self, located: &Located, tree: &Tree) -> Reading<ForeignSession> {
        self.eyes().read(located, tree)
    }

    /// As we wrote the files of the state: others that came since are left out.
    pub(super) fn read_as_written(&self, located: &Located, tree: &Tree) -> ForeignSession {
        self.eyes().read_as(located, tree, ReadAs::Written).value
    }

    /// Whoever wrote a session's files.
    pub(crate) fn actor_of(&self, layout: &dyn Layout) -> Actor {
        self.eyes().actor(layout)
    }

    pub(super) fn spots(&self, layout: &dyn Layout) -> Vec<Spot> {
        // A question is answered from one look; a command looks again after all that it does.
        if self.seen.is_changing() {
            return self.spots_now(layout);
        }
        let mut known = self.seen.spots.borrow_mut();
        known.entry(layout.facts().name).or_insert_with(|| self.spots_now(layout)).clone()
    }

    fn spots_now(&self, layout: &dyn Layout) -> Vec<Spot> {
        let mut found = spots_of(&self.project, layout);
        // Places that are configured, below the project; others are outside of it.
        let can_be_anywhere = layout.facts().places.iter().any(|place| matches!(place, Place::Temporary(_)));
        for place in self.config.places.iter().filter(|_| can_be_anywhere && !self.project.is_outside) {
            if Path::new(place).is_relative() {
                entries(&self.project.root, place.trim_matches('/'), layout, &mut found);
            }
        }
        found
    }

    /// A session in another project's files, under an id that is free here.
    pub(crate) fn foreign_elsewhere(&self, pointed: &Pointed) -> Result<Foreign> {
        let id = self.free_id(pointed)?;
        let located = Located { layout: pointed.layout, spot: pointed.spot.clone(), id };
        let path = pointed.root.join(&pointed.spot.path);
        self.foreign_below(&located, &pointed.root, Depth::Whole).ok_or_else(|| Error::WrongUsage {
            message: format!("{} tells of no session", path.display()),
            hint: Hint::new("see: ").run(words!["list"]),
        })
    }

    fn is_imported_from(&self, loaded: &store::Loaded, spot: &Spot) -> Result<bool> {
        let is_here = loaded.row.worktree == self.project.worktree() && loaded.row.layout == super::NATIVE;
        Ok(is_here && self.folded(loaded)?.path.as_deref() == Some(&spot.path))
    }

    /// The session that a file or folder of this project belongs to, ours or not.
    pub(crate) fn session_at(&self, pointed: &Pointed) -> Result<SessionId> {
        let spots = self.spots(pointed.layout);
        let first = spots.iter().filter(|spot| spot.id == pointed.spot.id).map(|spot| &spot.path).min();
        let is_first = first.is_none_or(|first| *first == pointed.spot.path);
        Ok(match self.owner(pointed.layout, &pointed.spot, is_first)? {
            Owner::Ours(id) | Owner::Nobody(id) => id,
        })
    }

    /// Which session a spot belongs to, in this worktree.
    pub(crate) fn owner(&self, layout: &dyn Layout, spot: &Spot, is_first: bool) -> Result<Owner> {
        let worktree = self.project.worktree();
        let mark = |again: u32| format!("{worktree}\n{}\n{again}", spot.path);
        // A second one of the same name, in another of the layout's places, is another session.
        let mut id = if is_first { spot.id.clone() } else { other_id(&spot.id, &mark(0))? };
        for again in 0..3 {
            match self.store.load(&id)? {
                None => return Ok(Owner::Nobody(id)),
                Some(loaded)
                    if loaded.row.worktree == worktree && loaded.row.layout == layout.facts().name =>
                {
                    return Ok(Owner::Ours(id));
                }
                // It was imported: the files are left alone since.
                Some(loaded) if self.is_imported_from(&loaded, spot)? => return Ok(Owner::Ours(id)),
                // The same name in another worktree, or of another kind, is another session.
                Some(_) => id = other_id(&spot.id, &mark(again))?,
            }
        }
        Ok(Owner::Ours(id))
    }
}

/// Whose a place with a session's files is.
pub(crate) enum Owner {
    Ours(SessionId),
    Nobody(SessionId),
}

pub(super) fn other_id(id: &SessionId, what: &str) -> Result<SessionId> {
    let mark: String = crate::hex(&Sha256::digest(what.as_bytes())).chars().take(6).collect();
    let kept: String = id.as_str().chars().take(100).collect();
    let text = format!("{kept}-{mark}");
    SessionId::parse(&text).map_err(|why| Error::InvalidSessionId { asked: text, why })
}

/// Whether sessions of a layout have a screen of their tool's own.
pub fn has_own_screen(layout: &str) -> bool {
    layout::by_name(layout).is_some_and(|layout| layout.capabilities().own_screen.is_some())
}

/// The names of all layouts of other tools.
pub fn layout_names() -> Vec<&'static str> {
    layout::all().iter().map(|layout| layout.facts().name).collect()
}

/// The workflows that such screens show.
pub fn workflows_with_a_screen() -> Vec<&'static str> {
    let with_one = layout::all().iter().filter(|layout| layout.capabilities().own_screen.is_some());
    with_one.flat_map(|layout| layout.facts().workflows).copied().collect()
}

/// Whether another tool keeps sessions in a project.
pub(crate) fn has_foreign(project: &Project) -> bool {
    layout::all().iter().any(|layout| !spots_of(project, *layout).is_empty())
}

/// A session that is outside of projects is alone in its own.
pub(super) fn spots_of(project: &Project, layout: &dyn Layout) -> Vec<Spot> {
    if project.is_outside {
        return layout.identify(&project.worktree(), true).into_iter().collect();
    }
    let mut found = Vec::new();
    for place in layout.facts().places {
        match place {
            Place::Project(folder) => entries(&project.root, folder, layout, &mut found),
            Place::Temporary(_) => {}
        }
    }
    found
}

pub(super) fn entries(root: &Path, folder: &str, layout: &dyn Layout, found: &mut Vec<Spot>) {
    each_entry(root, folder, |path, is_folder| {
        let spot = layout.identify(path, is_folder).filter(|spot| is_known(root, spot));
        found.extend(spot.filter(|spot| !layout.facts().private || !is_of_others(root, &spot.path)));
    });
}

/// Whether what is called as a session may be is one.
pub(super) fn is_known(root: &Path, spot: &Spot) -> bool {
    spot.known_by.as_ref().is_none_or(|file| root.join(file).symlink_metadata().is_ok())
}

/// Whether a folder of a project is neither this user's nor of who has the project: of a session that is its user's
/// alone it is somebody else's.
pub(super) fn is_of_others(root: &Path, path: &str) -> bool {
    let owner = |path: &Path| std::fs::symlink_metadata(path).ok().map(|found| found.uid());
    let folder = owner(&root.join(path));
    folder.is_some() && folder != Some(rustix::process::geteuid().as_raw()) && folder != owner(root)
}

/// Every file and folder in a folder below the root, by its path below the root.
pub(super) fn each_entry(root: &Path, folder: &str, mut look: impl FnMut(&str, bool)) {
    if link_on_the_way(root, folder).is_some() {
        return;
    }
    let Ok(entries) = std::fs::read_dir(root.join(folder)) else { return };
    for entry in entries.flatten() {
        // A link may lead anywhere, or nowhere.
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_symlink() {
            continue;
        }
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        look(&path, kind.is_dir());
    }
}

/// The first link among the folders that lead to where a layout has its sessions.
pub(super) fn link_on_the_way(root: &Path, folder: &str) -> Option<String> {
    let ends = folder.match_indices('/').map(|(end, _)| end).chain([folder.len()]);
    let mut all = ends.map(|end| &folder[..end]).filter(|part| !part.is_empty());
    all.find(|part| root.join(part).is_symlink()).map(ToOwned::to_owned)
}

impl From<Health> for HealthView {
    fn from(health: Health) -> Self {
        Self { check: health.check.to_owned(), ok: health.is_well, found: health.found }
    }
}
