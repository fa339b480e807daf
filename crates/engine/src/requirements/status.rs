//! Lists the state of every requirement. Changes nothing.

use super::blocking::{Asking, RequirementState, on_record};
use super::rules::Rules;
use super::{Gated, Ground};
use super::{nowhere, wording};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::facades::Requirements;
use crate::presence::AgentIdentity;
use crate::project::Project;
use crate::view::Warning;
use jiff::Timestamp;
use layouts::requirements::{AgentKey, Document, Requirement, RequirementKind};
use model::session::Session;
use model::workflow::RequirementScope;
use serde::{Deserialize, Serialize};

/// A requirement and its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequirementView {
    pub name: String,
    pub scope: RequirementScope,
    /// The kind of requirement: `blocking`, `dynamic` or `guard`.
    pub kind: String,
    pub satisfied: bool,
    /// How the requirement was satisfied: a word from the file of the branch, or a phase such as `phase:plan`.
    pub satisfied_by: Option<String>,
    pub satisfied_at: Option<Timestamp>,
    pub expires_at: Option<Timestamp>,
    /// When this agent session first did the guarded action.
    pub triggered_at: Option<Timestamp>,
    /// True if the requirement only reminds and never blocks.
    #[serde(default)]
    pub advisory: bool,
    /// The measurement, or the condition that is not met.
    pub found: Option<String>,
    /// The configuration's own words about what is required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The tools that may not be used before: `Edit`, `Bash (git commit)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Every way to satisfy the requirement, such as a skill to run or a command.
    pub how: Vec<String>,
}

/// All requirements, in their state for one agent session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RequirementList {
    pub branch: Option<String>,
    pub agent_session: Option<String>,
    /// True if requirements are paused for this agent session.
    pub paused: bool,
    pub requirements: Vec<RequirementView>,
    pub warnings: Vec<Warning>,
}

impl Requirements<'_> {
    /// Returns the requirements of the named branch, or else of the checked-out one, with their state for the agent
    /// session. Without an agent session, returns their state for the branch. Outside git, nothing is required.
    pub fn list(&self, branch: Option<&str>, agent_session: Option<&str>) -> Result<RequirementList> {
        let engine = self.engine;
        let meant = engine.ground_on(branch).map(|ground| engine.agent_meant(&ground, agent_session));
        let identity = match meant {
            None | Some(Err(Error::NoAgentSession)) => None,
            Some(Ok(identity)) => Some(identity),
            Some(Err(error)) => return Err(error),
        };
        Ok(engine.requirements_for(branch, identity))
    }
}

impl RequirementList {
    /// Returns the list unchanged. Fails outside git, and if no branch is checked out or named.
    pub fn of_a_branch(self, project: &Project) -> Result<Self> {
        if self.branch.is_some() { Ok(self) } else { Err(nowhere(project)) }
    }
}

impl Engine {
    pub(super) fn requirements_for(
        &self,
        branch: Option<&str>,
        identity: Option<AgentIdentity>,
    ) -> RequirementList {
        let Some(ground) = self.ground_on(branch) else {
            return RequirementList {
                branch: self.project.branch(),
                agent_session: None,
                paused: false,
                requirements: Vec::new(),
                warnings: Vec::new(),
            };
        };
        let rules = self.rules(&ground);
        let Gated { answer: requirements, problems } = self.views(&ground, &rules, identity.as_ref(), true);
        let agent = identity.as_ref().and_then(|identity| AgentKey::new(&identity.id));
        let triggers: Vec<String> = rules.enabled().flat_map(Requirement::wrong_triggers).collect();
        RequirementList {
            paused: agent.is_some_and(|agent| ground.is_paused(&agent)),
            branch: Some(ground.branch),
            agent_session: identity.map(|identity| identity.id),
            requirements,
            warnings: rules.problems.into_iter().chain(triggers).chain(problems).map(warning).collect(),
        }
    }

    /// Returns problems with requirements here: mistakes in the configuration, and a branch file that cannot be read.
    pub(crate) fn requirement_problems(&self) -> Vec<String> {
        let Some(ground) = self.ground() else { return Vec::new() };
        let rules = self.rules(&ground);
        let triggers = rules.enabled().flat_map(Requirement::wrong_triggers);
        let state = ground.file().read(self.seconds()).err().map(|error| error.to_string());
        rules.problems.iter().cloned().chain(triggers).chain(state).collect()
    }

    /// Returns the requirements for a session's view. Those whose state is unknown are missing.
    pub(crate) fn requirement_views(&self, session: &Session) -> Gated<Vec<RequirementView>> {
        // Every command builds a view. Without requirements, this check is its only cost.
        if session.worktree != self.project.worktree() || !self.may_require(session) {
            return Gated::fine(Vec::new());
        }
        let Some(ground) = self.ground() else { return Gated::fine(Vec::new()) };
        let mut rules = self.rules_of(&ground, session);
        let problems = std::mem::take(&mut rules.problems);
        if rules.enabled().next().is_none() {
            return Gated { answer: Vec::new(), problems };
        }
        let identity = self.agent_meant(&ground, None).ok();
        // A view is built within the turn to write. Nothing is measured then, because other commands are waiting.
        let mut views = self.views(&ground, &rules, identity.as_ref(), false);
        views.problems.extend(problems);
        views
    }

    pub(super) fn views(
        &self,
        ground: &Ground,
        rules: &Rules,
        identity: Option<&AgentIdentity>,
        measures: bool,
    ) -> Gated<Vec<RequirementView>> {
        let now = self.seconds();
        let mut problems = Vec::new();
        let document = ground.file().read(now).unwrap_or_else(|error| {
            problems.push(error.to_string());
            Document::new(&ground.branch, &ground.project, now)
        });
        let agent = identity.and_then(|identity| AgentKey::new(&identity.id));
        let views = rules
            .enabled()
            .map(|requirement| {
                let asking = agent.as_ref().zip(identity);
                let asking = asking.map(|(agent, identity)| Asking {
                    ground,
                    rules,
                    document: &document,
                    identity,
                    agent,
                    now,
                    measures,
                });
                let standing = match &asking {
                    Some(asking) => self.standing(asking, requirement),
                    None => Ok(RequirementState::Open(None)),
                };
                view(requirement, rules, &document, agent.as_ref(), standing, now, &mut problems)
            })
            .collect();
        Gated { answer: views, problems }
    }
}

fn view(
    requirement: &Requirement,
    rules: &Rules,
    document: &Document,
    agent: Option<&AgentKey>,
    standing: std::result::Result<RequirementState, String>,
    now: i64,
    problems: &mut Vec<String>,
) -> RequirementView {
    let written = on_record(document, requirement, agent, now);
    let phase = rules.phase_done(requirement).map(|phase| format!("phase:{phase}"));
    let (met, found) = match standing {
        Ok(RequirementState::Met) => (true, None),
        Ok(RequirementState::Near(found)) => (true, Some(found)),
        Ok(RequirementState::Open(found)) => (written.is_some() || phase.is_some(), found),
        // If the state of a requirement is unknown, the requirement blocks nobody.
        Err(problem) => {
            problems.push(problem);
            (true, None)
        }
    };
    let moment = |seconds: i64| Timestamp::from_second(seconds).ok();
    RequirementView {
        name: requirement.name.clone(),
        scope: requirement.scope,
        kind: match requirement.kind {
            RequirementKind::Blocking => "blocking",
            RequirementKind::Dynamic(_) => "dynamic",
            RequirementKind::Guard(_) => "guard",
        }
        .to_owned(),
        satisfied: met,
        satisfied_at: written.as_ref().and_then(|written| moment(written.at?)),
        expires_at: written.as_ref().and_then(|written| moment(written.expires_at?)),
        satisfied_by: written.map(|written| written.by).or(phase),
        triggered_at: agent
            .and_then(|agent| moment(document.triggered_at(&requirement.name, requirement.scope, agent)?)),
        advisory: requirement.advisory,
        found,
        message: wording::own_message(requirement),
        tools: requirement.triggers.iter().map(wording::tool).collect(),
        how: wording::ways(requirement, agent),
    }
}

pub(crate) fn warning(message: String) -> Warning {
    Warning { kind: "requirements".to_owned(), message, hint: None, path: None, problem: None }
}
