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
mod rows;
mod sqlite;
mod uncommitted;

pub use error::{Error, Result};
pub use memory::MemoryStore;
#[cfg(feature = "postgres")]
pub use postgres::{Opening, PostgresStore, has_password, is_postgres, schema as postgres_schema};
pub use replica_rows::*;
pub use rows::*;
pub use sqlite::{Access, SqliteStore};
pub use uncommitted::{LaidOver, Make};

use chain::Chain;
use model::id::{ItemId, SessionId};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// The interface between the engine and a store.
pub trait Store {
    /// Waits for this process's turn to write, held until the next `append`, `give_turn_back` or drop.
    /// Loading, deciding and appending within one turn cannot conflict with another writer, except in a store that
    /// believes what it read last and checks that with the append.
    fn take_turn(&mut self, patience: Duration) -> Result<()>;
    fn give_turn_back(&mut self);
    /// True if what was read within this turn is still what is stored. Ask before a decision ends the turn without an
    /// append.
    fn is_turn_current(&mut self) -> Result<bool> {
        Ok(true)
    }

    /// Commits the whole batch durably, or nothing. Takes the turn if it is not held, and gives it back.
    fn append(&mut self, batch: &Batch) -> Result<()>;

    fn load(&self, id: &SessionId) -> Result<Option<Loaded>>;
    /// For each id, whether such a session exists.
    fn which_exist(&self, ids: &[&SessionId]) -> Result<Vec<bool>> {
        ids.iter().map(|id| Ok(self.load(id)?.is_some())).collect()
    }
    /// Events after this version, oldest first.
    fn events(&self, id: &SessionId, after: u64, limit: Option<usize>) -> Result<Vec<EventRow>>;
    /// The hash chain over a session's events; empty if the session does not exist.
    fn chain(&self, id: &SessionId) -> Result<Chain>;
    fn definition(&self, hash: &str) -> Result<Option<String>>;
    /// Hashes of all definitions that are kept, and of all files whose content is.
    fn hashes(&self) -> Result<(Vec<String>, Vec<String>)> {
        Ok((Vec::new(), Vec::new()))
    }
    /// Every key, the oldest first.
    fn keys(&self) -> Result<Vec<KeyRow>> {
        Ok(Vec::new())
    }
    /// The content stored under this hash, if any.
    fn content(&self, hash: &str) -> Result<Option<Vec<u8>>>;
    /// The one session of this worktree that is active and not parallel.
    fn active(&self, worktree: &str) -> Result<Option<SessionId>>;
    /// The index row of the session that `active` names.
    fn active_row(&self, worktree: &str) -> Result<Option<SessionRow>> {
        let Some(id) = self.active(worktree)? else { return Ok(None) };
        Ok(self.load(&id)?.map(|loaded| loaded.row))
    }
    /// Sessions, most recently changed first: in the order of commits, not by timestamps.
    fn list(&self, filter: &Filter) -> Result<Vec<Listed>>;
    /// Ids with this prefix, ignoring case; at most `limit`, shortest first.
    fn with_prefix(&self, prefix: &str, limit: usize) -> Result<Vec<SessionId>>;
    fn with_number(&self, number: u64) -> Result<Option<SessionId>>;
    /// The answer stored under this key, if it was used after `since`.
    fn recall(&self, key: &str, since: jiff::Timestamp) -> Result<Option<KeyRow>>;
    /// Events of all sessions after a cursor, in the store's order.
    fn changes(&self, after: u64, limit: usize) -> Result<Vec<Change>>;
    /// Sessions with events after a cursor, and the cursor of the newest event.
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
    /// Differs from the last answer when somebody else has changed something since: events, agents or activity.
    fn change_counter(&self) -> Result<u64> {
        self.cursor()
    }
    /// The store's own time when it was opened, where a server has one that all machines share.
    fn time(&self) -> Option<jiff::Timestamp> {
        None
    }

    /// The name of a machine, for sessions on other machines.
    fn machine_name(&self, _machine: &str) -> Result<Option<String>> {
        Ok(None)
    }

    /// Agent sessions seen in this worktree, or in all of them.
    fn agents(&self, worktree: Option<&str>) -> Result<Vec<AgentRow>>;
    fn agent(&self, agent: &str, agent_session: &str) -> Result<Option<AgentRow>>;
    /// Inserts or refreshes an agent's row. An existing binding stays unless the row names another one.
    fn see_agent(&mut self, row: &AgentRow, patience: Duration) -> Result<()>;
    fn forget_agents(&mut self, gone: &[(String, String)], patience: Duration) -> Result<()>;

    /// An item by its id, ignoring case.
    fn item(&self, session: &SessionId, id: &ItemId) -> Result<Option<ItemRow>>;
    /// Items of a session, in order.
    fn items(&self, session: &SessionId, filter: &ItemFilter) -> Result<Vec<ItemRow>>;
    /// Ready items that nobody else holds, in order.
    fn ready_items(&self, session: &SessionId, query: &ReadyQuery<'_>) -> Result<Vec<ItemRow>>;
    /// Items leased by this holder, including expired leases, in order.
    fn held_items(&self, session: &SessionId, holder: &str) -> Result<Vec<ItemRow>>;
    /// Items that depend on this one, in order.
    fn dependents(&self, session: &SessionId, id: &ItemId) -> Result<Vec<ItemRow>>;

    /// Records touched files and executed commands outside the log: no version changes, nothing conflicts. A
    /// repeated entry increases its count and gets the newer time; the newest `KEPT_ACTIVITIES` of each
    /// session are kept. Entries for unknown sessions are ignored.
    fn record_activity(
        &mut self,
        session: &SessionId,
        rows: &[ActivityRow],
        patience: Duration,
    ) -> Result<()>;
    /// Records a hook's observations. False if it was recorded before, or if the agent's row changed since
    /// the decision.
    fn trace(&mut self, trace: &Trace, patience: Duration) -> Result<bool>;
    /// Activity of a session, newest first.
    fn activity(&self, session: &SessionId, limit: usize) -> Result<Vec<ActivityRow>>;

    /// The files that show a session, by path.
    fn views(&self, session: &SessionId) -> Result<Vec<ViewRow>>;
    /// The row of the session of this worktree, on this machine, that last wrote a shared file.
    fn last_writer(&self, worktree: &str, path: &str) -> Result<Option<ViewRow>>;
    /// Confirms that files reached their places, as far as the store still expects these rows, and stores them
    /// from now on. The same bytes from another version are written again: something else may have been there
    /// in between. The write journals are stored in any case.
    fn confirm_views(&mut self, rows: &[ViewRow], patience: Duration) -> Result<()>;
    /// Stores the write journals of these rows, all or none, and nothing else of them. A file that has another
    /// row by now keeps that row. Waits for no turn: whoever writes the files is the only one to note that.
    /// Survives the process, but not necessarily a power cut.
    fn note_writes(&mut self, rows: &[ViewRow]) -> Result<()>;

    /// Rewrites a session's history: the only way to change stored events. `answers` is called with every
    /// stored answer and returns its replacement, if it needs one.
    fn rewrite(&mut self, rewrite: &Rewrite, answers: &dyn Fn(&str) -> Option<String>) -> Result<()>;
    /// Stores histories written by other replicas, with the definitions and contents that they name.
    fn take_histories(&mut self, arrived: &Arrived) -> Result<()>;
    /// Sessions that came from other replicas, in order of id.
    fn arrivals(&self) -> Result<Vec<Arrival>>;
    /// The newest arrival of this session, if it came from another replica.
    fn arrival(&self, id: &SessionId) -> Result<Option<Arrival>> {
        Ok(self.arrivals()?.into_iter().find(|arrival| arrival.session == *id))
    }
    /// Seals those of these sessions that were last changed before chains existed. Otherwise changes nothing.
    fn seal_histories(&mut self, ids: &[SessionId], patience: Duration) -> Result<()>;
    /// Erases replaced content from the disk. False if a reader is active, so that it may still be found
    /// there.
    fn erase(&mut self, patience: Duration) -> Result<bool>;

    fn info(&self) -> Result<Info>;
    /// A consistent copy while others keep writing.
    fn backup(&self, to: &Path) -> Result<()>;
    /// Defects of the store itself, one line each.
    fn check(&self) -> Result<Vec<String>>;
}
