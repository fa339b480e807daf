//! The actor behind a change: a person, an agent session, a tool, or automation. The engine identifies actors; this
//! file only describes them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// The author of something that was merged from a fork, and when it was recorded there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    pub actor: Actor,
    pub at: Timestamp,
}

/// Who made a change. Actors are equal even if they were identified in different ways.
#[derive(Debug, Clone, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Actor {
    Person {
        name: String,
        host: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        known_by: Option<KnownBy>,
    },
    Agent {
        agent: String,
        id: String,
        host: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        known_by: Option<KnownBy>,
    },
    /// The program whose files changed a session. The person who used the program is unknown.
    Tool { name: String, host: String },
    /// A program that runs unattended: continuous integration or a scheduled job.
    Automation { name: String, host: String },
    /// An actor that could not be identified, or a kind of actor that only a newer program knows. Stored exactly as it
    /// was read.
    #[serde(untagged)]
    Unknown(Map<String, Value>),
}

/// How an actor was identified. Missing in older events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KnownBy {
    /// An environment variable contains the id of the agent session.
    Environment,
    /// An environment variable that the agent sets for its commands, but without the id of the agent session.
    Marker,
    /// An agent that sent hook events is an ancestor process of the command.
    Process,
    /// A client of leftoff's MCP server stated its own name.
    OwnWord,
    /// The command was run in a terminal that no agent started.
    Terminal,
    /// A method that only a newer program knows.
    #[serde(other)]
    Newer,
}

impl Actor {
    /// A person about whom nothing else is known.
    pub fn person(name: impl Into<String>, host: impl Into<String>) -> Self {
        Self::Person { name: name.into(), host: host.into(), known_by: None }
    }

    pub fn host(&self) -> &str {
        match self {
            Self::Person { host, .. }
            | Self::Agent { host, .. }
            | Self::Tool { host, .. }
            | Self::Automation { host, .. } => host,
            Self::Unknown(fields) => text(fields, "host").unwrap_or_default(),
        }
    }

    pub fn is_person(&self) -> bool {
        match self {
            Self::Person { .. } => true,
            Self::Agent { .. } | Self::Tool { .. } | Self::Automation { .. } | Self::Unknown(_) => false,
        }
    }

    /// Returns the actor in words that tell it from another who may look the same: `anna`, `anna at a terminal`.
    pub fn told_from(&self, other: &Self) -> String {
        let shown = self.to_string();
        match (self, other) {
            _ if shown != other.to_string() => shown,
            _ if std::mem::discriminant(self) == std::mem::discriminant(other) => match self {
                Self::Agent { agent, id, .. } if self.host() == other.host() => format!("{agent} {id}"),
                _ if self.host() == other.host() => shown,
                _ => format!("{shown} on {}", self.host()),
            },
            (Self::Person { .. }, _) => format!("{shown} at a terminal"),
            (Self::Automation { .. }, _) => format!("{shown} without a terminal"),
            (Self::Tool { .. }, _) => format!("the tool {shown}"),
            (Self::Agent { .. } | Self::Unknown(_), _) => shown,
        }
    }

    /// Returns a string that is unique for each actor. The items that an actor holds are found by this string.
    pub fn key(&self) -> String {
        match self {
            Self::Person { name, host, .. } => format!("person:{name}@{host}"),
            Self::Agent { agent, id, host, .. } => format!("agent:{agent}:{id}@{host}"),
            Self::Tool { name, host } => format!("tool:{name}@{host}"),
            Self::Automation { name, host } => format!("automation:{name}@{host}"),
            Self::Unknown(fields) => format!("unknown:{}", Value::Object(fields.clone())),
        }
    }
}

impl PartialEq for Actor {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Person { name, host, .. }, Self::Person { name: other, host: other_host, .. })
            | (Self::Tool { name, host }, Self::Tool { name: other, host: other_host })
            | (Self::Automation { name, host }, Self::Automation { name: other, host: other_host }) => {
                name == other && host == other_host
            }
            (
                Self::Agent { agent, id, host, .. },
                Self::Agent { agent: other, id: other_id, host: other_host, .. },
            ) => agent == other && id == other_id && host == other_host,
            (Self::Unknown(fields), Self::Unknown(other)) => fields == other,
            _ => false,
        }
    }
}

/// Display form for people: `anna`, `claude a4326893`.
impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Person { name, .. } | Self::Tool { name, .. } | Self::Automation { name, .. } => {
                f.write_str(name)
            }
            Self::Agent { agent, id, .. } => write!(f, "{agent} {}", short(id)),
            Self::Unknown(fields) => {
                let kind = text(fields, "kind").unwrap_or("unknown");
                match text(fields, "name") {
                    Some(name) => write!(f, "{name} ({kind})"),
                    None => f.write_str(kind),
                }
            }
        }
    }
}

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    fields.get(name).and_then(Value::as_str)
}

/// Returns the first eight characters of an agent's id. They are enough for a person to tell two agents apart.
fn short(id: &str) -> &str {
    id.char_indices().nth(8).map_or(id, |(end, _)| &id[..end])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]
    use super::*;

    #[test]
    fn every_kind_is_written_as_it_is_read() {
        for (written, shown) in [
            (r#"{"kind":"person","name":"anna","host":"desk"}"#, "anna"),
            (r#"{"kind":"agent","agent":"claude","id":"a4326893-7dc8","host":"desk"}"#, "claude a4326893"),
            (r#"{"kind":"person","name":"anna","host":"desk","known_by":"terminal"}"#, "anna"),
            (r#"{"kind":"tool","name":"reviewer","host":"desk"}"#, "reviewer"),
            (r#"{"kind":"automation","name":"nightly","host":"ci"}"#, "nightly"),
            (r#"{"kind":"unknown"}"#, "unknown"),
            (r#"{"kind":"fleet","name":"seven","host":"far","size":7}"#, "seven (fleet)"),
            (r#"{"kind":"person","nickname":"a newer shape"}"#, "person"),
        ] {
            let actor: Actor = serde_json::from_str(written).unwrap();
            assert_eq!(serde_json::to_string(&actor).unwrap(), written);
            assert_eq!(actor.to_string(), shown);
        }
    }

    #[test]
    fn actors_that_look_the_same_are_told_apart() {
        let read = |fields: &str| serde_json::from_str::<Actor>(&format!("{{{fields}}}")).unwrap();
        let person = read(r#""kind":"person","name":"anna","host":"desk""#);
        let elsewhere = read(r#""kind":"person","name":"anna","host":"laptop""#);
        let unattended = read(r#""kind":"automation","name":"anna","host":"desk""#);
        let tool = read(r#""kind":"tool","name":"anna","host":"desk""#);
        let agent = |id: &str| read(&format!(r#""kind":"agent","agent":"claude","id":"{id}","host":"desk""#));
        for (actor, other, told) in [
            (&person, &agent("a4326893-7dc8"), "anna"),
            (&person, &unattended, "anna at a terminal"),
            (&unattended, &person, "anna without a terminal"),
            (&tool, &person, "the tool anna"),
            (&elsewhere, &person, "anna on laptop"),
            (&agent("a4326893-7dc8"), &agent("a4326893-9999"), "claude a4326893-7dc8"),
        ] {
            assert_eq!(actor.told_from(other), told);
        }
    }

    #[test]
    fn only_a_person_is_one_and_two_kinds_of_one_name_hold_apart() {
        let read = |kind: &str| -> Actor {
            serde_json::from_str(&format!(r#"{{"kind":"{kind}","name":"anna","host":"desk"}}"#)).unwrap()
        };
        let kinds = ["person", "tool", "automation", "fleet"];
        let at_terminal = Actor::Person {
            name: "anna".to_owned(),
            host: "desk".to_owned(),
            known_by: Some(KnownBy::Terminal),
        };
        assert_eq!(kinds.map(|kind| read(kind) == at_terminal), [true, false, false, false]);
        assert_eq!(kinds.map(|kind| read(kind).is_person()), [true, false, false, false]);
        let keys: std::collections::BTreeSet<String> = kinds.map(|kind| read(kind).key()).into();
        assert_eq!(keys.len(), kinds.len());
        assert_eq!(kinds.map(|kind| read(kind).host() == "desk"), [true; 4]);
    }
}
