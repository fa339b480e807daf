//! Files that several sessions share. After a write, only the session's own part is stored: otherwise a
//! registry of a thousand sessions would be stored a thousand times.

use super::Observation;
use crate::reader::{Disk, Located};
use crate::verdict::hash;
use model::written_file::ViewRow;

/// The row to store after a file was written. Of the previous content, only the hash is kept.
pub fn settled(located: &Located, row: &ViewRow) -> ViewRow {
    let part = |content: &[u8]| located.part(&row.path, content);
    let (Some(body), Some(previous)) = (part(&row.body), part(&row.previous)) else {
        return ViewRow { confirmed: true, ..row.clone() };
    };
    let mut earlier = row.earlier.clone();
    let before = hash(&row.previous);
    if !row.previous.is_empty() && before != row.hash && !earlier.contains(&before) {
        // The last hash is that of leftoff's own write, so this hash is inserted before it.
        earlier.insert(earlier.len().saturating_sub(1), before);
    }
    ViewRow { body, previous, earlier, confirmed: true, ..row.clone() }
}

/// The content to write, and the content that the file is expected to have, if the file contains `there` now.
/// The parts of other sessions in a shared file stay as they are.
pub fn beside_others(located: &Located, row: &ViewRow, there: Vec<u8>) -> (Vec<u8>, Vec<u8>) {
    let ViewRow { path, body, previous, .. } = row;
    let Some(ours) = located.part(path, body).filter(|_| !there.is_empty() && there != *previous) else {
        return (body.clone(), previous.clone());
    };
    let with_others = located.onto(path, previous, &there, body);
    let own = located.part(path, &there);
    // Another process of leftoff may already have written this session's part.
    if own == located.part(path, previous) || own.as_ref() == Some(&ours) {
        return (with_others, there);
    }
    // If somebody edited this session's part, the edit is found and adopted when the write replaces it.
    (located.onto(path, &[], &ours, &with_others), previous.clone())
}

impl Observation {
    /// True if only this session's part of the last write is stored.
    pub(super) fn is_known_in_part(&self, row: &ViewRow) -> bool {
        row.confirmed && self.located.is_shared(&row.path)
    }

    /// The content of a whole file to restore: the session's part, inserted into the current content, or else
    /// into the backup.
    pub(super) fn whole(&self, row: &ViewRow, disk: &dyn Disk) -> Vec<u8> {
        if !self.is_known_in_part(row) {
            return row.body.clone();
        }
        let there = self.tree.content(&row.path).map(<[u8]>::to_vec);
        let onto = there.or_else(|| disk.backup(&row.path)).unwrap_or_default();
        self.located.onto(&row.path, &[], &row.body, &onto)
    }
}
