//! Tests of the checks made when a state is loaded, one test per check, and of odd values in the file.

use super::*;

/// Replaces this string in the late session, and expects this report.
#[track_caller]
fn check(old: &str, new: &str, expected: &str) {
    assert!(LATE.contains(old), "{old:?} is not in the text");
    let read = read(whole(&LATE.replacen(old, new, 1)));
    assert!(
        read.warnings.iter().any(|warning| warning.contains(expected)),
        "{expected:?} in {:?}",
        read.warnings
    );
}

fn without(path: &str) -> Read {
    let files: Vec<(&str, &str)> =
        ARTIFACTS.into_iter().filter(|(name, _)| *name != path).chain([(STATE, LATE)]).collect();
    read(tree(&files))
}

#[test]
fn row_stage_completed_its_artifact_exists() {
    let read = without("stage-1-thesis.md");
    assert!(
        read.warnings.iter().any(|warning| warning.contains("thesis_file") && warning.contains("missing"))
    );
    assert!(read.session.run().expect("a run").phases[0].claimed, "claimed, and nothing shows it");
    check(
        "/stage-1-thesis.md\"",
        "/other.md\"",
        "thesis_file is '/tmp/essay-pipeline-20260214-143022/other.md', which is missing",
    );
    let text = LATE.replace(
        "thesis_file: \"/tmp/essay-pipeline-20260214-143022/stage-1-thesis.md\"",
        "thesis_file: null",
    );
    let read = super::read(tree(&[(STATE, &text)]));
    assert!(
        read.warnings.iter().any(
            |warning| warning == "stages.stage_1 is completed, but stage-1-thesis.md is missing or empty"
        )
    );
}

#[test]
fn row_section_completed_its_argument_map_exists() {
    let read = without("stage-3-section-2-arguments.md");
    assert_eq!(
        read.warnings,
        [
            "stages.stage_3.sections: section 2 is completed, but stage-3-section-2-arguments.md is missing or empty"
        ]
    );
    assert!(read.session.run().expect("a run").phases[2].claimed);
}

#[test]
fn row_current_section_is_within_range() {
    check(
        "    current_section: 3",
        "    current_section: 9",
        "stages.stage_3.current_section is 9, but the sections are 1 to 3",
    );
    check(
        "    current_section: 2",
        "    current_section: 0",
        "stages.stage_4.current_section is 0, but the sections are 1 to 3",
    );
    check(
        "    current_section: 2",
        "    current_section: -1",
        "stages.stage_4.current_section is -1, but the sections are 1 to 3",
    );
}

#[test]
fn row_current_paragraph_is_within_a_reasonable_range() {
    check(
        "current_paragraph: 3",
        "current_paragraph: 5",
        "current_paragraph is 5, but the paragraphs are 1 to 4",
    );
    check("current_paragraph: 3", "current_paragraph: 0", "current_paragraph is 0");
    check("current_paragraph: 3", "current_paragraph: -2", "current_paragraph is -2");
    let text = LATE
        .replace("total_paragraphs: 4", "total_paragraphs: null")
        .replace("completed_paragraphs: 2", "completed_paragraphs: 0")
        .replace("current_paragraph: 3", "current_paragraph: 5000");
    assert!(read(whole(&text)).warnings.iter().any(|warning| warning.contains("1 to 200")));
}

#[test]
fn row_all_referenced_files_exist() {
    let read = without("stage-4-draft.md");
    assert!(
        read.warnings.iter().any(|warning| warning.contains("stages.stage_4.draft_file is '")),
        "{:?}",
        read.warnings
    );
    check(
        "final_essay_file: null",
        "final_essay_file: \"final-essay.md\"",
        "output.final_essay_file is 'final-essay.md', which is missing",
    );
    check("argument_map_file: null", "argument_map_file: \"maps/two.md\"", "argument_map_file of section 2");
    check("argument_map_file: null", "argument_map_file: \"/etc/passwd\"", "outside the session's folder");
    check("argument_map_file: null", "argument_map_file: \"../x.md\"", "outside the session's folder");
    check("argument_map_file: null", "argument_map_file: 3", "not a path");
}

#[test]
fn row_no_stage_is_completed_before_its_prerequisite_was_started() {
    check(
        "    status: \"needs_review\" ",
        "    status: \"not_started\" ",
        "stages.stage_3 is completed, but stage_2 before it is not_started",
    );
}

#[test]
fn what_has_the_wrong_type_or_word_is_told_with_its_key_and_left_aside() {
    check("current_stage: 4", "current_stage: 7", "current_stage is 7, but the stages are 1 to 4");
    check("current_stage: 4", "current_stage: 2", "the name is used");
    check(
        "voice_check_score: 4.5",
        "voice_check_score: good",
        "stages.stage_4.sections.1.voice_check_score is good, not a number",
    );
    check(
        "name: paragraph_writing",
        "name: polishing",
        "current_stage_name is 'polishing', which is not a stage",
    );
    check(
        "status: in_progress\n",
        "status: running\n",
        "status is 'running', but must be one of in_progress",
    );
    check(
        "    status: \"in_progress\"\n    current",
        "    status: 5\n    current",
        "stages.stage_4.status is 5, not a string",
    );
    check(
        "started_at: 2026-02-14T14:30:22Z",
        "started_at: \"yesterday\"",
        "started_at is 'yesterday', which is not a time",
    );
    check("'2026-02-16T10:00:00Z'", "'2036-02-16T10:00:00Z'", "last_activity is in the future");
    check(
        "total_paragraphs: 4\n",
        "total_paragraphs: 4000000\n",
        "total_paragraphs is 4000000, but the maximum is 200",
    );
    check("section_index: 3\n", "section_index: 1\n", "section_index 1 more than once");
    check("section_index: 3\n", "section_index: 90000\n", "section_index is 90000");
    check("completed_paragraphs: 2\n", "completed_paragraphs: 6\n", "completed_paragraphs is 6, of 4");
    check("stage_revisited: 1", "stage_revisited: 0", "revision_history.1.stage_revisited is 0");
    check(
        "  - claim_text: \"Half of all harbours silt up\"\n",
        "  - claim: \"x\"\n",
        "deferred_verifications.1.claim_text is missing",
    );
    check("revision_history:\n", "revision_history: 5\nother:\n", "revision_history is 5, not a list");
    check(
        "    total_sections: 3\n    current",
        "    total_sections: 4\n    current",
        "total_sections is 4, but 3 in an earlier stage",
    );
}

/// `done` is not a word of the format, and does not restart a stage.
#[test]
fn a_status_that_nobody_knows_does_not_open_what_was_completed() {
    let text = LATE
        .replacen("    status: \"completed\"\n    thesis_file", "    status: \"done\"\n    thesis_file", 1)
        .replacen(
            "        status: \"completed\"\n        argument_map_file: null",
            "        status: 1\n        argument_map_file: null",
            1,
        );
    let read = read(whole(&text));
    assert_eq!(read.statuses(), ["completed", "needs_review", "completed", "in_progress"]);
    assert!(read.item("section-2").is_done());
    for told in [
        "stages.stage_1.status is 'done', but must be one of",
        "stages.stage_3.sections.2.status is 1, not a string",
    ] {
        assert!(read.warnings.iter().any(|warning| warning.contains(told)), "{told} in {:?}", read.warnings);
    }
    assert_eq!(read.written_after(Vec::new()), None, "and it stays as it was written");
    check(
        "    status: \"in_progress\"\n    current",
        "    status: \"writing\"\n    current",
        "stages.stage_4.status is 'writing'",
    );
}

#[test]
fn what_yaml_readers_see_differently_is_told_with_line_and_key() {
    check(
        "pushback_level: full",
        "pushback_level: full\npushback_level: light",
        "'pushback_level' is set more than once",
    );
    check(
        "audience: \"semi-technical\"",
        "audience: !word \"semi-technical\"",
        "'stages.stage_2.audience' has the tag",
    );
    check("editor: \"Ada\"", "editor: &who \"Ada\"\nother: *who", "'other' is an alias");
}

#[test]
fn a_time_without_an_offset_counts_as_utc() {
    let text = LATE.replace("2026-02-14T14:30:22Z", "2026-02-14T14:30:22");
    let read = read(whole(&text));
    assert_eq!(read.session.created_at.to_string(), "2026-02-14T14:30:22Z");
    assert_eq!(read.written_after(Vec::new()), None, "and is left as it is written");
}
