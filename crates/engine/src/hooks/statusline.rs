//! The data of an agent's status bar: a session's position. The command line words it, in its `hooks/statusline.rs`.

use crate::engine::{Engine, HookNeeds, Intent, Options, Want};
use crate::error::{Error, Result};
use crate::presence::AgentIdentity;
use model::status::Status;
use std::path::Path;

/// The content of a status bar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusLine {
    pub title: String,
    pub phase: String,
    pub number: u32,
    /// The number of the last phase.
    pub last: u32,
    pub percent: u32,
    pub status: Status,
    pub time_in_phase_seconds: Option<u64>,
    /// The number of unsatisfied requirements.
    pub open_requirements: usize,
    pub items_done: u32,
    pub items: u32,
}

/// Returns the content of the status bar for this agent's session, or else for that of the folder. `None` if there is
/// no session.
pub fn status_line(folder: &Path, agent: Option<AgentIdentity>) -> Result<Option<StatusLine>> {
    let options = Options { project: Some(folder.to_owned()), ..Options::default() };
    let mut engine = match Engine::open(options, Intent::Hook(HookNeeds::Reads)) {
        Ok(engine) => engine,
        Err(Error::NoProject { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    engine.caller.agent = agent.or(engine.caller.agent);
    let view = match engine.select(Want::Unfinished) {
        Ok(id) => engine.view_by_id(&id)?,
        Err(Error::NoSession { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    std::mem::forget(engine);
    let total = u32::try_from(view.workflow.total_phases).unwrap_or(u32::MAX);
    Ok(Some(StatusLine {
        phase: view.current_phase.id.to_string(),
        number: view.current_phase.number,
        last: (view.workflow.starting_phase + total).saturating_sub(1),
        percent: view.progress.percent,
        status: view.status,
        time_in_phase_seconds: view.progress.time_in_phase_seconds,
        open_requirements: view.requirements.iter().filter(|one| !one.satisfied).count(),
        items_done: view.item_counts.done,
        items: view.item_counts.total,
        title: view.title,
    }))
}
