//! Lists agent sessions: which of them are alive, and which requirements each satisfied on this branch, and when.
//! Changes nothing.

use super::live_agents::{LiveAgent, is_same};
use crate::error::Result;
use crate::facades::Requirements;
use jiff::Timestamp;
use layouts::requirements::Record;
use serde::Serialize;

/// An agent session, and the requirements recorded for it on this branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionRecord {
    pub agent_session: String,
    pub agent: Option<String>,
    pub alive: bool,
    pub pid: Option<u32>,
    pub worktree: Option<String>,
    pub branch: Option<String>,
    pub last_seen: Option<Timestamp>,
    pub paused: bool,
    pub requirements: Vec<RecordView>,
}

/// The record of one requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecordView {
    pub requirement: String,
    pub satisfied_by: Option<String>,
    pub satisfied_at: Option<Timestamp>,
    pub expires_at: Option<Timestamp>,
    pub triggered_at: Option<Timestamp>,
}

/// The live agent sessions, and everything that is recorded about requirements on this branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RequirementRecords {
    pub sessions: Vec<SessionRecord>,
    /// The requirements recorded for all agent sessions of this branch together.
    pub branch: Vec<RecordView>,
}

impl Requirements<'_> {
    /// Returns the live agent sessions, of this worktree or of all the user's projects, and what is recorded about
    /// requirements on this branch.
    pub fn records(&self, only_here: bool) -> Result<RequirementRecords> {
        let engine = self.engine;
        let mut live = engine.other_agents(None)?;
        if only_here {
            let worktree = engine.project.worktree();
            live.retain(|agent| agent.worktree == worktree);
        } else {
            let elsewhere = engine.listed_anywhere();
            live.extend(elsewhere);
        }
        let mut sessions: Vec<SessionRecord> = Vec::new();
        for agent in live {
            if !sessions.iter().any(|known| is_same(&known.agent_session, &agent.agent_session)) {
                sessions.push(alive(agent));
            }
        }
        let mut branch = Vec::new();
        let Some(ground) = engine.ground() else { return Ok(RequirementRecords { sessions, branch }) };
        for record in ground.file().read(engine.seconds())?.records(engine.seconds()) {
            let Some(id) = record.agent_session.clone() else {
                branch.push(view(record));
                continue;
            };
            let at = sessions.iter().position(|known| is_same(&known.agent_session, &id));
            let at = at.unwrap_or_else(|| {
                sessions.push(gone(&id, &ground.branch));
                sessions.len() - 1
            });
            sessions[at].requirements.push(view(record));
        }
        for session in &mut sessions {
            let agent = layouts::requirements::AgentKey::new(&session.agent_session);
            session.paused = agent.is_some_and(|agent| ground.is_paused(&agent));
        }
        Ok(RequirementRecords { sessions, branch })
    }
}

fn alive(agent: LiveAgent) -> SessionRecord {
    SessionRecord {
        agent_session: agent.agent_session,
        agent: Some(agent.agent),
        alive: true,
        pid: agent.pid,
        worktree: Some(agent.worktree),
        branch: agent.branch,
        last_seen: Some(agent.last_seen),
        paused: false,
        requirements: Vec::new(),
    }
}

fn gone(id: &str, branch: &str) -> SessionRecord {
    SessionRecord {
        agent_session: id.to_owned(),
        agent: None,
        alive: false,
        pid: None,
        worktree: None,
        branch: Some(branch.to_owned()),
        last_seen: None,
        paused: false,
        requirements: Vec::new(),
    }
}

fn view(record: Record) -> RecordView {
    let moment = |seconds: Option<i64>| seconds.and_then(|seconds| Timestamp::from_second(seconds).ok());
    let satisfaction = record.satisfaction;
    RecordView {
        requirement: record.requirement,
        satisfied_at: moment(satisfaction.as_ref().and_then(|found| found.at)),
        expires_at: moment(satisfaction.as_ref().and_then(|found| found.expires_at)),
        satisfied_by: satisfaction.map(|found| found.by),
        triggered_at: moment(record.triggered_at),
    }
}
