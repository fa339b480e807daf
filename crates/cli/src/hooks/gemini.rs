//! The hook protocol of Gemini CLI, tried with version 0.61.0.

use crate::hooks::{Heard, Protocol, identified, identity, unreadable, wording};
use engine::hooks::{Happened, HookEvent, Reply, Source, ToolCall, Verdict};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;

pub const PROTOCOL: Protocol =
    Protocol { name: "gemini", markers: &["GEMINI_CLI"], programs: &["gemini"], read, write };

#[derive(Deserialize)]
struct Event {
    session_id: String,
    hook_event_name: String,
    cwd: PathBuf,
    #[serde(default)]
    source: Value,
    #[serde(default)]
    tool_name: Value,
    #[serde(default)]
    tool_input: Value,
    #[serde(default)]
    timestamp: Value,
    #[serde(default)]
    stop_hook_active: Value,
    #[serde(default)]
    prompt_response: Value,
}

fn read(input: &[u8], _: &str) -> Result<Heard, String> {
    let mut event: Event = serde_json::from_slice(input).map_err(|error| unreadable(&error))?;
    let agent = identity("gemini", &event.session_id)?;
    let id = identified(&event.timestamp, input);
    let happened = happened(&mut event, id.as_deref());
    Ok(Heard {
        event: HookEvent { agent, folder: event.cwd, happened, subagent: None, delivery: None },
        name: event.hook_event_name,
    })
}

fn happened(event: &mut Event, id: Option<&str>) -> Happened {
    match event.hook_event_name.as_str() {
        "SessionStart" => {
            Happened::Arrived { source: Source::parse(event.source.as_str().unwrap_or_default()) }
        }
        "BeforeAgent" => Happened::Prompt,
        "BeforeTool" => Happened::BeforeTool(call(event, id)),
        "AfterTool" => Happened::AfterTool(call(event, id)),
        "AfterAgent" => Happened::Stopping {
            again: event.stop_hook_active.as_bool().unwrap_or(false),
            last_words: event.prompt_response.as_str().map(ToOwned::to_owned),
        },
        "PreCompress" => Happened::Compacting,
        "SessionEnd" => Happened::Ended,
        _ => Happened::Other,
    }
}

fn call(event: &mut Event, id: Option<&str>) -> ToolCall {
    let name = match event.tool_name.as_str().unwrap_or_default() {
        "run_shell_command" => "Bash",
        "write_file" => "Write",
        "replace" => "Edit",
        other => other,
    };
    ToolCall::new(name, id, event.tool_input.take())
}

fn write(heard: &Heard, reply: &Reply) -> String {
    let said = match &reply.verdict {
        Verdict::Deny(reason) | Verdict::Hold(reason) => json!({ "decision": "deny", "reason": reason }),
        Verdict::Allow => match wording::context(reply) {
            Some(text) => json!({ "hookSpecificOutput": {
                "hookEventName": heard.name,
                "additionalContext": text,
            } }),
            None => return String::new(),
        },
    };
    said.to_string()
}
