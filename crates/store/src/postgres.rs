//! The store on a PostgreSQL server, for a team. Knows SQL and the connection, but not the content of events and
//! snapshots. The client library is asynchronous: every method waits for the server's answer, within a time limit.

mod activity;
mod address;
mod agents;
mod answer_cache;
mod append;
mod columns;
mod commit_outcome;
mod commit_statement;
mod histories;
mod items;
mod keys;
mod list;
mod local_journal;
mod migrations;
mod open;
mod queries;
mod rewrite;
mod session_rows;
mod time_limits;
mod tls;
mod turn;
mod upkeep;
mod wire;

pub use address::{has_password, is_postgres};
pub use migrations::schema;
pub use open::Opening;

use crate::chain::Chain;
use crate::{
    ActivityRow, AgentRow, Arrival, Arrived, Batch, Change, Error, EventRow, Filter, Info, ItemFilter,
    ItemRow, KeyRow, Listed, Loaded, ReadyQuery, Result, Rewrite, Store, Trace, ViewRow,
};
use answer_cache::{Answers, Counters};
use columns::{signed, unsigned, values};
use jiff::Timestamp;
use local_journal::Local;
use model::id::{ItemId, SessionId};
use std::path::Path;
use std::time::Duration;
use time_limits::PATIENCE;
use turn::Turn;
use wire::{Ask, Wire};

/// A project's sessions on a server.
#[derive(Debug)]
pub struct PostgresStore {
    wire: Wire,
    project: i32,
    machine: String,
    local: Local,
    writable: bool,
    /// True if the server acknowledges a change before it is on disk. A transaction can then request a sync.
    must_sync: bool,
    /// True if a statement without a transaction of its own would not run as this program requires.
    must_begin: bool,
    time: Timestamp,
    turn: Option<Turn>,
    /// The number of coming turns that take the lock at their start, because another process wrote recently.
    locked_turns: u32,
    /// The answers that the last turn read, and the project's counters at its end.
    remembered: Option<(Counters, Answers)>,
}

/// The connection for a statement, and the project to which the statement is limited.
#[derive(Clone, Copy)]
struct Scope<'a> {
    ask: Ask<'a>,
    project: i32,
    machine: &'a str,
}

impl PostgresStore {
    pub fn open(opening: &Opening<'_>) -> Result<Self> {
        open::open(opening)
    }

    /// Calls `work` within this process's turn. The turn ends afterwards, even if `work` fails.
    fn in_turn(&mut self, work: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        if self.turn.is_none() {
            self.take_with_lock(PATIENCE)?;
        }
        let done = work(self);
        if self.turn.is_some() {
            self.roll_back();
        }
        done
    }

    /// Returns the rows of the local journal whose change the server has stored, the newest row of each file.
    fn views_kept(&self, session: &SessionId) -> Result<Vec<ViewRow>> {
        let written = self.local.views(session)?;
        if written.is_empty() {
            return Ok(Vec::new());
        }
        let versions: Vec<i64> = written.iter().map(|(_, event, _)| signed(*event)).collect();
        let scope = self.scope();
        let kept: Vec<(u64, Vec<u8>)> = self.wire.run("reading the records of written files", async {
            let sql = format!(
                "SELECT version,link FROM leftoff.events WHERE project=$1 AND session={} AND version=ANY($3)",
                queries::OF_ID
            );
            let rows = scope.ask.rows(&sql, values![scope.project, session.as_str(), versions]).await?;
            rows.iter().map(|row| Ok((unsigned(row, 0)?, row.try_get(1)?))).collect()
        })?;
        let counts =
            |event: u64, link: &[u8]| kept.iter().any(|(version, kept)| *version == event && kept == link);
        let mut views: Vec<ViewRow> = Vec::new();
        for (view, event, link) in written {
            if counts(event, &link) && views.last().is_none_or(|last| last.path != view.path) {
                views.push(view);
            }
        }
        Ok(views)
    }
}

impl Store for PostgresStore {
    fn take_turn(&mut self, patience: Duration) -> Result<()> {
        self.take(patience)
    }

    fn give_turn_back(&mut self) {
        self.give_back();
    }

    fn is_turn_current(&mut self) -> Result<bool> {
        self.is_current()
    }

    fn append(&mut self, batch: &Batch) -> Result<()> {
        if crate::lose_on_purpose::loses(batch) {
            self.give_back();
            return Ok(());
        }
        self.in_turn(|store| store.append_in_turn(batch))
    }

    fn load(&self, id: &SessionId) -> Result<Option<Loaded>> {
        let ask = || self.wire.run("loading a session", queries::load(self.scope(), id));
        let kept = self.once_a_turn(|seen| &mut seen.sessions, id.clone(), ask)?;
        Ok(kept.map(|kept| kept.loaded))
    }

    fn which_exist(&self, ids: &[&SessionId]) -> Result<Vec<bool>> {
        self.wire.run("looking for sessions", queries::which_exist(self.scope(), ids))
    }

    fn events(&self, id: &SessionId, after: u64, limit: Option<usize>) -> Result<Vec<EventRow>> {
        self.wire.run("reading events", queries::events(self.scope(), id, after, limit))
    }

    fn chain(&self, id: &SessionId) -> Result<Chain> {
        self.wire.run("reading a session's chain", queries::chain(self.scope(), id))
    }

    fn definition(&self, hash: &str) -> Result<Option<String>> {
        self.wire.run("reading a definition", queries::definition(self.scope(), hash))
    }

    fn hashes(&self) -> Result<(Vec<String>, Vec<String>)> {
        self.wire.run("listing definitions and contents", queries::hashes(self.scope()))
    }

    fn keys(&self) -> Result<Vec<KeyRow>> {
        self.wire.run("listing keys", queries::keys(self.scope()))
    }

    fn content(&self, hash: &str) -> Result<Option<Vec<u8>>> {
        self.wire.run("reading a file's content", queries::content(self.scope(), hash))
    }

    fn active(&self, worktree: &str) -> Result<Option<SessionId>> {
        let ask = || self.wire.run("looking for the active session", queries::active(self.scope(), worktree));
        self.once_a_turn(|seen| &mut seen.active, worktree.to_owned(), ask)
    }

    fn list(&self, filter: &Filter) -> Result<Vec<Listed>> {
        self.wire.run("listing sessions", list::list(self.scope(), filter))
    }

    fn with_prefix(&self, prefix: &str, limit: usize) -> Result<Vec<SessionId>> {
        self.wire.run("looking for an id", queries::with_prefix(self.scope(), prefix, limit))
    }

    fn with_number(&self, number: u64) -> Result<Option<SessionId>> {
        self.wire.run("looking for a number", queries::with_number(self.scope(), number))
    }

    fn recall(&self, key: &str, since: Timestamp) -> Result<Option<KeyRow>> {
        self.wire.run("looking for a key", queries::recall(self.scope(), key, since))
    }

    fn changes(&self, after: u64, limit: usize) -> Result<Vec<Change>> {
        self.wire.run("reading changes", queries::changes(self.scope(), after, limit))
    }

    fn cursor(&self) -> Result<u64> {
        self.wire.run("looking for the newest event", queries::cursor(self.scope()))
    }

    fn change_counter(&self) -> Result<u64> {
        self.wire.run("looking for changes", queries::change_counter(self.scope()))
    }

    fn time(&self) -> Option<Timestamp> {
        Some(self.time)
    }

    fn machine_name(&self, machine: &str) -> Result<Option<String>> {
        self.wire.run("looking for a machine", queries::machine_name(self.scope(), machine))
    }

    fn agents(&self, worktree: Option<&str>) -> Result<Vec<AgentRow>> {
        let ask = || self.wire.run("listing agents", agents::all(self.scope(), worktree));
        self.once_a_turn(|seen| &mut seen.agents, worktree.map(ToOwned::to_owned), ask)
    }

    fn agent(&self, agent: &str, agent_session: &str) -> Result<Option<AgentRow>> {
        self.wire.run("looking for an agent session", agents::one(self.scope(), agent, agent_session))
    }

    fn see_agent(&mut self, row: &AgentRow, patience: Duration) -> Result<()> {
        self.beside("saving an agent session", patience, async |scope| agents::see(scope, row).await)
    }

    fn forget_agents(&mut self, gone: &[(String, String)], patience: Duration) -> Result<()> {
        if gone.is_empty() {
            return Ok(());
        }
        self.beside("forgetting agents", patience, async |scope| agents::forget(scope, gone).await)
    }

    fn item(&self, session: &SessionId, id: &ItemId) -> Result<Option<ItemRow>> {
        self.wire.run("looking for an item", items::one(self.scope(), session, id))
    }

    fn items(&self, session: &SessionId, filter: &ItemFilter) -> Result<Vec<ItemRow>> {
        self.wire.run("listing items", items::list(self.scope(), session, filter))
    }

    fn ready_items(&self, session: &SessionId, query: &ReadyQuery<'_>) -> Result<Vec<ItemRow>> {
        self.wire.run("looking for ready items", items::ready(self.scope(), session, query))
    }

    fn held_items(&self, session: &SessionId, holder: &str) -> Result<Vec<ItemRow>> {
        self.wire.run("looking for held items", items::held(self.scope(), session, holder))
    }

    fn dependents(&self, session: &SessionId, id: &ItemId) -> Result<Vec<ItemRow>> {
        self.wire.run("looking for dependent items", items::dependents(self.scope(), session, id))
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
        self.beside("saving activity", patience, async |scope| activity::record(scope, session, rows).await)
    }

    fn trace(&mut self, trace: &Trace, patience: Duration) -> Result<bool> {
        self.beside("storing a hook's report", patience, async |scope| activity::trace(scope, trace).await)
    }

    fn activity(&self, session: &SessionId, limit: usize) -> Result<Vec<ActivityRow>> {
        self.wire.run("reading activity", activity::newest(self.scope(), session, limit))
    }

    fn views(&self, session: &SessionId) -> Result<Vec<ViewRow>> {
        self.views_kept(session)
    }

    fn last_writer(&self, worktree: &str, path: &str) -> Result<Option<ViewRow>> {
        let writers = self.local.writers(path)?;
        if writers.is_empty() {
            return Ok(None);
        }
        let scope = self.scope();
        let found: Vec<String> = self.wire.run("reading the records of written files", async {
            let sql = "SELECT id FROM leftoff.sessions \
                       WHERE project=$1 AND worktree=$2 AND machine=$3 AND id=ANY($4)";
            let values = values![scope.project, worktree, scope.machine, writers];
            let rows = scope.ask.rows(sql, values).await?;
            rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
        })?;
        let Some(Ok(session)) = found.first().map(|id| SessionId::parse(id)) else { return Ok(None) };
        Ok(self.views_kept(&session)?.into_iter().find(|view| view.path == path))
    }

    fn confirm_views(&mut self, rows: &[ViewRow], _patience: Duration) -> Result<()> {
        self.local.confirm_all(rows)
    }

    fn note_writes(&mut self, rows: &[ViewRow]) -> Result<()> {
        self.local.note_all(rows)
    }

    fn rewrite(&mut self, rewrite: &Rewrite, answers: &dyn Fn(&str) -> Option<String>) -> Result<()> {
        self.in_turn(|store| store.rewrite_in_turn(rewrite, answers))
    }

    fn take_histories(&mut self, arrived: &Arrived) -> Result<()> {
        self.in_turn(|store| store.take_histories_in_turn(arrived))
    }

    fn arrivals(&self) -> Result<Vec<Arrival>> {
        self.wire.run("reading the origins of sessions", histories::arrivals(self.scope()))
    }

    /// Does nothing: sessions on a server always have a chain.
    fn seal_histories(&mut self, _ids: &[SessionId], _patience: Duration) -> Result<()> {
        Ok(())
    }

    fn erase(&mut self, _patience: Duration) -> Result<bool> {
        self.free_space()
    }

    fn info(&self) -> Result<Info> {
        let address = &self.wire.address;
        self.wire.run(
            "reading the store's details",
            upkeep::describe(self.scope(), &address.schema, &address.place),
        )
    }

    fn backup(&self, to: &Path) -> Result<()> {
        Err(Error::Engine {
            doing: format!("copying the store to {}", to.display()),
            why: "a server is backed up with pg_dump; leftoff store copy writes a SQLite store".to_owned(),
        })
    }

    fn check(&self) -> Result<Vec<String>> {
        self.wire.run("checking the store", upkeep::check(self.scope()))
    }
}
