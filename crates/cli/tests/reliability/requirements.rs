//! Requirements in files that cannot be written, and processes of other users.

use crate::nobody::{Nobody, Sealed, start};
use serde_json::json;
use std::fs;
use std::io::Write;
use std::process::Stdio;
use testkit::{Ran, Sandbox};

const SETTINGS: &str = "requirements: {commit_plan: {enabled: true}}\n";
const WHO: [&str; 2] = ["--agent-session", "a4326893"];

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::git(env!("CARGO_BIN_EXE_leftoff"));
    sandbox.write(".claude/requirements.yaml", SETTINGS);
    sandbox
}

#[test]
fn where_nothing_can_be_written_it_is_read_and_never_acknowledged() {
    let sandbox = sandbox();
    let nobody = Nobody::in_sandbox(&sandbox);
    nobody.run(&["req", "satisfy", "commit_plan", WHO[0], WHO[1]]).ok();
    let sealed = Sealed::new(&sandbox.path(".git/requirements"));
    let list = nobody.run(&["req", "list", "--json", WHO[0], WHO[1]]).ok().json();
    assert_eq!(list["requirements"][0]["satisfied"], true);
    let refused = nobody.run(&["req", "clear", "commit_plan", "--json", WHO[0], WHO[1]]).code(1);
    assert_eq!(refused.error()["kind"], "io");
    drop(sealed);
    let list = nobody.run(&["req", "list", "--json", WHO[0], WHO[1]]).ok().json();
    assert_eq!(list["requirements"][0]["satisfied"], true, "nothing was changed");
    let left: Vec<String> = fs::read_dir(sandbox.path(".git/requirements"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.contains("tmp"))
        .collect();
    assert_eq!(left, Vec::<String>::new());
}

#[test]
fn another_users_process_is_alive() {
    let sandbox = sandbox();
    let home = sandbox.folder().join("home/.claude");
    fs::create_dir_all(&home).unwrap();
    let project = sandbox.project().canonicalize().unwrap();
    // The first process of the system belongs to root, and refuses signals from other users.
    let entry = json!({ "pid": 7, "ppid": 1, "project_dir": project, "branch": "main", "started_at": 1, "last_active": 2 });
    fs::write(
        home.join("sessions.json"),
        json!({ "version": "1.0", "sessions": { "bbbb2222": entry } }).to_string(),
    )
    .unwrap();
    let nobody = Nobody::in_sandbox(&sandbox);
    let agents = nobody.run(&["list", "--agents", "--json"]).ok().json();
    assert_eq!(
        (&agents["agents"][0]["agent_session"], &agents["agents"][0]["alive"]),
        (&json!("bbbb2222"), &json!(true))
    );
}

#[test]
fn r2_an_agent_is_let_go_where_nothing_can_be_written() {
    let sandbox = sandbox();
    let nobody = Nobody::in_sandbox(&sandbox);
    fs::create_dir_all(sandbox.path(".git/requirements/sessions")).unwrap();
    let _sealed = Sealed::new(&sandbox.path(".git/requirements"));
    let event = json!({
        "session_id": "a4326893", "hook_event_name": "PreToolUse", "cwd": sandbox.project(),
        "tool_name": "Edit", "tool_input": { "file_path": "src/a.rs" },
    });
    let mut command = nobody.command(&["hook", "claude"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut hook = start(&mut command);
    hook.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
    let ran = Ran::from(hook.wait_with_output().unwrap()).ok();
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains("Edit is allowed"), "{}", ran.stderr);
}
