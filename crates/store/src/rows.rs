//! The rows that a store reads and writes. Events and snapshots are opaque JSON text here; only the engine parses them.

use crate::chain::Given;
use jiff::Timestamp;
use model::id::{ItemId, SessionId};
use model::item::ItemState;
pub use model::written_file::{ViewRow, WriteJournal};
use std::collections::BTreeMap;

/// A stored event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    /// The event's number in its session's history, from 1.
    pub version: u64,
    pub at: Timestamp,
    /// The actor, as JSON.
    pub actor: String,
    /// The name of the event's type, so that rows can be selected without parsing events.
    pub kind: String,
    /// The event, as JSON.
    pub body: String,
    /// The command of the event; `None` for events of programs that did not record it.
    pub command: Option<CommandMark>,
}

/// The command that produced an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandMark {
    pub name: String,
    /// The version of the command's first event in this session. Events with the same number belong to the same
    /// command.
    pub ordinal: u64,
}

/// The row of a session, which suffices for lists and lookups without folding events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    pub id: SessionId,
    pub worktree: String,
    /// The machine of the worktree; `None` means the store's own machine.
    pub machine: Option<String>,
    pub layout: String,
    /// True if the layout allows only one active session per worktree.
    pub exclusive: bool,
    pub workflow: String,
    pub title: String,
    pub goal: Option<String>,
    pub target: Option<String>,
    /// The name of the lifecycle: `active`, `paused`, `completed`, `failed`, `abandoned`.
    pub lifecycle: String,
    /// True if the session may be active beside another one in its worktree.
    pub parallel: bool,
    /// The title of the current phase. With the numbers of phases, it makes a summary of one line.
    pub phase: String,
    pub phases_done: u32,
    /// `None` if more phases can be added; stored as 0, which no workflow has.
    pub phases_total: Option<u32>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub version: u64,
}

/// A row of a list, with the number by which people may refer to the session. A number is assigned when the session is
/// created, and never reused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub number: u64,
    pub row: SessionRow,
}

/// A folded session, stored so that commands need not read the whole history. It may be a few events older than the
/// session's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The `FOLD_VERSION` of the program that wrote the snapshot. Programs with another version ignore the snapshot.
    pub fold_version: u32,
    pub version: u64,
    pub body: String,
}

/// A loaded session: its row and, if there is one, its snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    pub number: u64,
    pub row: SessionRow,
    pub snapshot: Option<Snapshot>,
}

/// The part of a batch that changes one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamAppend {
    /// The version on which the decision was based; 0 for a new session.
    pub expected: u64,
    /// At least one event; the versions follow `expected` without gaps.
    pub events: Vec<EventRow>,
    /// The session's row after these events, with the version of the last event.
    pub row: SessionRow,
    /// The session after these events. `None` leaves the stored snapshot, and whoever loads it applies the newer
    /// events.
    pub snapshot: Option<Snapshot>,
}

/// A workflow definition, stored once under the hash of its source. The source itself is not stored. If two definitions
/// have the same hash, the later one is stored.
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

/// A key that makes a repeated command take effect only once, with the answer of that command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRow {
    pub key: String,
    /// Identifies the command, to detect that the same key is used for a different one.
    pub fingerprint: String,
    pub answer: String,
    /// The format version of the answer; older programs did not write it.
    pub version: Option<u32>,
    /// The session that the answer is about.
    pub session: Option<SessionId>,
    pub at: Timestamp,
}

impl KeyRow {
    /// A key without an answer, as hooks use it.
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
    /// New or changed items; other items of their sessions stay.
    pub items: Vec<ItemRow>,
    /// New sets of items, each replacing all items of its session. Stored before `items`.
    pub replace_items: Vec<ItemsReplaced>,
    /// Files that show a session to its tool. Each row replaces the stored row of that file.
    pub views: Vec<ViewRow>,
    /// The salts or hashes of events that came from another replica, by session and version.
    pub seals: BTreeMap<SessionId, BTreeMap<u64, Given>>,
    /// The numbers that new sessions should get. A number that another session has is not used.
    pub numbers: BTreeMap<SessionId, u64>,
}

/// An item of a session, derived from the session's events and indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemRow {
    pub session: SessionId,
    /// Unique within a session, ignoring case.
    pub id: ItemId,
    /// The run to which the item belongs.
    pub run: String,
    pub phase: String,
    pub parent: Option<ItemId>,
    /// The sort key. Items with the same key are sorted by id.
    pub place: i64,
    pub state: ItemState,
    /// The name of the status: `pending`, `active`, `completed`, `blocked`.
    pub status: String,
    /// The holder, as a string that is unique for each actor.
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

/// A filter for the items of a session. Empty fields match everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ItemFilter {
    pub run: Option<String>,
    pub phase: Option<String>,
    pub state: Option<ItemState>,
    pub status: Option<String>,
    pub parent: Option<ItemId>,
    pub limit: Option<usize>,
}

/// A query for ready items that an actor can take: the phase of a run, the actor, and the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadyQuery<'a> {
    pub run: &'a str,
    pub phase: &'a str,
    /// The actor who asks. Items that this actor holds are included.
    pub holder: &'a str,
    /// The current time. Leases that end at or before this time do not count.
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
    /// The start time of the process, in the unit of the system. It tells processes with the same pid apart.
    pub process_start: u64,
    pub boot_id: String,
    pub worktree: String,
    pub branch: Option<String>,
    pub started_at: Timestamp,
    pub last_seen: Timestamp,
    /// The session to which the agent is bound.
    pub session: Option<SessionId>,
    /// The agent's memory for its next hook, as JSON. In a row to be stored, `None` leaves the stored value.
    pub memory: Option<String>,
}

/// Everything that one hook records, committed completely or not at all. Like activity, a trace may be lost in a crash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    pub at: Timestamp,
    /// A key that prevents recording the trace twice: nothing is recorded if the key was used before.
    pub once: Option<String>,
    /// The agent that was seen. Its row is updated only if the agent is known.
    pub agent: String,
    pub agent_session: String,
    /// The agent's new memory; `None` leaves the stored one.
    pub memory: Option<String>,
    /// The memory that must be stored, or else nothing is recorded. An empty string stands for no memory; `None` omits
    /// the comparison.
    pub expects: Option<String>,
    /// New activity of the session.
    pub activity: Option<(SessionId, Vec<ActivityRow>)>,
}

/// A filter for sessions. Empty fields match everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    pub lifecycles: Vec<String>,
    pub worktree: Option<String>,
    pub layout: Option<String>,
    /// Words to look for in id, title, goal, target and notes, ignoring case.
    pub search: Option<String>,
    pub limit: Option<usize>,
}

/// An event of any session, in commit order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The position of the event in the whole store, from which the next query continues.
    pub cursor: u64,
    pub session: SessionId,
    pub event: EventRow,
}

/// A store's description of itself.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Info {
    pub engine: String,
    /// The store's own id, which stays the same when the store is moved.
    pub id: String,
    /// The file or the address of the store.
    pub place: String,
    pub schema_version: u32,
    pub journal: String,
    pub sessions: u64,
    pub events: u64,
    pub bytes: u64,
    /// Warnings for people, for example about a network file system, or a log that cannot be shortened.
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ActivityKind {
    File,
    Command,
    /// An agent's last words: `what` is the agent, and `detail` the words.
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

/// A touched file or an executed command, recorded outside the log. May be lost in a crash.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ActivityRow {
    pub kind: ActivityKind,
    pub what: String,
    /// The result of the last occurrence.
    pub detail: Option<String>,
    /// The time of the last occurrence.
    pub at: Timestamp,
    /// How often it occurred; in a row to be stored, how often since the last one.
    pub count: u64,
}

/// Text to be replaced in a session's history, with the event that records this; committed completely or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    /// The new event, and the session's row and snapshot after the rewrite.
    pub stream: StreamAppend,
    /// Existing events to rewrite: actor and body are replaced, the salt of the event's hash is deleted, and everything
    /// else stays.
    pub events: Vec<EventRow>,
    /// Replaces all stored activity of the session.
    pub activity: Vec<ActivityRow>,
    /// Hashes of files whose content is deleted.
    pub contents: Vec<String>,
    /// Replaces all items of the session.
    pub items: Vec<ItemRow>,
}
