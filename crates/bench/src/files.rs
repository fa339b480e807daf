//! Measures sessions that are stored in the files of another tool: a query about one session must not read
//! the others, and a list must be fast.

use crate::project::{Programs, Project};
use crate::sample::{interleaved, median, medians, milliseconds, ratio, timed};
use crate::table::{Must, Table};
use crate::{Effort, Result};
use std::fs;
use std::process::Command;

const FEW: usize = 10;
const MANY: usize = 1_000;
const AGENT: &str = "claude:b3a1d3c2-0000-4000-8000-000000000001";

pub fn many_files(programs: &Programs, effort: Effort, table: &mut Table) -> Result<()> {
    let (few, many) = (reviews(programs, FEW)?, reviews(programs, MANY)?);
    let [with_many, with_few] = interleaved(
        effort.rounds / 2,
        |_| Ok(()),
        &mut [&mut || timed(&mut bound(&many)), &mut || timed(&mut bound(&few))],
    )?;
    let what = format!("status of a bound session in files, {MANY} on disk : {FEW}");
    table.line(&what, ratio(&with_many, &with_few), Must::AtMost(1.5), &medians(&with_many, &with_few));
    let [with_many, with_few] = interleaved(
        effort.rounds / 4,
        |_| Ok(()),
        &mut [&mut || timed(&mut many.leftoff(&["status"])), &mut || timed(&mut few.leftoff(&["status"]))],
    )?;
    let what = format!("status of the current session in files, {MANY} on disk : {FEW}");
    table.line(&what, ratio(&with_many, &with_few), Must::AtMost(2.0), &medians(&with_many, &with_few));
    let [listed] = interleaved(
        effort.rounds / 4,
        |_| Ok(()),
        &mut [&mut || timed(&mut many.leftoff(&["list", "--all"]))],
    )?;
    let time = median(&listed);
    let what = format!("list of {MANY} sessions in files, in ms");
    table.line(&what, time.as_secs_f64() * 1000.0, Must::AtMost(20.0), &milliseconds(time));
    Ok(())
}

/// A query by an agent that is bound to the last review.
fn bound(project: &Project) -> Command {
    let mut status = project.leftoff(&["status"]);
    status.env("LEFTOFF_AGENT_SESSION", AGENT);
    status
}

/// A project with this many reviews of Open Code Review. The last review is adopted.
fn reviews(programs: &Programs, count: usize) -> Result<Project> {
    let project = programs.empty_project()?;
    for number in 0..count {
        let day = format!("2025-{:02}-{:02}", 1 + number / 100, 1 + number % 28);
        let name = format!("{day}-branch-{number:04}");
        let folder = std::path::Path::new(&project.worktree()).join(".ocr/sessions").join(&name);
        fs::create_dir_all(folder.join("rounds/round-1/reviews"))?;
        // The template with which the tool closes a session does not contain the workflow.
        let kind = if number % 2 == 0 { "\n  \"workflow_type\": \"review\"," } else { "" };
        let state = format!(
            "{{\n  \"session_id\": \"{name}\",{kind}\n  \"status\": \"closed\",\n  \
             \"current_phase\": \"complete\",\n  \"phase_number\": 8,\n  \"current_round\": 1,\n  \
             \"started_at\": \"{day}T09:00:00Z\",\n  \"updated_at\": \"{day}T10:00:00Z\"\n}}\n"
        );
        fs::write(folder.join("state.json"), state)?;
        for file in [
            "discovered-standards.md",
            "context.md",
            "rounds/round-1/final.md",
            "rounds/round-1/discourse.md",
        ] {
            fs::write(folder.join(file), "written\n")?;
        }
        for reviewer in ["principal-1", "quality-1", "security-1"] {
            fs::write(folder.join(format!("rounds/round-1/reviews/{reviewer}.md")), "## Finding 1\n")?;
        }
    }
    let mut start = project.leftoff(&["start", "--layout", "ocr", "--id", "2025-12-31-current"]);
    timed(start.env("LEFTOFF_AGENT_SESSION", AGENT))?;
    Ok(project)
}
