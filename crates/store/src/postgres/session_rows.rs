//! Adds or updates the row of a session. The caller has checked its version.

use super::Scope;
use super::append::Line;
use super::values::{nanoseconds, optional_plain, plain, signed, values};
use super::wire::Sent;
use crate::SessionRow;
use crate::chain::Hash;

/// Without `turn`, the session keeps its own. `since` applies only if the session had no chain before.
pub(super) fn keep<'f>(
    scope: Scope<'f>,
    row: &'f SessionRow,
    line: &Line,
    head: Option<Hash>,
    since: u64,
    turn: Option<u64>,
) -> Sent<'f> {
    let sql = if line.is_new {
        "INSERT INTO leftoff.sessions(project,number,id,worktree,machine,layout,exclusive,workflow,title,goal,target,\
         lifecycle,parallel,phase,phases_done,phases_total,created_at,updated_at,version,turn,head,chained_since)\
         VALUES($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,coalesce($20,0),$21,$22)"
    } else {
        "UPDATE leftoff.sessions SET id=$3,worktree=$4,machine=$5,layout=$6,exclusive=$7,workflow=$8,title=$9,goal=$10,\
         target=$11,lifecycle=$12,parallel=$13,phase=$14,phases_done=$15,phases_total=$16,created_at=$17,\
         updated_at=$18,version=$19,turn=coalesce($20,turn),head=$21,chained_since=coalesce(chained_since,$22) \
         WHERE project=$1 AND number=$2"
    };
    let number = line.number;
    Box::pin(async move {
        let values = values![
            scope.project,
            number,
            row.id.as_str(),
            plain(&row.worktree),
            row.machine.as_deref().unwrap_or(scope.machine),
            plain(&row.layout),
            row.exclusive,
            plain(&row.workflow),
            plain(&row.title),
            optional_plain(row.goal.as_ref()),
            optional_plain(row.target.as_ref()),
            plain(&row.lifecycle),
            row.parallel,
            plain(&row.phase),
            i64::from(row.phases_done),
            i64::from(row.phases_total),
            nanoseconds(row.created_at),
            nanoseconds(row.updated_at),
            signed(row.version),
            turn.map(signed),
            head.map(|head| head.to_vec()),
            signed(since),
        ];
        scope.ask.change(sql, values).await
    })
}
