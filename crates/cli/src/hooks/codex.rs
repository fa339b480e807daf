//! The hook protocol of Codex. It has the form of Claude Code's, with other tools. Codex refuses answers with
//! fields that it does not know.

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

/// Gives tools the names that Claude Code uses, so that requirements for edits also apply to patches.
fn rename(call: &mut ToolCall) {
    let known = match call.name.as_str() {
        "apply_patch" => "Edit",
        "shell" | "exec_command" | "local_shell" | "unified_exec" => "Bash",
        _ => return,
    };
    known.clone_into(&mut call.name);
}
