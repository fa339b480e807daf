//! The minimal programs `read DATABASE WORKTREE`, `advance DATABASE WORKTREE` and `trace DATABASE WORKTREE
//! AGENT ROUND`, and `memory PROGRAM ARGUMENT…`, which measures the peak memory of another program.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "its output is what it is for")]

use std::error::Error;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> Result<(), Box<dyn Error>> {
    match words {
        ["read", database, worktree] => print!("{}", bare::read(Path::new(database), worktree)?),
        ["advance", database, worktree] => {
            let writer = bare::Writer::open(Path::new(database))?;
            writer.write(worktree, bare::ADVANCE, bare::ADVANCE_GROWS_SNAPSHOT_BY)?;
        }
        ["trace", database, worktree, agent, round] => {
            bare::Writer::open_without_sync(Path::new(database))?.trace(worktree, agent, round)?;
        }
        ["memory", program, arguments @ ..] => println!("{}", peak_of(program, arguments)?),
        _ => return Err("read|advance DATABASE WORKTREE, trace DATABASE WORKTREE AGENT ROUND, or memory PROGRAM ARGUMENT…".into()),
    }
    Ok(())
}

/// The peak memory of a program, in KiB. A program inherits the peak of the program that starts it, so this
/// small program starts it.
fn peak_of(program: &str, arguments: &[&str]) -> Result<i64, Box<dyn Error>> {
    use nix::sys::resource::{UsageWho, getrusage};
    let ended = Command::new(program).args(arguments).stdout(Stdio::null()).status()?;
    if !ended.success() {
        return Err(format!("{program} {}: {ended}", arguments.join(" ")).into());
    }
    let peak = getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss();
    // macOS reports bytes, other systems report KiB.
    Ok(if cfg!(target_os = "macos") { peak / 1024 } else { peak })
}
