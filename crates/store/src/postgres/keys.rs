//! The keys of commands and the answers stored under them, so that a repeated command has no further effect.

use super::Scope;
use super::columns::{nanoseconds, values};
use super::wire::{Sent, Step};
use crate::KeyRow;
use crate::retention::{KEYS_SWEPT, keys_expire_at};
use model::id::SessionId;

pub(super) async fn is_used(scope: Scope<'_>, key: &KeyRow) -> Step<bool> {
    let sql = "SELECT 1 FROM leftoff.keys WHERE project=$1 AND key=$2 AND at>$3";
    let expired = nanoseconds(keys_expire_at(key.at));
    Ok(scope.ask.row(sql, values![scope.project, key.key, expired]).await?.is_some())
}

/// Stores a key. Returns false if the key was used before.
pub(super) async fn is_new_key(scope: Scope<'_>, key: &KeyRow) -> Step<bool> {
    if is_used(scope, key).await? {
        return Ok(false);
    }
    for statement in keep_key(scope, key) {
        statement.await?;
    }
    Ok(true)
}

pub(super) fn keep_key<'f>(scope: Scope<'f>, key: &'f KeyRow) -> [Sent<'f>; 2] {
    let keep = async move {
        let sql = "INSERT INTO leftoff.keys(project,key,fingerprint,answer,at,version,session)\
                   VALUES($1,$2,$3,$4,$5,$6,$7)ON CONFLICT(project,key)DO UPDATE SET fingerprint=excluded.fingerprint,\
                   answer=excluded.answer,at=excluded.at,version=excluded.version,session=excluded.session";
        let values = values![
            scope.project,
            key.key,
            key.fingerprint,
            key.answer,
            nanoseconds(key.at),
            key.version.map(i64::from),
            key.session.as_ref().map(SessionId::as_str),
        ];
        scope.ask.change(sql, values).await
    };
    let sweep = async move {
        let sql = "DELETE FROM leftoff.keys WHERE project=$1 AND key IN(SELECT key FROM leftoff.keys \
                   WHERE project=$1 AND at<=$2 ORDER BY at LIMIT $3)";
        let expired = nanoseconds(keys_expire_at(key.at));
        scope.ask.change(sql, values![scope.project, expired, KEYS_SWEPT]).await
    };
    [Box::pin(keep), Box::pin(sweep)]
}
