//! Adds or updates the row of a session. The columns that every change sets are set by `commit_statement.rs`. The
//! caller has checked the session's version.

use super::Scope;
use super::append::Line;
use super::columns::{nanoseconds, optional_plain, plain, values};
use super::wire::Sent;
use crate::SessionRow;

/// Returns the row as the server will return it: on this machine if the row names no machine, and without NUL
/// characters.
pub(super) fn as_stored(row: &SessionRow, machine: &str) -> SessionRow {
    SessionRow {
        worktree: plain(&row.worktree),
        machine: row.machine.clone().filter(|other| other != machine),
        layout: plain(&row.layout),
        workflow: plain(&row.workflow),
        title: plain(&row.title),
        goal: optional_plain(row.goal.as_ref()),
        target: optional_plain(row.target.as_ref()),
        lifecycle: plain(&row.lifecycle),
        phase: plain(&row.phase),
        ..row.clone()
    }
}

/// True if two rows of a session differ only in the version and the time of the last change.
pub(super) fn is_same(before: &SessionRow, after: &SessionRow) -> bool {
    let SessionRow { updated_at, version, .. } = *after;
    SessionRow { updated_at, version, ..before.clone() } == *after
}

pub(super) fn keep<'f>(scope: Scope<'f>, row: &'f SessionRow, line: &Line) -> Sent<'f> {
    let sql = if line.is_new {
        "INSERT INTO leftoff.sessions(project,number,id,worktree,machine,layout,exclusive,workflow,title,goal,target,\
         lifecycle,parallel,phase,phases_done,phases_total,created_at,updated_at,version,turn,chained_since)\
         VALUES($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,0,0,0,1)"
    } else {
        "UPDATE leftoff.sessions SET id=$3,worktree=$4,machine=$5,layout=$6,exclusive=$7,workflow=$8,title=$9,goal=$10,\
         target=$11,lifecycle=$12,parallel=$13,phase=$14,phases_done=$15,phases_total=$16,created_at=$17 \
         WHERE project=$1 AND number=$2"
    };
    let number = line.number;
    Box::pin(async move {
        let row = as_stored(row, scope.machine);
        let values = values![
            scope.project,
            number,
            row.id.as_str(),
            row.worktree,
            row.machine.as_deref().unwrap_or(scope.machine),
            row.layout,
            row.exclusive,
            row.workflow,
            row.title,
            row.goal,
            row.target,
            row.lifecycle,
            row.parallel,
            row.phase,
            i64::from(row.phases_done),
            i64::from(row.phases_total.unwrap_or_default()),
            nanoseconds(row.created_at),
        ];
        scope.ask.change(sql, values).await
    })
}
