//! Recognises files that record the state of a session and therefore say nothing about the work. Reads no disk.

use crate::engine::Engine;
use crate::project::FOLDER;
use layouts::layout::{self, FileRules, Layout};
use model::session::Session;
use std::path::Path;

/// Knows leftoff's own files and the state files of sessions in other tools' layouts.
pub(super) struct Bookkeeping {
    foreign: Option<(FileRules, String)>,
}

impl Engine {
    pub(super) fn bookkeeping(&self, session: &Session) -> Bookkeeping {
        let foreign = self.located(session);
        Bookkeeping { foreign: foreign.map(|found| (found.layout.files(&found.spot), found.spot.home)) }
    }
}

impl Bookkeeping {
    /// True for a file of the store, which may appear in git's output.
    pub(super) fn is_ours(&self, path: &str) -> bool {
        Path::new(path).starts_with(FOLDER) || self.is_state(path)
    }

    /// True for a state file of any session, for the backup of a state file, and for one that its tool has not finished
    /// writing.
    pub(super) fn is_state(&self, path: &str) -> bool {
        let path = [".bak", ".tmp"].into_iter().find_map(|end| path.strip_suffix(end)).unwrap_or(path);
        let is_its = |(rules, home): &(FileRules, String)| is_state_below(rules, home, path);
        self.foreign.as_ref().is_some_and(is_its)
            || layout::all().iter().any(|layout| is_state_of(*layout, path))
    }
}

/// True if the path is a state file of the session to which the path belongs.
fn is_state_of(layout: &dyn Layout, path: &str) -> bool {
    let entries = Path::new(path).ancestors().filter_map(Path::to_str);
    let mut spots = entries.filter_map(|entry| layout.identify(entry, entry != path));
    spots.any(|spot| is_state_below(&layout.files(&spot), &spot.home, path))
}

fn is_state_below(rules: &FileRules, home: &str, path: &str) -> bool {
    let below = Path::new(path).strip_prefix(home).ok().and_then(Path::to_str);
    below.is_some_and(|below| rules.is_state(below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b9_state_files_of_every_session_are_bookkeeping() {
        let of_none = Bookkeeping { foreign: None };
        for path in [
            ".praxis-os/.cache/state/3f2504e0-4f89-41d3-9a0c-0305e82c3301.json",
            ".ocr/sessions/2026-11-14-main/state.json.bak",
            "essay-pipeline-20261114-100000/session-state.yaml",
            "essay-pipeline-20261114-100000/session-state.yaml.tmp",
        ] {
            assert!(of_none.is_state(path), "{path}");
        }
        for path in [
            "src/state.json",
            ".praxis-os/workflows/ship_v1/metadata.json",
            "essay-pipeline-20261114-100000/stage-1-thesis.md",
            ".ocr/sessions/2026-11-14-main/context.md",
        ] {
            assert!(!of_none.is_state(path), "{path}");
        }
    }
}
