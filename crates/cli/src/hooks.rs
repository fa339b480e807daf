//! Agents' hooks. Translates the events of each agent to a common form, and the answers back. If anything is wrong with
//! leftoff, the agent continues as if there were no hook.

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

/// The maximum size of an event, in bytes. An event may contain the whole output of a tool.
const LONGEST_INPUT: u64 = 16 * 1024 * 1024;

/// The protocol of one agent, for its events and for the answers to them.
struct Protocol {
    name: &'static str,
    /// Environment variables that the agent sets for every command. A terminal in the agent's editor does not have
    /// them.
    markers: &'static [&'static str],
    /// Names of the agent's own process. The name of an interpreter, such as `node`, does not identify an agent.
    programs: &'static [&'static str],
    /// Parses an event. The second argument is the name of the event, because the events of some agents do not contain
    /// it.
    read: fn(&[u8], &str) -> Result<Heard, String>,
    /// Writes the answer. The answer is empty if there is nothing to say.
    write: fn(&Heard, &Reply) -> String,
}

/// A parsed event, and the name that the answer must have.
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

/// An agent that leftoff does not know, and that has set its own variable in the environment of a parent process.
const UNNAMED: (&str, &str) = ("LEFTOFF_AGENT_SESSION", "agent");

/// The agent under which this process runs. It is found by the variables that agents set for their commands, and by the
/// parent processes.
pub fn marked_agent(origin: &Origin) -> Option<&'static str> {
    let is_its = |protocol: &&Protocol| {
        protocol.markers.iter().any(|name| origin.has(name))
            || protocol.programs.iter().any(|name| origin.is_below(name))
    };
    let known = PROTOCOLS.iter().find(is_its).map(|protocol| protocol.name);
    let (variable, unnamed) = UNNAMED;
    known.or_else(|| origin.has(variable).then_some(unnamed))
}

/// Answers one event. The exit code is always 0. A problem is reported on one line of stderr.
pub fn run(arguments: &[OsString]) -> ExitCode {
    // The standard library would print many lines for a panic. This program prints one line.
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

/// The text for stdout, and a problem if there is one.
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
    let _hurry = time_limit::set(&heard.event.happened);
    let exported = environment_file::export(&heard.event);
    let mut reply = engine::hooks::respond(&heard.event).map_err(|error| error.to_string())?;
    if matches!(heard.event.happened, Happened::Arrived { .. } | Happened::Ended) {
        engine::sync_in_background(&heard.event.folder);
    }
    reply.verdict = inert(reply.verdict);
    let problem = reply.problem.clone().or(exported.err());
    Ok(((protocol.write)(&heard, &reply), problem))
}

/// The verdict, with control characters removed from its reason, because the agent displays the reason on a terminal.
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

/// The identity of an agent session, from an id that the agent gives. The id must be short and have only plain
/// characters, so that it can never be a path.
fn identity(agent: &str, id: &str) -> Result<AgentIdentity, String> {
    AgentIdentity::parse(&format!("{agent}:{id}"))
        .ok_or_else(|| "the agent's session id has characters that are not allowed".to_owned())
}

/// An id for a tool call of an agent that gives only the time of the call. Equal events with the same time are the same
/// event, delivered twice.
fn identified(when: &serde_json::Value, input: &[u8]) -> Option<String> {
    let is_said = when.is_string() || when.is_number();
    is_said.then(|| engine::hooks::fingerprint(input))
}

fn unreadable(error: &serde_json::Error) -> String {
    format!("the event cannot be read: {error}")
}
