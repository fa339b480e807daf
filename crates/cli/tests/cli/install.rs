//! Tests of `init --agent`: it adds entries to agents' files, and all of them can be removed again.

use crate::{fresh, plain};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use testkit::{Ran, Sandbox};

/// Every file below a folder, with its content; paths of folders end with a slash.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(base: &Path, folder: &Path, into: &mut BTreeMap<String, Vec<u8>>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(base).unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                into.insert(format!("{name}/"), Vec::new());
                walk(base, &path, into);
            } else {
                into.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(folder, folder, &mut found);
    found
}

/// Everything in the project, the home folder and the state folder, except for the store's own files.
fn everything(sandbox: &Sandbox) -> BTreeMap<String, Vec<u8>> {
    let mut all = tree(sandbox.folder());
    all.retain(|name, _| name != "state/" && !name.starts_with("state/leftoff"));
    all
}

fn parsed(sandbox: &Sandbox, path: &str) -> Value {
    serde_json::from_str(&sandbox.read(path)).unwrap_or_else(|error| panic!("{error} in {path}"))
}

fn init(sandbox: &Sandbox, words: &[&str]) -> Ran {
    sandbox.run([&["init"], words].concat()).ok()
}

const ALL: [&str; 7] = ["--agent", "claude", "codex", "gemini", "cursor", "copilot", "opencode"];

#[test]
fn in_twice_and_out_leaves_every_file_as_it_was() {
    let sandbox = fresh();
    sandbox.write("CLAUDE.md", "# Ours\nno end of line");
    sandbox.write("AGENTS.md", "# Agents\n\nBe kind.\n");
    sandbox.write(
        ".claude/settings.json",
        "{\n    // my own\n    \"hooks\": {\n        \"Stop\": [\n            { \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] } // keep\n        ]\n    },\n    \"model\": \"opus\",\n}\n",
    );
    sandbox.write(".mcp.json", "{\"mcpServers\":{\"other\":{\"command\":\"x\"}}}");
    sandbox.write(".cursor/hooks.json", "{\n  \"version\": 1,\n  \"hooks\": {}\n}\n");
    let home = sandbox.folder().join("home");
    std::fs::create_dir_all(home.join(".codex")).unwrap();
    std::fs::write(home.join(".codex/config.toml"), "model = \"m\"\n").unwrap();
    let before = everything(&sandbox);
    init(&sandbox, &ALL);
    let once = everything(&sandbox);
    assert_ne!(once, before);
    let said = init(&sandbox, &ALL);
    assert_eq!(everything(&sandbox), once, "twice is the same as once: {}", said.stdout);
    assert!(!said.stdout.contains("made") && !said.stdout.contains("changed"), "{}", said.stdout);
    init(&sandbox, &["--remove"]);
    assert_eq!(everything(&sandbox), before, "byte for byte, and no empty shells");
    init(&sandbox, &["--remove"]);
    assert_eq!(everything(&sandbox), before, "nothing to take out");
}

#[test]
fn in_a_bare_repository_nothing_is_left_either() {
    for words in [&ALL[..], &["--agent", "claude"], &["--agent", "codex"]] {
        let sandbox = fresh();
        let before = everything(&sandbox);
        init(&sandbox, words);
        init(&sandbox, words);
        init(&sandbox, &["--remove"]);
        assert_eq!(everything(&sandbox), before, "{words:?}");
    }
}

#[test]
fn a_store_with_sessions_is_never_taken_out() {
    let sandbox = fresh();
    init(&sandbox, &["--agent", "claude"]);
    sandbox.run(["start", "--id", "kept"]).ok();
    let gone = init(&sandbox, &["--remove"]);
    assert!(!gone.stdout.contains("leftoff.db"), "{}", gone.stdout);
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "kept");
    assert!(!sandbox.path(".claude").exists() && !sandbox.path("AGENTS.md").exists());
}

#[test]
fn claude_gets_hooks_a_server_and_words() {
    let sandbox = fresh();
    sandbox.write("CLAUDE.md", "# Mine\n");
    let said = init(&sandbox, &["--agent", "claude"]);
    let settings = parsed(&sandbox, ".claude/settings.json");
    for event in ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"] {
        let hook = &settings["hooks"][event][0]["hooks"][0];
        let command = hook["command"].as_str().unwrap();
        assert!(command.ends_with("exec leftoff hook claude"), "{event}: {command}");
    }
    let server = &parsed(&sandbox, ".mcp.json")["mcpServers"]["leftoff"];
    assert_eq!(*server, json!({ "command": "leftoff", "args": ["mcp"] }));
    let words = sandbox.read("AGENTS.md");
    assert!(words.starts_with("<!-- BEGIN leftoff -->\n") && words.lines().count() <= 20, "{words}");
    assert!(sandbox.read("CLAUDE.md").contains("@AGENTS.md"));
    assert!(said.stdout.contains(".claude/settings.json"), "it says what it touched: {}", said.stdout);
    assert!(said.stderr.contains("no such program is in your PATH"), "{}", said.stderr);
    assert!(!sandbox.path(".codex").exists());
}

#[test]
fn codex_gets_a_store_that_its_sandbox_may_write() {
    let sandbox = fresh();
    sandbox.run(["start", "--id", "before"]).ok();
    let said = init(&sandbox, &["--agent", "codex"]);
    assert!(said.stderr.contains("/hooks"), "{}", said.stderr);
    assert!(said.stderr.contains("The store was moved"), "{}", said.stderr);
    let place = sandbox.run(["store", "info", "--json"]).ok().json()["place"].as_str().unwrap().to_owned();
    let state = sandbox.folder().join("state/leftoff");
    assert!(Path::new(&place).starts_with(&state), "{place}");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "before", "nothing was lost");
    let settings = std::fs::read_to_string(sandbox.folder().join("home/.codex/config.toml")).unwrap();
    let settings: Value = {
        let roots = settings.lines().find(|line| line.starts_with("writable_roots")).unwrap();
        serde_json::from_str(roots.split_once(" = ").unwrap().1).unwrap()
    };
    assert_eq!(settings, json!([state]));
    let hook = &parsed(&sandbox, ".codex/hooks.json")["hooks"]["Stop"][0]["hooks"][0];
    let command = hook["command"].as_str().unwrap();
    assert_eq!(
        command, "command -v leftoff >/dev/null 2>&1 || exit 0; exec leftoff hook codex",
        "a string that stays the same is trusted once"
    );
}

#[test]
fn u10_a_projects_hooks_are_quiet_for_a_teammate_who_has_no_leftoff() {
    let sandbox = fresh();
    init(&sandbox, &["--agent", "claude", "codex", "gemini", "cursor"]);
    let hooks = [
        (".claude/settings.json", "/hooks/Stop/0/hooks/0/command"),
        (".codex/hooks.json", "/hooks/Stop/0/hooks/0/command"),
        (".gemini/settings.json", "/hooks/AfterAgent/0/hooks/0/command"),
        (".cursor/hooks.json", "/hooks/stop/0/command"),
    ];
    for (file, pointer) in hooks {
        let settings = parsed(&sandbox, file);
        let command =
            settings.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("{settings}"));
        let ran = std::process::Command::new("/bin/sh")
            .args(["-c", command])
            .env_clear()
            .env("PATH", sandbox.folder().join("nothing here"))
            .output()
            .unwrap();
        assert!(ran.status.success(), "{file}: {ran:?}");
        assert!(ran.stdout.is_empty() && ran.stderr.is_empty(), "{file}: {ran:?}");
    }
}

#[test]
fn agents_in_use_are_found() {
    let sandbox = fresh();
    let none = init(&sandbox, &[]);
    assert!(!sandbox.path("AGENTS.md").exists(), "{}", none.stdout);
    std::fs::create_dir_all(sandbox.path(".gemini")).unwrap();
    std::fs::create_dir_all(sandbox.folder().join("home/.claude")).unwrap();
    let found = sandbox.run(["init", "--json"]).ok().json();
    assert_eq!(found["agents"], json!(["claude", "gemini"]));
    assert_eq!(
        parsed(&sandbox, ".gemini/settings.json")["hooks"]["AfterTool"][0]["hooks"][0]["timeout"],
        10_000
    );
}

#[test]
fn a_dry_run_shows_the_lines_and_writes_nothing() {
    let sandbox = fresh();
    sandbox.write(".claude/settings.json", "{\n  \"model\": \"opus\"\n}\n");
    let before = everything(&sandbox);
    let said = init(&sandbox, &["--agent", "claude", "codex", "--dry-run"]);
    assert_eq!(everything(&sandbox), before);
    assert!(
        said.stdout.contains("would change ") && said.stdout.contains("\n  -   \"model\": \"opus\"\n"),
        "{}",
        said.stdout
    );
    assert!(said.stdout.contains("\n  +     \"SessionStart\": [\n"), "{}", said.stdout);
    init(&sandbox, &["--agent", "claude"]);
    let wired = everything(&sandbox);
    let said = init(&sandbox, &["--remove", "--dry-run"]);
    assert_eq!(everything(&sandbox), wired);
    assert!(
        said.stdout.contains("would change ") && said.stdout.contains("would remove "),
        "{}",
        said.stdout
    );
}

#[test]
fn only_what_is_named_goes_and_what_others_added_stays() {
    let sandbox = fresh();
    init(&sandbox, &["--agent", "claude", "cursor"]);
    let text = sandbox.read(".claude/settings.json");
    let mixed = text.replacen(
        "\"hooks\": [\n          {",
        "\"hooks\": [\n          { \"type\": \"command\", \"command\": \"mine\" },\n          {",
        1,
    );
    assert_ne!(mixed, text);
    sandbox.write(".claude/settings.json", &mixed);
    init(&sandbox, &["--agent", "claude", "--remove"]);
    let left = parsed(&sandbox, ".claude/settings.json");
    assert_eq!(
        left,
        json!({ "hooks": { "SessionStart": [{ "hooks": [{ "type": "command", "command": "mine" }] }] } })
    );
    assert!(sandbox.path("AGENTS.md").exists(), "cursor still needs it");
    init(&sandbox, &["--agent", "cursor", "--remove"]);
    assert!(!sandbox.path("AGENTS.md").exists() && !sandbox.path(".cursor").exists());
}

#[test]
fn links_and_broken_files_are_refused_before_anything_is_written() {
    let sandbox = fresh();
    std::fs::create_dir_all(sandbox.path(".claude")).unwrap();
    let elsewhere = sandbox.folder().join("elsewhere.json");
    std::fs::write(&elsewhere, "{}").unwrap();
    std::os::unix::fs::symlink(&elsewhere, sandbox.path(".claude/settings.json")).unwrap();
    let before = everything(&sandbox);
    let refused = sandbox.run(["init", "--agent", "codex", "claude"]).code(4);
    assert!(refused.stderr.contains("is a symbolic link"), "{}", refused.stderr);
    assert_eq!(everything(&sandbox), before);
    std::fs::remove_file(sandbox.path(".claude/settings.json")).unwrap();
    for broken in ["{ \"hooks\": ", "{ \"hooks\": [] }", "{ \"hooks\": { \"Stop\": {} } }", "[]"] {
        sandbox.write(".claude/settings.json", broken);
        let before = everything(&sandbox);
        let refused = sandbox.run(["init", "--agent", "codex", "claude"]).code(4);
        assert!(refused.stderr.contains("cannot edit "), "{}", refused.stderr);
        assert_eq!(everything(&sandbox), before, "{broken}");
    }
    sandbox.run(["init", "--agent", "nobody"]).code(2);
}

/// A CLAUDE.md that is a link to AGENTS.md already has its content.
#[test]
fn a_linked_claude_md_is_left_alone() {
    let sandbox = fresh();
    sandbox.write("AGENTS.md", "# Agents\n");
    std::os::unix::fs::symlink("AGENTS.md", sandbox.path("CLAUDE.md")).unwrap();
    init(&sandbox, &["--agent", "claude"]);
    assert!(sandbox.path("CLAUDE.md").is_symlink());
    assert_eq!(sandbox.read("AGENTS.md").matches("BEGIN leftoff").count(), 1);
}

#[test]
fn for_a_user_the_project_is_left_alone() {
    let sandbox = plain();
    let home = sandbox.folder().join("home");
    std::fs::create_dir_all(home.join(".claude")).unwrap();
    std::fs::write(home.join(".claude/settings.json"), "{\"model\":\"opus\"}").unwrap();
    let before = everything(&sandbox);
    init(&sandbox, &["--user", "--agent", "claude", "codex"]);
    assert!(tree(sandbox.project()).is_empty(), "the project is left alone");
    assert!(std::fs::read_to_string(home.join(".codex/hooks.json")).unwrap().contains("leftoff hook codex"));
    init(&sandbox, &["--user", "--remove"]);
    assert_eq!(everything(&sandbox), before);
}

#[test]
fn doctor_tells_what_is_wired_stale_and_untrusted() {
    let sandbox = fresh();
    let doctor = || {
        let ran = sandbox.run(["doctor", "--json"]);
        let kinds: Vec<String> = ran.json()["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|finding| finding["kind"].as_str().unwrap().to_owned())
            .collect();
        (ran.json()["wired"].clone(), kinds)
    };
    init(&sandbox, &[]);
    assert_eq!(doctor(), (json!([]), vec![]));
    init(&sandbox, &["--agent", "claude", "codex"]);
    let (wired, kinds) = doctor();
    assert_eq!((&wired[0]["agent"], &wired[1]["agent"]), (&json!("claude"), &json!("codex")));
    assert_eq!(kinds, ["not_in_path", "hooks_untrusted"]);
    let hooks = sandbox.path(".codex/hooks.json");
    let settings = sandbox.folder().join("home/.codex/config.toml");
    let trusted = format!(
        "{}\n[hooks.state.\"{}:stop:0:0\"]\ntrusted_hash = \"x\"\n",
        std::fs::read_to_string(&settings).unwrap(),
        hooks.display()
    );
    std::fs::write(&settings, trusted).unwrap();
    let text = sandbox.read(".claude/settings.json").replace("\"PreToolUse\"", "\"PreToolUseOff\"");
    sandbox.write(".claude/settings.json", &text);
    let (_, kinds) = doctor();
    assert_eq!(kinds, ["wiring_stale", "not_in_path"]);
    init(&sandbox, &["--agent", "claude"]);
    assert_eq!(doctor().1, ["not_in_path"]);
}

#[test]
fn init_without_arguments_shows_what_it_would_write_and_asks_once() {
    let sandbox = fresh();
    sandbox.write("CLAUDE.md", "# Mine\n");
    let declined = sandbox.answer_at_terminal(["init"], "n\n").expect("script");
    assert_eq!(declined.code, 4, "{}", declined.stdout);
    assert!(declined.stdout.contains("Agents found: Claude Code"), "{}", declined.stdout);
    assert!(declined.stdout.contains("would make"), "{}", declined.stdout);
    assert!(!sandbox.path(".claude").exists() && !sandbox.path(".leftoff").exists());
    let accepted = sandbox.answer_at_terminal(["init"], "\n").expect("script");
    assert_eq!(accepted.code, 0, "{}", accepted.stdout);
    assert_eq!(accepted.stdout.matches("Write this?").count(), 1);
    assert!(accepted.stdout.contains("Next: leftoff start --goal"), "{}", accepted.stdout);
    assert!(sandbox.path(".claude/settings.json").exists());
    let again = sandbox.run_at_terminal(["init"]).expect("script");
    assert!(!again.stdout.contains("Write this?"), "nothing would change: {}", again.stdout);
}

#[test]
fn an_entry_of_the_user_stays_while_another_project_needs_it() {
    let sandbox = fresh();
    let other = sandbox.folder().join("other");
    std::fs::create_dir_all(other.join(".git")).unwrap();
    std::fs::write(other.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let other = other.canonicalize().unwrap();
    let there = other.to_str().unwrap();
    init(&sandbox, &["--agent", "codex"]);
    init(&sandbox, &["--agent", "codex", "--project", there]);
    let settings = sandbox.folder().join("home/.codex/config.toml");
    let before = std::fs::read_to_string(&settings).unwrap();
    let first = init(&sandbox, &["--remove"]);
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), before);
    let said = format!("The entry in {} stays: {there} needs it.", settings.display());
    assert!(first.stderr.contains(&said), "{}", first.stderr);
    assert!(!sandbox.path(".codex").exists(), "the project's own files are removed");
    let last = init(&sandbox, &["--remove", "--project", there]);
    assert!(!settings.exists(), "nobody needs it: {}{}", last.stdout, last.stderr);
    assert!(!last.stderr.contains("stays"), "{}", last.stderr);
}

/// A deleted project needs no entry in the user's files.
#[test]
fn a_deleted_project_keeps_no_entry_of_the_user() {
    let sandbox = fresh();
    let other = sandbox.folder().join("other");
    std::fs::create_dir_all(other.join(".git")).unwrap();
    std::fs::write(other.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    init(&sandbox, &["--agent", "codex"]);
    init(&sandbox, &["--agent", "codex", "--project", other.to_str().unwrap()]);
    std::fs::remove_dir_all(&other).unwrap();
    init(&sandbox, &["--remove"]);
    assert!(!sandbox.folder().join("home/.codex/config.toml").exists());
}
