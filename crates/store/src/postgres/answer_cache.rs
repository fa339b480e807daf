//! Answers that this process received within its turns. They stay valid while the project's counters show that nobody
//! else has changed anything. Sends no statements.

use super::append::{Known, Plan};
use super::columns::signed;
use super::session_rows::{as_stored, is_same};
use crate::chain::Hash;
use crate::{AgentRow, Batch, Loaded};
use model::id::SessionId;
use std::collections::BTreeMap;

/// The maximum number of sessions to remember. When a long-lived process exceeds it, all remembered answers are
/// dropped.
const MOST_SESSIONS: usize = 64;

/// Numbers that change whenever the project changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counters {
    /// The highest cursor that was ever assigned to an event.
    pub(super) cursor: u64,
    /// The highest number that was ever assigned to a session.
    pub(super) numbers: u64,
    /// The number of changes outside the log, such as activity and presence.
    pub(super) signs: u64,
}

/// A loaded session, with the last link of its chain.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    pub(super) loaded: Loaded,
    pub(super) head: Option<Hash>,
}

#[derive(Debug, Default)]
pub(super) struct Answers {
    pub(super) sessions: BTreeMap<SessionId, Option<Kept>>,
    pub(super) active: BTreeMap<String, Option<SessionId>>,
    pub(super) agents: BTreeMap<Option<String>, Vec<AgentRow>>,
    /// The session that the last change moved to the front of lists.
    pub(super) front: Option<SessionId>,
}

impl Answers {
    /// Returns the remembered sessions with these lower-case ids; `None` if any of them is not remembered.
    pub(super) fn known(&self, ids: &[String]) -> Option<BTreeMap<String, Known>> {
        let loaded = |id: &String| {
            let is_it = |kept: &&Kept| kept.loaded.row.id.as_str().eq_ignore_ascii_case(id);
            let kept = self.sessions.values().flatten().find(is_it)?;
            Some((id.clone(), Known::of(kept)))
        };
        ids.iter().map(loaded).collect()
    }

    /// Returns the remembered answers, updated for a batch that this process has stored.
    pub(super) fn after(mut self, batch: &Batch, plan: &Plan, machine: &str) -> Self {
        if !batch.bindings.is_empty() {
            self.agents.clear();
        }
        if self.sessions.len() > MOST_SESSIONS {
            self.sessions.clear();
        }
        match &batch.streams[..] {
            [] => {}
            [stream] => self.front = Some(stream.row.id.clone()),
            // Sessions that one change moves share their place.
            [_, _, ..] => self.front = None,
        }
        for ((stream, line), seals) in batch.streams.iter().zip(&plan.lines).zip(&plan.seals) {
            let row = as_stored(&stream.row, machine);
            let before = self.sessions.get(&row.id).and_then(Option::as_ref);
            if before.is_none_or(|before| !is_same(&before.loaded.row, &row)) {
                self.active.clear();
            }
            let kept = || self.sessions.get(&stream.row.id)?.as_ref()?.loaded.snapshot.clone();
            let snapshot = stream.snapshot.clone().or_else(kept);
            let loaded = Loaded { number: line.number.unsigned_abs(), row, snapshot };
            let head = seals.last().map(|seal| seal.link).or(line.head);
            self.sessions.insert(stream.row.id.clone(), Some(Kept { loaded, head }));
        }
        self
    }
}

impl Known {
    fn of(kept: &Kept) -> Self {
        let Kept { loaded, head } = kept;
        Self {
            id: loaded.row.id.to_string(),
            number: signed(loaded.number),
            version: loaded.row.version,
            head: *head,
            row: Some(loaded.row.clone()),
        }
    }
}
