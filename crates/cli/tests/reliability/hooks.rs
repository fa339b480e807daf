//! Invariant 6: a hook never blocks an agent because leftoff itself is broken.

use crate::nobody::{Nobody, Sealed};
use crate::{git, git_with_session};
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::io::Write;
use std::process::Stdio;
use testkit::{Ran, Sandbox};

fn session_start(sandbox: &Sandbox) -> String {
    serde_json::json!({
        "session_id": "a4326893-7dc8-4b6e-9f05-0123456789ab",
        "transcript_path": "/home/anna/.claude/transcript.jsonl",
        "cwd": sandbox.project(),
        "hook_event_name": "SessionStart",
        "source": "startup",
    })
    .to_string()
}

/// Expects that a hook lets the agent continue: exit code 0, at most one line on stderr, and nothing or one
/// JSON document on stdout.
#[track_caller]
fn assert_open(ran: &Ran) {
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.lines().count() <= 1, "{}", ran.stderr);
    if !ran.stdout.is_empty() {
        ran.json();
    }
}

#[test]
fn a_hook_gives_the_brief() {
    let sandbox = git_with_session();
    let ran = sandbox.run_with_input(&["hook", "claude"], &session_start(&sandbox));
    assert_open(&ran);
    let context = &ran.json()["hookSpecificOutput"]["additionalContext"];
    assert!(context.as_str().unwrap().contains("kept"), "{context}");
}

#[test]
fn nonsense_on_stdin_and_in_the_arguments_blocks_nobody() {
    let sandbox = git_with_session();
    let good = session_start(&sandbox);
    let half = &good[..good.len() / 2];
    let deep = "[".repeat(100_000);
    let bad_id = good.replace("a4326893", "a'; rm -rf /; '");
    for input in
        ["", "null", "{}", "[1]", "\u{0}", half, &deep, &bad_id, &good.replace("SessionStart", "Stop")]
    {
        assert_open(&sandbox.run_with_input(&["hook", "claude"], input));
    }
    let arguments: [&[&str]; 5] = [
        &["hook"],
        &["hook", "nobody"],
        &["hook", "--no-such"],
        &["hook", "claude", "more"],
        &["hook", "-v", "claude"],
    ];
    for arguments in arguments {
        assert_open(&sandbox.run_with_input(arguments, &good));
    }
}

/// If locks fail after the first ones, SQLite retries for ten seconds; no agent may wait for that.
#[test]
fn f8_locks_that_fail_hold_no_hook_up() {
    let Some(strace) = testkit::strace("that locks that fail hold no hook up") else { return };
    let sandbox = git_with_session();
    for from in [1, 3, 7, 8, 9, 10, 12, 14] {
        let failing = ["-e".to_owned(), format!("inject=fcntl:error=EAGAIN:when={from}+")];
        let (done, slept) = traced(&strace, &sandbox, &failing, &session_start(&sandbox));
        let told = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success() && told.lines().count() <= 1, "{from}: {told}");
        // The message is the one that SQLite gives after ten seconds of retries.
        assert!(!told.contains("locking protocol"), "{from}: {told}");
        assert!(slept <= BUDGET_NANOSECONDS, "{from}: slept for {slept} ns");
    }
}

/// A requirement that is not satisfied still denies the tool, because this does not depend on the store.
#[test]
fn f8_with_locks_that_fail_a_tool_is_denied_and_the_reason_is_said() {
    let Some(strace) = testkit::strace("that locks that fail let no tool through") else { return };
    let sandbox = git_with_session();
    sandbox.write(
        ".claude/requirements.yaml",
        "requirements:\n  planned:\n    enabled: true\n    scope: session\n    trigger_tools: [Edit]\n",
    );
    let edit = serde_json::json!({
        "session_id": "a4326893-7dc8-4b6e-9f05-0123456789ab", "cwd": sandbox.project(), "tool_use_id": "1",
        "hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_input": { "file_path": "a.rs" },
    });
    // The first locks are needed to open the database.
    let failing = ["-e".to_owned(), "inject=fcntl:error=EAGAIN:when=7+".to_owned()];
    let (done, slept) = traced(&strace, &sandbox, &failing, &edit.to_string());
    let (answer, told) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(answer.contains("\"deny\""), "{answer} {told}");
    assert!(told.contains("the locks of") && told.contains("do not work"), "{told}");
    assert!(slept <= BUDGET_NANOSECONDS, "slept for {slept} ns");
}

#[test]
fn f8_a_database_that_stays_locked_is_let_go_within_the_budget() {
    let Some(strace) = testkit::strace("that a locked database holds no hook up") else { return };
    let sandbox = git_with_session();
    let holder = rusqlite::Connection::open(sandbox.path(".git/leftoff/leftoff.db")).unwrap();
    holder.execute_batch("PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    let (done, slept) = traced(&strace, &sandbox, &[], &session_start(&sandbox));
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && told.contains("held the store's lock"), "{told}");
    // The agent does not see stderr, and must not take silence for an empty project.
    let answer = String::from_utf8_lossy(&done.stdout);
    assert!(answer.contains("leftoff brief --format markdown"), "{answer}");
    assert!(slept <= BUDGET_NANOSECONDS, "slept for {slept} ns");
    holder.execute_batch("ROLLBACK").unwrap();
}

/// The maximum wait of a hook.
const BUDGET_NANOSECONDS: u64 = 50_000_000;

/// Runs a hook under strace, and returns the total length of completed sleeps as well. This measures how long
/// the hook waits, not how busy the machine is.
fn traced(
    strace: &std::ffi::OsStr,
    sandbox: &Sandbox,
    more: &[String],
    input: &str,
) -> (std::process::Output, u64) {
    let trace = sandbox.folder().join("sleeps");
    let inner = sandbox.command(["hook", "claude"]);
    let mut command = std::process::Command::new(strace);
    command.args(["-qq", "-e", "trace=fcntl,nanosleep,clock_nanosleep", "-o"]).arg(&trace).args(more);
    command.arg(inner.get_program()).args(inner.get_args()).current_dir(sandbox.project()).env_clear();
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("strace");
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    let seen = std::fs::read_to_string(&trace).unwrap();
    assert!(seen.contains("fcntl("), "the locks were seen: {seen}");
    (done, seen.lines().filter(|line| line.ends_with("= 0")).filter_map(asked_sleep).sum())
}

/// The nanoseconds for which a traced call asked to sleep.
fn asked_sleep(line: &str) -> Option<u64> {
    let number = |name: &str| -> Option<u64> {
        let (_, rest) = line.split_once(name)?;
        rest.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
    };
    Some(number("tv_sec=")? * 1_000_000_000 + number("tv_nsec=")?)
}

#[test]
fn a_broken_store_blocks_nobody() {
    let sandbox = git();
    sandbox.write(".git/leftoff/leftoff.db", &"no database\n".repeat(1_000));
    let ran = sandbox.run_with_input(&["hook", "claude"], &session_start(&sandbox));
    assert_open(&ran);
    assert!(ran.stderr.contains("is not a leftoff database"), "it is said: {}", ran.stderr);
}

#[test]
fn a_broken_configuration_and_a_folder_that_is_gone_block_nobody() {
    let sandbox = git_with_session();
    sandbox.write(".leftoff/config.toml", "workflow = [[[");
    let good = session_start(&sandbox);
    assert_open(&sandbox.run_with_input(&["hook", "claude"], &good));
    let gone = good.replace(&sandbox.project().display().to_string(), "/no/such/folder");
    assert_open(&sandbox.run_with_input(&["hook", "claude"], &gone));
}

/// A hook does not wait ten seconds for its turn, and the brief needs no turn.
#[test]
fn a_held_lock_costs_the_agent_nothing_but_its_row() {
    let sandbox = git_with_session();
    let lock = File::options().write(true).open(sandbox.path(".git/leftoff/leftoff.db.lock")).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    let ran = sandbox.run_with_input(&["hook", "claude"], &session_start(&sandbox));
    assert_open(&ran);
    assert!(ran.stdout.contains("kept"), "the brief is given all the same");
}

#[test]
fn a_folder_that_cannot_be_written_blocks_nobody_and_the_brief_is_given() {
    let sandbox = git_with_session();
    let nobody = Nobody::in_sandbox(&sandbox);
    let _sealed = Sealed::new(sandbox.project());
    let mut command = nobody.command(&["hook", "claude"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = crate::nobody::start(&mut command);
    child.stdin.take().unwrap().write_all(session_start(&sandbox).as_bytes()).unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_open(&ran);
    assert!(ran.stdout.contains("kept"), "{ran:?}");
}

#[test]
fn a_panic_of_ours_blocks_nobody() {
    let sandbox = git_with_session();
    let mut command = sandbox.command(["hook", "claude"]);
    command.env("LEFTOFF_TEST_PANIC", "hook");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(session_start(&sandbox).as_bytes()).unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_open(&ran);
    assert!(ran.stderr.contains("internal error"), "the panic was reached: {}", ran.stderr);
}
