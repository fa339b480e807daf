//! The only entry for changes of recorded requirements: takes a request and returns one answer.

use super::status::RequirementList;
use crate::engine::Engine;
use crate::error::Result;
use serde::Serialize;
use serde_json::{Map, Value};

/// A request to satisfy requirements.
#[derive(Debug, Clone, Default)]
pub struct SatisfyRequest {
    pub names: Vec<String>,
    /// The agent session's id, as typed: whole or shortened, with or without the agent's name.
    pub agent_session: Option<String>,
    /// True to satisfy the requirements for every agent session of the branch.
    pub for_the_branch: bool,
    /// The branch; `None` for the checked-out one.
    pub branch: Option<String>,
    pub ttl_seconds: Option<u64>,
    pub metadata: Map<String, Value>,
    /// True to record the requirements as satisfied although nothing was done.
    pub bypass: bool,
    /// True to accept names that belong to no requirement.
    pub unknown_too: bool,
}

/// Which requirements are cleared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clearing {
    Named(Vec<String>),
    All,
}

/// A request to change recorded requirements. Agent sessions are named as typed. If none is named, the asking one is
/// meant, or the only live one.
#[derive(Debug, Clone)]
pub enum RequirementRequest {
    Satisfy(SatisfyRequest),
    Approve {
        names: Vec<String>,
        agent_session: Option<String>,
        ttl_seconds: Option<u64>,
    },
    /// Clears requirements, for the named agent session or, without one, for all of them.
    Clear {
        clearing: Clearing,
        branch: Option<String>,
        agent_session: Option<String>,
    },
    /// Pauses requirements for an agent session, until it resumes them or ends.
    Pause {
        agent_session: Option<String>,
        reason: String,
    },
    Resume {
        agent_session: Option<String>,
    },
}

/// The requirements after a command, with messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RequirementAnswer {
    #[serde(flatten)]
    pub list: RequirementList,
    /// True if nothing had to change.
    pub already: bool,
    pub said: Vec<String>,
}

impl Engine {
    pub fn change_requirements(&mut self, request: RequirementRequest) -> Result<RequirementAnswer> {
        match request {
            RequirementRequest::Satisfy(request) => self.satisfy_requirements(&request),
            RequirementRequest::Approve { names, agent_session, ttl_seconds } => {
                self.approve_requirements(&names, agent_session.as_deref(), ttl_seconds)
            }
            RequirementRequest::Clear { clearing, branch, agent_session } => {
                self.clear_requirements(clearing, branch.as_deref(), agent_session.as_deref())
            }
            RequirementRequest::Pause { agent_session, reason } => {
                self.pause_requirements(agent_session.as_deref(), &reason)
            }
            RequirementRequest::Resume { agent_session } => {
                self.resume_requirements(agent_session.as_deref())
            }
        }
    }
}
