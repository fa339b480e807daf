//! Finds the session of a file or folder, in this project or in another. Writes nothing.

use crate::foreign::discover::{each_entry, folders_of, is_known};
use layouts::layout::{self, Layout, Spot};
use std::path::{Path, PathBuf};

/// The session that a path leads to, in this project or in another.
pub(crate) struct Pointed {
    pub(crate) layout: &'static dyn Layout,
    pub(crate) spot: Spot,
    /// The folder of the project that contains the path.
    pub(crate) root: PathBuf,
}

/// Returns the session of a path, if the path is the session's own folder or file, or a state file in the folder. Other
/// files in the folder do not count.
pub(crate) fn pointed(path: &Path) -> Option<Pointed> {
    let whole = path.canonicalize().ok()?;
    pointed_whole(&whole).or_else(|| around(&whole).filter(|found| found.is_state(&whole)))
}

/// Returns the session whose folder contains this path.
pub(crate) fn around(whole: &Path) -> Option<Pointed> {
    whole.ancestors().skip(1).find_map(pointed_whole)
}

fn pointed_whole(whole: &Path) -> Option<Pointed> {
    let is_folder = whole.is_dir();
    for layout in layout::all() {
        for folder in folders_of(*layout) {
            let depth = Path::new(folder).components().count() + 1;
            let Some(root) = whole.ancestors().nth(depth) else { continue };
            let Some(relative) = whole.strip_prefix(root).ok().and_then(Path::to_str) else { continue };
            let is_there =
                relative.strip_prefix(folder).is_some_and(|rest| folder.is_empty() || rest.starts_with('/'));
            let spot = layout.identify(relative, is_folder).filter(|_| is_there);
            if let Some(spot) = spot.filter(|spot| is_known(root, spot)) {
                return Some(Pointed { layout: *layout, spot, root: root.to_owned() });
            }
        }
    }
    None
}

impl Pointed {
    pub(crate) fn place(&self) -> PathBuf {
        self.root.join(&self.spot.path)
    }

    fn is_state(&self, whole: &Path) -> bool {
        let below = whole.strip_prefix(self.root.join(&self.spot.home)).ok().and_then(Path::to_str);
        whole.is_file() && below.is_some_and(|path| self.layout.files(&self.spot).is_state(path))
    }
}

/// Returns the place that a session at this path would have. The path is relative to its project, and need not exist.
pub(crate) fn spot_at(layout: &dyn Layout, path: &str) -> Option<Spot> {
    layout.identify(path, true).or_else(|| layout.identify(path, false))
}

/// Returns the paths of other tools' sessions in a project's folder, relative to the folder.
pub(crate) fn sessions_in(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for layout in layout::all() {
        for folder in folders_of(*layout) {
            each_entry(root, folder, |path, is_folder| {
                let spot = layout.identify(path, is_folder).filter(|spot| is_known(root, spot));
                found.extend(spot.map(|_| path.to_owned()));
            });
        }
    }
    found.sort();
    found
}
