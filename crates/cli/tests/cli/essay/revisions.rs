//! Tests of minor, moderate and major revisions. The file must follow the pipeline's own rules.

use super::*;
use crate::statuses;

#[track_caller]
fn nothing_is_wrong(sandbox: &Sandbox) {
    assert_eq!(run(sandbox, "doctor --json").json()["findings"], serde_json::json!([]));
}

fn items_done(sandbox: &Sandbox) -> Vec<String> {
    let list = run(sandbox, "item list --all --json").json();
    let done = list["items"].as_array().unwrap().iter().filter(|item| item["status"] == "completed");
    done.map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

fn map(sandbox: &Sandbox, number: u32) -> String {
    sandbox.path(&file(&format!("stage-3-section-{number}-arguments.md"))).display().to_string()
}

/// After a minor change, later stages need review, and nothing is removed.
#[test]
fn minor_flags_later_stages_for_review_and_takes_nothing_away() {
    let sandbox = in_stage_4();
    let done = items_done(&sandbox);
    let told = run(&sandbox, "revisit essay_structuring --impact minor --reason clearer --yes").stderr;
    assert!(told.contains("To continue: paragraph_writing"), "{told}");
    says(
        &sandbox,
        &[
            "current_stage: 2",
            "  stage_2:\n    status: \"in_progress\"",
            "  stage_3:\n    status: \"needs_review\"",
            "birds_eye_approved: false",
            // The last stage was in progress, so there is a draft to review.
            "  stage_4:\n    status: \"needs_review\"\n    current_section: 2\n    current_paragraph: 2",
            &format!("status: \"completed\"\n        argument_map_file: \"{}\"", map(&sandbox, 1)),
            "completed_paragraphs: 2\n        status: \"completed\"\n        voice_check_score: 4.5",
            "stage_revisited: 2\n    impact: \"minor\"\n    reason: \"clearer\"\n    downstream_archived: []",
        ],
    );
    assert_eq!(items_done(&sandbox), done);
    nothing_is_wrong(&sandbox);
    let shown = run(&sandbox, "show").stdout;
    assert!(shown.contains("Stage 4: Paragraph Writing (needs_review)"), "{shown}");
    // The user reviews each stage again. Writing continues at the same paragraph as before.
    run(&sandbox, "approve outline-approved");
    run(&sandbox, "advance --phase essay_structuring --evidence word_targets=[800,1200]");
    let held = sandbox.run(["advance", "--phase", "argument_development"]).code(5).stderr;
    assert!(held.contains("birds-eye"), "what was approved of the whole is asked again: {held}");
    run(&sandbox, "approve birds-eye");
    says(&sandbox, &["birds_eye_approved: true"]);
    run(&sandbox, "advance --phase argument_development");
    says(
        &sandbox,
        &["  stage_4:\n    status: \"in_progress\"\n    current_section: 2\n    current_paragraph: 2"],
    );
    nothing_is_wrong(&sandbox);
}

/// A moderate change archives the affected files. A section whose argument map was archived does not stay
/// completed.
#[test]
fn moderate_archives_and_asks_for_a_review_of_every_section_whose_map_it_took() {
    let sandbox = in_stage_4();
    let told = run(&sandbox, "revisit essay_structuring --impact moderate --reason moved --yes").stderr;
    assert!(told.contains("To reopen: 2 items that were done"), "{told}");
    says(
        &sandbox,
        &[
            "  stage_3:\n    status: \"needs_review\"",
            "- section_index: 1\n        status: \"needs_review\"\n        argument_map_file: null\n        verified_claims: 3",
            "- section_index: 2\n        status: \"needs_review\"\n        argument_map_file: null",
            "birds_eye_approved: false",
            "  stage_4:\n    status: \"needs_review\"",
            "downstream_archived: [\"stage-3-section-1-arguments.v1.md\", \"stage-3-section-2-arguments.v1.md\"]",
        ],
    );
    assert!(!items_done(&sandbox).iter().any(|id| id.starts_with("section")));
    nothing_is_wrong(&sandbox);
}

/// A draft in progress is archived if its stage is affected.
#[test]
fn moderate_archives_the_draft_too_where_its_stage_is_affected() {
    let sandbox = in_stage_4();
    run(
        &sandbox,
        "revisit essay_structuring --impact moderate --reason moved --affects argument_development paragraph_writing --yes",
    );
    says(
        &sandbox,
        &[
            "  stage_3:\n    status: \"needs_review\"",
            "  stage_4:\n    status: \"needs_review\"",
            "- section_index: 1\n        total_paragraphs: 2\n        completed_paragraphs: 0\n        status: \"needs_review\"\n        voice_check_score: null",
            "\"stage-4-draft.v1.md\"",
        ],
    );
    assert!(!sandbox.path(&file("stage-4-draft.md")).exists());
    let none: Vec<String> = Vec::new();
    assert_eq!(items_done(&sandbox), none);
    nothing_is_wrong(&sandbox);
}

/// Before anything changes, the impact is shown and must be confirmed.
#[test]
fn the_impact_is_presented_and_confirmed_before_anything_happens() {
    let sandbox = in_stage_4();
    let before = state(&sandbox);
    let asked = sandbox.run(["revisit", "1", "--impact", "major", "--reason", "anew"]).code(6).stderr;
    assert!(asked.contains("major impact: 3 later phases restart, and 4 files are archived"), "{asked}");
    let seen = run(&sandbox, "revisit 1 --impact major --reason anew --dry-run --json").json();
    assert_eq!((&seen["impact"], &seen["reopened"]), (&"major".into(), &6.into()));
    assert_eq!(state(&sandbox), before);
}

/// A major change restarts everything after it: no later stage, section or paragraph is started, and no key
/// names an archived file.
#[test]
fn major_leaves_no_later_stage_section_or_paragraph_completed_and_names_no_archived_file() {
    let sandbox = in_stage_4();
    run(&sandbox, "set --phase paragraph_writing draft_file=stage-4-draft.md");
    sandbox.write(&file("final-essay.md"), "# Harbours\n");
    run(&sandbox, "set final_essay_file=final-essay.md");
    run(&sandbox, "checkpoint -m before");
    let done = items_done(&sandbox);
    let told = run(&sandbox, "revisit thesis_development --impact major --reason anew --yes").stderr;
    assert!(told.contains("To reopen: 6 items that were done"), "{told}");
    says(
        &sandbox,
        &[
            "  stage_1:\n    status: \"in_progress\"",
            "  stage_2:\n    status: \"not_started\"\n    outline_file: null",
            "  stage_3:\n    status: \"not_started\"\n    total_sections: 2\n    current_section: null",
            "- section_index: 1\n        status: \"not_started\"\n        argument_map_file: null\n        verified_claims: 0\n        deferred_claims: 0\n        completed_at: null",
            "birds_eye_approved: false\n    completed_at: null",
            "  stage_4:\n    status: \"not_started\"\n    current_section: null\n    current_paragraph: null\n    draft_file: null\n    paragraph_log: null",
            "total_paragraphs: 2\n        completed_paragraphs: 0\n        status: \"not_started\"\n        voice_check_score: null",
            "final_essay_file: null",
        ],
    );
    assert!(!state(&sandbox).contains("voice_check_score: 4.5"));
    let empty: Vec<String> = Vec::new();
    assert_eq!(items_done(&sandbox), empty);
    for name in ["stage-2-outline.v1.md", "stage-3-section-2-arguments.v1.md", "stage-4-draft.v1.md"] {
        assert!(sandbox.path(&file(name)).exists(), "{name}: nothing is deleted");
    }
    nothing_is_wrong(&sandbox);
    // After the undo, every section and paragraph is restored.
    run(&sandbox, "undo --to before");
    assert_eq!(items_done(&sandbox), done);
}

/// Two revisions follow each other. The second is major, and restarts the stage that the first one
/// interrupted, too.
#[test]
fn e4_a_major_change_after_a_moderate_one_leaves_no_later_stage_in_review() {
    let sandbox = in_stage_4();
    run(&sandbox, "revisit 2 --affects section-2 --reason x --yes");
    says(&sandbox, &["  stage_4:\n    status: \"needs_review\""]);
    let told = run(&sandbox, "revisit 1 --impact major --reason y --yes").stderr;
    assert!(told.contains("essay_structuring, argument_development, paragraph_writing"), "{told}");
    says(
        &sandbox,
        &[
            "  stage_2:\n    status: \"not_started\"",
            "  stage_3:\n    status: \"not_started\"",
            "  stage_4:\n    status: \"not_started\"\n    current_section: null\n    current_paragraph: null",
            "total_paragraphs: 2\n        completed_paragraphs: 0\n        status: \"not_started\"\n        voice_check_score: null",
        ],
    );
    assert!(!sandbox.path(&file("stage-4-draft.md")).exists());
    let none: Vec<String> = Vec::new();
    assert_eq!(items_done(&sandbox), none);
    nothing_is_wrong(&sandbox);
}

/// After an argument map was archived and written again, the file names it again.
#[test]
fn after_a_major_change_the_work_is_done_again_and_its_files_are_named_again() {
    let sandbox = in_stage_4();
    run(&sandbox, "revisit essay_structuring --impact major --reason anew --yes");
    sandbox.write(&file("stage-2-outline.md"), "# Other\n## Section 1\n## Section 2\n");
    run(&sandbox, "approve outline-approved");
    run(&sandbox, "advance --phase essay_structuring --evidence word_targets=[800,1200]");
    says(
        &sandbox,
        &["  stage_3:\n    status: \"in_progress\"\n    total_sections: 2\n    current_section: 1"],
    );
    for number in [1, 2] {
        sandbox.write(&file(&format!("stage-3-section-{number}-arguments.md")), "# Another map\n");
        run(&sandbox, &format!("item done section-{number}"));
    }
    run(&sandbox, "approve birds-eye");
    run(&sandbox, "advance --phase argument_development");
    sandbox.write(&file("stage-4-draft.md"), "## One\n\nanew\n");
    run(&sandbox, "set --phase paragraph_writing draft_file=stage-4-draft.md");
    run(&sandbox, "item done draft-1.1");
    run(&sandbox, "item set section-1 --count verified_claims=1");
    let one = map(&sandbox, 1);
    says(
        &sandbox,
        &[
            &format!(
                "status: \"completed\"\n        argument_map_file: \"{one}\"\n        verified_claims: 1"
            ),
            &format!("argument_map_file: \"{}\"", map(&sandbox, 2)),
            "birds_eye_approved: true",
            "draft_file: \"stage-4-draft.md\"",
            "completed_paragraphs: 1\n        status: \"in_progress\"",
        ],
    );
    // In the third round, archived versions get new numbers.
    run(&sandbox, "revisit essay_structuring --impact major --reason again --yes");
    assert!(sandbox.path(&file("stage-3-section-1-arguments.v2.md")).exists());
    says(&sandbox, &["\"stage-3-section-1-arguments.v2.md\"", "draft_file: null"]);
    assert_eq!(state(&sandbox).matches("argument_map_file: null").count(), 2);
    nothing_is_wrong(&sandbox);
}

/// Two revisions with the same reason have two entries, each with its own archived files.
#[test]
fn a_second_revision_in_the_same_words_has_an_entry_of_its_own() {
    let sandbox = in_stage_4();
    let again = "revisit essay_structuring --impact moderate --reason moved --yes";
    run(&sandbox, again);
    sandbox.at("2026-11-14T11:00:00Z");
    run(&sandbox, "approve outline-approved");
    run(&sandbox, "advance --phase essay_structuring --evidence word_targets=[800,1200]");
    run(&sandbox, again);
    let text = state(&sandbox);
    let history = text.split("revision_history:").nth(1).unwrap();
    assert_eq!(history.matches("stage_revisited: 2").count(), 2, "{history}");
    let files =
        "downstream_archived: [\"stage-3-section-1-arguments.v1.md\", \"stage-3-section-2-arguments.v1.md\"]";
    assert_eq!(history.matches(files).count(), 1, "{history}");
    // The argument maps were archived before the second revision.
    let second = "downstream_archived: []\n    timestamp: \"2026-11-14T11:00:00Z\"";
    assert_eq!(history.matches(second).count(), 1, "{history}");
    nothing_is_wrong(&sandbox);
}

fn finished(sandbox: &Sandbox) {
    for line in ["item done draft-2.2", "item set draft-2 voice_check_score=4", "note resolve 1"] {
        run(sandbox, line);
    }
    sandbox.write(&file("final-essay.md"), "# Harbours\n\none two three four five\n");
    run(sandbox, "advance --phase paragraph_writing --evidence fact_check_sweep=true");
    says(sandbox, &["sources_verified: 6\n  voice_consistency_score: 4.25\n  total_word_count: 5"]);
}

/// If an essay is finished twice, the results of the second time are used.
#[test]
fn an_essay_that_is_finished_once_more_is_reported_anew() {
    let sandbox = in_stage_4();
    finished(&sandbox);
    sandbox.at("2026-11-14T13:00:00Z");
    run(&sandbox, "reopen");
    run(&sandbox, "revisit argument_development --impact minor --reason words --yes");
    run(&sandbox, "item set section-1 --count verified_claims=+4");
    run(&sandbox, "item set draft-2 voice_check_score=5");
    run(&sandbox, "set total_word_count=99");
    sandbox.write(&file("final-essay.md"), "# Harbours\n\none two\n");
    run(&sandbox, "approve birds-eye");
    run(&sandbox, "advance --phase argument_development");
    run(&sandbox, "advance --phase paragraph_writing --evidence fact_check_sweep=true");
    says(
        &sandbox,
        &[
            "sources_verified: 10\n  voice_consistency_score: 4.75\n  total_word_count: 99\n  completed_at: \"2026-11-14T13:00:00Z\"",
        ],
    );
    nothing_is_wrong(&sandbox);
}

#[test]
fn a_finished_essay_that_is_put_away_is_not_named_any_more() {
    let sandbox = in_stage_4();
    finished(&sandbox);
    run(&sandbox, "reopen");
    run(&sandbox, "revisit argument_development --impact moderate --reason other --yes");
    assert!(!sandbox.path(&file("final-essay.md")).exists());
    says(&sandbox, &["final_essay_file: null"]);
    nothing_is_wrong(&sandbox);
}

/// A file that somebody wrote by hand keeps its form. No key is added to it.
#[test]
fn a_file_by_hand_gets_no_key_that_it_never_had() {
    let sandbox = by_hand();
    run(&sandbox, "revisit thesis_development --impact major --reason anew --yes");
    let text = state(&sandbox);
    for key in ["draft_file", "paragraph_log", "development_log", "voice_check_score", "current_paragraph"] {
        assert!(!text.contains(key), "{key} in\n{text}");
    }
    says(
        &sandbox,
        &[
            "mood: 'good'   # nobody knows this key",
            "stage_1: {status: in_progress, thesis_file: stage-1-thesis.md",
            "    status: not_started   # approved\n    outline_file: null",
            "      # the first is done\n      - section_index: 1\n        status: not_started\n        argument_map_file: null\n        verified_claims: 0",
            "current_section: null",
        ],
    );
    let view = run(&sandbox, "status --json").json();
    assert_eq!(statuses(&view), ["in_progress", "not_started", "not_started", "not_started"]);
    nothing_is_wrong(&sandbox);
}

/// The file has only one list of sections. The next run does not contain the sections of the previous one.
#[test]
fn a_second_run_begins_with_no_section_of_the_first_and_can_be_finished() {
    let sandbox = in_stage_4();
    finished(&sandbox);
    sandbox.at("2026-11-14T14:00:00Z");
    run(&sandbox, "run start");
    says(
        &sandbox,
        &[
            "status: \"in_progress\"",
            "birds_eye_approved: false",
            "current_section: null\n    current_paragraph: null",
        ],
    );
    assert!(!state(&sandbox).contains("section_index"), "{}", state(&sandbox));
    assert_eq!(run(&sandbox, "item list --all --json").json()["items"], serde_json::json!([]));
    structured(&sandbox);
    argued(&sandbox);
    sandbox.write(&file("stage-4-draft.md"), "## One\n\nnew words\n");
    for line in [
        "item split draft-1 --into a",
        "item split draft-2 --into a",
        "item done draft-1.1",
        "item done draft-2.1",
        "item set draft-1 voice_check_score=3",
        "item set draft-2 voice_check_score=3",
        "advance --phase paragraph_writing --evidence fact_check_sweep=true",
    ] {
        run(&sandbox, line);
    }
    says(&sandbox, &["status: \"completed\"", "voice_consistency_score: 3.0\n", "total_paragraphs: 1\n"]);
    nothing_is_wrong(&sandbox);
}
