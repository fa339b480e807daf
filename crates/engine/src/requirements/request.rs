//! The door for every change of what is on record about requirements: a request in, one answer out.

use super::status::RequirementList;
use crate::engine::Engine;
use crate::error::Result;
use serde::Serialize;
use serde_json::{Map, Value};

/// A requested satisfaction: what, for whom, for how long.
#[derive(Debug, Clone, Default)]
pub struct SatisfyRequest {
    pub names: Vec<String>,
    /// As typed: an id, whole or short, with or without the agent's name.
    pub agent_session: Option<String>,
    /// For every agent session of the branch.
    pub for_the_branch: bool,
    /// The branch, if not the checked-out one.
    pub branch: Option<String>,
    pub ttl_seconds: Option<u64>,
    pub metadata: Map<String, Value>,
    /// Bypassed without being done.
    pub bypass: bool,
    /// Accept names that nobody requires.
    pub unknown_too: bool,
}

/// The part to clear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clearing {
    Named(Vec<String>),
    All,
}

/// A change of what is on record about requirements. An agent session is named as typed; without one, the asking or
/// the only live one is meant.
#[derive(Debug, Clone)]
pub enum RequirementRequest {
    Satisfy(SatisfyRequest),
    Approve {
        names: Vec<String>,
        agent_session: Option<String>,
        ttl_seconds: Option<u64>,
    },
    /// For every agent session, unless one is named.
    Clear {
        clearing: Clearing,
        branch: Option<String>,
        agent_session: Option<String>,
    },
    /// Suspends requirements for an agent session, until it is resumed or ends.
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
    /// Nothing had to be changed.
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
