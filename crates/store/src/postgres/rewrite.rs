//! Replaces text in a history, to remove text that must not be stored.

use super::append::{Line, Mark, checked, known, refuse_second_active};
use super::columns::{folded, note_of, signed, values};
use super::commit_statement::{Growth, keep};
use super::wire::Step;
use super::{PostgresStore, Scope, Turn, activity, items, session_rows};
use crate::batch_rules::check_rewrite;
use crate::chain::seal_new;
use crate::{Error, ItemRow, Result, Rewrite};

impl PostgresStore {
    pub(super) fn rewrite_in_turn(
        &mut self,
        rewrite: &Rewrite,
        answers: &dyn Fn(&str) -> Option<String>,
    ) -> Result<()> {
        check_rewrite(rewrite)?;
        self.lock_now()?;
        let Some(turn) = &self.turn else { return Err(Error::Busy { waited: std::time::Duration::ZERO }) };
        let scope = self.scope();
        self.wire.run("rewriting a session", write(scope, rewrite, answers, turn))?;
        let kept = self.wire.wait(async { scope.ask.plainly("COMMIT").await.map(drop) });
        // The rewrite can be repeated without harm, so an unknown outcome need not be settled.
        self.settled("rewriting a session", kept, &Mark::None)?;
        self.turn = None;
        Ok(())
    }

    /// Frees the space of replaced rows for reuse. The server's write-ahead log and backups are up to its
    /// administrator.
    pub(super) fn free_space(&mut self) -> Result<bool> {
        if self.turn.is_some() {
            return Ok(false);
        }
        let tables = ["events", "sessions", "snapshots", "activity", "items", "keys", "contents"];
        let names: Vec<String> = tables.iter().map(|table| format!("leftoff.{table}")).collect();
        let ask = self.wire.ask();
        let sql = format!("VACUUM {}", names.join(","));
        self.wire.run("freeing space", async { ask.plainly(&sql).await })?;
        Ok(true)
    }
}

async fn write(
    scope: Scope<'_>,
    rewrite: &Rewrite,
    answers: &dyn Fn(&str) -> Option<String>,
    turn: &Turn,
) -> Step<()> {
    let stream = &rewrite.stream;
    let name = folded(stream.row.id.as_str());
    let known = known(scope, vec![name.clone()]).await?;
    let Some(existing) = checked(stream.expected, &stream.row, known.get(&name))? else {
        let (session, expected) = (stream.row.id.clone(), stream.expected);
        return Err(Error::Conflict { session, expected, found: 0 }.into());
    };
    let number = existing.number;
    let line = Line::of(existing, &stream.row, scope.machine);
    refuse_second_active(scope, &[(&stream.row, &line)]).await?;
    let seals = seal_new(existing.head, &stream.events, None)?;
    let before = turn.counters;
    let newest = before.cursor + stream.events.len() as u64;
    session_rows::keep(scope, &stream.row, &line).await?;
    keep(scope, Growth::of(&line, stream, &seals, before.cursor, Some(newest), signed(before.numbers)))
        .await?;
    for event in &rewrite.events {
        let sql = "UPDATE leftoff.events SET actor=$4,body=$5,note=$6,salt=NULL \
                   WHERE project=$1 AND session=$2 AND version=$3";
        let values =
            values![scope.project, number, signed(event.version), event.actor, event.body, note_of(event)];
        scope.ask.change(sql, values).await?;
    }
    activity::replace(scope, number, &rewrite.activity).await?;
    let sql = "DELETE FROM leftoff.contents WHERE project=$1 AND hash=ANY($2)";
    scope.ask.change(sql, values![scope.project, rewrite.contents]).await?;
    for statement in items::remove_all(scope, number) {
        statement.await?;
    }
    let rows: Vec<&ItemRow> = rewrite.items.iter().collect();
    if !rows.is_empty() {
        for statement in items::keep(scope, number, &rows) {
            statement.await?;
        }
    }
    rewrite_answers(scope, answers).await
}

/// Rewrites stored answers one at a time, because there may be many, and each can be as large as the output of `show`.
async fn rewrite_answers(scope: Scope<'_>, answers: &dyn Fn(&str) -> Option<String>) -> Step<()> {
    let mut last = String::new();
    let sql = "SELECT key,answer FROM leftoff.keys WHERE project=$1 AND key>$2 ORDER BY key LIMIT 1";
    while let Some(row) = scope.ask.row(sql, values![scope.project, last]).await? {
        last = row.try_get(0)?;
        if let Some(other) = answers(row.try_get(1)?) {
            let sql = "UPDATE leftoff.keys SET answer=$3 WHERE project=$1 AND key=$2";
            scope.ask.change(sql, values![scope.project, last, other]).await?;
        }
    }
    Ok(())
}
