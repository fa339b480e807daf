//! Who did something: a person, an agent session, a tool, a program that runs by itself. Never finds out by itself; the
//! engine says.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Actor {
    Person {
        name: String,
        host: String,
    },
    Agent {
        agent: String,
        id: String,
        host: String,
    },
    /// The program whose files changed a session; who used it is not known.
    Tool {
        name: String,
        host: String,
    },
    /// A program that runs without a person: continuous integration, a scheduled job.
    Automation {
        name: String,
        host: String,
    },
    /// Nobody knows who it was, or a newer program wrote a kind that this one does not know. Kept as it was written.
    #[serde(untagged)]
    Unknown(Map<String, Value>),
}

impl Actor {
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

    /// One text for one actor, by which what it holds is found.
    pub fn key(&self) -> String {
        match self {
            Self::Person { name, host } => format!("person:{name}@{host}"),
            Self::Agent { agent, id, host } => format!("agent:{agent}:{id}@{host}"),
            Self::Tool { name, host } => format!("tool:{name}@{host}"),
            Self::Automation { name, host } => format!("automation:{name}@{host}"),
            Self::Unknown(fields) => format!("unknown:{}", Value::Object(fields.clone())),
        }
    }
}

/// How people see an actor: `anna`, `claude a4326893`.
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

/// The first eight characters of an agent's id: enough for a person to tell two apart.
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
    fn only_a_person_is_one_and_two_kinds_of_one_name_hold_apart() {
        let read = |kind: &str| -> Actor {
            serde_json::from_str(&format!(r#"{{"kind":"{kind}","name":"anna","host":"desk"}}"#)).unwrap()
        };
        let kinds = ["person", "tool", "automation", "fleet"];
        assert_eq!(kinds.map(|kind| read(kind).is_person()), [true, false, false, false]);
        let keys: std::collections::BTreeSet<String> = kinds.map(|kind| read(kind).key()).into();
        assert_eq!(keys.len(), kinds.len());
        assert_eq!(kinds.map(|kind| read(kind).host() == "desk"), [true; 4]);
    }
}
