//! The hash chain in SQLite columns. The caller holds the turn and a transaction.

use super::columns::event;
use super::queries::signed;
use crate::chain::{Chain, Given, Hash, Seal, fresh_salts, seal};
use crate::{EventRow, Result as StoreResult};
use model::id::SessionId;
use rusqlite::{Connection, OptionalExtension, Result, params};

const OF_SESSION: &str = "(SELECT number FROM sessions WHERE id=?1 AND id=?1 COLLATE BINARY)";

pub(super) fn of(connection: &Connection, id: &SessionId) -> Result<Chain> {
    let about = "SELECT head,chained_since FROM sessions WHERE id=?1 AND id=?1 COLLATE BINARY";
    let about =
        connection.prepare_cached(about)?.query_row([id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)));
    let (head, since) = about.optional()?.unwrap_or_default();
    let mut statement = connection.prepare_cached(&format!(
        "SELECT version,salt,hash,link FROM events WHERE session={OF_SESSION} AND hash IS NOT NULL ORDER BY version"
    ))?;
    let read = |row: &rusqlite::Row<'_>| {
        Ok((row.get(0)?, Seal { salt: row.get(1)?, hash: row.get(2)?, link: row.get(3)? }))
    };
    let seals = statement.query_map([id.as_str()], read)?.collect::<Result<_>>()?;
    Ok(Chain { head, since, seals })
}

/// Returns the events of a session that was never changed by a program with chains.
pub(super) fn older_events(connection: &Connection, session: i64) -> Result<Vec<EventRow>> {
    let sql =
        "SELECT version,at,actor,kind,body,command,ordinal FROM events WHERE session=?1 ORDER BY version";
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_map([session], |row| event(row, 0))?.collect()
}

/// Returns seals for events that have none yet, for the content that they have now.
pub(super) fn seal_older(events: &[EventRow]) -> StoreResult<Vec<Seal>> {
    let mut salts = fresh_salts(events.len())?.into_iter();
    Ok(seal(None, events, |_| Given::Salt(salts.next().unwrap_or_default())))
}

pub(super) fn keep_older(
    connection: &Connection,
    session: i64,
    events: &[EventRow],
    seals: &[Seal],
) -> Result<()> {
    let sql = "UPDATE events SET salt=?3,hash=?4,link=?5 WHERE session=?1 AND version=?2";
    let mut statement = connection.prepare_cached(sql)?;
    for (event, seal) in events.iter().zip(seals) {
        statement.execute(params![session, signed(event.version), seal.salt, seal.hash, seal.link])?;
    }
    Ok(())
}

/// Stores the last link of the chain. `since` is stored only if there was no chain before.
pub(super) fn keep_head(connection: &Connection, session: i64, head: Hash, since: u64) -> Result<()> {
    let sql = "UPDATE sessions SET head=?2,chained_since=coalesce(chained_since,?3)WHERE number=?1";
    connection.prepare_cached(sql)?.execute(params![session, head, signed(since)]).map(drop)
}
