//! `./bench` makes all measurements in one run, and prints ratios. It is not part of `./test`, because it
//! takes minutes and needs a machine without other work.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "its output is what it is for")]

mod files;
mod fill;
mod hooks;
mod items;
mod mcp;
mod measures;
mod peers;
mod postgres;
mod project;
mod sample;
mod screens;
mod sharing;
mod table;

use project::Programs;
use std::process::ExitCode;
use table::Table;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The sizes and the numbers of repetitions of the measurements.
#[derive(Clone, Copy)]
struct Effort {
    /// The number of rounds. In each round, every program takes one sample, one program after the other.
    rounds: usize,
    sessions: u64,
    events: u64,
    long_history: usize,
    commands_a_process: usize,
    items: usize,
}

const FULL: Effort = Effort {
    rounds: 400,
    sessions: 100_000,
    events: 1_000_000,
    long_history: 10_000,
    commands_a_process: 200,
    items: 10_000,
};
const QUICK: Effort = Effort {
    rounds: 80,
    sessions: 10_000,
    events: 100_000,
    long_history: 2_000,
    commands_a_process: 50,
    items: 2_000,
};

/// The part of the measurements to run.
#[derive(Clone, Copy)]
enum Only {
    Everything,
    Hooks,
    InProcess,
    Screens,
    Sharing,
    Peers,
    Postgres,
}

fn main() -> ExitCode {
    let mut effort = FULL;
    let mut checking = false;
    let mut only = Only::Everything;
    for word in std::env::args().skip(1) {
        match word.as_str() {
            "--check" => checking = true,
            "--quick" => effort = QUICK,
            "--hooks" => only = Only::Hooks,
            "--in-process" => only = Only::InProcess,
            "--screens" => only = Only::Screens,
            "--sync" => only = Only::Sharing,
            "--postgres" => only = Only::Postgres,
            "--peers" => only = Only::Peers,
            _ => {
                eprintln!(
                    "usage: ./bench [--check] [--quick] [--hooks | --in-process | --screens | --sync | --postgres | --peers]"
                );
                return ExitCode::from(2);
            }
        }
    }
    let measured = match only {
        Only::Everything => measure(effort),
        Only::Hooks => measure_part(|programs, table| hooks::hooks(programs, effort, table)),
        Only::InProcess => measure_part(|programs, table| {
            measures::in_process(programs, effort, table)?;
            peers::langgraph(programs, effort, table)
        }),
        Only::Screens => measure_part(|programs, table| screens::screens(programs, effort, table)),
        Only::Sharing => measure_part(|programs, table| sharing::sharing(programs, effort, table)),
        Only::Peers => measure_part(|programs, table| peers::peers(programs, effort, table)),
        Only::Postgres => measure_part(|programs, table| postgres::postgres(programs, effort, table)),
    };
    match measured {
        Ok(table) if checking && !table.all_hold() => ExitCode::FAILURE,
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(effort: Effort) -> Result<Table> {
    let programs = Programs::installed()?;
    let mut table = Table::begin(&machine());
    measures::read(&programs, effort, &mut table)?;
    measures::write(&programs, effort, &mut table)?;
    measures::gate(&programs, effort, &mut table)?;
    measures::resume_and_brief(&programs, effort, &mut table)?;
    measures::many_sessions(&programs, effort, &mut table)?;
    measures::long_history(&programs, effort, &mut table)?;
    files::many_files(&programs, effort, &mut table)?;
    measures::bundle(&programs, effort, &mut table)?;
    items::many_items(&programs, effort, &mut table)?;
    measures::pages(&programs, &mut table)?;
    measures::in_process(&programs, effort, &mut table)?;
    peers::langgraph(&programs, effort, &mut table)?;
    measures::many_processes(&programs, effort, &mut table)?;
    hooks::hooks(&programs, effort, &mut table)?;
    mcp::server(&programs, effort, &mut table)?;
    measures::memory(&programs, &mut table)?;
    table.end();
    Ok(table)
}

/// Makes only the measurements that matter to agents, or only those of screens for people.
fn measure_part(measure: impl FnOnce(&Programs, &mut Table) -> Result<()>) -> Result<Table> {
    let programs = Programs::installed()?;
    let mut table = Table::begin(&machine());
    measure(&programs, &mut table)?;
    table.end();
    Ok(table)
}

fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let busy = load.split(' ').next().unwrap_or("unknown");
    format!("{} {}, {cores} cores, load {busy} before", std::env::consts::OS, kernel.trim())
}
