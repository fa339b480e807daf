//! A change that a hook makes to a branch's file. Stored in a file of its own if the branch's file cannot be
//! written yet.

use super::agent::AgentKey;
use super::branch_file::Document;
use super::satisfaction::Satisfying;
use model::workflow::RequirementScope;
use serde::{Deserialize, Serialize};

/// A change to requirements, with its author and its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Seconds since 1970.
    pub at: i64,
    /// The full id of the agent session. `None` if the change is for the whole branch.
    pub agent_session: Option<String>,
    pub names: Vec<(String, RequirementScope)>,
    pub deed: Deed,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    Satisfy(Satisfying),
    /// A permission that was valid for a single action was used.
    UseUp,
    /// The action guarded by a requirement was done for the first time.
    Trigger,
}

impl Document {
    /// Applies a change. Returns the names of the requirements that changed.
    pub fn apply(&mut self, change: &Change) -> Vec<String> {
        let agent = change.agent_session.as_deref().and_then(AgentKey::new);
        let agent = agent.as_ref();
        let mut changed = Vec::new();
        for (name, scope) in &change.names {
            let did = match &change.deed {
                Deed::Satisfy(satisfying) => self.satisfy(name, *scope, agent, satisfying, change.at),
                Deed::UseUp => agent.is_some_and(|agent| self.use_up(name, agent)),
                Deed::Trigger => agent.is_some_and(|agent| self.trigger(name, *scope, agent, change.at)),
            };
            if did {
                changed.push(name.clone());
            }
        }
        changed
    }
}
