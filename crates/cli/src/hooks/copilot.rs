//! The hook protocol of Copilot CLI, written from its documentation. Experimental: nobody has run it yet. Events do not
//! contain their names, so the installed command contains the name: `leftoff hook copilot preToolUse`.

use crate::hooks::{Heard, Protocol, identified, identity, unreadable, wording};
use engine::hooks::{Happened, HookEvent, Reply, Source, ToolCall, Verdict};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;

pub const PROTOCOL: Protocol =
    Protocol { name: "copilot", markers: &[], programs: &["copilot"], read, write };

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    #[serde(alias = "session_id")]
    session_id: String,
    cwd: PathBuf,
    #[serde(default)]
    source: Value,
    #[serde(default)]
    tool_name: Value,
    #[serde(default)]
    tool_args: Value,
    #[serde(default)]
    tool_use_id: Value,
    #[serde(default)]
    timestamp: Value,
}

fn read(input: &[u8], name: &str) -> Result<Heard, String> {
    let mut event: Event = serde_json::from_slice(input).map_err(|error| unreadable(&error))?;
    let agent = identity("copilot", &event.session_id)?;
    if event.tool_use_id.as_str().is_none() {
        event.tool_use_id = identified(&event.timestamp, input).map_or(Value::Null, Value::String);
    }
    let happened = happened(&mut event, name);
    Ok(Heard {
        event: HookEvent { agent, folder: event.cwd, happened, subagent: None, delivery: None },
        name: name.to_owned(),
    })
}

fn happened(event: &mut Event, name: &str) -> Happened {
    match name {
        "sessionStart" => {
            Happened::Arrived { source: Source::parse(event.source.as_str().unwrap_or_default()) }
        }
        "userPromptSubmitted" => Happened::Prompt,
        "preToolUse" => Happened::BeforeTool(call(event)),
        "postToolUse" => Happened::AfterTool(call(event)),
        // The event does not show whether the agent was already kept from stopping. So `again` is always true: leftoff
        // then blocks a stop only where the number of blocked stops is limited.
        "agentStop" => Happened::Stopping { again: true, last_words: None },
        "sessionEnd" => Happened::Ended,
        _ => Happened::Other,
    }
}

/// The tool call. Its arguments are JSON, or a string that contains JSON.
fn call(event: &mut Event) -> ToolCall {
    let name = match event.tool_name.as_str().unwrap_or_default() {
        "bash" => "Bash",
        "edit" => "Edit",
        "create" => "Write",
        other => other,
    };
    let input = match event.tool_args.take() {
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::Null),
        other => other,
    };
    ToolCall::new(name, event.tool_use_id.as_str(), input)
}

fn write(_: &Heard, reply: &Reply) -> String {
    let said = match &reply.verdict {
        Verdict::Deny(reason) => {
            json!({ "permissionDecision": "deny", "permissionDecisionReason": reason })
        }
        Verdict::Hold(reason) => json!({ "decision": "block", "reason": reason }),
        Verdict::Allow => match wording::context(reply) {
            Some(text) => json!({ "additionalContext": text }),
            None => return String::new(),
        },
    };
    said.to_string()
}
