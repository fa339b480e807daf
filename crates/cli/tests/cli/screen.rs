//! Tests that output fits into eighty columns and on one screen, and has colours only on request.

use crate::{git, try_build, with_gate};
use testkit::{Ran, Sandbox};

const COLUMNS: usize = 80;
const LINES: usize = 24;

/// A session with long texts everywhere, a failed gate, blockers, two attempts, and an old pause.
fn crowded() -> Sandbox {
    let sandbox = with_gate();
    let long = "a rather long text that goes on for a while and then some more ".repeat(12);
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox
        .run(["start", "ship", "--id", "login", "--goal", &long, "--title", &long, "--target", &long])
        .ok();
    sandbox.at("2026-11-14T10:30:00Z");
    sandbox.run(["advance", "--phase", "plan", "--output", &format!("plan={long}")]).ok();
    for kind in ["blocker", "question", "deferred", "decision", "tried", "assumption", "note"] {
        sandbox.run(["note", &long, "--kind", kind]).ok();
        sandbox.run(["note", &long, "--kind", kind]).ok();
    }
    sandbox.at("2026-11-14T18:00:00Z");
    try_build(&sandbox, 1, 2, 10).code(5);
    try_build(&sandbox, 1, 2, 10).code(5);
    sandbox
}

/// The lines of a text, without lines that contain only a command. Commands are never wrapped.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim_start().starts_with("leftoff "))
}

#[track_caller]
fn assert_fits(text: &str) {
    for line in lines(text) {
        assert!(line.chars().count() <= COLUMNS, "{} columns: {line}\nin\n{text}", line.chars().count());
        assert_eq!(line, line.trim_end(), "spaces at the end of a line");
    }
}

#[test]
fn what_people_read_fits_eighty_columns() {
    let sandbox = crowded();
    for words in [&["status"][..], &["brief"], &["list"], &["show"], &["note", "x"]] {
        assert_fits(&sandbox.run(words).ok().stdout);
    }
    assert_fits(&sandbox.run(["advance", "--phase", "build"]).code(5).stdout);
    sandbox.run(["pause", "--reason", &"why ".repeat(60), "--context", &"what ".repeat(60)]).ok();
    for words in [["status"], ["brief"], ["show"]] {
        assert_fits(&sandbox.run(words).ok().stdout);
    }
}

#[test]
fn status_fits_a_screen_whatever_is_in_it() {
    let sandbox = git();
    let long = "a rather long text that goes on for a while and then some more ".repeat(12);
    sandbox.run(["start", "review", "--goal", &long, "--title", &long]).ok();
    for kind in ["blocker", "question", "deferred", "blocker", "question"] {
        sandbox.run(["note", &long, "--kind", kind]).ok();
    }
    let check = |sandbox: &Sandbox| {
        let status = sandbox.run(["status"]).ok().stdout;
        assert!(status.lines().count() <= LINES, "{} lines:\n{status}", status.lines().count());
        assert!(status.contains("  [>] 1 Context Discovery"), "{status}");
        assert!(status.contains("\nblocker 4: "), "what blocks is told first:\n{status}");
        assert!(status.contains("\nand 2 more: leftoff show "), "{status}");
        assert!(status.lines().last().unwrap().starts_with("  leftoff "), "{status}");
    };
    check(&sandbox);
    sandbox.run(["pause", "--reason", &long, "--context", &long]).ok();
    check(&sandbox);
}

/// The text of an ordinary status, word for word.
#[test]
fn status_reads_like_this() {
    let sandbox = with_gate();
    sandbox.at("2026-11-14T10:00:00Z");
    let title = "Login times out behind the proxy";
    sandbox
        .run(["start", "ship", "--id", "login", "--title", title, "--goal", "No log-out while a tab is open"])
        .ok();
    sandbox.at("2026-11-14T10:30:00Z");
    sandbox.run(["advance", "--phase", "plan"]).ok();
    sandbox.run(["note", "Staging certificate expired", "--kind", "blocker"]).ok();
    sandbox.at("2026-11-14T11:00:00Z");
    try_build(&sandbox, 45, 45, 65).code(5);
    let status = sandbox.run(["status"]).ok().stdout;
    assert_eq!(
        status,
        "\
login Login times out behind the proxy  checkpoint_failed
Goal: No log-out while a tab is open
ship v1, 1 of 3 phases done (33 %)
  [x] 1 Plan (30 min)
  [!] 2 Build (for 30 min)
  [ ] 3 Review
blocker 1: Staging certificate expired
Next: Note 1 blocks: settle it (leftoff note resolve 1), or do what does not
  need it. Add tests until coverage reaches 80 %. Then try phase 2 (build)
  again.
  leftoff advance --phase build --evidence 'tests_passed=<number>' --evidence 'tests_total=<number>' --evidence 'coverage=<number>'
"
    );
}

#[test]
fn nothing_is_coloured_unless_it_is_asked_for() {
    let sandbox = crowded();
    let run = |words: &[&str], no_color: bool| {
        let mut command = sandbox.command(words);
        if no_color {
            command.env("NO_COLOR", "1");
        }
        Ran::from(command.output().unwrap())
    };
    let has_colour = |ran: &Ran| ran.stdout.contains('\u{1b}') || ran.stderr.contains('\u{1b}');
    for words in
        [&["status"][..], &["brief"], &["list"], &["log"], &["show", "nothing"], &["bogus"], &["--help"]]
    {
        assert!(!has_colour(&run(words, false)), "{words:?} in a pipe");
        let never: Vec<&str> = words.iter().copied().chain(["--color", "never"]).collect();
        assert!(!has_colour(&run(&never, false)), "{words:?} never");
    }
    for words in
        [["status", "--color", "always"], ["brief", "--color", "always"], ["list", "--color", "always"]]
    {
        assert!(has_colour(&run(&words, false)), "{words:?} asks for them");
        assert!(has_colour(&run(&words, true)), "what is asked for by name wins over NO_COLOR");
    }
    // The format for agents never has colours.
    assert!(!has_colour(&run(&["brief", "--format", "markdown", "--color", "always"], false)));
    assert!(!has_colour(&run(&["status", "--json", "--color", "always"], false)));
}

#[test]
fn there_are_no_pictures_in_it() {
    let sandbox = crowded();
    for words in [
        &["status"][..],
        &["brief"],
        &["brief", "--format", "markdown"],
        &["list"],
        &["log"],
        &["show"],
        &["workflow", "list"],
    ] {
        let ran = sandbox.run(words).ok();
        let picture = |c: char| matches!(c, '\u{2190}'..='\u{2bff}' | '\u{fe00}'..='\u{fe0f}' | '\u{1f000}'..='\u{1faff}');
        assert_eq!(ran.stdout.chars().find(|c| picture(*c)), None, "{words:?}");
    }
}

#[test]
fn a_quiet_command_says_what_it_did_and_not_what_comes_next() {
    let sandbox = git();
    sandbox.at("2026-11-14T10:00:00Z");
    let started = sandbox.run(["start", "--id", "s", "-q"]).ok();
    assert_eq!(
        (started.stdout.as_str(), started.stderr.as_str()),
        ("s started: main (plan-implement-review)\n", "")
    );
    assert_eq!(sandbox.run(["note", "hi", "--quiet"]).ok().stdout, "s note 1 recorded\n");
    assert_eq!(sandbox.run(["-q", "note", "hi"]).ok().stdout, "s note 2 recorded\n");
    assert_eq!(sandbox.run(["advance", "--phase", "plan", "-q"]).ok().stdout.lines().count(), 1);
    assert!(sandbox.run(["set", "k=v"]).ok().stdout.contains("\nNext: "));
    // -q suppresses messages. Output that was requested is not a message.
    assert!(sandbox.run(["next", "-q"]).ok().stdout.contains("leftoff advance --phase implement"));
    assert!(sandbox.run(["status", "-q"]).ok().stdout.contains("Next: "));
}

#[test]
fn a_list_marks_the_session_that_commands_mean_here() {
    let sandbox = git();
    for id in ["one", "two", "three"] {
        sandbox.run(["start", "--id", id]).ok();
    }
    let marked = |arguments: &[&str]| -> (Vec<String>, Vec<String>) {
        let text = sandbox.run(["list"].iter().chain(arguments)).ok().stdout;
        let starred = text.lines().filter(|line| line.starts_with("* "));
        let json = sandbox.run(["list", "--json"].iter().chain(arguments)).ok().json();
        let current = json["sessions"].as_array().unwrap().iter().filter(|line| line["current"] == true);
        (
            starred.map(|line| line.split_whitespace().nth(2).unwrap().to_owned()).collect(),
            current.map(|line| line["session_id"].as_str().unwrap().to_owned()).collect(),
        )
    };
    let only = |id: &str| (vec![id.to_owned()], vec![id.to_owned()]);
    assert_eq!(marked(&[]), only("three"));
    sandbox.run(["switch", "one"]).ok();
    assert_eq!(marked(&[]), only("one"));
    assert_eq!(marked(&["--all"]), only("one"));
    assert_eq!(marked(&["--session", "two"]), only("two"));
    assert_eq!(marked(&["--status", "completed"]), (Vec::new(), Vec::new()));
    sandbox.run(["close", "--force"]).ok();
    assert_eq!(
        marked(&["--all"]),
        (Vec::new(), Vec::new()),
        "what is meant is finished, and no other takes its place"
    );
}
