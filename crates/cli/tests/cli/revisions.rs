//! Tests of revising an earlier phase.

use crate::{essay_in_its_draft, statuses, workspace};
use testkit::{Ran, Sandbox};

/// The names and contents of files in the workspace, including journals and staged files.
fn files(sandbox: &Sandbox) -> Vec<String> {
    let folder = sandbox.path(".leftoff/sessions/s");
    let mut found: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let words = std::fs::read_to_string(entry.path()).unwrap();
            format!(
                "{}: {}",
                entry.file_name().into_string().unwrap(),
                words.lines().last().unwrap_or_default()
            )
        })
        .collect();
    found.sort();
    found
}

fn journals(sandbox: &Sandbox) -> usize {
    std::fs::read_dir(sandbox.path(".leftoff/sessions/.journal")).map_or(0, Iterator::count)
}

fn show(sandbox: &Sandbox) -> serde_json::Value {
    sandbox.run(["show", "--json"]).ok().json()
}

fn revisit(sandbox: &Sandbox, more: &[&str]) -> Ran {
    let arguments = [&["revisit", "thesis", "--reason", "the claim moved", "--json"], more].concat();
    sandbox.run(arguments)
}

#[test]
fn without_a_person_and_without_yes_nothing_is_changed() {
    let sandbox = essay_in_its_draft();
    let (before, there) = (show(&sandbox), files(&sandbox));
    let asked = revisit(&sandbox, &[]).code(6);
    assert_eq!(asked.error()["kind"], "needs_answer");
    assert_eq!((show(&sandbox), files(&sandbox)), (before, there));
}

#[test]
fn a_dry_run_shows_everything_and_changes_nothing() {
    let sandbox = essay_in_its_draft();
    sandbox.write(&workspace("thesis.md"), "# thesis\nother words\n");
    let (before, there) = (show(&sandbox), files(&sandbox));
    let preview = revisit(&sandbox, &["--dry-run", "--impact", "major"]).ok().json();
    assert_eq!((&preview["proposed"], &preview["impact"]), (&"minor".into(), &"major".into()));
    assert_eq!(preview["files"][0]["lines"], "@@\n # thesis\n-first words\n+other words\n");
    let names: Vec<(&str, &str)> = preview["archived"]
        .as_array()
        .unwrap()
        .iter()
        .map(|archived| (archived["from"].as_str().unwrap(), archived["to"].as_str().unwrap()))
        .map(|(from, to)| (&from[20..], &to[20..]))
        .collect();
    assert_eq!(
        names,
        [
            ("thesis.md", "thesis.v1.md"),
            ("arguments-1.md", "arguments-1.v1.md"),
            ("outline.md", "outline.v1.md")
        ]
    );
    assert_eq!(preview["restarted"], serde_json::json!(["outline", "arguments", "draft"]));
    assert!(preview["warnings"][0].as_str().unwrap().contains("3 later phases restart"), "{preview}");
    assert_eq!((show(&sandbox), files(&sandbox)), (before, there));
}

#[test]
fn impact_is_proposed_from_fields_then_headings_then_words() {
    let sandbox = essay_in_its_draft();
    let proposed = || revisit(&sandbox, &["--dry-run"]).ok().json()["proposed"].as_str().unwrap().to_owned();
    assert_eq!(proposed(), "minor");
    sandbox.write(&workspace("thesis.md"), "# thesis\nother words\n");
    assert_eq!(proposed(), "minor");
    sandbox.write(&workspace("thesis.md"), "# thesis\n## a new part\nother words\n");
    assert_eq!(proposed(), "moderate");
    sandbox.run(["set", "tone=dry"]).ok();
    assert_eq!(proposed(), "moderate", "what was a default by then was nobody's decision");
    sandbox.run(["set", "claim_type=explainer"]).ok();
    assert_eq!(proposed(), "major");
}

#[test]
fn minor_impact_flags_later_phases_and_archives_nothing_of_theirs() {
    let sandbox = essay_in_its_draft();
    sandbox.write(&workspace("thesis.md"), "# thesis\nother words\n");
    let view = revisit(&sandbox, &["--yes"]).ok().json();
    assert_eq!(statuses(&view), ["in_progress", "needs_review", "needs_review", "not_started"]);
    assert_eq!((&view["progress"]["percent"], &view["current_phase"]["id"]), (&0.into(), &"thesis".into()));
    assert_eq!(
        files(&sandbox),
        [
            "arguments-1.md: first words",
            "outline.md: first words",
            "thesis.md: other words",
            "thesis.v1.md: first words"
        ]
    );
    let brief = sandbox.run(["brief", "--format", "markdown"]).ok().stdout;
    let waits = "## Waits for review\n- 2 Outline: thesis was revisited (minor impact, 14 Nov)\n";
    assert!(brief.contains(waits), "{brief}");
    assert!(sandbox.run(["next"]).ok().stdout.contains("The phase is being revised: \"the claim moved"));

    let next = sandbox.run(["advance", "--phase", "thesis", "--json"]).ok().json();
    assert_eq!((&next["current_phase"]["id"], &next["progress"]["percent"]), (&"outline".into(), &25.into()));
    assert!(
        next["next"]["summary"].as_str().unwrap().contains("Review the phase's results"),
        "{}",
        next["next"]
    );
    let history = sandbox.run(["artifact", "history", &workspace("thesis.md"), "--json"]).ok().json();
    assert_eq!(history["versions"][0]["archived_as"], workspace("thesis.v1.md"));
    assert_eq!(history["versions"][1]["version"], 2);
    sandbox.run(["artifact", "verify"]).ok();
}

#[test]
fn moderate_impact_archives_what_is_affected_and_leaves_the_rest() {
    let sandbox = essay_in_its_draft();
    let view = revisit(&sandbox, &["--yes", "--impact", "moderate", "--affects", "arguments"]).ok().json();
    assert_eq!(statuses(&view), ["in_progress", "completed", "needs_review", "not_started"]);
    assert_eq!(
        files(&sandbox),
        [
            "arguments-1.v1.md: first words",
            "outline.md: first words",
            "thesis.md: first words",
            "thesis.v1.md: first words"
        ]
    );
    let next = sandbox.run(["advance", "--phase", "thesis", "--json"]).ok().json();
    assert_eq!(next["current_phase"]["id"], "arguments");
}

#[test]
fn versions_go_on_from_the_highest_and_are_never_given_again() {
    let sandbox = essay_in_its_draft();
    sandbox.write(&workspace("outline.v6.md"), "somebody's\n");
    revisit(&sandbox, &["--yes", "--impact", "major"]).ok();
    assert!(sandbox.path(&workspace("outline.v7.md")).exists(), "{:?}", files(&sandbox));
    assert_eq!(sandbox.read(&workspace("outline.v6.md")), "somebody's\n");
    std::fs::remove_file(sandbox.path(&workspace("outline.v7.md"))).unwrap();
    sandbox.run(["advance", "--phase", "thesis"]).ok();
    sandbox.write(&workspace("outline.md"), "# outline\nsecond words\n");
    sandbox.run(["advance", "--phase", "outline"]).ok();
    revisit(&sandbox, &["--yes", "--impact", "major"]).ok();
    assert_eq!(
        files(&sandbox),
        [
            "arguments-1.v1.md: first words",
            "outline.v6.md: somebody's",
            "outline.v8.md: second words",
            "thesis.md: first words",
            "thesis.v1.md: first words"
        ],
        "and what is kept already is not kept twice"
    );
    let outline = |view: &serde_json::Value| view["artifacts"].as_array().unwrap().len();
    assert_eq!(outline(&show(&sandbox)), 1, "archived files are no current ones");
}

#[test]
fn what_cannot_be_revisited_is_refused() {
    let sandbox = essay_in_its_draft();
    let (before, there) = (show(&sandbox), files(&sandbox));
    for (arguments, code) in [
        (vec!["revisit", "draft", "--reason", "r", "--yes"], 4),
        (vec!["revisit", "thesys", "--reason", "r", "--yes"], 3),
        (vec!["revisit", "thesis", "--yes"], 2),
        (vec!["revisit", "thesis", "--reason", " ", "--yes"], 2),
        (vec!["revisit", "outline", "--reason", "r", "--affects", "thesis", "--yes"], 2),
        (vec!["revisit", "thesis", "--reason", "r", "--affects", "nothing", "--yes"], 3),
        (vec!["revisit", "thesis", "--reason", "r", "--impact", "major", "--affects", "outline", "--yes"], 2),
        (vec!["revisit", "thesis", "--reason", "r", "--impact", "huge", "--yes"], 2),
    ] {
        sandbox.run(&arguments).code(code);
    }
    assert_eq!((show(&sandbox), files(&sandbox)), (before, there));
}

#[test]
fn a_link_in_place_of_a_file_is_left_alone() {
    let sandbox = essay_in_its_draft();
    std::fs::write(sandbox.folder().join("outside"), "outside\n").unwrap();
    let outline = sandbox.path(&workspace("outline.md"));
    std::fs::remove_file(&outline).unwrap();
    std::os::unix::fs::symlink(sandbox.folder().join("outside"), &outline).unwrap();
    let view = revisit(&sandbox, &["--yes", "--impact", "major"]).ok().json();
    assert!(view["said"].to_string().contains("outline.md is not a regular file"), "{}", view["said"]);
    assert!(outline.symlink_metadata().unwrap().is_symlink());
    assert_eq!(std::fs::read_to_string(sandbox.folder().join("outside")).unwrap(), "outside\n");
}

/// The points at which a revision of four steps may be interrupted. Before its event is in the log, nothing
/// has happened. After that, the whole revision has happened.
const BEFORE: [&str; 3] = ["disk-journal-written", "disk-staged", "before-append"];
const AFTER: [&str; 9] = [
    "after-append",
    "disk-before-step-0",
    "disk-after-step-0",
    "disk-before-step-1",
    "disk-after-step-1",
    "disk-before-step-2",
    "disk-after-step-2",
    "disk-before-journal-removed",
    "disk-after-journal-removed",
];

fn crash(sandbox: &Sandbox, at: &str, arguments: &[&str]) {
    let mut command = sandbox.command(arguments);
    let ran = Ran::from(command.env("LEFTOFF_TEST_CRASH", at).output().unwrap());
    assert_eq!(ran.code, 134, "no crash at {at}: {}{}", ran.stdout, ran.stderr);
}

const MAJOR: [&str; 7] = ["revisit", "thesis", "--reason", "r", "--impact", "major", "--yes"];

#[test]
fn a_crash_before_the_revision_counts_leaves_nothing_of_it() {
    for point in BEFORE {
        let sandbox = essay_in_its_draft();
        sandbox.write(&workspace("thesis.md"), "# thesis\nother words\n");
        let (before, there) = (show(&sandbox), files(&sandbox));
        crash(&sandbox, point, &MAJOR);
        assert_eq!(show(&sandbox)["version"], before["version"], "{point}");
        assert_eq!(journals(&sandbox), 1, "{point}");
        let noted = sandbox.run(["note", "after the crash", "--json"]).ok().json();
        assert_eq!(noted["warnings"][0]["kind"], "recovered", "{point}");
        assert_eq!((files(&sandbox), journals(&sandbox)), (there, 0), "{point}");
        assert_eq!(statuses(&show(&sandbox)), statuses(&before), "{point}");
        sandbox.run(MAJOR).ok();
    }
}

#[test]
fn a_crash_after_the_revision_counts_is_carried_out_to_its_end_by_the_next_command() {
    for point in AFTER {
        let sandbox = essay_in_its_draft();
        sandbox.write(&workspace("thesis.md"), "# thesis\nother words\n");
        crash(&sandbox, point, &MAJOR);
        sandbox.run(["note", "after the crash"]).ok();
        assert_eq!(
            files(&sandbox),
            [
                "arguments-1.v1.md: first words",
                "outline.v1.md: first words",
                "thesis.md: other words",
                "thesis.v1.md: first words"
            ],
            "{point}"
        );
        assert_eq!(journals(&sandbox), 0, "{point}");
        let view = show(&sandbox);
        assert_eq!(statuses(&view), ["in_progress", "not_started", "not_started", "not_started"], "{point}");
        assert_eq!(view["revisions"].as_array().unwrap().len(), 1, "{point}");
    }
}

#[test]
fn a_crash_during_the_recovery_is_recovered_from() {
    for (first, second) in
        [("after-append", "disk-after-step-0"), ("disk-after-step-1", "disk-before-journal-removed")]
    {
        let sandbox = essay_in_its_draft();
        crash(&sandbox, first, &MAJOR);
        crash(&sandbox, second, &["note", "again"]);
        sandbox.run(["note", "and again"]).ok();
        assert_eq!(files(&sandbox).len(), 4, "{:?}", files(&sandbox));
        assert_eq!(journals(&sandbox), 0);
    }
    let sandbox = essay_in_its_draft();
    let there = files(&sandbox);
    crash(&sandbox, "disk-staged", &MAJOR);
    crash(&sandbox, "disk-unstaged", &["note", "again"]);
    sandbox.run(["note", "and again"]).ok();
    assert_eq!((files(&sandbox), journals(&sandbox)), (there, 0));
}

#[test]
fn a_full_disk_leaves_the_old_files_whole() {
    for point in ["disk-journal", "disk-stage"] {
        let sandbox = essay_in_its_draft();
        let (before, there) = (show(&sandbox), files(&sandbox));
        let full = sandbox.command(MAJOR).env("LEFTOFF_TEST_FULL", point).output().unwrap();
        let full = Ran::from(full).code(1);
        assert!(full.stderr.contains("No space left"), "{}", full.stderr);
        assert_eq!((show(&sandbox), files(&sandbox), journals(&sandbox)), (before, there, 0), "{point}");
        sandbox.run(MAJOR).ok();
    }
}

#[test]
fn revisions_are_in_the_log_and_in_show() {
    let sandbox = essay_in_its_draft();
    sandbox.run(MAJOR).ok();
    for command in ["log", "show"] {
        let text = sandbox.run([command]).ok().stdout.replace("\n ", "");
        assert!(text.contains("phase thesis revisited, major impact"), "{command}: {text}");
        assert!(text.contains("outline.v1.md"), "{command}: {text}");
    }
}
