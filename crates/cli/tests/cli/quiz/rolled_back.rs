//! Somebody went back to an earlier phase and interrupted the later one. The later phase has an item that another
//! agent, which has no hooks, had started. The session has notes of every kind.

use super::{Answers, History, READER, check};

const OTHER: &str = "codex:bbbb0000-2";

const SPLIT: &str = r#"
name = "split"
version = "3"
title = "Split a table"

[[phase]]
id = "design"
title = "Design"
purpose = "Agree on the shape before anyone writes code."

  [[phase.check]]
  id = "design"
  kind = "artifact"
  path = "DESIGN.md"

[[phase]]
id = "migrate"
title = "Migrate"
purpose = "Bring the tables to the new shape, with a way back."

  [phase.evidence]
  tables = { type = "integer", required = true }
  rehearsed = { type = "boolean", required = true }

  [[phase.check]]
  id = "rehearsed"
  kind = "expr"
  expr = "evidence.rehearsed"
  help = "Rehearse the migration on a copy."

[[phase]]
id = "build"
title = "Build"
items = "task"

  [[phase.check]]
  id = "tasks"
  kind = "items"
"#;

#[test]
fn a_session_that_was_rolled_back_answers_all_twelve() {
    let history = History::begin("feature/ledger");
    let sandbox = &history.sandbox;
    sandbox.write(".leftoff/workflows/split.toml", SPLIT);
    history.at("2026-11-14T09:00:00Z");
    history.run(&["start split --id ledger --goal Postings~of~two~currencies~never~share~a~row"]);
    sandbox.write(".leftoff/sessions/ledger/DESIGN.md", "The design.\n");
    history.run(&[
        "advance --phase design",
        "advance --phase migrate --evidence tables=4 --evidence rehearsed=true",
        "item add Posting~writer --id task-1",
        "item add Currency~column --id task-2",
        "item done task-1",
    ]);
    sandbox.write("src/posting.rs", "1\n");
    sandbox.write("src/currency.rs", "1\n");
    history.at("2026-11-14T11:00:00Z");
    sandbox.run_as(OTHER, ["item", "claim", "task-2"]).ok();
    history.notes(&[
        ("decision", "Rows are keyed by account and currency: a sum never mixes them"),
        ("tried", "A trigger that splits rows: deadlocks under load"),
        ("assumption", "No account has more than 12 currencies"),
        ("blocker", "Finance must confirm the rounding of JPY"),
        ("question", "Who owns the job at night?"),
        ("deferred", "The archive of 2019"),
        ("override", "The lead waived the load test"),
        ("note", "The lab has 40 GB"),
    ]);
    history.fails("advance --phase build");
    sandbox.run_as(OTHER, ["rollback", "migrate", "--reason", "NULL currencies are left"]).ok();
    history.at("2026-11-14T11:05:00Z");
    let failing =
        ["advance", "--phase", "migrate", "--evidence", "tables=5", "--evidence", "rehearsed=false"];
    sandbox.run_as(OTHER, failing).code(5);
    history.at("2026-11-14T11:10:00Z");
    check(
        sandbox,
        &Answers {
            goal: &["Goal: \"Postings of two currencies never share a row\""],
            done_with_what_proof: &["- 1 Design (verified): .leftoff/sessions/ledger/DESIGN.md"],
            where_exactly: &[
                "Phase 2 of 3, **Migrate** (Bring the tables to the new shape, with a way back)",
                "Rolled back from build (3), 11:00 UTC",
                "\"NULL currencies are left\"",
                "3 Build (interrupted): 1 of 2 done (task-1)",
            ],
            why_paused: &[],
            failed_last: &[
                "## Failed: attempt 2 of Migrate, 11:05 UTC",
                "rehearsed=false",
                "Rehearse the migration on a copy.",
            ],
            touched: &["src/{currency,posting}.rs"],
            decided: &["\"Rows are keyed by account and currency: a sum never mixes them\""],
            blocked_open_assumed: &[
                "\"Finance must confirm the rounding of JPY\" (blocker 4",
                "\"Who owns the job at night?\" (question 5",
                "\"The archive of 2019\" (deferred 6",
                "\"No account has more than 12 currencies\"",
            ],
            not_again: &["(task-1)", "\"A trigger that splits rows: deadlocks under load\""],
            next_command: &[
                "\n`leftoff advance --phase migrate --evidence 'tables=<number>' --evidence 'rehearsed=<true or false>'`\n",
            ],
            who_else: &[
                "[~] task-2 Currency column: held by codex bbbb0000 until 11:30 UTC",
                "- codex bbbb0000 on this session, seen 5 minutes ago",
            ],
            unverified: &["\"The lead waived the load test\""],
        },
    );
    // After the phase was completed again, the rollback is only in the history.
    history.run(&["advance --phase migrate --evidence tables=5 --evidence rehearsed=true"]);
    let brief = sandbox.run_as(READER, ["brief", "--format", "markdown"]).ok().stdout;
    assert!(!brief.contains("Rolled back"), "{brief}");
}
