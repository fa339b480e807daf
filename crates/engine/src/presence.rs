//! Finds out which agent sessions are alive here, and which of them runs this command. Never guesses from a pid alone.

use crate::engine::Engine;
use crate::error::Result;
use crate::hooks;
use crate::processes::{Ancestor, ProcessMark, Processes, SystemProcesses, agent_process};
use crate::signing::git_setting;
use jiff::Timestamp;
use model::actor::{Actor, KnownBy};
use model::id::SessionId;
use model::session::Session;
use std::time::Duration;
use store::AgentRow;

/// If the process of an agent or a person is unknown, they count as at work for this time after they were last seen. The
/// process is unknown on another machine, and without hooks.
pub(crate) const SEEN_LATELY_SECONDS: u64 = 15 * 60;

/// An agent session: the agent's name, and the session's id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentIdentity {
    pub agent: String,
    pub id: String,
}

impl AgentIdentity {
    /// Parses text such as `claude:a4326893-…`, as in the environment of the agent's commands.
    pub fn parse(text: &str) -> Option<Self> {
        const LONGEST: usize = 200;
        let (agent, id) = text.split_once(':')?;
        // Ids become parts of file names and of printed commands, so only harmless characters are allowed.
        let is_plain = |part: &str| {
            let fits = |c: char| c.is_ascii_alphanumeric() || "-_.:+@=".contains(c);
            !part.is_empty() && !part.starts_with('.') && part.chars().all(fits)
        };
        (text.len() <= LONGEST && is_plain(agent) && is_plain(id))
            .then(|| Self { agent: agent.to_owned(), id: id.to_owned() })
    }

    /// Returns an agent of this name whose id is its process, an ancestor of this one. Such an agent session lasts as
    /// long as the process.
    pub fn of_parent(name: &str) -> Option<Self> {
        let ancestors = SystemProcesses::default().ancestors();
        let process = agent_process(&ancestors)?;
        Self::named(name, &format!("{}-{}", process.pid, process.start))
    }

    /// Returns an agent whose name comes from outside. Only harmless characters of the name are kept.
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
    /// Returns the asking agent session, as known from its environment or its process. If neither is known, the
    /// caller's own statement counts.
    pub(crate) fn asking_agent(&self) -> Result<Option<AgentIdentity>> {
        Ok(self.known_agent()?.or_else(|| self.options.agent.clone()))
    }

    /// Returns the asking agent session without regard to its own statement: from the environment, from an ancestor
    /// process that a hook recorded, or from the agent's own variable. It makes no difference if there is a terminal.
    pub(crate) fn known_agent(&self) -> Result<Option<AgentIdentity>> {
        if self.options.from_afar {
            return Ok(None);
        }
        match &self.caller.agent {
            Some(identity) => Ok(Some(identity.clone())),
            None => Ok(self.agent_above()?.or_else(|| self.agent_of_marker())),
        }
    }

    fn agent_of_marker(&self) -> Option<AgentIdentity> {
        AgentIdentity::of_parent(self.options.marked_agent?)
    }

    /// True if a person runs this command: at a terminal, and not started by an agent.
    pub(crate) fn is_person(&self) -> Result<bool> {
        Ok(self.options.person_present && self.known_agent()?.is_none())
    }

    /// Returns the agent session whose process started this one.
    fn agent_above(&self) -> Result<Option<AgentIdentity>> {
        let mut rows = self.store.agents(None)?;
        // Only hooks know which process is the agent. A command with an agent's name in its environment may have been
        // typed in any shell, so its parent processes need not be the agent.
        rows.retain(|row| row.memory.is_some());
        if rows.is_empty() {
            return Ok(None);
        }
        let boot_id = self.processes.boot_id();
        let ancestors = self.processes.ancestors();
        // A process may have started another conversation. Then the one that ended is not the asking one.
        let has_ended = |row: &AgentRow| row.memory.as_deref().is_some_and(hooks::has_ended);
        Ok(ancestors.iter().find_map(|process| {
            let its = rows.iter().filter(|row| is_process_of(row, process, &boot_id));
            its.min_by_key(|row| has_ended(row))
                .map(|row| AgentIdentity { agent: row.agent.clone(), id: row.agent_session.clone() })
        }))
    }

    /// Returns the agent if there is one, else the person at the terminal, else automation.
    pub(crate) fn actor(&self, agent: Option<&AgentIdentity>) -> Actor {
        let host = self.caller.host.clone();
        match agent {
            Some(identity) => Actor::Agent {
                agent: identity.agent.clone(),
                id: identity.id.clone(),
                host,
                known_by: Some(self.known_by(identity)),
            },
            None if self.options.person_present => {
                Actor::Person { name: self.person_name(), host, known_by: Some(KnownBy::Terminal) }
            }
            None => Actor::Automation { name: self.caller.user.clone(), host },
        }
    }

    fn known_by(&self, identity: &AgentIdentity) -> KnownBy {
        if self.options.from_afar {
            KnownBy::OwnWord
        } else if self.caller.agent.as_ref() == Some(identity) {
            KnownBy::Environment
        } else if self.agent_above().ok().flatten().as_ref() == Some(identity) {
            KnownBy::Process
        } else if self.options.agent.as_ref() == Some(identity) {
            KnownBy::OwnWord
        } else {
            KnownBy::Marker
        }
    }

    /// Returns the person's name from git, or else from the system. Called only at a terminal, because it starts git.
    fn person_name(&self) -> String {
        let of_git = || git_setting(&self.project.root, "user.name");
        self.person_name.get_or_init(|| of_git().unwrap_or_else(|| self.caller.user.clone())).clone()
    }

    /// Returns the live agent sessions of this worktree, except the asking one.
    pub(crate) fn other_live_agents(&self, asking: Option<&AgentIdentity>) -> Result<Vec<AgentRow>> {
        let mut rows = self.store.agents(Some(&self.project.worktree()))?;
        rows.retain(|row| !asking.is_some_and(|identity| identity.is(row)) && self.lives(row));
        Ok(rows)
    }

    /// True if another live agent works on this session, here or in another worktree.
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
        self.is_running(row) && !row.memory.as_deref().is_some_and(hooks::has_ended)
    }

    /// True if the process of the agent session runs, even if its conversation has ended.
    fn is_running(&self, row: &AgentRow) -> bool {
        // The processes of another machine are unknown here.
        if row.host != self.caller.host {
            return model::time::seconds_between(row.last_seen, self.clock.now()) < SEEN_LATELY_SECONDS;
        }
        self.processes.is_alive(&ProcessMark {
            pid: row.pid,
            start: row.process_start,
            boot_id: row.boot_id.clone(),
        })
    }

    /// Returns when the holder of a lease was last seen, if the holder is known to have ended. `None` for a holder
    /// without a record, and for one on another machine, which may be working without a connection: its lease lasts
    /// until it expires.
    pub(crate) fn gone_since(&self, holder: &Actor) -> Option<Timestamp> {
        let Actor::Agent { agent, id, .. } = holder else { return None };
        let row = self.store.agent(agent, id).ok().flatten()?;
        // Without hooks, the recorded process may be one of many that run the agent's commands.
        row.memory.as_ref()?;
        let has_ended = row.memory.as_deref().is_some_and(hooks::has_ended);
        if !row.host.is_empty() && row.host != self.caller.host && !has_ended {
            return None;
        }
        (!self.lives(&row)).then_some(row.last_seen)
    }

    /// Returns when hooks last saw the holder of a lease at work; `None` without hooks, or if the holder's process has
    /// ended.
    pub(crate) fn seen_at_work(&self, holder: &Actor) -> Option<Timestamp> {
        let Actor::Agent { agent, id, .. } = holder else { return None };
        let row = self.store.agent(agent, id).ok().flatten()?;
        let is_at_work = row.memory.is_some() && self.lives(&row);
        is_at_work.then(|| self.last_queued(agent, id).unwrap_or(row.last_seen).max(row.last_seen))
    }

    /// True if the agent session holds items. Its record is then kept, because it shows that the holder has ended.
    fn holds_items(&self, row: &AgentRow) -> bool {
        let (agent, id, host) = (row.agent.clone(), row.agent_session.clone(), row.host.clone());
        let holder = Actor::Agent { agent, id, host, known_by: None }.key();
        let held = row.session.as_ref().map(|session| self.store.held_items(session, &holder));
        held.is_some_and(|held| held.is_ok_and(|rows| !rows.is_empty()))
    }

    /// Returns the process to record for an agent session. If hooks have recorded a process before and it is an
    /// ancestor of this one, it stays. Otherwise this is the nearest ancestor that is not a shell. A child process of
    /// the agent is never recorded instead of the agent.
    fn process_of<'a>(
        &self,
        identity: &AgentIdentity,
        ancestors: &'a [Ancestor],
    ) -> Result<Option<&'a Ancestor>> {
        let known = self.store.agent(&identity.agent, &identity.id)?.filter(|row| row.memory.is_some());
        let boot_id = self.processes.boot_id();
        let known = known.and_then(|row| ancestors.iter().find(|one| is_process_of(&row, one, &boot_id)));
        Ok(known.or_else(|| agent_process(ancestors)))
    }

    /// Records that an agent session is present, and on which session it works. Removes the records of agent sessions
    /// that have ended.
    pub(crate) fn greet(
        &mut self,
        identity: &AgentIdentity,
        session: Option<SessionId>,
        memory: Option<String>,
        patience: Duration,
    ) -> Result<()> {
        let ancestors = self.processes.ancestors();
        let Some(process) = self.process_of(identity, &ancestors)? else { return Ok(()) };
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
            .filter(|other| !identity.is(other) && !self.is_running(other) && !self.holds_items(other))
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
