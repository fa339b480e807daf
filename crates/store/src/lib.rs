//! Session storage: one trait, and the engines behind it. Never decides anything, and never reads the clock.

mod batch_rules;
pub mod chain;
#[cfg(any(test, feature = "contract"))]
pub mod contract;
mod error;
mod lose_on_purpose;
mod memory;
mod migrate;
#[cfg(feature = "postgres")]
mod postgres;
mod replica_rows;
mod retention;
mod rows;
mod sqlite;
mod uncommitted;

pub use error::{Error, Result};
pub use memory::MemoryStore;
#[cfg(feature = "postgres")]
pub use postgres::{Opening, PostgresStore, has_password, is_postgres, schema as postgres_schema};
pub use replica_rows::*;
pub use retention::{KEPT_ACTIVITIES, KEY_LIFETIME, keys_expire_at};
pub use rows::*;
pub use sqlite::{Access, SqliteStore};
pub use uncommitted::{Make, WithUncommitted};

use chain::Chain;
use model::id::{ItemId, SessionId};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// The interface between the engine and a store.
pub trait Store {
    /// Waits for this process's turn to write, which lasts until the next `append` or `give_turn_back`, or until the
    /// store is dropped. Within one turn, loading, deciding and appending cannot conflict with other writers, except in
    /// a store that assumes that nothing has changed and checks that on appending.
    fn take_turn(&mut self, patience: Duration) -> Result<()>;
    fn give_turn_back(&mut self);
    /// True if nothing that was read within this turn has changed since. To be called before a decision that ends the
    /// turn without an append.
    fn is_turn_current(&mut self) -> Result<bool> {
        Ok(true)
    }

    /// Commits the whole batch durably, or nothing. Takes the turn if this process does not have it, and ends the turn.
    fn append(&mut self, batch: &Batch) -> Result<()>;

    fn load(&self, id: &SessionId) -> Result<Option<Loaded>>;
    /// For each id, returns true if such a session exists.
    fn which_exist(&self, ids: &[&SessionId]) -> Result<Vec<bool>> {
        ids.iter().map(|id| Ok(self.load(id)?.is_some())).collect()
    }
    /// The events after a version, oldest first.
    fn events(&self, id: &SessionId, after: u64, limit: Option<usize>) -> Result<Vec<EventRow>>;
    /// The hash chain over a session's events; empty if the session does not exist.
    fn chain(&self, id: &SessionId) -> Result<Chain>;
    fn definition(&self, hash: &str) -> Result<Option<String>>;
    /// The hashes of all stored definitions, and of all files whose content is stored.
    fn hashes(&self) -> Result<(Vec<String>, Vec<String>)> {
        Ok((Vec::new(), Vec::new()))
    }
    /// All keys, the oldest first.
    fn keys(&self) -> Result<Vec<KeyRow>> {
        Ok(Vec::new())
    }
    /// The content stored under a hash, if any.
    fn content(&self, hash: &str) -> Result<Option<Vec<u8>>>;
    /// The session of this worktree that is active and not parallel, if any.
    fn active(&self, worktree: &str) -> Result<Option<SessionId>>;
    /// The row of the session that `active` returns.
    fn active_row(&self, worktree: &str) -> Result<Option<SessionRow>> {
        let Some(id) = self.active(worktree)? else { return Ok(None) };
        Ok(self.load(&id)?.map(|loaded| loaded.row))
    }
    /// Sessions, most recently changed first: in the order of commits, not by timestamps.
    fn list(&self, filter: &Filter) -> Result<Vec<Listed>>;
    /// At most `limit` ids with this prefix, ignoring case, shortest first.
    fn with_prefix(&self, prefix: &str, limit: usize) -> Result<Vec<SessionId>>;
    fn with_number(&self, number: u64) -> Result<Option<SessionId>>;
    /// The answer stored under this key, if it was used after `since`.
    fn recall(&self, key: &str, since: jiff::Timestamp) -> Result<Option<KeyRow>>;
    /// The events of all sessions after a cursor, in the order in which they were stored.
    fn changes(&self, after: u64, limit: usize) -> Result<Vec<Change>>;
    /// The sessions with events after a cursor, and the cursor of the newest event.
    fn changed_sessions(&self, after: u64) -> Result<(BTreeSet<SessionId>, u64)> {
        let (mut changed, mut newest) = (BTreeSet::new(), after);
        loop {
            let changes = self.changes(newest, 10_000)?;
            let Some(last) = changes.last() else { return Ok((changed, newest)) };
            newest = last.cursor;
            changed.extend(changes.into_iter().map(|change| change.session));
        }
    }
    /// The cursor of the newest event; 0 in an empty store.
    fn cursor(&self) -> Result<u64>;
    /// A number that differs from the last returned one if another connection has changed anything since: events,
    /// agents or activity.
    fn change_counter(&self) -> Result<u64> {
        self.cursor()
    }
    /// The server's time when the store was opened, if the store has a server.
    fn time(&self) -> Option<jiff::Timestamp> {
        None
    }

    /// The name of a machine, to be shown for sessions on other machines.
    fn machine_name(&self, _machine: &str) -> Result<Option<String>> {
        Ok(None)
    }

    /// The agent sessions that were seen in this worktree, or in all worktrees.
    fn agents(&self, worktree: Option<&str>) -> Result<Vec<AgentRow>>;
    fn agent(&self, agent: &str, agent_session: &str) -> Result<Option<AgentRow>>;
    /// Inserts or updates an agent's row. The stored binding stays, unless the row has one.
    fn see_agent(&mut self, row: &AgentRow, patience: Duration) -> Result<()>;
    fn forget_agents(&mut self, gone: &[(String, String)], patience: Duration) -> Result<()>;

    /// The item with this id, ignoring case.
    fn item(&self, session: &SessionId, id: &ItemId) -> Result<Option<ItemRow>>;
    /// The items of a session, in order.
    fn items(&self, session: &SessionId, filter: &ItemFilter) -> Result<Vec<ItemRow>>;
    /// The ready items that nobody else holds, in order.
    fn ready_items(&self, session: &SessionId, query: &ReadyQuery<'_>) -> Result<Vec<ItemRow>>;
    /// The items leased by this holder, even if the lease has expired, in order.
    fn held_items(&self, session: &SessionId, holder: &str) -> Result<Vec<ItemRow>>;
    /// The items that depend on this item, in order.
    fn dependents(&self, session: &SessionId, id: &ItemId) -> Result<Vec<ItemRow>>;

    /// Records touched files and executed commands outside the log, so that no version changes and nothing conflicts. A
    /// repeated entry increases the count of the stored one and sets the newer time. Only the newest `KEPT_ACTIVITIES`
    /// of each session stay. Entries for unknown sessions are ignored.
    fn record_activity(
        &mut self,
        session: &SessionId,
        rows: &[ActivityRow],
        patience: Duration,
    ) -> Result<()>;
    /// Records what a hook observed. False if the trace was recorded before, or if the agent's row has changed since
    /// the trace was decided.
    fn trace(&mut self, trace: &Trace, patience: Duration) -> Result<bool>;
    /// The activity of a session, newest first.
    fn activity(&self, session: &SessionId, limit: usize) -> Result<Vec<ActivityRow>>;

    /// The files that show a session to its tool, by path.
    fn views(&self, session: &SessionId) -> Result<Vec<ViewRow>>;
    /// The row of the session of this worktree, on this machine, that was the last to write a shared file.
    fn last_writer(&self, worktree: &str, path: &str) -> Result<Option<ViewRow>>;
    /// Records that files are complete on disk, and stores their rows, for those rows that the store still expects. A
    /// row of another version with the same bytes is not confirmed, because the file may have had other content in
    /// between; it is written again. Write journals are stored in any case.
    fn confirm_views(&mut self, rows: &[ViewRow], patience: Duration) -> Result<()>;
    /// Stores the write journals of these rows, all or none, and nothing else of the rows. A file whose row was
    /// replaced keeps the newer row. Does not wait for the turn, because only the process that writes the files calls
    /// this. The journals survive the end of the process, but not necessarily a power cut.
    fn note_writes(&mut self, rows: &[ViewRow]) -> Result<()>;

    /// Rewrites a session's history: the only way to change stored events. `answers` is called with every stored answer
    /// and returns its replacement, if it needs one.
    fn rewrite(&mut self, rewrite: &Rewrite, answers: &dyn Fn(&str) -> Option<String>) -> Result<()>;
    /// Stores histories written by other replicas, with their definitions and contents.
    fn take_histories(&mut self, arrived: &Arrived) -> Result<()>;
    /// The sessions that came from other replicas, in order of id.
    fn arrivals(&self) -> Result<Vec<Arrival>>;
    /// The newest arrival of a session; `None` if no part of it came from another replica.
    fn arrival(&self, id: &SessionId) -> Result<Option<Arrival>> {
        Ok(self.arrivals()?.into_iter().find(|arrival| arrival.session == *id))
    }
    /// Seals the events of those of these sessions that have no chain yet. Otherwise changes nothing.
    fn seal_histories(&mut self, ids: &[SessionId], patience: Duration) -> Result<()>;
    /// Erases replaced content from the disk. False if the content may still be on the disk, because somebody is
    /// reading.
    fn erase(&mut self, patience: Duration) -> Result<bool>;

    fn info(&self) -> Result<Info>;
    /// Writes a consistent copy, while others may keep writing.
    fn backup(&self, to: &Path) -> Result<()>;
    /// Describes defects of the store itself, in one line each.
    fn check(&self) -> Result<Vec<String>>;
}
