//! Gemini CLI's settings, and leftoff's entries in them: hooks and the MCP server.

use super::{Agent, mcp_entry, quiet};
use crate::install::edit::{Edit, JsonEdit};
use serde_json::json;
use std::path::PathBuf;

pub(super) const AGENT: Agent = Agent {
    name: "gemini",
    title: "Gemini CLI",
    experimental: false,
    in_project: &[".gemini", "GEMINI.md"],
    in_home: &[],
    project: |root| vec![settings(root.join(".gemini/settings.json"), &quiet("gemini"))],
    user: |home| vec![settings(home.join(".gemini/settings.json"), "leftoff hook gemini")],
    then: &[],
};

const EVENTS: [&str; 7] =
    ["SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "PreCompress", "SessionEnd"];

/// The entries in Gemini's settings, in which time limits are in milliseconds.
fn settings(path: PathBuf, command: &str) -> Edit {
    let hook = json!({ "name": "leftoff", "type": "command", "command": command, "timeout": 10_000 });
    let group = json!({ "matcher": "*", "hooks": [hook] });
    let mut edit = JsonEdit::lists(path, &EVENTS, |_| group.clone());
    edit.keys.push(mcp_entry());
    Edit::Json(edit)
}
