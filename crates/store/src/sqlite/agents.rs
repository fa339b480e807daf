//! The agent sessions that were seen, and their bindings. Does not find out whether an agent is alive.

use super::activity::without_sync;
use super::columns::{Moment, moment, optional_session_id};
use crate::{AgentRow, Binding, Trace};
use rusqlite::{Connection, OptionalExtension, Result, Row, params};

const AGENT: &str =
    "agent,agent_session,host,pid,process_start,boot_id,worktree,branch,started_at,last_seen,session,memory";

pub(super) fn all(connection: &Connection, worktree: Option<&str>) -> Result<Vec<AgentRow>> {
    let sql = format!(
        "SELECT {AGENT} FROM agents WHERE ?1 IS NULL OR worktree=?1 ORDER BY last_seen DESC,agent,agent_session"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([worktree], agent_row)?;
    rows.collect()
}

pub(super) fn one(connection: &Connection, agent: &str, agent_session: &str) -> Result<Option<AgentRow>> {
    let sql = format!("SELECT {AGENT} FROM agents WHERE agent=?1 AND agent_session=?2");
    connection.prepare_cached(&sql)?.query_row([agent, agent_session], agent_row).optional()
}

/// Adds or updates an agent's row. The time when the agent was first seen stays. The binding stays too, unless the new
/// row has one.
pub(super) fn see(connection: &Connection, row: &AgentRow) -> Result<()> {
    let sql = format!(
        "INSERT INTO agents({AGENT})VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12)\
         ON CONFLICT DO UPDATE SET host=excluded.host,pid=excluded.pid,process_start=excluded.process_start,\
         boot_id=excluded.boot_id,worktree=excluded.worktree,branch=excluded.branch,last_seen=excluded.last_seen,\
         session=coalesce(excluded.session,session),memory=coalesce(excluded.memory,memory)"
    );
    let values = params![
        row.agent,
        row.agent_session,
        row.host,
        row.pid,
        row.process_start,
        row.boot_id,
        row.worktree,
        row.branch,
        Moment(row.started_at),
        Moment(row.last_seen),
        row.session.as_ref().map(model::id::SessionId::as_str),
        row.memory,
    ];
    // No sync is needed: after a power cut, no agent is running any more.
    without_sync(connection, |transaction| transaction.prepare_cached(&sql)?.execute(values).map(drop))
}

pub(super) fn forget(connection: &Connection, gone: &[(String, String)]) -> Result<()> {
    without_sync(connection, |transaction| {
        let mut statement =
            transaction.prepare_cached("DELETE FROM agents WHERE agent=?1 AND agent_session=?2")?;
        for (agent, agent_session) in gone {
            statement.execute([agent, agent_session])?;
        }
        Ok(())
    })
}

/// Binds an agent to a session; returns false if the session does not exist. An agent that was never seen gets a row
/// without a process.
pub(super) fn bind(connection: &Connection, binding: &Binding) -> Result<bool> {
    let sql = format!(
        "INSERT INTO agents({AGENT})SELECT ?1,?2,'',0,0,'',worktree,NULL,updated_at,updated_at,id,NULL \
         FROM sessions WHERE id=?3 AND id=?3 COLLATE BINARY ON CONFLICT DO UPDATE SET session=excluded.session"
    );
    let values = [&binding.agent, &binding.agent_session, binding.session.as_str()];
    Ok(connection.prepare_cached(&sql)?.execute(values)? == 1)
}

/// True if the agent's stored memory is what the trace expects, or if the trace expects nothing.
pub(super) fn is_as_expected(connection: &Connection, trace: &Trace) -> Result<bool> {
    let Some(expected) = &trace.expects else { return Ok(true) };
    let sql = "SELECT 1 FROM agents WHERE agent=?1 AND agent_session=?2 AND coalesce(memory,'')=?3";
    connection.prepare_cached(sql)?.exists([&trace.agent, &trace.agent_session, expected])
}

/// Updates when an agent was last seen, and its memory. Does nothing if the agent was never seen.
pub(super) fn touch(connection: &Connection, trace: &Trace) -> Result<()> {
    let sql = "UPDATE agents SET last_seen=?3,memory=coalesce(?4,memory)WHERE agent=?1 AND agent_session=?2";
    let values = params![trace.agent, trace.agent_session, Moment(trace.at), trace.memory];
    connection.prepare_cached(sql)?.execute(values).map(drop)
}

fn agent_row(row: &Row<'_>) -> Result<AgentRow> {
    Ok(AgentRow {
        agent: row.get(0)?,
        agent_session: row.get(1)?,
        host: row.get(2)?,
        pid: row.get(3)?,
        process_start: row.get(4)?,
        boot_id: row.get(5)?,
        worktree: row.get(6)?,
        branch: row.get(7)?,
        started_at: moment(row, 8)?,
        last_seen: moment(row, 9)?,
        session: optional_session_id(row, 10)?,
        memory: row.get(11)?,
    })
}
