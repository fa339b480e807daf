//! Notices changes for live displays, cheaply enough to be called twice a second. Writes nothing, and does not say what
//! changed: the caller then opens the engine.

use crate::config::Config;
use crate::definitions;
use crate::engine::{Engine, Options};
use crate::project::Project;
use crate::server_store::Team;
use crate::view::View;
use layouts::layout::{self, Place};
use model::id::SessionId;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::{Access, SqliteStore, Store};

/// In each folder in which another tool keeps sessions, this many are watched besides the shown one: those that were
/// changed last.
const MOST_BESIDE: usize = 50;
/// How many files and folders of the shown session are watched.
const MOST_SHOWN: usize = 2_000;
const DEEPEST: usize = 6;

/// Returns how long to wait before the next look: half a second, or five seconds after ten minutes without a change.
pub fn next_look(idle: Duration) -> Duration {
    const SOON: Duration = Duration::from_millis(500);
    const LATER: Duration = Duration::from_secs(5);
    const LONG: Duration = Duration::from_mins(10);
    if idle < LONG { SOON } else { LATER }
}

/// Compares the change counter of the store and the times of files with those of the last look.
pub struct Watch {
    options: Options,
    project: Option<Project>,
    store: Option<OpenStore>,
    shown: Shown,
    seen: Signs,
}

/// An open connection. Its change counter does not count its own changes.
struct OpenStore {
    store: Box<dyn Store + Send>,
    /// The database's file when it was opened. By it, a replaced file is noticed.
    file: Option<Sign>,
}

/// The files and folders of the shown session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Shown {
    folders: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Signs {
    counter: Option<u64>,
    files: Vec<Option<Sign>>,
}

/// The properties of a file by which a change is noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sign {
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

impl From<Metadata> for Sign {
    fn from(found: Metadata) -> Self {
        Self { inode: found.ino(), size: found.size(), modified: (found.mtime(), found.mtime_nsec()) }
    }
}

impl Watch {
    /// Starts watching. Must be called before the session is read, so that no change is missed.
    pub fn begin(options: &Options) -> Self {
        let mut watch = Self {
            options: options.clone(),
            project: None,
            store: None,
            shown: Shown::default(),
            seen: Signs::default(),
        };
        watch.seen = watch.look();
        watch
    }

    /// True if anything has changed since the last call.
    pub fn changed(&mut self) -> bool {
        let now = self.look();
        let is_changed = now != self.seen;
        self.seen = now;
        is_changed
    }

    /// Sets the session that is shown, so that its files are watched. If it is another session than before, this counts
    /// as a change: its files may have been edited since they were read.
    pub fn show(&mut self, engine: &Engine, view: Option<&View>) {
        self.shown = view.map(|view| engine.files_to_watch(view)).unwrap_or_default();
    }

    fn look(&mut self) -> Signs {
        if self.project.is_none() {
            let from = self.options.project.clone().or_else(|| std::env::current_dir().ok());
            self.project = from.and_then(|from| Project::find(&from).ok());
        }
        let mut files = Vec::new();
        let counter = self.project.as_ref().and_then(|project| {
            match Config::read(project).and_then(|config| Team::of(project, &config)) {
                Ok(Some(team)) => count_on_server(&mut self.store, &team),
                Ok(None) | Err(_) => count(&mut self.store, &project.database().ok()?, &mut files),
            }
        });
        if let Some(project) = &self.project {
            files.push(sign(&Config::path(project)));
            look_into(&definitions::folder(project), &mut files);
            look_beside(project, &mut files);
        }
        let mut left = MOST_SHOWN;
        for folder in &self.shown.folders {
            look_below(folder, DEEPEST, &mut left, &mut files);
        }
        files.extend(self.shown.files.iter().map(|path| sign(path)));
        Signs { counter, files }
    }
}

impl Engine {
    /// Returns the folder of another tool's session, and the known files of any session.
    fn files_to_watch(&self, view: &View) -> Shown {
        let Ok(id) = SessionId::parse(&view.session_id) else { return Shown::default() };
        let Ok((_, session)) = self.load(&id) else { return Shown::default() };
        let root = self.root_of(&session);
        let located = self.located(&session);
        let folders = located.map(|located| root.join(located.spot.path)).into_iter().collect();
        let known = view.artifacts.iter().map(|artifact| &artifact.newest.path);
        let produced = view.phases.iter().flat_map(|phase| &phase.produces);
        let mut files: Vec<PathBuf> = known.chain(produced).map(|path| root.join(path)).collect();
        files.sort();
        files.dedup();
        files.truncate(MOST_SHOWN);
        Shown { folders, files }
    }
}

/// Returns the change counter of the store. `None` if the store cannot be opened; then only the times of files count.
fn count(open: &mut Option<OpenStore>, database: &Path, files: &mut Vec<Option<Sign>>) -> Option<u64> {
    let found = sign(database);
    files.push(found);
    files.push(sign(&log_of(database)));
    let inode = |sign: Option<Sign>| sign.map(|sign| sign.inode);
    if open.as_ref().is_none_or(|open| inode(open.file) != inode(found)) {
        let store = SqliteStore::open(database, Access::Read).ok();
        *open = store.map(|store| OpenStore { store: Box::new(store), file: found });
    }
    open.as_ref()?.store.change_counter().ok()
}

/// Returns the change counter of a store on a server. If the connection was lost, the next look connects again.
fn count_on_server(open: &mut Option<OpenStore>, team: &Team) -> Option<u64> {
    if open.is_none() {
        let store = team.open(Access::Read, None).ok()?;
        *open = Some(OpenStore { store, file: None });
    }
    let counter = open.as_ref()?.store.change_counter().ok();
    if counter.is_none() {
        *open = None;
    }
    counter
}

/// Returns the path of the write-ahead log, the file beside a database that has the newest changes.
pub(crate) fn log_of(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

/// Adds the files of other tools' sessions in this project, by which a new or newly active session is noticed.
fn look_beside(project: &Project, files: &mut Vec<Option<Sign>>) {
    for layout in layout::all() {
        for place in layout.facts().places {
            let folder = match place {
                Place::Project(folder) if !folder.is_empty() => project.root.join(folder),
                Place::Project(_) | Place::Temporary(_) => continue,
            };
            let mut entries = look_into(&folder, files);
            entries.sort_by_key(|(_, sign)| std::cmp::Reverse(sign.modified));
            for (entry, _) in entries.iter().take(MOST_BESIDE) {
                look_into(entry, files);
            }
        }
    }
}

/// Adds a folder and its entries to the watched files. Returns the entries.
fn look_into(folder: &Path, files: &mut Vec<Option<Sign>>) -> Vec<(PathBuf, Sign)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let look = |entry: std::fs::DirEntry| Some((entry.path(), Sign::from(entry.metadata().ok()?)));
    let mut found: Vec<(PathBuf, Sign)> = entries.flatten().take(MOST_SHOWN).filter_map(look).collect();
    // The entries are sorted, because a folder lists them in any order.
    found.sort_by(|one, other| one.0.cmp(&other.0));
    files.extend(found.iter().map(|(_, sign)| Some(*sign)));
    found
}

fn look_below(folder: &Path, deep: usize, left: &mut usize, files: &mut Vec<Option<Sign>>) {
    let found = look_into(folder, files);
    *left = left.saturating_sub(found.len());
    for (entry, _) in found {
        let is_folder = entry.symlink_metadata().is_ok_and(|found| found.is_dir());
        if is_folder && deep > 0 && *left > 0 {
            look_below(&entry, deep - 1, left, files);
        }
    }
}

fn sign(path: &Path) -> Option<Sign> {
    std::fs::symlink_metadata(path).ok().map(Sign::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::StartRequest;
    use crate::{Current, Intent};
    use model::note::NoteKind;
    use std::fs;

    fn project() -> (tempfile::TempDir, Options) {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(folder.path().join(".git")).expect("a repository");
        fs::write(folder.path().join(".git/HEAD"), "ref: refs/heads/main\n").expect("its head");
        let options = Options { project: Some(folder.path().to_owned()), ..Options::default() };
        (folder, options)
    }

    fn note(options: &Options) {
        let mut engine = Engine::open(options.clone(), Intent::Command).expect("the engine");
        engine.note(NoteKind::Note, "x", std::collections::BTreeMap::new()).expect("a note");
    }

    #[test]
    fn what_another_process_keeps_is_noticed_once() {
        let (_folder, options) = project();
        let mut watch = Watch::begin(&options);
        assert!(!watch.changed(), "nothing happened");
        let mut engine = Engine::open(options.clone(), Intent::Create).expect("the engine");
        engine.start(&StartRequest::default()).expect("a session");
        assert!(watch.changed(), "the store is new");
        assert!(!watch.changed());
        for _ in 0..3 {
            note(&options);
            assert!(watch.changed());
            assert!(!watch.changed());
        }
    }

    #[test]
    fn files_of_the_shown_session_and_new_ones_of_other_tools_are_noticed() {
        let (folder, options) = project();
        let mut watch = Watch::begin(&options);
        let session = folder.path().join(".ocr/sessions/2026-11-14-login");
        fs::create_dir_all(session.join("rounds/round-1/reviews")).expect("a session's folder");
        let state = r#"{"session_id":"2026-11-14-login","status":"active","workflow_type":"review",
            "current_phase":"context","phase_number":1,"started_at":"2026-11-14T10:00:00Z"}"#;
        fs::write(session.join("state.json"), state).expect("its state");
        assert!(watch.changed());
        let engine = Engine::open(options.clone(), Intent::Query).expect("the engine");
        let Current::Session(view) = engine.sessions().status().expect("a status") else {
            panic!("no session")
        };
        watch.show(&engine, Some(&view));
        assert!(watch.changed(), "another session is shown");
        assert!(!watch.changed());
        fs::write(session.join("rounds/round-1/reviews/principal-1.md"), "# R\n").expect("a review");
        assert!(watch.changed(), "a file deep below the shown session");
        fs::write(session.join("state.json"), state.replace("\"context\"", "\"reviews\"")).expect("an edit");
        assert!(watch.changed(), "an edit in place");
        assert!(!watch.changed());
    }

    #[test]
    fn looks_are_rarer_after_ten_quiet_minutes() {
        assert_eq!(next_look(Duration::from_secs(599)), Duration::from_millis(500));
        assert_eq!(next_look(Duration::from_mins(10)), Duration::from_secs(5));
    }
}
