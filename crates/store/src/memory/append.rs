//! Appends a batch in memory. First refuses whatever SQLite would refuse; then stores each part, which cannot fail.

use super::{Kept, MemoryStore, folded};
use crate::batch_rules::{check_shape, malformed, takes_the_worktree};
use crate::chain::{self, Chain, Given, Seal};
use crate::retention::keys_expire_at;
use crate::{
    AgentRow, Batch, Binding, Change, Error, EventRow, Result, SessionRow, Store, StreamAppend, ViewRow,
};
use model::id::SessionId;
use std::collections::{BTreeMap, BTreeSet};

impl MemoryStore {
    pub(super) fn refuse(&self, batch: &Batch) -> Result<()> {
        check_shape(batch)?;
        if let Some(key) = &batch.key
            && self.recall(&key.key, keys_expire_at(key.at))?.is_some()
        {
            return Err(Error::KeyTaken);
        }
        batch.streams.iter().try_for_each(|stream| self.refuse_version(stream))?;
        self.refuse_second_active(&batch.streams)?;
        batch.bindings.iter().try_for_each(|binding| self.refuse_binding(batch, binding))?;
        self.refuse_stray_items(batch)?;
        let known = |view: &ViewRow| {
            batch.streams.iter().any(|stream| stream.row.id == view.session)
                || self.find_exactly(&view.session).is_some()
        };
        match batch.views.iter().find(|view| !known(view)) {
            None => Ok(()),
            Some(view) => {
                malformed(format!("the batch has a file of session {}, which does not exist", view.session))
            }
        }
    }

    pub(super) fn refuse_version(&self, stream: &StreamAppend) -> Result<()> {
        let id = &stream.row.id;
        match self.find(id) {
            Some((_, kept)) if stream.expected == 0 || kept.row.id != *id => {
                Err(Error::IdTaken { existing: kept.row.id.clone() })
            }
            found => {
                let found = found.map_or(0, |(_, kept)| kept.row.version);
                if found == stream.expected {
                    return Ok(());
                }
                Err(Error::Conflict { session: id.clone(), expected: stream.expected, found })
            }
        }
    }

    /// Refuses a second active session in a worktree. The state after the batch counts: a batch may pause one session
    /// and start another in the same worktree.
    pub(super) fn refuse_second_active(&self, streams: &[StreamAppend]) -> Result<()> {
        let is_replaced = |row: &SessionRow| streams.iter().any(|stream| stream.row.id == row.id);
        let staying = self.sessions.iter().map(|kept| &kept.row).filter(|row| !is_replaced(row));
        let mut taken: BTreeSet<&str> =
            staying.filter(|row| takes_the_worktree(row)).map(|row| row.worktree.as_str()).collect();
        for row in streams.iter().map(|stream| &stream.row).filter(|row| takes_the_worktree(row)) {
            if !taken.insert(&row.worktree) {
                return Err(Error::ActiveTaken { worktree: row.worktree.clone() });
            }
        }
        Ok(())
    }

    fn refuse_binding(&self, batch: &Batch, binding: &Binding) -> Result<()> {
        let begins = batch.streams.iter().any(|stream| stream.row.id == binding.session);
        if begins || self.find_exactly(&binding.session).is_some() {
            return Ok(());
        }
        malformed(format!("the batch binds an agent to session {}, which does not exist", binding.session))
    }

    pub(super) fn keep_stream(
        &mut self,
        stream: &StreamAppend,
        seals: Vec<Seal>,
        turn: u64,
        known_by: Option<u64>,
    ) {
        for event in &stream.events {
            self.log_event(&stream.row.id, event);
        }
        if let Some(place) = self.find(&stream.row.id).map(|(place, _)| place) {
            let kept = &mut self.sessions[place];
            kept.row = stream.row.clone();
            kept.turn = turn;
            kept.snapshot = stream.snapshot.clone().or_else(|| kept.snapshot.take());
            kept.events.extend_from_slice(&stream.events);
            kept.chain.extend(&stream.events, seals);
        } else {
            let kept = self.begin(stream, turn, known_by);
            kept.chain.extend(&stream.events, seals);
        }
    }

    /// Adds a new session, still without a hash chain.
    pub(super) fn begin(&mut self, stream: &StreamAppend, turn: u64, known_by: Option<u64>) -> &mut Kept {
        let place = self.sessions.len();
        self.places.insert(folded(stream.row.id.as_str()), place);
        self.sessions.push(Kept {
            number: self.number_for(known_by),
            row: stream.row.clone(),
            turn,
            snapshot: stream.snapshot.clone(),
            events: stream.events.clone(),
            chain: Chain::default(),
            activity: Vec::new(),
        });
        &mut self.sessions[place]
    }

    /// Adds an event to the order of all events, or replaces an event there. The cursor of a replaced event is not used
    /// again.
    pub(super) fn log_event(&mut self, session: &SessionId, event: &EventRow) {
        self.cursor += 1;
        self.log.push(Change { cursor: self.cursor, session: session.clone(), event: event.clone() });
    }

    pub(super) fn sealed(
        &self,
        stream: &StreamAppend,
        known: Option<&BTreeMap<u64, Given>>,
    ) -> Result<Vec<Seal>> {
        let head = self.find(&stream.row.id).and_then(|(_, kept)| kept.chain.head);
        chain::seal_new(head, &stream.events, known)
    }

    pub(super) fn bind(&mut self, binding: &Binding) {
        let Some(row) = self.find(&binding.session).map(|(_, kept)| kept.row.clone()) else {
            return;
        };
        let agent = (binding.agent.clone(), binding.agent_session.clone());
        let agent = self.agents.entry(agent).or_insert_with(|| unseen(binding, &row));
        agent.session = Some(row.id);
    }

    /// Returns the number of a new session: the given number if no other session has it, otherwise the next one.
    fn number_for(&self, known_by: Option<u64>) -> u64 {
        let is_free = |number: &u64| *number > 0 && self.sessions.iter().all(|kept| kept.number != *number);
        let last = self.sessions.iter().map(|kept| kept.number).max();
        known_by.filter(is_free).unwrap_or(last.unwrap_or(0) + 1)
    }
}

/// Returns a row for an agent that was bound to a session before its process was seen.
fn unseen(binding: &Binding, row: &SessionRow) -> AgentRow {
    AgentRow {
        agent: binding.agent.clone(),
        agent_session: binding.agent_session.clone(),
        host: String::new(),
        pid: 0,
        process_start: 0,
        boot_id: String::new(),
        worktree: row.worktree.clone(),
        branch: None,
        started_at: row.updated_at,
        last_seen: row.updated_at,
        session: None,
        memory: None,
    }
}
