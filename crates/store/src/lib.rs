//! Session storage: one trait, and the engines behind it. Never decides anything, and never reads the clock.

mod batch_rules;
pub mod chain;
#[cfg(any(test, feature = "contract"))]
pub mod contract;
mod error;
mod lose_on_purpose;
mod memory;
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
    /// Waits for this process's turn to write. The turn lasts until the next `append` or `give_turn_back`, or until the
    /// store is dropped. Within a turn, no other writer causes a conflict. The exception is a store that takes no lock
    /// and checks only on `append` that nothing has changed.
    fn take_turn(&mut self, patience: Duration) -> Result<()>;
    fn give_turn_back(&mut self);
    /// True if nothing that was read within this turn has changed. Called before the result of a turn is used without
    /// an `append`.
    fn is_turn_current(&mut self) -> Result<bool> {
        Ok(true)
    }

    /// Commits the whole batch durably, or nothing of it. Takes the turn if this process does not have it, and always
    /// ends the turn.
    fn append(&mut self, batch: &Batch) -> Result<()>;

    fn load(&self, id: &SessionId) -> Result<Option<Loaded>>;
    /// Returns, for each id, true if a session with this id exists.
    fn which_exist(&self, ids: &[&SessionId]) -> Result<Vec<bool>> {
        ids.iter().map(|id| Ok(self.load(id)?.is_some())).collect()
    }
    /// Returns the events after a version, oldest first.
    fn events(&self, id: &SessionId, after: u64, limit: Option<usize>) -> Result<Vec<EventRow>>;
    /// Returns the hash chain over a session's events; empty if the session does not exist.
    fn chain(&self, id: &SessionId) -> Result<Chain>;
    fn definition(&self, hash: &str) -> Result<Option<String>>;
    /// Returns the hashes of all stored definitions, and those of all stored file contents.
    fn hashes(&self) -> Result<(Vec<String>, Vec<String>)> {
        Ok((Vec::new(), Vec::new()))
    }
    /// Returns the keys of all commands, oldest first.
    fn keys(&self) -> Result<Vec<KeyRow>> {
        Ok(Vec::new())
    }
    /// Returns the content stored under a hash, if any.
    fn content(&self, hash: &str) -> Result<Option<Vec<u8>>>;
    /// Returns the active session that occupies this worktree, if any. Parallel sessions do not.
    fn active(&self, worktree: &str) -> Result<Option<SessionId>>;
    /// Returns the row of the session whose id `active` returns.
    fn active_row(&self, worktree: &str) -> Result<Option<SessionRow>> {
        let Some(id) = self.active(worktree)? else { return Ok(None) };
        Ok(self.load(&id)?.map(|loaded| loaded.row))
    }
    /// Returns sessions, most recently changed first. The order is that of commits, not of timestamps.
    fn list(&self, filter: &Filter) -> Result<Vec<Listed>>;
    /// Returns at most `limit` ids with this prefix, ignoring case, shortest first.
    fn with_prefix(&self, prefix: &str, limit: usize) -> Result<Vec<SessionId>>;
    fn with_number(&self, number: u64) -> Result<Option<SessionId>>;
    /// Returns the key and its stored answer, if the key was used after `since`.
    fn recall(&self, key: &str, since: jiff::Timestamp) -> Result<Option<KeyRow>>;
    /// Returns the events of all sessions after a cursor, in the order in which they were stored.
    fn changes(&self, after: u64, limit: usize) -> Result<Vec<Change>>;
    /// Returns the sessions with events after a cursor, and the cursor of the newest event.
    fn changed_sessions(&self, after: u64) -> Result<(BTreeSet<SessionId>, u64)> {
        let (mut changed, mut newest) = (BTreeSet::new(), after);
        loop {
            let changes = self.changes(newest, 10_000)?;
            let Some(last) = changes.last() else { return Ok((changed, newest)) };
            newest = last.cursor;
            changed.extend(changes.into_iter().map(|change| change.session));
        }
    }
    /// Returns the cursor of the newest event; 0 in an empty store.
    fn cursor(&self) -> Result<u64>;
    /// Returns a number that changes whenever another connection changes events, agents or activity.
    fn change_counter(&self) -> Result<u64> {
        self.cursor()
    }
    /// Returns the server's time when the store was opened; `None` for a store without a server.
    fn time(&self) -> Option<jiff::Timestamp> {
        None
    }

    /// Returns the name of a machine, which is shown for sessions on other machines.
    fn machine_name(&self, _machine: &str) -> Result<Option<String>> {
        Ok(None)
    }

    /// Returns the agent sessions that were seen in this worktree; without a worktree, in all worktrees.
    fn agents(&self, worktree: Option<&str>) -> Result<Vec<AgentRow>>;
    fn agent(&self, agent: &str, agent_session: &str) -> Result<Option<AgentRow>>;
    /// Adds or updates an agent's row. If the new row has no binding, the stored binding stays.
    fn see_agent(&mut self, row: &AgentRow, patience: Duration) -> Result<()>;
    fn forget_agents(&mut self, gone: &[(String, String)], patience: Duration) -> Result<()>;

    /// Returns the item with this id, ignoring case.
    fn item(&self, session: &SessionId, id: &ItemId) -> Result<Option<ItemRow>>;
    /// Returns the items of a session, in order.
    fn items(&self, session: &SessionId, filter: &ItemFilter) -> Result<Vec<ItemRow>>;
    /// Returns the ready items that nobody else holds, in order.
    fn ready_items(&self, session: &SessionId, query: &ReadyQuery<'_>) -> Result<Vec<ItemRow>>;
    /// Returns the items that this holder has leased, even if the lease has expired, in order.
    fn held_items(&self, session: &SessionId, holder: &str) -> Result<Vec<ItemRow>>;
    /// Returns the items that depend on this item, in order.
    fn dependents(&self, session: &SessionId, id: &ItemId) -> Result<Vec<ItemRow>>;

    /// Records touched files and executed commands outside the log, so that no version changes and nothing conflicts.
    /// If an entry is already stored, its count increases and it gets the newer time. Only the newest `KEPT_ACTIVITIES`
    /// of each session stay. Entries for unknown sessions are ignored.
    fn record_activity(
        &mut self,
        session: &SessionId,
        rows: &[ActivityRow],
        patience: Duration,
    ) -> Result<()>;
    /// Records what a hook observed. Returns false if the trace was already recorded, or if the agent's memory is not
    /// what the trace expects.
    fn trace(&mut self, trace: &Trace, patience: Duration) -> Result<bool>;
    /// Returns the activity of a session, newest first.
    fn activity(&self, session: &SessionId, limit: usize) -> Result<Vec<ActivityRow>>;

    /// Returns the rows of the files that show a session to its tool, ordered by path.
    fn views(&self, session: &SessionId) -> Result<Vec<ViewRow>>;
    /// Returns the row of a shared file that belongs to the session that wrote the file last, among the sessions of
    /// this worktree on this machine.
    fn last_writer(&self, worktree: &str, path: &str) -> Result<Option<ViewRow>>;
    /// Records for these rows that their files are complete on disk. A row is confirmed only if the store still has the
    /// same version of it: otherwise the file may have had other content in between, and is written again. Write
    /// journals are stored in any case.
    fn confirm_views(&mut self, rows: &[ViewRow], patience: Duration) -> Result<()>;
    /// Stores the write journals of these rows, all or none, and nothing else of the rows. If a row was replaced, the
    /// newer row stays. Does not wait for the turn, because no other process writes these files. The journals survive
    /// the end of the process, but not necessarily a power cut.
    fn note_writes(&mut self, rows: &[ViewRow]) -> Result<()>;

    /// Rewrites a session's history; nothing else changes stored events. `answers` is called with every stored answer,
    /// and returns a replacement if the answer must change.
    fn rewrite(&mut self, rewrite: &Rewrite, answers: &dyn Fn(&str) -> Option<String>) -> Result<()>;
    /// Stores histories written by other replicas, with their definitions and contents.
    fn take_histories(&mut self, arrived: &Arrived) -> Result<()>;
    /// Returns the parts of histories that came from other replicas, ordered by session id.
    fn arrivals(&self) -> Result<Vec<Arrival>>;
    /// Returns the newest arrival of a session; `None` if no part of the session came from another replica.
    fn arrival(&self, id: &SessionId) -> Result<Option<Arrival>> {
        Ok(self.arrivals()?.into_iter().find(|arrival| arrival.session == *id))
    }
    /// Seals all events of those of the given sessions that have no chain yet, and changes nothing else.
    fn seal_histories(&mut self, ids: &[SessionId], patience: Duration) -> Result<()>;
    /// Erases replaced content from the disk. Returns false if some of it may still be on the disk, because another
    /// process is reading.
    fn erase(&mut self, patience: Duration) -> Result<bool>;

    fn info(&self) -> Result<Info>;
    /// Writes a consistent copy of the store. Others may keep writing meanwhile.
    fn backup(&self, to: &Path) -> Result<()>;
    /// Returns the defects of the store itself, one line for each.
    fn check(&self) -> Result<Vec<String>>;
}
