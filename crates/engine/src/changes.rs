//! What changed since somebody looked last, for whoever waits for it. Writes nothing; nothing runs in between.

use crate::definitions;
use crate::engine::{Engine, Options};
use crate::error::Result;
use crate::place::Project;
use model::id::SessionId;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Sessions that changed, and where to go on from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    pub cursor: u64,
    pub sessions: BTreeSet<SessionId>,
    /// One of them is new.
    pub began: bool,
}

/// Files as they look from outside. As long as it is the same, nothing was written: what is looked at once a second
/// must not open the store each time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stamp {
    pub store: Vec<Seen>,
    /// The project's own definitions, each with its name.
    pub workflows: Vec<(String, Seen)>,
}

type Seen = Option<(SystemTime, u64)>;

impl Engine {
    /// Where the log of all sessions ends now.
    pub fn cursor(&self) -> Result<u64> {
        Ok(self.store.cursor()?)
    }

    /// Sessions with events after this cursor.
    pub fn changes(&self, after: u64) -> Result<Changes> {
        const AT_ONCE: usize = 1_000;
        let mut changes = Changes { cursor: after, ..Changes::default() };
        loop {
            let found = self.store.changes(changes.cursor, AT_ONCE)?;
            let is_last = found.len() < AT_ONCE;
            for change in found {
                changes.cursor = change.cursor;
                changes.began |= change.event.version == 1;
                changes.sessions.insert(change.session);
            }
            if is_last {
                return Ok(changes);
            }
        }
    }
}

/// How the store and the definitions of a project look now. A project that cannot be found looks like nothing.
pub fn stamp(options: &Options) -> Stamp {
    let from = options.project.clone().or_else(|| std::env::current_dir().ok());
    let project = from.and_then(|from| Project::find(&from).ok());
    let Some(project) = project else { return Stamp::default() };
    let store = project.database().map(|database| vec![seen(&database), seen(&log_of(&database))]);
    let mut workflows: Vec<(String, Seen)> = std::fs::read_dir(definitions::folder(&project))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let path = entry.path();
            let is_definition = path.extension().is_some_and(|extension| extension == "toml");
            let name = path.file_stem().filter(|_| is_definition)?.to_str()?.to_owned();
            Some((name, seen(&path)))
        })
        .collect();
    workflows.sort();
    Stamp { store: store.unwrap_or_default(), workflows }
}

/// What was written last is beside the database.
fn log_of(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

fn seen(path: &Path) -> Seen {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
