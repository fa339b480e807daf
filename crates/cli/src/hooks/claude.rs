//! The hook protocol of Claude Code.

use crate::hooks::{Heard, Protocol, identity, unreadable, wording};
use engine::Project;
use engine::hooks::{Happened, HookEvent, Reply, Source, Subagent, ToolCall, Verdict};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;

pub const PROTOCOL: Protocol = Protocol {
    name: "claude",
    markers: &["CLAUDECODE", "CLAUDE_SESSION_ID"],
    programs: &["claude"],
    read: |input, _| read("claude", input),
    write,
};

/// The fields that leftoff reads. Other fields are skipped without being copied. A wrong type is an error only in
/// fields that all events have.
#[derive(Deserialize)]
struct Event {
    #[serde(default)]
    session_id: Value,
    hook_event_name: String,
    #[serde(default)]
    cwd: Option<PathBuf>,
    #[serde(default)]
    source: Value,
    #[serde(default)]
    tool_name: Value,
    #[serde(default)]
    tool_input: Value,
    #[serde(default)]
    tool_use_id: Value,
    #[serde(default)]
    error: Value,
    #[serde(default)]
    stop_hook_active: Value,
    #[serde(default)]
    last_assistant_message: Value,
    #[serde(default)]
    agent_id: Value,
    #[serde(default)]
    agent_type: Value,
}

impl Event {
    fn happened(&mut self) -> Happened {
        let again = self.stop_hook_active.as_bool().unwrap_or(false);
        match self.hook_event_name.as_str() {
            "SessionStart" => {
                Happened::Arrived { source: Source::parse(self.source.as_str().unwrap_or_default()) }
            }
            "UserPromptSubmit" => Happened::Prompt,
            "PreToolUse" => Happened::BeforeTool(self.call()),
            "PostToolUse" => Happened::AfterTool(self.call()),
            "PostToolUseFailure" => {
                let error = self.error.as_str().unwrap_or_default().to_owned();
                Happened::ToolFailed { call: self.call(), error }
            }
            "Stop" => {
                let last_words = self.last_assistant_message.as_str().map(ToOwned::to_owned);
                Happened::Stopping { again, last_words }
            }
            "SubagentStop" => Happened::SubagentStopping { again },
            "PreCompact" => Happened::Compacting,
            "PostCompact" => Happened::Compacted,
            "SessionEnd" => Happened::Ended,
            _ => Happened::Other,
        }
    }

    fn call(&mut self) -> ToolCall {
        let input = self.tool_input.take();
        ToolCall::new(self.tool_name.as_str().unwrap_or_default(), self.tool_use_id.as_str(), input)
    }

    /// The subagent that the event is about. `None` for the agent's internal helpers, whose type is empty.
    fn subagent(&self) -> Option<Subagent> {
        self.agent_id.as_str()?;
        Some(Subagent { is_internal: self.agent_type.as_str().unwrap_or_default().is_empty() })
    }
}

/// Parses an event in the form that Claude Code and several other agents use.
pub fn read(agent: &str, input: &[u8]) -> Result<Heard, String> {
    let mut event: Event = serde_json::from_slice(input).map_err(|error| unreadable(&error))?;
    let agent = identity(agent, &session_id(agent, &event.session_id)?)?;
    let happened = event.happened();
    let subagent = event.subagent();
    Ok(Heard {
        event: HookEvent { agent, folder: folder(event.cwd), happened, subagent, delivery: None },
        name: event.hook_event_name,
    })
}

/// The id of the agent session: from the event, or else from the agent's environment, such as `CLAUDE_SESSION_ID`.
fn session_id(agent: &str, said: &Value) -> Result<String, String> {
    let set = || std::env::var(format!("{}_SESSION_ID", agent.to_uppercase())).ok();
    let id = said.as_str().map(ToOwned::to_owned).filter(|id| !id.is_empty()).or_else(set);
    id.filter(|id| !id.is_empty()).ok_or_else(|| "the event has no session_id".to_owned())
}

/// The folder of the agent: from the event, or else from the agent's environment, or else the folder of this process.
/// If the folder in the event is in no project, the one in the environment is used, so that the agent stays in the
/// project in which it was started.
fn folder(said: Option<PathBuf>) -> PathBuf {
    let is_named = |folder: &PathBuf| !folder.as_os_str().is_empty();
    let said = said.filter(is_named);
    let set = std::env::var_os("CLAUDE_PROJECT_DIR").map(PathBuf::from).filter(is_named);
    match (said, set) {
        (Some(said), Some(set)) => {
            if Project::find(&said).is_ok() {
                said
            } else {
                set
            }
        }
        (said, set) => said.or(set).unwrap_or_else(|| PathBuf::from(".")),
    }
}

/// Writes the answer with as few fields as possible, because another agent with the same form refuses fields that it
/// does not know.
pub fn write(heard: &Heard, reply: &Reply) -> String {
    let said = match &reply.verdict {
        Verdict::Deny(reason) => json!({ "hookSpecificOutput": {
            "hookEventName": heard.name,
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        } }),
        Verdict::Hold(reason) => json!({ "decision": "block", "reason": reason }),
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
