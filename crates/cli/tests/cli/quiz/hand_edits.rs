//! A review whose state file somebody edited. The edits are neither a step forward nor damage.

use super::{History, MOST_BYTES, READER, after_compaction, over_mcp};
use serde_json::{Value, json};

const FOLDER: &str = ".ocr/sessions/2026-11-14-feature-login";

/// A review in which three phases are verified and the gate of the fourth has failed. Its state file is
/// edited after that.
fn edited(change: impl Fn(&mut Value)) -> History {
    let history = History::begin("feature/login");
    let sandbox = &history.sandbox;
    history.at("2026-11-14T09:00:00Z");
    history.run(&["start review --layout ocr --goal Review~the~rate~limiter"]);
    sandbox.write(&format!("{FOLDER}/discovered-standards.md"), "S\n");
    sandbox.write(&format!("{FOLDER}/context.md"), "C\n");
    history.run(&["advance --phase context", "advance --phase change-context", "advance --phase analysis"]);
    history.run(&["item add Security --id security-1", "item add Testing --id testing-1"]);
    sandbox.write(&format!("{FOLDER}/rounds/round-1/reviews/security-1.md"), "## Finding 1\n");
    sandbox.write("src/limit/bucket.rs", "1\n");
    history.run(&["item done security-1"]);
    history.at("2026-11-14T10:10:00Z");
    history.fails("advance --phase reviews");
    let state = format!("{FOLDER}/state.json");
    let mut fields: Value = serde_json::from_str(&sandbox.read(&state)).unwrap();
    change(&mut fields);
    history.at("2026-11-14T10:41:00Z");
    crate::ocr::write_at(sandbox, &state, &fields.to_string(), "2026-11-14T10:41:00Z");
    history.at("2026-11-14T11:00:00Z");
    history
}

#[track_caller]
fn tells(history: &History, facts: &[&str], never: &[&str]) {
    let sandbox = &history.sandbox;
    let brief = sandbox.run_as(READER, ["brief", "--format", "markdown"]).ok().stdout;
    for text in [brief, over_mcp(sandbox), after_compaction(sandbox)] {
        assert!(text.len() <= MOST_BYTES, "{} bytes\n{text}", text.len());
        for fact in facts {
            assert!(text.contains(fact), "{fact:?} is not in\n{text}");
        }
        for wrong in never {
            assert!(!text.contains(wrong), "{wrong:?} is in\n{text}");
        }
    }
}

#[test]
fn a_review_that_a_file_calls_closed_over_a_failed_gate_is_in_doubt() {
    let history = edited(|state| {
        state["status"] = json!("closed");
        state["current_phase"] = json!("complete");
        state["phase_number"] = json!(8);
    });
    tells(
        &history,
        &[
            "Phase 4 of 8, **Parallel Reviews**",
            "(a file says 8 complete, unverified). The session's files call it **finished**",
            "3 of 8 phases done, 5 only claimed",
            "phase 4 (reviews) is not done here. To continue it: `leftoff reopen 2026-11-14-feature-login`",
            "moved the session from reviews (4) to complete (8), 10:41 UTC; last verified phase: analysis (3).",
            "testing-1 Testing: ready",
            "src/limit/bucket.rs",
        ],
        &["**Finished**", "8 Complete (no gate)"],
    );
    let next = history.sandbox.run_as(READER, ["next", "--json"]).ok().json();
    assert_eq!(next["command"], Value::Null, "nobody is sent on: {next}");
}

#[test]
fn a_review_that_a_file_moves_back_keeps_what_was_proven_in_mind() {
    let history = edited(|state| {
        state["current_phase"] = json!("context");
        state["phase_number"] = json!(1);
    });
    let moved = "moved the session back from reviews (4) to context (1), 10:41 UTC; done before that, with proof: context (1), change-context (2), analysis (3).";
    tells(&history, &["Phase 1 of 8, **Context Discovery**", moved], &[]);
    let text = crate::unbroken(&history.sandbox.run_as(READER, ["brief"]).ok().stdout);
    assert!(text.contains("moved the session back from reviews (4) to context (1)"), "{text}");
    // The reviewers' work stays done, because the files never contained who had finished.
    tells(&history, &["- 4 Parallel Reviews: 1 of 2 done (security-1)"], &[]);
    // After a command has worked on the session, the edit is only in the history.
    history.run(&["advance --phase context"]);
    let brief = history.sandbox.run_as(READER, ["brief", "--format", "markdown"]).ok().stdout;
    assert!(!brief.contains("moved the session back"), "{brief}");
}

#[test]
fn a_round_that_a_file_leaves_behind_is_not_called_finished() {
    let history = edited(|state| {
        state["current_round"] = json!(2);
        state["current_phase"] = json!("synthesis");
        state["phase_number"] = json!(7);
    });
    std::fs::create_dir_all(history.sandbox.path(&format!("{FOLDER}/rounds/round-2/reviews"))).unwrap();
    tells(
        &history,
        &[
            "review round 1: not final; security-1 (1 finding); left open in Parallel Reviews (3 verified)",
            "moved the session from reviews (4) of run 1 to synthesis (7)",
        ],
        &["finished"],
    );
}
