//! Codex's hook protocol: Claude Code's form with its own tools. It refuses answers with unknown fields.

use crate::hooks::{Heard, Protocol, claude};
use engine::hooks::{Happened, ToolCall};

pub const PROTOCOL: Protocol = Protocol {
    name: "codex",
    markers: &["CODEX_SESSION_ID", "CODEX_THREAD_ID", "CODEX_SANDBOX"],
    programs: &["codex"],
    read,
    write: claude::write,
};

fn read(input: &[u8], _: &str) -> Result<Heard, String> {
    let mut heard = claude::read("codex", input)?;
    match &mut heard.event.happened {
        Happened::BeforeTool(call) | Happened::AfterTool(call) | Happened::ToolFailed { call, .. } => {
            rename(call);
        }
        Happened::Arrived { .. }
        | Happened::Prompt
        | Happened::Stopping { .. }
        | Happened::SubagentStopping { .. }
        | Happened::Compacting
        | Happened::Compacted
        | Happened::Ended
        | Happened::Other => {}
    }
    Ok(heard)
}

/// Renames tools to Claude Code's names, so that requirements for edits also apply to patches.
fn rename(call: &mut ToolCall) {
    let known = match call.name.as_str() {
        "apply_patch" => "Edit",
        "shell" | "exec_command" | "local_shell" | "unified_exec" => "Bash",
        _ => return,
    };
    known.clone_into(&mut call.name);
}
