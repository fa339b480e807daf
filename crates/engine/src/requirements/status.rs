//! How every requirement stands, for whoever looks. Changes nothing.

use super::gate::{Asking, Standing, on_record};
use super::setting::Rules;
use super::wording;
use super::{Gated, Ground};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::presence::AgentIdentity;
use crate::view::Warning;
use jiff::Timestamp;
use layouts::requirements::{AgentKey, Document, Kind, Requirement};
use model::session::Session;
use model::workflow::RequirementScope;
use serde::{Deserialize, Serialize};

/// A requirement as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequirementView {
    pub name: String,
    pub scope: RequirementScope,
    /// `blocking`, `dynamic` or `guard`.
    pub kind: String,
    pub satisfied: bool,
    /// By what: a word of the branch's file, or `phase:plan`.
    pub satisfied_by: Option<String>,
    pub satisfied_at: Option<Timestamp>,
    pub expires_at: Option<Timestamp>,
    /// Since when this agent session has done what it guards.
    pub triggered_at: Option<Timestamp>,
    /// It reminds, and never holds anybody.
    #[serde(default)]
    pub advisory: bool,
    /// What was measured, or which condition does not hold.
    pub found: Option<String>,
    /// Every way to satisfy it: a skill to run, a command.
    pub how: Vec<String>,
}

/// All of them, for one agent session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RequirementList {
    pub branch: Option<String>,
    pub agent_session: Option<String>,
    /// Nothing is asked of this agent session until it is resumed.
    pub paused: bool,
    pub requirements: Vec<RequirementView>,
    pub warnings: Vec<Warning>,
}

impl Engine {
    /// What is required here and how it stands for this agent session; where nobody is, for the branch alone.
    pub fn requirement_list(&self, asked: Option<&str>) -> Result<RequirementList> {
        self.requirement_list_on(None, asked)
    }

    /// The same for a branch by its name, checked out or not.
    pub fn requirement_list_on(&self, branch: Option<&str>, asked: Option<&str>) -> Result<RequirementList> {
        let identity = match self.ground_on(branch).map(|ground| self.agent_meant(&ground, asked)) {
            None | Some(Err(Error::NoAgentSession)) => None,
            Some(Ok(identity)) => Some(identity),
            Some(Err(error)) => return Err(error),
        };
        Ok(self.requirements_for(branch, identity))
    }

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
        RequirementList {
            paused: agent.is_some_and(|agent| ground.is_paused(&agent)),
            branch: Some(ground.branch),
            agent_session: identity.map(|identity| identity.id),
            requirements,
            warnings: rules.problems.into_iter().chain(problems).map(warning).collect(),
        }
    }

    /// Like `requirement_list_on`; a failure outside git, and where no branch is checked out or named.
    pub fn requirement_status(&self, branch: Option<&str>, asked: Option<&str>) -> Result<RequirementList> {
        self.required_ground(branch)?;
        self.requirement_list_on(branch, asked)
    }

    /// What is wrong with how requirements are written down here.
    pub fn requirement_problems(&self) -> Vec<String> {
        let Some(ground) = self.ground() else { return Vec::new() };
        let rules = self.rules(&ground);
        let triggers = rules.enabled().flat_map(Requirement::wrong_triggers);
        let state = ground.file().read(self.seconds()).err().map(|error| error.to_string());
        rules.problems.iter().cloned().chain(triggers).chain(state).collect()
    }

    /// The same for a session's view: what cannot be found out is left out there.
    pub(crate) fn requirement_views(&self, session: &Session) -> Gated<Vec<RequirementView>> {
        // Every command shows a view: where nothing is set, this is all that it costs.
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
        // A view is built inside a command's turn, which waits for nobody.
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
                    None => Ok(Standing::Open(None)),
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
    standing: std::result::Result<Standing, String>,
    now: i64,
    problems: &mut Vec<String>,
) -> RequirementView {
    let written = on_record(document, requirement, agent, now);
    let phase = rules.phase_done(requirement).map(|phase| format!("phase:{phase}"));
    let (met, found) = match standing {
        Ok(Standing::Met) => (true, None),
        Ok(Standing::Near(found)) => (true, Some(found)),
        Ok(Standing::Open(found)) => (written.is_some() || phase.is_some(), found),
        // What cannot be found out holds nobody.
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
            Kind::Blocking => "blocking",
            Kind::Dynamic(_) => "dynamic",
            Kind::Guard(_) => "guard",
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
        how: wording::ways(requirement, agent),
    }
}

pub(crate) fn warning(message: String) -> Warning {
    Warning { kind: "requirements".to_owned(), message, hint: None, path: None, problem: None }
}
