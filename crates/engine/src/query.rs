//! Questions: where a session stands, what there is, what happened. Writes nothing.

use crate::config::{Config, Who};
use crate::definitions::{self, Checked, Source, WorkflowLine};
use crate::engine::{Engine, Want, is_unfinished, read_event};
use crate::error::{Error, Result};
use crate::next::Next;
use crate::requirements::is_same_agent;
use crate::sync::NATIVE;
use crate::view::{HealthView, Nothing, ShortView, View, Warning};
use jiff::Timestamp;
use layouts::layout::{self, Layout, Moment};
use model::event::Recorded;
use model::id::SessionId;
use model::run::Run;
use model::session::Session;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use store::{Access, AgentRow, Filter, Info, Listed, SessionRow, SqliteStore, Store};

/// Of so many sessions that were left lying a list speaks.
const MOST_IDLE_TOLD: usize = 5;
/// So many files with the same oddity a list names.
const MOST_FILES_NAMED: usize = 2;

/// A session, or that there is none.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Current {
    Session(Box<View>),
    Nothing(Nothing),
}

/// What `list` shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Listing {
    pub sessions: Vec<ShortView>,
    pub warnings: Vec<Warning>,
    /// What the list of the one layout that was asked for begins with, where its tool has words of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heading: Option<&'static str>,
}

/// Which sessions a list is to show.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListRequest {
    pub lifecycles: Vec<String>,
    pub layout: Option<String>,
    pub search: Option<String>,
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

impl ListRequest {
    /// What the store's own filter does, for sessions that are not in it.
    fn wants(&self, session: &ShortView) -> bool {
        let told = format!("{} {}", session.session_id, session.title).to_lowercase();
        let found = |words: &String| words.split_whitespace().all(|word| told.contains(&word.to_lowercase()));
        (self.lifecycles.is_empty() || self.lifecycles.contains(&session.lifecycle))
            && self.layout.as_ref().is_none_or(|layout| *layout == session.layout)
            && self.search.as_ref().is_none_or(found)
    }
}

impl Engine {
    pub fn status(&self) -> Result<Current> {
        let mut current = self.current()?;
        if let Current::Session(view) = &mut current {
            self.add_health(view);
        }
        let warnings = match &mut current {
            Current::Session(view) => &mut view.warnings,
            Current::Nothing(nothing) => &mut nothing.warnings,
        };
        warnings.extend(self.policy_warning());
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
                hint: Some(format!("go on with one: leftoff switch {}", others[0])),
                path: None,
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
            hint: Some(format!("look at it: leftoff show {}", listed.row.id)),
            path: None,
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

    /// Sessions, a line each; the one that commands mean here is marked.
    pub fn list(&self, request: &ListRequest) -> Result<Listing> {
        let mut listing = self.lines(request)?;
        // Where nothing is unfinished there is none, and a thousand files need not be asked for it.
        let may_be = listing.sessions.iter().any(|line| is_unfinished(&line.lifecycle));
        let current = if may_be { self.select(Want::Unfinished).ok() } else { None };
        let here = self.project.worktree();
        for line in &mut listing.sessions {
            let is_it = current.as_ref().is_some_and(|id| line.session_id == id.as_str());
            // One of the same name may lie outside of this project.
            line.current = is_it && (line.worktree == here || self.options.session.is_some());
        }
        Ok(listing)
    }

    pub(crate) fn lines(&self, request: &ListRequest) -> Result<Listing> {
        crate::execute::beginning::foreign_layout(request.layout.as_deref())?;
        // What the index calls active may count as paused by now, so both are asked for.
        let mut lifecycles = request.lifecycles.clone();
        if lifecycles.iter().any(|wanted| wanted == "paused")
            && !lifecycles.iter().any(|wanted| wanted == "active")
        {
            lifecycles.push("active".to_owned());
        }
        let filter = Filter {
            lifecycles,
            layout: request.layout.clone(),
            search: request.search.clone(),
            ..Filter::default()
        };
        let kept = self.store.list(&filter)?.into_iter().map(ShortView::from);
        let (mut sessions, mut edited): (Vec<ShortView>, Vec<ShortView>) = (Vec::new(), Vec::new());
        let mut warnings = self.warnings.clone();
        let mut odd = Vec::new();
        for mut line in kept.chain(self.opened_by_files(request)?) {
            let known = line.updated_at;
            // What is wrong with one session is said on the way, and hides no other.
            let said = self
                .shown_by_files(&mut line)
                .unwrap_or_else(|error| vec![Warning::from_error("session", &error)]);
            line.warnings = to_mend(&line.layout, &said);
            odd.extend(said.into_iter().map(|warning| (line.layout.clone(), warning)));
            self.laid_over_line(&mut line);
            if line.updated_at > known { edited.push(line) } else { sessions.push(line) }
        }
        edited.into_iter().for_each(|line| insert_by_time(&mut sessions, line));
        warnings.extend(self.kept_lines_beside_others(&mut sessions));
        sessions.retain(|line| request.lifecycles.is_empty() || request.lifecycles.contains(&line.lifecycle));
        warnings.extend(sessions.iter().filter_map(|line| self.idle_line_warning(line)).take(MOST_IDLE_TOLD));
        warnings.extend(self.place_warnings());
        warnings.extend(self.index_warnings());
        warnings.extend(self.unknown_warnings());
        for (mut short, said) in self.foreign_lines() {
            self.laid_over_line(&mut short);
            if request.wants(&short) {
                short.warnings = to_mend(&short.layout, &said);
                odd.extend(said.into_iter().map(|warning| (short.layout.clone(), warning)));
                insert_by_time(&mut sessions, short);
            }
        }
        warnings.extend(said_once(odd));
        let heading = crate::sync::heading(request.layout.as_deref());
        if heading.is_some() {
            for line in &mut sessions {
                line.own_words = self.own_line(&line.session_id);
            }
        }
        for (mut short, odd) in self.outside_lines(heading.is_some()) {
            let is_known = sessions
                .iter()
                .any(|known| known.session_id == short.session_id && known.worktree == short.worktree);
            if request.wants(&short) && !is_known {
                short.warnings = to_mend(&short.layout, &odd);
                warnings.extend(odd);
                insert_by_time(&mut sessions, short);
            }
        }
        if sessions.iter().any(|line| line.number == 0) {
            let numbers = self.outside_numbers()?;
            let is_in = |line: &ShortView, name: &str| {
                line.session_id == name || Path::new(&line.worktree).file_name() == Some(OsStr::new(name))
            };
            let number = |line: &ShortView| numbers.iter().find(|(name, _)| is_in(line, name.as_str()));
            for line in sessions.iter_mut().filter(|line| line.number == 0) {
                line.number = number(line).map_or(0, |(_, number)| *number);
            }
        }
        Ok(Listing { sessions, warnings, heading })
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

    /// A project that lets agents do what is otherwise a person's to do says so.
    fn policy_warning(&self) -> Option<Warning> {
        let policy = &self.config.policy;
        let what = match (policy.override_, policy.approve) {
            (Who::Person, Who::Person) => return None,
            (Who::Anyone, Who::Person) => "pass a gate by --override",
            (Who::Person, Who::Anyone) => "approve a check",
            (Who::Anyone, Who::Anyone) => "pass a gate by --override and approve a check",
        };
        Some(Warning {
            kind: "policy".to_owned(),
            message: format!("anyone may {what} in this project, agents too"),
            hint: Some("a person only: take it out of [policy] in .leftoff/config.toml".to_owned()),
            path: Some(Config::path(&self.project).display().to_string()),
        })
    }

    /// What a printed command ends with, so that it means this session.
    pub(crate) fn naming(&self, session: &Session) -> Result<String> {
        let must_be_named = self.must_be_named(session)?;
        Ok(if must_be_named { format!(" --session {}", session.id) } else { String::new() })
    }

    /// The same for one that is named as people name them; nothing where there is none.
    pub fn naming_of(&self, asked: &str) -> String {
        let found = self.resolve(asked).and_then(|id| self.load(&id));
        found.and_then(|(_, session)| self.naming(&session)).unwrap_or_default()
    }

    pub(crate) fn warnings_about(&self, session: &Session, run: &Run) -> Vec<Warning> {
        let mut warnings = self.warnings.clone();
        let name = run.workflow.name.as_str();
        // One that was imported follows what its own tool had defined.
        let is_imported = session.layout == NATIVE && session.path.is_some();
        let is_ours = !is_imported && !definitions::are_elsewhere(&session.layout, name);
        if is_ours && run.is_open() && definitions::changed_since(&self.project, name, &run.workflow.hash) {
            warnings.push(Warning {
                kind: "definition_changed".to_owned(),
                message: format!(
                    "workflow '{name}' was changed since this run began; the run keeps the definition it began with"
                ),
                hint: Some(format!("a new run uses the new one: leftoff workflow show {name}")),
                path: None,
            });
        }
        warnings.extend(self.file_warnings(&session.id));
        warnings.extend(self.idle_warning(session));
        if let Some(kind) = &session.unknown_event {
            warnings.push(Warning {
                kind: "newer_event".to_owned(),
                message: format!("the log holds '{kind}', which this program does not know"),
                hint: Some("use the newer leftoff to change this session".to_owned()),
                path: None,
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

impl From<Listed> for ShortView {
    fn from(listed: Listed) -> Self {
        let row = listed.row;
        Self {
            number: listed.number,
            session_id: row.id.to_string(),
            title: row.title,
            goal: row.goal,
            target: row.target,
            layout: row.layout,
            workflow: row.workflow,
            worktree: row.worktree,
            lifecycle: row.lifecycle,
            parallel: row.parallel,
            phase: row.phase,
            phases_done: row.phases_done,
            total_phases: row.phases_total,
            created_at: row.created_at,
            updated_at: row.updated_at,
            version: row.version,
            current: false,
            own_words: None,
            warnings: Vec::new(),
        }
    }
}

/// Ours keep the store's order, which no clock can disturb; what only files tell has nothing but its time.
fn insert_by_time(sessions: &mut Vec<ShortView>, line: ShortView) {
    let place = sessions.iter().position(|known| known.updated_at < line.updated_at);
    sessions.insert(place.unwrap_or(sessions.len()), line);
}

/// Whether only one session of this layout is active in a worktree; others stand beside it.
pub(crate) fn takes_the_worktree(layout: &str) -> bool {
    layout == NATIVE || layout::by_name(layout).is_some_and(Layout::takes_the_worktree)
}

/// Of what is said of a session's files, what is wrong with them.
fn to_mend(layout: &str, said: &[Warning]) -> Vec<Warning> {
    said.iter().filter(|warning| is_to_mend(layout, warning)).cloned().collect()
}

fn is_to_mend(layout: &str, warning: &Warning) -> bool {
    layout::by_name(layout).is_none_or(|layout| layout.is_to_mend(&warning.message))
}

/// What is only to be known about many sessions of a layout is said once, with how many they are and which files they
/// have it in. What is to be mended is said of each.
fn said_once(odd: Vec<(String, Warning)>) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = Vec::new();
    let mut counted: BTreeMap<(String, String), (usize, Vec<String>)> = BTreeMap::new();
    for (layout, warning) in odd {
        if is_to_mend(&layout, &warning) {
            warnings.push(warning);
            continue;
        }
        let path = warning.path.clone().unwrap_or_default();
        let said = warning.message.strip_prefix(&path).unwrap_or(&warning.message).to_owned();
        let (_, paths) = counted.entry((layout, said)).or_insert_with(|| {
            warnings.push(warning);
            (warnings.len() - 1, Vec::new())
        });
        paths.push(path);
    }
    for ((layout, said), (place, mut paths)) in counted.into_iter().filter(|(_, (_, paths))| paths.len() > 1)
    {
        let title = layout::by_name(&layout).map_or(layout.as_str(), |layout| layout.title());
        let count = paths.len();
        paths.retain(|path| !path.is_empty());
        let more = paths.len().saturating_sub(MOST_FILES_NAMED);
        paths.truncate(MOST_FILES_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        warnings[place].message = format!("{count} sessions of {title}{said} ({}{more})", paths.join(", "));
        warnings[place].path = None;
    }
    warnings
}
