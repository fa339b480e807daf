//! A store with uncommitted changes in memory. Queries see these changes. The next append to a changed session also
//! commits its uncommitted changes. If the store does not exist yet, the first commit creates it.

use crate::chain::Chain;
use crate::{
    ActivityRow, AgentRow, Arrival, Arrived, Batch, Change, Error, EventRow, Filter, Info, ItemFilter,
    ItemRow, KeyRow, Listed, Loaded, MemoryStore, ReadyQuery, Result, Rewrite, SessionRow, Store,
    StreamAppend, Trace, ViewRow,
};
use jiff::Timestamp;
use model::id::{ItemId, SessionId};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::time::Duration;

/// Creates the store if it does not exist.
pub type Make = dyn Fn() -> Result<Box<dyn Store>>;

pub struct WithUncommitted {
    base: Box<dyn Store>,
    /// The function that creates the store; `None` if the store exists. As long as the store does not exist, `base` is
    /// empty.
    make: Option<Box<Make>>,
    /// The uncommitted changes by session.
    over: RefCell<BTreeMap<SessionId, Over>>,
}

struct Over {
    pending: Batch,
    /// The session's number in the underlying store; 0 if it does not have the session.
    number: u64,
    /// A store in memory that has only this session, with its uncommitted changes.
    shown: MemoryStore,
}

impl WithUncommitted {
    pub fn new(base: Box<dyn Store>) -> Self {
        Self { base, make: None, over: RefCell::default() }
    }

    /// Returns a view of a store that does not exist yet. The first commit creates the store.
    pub fn made_when_kept(make: Box<Make>) -> Self {
        Self { base: Box::new(MemoryStore::default()), make: Some(make), over: RefCell::default() }
    }

    /// Returns the underlying store, and creates it if it does not exist yet.
    pub fn made(&mut self) -> Result<&mut dyn Store> {
        if let Some(make) = &self.make {
            self.base = make()?;
            self.make = None;
        }
        Ok(&mut *self.base)
    }

    /// Appends to the underlying store. A conflict if another process has created the store with this session in it.
    fn append_to_made(&mut self, batch: &Batch) -> Result<()> {
        let was_decided_without = self.make.is_some();
        self.made()?.append(batch).map_err(|error| match error {
            Error::IdTaken { existing } if was_decided_without => {
                Error::Conflict { session: existing, expected: 0, found: 1 }
            }
            other => other,
        })
    }

    /// Adds uncommitted changes of one session, on top of its stored state.
    pub fn lay_over(&self, stream: &StreamAppend, mut rest: Batch) -> Result<()> {
        let id = stream.row.id.clone();
        let mut shown = MemoryStore::default();
        let loaded = self.base.load(&id)?;
        if let Some(kept) = &loaded {
            shown.append(&self.kept(&id, kept)?)?;
        }
        rest.streams.push(stream.clone());
        shown.append(&rest)?;
        let number = loaded.map_or(0, |loaded| loaded.number);
        self.over.borrow_mut().insert(id, Over { pending: rest, number, shown });
        Ok(())
    }

    /// True if a session is stored. Uncommitted changes are ignored.
    pub fn base_has(&self, id: &SessionId) -> bool {
        self.base.load(id).is_ok_and(|found| found.is_some())
    }

    /// Returns the stored active session of a worktree. Uncommitted changes are ignored.
    pub fn active_kept(&self, worktree: &str) -> Result<Option<SessionId>> {
        self.base.active(worktree)
    }

    /// Returns the uncommitted changes of a session, if any.
    pub fn pending(&self, id: &SessionId) -> Option<StreamAppend> {
        self.over.borrow().get(id)?.pending.streams.first().cloned()
    }

    /// Commits the uncommitted changes of a session, if any, together with this batch.
    pub fn keep_pending(&mut self, id: &SessionId, with: &Batch) -> Result<()> {
        let laid = self.over.borrow_mut().remove(id);
        let mut whole = laid.map(|over| over.pending).unwrap_or_default();
        whole.views.extend(with.views.iter().cloned());
        self.made()?.append(&whole)
    }

    /// Drops all uncommitted changes.
    pub fn forget(&self) {
        self.over.borrow_mut().clear();
    }

    /// Drops the uncommitted changes of all sessions except the given ones.
    pub fn forget_all_but(&self, current: &BTreeSet<&SessionId>) {
        self.over.borrow_mut().retain(|id, _| current.contains(id));
    }

    /// Returns the underlying store, without the uncommitted changes.
    pub fn base(&self) -> &dyn Store {
        &*self.base
    }

    /// Returns the stored state of a session as a batch that would create the session.
    fn kept(&self, id: &SessionId, loaded: &Loaded) -> Result<Batch> {
        // Another process may have added events since the session was loaded: omit events after that version.
        let up_to = usize::try_from(loaded.row.version).unwrap_or(usize::MAX);
        let events = self.base.events(id, 0, Some(up_to))?;
        // An outdated snapshot is omitted; readers fold the log instead.
        let current = loaded.snapshot.clone().filter(|snapshot| snapshot.version == loaded.row.version);
        let unknown =
            || crate::Snapshot { fold_version: 0, version: loaded.row.version, body: String::new() };
        let snapshot = Some(current.unwrap_or_else(unknown));
        Ok(Batch {
            streams: vec![StreamAppend { expected: 0, events, row: loaded.row.clone(), snapshot }],
            items: self.base.items(id, &ItemFilter::default())?,
            views: self.base.views(id)?,
            ..Batch::default()
        })
    }

    fn of<T>(&self, id: &SessionId, ask: impl Fn(&dyn Store) -> Result<T>) -> Result<T> {
        match self.over.borrow().get(id) {
            Some(over) => ask(&over.shown),
            None => ask(&*self.base),
        }
    }

    /// Returns the batch together with the uncommitted changes of the sessions that the batch changes.
    fn with_pending(&self, batch: &Batch) -> Batch {
        let over = self.over.borrow();
        let mut whole =
            Batch { numbers: batch.numbers.clone(), seals: batch.seals.clone(), ..Batch::default() };
        for pending in batch.streams.iter().filter_map(|stream| over.get(&stream.row.id)) {
            whole.definitions.extend(pending.pending.definitions.iter().cloned());
            whole.contents.extend(pending.pending.contents.iter().cloned());
            // If a batch replaces all items of a session, its uncommitted items are dropped.
            let is_replaced =
                |session: &SessionId| batch.replace_items.iter().any(|replaced| replaced.session == *session);
            let items = pending.pending.items.iter().filter(|row| !is_replaced(&row.session));
            whole.items.extend(items.cloned());
            let all_items = pending.pending.replace_items.iter().filter(|all| !is_replaced(&all.session));
            whole.replace_items.extend(all_items.cloned());
            whole.views.extend(pending.pending.views.iter().cloned());
        }
        let mut streams = batch.streams.clone();
        for stream in &mut streams {
            let laid = over.get(&stream.row.id).and_then(|over| over.pending.streams.first());
            if let Some(before) = laid {
                stream.expected = before.expected;
                stream.events = [before.events.clone(), std::mem::take(&mut stream.events)].concat();
            }
        }
        whole.definitions.extend(batch.definitions.iter().cloned());
        whole.contents.extend(batch.contents.iter().cloned());
        whole.items.extend(batch.items.iter().cloned());
        whole.replace_items.extend(batch.replace_items.iter().cloned());
        whole.views.extend(batch.views.iter().cloned());
        Batch { streams, key: batch.key.clone(), bindings: batch.bindings.clone(), ..whole }
    }
}

impl Deref for WithUncommitted {
    type Target = dyn Store;

    fn deref(&self) -> &Self::Target {
        self
    }
}

impl DerefMut for WithUncommitted {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self
    }
}

impl Store for WithUncommitted {
    fn is_turn_current(&mut self) -> Result<bool> {
        self.base.is_turn_current()
    }

    fn take_turn(&mut self, patience: Duration) -> Result<()> {
        // A store that does not exist has no turn to take. If several processes create it at once, `append` notices.
        if self.make.is_some() { Ok(()) } else { self.base.take_turn(patience) }
    }

    fn give_turn_back(&mut self) {
        self.base.give_turn_back();
    }

    fn append(&mut self, batch: &Batch) -> Result<()> {
        if self.over.borrow().is_empty() {
            return self.append_to_made(batch);
        }
        let whole = self.with_pending(batch);
        self.append_to_made(&whole)?;
        for stream in &batch.streams {
            self.over.borrow_mut().remove(&stream.row.id);
        }
        Ok(())
    }

    fn load(&self, id: &SessionId) -> Result<Option<Loaded>> {
        let over = self.over.borrow();
        let Some(over) = over.get(id) else { return self.base.load(id) };
        let shown = over.shown.load(id)?;
        Ok(shown.map(|loaded| Loaded { number: over.number, ..loaded }))
    }

    fn which_exist(&self, ids: &[&SessionId]) -> Result<Vec<bool>> {
        let mut exist = self.base.which_exist(ids)?;
        let over = self.over.borrow();
        for (known, id) in exist.iter_mut().zip(ids) {
            *known |= over.contains_key(*id);
        }
        Ok(exist)
    }

    fn events(&self, id: &SessionId, after: u64, limit: Option<usize>) -> Result<Vec<EventRow>> {
        self.of(id, |store| store.events(id, after, limit))
    }

    fn chain(&self, id: &SessionId) -> Result<Chain> {
        self.base.chain(id)
    }

    fn definition(&self, hash: &str) -> Result<Option<String>> {
        for over in self.over.borrow().values() {
            if let Some(body) = over.shown.definition(hash)? {
                return Ok(Some(body));
            }
        }
        self.base.definition(hash)
    }

    fn content(&self, hash: &str) -> Result<Option<Vec<u8>>> {
        self.base.content(hash)
    }

    fn active(&self, worktree: &str) -> Result<Option<SessionId>> {
        let Some(id) = self.base.active(worktree)? else { return Ok(None) };
        self.over.borrow().get(&id).map_or(Ok(Some(id)), |over| over.shown.active(worktree))
    }

    fn active_row(&self, worktree: &str) -> Result<Option<SessionRow>> {
        let Some(row) = self.base.active_row(worktree)? else { return Ok(None) };
        self.over.borrow().get(&row.id).map_or(Ok(Some(row)), |over| over.shown.active_row(worktree))
    }

    fn list(&self, filter: &Filter) -> Result<Vec<Listed>> {
        self.base.list(filter)
    }

    fn with_prefix(&self, prefix: &str, limit: usize) -> Result<Vec<SessionId>> {
        self.base.with_prefix(prefix, limit)
    }

    fn with_number(&self, number: u64) -> Result<Option<SessionId>> {
        self.base.with_number(number)
    }

    fn recall(&self, key: &str, since: Timestamp) -> Result<Option<KeyRow>> {
        self.base.recall(key, since)
    }

    fn changes(&self, after: u64, limit: usize) -> Result<Vec<Change>> {
        self.base.changes(after, limit)
    }

    fn cursor(&self) -> Result<u64> {
        self.base.cursor()
    }

    fn agents(&self, worktree: Option<&str>) -> Result<Vec<AgentRow>> {
        self.base.agents(worktree)
    }

    fn agent(&self, agent: &str, agent_session: &str) -> Result<Option<AgentRow>> {
        self.base.agent(agent, agent_session)
    }

    fn see_agent(&mut self, row: &AgentRow, patience: Duration) -> Result<()> {
        self.made()?.see_agent(row, patience)
    }

    fn forget_agents(&mut self, gone: &[(String, String)], patience: Duration) -> Result<()> {
        self.made()?.forget_agents(gone, patience)
    }

    fn item(&self, session: &SessionId, id: &ItemId) -> Result<Option<ItemRow>> {
        self.of(session, |store| store.item(session, id))
    }

    fn items(&self, session: &SessionId, filter: &ItemFilter) -> Result<Vec<ItemRow>> {
        self.of(session, |store| store.items(session, filter))
    }

    fn ready_items(&self, session: &SessionId, query: &ReadyQuery<'_>) -> Result<Vec<ItemRow>> {
        self.of(session, |store| store.ready_items(session, query))
    }

    fn held_items(&self, session: &SessionId, holder: &str) -> Result<Vec<ItemRow>> {
        self.of(session, |store| store.held_items(session, holder))
    }

    fn dependents(&self, session: &SessionId, id: &ItemId) -> Result<Vec<ItemRow>> {
        self.of(session, |store| store.dependents(session, id))
    }

    fn record_activity(
        &mut self,
        session: &SessionId,
        rows: &[ActivityRow],
        patience: Duration,
    ) -> Result<()> {
        self.made()?.record_activity(session, rows, patience)
    }

    fn trace(&mut self, trace: &Trace, patience: Duration) -> Result<bool> {
        self.made()?.trace(trace, patience)
    }

    fn activity(&self, session: &SessionId, limit: usize) -> Result<Vec<ActivityRow>> {
        self.base.activity(session, limit)
    }

    fn views(&self, session: &SessionId) -> Result<Vec<ViewRow>> {
        self.of(session, |store| store.views(session))
    }

    fn last_writer(&self, worktree: &str, path: &str) -> Result<Option<ViewRow>> {
        self.base.last_writer(worktree, path)
    }

    fn confirm_views(&mut self, rows: &[ViewRow], patience: Duration) -> Result<()> {
        self.made()?.confirm_views(rows, patience)
    }

    fn note_writes(&mut self, rows: &[ViewRow]) -> Result<()> {
        self.made()?.note_writes(rows)
    }

    fn rewrite(&mut self, rewrite: &Rewrite, answers: &dyn Fn(&str) -> Option<String>) -> Result<()> {
        let laid = self.over.borrow_mut().remove(&rewrite.stream.row.id);
        if let Some(over) = laid {
            self.made()?.append(&over.pending)?;
        }
        self.made()?.rewrite(rewrite, answers)
    }

    /// Also drops the uncommitted changes of these sessions, because they were decided with the replaced histories.
    fn take_histories(&mut self, arrived: &Arrived) -> Result<()> {
        for history in &arrived.histories {
            self.over.borrow_mut().remove(&history.row.id);
        }
        self.made()?.take_histories(arrived)
    }

    fn arrivals(&self) -> Result<Vec<Arrival>> {
        self.base.arrivals()
    }

    fn seal_histories(&mut self, ids: &[SessionId], patience: Duration) -> Result<()> {
        // A store that does not exist has nothing to seal.
        if self.make.is_some() { Ok(()) } else { self.base.seal_histories(ids, patience) }
    }

    fn erase(&mut self, patience: Duration) -> Result<bool> {
        self.made()?.erase(patience)
    }

    fn info(&self) -> Result<Info> {
        self.base.info()
    }

    fn backup(&self, to: &Path) -> Result<()> {
        self.base.backup(to)
    }

    fn check(&self) -> Result<Vec<String>> {
        self.base.check()
    }
}
