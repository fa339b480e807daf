//! Replicas of one bare repository in a folder, with a clock that the test sets. Every command opens the store anew, as
//! a new process would.

use crate::clock::Clock;
use crate::engine::Engine;
use crate::{
    Intent, OnDiscrepancy, Options, PauseRequest, PurgeRequest, Request, Result, StartRequest, SyncRequest,
    Synced, Taking,
};
use jiff::Timestamp;
use model::id::SessionId;
use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use store::Store;
use tempfile::TempDir;

pub(super) struct Folder {
    folder: TempDir,
    now: Rc<Cell<i64>>,
}

pub(super) struct Replica {
    pub(super) name: String,
    project: PathBuf,
    now: Rc<Cell<i64>>,
}

#[derive(Clone)]
struct SetClock(Rc<Cell<i64>>);

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.0.get()).expect("in range")
    }
}

impl Folder {
    /// The folder is in memory if the system allows it, because these tests do not simulate power cuts.
    pub(super) fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let folder = Self { folder: folder.expect("a folder"), now: Rc::new(Cell::new(1_800_000_000)) };
        repository(&folder.path().join("hub.git"), "bare = true\n");
        folder
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn an_hour_later(&self) {
        self.now.set(self.now.get() + 3_600);
    }

    pub(super) fn replica(&self, name: &str) -> Replica {
        let replica = self.known(name);
        replica.set_remote("hub.git");
        replica
    }

    /// Copies a whole clone, including its store and the id of its replica.
    pub(super) fn copied(&self, from: &Replica, name: &str) -> Replica {
        let to = self.path().join(name);
        let copied = Command::new("cp").arg("-a").arg(&from.project).arg(&to).status().expect("cp runs");
        assert!(copied.success());
        self.known(name)
    }

    fn known(&self, name: &str) -> Replica {
        Replica { name: name.to_owned(), project: self.path().join(name), now: Rc::clone(&self.now) }
    }

    /// Runs git on the bare repository.
    pub(super) fn hub(&self, arguments: &[&str]) -> String {
        let mut git = super::super::remote::plain_git();
        let output = git.arg("--git-dir").arg(self.path().join("hub.git")).args(arguments).output();
        let output = output.expect("git runs");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

/// Creates an empty repository as `git init` does, but without a process.
fn repository(folder: &Path, settings: &str) {
    for part in ["objects", "refs/heads"] {
        fs::create_dir_all(folder.join(part)).expect("a folder");
    }
    fs::write(folder.join("HEAD"), "ref: refs/heads/main\n").expect("its head");
    let settings = format!("[core]\nrepositoryformatversion = 0\n{settings}");
    fs::write(folder.join("config"), settings).expect("its settings");
}

impl Replica {
    pub(super) fn set_remote(&self, hub: &str) {
        let settings = format!("bare = false\n[remote \"origin\"]\nurl = ../{hub}\n");
        repository(&self.project.join(".git"), &settings);
    }

    pub(super) fn engine(&self) -> Engine {
        self.engine_for(None)
    }

    fn engine_for(&self, session: Option<&str>) -> Engine {
        let session = session.map(ToOwned::to_owned);
        self.engine_with(Options { session, ..Options::default() })
    }

    fn engine_with(&self, options: Options) -> Engine {
        let options = Options { project: Some(self.project.clone()), ..options };
        let mut engine = Engine::open(options, Intent::Create).expect("a project");
        engine.clock = Box::new(SetClock(Rc::clone(&self.now)));
        engine.caller.user.clone_from(&self.name);
        engine
    }

    pub(super) fn share(&self) {
        self.engine()
            .sync(SyncRequest::On { remote: None, branches: false })
            .expect("sharing can be switched on");
    }

    pub(super) fn sync(&self) -> Result<Synced> {
        self.engine().sync(SyncRequest::Now { fetch_only: false, unattended: false })
    }

    pub(super) fn fetch_only(&self) -> Result<Synced> {
        self.engine().sync(SyncRequest::Now { fetch_only: true, unattended: false })
    }

    pub(super) fn switch_off(&self, erase: bool) -> Result<Synced> {
        self.engine().sync(SyncRequest::Off { erase })
    }

    /// Makes a copy look like one on another machine, where it is in a folder with the same name.
    pub(super) fn know_no_other_place(&self) {
        let settings = self.project.join(".git/leftoff/sync.json");
        let text = fs::read_to_string(&settings).expect("its settings");
        let mut known: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        known["place"] = self.database().display().to_string().into();
        fs::write(settings, known.to_string()).expect("its settings");
    }

    /// Starts a session and pauses it.
    pub(super) fn start(&self, id: &str) {
        let request = StartRequest { id: Some(id.to_owned()), ..StartRequest::default() };
        self.engine().execute(Request::Start(request)).expect("it starts");
        self.pause(id);
    }

    pub(super) fn resume(&self, id: &str) -> Result<()> {
        let request = Request::Resume {
            session: Some(id.to_owned()),
            on: OnDiscrepancy::Continue,
            taking: Taking::Refused,
        };
        self.engine().execute(request).map(drop)
    }

    pub(super) fn pause(&self, id: &str) {
        let request = PauseRequest { reason: Some("away".to_owned()), ..PauseRequest::default() };
        self.engine_for(Some(id)).execute(Request::Pause(request)).expect("the session is paused");
    }

    /// Resumes a session, adds a note and pauses the session. Returns true if the note was acknowledged.
    pub(super) fn work(&self, id: &str, text: &str) -> bool {
        if self.resume(id).is_err() {
            return false;
        }
        // With a key, the answer, which has the session's notes, is remembered.
        let (session, key) = (Some(id.to_owned()), Some(text.chars().rev().collect()));
        let keyed = Options { session, key, ..Options::default() };
        let done = self.engine_with(keyed).execute(Request::note(text)).is_ok();
        self.pause(id);
        done
    }

    /// Removes a text from a session as a person.
    pub(super) fn purge(&self, id: &str, text: &str) -> Result<()> {
        let options = Options { session: Some(id.to_owned()), person_present: true, ..Options::default() };
        let request = PurgeRequest { text: text.to_owned(), confirmed: true };
        self.engine_with(options).execute(Request::Purge(request)).map(drop)
    }

    /// The files beside the database, and the objects of the sidecar, that contain this text.
    pub(super) fn files_with(&self, text: &str) -> Vec<String> {
        let has = |bytes: &[u8]| bytes.windows(text.len()).any(|part| part == text.as_bytes());
        let beside = self.project.join(".git/leftoff");
        let mut found = Vec::new();
        let mut folders = vec![beside.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path())
            {
                if entry.is_dir() {
                    folders.push(entry);
                } else if has(&fs::read(&entry).expect("a file")) {
                    found.push(entry.display().to_string());
                }
            }
        }
        let mut git = super::super::remote::plain_git();
        git.arg("--git-dir").arg(beside.join("sync.git"));
        let objects = git.args(["cat-file", "--batch-all-objects", "--batch"]).output().expect("git runs");
        if has(&objects.stdout) {
            found.push("sync.git".to_owned());
        }
        found
    }

    pub(super) fn back_up(&self, to: &Path) {
        self.engine().store.backup(to).expect("a backup");
    }

    pub(super) fn has_store(&self) -> bool {
        self.database().exists()
    }

    fn database(&self) -> PathBuf {
        self.project.join(".git/leftoff/leftoff.db")
    }

    pub(super) fn restore(&self, from: &Path) {
        let database = self.database();
        for suffix in ["-wal", "-shm", ".lock"] {
            let _ = fs::remove_file(format!("{}{suffix}", database.display()));
        }
        fs::copy(from, database).expect("the store is restored");
    }

    pub(super) fn log(&self, id: &str) -> Vec<store::EventRow> {
        let id = SessionId::parse(id).expect("an id");
        self.engine().store.events(&id, 0, None).expect("its events")
    }

    pub(super) fn notes(&self, id: &str) -> Vec<String> {
        let id = SessionId::parse(id).expect("an id");
        let session = self.engine().replay(&id).expect("the session exists");
        session.notes.iter().map(|note| note.text.clone()).collect()
    }

    pub(super) fn has(&self, id: &str) -> bool {
        let id = SessionId::parse(id).expect("an id");
        self.engine().store.load(&id).expect("the session can be queried").is_some()
    }

    pub(super) fn forks(&self) -> Vec<String> {
        self.engine().forks().expect("its forks").into_iter().map(|fork| fork.id).collect()
    }

    /// Returns findings about broken hash chains, and about snapshots and items that do not match their log.
    pub(super) fn findings(&self) -> Vec<String> {
        let engine = self.engine();
        let findings = crate::doctor::session_findings(&engine).expect("sessions can be checked");
        let of_store = engine.store.check().expect("the store can be checked");
        findings.iter().map(|finding| format!("{finding:?}")).chain(of_store).collect()
    }
}
