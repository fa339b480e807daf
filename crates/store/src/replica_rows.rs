//! Rows of histories from other replicas. Plain data, like everything that goes in and out of a store.

use crate::chain::{Given, Hash};
use crate::{ContentRow, DefinitionRow, EventRow, ItemRow, SessionRow, Snapshot};
use jiff::Timestamp;
use model::id::SessionId;
use std::collections::BTreeMap;

/// Everything received at once, stored completely or not at all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arrived {
    pub histories: Vec<TakenHistory>,
    /// Histories that are no longer needed; each must still be at this version.
    pub gone: Vec<(SessionId, u64)>,
    /// An existing definition stays as it is.
    pub definitions: Vec<DefinitionRow>,
    pub contents: Vec<ContentRow>,
}

/// A session's whole history from another replica. Replaces what is stored under the session's id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenHistory {
    /// The stored version on which the decision was based; 0 if there is none.
    pub expected: u64,
    /// Events up to this version are already stored, and stay.
    pub shared: u64,
    /// Every event, from the first.
    pub events: Vec<EventRow>,
    /// The salt of every event, or its hash if the content was purged, by version.
    pub seals: BTreeMap<u64, Given>,
    /// The index row: its worktree and machine say where the session is.
    pub row: SessionRow,
    pub snapshot: Snapshot,
    pub items: Vec<ItemRow>,
    /// `None`: other replicas have nothing that was not written here.
    pub arrival: Option<Arrival>,
}

/// The part of a session's history that came from another replica.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    pub session: SessionId,
    /// The replica that wrote its last event.
    pub replica: String,
    /// The chain's first link, which tells apart two sessions with the same id.
    pub stream: Hash,
    /// Events after this version were written here.
    pub version: u64,
    /// The link of the chain at that version.
    pub head: Hash,
    /// When it was received.
    pub at: Timestamp,
}
