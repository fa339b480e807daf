//! Tests of daily use by people and agents: arguments without options, answers on one line, suggestions,
//! help.

use crate::gates::{started, trust};
use crate::{fresh, git};
use serde_json::{Value, json};

#[test]
fn u5_what_a_command_is_about_can_stand_behind_it() {
    let sandbox = git();
    sandbox.run(["start", "--id", "one"]).ok();
    sandbox.run(["start", "--id", "two"]).ok();
    for command in ["status", "brief", "next", "verify", "pause"] {
        let told = sandbox.run([command, "one", "--json"]);
        assert!(told.stdout.contains("\"one\""), "{command}: {}\n{}", told.stdout, told.stderr);
    }
    sandbox.run(["gate", "plan"]).ok();
    let advanced = sandbox.run(["advance", "plan", "--json"]).ok().json();
    assert_eq!(advanced["current_phase"]["id"], "implement");
    assert_eq!(sandbox.run(["advance", "plan", "--phase", "plan", "--json"]).ok().json()["already"], true);
    sandbox.run(["advance", "plan", "--phase", "implement"]).code(2);
    sandbox.run(["status", "nowhere"]).code(3);
}

#[test]
fn u8_leftoff_alone_is_status_also_with_options() {
    let sandbox = git();
    sandbox.at("2026-11-14T10:00:00Z");
    assert_eq!(sandbox.run([""; 0]).ok().stdout, sandbox.run(["status"]).ok().stdout);
    sandbox.run(["start", "--id", "one"]).ok();
    assert_eq!(sandbox.run([""; 0]).ok().stdout, sandbox.run(["status"]).ok().stdout);
    assert_eq!(sandbox.run(["--json"]).ok().json()["session_id"], "one");
}

#[test]
fn u8_help_has_groups_and_concept_pages() {
    let sandbox = git();
    let help = sandbox.run(["help"]).ok().stdout;
    let places: Vec<usize> =
        ["Every day:", "Phases and gates:", "Items and files:", "Sessions:", "Looking:", "Setting up:"]
            .into_iter()
            .map(|heading| help.find(heading).unwrap_or_else(|| panic!("{heading} is not in\n{help}")))
            .collect();
    assert!(places.is_sorted());
    assert!(!help.contains("Commands:"));
    assert!(sandbox.run(["help", "gates"]).ok().stdout.starts_with("Gates\n"));
    assert!(sandbox.run(["help", "start"]).ok().stdout.contains("Usage: leftoff start"));
    sandbox.run(["help", "nonsense"]).code(2);
}

#[test]
fn u4_a_failed_advance_says_the_remedy_once_with_the_path_and_a_file_of_that_name() {
    let sandbox = fresh();
    sandbox.at("2026-11-14T10:00:00Z").run(["start", "--id", "login"]).ok();
    sandbox.write("docs/PLAN.md", "a plan\n");
    sandbox.shows(
        r"
$ leftoff advance plan
error: the gate of phase 'plan' did not pass: plan (.leftoff/sessions/login/PLAN.md is missing; there is docs/PLAN.md)
hint: Write what will be built, in which steps, and how it will be accepted, into .leftoff/sessions/login/PLAN.md. Then try phase 1 (plan) again.
  leftoff advance --phase plan
[5]
$ leftoff next
Write what will be built, in which steps, and how it will be accepted, into .leftoff/sessions/login/PLAN.md. Then try phase 1 (plan) again.
leftoff advance --phase plan
",
    );
}

#[test]
fn u4_a_change_that_leaves_the_next_step_as_it_was_is_answered_in_one_line() {
    let sandbox = git();
    sandbox.run(["start", "--id", "login"]).ok();
    sandbox.write("a.txt", "a");
    let commands: [&[&str]; 4] = [
        &["note", "hello"],
        &["item", "add", "A task"],
        &["checkpoint", "-m", "here"],
        &["artifact", "add", "a.txt"],
    ];
    for command in commands {
        let answer = sandbox.run(command).ok().stdout;
        assert_eq!(answer.lines().count(), 1, "{command:?}: {answer}");
    }
    assert!(sandbox.run(["note", "stuck", "--kind", "blocker"]).ok().stdout.contains("Next: "));
}

#[test]
fn u5_evidence_under_a_wrong_name_is_told() {
    let sandbox = started(
        "[[phase]]\nid = \"p\"\n[phase.evidence]\ntests_passed = { type = \"integer\", required = true }\n",
    );
    let failed = sandbox.run(["advance", "p", "--evidence", "test_passed=4"]).code(5);
    assert!(
        failed.stderr.contains("you gave 'test_passed': did you mean 'tests_passed'?"),
        "{}",
        failed.stderr
    );
}

#[test]
fn u7_items_are_listed_wherever_they_are_when_the_current_phase_has_none() {
    let sandbox = fresh();
    sandbox.at("2026-11-14T10:00:00Z").run(["start", "--id", "one", "--goal", "One"]).ok();
    sandbox.run(["item", "add", "Rotate tokens"]).ok();
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["current_phase"]["id"], "plan");
    sandbox.shows(
        r"
$ leftoff item list
implement: 0 of 1 done
  [ ] task-1 Rotate tokens: ready
$ leftoff status
one One  active
Goal: One
plan-implement-review v1, 0 of 3 phases done (0 %)
  [>] 1 Plan (for 0 s)
  [ ] 2 Implement
  [ ] 3 Review
Next: Phase 1, Plan: Understand the task and the code it touches, then write
  down what will be built, in which steps, and how it will be accepted. Settle
  open questions now; do not write production code yet. Produces…
  leftoff advance --phase plan
",
    );
}

#[test]
fn u7_a_finished_session_points_to_a_paused_one() {
    let sandbox = fresh();
    sandbox.at("2026-11-14T10:00:00Z").run(["start", "--id", "first", "--goal", "First"]).ok();
    sandbox.run(["start", "--id", "second", "--goal", "Second"]).ok();
    // The answer names the paused session, but not as the next step: the finished session has no next
    // command.
    sandbox.shows(
        r"
$ leftoff close --force
second completed, 0 of 3 phases done (0 %)
Next: Closed unfinished. Session first is paused; to continue it:
  leftoff resume first
$ leftoff next
Closed unfinished. Session first is paused; to continue it: leftoff resume first
$ leftoff revisit plan --reason x
error: cannot revisit: session second is completed
hint: reopen the session first: leftoff reopen second
[4]
$ leftoff resume first
first continues in phase 1 (plan); paused 10:00 UTC: for another session
Next: Phase 1, Plan: Understand the task and the code it touches, then write
  down what will be built, in which steps, and how it will be accepted. Settle
  open questions now; do not write production code yet. Produces
  .leftoff/sessions/first/PLAN.md.
  leftoff advance --phase plan
$ leftoff close --force
first completed, 0 of 3 phases done (0 %)
Next: Closed unfinished.
$ leftoff next
Closed unfinished.
",
    );
}

#[test]
fn u7_after_trust_the_next_step_is_to_try_again() {
    let sandbox =
        started("[[phase]]\nid = \"p\"\n[[phase.check]]\nid = \"c\"\nkind = \"command\"\nrun = \"true\"\n");
    sandbox.run(["advance", "p"]).code(5);
    let before = sandbox.run(["next"]).ok().stdout;
    assert!(before.contains("leftoff trust w"), "{before}");
    trust(&sandbox);
    let after = sandbox.run(["next", "--json"]).ok().json();
    assert!(!after["summary"].as_str().unwrap().contains("trust"), "{after}");
    assert_eq!(after["command"], "leftoff advance --phase p");
    sandbox.run(["advance", "p"]).ok();
}

#[test]
fn u7_revisiting_a_finished_session_suggests_to_reopen_it() {
    let sandbox = git();
    sandbox.run(["start", "--id", "login"]).ok();
    sandbox.run(["close", "--force"]).ok();
    let refused = sandbox.run(["revisit", "plan", "--reason", "x", "--json"]).code(4).error();
    assert!(refused["hint"].as_str().unwrap().contains("leftoff reopen login"), "{refused}");
}

#[test]
fn u9_an_estimate_needs_two_phases_of_a_minute_and_a_goal_is_not_empty() {
    let sandbox = git();
    sandbox.run(["start", "--goal", " "]).code(2);
    sandbox.at("2026-11-14T10:00:00Z").run(["start"]).ok();
    let left = |moment: &str, phase: &str| {
        let view = sandbox.at(moment).run(["advance", phase, "--json"]).ok().json();
        view["progress"]["estimated_remaining_seconds"].clone()
    };
    assert_eq!(left("2026-11-14T10:40:00Z", "plan"), Value::Null);
    assert_eq!(left("2026-11-14T11:00:00Z", "implement"), json!(1800));
}

#[test]
fn workflows_are_listed_also_where_there_is_no_project_yet_and_nothing_is_made() {
    let sandbox = testkit::Sandbox::plain(env!("CARGO_BIN_EXE_leftoff"));
    assert!(sandbox.run(["workflow", "list"]).ok().stdout.contains("plan-implement-review"));
    assert!(sandbox.run(["workflow", "show", "essay"]).ok().stdout.contains("thesis"));
    assert_eq!(std::fs::read_dir(sandbox.project()).unwrap().count(), 0);
}

#[test]
fn a_command_that_takes_long_says_at_a_terminal_that_it_works() {
    if testkit::is_on_postgres() {
        return;
    }
    let sandbox = git();
    sandbox.run(["start", "--id", "one"]).ok();
    // Another process holds the lock until the line is visible.
    let lock = std::fs::File::open(sandbox.path(".git/leftoff/leftoff.db.lock")).unwrap();
    lock.lock().unwrap();
    let inner = sandbox.command(["note", "waited for"]);
    let words: Vec<String> = inner.get_args().map(|word| format!("'{}'", word.to_string_lossy())).collect();
    let line = format!("'{}' {}", inner.get_program().to_string_lossy(), words.join(" "));
    let mut script = testkit::at_terminal(&line);
    script.current_dir(sandbox.project()).env_clear();
    script.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut child = script
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut output = child.stdout.take().unwrap();
    let mut seen = Vec::new();
    let mut byte = [0; 1];
    while std::io::Read::read(&mut output, &mut byte).unwrap() > 0 {
        seen.push(byte[0]);
        if seen.ends_with(b"working (1 s)") {
            lock.unlock().unwrap();
        }
    }
    let seen = String::from_utf8_lossy(&seen).into_owned();
    assert!(child.wait().unwrap().success(), "{seen}");
    // The line disappears before the answer is printed.
    let (_, after) = seen.rsplit_once("working (").unwrap_or_else(|| panic!("no line: {seen}"));
    assert!(after.contains("\r\u{1b}[K\r") && after.contains("note 1 recorded"), "{seen:?}");
    assert!(!sandbox.run(["note", "quick"]).ok().stderr.contains("working"));
}

#[test]
fn a_note_that_looks_like_a_command_is_not_recorded() {
    let sandbox = git();
    sandbox.run(["start", "--id", "one"]).ok();
    for words in [["note", "list", "--json"].as_slice(), &["note", "add", "why", "--kind", "decision"]] {
        let refused = sandbox.run(words).code(2);
        assert!(refused.stderr.contains("nothing was recorded"), "{}", refused.stderr);
    }
    assert_eq!(sandbox.run(["show", "--json"]).ok().json()["notes"], json!([]));
    sandbox.run(["note", "list the headers first"]).ok();
    sandbox.run(["note", "a longer timeout", "--kind", "dead-end"]).ok();
    let notes = sandbox.run(["show", "--json"]).ok().json()["notes"].clone();
    assert_eq!((&notes[0]["kind"], &notes[1]["kind"]), (&json!("note"), &json!("tried")));
}

#[test]
fn doing_again_what_is_done_says_the_state_in_one_line() {
    let sandbox = git();
    sandbox.at("2026-11-14T10:00:00Z").run(["start", "--id", "one"]).ok();
    sandbox.run(["item", "add", "Rotate tokens"]).ok();
    sandbox.run(["note", "Which key?", "--kind", "question"]).ok();
    let twice: [(&[&str], &str); 6] = [
        (&["item", "claim", "task-1"], "one task-1 already claimed until 10:30 UTC: Rotate tokens"),
        (&["item", "start", "task-1"], "one task-1 already started until 10:30 UTC: Rotate tokens"),
        (&["item", "done", "task-1"], "one task-1 already done: Rotate tokens"),
        (&["note", "resolve", "1"], "one note 1 already resolved"),
        (&["pause"], "one already paused in phase 1 (plan)"),
        (&["reopen", "one"], "one already open in phase 1 (plan)"),
    ];
    for (words, state) in twice {
        if words[0] == "reopen" {
            sandbox.run(["resume"]).ok();
        } else {
            sandbox.run(words).ok();
        }
        let again = sandbox.run(words).ok();
        assert_eq!(again.stdout, format!("{state}; nothing changed\n"), "{words:?}");
    }
    let resumed = sandbox.run(["resume"]).ok().stdout;
    assert!(
        resumed.starts_with("one already active in phase 1 (plan); nothing changed\nNext: "),
        "{resumed}"
    );
}

#[test]
fn a_skipped_phase_is_not_called_done_and_can_be_done_after_all() {
    let sandbox = git();
    sandbox.run(["start", "--id", "one"]).ok();
    for _ in 0..3 {
        sandbox.run(["skip", "--reason", "trivial"]).ok();
    }
    sandbox.run(["reopen"]).ok();
    let phases = sandbox.run(["status", "--json"]).ok().json()["phases"].clone();
    assert_eq!(phases[0]["skipped_by"]["name"], "anna");
    let history = sandbox.run(["history"]).ok().stdout;
    assert!(history.contains("1 Plan: skipped by anna: trivial"), "{history}");
    let again = sandbox.run(["advance", "plan"]).ok();
    assert!(
        again.stdout.starts_with("one phase 1 (plan) was skipped, not done; nothing changed\n"),
        "{}",
        again.stdout
    );
    assert!(again.stderr.contains("to do the phase after all: leftoff rollback plan"), "{}", again.stderr);
    sandbox.run(["rollback", "plan"]).ok();
    sandbox.write(".leftoff/sessions/one/PLAN.md", "steps\n");
    assert_eq!(sandbox.run(["advance", "plan", "--json"]).ok().json()["current_phase"]["id"], "implement");
}
