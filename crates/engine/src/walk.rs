//! Reads a session's files into a tree: only a limited number, never through a link, and never more than the layout
//! needs. Writes nothing.

use crate::disk::below;
use crate::error::{Error, Result};
use crate::foreign::discover::summary::Parts;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use layouts::capabilities::Registry;
use layouts::file_rules::{MOST_BYTES, MOST_ENTRIES};
use layouts::layout::{Depth, FileRules, Layout, Need, Spot};
use layouts::tree::{Entry, Tree};
use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

const DEEPEST: usize = 6;
/// How often requested files are read. A file may name further files, but more rounds than this would mean a loop.
const MOST_ROUNDS: usize = 4;
const MOST_WANTED: usize = 1_000;

struct Walk<'a> {
    layout: &'a dyn Layout,
    rules: &'a FileRules,
    spot: &'a Spot,
    home: &'a Path,
    depth: Depth,
    left: usize,
    left_of_state: usize,
    tree: Tree,
    parts: Option<&'a Parts>,
}

/// Reads the files that a layout needs to understand a session.
pub(crate) fn read(layout: &dyn Layout, spot: &Spot, root: &Path, depth: Depth) -> Tree {
    read_with(layout, spot, root, depth, None)
}

/// Like `read`, with registries that were already read for all sessions.
pub(crate) fn read_with(
    layout: &dyn Layout,
    spot: &Spot,
    root: &Path,
    depth: Depth,
    parts: Option<&Parts>,
) -> Tree {
    let home = root.join(&spot.home);
    let rules = layout.files(spot);
    let mut walk = Walk {
        layout,
        rules: &rules,
        spot,
        home: &home,
        depth,
        left: MOST_ENTRIES,
        left_of_state: MOST_ENTRIES,
        tree: Tree::default(),
        parts,
    };
    if layout.facts().local_times {
        walk.tree.set_zone(TimeZone::system());
    }
    match fs::symlink_metadata(&home) {
        // If the home itself is a link, it is not read, because a link could lead anywhere.
        Ok(found) if found.is_dir() => rules.roots.iter().for_each(|path| walk.root(path)),
        // If a folder above the home cannot be read, the home may still exist.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            walk.tree.insert(String::new(), Entry::Unusable(error.to_string()));
        }
        Ok(_) | Err(_) => {}
    }
    add(&home, &mut walk.tree, |tree| layout.more_files(spot, tree, depth));
    walk.tree
}

/// Reads requested files again and again, until nothing new is requested or too much was requested. Files that are
/// missing are recorded as missing.
pub(crate) fn add(home: &Path, tree: &mut Tree, needed: impl Fn(&Tree) -> Vec<Need>) {
    tree.set_root(&home.to_string_lossy());
    for _ in 0..MOST_ROUNDS {
        let is_new = |need: &Need| match need {
            Need::Content(path) | Need::Name(path) => !tree.is_asked(path),
        };
        let new: Vec<Need> = needed(tree).into_iter().filter(is_new).take(MOST_WANTED).collect();
        if new.is_empty() {
            return;
        }
        for need in new {
            match need {
                Need::Content(path) => add_content(home, tree, path),
                Need::Name(path) => add_name(home, tree, path),
            }
        }
    }
}

fn add_content(home: &Path, tree: &mut Tree, path: String) {
    match below(home, &path) {
        Ok(place) if fs::symlink_metadata(&place).is_ok() => {
            date(tree, &path, &place);
            tree.insert(path, content(&place, MOST_BYTES));
        }
        Ok(_) => tree.set_absent(path),
        Err(error) => tree.insert(path, Entry::Unusable(error.to_string())),
    }
}

/// Adds a file's name, size and time, but not its content. This must be fast, because a list calls it a thousand times.
fn add_name(home: &Path, tree: &mut Tree, path: String) {
    match home.join(&path).symlink_metadata() {
        Ok(found) if found.is_dir() => tree.insert(path, Entry::Folder),
        Ok(found) if found.is_file() => {
            for (end, _) in path.match_indices('/') {
                tree.insert(&path[..end], Entry::Folder);
            }
            if let Some(at) = found.modified().ok().and_then(|at| Timestamp::try_from(at).ok()) {
                tree.set_modified(path.clone(), at);
            }
            tree.insert(path, Entry::Unread { size: found.len() });
        }
        Ok(_) | Err(_) => tree.set_absent(path),
    }
}

/// Reads only the files with the given paths.
pub(crate) fn read_files(layout: &dyn Layout, spot: &Spot, root: &Path, paths: &[&str]) -> Tree {
    let home = root.join(&spot.home);
    let mut tree = Tree::default();
    for path in paths {
        let whole = home.join(path);
        let content = match read_small(&whole) {
            Some(small) => Entry::File(small),
            None => content(&whole, layout.files(spot).most_bytes(path)),
        };
        tree.insert(*path, content);
    }
    tree
}

/// Returns the content of a small file, read at once, because a list opens a thousand of them. `None` for a larger
/// file, and for an entry that is not a file.
fn read_small(path: &Path) -> Option<Vec<u8>> {
    let mut buffer = [0; 4096];
    let count = open(path).ok()?.read(&mut buffer).ok()?;
    // If the read was shorter than the buffer, it was the whole file. If nothing was read, the entry may be a pipe.
    (count > 0 && count < buffer.len()).then(|| buffer[..count].to_vec())
}

impl Walk<'_> {
    fn folder(&mut self, relative: &str, level: usize) {
        let entries = match fs::read_dir(self.home.join(relative)) {
            Ok(entries) => entries,
            Err(error) => {
                self.tree.insert(relative, Entry::Unusable(error.to_string()));
                return;
            }
        };
        let mut others = Vec::new();
        for entry in entries.flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            if is_ours(&name) {
                continue;
            }
            let path = if relative.is_empty() { name } else { format!("{relative}/{name}") };
            match entry.file_type() {
                // State files have a limit of their own, because without them nothing is known about a session.
                Ok(kind) if self.left_of_state > 0 && self.is_state(kind, &path) => {
                    self.left_of_state -= 1;
                    self.entry(kind, path, level);
                }
                found if others.len() < self.left => others.push((path, found)),
                _ => self.tree.cut_at(relative),
            }
        }
        self.left -= others.len();
        // Files are read before folders, because the entries of a folder may use up the limit.
        others.sort_by_key(|(_, found)| found.as_ref().is_ok_and(FileType::is_dir));
        for (path, found) in others {
            match found {
                Ok(kind) => self.entry(kind, path, level),
                Err(error) => self.tree.insert(path, Entry::Unusable(error.to_string())),
            }
        }
    }

    fn is_state(&self, kind: FileType, path: &str) -> bool {
        !kind.is_dir() && self.rules.is_state(path)
    }

    /// Reads the whole home, or one entry of it, without following links.
    fn root(&mut self, path: &str) {
        if path.is_empty() {
            return self.folder("", 0);
        }
        if self.parts.is_some_and(|parts| parts.put(self.layout, self.spot, path, &mut self.tree)) {
            return;
        }
        let is_link = |folder: &Path| {
            fs::symlink_metadata(self.home.join(folder)).is_ok_and(|found| found.is_symlink())
        };
        let mut above = Path::new(path).ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        if above.any(is_link) {
            return;
        }
        match fs::symlink_metadata(self.home.join(path)) {
            Ok(found) => self.entry(found.file_type(), path.to_owned(), 1),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => self.tree.insert(path, Entry::Unusable(error.to_string())),
        }
    }

    fn entry(&mut self, kind: FileType, path: String, level: usize) {
        let role = self.rules.role(&path, kind.is_dir());
        if !role.is_listed(self.depth) {
            return;
        }
        if kind.is_dir() {
            if level < DEEPEST {
                self.tree.insert(path.clone(), Entry::Folder);
                self.folder(&path, level + 1);
            }
        } else if !kind.is_file() {
            let why = if kind.is_symlink() { "it is a link" } else { "it is not a regular file" };
            self.tree.insert(path, Entry::Unusable(why.to_owned()));
        } else if role.is_read(self.depth) {
            let content = content(&self.home.join(&path), self.rules.most_bytes(&path));
            self.dated(&path);
            self.tree.insert(path, content);
        } else {
            self.named(path);
        }
    }

    fn named(&mut self, path: String) {
        match fs::symlink_metadata(self.home.join(&path)) {
            Ok(found) => {
                self.dated(&path);
                self.tree.insert(path, Entry::Unread { size: found.len() });
            }
            Err(error) => self.tree.insert(path, Entry::Unusable(error.to_string())),
        }
    }

    fn dated(&mut self, path: &str) {
        date(&mut self.tree, path, &self.home.join(path));
    }
}

fn date(tree: &mut Tree, path: &str, place: &Path) {
    if let Some(modified) = modified(place) {
        tree.set_modified(path, modified);
    }
}

pub(crate) fn modified(place: &Path) -> Option<Timestamp> {
    let modified = fs::symlink_metadata(place).and_then(|found| found.modified());
    modified.ok().and_then(|at| Timestamp::try_from(at).ok())
}

/// Returns the paths of all regular files below a folder, relative to it. Links and leftoff's own files are left out.
pub(crate) fn files_below(folder: &Path) -> Vec<String> {
    fn walk(folder: &Path, above: &str, level: usize, found: &mut Vec<String>) {
        let Ok(entries) = fs::read_dir(folder.join(above)) else { return };
        for entry in entries.flatten() {
            let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else { continue };
            let path = if above.is_empty() { name.clone() } else { format!("{above}/{name}") };
            if found.len() >= MOST_ENTRIES || is_ours(&name) {
                continue;
            }
            if kind.is_dir() && level < DEEPEST {
                walk(folder, &path, level + 1, found);
            } else if kind.is_file() {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    if fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir()) {
        walk(folder, "", 0, &mut found);
    }
    found
}

/// Returns the paths of the files in a session's own folder that are not state files, relative to the folder.
pub(crate) fn documents(layout: &dyn Layout, spot: &Spot, folder: &Path) -> Vec<String> {
    let rules = layout.files(spot);
    let is_state = |path: &String| below_home(spot, path).is_some_and(|path| rules.is_state(&path));
    files_below(folder).into_iter().filter(|path| !is_state(path)).collect()
}

/// Adds the documents of a folder to a tree, at the places that they will have in a session's workspace.
pub(crate) fn add_documents(tree: &mut Tree, layout: &dyn Layout, spot: &Spot, folder: &Path) {
    let rules = layout.files(spot);
    for path in documents(layout, spot, folder) {
        let Some(below) = below_home(spot, &path) else { continue };
        let place = folder.join(&path);
        let role = rules.role(&below, false);
        if role.is_read(Depth::Whole) {
            let most = rules.most_bytes(&below);
            tree.insert(below, content(&place, most));
        } else if role.is_listed(Depth::Whole) {
            let size = fs::symlink_metadata(&place).map_or(0, |found| found.len());
            tree.insert(below, Entry::Unread { size });
        }
    }
}

/// Returns the path that a file in a session's workspace has in the tree.
pub(crate) fn below_home(spot: &Spot, path: &str) -> Option<String> {
    spot.in_tree(&format!("{}/{path}", spot.workspace))
}

/// Returns places of sessions outside the layout's usual folders, which only the layout's registry names.
pub(crate) fn registered_elsewhere(layout: &dyn Layout, root: &Path) -> Vec<Spot> {
    let found = layout
        .capabilities()
        .registry
        .and_then(|registry| Some((registry, registry_content(registry, root)?)));
    found.map(|(registry, content)| registry.elsewhere(&content)).unwrap_or_default()
}

/// Returns the content of a registry, if it can be read.
pub(crate) fn registry_content(registry: &dyn Registry, root: &Path) -> Option<Vec<u8>> {
    let file = registry.file();
    match content(&root.join(file.home).join(file.file), file.most) {
        Entry::File(content) => Some(content),
        Entry::Folder | Entry::Unread { .. } | Entry::Unusable(_) => None,
    }
}

/// True for the name of a temporary file or backup of leftoff.
fn is_ours(name: &str) -> bool {
    let is_backup = name.rsplit_once('.').is_some_and(|(_, extension)| extension == "bak");
    is_backup || (name.starts_with('.') && name.contains(".leftoff"))
}

/// Returns the content of a file, if it is a regular file and not too large.
pub(crate) fn content(path: &Path, most: u64) -> Entry {
    match read_bounded(path, most) {
        Ok(Some(content)) => Entry::File(content),
        Ok(None) => Entry::Unusable(format!("it is larger than {most} bytes, the maximum")),
        Err(error) => Entry::Unusable(error.to_string()),
    }
}

/// Refuses to write a file that would be too large to be read again.
pub(crate) fn check_length(layout: &dyn Layout, spot: &Spot, path: &str, body: &[u8]) -> Result<()> {
    let (length, longest) = (body.len() as u64, layout.files(spot).most_bytes(path));
    if length > longest {
        return Err(Error::FileTooLong { path: spot.below_project(path), length, longest });
    }
    Ok(())
}

/// Opens a file. Does not wait for the writer of a pipe, and does not follow a link.
fn open(path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or(0);
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

fn read_bounded(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let file = open(path)?;
    let length = file.metadata()?.len();
    if length > most {
        return Ok(None);
    }
    // The buffer has room for one more byte than the content, so that the end is found without enlarging it.
    let mut content = Vec::with_capacity(usize::try_from(length).unwrap_or(0) + 1);
    file.take(most.saturating_add(1)).read_to_end(&mut content)?;
    Ok((content.len() as u64 <= most).then_some(content))
}
