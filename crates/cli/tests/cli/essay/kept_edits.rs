//! Tests of edits of the state by hand that the next command must keep.

use super::*;

/// Replaces texts in the state. Each text is searched for after the one replaced before.
#[track_caller]
fn edit(sandbox: &Sandbox, changes: &[(&str, &str)]) {
    let (mut text, mut from) = (state(sandbox), 0);
    for (old, new) in changes {
        let at = from + text[from..].find(old).unwrap_or_else(|| panic!("{old:?} is not in\n{text}"));
        text.replace_range(at..at + old.len(), new);
        from = at;
    }
    sandbox.write(&file("session-state.yaml"), &text);
}

/// The state after the next commands, which must keep the edit.
#[track_caller]
fn kept(sandbox: &Sandbox, changes: &[(&str, &str)]) -> String {
    edit(sandbox, changes);
    let edited = state(sandbox);
    for line in ["note hi", "item set draft-1 mood=calm", "item set section-1 mood=calm"] {
        run(sandbox, line);
    }
    let after = state(sandbox);
    let lines = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.starts_with("last_activity")).map(ToOwned::to_owned).collect()
    };
    assert_eq!(lines(&after), lines(&edited), "{changes:?}");
    after
}

const STAGE_3: (&str, &str) = ("  stage_3:", "  stage_3:");
const STAGE_4: (&str, &str) = ("  stage_4:", "  stage_4:");

fn item(sandbox: &Sandbox, id: &str) -> serde_json::Value {
    let list = run(sandbox, "item list --all --json").json();
    let mut items = list["items"].as_array().expect("a list").iter();
    items.find(|item| item["id"] == id).expect("the item").clone()
}

#[test]
fn a_count_that_is_none_any_more() {
    for none in ["verified_claims: 0", "verified_claims: null"] {
        let sandbox = in_stage_4();
        kept(&sandbox, &[STAGE_3, ("verified_claims: 3", none)]);
        assert_eq!(item(&sandbox, "section-1")["counters"]["verified_claims"], 0, "{none}");
        assert_eq!(item(&sandbox, "section-2")["counters"]["verified_claims"], 3, "{none}");
    }
    let sandbox = in_stage_4();
    run(&sandbox, "item set section-1 --count deferred_claims=2");
    kept(&sandbox, &[STAGE_3, ("deferred_claims: 2", "deferred_claims: 0")]);
    assert_eq!(item(&sandbox, "section-1")["counters"]["deferred_claims"], 0);
}

/// The number of sections is in two places of the file. The place that was changed is used.
#[test]
fn a_number_of_sections_that_was_changed_at_one_of_its_places() {
    for stage in ["  stage_2:", "  stage_3:"] {
        let sandbox = in_stage_4();
        edit(&sandbox, &[(stage, stage), ("total_sections: 2", "total_sections: 3")]);
        run(&sandbox, "note hi");
        assert_eq!(state(&sandbox).matches("total_sections: 3").count(), 2, "{}", state(&sandbox));
        assert_eq!(run(&sandbox, "show --json").json()["fields"]["total_sections"], 3);
    }
}

#[test]
fn a_birds_eye_view_that_is_not_approved_any_more() {
    for no in ["birds_eye_approved: false", "birds_eye_approved: null"] {
        let sandbox = in_stage_4();
        kept(&sandbox, &[("birds_eye_approved: true", no)]);
        // The edit withdraws the approval. The stage is then only claimed, because no gate has proven it.
        let gate = sandbox.run(["gate", "--phase", "argument_development"]).code(5).stdout;
        assert!(gate.contains("FAIL birds-eye (approval): not approved yet"), "{gate}");
        assert!(run(&sandbox, "status").stdout.contains("3 Argument Development, claimed, unverified"));
        run(&sandbox, "approve birds-eye --phase argument_development");
        run(&sandbox, "advance --phase argument_development");
        says(&sandbox, &["birds_eye_approved: true"]);
        assert!(!run(&sandbox, "status").stdout.contains("claimed"));
    }
    let sandbox = in_stage_4();
    for value in ["true", "false"] {
        let refused = sandbox.run(["set", &format!("birds_eye_approved={value}")]).code(2).stderr;
        assert!(refused.contains("leftoff approve birds-eye"), "{refused}");
    }
    says(&sandbox, &["birds_eye_approved: true"]);
    // The stage is approved again.
    run(&sandbox, "revisit argument_development --impact minor --reason words --yes");
    says(&sandbox, &["birds_eye_approved: false"]);
    run(&sandbox, "approve birds-eye");
    says(&sandbox, &["birds_eye_approved: true"]);
}

/// The view is approved again while its stage is current, and after the session returned to the stage.
#[test]
fn a_birds_eye_view_is_approved_again_where_its_stage_goes_on() {
    let sandbox = started();
    structured(&sandbox);
    argued(&sandbox);
    run(&sandbox, "rollback argument_development");
    says(&sandbox, &["birds_eye_approved: false"]);
    run(&sandbox, "approve birds-eye");
    says(&sandbox, &["birds_eye_approved: true"]);
    edit(&sandbox, &[("birds_eye_approved: true", "birds_eye_approved: false")]);
    let refused = sandbox.run(["advance", "--phase", "argument_development"]).code(5);
    assert!(refused.stderr.contains("birds-eye"), "{}", refused.stderr);
    let log = run(&sandbox, "log").stdout;
    assert!(log.contains("check birds-eye of argument_development is no longer approved"), "{log}");
}

#[test]
fn a_voice_that_is_to_be_checked_again() {
    let sandbox = in_stage_4();
    kept(&sandbox, &[STAGE_4, ("voice_check_score: 4.5", "voice_check_score: null")]);
    run(&sandbox, "item done draft-2.2");
    run(&sandbox, "item set draft-2 voice_check_score=4");
    let last = "advance --phase paragraph_writing --evidence fact_check_sweep=true";
    let held = sandbox.run(last.split(' ')).stderr;
    assert!(held.contains("section 1 has no voice check"), "{held}");
}

/// Another writer sorts the keys and drops one of them. The key is restored in the right section.
#[test]
fn keys_in_another_order_do_not_make_one_section_of_two() {
    let sandbox = in_stage_4();
    let (text, section) =
        (state(&sandbox), "    sections:\n      - section_index: 1\n        total_paragraphs: 2");
    let from = text.find(section).unwrap_or_else(|| panic!("{text}"));
    let to = from + text[from..].find("    completed_at").expect("the end of the stage");
    let sorted = "    sections:\n      - completed_paragraphs: 2\n        section_index: 1\n        status: completed\n        total_paragraphs: 2\n        voice_check_score: 4.5\n      - completed_paragraphs: 2\n        section_index: 2\n        status: completed\n        total_paragraphs: 2\n        voice_check_score: 3.0\n";
    sandbox.write(&file("session-state.yaml"), &format!("{}{sorted}{}", &text[..from], &text[to..]));
    run(&sandbox, "note hi");
    edit(&sandbox, &[("        voice_check_score: 3.0\n", "")]);
    run(&sandbox, "note ho");
    assert_eq!(state(&sandbox).matches("voice_check_score: 4.5").count(), 1, "{}", state(&sandbox));
    assert_eq!(item(&sandbox, "draft-2")["fields"]["voice_check_score"], 3.0);
}

/// Somebody removes a section from both lists and corrects the number of sections. The section stays in the
/// log, but not in the file.
#[test]
fn a_section_that_was_taken_out() {
    let sandbox = in_stage_4();
    let text = state(&sandbox);
    let without = |text: &str, stage: &str| {
        let from = text.find(stage).expect("the stage");
        let from = from + text[from..].find("      - section_index: 2").expect("the section");
        let ends =
            text[from..].find("\n    completed_at").into_iter().chain(text[from..].find("\n    birds_eye"));
        let to = from + ends.min().expect("the end of the list") + 1;
        format!("{}{}", &text[..from], &text[to..])
    };
    sandbox.write(&file("session-state.yaml"), &without(&without(&text, "  stage_3:"), "  stage_4:"));
    kept(
        &sandbox,
        &[
            ("total_sections: 2", "total_sections: 1"),
            STAGE_3,
            ("total_sections: 2", "total_sections: 1"),
            ("current_section: 2", "current_section: 1"),
            STAGE_4,
            ("current_section: 2", "current_section: 1"),
        ],
    );
    assert_eq!(item(&sandbox, "draft-2")["status"], "pending");
    assert_eq!(run(&sandbox, "doctor --json").json()["findings"], serde_json::json!([]));
    // A section that is added again is in the log and in the file.
    edit(&sandbox, &[("total_sections: 1", "total_sections: 2")]);
    run(&sandbox, "note ho");
    assert_eq!(state(&sandbox).matches("- section_index: 2").count(), 2, "{}", state(&sandbox));
}

/// Somebody removes a section from the middle of a list, and changes nothing else. If no work on the section
/// has started, it is dropped for good.
#[test]
fn a_section_that_was_taken_out_of_the_middle() {
    let sandbox = started();
    structured(&sandbox);
    run(&sandbox, "set total_sections=3");
    run(&sandbox, "item add Part~3 --id section-3");
    let without = |text: &str, number: u32| {
        let from = text.find(&format!("      - section_index: {number}\n")).expect("the section");
        let to = from + text[from..].find("        completed_at: null\n").expect("its end");
        format!("{}{}", &text[..from], &text[to + "        completed_at: null\n".len()..])
    };
    sandbox.write(&file("session-state.yaml"), &without(&state(&sandbox), 2));
    let items = run(&sandbox, "item list --all --json").json()["items"].clone();
    assert_eq!(items.as_array().map(Vec::len), Some(2), "{items}");
    run(&sandbox, "item start section-1");
    assert!(!state(&sandbox).contains("section_index: 2"), "{}", state(&sandbox));
    // Somebody worked on this section, so the log keeps it. The file stays as it is.
    run(&sandbox, "item set section-3 --count verified_claims=+2");
    sandbox.write(&file("session-state.yaml"), &without(&state(&sandbox), 3));
    let told = run(&sandbox, "status --json").json()["warnings"].to_string();
    assert!(told.contains("no longer list section-3"), "{told}");
    run(&sandbox, "item set section-1 --count verified_claims=+1");
    assert!(!state(&sandbox).contains("section_index: 3"), "{}", state(&sandbox));
    assert_eq!(item(&sandbox, "section-3")["counters"]["verified_claims"], 2);
    run(&sandbox, "item set section-3 --count verified_claims=+1");
    says(&sandbox, &["section_index: 3", "verified_claims: 3"]);
    assert_eq!(run(&sandbox, "doctor --json").json()["findings"], serde_json::json!([]));
}

/// Stages are reviewed one after the other. The file names the stage that is current.
#[test]
fn a_review_that_went_on_to_the_next_stage() {
    let sandbox = in_stage_4();
    run(&sandbox, "revisit thesis_development --impact minor --reason words --yes");
    let on = [
        ("current_stage: 1", "current_stage: 2"),
        ("current_stage_name: \"thesis_development\"", "current_stage_name: \"essay_structuring\""),
        ("    status: \"in_progress\"", "    status: \"completed\""),
    ];
    let after = kept(&sandbox, &on);
    assert!(after.contains("  stage_2:\n    status: \"needs_review\""), "{after}");
    let view = run(&sandbox, "status --json").json();
    assert_eq!(view["phases"][1]["status"], "needs_review");
    assert_ne!(view["phases"][1]["gate"]["outcome"], "claimed", "its gate had passed");
}

/// The file contains how many paragraphs are approved, but not which ones.
#[test]
fn an_approval_where_paragraphs_were_approved_in_another_order() {
    let sandbox = in_stage_4();
    run(&sandbox, "item add c --parent draft-2");
    run(&sandbox, "item done draft-2.3");
    kept(
        &sandbox,
        &[
            STAGE_4,
            (
                "total_paragraphs: 3\n        completed_paragraphs: 2",
                "total_paragraphs: 3\n        completed_paragraphs: 3",
            ),
        ],
    );
    assert_eq!(item(&sandbox, "draft-2.2")["status"], "completed");
    let sandbox = in_stage_4();
    run(&sandbox, "item add c --parent draft-2");
    run(&sandbox, "item done draft-2.3");
    kept(
        &sandbox,
        &[
            STAGE_4,
            (
                "total_paragraphs: 3\n        completed_paragraphs: 2",
                "total_paragraphs: 3\n        completed_paragraphs: 1",
            ),
        ],
    );
    assert_eq!(item(&sandbox, "draft-2.1")["status"], "completed");
    assert_eq!(item(&sandbox, "draft-2.3")["status"], "pending");
}

#[test]
fn a_stage_that_has_not_begun_any_more() {
    let sandbox = in_stage_4();
    kept(&sandbox, &[STAGE_3, ("status: \"completed\"", "status: \"not_started\"")]);
    let view = run(&sandbox, "status --json").json();
    let statuses: Vec<_> =
        view["phases"].as_array().unwrap().iter().map(|phase| phase["status"].clone()).collect();
    assert_eq!(statuses, ["completed", "completed", "not_started", "in_progress"]);
    assert_ne!(view["phases"][1]["gate"]["outcome"], "claimed", "its gate had passed");
}

/// Somebody restarts everything after the outline by hand. None of it is completed any more.
#[test]
fn a_major_revision() {
    let sandbox = in_stage_4();
    for name in
        ["stage-2-outline", "stage-3-section-1-arguments", "stage-3-section-2-arguments", "stage-4-draft"]
    {
        let moved = sandbox.path(&file(&format!("{name}.v1.md")));
        std::fs::rename(sandbox.path(&file(&format!("{name}.md"))), moved).expect("moved");
    }
    let text = state(&sandbox);
    let from = text.find("  stage_2:").expect("stage 2");
    let to = text.find("voice_calibration:").expect("the end of the stages");
    let anew = "  stage_2:
    status: \"in_progress\"
    outline_file: null
    total_sections: null
    target_word_count: 2000
    audience: \"general\"
    completed_at: null
  stage_3:
    status: \"not_started\"
    total_sections: null
    current_section: null
    sections: []
    birds_eye_approved: false
    completed_at: null
  stage_4:
    status: \"not_started\"
    current_section: null
    current_paragraph: null
    draft_file: null
    paragraph_log: null
    sections: []
    completed_at: null
";
    sandbox.write(&file("session-state.yaml"), &format!("{}{anew}{}", &text[..from], &text[to..]));
    kept(
        &sandbox,
        &[
            ("current_stage: 4", "current_stage: 2"),
            ("current_stage_name: \"paragraph_writing\"", "current_stage_name: \"essay_structuring\""),
        ],
    );
    for id in ["section-1", "section-2", "draft-1", "draft-1.1", "draft-2.1"] {
        assert_eq!(item(&sandbox, id)["status"], "pending", "{id}");
    }
}

/// Returns to a stage as the pipeline's own prompts do: archives files by hand, adds a revision to the list,
/// and restarts later stages.
#[test]
fn a_revision_whose_files_were_archived_by_hand() {
    let sandbox = started();
    structured(&sandbox);
    let outline = sandbox.path(&file("stage-2-outline.md"));
    std::fs::rename(&outline, sandbox.path(&file("stage-2-outline.v1.md"))).unwrap();
    let named = format!("outline_file: \"{}\"", outline.display());
    edit(
        &sandbox,
        &[
            ("current_stage: 3", "current_stage: 1"),
            ("\"argument_development\"  #", "\"thesis_development\"  #"),
            ("  stage_1:\n    status: \"completed\"", "  stage_1:\n    status: \"in_progress\""),
            ("completed_at: \"2026-11-14T10:00:00Z\"", "completed_at: null"),
            ("  stage_2:\n    status: \"completed\"", "  stage_2:\n    status: \"not_started\""),
            (&named, "outline_file: null"),
            ("completed_at: \"2026-11-14T10:00:00Z\"", "completed_at: null"),
            ("  stage_3:\n    status: \"in_progress\"", "  stage_3:\n    status: \"not_started\""),
            (
                "revision_history: []",
                "revision_history:\n  - stage_revisited: 1\n    impact: major\n    reason: explainer\n    downstream_archived: [stage-2-outline.v1.md]\n    timestamp: \"2026-11-14T10:00:00Z\"",
            ),
        ],
    );
    let phases = run(&sandbox, "status --json").json()["phases"].clone();
    let phases: Vec<&str> =
        phases.as_array().unwrap().iter().map(|phase| phase["status"].as_str().unwrap()).collect();
    assert_eq!(phases, ["in_progress", "not_started", "not_started", "not_started"]);
    let before = state(&sandbox);
    run(&sandbox, "resume");
    run(&sandbox, "set pushback_level=full");
    assert_eq!(state(&sandbox), before.replace("pushback_level: \"light\"", "pushback_level: \"full\""));
    let recorded = run(&sandbox, "artifact list").stdout;
    assert!(!recorded.contains("stage-2-outline"), "it was archived: {recorded}");
    assert_eq!(run(&sandbox, "doctor --json").json()["findings"], serde_json::json!([]));
}

/// If a finished essay is reopened in its file, lists show it again.
#[test]
fn a_finished_session_that_was_opened_again() {
    let sandbox = in_stage_4();
    for line in ["item done draft-2.2", "item set draft-2 voice_check_score=4", "note resolve 1"] {
        run(&sandbox, line);
    }
    run(&sandbox, "advance --phase paragraph_writing --evidence fact_check_sweep=true");
    assert!(!run(&sandbox, "list").stdout.contains(FOLDER));
    edit(&sandbox, &[("status: \"completed\"  # in", "status: \"in_progress\"  # in")]);
    assert!(run(&sandbox, "list").stdout.contains(FOLDER), "it goes on");
    assert!(run(&sandbox, "list --layout essay").stdout.contains(FOLDER));
    assert_eq!(run(&sandbox, "status --json").json()["status"], "active");
}
