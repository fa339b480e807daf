//! Edits that come between two of our steps, and edits of the version before: found, and brought in with what we wanted
//! there. Which of two stands follows from what was put where, never from a time.

use super::look::{FileState, Look};
use crate::engine::Engine;
use layouts::layout::Merge;
use layouts::reconcile::Draft;
use layouts::tree::{Entry, Tree};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// An edit that is in no file any more.
#[derive(Debug, Clone)]
pub(crate) struct Slip {
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
    /// What its writer had before them.
    pub(super) before: Vec<u8>,
}

/// What came out of a file and waits beside it until it is in the log.
pub(super) struct CameOut {
    pub(super) target: PathBuf,
    pub(super) path: String,
    pub(super) bytes: Vec<u8>,
}

impl Look {
    /// What is in the log once this look is kept.
    pub(super) fn came_out(&self) -> Vec<CameOut> {
        let of = |path: &String, bytes: &[u8]| CameOut {
            target: self.home.join(path),
            path: path.clone(),
            bytes: bytes.to_vec(),
        };
        let slipped = self.slipped.iter().map(|slip| of(&slip.path, &slip.bytes));
        let over = self.over.keys().filter_map(|path| Some(of(path, self.tree.content(path)?)));
        slipped.chain(over).collect()
    }

    pub(super) fn put_by_this_process(&self, engine: &Engine) -> BTreeMap<String, Vec<u8>> {
        let all = engine.seen.put.borrow();
        let of = |path: &String| Some((path.clone(), all.get(&self.home.join(path))?.clone()));
        self.rows.keys().filter_map(of).collect()
    }

    /// An edit that is in no file any more, against what its writer had before them.
    pub(super) fn bring_in_slipped(&mut self, engine: &Engine, draft: &mut Draft, base: &Tree, slip: &Slip) {
        let Slip { path, bytes, before } = slip;
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
        let is_known = self.is_same_share(path, &self.rows[path].body, bytes);
        if !is_known && !self.is_same_share(path, before, bytes) {
            self.bring_in(engine, draft, &was, &theirs, std::slice::from_ref(path));
        }
        let onto = self.documents.content(path).unwrap_or(bytes).to_vec();
        let put = self.put.get(path).unwrap_or(&self.rows[path].body);
        let is_theirs =
            |state: &FileState| matches!(state, FileState::Edited | FileState::OfOthers | FileState::Behind);
        let is_edited_since =
            self.states.get(path).is_some_and(is_theirs) && self.tree.content(path) != Some(put);
        let merged = if is_edited_since {
            self.before_a_later_edit(slip, put, &onto)
        } else {
            self.located.layout.merge(path, Merge::Onto { base: before, theirs: bytes, onto: &onto })
        };
        self.documents.insert(path, Entry::File(merged));
    }

    /// Somebody changed the file again after this came out of it and ours was put there: the later edit stands, and what
    /// only the earlier one changed is added to it.
    fn before_a_later_edit(&self, slip: &Slip, put: &[u8], later: &[u8]) -> Vec<u8> {
        let Slip { path, bytes, before } = slip;
        let layout = self.located.layout;
        let with_the_earlier = layout.merge(path, Merge::Onto { base: before, theirs: bytes, onto: put });
        let with_both = layout.merge(path, Merge::Onto { base: put, theirs: later, onto: &with_the_earlier });
        layout.merge(path, Merge::Onto { base: later, theirs: &with_both, onto: later })
    }

    /// An edit of the version before, and what we want there: both.
    pub(super) fn put_ours_onto_what_was_edited_before(&mut self) {
        for path in &self.not_there_yet {
            let (row, layout) = (&self.rows[path], self.located.layout);
            let Some(theirs) = self.documents.content(path).filter(|theirs| *theirs != row.body) else {
                continue;
            };
            // From what cannot be read nobody can tell what they changed: theirs stands as it is.
            if !layout.is_whole(path, &row.previous) {
                continue;
            }
            let with_ours = layout.merge(path, Merge::Onto { base: &row.previous, theirs, onto: &row.body });
            let merged = layout.merge(path, Merge::Onto { base: theirs, theirs: &with_ours, onto: theirs });
            self.documents.insert(path.clone(), Entry::File(merged));
        }
    }
}
