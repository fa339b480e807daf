//! Measures the MCP server: the time until its first answer, and its cost while it is idle.

use crate::project::{Programs, Project};
use crate::sample::{interleaved, medians, ratio, timed};
use crate::table::{Must, Table};
use crate::{Effort, Result};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// A request without a state: it contains everything that the server needs to answer it.
const STATUS: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"status","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
const CALLS_BEFORE_IDLE: usize = 50;

pub fn server(programs: &Programs, effort: Effort, table: &mut Table) -> Result<()> {
    let project = programs.project()?;
    let [first, empty] = interleaved(
        effort.rounds / 2,
        |_| Ok(()),
        &mut [&mut || first_answer(&project), &mut || timed(&mut programs.empty_process())],
    )?;
    let of = medians(&first, &empty);
    table.line("mcp, start to first answer : empty process", ratio(&first, &empty), Must::AtMost(10.0), &of);
    let mut server = Server::start(&project)?;
    for _ in 0..CALLS_BEFORE_IDLE {
        server.ask()?;
    }
    let megabytes = server.resident()?;
    let of = format!("after {CALLS_BEFORE_IDLE} calls");
    table.line("mcp, memory of an idle server, MB", megabytes, Must::AtMost(30.0), &of);
    Ok(())
}

/// The time from before the process starts until its first answer. The end of the process is not included.
fn first_answer(project: &Project) -> Result<Duration> {
    let begun = Instant::now();
    let mut server = Server::start(project)?;
    server.ask()?;
    Ok(begun.elapsed())
}

struct Server {
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl Server {
    fn start(project: &Project) -> Result<Self> {
        let mut command = project.leftoff(&["mcp"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let answers = BufReader::new(child.stdout.take().ok_or("no pipe")?);
        Ok(Self { child, answers })
    }

    fn ask(&mut self) -> Result<()> {
        let input = self.child.stdin.as_mut().ok_or("no pipe")?;
        input.write_all(format!("{STATUS}\n").as_bytes())?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        if line.contains("\"outcome\":\"session\"") {
            Ok(())
        } else {
            Err(format!("answered {line:?}").into())
        }
    }

    /// The memory that the server uses at the moment, in MiB.
    fn resident(&self) -> Result<f64> {
        let output = Command::new("ps").args(["-o", "rss=", "-p", &self.child.id().to_string()]).output()?;
        let kilobytes: f64 = String::from_utf8(output.stdout)?.trim().parse()?;
        Ok(kilobytes / 1024.0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
