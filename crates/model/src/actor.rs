//! Who did something: a person, or an agent session. Never finds out by itself; the engine says.

use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Actor {
    Person { name: String, host: String },
    Agent { agent: String, id: String, host: String },
}

impl Actor {
    pub fn host(&self) -> &str {
        match self {
            Self::Person { host, .. } | Self::Agent { host, .. } => host,
        }
    }

    pub fn is_person(&self) -> bool {
        match self {
            Self::Person { .. } => true,
            Self::Agent { .. } => false,
        }
    }

    /// One text for one actor, by which what it holds is found.
    pub fn key(&self) -> String {
        match self {
            Self::Person { name, host } => format!("person:{name}@{host}"),
            Self::Agent { agent, id, host } => format!("agent:{agent}:{id}@{host}"),
        }
    }
}

/// How people see an actor: `anna`, `claude a4326893`.
impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Person { name, .. } => f.write_str(name),
            Self::Agent { agent, id, .. } => write!(f, "{agent} {}", short(id)),
        }
    }
}

/// The first eight characters of an agent's id: enough for a person to tell two apart.
fn short(id: &str) -> &str {
    id.char_indices().nth(8).map_or(id, |(end, _)| &id[..end])
}
