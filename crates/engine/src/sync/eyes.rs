//! Reading a session's files, of another tool's own: all that it takes, and nothing that is tied to one thread.

use super::find::{Foreign, Located};
use super::shorts::{Shares, Short};
use super::signs::Signs;
use super::tree;
use crate::view::{ShortView, Warning};
use crate::words::one_line;
use jiff::Timestamp;
use layouts::capabilities::Summary;
use layouts::layout::{Depth, Folder, ForeignSession, Layout, ReadAs, Spot};
use layouts::problem::{Problem, Then, What};
use layouts::reading::Reading;
use layouts::tree::{Entry, Tree};
use model::actor::Actor;
use model::session::Session;
use std::path::Path;
use std::sync::Arc;

/// What a file holds may be part of what is said about it.
pub(crate) const LONGEST_WARNING: usize = 1_000;

/// What it takes to read a session's files; nothing of it is tied to one thread.
pub(super) struct Eyes<'a> {
    pub(super) root: &'a Path,
    pub(super) worktree: String,
    pub(super) now: Timestamp,
    pub(super) host: &'a str,
    pub(super) signs: Arc<Signs>,
    pub(super) shares: Option<Arc<Shares>>,
}

impl Eyes<'_> {
    /// A session on one line of a list.
    pub(super) fn line(&self, located: &Located, number: u64) -> Option<(ShortView, Vec<Warning>)> {
        let Located { layout, spot, id } = located;
        let files = layout.facts().summary_files;
        let summaries = layout.capabilities().quick_summary;
        if !files.is_empty() {
            let mut tree = tree::read_files(*layout, spot, self.root, files);
            let home = self.root.join(&spot.home);
            tree::add(&home, &mut tree, |tree| layout.more_files(spot, tree, Depth::Summary));
            let folder = Folder {
                spot,
                id,
                worktree: &self.worktree,
                tree: &tree,
                now: self.now,
                read_as: ReadAs::Found,
            };
            if let Some(reading) = summaries.and_then(|summaries| summaries.summary(&folder)) {
                let said = warnings(spot, &reading);
                return Some((self.short(located, number, reading.value), said));
            }
        }
        let found = self.foreign(located, Depth::Short).filter(Foreign::holds_any)?;
        Some((ShortView { number, ..(&found.session).into() }, found.warnings))
    }

    fn short(&self, located: &Located, number: u64, line: Summary) -> ShortView {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        ShortView {
            number,
            session_id: located.id.to_string(),
            title: line.title,
            goal: None,
            target: None,
            layout: located.layout.facts().name.to_owned(),
            workflow: line.workflow.to_owned(),
            worktree: self.worktree.clone(),
            lifecycle: line.lifecycle.to_owned(),
            parallel: false,
            phase: line.phase.to_owned(),
            phases_done: count(line.phases_done),
            total_phases: count(line.phases),
            created_at: line.created_at,
            updated_at: line.updated_at,
            version: 0,
            current: false,
            own_words: None,
            warnings: Vec::new(),
        }
    }

    /// A session in short, if there is one.
    pub(super) fn in_short(&self, located: &Located) -> Option<Short> {
        self.foreign(located, Depth::Short).filter(Foreign::holds_any).map(Short::of)
    }

    pub(super) fn foreign(&self, located: &Located, depth: Depth) -> Option<Foreign> {
        let Located { layout, spot, id } = located.clone();
        let mut tree = tree::read_with(layout, &spot, self.root, depth, self.shares.as_deref());
        self.signs.add_to(&mut tree, layout);
        let mut documents = tree.clone();
        let mut reading = self.read(located, &tree);
        let mut damaged = reading.value.unreadable.clone();
        let parts = reading.value.unreadable_parts.clone();
        if !damaged.is_empty() || !parts.is_empty() {
            self.use_backups(located, &mut documents, &mut reading);
            // Also what a backup tells is not what the file says.
            reading.value.unreadable.clone_from(&damaged);
            damaged.extend(parts.into_iter().filter(|part| !reading.value.unreadable_parts.contains(part)));
        }
        let warnings = warnings(&spot, &reading);
        let told = reading.value;
        let (recorded, session, _) = told.fold(&self.actor(layout))?;
        Some(Foreign { layout, spot, id, tree, documents, damaged, told, warnings, recorded, session })
    }

    pub(super) fn read(&self, located: &Located, tree: &Tree) -> Reading<ForeignSession> {
        self.read_as(located, tree, ReadAs::Found)
    }

    pub(super) fn read_as(&self, located: &Located, tree: &Tree, read_as: ReadAs) -> Reading<ForeignSession> {
        let Located { layout, spot, id } = located;
        let (worktree, now) = (self.worktree.as_str(), self.now);
        let mut reading = layout.read(&Folder { spot, id, worktree, tree, now, read_as });
        let cut_off = What::CutOff { most: tree::MOST_ENTRIES };
        reading.warnings.extend(tree.cut().map(|folder| Problem::of_file(folder, cut_off)));
        reading
    }

    /// Whoever wrote a session's files.
    pub(super) fn actor(&self, layout: &dyn Layout) -> Actor {
        Actor::Tool { name: layout.facts().name.to_owned(), host: self.host.to_owned() }
    }

    /// The next rung after a file that cannot be read: the version before it.
    fn use_backups(&self, located: &Located, tree: &mut Tree, reading: &mut Reading<ForeignSession>) {
        let home = self.root.join(&located.spot.home);
        let parts = reading.value.unreadable_parts.clone();
        for path in reading.value.unreadable.clone().into_iter().chain(parts) {
            let backup = format!("{path}.bak");
            let most = located.layout.files(&located.spot).most_bytes(&path);
            let Entry::File(content) = tree::content(&home.join(&backup), most) else { continue };
            let mut other = tree.clone();
            other.insert(path.clone(), Entry::File(content));
            let needed = |tree: &Tree| located.layout.more_files(&located.spot, tree, Depth::Whole);
            tree::add(&home, &mut other, needed);
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
            // The file itself is as damaged as it was.
            if reading.value.unreadable.contains(&path) {
                read.value.unreadable.push(path.clone());
            }
            *tree = other;
            *reading = read;
        }
    }
}

impl From<&Session> for ShortView {
    fn from(session: &Session) -> Self {
        let run = session.run();
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Self {
            number: 0,
            session_id: session.id.to_string(),
            title: session.title.clone(),
            goal: session.goal.clone(),
            target: session.target.clone(),
            layout: session.layout.clone(),
            workflow: run.map(|run| run.workflow.name.to_string()).unwrap_or_default(),
            worktree: session.worktree.clone(),
            lifecycle: session.lifecycle.name().to_owned(),
            parallel: session.parallel,
            phase: run.map(|run| run.current().id().to_string()).unwrap_or_default(),
            phases_done: run.map(|run| count(run.settled())).unwrap_or_default(),
            total_phases: run.map(|run| count(run.phases.len())).unwrap_or_default(),
            created_at: session.created_at,
            updated_at: session.updated_at,
            version: session.version,
            current: false,
            own_words: None,
            warnings: Vec::new(),
        }
    }
}

/// Why a file cannot be read, without what was done about it; of any other problem all that there is to say.
pub(super) fn reason(problem: &Problem) -> String {
    let why = problem.why_unreadable().map_or_else(|| problem.to_string(), ToString::to_string);
    one_line(&why, LONGEST_WARNING)
}

/// The problems of a session's files, each with the file that it is about.
pub(super) fn warnings<T>(spot: &Spot, reading: &Reading<T>) -> Vec<Warning> {
    let problems = reading.warnings.iter();
    problems
        .map(|problem| {
            let path = spot.below_project(&problem.path).trim_end_matches('/').to_owned();
            Warning {
                kind: "foreign_file".to_owned(),
                message: one_line(&format!("{path}: {problem}"), LONGEST_WARNING),
                hint: None,
                path: Some(path),
                problem: Some(Box::new(problem.clone())),
            }
        })
        .collect()
}
