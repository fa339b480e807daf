//! Tests of JSON and exit codes, on which scripts rely.

use crate::{SHIP, git, plain, try_build, with_gate};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use testkit::{Ran, Sandbox};

/// Every field of a session's view that the reference describes.
const VIEW: &[&str] = &[
    "/session_id",
    "/title",
    "/goal",
    "/target",
    "/layout",
    "/status",
    "/lifecycle/state",
    "/workflow/name",
    "/workflow/version",
    "/workflow/indexing",
    "/workflow/starting_phase",
    "/workflow/total_phases",
    "/run/workflow",
    "/run/ordinal",
    "/run/started_at",
    "/phases/1/number",
    "/phases/1/id",
    "/phases/1/title",
    "/phases/1/status",
    "/phases/1/started_at",
    "/phases/1/completed_at",
    "/phases/1/duration_seconds",
    "/phases/1/paused_seconds",
    "/phases/1/gate/outcome",
    "/phases/1/gate/checks/0/id",
    "/phases/1/gate/checks/0/kind",
    "/phases/1/gate/checks/0/outcome",
    "/phases/1/gate/checks/0/found",
    "/phases/1/gate/checks/0/needed",
    "/phases/1/gate/checks/0/help",
    "/phases/1/attempts/0/at",
    "/phases/1/attempts/0/actor/kind",
    "/phases/1/attempts/0/outcome",
    "/phases/1/attempts/0/evidence/coverage",
    "/phases/1/attempts/0/checks/0/id",
    "/current_phase/number",
    "/current_phase/id",
    "/current_phase/title",
    "/completed_phases/0",
    "/progress/percent",
    "/progress/remaining",
    "/progress/average_phase_seconds",
    "/progress/estimated_remaining_seconds",
    "/progress/time_in_phase_seconds",
    "/progress/stalled",
    "/items",
    "/artifacts",
    "/notes/0/id",
    "/notes/0/kind",
    "/notes/0/text",
    "/notes/0/fields/ticket",
    "/notes/0/at",
    "/notes/0/actor/name",
    "/notes/0/resolved_at",
    "/requirements",
    "/next/summary",
    "/next/command",
    "/warnings/0/kind",
    "/warnings/0/message",
    "/warnings/0/hint",
    "/already",
    "/view_stale",
    "/created_at",
    "/updated_at",
    "/version",
];

/// A session with a failed gate, a resolved note and a changed definition. Every list in its view thus has an
/// entry.
fn full() -> Sandbox {
    let sandbox = with_gate();
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.run(["start", "ship", "--id", "login", "--goal", "No log-out", "--target", "src"]).ok();
    sandbox.run(["advance", "--phase", "plan"]).ok();
    sandbox.run(["note", "Certificate expired", "--kind", "blocker", "--field", "ticket=OPS-1"]).ok();
    sandbox.run(["note", "resolve", "1"]).ok();
    try_build(&sandbox, 1, 2, 10).code(5);
    sandbox.write(".leftoff/workflows/ship.toml", &SHIP.replace("80.0", "81.0"));
    sandbox
}

#[track_caller]
fn assert_view(view: &Value) {
    for pointer in VIEW {
        assert!(view.pointer(pointer).is_some(), "{pointer} is not in\n{view:#}");
    }
}

#[test]
fn the_session_view_has_every_field() {
    let sandbox = full();
    for words in [
        &["status"][..],
        &["show", "login"],
        &["advance", "--phase", "plan"],
        &["pause"],
        &["resume"],
        &["note", "x"],
    ] {
        let words: Vec<&str> = words.iter().copied().chain(["--json"]).collect();
        assert_view(&sandbox.run(&words).ok().json());
    }
    assert_view(&sandbox.run(["brief", "--json"]).ok().json()["session"]);
    let held = sandbox.run(["advance", "--phase", "build", "--evidence", "coverage=1", "--json"]).code(5);
    assert_view(&held.json());
    assert_eq!(held.error()["kind"], "gate_failed");
}

#[test]
fn every_command_prints_one_document() {
    let sandbox = full();
    let backup = sandbox.folder().join("copy.db");
    let (backup, pages) = (backup.to_str().unwrap(), sandbox.folder().join("man"));
    let commands: &[&[&str]] = &[
        &["init"],
        &["init", "--dry-run"],
        &["start", "--parallel"],
        &["status"],
        &["brief"],
        &["next"],
        &["note", "x"],
        &["pause"],
        &["resume"],
        &["switch", "login"],
        &["list"],
        &["list", "--agents"],
        &["list", "--all"],
        &["show"],
        &["log"],
        &["advance", "--phase", "plan"],
        &["close", "--force"],
        &["run", "start"],
        &["abandon"],
        &["workflow", "list"],
        &["workflow", "show"],
        &["workflow", "check"],
        &["workflow", "new", "own"],
        &["workflow", "schema"],
        &["store", "info"],
        &["store", "backup", backup],
        &["doctor"],
        &["completions", "bash"],
        &["man"],
        &["man", "--dir", pages.to_str().unwrap()],
    ];
    for words in commands {
        if testkit::is_on_postgres() && words.contains(&"backup") {
            continue; // pg_dump does that.
        }
        let words: Vec<&str> = words.iter().copied().chain(["--json"]).collect();
        let ran = sandbox.run(&words).ok();
        assert!(ran.json().is_object(), "{words:?}");
        assert_eq!(ran.stderr, "", "{words:?} talks");
    }
}

#[test]
fn without_a_session_a_program_is_told_so() {
    let sandbox = git();
    let none = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!((&none["session_id"], &none["warnings"]), (&Value::Null, &json!([])));
    assert_eq!(none["next"]["command"], "leftoff start");
    assert_eq!(sandbox.run(["list", "--json"]).ok().json(), json!({ "sessions": [], "warnings": [] }));
    assert_eq!(sandbox.run(["next", "--json"]).ok().json()["command"], "leftoff start");
    for words in [["advance"], ["pause"], ["close"], ["abandon"], ["show"], ["log"]] {
        let refused = sandbox.run(words.iter().copied().chain(["--json"])).code(3);
        assert_eq!(
            (refused.stdout.as_str(), &refused.error()["kind"]),
            ("", &json!("no_session")),
            "{words:?}"
        );
        let hint = refused.error()["hint"].as_str().unwrap_or_default().to_owned();
        assert!(hint.starts_with("start a session: leftoff start"), "{hint}");
    }
    assert_eq!(sandbox.run(["resume", "--json"]).code(3).error()["kind"], "nothing_paused");
    assert!(!sandbox.path(".git/leftoff").exists(), "none of it made a store");
    assert_eq!(plain().run(["status", "--json"]).code(3).error()["kind"], "no_project");
}

/// A command that fails: its exit code, its kind, and words required in its message and hint.
struct Failure {
    words: &'static [&'static str],
    code: i32,
    kind: &'static str,
    message: &'static str,
    hint: &'static str,
}

const FAILURES: &[Failure] = &[
    Failure {
        words: &["start", "revew"],
        code: 3,
        kind: "unknown_workflow",
        message: "there is no workflow 'revew'",
        hint: "did you mean 'review'?",
    },
    Failure {
        words: &["advance", "--phase", "bild"],
        code: 3,
        kind: "unknown_phase",
        message: "there is no phase 'bild' in workflow 'ship'",
        hint: "did you mean 'build'?",
    },
    Failure {
        words: &["show", "logn"],
        code: 3,
        kind: "unknown_session",
        message: "there is no session 'logn'",
        hint: "did you mean 'login'?",
    },
    Failure {
        words: &["show", "77"],
        code: 3,
        kind: "unknown_session",
        message: "'77'",
        hint: "leftoff list --all",
    },
    Failure {
        words: &["show", "lo"],
        code: 3,
        kind: "ambiguous_session",
        message: "'lo' is ambiguous: ",
        hint: "give more of the id, for example: --session lo",
    },
    Failure {
        words: &["advance", "--phase", "review"],
        code: 4,
        kind: "phase_not_current",
        message: "cannot complete phase 'review': the current phase is 'build'",
        hint: "complete 'build' first: leftoff advance --phase build --session login",
    },
    Failure {
        words: &["advance", "--evidence", "coverage"],
        code: 2,
        kind: "wrong_usage",
        message: "there is no '='; write NAME=VALUE",
        hint: "leftoff advance --help",
    },
    Failure {
        words: &["advance", "--evidence", "=3"],
        code: 2,
        kind: "wrong_usage",
        message: "NAME=VALUE",
        hint: "",
    },
    Failure {
        words: &["advance", "--evidence", "a=1", "--evidence", "a=2"],
        code: 2,
        kind: "wrong_usage",
        message: "--evidence a was given twice",
        hint: "",
    },
    Failure {
        words: &["start", "--id", "a/b"],
        code: 2,
        kind: "invalid_session_id",
        message: "'/' is not allowed",
        hint: "--id",
    },
    Failure {
        words: &["start", "--id", "a..b"],
        code: 2,
        kind: "invalid_session_id",
        message: "'..'",
        hint: "--id",
    },
    Failure {
        words: &["start", "--id", ".."],
        code: 2,
        kind: "invalid_session_id",
        message: "\"..\"",
        hint: "--id",
    },
    Failure {
        words: &["start", "--id", "a\nb"],
        code: 2,
        kind: "invalid_session_id",
        message: "'\\n' is not allowed",
        hint: "--id",
    },
    Failure {
        words: &["start", "--id", "a\u{1b}[1m"],
        code: 2,
        kind: "invalid_session_id",
        message: "not allowed",
        hint: "--id",
    },
    Failure {
        words: &["start", "--id", "123"],
        code: 2,
        kind: "invalid_session_id",
        message: "all digits",
        hint: "--id",
    },
    Failure {
        words: &["start", "--id", ""],
        code: 2,
        kind: "invalid_session_id",
        message: "empty",
        hint: "--id",
    },
    Failure {
        words: &["start", "--id", LONG_ID],
        code: 2,
        kind: "invalid_session_id",
        message: "300 characters",
        hint: "--id",
    },
    Failure {
        words: &["start", "--id", "LOGIN"],
        code: 4,
        kind: "id_taken",
        message: "session login already exists",
        hint: "leftoff resume login",
    },
    Failure {
        words: &["start", "--id", "login"],
        code: 4,
        kind: "id_taken",
        message: "login",
        hint: "choose another --id",
    },
    Failure {
        words: &["close"],
        code: 4,
        kind: "unfinished",
        message: "cannot close session login: 1 of 3 phases of 'ship' are done",
        hint: "leftoff close --force --session login",
    },
    Failure {
        words: &["resume", "done"],
        code: 4,
        kind: "not_active",
        message: "cannot resume: session done is completed",
        hint: "leftoff run start plan-implement-review --session done",
    },
    Failure {
        words: &["note", " "],
        code: 2,
        kind: "wrong_usage",
        message: "the note is empty",
        hint: "leftoff note",
    },
    Failure {
        words: &["note", "resolve"],
        code: 2,
        kind: "wrong_usage",
        message: "no note number",
        hint: "leftoff show",
    },
    Failure {
        words: &["note", "resolve", "9"],
        code: 3,
        kind: "unknown_note",
        message: "no note 9",
        hint: "no notes yet",
    },
    Failure {
        words: &["note", "x", "--kind", "desision"],
        code: 2,
        kind: "wrong_usage",
        message: "'desision'",
        hint: "did you mean 'decision'?",
    },
    Failure {
        words: &["list", "--status", "pasued"],
        code: 2,
        kind: "wrong_usage",
        message: "'pasued'",
        hint: "did you mean 'paused'?",
    },
    Failure {
        words: &["switch"],
        code: 2,
        kind: "wrong_usage",
        message: "not provided: <ID>",
        hint: "leftoff switch --help",
    },
    Failure { words: &["statsu"], code: 2, kind: "wrong_usage", message: "'statsu'", hint: "leftoff status" },
    Failure {
        words: &["brief", "--format", "pdf"],
        code: 2,
        kind: "wrong_usage",
        message: "[possible values: text, markdown, json, html]",
        hint: "",
    },
    Failure {
        words: &["status", "--color", "blue"],
        code: 2,
        kind: "wrong_usage",
        message: "'blue'",
        hint: "",
    },
    Failure { words: &["status", "--bogus"], code: 2, kind: "wrong_usage", message: "'--bogus'", hint: "" },
    Failure {
        words: &["status", "--project", "/no/such/place"],
        code: 3,
        kind: "no_project",
        message: "/no/such/place",
        hint: "leftoff start",
    },
    Failure {
        words: &["start", "--layout", "unheard-of"],
        code: 2,
        kind: "wrong_usage",
        message: "unheard-of",
        hint: "ocr",
    },
];

const LONG_ID: &str = match std::str::from_utf8(&[b'x'; 300]) {
    Ok(text) => text,
    Err(_) => "",
};

/// A project with three sessions: `login` in phase 2 of 3, `lost` next to it, and `done`, which is completed.
fn three() -> Sandbox {
    let sandbox = with_gate();
    sandbox.run(["start", "--id", "done"]).ok();
    sandbox.run(["close", "--force"]).ok();
    sandbox.run(["start", "ship", "--id", "login"]).ok();
    sandbox.run(["advance", "--phase", "plan"]).ok();
    sandbox.run(["start", "--id", "lost", "--parallel"]).ok();
    sandbox
}

#[test]
fn every_failure_says_what_and_what_next_and_changes_nothing() {
    let sandbox = three();
    let state = || {
        (
            sandbox.run(["list", "--all", "--json"]).ok().stdout,
            sandbox.run(["log", "login", "--json"]).ok().stdout,
        )
    };
    let before = state();
    for failure in FAILURES {
        let words = || failure.words.iter().copied();
        let told = sandbox.run(words().chain(["--json"]));
        assert_eq!(
            (told.code, told.stdout.as_str()),
            (failure.code, ""),
            "{:?}: {}",
            failure.words,
            told.stderr
        );
        let error = told.error();
        let says = |field: &str, text: &str| error[field].as_str().unwrap_or_default().contains(text);
        assert_eq!(error["kind"], failure.kind, "{:?}: {error}", failure.words);
        assert!(
            says("message", failure.message) && says("hint", failure.hint),
            "{:?}: {error}",
            failure.words
        );
        assert_eq!(told.stderr.lines().count(), 1, "one document: {}", told.stderr);

        let read = sandbox.run(words()).code(failure.code);
        assert_eq!(read.stdout, "", "{:?}", failure.words);
        if !failure.words.is_empty() {
            assert!(read.stderr.starts_with("error: "), "{:?}: {}", failure.words, read.stderr);
        }
    }
    assert_eq!(state(), before);
}

#[test]
fn evidence_of_a_wrong_type_is_a_gate_that_did_not_pass() {
    let sandbox = three();
    let ran = sandbox.run([
        "advance",
        "--phase",
        "build",
        "--evidence",
        "tests_passed=many",
        "--evidence",
        "tests_total=45",
        "--json",
    ]);
    let error = ran.code(5).error();
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("tests_passed (string many)"), "{message}");
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.contains("Field 'tests_passed' must be integer, got: string many."), "{hint}");
    assert!(hint.contains("Field 'coverage' is required but missing (line coverage in percent)."), "{hint}");
    // A number is accepted with and without a fraction.
    let ran = sandbox.run([
        "advance",
        "--phase",
        "build",
        "--evidence",
        "tests_passed=45.0",
        "--evidence",
        "tests_total=45",
        "--evidence",
        "coverage=80",
    ]);
    ran.ok();
}

#[test]
fn mistakes_in_a_definition_are_told_with_file_and_line() {
    let sandbox = git();
    let broken = SHIP
        .replace("kind = \"expr\"\n  expr = \"evidence.coverage >= 80.0\"", "kind = \"exprr\"")
        .replace("title = \"Review\"", "titel = \"Review\"");
    sandbox.write(".leftoff/workflows/ship.toml", &broken);
    let line_of = |text: &str| broken.lines().position(|line| line.contains(text)).unwrap() + 1;
    let path = sandbox.path(".leftoff/workflows/ship.toml");
    let ran = sandbox.run(["workflow", "check"]).code(4);
    for text in ["exprr", "titel"] {
        let place = format!("{}:{}: ", path.display(), line_of(text));
        assert!(ran.stdout.contains(&place), "{place} is not in\n{}", ran.stdout);
    }
    assert!(ran.stderr.contains("mistakes in "), "{}", ran.stderr);
    let json = sandbox.run(["workflow", "check", "ship", "--json"]).code(4);
    assert_eq!(json.json()["workflows"][0]["mistakes"][0]["line"], line_of("exprr"));
    assert_eq!(json.error()["kind"], "findings");
    // A workflow with this mistake cannot be started, with the same error.
    let refused = sandbox.run(["start", "ship", "--json"]).code(4);
    assert!(refused.error()["message"].as_str().unwrap().contains(&format!(":{}: ", line_of("titel"))));
    assert_eq!(sandbox.run(["doctor", "--json"]).code(4).json()["findings"][0]["kind"], "definition");
}

#[test]
fn closing_by_force_is_honest_about_how_far_it_came() {
    let sandbox = three();
    sandbox.run(["close", "--session", "login"]).code(4);
    let closed = sandbox.run(["close", "--force", "--session", "login", "--json"]).ok().json();
    assert_eq!((&closed["status"], &closed["progress"]["percent"]), (&json!("completed"), &json!(33)));
    assert_eq!(closed["lifecycle"]["forced"], true);
    let show = sandbox.run(["show", "login"]).ok().stdout;
    assert!(show.contains("Closed unfinished.") && show.contains("1 of 3 phases done (33 %)"), "{show}");
}

#[test]
fn a_session_is_found_by_id_unique_prefix_and_number() {
    let sandbox = three();
    let list = sandbox.run(["list", "--all", "--json"]).ok().json();
    for session in list["sessions"].as_array().unwrap() {
        let (number, id) = (session["number"].to_string(), session["session_id"].as_str().unwrap());
        for name in [number.as_str(), id, &id[..3], &id.to_uppercase()] {
            assert_eq!(sandbox.run(["show", name, "--json"]).ok().json()["session_id"], id, "{name}");
            assert_eq!(
                sandbox.run(["status", "--session", name, "--json"]).ok().json()["session_id"],
                id,
                "{name}"
            );
        }
    }
    let mut command = sandbox.command(["status", "--json"]);
    command.env("LEFTOFF_SESSION", "lost");
    assert_eq!(Ran::from(command.output().unwrap()).ok().json()["session_id"], "lost");
    // The number in the list can be used in a command.
    let text = sandbox.run(["list", "--all"]).ok().stdout;
    let lost = text.lines().find(|line| line.contains("lost")).unwrap();
    let number = lost.split_whitespace().next().unwrap();
    assert_eq!(sandbox.run(["show", number, "--json"]).ok().json()["session_id"], "lost");
}

#[test]
fn an_exact_id_wins_over_longer_ones() {
    let sandbox = git();
    sandbox.run(["start", "--id", "log"]).ok();
    sandbox.run(["start", "--id", "login"]).ok();
    assert_eq!(sandbox.run(["show", "log", "--json"]).ok().json()["session_id"], "log");
    sandbox.run(["show", "lo"]).code(3);
}

#[test]
fn what_was_paused_to_make_room_is_said() {
    let sandbox = git();
    sandbox.run(["start", "--id", "first", "--title", "First"]).ok();
    let ran = sandbox.run(["start", "--id", "second"]).ok();
    assert_eq!(ran.stderr, "paused first (First)\n");
    let ran = sandbox.run(["switch", "first", "--json"]).ok();
    assert_eq!(ran.json()["said"], json!(["paused second (main)"]));
    assert_eq!(ran.stderr, "");
    assert_eq!(sandbox.run(["start", "-q"]).ok().stderr, "");
}

#[test]
fn quiet_is_quiet_and_errors_are_still_told() {
    let sandbox = full();
    assert!(sandbox.run(["status"]).ok().stderr.starts_with("warning: workflow 'ship' changed since"));
    assert_eq!(sandbox.run(["status", "-q"]).ok().stderr, "");
    assert!(sandbox.run(["show", "nothing", "-q"]).code(3).stderr.starts_with("error: "));
}

/// It is not an error if the reader of the output closes the pipe, as `head` does.
#[test]
fn a_pipe_that_is_closed_early_is_no_failure() {
    let sandbox = git();
    sandbox.run(["start"]).ok();
    for _ in 0..20 {
        sandbox.run(["note", &"long ".repeat(2_000)]).ok();
    }
    let mut child =
        sandbox.command(["show", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    let mut stdout = BufReader::with_capacity(64, child.stdout.take().unwrap());
    stdout.read_line(&mut first).unwrap();
    drop(stdout);
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!((first.as_str(), ran.code, ran.stderr.as_str()), ("{\n", 0, ""));
}

#[test]
fn help_and_version_are_answers() {
    let sandbox = plain();
    for words in [
        &["--help"][..],
        &["-h"],
        &["--version"],
        &["status", "--help"],
        &["advance", "-h"],
        &["hook", "--help"],
    ] {
        let ran = sandbox.run(words).ok();
        assert!(!ran.stdout.is_empty() && ran.stderr.is_empty(), "{words:?}");
    }
}

/// A store on a server is shared without sync. A store in a file is shared after a person has enabled sync.
#[test]
fn sync_says_why_it_sends_nothing() {
    let sandbox = git();
    sandbox.run(["start"]).ok();
    let refused = sandbox.run(["sync", "--json"]).code(4);
    let why = if testkit::is_on_postgres() { "are on a server, which already shares them" } else { "--sync" };
    assert!(refused.stderr.contains(why), "{}", refused.stderr);
}
