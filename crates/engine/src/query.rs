//! Answers queries: a session's state, lists, history. Writes nothing.

mod must_be_named;

use crate::NATIVE;
use crate::definitions::{self, Checked, Since, Source, WorkflowLine};
use crate::doctor::damaged;
use crate::engine::{Engine, Reading, Want, read_event};
use crate::error::{Error, Result};
use crate::facades::{ProjectStore, Sessions, Workflows};
use crate::history::Log;
use crate::listing::ListRequest;
use crate::next::Next;
use crate::requirements::is_same_agent;
use crate::view::{HealthView, Nothing, View, Warning};
use crate::words::{ago, one_line};
use jiff::Timestamp;
use layouts::capabilities::Moment;
use layouts::layout;
use model::event::Recorded;
use model::hint::Hint;
use model::id::SessionId;
use model::run::Run;
use model::session::Session;
use model::words;
use serde::Serialize;
use std::path::Path;
use store::chain::{Broken, changed_events};
use store::{Access, AgentRow, Filter, Info, SessionRow, SqliteStore, Store};

/// The maximum number of inactive sessions that a list mentions.
pub(crate) const MOST_IDLE_NAMED: usize = 5;
/// A session, or the information that there is none.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Current {
    Session(Box<View>),
    Nothing(Nothing),
}

/// The situation in which an answer shows a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Follows {
    Question,
    /// A command changed the session.
    Change,
    /// A command changed the session, and paused the one that was active in its worktree.
    ChangeThatMadeRoom,
}

/// An agent session that was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentView {
    pub agent: String,
    pub agent_session: String,
    pub host: String,
    pub pid: u32,
    pub worktree: String,
    pub branch: Option<String>,
    pub session_id: Option<String>,
    pub started_at: Timestamp,
    pub last_seen: Timestamp,
    pub alive: bool,
}

/// How much of the session's history a view contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The last attempts and notes, as in `status`.
    Recent,
    /// Every attempt and every note.
    Whole,
}

impl Sessions<'_> {
    /// Returns the selected session, or the information that there is none.
    pub fn status(&self) -> Result<Current> {
        let engine = self.engine;
        let mut current = engine.current()?;
        if let Current::Session(view) = &mut current {
            engine.add_health(view);
            engine.add_rounds(view);
        }
        let warnings = match &mut current {
            Current::Session(view) => &mut view.warnings,
            Current::Nothing(nothing) => &mut nothing.warnings,
        };
        warnings.extend(engine.policy_warnings());
        Ok(current)
    }

    /// Returns the named session, or else the selected one.
    pub fn show(&self, asked: Option<&str>, detail: Detail) -> Result<View> {
        let engine = self.engine;
        let id = engine.named_or_current(asked)?;
        match detail {
            Detail::Recent => engine.look_at(&id),
            Detail::Whole => engine.look_at_everything(&id),
        }
    }

    /// Returns the events of a session after this version, with edits that were found in its files.
    pub fn log(&self, asked: Option<&str>, after: u64) -> Result<Log> {
        let session = self.engine.log_subject(asked)?;
        let events = self.engine.store.events(&session, after, None)?;
        let events = events.iter().map(|row| read_event(&session, row)).collect::<Result<_>>()?;
        Ok(Log { session, events })
    }

    /// Passes all events of a session to `show` page by page, oldest first. Returns a warning if events were changed
    /// after they were written.
    pub fn log_in_pages(
        &self,
        asked: Option<&str>,
        mut show: impl FnMut(&SessionId, &[Recorded]) -> Result<Reading>,
    ) -> Result<(SessionId, Option<Warning>)> {
        let id = self.engine.log_subject(asked)?;
        let warning = self.engine.read_log(&id, |events| show(&id, events))?;
        Ok((id, warning))
    }
}

impl Workflows<'_> {
    /// Returns every definition with its mistakes.
    pub fn list(&self) -> Vec<WorkflowLine> {
        definitions::lines(&self.engine.project)
    }

    /// Returns a definition's text, origin and mistakes. Without a name, returns the definition that `start` uses.
    pub fn source(&self, name: Option<&str>) -> Result<(Source, Checked)> {
        let engine = self.engine;
        definitions::find_any(&engine.project, name.unwrap_or_else(|| engine.config.workflow()))
    }
}

impl ProjectStore<'_> {
    pub fn info(&self) -> Result<Info> {
        Ok(self.engine.store_itself()?.info()?)
    }

    /// Writes a consistent copy of the store. Others may keep writing meanwhile.
    pub fn backup(&self, to: &Path) -> Result<()> {
        Ok(self.engine.store_itself()?.backup(to)?)
    }
}

impl Engine {
    /// Adds the health of a layout's session and, if the session is not active, other sessions that could be continued.
    pub(crate) fn add_health(&self, view: &mut View) {
        let Ok(id) = SessionId::parse(&view.session_id) else { return };
        view.health = self.health(&id).into_iter().map(HealthView::from).collect();
        if view.health.is_empty() || view.lifecycle.name() == "active" {
            return;
        }
        let others = self.candidates(&id);
        let waiting = if view.lifecycle.name() == "paused" { "also paused" } else { "paused" };
        if !others.is_empty() {
            view.warnings.push(Warning {
                kind: "candidates".to_owned(),
                message: format!("no active session; {}: {}", waiting, others.join(", ")),
                hint: Some(Hint::new("see all sessions: ").run(words!["list"])),
                path: None,
                problem: None,
            });
        }
    }

    /// Returns other paused sessions of this worktree. If `except` is not adopted, files are searched too, because
    /// others may not be adopted either.
    pub(crate) fn candidates(&self, except: &SessionId) -> Vec<String> {
        let paused = || vec!["paused".to_owned()];
        let ids: Vec<String> = if self.store.base_has(except) {
            let worktree = Some(self.project.worktree());
            let limit = Some(MOST_IDLE_NAMED + 1);
            let filter = Filter { lifecycles: paused(), worktree, limit, ..Filter::default() };
            let listed = self.store.list(&filter).unwrap_or_default();
            listed.into_iter().map(|listed| listed.row.id.to_string()).collect()
        } else {
            let listing = self.lines(&ListRequest { lifecycles: paused(), ..ListRequest::default() });
            let sessions = listing.map(|found| found.sessions).unwrap_or_default();
            sessions.into_iter().map(|line| line.session_id).collect()
        };
        ids.into_iter().filter(|other| other != except.as_str()).take(MOST_IDLE_NAMED).collect()
    }

    fn current(&self) -> Result<Current> {
        match self.select(Want::Latest) {
            Ok(id) => Ok(Current::Session(Box::new(self.look_at(&id)?))),
            Err(Error::NoSession { .. }) => Ok(Current::Nothing(Nothing {
                session_id: None,
                next: Next::start(None),
                warnings: self
                    .warnings
                    .iter()
                    .cloned()
                    .chain(self.lost_store())
                    .chain(self.place_warnings())
                    .chain(self.registry_warnings())
                    .chain(self.all_kept_elsewhere())
                    .chain(self.sessions_elsewhere()?)
                    .collect(),
            })),
            Err(error) => Err(error),
        }
    }

    /// Returns warnings about sessions that are active in other worktrees, and about open sessions on other machines,
    /// for a caller who finds no session here.
    pub(crate) fn sessions_elsewhere(&self) -> Result<Vec<Warning>> {
        const MOST_NAMED: usize = 3;
        const LOOKED_AT: usize = 50;
        let lifecycles = vec!["active".to_owned(), "paused".to_owned()];
        let open = self.store.list(&Filter { lifecycles, limit: Some(LOOKED_AT), ..Filter::default() })?;
        let is_told = |row: &SessionRow| {
            let is_here = row.machine.is_none() && row.lifecycle != "active";
            !is_here && crate::sharing::fork_of(&row.id).is_none()
        };
        let told = open.into_iter().map(|listed| listed.row).filter(is_told).take(MOST_NAMED);
        Ok(told.map(|row| self.told_of(&row)).collect())
    }

    fn told_of(&self, row: &SessionRow) -> Warning {
        let (message, hint) = match &row.machine {
            Some(machine) => (
                format!(
                    "session {} ({}) is {} on {}, last changed {}",
                    row.id,
                    one_line(&row.title, 60),
                    row.lifecycle,
                    self.name_of_replica(machine),
                    ago(row.updated_at, self.clock.now())
                ),
                Hint::new("continue the session here: ").run(words!["resume", row.id]),
            ),
            None => (
                format!("session {} is active in another worktree: {}", row.id, row.worktree),
                Hint::new("see the session: ").run(words!["show", row.id]),
            ),
        };
        Warning { kind: "active_elsewhere".to_owned(), message, hint: Some(hint), path: None, problem: None }
    }

    fn look_at(&self, id: &SessionId) -> Result<View> {
        let (loaded, session) = self.load(id)?;
        self.view_of(&session, loaded.number, false)
    }

    fn look_at_everything(&self, id: &SessionId) -> Result<View> {
        let (loaded, _) = self.load(id)?;
        let mut view = self.view_of(&self.replay(id)?, loaded.number, false)?;
        view.warnings.extend(self.read_log(id, |_| Ok(Reading::Continue))?);
        view.warnings.extend(self.artifact_warnings(&view));
        view.own_words = self.own_words(id, Moment::Shown);
        Ok(view)
    }

    /// Returns the id of the session whose log is requested. Looks for edits in the session's files first.
    fn log_subject(&self, asked: Option<&str>) -> Result<SessionId> {
        let id = self.named_or_current(asked)?;
        self.observe(&id)?;
        Ok(id)
    }

    fn read_log(
        &self,
        id: &SessionId,
        mut show: impl FnMut(&[Recorded]) -> Result<Reading>,
    ) -> Result<Option<Warning>> {
        let chain = self.store.chain(id)?;
        let mut changed = Vec::new();
        self.each_page(id, 0, |page| {
            changed.extend(changed_events(&chain, page));
            let events: Vec<Recorded> = page.iter().map(|row| read_event(id, row)).collect::<Result<_>>()?;
            show(&events)
        })?;
        let warning = |broken: &Broken| {
            let hint = Hint::new("see what is wrong: ").run(words!["doctor"]);
            Warning { hint: Some(hint), ..Warning::new("chain", damaged(id, broken)) }
        };
        Ok(changed.first().map(warning))
    }

    /// Returns the agent sessions seen in this project, and if each of them is alive.
    pub fn agents(&self) -> Result<Vec<AgentView>> {
        let rows = self.store.agents(None)?;
        let mut agents: Vec<AgentView> =
            rows.into_iter().map(|row| AgentView { alive: self.lives(&row), ..row.into() }).collect();
        // Agent sessions that only another tool's registry lists are all alive.
        for live in self.listed_elsewhere(None) {
            if !agents.iter().any(|known| is_same_agent(&known.agent_session, &live.agent_session)) {
                agents.push(AgentView {
                    agent: live.agent,
                    agent_session: live.agent_session,
                    host: self.caller.host.clone(),
                    pid: live.pid.unwrap_or(0),
                    worktree: live.worktree,
                    branch: live.branch,
                    session_id: None,
                    started_at: live.started_at,
                    last_seen: live.last_seen,
                    alive: true,
                });
            }
        }
        Ok(agents)
    }

    /// Opens the actual store. Fails if it is missing or unreadable.
    fn store_itself(&self) -> Result<Box<dyn Store>> {
        match &self.team {
            Some(team) => Ok(team.open(Access::Read, None)?),
            None => Ok(Box::new(SqliteStore::open(&self.project.database()?, Access::Read)?)),
        }
    }

    fn named_or_current(&self, asked: Option<&str>) -> Result<SessionId> {
        match asked {
            Some(text) => self.resolve(text),
            None => self.select(Want::Latest),
        }
    }

    pub(crate) fn warnings_about(&self, session: &Session, run: &Run, follows: Follows) -> Vec<Warning> {
        let mut warnings = self.warnings.clone();
        let name = run.workflow.name.as_str();
        // An imported session follows the definition of its own tool.
        let is_imported = session.layout == NATIVE && session.path.is_some();
        let is_ours = !is_imported && !definitions::are_elsewhere(&session.layout);
        if is_ours && run.is_open() {
            warnings
                .extend(about_definition(definitions::since(&self.project, name, &run.workflow.hash), name));
        }
        if session.layout != NATIVE || is_imported {
            warnings.extend(self.file_warnings(&session.id));
            warnings.extend(self.work_ahead(session, run, follows));
            warnings.extend(self.kept_elsewhere_of(session));
        }
        warnings.extend(self.idle_warning(session));
        warnings.extend(self.interrupted_attempt(session, run));
        warnings.extend(self.sharing_warnings(session));
        if let Some(kind) = &session.unknown_event {
            warnings.push(Warning {
                kind: "newer_event".to_owned(),
                message: format!("the log contains '{kind}', which is unknown to this program"),
                hint: Some("use the newer leftoff to change this session".into()),
                path: None,
                problem: None,
            });
        }
        warnings
    }
}

impl From<AgentRow> for AgentView {
    fn from(row: AgentRow) -> Self {
        Self {
            agent: row.agent,
            agent_session: row.agent_session,
            host: row.host,
            pid: row.pid,
            worktree: row.worktree,
            branch: row.branch,
            session_id: row.session.map(String::from),
            started_at: row.started_at,
            last_seen: row.last_seen,
            alive: false,
        }
    }
}

/// True if a worktree can have only one active session of this layout that is not parallel.
pub(crate) fn takes_the_worktree(layout: &str) -> bool {
    layout == NATIVE || layout::by_name(layout).is_some_and(|layout| layout.facts().exclusive)
}

/// Returns a warning if the definition has changed since the run started. The run keeps the definition with which it
/// started.
fn about_definition(since: Since, name: &str) -> Option<Warning> {
    let (kind, message, hint) = match since {
        Since::Same => return None,
        Since::Changed => (
            "definition_changed",
            format!(
                "workflow '{name}' changed since this run started; the run keeps its original definition"
            ),
            Some(Hint::new("a new run uses the new definition: ").run(words!["workflow", "show", name])),
        ),
        Since::Missing => (
            "definition_missing",
            format!(
                "workflow '{name}' is not defined in this project; the run keeps its original definition"
            ),
            None,
        ),
    };
    Some(Warning { kind: kind.to_owned(), message, hint, path: None, problem: None })
}
