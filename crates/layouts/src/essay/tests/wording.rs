//! Tests of the exact wording of the pipeline's messages.

use super::*;
use crate::layout::SessionToPublish;
use jiff::SignedDuration;

#[test]
fn pausing() {
    assert_eq!(
        read(whole(LATE)).says(Moment::Paused),
        "Session paused at [Stage 4, Section 2, Paragraph 3]. To resume, invoke essay-pipeline and select this session."
    );
    assert_eq!(
        read(whole(EARLY)).says(Moment::Paused),
        "Session paused at [Stage 1]. To resume, invoke essay-pipeline and select this session."
    );
}

#[test]
fn resuming() {
    assert_eq!(
        read(whole(LATE)).says(Moment::Resumed),
        "Resuming at [Stage 4]. Here's where you left off: Section 1: 3/3 paragraphs approved; Section 2: 2/4 paragraphs approved  <-- YOU ARE HERE"
    );
}

#[test]
fn the_list_of_sessions() {
    let (early, late) = (read(whole(EARLY)).says(Moment::Listed), read(whole(LATE)).says(Moment::Listed));
    assert_eq!(Essay.facts().list_heading, Some("Sessions found:"));
    assert_eq!(late, "essay-pipeline-20260214-143022 -- Stage 4, Section 2 -- Last active: 2 hours ago");
    assert_eq!(early, "essay-pipeline-20260214-143022 -- Stage 1 -- Last active: 1 day ago");
}

#[test]
fn show_full_state() {
    let text = read(whole(LATE)).says(Moment::Shown);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "[Stage 4/4 - Paragraph Writing - Section 2, Paragraph 3]");
    for line in [
        "Session folder: /tmp/essay-pipeline-20260214-143022",
        "Pushback level: full",
        "Stage 2: Essay Structuring (needs_review)",
        "  claim type: argument",
        "  3 sections, 2,000 words target",
        "  3 of 3 sections have approved argument maps",
        "  12 verified claims, 1 deferred, 1 user override",
        "  Section 1: 3/3 paragraphs approved",
        "  Section 2: 2/4 paragraphs approved  <-- YOU ARE HERE",
        "Voice checks: Section 1: 4.5/5",
        "Word count so far: 7 of ~2,000 target",
    ] {
        assert!(lines.contains(&line), "{line:?} is not in\n{text}");
    }
}

#[test]
fn e6_the_full_state_has_the_thesis_the_audience_and_what_was_not_started() {
    let mut files = whole(LATE);
    files.insert("stage-1-thesis.md", Entry::File(b"# Thesis\n\n**Cities need trees.**\nMore.\n".to_vec()));
    let text = read(files).says(Moment::Shown);
    let audience = "  audience: ";
    assert!(text.lines().any(|line| line == "  \"Cities need trees.\""), "{text}");
    assert!(text.lines().any(|line| line.starts_with(audience)), "{text}");
    let text = read(whole(EARLY)).says(Moment::Shown);
    assert_eq!(text.lines().filter(|line| *line == "  Not started").count(), 2, "{text}");
}

/// A section that nobody started has no count, as in the pipeline's own view.
#[test]
fn e6_a_section_that_nobody_began_is_not_started() {
    let none_yet = "total_paragraphs: null\n        completed_paragraphs: 0\n        status: \"not_started\"";
    let late = LATE.replacen(
        "    completed_at: null\n\nvoice_calibration",
        &format!("      - section_index: 3\n        {none_yet}\n    completed_at: null\n\nvoice_calibration"),
        1,
    );
    assert_ne!(late, LATE);
    let text = read(whole(&late)).says(Moment::Shown);
    assert!(text.lines().any(|line| line == "  Section 3: Not started"), "{text}");
    assert!(text.lines().any(|line| line.ends_with("<-- YOU ARE HERE")), "{text}");
}

#[test]
fn completion_lists_what_the_essay_came_to() {
    let mut done = read(whole(LATE));
    done.session.fields.insert("total_word_count".to_owned(), 1980.into());
    let text = done.says(Moment::Completed);
    assert_eq!(
        text,
        "Essay completed.\nWord count: 1,980\nSections: 3\nSources verified: 12\nVoice score: 4.5\nOverrides: 1\nDeferred claims resolved: 0 of 1\nTime spent: 20 h 59 min"
    );
}

#[test]
fn how_long_ago() {
    let early = read(whole(EARLY));
    let last = early.session.updated_at;
    for (seconds, words) in [
        (5, "just now"),
        (60, "1 minute ago"),
        (7_200, "2 hours ago"),
        (200_000, "2 days ago"),
        (-50, "just now"),
    ] {
        let spot = spot();
        let now = last.checked_add(SignedDuration::from_secs(seconds)).expect("a time");
        let folder = Folder {
            spot: &spot,
            id: &spot.id,
            worktree: "/w",
            tree: &early.tree,
            now,
            read_as: ReadAs::Found,
        };
        let publication = SessionToPublish::new(&early.session, &early.items, &[]);
        let line = Essay
            .say(&Saying::Session { moment: Moment::Listed, publication: &publication, folder: &folder })
            .expect("a line");
        assert!(line.ends_with(&format!("Last active: {words}")), "{line}");
    }
}
