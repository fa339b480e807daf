//! Executes `leftoff req`: satisfies, clears, approves and pauses requirements, and records this in the session's log.

use super::Ground;
use super::live_agents::{LiveAgent, is_same};
use super::request::{Clearing, RequirementAnswer, SatisfyRequest};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::policy::Restricted;
use crate::presence::AgentIdentity;
use crate::project::Project;
use crate::redact::cleaned;
use jiff::Timestamp;
use layouts::requirements::{AgentKey, Change, Count, Counted, Deed, Requirement, SatisfiedBy, Satisfying};
use model::event::Event;
use model::hint::Hint;
use model::nearest_name::nearest;
use model::words;
use serde_json::{Map, Value};

impl Engine {
    pub(super) fn satisfy_requirements(&mut self, request: &SatisfyRequest) -> Result<RequirementAnswer> {
        let metadata = without_secrets(request.metadata.clone());
        self.satisfy_named(request, |requirement| {
            // No work can satisfy a limit on the size of a branch. So a person approves the size, for a limited time.
            let usual_ttl = requirement.usual_ttl();
            let by = match (request.bypass, usual_ttl) {
                (true, _) => SatisfiedBy::CliBypass,
                (false, Some(_)) => SatisfiedBy::Approval,
                (false, None) => SatisfiedBy::Cli,
            };
            Satisfying {
                by,
                ttl: request.ttl_seconds.or(usual_ttl),
                metadata: metadata.clone(),
                for_the_branch: request.for_the_branch,
            }
        })
    }

    /// Approves requirements. If an agent runs the command, a person must allow it. Without `ttl_seconds`, the approval
    /// of a measured requirement lasts as long as the requirement says. Any other approval does not expire.
    pub(super) fn approve_requirements(
        &mut self,
        names: &[String],
        asked: Option<&str>,
        ttl_seconds: Option<u64>,
    ) -> Result<RequirementAnswer> {
        if self.known_agent()?.is_some() {
            self.require_person(Restricted::Approve)?;
        }
        let agent = self.asking_agent()?;
        let approved_by = self.actor(agent.as_ref()).to_string();
        let request = SatisfyRequest {
            names: names.to_vec(),
            agent_session: asked.map(ToOwned::to_owned),
            ..SatisfyRequest::default()
        };
        self.satisfy_named(&request, |requirement| Satisfying {
            ttl: ttl_seconds.or(requirement.usual_ttl()),
            metadata: [("approved_by".to_owned(), approved_by.clone().into())].into_iter().collect(),
            ..Satisfying::by(SatisfiedBy::Approval)
        })
    }

    /// Clears the records that say that requirements were satisfied or triggered.
    pub(super) fn clear_requirements(
        &mut self,
        clearing: Clearing,
        branch: Option<&str>,
        asked: Option<&str>,
    ) -> Result<RequirementAnswer> {
        let ground = self.required_ground(branch)?;
        let now = self.clock.now().as_second();
        let on_record =
            ground.file().read(now).map(|document| document.names().map(ToOwned::to_owned).collect());
        let on_record: Vec<String> = on_record.unwrap_or_default();
        let names = match clearing {
            Clearing::All => on_record,
            Clearing::Named(names) => {
                let unknown: Vec<String> =
                    names.iter().filter(|name| !on_record.contains(name)).cloned().collect();
                self.named_requirements(&ground, &unknown, false)?;
                names
            }
        };
        let identity = asked.map(|asked| self.agent_named(asked)).transpose()?;
        let agent = identity.as_ref().and_then(|identity| AgentKey::new(&identity.id));
        let changed = ground.file().update(self.patience.left(), now, |document| {
            let cleared = names.iter().filter(|name| document.clear(name, agent.as_ref()));
            cleared.cloned().collect::<Vec<_>>()
        })?;
        let mut said: Vec<String> = changed.problem.into_iter().collect();
        let already = changed.answer.is_empty();
        said.extend(self.tell_cleared(&ground, agent.as_ref(), &changed.answer, "by hand"));
        let shown = identity.or_else(|| self.agent_meant(&ground, None).ok());
        self.answered(&ground, shown, already, said)
    }

    pub(super) fn pause_requirements(
        &mut self,
        asked: Option<&str>,
        reason: &str,
    ) -> Result<RequirementAnswer> {
        let asking = self.asking_agent()?;
        let by = self.actor(asking.as_ref()).to_string();
        let (ground, identity, agent) = self.agent_to_pause(asked)?;
        let paused = ground.pause(&agent, self.patience.left(), self.clock.now(), &by, &cleaned(reason))?;
        self.answered(&ground, Some(identity), !paused, Vec::new())
    }

    pub(super) fn resume_requirements(&mut self, asked: Option<&str>) -> Result<RequirementAnswer> {
        let (ground, identity, agent) = self.agent_to_pause(asked)?;
        let resumed = ground.resume(&agent)?;
        self.answered(&ground, Some(identity), !resumed, Vec::new())
    }

    fn agent_to_pause(&self, asked: Option<&str>) -> Result<(Ground, AgentIdentity, AgentKey)> {
        let ground = self.required_ground(None)?;
        let identity = self.agent_meant(&ground, asked)?;
        let agent = AgentKey::new(&identity.id).ok_or(Error::NoAgentSession)?;
        Ok((ground, identity, agent))
    }

    fn satisfy_named(
        &mut self,
        request: &SatisfyRequest,
        satisfying: impl Fn(&Requirement) -> Satisfying,
    ) -> Result<RequirementAnswer> {
        let asked = request.agent_session.as_deref();
        let ground = self.required_ground(request.branch.as_deref())?;
        let required = self.named_requirements(&ground, &request.names, request.unknown_too)?;
        let by_phase = |one: &Requirement| Some((one.name.clone(), one.phases.first()?.clone()));
        if let Some((requirement, phase)) = required.iter().find_map(by_phase) {
            return Err(Error::ProvedByPhase { requirement, phase });
        }
        let wanted: Vec<Satisfying> = required.iter().map(&satisfying).collect();
        let identity = if wanted.iter().all(|one| one.for_the_branch) {
            self.agent_meant(&ground, asked).ok()
        } else {
            self.agent_for(&ground, asked, &required)?
        };
        let agent = identity.as_ref().and_then(|identity| AgentKey::new(&identity.id));
        if let Some(key) = self.options.key.clone()
            && let Some(agent) = &agent
            && ground.metrics(agent).is_some_and(|metrics| metrics.has_seen(&keyed(&key)))
        {
            return self.answered(&ground, identity, true, Vec::new());
        }
        let wanted: Vec<(&Requirement, Satisfying)> = required.iter().zip(wanted).collect();
        let said = self.satisfy_all(&ground, agent.as_ref(), &wanted)?;
        if let (Some(key), Some(agent)) = (self.options.key.clone(), &agent) {
            let now = self.clock.now().as_second();
            ground.change_metrics(agent, self.patience.left(), now, |metrics| {
                metrics.first_time(&keyed(&key))
            })?;
        }
        self.answered(&ground, identity, false, said)
    }

    /// Records that all these requirements are satisfied, or none of them if this fails. Then counts this and adds it
    /// to the log. Returns problems with counting and with the log.
    pub(super) fn satisfy_all(
        &mut self,
        ground: &Ground,
        agent: Option<&AgentKey>,
        wanted: &[(&Requirement, Satisfying)],
    ) -> Result<Vec<String>> {
        let now = self.clock.now().as_second();
        let agent_session = agent.map(|agent| agent.full().to_owned());
        let changes: Vec<Change> = wanted
            .iter()
            .map(|(requirement, satisfying)| Change {
                at: now,
                agent_session: agent_session.clone(),
                names: vec![(requirement.name.clone(), requirement.kept_scope())],
                deed: Deed::Satisfy(satisfying.clone()),
            })
            .collect();
        let changed = ground.file().apply(self.patience.left(), now, &changes)?;
        let mut problems: Vec<String> = changed.problem.into_iter().collect();
        if let (Some(agent), Some((_, satisfying))) = (agent, wanted.first()) {
            let what = Counted::Satisfied {
                requirements: wanted.iter().map(|(requirement, _)| requirement.name.clone()).collect(),
                by: satisfying.by.name().to_owned(),
            };
            let counted = ground.count(agent, self.patience.left(), &Count { at: now, event: None, what });
            problems.extend(counted.err().map(|error| error.to_string()));
        }
        let events: Vec<Event> = wanted
            .iter()
            .map(|(requirement, satisfying)| Event::RequirementSatisfied {
                requirement: requirement.name.clone(),
                scope: requirement.kept_scope(),
                by: satisfying.by.name().to_owned(),
                branch: ground.branch.clone(),
                agent_session: agent_session.clone(),
                expires_at: satisfying
                    .ttl
                    .and_then(|ttl| Timestamp::from_second(now.saturating_add_unsigned(ttl)).ok()),
            })
            .collect();
        problems.extend(self.tell(&events));
        Ok(problems)
    }

    pub(super) fn tell_cleared(
        &mut self,
        ground: &Ground,
        agent: Option<&AgentKey>,
        names: &[String],
        why: &str,
    ) -> Vec<String> {
        let events: Vec<Event> = names
            .iter()
            .map(|name| Event::RequirementCleared {
                requirement: name.clone(),
                branch: ground.branch.clone(),
                agent_session: agent.map(|agent| agent.full().to_owned()),
                why: why.to_owned(),
            })
            .collect();
        self.tell(&events)
    }

    /// Adds events to the session's log. An error is only reported, because the file of the branch decides.
    fn tell(&mut self, events: &[Event]) -> Vec<String> {
        if events.is_empty() {
            return Vec::new();
        }
        match self.record_requirements(events) {
            Ok(()) => Vec::new(),
            Err(error) => {
                vec![format!("the requirement is satisfied, but not recorded in the session's log: {error}")]
            }
        }
    }

    fn answered(
        &self,
        ground: &Ground,
        identity: Option<AgentIdentity>,
        already: bool,
        said: Vec<String>,
    ) -> Result<RequirementAnswer> {
        Ok(RequirementAnswer { list: self.requirements_for(Some(&ground.branch), identity), already, said })
    }

    pub(super) fn required_ground(&self, branch: Option<&str>) -> Result<Ground> {
        self.ground_on(branch).ok_or_else(|| nowhere(&self.project))
    }

    fn named_requirements(
        &self,
        ground: &Ground,
        names: &[String],
        unknown_too: bool,
    ) -> Result<Vec<Requirement>> {
        let rules = self.rules(ground);
        let known = |name: &String| {
            let found = rules.enabled().find(|requirement| requirement.name == *name).cloned();
            found.or_else(|| unknown_too.then(|| Requirement::named(name)))
        };
        let all: Vec<String> = rules.enabled().map(|requirement| requirement.name.clone()).collect();
        names
            .iter()
            .map(|name| {
                known(name).ok_or_else(|| Error::UnknownRequirement {
                    asked: name.clone(),
                    nearest: nearest(name, all.iter().map(String::as_str)).map(ToOwned::to_owned),
                    known: all.clone(),
                })
            })
            .collect()
    }

    /// Returns the agent session for which requirements are satisfied; `None` if there is none and no requirement needs
    /// one.
    fn agent_for(
        &self,
        ground: &Ground,
        asked: Option<&str>,
        required: &[Requirement],
    ) -> Result<Option<AgentIdentity>> {
        let needs_one = required.iter().any(|requirement| requirement.kept_scope().is_of_one_agent());
        match self.agent_meant(ground, asked) {
            Ok(identity) => Ok(Some(identity)),
            Err(Error::NoAgentSession | Error::NeedsAnswer { .. }) if !needs_one => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the named agent session, else the caller, else the only live agent session on this branch.
    pub(super) fn agent_meant(&self, ground: &Ground, asked: Option<&str>) -> Result<AgentIdentity> {
        if let Some(asked) = asked {
            return self.agent_named(asked);
        }
        if let Some(identity) = self.known_agent()? {
            return Ok(identity);
        }
        if self.options.from_afar {
            return self.options.agent.clone().ok_or(Error::NoAgentSession);
        }
        let mut here = self.other_agents(None)?;
        here.retain(|agent| {
            agent.worktree == ground.project
                && agent.branch.as_ref().is_none_or(|name| *name == ground.branch)
        });
        let ancestors = self.processes.ancestors();
        let runs_this = |agent: &LiveAgent| ancestors.iter().any(|one| Some(one.pid) == agent.pid);
        if here.iter().any(runs_this) {
            here.retain(runs_this);
        }
        if let Some(told) = &self.options.agent {
            return Ok(told.clone());
        }
        match here.as_slice() {
            [] => Err(Error::NoAgentSession),
            [one] => Ok(AgentIdentity { agent: one.agent.clone(), id: one.agent_session.clone() }),
            several => Err(Error::NeedsAnswer {
                question: format!(
                    "several agent sessions are active here: {}",
                    several
                        .iter()
                        .map(|one| format!("{}:{}", one.agent, one.agent_session))
                        .collect::<Vec<_>>()
                        .join(", ")
                ),
                hint: format!("choose one: --agent-session {}", several[0].agent_session).into(),
            }),
        }
    }

    /// Returns the agent session that the typed id means. The id may be the beginning of a known one. An unknown id is
    /// used as typed.
    fn agent_named(&self, asked: &str) -> Result<AgentIdentity> {
        let typed = AgentIdentity::parse(asked).or_else(|| AgentIdentity::parse(&format!("claude:{asked}")));
        let Some(typed) = typed.filter(|identity| AgentKey::new(&identity.id).is_some()) else {
            return Err(Error::WrongUsage {
                message: format!("{asked:?} cannot be an agent session's id"),
                hint: Hint::new("see the known agent sessions: ").run(words!["list", "--agents"]),
            });
        };
        let rows = self.store.agents(None)?.into_iter().map(|row| (row.agent, row.agent_session));
        let listed = self.listed_elsewhere(None).into_iter().map(|one| (one.agent, one.agent_session));
        let known: Vec<(String, String)> = rows.chain(listed).collect();
        let exact = known.iter().find(|(_, id)| *id == typed.id);
        let only = |is_meant: &dyn Fn(&str) -> bool| {
            let mut meant = known.iter().filter(|(_, id)| is_meant(id));
            let first = meant.next()?;
            meant.all(|(_, id)| is_same(id, &first.1)).then_some(first)
        };
        let found = exact
            .or_else(|| only(&|id| is_same(id, &typed.id)))
            .or_else(|| only(&|id| id.starts_with(typed.id.as_str())));
        Ok(found.map_or(typed, |(agent, id)| AgentIdentity { agent: agent.clone(), id: id.clone() }))
    }
}

/// Returns the error that nothing can be required in this project, and why.
pub(super) fn nowhere(project: &Project) -> Error {
    Error::NoRequirementsHere {
        reason: match &project.git {
            Some(_) => "no branch is checked out here".to_owned(),
            None => "this is not a git repository".to_owned(),
        },
    }
}

fn without_secrets(mut metadata: Map<String, Value>) -> Map<String, Value> {
    for value in metadata.values_mut() {
        if let Value::String(text) = value {
            *text = cleaned(text);
        }
    }
    metadata
}

/// Returns the name under which an event with a key is counted. The name is the same for a repeated event, so it is
/// counted once.
fn keyed(key: &str) -> String {
    format!("key:{key}")
}
