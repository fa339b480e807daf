//! Counters of an agent session (used tools, blocked tools, satisfied requirements, skills, errors), and how many
//! entries each list keeps. Keys of other programs stay.

use super::agent::{AgentKey, FULL_ID};
use super::branch_file::table_mut;
use super::{VERSION, without_mark};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

const MOST_FILES: usize = 50;
const MOST_COMMANDS: usize = 30;
const MOST_SKILLS: usize = 50;
const MOST_ERRORS: usize = 100;
/// How many of the newest events are remembered. A remembered event is not counted again.
const MOST_SEEN: usize = 100;
/// The name of the section in the file that only leftoff uses.
const OURS: &str = "leftoff";

#[derive(Debug, Clone, PartialEq)]
pub struct Metrics {
    root: Map<String, Value>,
}

/// An event to count. Stored in a file of its own if the metrics cannot be written yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Seconds since 1970.
    pub at: i64,
    /// The identity of the event, so that it is counted only once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    pub what: Counted,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// A tool was used, possibly by a skill.
    Used {
        tool: String,
        file: Option<String>,
        command: Option<String>,
        skill: Option<String>,
    },
    /// A tool was blocked by these requirements.
    Held {
        tool: String,
        file: Option<String>,
        command: Option<String>,
        requirements: Vec<String>,
    },
    Failed {
        tool: String,
        message: String,
    },
    Satisfied {
        requirements: Vec<String>,
        by: String,
    },
    Compacted,
    Ended,
}

impl Metrics {
    pub fn new(agent: &AgentKey, project: &str, branch: &str, now: i64) -> Self {
        let root = json!({
            "version": VERSION,
            "session_id": agent.short(),
            "full_session_id": agent.full(),
            "project_dir": project,
            "branch": branch,
            "started_at": now,
            "ended_at": null,
            "duration_seconds": null,
            "compaction_count": 0,
            "tools": {},
            "requirements": {},
            "errors": [],
            "git": { "commits": [], "files_changed": 0, "lines_added": 0, "lines_removed": 0 },
            "skills": [],
        });
        match root {
            Value::Object(root) => Self { root },
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                unreachable!("it was made a table just now")
            }
        }
    }

    /// Reads the metrics. `None` if the content is unusable.
    pub fn read(text: &str) -> Option<Self> {
        let root: Map<String, Value> = serde_json::from_str(without_mark(text)).ok()?;
        (root.get("version").and_then(Value::as_str) == Some(VERSION)).then_some(Self { root })
    }

    pub fn text(&self) -> String {
        serde_json::to_string_pretty(&self.root).unwrap_or_default()
    }

    /// True if the file is about this agent session, or does not name one.
    pub fn is_of(&self, agent: &AgentKey) -> bool {
        let full = self.root.get("full_session_id").cloned().unwrap_or(Value::Null);
        agent.owns(agent.short(), &json!({ FULL_ID: full }))
    }

    /// Counts an event. Returns false if the event was already counted.
    pub fn count(&mut self, count: &Count) -> bool {
        let Count { at, event, what } = count;
        let is_new = match (event, what) {
            (None, _) => true,
            // A conversation may be compacted several times, and all of these events look the same.
            (Some(event), Counted::Compacted) => self.compacts_anew(event, *at),
            (Some(event), _) => self.first_time(event),
        };
        if !is_new {
            return false;
        }
        match what {
            Counted::Used { tool, file, command, skill } => {
                self.tool_used(tool, file.as_deref(), command.as_deref(), false);
                if let Some(skill) = skill {
                    push(
                        list_in(&mut self.root, "skills"),
                        json!({ "name": skill, "timestamp": at }),
                        MOST_SKILLS,
                    );
                }
            }
            Counted::Held { tool, file, command, requirements } => {
                self.tool_used(tool, file.as_deref(), command.as_deref(), true);
                for name in requirements {
                    self.held(name, *at);
                }
            }
            Counted::Failed { tool, message } => self.failed(tool, message, *at),
            Counted::Satisfied { requirements, by } => {
                for name in requirements {
                    self.satisfied(name, by, *at);
                }
            }
            Counted::Compacted => add_one(&mut self.root, "compaction_count"),
            Counted::Ended => self.ended(*at),
        }
        true
    }

    pub fn has_seen(&self, event: &str) -> bool {
        let seen = self.root.get(OURS).and_then(|ours| ours.get("seen")?.as_array());
        seen.is_some_and(|seen| seen.iter().any(|known| known.as_str() == Some(event)))
    }

    /// Remembers an event. Returns false if the event was already remembered.
    pub fn first_time(&mut self, event: &str) -> bool {
        let seen = list_in(table_mut(&mut self.root, OURS), "seen");
        if seen.iter().any(|known| known.as_str() == Some(event)) {
            return false;
        }
        push(seen, json!(event), MOST_SEEN);
        true
    }

    /// True if this event is a new compaction. The same compaction may be reported several times within
    /// seconds, but two compactions never follow each other so fast.
    fn compacts_anew(&mut self, event: &str, at: i64) -> bool {
        const APART_SECONDS: u64 = 5;
        let ours = table_mut(&mut self.root, OURS);
        let is_same = ours.get("compacted").is_some_and(|last| {
            let before = last.get("at").and_then(Value::as_i64).unwrap_or(0);
            last.get("event").and_then(Value::as_str) == Some(event) && at.abs_diff(before) < APART_SECONDS
        });
        if !is_same {
            ours.insert("compacted".to_owned(), json!({ "event": event, "at": at }));
        }
        !is_same
    }

    /// True if a denial should be shown in full, because the same denial was not shown within the last
    /// `within_seconds`.
    pub fn shows_denial(&mut self, fingerprint: &str, within_seconds: i64, now: i64) -> bool {
        let ours = table_mut(&mut self.root, OURS);
        let last = ours.get("denial");
        let is_repeated = last.is_some_and(|last| {
            let at = last.get("at").and_then(Value::as_i64).unwrap_or(0);
            last.get("shown").and_then(Value::as_str) == Some(fingerprint)
                && (0..within_seconds).contains(&now.saturating_sub(at))
        });
        if !is_repeated {
            ours.insert("denial".to_owned(), json!({ "shown": fingerprint, "at": now }));
        }
        !is_repeated
    }

    fn tool_used(&mut self, name: &str, file: Option<&str>, command: Option<&str>, held: bool) {
        let tool = table_mut(table_mut(&mut self.root, "tools"), name);
        add_one(tool, "count");
        tool.entry("blocked_count").or_insert_with(|| json!(0));
        if held {
            add_one(tool, "blocked_count");
        }
        for (key, what, most) in [("files", file, MOST_FILES), ("commands", command, MOST_COMMANDS)] {
            let known = list_in(tool, key);
            if let Some(what) = what
                && !known.iter().any(|entry| entry.as_str() == Some(what))
            {
                push(known, json!(what), most);
            }
        }
    }

    fn held(&mut self, name: &str, at: i64) {
        let entry = self.requirement(name);
        if entry.get("triggered_at").is_none_or(Value::is_null) {
            entry.insert("triggered_at".to_owned(), json!(at));
        }
        add_one(entry, "blocked_count");
    }

    fn satisfied(&mut self, name: &str, by: &str, at: i64) {
        let entry = self.requirement(name);
        entry.insert("satisfied_at".to_owned(), json!(at));
        entry.insert("satisfied_by".to_owned(), json!(by));
        if let Some(triggered) = entry.get("triggered_at").and_then(Value::as_i64) {
            let took = at.saturating_sub(triggered).max(0);
            entry.insert("time_to_satisfy_seconds".to_owned(), json!(took));
        }
    }

    fn failed(&mut self, tool: &str, message: &str, at: i64) {
        let error = json!({
            "type": "tool_failed", "message": message, "tool": tool, "requirement": null, "timestamp": at
        });
        push(list_in(&mut self.root, "errors"), error, MOST_ERRORS);
    }

    fn ended(&mut self, at: i64) {
        self.root.insert("ended_at".to_owned(), json!(at));
        if let Some(started) = self.root.get("started_at").and_then(Value::as_i64) {
            self.root.insert("duration_seconds".to_owned(), json!(at.saturating_sub(started).max(0)));
        }
    }

    fn requirement(&mut self, name: &str) -> &mut Map<String, Value> {
        let entry = table_mut(table_mut(&mut self.root, "requirements"), name);
        for (key, value) in [
            ("triggered_at", Value::Null),
            ("blocked_count", json!(0)),
            ("satisfied_at", Value::Null),
            ("satisfied_by", Value::Null),
            ("time_to_satisfy_seconds", Value::Null),
        ] {
            entry.entry(key).or_insert(value);
        }
        entry
    }
}

fn add_one(table: &mut Map<String, Value>, key: &str) {
    let count = table.get(key).and_then(Value::as_u64).unwrap_or(0);
    table.insert(key.to_owned(), json!(count.saturating_add(1)));
}

/// Appends a value to a list of at most `most` entries. The oldest entries are removed.
fn push(list: &mut Vec<Value>, value: Value, most: usize) {
    list.push(value);
    list.drain(..list.len().saturating_sub(most));
}

fn list_in<'a>(map: &'a mut Map<String, Value>, key: &str) -> &'a mut Vec<Value> {
    let value = map.entry(key).or_insert_with(|| json!([]));
    if !value.is_array() {
        *value = json!([]);
    }
    match value {
        Value::Array(list) => list,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            unreachable!("it was made a list just now")
        }
    }
}
