//! The content of a folder as the engine found it: the names, and the content of small files.

use crate::problem::Why;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::collections::{BTreeMap, BTreeSet};

/// The entry at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    Folder,
    File(Vec<u8>),
    /// The file exists and is not empty. Its content was not requested.
    Unread {
        size: u64,
    },
    /// The file cannot be read. The text is the reason: too large, no permission, a link that leads outside.
    Unusable(String),
}

/// The entries of a session's folder by their paths. Paths are relative to that folder, with `/` as the
/// separator.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tree {
    entries: BTreeMap<String, Entry>,
    modified: BTreeMap<String, Timestamp>,
    zone: Option<TimeZone>,
    root: Option<String>,
    taken: BTreeSet<String>,
    absent: BTreeSet<String>,
    cut: Option<String>,
}

impl Tree {
    pub fn insert(&mut self, path: impl Into<String>, entry: Entry) {
        self.entries.insert(path.into(), entry);
    }

    pub fn remove(&mut self, path: &str) {
        self.entries.remove(path);
    }

    /// Removes a folder with everything in it.
    pub fn remove_folder(&mut self, path: &str) {
        let is_below = |entry: &str| {
            entry.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.entries.retain(|entry, _| !is_below(entry));
        self.modified.retain(|entry, _| !is_below(entry));
    }

    /// Removes a file that existed before.
    pub fn take_away(&mut self, path: impl Into<String>) {
        let path = path.into();
        self.entries.remove(&path);
        self.taken.insert(path);
    }

    pub fn is_taken_away(&self, path: &str) -> bool {
        self.taken.contains(path)
    }

    pub fn taken_away(&self) -> impl Iterator<Item = &str> {
        self.taken.iter().map(String::as_str)
    }

    /// Records that a path is missing.
    pub fn set_absent(&mut self, path: impl Into<String>) {
        self.absent.insert(path.into());
    }

    pub fn is_absent(&self, path: &str) -> bool {
        self.absent.contains(path)
    }

    /// True if it is known whether this path exists.
    pub fn is_asked(&self, path: &str) -> bool {
        self.is_absent(path) || self.get(path).is_some()
    }

    /// Records that not all entries of a folder were read. Only the first such folder is recorded.
    pub fn cut_at(&mut self, folder: impl Into<String>) {
        self.cut.get_or_insert(folder.into());
    }

    /// The first folder of which not all entries were read.
    pub fn cut(&self) -> Option<&str> {
        self.cut.as_deref()
    }

    /// The tree after one folder was moved.
    #[must_use]
    pub fn moved(self, from: &str, to: &str) -> Self {
        let place = |path: String| match path.strip_prefix(from) {
            Some("") => to.to_owned(),
            Some(rest) if rest.starts_with('/') => format!("{to}{rest}"),
            Some(_) | None => path,
        };
        self.with_paths(place)
    }

    /// The tree, with every path replaced by the result of `place`.
    #[must_use]
    pub fn with_paths(self, place: impl Fn(String) -> String) -> Self {
        Self {
            entries: self.entries.into_iter().map(|(path, entry)| (place(path), entry)).collect(),
            modified: self.modified.into_iter().map(|(path, at)| (place(path), at)).collect(),
            zone: self.zone,
            root: self.root,
            taken: self.taken.into_iter().map(&place).collect(),
            absent: self.absent.into_iter().map(&place).collect(),
            cut: self.cut.map(&place),
        }
    }

    /// Sets a file's modification time.
    pub fn set_modified(&mut self, path: impl Into<String>, at: Timestamp) {
        self.modified.insert(path.into(), at);
    }

    pub fn modified(&self, path: &str) -> Option<Timestamp> {
        self.modified.get(path).copied()
    }

    /// The times at which the oldest and the newest file in the tree were written, if known.
    pub fn written(&self) -> Option<(Timestamp, Timestamp)> {
        Some((*self.modified.values().min()?, *self.modified.values().max()?))
    }

    /// Sets the absolute path of the tree's folder.
    pub fn set_root(&mut self, root: &str) {
        self.root = Some(root.trim_end_matches('/').to_owned());
    }

    /// A path from another tool's file, made relative to the tree's folder. `None` if it leads out of that
    /// folder.
    pub fn below(&self, path: &str) -> Option<String> {
        let inside = match (path.starts_with('/'), &self.root) {
            (false, _) => path,
            (true, Some(root)) => path.strip_prefix(root.as_str()).filter(|rest| rest.starts_with('/'))?,
            (true, None) => return None,
        };
        let mut parts: Vec<&str> = Vec::new();
        for part in inside.split('/') {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()?),
                part => parts.push(part),
            }
        }
        (!parts.is_empty()).then(|| parts.join("/"))
    }

    /// Sets the time zone of the machine, which applies to times without a zone.
    pub fn set_zone(&mut self, zone: TimeZone) {
        self.zone = Some(zone);
    }

    pub fn zone(&self) -> TimeZone {
        self.zone.clone().unwrap_or(TimeZone::UTC)
    }

    /// The content of a file, if it was read.
    pub fn content(&self, path: &str) -> Option<&[u8]> {
        match self.get(path) {
            Some(Entry::File(content)) => Some(content),
            Some(Entry::Folder | Entry::Unread { .. } | Entry::Unusable(_)) | None => None,
        }
    }

    /// The paths of all files, in order.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.entries
            .iter()
            .filter(|(_, entry)| !matches!(entry, Entry::Folder))
            .map(|(path, _)| path.as_str())
    }

    /// All paths that are known to exist or to be missing.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().chain(&self.absent).map(String::as_str)
    }

    pub fn get(&self, path: &str) -> Option<&Entry> {
        self.entries.get(path)
    }

    /// True for a file with content. An empty file proves nothing.
    pub fn has_file(&self, path: &str) -> bool {
        match self.get(path) {
            Some(Entry::File(content)) => !content.is_empty(),
            Some(Entry::Unread { size }) => *size > 0,
            Some(Entry::Folder | Entry::Unusable(_)) | None => false,
        }
    }

    pub fn has_folder(&self, path: &str) -> bool {
        matches!(self.get(path), Some(Entry::Folder))
    }

    /// True for an entry that exists but cannot be read.
    pub fn is_unusable(&self, path: &str) -> bool {
        matches!(self.get(path), Some(Entry::Unusable(_)))
    }

    /// The reason why a missing file may exist after all: its folder cannot be read.
    pub fn why_hidden(&self, path: &str) -> Option<Why> {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        match self.get(folder) {
            Some(Entry::Unusable(why)) => Some(Why::FolderUnreadable(Some(why.clone()))),
            Some(Entry::Folder | Entry::File(_) | Entry::Unread { .. }) | None => None,
        }
    }

    /// The paths that cannot be read, each with the reason.
    pub fn unusable(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().filter_map(|(path, entry)| match entry {
            Entry::Unusable(why) => Some((path.as_str(), why.as_str())),
            Entry::Folder | Entry::File(_) | Entry::Unread { .. } => None,
        })
    }

    /// The names directly below a folder, in order.
    pub fn names_in<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a str> {
        self.entries.keys().filter_map(move |path| {
            let rest = if folder.is_empty() { path } else { path.strip_prefix(folder)?.strip_prefix('/')? };
            (!rest.is_empty() && !rest.contains('/')).then_some(rest)
        })
    }

    /// The numbers of folders such as `round-3`, in numerical order: round 10 comes after round 9.
    pub fn numbered(&self, folder: &str, prefix: &str) -> Vec<u32> {
        let mut numbers: Vec<u32> = self
            .names_in(folder)
            .filter(|name| self.has_folder(&format!("{folder}/{name}")))
            .filter_map(|name| counted(name.strip_prefix(prefix)?))
            .collect();
        numbers.sort_unstable();
        numbers
    }
}

/// A number of at least 1 in its usual form. `+3` and `01` are not numbers here.
fn counted(text: &str) -> Option<u32> {
    let number: u32 = text.parse().ok()?;
    (number > 0 && number.to_string() == text).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_sort_as_numbers_and_files_are_no_rounds() {
        let mut tree = Tree::default();
        for name in ["round-10", "round-9", "round-x", "round-0", "round-+3", "round-09", "other"] {
            tree.insert(format!("rounds/{name}"), Entry::Folder);
        }
        tree.insert("rounds/round-3", Entry::File(b"a file".to_vec()));
        assert_eq!(tree.numbered("rounds", "round-"), [9, 10]);
    }
}
