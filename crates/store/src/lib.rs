//! Where sessions live: one trait, the engines behind it. Never decides anything, and never reads the clock.

mod batch;
pub mod chain;
#[cfg(any(test, feature = "contract"))]
pub mod contract;
mod error;
mod laid_over;
mod memory;
mod migrate;
mod record;
mod sqlite;

pub use error::{Error, Result};
pub use laid_over::{LaidOver, Make};
pub use memory::MemoryStore;
pub use record::*;
pub use sqlite::{Access, SqliteStore};

use chain::Chain;
use model::id::{ItemId, SessionId};
use std::path::Path;
use std::time::Duration;

/// What the engine asks of a store.
pub trait Store {
    /// Waits for this process's turn to write. Held until the next `append`, `give_turn_back` or drop.
    /// Loading, deciding and appending inside one turn meets no other writer.
    fn take_turn(&mut self, patience: Duration) -> Result<()>;
    fn give_turn_back(&mut self);

    /// Keeps the whole batch durably, or nothing. Takes the turn by itself when it is not held, and gives it back.
    fn append(&mut self, batch: &Batch) -> Result<()>;

    fn load(&self, id: &SessionId) -> Result<Option<Loaded>>;
    /// Whether there is a session of each of these ids.
    fn which_exist(&self, ids: &[&SessionId]) -> Result<Vec<bool>> {
        ids.iter().map(|id| Ok(self.load(id)?.is_some())).collect()
    }
    /// Events after this version, oldest first.
    fn events(&self, id: &SessionId, after: u64, limit: Option<usize>) -> Result<Vec<EventRow>>;
    /// The hash chain over a session's events; empty of a session that is not there.
    fn chain(&self, id: &SessionId) -> Result<Chain>;
    fn definition(&self, hash: &str) -> Result<Option<String>>;
    /// What was in a file of this hash, if it was kept.
    fn content(&self, hash: &str) -> Result<Option<Vec<u8>>>;
    /// The one session of this worktree that is active and not parallel.
    fn active(&self, worktree: &str) -> Result<Option<SessionId>>;
    /// Sessions, the one that changed last first: by the order in which the store took changes, not by their times.
    fn list(&self, filter: &Filter) -> Result<Vec<Listed>>;
    /// Ids that begin with this text, case ignored; at most `limit`, shortest first.
    fn with_prefix(&self, prefix: &str, limit: usize) -> Result<Vec<SessionId>>;
    fn with_number(&self, number: u64) -> Result<Option<SessionId>>;
    /// What was answered under this key, if it was used after `since`.
    fn recall(&self, key: &str, since: jiff::Timestamp) -> Result<Option<KeyRow>>;
    /// Events of all sessions after a cursor, in the store's order.
    fn changes(&self, after: u64, limit: usize) -> Result<Vec<Change>>;
    /// The cursor of the newest event; 0 in an empty store.
    fn cursor(&self) -> Result<u64>;

    /// Agent sessions seen in this worktree, or everywhere.
    fn agents(&self, worktree: Option<&str>) -> Result<Vec<AgentRow>>;
    fn agent(&self, agent: &str, agent_session: &str) -> Result<Option<AgentRow>>;
    /// Keeps or refreshes an agent's row; an existing binding stays unless the row names another one.
    fn see_agent(&mut self, row: &AgentRow, patience: Duration) -> Result<()>;
    fn forget_agents(&mut self, gone: &[(String, String)], patience: Duration) -> Result<()>;

    /// An item by its id, case ignored.
    fn item(&self, session: &SessionId, id: &ItemId) -> Result<Option<ItemRow>>;
    /// Items of a session, by place.
    fn items(&self, session: &SessionId, filter: &ItemFilter) -> Result<Vec<ItemRow>>;
    /// Items that are ready and that nobody else holds, by place.
    fn ready_items(&self, session: &SessionId, query: &ReadyQuery<'_>) -> Result<Vec<ItemRow>>;
    /// Items on which this holder has a lease, expired or not, by place.
    fn held_items(&self, session: &SessionId, holder: &str) -> Result<Vec<ItemRow>>;
    /// Items that depend on this one, by place.
    fn dependents(&self, session: &SessionId, id: &ItemId) -> Result<Vec<ItemRow>>;

    /// Keeps what was touched or run, beside the log: no version changes, nothing conflicts. The same thing again
    /// counts up and has the newer time; of each session the newest `KEPT_ACTIVITIES` stay. Of a session that does
    /// not exist nothing is kept.
    fn record_activity(
        &mut self,
        session: &SessionId,
        rows: &[ActivityRow],
        patience: Duration,
    ) -> Result<()>;
    /// Keeps what a hook saw. False: it was kept before, or more is known of the agent than it was decided on.
    fn trace(&mut self, trace: &Trace, patience: Duration) -> Result<bool>;
    /// The newest first.
    fn activity(&self, session: &SessionId, limit: usize) -> Result<Vec<ActivityRow>>;

    /// The files that show a session, by path.
    fn views(&self, session: &SessionId) -> Result<Vec<ViewRow>>;
    /// A file is in its place, if it is still to be what it is in this row; from now on this is what is kept of it. The
    /// same bytes of another version are to be put there again: something else may have been in between.
    fn confirm_view(&mut self, row: &ViewRow, patience: Duration) -> Result<()>;
    /// Replaces the journal of a file that has a row, and nothing else of that row. Survives the process, not
    /// necessarily a power cut.
    fn note_write(
        &mut self,
        session: &SessionId,
        path: &str,
        journal: &WriteJournal,
        patience: Duration,
    ) -> Result<()>;

    /// Puts other words into a session's history: the one way to change what was kept. `answers` is asked about every
    /// answer that a key has, and gives its other words if it needs any.
    fn rewrite(&mut self, rewrite: &Rewrite, answers: &dyn Fn(&str) -> Option<String>) -> Result<()>;
    /// Takes what was replaced off the disk. False: somebody is reading, and it may still be found there.
    fn erase(&mut self, patience: Duration) -> Result<bool>;

    fn info(&self) -> Result<Info>;
    /// A consistent copy while others go on writing.
    fn backup(&self, to: &Path) -> Result<()>;
    /// What is wrong with the store itself, one line a finding.
    fn check(&self) -> Result<Vec<String>>;
}
