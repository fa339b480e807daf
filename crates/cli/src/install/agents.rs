//! Each agent's files, and leftoff's entries in them. Touches no file.

use crate::install::agents_md_section::{AGENTS_SECTION, POINTER};
use crate::install::edit::{Edit, JsonEdit, ListEntry};
use crate::install::marked_section::Marks;
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};

/// The folders in which agents' files are.
pub struct Places {
    /// The project's folder; `None` to edit only files in the home folder.
    pub project: Option<PathBuf>,
    pub home: Option<PathBuf>,
    /// Codex's own folder, if it is outside the home folder.
    pub codex_home: Option<PathBuf>,
    /// Folders outside the project that leftoff's commands write to.
    pub stores: Vec<PathBuf>,
}

/// An agent that leftoff can be connected to.
pub struct Agent {
    pub name: &'static str,
    pub title: &'static str,
    /// True for an agent whose entries follow its documentation and were never tried.
    pub experimental: bool,
    /// Files and folders in a project that show that the agent is used there; one is enough.
    in_project: &'static [&'static str],
    /// Files and folders in the home folder that show that the user has the agent; one is enough.
    in_home: &'static [&'static str],
    project: fn(&Path) -> Vec<Edit>,
    user: fn(&Path) -> Vec<Edit>,
    /// Steps that a person must do afterwards.
    pub then: &'static [&'static str],
}

pub const AGENTS: [Agent; 6] = [
    Agent {
        name: "claude",
        title: "Claude Code",
        experimental: false,
        in_project: &[".claude", "CLAUDE.md"],
        in_home: &[".claude"],
        project: |root| {
            vec![claude_team_hooks(root.join(".claude/settings.json")), mcp(root.join(".mcp.json"))]
        },
        user: |home| vec![claude_hooks(home.join(".claude/settings.json"))],
        then: &[],
    },
    Agent {
        name: "codex",
        title: "Codex",
        experimental: false,
        in_project: &[".codex"],
        in_home: &[".codex"],
        project: |root| {
            vec![
                codex_hooks(root.join(".codex/hooks.json"), &quiet("codex")),
                Edit::section(root.join(".codex/config.toml"), Marks::Hash, CODEX_MCP),
            ]
        },
        user: |home| vec![codex_hooks(home.join("hooks.json"), "leftoff hook codex")],
        then: &[
            "Codex runs only hooks that you trust: start `codex` here, type /hooks, and trust leftoff's hooks. It asks again only if their command changes.",
        ],
    },
    Agent {
        name: "gemini",
        title: "Gemini CLI",
        experimental: false,
        in_project: &[".gemini", "GEMINI.md"],
        in_home: &[],
        project: |root| vec![gemini(root.join(".gemini/settings.json"), &quiet("gemini"))],
        user: |home| vec![gemini(home.join(".gemini/settings.json"), "leftoff hook gemini")],
        then: &[],
    },
    Agent {
        name: "cursor",
        title: "Cursor",
        experimental: true,
        in_project: &[".cursor", ".cursorrules"],
        in_home: &[],
        project: |root| {
            vec![
                cursor(root.join(".cursor/hooks.json"), &quiet("cursor")),
                mcp(root.join(".cursor/mcp.json")),
            ]
        },
        user: |home| vec![cursor(home.join(".cursor/hooks.json"), "leftoff hook cursor")],
        then: &[],
    },
    Agent {
        name: "copilot",
        title: "Copilot CLI",
        experimental: true,
        in_project: &[".github/hooks", ".github/copilot-instructions.md"],
        in_home: &[],
        project: |root| vec![copilot(root.join(".github/hooks/leftoff.json"))],
        user: |home| vec![copilot(home.join(".copilot/hooks/leftoff.json"))],
        then: &[],
    },
    Agent {
        name: "opencode",
        title: "OpenCode",
        experimental: false,
        in_project: &[".opencode", "opencode.json", "opencode.jsonc"],
        in_home: &[],
        project: |root| vec![opencode(root.join(".opencode/plugins/leftoff.ts"))],
        user: |home| vec![opencode(home.join(".config/opencode/plugins/leftoff.ts"))],
        then: &[],
    },
];

pub fn find(name: &str) -> Option<&'static Agent> {
    AGENTS.iter().find(|agent| agent.name == name)
}

impl Agent {
    /// True if the project has files of the agent, or if the agent is tested and the user has its folder.
    pub fn is_in_use(&self, places: &Places) -> bool {
        let has = |base: &Option<PathBuf>, names: &[&str]| {
            base.as_ref().is_some_and(|base| names.iter().any(|name| base.join(name).exists()))
        };
        has(&places.project, self.in_project) || has(&places.home, self.in_home)
    }

    /// The edits for this agent, each with the folder below which links are not followed.
    pub fn edits(&self, places: &Places) -> Vec<(PathBuf, Edit)> {
        let mut edits: Vec<(PathBuf, Edit)> = Vec::new();
        match (&places.project, &places.home) {
            (Some(root), _) => {
                edits.extend((self.project)(root).into_iter().map(|edit| (root.clone(), edit)));
            }
            (None, Some(home)) => {
                let folder = codex_home(places).filter(|_| self.name == "codex");
                let base = folder.as_ref().and_then(|folder| folder.parent()).unwrap_or(home).to_owned();
                let folder = folder.unwrap_or_else(|| home.clone());
                edits.extend((self.user)(&folder).into_iter().map(|edit| (base.clone(), edit)));
            }
            (None, None) => {}
        }
        if self.name == "codex"
            && places.project.is_some()
            && let Some(home) = codex_home(places)
        {
            // Codex's sandbox protects the git folder, where the store usually is.
            let base = home.parent().unwrap_or(&home).to_owned();
            let roots = places.stores.iter().map(|path| path.to_string_lossy().into_owned()).collect();
            edits.push((base, Edit::Roots { path: home.join("config.toml"), roots }));
        }
        edits
    }
}

/// The edits of the files that all agents read.
pub fn common_edits(root: &Path) -> Vec<(PathBuf, Edit)> {
    let section = Edit::section(root.join("AGENTS.md"), Marks::Markdown, AGENTS_SECTION);
    let pointer = Edit::Section {
        path: root.join("CLAUDE.md"),
        marks: Marks::Markdown,
        body: POINTER,
        only_if_there: true,
    };
    vec![(root.to_owned(), section), (root.to_owned(), pointer)]
}

pub fn codex_home(places: &Places) -> Option<PathBuf> {
    places.codex_home.clone().or_else(|| places.home.as_ref().map(|home| home.join(".codex")))
}

/// True if a hook entry in an agent's file runs leftoff.
pub fn is_ours(value: &Json) -> bool {
    let words = |key: &str| value.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
    let command = format!("{} {}", words("command"), words("bash"));
    let mut command: Vec<&str> = command.split_whitespace().collect();
    let arguments = value.get("args").and_then(Json::as_array);
    command.extend(arguments.into_iter().flatten().filter_map(Json::as_str));
    command.windows(2).any(|pair| pair[0].rsplit('/').next() == Some("leftoff") && pair[1] == "hook")
}

/// True if a value contains an entry of leftoff's, alone or beside others.
pub fn holds_ours(value: &Json) -> bool {
    is_ours(value)
        || value.get("hooks").and_then(Json::as_array).is_some_and(|hooks| hooks.iter().any(is_ours))
}

const CLAUDE_EVENTS: [&str; 9] = [
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

const CODEX_EVENTS: [&str; 8] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "Stop",
    "SubagentStop",
    "PreCompact",
    "SessionEnd",
];

const GEMINI_EVENTS: [&str; 7] =
    ["SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "PreCompress", "SessionEnd"];

const CURSOR_EVENTS: [&str; 7] =
    ["sessionStart", "beforeSubmitPrompt", "preToolUse", "postToolUse", "preCompact", "stop", "sessionEnd"];

const COPILOT_EVENTS: [&str; 6] =
    ["sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse", "agentStop", "sessionEnd"];

/// The command is run without a shell and its text never changes, so that an agent that trusts commands by their text
/// does not ask again.
fn claude_hooks(path: PathBuf) -> Edit {
    let hook = json!({ "type": "command", "command": "leftoff", "args": ["hook", "claude"], "timeout": 10 });
    let group = json!({ "hooks": [hook] });
    Edit::Json(JsonEdit::lists(path, &CLAUDE_EVENTS, |_| group.clone()))
}

/// The command for a project's files, which are committed: on the machine of a teammate without leftoff, the hook does
/// nothing and prints nothing.
fn quiet(agent: &str) -> String {
    format!("command -v leftoff >/dev/null 2>&1 || exit 0; exec leftoff hook {agent}")
}

fn claude_team_hooks(path: PathBuf) -> Edit {
    let group = json!({ "hooks": [{ "type": "command", "command": quiet("claude"), "timeout": 10 }] });
    Edit::Json(JsonEdit::lists(path, &CLAUDE_EVENTS, |_| group.clone()))
}

fn codex_hooks(path: PathBuf, command: &str) -> Edit {
    // Codex allows the hook at the end of a conversation at most three seconds, and warns about a longer limit.
    let seconds = |event: &str| if event == "SessionEnd" { 3 } else { 10 };
    Edit::Json(JsonEdit::lists(
        path,
        &CODEX_EVENTS,
        |event| json!({ "hooks": [{ "type": "command", "command": command, "timeout": seconds(event) }] }),
    ))
}

/// Gemini's time limits are in milliseconds.
fn gemini(path: PathBuf, command: &str) -> Edit {
    let hook = json!({ "name": "leftoff", "type": "command", "command": command, "timeout": 10_000 });
    let group = json!({ "matcher": "*", "hooks": [hook] });
    let mut edit = JsonEdit::lists(path, &GEMINI_EVENTS, |_| group.clone());
    edit.keys.push(mcp_entry());
    Edit::Json(edit)
}

fn cursor(path: PathBuf, command: &str) -> Edit {
    let mut edit = JsonEdit::lists(path, &CURSOR_EVENTS, |_| json!({ "command": command }));
    edit.base = json!({ "version": 1 });
    Edit::Json(edit)
}

/// Copilot's hooks, in a file that is leftoff's alone. A preToolUse command that fails blocks the agent, so the command
/// must succeed even if leftoff is missing.
fn copilot(path: PathBuf) -> Edit {
    let hook = |event: &str| {
        let bash = format!("if command -v leftoff >/dev/null; then leftoff hook copilot {event}; fi");
        json!({ "type": "command", "bash": bash, "timeoutSec": 10 })
    };
    let mut edit = JsonEdit::lists(path, &COPILOT_EVENTS, hook);
    edit.base = json!({ "version": 1 });
    Edit::Json(edit)
}

fn opencode(path: PathBuf) -> Edit {
    Edit::Own { path, text: include_str!("opencode.ts") }
}

fn mcp(path: PathBuf) -> Edit {
    Edit::Json(JsonEdit { path, base: json!({}), lists: Vec::new(), keys: vec![mcp_entry()] })
}

fn mcp_entry() -> (Vec<&'static str>, &'static str, Json) {
    (vec!["mcpServers"], "leftoff", json!({ "command": "leftoff", "args": ["mcp"] }))
}

impl JsonEdit {
    fn lists(path: PathBuf, events: &[&'static str], element: impl Fn(&str) -> Json) -> Self {
        let lists = events
            .iter()
            .map(|event| ListEntry { path: vec!["hooks", event], element: element(event) })
            .collect();
        Self { path, base: json!({}), lists, keys: Vec::new() }
    }
}

const CODEX_MCP: &str = "[mcp_servers.leftoff]\ncommand = \"leftoff\"\nargs = [\"mcp\"]";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_ours_are_known_by_their_command() {
        for ours in [
            json!({ "command": "leftoff", "args": ["hook", "claude"] }),
            json!({ "command": "/opt/bin/leftoff", "args": ["hook", "claude", "--later"] }),
            json!({ "command": "leftoff hook codex", "timeout": 3 }),
            json!({ "bash": "if command -v leftoff >/dev/null; then leftoff hook copilot preToolUse; fi" }),
        ] {
            assert!(is_ours(&ours), "{ours}");
        }
        for other in [
            json!({ "command": "leftoff", "args": ["brief"] }),
            json!({ "command": "echo leftoff" }),
            json!(3),
        ] {
            assert!(!is_ours(&other), "{other}");
        }
    }
}
