//! Files that record the state of a session, which say nothing about the work. Reads no disk.

use crate::engine::Engine;
use crate::place::FOLDER;
use layouts::layout::FileRules;
use model::session::Session;
use std::path::Path;

/// Recognises our files, and the state files of a session in another tool's layout.
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
    /// A file of the store, which git may list.
    pub(super) fn is_ours(&self, path: &str) -> bool {
        Path::new(path).starts_with(FOLDER) || self.is_state(path)
    }

    /// A state file of the session, or the backup of one.
    pub(super) fn is_state(&self, path: &str) -> bool {
        let Some((rules, home)) = &self.foreign else { return false };
        let Ok(below) = Path::new(path).strip_prefix(home) else { return false };
        let below = below.to_string_lossy();
        rules.is_state(below.strip_suffix(".bak").unwrap_or(&below))
    }
}
