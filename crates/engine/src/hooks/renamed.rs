//! Handles an agent that ran commands before a hook reported the id of its conversation. These commands knew the agent
//! only by a marker and its process. The agent keeps its session and its items under the new id.

use crate::engine::Engine;
use crate::error::Result;
use crate::hooks::memory::Memory;
use crate::presence::AgentIdentity;
use model::id::SessionId;

impl Engine {
    /// Gives the session and items of the agent's process to its conversation. If this fails, returns a message, and
    /// does not block the agent.
    pub(super) fn recognise(&mut self, agent: &AgentIdentity) -> Option<String> {
        self.move_from_marker(agent).err().map(|error| error.to_string())
    }

    fn move_from_marker(&mut self, agent: &AgentIdentity) -> Result<()> {
        // With a server, this is done later, when the queue is sent.
        if self.queues() {
            return Ok(());
        }
        let Some(marked) = AgentIdentity::of_parent(&agent.agent).filter(|marked| marked != agent) else {
            return Ok(());
        };
        let row = self.store.agent(&marked.agent, &marked.id)?;
        let bound = row.as_ref().and_then(|row| row.session.clone());
        let session: Option<SessionId> = match bound {
            Some(session) => Some(session),
            None => self.at_work()?,
        };
        let Some(session) = session else { return Ok(()) };
        let holds = !self.leases_of(&session, &marked)?.is_empty();
        if row.is_none() && !holds {
            return Ok(());
        }
        if holds {
            self.claim_as_renamed(&session, &marked)?;
        }
        let known = self.store.agent(&agent.agent, &agent.id)?;
        let memory = known.and_then(|row| row.memory).unwrap_or_else(|| Memory::default().text());
        self.greet(agent, Some(session), Some(memory), self.patience.left())?;
        if row.is_some() {
            self.store.forget_agents(&[(marked.agent, marked.id)], self.patience.left())?;
        }
        Ok(())
    }
}
