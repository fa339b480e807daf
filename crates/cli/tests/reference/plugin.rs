//! The plugin and its counterparts for other agents: they share their skills and version, and name only tools
//! that exist.

use crate::{blessed, root};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Files that are copies of the plugin's, and their sources.
const COPIES: [(&str, &[&str]); 2] =
    [("extensions/codex", &["skills", ".mcp.json"]), ("extensions/gemini", &["skills"])];
const MANIFESTS: [&str; 3] = [
    "plugin/.claude-plugin/plugin.json",
    "extensions/codex/.codex-plugin/plugin.json",
    "extensions/gemini/gemini-extension.json",
];
const SKILLS: [&str; 3] = ["handover", "resume", "workflow"];

fn json(relative: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(root().join(relative)).unwrap()).unwrap()
}

/// The text of every file below a folder of the workspace, or of a single file.
fn files(relative: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    collect(&root().join(relative), relative, &mut found);
    found
}

fn collect(path: &Path, relative: &str, found: &mut BTreeMap<String, String>) {
    if path.is_file() {
        found.insert(relative.to_owned(), std::fs::read_to_string(path).unwrap());
        return;
    }
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        let name = entry.file_name().into_string().unwrap();
        collect(&entry.path(), &format!("{relative}/{name}"), found);
    }
}

#[test]
fn other_agents_have_the_same_skills() {
    for (copy, parts) in COPIES {
        for part in parts {
            let source = files(&format!("plugin/{part}"));
            assert!(!source.is_empty(), "{part}");
            for (relative, text) in &source {
                blessed::check(&relative.replacen("plugin", copy, 1), text);
            }
            let copied = files(&format!("{copy}/{part}"));
            assert_eq!(copied.len(), source.len(), "{copy}/{part} holds files that the plugin does not have");
        }
    }
}

#[test]
fn all_manifests_say_the_same_and_the_version_is_the_programs() {
    for manifest in MANIFESTS {
        let manifest = json(manifest);
        assert_eq!(manifest["name"], "leftoff");
        assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(manifest["description"], json(MANIFESTS[0])["description"]);
    }
    assert_eq!(json(".claude-plugin/marketplace.json")["plugins"][0]["source"], "./plugin");
    let server = &json("plugin/.mcp.json")["mcpServers"];
    assert_eq!(server, &json("extensions/gemini/gemini-extension.json")["mcpServers"]);
}

#[test]
fn hooks_call_the_door_for_this_agent() {
    let hooks = json("plugin/hooks/hooks.json");
    let events: Vec<&String> = hooks["hooks"].as_object().unwrap().keys().collect();
    assert!(events.len() >= 9, "{events:?}");
    for groups in hooks["hooks"].as_object().unwrap().values() {
        let hook = &groups[0]["hooks"][0];
        assert_eq!(
            (&hook["command"], &hook["args"]),
            (&"leftoff".into(), &serde_json::json!(["hook", "claude"]))
        );
    }
}

#[test]
fn skills_have_their_head_and_name_what_exists() {
    let found = files("plugin/skills");
    let names: Vec<&str> = found.keys().filter_map(|path| path.split('/').nth(2)).collect();
    assert_eq!(names, SKILLS);
    let tools = mcp::tools();
    let tools: Vec<&str> =
        tools.as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    for (path, text) in &found {
        let head = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).unwrap().0;
        let name = path.split('/').nth(2).unwrap();
        assert!(head.contains(&format!("name: {name}\n")), "{path}");
        let description = head.lines().find_map(|line| line.strip_prefix("description: ")).unwrap();
        assert!((80..1024).contains(&description.len()), "{path}: {}", description.len());
        assert!(text.len() < 5_000, "{path} is read into somebody's context");
        // A skill names a tool and the word of an action: both must exist.
        for (before, action) in
            text.match_indices("with action `").map(|(at, found)| (&text[..at], &text[at + found.len()..]))
        {
            let tool = before.rsplit('`').nth(1).unwrap();
            assert!(tools.contains(&tool), "{path}: `{tool}`");
            assert!(
                mcp::tools().to_string().contains(&format!("\"{}\"", action.split('`').next().unwrap())),
                "{path}"
            );
        }
    }
}
