//! Before a change, waits briefly while somebody is writing a file: such a file may be empty or half complete. Without
//! the wait, the file would be quarantined while its writer still has it open.

use crate::disk::exchange;
use crate::engine::Engine;
use crate::foreign::observation_cache::Aim;
use crate::foreign::observe::hash;
use crate::walk;
use layouts::layout::Depth;
use layouts::reader::{Foreign, Located};
use layouts::tree::{Entry, Tree};
use model::id::SessionId;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use store::ViewRow;

/// How many times an unreadable file is read again before it counts as damaged.
const LOOKS: usize = 5;
const BETWEEN: Duration = Duration::from_millis(10);

impl Engine {
    /// Reads a session's files as soon as those that leftoff wrote are readable. Other files are read as they are.
    pub(crate) fn tree_when_written(
        &self,
        located: &Located,
        root: &Path,
        rows: &BTreeMap<String, ViewRow>,
    ) -> Tree {
        let read = || walk::read(located.layout, &located.spot, root, Depth::Short);
        let is_torn = |tree: &Tree| {
            let ours = rows.values().filter(|row| !located.is_marker(&row.path));
            ours.filter_map(|row| Some((row, tree.content(&row.path)?)))
                .any(|(row, content)| hash(content) != row.hash && is_torn(located, &row.path, content))
        };
        self.when_written(read, is_torn)
    }

    /// Reads the files of a session that is not adopted, as soon as they are readable.
    pub(crate) fn foreign_when_written(&self, id: &SessionId) -> Option<Foreign> {
        let is_torn = |found: &Option<Foreign>| {
            found.as_ref().is_some_and(|found| {
                found.damaged.iter().any(|path| matches!(found.tree.get(path), Some(Entry::File(_))))
            })
        };
        self.when_written(|| self.foreign(id), is_torn)
    }

    /// Waits for a writer if the aim is a change. A query takes the files as they are.
    fn when_written<T>(&self, observation: impl Fn() -> T, is_torn: impl Fn(&T) -> bool) -> T {
        let found = observation();
        if self.scope.aim == Aim::Look { found } else { until_written(found, |_| observation(), is_torn) }
    }
}

/// Reads a few more times while a file is incomplete.
fn until_written<T>(mut found: T, again: impl Fn(T) -> T, is_torn: impl Fn(&T) -> bool) -> T {
    for _ in 0..LOOKS {
        if !is_torn(&found) {
            break;
        }
        std::thread::sleep(BETWEEN);
        found = again(found);
    }
    found
}

/// True if somebody may be writing a file: the file is unreadable or, if sessions share it line by line, its last line
/// is incomplete.
pub(crate) fn is_torn(located: &Located, path: &str, content: &[u8]) -> bool {
    (located.is_shared(path) && !content.ends_with(b"\n")) || !located.is_whole(path, content)
}

/// Returns the content that a write replaced, after waiting for the content's writer to finish.
pub(crate) fn out_when_written(target: &Path, path: &str, out: Vec<u8>, located: &Located) -> Vec<u8> {
    let again = |found| exchange::read(&exchange::waiting(target)).unwrap_or(found);
    until_written(out, again, |found| is_torn(located, path, found))
}

/// Returns the content of a file, after waiting for its writer to finish.
pub(crate) fn read_when_written(target: &Path, path: &str, located: &Located) -> Vec<u8> {
    let Ok(found) = exchange::read(target) else { return Vec::new() };
    let again = |found| exchange::read(target).unwrap_or(found);
    until_written(found, again, |found| is_torn(located, path, found))
}
