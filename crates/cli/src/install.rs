//! Adds hooks, the MCP entry and instructions to agents' files, and removes them. Adds only what is missing. leftoff's
//! entries are recognised by their command or their marks, so an installation can be repeated safely.

pub mod agents;
mod agents_md_section;
mod edit;
mod files;
mod json;
mod line_differences;
mod marked_section;
pub mod req_link;
mod wiring;
mod writable_roots;

pub use wiring::{Wiring, wiring};

use crate::failure::Failure;
use agents::{AGENTS, Agent, Places};
use edit::Edit;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The task of an installation: to add entries, or to remove them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    PutIn,
    TakeOut,
}

/// A file that was changed, or would be changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Touched {
    pub path: PathBuf,
    pub change: Change,
    /// The lines in which the old and the new text of the file differ.
    pub lines: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    Created,
    Changed,
    Unchanged,
    Removed,
}

/// The content that a file is about to get.
struct Planned {
    base: PathBuf,
    touched: Touched,
    text: Option<String>,
}

/// Adds or removes the entries of these agents. All changes are computed before the first is written.
pub fn run(agents: &[&Agent], places: &Places, task: Task, dry_run: bool) -> Result<Vec<Touched>, Failure> {
    let mut edits: Vec<(PathBuf, Edit)> = agents.iter().flat_map(|agent| agent.edits(places)).collect();
    if let Some(root) = &places.project
        && (task == Task::PutIn || agents.len() == AGENTS.len() || !others_are_wired(agents, places))
    {
        edits.extend(agents::common_edits(root));
    }
    let planned: Vec<Planned> =
        edits.iter().map(|(base, edit)| plan(base, edit, task)).collect::<Result<Vec<_>, _>>()?;
    if !dry_run {
        planned.iter().try_for_each(carry_out)?;
    }
    Ok(planned.into_iter().map(|planned| planned.touched).collect())
}

/// The agents with these names. Without names: the agents that are in use here, or all agents if entries are removed.
pub fn chosen(names: &[String], places: &Places, task: Task) -> Result<Vec<&'static Agent>, Failure> {
    if names.is_empty() {
        let wanted = |agent: &&Agent| task == Task::TakeOut || agent.is_in_use(places);
        return Ok(AGENTS.iter().filter(wanted).collect());
    }
    let mut chosen: Vec<&'static Agent> = Vec::new();
    for name in names {
        let Some(agent) = agents::find(name) else { return Err(no_such_agent(name)) };
        if !chosen.iter().any(|known| known.name == agent.name) {
            chosen.push(agent);
        }
    }
    Ok(chosen)
}

/// True if a program `leftoff` is in the PATH, so that hooks can call it.
pub fn is_in_path() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join("leftoff").is_file())
}

/// True if an agent that is not in the list still has entries. The instructions for all agents must then stay.
fn others_are_wired(agents: &[&Agent], places: &Places) -> bool {
    let others = AGENTS.iter().filter(|agent| !agents.iter().any(|named| named.name == agent.name));
    others.into_iter().any(|agent| wiring::of(agent, places).is_some())
}

fn plan(base: &Path, edit: &Edit, task: Task) -> Result<Planned, Failure> {
    let path = edit.path().to_owned();
    // If CLAUDE.md is a link to AGENTS.md, it already contains the instructions.
    let skipped = matches!(edit, Edit::Section { only_if_there: true, .. }) && files::is_link(&path);
    let before = if skipped { None } else { files::read(base, &path)? };
    let text = match task {
        Task::PutIn => edit.put_in(before.as_deref()),
        Task::TakeOut => edit.take_out(before.as_deref()),
    };
    let text = text.map_err(|why| {
        let hint = "nothing was changed; fix the file, then try again";
        Failure::refused(format!("cannot edit {}: {why}", path.display()), hint)
    })?;
    let change = match (&before, &text) {
        (None, Some(_)) => Change::Created,
        (Some(_), None) => Change::Removed,
        (None, None) => Change::Unchanged,
        (Some(before), Some(after)) if before == after => Change::Unchanged,
        (Some(_), Some(_)) => Change::Changed,
    };
    let lines =
        line_differences::lines(before.as_deref().unwrap_or_default(), text.as_deref().unwrap_or_default());
    Ok(Planned { base: base.to_owned(), touched: Touched { path, change, lines }, text })
}

fn carry_out(planned: &Planned) -> Result<(), Failure> {
    let path = &planned.touched.path;
    match (planned.touched.change, &planned.text) {
        (Change::Created | Change::Changed, Some(text)) => files::write(path, text),
        (Change::Removed, _) => files::remove(&planned.base, path),
        (Change::Unchanged | Change::Created | Change::Changed, _) => Ok(()),
    }
}

fn no_such_agent(name: &str) -> Failure {
    let names: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
    Failure::wrong_usage(format!("unknown agent '{name}'"), format!("the agents: {}", names.join(", ")))
}
