//! Foreign sessions of layouts that know only one active one, in short. Which of them goes on is asked several times
//! by one command, and there may be thousands: each is read once, until something changes. Writes nothing.

use super::find::{Foreign, Located};
use super::tree;
use crate::engine::Engine;
use crate::view::{ShortView, Warning};
use jiff::Timestamp;
use layouts::layout::{self, Layout, Spot};
use layouts::tree::{Entry, Tree};
use model::id::SessionId;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// From so many on, several threads read.
const MANY: usize = 64;
const READERS: usize = 4;

/// What is known of one without a look at the whole of it.
#[derive(Debug, Clone)]
pub(crate) struct Short {
    pub(super) id: SessionId,
    path: String,
    /// Its number is not known here.
    pub(super) line: ShortView,
    pub(super) warnings: Vec<Warning>,
    pub(super) says_where_it_stands: bool,
}

impl Short {
    pub(super) fn of(found: Foreign) -> Self {
        Self {
            line: (&found.session).into(),
            says_where_it_stands: found.told.says_where_it_stands(),
            id: found.id,
            path: found.spot.path,
            warnings: found.warnings,
        }
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    pub(super) fn is_active(&self) -> bool {
        self.line.lifecycle == "active"
    }

    /// Something of it remains to be done: a run that is not finished.
    pub(super) fn has_work(&self) -> bool {
        self.line.phases_done < self.line.total_phases
    }

    pub(super) fn is_unfinished(&self) -> bool {
        crate::engine::is_unfinished(&self.line.lifecycle)
    }
}

/// What indexes say, cut into what each says about one session: a thousand sessions would read the whole of it a
/// thousand times.
#[derive(Debug, Default)]
pub(crate) struct Shares(BTreeMap<&'static str, Share>);

#[derive(Debug)]
struct Share {
    file: &'static str,
    modified: Option<Timestamp>,
    by_session: BTreeMap<SessionId, Vec<u8>>,
}

impl Shares {
    fn below(root: &Path) -> Self {
        let of = |layout: &&'static dyn Layout| Some((layout.facts().name, Share::of(*layout, root)?));
        Self(layout::all().iter().filter_map(of).collect())
    }

    /// Puts what a session's index says about it into its tree; whether that was all that is to be known of this file.
    pub(super) fn put(&self, layout: &dyn Layout, spot: &Spot, path: &str, tree: &mut Tree) -> bool {
        let Some(share) = self.0.get(layout.facts().name).filter(|share| share.file == path) else {
            return false;
        };
        let own = share.by_session.get(&spot.id).cloned().unwrap_or_default();
        tree.insert(path, Entry::File(own));
        if let Some(at) = share.modified {
            tree.set_modified(path, at);
        }
        true
    }
}

impl Share {
    fn of(layout: &'static dyn Layout, root: &Path) -> Option<Self> {
        let registry = layout.capabilities().registry?;
        let index = registry.file();
        let place = root.join(index.home).join(index.file);
        let modified = tree::modified(&place);
        let Entry::File(content) = tree::content(&place, index.most) else { return None };
        Some(Self { file: index.file, modified, by_session: registry.by_session(&content) })
    }
}

impl Engine {
    /// Those that files tell of and the store did not have when it was looked, in the order of their paths.
    pub(crate) fn shorts(&self) -> Arc<Vec<Short>> {
        if let Some(known) = self.seen.shorts.borrow().as_ref() {
            return Arc::clone(known);
        }
        let found = Arc::new(self.read_shorts());
        self.seen.shorts.replace(Some(Arc::clone(&found)));
        found
    }

    /// Cut once, until something changes.
    pub(super) fn shares_here(&self) -> Arc<Shares> {
        let mut known = self.seen.shares.borrow_mut();
        Arc::clone(known.get_or_insert_with(|| Arc::new(Shares::below(&self.project.root))))
    }

    fn read_shorts(&self) -> Vec<Short> {
        let mut all = self.in_files_alone();
        all.retain(|located| located.layout.facts().exclusive);
        all.sort_by(|one, other| one.spot.path.cmp(&other.spot.path));
        if all.is_empty() {
            return Vec::new();
        }
        let eyes = self.eyes_for_many();
        by_several(&all, |located: &Located| eyes.in_short(located))
    }
}

/// The one that was found in this place: they are in the order of their paths.
pub(super) fn by_path<'a>(shorts: &'a [Short], located: &Located) -> Option<&'a Short> {
    let at = shorts.binary_search_by(|short| short.path.as_str().cmp(&located.spot.path)).ok()?;
    shorts.get(at).filter(|short| short.id == located.id)
}

/// Most of the time is the system's, opening files: several can do that at once.
pub(super) fn by_several<T: Sync, R: Send>(all: &[T], read: impl Fn(&T) -> Option<R> + Sync) -> Vec<R> {
    if all.len() < MANY {
        return all.iter().filter_map(read).collect();
    }
    let share = all.len().div_ceil(READERS);
    let read = &read;
    std::thread::scope(|scope| {
        let read_some = |some: &'_ [T]| -> Vec<R> { some.iter().filter_map(read).collect() };
        let threads: Vec<_> = all.chunks(share).map(|some| scope.spawn(move || read_some(some))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    })
}
