//! Frames in three sizes, with a fixed clock. `LEFTOFF_BLESS=1` writes the expected frames again.

use super::busy;
use crate::{fresh, git, with_gate};
use std::path::PathBuf;
use testkit::Sandbox;

const SIZES: [&str; 3] = ["40x10", "80x24", "120x40"];

#[track_caller]
fn check(name: &str, sandbox: &Sandbox, words: &[&str]) {
    for size in SIZES {
        let ran = sandbox.run(["progress", "--once", "--size", size].iter().chain(words)).ok();
        let path: PathBuf =
            [env!("CARGO_MANIFEST_DIR"), "tests/cli/progress/frames", &format!("{name}-{size}.txt")]
                .iter()
                .collect();
        if std::env::var_os("LEFTOFF_BLESS").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &ran.stdout).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(ran.stdout, kept, "{}", path.display());
        let (columns, rows) = size.split_once('x').unwrap();
        assert_eq!(ran.stdout.lines().count(), rows.parse::<usize>().unwrap(), "{size}");
        let widest = ran.stdout.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= columns.parse().unwrap(), "{widest} columns at {size}\n{}", ran.stdout);
    }
}

#[test]
fn nothing_here() {
    check("nothing", &git(), &[]);
}

#[test]
fn a_stuck_gate_on_every_tab() {
    let sandbox = busy();
    for tab in ["now", "phases", "items", "log", "files"] {
        check(&format!("stuck-{tab}"), &sandbox, &["--tab", tab]);
    }
}

#[test]
fn waiting_for_a_person() {
    let sandbox = fresh();
    sandbox.write(
        ".leftoff/workflows/asked.toml",
        "name = \"asked\"\nversion = \"1\"\ntitle = \"Asked\"\n\n[[phase]]\nid = \"plan\"\ntitle = \"Plan\"\n\n  [[phase.check]]\n  id = \"agreed\"\n  kind = \"approval\"\n\n[[phase]]\nid = \"build\"\ntitle = \"Build\"\n",
    );
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.run(["start", "asked", "--id", "login", "--title", "Stay logged in"]).ok();
    sandbox.at("2026-11-14T10:20:00Z");
    sandbox.run(["advance", "--phase", "plan"]).code(5);
    check("waiting", &sandbox, &[]);
}

/// An agent holds one item. Another item is free.
#[test]
fn who_works_on_what_and_what_is_free() {
    let sandbox = with_gate();
    sandbox.at("2026-11-14T09:00:00Z");
    sandbox.run(["start", "ship", "--id", "login", "--title", "Stay logged in", "--goal", "no log-out"]).ok();
    sandbox.at("2026-11-14T09:30:00Z");
    sandbox.run(["advance", "--phase", "plan"]).ok();
    for title in ["Rotate refresh tokens", "Cookie flags", "Docs"] {
        sandbox.run(["item", "add", title]).ok();
    }
    sandbox.run(["item", "done", "task-1"]).ok();
    sandbox.at("2026-11-14T10:50:00Z");
    sandbox.run_as("claude:a4326893", ["item", "claim", "task-2"]).ok();
    sandbox.at("2026-11-14T11:10:00Z");
    check("working", &sandbox, &[]);
}

/// One phase passed by an override, and one was skipped.
#[test]
fn finished_without_full_proof() {
    let sandbox = with_gate();
    sandbox.at("2026-11-14T09:00:00Z");
    sandbox.run(["start", "ship", "--id", "login", "--title", "Stay logged in"]).ok();
    sandbox.run(["advance", "--phase", "plan"]).ok();
    crate::try_build(&sandbox, 1, 2, 10).code(5);
    sandbox.allow_anyone(&["override"]);
    sandbox.run(["advance", "--phase", "build", "--override", "release today"]).ok();
    sandbox.run(["skip", "--reason", "nobody is here"]).ok();
    check("finished", &sandbox, &[]);
}

#[test]
fn another_tools_session_is_shown_as_its_own_screen_does() {
    let sandbox = fresh();
    let id = "2026-11-14-feature-login";
    let folder = format!(".ocr/sessions/{id}");
    sandbox.write(
        &format!("{folder}/state.json"),
        &format!(
            r#"{{"session_id":"{id}","status":"active","workflow_type":"review","current_phase":"reviews","phase_number":4,"current_round":1,"started_at":"2026-11-14T10:00:00Z","round_started_at":"2026-11-14T10:00:00Z","updated_at":"2026-11-14T10:30:00Z"}}"#
        ),
    );
    sandbox.write(&format!("{folder}/discovered-standards.md"), "S\n");
    sandbox.write(&format!("{folder}/context.md"), "C\n");
    sandbox.write(
        &format!("{folder}/rounds/round-1/reviews/principal-1.md"),
        "# Review\n\n## Finding: x\n\nText\n",
    );
    sandbox.at("2026-11-14T10:45:00Z");
    check("ocr", &sandbox, &["--session", id]);
}

#[test]
fn without_unicode_or_colours_the_frame_is_plain_ascii() {
    let sandbox = busy();
    sandbox.run(["note", "漢字 – …", "--kind", "question"]).ok();
    for locale in ["C", "POSIX", "de_DE.ISO-8859-1"] {
        let mut command = sandbox.command(["progress", "--once", "--size", "80x24"]);
        let output = command.env("LC_ALL", locale).output().unwrap();
        assert!(output.stdout.is_ascii(), "{locale}: {}", String::from_utf8_lossy(&output.stdout));
    }
    let coloured = sandbox.run(["progress", "--once", "--size", "80x24", "--color", "always"]).ok().stdout;
    assert!(coloured.contains("\u{1b}["));
}

#[test]
fn a_hostile_title_is_shown_and_does_nothing() {
    let sandbox = with_gate();
    let title = "a\u{1b}]52;c;aGk=\u{7}\u{1b}[2J\u{202e}b<script>漢字🙂";
    sandbox.run(["start", "ship", "--title", title]).ok();
    let shown = sandbox.run(["progress", "--once", "--size", "80x24"]).ok().stdout;
    assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{shown:?}");
    assert!(shown.contains("<script>漢字🙂"), "{shown}");
}
