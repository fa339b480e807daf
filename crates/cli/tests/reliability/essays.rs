//! Essays, whose state is YAML with comments: no comment and no foreign byte is lost.

use crate::views::STEPS;
use std::fs;
use std::path::{Path, PathBuf};
use testkit::Sandbox;

const FOLDER: &str = "essay-pipeline-20261114-100000";
const COMMENT: &str = "  # counted by somebody else";

/// A project with a session whose state has a foreign key.
fn essay() -> Sandbox {
    let sandbox = crate::fresh();
    sandbox.run(["start", "--layout", "essay", "--id", FOLDER]).ok();
    let text = fs::read_to_string(state(&sandbox)).unwrap();
    fs::write(state(&sandbox), format!("{text}edit: 0{COMMENT}\n")).unwrap();
    sandbox.run(["note", "taken in"]).ok();
    sandbox
}

fn state(sandbox: &Sandbox) -> PathBuf {
    sandbox.path(&format!("{FOLDER}/session-state.yaml"))
}

/// The complete text of a state; a state without its end is torn.
#[track_caller]
fn read(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    assert!(
        text.starts_with("# State of one essay") && text.ends_with(&format!("{COMMENT}\n")),
        "torn: {text}"
    );
    text
}

#[test]
fn a_crash_at_each_step_is_mended_by_the_next_command() {
    for place in STEPS {
        let sandbox = essay();
        let crashed =
            sandbox.command(["set", "pushback_level=minimal"]).env("LEFTOFF_TEST_CRASH", place).output();
        assert!(crashed.unwrap().status.code().is_none(), "{place} was not reached");
        read(&state(&sandbox));
        let view = sandbox.run(["status", "--json"]).ok().json();
        assert_eq!(view["fields"]["pushback_level"], "minimal", "{place}");
        sandbox.run(["note", "next"]).ok();
        assert!(read(&state(&sandbox)).contains("pushback_level: \"minimal\"  # full"), "{place}");
        sandbox.run(["doctor"]).ok();
        let log = sandbox.run(["log"]).ok().stdout;
        assert_eq!(log.matches("changed by somebody else").count(), 1, "{place}: {log}");
    }
}

/// A start that ends before its file is written: the next command writes the file.
#[test]
fn a_crash_in_a_start_leaves_a_session_that_can_be_gone_on_with() {
    for place in ["after-append", "view-written-beside", "view-in-place"] {
        let sandbox = crate::fresh();
        let words = ["start", "--layout", "essay", "--id", FOLDER];
        let crashed = sandbox.command(words).env("LEFTOFF_TEST_CRASH", place).output();
        assert!(crashed.unwrap().status.code().is_none(), "{place} was not reached");
        sandbox.run(["note", "next"]).ok();
        let text = fs::read_to_string(state(&sandbox)).unwrap();
        assert!(
            text.contains("status: \"in_progress\"") && text.contains("session_dir: \"/"),
            "{place}: {text}"
        );
        sandbox.run(["doctor"]).ok();
    }
}
