//! Reads a foreign session's files with data that any thread may use.

use crate::foreign::discover::markers::Markers;
use crate::foreign::discover::summary::{Parts, SessionSummary};
use crate::foreign::observe::disk::Home;
use crate::view::{ShortView, Warning};
use crate::walk;
use layouts::capabilities::Summary;
use layouts::layout::Depth;
use layouts::reader::{self, Foreign, Located};
use std::path::Path;
use std::sync::Arc;

/// The maximum length of a warning, which may quote a file's content.
pub(crate) const LONGEST_WARNING: usize = 1_000;

/// The data that is needed to read a session's files. Any thread may use it.
pub(crate) struct Reader<'a> {
    pub(crate) root: &'a Path,
    pub(crate) trees: reader::Reader,
    pub(crate) markers: Arc<Markers>,
    pub(crate) parts: Option<Arc<Parts>>,
}

impl Reader<'_> {
    /// Returns a session's line in a list, and its warnings.
    pub(crate) fn line(&self, located: &Located, number: u64) -> Option<(ShortView, Vec<Warning>)> {
        let Located { layout, spot, .. } = located;
        let files = layout.facts().summary_files;
        let summaries = layout.capabilities().quick_summary;
        if !files.is_empty() {
            let mut tree = walk::read_files(*layout, spot, self.root, files);
            let home = self.root.join(&spot.home);
            walk::add(&home, &mut tree, |tree| layout.more_files(spot, tree, Depth::Summary));
            let folder = self.trees.folder(located, &tree);
            if let Some(reading) = summaries.and_then(|summaries| summaries.summary(&folder)) {
                let said = Warning::of_files(located, &reading.warnings);
                return Some((self.summary(located, number, reading.value), said));
            }
        }
        let found = self.summarised(located)?;
        Some((ShortView { number, ..found.line }, found.warnings))
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
            worktree: self.trees.worktree.clone(),
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

    /// Returns a session's summary; `None` if there is no session.
    pub(crate) fn summarised(&self, located: &Located) -> Option<SessionSummary> {
        self.foreign(located, Depth::Short).filter(|found| found.told.holds).map(SessionSummary::of)
    }

    pub(crate) fn foreign(&self, located: &Located, depth: Depth) -> Option<Foreign> {
        let Located { layout, spot, .. } = located;
        let mut tree = walk::read_with(*layout, spot, self.root, depth, self.parts.as_deref());
        self.markers.add_to(&mut tree, *layout);
        self.trees.foreign(located, tree, &Home::below(self.root, located))
    }
}
