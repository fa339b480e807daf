//! Activity of sessions: touched files and executed commands, as rows outside the log. Never changes a session or its
//! version.

use super::Scope;
use super::agents;
use super::columns::{
    at_most, first, moment, nanoseconds, optional_plain, plain, unreadable, unsigned, values,
};
use super::keys::is_new_key;
use super::queries::OF_ID;
use super::wire::Step;
use crate::{ActivityKind, ActivityRow, KEPT_ACTIVITIES, KeyRow, Trace};
use model::id::SessionId;

/// Adds activity to a session and removes the oldest entries beyond the limit. Does nothing if the session does not
/// exist.
pub(super) async fn record(scope: Scope<'_>, session: &SessionId, rows: &[ActivityRow]) -> Step<()> {
    let sql = "SELECT number FROM leftoff.sessions WHERE project=$1 AND lower(id)=lower($2) AND id=$2";
    let found = first::<i64>(&scope.ask.rows(sql, values![scope.project, session.as_str()]).await?)?;
    let Some(number) = found else { return Ok(()) };
    for row in rows {
        keep(scope, number, row).await?;
    }
    let sql = "DELETE FROM leftoff.activity WHERE project=$1 AND session=$2 AND(kind,what)IN(SELECT kind,what \
               FROM leftoff.activity WHERE project=$1 AND session=$2 ORDER BY at DESC,what OFFSET $3)";
    let kept = i64::try_from(KEPT_ACTIVITIES).unwrap_or(i64::MAX);
    scope.ask.change(sql, values![scope.project, number, kept]).await.map(drop)
}

/// Records a trace. Returns false if the trace's key was used before, or if the agent's memory is not what the trace
/// expects.
pub(super) async fn trace(scope: Scope<'_>, trace: &Trace) -> Step<bool> {
    if !agents::is_as_expected(scope, trace).await? {
        return Ok(false);
    }
    if let Some(key) = &trace.once
        && !is_new_key(scope, &KeyRow::of_hook(key, trace.at)).await?
    {
        return Ok(false);
    }
    agents::touch(scope, trace).await?;
    if let Some((session, rows)) = &trace.activity {
        record(scope, session, rows).await?;
    }
    Ok(true)
}

pub(super) async fn newest(scope: Scope<'_>, session: &SessionId, limit: usize) -> Step<Vec<ActivityRow>> {
    let sql = format!(
        "SELECT kind,what,detail,at,count FROM leftoff.activity WHERE project=$1 AND session={OF_ID} \
         ORDER BY at DESC,what LIMIT $3"
    );
    let rows = scope.ask.rows(&sql, values![scope.project, session.as_str(), at_most(Some(limit))]).await?;
    rows.iter().map(activity_row).collect()
}

/// Replaces all activity of a session.
pub(super) async fn replace(scope: Scope<'_>, number: i64, rows: &[ActivityRow]) -> Step<()> {
    let sql = "DELETE FROM leftoff.activity WHERE project=$1 AND session=$2";
    scope.ask.change(sql, values![scope.project, number]).await?;
    for row in rows {
        keep(scope, number, row).await?;
    }
    Ok(())
}

/// Adds a row. If the row exists already, adds up the counts and stores the later of the two times.
async fn keep(scope: Scope<'_>, number: i64, row: &ActivityRow) -> Step<()> {
    let sql = "INSERT INTO leftoff.activity AS a(project,session,kind,what,detail,at,count)VALUES($1,$2,$3,$4,$5,$6,$7)\
               ON CONFLICT(project,session,kind,what)DO UPDATE SET count=a.count+excluded.count,\
               detail=CASE WHEN excluded.at>=a.at THEN excluded.detail ELSE a.detail END,at=greatest(a.at,excluded.at)";
    let values = values![
        scope.project,
        number,
        row.kind.name(),
        longest(plain(&row.what)),
        optional_plain(row.detail.as_ref()),
        nanoseconds(row.at),
        i64::try_from(row.count).unwrap_or(i64::MAX),
    ];
    scope.ask.change(sql, values).await.map(drop)
}

/// Shortens a long command line, because PostgreSQL allows only 2,700 bytes in an index entry.
fn longest(mut what: String) -> String {
    const LONGEST: usize = 2_000;
    if what.len() > LONGEST {
        what.truncate(what.floor_char_boundary(LONGEST));
    }
    what
}

fn activity_row(row: &tokio_postgres::Row) -> Step<ActivityRow> {
    let kind: &str = row.try_get(0)?;
    let kind =
        ActivityKind::parse(kind).ok_or_else(|| unreadable(&format!("unknown kind of activity: {kind}")))?;
    Ok(ActivityRow {
        kind,
        what: row.try_get(1)?,
        detail: row.try_get(2)?,
        at: moment(row, 3)?,
        count: unsigned(row, 4)?,
    })
}
