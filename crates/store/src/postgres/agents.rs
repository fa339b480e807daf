//! The agent sessions that were seen, their machines, and the sessions that they are bound to. Does not find out
//! whether an agent is alive.

use super::Scope;
use super::columns::{
    moment, nanoseconds, optional_plain, optional_session_id, plain, signed, small, unsigned, values,
};
use super::wire::{Sent, Step};
use crate::{AgentRow, Binding, Trace};
use model::id::SessionId;
use tokio_postgres::Row;

const AGENT: &str =
    "agent,agent_session,host,pid,process_start,boot_id,worktree,branch,started_at,last_seen,session,memory";

/// Returns the agents in a worktree of this machine; without a worktree, the agents of all machines.
pub(super) async fn all(scope: Scope<'_>, worktree: Option<&str>) -> Step<Vec<AgentRow>> {
    let sql = format!(
        "SELECT {AGENT} FROM leftoff.agents WHERE project=$1 AND($2 IS NULL OR(worktree=$2 AND machine=$3))\
         ORDER BY last_seen DESC,agent,agent_session"
    );
    let rows = scope.ask.rows(&sql, values![scope.project, worktree, scope.machine]).await?;
    rows.iter().map(agent_row).collect()
}

pub(super) async fn one(scope: Scope<'_>, agent: &str, agent_session: &str) -> Step<Option<AgentRow>> {
    let sql =
        format!("SELECT {AGENT} FROM leftoff.agents WHERE project=$1 AND agent=$2 AND agent_session=$3");
    let row = scope.ask.row(&sql, values![scope.project, agent, agent_session]).await?;
    row.map(|row| agent_row(&row)).transpose()
}

/// Adds or updates an agent's row. The time when the agent was first seen stays. The binding stays too, unless the new
/// row has one.
pub(super) async fn see(scope: Scope<'_>, row: &AgentRow) -> Step<()> {
    let sql = "INSERT INTO leftoff.agents AS a(project,agent,agent_session,machine,host,pid,process_start,boot_id,worktree,\
               branch,started_at,last_seen,session,memory)VALUES($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14)\
               ON CONFLICT(project,agent,agent_session)DO UPDATE SET machine=excluded.machine,host=excluded.host,\
               pid=excluded.pid,process_start=excluded.process_start,boot_id=excluded.boot_id,\
               worktree=excluded.worktree,branch=excluded.branch,last_seen=excluded.last_seen,\
               session=coalesce(excluded.session,a.session),memory=coalesce(excluded.memory,a.memory)";
    let values = values![
        scope.project,
        row.agent,
        row.agent_session,
        scope.machine,
        plain(&row.host),
        i64::from(row.pid),
        signed(row.process_start),
        row.boot_id,
        plain(&row.worktree),
        optional_plain(row.branch.as_ref()),
        nanoseconds(row.started_at),
        nanoseconds(row.last_seen),
        row.session.as_ref().map(SessionId::as_str),
        row.memory,
    ];
    scope.ask.change(sql, values).await.map(drop)
}

pub(super) async fn forget(scope: Scope<'_>, gone: &[(String, String)]) -> Step<()> {
    let agents: Vec<&str> = gone.iter().map(|(agent, _)| agent.as_str()).collect();
    let sessions: Vec<&str> = gone.iter().map(|(_, session)| session.as_str()).collect();
    let sql = "DELETE FROM leftoff.agents WHERE project=$1 \
               AND(agent,agent_session)IN(SELECT * FROM unnest($2::text[],$3::text[]))";
    scope.ask.change(sql, values![scope.project, agents, sessions]).await.map(drop)
}

/// Binds an agent to an existing session. An agent that was never seen gets a row without a process.
pub(super) fn bind<'f>(scope: Scope<'f>, binding: &'f Binding) -> Sent<'f> {
    Box::pin(async move {
        let sql = "INSERT INTO leftoff.agents(project,agent,agent_session,machine,host,pid,process_start,boot_id,worktree,\
                   branch,started_at,last_seen,session,memory)SELECT $1,$2,$3,$5,'',0,0,'',worktree,NULL,updated_at,\
                   updated_at,id,NULL FROM leftoff.sessions WHERE project=$1 AND lower(id)=lower($4) AND id=$4 \
                   ON CONFLICT(project,agent,agent_session)DO UPDATE SET session=excluded.session";
        let session = binding.session.as_str();
        let values = values![scope.project, binding.agent, binding.agent_session, session, scope.machine];
        scope.ask.change(sql, values).await
    })
}

/// True if the agent's stored memory is what the trace expects, or if the trace expects nothing.
pub(super) async fn is_as_expected(scope: Scope<'_>, trace: &Trace) -> Step<bool> {
    let Some(expected) = &trace.expects else { return Ok(true) };
    let sql = "SELECT 1 FROM leftoff.agents WHERE project=$1 AND agent=$2 AND agent_session=$3 \
               AND coalesce(memory,'')=$4";
    let values = values![scope.project, trace.agent, trace.agent_session, expected];
    Ok(scope.ask.row(sql, values).await?.is_some())
}

/// Updates when an agent was last seen, and its memory. Does nothing if the agent was never seen.
pub(super) async fn touch(scope: Scope<'_>, trace: &Trace) -> Step<()> {
    let sql = "UPDATE leftoff.agents SET last_seen=$4,memory=coalesce($5,memory) \
               WHERE project=$1 AND agent=$2 AND agent_session=$3";
    let values =
        values![scope.project, trace.agent, trace.agent_session, nanoseconds(trace.at), trace.memory];
    scope.ask.change(sql, values).await.map(drop)
}

fn agent_row(row: &Row) -> Step<AgentRow> {
    Ok(AgentRow {
        agent: row.try_get(0)?,
        agent_session: row.try_get(1)?,
        host: row.try_get(2)?,
        pid: small(row, 3)?,
        process_start: unsigned(row, 4)?,
        boot_id: row.try_get(5)?,
        worktree: row.try_get(6)?,
        branch: row.try_get(7)?,
        started_at: moment(row, 8)?,
        last_seen: moment(row, 9)?,
        session: optional_session_id(row, 10)?,
        memory: row.try_get(11)?,
    })
}
