//! The turn to write: a lock on the project's row until the commit. Presence and activity lock a row of their own.

use super::append::Plan;
use super::seen::{Answers, Counters};
use super::values::values;
use super::wire::{Sent, Step};
use super::{PostgresStore, Scope};
use crate::{Batch, Error, Result};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

/// The server ends a transaction that holds the turn and is silent for this long: its client was cut off.
const LONGEST_SILENCE: &str = "15s";

/// This process's turn to write: an open transaction that holds the project's row.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) counters: Counters,
    /// Something was written that must be committed when the turn ends.
    pub(super) is_written: bool,
    /// Nobody else changes the project meanwhile, so each question is asked once.
    pub(super) seen: RefCell<Answers>,
}

/// Statements that begin a transaction and lock this project's row. Settings are made for the transaction only, because
/// a pooler may give the connection to another client after it.
pub(super) fn begin(project: i32, patience: Duration, must_sync: bool) -> String {
    let sync = if must_sync { "SET LOCAL synchronous_commit=on;" } else { "" };
    format!("BEGIN;{}{sync}SELECT * FROM leftoff.take({project})", limits(patience))
}

fn limits(patience: Duration) -> String {
    let patience = patience.as_millis().clamp(1, 3_600_000);
    format!(
        "SET LOCAL lock_timeout='{patience}ms';SET LOCAL statement_timeout='{}ms';\
         SET LOCAL idle_in_transaction_session_timeout='{LONGEST_SILENCE}';",
        patience + 15_000
    )
}

impl PostgresStore {
    pub(super) fn take(&mut self, patience: Duration) -> Result<()> {
        if self.turn.is_some() {
            return Ok(());
        }
        if !self.writable {
            return Err(Error::ReadOnly { path: self.wire.address.place.clone().into() });
        }
        let sql = begin(self.project, patience, self.must_sync);
        let ask = self.wire.ask();
        let taken = self.wire.wait(async { ask.plainly(&sql).await });
        let rows = match taken {
            Ok(rows) => rows,
            Err(stop) => {
                self.roll_back();
                return Err(self.wire.failure("waiting for the turn", stop).after(patience));
            }
        };
        let number = |column: usize| rows.first().and_then(|row| row.get(column)?.parse().ok());
        let (Some(cursor), Some(numbers), Some(signs)) = (number(0), number(1), number(2)) else {
            self.roll_back();
            return Err(Error::Missing { path: self.wire.address.place.clone().into() });
        };
        let counters = Counters { cursor, numbers, signs };
        let seen = self.remembered.take().filter(|(then, _)| *then == counters).map(|(_, seen)| seen);
        let seen = RefCell::new(seen.unwrap_or_default());
        self.turn = Some(Turn { counters, is_written: false, seen });
        Ok(())
    }

    /// The batch is stored and the turn over. The next turn need not ask for what this one has seen and stored.
    pub(super) fn remember(&mut self, batch: &Batch, plan: &Plan) {
        let Some(turn) = self.turn.take().filter(|turn| !turn.is_written) else { return };
        let events: usize = batch.streams.iter().map(|stream| stream.events.len()).sum();
        let counters = Counters {
            cursor: turn.counters.cursor + events as u64,
            numbers: turn.counters.numbers.max(plan.numbers.unsigned_abs()),
            signs: turn.counters.signs + u64::from(!batch.bindings.is_empty()),
        };
        self.remembered = Some((counters, turn.seen.into_inner().after(batch, plan, &self.machine)));
    }

    /// Asks the server, unless this turn has the answer already.
    pub(super) fn once_a_turn<K: Ord, T: Clone>(
        &self,
        of: impl Fn(&mut Answers) -> &mut BTreeMap<K, T>,
        key: K,
        ask: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let Some(turn) = &self.turn else { return ask() };
        if let Some(known) = of(&mut turn.seen.borrow_mut()).get(&key) {
            return Ok(known.clone());
        }
        let answer = ask()?;
        of(&mut turn.seen.borrow_mut()).insert(key, answer.clone());
        Ok(answer)
    }

    pub(super) fn give_back(&mut self) {
        let Some(turn) = self.turn.take() else { return };
        if turn.is_written {
            let ask = self.wire.ask();
            let _ = self.wire.wait(async { ask.plainly("COMMIT").await });
        } else {
            self.roll_back();
            self.remembered = Some((turn.counters, turn.seen.into_inner()));
        }
    }

    pub(super) fn roll_back(&mut self) {
        self.turn = None;
        if !self.wire.is_closed() {
            let ask = self.wire.ask();
            let _ = self.wire.wait(async { ask.plainly("ROLLBACK").await });
        }
    }

    /// Writes something beside the log, which a crash may lose. Within a turn, it is committed with the turn.
    pub(super) fn beside<T>(
        &mut self,
        doing: &str,
        patience: Duration,
        work: impl AsyncFnOnce(Scope<'_>) -> Step<T>,
    ) -> Result<T> {
        if !self.writable {
            return Err(Error::ReadOnly { path: self.wire.address.place.clone().into() });
        }
        let (open, keep, undo) = match self.turn {
            Some(_) => ("SAVEPOINT beside".to_owned(), "RELEASE beside", "ROLLBACK TO beside"),
            None => {
                (format!("BEGIN;{}SET LOCAL synchronous_commit=off", limits(patience)), "COMMIT", "ROLLBACK")
            }
        };
        let scope = self.scope();
        let done = self.wire.wait(async {
            scope.ask.plainly(&open).await?;
            count_sign(scope).await?;
            let done = work(scope).await?;
            scope.ask.plainly(keep).await?;
            Ok(done)
        });
        match done {
            Ok(done) => {
                if let Some(turn) = &mut self.turn {
                    turn.is_written = true;
                    turn.seen.take();
                }
                Ok(done)
            }
            Err(stop) => {
                let failed = self.wire.failure(doing, stop).after(patience);
                if !self.wire.is_closed() {
                    let ask = self.wire.ask();
                    let _ = self.wire.wait(async { ask.plainly(undo).await });
                }
                Err(failed)
            }
        }
    }
}

/// Comes first in every write beside the log: writers queue for this row, and so cannot deadlock on later ones.
pub(super) fn count_sign(scope: Scope<'_>) -> Sent<'_> {
    let sql = "UPDATE leftoff.signs SET counter=counter+1 WHERE project=$1";
    Box::pin(async move { scope.ask.change(sql, values![scope.project]).await })
}
