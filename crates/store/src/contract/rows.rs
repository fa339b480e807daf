//! Sample rows, and a dump of everything that a store holds.

use crate::{
    AgentRow, Batch, Change, CommandMark, EventRow, Filter, ItemFilter, ItemRow, KeyRow, Listed, SessionRow,
    Snapshot, Store, StreamAppend,
};
use jiff::{SignedDuration, Timestamp};
use model::id::{ItemId, SessionId};
use model::item::ItemState;
use std::time::Duration;

pub const PATIENCE: Duration = Duration::from_secs(5);
pub const WORKTREE: &str = "/home/ada/engine";

pub fn id(text: &str) -> SessionId {
    SessionId::parse(text).expect("an id of a test is valid")
}

/// A time this many seconds, and some microseconds, after an arbitrary moment.
pub fn moment(seconds: i64) -> Timestamp {
    let start = Timestamp::from_microsecond(1_767_225_600_123_456).expect("this is in 2026");
    start + SignedDuration::from_secs(seconds)
}

pub fn line(name: &str) -> SessionRow {
    SessionRow {
        id: id(name),
        worktree: WORKTREE.to_owned(),
        machine: None,
        layout: "native".to_owned(),
        exclusive: true,
        workflow: "plan-implement-review".to_owned(),
        title: format!("Title of {name}"),
        goal: None,
        target: None,
        lifecycle: "active".to_owned(),
        parallel: false,
        phase: "Plan".to_owned(),
        phases_done: 0,
        phases_total: Some(3),
        created_at: moment(0),
        updated_at: moment(0),
        version: 1,
    }
}

pub fn paused(name: &str) -> SessionRow {
    SessionRow { lifecycle: "paused".to_owned(), ..line(name) }
}

pub fn event(version: u64, kind: &str, body: &str) -> EventRow {
    EventRow {
        version,
        at: moment(i64::try_from(version).expect("versions of a test are small")),
        actor: r#"{"person":"ada"}"#.to_owned(),
        kind: kind.to_owned(),
        body: body.to_owned(),
        command: Some(CommandMark { name: "advance".to_owned(), ordinal: version }),
    }
}

/// A snapshot of this version.
pub fn snapshot_at(version: u64) -> Option<Snapshot> {
    Some(Snapshot { fold_version: 1, version, body: format!(r#"{{"at":{version}}}"#) })
}

/// The start of a session, with as many events as the row's version says.
pub fn begin(row: SessionRow) -> StreamAppend {
    go_on(SessionRow { version: 0, ..row }, 1)
}

/// The next events of a session, up to the row's version.
pub fn go_on(row: SessionRow, events: u64) -> StreamAppend {
    let version = row.version + events;
    let body = |number| format!(r#"{{"type":"phase_started","number":{number},"of":"{}"}}"#, row.id);
    StreamAppend {
        expected: row.version,
        events: (row.version + 1..=version)
            .map(|number| event(number, "phase_started", &body(number)))
            .collect(),
        snapshot: snapshot_at(version),
        row: SessionRow { version, ..row },
    }
}

pub fn batch(streams: impl Into<Vec<StreamAppend>>) -> Batch {
    Batch { streams: streams.into(), ..Batch::default() }
}

/// Appends new sessions, each in its own batch.
pub fn with(store: &mut dyn Store, rows: impl IntoIterator<Item = SessionRow>) {
    for row in rows {
        store.append(&batch([begin(row)])).expect("a new session is kept");
    }
}

pub fn key(name: &str, at: Timestamp) -> KeyRow {
    KeyRow {
        key: name.to_owned(),
        fingerprint: "advance plan".to_owned(),
        answer: r#"{"ok":true}"#.to_owned(),
        version: Some(1),
        session: Some(id("first")),
        at,
    }
}

pub fn agent(name: &str) -> AgentRow {
    AgentRow {
        agent: "claude".to_owned(),
        agent_session: name.to_owned(),
        host: "workshop".to_owned(),
        pid: 4711,
        process_start: 123_456_789,
        boot_id: "0f1e".to_owned(),
        worktree: WORKTREE.to_owned(),
        branch: Some("main".to_owned()),
        started_at: moment(10),
        last_seen: moment(10),
        session: None,
        memory: None,
    }
}

pub fn item_id(text: &str) -> ItemId {
    ItemId::parse(text).expect("an id of a test is valid")
}

/// A ready item of a session, the first in its phase.
pub fn item(session: &str, name: &str) -> ItemRow {
    ItemRow {
        session: id(session),
        id: item_id(name),
        run: "ship#1".to_owned(),
        phase: "build".to_owned(),
        parent: None,
        place: 10,
        state: ItemState::Ready,
        status: "pending".to_owned(),
        holder: None,
        lease_until: None,
        depends_on: Vec::new(),
        body: format!(r#"{{"id":"{name}"}}"#),
    }
}

/// Everything visible in a store; equal values mean that nothing changed.
#[derive(Debug, PartialEq, Eq)]
pub struct Everything {
    pub sessions: Vec<Listed>,
    snapshots: Vec<Option<Snapshot>>,
    changes: Vec<Change>,
    agents: Vec<AgentRow>,
    items: Vec<ItemRow>,
    cursor: u64,
}

pub fn everything(store: &dyn Store) -> Everything {
    let sessions = store.list(&Filter::default()).expect("sessions are listed");
    let snapshot = |listed: &Listed| {
        store.load(&listed.row.id).expect("a session is loaded").expect("what is listed is there").snapshot
    };
    let items =
        |listed: &Listed| store.items(&listed.row.id, &ItemFilter::default()).expect("items are listed");
    Everything {
        items: sessions.iter().flat_map(items).collect(),
        snapshots: sessions.iter().map(snapshot).collect(),
        sessions,
        changes: store.changes(0, usize::MAX).expect("changes are read"),
        agents: store.agents(None).expect("agents are listed"),
        cursor: store.cursor().expect("there is a cursor"),
    }
}

pub fn listed_ids(store: &dyn Store, filter: &Filter) -> Vec<String> {
    let found = store.list(filter).expect("sessions are listed");
    found.into_iter().map(|listed| listed.row.id.as_str().to_owned()).collect()
}
