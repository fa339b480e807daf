//! Runs a command in a session's context. Holds no lock and no database while it runs.

use crate::engine::{Engine, Intent, Options, Want};
use crate::error::{Error, Result};
use crate::sync::NATIVE;
use crate::words::{duration, shell_word};
use layouts::layout;
use model::id::SessionId;
use model::item::RunRef;
use model::lifecycle::Lifecycle;
use model::session::Session;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use std::ffi::{OsStr, OsString};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};
use store::{ActivityKind, ItemFilter, ItemRow};

/// Nobody waits long for a row that may be lost.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a command is told about the session that it runs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    pub session: Option<SessionId>,
    pub workspace: PathBuf,
    pub phase: String,
    /// The item that is held, or that is begun and nobody's, if one is.
    pub task: String,
    pub goal: String,
    /// Files that finished phases produced and that are there, and what a session's own tool has as its documents.
    pub documents: Vec<PathBuf>,
}

/// What came of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// The command's own, 128 + signal, 127 when it was not found, 126 when it could not be started.
    pub code: u8,
    pub took: Duration,
    /// Why it could not be started.
    pub not_started: Option<String>,
    /// A temporary workspace in which something was left.
    pub kept: Option<PathBuf>,
}

impl Context {
    /// The context of the session that is meant; a temporary workspace where none is active.
    pub fn find(options: &Options) -> Result<Self> {
        let named = options.session.is_some();
        match Engine::open(options.clone(), Intent::Query).and_then(|engine| engine.context()) {
            Ok(Some(context)) => Ok(context),
            Ok(None) => Self::temporary(),
            Err(Error::NoProject { .. } | Error::NoStore { .. } | Error::NoSession { .. }) if !named => {
                Self::temporary()
            }
            Err(error) => Err(error),
        }
    }

    fn temporary() -> Result<Self> {
        Ok(Self {
            session: None,
            workspace: temporary_folder()?,
            phase: String::new(),
            task: String::new(),
            goal: String::new(),
            documents: Vec::new(),
        })
    }

    /// The variables by which a command knows where it is. All of them are always set.
    pub fn variables(&self) -> Vec<(&'static str, OsString)> {
        let session = self.session.as_ref().map(SessionId::as_str).unwrap_or_default();
        // A path with the separator in it cannot be told apart from two.
        let documents = self.documents.iter().filter(|path| !path.to_string_lossy().contains(':'));
        let documents: Vec<&OsStr> = documents.map(|path| path.as_os_str()).collect();
        vec![
            ("LEFTOFF_SESSION", session.into()),
            ("LEFTOFF_WORKSPACE", self.workspace.clone().into()),
            ("LEFTOFF_PHASE", self.phase.clone().into()),
            ("LEFTOFF_TASK", self.task.clone().into()),
            ("LEFTOFF_GOAL", self.goal.clone().into()),
            ("LEFTOFF_DOCUMENTS", documents.join(OsStr::new(":"))),
        ]
    }

    /// Runs the command with this process's own input and output, and records afterwards that it ran.
    pub fn run(&self, options: &Options, command: &[OsString]) -> Ran {
        let begun = Instant::now();
        // Listened to before the child is there: no moment in which a signal would end us and leave it alone.
        let signals = Signals::new([SIGINT, SIGQUIT, SIGTERM, SIGHUP]).ok();
        let (code, not_started) = match self.spawn(command) {
            Ok(child) => (wait(child, signals), None),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => (127, Some(error.to_string())),
            Err(error) => (126, Some(error.to_string())),
        };
        let took = begun.elapsed();
        if not_started.is_none() {
            // What was run has been run, whether it could be told or not.
            let _ = self.tell(options, command, code, took);
        }
        Ran { code, took, not_started, kept: self.clean_up() }
    }

    fn spawn(&self, command: &[OsString]) -> std::io::Result<Child> {
        let (program, arguments) = command.split_first().ok_or(std::io::ErrorKind::NotFound)?;
        Command::new(program).args(arguments).envs(self.variables()).spawn()
    }

    fn tell(&self, options: &Options, command: &[OsString], code: u8, took: Duration) -> Result<()> {
        let Some(session) = &self.session else { return Ok(()) };
        let mut engine = Engine::open(options.clone(), Intent::Command)?;
        engine.set_patience(PATIENCE);
        let words: Vec<String> = command.iter().map(|word| shell_word(&word.to_string_lossy())).collect();
        let detail = format!("exit {code}, {}", duration(took.as_secs()));
        engine.record_activity_of(session, ActivityKind::Command, &[&words.join(" ")], Some(&detail))
    }

    /// An empty temporary workspace goes; one with something in it stays, and is told.
    fn clean_up(&self) -> Option<PathBuf> {
        if self.session.is_some() {
            return None;
        }
        // Only an empty folder can be removed this way: nothing that was written is ever lost.
        std::fs::remove_dir(&self.workspace).is_err().then(|| self.workspace.clone())
    }
}

impl Engine {
    /// Nothing where a layout that has one active session has none now: what waits is not written into unasked.
    fn context(&self) -> Result<Option<Context>> {
        let id = self.select(Want::Unfinished)?;
        let (_, session) = self.load(&id)?;
        let has_one = layout::by_name(&session.layout).is_some_and(|layout| layout.facts().exclusive);
        if has_one && self.options.session.is_none() && session.lifecycle != Lifecycle::Active {
            return Ok(None);
        }
        let workspace = self.make_workspace(&session)?;
        Ok(Some(Context {
            documents: self.documents(&session)?,
            phase: session.run().map(|run| run.current().id().to_string()).unwrap_or_default(),
            task: self.task(&session)?,
            goal: goal(&session),
            session: Some(id),
            workspace,
        }))
    }

    /// The item that whoever asks holds now, else one that is begun and that nobody holds, as other tools' files know
    /// them; the first of several. Empty when there is none.
    fn task(&self, session: &Session) -> Result<String> {
        let holder = self.actor(self.asking_agent()?.as_ref()).key();
        let now = self.clock.now();
        let is_held = |row: &ItemRow| row.lease_until.is_some_and(|until| until > now);
        let held = self.store.held_items(&session.id, &holder)?.into_iter().find(is_held);
        let found = match held {
            Some(held) => Some(held),
            None => self.begun_items(session)?.into_iter().find(|row| !is_held(row)),
        };
        Ok(found.map(|row| row.id.to_string()).unwrap_or_default())
    }

    /// Items of the current phase that are begun and have no part that is.
    fn begun_items(&self, session: &Session) -> Result<Vec<ItemRow>> {
        let Some(run) = session.run() else { return Ok(Vec::new()) };
        let filter = ItemFilter {
            run: Some(RunRef::from(run).to_string()),
            phase: Some(run.current().id().to_string()),
            status: Some("active".to_owned()),
            ..ItemFilter::default()
        };
        let begun = self.store.items(&session.id, &filter)?;
        let is_whole = |row: &ItemRow| begun.iter().any(|part| part.parent.as_ref() == Some(&row.id));
        Ok(begun.iter().filter(|row| !is_whole(row)).cloned().collect())
    }

    /// What finished phases of the current run declare as their output, or proved themselves by.
    fn documents(&self, session: &Session) -> Result<Vec<PathBuf>> {
        let Some(run) = session.run() else { return Ok(Vec::new()) };
        let definition = self.definition(&run.workflow.hash)?;
        let root = &self.project.root;
        let mut documents: Vec<PathBuf> = Vec::new();
        for phase in run.phases.iter().filter(|phase| phase.is_done()) {
            let defined = definition.as_ref().and_then(|workflow| workflow.phase(phase.id().as_str()));
            let produced = defined.map(|defined| defined.produces.as_slice()).unwrap_or_default();
            let ordinal = run.ordinal.to_string();
            let declared = produced.iter().map(|path| path.replace("{run}", &ordinal)).flat_map(|path| {
                // A native session's outputs are in its workspace, or in the project.
                [self.workspace(session).join(&path), root.join(&path)]
            });
            let proven = session.artifacts.values().map(|artifact| &artifact.newest);
            let proven = proven.filter(|artifact| artifact.phase.as_ref() == Some(phase.id()));
            documents.extend(declared.chain(proven.map(|artifact| root.join(&artifact.path))));
        }
        documents.extend(self.documents_of_its_tool(session));
        documents.retain(|path| path.is_file());
        let mut seen = std::collections::BTreeSet::new();
        documents.retain(|path| seen.insert(path.clone()));
        Ok(documents)
    }
}

impl Engine {
    fn documents_of_its_tool(&self, session: &Session) -> Vec<PathBuf> {
        let Some((located, told)) = self.read_whole(session) else { return Vec::new() };
        let root = self.root_of(session);
        told.context.iter().map(|path| root.join(located.spot.below_project(path))).collect()
    }
}

/// What is wanted; other tools have that in the title.
fn goal(session: &Session) -> String {
    let title = Some(&session.title).filter(|_| session.layout != NATIVE);
    session.goal.as_ref().or(title).cloned().unwrap_or_default()
}

/// Waits for the child as a shell does: what the terminal sends reaches the child by itself and must not end us
/// before it; what is sent to us alone is passed on.
fn wait(mut child: Child, signals: Option<Signals>) -> u8 {
    let pid = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    let handle = signals.as_ref().map(Signals::handle);
    let passing_on = signals.zip(pid).map(|(mut signals, pid)| {
        std::thread::spawn(move || {
            for signal in signals.forever() {
                let passed = match signal {
                    SIGTERM => rustix::process::Signal::TERM,
                    SIGHUP => rustix::process::Signal::HUP,
                    _ => continue,
                };
                let _ = rustix::process::kill_process(pid, passed);
            }
        })
    });
    let status = child.wait();
    if let (Some(handle), Some(passing_on)) = (handle, passing_on) {
        handle.close();
        let _ = passing_on.join();
    }
    let code = status.ok().and_then(|status| status.code().or(status.signal().map(|signal| 128 + signal)));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// A folder that nobody else can look into and that was not there before.
fn temporary_folder() -> Result<PathBuf> {
    let parent = std::env::temp_dir();
    let mut tries = 0;
    loop {
        let folder = parent.join(format!("leftoff-{}", crate::clock::new_session_id()));
        match DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && tries < 16 => tries += 1,
            Err(source) => return Err(failed(&parent, source)),
        }
    }
}

fn failed(parent: &Path, source: std::io::Error) -> Error {
    Error::io(format!("making a temporary workspace in {}", parent.display()), source)
}
