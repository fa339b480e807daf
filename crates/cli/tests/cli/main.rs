//! Tests of the whole program, run as a person or an agent runs it. They are few, because most rules are
//! tested at a lower level.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should say where")]

mod actions;
mod agent;
mod answers;
mod artifacts;
mod backups;
mod briefs;
mod budget;
mod builtin;
mod bundles;
mod ccw;
mod choice;
mod defaults;
mod dropping;
mod essay;
mod everyday;
mod examples;
mod exec;
mod expiry;
mod figures;
mod foreign;
mod gates;
mod histories;
mod hook;
mod hook_agents;
mod hook_events;
mod hook_requirements;
mod hook_stops;
mod hook_twice;
mod import;
mod install;
mod items;
mod keys;
mod live;
mod mistakes;
mod ocr;
mod outlet;
mod outputs;
mod praxis;
mod progress;
mod quiz;
mod quotations;
mod redteam;
mod requirements;
mod resume_checks;
mod revisions;
mod screen;
mod secrets;
mod serve;
mod session_life;
mod shells;
mod story;
mod tasks;
mod trust;
mod undo;
mod verify;

use testkit::{Ran, Sandbox};

fn git() -> Sandbox {
    fresh().without_gates()
}

/// A repository without leftoff.
fn fresh() -> Sandbox {
    Sandbox::git(env!("CARGO_BIN_EXE_leftoff"))
}

fn plain() -> Sandbox {
    Sandbox::plain(env!("CARGO_BIN_EXE_leftoff"))
}

/// A project with a workflow whose second phase has a gate.
fn with_gate() -> Sandbox {
    let sandbox = git();
    sandbox.write(".leftoff/workflows/ship.toml", SHIP);
    sandbox
}

/// A workflow with typed evidence, and with two expressions: one has help text, the other has none.
const SHIP: &str = r#"
name = "ship"
version = "1"
title = "Ship a feature"

[[phase]]
id = "plan"
title = "Plan"
purpose = "Agree on what will be built."

[[phase]]
id = "build"
title = "Build"
purpose = "Build it, with tests."

  [phase.evidence]
  tests_passed = { type = "integer", required = true }
  tests_total = { type = "integer", required = true }
  coverage = { type = "number", required = true, describe = "line coverage in percent" }

  [[phase.check]]
  id = "all-pass"
  kind = "expr"
  expr = "evidence.tests_passed == evidence.tests_total"

  [[phase.check]]
  id = "enough"
  kind = "expr"
  expr = "evidence.coverage >= 80.0"
  help = "Add tests until coverage reaches 80 %."

[[phase]]
id = "review"
title = "Review"
"#;

/// Tries the gate of `build` in [`SHIP`] with these values.
fn try_build(sandbox: &Sandbox, passed: u32, total: u32, coverage: u32) -> Ran {
    let evidence =
        [format!("tests_passed={passed}"), format!("tests_total={total}"), format!("coverage={coverage}")];
    let mut words = vec!["advance", "--phase", "build"];
    for pair in &evidence {
        words.extend(["--evidence", pair]);
    }
    sandbox.run(words)
}

/// The text without line breaks, because tests ignore them.
fn unbroken(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text without line breaks and markup. A brief for people has the same words as a brief for agents.
fn words_only(text: &str) -> String {
    unbroken(&text.replace(['#', '*', '`', ':', '>'], ""))
}

/// A project whose workflow declares files and a field, with a session `s` that started at ten o'clock.
fn essay() -> testkit::Sandbox {
    let sandbox = git();
    sandbox.write(
        ".leftoff/workflows/paper.toml",
        r#"name = "paper"
version = "1"
title = "Paper"

[[phase]]
id = "thesis"
title = "Thesis"
produces = ["thesis.md"]

[[phase]]
id = "outline"
title = "Outline"
produces = ["outline.md"]

[[phase]]
id = "arguments"
title = "Arguments"
produces = ["arguments-{item}.md"]

[[phase]]
id = "draft"
title = "Draft"
produces = ["draft.md"]

[fields]
claim_type = { type = "string", one_of = ["argument", "explainer"] }
tone = { type = "string", default = "plain" }
"#,
    );
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.run(["start", "paper", "--id", "s", "--set", "claim_type=argument"]).ok();
    sandbox
}

/// The path of a file of session `s`.
fn workspace(name: &str) -> String {
    format!(".leftoff/sessions/s/{name}")
}

/// A session `s` in the phase `draft`, with a file for each phase.
fn essay_in_its_draft() -> testkit::Sandbox {
    let sandbox = essay();
    for (phase, file) in [("thesis", "thesis.md"), ("outline", "outline.md"), ("arguments", "arguments-1.md")]
    {
        sandbox.write(&workspace(file), &format!("# {phase}\nfirst words\n"));
        sandbox.run(["advance", "--phase", phase]).ok();
    }
    sandbox
}

fn statuses(view: &serde_json::Value) -> Vec<&str> {
    view["phases"].as_array().unwrap().iter().map(|phase| phase["status"].as_str().unwrap()).collect()
}
