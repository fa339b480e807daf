//! Tests of gates with the whole program: each kind of check, and how people fix a failed one.

use crate::git;
use serde_json::{Value, json};
use std::os::unix::process::ExitStatusExt;
use testkit::Sandbox;

/// A sandbox with a workflow `w` of these phases, started as session `s`.
pub(crate) fn started(phases: &str) -> Sandbox {
    let sandbox = git();
    sandbox.write(".leftoff/workflows/w.toml", &format!("name = \"w\"\n{phases}"));
    sandbox.run(["workflow", "check", "w"]).ok();
    sandbox.run(["start", "w", "--id", "s"]).ok();
    sandbox
}

/// The result of the check with this id.
#[track_caller]
fn check(sandbox: &Sandbox, id: &str) -> Value {
    let gate = sandbox.run(["gate", "--json"]).json();
    let checks = gate["checks"].as_array().cloned().unwrap_or_default();
    checks.into_iter().find(|check| check["id"] == id).unwrap_or_else(|| panic!("no check {id} in {gate}"))
}

#[track_caller]
fn assert_found(sandbox: &Sandbox, id: &str, outcome: &str, found: &str) {
    let check = check(sandbox, id);
    assert_eq!(check["outcome"], outcome, "{check}");
    let text = check["found"].as_str().unwrap_or_default();
    assert!(text.contains(found), "{found:?} is not in {text:?}");
}

const ARTIFACT: &str = r#"
[[phase]]
id = "plan"
produces = ["PLAN.md"]
  [[phase.check]]
  id = "plan"
  kind = "artifact"
  path = "PLAN.md"
  matches = "(?m)^## Acceptance"
"#;

#[test]
fn an_artifact_must_exist_hold_something_match_and_be_newer_than_the_phase() {
    let sandbox = started(ARTIFACT);
    let plan = ".leftoff/sessions/s/PLAN.md";
    assert_found(&sandbox, "plan", "failed", "is missing");
    sandbox.write(plan, "");
    assert_found(&sandbox, "plan", "failed", "is empty");
    sandbox.write(plan, "# Plan\n");
    assert_found(&sandbox, "plan", "failed", "does not match");
    sandbox.write(plan, "# Plan\n## Acceptance\n- it works\n");
    assert_found(&sandbox, "plan", "passed", "PLAN.md");
    let old = std::fs::File::options().write(true).open(sandbox.path(plan)).unwrap();
    old.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert_found(&sandbox, "plan", "failed", "is older than the phase");
}

#[test]
fn an_artifact_that_is_a_link_out_a_pipe_or_a_folder_does_not_pass() {
    let sandbox = started(ARTIFACT);
    let plan = sandbox.path(".leftoff/sessions/s/PLAN.md");
    let outside = sandbox.folder().join("outside.md");
    std::fs::write(&outside, "## Acceptance\n").unwrap();
    std::os::unix::fs::symlink(&outside, &plan).unwrap();
    assert_found(&sandbox, "plan", "failed", "to outside the project");
    std::fs::remove_file(&plan).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&plan).status().unwrap().success());
    assert_found(&sandbox, "plan", "failed", "not a regular file");
    std::fs::remove_file(&plan).unwrap();
    std::fs::create_dir(&plan).unwrap();
    assert_found(&sandbox, "plan", "failed", "not a regular file");
}

#[test]
fn an_artifact_that_cannot_be_looked_at_fails_its_check_and_the_attempt_is_kept() {
    let sandbox = started(ARTIFACT);
    std::os::unix::fs::symlink("PLAN.md", sandbox.path(".leftoff/sessions/s/PLAN.md")).unwrap();
    assert_found(&sandbox, "plan", "failed", "it cannot be read");
    let view = sandbox.run(["advance", "--phase", "plan", "--json"]).code(5).json();
    assert_eq!(view["phases"][0]["attempt_count"], 1);

    let sandbox = started(
        "[[phase]]\nid = \"p\"\n[[phase.check]]\nid = \"each\"\nkind = \"artifact\"\npath = \"notes/{item}.md\"\n",
    );
    assert_found(&sandbox, "each", "failed", "is missing");
    sandbox.write(".leftoff/sessions/s/notes", "no folder");
    assert_found(&sandbox, "each", "failed", "not a readable folder");
    sandbox.run(["advance", "--phase", "p"]).code(5);
}

#[test]
fn a_file_that_proves_a_phase_is_recorded_with_it() {
    let sandbox = started(ARTIFACT);
    sandbox.write(".leftoff/sessions/s/PLAN.md", "## Acceptance\n");
    sandbox.run(["advance", "--phase", "plan"]).ok();
    let log = sandbox.run(["log", "--json"]).ok().json();
    let recorded =
        log["events"].as_array().unwrap().iter().find(|event| event["type"] == "artifact_recorded").unwrap();
    assert_eq!(recorded["artifact"]["path"], ".leftoff/sessions/s/PLAN.md");
    assert_eq!(recorded["artifact"]["phase"], "plan");
    assert_eq!(recorded["artifact"]["version"], 1);
}

fn command_phase(run: &str, timeout: &str) -> String {
    format!(
        "[[phase]]\nid = \"p\"\n[[phase.check]]\nid = \"c\"\nkind = \"command\"\nrun = '''{run}'''\ntimeout = \"{timeout}\"\n"
    )
}

pub fn trust(sandbox: &Sandbox) -> String {
    at_a_terminal(sandbox, "trust w --yes")
}

/// Runs a command that needs a person, on a terminal that `script` creates. Returns the output with line
/// feeds as line endings.
fn at_a_terminal(sandbox: &Sandbox, arguments: &str) -> String {
    let program = env!("CARGO_BIN_EXE_leftoff");
    let mut on_terminal = sandbox.command(["unused"]);
    let mut command = std::process::Command::new("script");
    command.args(["-qec", &format!("{program} {arguments}"), "/dev/null"]);
    command.current_dir(sandbox.project()).env_clear();
    for (name, value) in on_terminal.stdin(std::process::Stdio::null()).get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    let output = command.stdin(std::process::Stdio::null()).output().expect("script from util-linux");
    let shown = String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n");
    assert!(output.status.success(), "{shown}");
    shown
}

#[test]
fn trust_reaches_the_definition_that_the_session_began_with() {
    let sandbox = started(&command_phase("echo old", "10s"));
    let newer = format!("name = \"w\"\n{}", command_phase("echo new", "10s"));
    sandbox.write(".leftoff/workflows/w.toml", &newer);
    let shown = trust(&sandbox);
    assert!(shown.contains("p/c:\n    echo new\n"), "{shown}");
    assert!(shown.contains("p/c, as session s started with it:\n    echo old\n"), "{shown}");
    assert_found(&sandbox, "c", "passed", "exited with 0");

    // The session has a definition that the project does not have, as after the import of a bundle.
    let sandbox = started(&command_phase("echo old", "10s"));
    std::fs::remove_file(sandbox.path(".leftoff/workflows/w.toml")).unwrap();
    let check = check(&sandbox, "c");
    assert!(check["help"].as_str().unwrap().ends_with(": leftoff trust w"), "{check}");
    trust(&sandbox);
    assert_found(&sandbox, "c", "passed", "exited with 0");
}

#[test]
fn what_is_trusted_is_shown_exactly_line_by_line() {
    let long = "x".repeat(3000);
    let sandbox = started(&command_phase(&format!("true # tests\n\ttouch hidden\necho {long}"), "10s"));
    let shown = trust(&sandbox);
    assert!(
        shown.contains(&format!("p/c:\n    true # tests\n    \\ttouch hidden\n    echo {long}\n")),
        "{shown}"
    );
}

#[test]
fn a_command_runs_only_after_this_exact_text_was_trusted_by_a_person() {
    let sandbox = started(&command_phase("touch ran", "10s"));
    assert_found(&sandbox, "c", "failed", "not trusted");
    assert!(!sandbox.path("ran").exists());
    let refused = sandbox.run(["trust", "w", "--yes", "--json"]).code(6);
    assert_eq!(refused.error()["kind"], "needs_a_person");
    trust(&sandbox);
    assert_found(&sandbox, "c", "passed", "exited with 0");
    assert!(sandbox.path("ran").exists());

    sandbox
        .write(".leftoff/workflows/w.toml", &format!("name = \"w\"\n{}", command_phase("touch ran ", "10s")));
    sandbox.run(["start", "w", "--id", "t"]).ok();
    assert_found(&sandbox, "c", "failed", "not trusted");
}

#[test]
fn a_command_that_fails_shows_its_code_and_its_last_lines() {
    let sandbox = started(&command_phase("seq 1 100; echo broken >&2; exit 3", "10s"));
    trust(&sandbox);
    let ran = sandbox.run(["advance", "--phase", "p", "--json"]).code(5);
    let attempt = ran.json()["phases"][0]["attempts"][0].clone();
    let found = attempt["checks"][0]["found"].as_str().unwrap().to_owned();
    assert!(found.starts_with("exited with 3"), "{found}");
    assert!(found.ends_with("100\nbroken"), "{found}");
    assert!(!found.contains("\n50\n"), "only the last lines are kept");
    assert_eq!(ran.error()["kind"], "gate_failed");
}

#[test]
fn the_last_lines_of_a_command_that_ended_well_are_kept_too() {
    let sandbox = started(&command_phase(
        "seq 1 100; head -c 9000 /dev/zero | tr '\\0' x; echo; echo 12 passed",
        "10s",
    ));
    trust(&sandbox);
    let view = sandbox.run(["advance", "--phase", "p", "--json"]).ok().json();
    let found = view["phases"][0]["attempts"][0]["checks"][0]["found"].as_str().unwrap().to_owned();
    assert!(found.starts_with("exited with 0 after ") && found.ends_with("x\n12 passed"), "{found}");
    assert!(found.len() < 3000, "{} bytes were kept", found.len());
}

#[test]
fn a_command_over_its_limit_is_ended_with_all_it_started() {
    let sandbox = started(&command_phase("sh -c 'sleep 600; touch late' & echo $! > child; sleep 600", "1s"));
    trust(&sandbox);
    assert_found(&sandbox, "c", "failed", "exceeded its limit of 1 s");
    assert_ends(&sandbox.read("child"));
}

/// Expects that a process ends. leftoff has ended it, but the system decides when it is gone.
#[track_caller]
fn assert_ends(process: &str) {
    let lives = || {
        std::fs::read_to_string(format!("/proc/{}/stat", process.trim()))
            .is_ok_and(|stat| !stat.contains(") Z ") && !stat.contains(") X "))
    };
    let given_up = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while lives() && std::time::Instant::now() < given_up {
        std::thread::yield_now();
    }
    assert!(!lives(), "process {process} lives on");
}

/// Runs a gate whose command sleeps. Sends a signal to leftoff only, and returns how leftoff ended.
fn ended_by(sandbox: &Sandbox, signal: &str) -> Option<i32> {
    let mut leftoff = sandbox.command(["advance", "--phase", "p"]).spawn().expect("leftoff");
    let given_up = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !sandbox.path("child").exists() && std::time::Instant::now() < given_up {
        std::thread::yield_now();
    }
    let sent = std::process::Command::new("kill").args([signal, &leftoff.id().to_string()]).status();
    assert!(sent.expect("kill").success());
    leftoff.wait().expect("its end").signal()
}

#[test]
fn a_command_ends_when_leftoff_is_told_to_end() {
    // A process that was started in the background ignores some signals, and so do its children.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    let signals = [("-TERM", 15), ("-INT", 2), ("-HUP", 1), ("-KILL", 9)];
    for (signal, number) in signals.into_iter().filter(|(_, number)| ignored >> (number - 1) & 1 == 0) {
        let sandbox =
            started(&command_phase("sleep 600 & echo $! > child.new; mv child.new child; wait", "5m"));
        trust(&sandbox);
        assert_eq!(ended_by(&sandbox, signal), Some(number));
        assert_ends(&sandbox.read("child"));
        let status = sandbox.run(["status", "--json"]).json();
        assert_eq!(status["phases"][0]["attempt_count"], 0);
        let warning = &status["warnings"][0];
        assert_eq!(warning["kind"], "interrupted_attempt", "{warning}");
        assert!(
            warning["message"].as_str().unwrap().starts_with("interrupted attempt at phase 'p', "),
            "{warning}"
        );
    }
}

#[test]
fn a_command_that_prints_without_end_or_leaves_something_behind_holds_nobody_up() {
    let sandbox = started(&command_phase("head -c 1000000000 /dev/zero | tr '\\0' 'x'; exit 1", "60s"));
    trust(&sandbox);
    let check = check(&sandbox, "c");
    assert_eq!(check["outcome"], "failed");
    assert!(check["found"].as_str().unwrap().len() < 20_000);

    let sandbox = started(&command_phase("setsid sleep 30 & exit 0", "20s"));
    trust(&sandbox);
    assert_found(&sandbox, "c", "passed", "exited with 0");
}

#[test]
fn a_command_is_not_run_again_because_somebody_wrote_a_note_meanwhile() {
    let run = format!("echo once >> runs; {} note meanwhile --session s", env!("CARGO_BIN_EXE_leftoff"));
    let sandbox = started(&command_phase(&run, "20s"));
    trust(&sandbox);
    let view = sandbox.run(["advance", "--phase", "p", "--json"]).ok().json();
    assert_eq!(view["status"], "completed");
    assert_eq!(sandbox.read("runs"), "once\n");
    assert_eq!(view["notes"][0]["text"], "meanwhile");
}

#[test]
fn an_approval_is_a_persons_unless_the_project_says_otherwise_and_runs_out() {
    let sandbox = started(
        "[[phase]]\nid = \"p\"\n[[phase.check]]\nid = \"agreed\"\nkind = \"approval\"\nexpires = \"24h\"\n",
    );
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.run(["start", "w", "--id", "timed"]).ok();
    sandbox.run(["advance", "--phase", "p"]).code(5);
    assert_eq!(sandbox.run(["next", "--json"]).json()["command"], "leftoff approve agreed");
    assert_eq!(sandbox.run(["approve", "agreed", "--json"]).code(6).error()["kind"], "needs_a_person");
    sandbox.allow_anyone(&["approve"]);
    assert_eq!(sandbox.run(["approve", "agred", "--json"]).code(3).error()["kind"], "unknown_check");
    sandbox.run(["approve", "agreed", "--by", "Anna"]).ok();
    assert_found(&sandbox, "agreed", "passed", "(Anna)");
    assert_eq!(sandbox.run(["next", "--json"]).json()["command"], "leftoff advance --phase p");
    sandbox.at("2026-11-15T10:00:01Z");
    assert_found(&sandbox, "agreed", "failed", "has expired");
}

#[test]
fn an_override_is_a_persons_and_stays_in_sight() {
    let sandbox = started(
        "[[phase]]\nid = \"p\"\n[[phase.check]]\nid = \"never\"\nkind = \"expr\"\nexpr = \"false\"\n",
    );
    sandbox.run(["advance", "--override", "because"]).code(6);
    assert_eq!(sandbox.run(["status", "--json"]).json()["phases"][0]["attempt_count"], 0);
    sandbox.allow_anyone(&["override"]);
    let view = sandbox.run(["advance", "--override", "because", "--json"]).ok().json();
    assert_eq!(view["status"], "completed");
    assert_eq!(view["phases"][0]["attempts"][0]["overridden"], "because");
    assert_eq!(view["notes"][0]["kind"], "override");
    let brief = sandbox.run(["brief", "--format", "markdown"]).ok().stdout;
    assert!(brief.contains("overridden by anna, \"because\"; failed check: never"), "{brief}");
}

#[test]
fn status_says_when_the_project_lets_anyone_do_what_is_a_persons() {
    let sandbox = started("[[phase]]\nid = \"p\"\n");
    let status = || sandbox.run(["status", "--json"]).ok().json()["warnings"].clone();
    assert_eq!(status(), json!([]));
    sandbox.allow_anyone(&["override"]);
    assert_eq!(status()[0]["kind"], "policy");
    let told = sandbox.run(["status"]).ok().stderr;
    assert!(
        told.contains("anyone may pass a gate by --override in this project, including agents"),
        "{told}"
    );
    sandbox.write(".leftoff/config.toml", "");
    sandbox.allow_anyone(&["override", "approve"]);
    let told = sandbox.run(["status"]).ok().stderr;
    assert!(told.contains("--override and approve a check"), "{told}");
}

#[test]
fn a_lenient_gate_passes_with_warnings() {
    let sandbox = started(
        "[[phase]]\nid = \"p\"\nstrict = false\n[[phase.check]]\nid = \"never\"\nkind = \"expr\"\nexpr = \"false\"\n",
    );
    let view = sandbox.run(["advance", "--json"]).ok().json();
    assert_eq!(view["status"], "completed");
    assert_eq!(view["phases"][0]["gate"]["checks"][0]["outcome"], "failed");
    assert!(sandbox.run(["brief"]).ok().stdout.contains("passed with warnings: never"));
}

#[test]
fn git_is_asked_whether_the_worktree_is_clean() {
    let sandbox = Sandbox::plain(env!("CARGO_BIN_EXE_leftoff"));
    let git = |arguments: &[&str]| {
        let status = std::process::Command::new("git")
            .args(["-c", "user.name=A", "-c", "user.email=a@example.org"])
            .args(arguments)
            .current_dir(sandbox.project())
            .status()
            .expect("git");
        assert!(status.success());
    };
    git(&["init", "-q"]);
    sandbox.write(".leftoff/workflows/w.toml", "name = \"w\"\n[[phase]]\nid = \"p\"\n[[phase.check]]\nid = \"clean\"\nkind = \"git\"\nclean = true\n");
    git(&["add", "."]);
    git(&["commit", "-qm", "first"]);
    sandbox.run(["start", "w"]).ok();
    // The first command that needs the session's workspace creates it, with a file that excludes it from git.
    sandbox.run(["exec", "--", "touch", "made"]).ok();
    std::fs::remove_file(sandbox.path("made")).unwrap();
    assert!(sandbox.path(".leftoff/.gitignore").exists());
    assert_found(&sandbox, "clean", "passed", "no changes");
    sandbox.write("new.txt", "x");
    assert_found(&sandbox, "clean", "failed", "1 changed file: new.txt");
}

#[test]
fn a_phase_whose_when_does_not_hold_is_skipped() {
    let phases = "[[phase]]\nid = \"a\"\n[[phase]]\nid = \"b\"\nwhen = \"exists('requirements.md')\"\n[[phase]]\nid = \"c\"\n";
    let sandbox = started(phases);
    let view = sandbox.run(["advance", "--phase", "a", "--json"]).ok().json();
    assert_eq!(
        (&view["phases"][1]["status"], &view["current_phase"]["id"]),
        (&json!("skipped"), &json!("c"))
    );

    sandbox.write(".leftoff/sessions/t/requirements.md", "x");
    sandbox.run(["start", "w", "--id", "t"]).ok();
    let view = sandbox.run(["advance", "--phase", "a", "--json"]).ok().json();
    assert_eq!(view["current_phase"]["id"], "b");
}

#[test]
fn a_failed_phase_is_retried_with_the_evidence_it_had() {
    let phases = "[[phase]]\nid = \"p\"\n[phase.evidence]\nn = { type = \"integer\", required = true }\nm = { type = \"integer\", required = true }\n[[phase.check]]\nid = \"same\"\nkind = \"expr\"\nexpr = \"evidence.n == evidence.m\"\n";
    let sandbox = started(phases);
    assert_eq!(sandbox.run(["retry", "--json"]).code(4).error()["kind"], "nothing_failed");
    sandbox.run(["advance", "--evidence", "n=1", "--evidence", "m=2"]).code(5);
    sandbox.run(["retry"]).code(5);
    let view = sandbox.run(["retry", "--evidence", "n=2", "--json"]).ok().json();
    assert_eq!(view["status"], "completed");
    assert_eq!(view["phases"][0]["attempt_count"], 3);
}

#[test]
fn rolling_back_opens_later_phases_and_keeps_their_results_as_history() {
    let sandbox = started("[[phase]]\nid = \"a\"\n[[phase]]\nid = \"b\"\n[[phase]]\nid = \"c\"\n");
    sandbox.run(["advance", "--phase", "a", "--evidence", "x=1"]).ok();
    sandbox.run(["advance", "--phase", "b"]).ok();
    assert_eq!(sandbox.run(["rollback", "zebra"]).code, 3);
    let view = sandbox.run(["rollback", "a", "--reason", "wrong", "--json"]).ok().json();
    assert_eq!(view["current_phase"]["id"], "a");
    assert_eq!(view["completed_phases"], json!([]));
    assert_eq!(view["phases"][0]["attempts"][0]["evidence"]["x"], 1);
    assert_eq!(view["phases"][0]["gate"]["outcome"], "open");
    assert_eq!(view["status"], "active");
    assert_eq!(sandbox.run(["rollback", "c", "--json"]).code(4).error()["kind"], "phase_not_reached");
    let view = sandbox.run(["advance", "--phase", "a", "--json"]).ok().json();
    assert_eq!((&view["already"], &view["current_phase"]["id"]), (&json!(false), &json!("b")));
}

#[test]
fn a_failed_session_goes_on_by_retry() {
    let sandbox = started("[[phase]]\nid = \"a\"\n");
    assert_eq!(sandbox.run(["fail", "--error", "disk gone", "--json"]).ok().json()["status"], "failed");
    sandbox.run(["advance", "--phase", "a"]).code(4);
    assert_eq!(sandbox.run(["retry", "--json"]).ok().json()["status"], "active");
    let view = sandbox.run(["skip", "--reason", "nothing to do", "--json"]).ok().json();
    assert_eq!(
        (&view["status"], &view["phases"][0]["skipped_reason"]),
        (&json!("completed"), &json!("nothing to do"))
    );
}

#[test]
fn mistakes_in_expressions_and_patterns_are_told_with_their_line() {
    let sandbox = git();
    sandbox.write(
        ".leftoff/workflows/w.toml",
        "name = \"w\"\n[[phase]]\nid = \"p\"\nwhen = \"exists(\"\n[[phase.check]]\nid = \"e\"\nkind = \"expr\"\nexpr = \"1 +\"\n[[phase.check]]\nid = \"m\"\nkind = \"artifact\"\npath = \"a\"\nmatches = \"(\"\n",
    );
    let ran = sandbox.run(["workflow", "check", "w"]).code(4);
    for expected in ["w.toml:4: `when` of phase 'p'", "w.toml:8: check 'e'", "w.toml:13: check 'm'"] {
        assert!(ran.stdout.contains(expected), "{expected} is not in {}", ran.stdout);
    }
    sandbox.run(["start", "w"]).code(4);
}

#[test]
fn what_is_to_be_given_is_shown_in_its_type_and_a_wrong_type_is_told_in_words_of_evidence() {
    let sandbox = git();
    sandbox.write(
        ".leftoff/workflows/typed.toml",
        r#"name = "typed"
version = "1"
[[phase]]
id = "build"
  [phase.evidence]
  green = { type = "boolean", required = true }
  tests = { type = "integer", required = true }
  author = { type = "string", required = true }
  files = { type = "list", required = true }
  [[phase.check]]
  id = "loose"
  kind = "expr"
  expr = "evidence.reviewed && evidence.green"
"#,
    );
    sandbox.run(["start", "typed"]).ok();
    let next = sandbox.run(["next"]).ok().stdout;
    let shown = "--evidence 'green=<true or false>' --evidence 'tests=<number>' --evidence 'author=<text>' --evidence 'files=<list>'";
    assert!(next.contains(shown), "{next}");
    let given = ["green=true", "tests=1", "author=ada", "files=[\"a\"]", "reviewed=maybe"];
    let words =
        ["advance", "--json"].into_iter().chain(given.into_iter().flat_map(|pair| ["--evidence", pair]));
    let failed = sandbox.run(words).code(5);
    assert!(
        failed
            .stderr
            .contains("loose ('green' is true or false, 'reviewed' is a string; needed: true or false)"),
        "{}",
        failed.stderr
    );
    assert!(!failed.stderr.contains("overload"), "{}", failed.stderr);
}

#[test]
fn b8_a_placeholder_given_as_a_value_is_refused_and_no_attempt() {
    let sandbox = crate::with_gate();
    sandbox.run(["start", "ship"]).ok();
    sandbox.run(["advance", "--phase", "plan"]).ok();
    crate::try_build(&sandbox, 42, 45, 65).code(5);
    let before = sandbox.run(["status", "--json"]).ok().json();
    let command = before["next"]["command"].as_str().unwrap().to_owned();
    assert!(command.contains("--evidence 'coverage=<number>'"), "{command}");
    for line in
        [command.as_str(), "leftoff advance --phase build --evidence coverage=N", "leftoff set x=TEXT"]
    {
        let refused = sandbox.run_printed(line).code(2).stderr;
        assert!(refused.contains("is a placeholder"), "{refused}");
    }
    let after = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!(after["phases"], before["phases"], "the real failure still stands");
    assert_eq!((&after["version"], &after["next"]), (&before["version"], &before["next"]));
}

#[test]
fn b8_a_command_that_nobody_trusts_yet_waits_for_a_person_and_is_not_tried_again() {
    let sandbox = started(&command_phase("true", "10s"));
    let failed = sandbox.run(["advance", "--phase", "p", "--json"]).code(5).json();
    assert_eq!(failed["next"]["command"], "leftoff trust w", "{failed}");
    let next = sandbox.run(["next", "--json"]).ok().json();
    sandbox.run_printed(next["command"].as_str().unwrap()).code(6);
    trust(&sandbox);
    let next = sandbox.run(["next", "--json"]).ok().json();
    assert_eq!(next["command"], "leftoff advance --phase p", "{next}");
}
