//! Files shared by several sessions. Only the session's own part of an installed file is stored: storing a
//! registry of thousands with each session would mean thousands of registries.

use crate::disk::exchange;
use crate::foreign::discover::Located;
use crate::foreign::discover::markers::is_marker;
use crate::foreign::observe::wait::read_when_written;
use crate::foreign::observe::{FileState, FileVerdict, Observation, hash};
use crate::walk;
use layouts::capabilities::{self, shared_part};
use layouts::layout::{Depth, Merge};
use layouts::tree::{Entry, Tree};
use std::path::Path;
use store::ViewRow;

/// The stored form of an installed file. The previous content is still known by its hash.
pub(crate) fn settled(located: &Located, row: &ViewRow) -> ViewRow {
    let part = |content: &[u8]| shared_part(located.layout, &located.spot, &row.path, content);
    let (Some(body), Some(previous)) = (part(&row.body), part(&row.previous)) else {
        return ViewRow { confirmed: true, ..row.clone() };
    };
    let mut earlier = row.earlier.clone();
    let before = hash(&row.previous);
    if !row.previous.is_empty() && before != row.hash && !earlier.contains(&before) {
        // The last hash is ours.
        earlier.insert(earlier.len().saturating_sub(1), before);
    }
    ViewRow { body, previous, earlier, confirmed: true, ..row.clone() }
}

/// The new and the expected content. Parts of a shared file that other sessions changed since the observation
/// stay: the file never exists without them.
pub(crate) fn beside_others(located: &Located, target: &Path, row: &ViewRow) -> (Vec<u8>, Vec<u8>) {
    let part = |content: &[u8]| shared_part(located.layout, &located.spot, &row.path, content);
    let as_planned = || (row.body.clone(), row.previous.clone());
    let Some(ours) = part(&row.body) else { return as_planned() };
    let there = read_when_written(target, &row.path, located);
    if there.is_empty() || there == row.previous {
        return as_planned();
    }
    let onto = |base: &[u8], theirs: &[u8], onto: &[u8]| {
        located.layout.merge(&row.path, Merge::Onto { base, theirs, onto })
    };
    let with_others = onto(&row.previous, &there, &row.body);
    let own = part(&there);
    // Another process of ours may already have written this session's part.
    if own == part(&row.previous) || own.as_ref() == Some(&ours) {
        return (with_others, there);
    }
    // An edit of this session's own part is found when it comes out, and adopted then.
    (onto(&[], &ours, &with_others), row.previous.clone())
}

impl Observation {
    pub(crate) fn is_shared(&self, path: &str) -> bool {
        capabilities::is_shared(self.located.layout, path)
    }

    /// True if only this session's part is known.
    pub(crate) fn is_known_in_part(&self, row: &ViewRow) -> bool {
        row.confirmed && self.is_shared(&row.path)
    }

    /// The whole file to restore: the session's part merged into the current content, or else into the
    /// backup.
    pub(crate) fn whole(&self, path: &str, row: &ViewRow) -> Vec<u8> {
        if !self.is_known_in_part(row) {
            return row.body.clone();
        }
        let backup = || exchange::read(&exchange::backup(&self.home.join(path))).unwrap_or_default();
        let onto = self.tree.content(path).map_or_else(backup, <[u8]>::to_vec);
        self.located.layout.merge(path, Merge::Onto { base: &[], theirs: &row.body, onto: &onto })
    }

    pub(crate) fn is_same_part(&self, path: &str, one: &[u8], other: &[u8]) -> bool {
        let part = |content: &[u8]| shared_part(self.located.layout, &self.located.spot, path, content);
        part(one).is_some_and(|one| Some(one) == part(other))
    }

    /// A path at which people find the session; one that moves between folders has a virtual path.
    pub(crate) fn place(&self) -> String {
        let spot = &self.located.spot;
        let mut files = self.verdicts.keys().map(|path| spot.below_project(path));
        let moves = files.clone().all(|path| !path.starts_with(&spot.path));
        files.next().filter(|_| moves).unwrap_or_else(|| spot.path.clone())
    }

    /// Files named only by the version that replaces a damaged or missing one.
    pub(crate) fn add_what_is_named(&self, tree: &mut Tree) {
        let Located { layout, spot, .. } = &self.located;
        walk::add(&self.home, tree, |tree| layout.more_files(spot, tree, Depth::Whole));
    }

    /// The tree with our own bytes for files in these states. For a `base`, files that we never wrote are
    /// omitted.
    pub(crate) fn with_rows(&self, ours: impl Fn(&FileState) -> bool, base: bool) -> Tree {
        let mut tree = self.tree.clone();
        for (path, FileVerdict { state, row, .. }) in &self.verdicts {
            match row {
                // Our bytes, including all sessions' parts.
                Some(_) if *state == FileState::Same => {}
                Some(row) if is_marker(self.located.layout, path) => match (base, ours(state)) {
                    (true, _) | (_, true) => Self::put_marker(&mut tree, row),
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
