//! The SQLite store, a single file. Knows SQL and the disk, but not the content of events and snapshots.

mod activity;
mod agents;
mod append;
mod chain;
mod columns;
mod commit_outcome;
mod create;
mod failure;
mod file_system;
mod histories;
mod items;
mod list;
mod log_size;
mod migrations;
mod move_database;
mod open;
mod queries;
mod read_only;
mod remembered;
mod restore;
mod rewrite;
mod session_rows;
mod time_limits;
mod turn;
mod upkeep;
mod views;

#[cfg(test)]
mod tests;

pub use open::Access;

use crate::chain::Chain;
use crate::{
    ActivityRow, AgentRow, Arrival, Arrived, Batch, Change, Error, EventRow, Filter, Info, ItemFilter,
    ItemRow, KeyRow, Listed, Loaded, ReadyQuery, Result, Rewrite, SessionRow, Store, Trace, ViewRow,
};
use jiff::Timestamp;
use migrations::{MIGRATIONS, newest};
use model::id::{ItemId, SessionId};
use open::Pace;
use remembered::Remembered;
use rusqlite::Connection;
use std::cell::{Ref, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;
use time_limits::{BUSY_WAIT, PATIENCE};
use turn::Turn;

/// Sessions in one SQLite file.
#[derive(Debug)]
pub struct SqliteStore {
    connection: Connection,
    path: PathBuf,
    lock: PathBuf,
    writable: bool,
    /// How long SQLite waits for other programs.
    busy_wait: Duration,
    turn: Option<Turn>,
    /// Rows that need not be read again in the current turn.
    remembered: RefCell<Remembered>,
    /// The number of changes written through this connection.
    writes: u32,
    /// The database's schema, if a newer program created it. Such a database is read as far as this program knows its
    /// tables.
    newer: Option<u32>,
}

impl SqliteStore {
    pub fn open(path: &Path, access: Access) -> Result<Self> {
        Self::open_announcing(path, access, &|| {})
    }

    /// Opens a database. Calls `upgrading` before it upgrades the database to a newer schema, which can take long.
    pub fn open_announcing(path: &Path, access: Access, upgrading: &dyn Fn()) -> Result<Self> {
        open::open(path, access, Pace::Patient, upgrading)
    }

    /// Opens a database for a caller that cannot wait. Gives up after the given time, and does not upgrade the schema
    /// of a large database.
    pub fn open_in_a_hurry(path: &Path, access: Access, wait: Duration) -> Result<Self> {
        open::open(path, access, Pace::Hurried(wait), &|| {}).map_err(|error| error.after(wait))
    }

    fn fail(&self, doing: &str) -> impl FnOnce(rusqlite::Error) -> Error {
        let doing = format!("{doing} in {}", self.path.display());
        move |error| match self.newer {
            Some(found) => Error::Newer { path: self.path.clone(), found, known: newest(MIGRATIONS) },
            None => failure::failure(&self.path, &doing, &error).after(self.busy_wait),
        }
    }

    /// Problems of the database that do not prevent reading it.
    pub fn reservations(&self) -> Vec<Error> {
        let newer = self.newer.map(|found| Error::Newer {
            path: self.path.clone(),
            found,
            known: newest(MIGRATIONS),
        });
        let lost = self.refuse_lost(turn::recorded(&self.lock, &self.path)).err();
        newer.into_iter().chain(lost).collect()
    }

    /// Fails if the database lacks the newest change that the lock file records as stored.
    fn refuse_lost(&self, recorded: Option<u64>) -> Result<()> {
        let Some(kept) = recorded else { return Ok(()) };
        let found = self.cursor()?;
        if found < kept { Err(Error::Lost { path: self.path.clone(), kept, found }) } else { Ok(()) }
    }

    /// Calls `work`, which adds events, within this process's turn. Then records the newest change in the lock file.
    fn in_turn_of_events(&mut self, work: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.in_turn(PATIENCE, |store| {
            work(store)?;
            if let Ok(newest) = store.cursor() {
                store.record(newest);
            }
            Ok(())
        })
    }

    /// Records the newest change of the database in the lock file.
    fn record(&self, newest: u64) {
        if let Some(turn) = &self.turn {
            turn.record(newest);
        }
    }

    /// Calls `work` within this process's turn. It may change anything, so no remembered row stays valid.
    fn in_turn<T>(&mut self, patience: Duration, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.in_turn_remembering(patience, |store| {
            store.forget();
            let done = work(store);
            store.forget();
            done
        })
    }

    fn forget(&mut self) {
        self.remembered.replace_with(|remembered| std::mem::take(remembered).after_any_change());
    }

    /// Calls `work` within this process's turn. `work` itself keeps the remembered rows correct. If the caller had
    /// taken the turn before, the turn is kept.
    fn in_turn_remembering<T>(
        &mut self,
        patience: Duration,
        work: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let taken_before = self.turn.is_some();
        self.queue(patience)?;
        self.end_reading()?;
        let done = work(self);
        if done.is_ok() {
            self.shorten_log();
        }
        if !taken_before {
            self.turn = None;
        }
        done
    }
}

impl SqliteStore {
    /// Waits for this process's turn, unless the process has it already.
    fn queue(&mut self, patience: Duration) -> Result<()> {
        if !self.writable {
            return Err(Error::ReadOnly { path: self.path.clone() });
        }
        if self.turn.is_none() {
            let turn = Turn::take(&self.lock, &self.path, patience)?;
            // While this process waited, the process that had the turn moved the store. A write to the old file would
            // be lost.
            if !turn.has_database() {
                return Err(Error::Engine {
                    doing: format!("writing to {}", self.path.display()),
                    why: "the store was moved in the meantime; try again".to_owned(),
                });
            }
            let recorded = turn.recorded();
            self.remembered
                .replace_with(|remembered| std::mem::take(remembered).in_next_turn(&self.connection));
            self.turn = Some(turn);
            self.refuse_lost(recorded).inspect_err(|_| self.turn = None)?;
        }
        Ok(())
    }

    /// Starts one transaction for all queries of a turn. Otherwise each query would acquire and release locks.
    fn read_together(&self) -> Result<()> {
        if self.connection.is_autocommit() { self.control("BEGIN") } else { Ok(()) }
    }

    /// Ends the transaction of the queries, because a change has its own transaction.
    fn end_reading(&self) -> Result<()> {
        if self.connection.is_autocommit() { Ok(()) } else { self.control("COMMIT") }
    }

    fn control(&self, statement: &str) -> Result<()> {
        control(&self.connection, statement).map_err(self.fail("reading"))
    }
}

impl SqliteStore {
    /// Returns the rows that need not be read again in the current turn; `None` outside a turn.
    fn known(&self) -> Option<Ref<'_, Remembered>> {
        self.turn.as_ref().map(|_| self.remembered.borrow())
    }
}

/// Runs a statement that starts or ends a transaction, without parsing it each time.
fn control(connection: &Connection, statement: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(statement)?.execute([]).map(drop)
}

impl Store for SqliteStore {
    fn take_turn(&mut self, patience: Duration) -> Result<()> {
        // The transaction really starts with its first query, which runs after the turn was taken.
        self.read_together()?;
        self.queue(patience).inspect_err(|_| drop(self.end_reading()))
    }

    fn give_turn_back(&mut self) {
        // An error does not matter here: a transaction with only queries has nothing to commit.
        let _ = self.end_reading();
        self.turn = None;
    }

    fn append(&mut self, batch: &Batch) -> Result<()> {
        if crate::lose_on_purpose::loses(batch) {
            return Ok(());
        }
        let done = self.in_turn_remembering(PATIENCE, |store| {
            let remembered = store.remembered.take();
            let newest = store.append_in_turn(batch)?;
            store.remembered.replace(remembered.after(batch, newest));
            store.record(newest);
            Ok(())
        });
        self.turn = None;
        done
    }

    fn load(&self, id: &SessionId) -> Result<Option<Loaded>> {
        if let Some(known) = self.known().and_then(|known| known.session(id).cloned()) {
            return Ok(Some(known));
        }
        let found = queries::load(&self.connection, id).map_err(self.fail("loading a session"))?;
        if let (Some(found), true) = (&found, self.turn.is_some()) {
            self.remembered.borrow_mut().keep(found);
        }
        Ok(found)
    }

    fn which_exist(&self, ids: &[&SessionId]) -> Result<Vec<bool>> {
        queries::which_exist(&self.connection, ids).map_err(self.fail("looking for sessions"))
    }

    fn events(&self, id: &SessionId, after: u64, limit: Option<usize>) -> Result<Vec<EventRow>> {
        queries::events(&self.connection, id, after, limit).map_err(self.fail("reading events"))
    }

    fn chain(&self, id: &SessionId) -> Result<Chain> {
        chain::of(&self.connection, id).map_err(self.fail("reading a session's chain"))
    }

    fn definition(&self, hash: &str) -> Result<Option<String>> {
        queries::definition(&self.connection, hash).map_err(self.fail("reading a definition"))
    }

    fn hashes(&self) -> Result<(Vec<String>, Vec<String>)> {
        queries::hashes(&self.connection).map_err(self.fail("listing definitions and contents"))
    }

    fn keys(&self) -> Result<Vec<KeyRow>> {
        queries::keys(&self.connection).map_err(self.fail("listing keys"))
    }

    fn content(&self, hash: &str) -> Result<Option<Vec<u8>>> {
        queries::content(&self.connection, hash).map_err(self.fail("reading a file's content"))
    }

    fn active(&self, worktree: &str) -> Result<Option<SessionId>> {
        Ok(self.active_row(worktree)?.map(|row| row.id))
    }

    fn active_row(&self, worktree: &str) -> Result<Option<SessionRow>> {
        if let Some(known) = self.known().and_then(|known| known.active(worktree).cloned()) {
            return Ok(Some(known));
        }
        queries::active(&self.connection, worktree).map_err(self.fail("looking for the active session"))
    }

    fn list(&self, filter: &Filter) -> Result<Vec<Listed>> {
        list::list(&self.connection, filter).map_err(self.fail("listing sessions"))
    }

    fn with_prefix(&self, prefix: &str, limit: usize) -> Result<Vec<SessionId>> {
        queries::with_prefix(&self.connection, prefix, limit).map_err(self.fail("looking for an id"))
    }

    fn with_number(&self, number: u64) -> Result<Option<SessionId>> {
        queries::with_number(&self.connection, number).map_err(self.fail("looking for a number"))
    }

    fn recall(&self, key: &str, since: Timestamp) -> Result<Option<KeyRow>> {
        queries::recall(&self.connection, key, since).map_err(self.fail("looking for a key"))
    }

    fn changes(&self, after: u64, limit: usize) -> Result<Vec<Change>> {
        queries::changes(&self.connection, after, limit).map_err(self.fail("reading changes"))
    }

    fn changed_sessions(&self, after: u64) -> Result<(BTreeSet<SessionId>, u64)> {
        queries::changed_sessions(&self.connection, after).map_err(self.fail("looking for changed sessions"))
    }

    fn cursor(&self) -> Result<u64> {
        if let Some(known) = self.known().and_then(|known| known.cursor) {
            return Ok(known);
        }
        queries::cursor(&self.connection).map_err(self.fail("looking for the newest event"))
    }

    /// Counts changes by other connections only. Takes microseconds.
    fn change_counter(&self) -> Result<u64> {
        let counter = self.connection.query_row("PRAGMA data_version", [], |row| row.get::<_, i64>(0));
        counter.map(i64::cast_unsigned).map_err(self.fail("looking for changes"))
    }

    fn agents(&self, worktree: Option<&str>) -> Result<Vec<AgentRow>> {
        agents::all(&self.connection, worktree).map_err(self.fail("listing agents"))
    }

    fn agent(&self, agent: &str, agent_session: &str) -> Result<Option<AgentRow>> {
        agents::one(&self.connection, agent, agent_session).map_err(self.fail("looking for an agent session"))
    }

    fn see_agent(&mut self, row: &AgentRow, patience: Duration) -> Result<()> {
        self.in_turn(patience, |store| {
            agents::see(&store.connection, row).map_err(store.fail("saving an agent session"))
        })
    }

    fn forget_agents(&mut self, gone: &[(String, String)], patience: Duration) -> Result<()> {
        if gone.is_empty() {
            return Ok(());
        }
        self.in_turn(patience, |store| {
            agents::forget(&store.connection, gone).map_err(store.fail("forgetting agents"))
        })
    }

    fn item(&self, session: &SessionId, id: &ItemId) -> Result<Option<ItemRow>> {
        items::one(&self.connection, session, id).map_err(self.fail("looking for an item"))
    }

    fn items(&self, session: &SessionId, filter: &ItemFilter) -> Result<Vec<ItemRow>> {
        items::list(&self.connection, session, filter).map_err(self.fail("listing items"))
    }

    fn ready_items(&self, session: &SessionId, query: &ReadyQuery<'_>) -> Result<Vec<ItemRow>> {
        items::ready(&self.connection, session, query).map_err(self.fail("looking for ready items"))
    }

    fn held_items(&self, session: &SessionId, holder: &str) -> Result<Vec<ItemRow>> {
        items::held(&self.connection, session, holder).map_err(self.fail("looking for held items"))
    }

    fn dependents(&self, session: &SessionId, id: &ItemId) -> Result<Vec<ItemRow>> {
        items::dependents(&self.connection, session, id).map_err(self.fail("looking for dependent items"))
    }

    fn record_activity(
        &mut self,
        session: &SessionId,
        rows: &[ActivityRow],
        patience: Duration,
    ) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        self.in_turn(patience, |store| {
            activity::record(&store.connection, session, rows).map_err(store.fail("saving activity"))
        })
    }

    fn trace(&mut self, trace: &Trace, patience: Duration) -> Result<bool> {
        self.in_turn(patience, |store| {
            activity::trace(&store.connection, trace).map_err(store.fail("storing a hook's report"))
        })
    }

    fn activity(&self, session: &SessionId, limit: usize) -> Result<Vec<ActivityRow>> {
        activity::newest(&self.connection, session, limit).map_err(self.fail("reading activity"))
    }

    fn views(&self, session: &SessionId) -> Result<Vec<ViewRow>> {
        views::of(&self.connection, session).map_err(self.fail("reading the records of written files"))
    }

    fn last_writer(&self, worktree: &str, path: &str) -> Result<Option<ViewRow>> {
        let found = views::last_writer(&self.connection, worktree, path);
        found.map_err(self.fail("reading the records of written files"))
    }

    fn confirm_views(&mut self, rows: &[ViewRow], patience: Duration) -> Result<()> {
        self.in_turn(patience, |store| {
            let confirmed = views::confirm_all(&store.connection, rows);
            confirmed.map_err(store.fail("saving the records of written files"))
        })
    }

    fn note_writes(&mut self, rows: &[ViewRow]) -> Result<()> {
        if !self.writable {
            return Err(Error::ReadOnly { path: self.path.clone() });
        }
        self.end_reading()?;
        views::note_all(&self.connection, rows).map_err(self.fail("saving the write journal"))
    }

    fn rewrite(&mut self, rewrite: &Rewrite, answers: &dyn Fn(&str) -> Option<String>) -> Result<()> {
        let done = self.in_turn_of_events(|store| store.rewrite_in_turn(rewrite, answers));
        self.turn = None;
        done
    }

    fn take_histories(&mut self, arrived: &Arrived) -> Result<()> {
        let done = self.in_turn_of_events(|store| store.take_histories_in_turn(arrived));
        self.turn = None;
        done
    }

    fn arrivals(&self) -> Result<Vec<Arrival>> {
        histories::arrivals(&self.connection).map_err(self.fail("reading the origins of sessions"))
    }

    fn arrival(&self, id: &SessionId) -> Result<Option<Arrival>> {
        histories::arrival(&self.connection, id).map_err(self.fail("reading the origin of a session"))
    }

    fn seal_histories(&mut self, ids: &[SessionId], patience: Duration) -> Result<()> {
        let unsealed = histories::unsealed(&self.connection, ids);
        let unsealed = unsealed.map_err(self.fail("looking for sessions without a chain"))?;
        if unsealed.is_empty() {
            return Ok(());
        }
        self.in_turn(patience, |store| store.seal_histories_in_turn(&unsealed))
    }

    fn erase(&mut self, patience: Duration) -> Result<bool> {
        self.in_turn(patience, Self::erase_in_turn)
    }

    fn info(&self) -> Result<Info> {
        self.describe()
    }

    fn backup(&self, to: &Path) -> Result<()> {
        upkeep::copy_database(&self.connection, &self.path, to)
    }

    fn check(&self) -> Result<Vec<String>> {
        upkeep::check(&self.connection).map_err(self.fail("checking"))
    }
}
