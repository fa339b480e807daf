//! Edits made between two of our steps, and edits of the previous version: found, and merged with our write.
//! The journal decides which is newer, never a time.

use crate::engine::Engine;
use crate::foreign::observe::{FileState, Observation};
use layouts::layout::Merge;
use layouts::reconcile::Draft;
use layouts::tree::{Entry, Tree};
use layouts::verdict::DisplacedEdit;
use store::ViewRow;

impl Observation {
    /// The edits that are in the log once this observation is committed, by path. Until then each waits beside
    /// its file.
    pub(crate) fn came_out(&self) -> Vec<(String, Vec<u8>)> {
        let displaced = self.displaced.iter().map(|(path, edit)| (path.clone(), edit.bytes.clone()));
        let over = self.verdicts.iter().filter(|(_, found)| found.over.is_some());
        let over = over.filter_map(|(path, _)| Some((path.clone(), self.tree.content(path)?.to_vec())));
        displaced.chain(over).collect()
    }

    /// Applies a displaced edit, relative to the content that its writer started from.
    pub(crate) fn apply_displaced(
        &mut self,
        engine: &Engine,
        draft: &mut Draft,
        base: &Tree,
        (path, edit): &(String, DisplacedEdit),
    ) {
        let DisplacedEdit { bytes, before } = edit;
        let (mut was, mut now) = (base.clone(), base.clone());
        was.insert(path, Entry::File(before.clone()));
        now.insert(
            path,
            Entry::File(self.located.layout.merge(path, Merge::Dropped { base: before, theirs: bytes })),
        );
        let theirs = engine.read_tree(&self.located, &now).value;
        if theirs.unreadable.contains(path) {
            return;
        }
        let Some(row) = self.row(path).cloned() else { return };
        let is_known = self.is_same_part(path, &row.body, bytes);
        if !is_known && !self.is_same_part(path, before, bytes) {
            self.apply_edit(engine, draft, &was, &theirs, std::slice::from_ref(path));
        }
        let onto = self.documents.content(path).unwrap_or(bytes).to_vec();
        // Written by this process, including other sessions' parts of a shared file.
        let put = engine.scope.put.borrow().get(&self.home.join(path)).cloned().unwrap_or(row.body);
        let is_theirs =
            |state: FileState| matches!(state, FileState::Edited | FileState::OfOthers | FileState::Behind);
        let is_edited_since =
            self.state(path).is_some_and(is_theirs) && self.tree.content(path) != Some(&put[..]);
        let merged = if is_edited_since {
            self.before_a_later_edit(path, edit, &put, &onto)
        } else {
            self.located.layout.merge(path, Merge::Onto { base: before, theirs: bytes, onto: &onto })
        };
        self.documents.insert(path, Entry::File(merged));
    }

    /// The file was edited again after this edit was replaced by ours: the later edit wins, and changes only
    /// in the earlier one are added.
    fn before_a_later_edit(&self, path: &str, edit: &DisplacedEdit, put: &[u8], later: &[u8]) -> Vec<u8> {
        let DisplacedEdit { bytes, before } = edit;
        let layout = self.located.layout;
        let with_the_earlier = layout.merge(path, Merge::Onto { base: before, theirs: bytes, onto: put });
        let with_both = layout.merge(path, Merge::Onto { base: put, theirs: later, onto: &with_the_earlier });
        layout.merge(path, Merge::Onto { base: later, theirs: &with_both, onto: later })
    }

    /// Merges an edit of the previous version with our write.
    pub(crate) fn put_ours_onto_what_was_edited_before(&mut self) {
        let rows: Vec<ViewRow> = self.edited_before_they_arrived().cloned().collect();
        for row in rows {
            let (path, layout) = (&row.path, self.located.layout);
            let Some(theirs) = self.documents.content(path).filter(|theirs| *theirs != row.body) else {
                continue;
            };
            // Nobody can tell what changed relative to an unreadable version: the edit stands as it is.
            if !layout.is_whole(path, &row.previous) {
                continue;
            }
            let with_ours = layout.merge(path, Merge::Onto { base: &row.previous, theirs, onto: &row.body });
            let merged = layout.merge(path, Merge::Onto { base: theirs, theirs: &with_ours, onto: theirs });
            self.documents.insert(path.clone(), Entry::File(merged));
        }
    }
}
