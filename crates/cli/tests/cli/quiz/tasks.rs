//! A session of Claude-Code-Workflow with four tasks: one is done, one in progress, one waiting, and one
//! blocked.

use super::{Answers, History, check};

#[test]
fn tasks_of_claude_code_workflow_answer_all_twelve() {
    let history = History::begin("feature/export");
    let sandbox = &history.sandbox;
    history.at("2026-11-13T09:00:00Z");
    history.run(&["start --layout ccw --type medium --goal Export~invoices~as~CSV --target src/export"]);
    let folder = ".workflow/WFS-export-invoices-as-csv";
    sandbox.write(&format!("{folder}/IMPL_PLAN.md"), "# Plan\nStream rows.\n");
    history.at("2026-11-13T09:30:00Z");
    history.run(&[
        "advance --phase plan",
        "item add Row~writer --id impl-1",
        "item add Monthly~split --id impl-2",
        "item add Download~page --id impl-3 --needs impl-2",
        "item add Locale~of~dates --id impl-4",
        "item start impl-1",
        "item done impl-1",
        "item block impl-4 --reason no~answer~from~accounting",
        "item start impl-2",
    ]);
    sandbox.write("src/export/rows.rs", "1\n");
    sandbox.write("src/export/split.rs", "1\n");
    history.commit("Row writer");
    sandbox.write("src/export/split.rs", "2\n");
    history.notes(&[
        ("decision", "Semicolons, because Excel in Germany opens them"),
        ("tried", "One big file: browsers cut the download at 2 GB"),
        ("assumption", "Invoices never change after they are sent"),
        ("question", "Do credit notes belong in the export?"),
    ]);
    history.at("2026-11-13T10:30:00Z");
    history.fails("advance --phase implement");
    history.run(&["pause --reason end~of~the~day --context the~split~at~midnight"]);
    history.at("2026-11-15T08:00:00Z");
    history.run(&["resume", "item claim impl-2"]);
    history.at("2026-11-15T08:10:00Z");
    check(
        sandbox,
        &Answers {
            goal: &["Goal: \"Export invoices as CSV\"", "Target: \"src/export\""],
            done_with_what_proof: &["1 Plan (", "verified): …/IMPL_PLAN.md"],
            where_exactly: &[
                "Phase 2 of 3, **Implement** (Carry out the tasks that IMPL_PLAN.md planned",
                "impl-2 Monthly split: yours until 08:30 UTC",
            ],
            why_paused: &[
                "## Paused 13 Nov",
                "\"end of the day\", in the middle of \"the split at midnight\"",
            ],
            failed_last: &["## Failed: attempt 1 of Implement, 13 Nov 10:30 UTC\n- tasks: \"1 of 4 are done"],
            touched: &["src/export/rows.rs", "Not committed: src/export/split.rs"],
            decided: &["\"Semicolons, because Excel in Germany opens them\" (13 Nov"],
            blocked_open_assumed: &[
                "\"Do credit notes belong in the export?\" (question",
                "[!] impl-4 Locale of dates: blocked: \"no answer from accounting\"",
                "[!] impl-3 Download page: waits for impl-2",
                "\"Invoices never change after they are sent\"",
            ],
            not_again: &["Done: impl-1", "\"One big file: browsers cut the download at 2 GB\""],
            next_command: &["\n`leftoff item done impl-2`\n"],
            who_else: &[],
            unverified: &["1 commit since the start", "1 file uncommitted"],
        },
    );
}
