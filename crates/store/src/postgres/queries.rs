//! Looks up single rows and short lists by an index. Writes nothing.

use super::Scope;
use super::answer_cache::Kept;
use super::columns::{
    AFTER_SESSION, EVENT, SESSION, at_most, event, first, fixed, folded, hash, listed, moment, nanoseconds,
    optional_hash, optional_session_id, session_id, signed, unsigned, values,
};
use super::wire::Step;
use crate::chain::{Chain, Seal};
use crate::{Change, EventRow, KeyRow, Loaded, Snapshot};
use jiff::Timestamp;
use model::id::SessionId;

/// Finds the number of the session with exactly this id. The index ignores case, so the id is compared again.
pub(super) const OF_ID: &str =
    "(SELECT number FROM leftoff.sessions WHERE project=$1 AND lower(id)=lower($2) AND id=$2)";

pub(super) async fn load(scope: Scope<'_>, id: &SessionId) -> Step<Option<Kept>> {
    let sql = format!(
        "SELECT {SESSION},p.fold_version,p.version,p.body,s.head FROM leftoff.sessions s LEFT JOIN leftoff.snapshots p \
         ON p.project=s.project AND p.session=s.number WHERE s.project=$1 AND lower(s.id)=lower($2) AND s.id=$2"
    );
    let Some(row) = scope.ask.row(&sql, values![scope.project, id.as_str()]).await? else { return Ok(None) };
    let session = listed(&row, scope.machine)?;
    let snapshot = match row.try_get::<_, Option<i64>>(AFTER_SESSION)? {
        Some(fold_version) => Some(Snapshot {
            fold_version: u32::try_from(fold_version).unwrap_or_default(),
            version: unsigned(&row, AFTER_SESSION + 1)?,
            body: row.try_get(AFTER_SESSION + 2)?,
        }),
        None => None,
    };
    let loaded = Loaded { number: session.number, row: session.row, snapshot };
    Ok(Some(Kept { loaded, head: optional_hash(&row, AFTER_SESSION + 3)? }))
}

pub(super) async fn which_exist(scope: Scope<'_>, ids: &[&SessionId]) -> Step<Vec<bool>> {
    let asked: Vec<String> = ids.iter().map(|id| folded(id.as_str())).collect();
    let sql = "SELECT id FROM leftoff.sessions WHERE project=$1 AND lower(id)=ANY($2)";
    let rows = scope.ask.rows(sql, values![scope.project, asked]).await?;
    let found: Vec<SessionId> = rows.iter().map(|row| session_id(row, 0)).collect::<Step<_>>()?;
    Ok(ids.iter().map(|id| found.contains(*id)).collect())
}

pub(super) async fn events(
    scope: Scope<'_>,
    id: &SessionId,
    after: u64,
    limit: Option<usize>,
) -> Step<Vec<EventRow>> {
    let sql = format!(
        "SELECT {EVENT} FROM leftoff.events e WHERE e.project=$1 AND e.session={OF_ID} AND e.version>$3 \
         ORDER BY e.version LIMIT $4"
    );
    let values = values![scope.project, id.as_str(), signed(after), at_most(limit)];
    scope.ask.rows(&sql, values).await?.iter().map(|row| event(row, 0)).collect()
}

pub(super) async fn chain(scope: Scope<'_>, id: &SessionId) -> Step<Chain> {
    let about =
        "SELECT head,chained_since FROM leftoff.sessions WHERE project=$1 AND lower(id)=lower($2) AND id=$2";
    let Some(row) = scope.ask.row(about, values![scope.project, id.as_str()]).await? else {
        return Ok(Chain::default());
    };
    let (head, since) = (optional_hash(&row, 0)?, row.try_get::<_, Option<i64>>(1)?.map(i64::cast_unsigned));
    let sql = format!(
        "SELECT version,salt,hash,link FROM leftoff.events WHERE project=$1 AND session={OF_ID} ORDER BY version"
    );
    let mut chain = Chain { head, since, ..Chain::default() };
    for row in scope.ask.rows(&sql, values![scope.project, id.as_str()]).await? {
        let salt = if row.try_get::<_, Option<&[u8]>>(1)?.is_some() { Some(fixed(&row, 1)?) } else { None };
        chain.seals.insert(unsigned(&row, 0)?, Seal { salt, hash: hash(&row, 2)?, link: hash(&row, 3)? });
    }
    Ok(chain)
}

pub(super) async fn definition(scope: Scope<'_>, hash: &str) -> Step<Option<String>> {
    let sql = "SELECT body FROM leftoff.definitions WHERE project=$1 AND hash=$2";
    first(&scope.ask.rows(sql, values![scope.project, hash]).await?)
}

pub(super) async fn content(scope: Scope<'_>, hash: &str) -> Step<Option<Vec<u8>>> {
    let sql = "SELECT body FROM leftoff.contents WHERE project=$1 AND hash=$2";
    first(&scope.ask.rows(sql, values![scope.project, hash]).await?)
}

pub(super) async fn active(scope: Scope<'_>, worktree: &str) -> Step<Option<SessionId>> {
    let sql = "SELECT id FROM leftoff.sessions WHERE project=$1 AND worktree=$2 AND lifecycle='active' \
               AND machine=$3 AND NOT parallel AND exclusive";
    let row = scope.ask.row(sql, values![scope.project, worktree, scope.machine]).await?;
    row.map(|row| session_id(&row, 0)).transpose()
}

pub(super) async fn with_prefix(scope: Scope<'_>, prefix: &str, limit: usize) -> Step<Vec<SessionId>> {
    let sql = "SELECT id FROM leftoff.sessions WHERE project=$1 AND lower(id)>=$2 AND lower(id)<$3 \
               ORDER BY length(id),lower(id) LIMIT $4";
    // Ids consist of letters, digits, '-', '_' and '.', which all sort before this character.
    let (from, end) = (folded(prefix), format!("{}\u{7f}", folded(prefix)));
    let rows = scope.ask.rows(sql, values![scope.project, from, end, at_most(Some(limit))]).await?;
    rows.iter().map(|row| session_id(row, 0)).collect()
}

pub(super) async fn with_number(scope: Scope<'_>, number: u64) -> Step<Option<SessionId>> {
    let sql = "SELECT id FROM leftoff.sessions WHERE project=$1 AND number=$2";
    let row = scope.ask.row(sql, values![scope.project, signed(number)]).await?;
    row.map(|row| session_id(&row, 0)).transpose()
}

pub(super) async fn recall(scope: Scope<'_>, key: &str, since: Timestamp) -> Step<Option<KeyRow>> {
    let sql = "SELECT key,fingerprint,answer,at,version,session FROM leftoff.keys \
               WHERE project=$1 AND key=$2 AND at>$3";
    let row = scope.ask.row(sql, values![scope.project, key, nanoseconds(since)]).await?;
    row.map(|row| key_row(&row)).transpose()
}

pub(super) async fn keys(scope: Scope<'_>) -> Step<Vec<KeyRow>> {
    let sql =
        "SELECT key,fingerprint,answer,at,version,session FROM leftoff.keys WHERE project=$1 ORDER BY at,key";
    scope.ask.rows(sql, values![scope.project]).await?.iter().map(key_row).collect()
}

/// Returns the hashes of all stored definitions, and those of all stored contents.
pub(super) async fn hashes(scope: Scope<'_>) -> Step<(Vec<String>, Vec<String>)> {
    let definitions = "SELECT hash FROM leftoff.definitions WHERE project=$1 ORDER BY hash";
    let contents = "SELECT hash FROM leftoff.contents WHERE project=$1 ORDER BY hash";
    let mut found: [Vec<String>; 2] = Default::default();
    for (sql, hashes) in [definitions, contents].into_iter().zip(&mut found) {
        for row in scope.ask.rows(sql, values![scope.project]).await? {
            hashes.push(row.try_get(0)?);
        }
    }
    let [definitions, contents] = found;
    Ok((definitions, contents))
}

pub(super) async fn machine_name(scope: Scope<'_>, machine: &str) -> Step<Option<String>> {
    let sql = "SELECT host FROM leftoff.machines WHERE project=$1 AND machine=$2";
    first(&scope.ask.rows(sql, values![scope.project, machine]).await?)
}

fn key_row(row: &tokio_postgres::Row) -> Step<KeyRow> {
    Ok(KeyRow {
        key: row.try_get(0)?,
        fingerprint: row.try_get(1)?,
        answer: row.try_get(2)?,
        at: moment(row, 3)?,
        version: row.try_get::<_, Option<i64>>(4)?.and_then(|version| u32::try_from(version).ok()),
        session: optional_session_id(row, 5)?,
    })
}

pub(super) async fn changes(scope: Scope<'_>, after: u64, limit: usize) -> Step<Vec<Change>> {
    let sql = format!(
        "SELECT e.cursor,s.id,{EVENT} FROM leftoff.events e JOIN leftoff.sessions s \
         ON s.project=e.project AND s.number=e.session WHERE e.project=$1 AND e.cursor>$2 ORDER BY e.cursor LIMIT $3"
    );
    let rows = scope.ask.rows(&sql, values![scope.project, signed(after), at_most(Some(limit))]).await?;
    let change =
        |row| Ok(Change { cursor: unsigned(row, 0)?, session: session_id(row, 1)?, event: event(row, 2)? });
    rows.iter().map(change).collect()
}

pub(super) async fn cursor(scope: Scope<'_>) -> Step<u64> {
    let sql = "SELECT cursor FROM leftoff.projects WHERE project=$1";
    let found: Option<i64> = first(&scope.ask.rows(sql, values![scope.project]).await?)?;
    Ok(found.unwrap_or_default().cast_unsigned())
}

/// Returns a number that increases with every change in the project.
pub(super) async fn change_counter(scope: Scope<'_>) -> Step<u64> {
    let sql = "SELECT p.cursor+coalesce((SELECT counter FROM leftoff.signs s WHERE s.project=p.project),0) \
               FROM leftoff.projects p WHERE p.project=$1";
    let found: Option<i64> = first(&scope.ask.rows(sql, values![scope.project]).await?)?;
    Ok(found.unwrap_or_default().cast_unsigned())
}
