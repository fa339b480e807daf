//! An essay whose outline was just revised. The last stage is interrupted, and argument maps are archived.
//! Later, several checks of the last stage's gate fail.

use super::{Answers, History, READER, check};

const FOLDER: &str = "essay-pipeline-20261114-100000";

/// A session in the last stage, with one approved paragraph. Its outline is revised after that.
fn revised() -> History {
    let history = History::begin("main");
    let sandbox = &history.sandbox;
    let file = |name: &str, text: &str| history.file(&format!("{FOLDER}/{name}"), text);
    sandbox.allow_anyone(&["approve"]);
    history.at("2026-11-14T10:00:00Z");
    history.run(&[
        "start --layout essay --title Night~trains --goal Convince~councils~to~subsidise~night~trains",
    ]);
    file("stage-1-thesis.md", "Night trains pay off.\n");
    history.run(&[
        "set claim_type=argument pushback_level=light",
        "approve thesis-approved",
        "advance --phase thesis_development --evidence specific=true --evidence defensible=true",
    ]);
    file("stage-2-outline.md", "## Section 1: Costs\n## Section 2: Time\n");
    history.run(&[
        "set audience=general target_word_count=1800 total_sections=2",
        "approve outline-approved",
        "advance --phase essay_structuring --evidence word_targets=[800,1000]",
    ]);
    for number in [1, 2] {
        file(&format!("stage-3-section-{number}-arguments.md"), "Map\n");
        history.run(&[&format!("item done section-{number}")]);
    }
    history.run(&[
        "approve birds-eye",
        "advance --phase argument_development",
        "item split draft-1 --into Opening Price~of~a~seat",
        "item split draft-2 --into Sleeping~saves~a~hotel",
        "item done draft-1.1",
    ]);
    file("stage-4-draft.md", "Draft\n");
    history.notes(&[
        ("decision", "Address councillors, not passengers: they pay"),
        ("tried", "Starting with a timetable: readers left"),
        ("assumption", "The reader has never taken one"),
        ("question", "Which subsidy figures are from 2025?"),
    ]);
    history.at("2026-11-15T09:00:00Z");
    history.run(&["revisit essay_structuring --impact moderate --reason section~2~must~cover~freight --yes"]);
    history
}

#[test]
fn an_essay_that_was_just_revised_answers_all_twelve() {
    let history = revised();
    history.at("2026-11-15T09:30:00Z");
    check(
        &history.sandbox,
        &Answers {
            goal: &[
                "# Where you left off: Night trains",
                "Goal: \"Convince councils to subsidise night trains\"",
            ],
            done_with_what_proof: &["1 Thesis Development (verified): …/stage-1-thesis.md, approved by"],
            where_exactly: &[
                "Phase 2 of 4, **Essay Structuring**",
                "The phase is being revised: \"section 2 must cover freight\".",
                "audience=general, claim_type=argument",
            ],
            why_paused: &["- 4 Paragraph Writing (interrupted): 1 of 5 done (draft-1.1)"],
            failed_last: &[],
            touched: &["## Touched\n…/stage-{1-thesis,2-outline}.md"],
            decided: &["\"Address councillors, not passengers: they pay\""],
            blocked_open_assumed: &[
                "\"Which subsidy figures are from 2025?\" (question 4",
                "\"The reader has never taken one\"",
                "- 3 Argument Development: 0 of 2 done",
            ],
            not_again: &["(draft-1.1)", "\"Starting with a timetable: readers left\""],
            next_command: &["`leftoff advance --phase essay_structuring --evidence 'word_targets=<list>'`"],
            who_else: &[],
            unverified: &[
                "## Waits for review\n- 3 Argument Development: essay_structuring was revisited (moderate impact, 15 Nov); archived: …/stage-3-section-{1,2}-arguments.v1.md",
            ],
        },
    );
}

#[test]
fn an_essay_with_a_failed_last_gate_after_a_revision_answers_all_twelve() {
    let history = revised();
    let file = |name: &str, text: &str| history.file(&format!("{FOLDER}/{name}"), text);
    history.at("2026-11-15T10:00:00Z");
    history.fails("advance --phase essay_structuring --evidence word_targets=[800,1000]");
    let next = history.sandbox.run_as(READER, ["next"]).ok().stdout;
    assert!(next.starts_with(&format!("Update {FOLDER}/stage-2-outline.md.")), "{next}");
    file("stage-2-outline.md", "## Section 1: Costs\n## Section 2: Time and freight\n");
    history.run(&[
        "approve outline-approved",
        "advance --phase essay_structuring --evidence word_targets=[800,1000]",
    ]);
    history.fails("advance --phase argument_development");
    for number in [1, 2] {
        file(&format!("stage-3-section-{number}-arguments.md"), "Map\n");
        history.run(&[&format!("item done section-{number}")]);
    }
    // The files exist now, and only the approval is missing.
    let next = history.sandbox.run_as(READER, ["next", "--json"]).ok().json();
    assert_eq!(next["command"], "leftoff approve birds-eye", "{next}");
    history.run(&["approve birds-eye", "advance --phase argument_development"]);
    history.at("2026-11-15T10:30:00Z");
    history.fails("advance --phase paragraph_writing --evidence fact_check_sweep=true");
    check(
        &history.sandbox,
        &Answers {
            goal: &["Goal: \"Convince councils to subsidise night trains\""],
            done_with_what_proof: &[
                "1 Thesis Development",
                "3 Argument Development (verified): …/stage-3-section-{1,2}-arguments.md",
            ],
            where_exactly: &["Phase 4 of 4, **Paragraph Writing** (Write the essay paragraph by paragraph"],
            why_paused: &[],
            failed_last: &[
                "## Failed: attempt 1 of Paragraph Writing, 10:30 UTC",
                "- draft: \"…/stage-4-draft.md is older than the phase\". Update …/stage-4-draft.md.",
                "- paragraphs-approved: ",
                "- voice: ",
            ],
            touched: &["## Touched\n…/stage-{"],
            decided: &["\"Address councillors, not passengers: they pay\""],
            blocked_open_assumed: &[
                "\"Which subsidy figures are from 2025?\" (question 4",
                "\"The reader has never taken one\"",
                "[ ] draft-1.2 Price of a seat: ready",
            ],
            not_again: &["Done: draft-1.1", "\"Starting with a timetable: readers left\""],
            next_command: &["\n`leftoff item claim draft-1.2`\n"],
            who_else: &[],
            unverified: &[
                "## Revised: what was decided before may no longer hold\n- essay_structuring (moderate impact",
            ],
        },
    );
    // The new outline gives the title of the section.
    let items = history.sandbox.run_as(READER, ["item", "list", "--json"]).ok().json().to_string();
    assert!(items.contains("Section 2: Time and freight") && !items.contains("Section 2: Time\""), "{items}");
}
