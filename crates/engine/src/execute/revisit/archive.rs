//! Archives files for a revision, as one operation. The archived names were never used before.

use super::own_file::OwnFile;
use crate::artifacts::{Difference, LARGEST_KEPT, look};
use crate::disk::{Operation, Step, next_version, version_name};
use crate::files::PathEntry;
use crate::workspace::archive_name;
use model::revision::Archived;
use model::session::Session;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The steps that archive files for a revision. They are executed together as one operation.
pub(super) struct Archive {
    root: PathBuf,
    pub(super) operation: Operation,
    pub(super) archived: Vec<Archived>,
    pub(super) warnings: Vec<String>,
    /// The folder whose files are archived in another folder, and that other folder. `None` if every file is archived
    /// in its own folder.
    elsewhere: Option<(String, String)>,
    /// Returns true for the path of a state file. The session's own tool still reads state files.
    is_state: Box<dyn Fn(&str) -> bool>,
    /// Archived names that earlier revisions gave. They are not given again, even if somebody removed the archived
    /// file.
    given: Vec<String>,
}

impl Archive {
    pub(super) fn new(root: PathBuf, whole: &Session) -> Self {
        let made = whole.revisions.iter().flat_map(|made| &made.revision.archived);
        let given = made.map(|archived| archived.to.clone()).collect();
        Self {
            operation: Operation::new(&root),
            root,
            archived: Vec::new(),
            warnings: Vec::new(),
            elsewhere: elsewhere(whole),
            is_state: state_of(whole),
            given,
        }
    }

    /// Keeps an old version of each of the phase's own files, in the same folder: the recorded version, or the current
    /// one if none is recorded. The files themselves stay.
    pub(super) fn keep_own(&mut self, own: &[OwnFile]) {
        for file in own {
            let path = &file.change.path;
            let (to, version) = self.name_for(path);
            if version > 1 && !file.is_lost && self.holds(&self.versioned(path, version - 1), &file.hash) {
                continue;
            }
            let step = match (file.change.difference, &file.kept) {
                (None | Some(Difference::New), _) if is_link(&self.root, path) => {
                    self.warnings.push(format!("{path} is a link: no copy of it is kept"));
                    continue;
                }
                (None | Some(Difference::New), _) => Step::Copy { from: path.clone(), to: to.clone() },
                (Some(_), Some(bytes)) => Step::Create {
                    path: to.clone(),
                    bytes: bytes.clone(),
                    like: Some(path.clone()).filter(|path| !is_link(&self.root, path)),
                },
                (Some(_), None) if file.is_lost => {
                    self.warnings.push(format!(
                        "the text of {path} when the phase was completed is unknown, so no old version is kept"
                    ));
                    continue;
                }
                (Some(_), None) => {
                    self.warnings.push(format!(
                        "the old version of {path} is not kept: it was larger than {} KiB",
                        LARGEST_KEPT / 1024
                    ));
                    continue;
                }
            };
            self.add(step, path, to, true);
        }
    }

    /// Renames files of later phases to their archived names. State files are copied instead.
    pub(super) fn put_away(&mut self, paths: &BTreeSet<String>) {
        for path in paths {
            match std::fs::symlink_metadata(self.root.join(path)) {
                Ok(found) if found.is_file() && (self.is_state)(path) => {
                    let (to, _) = self.name_for(path);
                    self.add(Step::Copy { from: path.clone(), to: to.clone() }, path, to, true);
                }
                Ok(found) if found.is_file() => {
                    let (to, _) = self.name_for(path);
                    self.add(Step::Rename { from: path.clone(), to: to.clone() }, path, to, false);
                }
                Ok(_) => self.warnings.push(format!("{path} is not a regular file, so it stays where it is")),
                Err(_) => {
                    self.warnings.push(format!("{path} is missing, so it is not archived"));
                }
            }
        }
    }

    fn add(&mut self, step: Step, from: &str, to: String, copied: bool) {
        self.operation.steps.push(step);
        self.archived.push(Archived { from: from.to_owned(), to, copied });
    }

    /// Returns the next archived name of a file, and its number: one more than the highest number that exists or was
    /// ever used.
    fn name_for(&self, path: &str) -> (String, u32) {
        let place = self.place_of(path);
        let (folder, name) = place.rsplit_once('/').unwrap_or(("", &place));
        let there = std::fs::read_dir(self.root.join(folder));
        let there: Vec<OsString> =
            there.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.file_name())).collect();
        let planned = self.archived.iter().map(|archived| &archived.to);
        let given = self.given.iter().chain(planned).filter_map(|given| {
            let (other, name) = given.rsplit_once('/').unwrap_or(("", given));
            (other == folder).then_some(OsStr::new(name))
        });
        let version = next_version(name, there.iter().map(OsString::as_os_str).chain(given));
        (self.versioned(path, version), version)
    }

    fn versioned(&self, path: &str, version: u32) -> String {
        beside(&self.place_of(path), version)
    }

    /// Returns the path of a file's archived versions, without the number.
    fn place_of(&self, path: &str) -> String {
        let moved = self.elsewhere.as_ref().and_then(|(below, to)| {
            let rest = path.strip_prefix(below.as_str())?.strip_prefix('/')?;
            Some(format!("{to}/{rest}"))
        });
        moved.unwrap_or_else(|| path.to_owned())
    }

    fn holds(&self, path: &str, hash: &str) -> bool {
        matches!(look(&self.root, path), PathEntry::File(looked) if looked.hash == hash)
    }
}

fn elsewhere(session: &Session) -> Option<(String, String)> {
    let layout = layouts::layout::by_name(&session.layout)?;
    let within = layout.facts().no_archives_in?;
    let spot = layout.identify(session.path.as_deref()?, true)?;
    let place = |folder: String| if within.is_empty() { folder } else { format!("{folder}/{within}") };
    Some((place(spot.workspace), place(archive_name(&session.id))))
}

/// Returns a function that is true for the path of one of the session's state files.
fn state_of(session: &Session) -> Box<dyn Fn(&str) -> bool> {
    let layout = layouts::layout::by_name(&session.layout);
    let spot = layout.zip(session.path.as_deref()).and_then(|(layout, path)| layout.identify(path, true));
    let Some((layout, spot)) = layout.zip(spot) else { return Box::new(|_| false) };
    let rules = layout.files(&spot);
    Box::new(move |path| spot.in_tree(path).is_some_and(|path| rules.is_state(&path)))
}

fn beside(path: &str, version: u32) -> String {
    match path.rsplit_once('/') {
        Some((folder, name)) => format!("{folder}/{}", version_name(name, version)),
        None => version_name(path, version),
    }
}

fn is_link(root: &Path, path: &str) -> bool {
    std::fs::symlink_metadata(root.join(path)).is_ok_and(|found| found.is_symlink())
}
