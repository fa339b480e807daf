//! Codex's files, and leftoff's entries in them: hooks, the MCP server, and the folders to which its sandbox may write.

use super::{Agent, Places, quiet};
use crate::install::edit::{Edit, JsonEdit};
use crate::install::marked_section::Marks;
use serde_json::json;
use std::path::PathBuf;

pub(super) const AGENT: Agent = Agent {
    name: "codex",
    title: "Codex",
    experimental: false,
    in_project: &[".codex"],
    in_home: &[".codex"],
    project: |root| {
        vec![
            hooks(root.join(".codex/hooks.json"), &quiet("codex")),
            Edit::section(root.join(".codex/config.toml"), Marks::Hash, MCP),
        ]
    },
    user: |home| vec![hooks(home.join("hooks.json"), "leftoff hook codex")],
    then: &[
        "Codex runs only hooks that you trust: start `codex` here, type /hooks, and trust leftoff's hooks. It asks again only if their command changes.",
    ],
};

const EVENTS: [&str; 8] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "Stop",
    "SubagentStop",
    "PreCompact",
    "SessionEnd",
];

const MCP: &str = "[mcp_servers.leftoff]\ncommand = \"leftoff\"\nargs = [\"mcp\"]";

/// Codex's own folder.
pub fn codex_home(places: &Places) -> Option<PathBuf> {
    places.codex_home.clone().or_else(|| places.home.as_ref().map(|home| home.join(".codex")))
}

/// The edit that lets Codex's sandbox write to the stores. A store is usually in the git folder, which the sandbox
/// protects.
pub(super) fn writable_roots(places: &Places) -> Option<(PathBuf, Edit)> {
    let home = codex_home(places)?;
    let base = home.parent().unwrap_or(&home).to_owned();
    let roots = places.stores.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    Some((base, Edit::Roots { path: home.join("config.toml"), roots }))
}

fn hooks(path: PathBuf, command: &str) -> Edit {
    // For the hook at the end of a conversation, Codex allows three seconds, and warns about a longer limit.
    let seconds = |event: &str| if event == "SessionEnd" { 3 } else { 10 };
    Edit::Json(JsonEdit::lists(
        path,
        &EVENTS,
        |event| json!({ "hooks": [{ "type": "command", "command": command, "timeout": seconds(event) }] }),
    ))
}
