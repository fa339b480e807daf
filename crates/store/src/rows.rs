//! The rows that a store reads and writes. For a store, events and snapshots are opaque JSON text; only the engine
//! parses them.

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
    /// The command of the event; `None` if an older program stored the event.
    pub command: Option<CommandMark>,
}

/// The command that produced an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandMark {
    pub name: String,
    /// The version of the command's first event in this session. All events of one command have the same number.
    pub ordinal: u64,
}

/// The row of a session. It suffices for lists and lookups, so that no events need to be folded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    pub id: SessionId,
    pub worktree: String,
    /// The machine of the worktree; `None` if it is the machine of the store.
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
    /// True if the session may be active while another session is active in its worktree.
    pub parallel: bool,
    /// The title of the current phase. A summary shows it together with the number of phases.
    pub phase: String,
    pub phases_done: u32,
    /// The number of phases; `None` if more phases can be added. Stored as 0, which no workflow has.
    pub phases_total: Option<u32>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub version: u64,
}

/// A row of a list, with the number by which people may refer to the session. Each session gets a number when it is
/// created. Numbers are never reused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub number: u64,
    pub row: SessionRow,
}

/// A folded session, stored so that commands need not read the whole history. A snapshot may be a few events older than
/// the session's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The `FOLD_VERSION` of the program that wrote the snapshot. Programs with another version ignore the snapshot.
    pub fold_version: u32,
    pub version: u64,
    pub body: String,
}

/// A loaded session: its row, and its snapshot if it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    pub number: u64,
    pub row: SessionRow,
    pub snapshot: Option<Snapshot>,
}

/// The part of a batch that changes one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamAppend {
    /// The version of the session when the change was decided; 0 for a new session.
    pub expected: u64,
    /// The new events, at least one. Their versions follow `expected` without gaps.
    pub events: Vec<EventRow>,
    /// The session's row after these events, with the version of the last of them.
    pub row: SessionRow,
    /// The session after these events. `None` keeps the stored snapshot; the newer events are applied to it when it is
    /// loaded.
    pub snapshot: Option<Snapshot>,
}

/// A workflow definition, stored under the hash of its source. The source itself is not stored. If two definitions have
/// the same hash, the later one replaces the earlier one.
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

/// A key by which a repeated command takes effect only once, and the answer of that command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRow {
    pub key: String,
    /// Identifies the command, so that using the same key for another command is noticed.
    pub fingerprint: String,
    pub answer: String,
    /// The format version of the answer; `None` in rows of older programs.
    pub version: Option<u32>,
    /// The session that the answer is about.
    pub session: Option<SessionId>,
    pub at: Timestamp,
}

impl KeyRow {
    /// Returns the row for the key of a hook call. A hook has no answer to repeat, so the stored answer is empty.
    pub(crate) fn of_hook(key: &str, at: Timestamp) -> Self {
        let (key, nothing) = (key.to_owned(), String::new());
        Self { key, fingerprint: nothing.clone(), answer: nothing, version: None, session: None, at }
    }
}

/// All changes of one command. They are committed completely or not at all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Batch {
    pub streams: Vec<StreamAppend>,
    pub definitions: Vec<DefinitionRow>,
    pub contents: Vec<ContentRow>,
    pub key: Option<KeyRow>,
    pub bindings: Vec<Binding>,
    /// New or changed items. Other items of the same sessions stay.
    pub items: Vec<ItemRow>,
    /// Sets of items that replace all items of their session. They are stored before `items`.
    pub replace_items: Vec<ItemsReplaced>,
    /// Files that show a session to its tool. Each row replaces the stored row of the same file.
    pub views: Vec<ViewRow>,
    /// The salts or hashes of events that came from another replica, by session and version.
    pub seals: BTreeMap<SessionId, BTreeMap<u64, Given>>,
    /// The numbers that new sessions should get. If another session has the number, the next free one is used.
    pub numbers: BTreeMap<SessionId, u64>,
}

/// An item of a session. Its columns are derived from the session's events, and indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemRow {
    pub session: SessionId,
    /// The id of the item, unique within a session, ignoring case.
    pub id: ItemId,
    /// The run to which the item belongs.
    pub run: String,
    pub phase: String,
    pub parent: Option<ItemId>,
    /// The number to sort items by. Items with the same number are sorted by id.
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

/// A query for ready items that an actor can take, by run, phase, actor and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadyQuery<'a> {
    pub run: &'a str,
    pub phase: &'a str,
    /// The actor who asks. Items that this actor already holds are included.
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

/// An agent session that was seen, with its process. The process shows whether the agent is still alive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRow {
    pub agent: String,
    pub agent_session: String,
    pub host: String,
    pub pid: u32,
    /// The start time of the process, in the unit of the operating system. It distinguishes processes that have the
    /// same pid.
    pub process_start: u64,
    pub boot_id: String,
    pub worktree: String,
    pub branch: Option<String>,
    pub started_at: Timestamp,
    pub last_seen: Timestamp,
    /// The session to which the agent is bound.
    pub session: Option<SessionId>,
    /// JSON that the agent's next hook call must know. `None` in a row to be stored keeps the stored value.
    pub memory: Option<String>,
}

/// Everything that one hook records. It is committed completely or not at all and, like activity, may be lost in a
/// crash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    pub at: Timestamp,
    /// A key that prevents recording a trace twice. If the key was used before, nothing is recorded.
    pub once: Option<String>,
    /// The agent that was seen. If it has no row yet, none is created.
    pub agent: String,
    pub agent_session: String,
    /// The agent's new memory; `None` keeps the stored one.
    pub memory: Option<String>,
    /// The memory that must be stored now; if another is stored, nothing is recorded. An empty string means no memory.
    /// `None` omits the comparison.
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

/// An event of any session, in the order of commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The position of the event in the whole store. The next query continues after this position.
    pub cursor: u64,
    pub session: SessionId,
    pub event: EventRow,
}

/// A store's description of itself.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Info {
    pub engine: String,
    /// The store's own id. It stays the same when the store is moved.
    pub id: String,
    /// The file or the address of the store.
    pub place: String,
    pub schema_version: u32,
    pub journal: String,
    pub sessions: u64,
    pub events: u64,
    pub bytes: u64,
    /// Warnings for people, for example about a network file system or a write-ahead log that cannot be shortened.
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ActivityKind {
    File,
    Command,
    /// An agent's last words: `what` names the agent, and `detail` has its words.
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
    /// Details of the latest occurrence: the result of a command, or the text of an agent's last message.
    pub detail: Option<String>,
    /// When the activity happened last.
    pub at: Timestamp,
    /// How often the activity happened. In a row to be stored: how often it happened since the row was last stored.
    pub count: u64,
}

/// A rewrite of a session's history that replaces text, and the event that records the rewrite. Committed completely or
/// not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    /// The new event, and the session's row and snapshot after the rewrite.
    pub stream: StreamAppend,
    /// Existing events to rewrite. Their actor and body are replaced, the salt of their hash is deleted, and everything
    /// else stays.
    pub events: Vec<EventRow>,
    /// The session's new activity. It replaces all stored activity of the session.
    pub activity: Vec<ActivityRow>,
    /// Hashes of files whose stored content is deleted.
    pub contents: Vec<String>,
    /// The session's new items. They replace all stored items of the session.
    pub items: Vec<ItemRow>,
}
