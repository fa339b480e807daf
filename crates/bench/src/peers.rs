//! Compares leftoff with other programs that store the state of agents. Both do the same work in the same
//! run. The other programs are installed only once, next to leftoff's. A program that cannot be installed is
//! left out, with a message.

mod commands;

use crate::measures::NOTE;
use crate::postgres::Team;
use crate::project::{Programs, Project};
use crate::sample::{interleaved, median, ratio};
use crate::table::{Must, Table};
use crate::{Effort, Result};
use engine::Request;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use testkit::postgres::{PASSWORD, Server};

const PUT: &str = include_str!("peers/put.py");
const STEPS: &str = include_str!("peers/steps.py");
/// The number of changes that are timed together.
const BLOCK: u32 = 25;

/// A library for Python: the module to import, and the packages that contain it.
struct Library {
    module: &'static str,
    packages: &'static [&'static str],
}

const LANGGRAPH: Library =
    Library { module: "langgraph.checkpoint.sqlite", packages: &["langgraph-checkpoint-sqlite"] };
const LANGGRAPH_POSTGRES: Library = Library {
    module: "langgraph.checkpoint.postgres",
    packages: &["langgraph-checkpoint-postgres", "psycopg[binary]"],
};
const DBOS: Library = Library { module: "dbos", packages: &["dbos"] };

pub fn peers(programs: &Programs, effort: Effort, table: &mut Table) -> Result<()> {
    langgraph(programs, effort, table)?;
    let project = programs.project()?;
    let database = programs.empty_project()?;
    let address = format!("sqlite:///{}", database.folder().join("steps.db").display());
    let what = "in-process note : DBOS's step, SQLite";
    beside(programs, &DBOS, STEPS, &address, what, &project, effort, Must::Nothing, table)?;
    on_postgres(programs, effort, table)?;
    commands::commands(programs, effort, table)
}

/// Compares with the checkpointer of LangGraph, which also stores the state of agents in SQLite.
pub fn langgraph(programs: &Programs, effort: Effort, table: &mut Table) -> Result<()> {
    let (ours, theirs) = (programs.project()?, programs.empty_project()?);
    let database = theirs.folder().join("checkpoints.db").display().to_string();
    let what = "in-process note : LangGraph's put";
    beside(programs, &LANGGRAPH, PUT, &database, what, &ours, effort, Must::AtLeast(0.9), table)
}

fn on_postgres(programs: &Programs, effort: Effort, table: &mut Table) -> Result<()> {
    let Some(server) = Server::start() else {
        println!("LEFT OUT: peers on PostgreSQL: its programs are not installed");
        return Ok(());
    };
    let team = Team::of(programs, &server)?;
    let project = team.project(programs, "leftoff")?;
    let address =
        |database: &str| format!("postgresql://postgres:{PASSWORD}@127.0.0.1:{}/{database}", server.port());
    let what = "note on PostgreSQL : LangGraph's put there";
    let theirs = address("postgres");
    beside(programs, &LANGGRAPH_POSTGRES, PUT, &theirs, what, &project, effort, Must::Nothing, table)?;
    let what = "note on PostgreSQL : DBOS's step there";
    let theirs = address("steps");
    beside(programs, &DBOS, STEPS, &theirs, what, &project, effort, Must::Nothing, table)
}

/// Compares commands of an engine that stays open with calls of a library in a process that stays open.
#[allow(clippy::too_many_arguments, reason = "one call a line reads as a table")]
fn beside(
    programs: &Programs,
    library: &Library,
    script: &str,
    argument: &str,
    what: &str,
    project: &Project,
    effort: Effort,
    must: Must,
    table: &mut Table,
) -> Result<()> {
    let python = match library.installed(programs.built()) {
        Ok(python) => python,
        Err(why) => {
            println!("LEFT OUT: {what}: {} cannot be installed ({why})", library.packages.join(" "));
            return Ok(());
        }
    };
    let mut engine = project.engine()?;
    let mut peer = Peer::start(&python, script, argument)?;
    let [notes, theirs] = interleaved(
        effort.rounds / 4,
        |_| Ok(()),
        &mut [
            &mut || {
                let begun = Instant::now();
                for _ in 0..BLOCK {
                    engine.execute(Request::note(NOTE))?;
                }
                Ok(begun.elapsed())
            },
            &mut || peer.work(BLOCK),
        ],
    )?;
    let rate = |times: &[Duration]| format!("{:.0}/s", f64::from(BLOCK) / median(times).as_secs_f64());
    table.line(what, ratio(&theirs, &notes), must, &format!("{} : {}", rate(&notes), rate(&theirs)));
    Ok(())
}

impl Library {
    /// Installs the packages in an environment for these comparisons, which is created only once.
    fn installed(&self, built: &Path) -> Result<PathBuf> {
        let folder = built.join("python-peers");
        let python = folder.join("bin/python");
        let mut asked = Command::new(&python);
        asked.args(["-c", &format!("import {}", self.module)]).stderr(Stdio::null());
        if !asked.status().is_ok_and(|ended| ended.success()) {
            must(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
            must(Command::new(folder.join("bin/pip")).args(["install", "--quiet"]).args(self.packages))?;
        }
        Ok(python)
    }
}

/// Runs a command until it ends. If it fails, the error is the last line of its output.
fn must(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(said.lines().last().unwrap_or("it failed without a message").to_owned().into())
}

/// A library in a process that stays open, like the engine with which it is compared.
struct Peer {
    process: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    fn start(python: &Path, script: &str, argument: &str) -> Result<Self> {
        let mut process = Command::new(python)
            .args(["-c", script, argument])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let orders = process.stdin.take().ok_or("the peer has no stdin")?;
        let answers = BufReader::new(process.stdout.take().ok_or("the peer has no stdout")?);
        Ok(Self { process, orders, answers })
    }

    fn work(&mut self, count: u32) -> Result<Duration> {
        writeln!(self.orders, "{count}")?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        Ok(Duration::from_nanos(answer.trim().parse()?))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
