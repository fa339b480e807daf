//! Reads a session from a tree of its files. Does no I/O itself: content that is not in the tree is requested
//! from a `Disk`.

use crate::capabilities::{self, shared_part};
use crate::file_rules::MOST_ENTRIES;
use crate::layout::{Folder, ForeignSession, Layout, Merge, ReadAs, Spot};
use crate::problem::{Problem, Then, What};
use crate::reading::Reading;
use crate::tree::{Entry, Tree};
use crate::verdict::FileId;
use jiff::Timestamp;
use model::actor::Actor;
use model::event::Recorded;
use model::id::SessionId;
use model::session::Session;

/// The location of a session's files, and their layout.
#[derive(Clone)]
pub struct Located {
    pub layout: &'static dyn Layout,
    pub spot: Spot,
    pub id: SessionId,
}

/// Content that is needed only in some cases, and is read on request. Paths are relative to the session's
/// home.
pub trait Disk {
    /// The backup beside a file.
    fn backup(&self, path: &str) -> Option<Vec<u8>>;

    /// The identity of the file that is the backup. `None` if the operating system cannot tell files apart.
    fn backup_file(&self, path: &str) -> Option<FileId>;

    /// The content of the temporary file beside a file that leftoff replaces: the new version, or, after the exchange, the
    /// replaced one.
    fn waiting(&self, path: &str) -> Option<Vec<u8>>;

    /// The content of a file that is usually not read, for example because it is too large.
    fn unusable(&self, path: &str) -> Vec<u8>;

    /// Adds to the tree the files that are named in files of the tree.
    fn add_named(&self, tree: &mut Tree);
}

/// The circumstances under which files are read.
#[derive(Debug, Clone)]
pub struct Reader {
    pub worktree: String,
    pub host: String,
    pub now: Timestamp,
}

/// A session of another tool that is not in the store: leftoff knows it only from the tool's files.
pub struct Foreign {
    pub located: Located,
    /// The files as found on disk.
    pub tree: Tree,
    /// The files as found, with the backup of each unreadable file in its place.
    pub documents: Tree,
    /// The paths of unreadable state files.
    pub damaged: Vec<String>,
    pub told: ForeignSession,
    pub problems: Vec<Problem>,
    pub recorded: Vec<Recorded>,
    pub session: Session,
}

impl Located {
    /// True for a marker file: an empty file whose existence has a meaning.
    pub fn is_marker(&self, path: &str) -> bool {
        self.layout.facts().is_marker(path)
    }

    /// True for a file that several sessions share.
    pub fn is_shared(&self, path: &str) -> bool {
        capabilities::is_shared(self.layout, path)
    }

    /// The session's part of a shared file; `None` for a file that only one session uses.
    pub fn part(&self, path: &str, content: &[u8]) -> Option<Vec<u8>> {
        shared_part(self.layout, &self.spot, path, content)
    }

    pub fn is_same_part(&self, path: &str, one: &[u8], other: &[u8]) -> bool {
        self.part(path, one).is_some_and(|one| Some(one) == self.part(path, other))
    }

    pub fn is_whole(&self, path: &str, content: &[u8]) -> bool {
        self.layout.is_whole(path, content)
    }

    /// `onto`, with the changes from `base` to `theirs` added.
    pub fn onto(&self, path: &str, base: &[u8], theirs: &[u8], onto: &[u8]) -> Vec<u8> {
        self.layout.merge(path, Merge::Onto { base, theirs, onto })
    }

    /// The session's files as they were found, ready to be read.
    pub fn folder<'a>(&'a self, worktree: &'a str, tree: &'a Tree, now: Timestamp) -> Folder<'a> {
        Folder { spot: &self.spot, id: &self.id, worktree, tree, now, read_as: ReadAs::Found }
    }

    /// The path of a file relative to the project's folder.
    pub fn below_project(&self, path: &str) -> String {
        self.spot.below_project(path)
    }
}

impl Reader {
    /// The actor who wrote a session's files.
    pub fn actor(&self, layout: &dyn Layout) -> Actor {
        Actor::Tool { name: layout.facts().name.to_owned(), host: self.host.clone() }
    }

    pub fn folder<'a>(&'a self, located: &'a Located, tree: &'a Tree) -> Folder<'a> {
        located.folder(&self.worktree, tree, self.now)
    }

    pub fn read(&self, located: &Located, tree: &Tree) -> Reading<ForeignSession> {
        let mut reading = located.layout.read(&self.folder(located, tree));
        let cut_off = What::CutOff { most: MOST_ENTRIES };
        reading.warnings.extend(tree.cut().map(|folder| Problem::of_file(folder, cut_off)));
        reading
    }

    /// Reads state files as leftoff wrote them. Files that were created later are left out.
    pub fn read_as_written(&self, located: &Located, tree: &Tree) -> ForeignSession {
        let folder = Folder { read_as: ReadAs::Written, ..self.folder(located, tree) };
        located.layout.read(&folder).value
    }

    /// A session that the log does not contain. `None` if its files describe no session.
    pub fn foreign(&self, located: &Located, tree: Tree, disk: &dyn Disk) -> Option<Foreign> {
        let mut documents = tree.clone();
        let mut reading = self.read(located, &tree);
        let mut damaged = reading.value.unreadable.clone();
        let parts = reading.value.unreadable_parts.clone();
        if !damaged.is_empty() || !parts.is_empty() {
            self.use_backups(located, disk, &mut documents, &mut reading);
            // A file whose content is the backup's still counts as unreadable.
            reading.value.unreadable.clone_from(&damaged);
            damaged.extend(parts.into_iter().filter(|part| !reading.value.unreadable_parts.contains(part)));
        }
        let Reading { value: told, warnings: problems } = reading;
        let (recorded, session, _) = told.fold(&self.actor(located.layout))?;
        let located = located.clone();
        Some(Foreign { located, tree, documents, damaged, told, problems, recorded, session })
    }

    /// Replaces the content of unreadable files by that of their backups.
    fn use_backups(
        &self,
        located: &Located,
        disk: &dyn Disk,
        tree: &mut Tree,
        reading: &mut Reading<ForeignSession>,
    ) {
        let rules = located.layout.files(&located.spot);
        let parts = reading.value.unreadable_parts.clone();
        for path in reading.value.unreadable.clone().into_iter().chain(parts) {
            let backup = format!("{path}.bak");
            let is_usable =
                |content: &Vec<u8>| !content.is_empty() && content.len() as u64 <= rules.most_bytes(&path);
            let Some(content) = disk.backup(&path).filter(is_usable) else { continue };
            let mut other = tree.clone();
            other.insert(path.clone(), Entry::File(content));
            disk.add_named(&mut other);
            let mut read = self.read(located, &other);
            if read.value.cannot_read(&path) {
                continue;
            }
            read.warnings.splice(0..0, reading.warnings.drain(..).filter(|problem| problem.path == path));
            for problem in read.warnings.iter_mut().filter(|problem| problem.path == path) {
                if let Some(why) = problem.why_unreadable().cloned() {
                    let then = Then::ReadInstead { backup: backup.clone() };
                    problem.what = What::Unreadable { why, then };
                }
            }
            let note = located.layout.facts().recovered_note;
            let recovered = note.map(|words| What::Recovered { words });
            read.warnings.extend(recovered.map(|what| Problem::of_file(&backup, what)));
            // The backup of this file is unreadable, too.
            if reading.value.unreadable.contains(&path) {
                read.value.unreadable.push(path.clone());
            }
            *tree = other;
            *reading = read;
        }
    }
}
