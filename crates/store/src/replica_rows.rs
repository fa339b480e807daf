//! Rows of histories from other replicas.

use crate::chain::{Given, Hash};
use crate::{ContentRow, DefinitionRow, EventRow, ItemRow, SessionRow, Snapshot};
use jiff::Timestamp;
use model::id::SessionId;
use std::collections::BTreeMap;

/// Everything that was received together, stored completely or not at all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arrived {
    pub histories: Vec<TakenHistory>,
    /// Sessions to remove, each with the version that it must still have.
    pub gone: Vec<(SessionId, u64)>,
    /// Definitions to store. A definition that is already stored is not replaced.
    pub definitions: Vec<DefinitionRow>,
    pub contents: Vec<ContentRow>,
}

/// The whole history of a session from another replica. Replaces what is stored under the session's id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenHistory {
    /// The stored version on which the decision was based; 0 if the session was not stored.
    pub expected: u64,
    /// The last version up to which the stored events are the same and stay.
    pub shared: u64,
    /// All events, from the first one.
    pub events: Vec<EventRow>,
    /// The salt of every event, or its hash if its content was purged, by version.
    pub seals: BTreeMap<u64, Given>,
    /// The session's row. Its worktree and machine say where the session is.
    pub row: SessionRow,
    pub snapshot: Snapshot,
    pub items: Vec<ItemRow>,
    /// `None` if all events that other replicas have were written here.
    pub arrival: Option<Arrival>,
}

/// The part of a session's history that came from another replica.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    pub session: SessionId,
    /// The replica that wrote the last event of this part.
    pub replica: String,
    /// The first link of the chain, which distinguishes sessions with the same id.
    pub stream: Hash,
    /// Events after this version were written here.
    pub version: u64,
    /// The link of the chain at `version`.
    pub head: Hash,
    /// When the part was received.
    pub at: Timestamp,
}
