//! An essay from its start to its end: by commands, by edits, and back to an earlier stage.

use super::*;
use crate::statuses;
use std::os::unix::fs::PermissionsExt;

#[test]
fn a_new_session_has_a_folder_of_its_own_for_its_user_alone() {
    let sandbox = started();
    let mode = std::fs::metadata(sandbox.path(FOLDER)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    says(&sandbox, &["status: \"in_progress\"", "started_at: \"2026-11-14T10:00:00Z\"", "current_stage: 1"]);
    let again = sandbox.run(["start", "--layout", "essay", "--id", FOLDER, "--json"]).code(4);
    assert_eq!(again.error()["kind"], "id_taken");
    let bad = sandbox.run(["start", "--layout", "essay", "--id", "mine", "--json"]).code(2);
    assert!(bad.error()["message"].as_str().unwrap().contains("must look like essay-pipeline-"), "{bad:?}");
}

#[test]
fn stages_1_to_3_go_into_the_file_as_they_are_done() {
    let sandbox = started();
    sandbox.at("2026-11-14T10:10:00Z");
    structured(&sandbox);
    says(
        &sandbox,
        &[
            "current_stage: 3  # 1-4",
            "claim_type: \"argument\"  # argument |",
            "pushback_level: \"light\"  # full |",
            "target_word_count: 2000",
            "audience: \"general\"",
            &format!("outline_file: \"{}\"", sandbox.path(&file("stage-2-outline.md")).display()),
        ],
    );
    // The gate blocks until every section in the outline is approved.
    let held = sandbox.run(["advance", "--phase", "argument_development", "--json"]).code(5);
    assert!(held.stderr.contains("section-1 is not approved; section-2 is not approved"), "{}", held.stderr);
    argued(&sandbox);
    says(
        &sandbox,
        &["verified_claims: 3", "birds_eye_approved: true", "current_stage_name: \"paragraph_writing\""],
    );
}

#[test]
fn sections_paragraphs_claims_and_overrides_go_into_the_file_and_are_shown() {
    let sandbox = in_stage_4();
    says(
        &sandbox,
        &[
            "- section_index: 1\n        total_paragraphs: 2\n        completed_paragraphs: 2\n        status: \"completed\"\n        voice_check_score: 4.5",
            "completed_paragraphs: 1\n        status: \"in_progress\"",
            "current_section: 2\n    current_paragraph: 2",
            "claim_text: \"Half of them silt up\"\n    section: 2\n    paragraph: null\n    reason: \"timeout\"",
            "fact_checker_result: \"disputed\"\n    user_action: \"override\"\n    user_rationale: \"seen\"",
        ],
    );
    let shown = run(&sandbox, "show").stdout;
    for line in [
        "[Stage 4/4 - Paragraph Writing - Section 2, Paragraph 2]",
        "Pushback level: light",
        "  2 sections, 2,000 words target",
        "  2 of 2 sections have approved argument maps",
        "  6 verified claims, 1 deferred, 1 user override",
        "  Section 2: 1/2 paragraphs approved  <-- YOU ARE HERE",
        "Voice checks: Section 1: 4.5/5",
        "Word count so far: 7 of ~2,000 target",
    ] {
        assert!(shown.lines().any(|found| found == line), "{line:?} is not in\n{shown}");
    }
}

#[test]
fn pausing_listing_and_resuming_say_what_the_pipeline_says() {
    let sandbox = in_stage_4();
    let paused = sandbox.run(["pause", "--save", &file("stage-4-draft.md")]).ok().stderr;
    let words = "Session paused at [Stage 4, Section 2, Paragraph 2]. To resume, invoke essay-pipeline and select this session.";
    assert!(paused.contains(words) && paused.contains("saved: "), "{paused}");
    says(&sandbox, &["status: \"paused\"  # in_progress |"]);
    sandbox.at("2026-11-14T12:10:00Z");
    let list = run(&sandbox, "list --layout essay").stdout;
    let line = format!("1. {FOLDER} -- Stage 4, Section 2 -- Last active: 2 hours ago");
    assert_eq!(list, format!("Sessions found:\n{line}\n"));
    let resumed = run(&sandbox, &format!("resume {FOLDER}")).stderr;
    assert!(
        resumed.contains("Resuming at [Stage 4]. Here's where you left off: Section 1: 2/2"),
        "{resumed}"
    );
}

#[test]
fn a_finished_essay_is_reported_and_its_output_filled() {
    let sandbox = in_stage_4();
    for line in ["item done draft-2.2", "item set draft-2 voice_check_score=4", "note resolve 1"] {
        run(&sandbox, line);
    }
    says(&sandbox, &["resolved: true"]);
    sandbox.write(&file("final-essay.md"), "# Harbours\n\none two three four five\n");
    sandbox.at("2026-11-14T12:40:00Z");
    let last = "advance --phase paragraph_writing --evidence fact_check_sweep=true";
    let done = run(&sandbox, last).stderr;
    for line in [
        "Word count: 5",
        "Sections: 2",
        "Sources verified: 6",
        "Voice score: 4.25",
        "Overrides: 1",
        "Deferred claims resolved: 1 of 1",
        "Time spent: ",
    ] {
        assert!(done.contains(line), "{line:?} is not in\n{done}");
    }
    says(
        &sandbox,
        &[
            "status: \"completed\"  # in_progress |",
            "sources_verified: 6\n  voice_consistency_score: 4.25\n  total_word_count: 5\n  completed_at: \"2026-11-14T12:40:00Z\"",
        ],
    );
    assert_eq!(run(&sandbox, "doctor --json").json()["findings"], serde_json::json!([]));
}

/// Every field can be set by a command, which changes only the line of that field.
#[test]
fn free_fields_of_session_and_stage_are_set_by_name() {
    let sandbox = started();
    run(
        &sandbox,
        "set style_profile_path=profile.md samples_dir_path=samples first_assessment_user_rating=4 calibration_notes=shorter voice_reference_mode=hybrid",
    );
    run(&sandbox, "set --phase thesis_development development_log=log.md thesis_file=t.md");
    run(&sandbox, "set --phase essay_structuring outline_file=o.md");
    run(&sandbox, "set --phase paragraph_writing draft_file=d.md paragraph_log=p.md");
    run(
        &sandbox,
        "set pipeline_id=essay-9 claim_type=hybrid total_sections=4 target_word_count=900 audience=expert",
    );
    run(
        &sandbox,
        "set final_essay_file=f.md sources_verified=1 voice_consistency_score=3.5 total_word_count=9",
    );
    says(
        &sandbox,
        &[
            "style_profile_path: \"profile.md\"",
            "samples_dir_path: \"samples\"",
            "first_assessment_user_rating: 4  # 1-5",
            "calibration_notes: \"shorter\"",
            "voice_reference_mode: \"hybrid\"  #",
            "development_log: \"log.md\"",
            "thesis_file: \"t.md\"",
            "outline_file: \"o.md\"",
            "draft_file: \"d.md\"",
            "paragraph_log: \"p.md\"",
            "pipeline_id: \"essay-9\"",
            "claim_type: \"hybrid\"",
            "    outline_file: \"o.md\"\n    total_sections: 4\n    target_word_count: 900\n    audience: \"expert\"",
            "final_essay_file: \"f.md\"",
            "sources_verified: 1",
            "voice_consistency_score: 3.5",
            "total_word_count: 9",
        ],
    );
    let refused = sandbox.run(["set", "pushback_level=loud", "--json"]).code(2);
    assert!(refused.stderr.contains("pushback_level"), "{}", refused.stderr);
}

/// Some keys depend on the session, or are stored elsewhere. They are not fields: the answer says what sets
/// them, and nothing changes.
#[test]
fn keys_that_are_no_fields_are_refused_with_what_sets_them() {
    let sandbox = in_stage_4();
    let before = state(&sandbox);
    for (line, hint) in [
        ("set status=completed", "leftoff pause, resume, close or abandon"),
        ("set current_stage=2", "leftoff advance, revisit or rollback"),
        ("set session_dir=/tmp", "the path of the session's folder"),
        ("set started_at=now", "leftoff writes it when the session, stage or section starts or ends"),
        ("set stages=1", "name a stage"),
        ("set output=x", "set its keys"),
        ("set deferred_verifications=x", "leftoff note '<claim>' --kind deferred"),
        ("set user_overrides=x", "leftoff note '<claim>' --kind override"),
        ("set revision_history=x", "leftoff revisit"),
        ("set thesis_file=x", "leftoff set --phase thesis_development thesis_file=PATH"),
        ("set draft_file=x", "leftoff set --phase paragraph_writing draft_file=PATH"),
        ("set current_section=2", "leftoff item start section-1"),
        ("set argument_map_file=x", "leftoff item set section-1 argument_map_file=PATH"),
        ("set voice_check_score=3", "leftoff item set draft-1 voice_check_score=4"),
        ("set total_paragraphs=3", "leftoff item split draft-1"),
        ("set --phase 3 status=completed", "leftoff advance"),
        ("set --phase 2 total_sections=4", "leftoff set 'total_sections=<number>'"),
        ("set --phase 1 claim_type=hybrid", "leftoff set 'claim_type=<type>'"),
        ("set --phase 2 audience=expert", "leftoff set 'audience=<audience>'"),
        ("set --phase 4 current_paragraph=1", "leftoff item start"),
        ("item set section-1 status=completed", "leftoff item done"),
        ("item set section-1 verified_claims=9", "--count verified_claims=+1"),
        ("item set draft-1 completed_paragraphs=9", "leftoff item done"),
    ] {
        let refused = sandbox.run(line.split(' ')).code(2).stderr;
        assert!(refused.contains("cannot be set as a field") && refused.contains(hint), "{line}: {refused}");
    }
    assert_eq!(state(&sandbox), before);
}

/// The other keys of the schema: fields of sections, claims and overrides.
#[test]
fn fields_of_sections_claims_and_overrides_are_set_by_name() {
    let sandbox = in_stage_4();
    for line in [
        "item set section-1 argument_map_file=maps/one.md --count deferred_claims=+2",
        "item set draft-2 voice_check_score=3",
        "note Sand~moves --kind deferred --field section=1 --field paragraph=2 --field reason=no_results",
        "note Older --kind override --field fact_checker_result=false --field user_action=override --field user_rationale=known",
    ] {
        run(&sandbox, line);
    }
    says(
        &sandbox,
        &[
            "argument_map_file: \"maps/one.md\"",
            "deferred_claims: 2",
            "voice_check_score: 3",
            "claim_text: \"Sand moves\"\n    section: 1\n    paragraph: 2\n    reason: \"no_results\"\n    added_at: \"2026-11-14T10:10:00Z\"\n    resolved: false",
            "claim_text: \"Older\"\n    fact_checker_result: false\n    user_action: \"override\"\n    user_rationale: \"known\"\n    logged_at: \"2026-11-14T10:10:00Z\"",
        ],
    );
}

#[test]
fn a_file_by_hand_is_shown_taken_in_and_kept_to_the_byte() {
    let sandbox = by_hand();
    for words in [&["status"][..], &["list"], &["show"], &["brief"], &["next"], &["log"], &["doctor"]] {
        let _ = sandbox.run(words);
    }
    assert!(!sandbox.path(".git/leftoff").exists(), "a question writes nothing");
    let view = run(&sandbox, "status --json").json();
    assert_eq!(statuses(&view), ["completed", "completed", "in_progress", "not_started"]);
    assert_eq!(
        (&view["fields"]["mood"], &view["fields"]["target_word_count"]),
        (&"good".into(), &1000.into())
    );
    let noted = run(&sandbox, "note looked~at~it");
    assert!(noted.stderr.contains("was adopted from essay-pipeline-20261114-100000"), "{}", noted.stderr);
    assert_eq!(state(&sandbox), BY_HAND, "a note has no place in it");
    run(&sandbox, "item set section-2 --count verified_claims=2");
    let expected = BY_HAND
        .replace("verified_claims: 0", "verified_claims: 2")
        .replace("last_activity: \"2026-11-14T09:00:00Z\"", "last_activity: \"2026-11-14T10:00:00Z\"");
    assert_eq!(state(&sandbox), expected, "one line, and when");
    assert_eq!(sandbox.read(&file("session-state.yaml.bak")), BY_HAND);
}

/// The stage is advanced by an edit of the file, as the pipeline's own prompts do it.
#[test]
fn an_edit_is_shown_at_once_and_taken_in_by_the_next_command() {
    let sandbox = by_hand();
    run(&sandbox, "note mine");
    sandbox.write(&file("stage-3-section-2-arguments.md"), "map\n");
    let edited = BY_HAND
        .replace("        status: in_progress\n        argument_map_file: null", "        status: completed\n        argument_map_file: stage-3-section-2-arguments.md")
        .replace("birds_eye_approved: false", "birds_eye_approved: true")
        .replace("    status: in_progress\n    total", "    status: completed\n    total")
        .replace("current_stage: 3", "current_stage: 4")
        .replace("name: argument_development", "name: paragraph_writing")
        .replace("    status: not_started\n    sections: []", "    status: in_progress   # at last\n    sections:\n      - {section_index: 1, total_paragraphs: 3, completed_paragraphs: 1, status: in_progress}");
    sandbox.write(&file("session-state.yaml"), &edited);
    let view = run(&sandbox, "status --json").json();
    assert_eq!(statuses(&view), ["completed", "completed", "completed", "in_progress"]);
    assert_eq!(view["item_counts"], serde_json::json!({"total": 4, "done": 1}));
    run(&sandbox, "item done draft-1.2");
    says(
        &sandbox,
        &["status: in_progress   # at last", "completed_paragraphs: 2, status: in_progress}", "# the end"],
    );
    let log = run(&sandbox, "log").stdout;
    assert!(log.contains("changed by somebody else"), "{log}");
}

#[test]
fn going_back_a_stage_archives_flags_and_logs_the_revision() {
    let sandbox = started();
    structured(&sandbox);
    argued(&sandbox);
    sandbox.write(&file("stage-1-thesis.md"), "# Thesis\nTowns make harbours.\n");
    // The next number follows the highest existing one, whoever created that file. No number is used twice.
    sandbox.write(&file("stage-2-outline.v6.md"), "older\n");
    let seen =
        run(&sandbox, "revisit thesis_development --impact moderate --reason reworded --dry-run").stdout;
    assert!(seen.contains("stage-2-outline.v7.md"), "{seen}");
    run(&sandbox, "revisit thesis_development --impact moderate --reason reworded --yes");
    for (name, is_there) in [
        ("stage-1-thesis.v1.md", true),
        ("stage-1-thesis.md", true),
        ("stage-2-outline.v7.md", true),
        ("stage-2-outline.md", false),
        ("stage-3-section-1-arguments.v1.md", true),
        ("stage-3-section-1-arguments.md", false),
    ] {
        assert_eq!(sandbox.path(&file(name)).exists(), is_there, "{name}");
    }
    says(
        &sandbox,
        &[
            "current_stage: 1  #",
            "- stage_revisited: 1\n    impact: \"moderate\"\n    reason: \"reworded\"\n    downstream_archived: [\"stage-2-outline.v7.md\", \"stage-3-section-1-arguments.v1.md\", \"stage-3-section-2-arguments.v1.md\"]",
            "  stage_2:\n    status: \"needs_review\"",
            "  stage_3:\n    status: \"needs_review\"",
        ],
    );
    let view = run(&sandbox, "status --json").json();
    assert_eq!(statuses(&view), ["in_progress", "needs_review", "needs_review", "not_started"]);
}

#[test]
fn a_minor_change_flags_what_comes_after_and_archives_none_of_it() {
    let sandbox = started();
    structured(&sandbox);
    argued(&sandbox);
    sandbox.write(&file("stage-1-thesis.md"), "# Thesis\nIt is harbours that make towns.\n");
    run(&sandbox, "revisit thesis_development --impact minor --reason clearer --yes");
    let view = run(&sandbox, "status --json").json();
    assert_eq!(statuses(&view), ["in_progress", "needs_review", "needs_review", "not_started"]);
    for name in ["stage-2-outline.md", "stage-3-section-1-arguments.md", "stage-3-section-2-arguments.md"] {
        assert!(sandbox.path(&file(name)).exists(), "{name}");
    }
    says(&sandbox, &["impact: \"minor\"\n    reason: \"clearer\"\n    downstream_archived: []"]);
}

/// If one revision archives two files, both are archived or none is, wherever the program ends.
#[test]
fn archives_of_one_revision_are_all_there_or_none() {
    let words = ["revisit", "essay_structuring", "--impact", "major", "--reason", "anew", "--yes"];
    let maps = [1, 2].map(|number| file(&format!("stage-3-section-{number}-arguments")));
    for (point, is_done) in
        [("disk-staged", false), ("disk-after-step-0", true), ("disk-before-step-1", true)]
    {
        let sandbox = started();
        structured(&sandbox);
        argued(&sandbox);
        let crashed = sandbox.command(words).env("LEFTOFF_TEST_CRASH", point).output().unwrap();
        assert!(crashed.status.code().is_none(), "{point} was not reached");
        run(&sandbox, "note next");
        for map in &maps {
            assert_eq!(sandbox.path(&format!("{map}.v1.md")).exists(), is_done, "{point}: {map}");
            assert_eq!(sandbox.path(&format!("{map}.md")).exists(), !is_done, "{point}: {map}");
        }
        assert_eq!(state(&sandbox).contains("stage-3-section-2-arguments.v1.md"), is_done, "{point}");
    }
}

#[test]
fn a_major_change_begins_all_later_stages_again() {
    let sandbox = started();
    structured(&sandbox);
    argued(&sandbox);
    run(&sandbox, "revisit essay_structuring --impact major --reason an~explainer --yes");
    says(
        &sandbox,
        &[
            "  stage_3:\n    status: \"not_started\"",
            "impact: \"major\"",
            "  stage_2:\n    status: \"in_progress\"",
        ],
    );
    let view = run(&sandbox, "status --json").json();
    assert_eq!(statuses(&view), ["completed", "in_progress", "not_started", "not_started"]);
    assert!(!sandbox.path(&file("stage-3-section-1-arguments.md")).exists());
}

#[test]
fn a_day_of_quiet_pauses_and_a_week_warns() {
    let sandbox = started();
    sandbox.at("2026-11-15T11:00:00Z");
    let view = run(&sandbox, "status --json").json();
    assert_eq!((&view["status"], &view["lifecycle"]["reason"]), (&"paused".into(), &"inactivity".into()));
    says(&sandbox, &["status: \"in_progress\"  #"]);
    run(&sandbox, "note still~here");
    says(&sandbox, &["status: \"paused\"  #"]);
    sandbox.at("2026-11-23T11:00:00Z");
    let warned = run(&sandbox, "status").stderr;
    assert!(warned.contains("session essay-pipeline-20261114-100000 has had no activity for 8"), "{warned}");
    assert!(warned.contains("leftoff resume") && warned.contains("leftoff abandon"), "{warned}");
    run(&sandbox, "resume");
    sandbox.at("2026-11-25T11:00:00Z");
    // The file says that the session is in progress. Resuming it counts as activity.
    run(&sandbox, "resume");
    says(&sandbox, &["last_activity: \"2026-11-25T11:00:00Z\"", "status: \"in_progress\"  #"]);
    run(&sandbox, &format!("abandon {FOLDER}"));
    says(&sandbox, &["status: \"abandoned\"  #"]);
}

/// No command has adopted the session, so the last activity in its file is used.
#[test]
fn a_file_that_lay_for_a_day_counts_as_paused() {
    let sandbox = by_hand();
    sandbox.at("2026-11-15T10:00:00Z");
    let view = run(&sandbox, "status --json").json();
    assert_eq!(view["status"], "paused");
    assert_eq!(state(&sandbox), BY_HAND);
    run(&sandbox, &format!("resume {FOLDER}"));
    says(&sandbox, &["status: in_progress\n", "# Ada's essay"]);
}

/// A session is imported, and exported to its own format and to JSON. The original files do not change.
#[test]
fn a_session_is_imported_and_exported_with_nothing_lost() {
    let sandbox = by_hand();
    run(&sandbox, &format!("import {FOLDER}"));
    assert_eq!(state(&sandbox), BY_HAND);
    let out = sandbox.folder().join("out");
    sandbox.run(["export", "--layout", "essay", out.to_str().unwrap(), "--session", FOLDER]).ok();
    let written = std::fs::read_to_string(out.join(FOLDER).join("session-state.yaml")).unwrap();
    assert_eq!(written, BY_HAND, "that it waits since the import is not the pipeline's");
    let json = sandbox.run(["export", "--session", FOLDER]).ok().json();
    assert!(json.to_string().contains("\"mood\":\"good\""), "{json:#}");
}
