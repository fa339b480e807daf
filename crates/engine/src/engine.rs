//! The engine: a project, its store, a clock, and who is asking. Opens them; commands and queries are beside it.

use crate::clock::{Clock, SystemClock};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::opening::open_store;
use crate::outside;
use crate::place::Project;
use crate::presence::AgentIdentity;
use crate::processes::{Processes, SystemProcesses};
use crate::sync::{NATIVE, Seen};
use crate::view::Warning;
use model::event::{Event, Recorded};
use model::id::SessionId;
use model::lifecycle::Lifecycle;
use model::nearest::nearest;
use model::session::{FOLD_VERSION, Session};
use model::workflow::Workflow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;
use store::{EventRow, Filter, LaidOver, Loaded, MemoryStore, SessionRow, Store};

/// How long a command waits for its turn to write.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// What a front end was told before any command.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Where to look for the project; the current folder when it is not given.
    pub project: Option<PathBuf>,
    /// A session's id, the beginning of one, or its number.
    pub session: Option<String>,
    /// Makes a command count once.
    pub key: Option<String>,
    /// A person may sit at the terminal that this command came from; an agent can have a terminal as well.
    pub person_present: bool,
    /// The agent whose own variable is in the environment, by its name.
    pub marked_agent: Option<&'static str>,
    /// Where there is no project, look for sessions that need none. A hook has no time for that.
    pub anywhere: bool,
    /// The agent that asks, as it says itself: for one that neither its environment nor its process tells.
    pub agent: Option<AgentIdentity>,
    /// Whoever asks is no parent of this process: its environment and its parents say nothing about them.
    pub from_afar: bool,
}

/// Who runs this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub user: String,
    pub host: String,
    pub home: Option<PathBuf>,
    /// Known from the environment that the agent was given.
    pub agent: Option<AgentIdentity>,
    /// Whoever started the agent switched requirements off for it.
    pub skips_requirements: bool,
}

impl Caller {
    /// Refuses an agent session that is named in a way that nobody can be: it must not count as a person.
    pub fn of_this_process() -> Result<Self> {
        let named = variable("LEFTOFF_AGENT_SESSION");
        let agent = named.as_deref().map(|text| AgentIdentity::parse(text).ok_or_else(|| bad_agent(text)));
        Ok(Self { agent: agent.transpose()?.or_else(named_by_its_agent), ..Self::unnamed() })
    }

    /// The caller of a hook, which must never fail: an agent session that cannot be read is not known.
    fn of_hook() -> Self {
        Self::of_this_process().unwrap_or_else(|_| Self::unnamed())
    }

    fn unnamed() -> Self {
        Self {
            user: variable("USER").or_else(|| variable("LOGNAME")).or_else(login_name).unwrap_or_default(),
            host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            home: std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from),
            agent: None,
            skips_requirements: variable("CLAUDE_SKIP_REQUIREMENTS").is_some(),
        }
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Agents that name their session in the environment of every command by themselves.
fn named_by_its_agent() -> Option<AgentIdentity> {
    [("CODEX_SESSION_ID", "codex"), ("CLAUDE_SESSION_ID", "claude")]
        .into_iter()
        .find_map(|(name, agent)| AgentIdentity::parse(&format!("{agent}:{}", variable(name)?)))
}

fn bad_agent(text: &str) -> Error {
    Error::WrongUsage {
        message: format!("LEFTOFF_AGENT_SESSION is not an agent session: {text:?}"),
        hint:
            "it is the agent's name and its session's id, such as claude:a4326893; without an agent, unset it"
                .into(),
    }
}

/// The name of the user that runs this process, as the system's list of users has it.
fn login_name() -> Option<String> {
    let uid = rustix::process::getuid().as_raw().to_string();
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == uid).then(|| name.to_owned())
    })
}

/// So many sessions whose files were only mended are passed over when the one is looked for that was worked on last.
const MOST_MENDED: usize = 20;

/// What the store is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intent {
    /// Writes nothing; a project without a store has no sessions.
    Query,
    /// Changes a session that exists.
    Command,
    /// Sets the project up if need be.
    Create,
    /// Answers an agent's hook: waits for nobody, passes over a broken setting, and reads where it cannot write.
    Hook { writes: bool },
}

/// Which session a command means when none is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Want {
    /// The active one of this worktree, else the one with the newest activity, finished or not.
    Latest,
    /// The same, unless it is finished.
    Unfinished,
}

pub struct Engine {
    pub(crate) project: Project,
    pub(crate) config: Config,
    pub(crate) store: LaidOver,
    /// What was found in files of sessions that have some.
    pub(crate) seen: Seen,
    /// Sessions that only files tell of are looked for. A hook has no time for that.
    pub(crate) looks_around: bool,
    pub(crate) clock: Box<dyn Clock>,
    pub(crate) processes: Box<dyn Processes>,
    pub(crate) caller: Caller,
    pub(crate) options: Options,
    /// What opening found that every view should carry.
    pub(crate) warnings: Vec<Warning>,
    pub(crate) patience: Duration,
    progress: Option<Box<Tell>>,
    /// A definition never changes under its hash, and a command asks for the same one at its gate and for its view.
    definitions: RefCell<BTreeMap<String, Rc<Workflow>>>,
}

type Tell = dyn Fn(Progress<'_>);

/// A check's command that is running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'a> {
    pub check: &'a str,
    pub command: &'a str,
    pub elapsed: Duration,
}

impl Engine {
    pub fn open(options: Options, intent: Intent) -> Result<Self> {
        let from = match &options.project {
            Some(folder) => folder.clone(),
            None => {
                std::env::current_dir().map_err(|source| Error::io("finding the current folder", source))?
            }
        };
        let found = Project::find(&from);
        if let Some(folder) = outside::meant(&options, found.as_ref().ok())? {
            let options = outside::options_for(&folder, options);
            return Self::open_at(Project::outside(&folder), options, intent);
        }
        let project = match (found, intent) {
            (Err(_), Intent::Create) => Project::find_or_here(&from)?,
            (found, Intent::Create | Intent::Query | Intent::Command | Intent::Hook { .. }) => found?,
        };
        Self::open_at(project, options, intent)
    }

    /// The engine for a project that was found.
    pub(crate) fn open_at(project: Project, options: Options, intent: Intent) -> Result<Self> {
        let mut warnings = Vec::new();
        let config = match Config::read(&project) {
            Ok(config) => config,
            // A mistake in a setting must not hide where things stand.
            Err(error) if matches!(intent, Intent::Query | Intent::Hook { .. }) => {
                warnings.push(Warning::from_error("config", &error));
                Config::default()
            }
            Err(error) => return Err(error),
        };
        let caller = match intent {
            Intent::Hook { .. } => Caller::of_hook(),
            Intent::Query | Intent::Command | Intent::Create => Caller::of_this_process()?,
        };
        let store = open_store(&project, intent, &mut warnings)?;
        Ok(Self {
            project,
            config,
            store,
            seen: Seen::default(),
            looks_around: !matches!(intent, Intent::Hook { .. }),
            clock: Box::new(SystemClock),
            processes: Box::new(SystemProcesses::default()),
            caller,
            options,
            warnings,
            patience: PATIENCE,
            progress: None,
            definitions: RefCell::default(),
        })
    }

    /// For hooks, where the store cannot be opened: what does not need a session still works, and nothing is known of
    /// any. Never used to change one.
    pub fn without_store(options: Options) -> Result<Self> {
        let from = match &options.project {
            Some(folder) => folder.clone(),
            None => {
                std::env::current_dir().map_err(|source| Error::io("finding the current folder", source))?
            }
        };
        Ok(Self {
            project: Project::find(&from)?,
            config: Config::default(),
            store: LaidOver::new(Box::new(MemoryStore::default())),
            seen: Seen::default(),
            looks_around: false,
            clock: Box::new(SystemClock),
            processes: Box::new(SystemProcesses::default()),
            caller: Caller::of_hook(),
            options,
            warnings: Vec::new(),
            patience: PATIENCE,
            progress: None,
            definitions: RefCell::default(),
        })
    }

    pub fn project(&self) -> &Project {
        &self.project
    }

    /// The time that every duration is told against.
    pub fn now(&self) -> jiff::Timestamp {
        self.clock.now()
    }

    /// Waits at most this long for a turn to write: a hook has little time.
    pub fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// Called now and then while a check's command runs.
    pub fn on_progress(&mut self, tell: impl Fn(Progress<'_>) + 'static) {
        self.progress = Some(Box::new(tell));
    }

    pub(crate) fn tell_progress(&self, check: &str, command: &str, elapsed: Duration) {
        if let Some(tell) = &self.progress {
            tell(Progress { check, command, elapsed });
        }
    }

    /// The session that is meant: named, else bound to the asking agent, else this worktree's.
    pub(crate) fn select(&self, want: Want) -> Result<SessionId> {
        match &self.options.session {
            Some(asked) => self.resolve(asked),
            None => self.unnamed(want),
        }
    }

    /// The session that is meant where none is named.
    pub(crate) fn unnamed(&self, want: Want) -> Result<SessionId> {
        if let Some(bound) = self.open_bound_session()? {
            return Ok(bound);
        }
        let latest = self.latest_of_worktree()?;
        let is_another = |id: &SessionId| latest.as_ref().is_none_or(|row| row.id != *id);
        if self.looks_around
            && let Some(active) = self.active_by_files(latest.as_ref()).filter(is_another)
        {
            return Ok(active);
        }
        // Asked once: it may take a look at its files.
        let going_on = latest.as_ref().filter(|row| self.goes_on(row));
        if self.looks_around {
            let foreign = match going_on {
                Some(row) => self.gone_on_to(row),
                None => self.other_that_goes_on(latest.as_ref(), want == Want::Latest),
            };
            if let Some(foreign) = foreign {
                return Ok(foreign);
            }
        }
        let fallback = match (&latest, want) {
            // What was worked on last is finished: an older one that waits is not what is meant.
            (Some(_), Want::Unfinished) => going_on.map(|row| row.id.clone()),
            (Some(row), Want::Latest) => Some(row.id.clone()),
            (None, Want::Latest) => self.bound_session()?,
            (None, Want::Unfinished) => None,
        };
        fallback.ok_or_else(|| Error::NoSession { worktree: self.project.worktree() })
    }

    /// The session that a text names: a number of the list, an id, the beginning of one, or else a part of one.
    pub(crate) fn resolve(&self, asked: &str) -> Result<SessionId> {
        let is_number = asked.bytes().all(|byte| byte.is_ascii_digit()) && !asked.is_empty();
        // No list writes a number with zeros before it; the beginning of an id may have them.
        if is_number
            && !asked.starts_with('0')
            && let Some(numbered) = self.with_number(asked.parse().unwrap_or(u64::MAX))?
        {
            return Ok(numbered);
        }
        // In a folder of its own a session is meant by that folder's name, whatever else was called so.
        if self.project.is_outside
            && let Some(named) = self.in_a_place_called(asked)?
        {
            return Ok(named);
        }
        if let Ok(id) = SessionId::parse(asked)
            && let Some(loaded) = self.store.load(&id)?
        {
            // What has that name in another worktree is not what has it here.
            let is_elsewhere = self.is_of_another_worktree(&loaded)?;
            let here = if is_elsewhere { self.in_a_place_called(asked)? } else { None };
            return Ok(here.unwrap_or(id));
        }
        let mut found = if asked.is_empty() { Vec::new() } else { self.store.with_prefix(asked, 10)? };
        found.extend(self.foreign_ids(asked));
        if let Some(exact) = found.iter().position(|id| id.as_str() == asked) {
            return Ok(found.swap_remove(exact));
        }
        if let Some(named) = self.in_a_place_called(asked)? {
            return Ok(named);
        }
        if let Some(same) = found.iter().position(|id| id.as_str().eq_ignore_ascii_case(asked)) {
            return Ok(found.swap_remove(same));
        }
        // A number that no list shows is the beginning of an id, and never a part of one.
        if found.is_empty() && (!is_number || asked.starts_with('0')) {
            found = self.ids_with_part(asked)?;
        }
        match found.len() {
            1 => Ok(found.swap_remove(0)),
            0 if is_number => Err(self.unknown_number(asked)),
            0 => Err(self.unknown_session(asked)?),
            _ => Err(Error::AmbiguousSession {
                asked: asked.to_owned(),
                candidates: found.iter().map(ToString::to_string).collect(),
            }),
        }
    }

    /// The session that a list shows with this number.
    fn with_number(&self, number: u64) -> Result<Option<SessionId>> {
        match self.store.with_number(number)? {
            Some(found) => Ok(Some(found)),
            None => self.foreign_with_number(number),
        }
    }

    fn unknown_number(&self, asked: &str) -> Error {
        let nearest = match self.ids_with_part(asked).unwrap_or_default().as_slice() {
            [one] => Some(one.to_string()),
            _ => None,
        };
        Error::UnknownSession { asked: asked.to_owned(), nearest }
    }

    /// A session and its row, with what its files tell laid over, if it has any.
    pub(crate) fn load(&self, id: &SessionId) -> Result<(Loaded, Session)> {
        self.attend(id)?;
        self.load_kept(id)
    }

    /// A session and its row as they are kept, or laid over already.
    pub(crate) fn load_kept(&self, id: &SessionId) -> Result<(Loaded, Session)> {
        let Some(loaded) = self.store.load(id)? else {
            return Err(Error::UnknownSession { asked: id.to_string(), nearest: None });
        };
        let session = self.folded(&loaded)?;
        Ok((loaded, session))
    }

    /// From its snapshot where that can be trusted, else from its log.
    pub(crate) fn folded(&self, loaded: &Loaded) -> Result<Session> {
        let trusted = loaded
            .snapshot
            .as_ref()
            .filter(|snapshot| {
                snapshot.fold_version == FOLD_VERSION && snapshot.version == loaded.row.version
            })
            .and_then(|snapshot| serde_json::from_str(&snapshot.body).ok());
        match trusted {
            Some(session) => Ok(session),
            None => Ok(self.replay_kept(&loaded.row.id)?.trimmed()),
        }
    }

    /// A session folded from its whole log.
    pub(crate) fn replay(&self, id: &SessionId) -> Result<Session> {
        self.attend(id)?;
        self.replay_kept(id)
    }

    pub(crate) fn replay_kept(&self, id: &SessionId) -> Result<Session> {
        let events = self.history_kept(id)?;
        Session::fold(&events).ok_or_else(|| Error::BrokenLog {
            session: id.to_string(),
            why: "it does not begin with the session's start".to_owned(),
        })
    }

    pub(crate) fn history(&self, id: &SessionId) -> Result<Vec<Recorded>> {
        self.attend(id)?;
        self.history_kept(id)
    }

    fn history_kept(&self, id: &SessionId) -> Result<Vec<Recorded>> {
        self.store.events(id, 0, None)?.iter().map(|row| read_event(id, row)).collect()
    }

    /// The definition that a run was started with.
    pub(crate) fn definition(&self, hash: &str) -> Result<Option<Rc<Workflow>>> {
        if let Some(known) = self.definitions.borrow().get(hash) {
            return Ok(Some(Rc::clone(known)));
        }
        let found: Option<Workflow> =
            self.store.definition(hash)?.and_then(|body| serde_json::from_str(&body).ok());
        let found = found.map(Rc::new);
        if let Some(found) = &found {
            self.definitions.borrow_mut().insert(hash.to_owned(), Rc::clone(found));
        }
        Ok(found)
    }

    /// A definition that was read here and is about to be kept: what is stored under its hash may be another one.
    pub(crate) fn know_definition(&self, workflow: &Workflow) {
        self.definitions.borrow_mut().insert(workflow.hash.clone(), Rc::new(workflow.clone()));
    }

    /// The active session of this worktree, else the one with the newest activity.
    pub(crate) fn latest_of_worktree(&self) -> Result<Option<SessionRow>> {
        let worktree = self.project.worktree();
        if let Some(active) = self.store.active(&worktree)?
            && let Some(loaded) = self.store.load(&active)?
        {
            return Ok(Some(loaded.row));
        }
        let mut filter = Filter { worktree: Some(worktree), limit: Some(1), ..Filter::default() };
        let Some(newest) = self.store.list(&filter)?.pop().map(|listed| listed.row) else { return Ok(None) };
        let made_room = newest.lifecycle == "paused";
        if !made_room && !self.is_only_mended(&newest)? {
            return Ok(Some(newest));
        }
        filter.limit = Some(MOST_MENDED);
        let rows: Vec<SessionRow> = self.store.list(&filter)?.into_iter().map(|listed| listed.row).collect();
        // One that was paused to make room for another did not change after it.
        let is_newcomer =
            |row: &&SessionRow| row.updated_at == newest.updated_at && row.lifecycle == "active";
        if let Some(newcomer) = rows.iter().find(is_newcomer).filter(|_| made_room) {
            return Ok(Some(newcomer.clone()));
        }
        for row in rows {
            if !self.is_only_mended(&row)? {
                return Ok(Some(row));
            }
        }
        Ok(Some(newest))
    }

    /// Its files were mended and so it was taken in; nobody has worked on it here.
    fn is_only_mended(&self, row: &SessionRow) -> Result<bool> {
        if row.layout == NATIVE {
            return Ok(false);
        }
        let last = self.store.events(&row.id, row.version.saturating_sub(1), None)?;
        Ok(last.last().is_some_and(|event| event.kind == "adopted"))
    }

    /// The session of this worktree that was paused, or failed, last.
    pub(crate) fn waiting(&self) -> Result<Option<SessionId>> {
        let kept = self.waiting_kept()?;
        let foreign = self.waiting_foreign();
        let is_later = |at: &jiff::Timestamp| kept.as_ref().is_none_or(|row| row.updated_at < *at);
        match foreign {
            Some((at, id)) if is_later(&at) => Ok(Some(id)),
            Some(_) | None => Ok(kept.map(|row| row.id)),
        }
    }

    fn waiting_kept(&self) -> Result<Option<SessionRow>> {
        let filter = Filter {
            lifecycles: vec!["paused".to_owned(), "failed".to_owned()],
            worktree: Some(self.project.worktree()),
            limit: Some(MOST_MENDED),
            ..Filter::default()
        };
        let rows: Vec<SessionRow> = self.store.list(&filter)?.into_iter().map(|listed| listed.row).collect();
        let Some(newest) = rows.first() else { return Ok(None) };
        // Of those that were kept in one moment some only counted as paused, since what they did last.
        let together = rows.iter().take_while(|row| row.updated_at == newest.updated_at).count();
        let stopped = |row: &&SessionRow| match self.load(&row.id).map(|(_, session)| session.lifecycle) {
            Ok(Lifecycle::Paused { at, .. }) => at,
            Ok(_) | Err(_) => row.updated_at,
        };
        // The first of several.
        Ok(rows[..together].iter().rev().max_by_key(stopped).cloned())
    }

    /// What the asking agent is bound to, unless that is finished.
    pub(crate) fn open_bound_session(&self) -> Result<Option<SessionId>> {
        let Some(bound) = self.bound_session()? else { return Ok(None) };
        let is_open = self.store.load(&bound)?.is_some_and(|found| self.goes_on(&found.row));
        Ok(is_open.then_some(bound))
    }

    fn bound_session(&self) -> Result<Option<SessionId>> {
        let Some(identity) = self.asking_agent()? else { return Ok(None) };
        Ok(self.store.agent(&identity.agent, &identity.id)?.and_then(|row| row.session))
    }

    fn unknown_session(&self, asked: &str) -> Result<Error> {
        let some = Filter { limit: Some(1_000), ..Filter::default() };
        let ids: Vec<String> =
            self.store.list(&some)?.into_iter().map(|listed| listed.row.id.to_string()).collect();
        Ok(Error::UnknownSession {
            asked: asked.to_owned(),
            nearest: nearest(asked, ids.iter().map(String::as_str)).map(ToOwned::to_owned),
        })
    }
}

pub(crate) fn is_unfinished(lifecycle: &str) -> bool {
    Lifecycle::UNFINISHED.contains(&lifecycle)
}

/// A kept event as the model knows it.
pub(crate) fn read_event(id: &SessionId, row: &EventRow) -> Result<Recorded> {
    Ok(Recorded {
        version: row.version,
        at: row.at,
        actor: serde_json::from_str(&row.actor).map_err(|error| Error::BrokenLog {
            session: id.to_string(),
            why: format!("the actor of event {}: {error}", row.version),
        })?,
        event: Event::read(&row.kind, &row.body),
    })
}
