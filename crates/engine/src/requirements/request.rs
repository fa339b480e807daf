//! The only entry for changes of recorded requirements: a request in, one answer out.

use super::status::RequirementList;
use crate::engine::Engine;
use crate::error::Result;
use serde::Serialize;
use serde_json::{Map, Value};

/// A request to satisfy requirements.
#[derive(Debug, Clone, Default)]
pub struct SatisfyRequest {
    pub names: Vec<String>,
    /// The agent session's id as typed: whole or shortened, with or without the agent's name.
    pub agent_session: Option<String>,
    /// True to satisfy the requirements for every agent session of the branch.
    pub for_the_branch: bool,
    /// The branch, if it is not the checked-out one.
    pub branch: Option<String>,
    pub ttl_seconds: Option<u64>,
    pub metadata: Map<String, Value>,
    /// True to bypass the requirements: satisfied although nothing was done.
    pub bypass: bool,
    /// True to accept names that no requirement has.
    pub unknown_too: bool,
}

/// The requirements to clear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clearing {
    Named(Vec<String>),
    All,
}

/// A request to change recorded requirements. An agent session is given as typed; without one, the asking
/// session or the only live one is meant.
#[derive(Debug, Clone)]
pub enum RequirementRequest {
    Satisfy(SatisfyRequest),
    Approve {
        names: Vec<String>,
        agent_session: Option<String>,
        ttl_seconds: Option<u64>,
    },
    /// Clears requirements for every agent session, unless one is named.
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
    /// True if nothing had to be changed.
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
