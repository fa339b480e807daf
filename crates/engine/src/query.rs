//! Questions: where a session stands, what there is, what happened. Writes nothing.

use crate::definitions::{self, Checked, Source, WorkflowLine};
use crate::engine::{Engine, Want, read_event};
use crate::error::{Error, Result};
use crate::listing::ListRequest;
use crate::next::Next;
use crate::requirements::is_same_agent;
use crate::sync::NATIVE;
use crate::view::{HealthView, Nothing, View, Warning};
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
use serde_json::Value;
use store::{Access, AgentRow, Filter, Info, SessionRow, SqliteStore, Store};

/// Of so many sessions that were left lying a list speaks.
pub(crate) const MOST_IDLE_TOLD: usize = 5;
/// A session, or that there is none.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Current {
    Session(Box<View>),
    Nothing(Nothing),
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

impl Engine {
    pub fn status(&self) -> Result<Current> {
        let mut current = self.current()?;
        if let Current::Session(view) = &mut current {
            self.add_health(view);
            self.add_rounds(view);
        }
        let warnings = match &mut current {
            Current::Session(view) => &mut view.warnings,
            Current::Nothing(nothing) => &mut nothing.warnings,
        };
        warnings.extend(self.policy_warnings());
        Ok(current)
    }

    /// How the files of a layout's session are, and what else waits when it does not go on.
    fn add_health(&self, view: &mut View) {
        let Ok(id) = SessionId::parse(&view.session_id) else { return };
        view.health = self.health(&id).into_iter().map(HealthView::from).collect();
        if view.health.is_empty() || view.lifecycle.name() == "active" {
            return;
        }
        let others = self.candidates(&id);
        let waiting = if view.lifecycle.name() == "paused" { "paused as well" } else { "paused" };
        if !others.is_empty() {
            view.warnings.push(Warning {
                kind: "candidates".to_owned(),
                message: format!("no session is active; {}: {}", waiting, others.join(", ")),
                hint: Some(Hint::new("go on with one: ").run(words!["switch", others[0]])),
                path: None,
                problem: None,
            });
        }
    }

    /// Paused sessions of this worktree. Where this one was never taken in, others may not have been either.
    pub(crate) fn candidates(&self, except: &SessionId) -> Vec<String> {
        let paused = || vec!["paused".to_owned()];
        let ids: Vec<String> = if self.store.base_has(except) {
            let worktree = Some(self.project.worktree());
            let limit = Some(MOST_IDLE_TOLD + 1);
            let filter = Filter { lifecycles: paused(), worktree, limit, ..Filter::default() };
            let listed = self.store.list(&filter).unwrap_or_default();
            listed.into_iter().map(|listed| listed.row.id.to_string()).collect()
        } else {
            let listing = self.lines(&ListRequest { lifecycles: paused(), ..ListRequest::default() });
            let sessions = listing.map(|found| found.sessions).unwrap_or_default();
            sessions.into_iter().map(|line| line.session_id).collect()
        };
        ids.into_iter().filter(|other| other != except.as_str()).take(MOST_IDLE_TOLD).collect()
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
                    .chain(self.place_warnings())
                    .chain(self.index_warnings())
                    .chain(self.all_kept_elsewhere())
                    .chain(self.at_work_elsewhere()?)
                    .collect(),
            })),
            Err(error) => Err(error),
        }
    }

    /// Sessions of other worktrees, for somebody who looks for one here.
    fn at_work_elsewhere(&self) -> Result<Vec<Warning>> {
        const MOST_TOLD: usize = 3;
        let active =
            Filter { lifecycles: vec!["active".to_owned()], limit: Some(MOST_TOLD), ..Filter::default() };
        let told = self.store.list(&active)?.into_iter().map(|listed| Warning {
            kind: "active_elsewhere".to_owned(),
            message: format!(
                "session {} is active in another worktree: {}",
                listed.row.id, listed.row.worktree
            ),
            hint: Some(Hint::new("look at it: ").run(words!["show", listed.row.id])),
            path: None,
            problem: None,
        });
        Ok(told.collect())
    }

    fn look_at(&self, id: &SessionId) -> Result<View> {
        let (loaded, session) = self.load(id)?;
        self.view_of(&session, loaded.number, false)
    }

    /// A session with all of its history: every attempt, every note.
    pub fn show(&self, asked: Option<&str>) -> Result<View> {
        let id = self.named_or_current(asked)?;
        let (loaded, _) = self.load(&id)?;
        let mut view = self.view_of(&self.replay(&id)?, loaded.number, false)?;
        view.warnings.extend(self.artifact_warnings(&view));
        view.own_words = self.own_words(&id, Moment::Shown);
        Ok(view)
    }

    /// What happened in a session, oldest first, after this version.
    pub fn log(&self, asked: Option<&str>, after: u64) -> Result<(SessionId, Vec<Recorded>)> {
        let id = self.named_or_current(asked)?;
        self.attend(&id)?;
        let events = self.store.events(&id, after, None)?;
        let events = events.iter().map(|row| read_event(&id, row)).collect::<Result<_>>()?;
        Ok((id, events))
    }

    /// An event as programs read it.
    pub fn event_json(recorded: &Recorded) -> Value {
        let mut event = serde_json::to_value(&recorded.event)
            .unwrap_or_else(|_| serde_json::json!({ "type": recorded.event.kind() }));
        if let Value::Object(fields) = &mut event {
            fields.insert("version".to_owned(), recorded.version.into());
            fields.insert("at".to_owned(), recorded.at.to_string().into());
            fields.insert("actor".to_owned(), serde_json::to_value(&recorded.actor).unwrap_or(Value::Null));
        }
        event
    }

    /// Agent sessions that were seen in this project, with whether each still lives.
    pub fn agents(&self) -> Result<Vec<AgentView>> {
        let rows = self.store.agents(None)?;
        let mut agents: Vec<AgentView> =
            rows.into_iter().map(|row| AgentView { alive: self.lives(&row), ..row.into() }).collect();
        // Those that only another tool's list has, which names living ones alone.
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

    /// Names of the workflows that there are, without a look into them; each with the layout whose files define it.
    pub fn workflow_names(&self) -> Vec<(String, Option<&'static str>)> {
        definitions::all_names(&self.project)
    }

    pub fn workflows(&self) -> Vec<WorkflowLine> {
        definitions::lines(&self.project)
    }

    /// The text of a definition, where it is from and what it came to; of the one that `start` uses when none is named.
    pub fn workflow_source(&self, name: Option<&str>) -> Result<(Source, Checked)> {
        definitions::find_any(&self.project, name.unwrap_or_else(|| self.config.workflow()))
    }

    pub fn store_info(&self) -> Result<Info> {
        Ok(self.store_itself()?.info()?)
    }

    pub fn store_backup(&self, to: &std::path::Path) -> Result<()> {
        Ok(self.store_itself()?.backup(to)?)
    }

    /// Not what stands in for one that is not there or cannot be read.
    fn store_itself(&self) -> Result<SqliteStore> {
        Ok(SqliteStore::open(&self.project.database()?, Access::Read)?)
    }

    fn named_or_current(&self, asked: Option<&str>) -> Result<SessionId> {
        match asked {
            Some(text) => self.resolve(text),
            None => self.select(Want::Latest),
        }
    }

    /// Whether a command without a name would mean another session.
    pub(crate) fn must_be_named(&self, session: &Session) -> Result<bool> {
        let is_here = || std::env::current_dir().is_ok_and(|here| here.starts_with(&self.project.root));
        if self.project.is_outside && !is_here() {
            return Ok(true);
        }
        let is_the_active_one = takes_the_worktree(&session.layout)
            && session.lifecycle.name() == "active"
            && !session.parallel
            && session.worktree == self.project.worktree();
        if let Some(bound) = self.open_bound_session()? {
            return Ok(bound != session.id);
        }
        if is_the_active_one {
            return Ok(false);
        }
        let latest = self.latest_of_worktree()?;
        let is_active = |row: &SessionRow| row.lifecycle == "active" && takes_the_worktree(&row.layout);
        // What a command changes is the latest from then on, unless another one is active here.
        let is_in_its_way = || !self.seen.makes_room() && latest.as_ref().is_some_and(is_active);
        if self.seen.is_changing() && !is_in_its_way() {
            return Ok(false);
        }
        let going_on = latest.as_ref().filter(|row| self.goes_on(row));
        let is_another = |id: &SessionId| latest.as_ref().is_none_or(|row| row.id != *id);
        let elsewhere = if self.looks_around {
            self.active_by_index(latest.as_ref())
                .filter(is_another)
                .or_else(|| going_on.and_then(|row| self.gone_on_to(row)))
        } else {
            None
        };
        let meant = elsewhere.or(latest.as_ref().map(|row| row.id.clone()));
        Ok(meant.as_ref() != Some(&session.id))
    }

    /// Words that a printed command ends with, so that it means this session.
    pub(crate) fn naming(&self, session: &Session) -> Result<Vec<String>> {
        let must_be_named = self.must_be_named(session)?;
        Ok(if must_be_named { words!["--session", session.id] } else { Vec::new() })
    }

    /// Such words for a session that is named as people name them; none where there is no such session.
    pub fn naming_of(&self, asked: &str) -> Vec<String> {
        let found = self.resolve(asked).and_then(|id| self.load(&id));
        found.and_then(|(_, session)| self.naming(&session)).unwrap_or_default()
    }

    pub(crate) fn warnings_about(&self, session: &Session, run: &Run) -> Vec<Warning> {
        let mut warnings = self.warnings.clone();
        let name = run.workflow.name.as_str();
        // One that was imported follows what its own tool had defined.
        let is_imported = session.layout == NATIVE && session.path.is_some();
        let is_ours = !is_imported && !definitions::are_elsewhere(&session.layout);
        if is_ours && run.is_open() && definitions::changed_since(&self.project, name, &run.workflow.hash) {
            warnings.push(Warning {
                kind: "definition_changed".to_owned(),
                message: format!(
                    "workflow '{name}' was changed since this run began; the run keeps the definition it began with"
                ),
                hint: Some(Hint::new("a new run uses the new one: ").run(words!["workflow", "show", name])),
                path: None,
                problem: None,
            });
        }
        warnings.extend(self.file_warnings(&session.id));
        warnings.extend(self.work_ahead(session, run));
        warnings.extend(self.kept_elsewhere_of(session));
        warnings.extend(self.idle_warning(session));
        if let Some(kind) = &session.unknown_event {
            warnings.push(Warning {
                kind: "newer_event".to_owned(),
                message: format!("the log holds '{kind}', which this program does not know"),
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

/// Whether only one session of this layout is active in a worktree; others stand beside it.
pub(crate) fn takes_the_worktree(layout: &str) -> bool {
    layout == NATIVE || layout::by_name(layout).is_some_and(|layout| layout.facts().exclusive)
}
