//! Reads a foreign session's files, without anything tied to one thread.

use crate::foreign::discover::markers::Markers;
use crate::foreign::discover::summary::{Parts, SessionSummary};
use crate::foreign::discover::{Foreign, Located};
use crate::view::{ShortView, Warning};
use crate::walk;
use crate::words::one_line;
use jiff::Timestamp;
use layouts::capabilities::Summary;
use layouts::layout::{Depth, Folder, ForeignSession, Layout, ReadAs, Spot};
use layouts::problem::{Problem, Then, What};
use layouts::reading::Reading;
use layouts::tree::{Entry, Tree};
use model::actor::Actor;
use std::path::Path;
use std::sync::Arc;

/// A warning may include file content.
pub(crate) const LONGEST_WARNING: usize = 1_000;

/// The data for reading a session's files, usable from any thread.
pub(crate) struct Reader<'a> {
    pub(crate) root: &'a Path,
    pub(crate) worktree: String,
    pub(crate) now: Timestamp,
    pub(crate) host: &'a str,
    pub(crate) markers: Arc<Markers>,
    pub(crate) parts: Option<Arc<Parts>>,
}

impl Reader<'_> {
    /// A session on one line of a list.
    pub(crate) fn line(&self, located: &Located, number: u64) -> Option<(ShortView, Vec<Warning>)> {
        let Located { layout, spot, .. } = located;
        let files = layout.facts().summary_files;
        let summaries = layout.capabilities().quick_summary;
        if !files.is_empty() {
            let mut tree = walk::read_files(*layout, spot, self.root, files);
            let home = self.root.join(&spot.home);
            walk::add(&home, &mut tree, |tree| layout.more_files(spot, tree, Depth::Summary));
            let folder = self.folder(located, &tree, ReadAs::Found);
            if let Some(reading) = summaries.and_then(|summaries| summaries.summary(&folder)) {
                let said = warnings(spot, &reading);
                return Some((self.summary(located, number, reading.value), said));
            }
        }
        let found = self.foreign(located, Depth::Short).filter(Foreign::holds_any)?;
        Some((ShortView { number, ..(&found.session).into() }, found.warnings))
    }

    fn summary(&self, located: &Located, number: u64, line: Summary) -> ShortView {
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
            status: None,
            parallel: false,
            phase: line.phase.to_owned(),
            phases_done: count(line.phases_done),
            total_phases: Some(count(line.phases)),
            created_at: line.created_at,
            updated_at: line.updated_at,
            version: 0,
            outcomes: None,
            current: false,
            machine: None,
            own_words: None,
            warnings: Vec::new(),
        }
    }

    /// A session's summary, if there is one.
    pub(crate) fn summarised(&self, located: &Located) -> Option<SessionSummary> {
        self.foreign(located, Depth::Short).filter(Foreign::holds_any).map(SessionSummary::of)
    }

    pub(crate) fn foreign(&self, located: &Located, depth: Depth) -> Option<Foreign> {
        let Located { layout, spot, .. } = located;
        let layout = *layout;
        let mut tree = walk::read_with(layout, spot, self.root, depth, self.parts.as_deref());
        self.markers.add_to(&mut tree, layout);
        let mut documents = tree.clone();
        let mut reading = self.read(located, &tree);
        let mut damaged = reading.value.unreadable.clone();
        let parts = reading.value.unreadable_parts.clone();
        if !damaged.is_empty() || !parts.is_empty() {
            self.use_backups(located, &mut documents, &mut reading);
            // Content from a backup is not what the file says.
            reading.value.unreadable.clone_from(&damaged);
            damaged.extend(parts.into_iter().filter(|part| !reading.value.unreadable_parts.contains(part)));
        }
        let warnings = warnings(spot, &reading);
        let told = reading.value;
        let (recorded, session, _) = told.fold(&self.actor(layout))?;
        let located = located.clone();
        Some(Foreign { located, tree, documents, damaged, told, warnings, recorded, session })
    }

    pub(crate) fn read(&self, located: &Located, tree: &Tree) -> Reading<ForeignSession> {
        self.read_as(located, tree, ReadAs::Found)
    }

    pub(crate) fn read_as(&self, located: &Located, tree: &Tree, read_as: ReadAs) -> Reading<ForeignSession> {
        let mut reading = located.layout.read(&self.folder(located, tree, read_as));
        let cut_off = What::CutOff { most: walk::MOST_ENTRIES };
        reading.warnings.extend(tree.cut().map(|folder| Problem::of_file(folder, cut_off)));
        reading
    }

    fn folder<'a>(&'a self, located: &'a Located, tree: &'a Tree, read_as: ReadAs) -> Folder<'a> {
        let Located { spot, id, .. } = located;
        Folder { spot, id, worktree: &self.worktree, tree, now: self.now, read_as }
    }

    /// The actor who wrote a session's files.
    pub(crate) fn actor(&self, layout: &dyn Layout) -> Actor {
        Actor::Tool { name: layout.facts().name.to_owned(), host: self.host.to_owned() }
    }

    /// The next source after an unreadable file: its backup.
    fn use_backups(&self, located: &Located, tree: &mut Tree, reading: &mut Reading<ForeignSession>) {
        let home = self.root.join(&located.spot.home);
        let parts = reading.value.unreadable_parts.clone();
        for path in reading.value.unreadable.clone().into_iter().chain(parts) {
            let backup = format!("{path}.bak");
            let most = located.layout.files(&located.spot).most_bytes(&path);
            let Entry::File(content) = walk::content(&home.join(&backup), most) else { continue };
            let mut other = tree.clone();
            other.insert(path.clone(), Entry::File(content));
            let needed = |tree: &Tree| located.layout.more_files(&located.spot, tree, Depth::Whole);
            walk::add(&home, &mut other, needed);
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
            // The file itself is still damaged.
            if reading.value.unreadable.contains(&path) {
                read.value.unreadable.push(path.clone());
            }
            *tree = other;
            *reading = read;
        }
    }
}

/// Why a file is unreadable, without the consequence; for other problems, the whole message.
pub(crate) fn reason(problem: &Problem) -> String {
    let why = problem.why_unreadable().map_or_else(|| problem.to_string(), ToString::to_string);
    one_line(&why, LONGEST_WARNING)
}

/// The problems of a session's files, each with its file.
pub(crate) fn warnings<T>(spot: &Spot, reading: &Reading<T>) -> Vec<Warning> {
    let problems = reading.warnings.iter();
    problems
        .map(|problem| {
            let path = spot.below_project(&problem.path).trim_end_matches('/').to_owned();
            let message = one_line(&format!("{path}: {problem}"), LONGEST_WARNING);
            Warning::new("foreign_file", message).at(path).of(problem.clone())
        })
        .collect()
}
