//! Finds marker files: empty files that mean something by existing. Writes nothing.

use crate::engine::Engine;
use layouts::layout::{self, Layout};
use layouts::tree::{Entry, Tree};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Returns the marker files directly in a layout's home.
pub(crate) fn listed(layout: &dyn Layout, home: &Path) -> Vec<String> {
    let Some(beginning) = layout.facts().marker_prefix else { return Vec::new() };
    names_in(home).into_iter().filter(|name| name.starts_with(beginning)).collect()
}

pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// The marker files of a project, by the name of the layout.
#[derive(Debug, Default)]
pub(crate) struct Markers(BTreeMap<&'static str, Vec<String>>);

impl Markers {
    /// Adds the layout's marker files to the tree of a session. The marker file of another session may mean that this
    /// session is not active.
    pub(crate) fn add_to(&self, tree: &mut Tree, layout: &dyn Layout) {
        for name in self.0.get(layout.facts().name).into_iter().flatten() {
            if tree.get(name).is_none() {
                tree.insert(name.clone(), Entry::Unread { size: 0 });
            }
        }
    }
}

impl Engine {
    /// Returns the project's marker files. They are listed once and remembered until something changes, because a long
    /// list asks for each session.
    pub(crate) fn markers_here(&self) -> Arc<Markers> {
        let mut known = self.scope.listing.markers.borrow_mut();
        let found = known.get_or_insert_with(|| {
            let of = |layout: &&'static dyn Layout| {
                let home = self.project.root.join(layout.capabilities().registry?.file().home);
                Some((layout.facts().name, listed(*layout, &home)))
            };
            Arc::new(Markers(layout::all().iter().filter_map(of).collect()))
        });
        Arc::clone(found)
    }
}
