//! Measures sharing through git. A sync with nothing to do, and the first sync of many sessions, are compared
//! with git itself. Everyday commands are compared with the same commands in a project that does not share.

use crate::hooks;
use crate::project::{Programs, Project};
use crate::sample::{interleaved, medians, ratio, timed, timed_with_input};
use crate::table::{Must, Table};
use crate::{Effort, Result};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

pub fn sharing(programs: &Programs, effort: Effort, table: &mut Table) -> Result<()> {
    everyday(programs, effort, table)?;
    let project = with_remote(programs)?;
    let hub = project.folder().join("hub.git");
    run(&project, &["init", "--sync"])?;
    run(&project, &["sync"])?;
    run(&project, &["sync"])?;
    let sidecar = project.database().with_file_name("sync.git");
    let address = hub.to_string_lossy().into_owned();
    let fetch = ["fetch", "--quiet", "--prune", "--no-tags", &address, "+refs/leftoff/v1/*:refs/remotes/*"];
    let [syncs, fetches] = interleaved(
        effort.rounds,
        |_| Ok(()),
        &mut [&mut || timed(&mut leftoff(&project, &["sync"])), &mut || {
            timed(&mut git_command(&sidecar, &fetch))
        }],
    )?;
    let times = medians(&syncs, &fetches);
    table.line("sync, nothing to do : git fetch", ratio(&syncs, &fetches), Must::AtMost(3.0), &times);

    let sessions = effort.sessions.min(10_000);
    add_sessions(&project, sessions)?;
    let begun = Instant::now();
    run(&project, &["sync"])?;
    let first = begun.elapsed();
    git(project.folder(), &["init", "--quiet", "--bare", "other.git"])?;
    let other = project.folder().join("other.git").to_string_lossy().into_owned();
    let push = timed(&mut git_command(&sidecar, &["push", "--quiet", &other, "refs/own:refs/leftoff/v1/x"]))?;
    table.line(
        "first sync of many sessions : git push",
        first.as_secs_f64() / push.as_secs_f64(),
        Must::AtMost(10.0),
        &format!("{sessions} sessions, {:.2} s : {:.2} s", first.as_secs_f64(), push.as_secs_f64()),
    );
    Ok(())
}

/// Compares everyday commands in a project that shares its sessions with those in a project that does not.
fn everyday(programs: &Programs, effort: Effort, table: &mut Table) -> Result<()> {
    let (shared, alone) = (with_remote(programs)?, with_remote(programs)?);
    run(&shared, &["init", "--sync"])?;
    run(&shared, &["sync"])?;
    // Both have the project's settings, which every command reads.
    run(&alone, &["init"])?;
    let tool = r#""tool_name":"Edit","tool_input":{"file_path":"src/a.rs"},"tool_use_id":"t1""#;
    let [shared_tool, alone_tool] =
        [&shared, &alone].map(|project| hooks::input(project, "PreToolUse", tool));
    let (shared_tool, alone_tool) = (shared_tool?, alone_tool?);
    let [statuses, statuses_alone, tools, tools_alone] = interleaved(
        effort.rounds,
        |_| Ok(()),
        &mut [
            &mut || timed(&mut leftoff(&shared, &["status"])),
            &mut || timed(&mut leftoff(&alone, &["status"])),
            &mut || timed_with_input(&mut leftoff(&shared, &["hook", "claude"]), &shared_tool),
            &mut || timed_with_input(&mut leftoff(&alone, &["hook", "claude"]), &alone_tool),
        ],
    )?;
    for (what, times, alone) in [
        ("status, sharing : not sharing", &statuses, &statuses_alone),
        ("hook, a tool allowed, sharing : not sharing", &tools, &tools_alone),
    ] {
        table.line(what, ratio(times, alone), Must::AtMost(1.1), &medians(times, alone));
    }
    Ok(())
}

/// A project with a session, and with a remote repository.
fn with_remote(programs: &Programs) -> Result<Project> {
    let project = programs.project()?;
    git(project.folder(), &["init", "--quiet", "--bare", "hub.git"])?;
    git(project.root(), &["init", "--quiet"])?;
    git(project.root(), &["remote", "add", "origin", "../hub.git"])?;
    Ok(project)
}

/// Copies the existing session, because starting so many sessions would take minutes. Each copy has an id of
/// its own.
fn add_sessions(project: &Project, count: u64) -> Result<()> {
    let connection = rusqlite::Connection::open(project.database())?;
    let id: String = connection.query_row("SELECT id FROM sessions WHERE number=1", [], |row| row.get(0))?;
    let numbers = format!("WITH RECURSIVE n(i)AS(SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<{count})");
    let cursor = "(SELECT max(turn) FROM sessions)";
    connection.execute_batch(&format!(
        "PRAGMA synchronous=OFF; BEGIN; CREATE TEMP TABLE start AS SELECT {cursor} AS turn;\
         {numbers} INSERT INTO sessions(id,worktree,layout,workflow,title,goal,lifecycle,parallel,phase,phases_done,\
         phases_total,created_at,updated_at,version,exclusive,turn)SELECT 'other'||i,worktree,layout,workflow,title,\
         goal,'paused',parallel,phase,phases_done,phases_total,created_at,updated_at,version,exclusive,\
         (SELECT turn FROM start)+i*version FROM n,sessions WHERE number=1;\
         INSERT INTO events(session,version,cursor,at,actor,kind,body)SELECT o.number,e.version,\
         o.turn-o.version+e.version,e.at,e.actor,e.kind,replace(e.body,'{id}',o.id) FROM sessions o,events e \
         WHERE o.id LIKE 'other%' AND e.session=1; COMMIT"
    ))?;
    Ok(())
}

fn leftoff(project: &Project, arguments: &[&str]) -> Command {
    let mut command = project.leftoff(arguments);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
}

fn run(project: &Project, arguments: &[&str]) -> Result<()> {
    timed(&mut leftoff(project, arguments)).map(drop)
}

fn git(folder: &Path, arguments: &[&str]) -> Result<()> {
    timed(&mut git_command(folder, arguments)).map(drop)
}

fn git_command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(folder);
    command
}
