//! The rows of histories that come from other replicas.

use crate::chain::{Given, Hash};
use crate::{ContentRow, DefinitionRow, EventRow, ItemRow, SessionRow, Snapshot};
use jiff::Timestamp;
use model::id::SessionId;
use std::collections::BTreeMap;

/// Everything that was received together. It is stored completely or not at all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arrived {
    pub histories: Vec<TakenHistory>,
    /// Sessions to remove, each with the version that the store must still have.
    pub gone: Vec<(SessionId, u64)>,
    /// Definitions to store. A definition that is already stored is not replaced.
    pub definitions: Vec<DefinitionRow>,
    pub contents: Vec<ContentRow>,
    /// Sessions from which text was purged: stored answers that name them are emptied.
    pub purged: Vec<SessionId>,
    /// The hashes of contents that were purged.
    pub purged_contents: Vec<String>,
}

/// The whole history of a session from another replica. It replaces whatever is stored under the session's id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenHistory {
    /// The stored version that was known when the decision was made; 0 if the session was not stored.
    pub expected: u64,
    /// Up to this version, the stored events are the same as the received ones, and stay.
    pub shared: u64,
    /// All events, from the first one.
    pub events: Vec<EventRow>,
    /// For each version, the salt of the event, or its hash if the event's content was purged.
    pub seals: BTreeMap<u64, Given>,
    /// The row to store for the session. Its worktree and machine are those where the session is.
    pub row: SessionRow,
    pub snapshot: Snapshot,
    pub items: Vec<ItemRow>,
    /// The part that came from another replica; `None` if every shared event was written here.
    pub arrival: Option<Arrival>,
}

/// The part of a session's history that came from another replica.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    pub session: SessionId,
    /// The replica that wrote the last event of this part.
    pub replica: String,
    /// The first link of the chain. It distinguishes sessions that have the same id.
    pub stream: Hash,
    /// The last version that came from another replica. Later events were written here.
    pub version: u64,
    /// The link of the event at `version`.
    pub head: Hash,
    /// When the part was received.
    pub at: Timestamp,
}
