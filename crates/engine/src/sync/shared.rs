//! Files that several sessions share. Of one that is in its place only the session's own part is kept with it: a registry
//! of thousands, kept whole with each of them, would be thousands of registries.

use super::find::Located;
use super::look::{FileState, Look, hash};
use super::signs::is_sign;
use super::tree;
use crate::disk::exchange;
use layouts::capabilities::{self, shared_part};
use layouts::layout::{Depth, Merge};
use layouts::tree::{Entry, Tree};
use std::path::Path;
use store::ViewRow;

/// A file as it is known once it is in its place. What was there before is still known by its hash.
pub(super) fn settled(located: &Located, row: &ViewRow) -> ViewRow {
    let share = |content: &[u8]| shared_part(located.layout, &located.spot, &row.path, content);
    let (Some(body), Some(previous)) = (share(&row.body), share(&row.previous)) else {
        return ViewRow { confirmed: true, ..row.clone() };
    };
    let mut earlier = row.earlier.clone();
    let before = hash(&row.previous);
    if !row.previous.is_empty() && before != row.hash && !earlier.contains(&before) {
        // The last of them is ours.
        earlier.insert(earlier.len().saturating_sub(1), before);
    }
    ViewRow { body, previous, earlier, confirmed: true, ..row.clone() }
}

/// What is written and what is expected to be there. Where other sessions changed their parts of a shared file since it
/// was looked at, those stay: not for a moment is there a file without them.
pub(super) fn beside_others(located: &Located, target: &Path, row: &ViewRow) -> (Vec<u8>, Vec<u8>) {
    let share = |content: &[u8]| shared_part(located.layout, &located.spot, &row.path, content);
    let there = exchange::read(target).unwrap_or_default();
    // Another process of ours may have put this session's part there already.
    let own = share(&there);
    let is_theirs_alone = there != row.previous
        && !there.is_empty()
        && own.is_some()
        && (own == share(&row.previous) || own == share(&row.body));
    if !is_theirs_alone {
        return (row.body.clone(), row.previous.clone());
    }
    (
        located.layout.merge(&row.path, Merge::Onto { base: &row.previous, theirs: &there, onto: &row.body }),
        there,
    )
}

impl Look {
    pub(super) fn is_shared(&self, path: &str) -> bool {
        capabilities::is_shared(self.located.layout, path)
    }

    /// Only this session's part of it is known.
    pub(super) fn is_known_in_part(&self, row: &ViewRow) -> bool {
        row.confirmed && self.is_shared(&row.path)
    }

    /// The whole file as it is to be again: the session's part in what is there, else in the version before.
    pub(super) fn whole(&self, path: &str, row: &ViewRow) -> Vec<u8> {
        if !self.is_known_in_part(row) {
            return row.body.clone();
        }
        let backup = || exchange::read(&exchange::backup(&self.home.join(path))).unwrap_or_default();
        let onto = self.tree.content(path).map_or_else(backup, <[u8]>::to_vec);
        self.located.layout.merge(path, Merge::Onto { base: &[], theirs: &row.body, onto: &onto })
    }

    pub(super) fn is_same_share(&self, path: &str, one: &[u8], other: &[u8]) -> bool {
        let share = |content: &[u8]| shared_part(self.located.layout, &self.located.spot, path, content);
        share(one).is_some_and(|one| Some(one) == share(other))
    }

    /// Where the session is, as people find it: one that moves between folders is known by a path that is none.
    pub(super) fn place(&self) -> String {
        let spot = &self.located.spot;
        let mut files = self.states.keys().map(|path| spot.below_project(path));
        let moves = files.clone().all(|path| !path.starts_with(&spot.path));
        files.next().filter(|_| moves).unwrap_or_else(|| spot.path.clone())
    }

    /// Files that only the version which counts instead of a damaged or missing one names.
    pub(super) fn add_what_is_named(&self, tree: &mut Tree) {
        let Located { layout, spot, .. } = &self.located;
        tree::add(&self.home, tree, |tree| layout.more_files(spot, tree, Depth::Whole));
    }

    /// The tree with our own bytes for files in these states. For a `base`, files that we never wrote are left out.
    pub(super) fn with_rows(&self, ours: impl Fn(&FileState) -> bool, base: bool) -> Tree {
        let mut tree = self.tree.clone();
        for (path, state) in &self.states {
            match self.rows.get(path) {
                // These are our bytes, of all sessions.
                Some(_) if *state == FileState::Same => {}
                Some(row) if is_sign(self.located.layout, path) => match (base, ours(state)) {
                    (true, _) | (_, true) => Self::put_sign(&mut tree, row),
                    (false, false) if self.is_taken_away(path) => tree.take_away(path.clone()),
                    (false, false) => {}
                },
                Some(row) if base => tree.insert(path.clone(), Entry::File(row.body.clone())),
                Some(row) if ours(state) => tree.insert(path.clone(), Entry::File(self.whole(path, row))),
                None if base => tree.remove(path),
                Some(_) | None => {}
            }
        }
        tree
    }
}
