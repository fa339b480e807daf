//! The in-memory store, for tests and experiments. Everything in it is lost when the process ends.

mod append;
mod histories;
mod items;
mod search;

use crate::batch_rules::{check_rewrite, takes_the_worktree};
use crate::chain::{Chain, Seal};
use crate::retention::keys_expire_at;
use crate::{
    ActivityRow, AgentRow, Arrival, Arrived, Batch, Change, Error, EventRow, Filter, Info, ItemFilter,
    ItemRow, KEPT_ACTIVITIES, KeyRow, Listed, Loaded, ReadyQuery, Result, Rewrite, SessionRow, Snapshot,
    Store, Trace, ViewRow, WriteJournal,
};
use jiff::Timestamp;
use model::id::{ItemId, SessionId};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// Sessions in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    sessions: Vec<Kept>,
    /// The positions of sessions in `sessions`. The key is the id in lower case, because ids that differ only in case
    /// are equal.
    places: BTreeMap<String, usize>,
    log: Vec<Change>,
    definitions: BTreeMap<String, String>,
    contents: BTreeMap<String, Vec<u8>>,
    keys: BTreeMap<String, KeyRow>,
    agents: BTreeMap<(String, String), AgentRow>,
    /// Items by session and id, both in lower case.
    items: BTreeMap<(String, String), ItemRow>,
    /// Rows of written files. The key is the session's id in lower case, and the path.
    views: BTreeMap<(String, String), ViewRow>,
    /// Arrivals by session.
    arrivals: BTreeMap<SessionId, Arrival>,
    /// The highest cursor that was ever assigned to an event.
    cursor: u64,
}

#[derive(Debug)]
struct Kept {
    number: u64,
    row: SessionRow,
    /// The position of the session's last change in the order of commits. A timestamp could not serve as the position,
    /// because clocks are sometimes set back.
    turn: u64,
    snapshot: Option<Snapshot>,
    events: Vec<EventRow>,
    chain: Chain,
    activity: Vec<ActivityRow>,
}

impl MemoryStore {
    pub fn new() -> Self {
        Self::default()
    }

    fn find(&self, id: &SessionId) -> Option<(usize, &Kept)> {
        let place = *self.places.get(&folded(id.as_str()))?;
        Some((place, &self.sessions[place]))
    }

    fn find_exactly(&self, id: &SessionId) -> Option<(usize, &Kept)> {
        self.find(id).filter(|(_, kept)| kept.row.id == *id)
    }

    fn listed(&self) -> impl Iterator<Item = (Listed, &Kept)> {
        self.sessions.iter().map(|kept| (Listed { number: kept.number, row: kept.row.clone() }, kept))
    }
}

impl Store for MemoryStore {
    fn take_turn(&mut self, _patience: Duration) -> Result<()> {
        Ok(())
    }

    fn give_turn_back(&mut self) {}

    fn append(&mut self, batch: &Batch) -> Result<()> {
        self.refuse(batch)?;
        let sealed: Vec<Vec<Seal>> = batch
            .streams
            .iter()
            .map(|stream| self.sealed(stream, batch.seals.get(&stream.row.id)))
            .collect::<Result<_>>()?;
        // From here on nothing can fail, so that the batch is stored completely or not at all.
        for definition in &batch.definitions {
            self.definitions.insert(definition.hash.clone(), definition.body.clone());
        }
        for content in &batch.contents {
            self.contents.entry(content.hash.clone()).or_insert_with(|| content.body.clone());
        }
        let turn = self.cursor + 1;
        for (stream, seals) in batch.streams.iter().zip(sealed) {
            self.keep_stream(stream, seals, turn, batch.numbers.get(&stream.row.id).copied());
        }
        if let Some(key) = &batch.key {
            self.keys.retain(|_, kept| kept.at > keys_expire_at(key.at));
            self.keys.insert(key.key.clone(), key.clone());
        }
        batch.bindings.iter().for_each(|binding| self.bind(binding));
        self.keep_items(batch);
        for view in &batch.views {
            let key = (folded(view.session.as_str()), view.path.clone());
            let inherited = self.views.get(&key).map_or(&view.journal, |known| &known.journal);
            let journal =
                WriteJournal { put_this: false, loses: view.journal.loses.clone(), ..inherited.clone() };
            self.views.insert(key, ViewRow { journal, ..view.clone() });
        }
        Ok(())
    }

    fn load(&self, id: &SessionId) -> Result<Option<Loaded>> {
        Ok(self.find_exactly(id).map(|(_, kept)| Loaded {
            number: kept.number,
            row: kept.row.clone(),
            snapshot: kept.snapshot.clone(),
        }))
    }

    fn events(&self, id: &SessionId, after: u64, limit: Option<usize>) -> Result<Vec<EventRow>> {
        let events = self.find_exactly(id).map(|(_, kept)| kept.events.as_slice()).unwrap_or_default();
        let newer = events.iter().filter(|event| event.version > after);
        Ok(newer.take(limit.unwrap_or(usize::MAX)).cloned().collect())
    }

    fn chain(&self, id: &SessionId) -> Result<Chain> {
        Ok(self.find_exactly(id).map(|(_, kept)| kept.chain.clone()).unwrap_or_default())
    }

    fn definition(&self, hash: &str) -> Result<Option<String>> {
        Ok(self.definitions.get(hash).cloned())
    }

    fn content(&self, hash: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.contents.get(hash).cloned())
    }

    fn active(&self, worktree: &str) -> Result<Option<SessionId>> {
        let mut rows = self.sessions.iter().map(|kept| &kept.row);
        Ok(rows.find(|row| row.worktree == worktree && takes_the_worktree(row)).map(|row| row.id.clone()))
    }

    fn list(&self, filter: &Filter) -> Result<Vec<Listed>> {
        let mut found: Vec<(Listed, &Kept)> =
            self.listed().filter(|(_, kept)| search::is_wanted(filter, kept)).collect();
        found.sort_by_key(|(listed, kept)| std::cmp::Reverse((kept.turn, listed.number)));
        found.truncate(filter.limit.unwrap_or(usize::MAX));
        Ok(found.into_iter().map(|(listed, _)| listed).collect())
    }

    fn with_prefix(&self, prefix: &str, limit: usize) -> Result<Vec<SessionId>> {
        let prefix = folded(prefix);
        let mut found: Vec<&String> = self.places.keys().filter(|id| id.starts_with(&prefix)).collect();
        found.sort_by_key(|id| id.len());
        Ok(found.into_iter().take(limit).map(|id| self.sessions[self.places[id]].row.id.clone()).collect())
    }

    fn with_number(&self, number: u64) -> Result<Option<SessionId>> {
        Ok(self.listed().find(|(listed, _)| listed.number == number).map(|(listed, _)| listed.row.id))
    }

    fn recall(&self, key: &str, since: Timestamp) -> Result<Option<KeyRow>> {
        Ok(self.keys.get(key).filter(|kept| kept.at > since).cloned())
    }

    fn changes(&self, after: u64, limit: usize) -> Result<Vec<Change>> {
        Ok(self.log.iter().filter(|change| change.cursor > after).take(limit).cloned().collect())
    }

    fn cursor(&self) -> Result<u64> {
        Ok(self.cursor)
    }

    fn agents(&self, worktree: Option<&str>) -> Result<Vec<AgentRow>> {
        let here = |row: &&AgentRow| worktree.is_none_or(|worktree| row.worktree == worktree);
        let mut found: Vec<AgentRow> = self.agents.values().filter(here).cloned().collect();
        found.sort_by_key(|row| std::cmp::Reverse(row.last_seen));
        Ok(found)
    }

    fn agent(&self, agent: &str, agent_session: &str) -> Result<Option<AgentRow>> {
        Ok(self.agents.get(&(agent.to_owned(), agent_session.to_owned())).cloned())
    }

    fn see_agent(&mut self, row: &AgentRow, _patience: Duration) -> Result<()> {
        let name = (row.agent.clone(), row.agent_session.clone());
        let mut kept = row.clone();
        if let Some(before) = self.agents.remove(&name) {
            kept.started_at = before.started_at;
            kept.session = kept.session.or(before.session);
            kept.memory = kept.memory.or(before.memory);
        }
        self.agents.insert(name, kept);
        Ok(())
    }

    fn forget_agents(&mut self, gone: &[(String, String)], _patience: Duration) -> Result<()> {
        self.agents.retain(|name, _| !gone.contains(name));
        Ok(())
    }

    fn item(&self, session: &SessionId, id: &ItemId) -> Result<Option<ItemRow>> {
        let known = self.items.get(&(folded(session.as_str()), id.key()));
        Ok(known.filter(|row| row.session == *session).cloned())
    }

    fn items(&self, session: &SessionId, filter: &ItemFilter) -> Result<Vec<ItemRow>> {
        Ok(self.items_where(session, filter.limit, |row| items::is_wanted(filter, row)))
    }

    fn ready_items(&self, session: &SessionId, query: &ReadyQuery<'_>) -> Result<Vec<ItemRow>> {
        Ok(self.items_where(session, Some(query.limit), |row| items::is_free(query, row)))
    }

    fn held_items(&self, session: &SessionId, holder: &str) -> Result<Vec<ItemRow>> {
        Ok(self.items_where(session, None, |row| row.holder.as_deref() == Some(holder)))
    }

    fn dependents(&self, session: &SessionId, id: &ItemId) -> Result<Vec<ItemRow>> {
        Ok(self.items_where(session, None, |row| row.depends_on.iter().any(|need| need.is(id))))
    }

    fn record_activity(
        &mut self,
        session: &SessionId,
        rows: &[ActivityRow],
        _patience: Duration,
    ) -> Result<()> {
        let Some(place) = self.find_exactly(session).map(|(place, _)| place) else { return Ok(()) };
        let kept = &mut self.sessions[place].activity;
        for row in rows {
            keep_activity(kept, row);
        }
        kept.sort_by(|one, other| (other.at, &one.what).cmp(&(one.at, &other.what)));
        kept.truncate(KEPT_ACTIVITIES);
        Ok(())
    }

    fn trace(&mut self, trace: &Trace, patience: Duration) -> Result<bool> {
        let row = self.agents.get(&(trace.agent.clone(), trace.agent_session.clone()));
        let known = row.map(|row| row.memory.clone().unwrap_or_default());
        if trace.expects.is_some() && trace.expects != known {
            return Ok(false);
        }
        if let Some(key) = &trace.once {
            if self.recall(key, keys_expire_at(trace.at))?.is_some() {
                return Ok(false);
            }
            self.keys.insert(key.clone(), KeyRow::of_hook(key, trace.at));
        }
        if let Some(row) = self.agents.get_mut(&(trace.agent.clone(), trace.agent_session.clone())) {
            row.last_seen = trace.at;
            row.memory = trace.memory.clone().or(row.memory.take());
        }
        if let Some((session, rows)) = &trace.activity {
            self.record_activity(session, rows, patience)?;
        }
        Ok(true)
    }

    fn activity(&self, session: &SessionId, limit: usize) -> Result<Vec<ActivityRow>> {
        let rows = self.find_exactly(session).map(|(_, kept)| kept.activity.as_slice()).unwrap_or_default();
        Ok(rows.iter().take(limit).cloned().collect())
    }

    fn views(&self, session: &SessionId) -> Result<Vec<ViewRow>> {
        Ok(self.views.values().filter(|view| view.session == *session).cloned().collect())
    }

    fn last_writer(&self, worktree: &str, path: &str) -> Result<Option<ViewRow>> {
        let is_here = |session: &SessionId| {
            self.find_exactly(session)
                .is_some_and(|(_, kept)| kept.row.worktree == worktree && kept.row.machine.is_none())
        };
        let mut rows = self.views.values().filter(|view| view.path == path);
        Ok(rows.find(|view| view.journal.put_hash.is_some() && is_here(&view.session)).cloned())
    }

    fn confirm_views(&mut self, rows: &[ViewRow], _patience: Duration) -> Result<()> {
        self.note_writes(rows)?;
        for row in rows {
            let known = self.views.get_mut(&(folded(row.session.as_str()), row.path.clone()));
            let is_it = |view: &&mut ViewRow| {
                view.session == row.session && view.hash == row.hash && view.version == row.version
            };
            if let Some(view) = known.filter(is_it) {
                *view = ViewRow { confirmed: true, ..row.clone() };
            }
        }
        Ok(())
    }

    fn note_writes(&mut self, rows: &[ViewRow]) -> Result<()> {
        for row in rows {
            let known = self.views.get_mut(&(folded(row.session.as_str()), row.path.clone()));
            if let Some(view) = known.filter(|view| view.session == row.session) {
                let put_this = row.journal.put_this && view.hash == row.hash && view.version == row.version;
                let loses = view.journal.loses.take();
                view.journal = WriteJournal { put_this, loses, ..row.journal.clone() };
            }
        }
        Ok(())
    }

    fn rewrite(&mut self, rewrite: &Rewrite, answers: &dyn Fn(&str) -> Option<String>) -> Result<()> {
        check_rewrite(rewrite)?;
        let stream = &rewrite.stream;
        self.refuse_version(stream)?;
        self.refuse_second_active(std::slice::from_ref(stream))?;
        let turn = self.cursor + 1;
        let seals = self.sealed(stream, None)?;
        self.keep_stream(stream, seals, turn, None);
        let Some(place) = self.find(&stream.row.id).map(|(place, _)| place) else { return Ok(()) };
        let of_session = |change: &&mut Change| change.session == stream.row.id;
        let log = self.log.iter_mut().filter(of_session).map(|change| &mut change.event);
        for event in self.sessions[place].events.iter_mut().chain(log) {
            if let Some(other) = rewrite.events.iter().find(|other| other.version == event.version) {
                event.actor.clone_from(&other.actor);
                event.body.clone_from(&other.body);
            }
        }
        for event in &rewrite.events {
            self.sessions[place].chain.forget_salt(event.version);
        }
        self.sessions[place].activity.clone_from(&rewrite.activity);
        self.contents.retain(|hash, _| !rewrite.contents.contains(hash));
        self.replace_items(&stream.row.id, &rewrite.items);
        for row in self.keys.values_mut() {
            if let Some(other) = answers(&row.answer) {
                row.answer = other;
            }
        }
        Ok(())
    }

    fn take_histories(&mut self, arrived: &Arrived) -> Result<()> {
        self.take_all(arrived)
    }

    fn arrivals(&self) -> Result<Vec<Arrival>> {
        Ok(self.arrivals.values().cloned().collect())
    }

    /// Does nothing: sessions in memory always have a chain.
    fn seal_histories(&mut self, _ids: &[SessionId], _patience: Duration) -> Result<()> {
        Ok(())
    }

    fn erase(&mut self, _patience: Duration) -> Result<bool> {
        Ok(true)
    }

    fn info(&self) -> Result<Info> {
        Ok(Info {
            engine: "memory".to_owned(),
            id: "memory".to_owned(),
            place: "memory".to_owned(),
            schema_version: 0,
            journal: "none".to_owned(),
            sessions: self.sessions.len() as u64,
            events: self.log.len() as u64,
            bytes: 0,
            warnings: Vec::new(),
        })
    }

    fn backup(&self, to: &Path) -> Result<()> {
        Err(Error::Engine {
            doing: format!("copying the store to {}", to.display()),
            why: "a store in memory has no file".to_owned(),
        })
    }

    fn check(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}

fn keep_activity(kept: &mut Vec<ActivityRow>, row: &ActivityRow) {
    match kept.iter_mut().find(|known| known.kind == row.kind && known.what == row.what) {
        None => kept.push(row.clone()),
        Some(known) => {
            known.count += row.count;
            if row.at >= known.at {
                known.at = row.at;
                known.detail.clone_from(&row.detail);
            }
        }
    }
}

/// Converts ASCII letters only to lower case, as SQLite does.
fn folded(text: &str) -> String {
    text.to_ascii_lowercase()
}
