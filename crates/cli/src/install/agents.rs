//! The agents that `init` knows, a file for each with its files and leftoff's entries in them. Touches no file.

mod claude;
mod codex;
mod copilot;
mod cursor;
mod gemini;
mod opencode;

pub use codex::codex_home;

use crate::install::agents_md_section::{AGENTS_SECTION, POINTER};
use crate::install::edit::{Edit, JsonEdit, ListEntry};
use crate::install::marked_section::Marks;
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};

/// The folders that contain agents' files.
pub struct Places {
    /// The project's folder. `None` if only files in the home folder are edited.
    pub project: Option<PathBuf>,
    pub home: Option<PathBuf>,
    /// Codex's own folder, if it is outside the home folder.
    pub codex_home: Option<PathBuf>,
    /// Folders outside the project to which leftoff's commands write.
    pub stores: Vec<PathBuf>,
}

/// An agent that leftoff can be connected to.
pub struct Agent {
    pub name: &'static str,
    pub title: &'static str,
    /// True if the entries for this agent were written from its documentation, and have never been tried.
    pub experimental: bool,
    /// Files and folders that show that a project uses the agent. One of them is enough.
    in_project: &'static [&'static str],
    /// Files and folders in the home folder that show that the user has the agent. One of them is enough.
    in_home: &'static [&'static str],
    project: fn(&Path) -> Vec<Edit>,
    user: fn(&Path) -> Vec<Edit>,
    /// Steps that a person must take after the installation.
    pub then: &'static [&'static str],
}

pub const AGENTS: [Agent; 6] =
    [claude::AGENT, codex::AGENT, gemini::AGENT, cursor::AGENT, copilot::AGENT, opencode::AGENT];

pub fn find(name: &str) -> Option<&'static Agent> {
    AGENTS.iter().find(|agent| agent.name == name)
}

impl Agent {
    /// True if the project has files of the agent. For an agent that is tested, also true if the user has its folder.
    pub fn is_in_use(&self, places: &Places) -> bool {
        let has = |base: &Option<PathBuf>, names: &[&str]| {
            base.as_ref().is_some_and(|base| names.iter().any(|name| base.join(name).exists()))
        };
        has(&places.project, self.in_project) || has(&places.home, self.in_home)
    }

    /// The edits for this agent, each with its folder. Below that folder, symbolic links are not followed.
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
        if self.name == "codex" && places.project.is_some() {
            edits.extend(codex::writable_roots(places));
        }
        edits
    }
}

/// The edits of the files that every agent reads.
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

/// True if an entry for a hook in an agent's file runs leftoff.
pub fn is_ours(value: &Json) -> bool {
    let words = |key: &str| value.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
    let command = format!("{} {}", words("command"), words("bash"));
    let mut command: Vec<&str> = command.split_whitespace().collect();
    let arguments = value.get("args").and_then(Json::as_array);
    command.extend(arguments.into_iter().flatten().filter_map(Json::as_str));
    command.windows(2).any(|pair| pair[0].rsplit('/').next() == Some("leftoff") && pair[1] == "hook")
}

/// True if the value contains an entry of leftoff's, alone or with other entries.
pub fn holds_ours(value: &Json) -> bool {
    is_ours(value)
        || value.get("hooks").and_then(Json::as_array).is_some_and(|hooks| hooks.iter().any(is_ours))
}

/// The command for a project's files. These files are committed: if a teammate has no leftoff, the hook does nothing
/// and prints nothing.
fn quiet(agent: &str) -> String {
    format!("command -v leftoff >/dev/null 2>&1 || exit 0; exec leftoff hook {agent}")
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
