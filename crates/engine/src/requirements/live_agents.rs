//! The user's list of live agent sessions, which the original tool stores in the home folder. Reads the list, and
//! writes it while holding a lock.

use super::Ground;
use super::shared_file::{Known, SharedFile};
use crate::engine::Engine;
use crate::error::Result;
use crate::presence::AgentIdentity;
use crate::processes::{ProcessMark, agent_process};
use jiff::Timestamp;
use layouts::requirements::{AgentKey, Entry, Registry};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use serde::Serialize;

/// The name of the agent whose sessions the original tool lists.
const AGENT: &str = "claude";

/// Another live agent session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LiveAgent {
    pub agent: String,
    pub agent_session: String,
    pub pid: Option<u32>,
    pub worktree: String,
    pub branch: Option<String>,
    pub started_at: Timestamp,
    pub last_seen: Timestamp,
}

impl Engine {
    /// Returns the live agent sessions other than the asking one: those that leftoff has seen, and those in the
    /// original tool's list.
    pub(super) fn other_agents(&self, asking: Option<&AgentIdentity>) -> Result<Vec<LiveAgent>> {
        let mut live: Vec<LiveAgent> = self
            .store
            .agents(None)?
            .into_iter()
            .filter(|row| !asking.is_some_and(|identity| identity.is(row)) && self.lives(row))
            .map(|row| LiveAgent {
                agent: row.agent,
                agent_session: row.agent_session,
                pid: Some(row.pid),
                worktree: row.worktree,
                branch: row.branch,
                started_at: row.started_at,
                last_seen: row.last_seen,
            })
            .collect();
        for entry in self.listed_elsewhere(asking) {
            if !live.iter().any(|known| is_same(&known.agent_session, &entry.agent_session)) {
                live.push(entry);
            }
        }
        Ok(live)
    }

    /// Returns the live agent sessions of this worktree in the original tool's list, without the asking one.
    pub(crate) fn listed_elsewhere(&self, asking: Option<&AgentIdentity>) -> Vec<LiveAgent> {
        let worktree = self.project.worktree();
        let is_here = |entry: &Entry| {
            entry.project_dir == worktree
                && !asking.is_some_and(|identity| is_same(&identity.id, &entry.id))
                && self.entry_lives(entry)
        };
        self.listed().into_iter().filter(is_here).map(live).collect()
    }

    /// Returns the live agent sessions of every project in the original tool's list.
    pub(super) fn listed_anywhere(&self) -> Vec<LiveAgent> {
        self.listed().into_iter().filter(|entry| self.entry_lives(entry)).map(live).collect()
    }

    fn listed(&self) -> Vec<Entry> {
        let text = self.registry_file().and_then(|file| file.read().ok()?);
        text.and_then(|text| Registry::read(&text)).map(|registry| registry.entries()).unwrap_or_default()
    }

    /// Adds this agent session to the list, and removes those whose process has ended.
    pub(super) fn register(&self, ground: &Ground, identity: &AgentIdentity, agent: &AgentKey) -> Result<()> {
        let ancestors = self.processes.ancestors();
        let now = self.clock.now().as_second();
        let process = agent_process(&ancestors);
        let entry = Entry {
            id: identity.id.clone(),
            pid: Some(std::process::id()),
            ppid: process.map(|process| process.pid),
            process_start: process.map(|process| process.start),
            boot_id: Some(self.processes.boot_id()),
            project_dir: ground.project.clone(),
            branch: Some(ground.branch.clone()),
            started_at: now,
            last_active: now,
        };
        self.change_registry(|registry| {
            registry.drop_gone(|entry| self.entry_lives(entry));
            registry.greet(agent, &entry);
        })
    }

    pub(super) fn unregister(&self, agent: &AgentKey) -> Result<()> {
        if self.registry_file().is_none_or(|file| !file.path().exists()) {
            return Ok(());
        }
        self.change_registry(|registry| {
            registry.remove(agent);
            registry.drop_gone(|entry| self.entry_lives(entry));
        })
    }

    fn change_registry(&self, change: impl Fn(&mut Registry)) -> Result<()> {
        let Some(file) = self.registry_file() else { return Ok(()) };
        // The original tool changes the list without a lock. If it does so meanwhile, the list is read again and not
        // overwritten.
        file.update_watchfully(self.patience.left(), |text| {
            Known::read(text, Registry::read).changed(Registry::default, Registry::text, &change).0
        })
    }

    fn registry_file(&self) -> Option<SharedFile> {
        let home = self.caller.home.as_ref()?;
        // After a power cut, none of the listed sessions is alive. So the file need not be synced.
        Some(SharedFile::passing(home.join(".claude").join("sessions.json")))
    }

    fn entry_lives(&self, entry: &Entry) -> bool {
        let Some(pid) = entry.process() else { return false };
        if let (Some(start), Some(boot_id)) = (entry.process_start, entry.boot_id.clone())
            && entry.ppid == Some(pid)
        {
            return self.processes.is_alive(&ProcessMark { pid, start, boot_id });
        }
        let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
        match test_kill_process(pid) {
            // A process that refuses the signal belongs to another user, and is alive.
            Ok(()) | Err(Errno::PERM) => true,
            Err(_) => false,
        }
    }
}

/// True if both ids mean the same agent session. Each of them may be whole or shortened.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    AgentKey::new(one).zip(AgentKey::new(other)).is_some_and(|(one, other)| one.is(&other))
}

fn live(entry: Entry) -> LiveAgent {
    let moment = |seconds: i64| Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH);
    LiveAgent {
        agent: AGENT.to_owned(),
        pid: entry.process(),
        agent_session: entry.id,
        worktree: entry.project_dir,
        branch: entry.branch,
        started_at: moment(entry.started_at),
        last_seen: moment(entry.last_active),
    }
}
