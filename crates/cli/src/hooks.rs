//! Agents' hooks: one event model, one translation per agent. Fails open: whatever is wrong with us, the agent goes on.

mod claude;

use std::ffi::OsString;
use std::io::{Read, Write};
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;
use std::time::Duration;

/// A hook runs on every tool call: it does not queue for long.
const PATIENCE: Duration = Duration::from_millis(50);
/// Far more than any event; a tool's whole output can be in one.
const LONGEST_INPUT: u64 = 16 * 1024 * 1024;

/// Answers one event. Exit code 0 always; what went wrong is one line on stderr.
pub fn run(arguments: &[OsString]) -> ExitCode {
    // A panic's own report would be many lines; ours is one.
    std::panic::set_hook(Box::new(|_| {}));
    let answered = std::panic::catch_unwind(AssertUnwindSafe(|| answer(arguments)));
    let problem = match answered {
        Ok(Ok(answer)) => {
            let mut stdout = std::io::stdout().lock();
            let _ = stdout.write_all(answer.as_bytes());
            let _ = stdout.flush();
            None
        }
        Ok(Err(problem)) => Some(problem),
        Err(_) => Some("an internal error; please report it".to_owned()),
    };
    if let Some(problem) = problem {
        let line = engine::words::one_line(&problem, 300);
        let _ = writeln!(std::io::stderr().lock(), "leftoff hook: {line}");
    }
    ExitCode::SUCCESS
}

/// What goes to stdout; empty when there is nothing to say.
fn answer(arguments: &[OsString]) -> Result<String, String> {
    let agent = arguments.first().and_then(|word| word.to_str()).unwrap_or_default();
    match agent {
        "claude" => claude::answer(&input()?),
        "" => Err("no agent was named; use: leftoff hook claude".to_owned()),
        other => Err(format!("there is no agent '{other}'; use: leftoff hook claude")),
    }
}

fn input() -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(LONGEST_INPUT)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("reading the event: {error}"))?;
    Ok(bytes)
}
