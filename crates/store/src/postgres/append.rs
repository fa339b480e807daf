//! Stores a batch: reads everything that it needs at once, checks for conflicts, and then sends all statements together
//! with the commit. The caller holds the turn, so nothing changes in between.

use super::columns::{first, folded, optional_hash, signed, unsigned, values};
use super::commit_statement::{Growth, Unlocked, commit, keep};
use super::keys::{is_used, keep_key};
use super::local_journal::Intent;
use super::session_rows::{as_stored, is_same};
use super::turn::{Lock, begin_unlocked, count_sign};
use super::wire::{Sent, Step, Stop, pipelined};
use super::{PostgresStore, Scope, Turn, agents, items, session_rows};
use crate::batch_rules::{check_shape, item_rows, malformed, takes_the_worktree};
use crate::chain::{Hash, Seal, seal_new};
use crate::{Batch, Error, ItemRow, KeyRow, Result, SessionRow, ViewRow};
use model::id::SessionId;
use std::collections::BTreeMap;

/// The columns of a stored session that storing a batch needs.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) id: String,
    pub(super) number: i64,
    pub(super) version: u64,
    pub(super) head: Option<Hash>,
    /// The whole row, if it was read within this turn.
    pub(super) row: Option<SessionRow>,
}

/// A session of the batch as it is before the batch is stored: its number and the head of its chain.
pub(super) struct Line {
    pub(super) number: i64,
    pub(super) is_new: bool,
    pub(super) head: Option<Hash>,
    /// True if the batch changes only the version and the time in the session's row.
    pub(super) is_same: bool,
}

impl Line {
    pub(super) fn new(number: i64) -> Self {
        Self { number, is_new: true, head: None, is_same: false }
    }

    pub(super) fn of(known: &Known, after: &SessionRow, machine: &str) -> Self {
        let is_same = known.row.as_ref().is_some_and(|before| is_same(before, &as_stored(after, machine)));
        Self { number: known.number, is_new: false, head: known.head, is_same }
    }
}

impl PostgresStore {
    pub(super) fn append_in_turn(&mut self, batch: &Batch) -> Result<()> {
        check_shape(batch)?;
        // Without the lock, only a statement that changes a session and has no key checks the counters. Any other batch
        // must take the lock.
        if batch.streams.is_empty() || batch.key.is_some() {
            self.lock_now()?;
        }
        let Some(turn) = &self.turn else { return Err(Error::Busy { waited: std::time::Duration::ZERO }) };
        let scope = self.scope();
        let plan = self.wire.run("saving a change", look(scope, batch, turn))?;
        let intents = plan.intents(batch);
        self.local.intend(&intents)?;
        let lock = turn.lock;
        let changes = plan.changes(scope, batch);
        // A change that is one statement is a transaction by itself.
        let is_alone = lock != Lock::Held && changes.len() == 1 && !self.must_begin;
        let statements =
            if is_alone { changes } else { in_transaction(scope, lock, self.must_sync, changes) };
        let sent = self.wire.wait(pipelined(statements));
        if lock != Lock::Held && sent.as_ref().is_err_and(Stop::is_overtaken) {
            // The failed commit ended the transaction, and so the turn.
            self.turn = None;
            let _ = self.local.discard(&intents);
            return Err(self.was_overtaken());
        }
        let mark = plan.mark(batch);
        match self.settled("saving a change", sent.map(drop), &mark) {
            Ok(()) => {
                self.remember(batch, &plan);
                // The change is stored even if this update of the journal fails, because readers skip outdated rows of
                // the journal.
                let _ = self.local.carried_out(&intents);
                Ok(())
            }
            Err(error) => {
                if !matches!(error, Error::Unknown { .. }) {
                    let _ = self.local.discard(&intents);
                }
                Err(error)
            }
        }
    }
}

/// The rows that a batch will write.
pub(super) struct Plan {
    pub(super) lines: Vec<Line>,
    pub(super) seals: Vec<Vec<Seal>>,
    known: BTreeMap<String, Known>,
    cursor: u64,
    pub(super) numbers: i64,
    unlocked: Option<Unlocked>,
    /// The session that is at the front of lists already, if this turn knows it.
    front: Option<SessionId>,
}

async fn look(scope: Scope<'_>, batch: &Batch, turn: &Turn) -> Step<Plan> {
    if let Some(key) = &batch.key
        && is_used(scope, key).await?
    {
        return Err(Error::KeyTaken.into());
    }
    let mentioned = mentioned(batch);
    let seen = turn.seen.borrow().known(&mentioned);
    let known = match seen {
        Some(known) => known,
        None => known(scope, mentioned).await?,
    };
    let mut numbers = signed(turn.counters.numbers);
    let mut lines: Vec<Option<Line>> = batch.streams.iter().map(|_| None).collect();
    for takes in [false, true] {
        for (stream, line) in batch.streams.iter().zip(&mut lines) {
            if takes_the_worktree(&stream.row) != takes {
                continue;
            }
            let existing = known.get(&folded(stream.row.id.as_str()));
            let existing = checked(stream.expected, &stream.row, existing)?;
            *line = Some(if let Some(existing) = existing {
                Line::of(existing, &stream.row, scope.machine)
            } else {
                let asked = batch.numbers.get(&stream.row.id).copied();
                Line::new(free_number(scope, asked, &mut numbers).await?)
            });
        }
    }
    let lines: Vec<Line> = lines.into_iter().flatten().collect();
    refuse_second_active(scope, &batch.streams.iter().map(|s| &s.row).zip(&lines).collect::<Vec<_>>())
        .await?;
    let mut seals = Vec::with_capacity(lines.len());
    for (stream, line) in batch.streams.iter().zip(&lines) {
        seals.push(seal_new(line.head, &stream.events, batch.seals.get(&stream.row.id))?);
    }
    let unlocked = match turn.lock {
        Lock::Held => None,
        Lock::Later(patience) => Some(Unlocked { signs: turn.counters.signs, patience }),
    };
    let front = turn.seen.borrow().front.clone();
    let plan = Plan { lines, seals, known, cursor: turn.counters.cursor, numbers, unlocked, front };
    plan.refuse_strays(batch)?;
    Ok(plan)
}

/// Returns the ids of all sessions in a batch, in lower case.
fn mentioned(batch: &Batch) -> Vec<String> {
    let streams = batch.streams.iter().map(|stream| &stream.row.id);
    let replaced = batch.replace_items.iter().map(|replaced| &replaced.session);
    let of_items = batch.items.iter().map(|row| &row.session);
    let of_views = batch.views.iter().map(|row| &row.session);
    let bound = batch.bindings.iter().map(|binding| &binding.session);
    let all = streams.chain(replaced).chain(of_items).chain(of_views).chain(bound);
    let mut ids: Vec<String> = all.map(|id| folded(id.as_str())).collect();
    ids.sort();
    ids.dedup();
    ids
}

/// Returns the stored sessions with these ids, by id in lower case.
pub(super) async fn known(scope: Scope<'_>, ids: Vec<String>) -> Step<BTreeMap<String, Known>> {
    let mut known = BTreeMap::new();
    if ids.is_empty() {
        return Ok(known);
    }
    let sql = "SELECT id,number,version,head FROM leftoff.sessions WHERE project=$1 AND lower(id)=ANY($2)";
    for row in scope.ask.rows(sql, values![scope.project, ids]).await? {
        let id: String = row.try_get(0)?;
        let session = Known {
            number: row.try_get(1)?,
            version: unsigned(&row, 2)?,
            head: optional_hash(&row, 3)?,
            row: None,
            id,
        };
        known.insert(folded(&session.id), session);
    }
    Ok(known)
}

/// Returns the stored session of a row. Fails if another session has the id, or if the version is not the expected one.
pub(super) fn checked<'k>(
    expected: u64,
    row: &SessionRow,
    existing: Option<&'k Known>,
) -> Result<Option<&'k Known>> {
    match existing {
        None if expected == 0 => Ok(None),
        Some(existing) if expected == 0 || existing.id != row.id.as_str() => {
            let existing = SessionId::parse(&existing.id).unwrap_or_else(|_| row.id.clone());
            Err(Error::IdTaken { existing })
        }
        Some(existing) if existing.version == expected => Ok(Some(existing)),
        None | Some(_) => {
            let found = existing.map_or(0, |existing| existing.version);
            Err(Error::Conflict { session: row.id.clone(), expected, found })
        }
    }
}

/// Returns the requested number if it is free, otherwise the next number.
pub(super) async fn free_number(scope: Scope<'_>, asked: Option<u64>, newest: &mut i64) -> Step<i64> {
    if let Some(number) = asked.and_then(|number| i64::try_from(number).ok()).filter(|number| *number > 0) {
        let sql = "SELECT 1 FROM leftoff.sessions WHERE project=$1 AND number=$2";
        if number > *newest || scope.ask.row(sql, values![scope.project, number]).await?.is_none() {
            *newest = number.max(*newest);
            return Ok(number);
        }
    }
    *newest += 1;
    Ok(*newest)
}

/// Fails if a worktree of this machine would have two active sessions after the batch.
pub(super) async fn refuse_second_active(scope: Scope<'_>, rows: &[(&SessionRow, &Line)]) -> Step<()> {
    let takers: Vec<&(&SessionRow, &Line)> = rows.iter().filter(|(row, _)| takes_the_worktree(row)).collect();
    // If nothing but versions and times changes in the rows, each active session is still the only one of its worktree.
    if takers.iter().all(|(_, line)| line.is_same) {
        return Ok(());
    }
    for (place, (row, _)) in takers.iter().enumerate() {
        if takers[..place].iter().any(|(other, _)| other.worktree == row.worktree) {
            return Err(Error::ActiveTaken { worktree: row.worktree.clone() }.into());
        }
    }
    let worktrees: Vec<&str> = takers.iter().map(|(row, _)| row.worktree.as_str()).collect();
    let changed: Vec<i64> = rows.iter().map(|(_, line)| line.number).collect();
    let sql = "SELECT worktree FROM leftoff.sessions WHERE project=$1 AND worktree=ANY($2) AND lifecycle='active' \
               AND machine=$3 AND NOT parallel AND exclusive AND NOT(number=ANY($4))LIMIT 1";
    let values = values![scope.project, worktrees, scope.machine, changed];
    match first::<String>(&scope.ask.rows(sql, values).await?)? {
        None => Ok(()),
        Some(worktree) => Err(Error::ActiveTaken { worktree }.into()),
    }
}

impl Plan {
    /// Returns the number of a session that is already stored or that the batch creates.
    fn number_of(&self, batch: &Batch, id: &SessionId) -> Option<i64> {
        let of_stream = batch.streams.iter().zip(&self.lines).find(|(stream, _)| stream.row.id == *id);
        of_stream.map(|(_, line)| line.number).or_else(|| {
            let known = self.known.get(&folded(id.as_str())).filter(|known| known.id == id.as_str());
            known.map(|known| known.number)
        })
    }

    fn refuse_strays(&self, batch: &Batch) -> Result<()> {
        let is_there = |id: &SessionId| self.number_of(batch, id).is_some();
        if let Some(binding) = batch.bindings.iter().find(|binding| !is_there(&binding.session)) {
            return malformed(format!(
                "the batch binds an agent to session {}, which does not exist",
                binding.session
            ));
        }
        let replaced = batch.replace_items.iter().map(|replaced| &replaced.session);
        let mut of_items = replaced.chain(batch.items.iter().map(|row| &row.session));
        if let Some(session) = of_items.find(|id| !is_there(id)) {
            return malformed(format!("the batch has items of session {session}, which does not exist"));
        }
        match batch.views.iter().find(|view| !is_there(&view.session)) {
            None => Ok(()),
            Some(view) => {
                malformed(format!("the batch has a file of session {}, which does not exist", view.session))
            }
        }
    }

    /// Returns the rows of files that the batch stores, each with the last event of its session.
    fn intents<'b>(&self, batch: &'b Batch) -> Vec<Intent<'b>> {
        let last = |id: &SessionId| {
            let of_stream = batch.streams.iter().zip(&self.seals).find(|(stream, _)| stream.row.id == *id);
            let sealed = of_stream.and_then(|(stream, seals)| Some((stream.row.version, seals.last()?.link)));
            sealed.or_else(|| {
                let known = self.known.get(&folded(id.as_str()))?;
                Some((known.version, known.head?))
            })
        };
        let intent = |view: &'b ViewRow| {
            let (event, link) = last(&view.session).unwrap_or_default();
            Intent { view, event, link }
        };
        batch.views.iter().map(intent).collect()
    }

    /// Returns the row by which the server can be asked for the batch's change if the answer to the commit is lost.
    fn mark<'b>(&self, batch: &'b Batch) -> Mark<'b> {
        let of_stream = batch.streams.first().zip(self.seals.first());
        match (
            of_stream.and_then(|(stream, seals)| Some((stream, stream.events.first()?, seals.first()?))),
            &batch.key,
        ) {
            (Some((stream, event, seal)), _) => {
                Mark::Event { session: &stream.row.id, version: event.version, link: seal.link }
            }
            (None, Some(key)) => Mark::Key(key),
            (None, None) => Mark::None,
        }
    }

    fn changes<'f>(&'f self, scope: Scope<'f>, batch: &'f Batch) -> Vec<Sent<'f>> {
        let mut sent: Vec<Sent<'f>> = Vec::new();
        if let Some(key) = &batch.key {
            sent.extend(keep_key(scope, key));
        }
        for definition in &batch.definitions {
            let sql = "INSERT INTO leftoff.definitions AS d(project,hash,body)VALUES($1,$2,$3)\
                       ON CONFLICT(project,hash)DO UPDATE SET body=excluded.body WHERE d.body<>excluded.body";
            sent.push(Box::pin(async move {
                scope.ask.change(sql, values![scope.project, definition.hash, definition.body]).await
            }));
        }
        for content in &batch.contents {
            let sql = "INSERT INTO leftoff.contents(project,hash,body)VALUES($1,$2,$3)ON CONFLICT DO NOTHING";
            sent.push(Box::pin(async move {
                scope.ask.change(sql, values![scope.project, content.hash, content.body]).await
            }));
        }
        let turn = self.cursor + batch.streams.iter().map(|stream| stream.events.len() as u64).sum::<u64>();
        let mut cursor = self.cursor;
        for ((stream, line), seals) in batch.streams.iter().zip(&self.lines).zip(&self.seals) {
            if !line.is_same {
                sent.push(session_rows::keep(scope, &stream.row, line));
            }
            // A session that stays at the front keeps its place in the indexes, which saves the server a third of the work.
            let is_in_front = batch.streams.len() == 1 && self.front.as_ref() == Some(&stream.row.id);
            let growth =
                Growth::of(line, stream, seals, cursor, (!is_in_front).then_some(turn), self.numbers);
            sent.push(keep(scope, Growth { unlocked: self.unlocked, ..growth }));
            cursor += stream.events.len() as u64;
        }
        if !batch.bindings.is_empty() {
            sent.push(count_sign(scope));
        }
        for binding in &batch.bindings {
            sent.push(agents::bind(scope, binding));
        }
        for replaced in &batch.replace_items {
            if let Some(number) = self.number_of(batch, &replaced.session) {
                sent.extend(items::remove_all(scope, number));
            }
        }
        let mut by_session: BTreeMap<i64, Vec<&ItemRow>> = BTreeMap::new();
        for row in item_rows(batch) {
            if let Some(number) = self.number_of(batch, &row.session) {
                by_session.entry(number).or_default().push(row);
            }
        }
        for (number, rows) in &by_session {
            sent.extend(items::keep(scope, *number, rows));
        }
        sent
    }
}

/// The changes with their commit, preceded by the start of the transaction if the turn has none yet.
fn in_transaction<'f>(
    scope: Scope<'f>,
    lock: Lock,
    must_sync: bool,
    mut changes: Vec<Sent<'f>>,
) -> Vec<Sent<'f>> {
    if let Lock::Later(patience) = lock {
        let begin = begin_unlocked(patience, must_sync);
        changes.insert(0, Box::pin(async move { scope.ask.plainly(&begin).await.map(|_| 0) }));
    }
    changes.push(commit(scope));
    changes
}

/// The row that shows whether the server has stored the change of a batch.
pub(super) enum Mark<'b> {
    Event { session: &'b SessionId, version: u64, link: Hash },
    Key(&'b KeyRow),
    None,
}
