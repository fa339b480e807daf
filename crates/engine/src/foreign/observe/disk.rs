//! Reads files beside those of a session, when the pure code that judges and merges files asks for them.

use crate::disk::exchange;
use crate::walk;
use layouts::layout::Depth;
use layouts::reader::{Disk, Located};
use layouts::tree::{Entry, Tree};
use layouts::verdict::FileId;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The folder to which the paths of a session's files are relative.
pub(crate) struct Home<'a> {
    located: &'a Located,
    home: PathBuf,
}

impl<'a> Home<'a> {
    pub(crate) fn below(root: &Path, located: &'a Located) -> Self {
        Self { located, home: root.join(&located.spot.home) }
    }
}

impl Disk for Home<'_> {
    fn backup(&self, path: &str) -> Option<Vec<u8>> {
        exchange::read(&exchange::backup(&self.home.join(path))).ok()
    }

    fn backup_file(&self, path: &str) -> Option<FileId> {
        file_at(&exchange::backup(&self.home.join(path)))
    }

    fn waiting(&self, path: &str) -> Option<Vec<u8>> {
        let most = self.located.layout.files(&self.located.spot).most_bytes(path);
        match walk::content(&exchange::waiting(&self.home.join(path)), most) {
            Entry::File(bytes) => Some(bytes),
            Entry::Folder | Entry::Unread { .. } | Entry::Unusable(_) => None,
        }
    }

    fn unusable(&self, path: &str) -> Vec<u8> {
        exchange::read(&self.home.join(path)).unwrap_or_default()
    }

    fn add_named(&self, tree: &mut Tree) {
        let Located { layout, spot, .. } = self.located;
        walk::add(&self.home, tree, |tree| layout.more_files(spot, tree, Depth::Whole));
    }
}

/// Returns a file's inode number and creation time. Together they distinguish the file from a later one with the same
/// inode number.
pub(crate) fn file_at(path: &Path) -> Option<FileId> {
    let found = std::fs::symlink_metadata(path).ok()?;
    let born = found.created().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some((found.ino(), born.as_nanos()))
}
