//! The hook protocol of Cursor, written from its documentation. Experimental: nobody has run it yet.

use crate::hooks::{Heard, Protocol, identity, unreadable, wording};
use engine::hooks::{Happened, HookEvent, Reply, Source, ToolCall, Verdict};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;

pub const PROTOCOL: Protocol =
    Protocol { name: "cursor", markers: &["CURSOR_AGENT"], programs: &["cursor-agent"], read, write };

#[derive(Deserialize)]
struct Event {
    conversation_id: String,
    hook_event_name: String,
    #[serde(default)]
    workspace_roots: Vec<PathBuf>,
    #[serde(default)]
    cwd: Value,
    #[serde(default)]
    tool_name: Value,
    #[serde(default)]
    tool_input: Value,
    #[serde(default)]
    tool_use_id: Value,
    #[serde(default)]
    file_path: Value,
    #[serde(default)]
    loop_count: Value,
}

fn read(input: &[u8], _: &str) -> Result<Heard, String> {
    let mut event: Event = serde_json::from_slice(input).map_err(|error| unreadable(&error))?;
    let agent = identity("cursor", &event.conversation_id)?;
    let happened = happened(&mut event);
    let folder = event.workspace_roots.first().cloned().or_else(|| event.cwd.as_str().map(PathBuf::from));
    let folder = folder.ok_or("the event does not name a folder: workspace_roots is missing")?;
    Ok(Heard {
        event: HookEvent { agent, folder, happened, subagent: None, delivery: None },
        name: event.hook_event_name,
    })
}

fn happened(event: &mut Event) -> Happened {
    match event.hook_event_name.as_str() {
        "sessionStart" => Happened::Arrived { source: Source::Startup },
        "beforeSubmitPrompt" => Happened::Prompt,
        "preToolUse" => Happened::BeforeTool(call(event)),
        "postToolUse" => Happened::AfterTool(call(event)),
        "afterFileEdit" => {
            let input = json!({ "file_path": event.file_path.take() });
            Happened::AfterTool(ToolCall::new("Edit", None, input))
        }
        // The loop count is greater than 0 if the agent was kept from stopping before.
        "stop" => Happened::Stopping { again: event.loop_count.as_u64().unwrap_or(0) > 0, last_words: None },
        "preCompact" => Happened::Compacting,
        "sessionEnd" => Happened::Ended,
        _ => Happened::Other,
    }
}

fn call(event: &mut Event) -> ToolCall {
    let name = match event.tool_name.as_str().unwrap_or_default() {
        "Shell" => "Bash",
        other => other,
    };
    ToolCall::new(name, event.tool_use_id.as_str(), event.tool_input.take())
}

fn write(_: &Heard, reply: &Reply) -> String {
    let said = match &reply.verdict {
        Verdict::Deny(reason) => {
            json!({ "permission": "deny", "user_message": reason, "agent_message": reason })
        }
        Verdict::Hold(reason) => json!({ "followup_message": reason }),
        Verdict::Allow => match wording::context(reply) {
            Some(text) => json!({ "additional_context": text }),
            None => return String::new(),
        },
    };
    said.to_string()
}
