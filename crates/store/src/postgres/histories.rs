//! Stores histories from other replicas as they arrived. Decides nothing, and keeps the seals of the events.

use super::append::{Known, Line, Mark, checked, free_number, known, refuse_second_active};
use super::columns::{folded, hash, moment, nanoseconds, session_id, signed, unsigned, values};
use super::commit_statement::{Growth, commit, keep};
use super::turn::count_sign;
use super::wire::{Sent, Step, pipelined};
use super::{PostgresStore, Scope, Turn, items, session_rows};
use crate::batch_rules::{check_history, takes_the_worktree};
use crate::chain::{Given, Seal, seal};
use crate::{Arrival, Arrived, Error, ItemRow, Result, SessionRow, TakenHistory};
use model::id::SessionId;
use std::collections::BTreeMap;

/// The tables whose rows belong to a session.
const OF_SESSION: [&str; 6] = ["events", "snapshots", "activity", "arrivals", "items", "needs"];

impl PostgresStore {
    pub(super) fn take_histories_in_turn(&mut self, arrived: &Arrived) -> Result<()> {
        arrived.histories.iter().try_for_each(check_history)?;
        self.lock_now()?;
        let Some(turn) = &self.turn else { return Err(Error::Busy { waited: std::time::Duration::ZERO }) };
        let scope = self.scope();
        let taken = self.wire.run("storing a received history", look(scope, arrived, turn))?;
        let sent = self.wire.wait(pipelined(taken.statements(scope, arrived)));
        let mark = match (arrived.histories.first(), taken.lines.first()) {
            (Some(history), Some((_, seals))) => {
                let link = seals.last().map(|seal| seal.link).unwrap_or_default();
                Mark::Event { session: &history.row.id, version: history.row.version, link }
            }
            _ => Mark::None,
        };
        self.settled("storing a received history", sent.map(drop), &mark)?;
        self.turn = None;
        for (id, _) in &arrived.gone {
            self.local.forget(id)?;
        }
        Ok(())
    }
}

/// The rows to store: numbers, chains and seals for each history, and the numbers of the sessions to remove.
struct Taken {
    lines: Vec<(Line, Vec<Seal>)>,
    gone: Vec<i64>,
    cursor: u64,
    numbers: i64,
}

async fn look(scope: Scope<'_>, arrived: &Arrived, turn: &Turn) -> Step<Taken> {
    let ids = arrived.histories.iter().map(|history| &history.row.id);
    let ids = ids.chain(arrived.gone.iter().map(|(id, _)| id));
    let known = known(scope, ids.map(|id| folded(id.as_str())).collect()).await?;
    let mut numbers = signed(turn.counters.numbers);
    let mut lines: Vec<Option<(Line, Vec<Seal>)>> = arrived.histories.iter().map(|_| None).collect();
    for takes in [false, true] {
        for (history, line) in arrived.histories.iter().zip(&mut lines) {
            if takes_the_worktree(&history.row) == takes {
                let existing = known.get(&folded(history.row.id.as_str()));
                let found = match checked(history.expected, &history.row, existing)? {
                    Some(existing) => Line::of(existing, &history.row, scope.machine),
                    None => Line::new(free_number(scope, None, &mut numbers).await?),
                };
                *line = Some((found, sealed(history)));
            }
        }
    }
    let lines: Vec<(Line, Vec<Seal>)> = lines.into_iter().flatten().collect();
    let rows: Vec<(&SessionRow, &Line)> =
        arrived.histories.iter().zip(&lines).map(|(history, (line, _))| (&history.row, line)).collect();
    refuse_second_active(scope, &rows).await?;
    let gone = arrived.gone.iter().map(|(id, version)| going(&known, id, *version)).collect::<Result<_>>()?;
    Ok(Taken { lines, gone, cursor: turn.counters.cursor, numbers })
}

fn going(known: &BTreeMap<String, Known>, id: &SessionId, version: u64) -> Result<i64> {
    match known.get(&folded(id.as_str())).filter(|known| known.id == id.as_str()) {
        Some(known) if known.version == version => Ok(known.number),
        found => {
            let found = found.map_or(0, |known| known.version);
            Err(Error::Conflict { session: id.clone(), expected: version, found })
        }
    }
}

fn sealed(history: &TakenHistory) -> Vec<Seal> {
    seal(None, &history.events, |event| {
        history.seals.get(&event.version).copied().unwrap_or(Given::Salt([0; crate::chain::SALT_BYTES]))
    })
}

impl Taken {
    fn statements<'f>(&'f self, scope: Scope<'f>, arrived: &'f Arrived) -> Vec<Sent<'f>> {
        let mut sent: Vec<Sent<'f>> = Vec::new();
        for definition in &arrived.definitions {
            let sql =
                "INSERT INTO leftoff.definitions(project,hash,body)VALUES($1,$2,$3)ON CONFLICT DO NOTHING";
            sent.push(Box::pin(async move {
                scope.ask.change(sql, values![scope.project, definition.hash, definition.body]).await
            }));
        }
        for content in &arrived.contents {
            let sql = "INSERT INTO leftoff.contents(project,hash,body)VALUES($1,$2,$3)ON CONFLICT DO NOTHING";
            sent.push(Box::pin(async move {
                scope.ask.change(sql, values![scope.project, content.hash, content.body]).await
            }));
        }
        for session in &arrived.purged {
            let sql = "UPDATE leftoff.keys SET answer='' WHERE project=$1 AND position($2 in answer)>0";
            sent.push(Box::pin(async move {
                scope.ask.change(sql, values![scope.project, session.as_str()]).await
            }));
        }
        let sql = "DELETE FROM leftoff.contents WHERE project=$1 AND hash=ANY($2)";
        if !arrived.purged_contents.is_empty() {
            sent.push(Box::pin(async move {
                scope.ask.change(sql, values![scope.project, arrived.purged_contents]).await
            }));
        }
        let mut cursor = self.cursor;
        for (history, (line, seals)) in arrived.histories.iter().zip(&self.lines) {
            cursor = take(scope, history, line, seals, (cursor, self.numbers), &mut sent);
        }
        for number in &self.gone {
            sent.extend(forget(scope, *number));
        }
        // A removed or shortened history adds no event. The counter tells other processes about the change.
        sent.push(count_sign(scope));
        sent.push(commit(scope));
        sent
    }
}

/// Adds the statements that store one history. Returns the cursor of its last event.
fn take<'f>(
    scope: Scope<'f>,
    history: &'f TakenHistory,
    line: &'f Line,
    seals: &'f [Seal],
    (cursor, numbers): (u64, i64),
    sent: &mut Vec<Sent<'f>>,
) -> u64 {
    let shared = usize::try_from(history.shared).unwrap_or(usize::MAX).min(history.events.len());
    let new = &history.events[shared..];
    let newest = cursor + new.len() as u64;
    let turn = (!new.is_empty()).then_some(newest);
    let number = line.number;
    sent.push(session_rows::keep(scope, &history.row, line));
    sent.push(Box::pin(async move {
        let sql = "DELETE FROM leftoff.events WHERE project=$1 AND session=$2 AND version>$3";
        scope.ask.change(sql, values![scope.project, number, signed(history.shared)]).await
    }));
    let growth = Growth {
        session: number,
        head: seals.last().map(|seal| seal.link),
        version: shared as u64,
        events: new,
        seals: &seals[shared..],
        unlocked: None,
        snapshot: Some(&history.snapshot),
        updated_at: history.row.updated_at,
        cursor,
        turn,
        numbers,
    };
    sent.push(keep(scope, growth));
    sent.extend(items::remove_all(scope, number));
    let rows: Vec<&ItemRow> = history.items.iter().collect();
    if !rows.is_empty() {
        sent.extend(items::keep(scope, number, &rows));
    }
    sent.push(keep_arrival(scope, number, history.arrival.as_ref()));
    newest
}

fn keep_arrival<'f>(scope: Scope<'f>, number: i64, arrival: Option<&'f Arrival>) -> Sent<'f> {
    Box::pin(async move {
        let Some(arrival) = arrival else {
            let sql = "DELETE FROM leftoff.arrivals WHERE project=$1 AND session=$2";
            return scope.ask.change(sql, values![scope.project, number]).await;
        };
        let sql = "INSERT INTO leftoff.arrivals(project,session,replica,stream,version,head,at)\
                   VALUES($1,$2,$3,$4,$5,$6,$7)ON CONFLICT(project,session)DO UPDATE SET replica=excluded.replica,\
                   stream=excluded.stream,version=excluded.version,head=excluded.head,at=excluded.at";
        let values = values![
            scope.project,
            number,
            arrival.replica,
            arrival.stream.as_slice(),
            signed(arrival.version),
            arrival.head.as_slice(),
            nanoseconds(arrival.at),
        ];
        scope.ask.change(sql, values).await
    })
}

/// Returns statements that remove all rows of a session. The rows of agents and keys keep the session's id.
fn forget<'f>(scope: Scope<'f>, number: i64) -> Vec<Sent<'f>> {
    let of_session =
        OF_SESSION.iter().map(|table| format!("leftoff.{table} WHERE project=$1 AND session=$2"));
    let line = ["leftoff.sessions WHERE project=$1 AND number=$2".to_owned()];
    let remove = |what: String| -> Sent<'f> {
        Box::pin(async move {
            scope.ask.change(&format!("DELETE FROM {what}"), values![scope.project, number]).await
        })
    };
    of_session.chain(line).map(remove).collect()
}

pub(super) async fn arrivals(scope: Scope<'_>) -> Step<Vec<Arrival>> {
    let sql = "SELECT s.id,a.replica,a.stream,a.version,a.head,a.at FROM leftoff.arrivals a JOIN leftoff.sessions s \
               ON s.project=a.project AND s.number=a.session WHERE a.project=$1 ORDER BY s.id";
    let read = |row: &tokio_postgres::Row| {
        Ok(Arrival {
            session: session_id(row, 0)?,
            replica: row.try_get(1)?,
            stream: hash(row, 2)?,
            version: unsigned(row, 3)?,
            head: hash(row, 4)?,
            at: moment(row, 5)?,
        })
    };
    scope.ask.rows(sql, values![scope.project]).await?.iter().map(read).collect()
}
