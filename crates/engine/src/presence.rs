//! Which agent sessions are alive here, and which one is asking. Never guesses from a pid alone.

use crate::engine::Engine;
use crate::error::Result;
use crate::processes::{Ancestor, ProcessMark, Processes, SystemProcesses, agent_process};
use model::actor::Actor;
use model::id::SessionId;
use model::session::Session;
use std::time::Duration;
use store::AgentRow;

/// An agent session by its two names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentIdentity {
    pub agent: String,
    pub id: String,
}

impl AgentIdentity {
    /// `claude:a4326893-…`, as the agent's environment carries it.
    pub fn parse(text: &str) -> Option<Self> {
        const LONGEST: usize = 200;
        let (agent, id) = text.split_once(':')?;
        // Ids become parts of file names and of printed command lines.
        let is_plain = |part: &str| {
            let fits = |c: char| c.is_ascii_alphanumeric() || "-_.:+@=".contains(c);
            !part.is_empty() && !part.starts_with('.') && part.chars().all(fits)
        };
        (text.len() <= LONGEST && is_plain(agent) && is_plain(id))
            .then(|| Self { agent: agent.to_owned(), id: id.to_owned() })
    }

    /// A program that told its name, and runs this process: the same one as long as it lives.
    pub fn of_parent(name: &str) -> Option<Self> {
        let ancestors = SystemProcesses::default().ancestors();
        let process = agent_process(&ancestors)?;
        Self::named(name, &format!("{}-{}", process.pid, process.start))
    }

    /// An agent by a name from outside, made plain.
    pub fn named(name: &str, id: &str) -> Option<Self> {
        const LONGEST_NAME: usize = 60;
        let plain: String = name
            .chars()
            .map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' })
            .take(LONGEST_NAME)
            .collect();
        Self::parse(&format!("{}:{id}", plain.trim_matches('-')))
    }

    pub(crate) fn is(&self, row: &AgentRow) -> bool {
        row.agent == self.agent && row.agent_session == self.id
    }
}

impl std::fmt::Display for AgentIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.agent, self.id)
    }
}

impl Engine {
    /// The agent session that runs this command: by its environment, else by process ancestry, else as it says.
    pub(crate) fn asking_agent(&self) -> Result<Option<AgentIdentity>> {
        Ok(self.known_agent()?.or_else(|| self.options.agent.clone()))
    }

    /// The agent session that runs this command, without what it says of itself: by its environment, by an ancestor
    /// that its hook recorded, or by the agent's own variable. A terminal makes no difference.
    pub(crate) fn known_agent(&self) -> Result<Option<AgentIdentity>> {
        if self.options.from_afar {
            return Ok(None);
        }
        match &self.caller.agent {
            Some(identity) => Ok(Some(identity.clone())),
            None => Ok(self.agent_above()?.or_else(|| AgentIdentity::of_parent(self.options.marked_agent?))),
        }
    }

    /// Whether a person runs this command: at a terminal, and not below an agent.
    pub(crate) fn is_person(&self) -> Result<bool> {
        Ok(self.options.person_present && self.known_agent()?.is_none())
    }

    /// The agent session that this process was started by.
    fn agent_above(&self) -> Result<Option<AgentIdentity>> {
        let mut rows = self.store.agents(None)?;
        // Only hooks tell which process an agent is. A command that was given an agent's name in its environment may have
        // been typed in any shell, and what else runs there is not that agent.
        rows.retain(|row| row.memory.is_some());
        if rows.is_empty() {
            return Ok(None);
        }
        let boot_id = self.processes.boot_id();
        let ancestors = self.processes.ancestors();
        Ok(ancestors.iter().find_map(|process| {
            rows.iter()
                .find(|row| is_process_of(row, process, &boot_id))
                .map(|row| AgentIdentity { agent: row.agent.clone(), id: row.agent_session.clone() })
        }))
    }

    pub(crate) fn actor(&self, agent: Option<&AgentIdentity>) -> Actor {
        let host = self.caller.host.clone();
        match agent {
            Some(identity) => Actor::Agent { agent: identity.agent.clone(), id: identity.id.clone(), host },
            None => Actor::Person { name: self.caller.user.clone(), host },
        }
    }

    /// Agent sessions of this worktree whose process lives, except the one that asks.
    pub(crate) fn other_live_agents(&self, asking: Option<&AgentIdentity>) -> Result<Vec<AgentRow>> {
        let mut rows = self.store.agents(Some(&self.project.worktree()))?;
        rows.retain(|row| !asking.is_some_and(|identity| identity.is(row)) && self.lives(row));
        Ok(rows)
    }

    /// Whether an agent other than the asking one is alive and works on this session, here or in another worktree.
    pub(crate) fn somebody_else_is_in(&self, session: &Session) -> Result<bool> {
        let asking = self.asking_agent()?;
        let rows = self.store.agents(None)?;
        Ok(rows.iter().any(|row| {
            row.session.as_ref() == Some(&session.id)
                && !asking.as_ref().is_some_and(|identity| identity.is(row))
                && self.lives(row)
        }))
    }

    pub(crate) fn lives(&self, row: &AgentRow) -> bool {
        // Of another machine nothing can be found out here: what was seen in the last minutes counts.
        const SEEN_LATELY_SECONDS: u64 = 15 * 60;
        if row.host != self.caller.host {
            return model::time::seconds_between(row.last_seen, self.clock.now()) < SEEN_LATELY_SECONDS;
        }
        self.processes.is_alive(&ProcessMark {
            pid: row.pid,
            start: row.process_start,
            boot_id: row.boot_id.clone(),
        })
    }

    /// Records that an agent session is here, and what it works on. Dead ones leave.
    pub(crate) fn greet(
        &mut self,
        identity: &AgentIdentity,
        session: Option<SessionId>,
        memory: Option<String>,
        patience: Duration,
    ) -> Result<()> {
        let ancestors = self.processes.ancestors();
        let Some(process) = agent_process(&ancestors) else { return Ok(()) };
        let now = self.clock.now();
        let row = AgentRow {
            agent: identity.agent.clone(),
            agent_session: identity.id.clone(),
            host: self.caller.host.clone(),
            pid: process.pid,
            process_start: process.start,
            boot_id: self.processes.boot_id(),
            worktree: self.project.worktree(),
            branch: self.project.branch(),
            started_at: now,
            last_seen: now,
            session,
            memory,
        };
        self.store.see_agent(&row, patience)?;
        let gone: Vec<(String, String)> = self
            .store
            .agents(Some(&row.worktree))?
            .into_iter()
            .filter(|other| !identity.is(other) && !self.lives(other))
            .map(|other| (other.agent, other.agent_session))
            .collect();
        if gone.is_empty() { Ok(()) } else { Ok(self.store.forget_agents(&gone, patience)?) }
    }
}

fn is_process_of(row: &AgentRow, process: &Ancestor, boot_id: &str) -> bool {
    row.pid == process.pid && row.process_start == process.start && row.boot_id == boot_id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_from_outside_is_made_plain() {
        let named = |name: &str| AgentIdentity::named(name, "7-9").map(|identity| identity.to_string());
        assert_eq!(named("Claude Code").as_deref(), Some("claude-code:7-9"));
        assert_eq!(named("  ¡x! ").as_deref(), Some("x:7-9"));
        assert_eq!(named(""), None);
        assert_eq!(named(&"y".repeat(500)).map(|text| text.len()), Some(64));
    }

    #[test]
    fn an_identity_from_outside_is_checked() {
        let identity = AgentIdentity::parse("claude:a4326893-7dc8").expect("plain");
        assert_eq!((identity.agent.as_str(), identity.id.as_str()), ("claude", "a4326893-7dc8"));
        for bad in ["claude", ":x", "claude:", "claude:a b", "claude:a'b", &format!("c:{}", "x".repeat(300))]
        {
            assert_eq!(AgentIdentity::parse(bad), None, "{bad:?}");
        }
    }
}
