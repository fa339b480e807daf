//! Tests of the three levels of recovery and their reports: from the backup, from the artifacts, and by a
//! person.

use super::*;
use crate::essay::recover::{sections_of_draft, sections_of_outline};
use crate::question::where_to_resume;

const BROKEN: &str = "status: \"in_progress\nstages: [\n";

fn at(read: &Read) -> (String, Vec<&'static str>) {
    (read.session.run().expect("a run").current().id().to_string(), read.statuses())
}

/// The engine restores the backup. The layout only reports that it was restored.
#[test]
fn level_1_the_backup() {
    assert_eq!(
        Essay.facts().recovered_note,
        Some("Session state recovered from backup. Last state update may be lost.")
    );
    for damaged in [
        BROKEN,
        "",
        "- a list\n",
        "a: 1\n",
        "status: x\n\tstages: 1\n",
        "status: in_progress\nstages: 7\n",
        "status: in_progress\nstages:\n",
        "status: in_progress\nstages: []\n",
        "status: in_progress\nstages: {stage_1: done}\n",
    ] {
        assert!(!Essay.is_whole(STATE, damaged.as_bytes()), "{damaged:?} would become the backup");
        assert_eq!(read(tree(&[(STATE, damaged)])).unreadable, [STATE]);
    }
    assert!(Essay.is_whole(STATE, LATE.as_bytes()) && Essay.is_whole(STATE, EARLY.as_bytes()));
}

/// Infers a session from these artifacts, and expects this stage and these statuses.
#[track_caller]
fn level_2(files: &[(&str, &str)], stage: &str, statuses: [&str; 4]) -> Read {
    let mut all = files.to_vec();
    all.push((STATE, BROKEN));
    let read = read(tree(&all));
    assert!(read.warnings.contains(&RECONSTRUCTED.to_owned()), "{:?}", read.warnings);
    assert_eq!(at(&read), (stage.to_owned(), statuses.to_vec()));
    read
}

#[test]
fn level_2_the_thesis_shows_stage_1() {
    assert_eq!(
        RECONSTRUCTED,
        "Session state reconstructed from artifact files. Some metadata may be approximate."
    );
    level_2(&ARTIFACTS[..1], "essay_structuring", ["completed", "in_progress", "not_started", "not_started"]);
}

/// The clock of the machine that wrote the files was ahead, but nothing can have been completed later than
/// now.
#[test]
fn level_2_no_stage_was_completed_in_the_future() {
    let mut tree = tree(&[(STATE, BROKEN), ARTIFACTS[0]]);
    tree.set_modified(ARTIFACTS[0].0, "2030-01-01T00:00:00Z".parse().expect("a time"));
    let read = read(tree);
    let done = read.session.run().expect("a run").phases[0].completed_at();
    assert_eq!(done, Some(now()));
}

#[test]
fn level_2_the_outline_shows_stage_2_and_how_many_sections_there_are() {
    let read = level_2(
        &ARTIFACTS[..2],
        "argument_development",
        ["completed", "completed", "in_progress", "not_started"],
    );
    assert_eq!(read.session.fields["total_sections"], 3);
    assert_eq!(read.items.iter().count(), 3);
    assert_eq!(read.item("section-1").status.name(), "active");
}

#[test]
fn level_2_argument_maps_show_sections_of_stage_3() {
    let files = [ARTIFACTS[0], ARTIFACTS[1], ARTIFACTS[2], ARTIFACTS[4]];
    let read =
        level_2(&files, "argument_development", ["completed", "completed", "in_progress", "not_started"]);
    let done: Vec<bool> = ["section-1", "section-2", "section-3"].map(|id| read.item(id).is_done()).to_vec();
    assert_eq!(done, [true, false, true]);
    assert_eq!(
        read.says(Moment::Listed),
        "essay-pipeline-20260214-143022 -- Stage 3, Section 2 -- Last active: 1 day ago"
    );
}

#[test]
fn level_2_the_draft_shows_stage_4_and_how_far_it_is() {
    let read =
        level_2(&ARTIFACTS, "paragraph_writing", ["completed", "completed", "completed", "in_progress"]);
    let done = read.items.iter().filter(|item| item.parent.is_some() && item.is_done()).count();
    assert_eq!((read.item("draft-1").parts, read.item("draft-2").parts, done), (3, 2, 5));
    assert!(read.item("draft-1").is_done() && !read.item("draft-2").is_done(), "more may be to come");
}

/// An archived version such as `FILE.v2.md` never proves that the current file exists.
#[test]
fn level_2_archived_versions_show_nothing() {
    let archived = [
        ("stage-2-outline.v1.md", "## Section 1\n"),
        ("stage-3-section-1-arguments.v2.md", "m"),
        ("stage-4-draft.v1.md", "d"),
        ("stage-3-section-01-arguments.md", "m"),
    ];
    let mut files = archived.to_vec();
    files.push(ARTIFACTS[0]);
    let read =
        level_2(&files, "essay_structuring", ["completed", "in_progress", "not_started", "not_started"]);
    assert_eq!(read.items.iter().count(), 0);
    let read = super::read(tree(&archived));
    assert!(read.warnings.iter().any(|warning| warning.starts_with(NOT_RECOVERED)), "{:?}", read.warnings);
}

#[test]
fn level_2_an_empty_file_shows_nothing_and_a_final_essay_all() {
    let mut files = ARTIFACTS.to_vec();
    files.push(("final-essay.md", "Words."));
    let read = level_2(&files, "paragraph_writing", ["completed"; 4]);
    assert_eq!(read.session.lifecycle.name(), "completed");
    level_2(
        &[ARTIFACTS[0], ("stage-2-outline.md", "")],
        "essay_structuring",
        ["completed", "in_progress", "not_started", "not_started"],
    );
}

/// A later file exists without an earlier one. The stage of the earlier file is then done according to the
/// file, but not proven.
#[test]
fn level_2_what_no_file_shows_is_claimed() {
    let read = level_2(
        &ARTIFACTS[1..2],
        "argument_development",
        ["completed", "completed", "in_progress", "not_started"],
    );
    let run = read.session.run().expect("a run");
    assert!(run.phases[0].claimed && !run.phases[1].claimed);
}

#[test]
fn level_3_asks_where_to_resume_and_lists_the_artifacts() {
    let read = read(tree(&[
        (STATE, BROKEN),
        ("fact-check-log.md", "x"),
        ("stage-1-thesis.v1.md", "x"),
        ("notes.txt", "x"),
    ]));
    let told = read.warnings.iter().find(|warning| warning.starts_with(NOT_RECOVERED)).expect("the report");
    assert_eq!(
        told,
        "Session state could not be automatically recovered. Available artifact files: fact-check-log.md, stage-1-thesis.v1.md. Choose where to resume: leftoff repair --session essay-pipeline-20260214-143022"
    );
    let report = told.split_once(" Choose where").expect("the report").0;
    assert_eq!(with_folder(&read.tree, |folder| where_to_resume(&Essay, folder)).as_deref(), Some(report));
    let known = whole(LATE);
    assert_eq!(with_folder(&known, |folder| where_to_resume(&Essay, folder)), None, "its state tells");
    let shown = tree(&[(STATE, BROKEN), ARTIFACTS[0]]);
    assert_eq!(with_folder(&shown, |folder| where_to_resume(&Essay, folder)), None, "its thesis tells");
    assert_eq!(at(&read).0, "thesis_development");
    assert_eq!(read.session.created_at.to_string(), "2026-02-14T14:30:22Z", "by its folder's name");
    let fresh = read.written_after(Vec::new()).expect("a fresh state");
    assert_eq!(super::read(tree(&[(STATE, &fresh)])).warnings, Vec::<String>::new());
    let empty = super::read(tree(&[]));
    assert!(empty.warnings.iter().any(|warning| warning.contains("There are no artifact files.")));
}

#[test]
fn outlines_and_drafts_of_many_forms_are_counted() {
    for (text, count) in [
        ("# T\n## Section 1: a\n### Points\n## Section 2\n## Notes\n", 2),
        ("# T\n## Opening\n## Middle\n## End\n", 3),
        ("### 1. a\n### 2) b\n", 2),
        ("1. a\n2. b\n   - c\n3. d\n", 3),
        ("```\n## Section 1\n```\n## Section 1\n", 1),
        ("# T\n### Opening\n#### Point\n### End\n", 2),
        ("# Opening\n# Middle\n# End\n", 3),
        ("## Section 1\n### 1. a point\n### 2. another\n## Section 2\n", 2),
        ("nothing", 0),
        ("", 0),
    ] {
        assert_eq!(sections_of_outline(text), count, "{text:?}");
    }
    for (text, counts) in [
        ("# T\n\nIntro.\n\n## A\n\none\nstill one\n\ntwo\n\n<!-- note -->\n\n---\n\n## B\n", &[2, 0][..]),
        ("one\n\ntwo\n", &[2]),
        ("# T\n\n### A\n\none\n\n#### Inner\n\ntwo\n\n### B\n\nthree\n", &[2, 1]),
        ("# A\n\none\n\n# B\n\ntwo\n\nthree\n", &[1, 2]),
        ("# Only a title\n", &[0]),
        ("## A\n### Inner\none\n\n```\nx\n```\n", &[1]),
    ] {
        let found: Vec<u32> = sections_of_draft(text).iter().map(|section| section.approved).collect();
        assert_eq!(found, counts, "{text:?}");
    }
}
