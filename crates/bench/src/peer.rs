//! leftoff beside LangGraph's checkpointer, which also keeps agents' state in SQLite. Needs Python and a
//! package index; without them the line is left out, with a message.

use crate::measures::NOTE;
use crate::project::Programs;
use crate::sample::{interleaved, median, ratio};
use crate::table::{Must, Table};
use crate::{Effort, Result};
use engine::Request;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const PACKAGE: &str = "langgraph-checkpoint-sqlite";
const PUT: &str = include_str!("put.py");
/// Changes between two clock readings.
const BLOCK: u32 = 25;

pub fn langgraph(programs: &Programs, effort: Effort, table: &mut Table) -> Result<()> {
    let python = match installed(programs.built()) {
        Ok(python) => python,
        Err(why) => {
            println!(
                "LEFT OUT: in-process note beside LangGraph's put: {PACKAGE} cannot be installed ({why})"
            );
            return Ok(());
        }
    };
    let (ours, theirs) = (programs.project()?, programs.empty_project()?);
    let mut engine = ours.engine()?;
    let mut saver = Saver::start(&python, theirs.folder())?;
    let [notes, puts] = interleaved(
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
            &mut || saver.put(BLOCK),
        ],
    )?;
    let rate = |times: &[Duration]| format!("{:.0}/s", f64::from(BLOCK) / median(times).as_secs_f64());
    let of = format!("{} : {}", rate(&notes), rate(&puts));
    table.line("in-process note : LangGraph's put", ratio(&puts, &notes), Must::AtLeast(0.9), &of);
    Ok(())
}

/// The package in its own environment beside the programs, created once.
fn installed(built: &Path) -> Result<PathBuf> {
    let folder = built.join("langgraph");
    let python = folder.join("bin/python");
    let is_there = |python: &Path| {
        let mut asked = Command::new(python);
        asked.args(["-c", "import langgraph.checkpoint.sqlite"]).stderr(Stdio::null());
        asked.status().is_ok_and(|ended| ended.success())
    };
    if !is_there(&python) {
        must(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        must(Command::new(folder.join("bin/pip")).args(["install", "--quiet", PACKAGE]))?;
    }
    Ok(python)
}

fn must(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(said.lines().last().unwrap_or("it ended without a word").to_owned().into())
}

/// The checkpointer in a long-lived process, like ours.
struct Saver {
    process: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Saver {
    fn start(python: &Path, folder: &Path) -> Result<Self> {
        let mut process = Command::new(python)
            .args(["-c", PUT])
            .arg(folder.join("checkpoints.db"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let orders = process.stdin.take().ok_or("no way to order")?;
        let answers = BufReader::new(process.stdout.take().ok_or("no way to be answered")?);
        Ok(Self { process, orders, answers })
    }

    fn put(&mut self, count: u32) -> Result<Duration> {
        writeln!(self.orders, "{count}")?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        Ok(Duration::from_nanos(answer.trim().parse()?))
    }
}

impl Drop for Saver {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
