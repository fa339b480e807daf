//! Every event of an agent, with everything that can be wrong with leftoff: the hook ends quickly with exit
//! code 0, prints nothing on stdout that an agent cannot read, and at most one line on stderr.

use crate::nobody::{Nobody, Sealed};
use crate::tree::Tree;
use crate::{fresh, git_with_session};
use rustix::fs::{FlockOperation, flock};
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use testkit::{Ran, Sandbox};

const RULES: &str = "\
requirements:
  planned:
    enabled: true
    scope: session
    trigger_tools: [Edit]
    satisfied_by_skill: plan
";

fn events(sandbox: &Sandbox) -> Vec<(String, String)> {
    let edit = json!({ "file_path": "a.rs" });
    let all = [
        json!({ "hook_event_name": "SessionStart", "source": "startup" }),
        json!({ "hook_event_name": "UserPromptSubmit", "prompt": "go" }),
        json!({ "hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_input": edit, "tool_use_id": "1" }),
        json!({ "hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_input": edit, "tool_use_id": "1" }),
        json!({ "hook_event_name": "PostToolUse", "tool_name": "Skill", "tool_input": { "skill": "plan" },
            "tool_use_id": "2" }),
        json!({ "hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_use_id": "3",
            "tool_input": { "command": "make" }, "error": "2" }),
        json!({ "hook_event_name": "Stop", "stop_hook_active": false, "last_assistant_message": "done" }),
        json!({ "hook_event_name": "SubagentStop", "stop_hook_active": false, "agent_id": "a", "agent_type": "x" }),
        json!({ "hook_event_name": "PreCompact", "trigger": "auto" }),
        json!({ "hook_event_name": "SessionEnd", "reason": "other" }),
    ];
    let whole = |mut event: Value| {
        event["session_id"] = json!("a4326893-7dc8-4b6e-9f05-0123456789ab");
        event["cwd"] = json!(sandbox.project());
        (event["hook_event_name"].as_str().unwrap().to_owned(), event.to_string())
    };
    all.into_iter().map(whole).collect()
}

/// Sends all events, and returns the answers. Each must come within a tenth of a second or, on a busy
/// machine, within a small multiple of the time that an empty process takes.
#[track_caller]
fn all_open(sandbox: &Sandbox, command: &dyn Fn() -> Command) -> Vec<(String, Ran)> {
    const TRIES: usize = 8;
    // SessionStart also runs git, for which it has another 150 ms.
    let budget = |name: &str| Duration::from_millis(if name == "SessionStart" { 300 } else { 100 });
    let nothing = json!({ "session_id": "a", "cwd": "/", "hook_event_name": "Nothing" }).to_string();
    let mut answers = Vec::new();
    for (name, input) in events(sandbox) {
        let (mut quickest, mut idle) = (Duration::MAX, Duration::MAX);
        let mut last = None;
        for _ in 0..TRIES {
            let begun = Instant::now();
            run(sandbox.command(["hook", "claude"]), &nothing);
            idle = idle.min(begun.elapsed());
            let begun = Instant::now();
            let ran = run(command(), &input);
            quickest = quickest.min(begun.elapsed());
            assert_eq!(ran.code, 0, "{name}: {ran:?}");
            assert!(ran.stderr.lines().count() <= 1, "{name}: {}", ran.stderr);
            if !ran.stdout.is_empty() {
                ran.json();
            }
            last = Some(ran);
            if quickest < budget(&name) {
                break;
            }
        }
        let most = budget(&name).max(idle * 6);
        assert!(quickest < most, "{name} took {quickest:?}, and {idle:?} to do nothing");
        answers.extend(last.map(|ran| (name, ran)));
    }
    answers
}

fn run(mut command: Command, input: &str) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = crate::nobody::start(&mut command);
    // The program may end without reading all of its input.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    Ran::from(child.wait_with_output().unwrap())
}

fn required() -> Sandbox {
    let sandbox = git_with_session();
    sandbox.write(".claude/requirements.yaml", RULES);
    sandbox
}

fn hook(sandbox: &Sandbox) -> impl Fn() -> Command + '_ {
    || sandbox.command(["hook", "claude"])
}

#[test]
fn where_nothing_is_wrong_all_events_are_quick_and_one_is_denied() {
    let sandbox = required();
    let answers = all_open(&sandbox, &hook(&sandbox));
    assert!(answers.iter().all(|(_, ran)| ran.stderr.is_empty()), "{answers:?}");
    assert!(answers[2].1.stdout.contains("\"deny\""), "{answers:?}");
}

#[test]
fn without_a_store_all_events_are_let_through() {
    let sandbox = fresh();
    let answers = all_open(&sandbox, &hook(&sandbox));
    assert!(answers.iter().all(|(_, ran)| ran.stdout.is_empty() && ran.stderr.is_empty()), "{answers:?}");
    assert!(!sandbox.path(".git/leftoff").exists(), "a hook sets nothing up");
}

#[test]
fn a_store_that_others_hold_is_not_waited_for() {
    let sandbox = required();
    let lock = File::options().write(true).open(sandbox.path(".git/leftoff/leftoff.db.lock")).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    let answers = all_open(&sandbox, &hook(&sandbox));
    assert!(
        answers[3].1.stderr.contains("held the store's lock"),
        "what could not be kept is said: {answers:?}"
    );
}

#[test]
fn a_database_that_another_program_has_locked_is_not_waited_for() {
    let sandbox = required();
    let database = rusqlite::Connection::open(sandbox.path(".git/leftoff/leftoff.db")).unwrap();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    all_open(&sandbox, &hook(&sandbox));
    database.execute_batch("ROLLBACK; PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    all_open(&sandbox, &hook(&sandbox));
}

#[test]
fn files_of_requirements_that_others_hold_are_not_waited_for() {
    let sandbox = required();
    all_open(&sandbox, &hook(&sandbox));
    let folder = sandbox.path(".git/requirements");
    let lock =
        File::options().write(true).create(true).truncate(false).open(folder.join("main.lock")).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    all_open(&sandbox, &hook(&sandbox));
}

#[test]
fn what_is_broken_stops_nobody() {
    for (path, text) in [
        (".leftoff/config.toml", "workflow = [[["),
        (".claude/requirements.yaml", "requirements: [unclosed"),
        (".claude/requirements.yaml", "requirements:\n  planned:\n    enabled: maybe\n    scope: 7\n"),
        (".git/requirements/main.json", "{ broken"),
        (".git/requirements/sessions/a4326893.json", "[]"),
        (".git/leftoff/leftoff.db", "no database, but long enough to be looked at as if it were one of them"),
        (".git/HEAD", "\u{0}\u{0}"),
    ] {
        let sandbox = required();
        sandbox.write(path, text);
        all_open(&sandbox, &hook(&sandbox));
    }
}

#[test]
fn a_panic_at_any_event_stops_nobody() {
    let sandbox = required();
    let command = || {
        let mut command = sandbox.command(["hook", "claude"]);
        command.env("LEFTOFF_TEST_PANIC", "hook");
        command
    };
    for (name, ran) in all_open(&sandbox, &command) {
        assert!(ran.stdout.is_empty() && ran.stderr.contains("internal error"), "{name}: {ran:?}");
    }
}

#[test]
fn without_permission_to_write_all_events_are_let_through_or_rightly_denied() {
    let sandbox = required();
    let nobody = Nobody::in_sandbox(&sandbox);
    let _sealed = Sealed::new(sandbox.project());
    let answers = all_open(&sandbox, &|| nobody.command(&["hook", "claude"]));
    assert!(answers[0].1.stdout.contains("kept"), "the brief is given all the same: {answers:?}");
}

#[test]
fn garbage_stops_nobody() {
    let sandbox = required();
    let good = &events(&sandbox)[3].1;
    let output = "x".repeat(3_000_000);
    let huge = format!("{},\"tool_response\":\"{output}\"}}", &good[..good.len() - 1]);
    for input in ["", "\u{0}", "{}", "[", "{\"session_id\":{},\"cwd\":[]}", &good[..good.len() / 2], &huge] {
        for agent in ["claude", "codex", "gemini", "cursor", "copilot", "opencode", "nobody", ""] {
            let ran = run(sandbox.command(["hook", agent]), input);
            assert!(ran.code == 0 && ran.stderr.lines().count() <= 1, "{agent}: {ran:?}");
            assert_eq!(ran.stdout, "", "{agent}");
        }
    }
}

/// A path in the id of an agent session stays a name.
#[test]
fn an_id_from_outside_is_never_a_path() {
    let sandbox = required();
    let before = Tree::of(sandbox.folder());
    for id in ["../../escape", "/etc/passwd", "a/../../b", "..", ".", "%2e%2e%2f", "a\\b"] {
        for (_, input) in events(&sandbox) {
            let input =
                input.replace("a4326893-7dc8-4b6e-9f05-0123456789ab", &id.escape_default().to_string());
            let ran = run(sandbox.command(["hook", "claude"]), &input);
            assert!(ran.code == 0 && ran.stderr.lines().count() <= 1, "{id}: {ran:?}");
        }
    }
    let known = ["/.git/requirements", "/.git/leftoff/", "/home/.claude", "/state"];
    let after = Tree::of(sandbox.folder());
    for path in after.paths().filter(|path| !before.paths().any(|known| known == *path)) {
        let text = path.display().to_string();
        assert!(known.iter().any(|place| text.contains(place)) && !text.contains("escape/"), "{text}");
    }
}

/// Most events start no other process.
#[cfg(target_os = "linux")]
#[test]
fn no_process_is_started_on_the_common_path() {
    let Some(strace) = testkit::strace("that hooks start no process") else { return };
    let sandbox = required();
    for (name, input) in events(&sandbox) {
        let trace = sandbox.folder().join("trace");
        let plain = sandbox.command(["hook", "claude"]);
        let mut command = Command::new(&strace);
        command.args(["-f", "-e", "trace=execve,execveat,fork,vfork,clone,clone3", "-o"]).arg(&trace);
        command.arg(plain.get_program()).args(plain.get_args()).current_dir(sandbox.project());
        command.env_clear().envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("strace");
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success(), "{name}");
        let seen = std::fs::read_to_string(&trace).unwrap();
        let started: Vec<&str> = seen
            .lines()
            .filter(|line| line.contains("exec") || line.contains("clone") || line.contains("fork"))
            .collect();
        if name == "SessionStart" {
            // For the brief, git is asked for commits and changes, and no other program is started.
            let mut executed = started.iter().skip(1).filter(|line| line.contains("execve(\""));
            assert!(executed.all(|line| line.contains("/git\"")), "{seen}");
            continue;
        }
        assert_eq!(started.len(), 1, "{name} starts nothing but itself: {seen}");
        assert!(started[0].contains("execve("), "{seen}");
    }
}
