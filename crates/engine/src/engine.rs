//! The engine: a project, its store, a clock, and the caller. This file opens them; commands and queries are in other
//! files.

mod caller;
mod loading;
mod session_names;
#[cfg(test)]
mod tests;

pub use caller::Caller;
pub use loading::Reading;
pub(crate) use loading::{Defined, LastKept, advanced, read_event};

use crate::NATIVE;
use crate::clock::{Clock, ServerClock, SystemClock};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::foreign::{Aim, Scope};
use crate::long_work::Watcher;
use crate::open_store::{open_on_server, open_store};
use crate::outside_projects;
use crate::presence::AgentIdentity;
use crate::processes::{Processes, SystemProcesses};
use crate::project::Project;
use crate::server_store::Team;
use crate::sharing::KnownSettings;
use crate::time_limits::PATIENCE;
use crate::view::Warning;
use model::id::SessionId;
use model::lifecycle::Lifecycle;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use store::{Filter, SessionRow, Store, WithUncommitted};

/// Options common to all commands.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The folder from which to look for the project; by default the current folder.
    pub project: Option<PathBuf>,
    /// The session that the command names: an id, the beginning of an id, or a number.
    pub session: Option<String>,
    /// The key under which a command runs only once.
    pub key: Option<String>,
    /// True if a person may be at the terminal of this command; agents can have terminals too.
    pub person_present: bool,
    /// The agent whose environment variable is set, if any.
    pub marked_agent: Option<&'static str>,
    /// True to look for sessions outside projects if the folder is in no project. A hook has no time for this search.
    pub anywhere: bool,
    /// The agent that the caller says it is. Used if neither environment nor processes identify an agent.
    pub agent: Option<AgentIdentity>,
    /// True if the caller is not an ancestor process of this one. Environment and parent processes then say nothing
    /// about the caller.
    pub from_afar: bool,
    /// Is called with the progress of long work.
    pub watcher: Watcher,
}

/// The maximum number of sessions examined to find the last one worked on. Sessions whose only change was a repair of
/// their files are skipped.
const MOST_REPAIRED: usize = 20;

/// The purpose for which the store is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intent {
    /// Only read. A project without a store then has no sessions.
    Query,
    /// Change an existing session.
    Command,
    /// Set up the project if necessary.
    Create,
    /// Answer an agent's hook: wait for nobody, ignore a broken setting, and only read if writing is impossible.
    Hook(HookNeeds),
    /// Run a command that needs no session and must work even if the store cannot be opened.
    WithoutStore,
}

/// The access to the store that a hook needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookNeeds {
    Reads,
    Writes,
    /// Writes, at the start of a conversation. This hook may wait longer for a server than others.
    Arrives,
    /// Writes down what an agent did, and reads nothing. With a server, the record goes into the queue on this machine.
    WritesDown,
}

/// The session that a command uses if none is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Want {
    /// The active session of this worktree. Without one, the most recently used session, even if it is finished.
    Latest,
    /// The session that `Latest` means, unless it is finished.
    Unfinished,
    /// The active session. Without one, the last session that was paused or failed.
    Resumable,
}

pub struct Engine {
    pub(crate) project: Project,
    pub(crate) config: Config,
    /// The server with the store; `None` if the store is a file.
    pub(crate) team: Option<Team>,
    /// True if hooks put their records into the queue on this machine. The next command sends them to the server.
    pub(crate) queues: bool,
    pub(crate) store: WithUncommitted,
    /// Observations of sessions with files, and the aim for which they were made.
    pub(crate) scope: Scope,
    /// True to look for sessions that are known only from files. Among hooks, only the one at the start of a
    /// conversation has time for that.
    pub(crate) looks_around: bool,
    pub(crate) clock: Box<dyn Clock>,
    pub(crate) processes: Box<dyn Processes>,
    pub(crate) caller: Caller,
    pub(crate) options: Options,
    /// The name of the person at the terminal. Remembered, so that git is asked only once.
    pub(crate) person_name: OnceCell<String>,
    /// Warnings that arose when the engine was opened. Every view shows them.
    pub(crate) warnings: Vec<Warning>,
    pub(crate) patience: Patience,
    /// When the store must be copied next; `None` before this is computed.
    pub(crate) next_copy: Option<jiff::Timestamp>,
    /// Definitions by hash. They can be cached, because a definition never changes under its hash. A command needs the
    /// same definition for its gate and for its view.
    definitions: RefCell<BTreeMap<String, Defined>>,
    pub(crate) sharing_folder: OnceCell<PathBuf>,
    pub(crate) sharing_settings: RefCell<KnownSettings>,
    pub(crate) last_kept: RefCell<Option<LastKept>>,
}

/// How long to wait for other processes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Patience {
    /// Every wait may take this long.
    Each(Duration),
    /// All waits together may last until this moment. Hooks have such a common limit.
    Until(Instant),
}

impl Patience {
    /// Returns how long the next wait may take.
    pub(crate) fn left(self) -> Duration {
        match self {
            Self::Each(longest) => longest,
            Self::Until(end) => end.saturating_duration_since(Instant::now()),
        }
    }
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
        if let Some(folder) = outside_projects::meant(&options, found.as_ref().ok())? {
            let options = outside_projects::options_for(&folder, options);
            return Self::open_at(Project::outside(&folder), options, intent);
        }
        let project = match (found, intent) {
            (Err(_), Intent::Create) => Project::find_or_here(&from)?,
            (
                found,
                Intent::Create | Intent::Query | Intent::Command | Intent::Hook(_) | Intent::WithoutStore,
            ) => found?,
        };
        Self::open_at(project, options, intent)
    }

    /// Opens the engine for a project.
    pub(crate) fn open_at(project: Project, options: Options, intent: Intent) -> Result<Self> {
        let mut warnings = Vec::new();
        let config = match Config::read(&project) {
            _ if intent == Intent::WithoutStore => Config::default(),
            Ok(config) => config,
            // In spite of a mistake in a setting, queries and hooks must show the state of the work.
            Err(error) if matches!(intent, Intent::Query | Intent::Hook(_)) => {
                warnings.push(Warning::from_error("config", &error));
                Config::default()
            }
            Err(error) => return Err(error),
        };
        let caller = match intent {
            Intent::Hook(_) | Intent::WithoutStore => Caller::of_hook(),
            Intent::Query | Intent::Command | Intent::Create => Caller::of_this_process()?,
        };
        let team = if intent == Intent::WithoutStore { None } else { Team::of(&project, &config)? };
        let store = match &team {
            Some(team) => open_on_server(&project, team, intent)?,
            None => open_store(&project, intent, &options.watcher, &mut warnings)?,
        };
        let clock = clock_of(&store);
        let mut engine = Self {
            project,
            config,
            queues: team.is_some() && intent == Intent::Hook(HookNeeds::WritesDown),
            team,
            store,
            scope: Scope::of(match intent {
                Intent::Query | Intent::Hook(_) | Intent::WithoutStore => Aim::Look,
                Intent::Command | Intent::Create => Aim::Change,
            }),
            looks_around: match intent {
                Intent::Hook(needs) => needs == HookNeeds::Arrives,
                Intent::WithoutStore => false,
                Intent::Query | Intent::Command | Intent::Create => true,
            },
            clock,
            processes: Box::new(SystemProcesses::default()),
            caller,
            options,
            person_name: OnceCell::new(),
            warnings,
            patience: Patience::Each(PATIENCE),
            next_copy: None,
            definitions: RefCell::default(),
            sharing_folder: OnceCell::new(),
            sharing_settings: RefCell::default(),
            last_kept: RefCell::default(),
        };
        if engine.team.is_some() && writes_to_server(intent) {
            engine.send_queue();
        }
        Ok(engine)
    }

    pub fn project(&self) -> &Project {
        &self.project
    }

    /// Returns the current time, from which all durations are computed.
    pub fn now(&self) -> jiff::Timestamp {
        self.clock.now()
    }

    /// False for a query, and for a hook that only reads.
    pub(crate) fn may_write(&self) -> bool {
        self.scope.aim == Aim::Change
    }

    /// Limits the wait for the turn to write. Used by hooks, which have little time.
    pub(crate) fn set_patience(&mut self, patience: Duration) {
        self.patience = Patience::Each(patience);
    }

    /// Returns the active session of this worktree. Without one, returns the most recently used session.
    pub(crate) fn latest_of_worktree(&self) -> Result<Option<SessionRow>> {
        let worktree = self.project.worktree();
        if let Some(active) = self.store.active_row(&worktree)? {
            return Ok(Some(active));
        }
        let mut filter = Filter { worktree: Some(worktree), limit: Some(1), ..Filter::default() };
        let Some(newest) = self.store.list(&filter)?.pop().map(|listed| listed.row) else { return Ok(None) };
        let made_room = newest.lifecycle == "paused";
        if !made_room && !self.is_only_repaired(&newest)? {
            return Ok(Some(newest));
        }
        filter.limit = Some(MOST_REPAIRED);
        let rows: Vec<SessionRow> = self.store.list(&filter)?.into_iter().map(|listed| listed.row).collect();
        // If a session was paused because another became active, both changed at the same time. The active one is
        // meant.
        let is_newcomer =
            |row: &&SessionRow| row.updated_at == newest.updated_at && row.lifecycle == "active";
        if let Some(newcomer) = rows.iter().find(is_newcomer).filter(|_| made_room) {
            return Ok(Some(newcomer.clone()));
        }
        for row in rows {
            if !self.is_only_repaired(&row)? {
                return Ok(Some(row));
            }
        }
        Ok(Some(newest))
    }

    /// True if the session was adopted only to repair its files, and nobody has worked on it here since.
    fn is_only_repaired(&self, row: &SessionRow) -> Result<bool> {
        if row.layout == NATIVE {
            return Ok(false);
        }
        let last = self.store.events(&row.id, row.version.saturating_sub(1), None)?;
        Ok(last.last().is_some_and(|event| event.kind == "adopted"))
    }

    /// Returns the session of this worktree that was paused or failed last.
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
            limit: Some(MOST_REPAIRED),
            ..Filter::default()
        };
        let rows: Vec<SessionRow> = self.store.list(&filter)?.into_iter().map(|listed| listed.row).collect();
        let Some(newest) = rows.first() else { return Ok(None) };
        // Sessions that expired together were stored at the same moment, so the moments at which they actually stopped
        // are compared.
        let together = rows.iter().take_while(|row| row.updated_at == newest.updated_at).count();
        let stopped = |row: &&SessionRow| match self.load(&row.id).map(|(_, session)| session.lifecycle) {
            Ok(Lifecycle::Paused { at, .. }) => at,
            Ok(_) | Err(_) => row.updated_at,
        };
        // `max_by_key` returns the last of equal sessions. The order is reversed, so that the first of them is
        // returned.
        Ok(rows[..together].iter().rev().max_by_key(stopped).cloned())
    }

    /// Returns the session of the asking agent, unless it is finished.
    pub(crate) fn open_bound_session(&self) -> Result<Option<SessionId>> {
        let Some(bound) = self.bound_session()? else { return Ok(None) };
        let is_open = self
            .store
            .load(&bound)?
            .is_some_and(|found| found.row.machine.is_none() && self.is_still_open(&found.row));
        Ok(is_open.then_some(bound))
    }

    pub(crate) fn bound_session(&self) -> Result<Option<SessionId>> {
        let Some(identity) = self.asking_agent()? else { return Ok(None) };
        Ok(self.store.agent(&identity.agent, &identity.id)?.and_then(|row| row.session))
    }
}

fn writes_to_server(intent: Intent) -> bool {
    match intent {
        Intent::Command | Intent::Create | Intent::Hook(HookNeeds::Writes | HookNeeds::Arrives) => true,
        Intent::Query | Intent::Hook(HookNeeds::Reads | HookNeeds::WritesDown) | Intent::WithoutStore => {
            false
        }
    }
}

/// Returns the clock. Machines that share a store use the time of its server.
fn clock_of(store: &WithUncommitted) -> Box<dyn Clock> {
    match store.base().time() {
        Some(time) => Box::new(ServerClock::at(time)),
        None => Box::new(SystemClock),
    }
}

pub(crate) fn is_unfinished(lifecycle: &str) -> bool {
    Lifecycle::UNFINISHED.contains(&lifecycle)
}
