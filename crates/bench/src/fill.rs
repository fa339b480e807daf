//! Fills a store with other sessions, faster than commands could, by copying rows that leftoff wrote.

use crate::Result;
use rusqlite::{Connection, params};
use std::path::Path;

/// Adds sessions and events until the store has this many. Each new session has a worktree of its own;
/// existing sessions stay. Half of the new sessions were active more recently than the existing ones.
pub fn fill(database: &Path, sessions: u64, events: u64) -> Result<()> {
    let connection = Connection::open(database)?;
    // A crash may destroy the new rows, so they are not synchronised to the disk.
    connection.execute_batch("PRAGMA synchronous=OFF; PRAGMA cache_size=-200000; BEGIN")?;
    let count = |table: &str| -> rusqlite::Result<u64> {
        connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))
    };
    let turn: u64 = connection.query_row("SELECT max(turn) FROM sessions", [], |row| row.get(0))?;
    let more = sessions - count("sessions")?;
    let events_each = (events - count("events")?).div_ceil(more);
    connection.execute(
        "WITH RECURSIVE n(i)AS(SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<?1)\
         INSERT INTO sessions(id,worktree,layout,workflow,title,goal,target,lifecycle,parallel,phase,phases_done,\
         phases_total,created_at,updated_at,version,exclusive)SELECT 'other'||i,'/elsewhere/'||i,layout,workflow,title,goal,target,\
         iif(i%2,'active','completed'),parallel,phase,phases_done,phases_total,created_at,\
         updated_at+1000000*iif(i%2,i,-i),?2,exclusive FROM n,sessions WHERE number=1",
        params![more, events_each],
    )?;
    connection.execute(
        "INSERT INTO snapshots(session,fold_version,version,body)SELECT o.number,p.fold_version,?1,p.body \
         FROM sessions o,snapshots p WHERE o.id LIKE 'other%' AND p.session=1",
        [events_each],
    )?;
    connection.execute(
        "WITH RECURSIVE n(i)AS(SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<?1)\
         INSERT INTO events(session,version,cursor,at,actor,kind,body)SELECT o.number,i,?2+(o.number-1)*?1+i,\
         o.updated_at,e.actor,e.kind,e.body FROM sessions o,n,events e WHERE o.id LIKE 'other%' AND e.session=1 AND e.version=1+i%5",
        params![events_each, turn],
    )?;
    connection.execute(
        "UPDATE sessions SET turn=?2+number*?1 WHERE id LIKE 'other%'",
        params![events_each, turn],
    )?;
    connection.execute_batch("COMMIT")?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    let (sessions_now, events_now) = (count("sessions")?, count("events")?);
    if sessions_now < sessions || events_now < events {
        return Err(format!("filled only {sessions_now} sessions, {events_now} events").into());
    }
    Ok(())
}
