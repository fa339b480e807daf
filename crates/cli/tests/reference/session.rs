//! `docs/reference/session.json`: one complete session view, printed by a real run with a fixed clock.

use crate::page::anonymous;
use crate::{PROGRAM, blessed};
use testkit::Sandbox;

#[test]
fn the_example_of_a_session_is_what_show_prints() {
    let sandbox = example();
    let text = sandbox.run(["show", "--json"]).ok().stdout;
    blessed::check("docs/reference/session.json", &anonymous(&text, &sandbox));
}

/// A session with something in every part: a completed phase, a failed gate, notes, a pause.
pub fn example() -> Sandbox {
    let sandbox = Sandbox::git(PROGRAM);
    let run = |moment: &str, words: &[&str], code: i32| {
        sandbox.at(moment);
        sandbox.run(words).code(code);
    };
    run("2026-11-14T09:00:00Z", &["workflow", "new", "ship"], 0);
    let goal = "No log-out while a tab is open";
    let start = ["start", "ship", "--id", "login-timeout", "--goal", goal, "--target", "src/auth"];
    run("2026-11-14T09:00:00Z", &[&start[..], &["--set", "ticket=ABC-12"]].concat(), 0);
    run("2026-11-14T09:20:00Z", &["note", "Rotate on every use", "--kind", "decision"], 0);
    run("2026-11-14T09:25:00Z", &["note", "Staging certificate expired", "--kind", "blocker"], 0);
    sandbox.write(".leftoff/sessions/login-timeout/PLAN.md", "# Plan\nRotate on every use.\n");
    run("2026-11-14T09:30:00Z", &["advance", "--phase", "plan", "--output", "plan=PLAN.md"], 0);
    run("2026-11-14T10:00:00Z", &["pause", "--reason", "lunch", "--context", "refresh tests"], 0);
    run("2026-11-14T11:00:00Z", &["resume"], 0);
    run("2026-11-14T11:05:00Z", &["note", "resolve", "2"], 0);
    let evidence = ["--evidence", "tests_passed=42", "--evidence", "tests_total=45"];
    run("2026-11-14T11:30:00Z", &[&["advance", "--phase", "build"], &evidence[..]].concat(), 5);
    sandbox.at("2026-11-14T11:40:00Z");
    sandbox
}
