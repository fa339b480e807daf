//! The agent's environment file. It tells later commands of the agent which agent runs them.

use engine::hooks::{Happened, HookEvent};
use std::io::Write;
use std::path::Path;

/// Writes the identity of the agent to its environment file. Done only when a conversation starts, and only if the
/// agent offers such a file.
pub fn export(event: &HookEvent) -> Result<(), String> {
    match &event.happened {
        Happened::Arrived { .. } => {}
        Happened::Prompt
        | Happened::BeforeTool(_)
        | Happened::AfterTool(_)
        | Happened::ToolFailed { .. }
        | Happened::Stopping { .. }
        | Happened::SubagentStopping { .. }
        | Happened::Compacting
        | Happened::Compacted
        | Happened::Ended
        | Happened::Other => return Ok(()),
    }
    let Some(path) = std::env::var_os("CLAUDE_ENV_FILE").filter(|path| !path.is_empty()) else {
        return Ok(());
    };
    let name = "export LEFTOFF_AGENT_SESSION=";
    let line = format!("{name}'{}'\n", event.agent);
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    // The last line is the valid one. After a /clear, another session of the agent may have added a line.
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
