//! Tests of commands that run in the context of a session, and of what is recorded about them.

use crate::git;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use testkit::Sandbox;

const SHOW: &str = "printf '%s|%s|%s|%s|%s' \"$LEFTOFF_SESSION\" \"$LEFTOFF_PHASE\" \"$LEFTOFF_TASK\" \"$LEFTOFF_GOAL\" \"$LEFTOFF_DOCUMENTS\"";

#[test]
fn a_command_knows_its_session_phase_goal_and_documents() {
    let sandbox = git();
    sandbox.write(
        ".leftoff/workflows/ship.toml",
        "name = \"ship\"\nversion = \"1\"\ntitle = \"Ship\"\n[[phase]]\nid = \"plan\"\ntitle = \"Plan\"\nproduces = [\"PLAN.md\", \"never.md\"]\n[[phase]]\nid = \"build\"\ntitle = \"Build\"\n",
    );
    sandbox.run(["start", "ship", "--id", "k3v9x2mp", "--goal", "two words"]).ok();
    sandbox.run(["exec", "--", "sh", "-c", "echo plan > \"$LEFTOFF_WORKSPACE/PLAN.md\""]).ok();
    assert_eq!(sandbox.run(["exec", "--", "sh", "-c", SHOW]).ok().stdout, "k3v9x2mp|plan||two words|");
    sandbox.run(["advance", "--phase", "plan"]).ok();
    let plan = sandbox.path(".leftoff/sessions/k3v9x2mp/PLAN.md");
    let told = sandbox.run(["exec", "--", "sh", "-c", SHOW]).ok().stdout;
    assert_eq!(told, format!("k3v9x2mp|build||two words|{}", plan.display()));
}

#[test]
fn exec_ends_as_its_command_ends() {
    let sandbox = git();
    sandbox.run(["start"]).ok();
    sandbox.run(["exec", "--", "sh", "-c", "exit 42"]).code(42);
    sandbox.run(["exec", "--", "sh", "-c", "kill -TERM $$"]).code(143);
    sandbox.run(["exec", "--", "no-such-program-anywhere"]).code(127);
    sandbox.write("script", "not executable");
    sandbox.run(["exec", "--", "./script"]).code(126);
    sandbox.run(["exec"]).code(2);
    sandbox.run(["exec", "--session", "nope", "--", "true"]).code(3);
}

#[test]
fn a_signal_to_exec_reaches_the_command_which_ends_as_it_wants() {
    let sandbox = git();
    sandbox.run(["start"]).ok();
    let script = "trap 'exit 7' TERM; echo ready; while :; do sleep 0.02; done";
    let mut child =
        sandbox.command(["exec", "--", "sh", "-c", script]).stdout(Stdio::piped()).spawn().unwrap();
    let mut ready = [0; 6];
    child.stdout.as_mut().unwrap().read_exact(&mut ready).unwrap();
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(7));
}

fn temporary(sandbox: &Sandbox, script: &str) -> (String, String) {
    let folder = sandbox.folder().join("temporary");
    std::fs::create_dir_all(&folder).unwrap();
    let output = sandbox.command(["exec", "--", "sh", "-c", script]).env("TMPDIR", folder).output().unwrap();
    assert!(output.status.success());
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn without_a_session_a_temporary_workspace_is_kept_only_with_something_in_it() {
    let sandbox = git();
    let (path, told) = temporary(&sandbox, "printf %s \"$LEFTOFF_WORKSPACE\"; test -z \"$LEFTOFF_SESSION\"");
    assert!(told.contains(&path), "{told}");
    assert!(!PathBuf::from(&path).exists());
    let (path, told) =
        temporary(&sandbox, "touch \"$LEFTOFF_WORKSPACE/x\"; printf %s \"$LEFTOFF_WORKSPACE\"");
    assert!(told.contains(&format!("workspace kept, because it is not empty: {path}")), "{told}");
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn what_was_run_is_in_the_brief_once_and_changes_no_version() {
    let sandbox = git();
    sandbox.at("2026-11-14T10:00:00Z").run(["start"]).ok();
    let before = sandbox.run(["status", "--json"]).ok().json();
    for _ in 0..3 {
        sandbox.run(["exec", "--", "sh", "-c", "exit 1", "--password", "hunter2"]).code(1);
    }
    assert_eq!(sandbox.run(["status", "--json"]).ok().json(), before);
    let brief = sandbox.run(["brief", "--format", "markdown"]).ok().stdout;
    let told = "## Commands run\n- sh -c 'exit 1' --password [redacted: password]: exit 1, ";
    assert!(brief.contains(told) && brief.contains(", 3 times"), "{brief}");
    let rows = sandbox.run(["brief", "--format", "json"]).ok().json()["activity"].clone();
    assert_eq!((rows.as_array().unwrap().len(), &rows[0]["count"]), (1, &3.into()));
}

#[test]
fn the_task_is_the_item_that_is_held() {
    let sandbox = git();
    sandbox.run(["start", "--id", "k3v9x2mp"]).ok();
    sandbox.run(["item", "add", "Rotate tokens", "--id", "impl-1"]).ok();
    sandbox.run(["item", "claim", "impl-1", "--for", "30m"]).ok();
    assert_eq!(sandbox.run(["exec", "--", "sh", "-c", SHOW]).ok().stdout, "k3v9x2mp|plan|impl-1||");
    let changed = sandbox.run(["diff", "3"]).ok().stdout;
    assert!(changed.contains("items of plan: 0 of 0 done → 0 of 1 done"), "{changed}");
}

#[test]
fn a_file_that_was_recorded_is_among_the_touched_ones_once() {
    let sandbox = git();
    sandbox.run(["start", "--id", "s"]).ok();
    sandbox.write("src/a.rs", "one");
    let first = sandbox.run(["artifact", "add", "src/a.rs", "--json"]).ok().json();
    let again = sandbox.run(["artifact", "add", "src/a.rs", "--json"]).ok().json();
    assert_eq!(first["version"], again["version"], "telling it changes no version");
    let brief = sandbox.run(["brief", "--format", "markdown"]).ok().stdout;
    assert!(brief.contains("## Touched\nsrc/a.rs\n"), "{brief}");
}
