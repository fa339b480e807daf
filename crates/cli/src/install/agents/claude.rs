//! Claude Code's files, and leftoff's entries in them: hooks and the MCP server.

use super::{Agent, mcp, quiet};
use crate::install::edit::{Edit, JsonEdit};
use serde_json::json;
use std::path::PathBuf;

pub(super) const AGENT: Agent = Agent {
    name: "claude",
    title: "Claude Code",
    experimental: false,
    in_project: &[".claude", "CLAUDE.md"],
    in_home: &[".claude"],
    project: |root| vec![team_hooks(root.join(".claude/settings.json")), mcp(root.join(".mcp.json"))],
    user: |home| vec![hooks(home.join(".claude/settings.json"))],
    then: &[],
};

const EVENTS: [&str; 9] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "SubagentStop",
    "PreCompact",
    "SessionEnd",
];

/// The hooks. The command runs without a shell, and its text never changes. An agent that trusts commands by their text
/// thus asks only once.
fn hooks(path: PathBuf) -> Edit {
    let hook = json!({ "type": "command", "command": "leftoff", "args": ["hook", "claude"], "timeout": 10 });
    let group = json!({ "hooks": [hook] });
    Edit::Json(JsonEdit::lists(path, &EVENTS, |_| group.clone()))
}

fn team_hooks(path: PathBuf) -> Edit {
    let group = json!({ "hooks": [{ "type": "command", "command": quiet("claude"), "timeout": 10 }] });
    Edit::Json(JsonEdit::lists(path, &EVENTS, |_| group.clone()))
}
