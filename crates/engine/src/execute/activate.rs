//! Starting, resuming, switching: one session becomes the active one of its worktree, and what was active makes room.

use crate::clock::new_session_id;
use crate::definitions;
use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::execute::plan::{Change, Plan, definition_row};
use crate::execute::{Answer, bounded};
use crate::presence::AgentIdentity;
use crate::setup::make_workspace;
use crate::words::one_line;
use model::command::{self, Command, REASON_SWITCHED, decide};
use model::event::{Event, Recorded};
use model::gate::{Given, coerce, guess, shown};
use model::id::SessionId;
use model::run::RunPlan;
use model::session::Session;
use model::workflow::Workflow;
use serde_json::Value;
use std::collections::BTreeMap;
use store::{Binding, Filter};

const LONGEST_TITLE: usize = 120;

/// What a new session is given.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StartRequest {
    pub workflow: Option<String>,
    pub title: Option<String>,
    pub goal: Option<String>,
    pub target: Option<String>,
    pub id: Option<String>,
    pub layout: Option<String>,
    pub fields: BTreeMap<String, Given>,
    pub parallel: bool,
}

impl Engine {
    pub fn start(&mut self, request: &StartRequest) -> Result<Answer> {
        let fingerprint = self.fingerprint("start", &format!("{request:?}"));
        let layout = native_layout(request.layout.as_deref())?;
        let given_id = request.id.as_deref().map(parse_id).transpose()?;
        let name = request.workflow.as_deref().unwrap_or_else(|| self.config.workflow()).to_owned();
        let workflow = definitions::load(&self.project, &name)?;
        let fields = read_fields(&workflow, &request.fields)?;
        let title = self.title(request, &workflow)?;
        let goal = request.goal.as_deref().map(|text| bounded("the goal", text)).transpose()?;
        let target = request.target.as_deref().map(|text| bounded("the target", text)).transpose()?;
        let mut answer = self.execute(&fingerprint, |engine| {
            let id = match &given_id {
                Some(id) => id.clone(),
                None => engine.unused_id()?,
            };
            let mut plan = Plan::of(Change { number: 0, before: None, events: Vec::new() });
            plan.definitions.push(definition_row(&workflow)?);
            let parallel = request.parallel || !engine.make_room(&mut plan, &id)?;
            let start = command::Start {
                id,
                title: title.clone(),
                goal: goal.clone(),
                target: target.clone(),
                layout: layout.to_owned(),
                worktree: engine.project.worktree(),
                parallel,
                fields: fields.clone(),
                run: RunPlan::new(&workflow, Vec::new()),
            };
            plan.subject.events = engine.started(start, &workflow)?;
            Ok(plan)
        })?;
        self.prepare_workspace(&workflow, &mut answer);
        Ok(answer)
    }

    /// A workflow that asks for files gets the folder for them. The session is kept already: not being able to make
    /// a folder is said, and fails nothing.
    fn prepare_workspace(&self, workflow: &Workflow, answer: &mut Answer) {
        if workflow.phases.iter().all(|phase| phase.produces.is_empty()) {
            return;
        }
        let Ok(id) = SessionId::parse(&answer.view.session_id) else { return };
        if let Err(error) = make_workspace(&self.project, &self.workspace(&id)) {
            answer.said.push(error.to_string());
        }
    }

    /// A new session's events; phases whose `when` does not hold are passed over from the beginning.
    fn started(&self, mut start: command::Start, workflow: &Workflow) -> Result<Vec<Event>> {
        let events = command::start(start.clone());
        if workflow.phases.iter().all(|phase| phase.when.is_none()) {
            return Ok(events);
        }
        let actor = self.actor(None);
        let at = self.clock.now();
        let recorded: Vec<Recorded> = events
            .into_iter()
            .zip(1..)
            .map(|(event, version)| Recorded { version, at, actor: actor.clone(), event })
            .collect();
        let skips = Session::fold(&recorded).map(|session| self.skips(&session, workflow));
        start.run.skips = skips.unwrap_or_default();
        Ok(command::start(start))
    }

    /// Goes on with a session: the one named, else the one that was paused last.
    pub fn resume(&mut self, asked: Option<&str>) -> Result<Answer> {
        let fingerprint = self.fingerprint("resume", &format!("{asked:?}"));
        self.execute(&fingerprint, |engine| {
            let subject = engine.resumable(asked)?;
            engine.activate(&subject)
        })
    }

    /// Makes another session the active one. It must be named.
    pub fn switch(&mut self, asked: &str) -> Result<Answer> {
        let fingerprint = self.fingerprint("switch", asked);
        self.execute(&fingerprint, |engine| {
            let subject = engine.resolve(asked)?;
            engine.activate(&subject)
        })
    }

    fn activate(&mut self, subject: &SessionId) -> Result<Plan> {
        let (loaded, session) = self.load(subject)?;
        self.refuse_work_elsewhere(&session)?;
        let worktree = self.project.worktree();
        let mut plan = Plan::of(Change { number: loaded.number, before: None, events: Vec::new() });
        // Decided before anything else makes room: a refusal must change nothing.
        let unchanged =
            decide(&session, Command::Resume { worktree: worktree.clone(), parallel: session.parallel })?
                .is_empty();
        if !unchanged {
            let parallel = !self.make_room(&mut plan, subject)?;
            plan.subject.events = decide(&session, Command::Resume { worktree, parallel })?;
        }
        plan.subject.before = Some(session);
        Ok(plan)
    }

    /// Pauses what is active here, unless another live agent works on it: then the newcomer stands beside it.
    /// Tells whether there is room for a session that is not parallel.
    pub(super) fn make_room(&self, plan: &mut Plan, newcomer: &SessionId) -> Result<bool> {
        let agent = self.asking_agent()?;
        self.bind(plan, agent.as_ref(), newcomer);
        let Some(active) = self.store.active(&self.project.worktree())?.filter(|id| id != newcomer) else {
            return Ok(true);
        };
        let others = self.other_live_agents(agent.as_ref())?;
        if let Some(worker) = others.iter().find(|row| row.session.as_ref() == Some(&active)) {
            plan.said.push(format!(
                "{active} goes on beside it: {} {} works on it",
                worker.agent,
                worker.agent_session.chars().take(8).collect::<String>()
            ));
            return Ok(false);
        }
        let (loaded, session) = self.load(&active)?;
        plan.said.push(format!("paused {active} ({})", one_line(&session.title, LONGEST_TITLE)));
        let events = decide(&session, Command::Pause { reason: REASON_SWITCHED.to_owned(), context: None })?;
        plan.others.push(Change { number: loaded.number, before: Some(session), events });
        Ok(true)
    }

    fn bind(&self, plan: &mut Plan, agent: Option<&AgentIdentity>, session: &SessionId) {
        if let Some(identity) = agent {
            plan.bindings.push(Binding {
                agent: identity.agent.clone(),
                agent_session: identity.id.clone(),
                session: session.clone(),
            });
        }
    }

    fn resumable(&self, asked: Option<&str>) -> Result<SessionId> {
        if let Some(asked) = asked.or(self.options.session.as_deref()) {
            return self.resolve(asked);
        }
        let worktree = self.project.worktree();
        if let Some(active) = self.store.active(&worktree)? {
            return Ok(active);
        }
        let paused = Filter {
            lifecycles: vec!["paused".to_owned(), "failed".to_owned()],
            worktree: Some(worktree.clone()),
            limit: Some(1),
            ..Filter::default()
        };
        match self.store.list(&paused)?.pop() {
            Some(listed) => Ok(listed.row.id),
            None => self.select(Want::Unfinished).map_err(|_| Error::NothingPaused { worktree }),
        }
    }

    /// A session that an agent works on in another worktree is not pulled away from it.
    fn refuse_work_elsewhere(&self, session: &Session) -> Result<()> {
        if session.worktree == self.project.worktree() || session.lifecycle.name() != "active" {
            return Ok(());
        }
        let rows = self.store.agents(Some(&session.worktree))?;
        let worker = rows.iter().find(|row| row.session.as_ref() == Some(&session.id) && self.lives(row));
        match worker {
            None => Ok(()),
            Some(row) => Err(Error::ActiveElsewhere {
                session: session.id.to_string(),
                worktree: session.worktree.clone(),
                agent: row.agent.clone(),
            }),
        }
    }

    fn unused_id(&self) -> Result<SessionId> {
        loop {
            let id = new_session_id();
            if self.store.load(&id)?.is_none() {
                return Ok(id);
            }
        }
    }

    /// What was given, else the goal, else the branch, else the workflow.
    fn title(&self, request: &StartRequest, workflow: &Workflow) -> Result<String> {
        if let Some(title) = request.title.as_deref().map(str::trim).filter(|title| !title.is_empty()) {
            return bounded("the title", title);
        }
        let goal = request.goal.as_deref().map(|goal| one_line(goal, LONGEST_TITLE));
        Ok(goal
            .filter(|goal| !goal.is_empty())
            .or_else(|| self.project.branch())
            .unwrap_or_else(|| workflow.title.clone()))
    }
}

fn parse_id(text: &str) -> Result<SessionId> {
    SessionId::parse(text).map_err(|why| Error::InvalidSessionId { asked: text.to_owned(), why })
}

fn native_layout(asked: Option<&str>) -> Result<&'static str> {
    match asked {
        None | Some("native") => Ok("native"),
        Some(other) => Err(Error::NotSupported {
            what: format!("layout '{other}'"),
            hint: "leave --layout out for a native session".to_owned(),
        }),
    }
}

/// Free fields: what was given, checked against what the workflow declares, with its defaults.
fn read_fields(workflow: &Workflow, given: &BTreeMap<String, Given>) -> Result<BTreeMap<String, Value>> {
    let mut fields: BTreeMap<String, Value> = workflow
        .fields
        .iter()
        .filter_map(|(name, field)| Some((name.clone(), field.default.clone()?)))
        .collect();
    for (name, value) in given {
        let value = match workflow.fields.get(name) {
            None => guess(value),
            Some(field) => {
                let typed = coerce(field.value_type, value).map_err(|instead| {
                    wrong_field(name, &format!("must be {}, got: {instead}", field.value_type.name()))
                })?;
                if !field.one_of.is_empty() && !field.one_of.contains(&typed) {
                    let allowed: Vec<String> = field.one_of.iter().map(shown).collect();
                    return Err(wrong_field(name, &format!("must be one of {}", allowed.join(", "))));
                }
                typed
            }
        };
        fields.insert(name.clone(), value);
    }
    Ok(fields)
}

fn wrong_field(name: &str, message: &str) -> Error {
    Error::WrongUsage {
        message: format!("field '{name}' {message}"),
        hint: "see what the workflow declares: leftoff workflow show".to_owned(),
    }
}
