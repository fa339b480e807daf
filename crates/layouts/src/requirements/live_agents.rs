//! The user's list of live agent sessions. The caller decides which sessions are alive. Entries and keys of
//! other programs stay.

use super::agent::{AgentKey, FULL_ID};
use super::branch_file::table_mut;
use super::{VERSION, without_mark};
use serde_json::{Map, Value, json};

/// Keys for the start time of the agent's process and the boot time of the machine. Both are needed to
/// identify a process, because the system reuses pids.
const PROCESS_START: &str = "process_start";
const BOOT_ID: &str = "boot_id";

#[derive(Debug, Clone, PartialEq)]
pub struct Registry {
    root: Map<String, Value>,
}

/// An agent session that was alive when its entry was written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Entry {
    /// The full id of the agent session. The short id if the full one is unknown.
    pub id: String,
    /// The pid of the hook that wrote the entry.
    pub pid: Option<u32>,
    /// The pid of the agent itself.
    pub ppid: Option<u32>,
    /// When the agent's process started, if known. It tells the process apart from an earlier or later one
    /// with the same pid.
    pub process_start: Option<u64>,
    pub boot_id: Option<String>,
    pub project_dir: String,
    pub branch: Option<String>,
    pub started_at: i64,
    pub last_active: i64,
}

impl Entry {
    /// The pid of the process that must be running: the agent's, or else that of the process that wrote the
    /// entry. A pid of 0 means a process group, and is ignored.
    pub fn process(&self) -> Option<u32> {
        self.ppid.filter(|pid| *pid > 0).or(self.pid.filter(|pid| *pid > 0))
    }
}

impl Default for Registry {
    fn default() -> Self {
        let root = [("version", json!(VERSION)), ("sessions", json!({}))];
        Self { root: root.into_iter().map(|(key, value)| (key.to_owned(), value)).collect() }
    }
}

impl Registry {
    /// Reads the list. `None` if the content is unusable.
    pub fn read(text: &str) -> Option<Self> {
        let root: Map<String, Value> = serde_json::from_str(without_mark(text)).ok()?;
        let is_known = root.get("version").is_none_or(|version| version.as_str() == Some(VERSION))
            && root.get("sessions").is_none_or(Value::is_object);
        is_known.then_some(Self { root })
    }

    pub fn text(&self) -> String {
        serde_json::to_string_pretty(&self.root).unwrap_or_default()
    }

    pub fn entries(&self) -> Vec<Entry> {
        let sessions = self.root.get("sessions").and_then(Value::as_object);
        sessions.into_iter().flatten().map(|(key, value)| entry(key, value)).collect()
    }

    /// Records an agent session. If it was already recorded, the time of the first record stays.
    pub fn greet(&mut self, agent: &AgentKey, entry: &Entry) {
        let sessions = table_mut(&mut self.root, "sessions");
        let key = agent.key_for(sessions);
        let fields = table_mut(sessions, &key);
        fields.entry("pid").or_insert_with(|| json!(entry.pid));
        fields.insert("ppid".to_owned(), json!(entry.ppid));
        fields.insert("project_dir".to_owned(), json!(entry.project_dir));
        fields.insert("branch".to_owned(), json!(entry.branch));
        fields.entry("started_at").or_insert_with(|| json!(entry.started_at));
        fields.insert("last_active".to_owned(), json!(entry.last_active));
        fields.insert(FULL_ID.to_owned(), json!(agent.full()));
        fields.insert(PROCESS_START.to_owned(), json!(entry.process_start));
        fields.insert(BOOT_ID.to_owned(), json!(entry.boot_id));
    }

    pub fn remove(&mut self, agent: &AgentKey) -> bool {
        let sessions = table_mut(&mut self.root, "sessions");
        let Some(key) = agent.key_in(sessions).map(ToOwned::to_owned) else { return false };
        sessions.shift_remove(&key).is_some()
    }

    /// Removes the entries of agent sessions that are not alive. Returns true if any entry was removed.
    pub fn drop_gone(&mut self, lives: impl Fn(&Entry) -> bool) -> bool {
        let sessions = table_mut(&mut self.root, "sessions");
        let before = sessions.len();
        sessions.retain(|key, value| lives(&entry(key, value)));
        sessions.len() != before
    }
}

fn entry(key: &str, value: &Value) -> Entry {
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(ToOwned::to_owned);
    let number = |name: &str| value.get(name).and_then(Value::as_i64);
    let pid = |name: &str| number(name).and_then(|pid| u32::try_from(pid).ok());
    Entry {
        id: text(FULL_ID).unwrap_or_else(|| key.to_owned()),
        pid: pid("pid"),
        ppid: pid("ppid"),
        process_start: value.get(PROCESS_START).and_then(Value::as_u64),
        boot_id: text(BOOT_ID),
        project_dir: text("project_dir").unwrap_or_default(),
        branch: text("branch"),
        started_at: number("started_at").unwrap_or(0),
        last_active: number("last_active").unwrap_or(0),
    }
}
