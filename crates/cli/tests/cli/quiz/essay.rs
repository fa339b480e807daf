//! An essay in its last stage. Its outline was revised, so earlier approvals must be reviewed.

use super::{Answers, History, check};

const FOLDER: &str = "essay-pipeline-20261114-100000";

#[test]
fn an_essay_with_a_revision_answers_all_twelve() {
    let history = History::begin("main");
    let sandbox = &history.sandbox;
    let file = |name: &str, text: &str| sandbox.write(&format!("{FOLDER}/{name}"), text);
    sandbox.allow_anyone(&["approve"]);
    history.at("2026-11-14T10:00:00Z");
    history.run(&["start --layout essay --title Harbours --goal Show~that~harbours~made~the~towns"]);
    file("stage-1-thesis.md", "Harbours make towns.\n");
    history.run(&[
        "set claim_type=argument pushback_level=light",
        "approve thesis-approved",
        "advance --phase thesis_development --evidence specific=true --evidence defensible=true",
    ]);
    file("stage-2-outline.md", "## Rivers\n## Trade\n");
    history.run(&[
        "set audience=general target_word_count=2000 total_sections=2",
        "approve outline-approved",
        "advance --phase essay_structuring --evidence word_targets=[800,1200]",
    ]);
    for number in [1, 2] {
        file(&format!("stage-3-section-{number}-arguments.md"), "Map\n");
        history.run(&[&format!("item done section-{number}")]);
    }
    history.run(&["approve birds-eye", "advance --phase argument_development"]);
    history.notes(&[
        ("decision", "Start with Bruges: its harbour silted up and the town shrank"),
        ("tried", "Opening with a definition: the reader stopped"),
        ("assumption", "The reader has heard of the Hanse"),
        ("question", "Is Venice too well known?"),
    ]);
    history.at("2026-11-14T11:00:00Z");
    history.run(&["revisit essay_structuring --impact minor --reason Trade~comes~first --yes"]);
    history.run(&["pause --reason the~user~sleeps~on~it --context the~order~of~the~sections"]);
    history.at("2026-11-16T08:00:00Z");
    history.run(&["resume"]);
    history.fails("advance --phase essay_structuring --evidence word_targets=[800,700]");
    history.at("2026-11-16T08:30:00Z");
    check(
        sandbox,
        &Answers {
            goal: &["# Where you left off: Harbours", "Goal: \"Show that harbours made the towns\""],
            done_with_what_proof: &["1 Thesis Development (verified): ", "stage-1-thesis.md, approved by"],
            where_exactly: &[
                "Phase 2 of 4, **Essay Structuring** (Name the audience",
                "audience=general, claim_type=argument, pushback_level=light, target_word_count=2000, total_sections=2",
            ],
            why_paused: &["\"the user sleeps on it\", in the middle of \"the order of the sections\""],
            failed_last: &[
                "of Essay Structuring, 08:00 UTC",
                "the word targets add up to 1500, and target_word_count is 2000",
                "Make the word targets of the sections add up",
            ],
            touched: &["/stage-{1-thesis,2-outline"],
            decided: &["\"Start with Bruges: its harbour silted up and the town shrank\""],
            blocked_open_assumed: &["\"Is Venice too well known?\"", "\"The reader has heard of the Hanse\""],
            not_again: &["\"Opening with a definition: the reader stopped\"", "## Done (do not redo)"],
            next_command: &["`leftoff advance --phase essay_structuring --evidence 'word_targets=<list>'`"],
            who_else: &[],
            unverified: &[
                "## Waits for review\n- 3 Argument Development: essay_structuring was revisited (minor impact, 14 Nov): \"Trade comes first\"",
            ],
        },
    );
}
