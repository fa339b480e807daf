//! A store that reopens its database for every operation, and keeps it open only during a turn.

use jiff::Timestamp;
use model::id::{ItemId, SessionId};
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::chain::Chain;
use store::{
    Access, ActivityRow, AgentRow, Arrival, Arrived, Batch, Change, EventRow, Filter, Info, ItemFilter,
    ItemRow, KeyRow, Listed, Loaded, ReadyQuery, Result, Rewrite, SqliteStore, Store, Trace, ViewRow,
};

pub(crate) struct Reopening {
    path: PathBuf,
    in_turn: Option<SqliteStore>,
}

impl Reopening {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, in_turn: None }
    }

    fn reader(&self) -> Result<SqliteStore> {
        SqliteStore::open(&self.path, Access::Read)
    }

    fn writer(&self) -> Result<SqliteStore> {
        SqliteStore::open(&self.path, Access::Write)
    }
}

impl Store for Reopening {
    fn take_turn(&mut self, patience: Duration) -> Result<()> {
        let mut store = self.in_turn.take().map_or_else(|| self.writer(), Ok)?;
        store.take_turn(patience)?;
        self.in_turn = Some(store);
        Ok(())
    }

    fn give_turn_back(&mut self) {
        self.in_turn = None;
    }

    fn append(&mut self, batch: &Batch) -> Result<()> {
        self.in_turn.take().map_or_else(|| self.writer(), Ok)?.append(batch)
    }

    fn load(&self, id: &SessionId) -> Result<Option<Loaded>> {
        self.reader()?.load(id)
    }

    fn events(&self, id: &SessionId, after: u64, limit: Option<usize>) -> Result<Vec<EventRow>> {
        self.reader()?.events(id, after, limit)
    }

    fn chain(&self, id: &SessionId) -> Result<Chain> {
        self.reader()?.chain(id)
    }

    fn definition(&self, hash: &str) -> Result<Option<String>> {
        self.reader()?.definition(hash)
    }

    fn content(&self, hash: &str) -> Result<Option<Vec<u8>>> {
        self.reader()?.content(hash)
    }

    fn active(&self, worktree: &str) -> Result<Option<SessionId>> {
        self.reader()?.active(worktree)
    }

    fn list(&self, filter: &Filter) -> Result<Vec<Listed>> {
        self.reader()?.list(filter)
    }

    fn with_prefix(&self, prefix: &str, limit: usize) -> Result<Vec<SessionId>> {
        self.reader()?.with_prefix(prefix, limit)
    }

    fn with_number(&self, number: u64) -> Result<Option<SessionId>> {
        self.reader()?.with_number(number)
    }

    fn recall(&self, key: &str, since: Timestamp) -> Result<Option<KeyRow>> {
        self.reader()?.recall(key, since)
    }

    fn changes(&self, after: u64, limit: usize) -> Result<Vec<Change>> {
        self.reader()?.changes(after, limit)
    }

    fn cursor(&self) -> Result<u64> {
        self.reader()?.cursor()
    }

    fn agents(&self, worktree: Option<&str>) -> Result<Vec<AgentRow>> {
        self.reader()?.agents(worktree)
    }

    fn agent(&self, agent: &str, agent_session: &str) -> Result<Option<AgentRow>> {
        self.reader()?.agent(agent, agent_session)
    }

    fn see_agent(&mut self, row: &AgentRow, patience: Duration) -> Result<()> {
        match &mut self.in_turn {
            Some(store) => store.see_agent(row, patience),
            None => self.writer()?.see_agent(row, patience),
        }
    }

    fn forget_agents(&mut self, gone: &[(String, String)], patience: Duration) -> Result<()> {
        self.writer()?.forget_agents(gone, patience)
    }

    fn item(&self, session: &SessionId, id: &ItemId) -> Result<Option<ItemRow>> {
        self.reader()?.item(session, id)
    }

    fn items(&self, session: &SessionId, filter: &ItemFilter) -> Result<Vec<ItemRow>> {
        self.reader()?.items(session, filter)
    }

    fn ready_items(&self, session: &SessionId, query: &ReadyQuery<'_>) -> Result<Vec<ItemRow>> {
        self.reader()?.ready_items(session, query)
    }

    fn held_items(&self, session: &SessionId, holder: &str) -> Result<Vec<ItemRow>> {
        self.reader()?.held_items(session, holder)
    }

    fn dependents(&self, session: &SessionId, id: &ItemId) -> Result<Vec<ItemRow>> {
        self.reader()?.dependents(session, id)
    }

    fn record_activity(
        &mut self,
        session: &SessionId,
        rows: &[ActivityRow],
        patience: Duration,
    ) -> Result<()> {
        self.writer()?.record_activity(session, rows, patience)
    }

    fn trace(&mut self, trace: &Trace, patience: Duration) -> Result<bool> {
        self.writer()?.trace(trace, patience)
    }

    fn activity(&self, session: &SessionId, limit: usize) -> Result<Vec<ActivityRow>> {
        self.reader()?.activity(session, limit)
    }

    fn views(&self, session: &SessionId) -> Result<Vec<ViewRow>> {
        self.reader()?.views(session)
    }

    fn last_writer(&self, worktree: &str, path: &str) -> Result<Option<ViewRow>> {
        self.reader()?.last_writer(worktree, path)
    }

    fn confirm_views(&mut self, rows: &[ViewRow], patience: Duration) -> Result<()> {
        self.writer()?.confirm_views(rows, patience)
    }

    fn note_writes(&mut self, rows: &[ViewRow]) -> Result<()> {
        self.writer()?.note_writes(rows)
    }

    fn rewrite(&mut self, rewrite: &Rewrite, answers: &dyn Fn(&str) -> Option<String>) -> Result<()> {
        self.writer()?.rewrite(rewrite, answers)
    }

    fn take_histories(&mut self, arrived: &Arrived) -> Result<()> {
        self.writer()?.take_histories(arrived)
    }

    fn arrivals(&self) -> Result<Vec<Arrival>> {
        self.reader()?.arrivals()
    }

    fn seal_histories(&mut self, ids: &[SessionId], patience: Duration) -> Result<()> {
        self.writer()?.seal_histories(ids, patience)
    }

    fn erase(&mut self, patience: Duration) -> Result<bool> {
        self.writer()?.erase(patience)
    }

    fn info(&self) -> Result<Info> {
        self.reader()?.info()
    }

    fn backup(&self, to: &Path) -> Result<()> {
        self.reader()?.backup(to)
    }

    fn check(&self) -> Result<Vec<String>> {
        self.reader()?.check()
    }
}
