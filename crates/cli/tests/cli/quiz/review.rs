//! A review in the files of Open Code Review. One reviewer is missing, and somebody edited the state as if
//! the phase was over.

use super::{Answers, History, check};
use serde_json::{Value, json};

const FOLDER: &str = ".ocr/sessions/2026-11-14-feature-login";

#[test]
fn a_review_with_a_hand_edit_answers_all_twelve() {
    let history = History::begin("feature/login");
    let sandbox = &history.sandbox;
    let file = |name: &str, text: &str| sandbox.write(&format!("{FOLDER}/{name}"), text);
    history.at("2026-11-14T09:00:00Z");
    history.run(&["start review --layout ocr --goal Review~the~refresh-token~change"]);
    file("discovered-standards.md", "S\n");
    file("context.md", "C\n");
    history.run(&["advance --phase context", "advance --phase change-context", "advance --phase analysis"]);
    history.run(&[
        "item add Security --id security-1",
        "item add Quality --id quality-1",
        "item add Testing --id testing-1",
    ]);
    file("rounds/round-1/reviews/security-1.md", "## Finding 1\n## Finding 2\n");
    file("rounds/round-1/reviews/quality-1.md", "## Finding 1\n");
    history.run(&["item done security-1", "item done quality-1"]);
    sandbox.write("src/token.rs", "1\n");
    history.notes(&[
        ("decision", "Three reviewers: the change touches cookies"),
        ("tried", "Reviewing the generated client: nothing in it is ours"),
        ("question", "Is the legacy cookie still read?"),
    ]);
    history.at("2026-11-14T10:10:00Z");
    history.fails("advance --phase reviews");
    history.run(&["pause --reason the~testing~reviewer~is~away --context testing-1"]);
    history.at("2026-11-16T09:00:00Z");
    history.run(&["resume"]);
    history.at("2026-11-16T10:41:00Z");
    let state = format!("{FOLDER}/state.json");
    let mut fields: Value = serde_json::from_str(&sandbox.read(&state)).unwrap();
    fields["current_phase"] = json!("synthesis");
    fields["phase_number"] = json!(7);
    crate::ocr::write_at(sandbox, &state, &fields.to_string(), "2026-11-16T10:41:00Z");
    history.at("2026-11-16T11:00:00Z");
    check(
        sandbox,
        &Answers {
            goal: &["Goal: \"Review the refresh-token change\""],
            done_with_what_proof: &[
                "1 Context Discovery (verified): …/discovered-standards.md",
                "…/context.md",
            ],
            where_exactly: &[
                "Phase 4 of 8, **Parallel Reviews** (Let each reviewer examine the change on its own",
                "(a file says 7 synthesis, unverified)",
                "3 of 8 phases done, 3 only claimed",
                "Files: .ocr/sessions/2026-11-14-feature-login/ (below: …/)",
            ],
            why_paused: &["\"the testing reviewer is away\", in the middle of \"testing-1\""],
            failed_last: &[
                "its gate failed here, 14 Nov 10:10 UTC: reviews (\"…/rounds/round-1/reviews/testing-1.md is missing",
                "Every reviewer writes its review into a file of its own",
            ],
            touched: &["src/"],
            decided: &["\"Three reviewers: the change touches cookies\""],
            blocked_open_assumed: &["\"Is the legacy cookie still read?\"", "[ ] testing-1 Testing: ready"],
            not_again: &[
                "review round 1: not final; quality-1 (1 finding), security-1 (2 findings)",
                "\"Reviewing the generated client: nothing in it is ours\"",
            ],
            next_command: &["\n`leftoff advance --phase reviews`\n"],
            who_else: &[],
            unverified: &[
                "An edit of the session's files moved the session from reviews (4) to synthesis (7), 10:41 UTC; last verified phase: analysis (3).",
                "5 Aggregate Findings, 6 Reviewer Discourse: claimed in a file, not proven",
            ],
        },
    );
}
