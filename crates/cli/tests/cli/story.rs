//! One session in which everything goes wrong: a failed gate, a retry, a major revision with a crash, another
//! agent, an undo. A reader of the result must be able to understand what happened.

use crate::fresh;
use testkit::Sandbox;

const CLAUDE: &str = "claude:a4326893-7dc8-405b-aaa4-035b9c0d34a8";
const CODEX: &str = "codex:01a1de4b-1111-4222-8333-944445555666";

const WORKFLOW: &str = r#"
name = "ship"
title = "Ship a feature"

[[phase]]
id = "plan"
title = "Plan"
purpose = "Agree on what will be built and how it is accepted."
produces = ["PLAN.md"]

  [[phase.check]]
  id = "accepted"
  kind = "artifact"
  path = "PLAN.md"
  matches = "(?m)^## Acceptance"
  stale = "ok"
  help = "Write the acceptance criteria under '## Acceptance'."

[[phase]]
id = "build"
title = "Build"
purpose = "Build it, with tests."
produces = ["NOTES.md"]

  [phase.evidence]
  coverage = { type = "number", required = true, describe = "line coverage in percent" }

  [[phase.check]]
  id = "enough"
  kind = "expr"
  expr = "evidence.coverage >= 80.0"
  help = "Add tests until coverage reaches 80 %."

[[phase]]
id = "review"
title = "Review"
purpose = "Read the whole change as its next maintainer."
"#;

/// A session before the revision. It was planned, was built in the second attempt, and is in review.
fn built() -> Sandbox {
    let sandbox = fresh();
    sandbox.write(".leftoff/workflows/ship.toml", WORKFLOW);
    sandbox.at("2026-11-14T09:00:00Z");
    sandbox
        .run_as(CLAUDE, ["start", "ship", "--id", "login", "--goal", "no log-out while a tab is open"])
        .ok();
    sandbox.write(
        ".leftoff/sessions/login/PLAN.md",
        "# Plan\nRotate on a timer.\n## Acceptance\n- stays logged in\n",
    );
    sandbox.at("2026-11-14T09:30:00Z").run_as(CLAUDE, ["advance", "--phase", "plan"]).ok();
    sandbox.run_as(CLAUDE, ["note", "Rotate on a timer: simplest", "--kind", "decision"]).ok();
    sandbox.write(".leftoff/sessions/login/NOTES.md", "timer runs every 5 minutes\n");
    sandbox
        .at("2026-11-14T10:30:00Z")
        .run_as(CLAUDE, ["advance", "--phase", "build", "--evidence", "coverage=65"])
        .code(5);
    sandbox.at("2026-11-14T11:00:00Z").run_as(CLAUDE, ["retry", "--evidence", "coverage=82"]).ok();
    sandbox
}

/// A crash in the middle of the revision: the event is stored, and one of two files has been archived.
fn revised(sandbox: &Sandbox) {
    sandbox.write(
        ".leftoff/sessions/login/PLAN.md",
        "# Plan\nRotate on every use.\n## Acceptance\n- replay is visible\n",
    );
    sandbox.at("2026-11-14T11:30:00Z");
    let words = ["revisit", "plan", "--impact", "major", "--reason", "a timer hides replays", "--yes"];
    let mut command = sandbox.command(words);
    command.env("LEFTOFF_AGENT_SESSION", CLAUDE).env("LEFTOFF_TEST_CRASH", "disk-after-step-0");
    let crashed = command.output().expect("the program starts");
    assert!(!crashed.status.success(), "it was to crash");
}

#[test]
fn a_session_that_met_everything_reads_well_and_is_finished() {
    let sandbox = built();
    revised(&sandbox);

    // The next day, another agent is told how far the work is. The interrupted revision is completed.
    sandbox.at("2026-11-15T08:00:00Z");
    let brief = sandbox.run_as(CODEX, ["brief", "--format", "markdown"]).ok().stdout;
    for fact in
        ["**Plan**", "no log-out while a tab is open", "Rotate on a timer: simplest", "claude a4326893"]
    {
        assert!(brief.contains(fact), "{fact:?} is not in\n{brief}");
    }
    sandbox.run_as(CODEX, ["note", "Longer timeout did not help", "--kind", "tried"]).ok();
    assert!(sandbox.path(".leftoff/sessions/login/PLAN.v1.md").exists(), "the old plan is kept");
    assert!(sandbox.path(".leftoff/sessions/login/NOTES.v1.md").exists(), "what built on it is archived");
    assert!(!sandbox.path(".leftoff/sessions/login/NOTES.md").exists());
    assert_eq!(sandbox.run(["doctor"]).code, 0);

    // The agent makes a mistake, and undoes it.
    sandbox.run_as(CODEX, ["advance", "--phase", "plan"]).ok();
    sandbox.at("2026-11-15T08:10:00Z").run(["skip", "--reason", "by mistake"]).ok();
    sandbox.at("2026-11-15T08:11:00Z").run_as_person(["undo"]).ok();
    let view = sandbox.run_as(CODEX, ["status", "--json"]).ok().json();
    assert_eq!((&view["current_phase"]["id"], &view["status"]), (&"build".into(), &"active".into()));

    sandbox.write(".leftoff/sessions/login/NOTES.md", "rotation on every use\n");
    sandbox.at("2026-11-15T09:00:00Z");
    sandbox.run_as(CODEX, ["advance", "--phase", "build", "--evidence", "coverage=91"]).ok();
    let done = sandbox.run_as(CODEX, ["advance", "--phase", "review", "--json"]).ok().json();
    assert_eq!((&done["status"], &done["progress"]["percent"]), (&"completed".into(), &100.into()));
    reads_well(&sandbox);
}

/// Expects the whole history in its order, without a missing or repeated event.
fn reads_well(sandbox: &Sandbox) {
    let log = sandbox.run(["log"]).ok().stdout;
    let mut rest = log.as_str();
    for line in [
        "session started",
        "phase plan completed",
        "decision 1: Rotate on a timer: simplest",
        "gate of build did not pass: enough (coverage=65)",
        "phase build completed (coverage=82)",
        "phase plan revisited, major impact",
        "tried 2: Longer timeout did not help",
        "phase build skipped: by mistake",
        "back to",
        "phase build completed (coverage=91)",
        "session completed",
    ] {
        let at = rest.find(line).unwrap_or_else(|| panic!("{line:?} does not come in its place in\n{log}"));
        rest = &rest[at + line.len()..];
    }
    let show = sandbox.run(["show"]).ok().stdout;
    for fact in [
        "attempt 1: FAILED",
        "coverage=65",
        "attempt 2: passed",
        "coverage=91",
        "Longer timeout did not help",
    ] {
        assert!(show.contains(fact), "{fact:?} is not in\n{show}");
    }
    let brief = sandbox.run(["brief"]).ok().stdout;
    for fact in ["Finished ", "coverage=91", "Rotate on a timer: simplest"] {
        assert!(brief.contains(fact), "{fact:?} is not in\n{brief}");
    }
    // Prints the history on request: LEFTOFF_TEST_SHOW=1 cargo test -p leftoff --test cli story
    if std::env::var_os("LEFTOFF_TEST_SHOW").is_some() {
        let markdown = sandbox.run(["brief", "--format", "markdown"]).ok().stdout;
        let history = sandbox.run(["history"]).ok().stdout;
        let all = format!("{log}\n{show}\n{brief}\n{markdown}\n{history}\n");
        std::io::Write::write_all(&mut std::io::stderr(), all.as_bytes()).expect("stderr");
    }
}
