//! A workflow of the project, with a failed gate, a pause of two days, a blocker, and items in three states.

use super::{Answers, History, check};

const SHIP: &str = r#"
name = "ship"
version = "1"
title = "Ship a feature"

[[phase]]
id = "plan"
title = "Plan"
purpose = "Agree on what will be built."
produces = ["PLAN.md"]

  [[phase.check]]
  id = "plan"
  kind = "artifact"
  path = "PLAN.md"

  [[phase.check]]
  id = "agreed"
  kind = "approval"

[[phase]]
id = "setup"
title = "Setup"
purpose = "Prepare the database."

  [phase.evidence]
  migrations = { type = "integer", required = true }

[[phase]]
id = "build"
title = "Build"
purpose = "Implement the plan, tests first."
items = "impl"

  [phase.evidence]
  coverage = { type = "number", required = true }

  [[phase.check]]
  id = "enough"
  kind = "expr"
  expr = "evidence.coverage >= 80.0"
  help = "Add tests until coverage reaches 80 %."

[[phase]]
id = "docs"
title = "Docs"

[[phase]]
id = "release"
title = "Release"
"#;

#[test]
fn a_native_session_answers_all_twelve() {
    let history = History::begin("fix/timeout");
    let sandbox = &history.sandbox;
    sandbox.write(".leftoff/workflows/ship.toml", SHIP);
    history.at("2026-11-12T09:00:00Z");
    history.run(&["start ship --id login --title Login~times~out --goal No~log-out~while~a~tab~is~open"]);
    sandbox.write(".leftoff/sessions/login/PLAN.md", "The plan.\n");
    sandbox.run_as_person(["approve", "agreed"]).ok();
    history.at("2026-11-12T09:30:00Z");
    history.run(&["advance --phase plan", "advance --phase setup --evidence migrations=3"]);
    sandbox.write("src/auth/refresh.rs", "1\n");
    sandbox.write("src/auth/cookie.rs", "1\n");
    history.commit("Refresh");
    history.run(&[
        "item add Refresh~endpoint",
        "item add Rotate~refresh~tokens",
        "item add Cookie~flags --needs impl-2",
        "item done impl-1",
    ]);
    history.notes(&[
        ("decision", "Rotate on every use, not on a timer: replay becomes visible"),
        ("tried", "Longer proxy timeout: the cookie still expires first"),
        ("assumption", "The proxy keeps the Set-Cookie header"),
        ("blocker", "Staging certificate expired; operations were asked"),
    ]);
    history.run(&["pause --reason waiting~for~the~certificate --context the~rotation~test"]);
    history.at("2026-11-14T13:50:00Z");
    history.run(&["resume", "item claim impl-2"]);
    sandbox.write("src/auth/cookie.rs", "2\n");
    history.at("2026-11-14T14:10:00Z");
    history.fails("advance --phase build --evidence coverage=65");
    history.at("2026-11-14T14:15:00Z");
    check(
        sandbox,
        &Answers {
            goal: &["Goal: \"No log-out while a tab is open\""],
            done_with_what_proof: &[
                "1 Plan (",
                "verified): .leftoff/sessions/login/PLAN.md, approved by anna",
            ],
            where_exactly: &[
                "Phase 3 of 5, **Build** (Implement the plan, tests first)",
                "2 of 5 phases done",
                "branch fix/timeout, 1 commit since the start",
                "1 file uncommitted",
                "impl-2 Rotate refresh tokens: yours until 14:40 UTC",
            ],
            why_paused: &[
                "## Paused 12 Nov",
                "\"waiting for the certificate\", in the middle of \"the rotation test\"",
            ],
            failed_last: &[
                "## Failed: attempt 1 of Build, 14:10 UTC\n- enough: coverage=65, needs evidence.coverage >= 80.0",
                "Add tests until coverage reaches 80 %.",
            ],
            touched: &["src/auth/refresh.rs", "Not committed: src/auth/cookie.rs"],
            decided: &["\"Rotate on every use, not on a timer: replay becomes visible\" (12 Nov"],
            blocked_open_assumed: &[
                "Note 4 blocks",
                "\"Staging certificate expired; operations were asked\" (blocker 4, 12 Nov",
                "[!] impl-3 Cookie flags: waits for impl-2",
                "\"The proxy keeps the Set-Cookie header\"",
            ],
            not_again: &[
                "## Done (do not redo)",
                "Done: impl-1",
                "## Tried, did not work\n- \"Longer proxy timeout: the cookie still expires first\"",
            ],
            next_command: &["\n`leftoff advance --phase build --evidence 'coverage=<number>'`\n"],
            who_else: &[],
            unverified: &["reported): migrations=3"],
        },
    );
}
