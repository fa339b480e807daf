//! Tests of output: a failed write is a failure, and stored or typed text cannot control a terminal.

use crate::{git, with_gate};
use std::fs::OpenOptions;
use std::process::Stdio;
use testkit::{Ran, Sandbox};

/// Runs the program with a stdout that accepts nothing, like a full disk.
#[cfg(target_os = "linux")]
fn to_full_disk(sandbox: &Sandbox, words: &[&str]) -> Ran {
    let full = OpenOptions::new().write(true).open("/dev/full").expect("a device that is full");
    Ran::from(
        sandbox.command(words).stdout(full).stderr(Stdio::piped()).output().expect("the program starts"),
    )
}

#[cfg(target_os = "linux")]
#[test]
fn f2_an_answer_that_cannot_be_written_is_a_failure() {
    let sandbox = git();
    sandbox.run(["start", "--id", "a"]).ok();
    for words in [
        &["export"][..],
        &["log"],
        &["status"],
        &["brief"],
        &["brief", "--format", "markdown"],
        &["list"],
        &["show", "a"],
        &["history"],
        &["workflow", "schema"],
        &["man"],
        &["--help"],
        &["completions", "bash"],
        &["next"],
    ] {
        let ran = to_full_disk(&sandbox, words).code(1);
        assert_eq!(
            ran.stderr, "error: cannot write to stdout: No space left on device (os error 28)\n",
            "{words:?}"
        );
    }
    let ran = to_full_disk(&sandbox, &["status", "--json"]).code(1);
    assert_eq!(ran.error()["kind"], "io");
    // A change that was committed is reported as done, even if the answer cannot be written.
    let ran = to_full_disk(&sandbox, &["note", "one", "--json"]).code(1);
    assert!(ran.stderr.contains("; the command itself succeeded"), "{}", ran.stderr);
    assert_eq!(sandbox.run(["show", "--json"]).ok().json()["notes"][0]["text"], "one");
}

#[test]
fn f2_a_closed_pipe_ends_quietly() {
    let sandbox = git();
    sandbox.run(["start", "--id", "a"]).ok();
    // With -f, a command that ignored the error would run for ever.
    for words in [&["log", "-f"][..], &["log"], &["export"], &["status", "--json"], &["note", "x"]] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let ran = sandbox.command(words).stdout(writer).stderr(Stdio::piped()).output();
        let ran = Ran::from(ran.expect("the program starts")).ok();
        assert_eq!(ran.stderr, "", "{words:?}");
    }
}

/// A text that would write to the clipboard, clear the screen in two ways, and change the text direction.
const HOSTILE: &str =
    "a\u{1b}]52;c;aGk=\u{7}b\u{9b}2Jc\u{1b}[31m\u{202e}d\u{2066}\u{61c}\u{200f}\u{2028}e\rf";

fn hostile() -> Sandbox {
    let sandbox = with_gate();
    let text = |name: &str| format!("{name}={HOSTILE}");
    sandbox.run(["start", "ship", "--id", "login", "--title", HOSTILE, "--goal", HOSTILE]).ok();
    for kind in ["note", "blocker", "decision"] {
        sandbox.run(["note", HOSTILE, "--kind", kind, "--field", &text("why")]).ok();
    }
    sandbox.run(["item", "add", HOSTILE, "--id", "one"]).ok();
    sandbox.run(["set", &text("audience")]).ok();
    sandbox.run(["item", "done", "one"]).ok();
    sandbox.run(["advance", "--phase", "plan", "--output", &text("plan")]).ok();
    sandbox.run(["advance", "--phase", "build", "--evidence", &text("coverage")]).code(5);
    sandbox
}

/// Expects a text without control characters, except line feeds, tabs and those in `ours`, and without
/// characters that reorder or break a line.
#[track_caller]
fn assert_inert(words: &[&str], ran: &Ran, ours: &[&str]) {
    for text in [&ran.stdout, &ran.stderr] {
        let text = ours.iter().fold(text.clone(), |text, ours| text.replace(ours, ""));
        let steers = |c: char| {
            (c.is_control() && !matches!(c, '\n' | '\t'))
                || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        assert_eq!(text.chars().find(|c| steers(*c)), None, "{words:?} in {text:?}");
    }
}

#[test]
fn f4_no_output_carries_a_stored_escape_sequence() {
    let sandbox = hostile();
    let ours =
        ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[32m", "\u{1b}[31m", "\u{1b}[33m", "\u{1b}[36m"];
    for words in [
        &["diff", "1"][..],
        &["log"],
        &["status"],
        &["brief"],
        &["brief", "--format", "markdown"],
        &["show"],
        &["next"],
        &["list"],
        &["history"],
        &["item", "list", "--phase", "plan"],
        &["gate"],
        &["revisit", "plan", "--reason", HOSTILE, "--dry-run"],
        &["doctor"],
        &["export"],
        &["statusline"],
        &["note", HOSTILE],
        &["undo"],
        &["pause", "--reason", HOSTILE],
        &["resume"],
    ] {
        let ran = sandbox.run(words);
        assert!(!ran.stdout.is_empty() || *words == ["doctor"], "{words:?}: {}", ran.stderr);
        assert_inert(words, &ran, &[]);
        let json: Vec<&str> = words.iter().copied().chain(["--json"]).collect();
        assert_inert(&json, &sandbox.run(&json), &[]);
        let coloured: Vec<&str> = words.iter().copied().chain(["--color", "always"]).collect();
        let ran = sandbox.run(&coloured);
        // leftoff's own red is bold. A red that is not bold would come from stored text.
        assert!(!ran.stdout.replace("\u{1b}[1m\u{1b}[31m", "").contains("\u{1b}[31m"), "{:?}", ran.stdout);
        assert_inert(&coloured, &ran, &ours);
    }
    // The stored text is complete, although its output is escaped.
    let exported = sandbox.run(["show", "--json"]).ok().json();
    assert_eq!(exported["title"], HOSTILE);
}

#[test]
fn f4_errors_about_arguments_are_inert() {
    let sandbox = hostile();
    for words in [
        &[HOSTILE][..],
        &["status", HOSTILE],
        &["status", "--bogus\u{202e}\u{1b}[2J"],
        &["note", "x", "--kind", HOSTILE],
        &["--session", HOSTILE, "status"],
        &["advance", "--phase", HOSTILE],
        &["advance", "--evidence", HOSTILE],
        &["start", HOSTILE],
        &["start", "--id", HOSTILE],
        &["show", HOSTILE],
        &["rollback", HOSTILE],
        &["item", "done", HOSTILE],
        &["workflow", "show", HOSTILE],
        &["--project", HOSTILE, "status"],
        &["hook", HOSTILE],
    ] {
        let ran = sandbox.run(words);
        assert!(!ran.stderr.is_empty(), "{words:?}");
        assert_inert(words, &ran, &[]);
        let json: Vec<&str> = words.iter().copied().chain(["--json"]).collect();
        assert_inert(&json, &sandbox.run(&json), &[]);
    }
}

#[test]
fn f4_a_hooks_text_is_inert_after_the_agent_has_read_it() {
    let sandbox = hostile();
    let event = serde_json::json!({
        "session_id": "a4326893-0000-4000-8000-000000000000",
        "cwd": sandbox.project(),
        "hook_event_name": "SessionStart",
        "source": "startup",
    });
    let ran = sandbox.run_with_input(&["hook", "claude"], &event.to_string()).ok();
    let told = ran.json()["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned();
    assert!(told.contains("login"), "{ran:?}");
    assert_inert(&["hook"], &Ran { stdout: told, ..ran }, &[]);
}
