//! Runs a command in a session's context. Meanwhile, holds no lock and no database.

use crate::NATIVE;
use crate::engine::{Engine, Intent, Options, Want};
use crate::error::{Error, Result};
use crate::items::{read_item, text_of};
use crate::time_limits::EXEC_PATIENCE;
use crate::words::{duration, shell_word};
use layouts::layout;
use model::id::SessionId;
use model::item::{Item, RunRef};
use model::lifecycle::Lifecycle;
use model::session::Session;
use serde_json::Value;
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

/// The name of an item's field with the item's requirements.
const REQUIREMENTS: &str = "requirements";

/// The data of a session that a command gets in its environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    pub session: Option<SessionId>,
    pub workspace: PathBuf,
    pub phase: String,
    /// The item that the caller holds. Otherwise, an item that was started and that nobody holds.
    pub task: Option<Task>,
    pub goal: String,
    /// Existing files of finished phases, and the documents of the session's own tool.
    pub documents: Vec<PathBuf>,
}

/// The item on which a command works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    pub id: String,
    pub title: String,
    /// The item's requirements, one per line.
    pub requirements: String,
}

/// The result of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// The command's own exit code; 128 + the number of the signal that ended it; 127 if it was not found; 126 if it
    /// could not be started.
    pub code: u8,
    pub took: Duration,
    /// Why the command could not be started; `None` if it ran.
    pub not_started: Option<String>,
    /// The path of the temporary workspace, if it was not removed because it is not empty.
    pub kept: Option<PathBuf>,
}

impl Task {
    fn of(item: &Item) -> Self {
        let requirements = match item.fields.get(REQUIREMENTS) {
            Some(Value::Array(list)) => list.iter().map(text_of).collect::<Vec<_>>().join("\n"),
            Some(value) => text_of(value),
            None => String::new(),
        };
        // Foreign text may contain a zero byte, which is not allowed in a variable.
        let plain = |text: &str| text.replace('\0', " ");
        Self { id: item.id.to_string(), title: plain(&item.title), requirements: plain(&requirements) }
    }
}

impl Context {
    /// Returns the context of the selected session. If no session is active, returns a context with a temporary
    /// workspace.
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
            task: None,
            goal: String::new(),
            documents: Vec::new(),
        })
    }

    /// Returns the environment variables of the context. All of them are always set.
    pub fn variables(&self) -> Vec<(&'static str, OsString)> {
        let session = self.session.as_ref().map(SessionId::as_str).unwrap_or_default();
        // A path that contains the separator would look like two paths, so it is omitted.
        let documents = self.documents.iter().filter(|path| !path.to_string_lossy().contains(':'));
        let documents: Vec<&OsStr> = documents.map(|path| path.as_os_str()).collect();
        let of_task = |part: fn(&Task) -> &String| self.task.as_ref().map(part).cloned().unwrap_or_default();
        vec![
            ("LEFTOFF_SESSION", session.into()),
            ("LEFTOFF_WORKSPACE", self.workspace.clone().into()),
            ("LEFTOFF_PHASE", self.phase.clone().into()),
            ("LEFTOFF_TASK", of_task(|task| &task.id).into()),
            ("LEFTOFF_TASK_TITLE", of_task(|task| &task.title).into()),
            ("LEFTOFF_TASK_REQUIREMENTS", of_task(|task| &task.requirements).into()),
            ("LEFTOFF_GOAL", self.goal.clone().into()),
            ("LEFTOFF_DOCUMENTS", documents.join(OsStr::new(":"))),
        ]
    }

    /// Runs the command with this process's own input and output, then records it.
    pub fn run(&self, options: &Options, command: &[OsString]) -> Ran {
        let started = Instant::now();
        // The handlers are registered before the child starts, so that no signal can end this process and leave the
        // child running.
        let signals = Signals::new([SIGINT, SIGQUIT, SIGTERM, SIGHUP]).ok();
        let (code, not_started) = match self.spawn(command) {
            Ok(child) => (wait(child, signals), None),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => (127, Some(error.to_string())),
            Err(error) => (126, Some(error.to_string())),
        };
        let took = started.elapsed();
        if not_started.is_none() {
            // The command has run. If this cannot be recorded, the error is ignored.
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
        engine.set_patience(EXEC_PATIENCE);
        let words: Vec<String> = command.iter().map(|word| shell_word(&word.to_string_lossy())).collect();
        let detail = format!("exit {code}, {}", duration(took.as_secs()));
        engine.record_activity_of(session, ActivityKind::Command, &[&words.join(" ")], Some(&detail))
    }

    /// Removes the temporary workspace if it is empty. Otherwise it stays, and its path is returned.
    fn clean_up(&self) -> Option<PathBuf> {
        if self.session.is_some() {
            return None;
        }
        // `remove_dir` removes only an empty folder, so no file is ever lost.
        std::fs::remove_dir(&self.workspace).is_err().then(|| self.workspace.clone())
    }
}

impl Engine {
    /// Returns the context for the command. `None` if the layout allows one active session, none is active and none was
    /// named: a command never writes to a paused session unless the user names it.
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

    /// Returns the item that the caller holds. Otherwise, returns the first item that was started and that nobody
    /// holds, as in other tools' files.
    fn task(&self, session: &Session) -> Result<Option<Task>> {
        let holder = self.actor(self.asking_agent()?.as_ref()).key();
        let now = self.clock.now();
        let is_held = |item: &Item| item.live_lease(now).is_some();
        let read = |rows: Vec<ItemRow>| rows.iter().map(read_item).collect::<Result<Vec<Item>>>();
        let held = read(self.store.held_items(&session.id, &holder)?)?.into_iter().find(is_held);
        let found = match held {
            Some(held) => Some(held),
            None => read(self.started_items(session)?)?.into_iter().find(|item| !is_held(item)),
        };
        Ok(found.as_ref().map(Task::of))
    }

    /// Returns started items of the current phase. A container is omitted if one of its parts has been started.
    fn started_items(&self, session: &Session) -> Result<Vec<ItemRow>> {
        let Some(run) = session.run() else { return Ok(Vec::new()) };
        let filter = ItemFilter {
            run: Some(RunRef::from(run).to_string()),
            phase: Some(run.current().id().to_string()),
            status: Some("active".to_owned()),
            ..ItemFilter::default()
        };
        let started = self.store.items(&session.id, &filter)?;
        let is_whole = |row: &ItemRow| started.iter().any(|part| part.parent.as_ref() == Some(&row.id));
        Ok(started.iter().filter(|row| !is_whole(row)).cloned().collect())
    }

    /// Returns the declared outputs of the current run's finished phases, and the files that prove these phases.
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

/// Returns the session's goal. Other tools store the goal as the title.
fn goal(session: &Session) -> String {
    let title = Some(&session.title).filter(|_| session.layout != NATIVE);
    session.goal.as_ref().or(title).cloned().unwrap_or_default()
}

/// Waits for the child as a shell does. Signals from the terminal reach the child directly, and must not end this
/// process first. Signals that only this process receives are passed on to the child.
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

/// Creates a private folder and returns its path.
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
    Error::io(format!("creating a temporary workspace in {}", parent.display()), source)
}
