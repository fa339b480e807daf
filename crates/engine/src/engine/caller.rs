//! Identifies the person or agent who called this process, from the environment and the system.

use crate::error::{Error, Result};
use crate::presence::AgentIdentity;
use std::path::PathBuf;

/// The person or agent who called this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub user: String,
    pub host: String,
    pub home: Option<PathBuf>,
    /// The agent, according to the environment.
    pub agent: Option<AgentIdentity>,
    /// True if requirements were switched off when the agent was started.
    pub skips_requirements: bool,
}

impl Caller {
    /// Returns the caller of a command. Refuses an invalid agent session id, because an agent must not count as a
    /// person.
    pub fn of_this_process() -> Result<Self> {
        let named = variable("LEFTOFF_AGENT_SESSION");
        let agent = named.as_deref().map(|text| AgentIdentity::parse(text).ok_or_else(|| bad_agent(text)));
        Ok(Self { agent: agent.transpose()?.or_else(named_by_its_agent), ..Self::unnamed() })
    }

    /// Returns the caller of a hook. An invalid agent session id is ignored, because a hook must never fail.
    pub(super) fn of_hook() -> Self {
        Self::of_this_process().unwrap_or_else(|_| Self::unnamed())
    }

    fn unnamed() -> Self {
        Self {
            user: variable("USER").or_else(|| variable("LOGNAME")).or_else(login_name).unwrap_or_default(),
            host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            home: std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from),
            agent: None,
            skips_requirements: variable("CLAUDE_SKIP_REQUIREMENTS").is_some(),
        }
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns the agent, if it is one that names its session in the environment of every command.
fn named_by_its_agent() -> Option<AgentIdentity> {
    [("CODEX_SESSION_ID", "codex"), ("CLAUDE_SESSION_ID", "claude")].into_iter().find_map(|(name, agent)| {
        let id = variable(name)?;
        // Even an invalid id comes from an agent, so the caller must not count as a person.
        AgentIdentity::parse(&format!("{agent}:{id}")).or_else(|| AgentIdentity::of_parent(agent))
    })
}

fn bad_agent(text: &str) -> Error {
    Error::WrongUsage {
        message: format!("LEFTOFF_AGENT_SESSION is not an agent session: {text:?}"),
        hint:
            "set it to the agent's name and its session's id, such as claude:a4326893; if you are not an agent, unset it"
                .into(),
    }
}

/// Returns the name of the user, from the system's list of users.
fn login_name() -> Option<String> {
    let uid = rustix::process::getuid().as_raw().to_string();
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == uid).then(|| name.to_owned())
    })
}
