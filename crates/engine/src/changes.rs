//! Reports changes since a given point, for callers that wait for changes. Writes nothing, and starts no background
//! process.

use crate::config::Config;
use crate::definitions;
use crate::engine::Options;
use crate::error::Result;
use crate::facades::Sessions;
use crate::project::Project;
use crate::server_store::Team;
use crate::watch::log_of;
use model::id::SessionId;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::SystemTime;

/// The changed sessions, and the position at which the next query continues.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    pub cursor: u64,
    pub sessions: BTreeSet<SessionId>,
    /// True if at least one of the changed sessions is new.
    pub began: bool,
}

/// Sizes and times of the files of the store and of the definitions. While they are the same, nothing was written, so a
/// caller that polls need not open the store.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stamp {
    pub store: Vec<FileStamp>,
    /// The project's own definitions: their names, and the size and time of their files.
    pub workflows: Vec<(String, FileStamp)>,
}

type FileStamp = Option<(SystemTime, u64)>;

impl Sessions<'_> {
    /// Returns the sessions with events after the cursor. Without a cursor, returns only the current end of all logs.
    pub fn changes(&self, after: Option<u64>) -> Result<Changes> {
        const AT_ONCE: usize = 1_000;
        let store = &self.engine.store;
        let Some(cursor) = after else {
            return Ok(Changes { cursor: store.cursor()?, ..Changes::default() });
        };
        let mut changes = Changes { cursor, ..Changes::default() };
        loop {
            let found = store.changes(changes.cursor, AT_ONCE)?;
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

/// Returns the current stamp of a project's store and definitions; empty if there is no project.
pub fn stamp(options: &Options) -> Stamp {
    let from = options.project.clone().or_else(|| std::env::current_dir().ok());
    let project = from.and_then(|from| Project::find(&from).ok());
    let Some(project) = project else { return Stamp::default() };
    let is_on_server = Config::read(&project).and_then(|config| Team::of(&project, &config));
    let store = match is_on_server {
        // No local file shows the changes on a server. The stamp is therefore always new, so that the caller asks the
        // server.
        Ok(Some(_)) => Ok(vec![Some((SystemTime::now(), 0))]),
        Ok(None) | Err(_) => {
            project.database().map(|database| vec![seen(&database), seen(&log_of(&database))])
        }
    };
    let mut workflows: Vec<(String, FileStamp)> = std::fs::read_dir(definitions::folder(&project))
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

fn seen(path: &Path) -> FileStamp {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
