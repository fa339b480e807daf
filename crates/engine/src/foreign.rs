//! Sessions that other tools keep in the project, laid over in memory. Reads a bounded part of their files; writes nothing.

use crate::definitions;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::view::{self, Material, ShortView, View, Warning};
use layouts::ocr::{self, OcrSession};
use layouts::tree::{Entry, Tree};
use model::actor::Actor;
use model::event::Recorded;
use model::id::SessionId;
use model::session::Session;
use std::fs;
use std::io::Read;
use std::path::Path;

/// The most of one file that is read.
const LONGEST_FILE: u64 = 1024 * 1024;
/// The most files and folders of one session that are looked at.
const MOST_ENTRIES: usize = 5_000;
const DEEPEST: usize = 5;

/// How much of a session's files is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// Its state and which files there are: enough for a line in a list.
    Short,
    /// What reviewers wrote as well.
    Whole,
}

/// A session as its own tool's files tell it.
#[derive(Debug, Clone, PartialEq)]
pub struct Foreign {
    pub details: OcrSession,
    pub warnings: Vec<Warning>,
    pub(crate) session: Session,
    pub(crate) history: Vec<Recorded>,
}

impl Engine {
    /// The foreign session that is meant when none is named: the newest that is not closed; one whose state can be
    /// read before one whose state cannot.
    pub fn current_foreign(&self) -> Option<Foreign> {
        let open: Vec<Foreign> =
            self.all_foreign().into_iter().rev().filter(|found| !found.details.is_closed).collect();
        let chosen = open.iter().find(|found| found.details.state.is_readable).or(open.first())?;
        self.foreign_in(&chosen.details.folder, Depth::Whole)
    }

    /// A foreign session by its id.
    pub fn foreign(&self, id: &SessionId) -> Option<Foreign> {
        let folder = self.foreign_folders().into_iter().find(|folder| ocr::id_of(folder) == *id)?;
        self.foreign_in(&folder, Depth::Whole)
    }

    /// Ids of foreign sessions that begin with this text.
    pub(crate) fn foreign_ids(&self, prefix: &str) -> Vec<SessionId> {
        let ids = self.foreign_folders().into_iter().map(|folder| ocr::id_of(&folder));
        let prefix = prefix.to_lowercase();
        ids.filter(|id| !prefix.is_empty() && id.as_str().to_lowercase().starts_with(&prefix)).collect()
    }

    /// Every foreign session, in the order of their folders' names. A broken one does not hide the others.
    pub(crate) fn all_foreign(&self) -> Vec<Foreign> {
        let folders = self.foreign_folders();
        folders.iter().filter_map(|folder| self.foreign_in(folder, Depth::Short)).collect()
    }

    pub(crate) fn foreign_view(&self, found: &Foreign) -> Result<View> {
        let session = &found.session;
        let run = session.run().ok_or_else(|| Error::BrokenLog {
            session: session.id.to_string(),
            why: "its files tell of no run".to_owned(),
        })?;
        let definition = definitions::load(&self.project, run.workflow.name.as_str()).ok();
        Ok(view::build(Material {
            session,
            run,
            number: 0,
            definition: definition.as_ref(),
            now: self.clock.now(),
            name_session: false,
            items: crate::items::ItemsSeen::default(),
            requirements: Vec::new(),
            warnings: self.warnings.iter().chain(&found.warnings).cloned().collect(),
            already: false,
        }))
    }

    fn foreign_folders(&self) -> Vec<String> {
        let entries = fs::read_dir(self.project.root.join(ocr::SESSIONS)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            // A link may lead anywhere, or nowhere.
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| !name.starts_with('.'))
            .collect();
        names.sort();
        names
    }

    fn foreign_in(&self, folder: &str, depth: Depth) -> Option<Foreign> {
        let path = format!("{}/{folder}", ocr::SESSIONS);
        let tree = read_tree(&self.project.root.join(&path), depth);
        let reading = ocr::read(folder, &self.project.worktree(), &tree, self.clock.now());
        let actor = Actor::Person { name: "ocr".to_owned(), host: self.caller.host.clone() };
        let history: Vec<Recorded> = reading
            .value
            .history
            .iter()
            .zip(1..)
            .map(|(dated, version)| Recorded {
                version,
                at: dated.at,
                actor: actor.clone(),
                event: dated.event.clone(),
            })
            .collect();
        let session = Session::fold(&history)?;
        let warnings = reading
            .warnings
            .into_iter()
            .map(|oddity| Warning {
                kind: "foreign_file".to_owned(),
                message: format!("{folder}/{}: {}", oddity.path, oddity.message),
                hint: None,
                path: Some(format!("{path}/{}", oddity.path)),
            })
            .collect();
        Some(Foreign { details: reading.value, warnings, session, history })
    }
}

impl From<&Foreign> for ShortView {
    fn from(found: &Foreign) -> Self {
        let session = &found.session;
        let run = session.run();
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Self {
            number: 0,
            session_id: session.id.to_string(),
            title: session.title.clone(),
            goal: None,
            target: None,
            layout: session.layout.clone(),
            workflow: run.map(|run| run.workflow.name.to_string()).unwrap_or_default(),
            worktree: session.worktree.clone(),
            lifecycle: session.lifecycle.name().to_owned(),
            parallel: false,
            phase: run.map(|run| run.current().id().to_string()).unwrap_or_default(),
            phases_done: run.map(|run| count(run.done())).unwrap_or_default(),
            total_phases: run.map(|run| count(run.phases.len())).unwrap_or_default(),
            created_at: session.created_at,
            updated_at: session.updated_at,
            version: session.version,
        }
    }
}

fn read_tree(root: &Path, depth: Depth) -> Tree {
    let mut tree = Tree::default();
    let mut left = MOST_ENTRIES;
    walk(root, "", 0, depth, &mut left, &mut tree);
    tree
}

fn walk(root: &Path, relative: &str, level: usize, depth: Depth, left: &mut usize, tree: &mut Tree) {
    let Ok(entries) = fs::read_dir(root.join(relative)) else { return };
    for entry in entries.flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let Some(remaining) = left.checked_sub(1) else { return };
        *left = remaining;
        let path = if relative.is_empty() { name } else { format!("{relative}/{name}") };
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && level < DEEPEST => {
                walk(root, &path, level + 1, depth, left, tree);
                tree.insert(path, Entry::Folder);
            }
            Ok(kind) if kind.is_file() => tree.insert(path.clone(), file(&root.join(&path), &path, depth)),
            Ok(_) => tree.insert(path, Entry::Unusable("it is no regular file".to_owned())),
            Err(error) => tree.insert(path, Entry::Unusable(error.to_string())),
        }
    }
}

fn file(absolute: &Path, relative: &str, depth: Depth) -> Entry {
    let size = match fs::symlink_metadata(absolute) {
        Ok(metadata) => metadata.len(),
        Err(error) => return Entry::Unusable(error.to_string()),
    };
    let is_wanted = relative == ocr::STATE
        || (depth == Depth::Whole && (relative.contains("reviews/") || relative.ends_with("topology.md")));
    if !is_wanted {
        return Entry::Unread { size };
    }
    if size > LONGEST_FILE {
        return Entry::Unusable(format!("it has {size} bytes, and {LONGEST_FILE} is the most that is read"));
    }
    let mut content = Vec::new();
    match fs::File::open(absolute).and_then(|file| file.take(LONGEST_FILE).read_to_end(&mut content)) {
        Ok(_) => Entry::File(content),
        Err(error) => Entry::Unusable(error.to_string()),
    }
}
