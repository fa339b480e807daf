//! Plain rows that go in and out of a store. Events and snapshots are opaque JSON text here; only the engine
//! reads them.

use crate::chain::Given;
use jiff::Timestamp;
use model::id::{ItemId, SessionId};
use model::item::ItemState;
pub use model::written_file::{ViewRow, WriteJournal};
use std::collections::BTreeMap;

/// One event as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    /// Its number in the session's own history, from 1.
    pub version: u64,
    pub at: Timestamp,
    /// The actor, as JSON.
    pub actor: String,
    /// The event's type name, for reading without parsing.
    pub kind: String,
    /// The event, as JSON.
    pub body: String,
    /// `None` for events of programs that did not record it.
    pub command: Option<CommandMark>,
}

/// The command that produced an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandMark {
    pub name: String,
    /// The version of the command's first event in this session: events that share it belong together.
    pub ordinal: u64,
}

/// A session's index row: enough for lists and lookups without folding events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    pub id: SessionId,
    pub worktree: String,
    /// The machine of the worktree; `None` means this store's own.
    pub machine: Option<String>,
    pub layout: String,
    /// Its layout allows one active session per worktree.
    pub exclusive: bool,
    pub workflow: String,
    pub title: String,
    pub goal: Option<String>,
    pub target: Option<String>,
    /// `active`, `paused`, `completed`, `failed`, `abandoned`.
    pub lifecycle: String,
    /// Exempt from the rule of one active session per worktree.
    pub parallel: bool,
    /// For a one-line summary: phase title, completed and total phases.
    pub phase: String,
    pub phases_done: u32,
    /// `None` if the number of phases is open; stored as 0, which no workflow has.
    pub phases_total: Option<u32>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub version: u64,
}

/// A list row with the number by which people may refer to it. Numbers are assigned on creation and never
/// reused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub number: u64,
    pub row: SessionRow,
}

/// A folded session, stored so that a command need not read the whole history. It may be a few events behind its row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The fold version that wrote it; other versions ignore it.
    pub fold_version: u32,
    pub version: u64,
    pub body: String,
}

/// A loaded session: its index row and, if there is one, its snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    pub number: u64,
    pub row: SessionRow,
    pub snapshot: Option<Snapshot>,
}

/// The changes of one batch to one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamAppend {
    /// The version on which the decision was based; 0 for a new session.
    pub expected: u64,
    /// At least one, with versions that follow `expected` without gaps.
    pub events: Vec<EventRow>,
    /// The index row after these events; its version is that of the last one.
    pub row: SessionRow,
    /// The session after these events. `None` leaves the stored snapshot as it is: whoever loads it applies the events since.
    pub snapshot: Option<Snapshot>,
}

/// A workflow definition, stored once under the hash of its source. The store does not have that source: the
/// later of two bodies wins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionRow {
    pub hash: String,
    pub body: String,
}

/// The content of a recorded file, stored once under its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentRow {
    pub hash: String,
    pub body: Vec<u8>,
}

/// A key that makes a command count once, with its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRow {
    pub key: String,
    /// Identifies the command, to detect the same key with a different one.
    pub fingerprint: String,
    pub answer: String,
    /// The format version of the answer; older programs wrote none.
    pub version: Option<u32>,
    /// The session of the answer.
    pub session: Option<SessionId>,
    pub at: Timestamp,
}

impl KeyRow {
    /// A key without an answer, for hooks.
    pub(crate) fn of_hook(key: &str, at: Timestamp) -> Self {
        let (key, nothing) = (key.to_owned(), String::new());
        Self { key, fingerprint: nothing.clone(), answer: nothing, version: None, session: None, at }
    }
}

/// All changes of one command, committed completely or not at all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Batch {
    pub streams: Vec<StreamAppend>,
    pub definitions: Vec<DefinitionRow>,
    pub contents: Vec<ContentRow>,
    pub key: Option<KeyRow>,
    pub bindings: Vec<Binding>,
    /// New or changed items; others of their sessions stay.
    pub items: Vec<ItemRow>,
    /// The complete new set of a session's items, stored before `items`.
    pub replace_items: Vec<ItemsReplaced>,
    /// Files that show a session; each replaces the stored row of that file.
    pub views: Vec<ViewRow>,
    /// Salts and hashes that new events bring from another replica, by session and version.
    pub seals: BTreeMap<SessionId, BTreeMap<u64, Given>>,
    /// Known numbers of new sessions. A number that another session has is not reassigned.
    pub numbers: BTreeMap<SessionId, u64>,
}

/// An item of a session, derived from the session's events and indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemRow {
    pub session: SessionId,
    /// Unique within a session, ignoring case.
    pub id: ItemId,
    /// The run to which it belongs.
    pub run: String,
    pub phase: String,
    pub parent: Option<ItemId>,
    /// Sort key; ties are broken by id.
    pub place: i64,
    pub state: ItemState,
    /// `pending`, `active`, `completed`, `blocked`.
    pub status: String,
    /// The holder, as a unique text for each actor.
    pub holder: Option<String>,
    pub lease_until: Option<Timestamp>,
    pub depends_on: Vec<ItemId>,
    /// The item, as JSON.
    pub body: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemsReplaced {
    pub session: SessionId,
    pub rows: Vec<ItemRow>,
}

/// A filter for items of a session. Empty means all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ItemFilter {
    pub run: Option<String>,
    pub phase: Option<String>,
    pub state: Option<ItemState>,
    pub status: Option<String>,
    pub parent: Option<ItemId>,
    pub limit: Option<usize>,
}

/// A query for free items: a phase of a run, the asking actor, and the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadyQuery<'a> {
    pub run: &'a str,
    pub phase: &'a str,
    /// Items that this actor holds are free for it.
    pub holder: &'a str,
    /// A lease that ends at or before this time does not count.
    pub now: Timestamp,
    pub limit: usize,
}

/// Binds an agent session to a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    pub agent: String,
    pub agent_session: String,
    pub session: SessionId,
}

/// An agent session that was seen, with the process that shows whether it is still alive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRow {
    pub agent: String,
    pub agent_session: String,
    pub host: String,
    pub pid: u32,
    /// Start time of that process, in the system's own unit: pids are reused.
    pub process_start: u64,
    pub boot_id: String,
    pub worktree: String,
    pub branch: Option<String>,
    pub started_at: Timestamp,
    pub last_seen: Timestamp,
    /// The session to which it is bound.
    pub session: Option<SessionId>,
    /// State for its next event, as JSON. In a given row, `None` keeps the stored value.
    pub memory: Option<String>,
}

/// Everything that an agent's hook records, committed completely or not at all. Like activity, it may be lost
/// in a crash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    pub at: Timestamp,
    /// Makes it count once: nothing is recorded under a used key.
    pub once: Option<String>,
    /// The agent that was seen; only the row of a known agent changes.
    pub agent: String,
    pub agent_session: String,
    /// `None` leaves the stored state of the agent.
    pub memory: Option<String>,
    /// The stored state must still equal this, or nothing is recorded; empty means no state, `None` skips the
    /// comparison.
    pub expects: Option<String>,
    /// New activity of the session.
    pub activity: Option<(SessionId, Vec<ActivityRow>)>,
}

/// A filter for sessions. Empty means all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    pub lifecycles: Vec<String>,
    pub worktree: Option<String>,
    pub layout: Option<String>,
    /// Search words, ignoring case, in id, title, goal, target and notes.
    pub search: Option<String>,
    pub limit: Option<usize>,
}

/// An event of any session, in commit order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Grows across the whole store: the position to continue from.
    pub cursor: u64,
    pub session: SessionId,
    pub event: EventRow,
}

/// A store's description of itself.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Info {
    pub engine: String,
    /// The store's own id, which it keeps when moved.
    pub id: String,
    /// File or address.
    pub place: String,
    pub schema_version: u32,
    pub journal: String,
    pub sessions: u64,
    pub events: u64,
    pub bytes: u64,
    /// Warnings for people: a network file system, a log that cannot be shortened.
    pub warnings: Vec<String>,
}

/// How many of a session's activities are kept, newest first.
pub const KEPT_ACTIVITIES: usize = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ActivityKind {
    File,
    Command,
    /// An agent's last words: `what` is the agent, `detail` the text.
    Words,
}

impl ActivityKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Command => "command",
            Self::Words => "words",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::File, Self::Command, Self::Words].into_iter().find(|kind| kind.name() == text)
    }
}

/// A touched file or an executed command: outside the log. May be lost in a crash.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ActivityRow {
    pub kind: ActivityKind,
    pub what: String,
    /// The latest result.
    pub detail: Option<String>,
    /// The latest time.
    pub at: Timestamp,
    /// How often; in a new record, how often since the last one.
    pub count: u64,
}

/// Replaced text in a session's history, with an event that records it; committed completely or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    /// The new event, with the session's index row and snapshot after the rewrite.
    pub stream: StreamAppend,
    /// Existing events: actor and body are replaced, and the salt of their hash is deleted; everything else
    /// stays.
    pub events: Vec<EventRow>,
    /// Replaces all stored activity of the session.
    pub activity: Vec<ActivityRow>,
    /// Hashes of files whose content is deleted.
    pub contents: Vec<String>,
    /// Replaces all items of the session.
    pub items: Vec<ItemRow>,
}
