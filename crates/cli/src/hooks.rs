//! Agents' hooks: translates each agent's events to a common form, and the answers back. Fails open: whatever is wrong
//! with leftoff, the agent continues.

mod claude;
mod codex;
mod copilot;
mod cursor;
mod environment_file;
mod gemini;
mod opencode;
pub mod statusline;
#[cfg(target_os = "linux")]
mod time_limit;
mod wording;

use crate::origin::Origin;
use engine::AgentIdentity;
use engine::hooks::{Happened, HookEvent, Reply, Verdict};
use engine::words::without_steering;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;

/// The maximum size of an event, which may contain a tool's whole output.
const LONGEST_INPUT: u64 = 16 * 1024 * 1024;

/// The protocol of one agent, in both directions.
struct Protocol {
    name: &'static str,
    /// Environment variables that the agent sets for every command. The terminal in an editor has none of them.
    markers: &'static [&'static str],
    /// Names of the agent's own process; a script's interpreter, such as `node`, says nothing.
    programs: &'static [&'static str],
    /// Parses an event. The second argument is the event's name, for agents whose events do not contain it.
    read: fn(&[u8], &str) -> Result<Heard, String>,
    /// Formats the answer. Empty if there is nothing to say.
    write: fn(&Heard, &Reply) -> String,
}

/// A parsed event, and its name in the answer.
struct Heard {
    event: HookEvent,
    name: String,
}

const PROTOCOLS: [Protocol; 6] = [
    claude::PROTOCOL,
    codex::PROTOCOL,
    gemini::PROTOCOL,
    cursor::PROTOCOL,
    copilot::PROTOCOL,
    opencode::PROTOCOL,
];

/// An agent that only says of itself that it is one: its own variable is in the environment of a parent.
const UNNAMED: (&str, &str) = ("LEFTOFF_AGENT_SESSION", "agent");

/// The agent under which this process runs, by the variables that agents set for their commands, and by its parents.
pub fn marked_agent(origin: &Origin) -> Option<&'static str> {
    let is_its = |protocol: &&Protocol| {
        protocol.markers.iter().any(|name| origin.has(name))
            || protocol.programs.iter().any(|name| origin.is_below(name))
    };
    let known = PROTOCOLS.iter().find(is_its).map(|protocol| protocol.name);
    let (variable, unnamed) = UNNAMED;
    known.or_else(|| origin.has(variable).then_some(unnamed))
}

/// Answers one event. Always exits with code 0; a problem is one line on stderr.
pub fn run(arguments: &[OsString]) -> ExitCode {
    // A panic would print many lines; this program prints one.
    std::panic::set_hook(Box::new(|_| {}));
    let answered = std::panic::catch_unwind(AssertUnwindSafe(|| answer(arguments)));
    let problem = match answered {
        Ok(Ok((answer, problem))) => {
            let mut stdout = std::io::stdout().lock();
            let _ = stdout.write_all(answer.as_bytes());
            let _ = stdout.flush();
            problem
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

/// Returns the text for stdout, and a problem if there is one.
fn answer(arguments: &[OsString]) -> Result<(String, Option<String>), String> {
    let agent = arguments.first().and_then(|word| word.to_str()).unwrap_or_default();
    let Some(protocol) = PROTOCOLS.iter().find(|protocol| protocol.name == agent) else {
        return Err(no_such_agent(agent));
    };
    let named = arguments.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    let input = input()?;
    let mut heard = (protocol.read)(&input, named)?;
    heard.event = heard.event.delivered_as(&input);
    #[cfg(target_os = "linux")]
    let _hurry = time_limit::set();
    let exported = environment_file::export(&heard.event);
    let mut reply = engine::hooks::respond(&heard.event).map_err(|error| error.to_string())?;
    if matches!(heard.event.happened, Happened::Arrived { .. } | Happened::Ended) {
        engine::sync_in_background(&heard.event.folder);
    }
    reply.verdict = inert(reply.verdict);
    let problem = reply.problem.clone().or(exported.err());
    Ok(((protocol.write)(&heard, &reply), problem))
}

/// A verdict whose reason cannot control the terminal on which the agent displays it.
fn inert(verdict: Verdict) -> Verdict {
    let without = |why: String| without_steering(&why).into_owned();
    match verdict {
        Verdict::Allow => Verdict::Allow,
        Verdict::Deny(why) => Verdict::Deny(without(why)),
        Verdict::Hold(why) => Verdict::Hold(without(why)),
    }
}

fn no_such_agent(agent: &str) -> String {
    let names: Vec<&str> = PROTOCOLS.iter().map(|protocol| protocol.name).collect();
    let what =
        if agent.is_empty() { "no agent was named".to_owned() } else { format!("unknown agent '{agent}'") };
    format!("{what}; use: leftoff hook {}", names.join("|"))
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

/// Accepts a foreign id with plain characters and a limited length, so that it can never be a path.
fn identity(agent: &str, id: &str) -> Result<AgentIdentity, String> {
    AgentIdentity::parse(&format!("{agent}:{id}"))
        .ok_or_else(|| "the agent's session id has characters that are not allowed".to_owned())
}

/// An id for a tool call of an agent that gives only the time of a call: equal events with the same time are one event
/// that was delivered twice.
fn identified(when: &serde_json::Value, input: &[u8]) -> Option<String> {
    let is_said = when.is_string() || when.is_number();
    is_said.then(|| engine::hooks::fingerprint(input))
}

fn unreadable(error: &serde_json::Error) -> String {
    format!("the event cannot be read: {error}")
}
