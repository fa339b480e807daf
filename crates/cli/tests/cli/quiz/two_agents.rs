//! Two agents in one session, a third one that is gone but still has a lease, and a compacted conversation.

use super::{Answers, History, check, other_agent};
use crate::agent::Agent;

#[test]
fn two_agents_and_a_compaction_answer_all_twelve() {
    let history = History::begin("feature/search");
    let sandbox = &history.sandbox;
    history.at("2026-11-14T09:00:00Z");
    history.run(&["start --id search --title Search --goal Find~an~order~by~any~of~its~fields"]);
    sandbox.write(".leftoff/sessions/search/PLAN.md", "The plan.\n");
    history.at("2026-11-14T09:20:00Z");
    history.run(&[
        "advance --phase plan",
        "item add Tokenizer --id task-1",
        "item add Index~writer --id task-2",
        "item add Query~page --id task-3",
        "item add Ranking --id task-4",
        "item done task-1",
        "item claim task-2",
    ]);
    history.notes(&[
        ("decision", "SQLite's own index: one file less to back up"),
        ("tried", "LIKE queries: 4 s on last year's orders"),
        ("assumption", "Orders are searched by German words"),
        ("question", "Who may see cancelled orders?"),
    ]);
    let mut gone = Agent::new(sandbox, "gone");
    gone.hook(sandbox, "cccc0000-3", "startup").ok();
    gone.run(sandbox, &["item", "claim", "task-4"]).ok();
    drop(gone);
    let mut other = other_agent(sandbox, "bbbb0000-2");
    other.run(sandbox, &["item", "claim", "task-3"]).ok();
    sandbox.write("src/index.rs", "1\n");
    sandbox.write("src/tokens.rs", "1\n");
    history.commit("Tokens");
    sandbox.write("src/index.rs", "2\n");
    history.at("2026-11-14T09:30:00Z");
    history.fails("advance --phase implement");
    history.run(&["pause --reason lunch --context the~index~of~dates"]);
    history.at("2026-11-14T09:40:00Z");
    history.run(&["resume", "item claim task-2"]);
    check(
        sandbox,
        &Answers {
            goal: &["Goal: \"Find an order by any of its fields\""],
            done_with_what_proof: &["1 Plan (", "verified): .leftoff/sessions/search/PLAN.md"],
            where_exactly: &["Phase 2 of 3, **Implement** (", "task-2 Index writer: yours until"],
            why_paused: &["\"lunch\", in the middle of \"the index of dates\""],
            failed_last: &["## Failed: attempt 1 of Implement, 09:30 UTC", "1 of 4 are done"],
            touched: &["src/tokens.rs", "Not committed: src/index.rs"],
            decided: &["\"SQLite's own index: one file less to back up\""],
            blocked_open_assumed: &[
                "\"Who may see cancelled orders?\" (question",
                "\"Orders are searched by German words\"",
            ],
            not_again: &["Done: task-1", "\"LIKE queries: 4 s on last year's orders\""],
            next_command: &["\n`leftoff item done task-2`\n"],
            who_else: &[
                "task-3 Query page: held by claude bbbb0000 until",
                "task-4 Ranking: held by claude cccc0000, inactive since 09:20 UTC (claim it)",
                "claude bbbb0000 on task-3",
            ],
            unverified: &["1 file uncommitted"],
        },
    );
    other.run(sandbox, &["item", "done", "task-3"]).ok();
    let taken = other.run(sandbox, &["item", "claim", "task-4"]).ok();
    assert!(taken.stdout.contains("task-4"), "what somebody gone held can be claimed: {}", taken.stdout);
}
