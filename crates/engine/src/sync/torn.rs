//! Files that somebody is just writing: emptied first, or half there. Whoever is about to change a session waits a
//! little for them, because what is set aside is not read again, though its writer still has it open.

use super::find::{Foreign, Located};
use super::look::hash;
use super::signs::is_sign;
use super::tree;
use crate::disk::exchange;
use crate::engine::Engine;
use layouts::capabilities;
use layouts::layout::Depth;
use layouts::tree::{Entry, Tree};
use model::id::SessionId;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use store::ViewRow;

/// How often a file that cannot be read is looked at again. One that stays so is damaged.
const LOOKS: usize = 5;
const BETWEEN: Duration = Duration::from_millis(10);

impl Engine {
    /// A session's files, once each that we wrote can be read; those that never can as they are.
    pub(super) fn tree_when_written(
        &self,
        located: &Located,
        root: &Path,
        rows: &BTreeMap<String, ViewRow>,
    ) -> Tree {
        let read = || tree::read(located.layout, &located.spot, root, Depth::Short);
        let is_torn = |tree: &Tree| {
            let ours = rows.values().filter(|row| !is_sign(located.layout, &row.path));
            ours.filter_map(|row| Some((row, tree.content(&row.path)?)))
                .any(|(row, content)| hash(content) != row.hash && is_torn(located, &row.path, content))
        };
        self.when_written(read, is_torn)
    }

    /// The same of a session that is not ours yet.
    pub(super) fn foreign_when_written(&self, id: &SessionId) -> Option<Foreign> {
        let is_torn = |found: &Option<Foreign>| {
            found.as_ref().is_some_and(|found| {
                found.damaged.iter().any(|path| matches!(found.tree.get(path), Some(Entry::File(_))))
            })
        };
        self.when_written(|| self.foreign(id), is_torn)
    }

    /// Only a command waits: a query shows what is there.
    fn when_written<T>(&self, look: impl Fn() -> T, is_torn: impl Fn(&T) -> bool) -> T {
        let mut found = look();
        for _ in 0..LOOKS {
            if !self.seen.is_changing.get() || !is_torn(&found) {
                break;
            }
            std::thread::sleep(BETWEEN);
            found = look();
        }
        found
    }
}

/// Whether somebody may be in the middle of writing a file: it cannot be read, or, of a file that sessions share and
/// that is read line by line, its last line has no end.
pub(super) fn is_torn(located: &Located, path: &str, content: &[u8]) -> bool {
    let is_shared = capabilities::is_shared(located.layout, path);
    (is_shared && !content.ends_with(b"\n")) || !located.layout.is_whole(path, content)
}

/// What came out of a file's place, once its writer has written it.
pub(super) fn out_when_written(target: &Path, path: &str, out: Vec<u8>, located: &Located) -> Vec<u8> {
    let mut found = out;
    for _ in 0..LOOKS {
        if !is_torn(located, path, &found) {
            break;
        }
        std::thread::sleep(BETWEEN);
        found = exchange::read(&exchange::waiting(target)).unwrap_or(found);
    }
    found
}
