//! Cursor's files, and leftoff's entries in them: hooks and the MCP server.

use super::{Agent, mcp, quiet};
use crate::install::edit::{Edit, JsonEdit};
use serde_json::json;
use std::path::PathBuf;

pub(super) const AGENT: Agent = Agent {
    name: "cursor",
    title: "Cursor",
    experimental: true,
    in_project: &[".cursor", ".cursorrules"],
    in_home: &[],
    project: |root| {
        vec![hooks(root.join(".cursor/hooks.json"), &quiet("cursor")), mcp(root.join(".cursor/mcp.json"))]
    },
    user: |home| vec![hooks(home.join(".cursor/hooks.json"), "leftoff hook cursor")],
    then: &[],
};

const EVENTS: [&str; 7] =
    ["sessionStart", "beforeSubmitPrompt", "preToolUse", "postToolUse", "preCompact", "stop", "sessionEnd"];

fn hooks(path: PathBuf, command: &str) -> Edit {
    let mut edit = JsonEdit::lists(path, &EVENTS, |_| json!({ "command": command }));
    edit.base = json!({ "version": 1 });
    Edit::Json(edit)
}
