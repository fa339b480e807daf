//! A finished session. One gate was overridden, one phase was skipped, and one passed with warnings. The
//! brief suggests nothing.

use super::{Answers, History, READER, check_asked};

const HOT: &str = r#"
name = "hot"
version = "1"
title = "Hot fix"

[[phase]]
id = "reproduce"
title = "Reproduce"

  [phase.evidence]
  steps = { type = "string", required = true }

[[phase]]
id = "fix"
title = "Fix"

  [phase.evidence]
  tests_failed = { type = "integer", required = true }

  [[phase.check]]
  id = "green"
  kind = "expr"
  expr = "evidence.tests_failed == 0"

[[phase]]
id = "review"
title = "Review"

  [[phase.check]]
  id = "second-pair"
  kind = "approval"

[[phase]]
id = "perf"
title = "Performance"
strict = false

  [phase.evidence]
  ms = { type = "number", required = true }

  [[phase.check]]
  id = "fast"
  kind = "expr"
  expr = "evidence.ms < 10.0"

[[phase]]
id = "deploy"
title = "Deploy"
"#;

#[test]
fn a_finished_session_with_overrides_answers_all_twelve() {
    let history = History::begin("main");
    let sandbox = &history.sandbox;
    sandbox.write(".leftoff/workflows/hot.toml", HOT);
    history.at("2026-11-12T08:00:00Z");
    history.run(&["start hot --id charge --title Double~charge --goal Stop~the~double~charge~on~retry"]);
    history.run(&["advance --phase reproduce --evidence steps=pay~twice"]);
    sandbox.write("pay.rs", "1\n");
    history.commit("Fix");
    history.fails("advance --phase fix --evidence tests_failed=2");
    let reason = "two flaky tests, ticket QA-7";
    let failing = ["advance", "--phase", "fix", "--evidence", "tests_failed=2", "--override", reason];
    sandbox.run_as_person(failing).ok();
    sandbox.run_as_person(["skip", "--reason", "bob is on leave"]).ok();
    history.run(&["advance --phase perf --evidence ms=14"]);
    history.notes(&[
        ("decision", "A key per cart, not per click: carts are retried"),
        ("tried", "Locking the cart: it timed out"),
        ("assumption", "Banks answer within a minute"),
        ("question", "Is the refund job affected?"),
    ]);
    history.at("2026-11-12T09:00:00Z");
    history.run(&["advance --phase deploy"]);
    history.at("2026-11-14T09:00:00Z");
    let answers = Answers {
        goal: &["Goal: \"Stop the double charge on retry\""],
        done_with_what_proof: &[
            "1 Reproduce (reported): steps=",
            "4 Performance (passed with warnings: fast): ms=14",
        ],
        where_exactly: &["**Finished** 12 Nov: 4 of 5 phases done (80 %)"],
        why_paused: &[],
        failed_last: &["failed check: green"],
        touched: &["pay.rs"],
        decided: &["\"A key per cart, not per click: carts are retried\" (12 Nov"],
        blocked_open_assumed: &[
            "\"Is the refund job affected?\" (question",
            "\"Banks answer within a minute\"",
        ],
        not_again: &["5 Deploy (1 h, no gate)", "\"Locking the cart: it timed out\""],
        next_command: &[],
        who_else: &[],
        unverified: &[
            "2 Fix (attempt 2, overridden by ",
            ", \"two flaky tests, ticket QA-7\"",
            "3 Review (skipped by ",
            ", \"bob is on leave\")",
            "1 reported, 1 warned, 1 overridden, 1 skipped",
        ],
    };
    check_asked(sandbox, &answers);
    let markdown = sandbox.run_as(READER, ["brief", "--format", "markdown"]).ok().stdout;
    assert!(!markdown.contains('`') && !markdown.contains("## Next"), "it suggests nothing:\n{markdown}");
    assert_eq!(markdown.matches("QA-7").count(), 1, "nothing is said twice:\n{markdown}");
}
