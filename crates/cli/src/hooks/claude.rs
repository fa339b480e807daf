//! Claude Code's hook protocol. SessionStart binds the agent session and gives it the brief; other events get no answer.

use crate::hooks::PATIENCE;
use engine::brief::{Brief, markdown};
use engine::{AgentIdentity, Engine, Error, Intent, Options};
use serde::Deserialize;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What a brief may take of an agent's context.
const BUDGET_TOKENS: usize = 2_000;

#[derive(Deserialize)]
struct Event {
    session_id: String,
    hook_event_name: String,
    cwd: PathBuf,
}

/// The answer to one event.
pub fn answer(input: &[u8]) -> Result<String, String> {
    let event: Event =
        serde_json::from_slice(input).map_err(|error| format!("the event cannot be read: {error}"))?;
    if event.hook_event_name != "SessionStart" {
        return Ok(String::new());
    }
    let identity = AgentIdentity::parse(&format!("claude:{}", event.session_id))
        .ok_or_else(|| "the agent's session id has characters that are not allowed".to_owned())?;
    let exported = export(&identity);
    let brief = match arrived(&event.cwd, &identity) {
        Ok(brief) => brief,
        // No project here: nothing to say.
        Err(Error::NoProject { .. }) => None,
        Err(error) => return Err(error.to_string()),
    };
    match (brief, exported) {
        // An agent that is not known by its environment is told all the same, and found by its process later.
        (Some(brief), _) => Ok(context(&brief)),
        (None, Ok(())) => Ok(String::new()),
        (None, Err(problem)) => Err(problem),
    }
}

fn arrived(folder: &Path, identity: &AgentIdentity) -> engine::Result<Option<Brief>> {
    let options = Options { project: Some(folder.to_owned()), ..Options::default() };
    match Engine::open(options.clone(), Intent::Command) {
        Ok(mut engine) => engine.agent_arrived(identity, PATIENCE),
        // Where nothing can be written, the brief can still be read.
        Err(Error::Store(_) | Error::BadConfig { .. }) => {
            Engine::open(options, Intent::Query)?.brief_for_agent(identity)
        }
        Err(error) => Err(error),
    }
}

fn context(brief: &Brief) -> String {
    let text = markdown(brief, Some(BUDGET_TOKENS));
    serde_json::json!({
        "hookSpecificOutput": { "hookEventName": "SessionStart", "additionalContext": text }
    })
    .to_string()
}

/// Commands that the agent runs later know it by its environment.
fn export(identity: &AgentIdentity) -> Result<(), String> {
    let Some(path) = std::env::var_os("CLAUDE_ENV_FILE").filter(|path| !path.is_empty()) else {
        return Ok(());
    };
    let name = "export LEFTOFF_AGENT_SESSION=";
    let line = format!("{name}'{identity}'\n");
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    // The last one counts: after a /clear another session of the same agent may have written its own.
    if written.lines().rfind(|line| line.starts_with(name)) == Some(line.trim_end()) {
        return Ok(());
    }
    std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(&path)
        .and_then(|mut file| file.write_all(line.as_bytes()))
        .map_err(|error| format!("writing {}: {error}", Path::new(&path).display()))
}
