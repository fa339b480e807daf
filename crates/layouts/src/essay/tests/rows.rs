//! Tests of errors in each field of a state. An error is reported with the field's full name, in the words
//! that `set` uses. The rest of the session works, and no wrong value is overwritten.

use super::*;
use model::note::NoteKind;
use serde_json::{Value, json};

fn paused() -> Event {
    Event::SessionPaused { reason: "r".to_owned(), context: None, saved: Vec::new() }
}

/// Replaces one line of the late session, and expects one warning and a write that keeps the line.
#[track_caller]
fn check(old: &str, new: &str, expected: &str) -> Read {
    assert!(LATE.contains(old), "{old:?} is not in the text");
    let text = LATE.replacen(old, new, 1);
    let read = read(whole(&text));
    assert_eq!(read.warnings, [expected]);
    assert_eq!(read.written_after(Vec::new()), None, "{new}");
    let written = read.written_after(vec![paused()]).expect("a change");
    assert!(written.contains(new), "{new:?} is not in\n{written}");
    assert!(written.contains("status: paused"), "{written}");
    read
}

#[test]
fn every_field_that_is_declared_is_told_when_its_type_is_wrong() {
    for (old, new, expected) in [
        (
            "style_profile_path: \"/home/ada/voice/profile.md\"",
            "style_profile_path: 3",
            "style_profile_path is 3, not a string",
        ),
        (
            "samples_dir_path: \"/home/ada/voice/samples\"",
            "samples_dir_path: [a]",
            "samples_dir_path is [\"a\"], not a string",
        ),
        ("pushback_level: full", "pushback_level: 2", "pushback_level is 2, not a string"),
        (
            "claim_type: \"argument\"",
            "claim_type: [argument]",
            "stages.stage_1.claim_type is [\"argument\"], not a string",
        ),
        (
            "target_word_count: 2000",
            "target_word_count: many",
            "stages.stage_2.target_word_count is 'many', not a whole number",
        ),
        (
            "target_word_count: 2000",
            "target_word_count: \"2000\"",
            "stages.stage_2.target_word_count is '2000', not a whole number",
        ),
        (
            "target_word_count: 2000",
            "target_word_count: 2000.5",
            "stages.stage_2.target_word_count is 2000.5, not a whole number",
        ),
        ("audience: \"semi-technical\"", "audience: true", "stages.stage_2.audience is true, not a string"),
        (
            "birds_eye_approved: true",
            "birds_eye_approved: perhaps",
            "stages.stage_3.birds_eye_approved is 'perhaps', not true or false",
        ),
        (
            "first_assessment_user_rating: 4",
            "first_assessment_user_rating: good",
            "voice_calibration.first_assessment_user_rating is 'good', not a whole number",
        ),
        (
            "voice_reference_mode: \"hybrid\"",
            "voice_reference_mode: 1",
            "voice_calibration.voice_reference_mode is 1, not a string",
        ),
        (
            "sources_verified: null",
            "sources_verified: \"12 of 13\"",
            "output.sources_verified is '12 of 13', not a whole number",
        ),
        (
            "voice_consistency_score: null",
            "voice_consistency_score: high",
            "output.voice_consistency_score is 'high', not a number",
        ),
        (
            "total_word_count: null",
            "total_word_count: [1]",
            "output.total_word_count is [1], not a whole number",
        ),
        (
            "voice_check_score: 4.5",
            "voice_check_score: fine",
            "stages.stage_4.sections.1.voice_check_score is fine, not a number",
        ),
        (
            "downstream_archived: []",
            "downstream_archived: x.md",
            "revision_history.1.downstream_archived is x.md, not a list",
        ),
        (
            "downstream_archived: []",
            "downstream_archived: [1]",
            "revision_history.1.downstream_archived.1 is 1, not a string",
        ),
    ] {
        check(old, new, expected);
    }
    let notes = "  calibration_notes: >\n    Shorter sentences.\n    Fewer adverbs.\n";
    check(notes, "  calibration_notes: 3\n", "voice_calibration.calibration_notes is 3, not a string");
}

#[test]
fn every_field_with_words_of_its_own_is_told_when_it_has_another() {
    for (old, new, expected) in [
        (
            "pushback_level: full",
            "pushback_level: loud",
            "pushback_level is 'loud', but must be one of full, light, minimal",
        ),
        (
            "claim_type: \"argument\"",
            "claim_type: \"poem\"",
            "stages.stage_1.claim_type is 'poem', but must be one of argument, explainer, prediction, hybrid",
        ),
        (
            "audience: \"semi-technical\"",
            "audience: \"cats\"",
            "stages.stage_2.audience is 'cats', but must be one of general, semi-technical, expert",
        ),
        (
            "voice_reference_mode: \"hybrid\"",
            "voice_reference_mode: ear",
            "voice_calibration.voice_reference_mode is 'ear', but must be one of profile, sample, hybrid",
        ),
        (
            "first_assessment_user_rating: 4",
            "first_assessment_user_rating: 9",
            "voice_calibration.first_assessment_user_rating is 9, but must be one of 1, 2, 3, 4, 5",
        ),
    ] {
        check(old, new, expected);
    }
    let read = check(
        "pushback_level: full",
        "pushback_level: loud",
        "pushback_level is 'loud', but must be one of full, light, minimal",
    );
    assert_eq!(read.session.fields["pushback_level"], "loud", "it is taken as its author wrote it");
}

/// The pipeline reads these values by the rules of YAML 1.1, as numbers and booleans.
#[test]
fn numbers_and_flags_of_older_yaml_are_what_they_were_meant_as() {
    let text = LATE
        .replace("target_word_count: 2000", "target_word_count: 2_000")
        .replace("birds_eye_approved: true", "birds_eye_approved: yes");
    let read = read(whole(&text));
    assert_eq!(read.warnings, Vec::<String>::new());
    assert_eq!(read.session.fields["target_word_count"], json!(2000));
    assert_eq!(read.session.fields["birds_eye_approved"], json!(true));
    assert_eq!(read.written_after(Vec::new()), None);
    let written = read.written_after(vec![paused()]).expect("a change");
    assert!(written.contains("target_word_count: 2_000") && written.contains("birds_eye_approved: yes"));
}

#[test]
fn lists_and_mappings_of_a_wrong_type_are_told_with_their_names() {
    for (old, new, expected) in [
        (
            "voice_calibration:\n",
            "voice_calibration: 5\nother_voice:\n",
            "voice_calibration is 5, not a mapping",
        ),
        (
            "deferred_verifications:\n",
            "deferred_verifications: 5\nother:\n",
            "deferred_verifications is 5, not a list",
        ),
        ("user_overrides:\n", "user_overrides: x\nother:\n", "user_overrides is x, not a list"),
        ("output:\n", "output: 5\nother_output:\n", "output is 5, not a mapping"),
        (
            "    resolved: false",
            "    resolved: later",
            "deferred_verifications.1.resolved is later, not true or false",
        ),
        (
            "    added_at: \"2026-02-15T09:30:00Z\"",
            "    added_at: 5",
            "deferred_verifications.1.added_at is 5, not a string",
        ),
        ("session_dir: \"/tmp", "session_dir: 5 # \"/tmp", "session_dir is 5, not a string"),
        (
            "    impact: \"minor\"",
            "    impact: \"tiny\"",
            "revision_history.1.impact is 'tiny', but must be one of",
        ),
    ] {
        assert!(LATE.contains(old), "{old:?}");
        let read = read(whole(&LATE.replacen(old, new, 1)));
        assert!(
            read.warnings.iter().any(|told| told.starts_with(expected)),
            "{expected}: {:?}",
            read.warnings
        );
        assert_eq!(read.written_after(Vec::new()), None, "{new}");
    }
}

#[test]
fn a_file_of_nothing_but_braces_is_no_state_and_is_reconstructed_from_the_artifacts() {
    for empty in ["{}", "{}\n", "\u{feff}{}\r\n"] {
        assert!(!Essay.is_whole(STATE, empty.as_bytes()), "{empty:?} would become the backup");
        let read = read(whole(empty));
        assert_eq!(read.unreadable, [STATE]);
        assert_eq!(read.statuses()[0], "completed", "as the thesis shows");
    }
}

#[test]
fn a_note_of_ours_stands_beside_what_is_wrong() {
    let text = LATE.replace("target_word_count: 2000", "target_word_count: many");
    let read = read(whole(&text));
    let noted = Event::NoteAdded {
        id: 9,
        kind: NoteKind::Deferred,
        text: "New".to_owned(),
        fields: std::collections::BTreeMap::<String, Value>::new(),
        origin: None,
    };
    let written = read.written_after(vec![noted]).expect("a change");
    assert!(
        written.contains("claim_text: \"New\"") && written.contains("target_word_count: many"),
        "{written}"
    );
}
