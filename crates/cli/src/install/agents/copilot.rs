//! Copilot CLI's file of hooks. It contains nothing but leftoff's entries.

use super::Agent;
use crate::install::edit::{Edit, JsonEdit};
use serde_json::json;
use std::path::PathBuf;

pub(super) const AGENT: Agent = Agent {
    name: "copilot",
    title: "Copilot CLI",
    experimental: true,
    in_project: &[".github/hooks", ".github/copilot-instructions.md"],
    in_home: &[],
    project: |root| vec![hooks(root.join(".github/hooks/leftoff.json"))],
    user: |home| vec![hooks(home.join(".copilot/hooks/leftoff.json"))],
    then: &[],
};

const EVENTS: [&str; 6] =
    ["sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse", "agentStop", "sessionEnd"];

/// The hooks. A preToolUse command that fails blocks the agent, so the command must succeed even if leftoff is missing.
fn hooks(path: PathBuf) -> Edit {
    let hook = |event: &str| {
        let bash = format!("if command -v leftoff >/dev/null; then leftoff hook copilot {event}; fi");
        json!({ "type": "command", "bash": bash, "timeoutSec": 10 })
    };
    let mut edit = JsonEdit::lists(path, &EVENTS, hook);
    edit.base = json!({ "version": 1 });
    Edit::Json(edit)
}
