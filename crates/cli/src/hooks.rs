//! Agents' hooks: what each agent says becomes one kind of event, and the answer goes back in the agent's own words.
//! Fails open: whatever is wrong with us, the agent goes on.

#[cfg(target_os = "linux")]
mod alarm;
mod claude;
mod codex;
mod copilot;
mod cursor;
mod environment;
mod gemini;
mod opencode;
pub mod statusline;
mod wording;

use engine::AgentIdentity;
use engine::hooks::{HookEvent, Reply, Verdict};
use engine::words::without_steering;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;

/// Far more than any event; a tool's whole output can be in one.
const LONGEST_INPUT: u64 = 16 * 1024 * 1024;

/// One agent's protocol, both ways.
struct Protocol {
    name: &'static str,
    /// Variables that the agent sets for every command that it runs. An editor's own terminal has none of them.
    markers: &'static [&'static str],
    /// Reads an event. The second text is its name, where the agent does not say it in the event itself.
    read: fn(&[u8], &str) -> Result<Heard, String>,
    /// Says the answer. Empty when there is nothing to say.
    write: fn(&Heard, &Reply) -> String,
}

/// An event, and what its answer must call it.
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

/// The agent that this process runs under, by the variables that agents set for their commands.
pub fn marked_agent() -> Option<&'static str> {
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    PROTOCOLS.iter().find(|protocol| protocol.markers.iter().any(is_set)).map(|protocol| protocol.name)
}

/// Answers one event. Exit code 0 always; what went wrong is one line on stderr.
pub fn run(arguments: &[OsString]) -> ExitCode {
    // A panic's own report would be many lines; ours is one.
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

/// What goes to stdout, and what could not be done.
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
    let _alarm = alarm::set();
    let exported = environment::export(&heard.event);
    let mut reply = engine::hooks::respond(&heard.event).map_err(|error| error.to_string())?;
    reply.verdict = inert(reply.verdict);
    let problem = reply.problem.clone().or(exported.err());
    Ok(((protocol.write)(&heard, &reply), problem))
}

/// A verdict whose reason holds nothing that would steer the terminal on which the agent shows it.
fn inert(verdict: Verdict) -> Verdict {
    let without = |why: String| without_steering(&why).into_owned();
    match verdict {
        Verdict::GoOn => Verdict::GoOn,
        Verdict::Deny(why) => Verdict::Deny(without(why)),
        Verdict::Hold(why) => Verdict::Hold(without(why)),
    }
}

fn no_such_agent(agent: &str) -> String {
    let names: Vec<&str> = PROTOCOLS.iter().map(|protocol| protocol.name).collect();
    let what = if agent.is_empty() {
        "no agent was named".to_owned()
    } else {
        format!("there is no agent '{agent}'")
    };
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

/// An id from outside: plain characters, not too many, and never a path.
fn identity(agent: &str, id: &str) -> Result<AgentIdentity, String> {
    AgentIdentity::parse(&format!("{agent}:{id}"))
        .ok_or_else(|| "the agent's session id has characters that are not allowed".to_owned())
}

/// A name for a tool's use, from an agent that gives it none but says when it happened: what is the same to the
/// moment is the same event, delivered twice.
fn identified(when: &serde_json::Value, input: &[u8]) -> Option<String> {
    let is_said = when.is_string() || when.is_number();
    is_said.then(|| engine::hooks::fingerprint(input))
}

fn unreadable(error: &serde_json::Error) -> String {
    format!("the event cannot be read: {error}")
}
