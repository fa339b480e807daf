//! The whole program, run as a person or an agent runs it. Few tests: the rules are tested where they live.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should say where")]

mod artifacts;
mod expiry;
mod resume_checks;
mod revisions;
mod session_life;

fn git() -> testkit::Sandbox {
    testkit::Sandbox::git(env!("CARGO_BIN_EXE_leftoff"))
}

/// A project whose workflow declares files and a field, with a session `s` in it at ten o'clock.
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

/// Where session `s` has its files.
fn workspace(name: &str) -> String {
    format!(".leftoff/sessions/s/{name}")
}

/// The same, in phase `draft`, with a file of each phase.
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
