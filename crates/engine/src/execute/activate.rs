//! Starting, resuming, switching: one session becomes the active one of its worktree, and what was active makes room.

use crate::clock::new_session_id;
use crate::definitions;
use crate::engine::{Engine, Want};
use crate::error::{Error, Result};
use crate::execute::plan::{Change, Plan, definition_row};
use crate::execute::{Answer, RevisitRequest, bounded};
use crate::presence::AgentIdentity;
use crate::validation::{OnDiscrepancy, ask_about, is_finished};
use crate::words::one_line;
use model::command::{self, Command, REASON_SWITCHED, decide};
use model::gate::{Given, coerce, guess, shown};
use model::id::SessionId;
use model::lifecycle::Lifecycle;
use model::revision::Impact;
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
        self.execute(&fingerprint, |engine| {
            let id = match &given_id {
                Some(id) => id.clone(),
                None => engine.unused_id()?,
            };
            let mut plan = Plan::of(Change { number: 0, before: None, events: Vec::new() });
            plan.definitions.push(definition_row(&workflow)?);
            let parallel = request.parallel || !engine.make_room(&mut plan, &id)?;
            plan.subject.events = command::start(command::Start {
                id,
                title: title.clone(),
                goal: goal.clone(),
                target: target.clone(),
                layout: layout.to_owned(),
                worktree: engine.project.worktree(),
                parallel,
                fields: fields.clone(),
                run: RunPlan::new(&workflow, Vec::new()),
            });
            Ok(plan)
        })
    }

    /// Goes on with a session: the one named, else the one that was paused last.
    /// When it is not as it was left, `on` says what then.
    pub fn resume(&mut self, asked: Option<&str>, on: OnDiscrepancy) -> Result<Answer> {
        let fingerprint = self.fingerprint("resume", &format!("{asked:?}"));
        self.execute(&fingerprint, |engine| {
            let subject = engine.resumable(asked)?;
            engine.activate(&subject, on)
        })
    }

    /// Makes another session the active one. It must be named.
    pub fn switch(&mut self, asked: &str) -> Result<Answer> {
        let fingerprint = self.fingerprint("switch", asked);
        self.execute(&fingerprint, |engine| {
            let subject = engine.resolve(asked)?;
            engine.activate(&subject, OnDiscrepancy::GoOn)
        })
    }

    fn activate(&mut self, id: &SessionId, on: OnDiscrepancy) -> Result<Plan> {
        let subject = self.take_up(id)?;
        let session = &subject.session;
        self.refuse_work_elsewhere(session)?;
        let worktree = self.project.worktree();
        let mut plan = Plan::of(Change { number: 0, before: None, events: Vec::new() });
        // Decided before anything else makes room: a refusal must change nothing.
        let first = Command::Resume { worktree: worktree.clone(), parallel: session.parallel };
        let mut events = decide(session, first)?;
        if !events.is_empty() {
            let back = self.checked(session, on)?;
            let parallel = !self.make_room(&mut plan, id)?;
            events = decide(session, Command::Resume { worktree: worktree.clone(), parallel })?;
            if let Some(request) = back {
                let mut resumed = session.clone();
                resumed.lifecycle = Lifecycle::Active;
                let worked_out = self.work_out(&resumed, &request)?;
                events.extend(worked_out.events);
                plan.operation = worked_out.operation;
                plan.said.extend(worked_out.preview.warnings);
            }
        }
        plan.subject = subject.change(events);
        Ok(plan)
    }

    /// Whether a session is as it was left; if it is to go back to a phase for that, how.
    fn checked(&self, session: &Session, on: OnDiscrepancy) -> Result<Option<RevisitRequest>> {
        if on == OnDiscrepancy::GoOn {
            return Ok(None);
        }
        let found = self.discrepancies(session)?;
        if on == OnDiscrepancy::Ask && !found.is_empty() {
            return Err(ask_about(session, &found));
        }
        // What concerns no finished phase is mended where the work goes on anyway.
        let concerned = found.iter().find_map(|found| {
            let phase = found.phase.as_ref().filter(|phase| is_finished(session, phase))?;
            Some((phase, &found.message))
        });
        Ok(concerned.map(|(phase, message)| RevisitRequest {
            phase: phase.to_string(),
            impact: Some(Impact::Minor),
            reason: message.clone(),
            affects: Vec::new(),
        }))
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
        let other = self.look_up(&active)?;
        plan.said.push(format!("paused {active} ({})", one_line(&other.session.title, LONGEST_TITLE)));
        let pause = Command::Pause { reason: REASON_SWITCHED.to_owned(), context: None };
        let events = decide(&other.session, pause)?;
        plan.others.push(other.change_and_found(events));
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
