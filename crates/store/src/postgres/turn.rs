//! The turn to write: a lock on the project's row until the commit. Presence and activity lock another row.

use super::answer_cache::{Answers, Counters};
use super::append::Plan;
use super::columns::{unsigned, values};
use super::time_limits::{LONGEST_SILENCE, STATEMENT_MILLISECONDS};
use super::wire::{Sent, Step};
use super::{PostgresStore, Scope};
use crate::{Batch, Error, Result};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

/// Starts a transaction in which each statement sees what was committed before it, whatever the server's default is.
pub(super) const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED;";

/// This process's turn to write. If it holds the lock, a transaction is open.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) counters: Counters,
    pub(super) lock: Lock,
    /// True if this turn wrote something. The end of the turn must then commit it.
    pub(super) is_written: bool,
    /// The answers read within this turn. Nobody else changes the project during the turn, so each question is asked
    /// only once.
    pub(super) seen: RefCell<Answers>,
}

/// The lock on the project's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lock {
    Held,
    /// The lock is not taken yet, which saves a round trip. Nobody else wrote recently, so this turn assumes that the
    /// counters are those of the last turn. The statement that stores the change checks the counters, after waiting for
    /// the lock at most this long.
    Later(Duration),
}

/// After another process has changed the project, this many turns take the lock at their start.
const LOCKED_TURNS: u32 = 16;

/// Returns the statements that start a transaction and lock this project's row. The settings are limited to the
/// transaction, because a pooler may give the connection to another client afterwards.
pub(super) fn begin(project: i32, patience: Duration, must_sync: bool) -> String {
    format!("{}SELECT * FROM leftoff.take({project})", begin_unlocked(patience, must_sync))
}

pub(super) fn begin_unlocked(patience: Duration, must_sync: bool) -> String {
    let sync = if must_sync { "SET LOCAL synchronous_commit=on;" } else { "" };
    format!("{BEGIN}{}{sync}", limits(patience))
}

/// A wait for the lock as the server takes it, which reads 0 as no limit.
pub(super) fn milliseconds(patience: Duration) -> i64 {
    i64::try_from(patience.as_millis()).unwrap_or(i64::MAX).clamp(1, 3_600_000)
}

fn limits(patience: Duration) -> String {
    let patience = milliseconds(patience);
    format!(
        "SET LOCAL lock_timeout='{patience}ms';SET LOCAL statement_timeout='{}ms';\
         SET LOCAL idle_in_transaction_session_timeout='{LONGEST_SILENCE}';",
        patience + STATEMENT_MILLISECONDS
    )
}

impl PostgresStore {
    pub(super) fn take(&mut self, patience: Duration) -> Result<()> {
        if self.turn.is_some() {
            return Ok(());
        }
        self.locked_turns = self.locked_turns.saturating_sub(1);
        if self.locked_turns == 0
            && let Some((counters, seen)) = self.remembered.take()
        {
            let lock = Lock::Later(patience);
            self.turn = Some(Turn { counters, lock, is_written: false, seen: RefCell::new(seen) });
            return Ok(());
        }
        self.take_with_lock(patience)
    }

    pub(super) fn take_with_lock(&mut self, patience: Duration) -> Result<()> {
        if !self.writable {
            return Err(Error::ReadOnly { path: self.wire.address.place.clone().into() });
        }
        let (counters, seen) = self.lock(patience)?;
        let seen = RefCell::new(seen);
        self.turn = Some(Turn { counters, lock: Lock::Held, is_written: false, seen });
        Ok(())
    }

    /// Takes the lock in a turn that started without it. Fails if another process has changed the project since then.
    pub(super) fn lock_now(&mut self) -> Result<()> {
        let Some(Turn { counters, lock: Lock::Later(patience), .. }) = self.turn else { return Ok(()) };
        let (found, _) = self.lock(patience)?;
        if let Some(turn) = &mut self.turn {
            turn.lock = Lock::Held;
        }
        if found == counters {
            return Ok(());
        }
        self.roll_back();
        Err(self.was_overtaken())
    }

    /// Ends a turn whose answers are outdated, and returns the error: another process changed the project.
    pub(super) fn was_overtaken(&mut self) -> Error {
        self.locked_turns = LOCKED_TURNS;
        self.remembered = None;
        Error::Overtaken
    }

    /// Returns true if the answers of a turn without the lock are still valid on the server.
    pub(super) fn is_current(&mut self) -> Result<bool> {
        let Some(Turn { counters, lock: Lock::Later(_), .. }) = self.turn else { return Ok(true) };
        let scope = self.scope();
        let is_current = self.wire.run("looking for changes", async {
            let sql = "SELECT cursor,numbers,coalesce((SELECT counter FROM leftoff.signs WHERE project=$1),0) \
                       FROM leftoff.projects WHERE project=$1";
            let row = scope.ask.row(sql, values![scope.project]).await?;
            let found =
                row.map(|row| Step::Ok((unsigned(&row, 0)?, unsigned(&row, 1)?, unsigned(&row, 2)?)));
            let found: Option<(u64, u64, u64)> = found.transpose()?;
            Ok(found == Some((counters.cursor, counters.numbers, counters.signs)))
        })?;
        if !is_current {
            self.turn = None;
            let _ = self.was_overtaken();
        }
        Ok(is_current)
    }

    /// Starts a transaction that holds the lock. Returns the current counters, and the remembered answers if they are
    /// still valid.
    fn lock(&mut self, patience: Duration) -> Result<(Counters, Answers)> {
        let sql = begin(self.project, patience, self.must_sync);
        let ask = self.wire.ask();
        let taken = self.wire.wait(async { ask.plainly(&sql).await });
        let rows = match taken {
            Ok(rows) => rows,
            Err(stop) => {
                self.turn = None;
                self.roll_back();
                return Err(self.wire.failure("waiting for the turn", stop).after(patience));
            }
        };
        let number = |column: usize| rows.first().and_then(|row| row.get(column)?.parse().ok());
        let (Some(cursor), Some(numbers), Some(signs)) = (number(0), number(1), number(2)) else {
            self.turn = None;
            self.roll_back();
            return Err(Error::Missing { path: self.wire.address.place.clone().into() });
        };
        let counters = Counters { cursor, numbers, signs };
        let seen = self.remembered.take().filter(|(then, _)| *then == counters).map(|(_, seen)| seen);
        Ok((counters, seen.unwrap_or_default()))
    }

    /// Ends the turn after its batch was stored. The next turn can use the answers that this turn has read or stored.
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

    /// Returns the answer that was already received within this turn, or else asks the server.
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
        if let Lock::Later(_) = turn.lock {
            self.remembered = Some((turn.counters, turn.seen.into_inner()));
        } else if turn.is_written {
            let ask = self.wire.ask();
            let _ = self.wire.wait(async { ask.plainly("COMMIT").await });
        } else {
            self.roll_back();
            self.remembered = Some((turn.counters, turn.seen.into_inner()));
        }
    }

    pub(super) fn roll_back(&mut self) {
        let is_begun = self.turn.take().is_none_or(|turn| turn.lock == Lock::Held);
        if is_begun && !self.wire.is_closed() {
            let ask = self.wire.ask();
            let _ = self.wire.wait(async { ask.plainly("ROLLBACK").await });
        }
    }

    /// Writes something outside the log that may be lost in a crash. Within a turn, it is committed together with the
    /// turn.
    pub(super) fn beside<T>(
        &mut self,
        doing: &str,
        patience: Duration,
        work: impl AsyncFnOnce(Scope<'_>) -> Step<T>,
    ) -> Result<T> {
        if !self.writable {
            return Err(Error::ReadOnly { path: self.wire.address.place.clone().into() });
        }
        self.lock_now()?;
        let (open, keep, undo) = match self.turn {
            Some(_) => ("SAVEPOINT beside".to_owned(), "RELEASE beside", "ROLLBACK TO beside"),
            None => {
                (format!("{BEGIN}{}SET LOCAL synchronous_commit=off", limits(patience)), "COMMIT", "ROLLBACK")
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
                // The write has changed the counters, so the remembered ones are outdated.
                self.remembered = None;
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

/// Increases the counter of changes outside the log. This is the first statement of every such write: writers queue for
/// this row, and so cannot deadlock on later rows.
pub(super) fn count_sign(scope: Scope<'_>) -> Sent<'_> {
    let sql = "UPDATE leftoff.signs SET counter=counter+1 WHERE project=$1";
    Box::pin(async move { scope.ask.change(sql, values![scope.project]).await })
}
