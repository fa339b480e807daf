//! The state of a folder, to compare two moments.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The path, content and modification time of every file, except for SQLite's shared memory, and every
/// folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree(BTreeMap<PathBuf, Entry>);

#[derive(Clone, PartialEq, Eq)]
enum Entry {
    Folder,
    File { bytes: Vec<u8>, changed: (i64, i64) },
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Folder => f.write_str("folder"),
            Self::File { bytes, changed } => write!(f, "{} bytes of {changed:?}", bytes.len()),
        }
    }
}

impl Tree {
    pub fn of(root: &Path) -> Self {
        let mut entries = BTreeMap::new();
        read(root, &mut entries);
        Self(entries)
    }

    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.0.keys()
    }

    pub fn holds(&self, name: &str) -> bool {
        self.0.keys().any(|path| path.file_name().is_some_and(|found| found == name))
    }
}

fn read(folder: &Path, entries: &mut BTreeMap<PathBuf, Entry>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            entries.insert(path.clone(), Entry::Folder);
            read(&path, entries);
        } else if !path.to_string_lossy().ends_with("-shm") {
            let found = std::fs::metadata(&path).unwrap();
            let changed = (found.mtime(), found.mtime_nsec());
            entries.insert(path.clone(), Entry::File { bytes: std::fs::read(&path).unwrap(), changed });
        }
    }
}
