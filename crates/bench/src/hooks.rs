//! Measures hooks, which run on every tool call, in a large repository and with a large store.

use crate::project::{Programs, Project};
use crate::sample::{interleaved, medians, ratio, timed, timed_with_input};
use crate::table::{Must, Table};
use crate::{Effort, Result, fill};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const COMMITS: usize = 10_000;
const SESSIONS: u64 = 10_000;
const AGENT: &str = "a4326893-7dc8-405b-aaa4-035b9c0d34a8";

const RULES: &str = "\
requirements:
  commit_plan:
    enabled: true
    type: blocking
    scope: session
    trigger_tools: [Edit]
    message: Write a plan first.
  never:
    enabled: true
    type: blocking
    scope: session
    trigger_tools: [Write]
    message: Not here.
";

pub fn hooks(programs: &Programs, effort: Effort, table: &mut Table) -> Result<()> {
    let project = large(programs)?;
    std::fs::create_dir_all(project.root().join(".claude"))?;
    std::fs::write(project.root().join(".claude/requirements.yaml"), RULES)?;
    let event = |name: &str, fields: &str| input(&project, name, fields);
    let start = event("SessionStart", r#""source":"compact""#)?;
    project.hook(&start)?;
    project.run(&["req", "satisfy", "commit_plan", "--agent-session", AGENT])?;
    let edit = r#""tool_name":"Edit","tool_input":{"file_path":"src/a.rs"},"tool_use_id":"t1""#;
    let write = r#""tool_name":"Write","tool_input":{"file_path":"src/a.rs"},"tool_use_id":"t2""#;
    let allowed = event("PreToolUse", edit)?;
    let denied = event("PreToolUse", write)?;
    let stop = event("Stop", r#""stop_hook_active":false,"last_assistant_message":"Half of it is done.""#)?;
    let ask = |path: &PathBuf| timed_with_input(&mut project.leftoff(&["hook", "claude"]), path);
    let [allows, denies, stops, starts, empty] = interleaved(
        effort.rounds,
        |_| Ok(()),
        &mut [
            &mut || ask(&allowed),
            &mut || ask(&denied),
            &mut || ask(&stop),
            &mut || ask(&start),
            &mut || timed(&mut programs.empty_process()),
        ],
    )?;
    for (what, times, most) in [
        ("hook, a tool allowed : empty process", &allows, 4.0),
        ("hook, a tool denied : empty process", &denies, 4.0),
        ("hook, a stop : empty process", &stops, 4.0),
        ("hook, a start with the brief : empty process", &starts, 8.0),
    ] {
        table.line(what, ratio(times, &empty), Must::AtMost(most), &medians(times, &empty));
    }
    recording(programs, effort, table)
}

/// Compares recording a tool call with a program that writes the same rows as durably.
fn recording(programs: &Programs, effort: Effort, table: &mut Table) -> Result<()> {
    let (ours, theirs) = (large(programs)?, large(programs)?);
    for project in [&ours, &theirs] {
        project.hook(&input(project, "SessionStart", r#""source":"startup""#)?)?;
    }
    let (mut round, mut their_round) = (0_usize, 0_usize);
    let events: Vec<PathBuf> = (0..effort.rounds + 10)
        .map(|round| {
            let fields = format!(
                r#""tool_name":"Edit","tool_input":{{"file_path":"src/part-{}.rs"}},"tool_use_id":"toolu_{round}""#,
                round % 40
            );
            input(&ours, &format!("PostToolUse-{round}"), &fields)
        })
        .collect::<Result<_>>()?;
    let [times, bare] = interleaved(
        effort.rounds,
        |_| Ok(()),
        &mut [
            &mut || {
                round += 1;
                timed_with_input(&mut ours.leftoff(&["hook", "claude"]), &events[round - 1])
            },
            &mut || {
                their_round += 1;
                let mut command = theirs.bare("trace");
                timed(command.args([AGENT, &their_round.to_string()]))
            },
        ],
    )?;
    same_rows(&ours, &theirs)?;
    let of = medians(&times, &bare);
    table.line("hook, a tool recorded : bare writer", ratio(&times, &bare), Must::AtMost(1.5), &of);
    Ok(())
}

/// A project in a repository with a long history, and a store with many sessions.
fn large(programs: &Programs) -> Result<Project> {
    let project = programs.empty_project()?;
    commits(&project)?;
    project.start()?;
    project.run(&["advance"])?;
    fill::fill(&project.database(), SESSIONS, SESSIONS * 10)?;
    Ok(project)
}

fn commits(project: &Project) -> Result<()> {
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(project.root()).args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    if !git(&["init", "--quiet", "--initial-branch=main"]).status()?.success() {
        return Err("git init failed".into());
    }
    let mut import = git(&["fast-import", "--quiet"]).stdin(Stdio::piped()).spawn()?;
    let mut stream = std::io::BufWriter::new(import.stdin.take().ok_or("no pipe")?);
    for number in 1..=COMMITS {
        let text = format!("version {number}\n");
        write!(stream, "commit refs/heads/main\ncommitter Anna <anna@example.org> {number} +0000\n")?;
        write!(stream, "data 5\nstep\n\nM 100644 inline file-{}.txt\n", number % 100)?;
        write!(stream, "data {}\n{text}\n", text.len())?;
    }
    stream.flush()?;
    drop(stream);
    if import.wait()?.success() { Ok(()) } else { Err("git fast-import failed".into()) }
}

/// Writes an event to a file. A hook reads the event from the file.
pub fn input(project: &Project, name: &str, fields: &str) -> Result<PathBuf> {
    let path = project.folder().join(format!("{name}-{}.json", fields.len()));
    let event = name.split('-').next().unwrap_or(name);
    let text = format!(
        r#"{{"session_id":"{AGENT}","transcript_path":"/home/anna/t.jsonl","cwd":"{}","hook_event_name":"{event}",{fields}}}"#,
        project.worktree()
    );
    std::fs::write(&path, text)?;
    Ok(path)
}

fn same_rows(ours: &Project, theirs: &Project) -> Result<()> {
    let written = |project: &Project| -> Result<(u64, u64, u64)> {
        let connection = rusqlite::Connection::open(project.database())?;
        let sql = "SELECT (SELECT count(*) FROM activity),(SELECT sum(count) FROM activity),\
                   (SELECT count(*) FROM keys WHERE key LIKE 'hook %')";
        Ok(connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?)
    };
    let (our_rows, their_rows) = (written(ours)?, written(theirs)?);
    if our_rows == their_rows {
        return Ok(());
    }
    Err(format!("not the same rows: {our_rows:?} : {their_rows:?}").into())
}
