//! What goes in and out of a store: plain rows. Events and snapshots are opaque JSON text here; only the engine reads them.

use crate::chain::Given;
use jiff::Timestamp;
use model::id::{ItemId, SessionId};
use model::item::ItemState;
use std::collections::BTreeMap;

/// One event as it is kept.
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
    /// Events of programs that did not keep it have none.
    pub command: Option<CommandMark>,
}

/// The command that an event came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandMark {
    pub name: String,
    /// The version of the command's first event in this session: events with the same one belong together.
    pub ordinal: u64,
}

/// A session's line in the index: what lists and look-ups need without folding anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    pub id: SessionId,
    pub worktree: String,
    /// The machine of the worktree; none: this store's own.
    pub machine: Option<String>,
    pub layout: String,
    /// Its layout allows one active session a worktree.
    pub exclusive: bool,
    pub workflow: String,
    pub title: String,
    pub goal: Option<String>,
    pub target: Option<String>,
    /// `active`, `paused`, `completed`, `failed`, `abandoned`.
    pub lifecycle: String,
    /// Not bound by the rule of one active session a worktree.
    pub parallel: bool,
    /// What a short line shows of its place: phase title, done and total phases.
    pub phase: String,
    pub phases_done: u32,
    pub phases_total: u32,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub version: u64,
}

/// A row of a list with the number that people may use for it. The number is given once, on creation, and never reused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub number: u64,
    pub row: SessionRow,
}

/// A folded session, kept so that a command need not read the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Which fold wrote it; another one does not trust it.
    pub fold_version: u32,
    pub version: u64,
    pub body: String,
}

/// A session as it is loaded: its line and, if there is one, its snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    pub number: u64,
    pub row: SessionRow,
    pub snapshot: Option<Snapshot>,
}

/// What one batch does to one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamAppend {
    /// The version that the decision was made on; 0 for a new session.
    pub expected: u64,
    /// At least one, with versions that follow `expected` without a gap.
    pub events: Vec<EventRow>,
    /// The index line after these events; its version is that of the last one.
    pub row: SessionRow,
    pub snapshot: Snapshot,
}

/// A workflow definition, stored once under its hash. The hash is of its source, which a store does not have: of two
/// bodies the later one counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionRow {
    pub hash: String,
    pub body: String,
}

/// What is in a file that a session recorded, stored once under its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentRow {
    pub hash: String,
    pub body: Vec<u8>,
}

/// A key that makes a command count once, with the answer it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRow {
    pub key: String,
    /// Tells whether the same key comes with the same command.
    pub fingerprint: String,
    pub answer: String,
    /// Which shape the answer has; programs that did not keep it wrote none.
    pub version: Option<u32>,
    /// The session that the answer is about.
    pub session: Option<SessionId>,
    pub at: Timestamp,
}

impl KeyRow {
    /// A key of something that is not answered.
    pub(crate) fn of_hook(key: &str, at: Timestamp) -> Self {
        let (key, nothing) = (key.to_owned(), String::new());
        Self { key, fingerprint: nothing.clone(), answer: nothing, version: None, session: None, at }
    }
}

/// All that one command changes: all of it is kept, or nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Batch {
    pub streams: Vec<StreamAppend>,
    pub definitions: Vec<DefinitionRow>,
    pub contents: Vec<ContentRow>,
    pub key: Option<KeyRow>,
    pub bindings: Vec<Binding>,
    /// New or changed items; the others of their sessions stay.
    pub items: Vec<ItemRow>,
    /// All items that a session has from now on, before `items` are kept.
    pub replace_items: Vec<ItemsReplaced>,
    /// Files that show a session; each takes the place of what was known of that file.
    pub views: Vec<ViewRow>,
    /// Salts and hashes that new events have already, because they came from elsewhere: by session and version.
    pub seals: BTreeMap<SessionId, BTreeMap<u64, Given>>,
    /// Numbers that people know new sessions by already. One that is given to another session is not given again.
    pub numbers: BTreeMap<SessionId, u64>,
}

/// A file that shows a session to another tool, as it was written last. A view: the log is the truth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewRow {
    pub session: SessionId,
    /// Relative to where the session's files are.
    pub path: String,
    /// Of `body`.
    pub hash: String,
    pub body: Vec<u8>,
    /// What was there before, as it was seen when this was written; empty when nothing was.
    pub previous: Vec<u8>,
    /// Hashes of what was written before, the newest last.
    pub earlier: Vec<String>,
    /// The session's version that it shows.
    pub version: u64,
    /// Which start of the machine it was written under.
    pub boot_id: String,
    /// It is known to have reached its place.
    pub confirmed: bool,
    pub journal: WriteJournal,
}

/// Notes about the newest write of a file, for whoever recovers from a crash in the middle of it. Each is absent where
/// nothing is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WriteJournal {
    /// The hash of the bytes that the write puts into the file.
    pub put_hash: Option<String>,
    /// The hash of the bytes that are expected to come out of it.
    pub put_expected: Option<String>,
    /// Identifies the backup of the version before.
    pub backup: Option<String>,
    /// Content of the file that the write does not keep.
    pub loses: Option<String>,
}

/// An item of a session: a view of what the session's events say, found by index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemRow {
    pub session: SessionId,
    /// Once in a session, case ignored.
    pub id: ItemId,
    /// The run it belongs to.
    pub run: String,
    pub phase: String,
    pub parent: Option<ItemId>,
    /// What items are sorted by; of equal ones the id decides.
    pub place: i64,
    pub state: ItemState,
    /// `pending`, `active`, `completed`, `blocked`.
    pub status: String,
    /// Whoever holds it, as one text for one actor.
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

/// Which items of a session a list wants. Empty asks for all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ItemFilter {
    pub run: Option<String>,
    pub phase: Option<String>,
    pub state: Option<ItemState>,
    pub status: Option<String>,
    pub parent: Option<ItemId>,
    pub limit: Option<usize>,
}

/// A phase of a run, and who asks for what is free there at which moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadyQuery<'a> {
    pub run: &'a str,
    pub phase: &'a str,
    /// What this one holds is free to it.
    pub holder: &'a str,
    /// A lease that ends at this moment or before holds nothing.
    pub now: Timestamp,
    pub limit: usize,
}

/// An agent session works on a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    pub agent: String,
    pub agent_session: String,
    pub session: SessionId,
}

/// An agent session that was seen, and the process by which it can be told whether it still lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRow {
    pub agent: String,
    pub agent_session: String,
    pub host: String,
    pub pid: u32,
    /// When that process started, in the system's own unit: a pid alone is reused.
    pub process_start: u64,
    pub boot_id: String,
    pub worktree: String,
    pub branch: Option<String>,
    pub started_at: Timestamp,
    pub last_seen: Timestamp,
    /// The session it is bound to.
    pub session: Option<SessionId>,
    /// What is to be known about it at its next event, as JSON; of a row that is given, none keeps what there is.
    pub memory: Option<String>,
}

/// What an agent's hook leaves behind: all of it is kept, or nothing. Like activity it may be lost in a crash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    pub at: Timestamp,
    /// Makes it count once: under a key that was used before, nothing is kept.
    pub once: Option<String>,
    /// Who was seen; only the row of an agent that is known changes.
    pub agent: String,
    pub agent_session: String,
    /// None leaves what is known of the agent as it is.
    pub memory: Option<String>,
    /// What is known of the agent must still be this, or nothing is kept; empty for nothing. None asks for nothing.
    pub expects: Option<String>,
    /// What the session's activity grows by.
    pub activity: Option<(SessionId, Vec<ActivityRow>)>,
}

/// Which sessions a list wants. Empty asks for all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    pub lifecycles: Vec<String>,
    pub worktree: Option<String>,
    pub layout: Option<String>,
    /// Words looked for, case ignored, in id, title, goal, target and notes.
    pub search: Option<String>,
    pub limit: Option<usize>,
}

/// An event of any session, in the order in which the store took them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Grows over the whole store: where to go on from.
    pub cursor: u64,
    pub session: SessionId,
    pub event: EventRow,
}

/// What a store tells about itself.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Info {
    pub engine: String,
    /// The store's own id, which stays with it when it is moved.
    pub id: String,
    /// The file or address.
    pub place: String,
    pub schema_version: u32,
    pub journal: String,
    pub sessions: u64,
    pub events: u64,
    pub bytes: u64,
    /// Things a person should know: a network file system, a log that cannot be made shorter.
    pub warnings: Vec<String>,
}

/// How many activities of a session are kept: the newest.
pub const KEPT_ACTIVITIES: usize = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ActivityKind {
    File,
    Command,
    /// What an agent said last: `what` is the agent, `detail` its words.
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

/// A file that was touched or a command that was run: beside the log, never part of it. May be lost in a crash.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ActivityRow {
    pub kind: ActivityKind,
    pub what: String,
    /// What came of it, the last time.
    pub detail: Option<String>,
    /// The last time.
    pub at: Timestamp,
    /// How often; in what is recorded, how often since the last time.
    pub count: u64,
}

/// Other words for a session's history, and an event that tells of it: all of it is kept, or nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    /// What is added, with the session's line and snapshot as they are after all of it.
    pub stream: StreamAppend,
    /// Events that are there already: actor and body are replaced, and the salt of their hash is deleted; everything else
    /// stays.
    pub events: Vec<EventRow>,
    /// Takes the place of all that is kept of the session's activity.
    pub activity: Vec<ActivityRow>,
    /// Hashes of files whose content is kept no longer.
    pub contents: Vec<String>,
    /// Takes the place of all items of the session.
    pub items: Vec<ItemRow>,
}
