//! Edits that come between two of our steps, and edits of the version before: found, and brought in with what we wanted
//! there. Which of two stands follows from what was put where, never from a time.

use super::late::{Before, Beside};
use super::look::{FileState, Look, hash};
use super::signs::is_sign;
use crate::engine::Engine;
use layouts::layout::Merge;
use layouts::reconcile::Draft;
use layouts::tree::{Entry, Tree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use store::ViewRow;

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

    /// What waits beside each file. An edit that came out of a file in which nobody has changed anything since counts as
    /// if it were there: what we put over it did not know of it.
    pub(super) fn find_beside(&mut self, before: &Before) -> BTreeMap<String, Beside> {
        let (mut all, rules) = (BTreeMap::new(), self.rules());
        let is_file = |(path, _): &(&String, &ViewRow)| !is_sign(self.located.layout, path);
        for (path, row) in self.rows.iter().filter(is_file) {
            let there = self.tree.content(path);
            let mut beside = before.beside(&self.home.join(path), there, rules.most_bytes(path));
            // It is in the log, and about to become the version before.
            if let Beside::CameOut { bytes, .. } = &beside
                && row.earlier.contains(&hash(bytes))
            {
                beside = Beside::VersionBefore;
            }
            if let (Beside::CameOut { by, bytes, is_edited_since: false }, Some(there)) = (&beside, there)
                && by == self.located.id.as_str()
            {
                self.over.insert(path.clone(), there.to_vec());
                self.tree.insert(path.clone(), Entry::File(bytes.clone()));
                self.documents.insert(path.clone(), Entry::File(bytes.clone()));
            }
            all.insert(path.clone(), beside);
        }
        all
    }

    pub(super) fn put_by_this_process(&self, engine: &Engine) -> BTreeMap<String, Vec<u8>> {
        let all = engine.seen.put.borrow();
        let of = |path: &String| Some((path.clone(), all.get(&self.home.join(path))?.clone()));
        self.rows.keys().filter_map(of).collect()
    }

    pub(super) fn find_not_there_yet(&mut self, before: &Before, beside: &BTreeMap<String, Beside>) {
        let is_theirs = |path: &String| {
            matches!(self.states.get(path), Some(FileState::Edited | FileState::OfOthers | FileState::Behind))
        };
        let has_arrived = |path: &String, row: &ViewRow| {
            beside.get(path).is_none_or(|beside| before.has_arrived(&self.home.join(path), row, beside))
        };
        let unconfirmed = self.rows.iter().filter(|(_, row)| !row.confirmed && !row.previous.is_empty());
        let found = unconfirmed.filter(|(path, row)| is_theirs(path) && !has_arrived(path, row));
        // What was there when ours was decided was looked at then, and taken in: it only waits to be written over.
        let is_as_seen = |path: &String| self.tree.content(path) == Some(&self.rows[path].previous);
        let (as_seen, edited): (BTreeSet<String>, BTreeSet<String>) =
            found.map(|(path, _)| path.clone()).partition(is_as_seen);
        self.states.extend(as_seen.into_iter().map(|path| (path, FileState::Leftover)));
        self.not_there_yet = edited;
    }

    /// What waits beside a file that somebody changed since, or since a crash, is either ours or an edit that came out of
    /// an exchange. The version before it may have been written on by somebody who had it open.
    pub(super) fn find_slipped(&mut self, before: &Before, beside: BTreeMap<String, Beside>) {
        for (path, beside) in beside {
            let row = &self.rows[&path];
            let target = self.home.join(&path);
            let is_ours = |bytes: &[u8]| {
                let hash = hash(bytes);
                bytes == row.previous || hash == row.hash || row.earlier.contains(&hash)
            };
            let is_shared = self.is_shared(&path);
            let waiting = match beside {
                // What came out by another session's write is that one's to take in: it knows what was there before.
                Beside::CameOut { by, bytes, is_edited_since: true } if by == self.located.id.as_str() => {
                    Some(bytes)
                }
                // Cut off while we wrote it.
                Beside::Unknown(bytes) if !row.confirmed && row.body.starts_with(&bytes) => None,
                Beside::Unknown(bytes) if !is_ours(&bytes) => Some(bytes),
                Beside::CameOut { .. }
                | Beside::Unknown(_)
                | Beside::Nothing
                | Beside::Ours
                | Beside::VersionBefore => None,
            };
            // The version before of a shared file may be any session's.
            let is_readable = |bytes: &Vec<u8>| self.located.layout.is_whole(&path, bytes);
            let backup = before.written_on(&target).filter(|bytes| !is_shared && is_readable(bytes));
            let backup = backup.filter(|bytes| !is_ours(bytes));
            let had_one_before = !row.previous.is_empty() || (is_shared && !row.earlier.is_empty());
            for bytes in backup.into_iter().chain(waiting) {
                if had_one_before && self.tree.content(&path) != Some(&bytes) {
                    let before = self.before_waiting(&path, row);
                    self.slipped.push(Slip { path: path.clone(), bytes, before });
                }
            }
        }
    }

    /// What somebody added to the version before of a shared file, as if they had added it to what we know.
    pub(super) fn find_late(&mut self, before: &Before) {
        for (path, row) in &self.rows {
            let has_slipped = self.slipped.iter().any(|slip| slip.path == *path);
            let late = before.late(&self.home.join(path)).filter(|_| self.is_shared(path) && !has_slipped);
            let Some(late) = late else { continue };
            let there = self.tree.content(path).unwrap_or_default();
            if self.located.layout.merge(path, Merge::Onto { base: &[], theirs: &late, onto: there }) != there
            {
                let end: &[u8] = if row.previous.ends_with(b"\n") { b"" } else { b"\n" };
                let bytes = [row.previous.as_slice(), end, &late].concat();
                self.slipped.push(Slip { path: path.clone(), bytes, before: row.previous.clone() });
            }
        }
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
            let with_ours = layout.merge(path, Merge::Onto { base: &row.previous, theirs, onto: &row.body });
            let merged = layout.merge(path, Merge::Onto { base: theirs, theirs: &with_ours, onto: theirs });
            self.documents.insert(path.clone(), Entry::File(merged));
        }
    }
}
