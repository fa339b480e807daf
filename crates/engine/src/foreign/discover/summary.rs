//! Summaries of foreign sessions. A command asks several times which session is active, and there may be thousands, so
//! each session is read only once until something changes. Writes nothing.

use crate::engine::Engine;
use crate::view::{ShortView, Warning};
use crate::walk;
use jiff::Timestamp;
use layouts::layout::{self, Layout, Spot};
use layouts::reader::{Foreign, Located};
use layouts::tree::{Entry, Tree};
use model::id::SessionId;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// If there are at least this many items, several threads read them.
const MANY: usize = 64;
const READERS: usize = 4;

/// The data of a session that is known without reading all of its files.
#[derive(Debug, Clone)]
pub(crate) struct SessionSummary {
    pub(crate) id: SessionId,
    pub(crate) path: String,
    /// The session's line in a list, without its number.
    pub(crate) line: ShortView,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) says_where_it_stands: bool,
    pub(crate) is_unbegun: bool,
}

impl SessionSummary {
    pub(crate) fn of(found: Foreign) -> Self {
        Self {
            line: (&found.session).into(),
            says_where_it_stands: found.told.says_where_it_stands(),
            is_unbegun: found.told.is_unbegun,
            warnings: Warning::of_files(&found.located, &found.problems),
            id: found.located.id,
            path: found.located.spot.path,
        }
    }

    pub(crate) fn is_active(&self) -> bool {
        self.line.lifecycle == "active"
    }

    /// True if the session has an unfinished run.
    pub(crate) fn has_work(&self) -> bool {
        self.line.total_phases.is_none_or(|total| self.line.phases_done < total)
    }

    pub(crate) fn is_unfinished(&self) -> bool {
        crate::engine::is_unfinished(&self.line.lifecycle)
    }
}

/// Registries split by session. Without this, listing a thousand sessions would read each registry a thousand times.
#[derive(Debug, Default)]
pub(crate) struct Parts(BTreeMap<&'static str, PartsOfOne>);

#[derive(Debug)]
struct PartsOfOne {
    file: &'static str,
    modified: Option<Timestamp>,
    by_session: BTreeMap<SessionId, Vec<u8>>,
}

impl Parts {
    fn below(root: &Path) -> Self {
        let of = |layout: &&'static dyn Layout| Some((layout.facts().name, PartsOfOne::of(*layout, root)?));
        Self(layout::all().iter().filter_map(of).collect())
    }

    /// Adds a session's own part of a registry to its tree. Returns false if the file is not a registry that was split.
    pub(crate) fn put(&self, layout: &dyn Layout, spot: &Spot, path: &str, tree: &mut Tree) -> bool {
        let Some(part) = self.0.get(layout.facts().name).filter(|part| part.file == path) else {
            return false;
        };
        let own = part.by_session.get(&spot.id).cloned().unwrap_or_default();
        tree.insert(path, Entry::File(own));
        if let Some(at) = part.modified {
            tree.set_modified(path, at);
        }
        true
    }
}

impl PartsOfOne {
    fn of(layout: &'static dyn Layout, root: &Path) -> Option<Self> {
        let registry = layout.capabilities().registry?;
        let modified = walk::modified(&root.join(registry.file().path()));
        let by_session = registry.by_session(&walk::registry_content(registry, root)?);
        Some(Self { file: registry.file().file, modified, by_session })
    }
}

impl Engine {
    /// Returns summaries of the sessions that the store does not have, in order of path.
    pub(crate) fn summaries(&self) -> Arc<Vec<SessionSummary>> {
        if let Some(known) = self.scope.listing.summaries.borrow().as_ref() {
            return Arc::clone(known);
        }
        let found = Arc::new(self.read_summaries());
        self.scope.listing.summaries.replace(Some(Arc::clone(&found)));
        found
    }

    /// Returns the project's registries, split by session. They are split once and remembered until something changes.
    pub(crate) fn parts_here(&self) -> Arc<Parts> {
        let mut known = self.scope.listing.parts.borrow_mut();
        Arc::clone(known.get_or_insert_with(|| Arc::new(Parts::below(&self.project.root))))
    }

    fn read_summaries(&self) -> Vec<SessionSummary> {
        let mut all = self.in_files_alone();
        all.retain(|located| located.layout.facts().exclusive);
        all.sort_by(|one, other| one.spot.path.cmp(&other.spot.path));
        if all.is_empty() {
            return Vec::new();
        }
        let reader = self.reader_for_many();
        by_several(&all, |located: &Located| reader.summarised(located))
    }
}

/// Returns the summary of the session at this place, in a list that is sorted by path.
pub(crate) fn by_path<'a>(summaries: &'a [SessionSummary], located: &Located) -> Option<&'a SessionSummary> {
    let at = summaries.binary_search_by(|summary| summary.path.as_str().cmp(&located.spot.path)).ok()?;
    summaries.get(at).filter(|summary| summary.id == located.id)
}

/// Reads items, in several threads if there are many, because opening files takes most of the time.
pub(crate) fn by_several<T: Sync, R: Send>(all: &[T], read: impl Fn(&T) -> Option<R> + Sync) -> Vec<R> {
    if all.len() < MANY {
        return all.iter().filter_map(read).collect();
    }
    let part = all.len().div_ceil(READERS);
    let read = &read;
    std::thread::scope(|scope| {
        let read_some = |some: &'_ [T]| -> Vec<R> { some.iter().filter_map(read).collect() };
        let threads: Vec<_> = all.chunks(part).map(|some| scope.spawn(move || read_some(some))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    })
}
