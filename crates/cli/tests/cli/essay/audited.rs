//! Tests for former defects, as users noticed them: null, reasons, inactive essays, paths.

use super::*;
use crate::plain;

fn by_hand() -> Sandbox {
    let sandbox = project();
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.write(&file("session-state.yaml"), BY_HAND);
    for artifact in ["stage-1-thesis.md", "stage-2-outline.md", "stage-3-section-1-arguments.md"] {
        sandbox.write(&file(artifact), "x\n");
    }
    sandbox
}

fn fields(sandbox: &Sandbox) -> serde_json::Value {
    run(sandbox, "status --json").json()["fields"].clone()
}

#[test]
fn e2_null_means_not_set_by_hand_and_by_command() {
    let sandbox = by_hand();
    run(&sandbox, "note seen");
    let edited = state(&sandbox).replace("audience: general", "audience: null");
    sandbox.write(&file("session-state.yaml"), &edited);
    assert!(fields(&sandbox)["audience"].is_null(), "{}", fields(&sandbox));
    assert!(!run(&sandbox, "show").stdout.contains("audience: general"));
    run(&sandbox, "note again");
    says(&sandbox, &["audience: null"]);
    // A missing key does not clear a field.
    let dropped = state(&sandbox).replace("pushback_level: minimal\n", "");
    sandbox.write(&file("session-state.yaml"), &dropped);
    assert_eq!(fields(&sandbox)["pushback_level"], "minimal");
    run(&sandbox, "set pushback_level=null");
    says(&sandbox, &["pushback_level: null"]);
    assert!(run(&sandbox, "show").stdout.contains("Pushback level: full"), "not set is the default");
    run(&sandbox, "set audience=expert");
    says(&sandbox, &["audience: \"expert\""]);
    run(&sandbox, "set --unset audience --unset claim_type");
    says(&sandbox, &["audience: null", "claim_type: null"]);
    assert!(fields(&sandbox)["audience"].is_null() && fields(&sandbox)["claim_type"].is_null());
}

/// A field that was set and then cleared is as missing as one that was never set.
#[test]
fn e2_a_gate_misses_a_field_that_was_unset() {
    let sandbox = started();
    sandbox.write(&file("stage-1-thesis.md"), "# Thesis\nHarbours make towns.\n");
    run(&sandbox, "approve thesis-approved");
    run(&sandbox, "set claim_type=argument");
    run(&sandbox, "set --unset claim_type");
    let evidence = "advance --phase thesis_development --evidence specific=true --evidence defensible=true";
    let refused = sandbox.run(evidence.split(' ')).code(5).stderr;
    assert!(refused.contains("claim_type is not set"), "{refused}");
    run(&sandbox, "set claim_type=explainer");
    run(&sandbox, evidence);
}

#[test]
fn a_voice_score_is_a_number_from_1_to_5() {
    let sandbox = in_stage_4();
    let before = state(&sandbox);
    for score in ["loud", "6", "0", "-1", "4/5"] {
        let refused = sandbox.run(["item", "set", "draft-1", &format!("voice_check_score={score}")]).code(2);
        let words = format!("voice_check_score must be a number from 1 to 5, got: {score}");
        assert!(refused.stderr.contains(&words), "{}", refused.stderr);
    }
    assert_eq!(state(&sandbox), before);
    run(&sandbox, "item set draft-1 voice_check_score=3.5");
    says(&sandbox, &["voice_check_score: 3.5"]);
    run(&sandbox, "item set draft-1 voice_check_score=null");
    assert!(!state(&sandbox).contains("voice_check_score: 3.5"));
}

#[test]
fn doctor_says_once_what_is_wrong_with_a_session_that_nobody_took_up() {
    let sandbox = by_hand();
    std::fs::remove_file(sandbox.path(&file("stage-3-section-1-arguments.md"))).unwrap();
    let found = sandbox.run(["doctor", "--json"]).code(4).json()["findings"].clone();
    let mut said: Vec<&str> =
        found.as_array().unwrap().iter().map(|finding| finding["message"].as_str().unwrap()).collect();
    said.sort_unstable();
    let all = said.len();
    said.dedup();
    assert!(!said.is_empty() && said.len() == all, "{found:#}");
}

/// The state and the log both name the file that is missing.
#[test]
fn doctor_says_once_which_file_of_a_stage_is_missing() {
    let sandbox = in_stage_4();
    std::fs::remove_file(sandbox.path(&file("stage-1-thesis.md"))).unwrap();
    let found = sandbox.run(["doctor", "--json"]).code(4).json()["findings"].clone();
    let about =
        found.as_array().unwrap().iter().filter(|finding| finding.to_string().contains("stage-1-thesis.md"));
    assert_eq!(about.count(), 1, "{found:#}");
}

#[test]
fn e4_a_verification_is_deferred_for_one_of_three_reasons() {
    let sandbox = started();
    let defer = |reason: &str| {
        let reason = format!("reason={reason}");
        sandbox.run(["note", "Half silt up", "--kind", "deferred", "--field", &reason])
    };
    for reason in ["timeout", "service_unavailable", "no_results"] {
        defer(reason).ok();
    }
    let refused = defer("lazy").code(2);
    assert!(refused.stderr.contains("timeout, service_unavailable, no_results"), "{}", refused.stderr);
    assert!(!state(&sandbox).contains("lazy"));
}

/// A section's count of deferred claims is at least the number of its open notes about them.
#[test]
fn a_deferred_verification_is_counted_in_its_section_until_it_is_resolved() {
    let sandbox = in_stage_4();
    let defer = |claim: &str, section: &str| {
        let section = format!("section={section}");
        let words = ["note", claim, "--kind", "deferred", "--field", "reason=timeout", "--field", &section];
        sandbox.run(words).ok();
    };
    let counted = || {
        let items = run(&sandbox, "item list --all --json").json();
        let own = items["items"].as_array().unwrap().iter().find(|item| item["id"] == "section-1").unwrap();
        own["counters"]["deferred_claims"].as_i64().unwrap_or(0)
    };
    assert_eq!(counted(), 0);
    defer("Half silt up", "1");
    defer("Sand moves", "1");
    defer("There is no such section", "9");
    assert_eq!(counted(), 2);
    says(&sandbox, &["deferred_claims: 2"]);
    run(&sandbox, "note resolve 3");
    assert_eq!(counted(), 1);
    run(&sandbox, "undo");
    assert_eq!(counted(), 2);
    // A count that somebody set by hand stays.
    run(&sandbox, "item set section-1 --count deferred_claims=+3");
    defer("A fourth", "1");
    run(&sandbox, "note resolve 4");
    assert_eq!(counted(), 5);
}

#[test]
fn e4_after_a_week_list_and_resume_warn_of_an_essay_that_was_left_lying() {
    let sandbox = plain();
    sandbox.at("2026-11-24T10:00:00Z");
    let folder = sandbox.folder().join("tmp").join(FOLDER);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("session-state.yaml"), BY_HAND).unwrap();
    for artifact in ["stage-1-thesis.md", "stage-2-outline.md", "stage-3-section-1-arguments.md"] {
        std::fs::write(folder.join(artifact), "x\n").unwrap();
    }
    let warned = "session essay-pipeline-20261114-100000 has had no activity for 10 days";
    for line in ["list", "list --layout essay", "status"] {
        let said = run(&sandbox, line).stderr;
        assert!(crate::unbroken(&said).contains(warned), "{line}: {said}");
    }
    let resumed = run(&sandbox, &format!("resume {FOLDER}")).stderr;
    assert!(crate::unbroken(&resumed).contains(warned), "{resumed}");
    assert!(crate::unbroken(&resumed).contains(&format!("leftoff abandon {FOLDER}")), "{resumed}");
}

#[test]
fn e5_a_style_profile_is_looked_for_where_the_person_is_and_stops_nobody() {
    let sandbox = by_hand();
    let named = BY_HAND.replace(
        "session_dir",
        "style_profile_path: \"voice/profile.md\"\nsamples_dir_path: \"voice\"\nsession_dir",
    );
    sandbox.write(&file("session-state.yaml"), &named);
    let resumed = run(&sandbox, &format!("resume {FOLDER}"));
    assert!(resumed.stderr.contains("voice/profile.md"), "told: {}", resumed.stderr);
    sandbox.write("voice/profile.md", "plain\n");
    run(&sandbox, "pause");
    let resumed = run(&sandbox, &format!("resume {FOLDER}"));
    assert!(!resumed.stderr.contains("voice/profile.md"), "it is in the project: {}", resumed.stderr);
    // The pipeline's own files must still exist.
    std::fs::remove_file(sandbox.path(&file("stage-1-thesis.md"))).unwrap();
    run(&sandbox, "pause");
    sandbox.run(["resume", FOLDER]).code(6);
}

#[test]
fn e6_the_full_state_has_the_thesis_and_the_target() {
    let sandbox = by_hand();
    sandbox.write(&file("stage-1-thesis.md"), "# Thesis\n\nHarbours make towns.\n");
    let shown = run(&sandbox, "show").stdout;
    for line in [
        "  \"Harbours make towns.\"",
        "  audience: general",
        "  Not started",
        "Word count so far: unknown of ~1,000 target",
    ] {
        assert!(shown.lines().any(|found| found == line), "{line:?} is not in\n{shown}");
    }
}

#[test]
fn e4_a_change_that_affects_one_section_archives_that_one_alone() {
    let sandbox = by_hand();
    sandbox.write(&file("stage-3-section-2-arguments.md"), "map\n");
    run(&sandbox, "note seen");
    run(&sandbox, "revisit essay_structuring --impact moderate --affects section-1 --reason sand --yes");
    assert!(sandbox.path(&file("stage-3-section-1-arguments.v1.md")).exists());
    assert!(sandbox.path(&file("stage-3-section-2-arguments.md")).exists(), "not affected");
    assert!(!sandbox.path(&file("stage-3-section-2-arguments.v1.md")).exists());
    let unknown = sandbox.run(["revisit", "essay_structuring", "--affects", "section-9", "--reason", "x"]);
    assert_ne!(unknown.code, 0, "{}", unknown.stdout);
}

fn sections(sandbox: &Sandbox, stage: &str) -> Vec<(u64, String)> {
    let text = state(sandbox);
    let from = text.find(&format!("  {stage}:")).expect("the stage");
    let list = text[from..].lines().skip(1).take_while(|line| !line.starts_with("  stage_"));
    let mut found: Vec<(u64, String)> = Vec::new();
    for line in list {
        if let Some(index) = line.trim().strip_prefix("- section_index: ") {
            found.push((index.parse().unwrap(), String::new()));
        } else if let (Some(status), Some(last)) = (line.trim().strip_prefix("status: "), found.last_mut()) {
            status.trim_matches('"').clone_into(&mut last.1);
        }
    }
    found
}

/// The outline names three sections. Nobody adds an item by hand.
#[test]
fn e3_sections_are_filled_from_the_outline_and_those_of_the_draft_from_the_argument_maps() {
    let sandbox = started();
    sandbox.write(&file("stage-1-thesis.md"), "# Thesis\nHarbours make towns.\n");
    run(&sandbox, "set claim_type=argument");
    run(&sandbox, "approve thesis-approved");
    run(&sandbox, "advance --phase thesis_development --evidence specific=true --evidence defensible=true");
    let outline = "# Outline\n## Section 1: Sand\n### Point\n## Section 2: Stone\n## Section 3: Salt\n";
    sandbox.write(&file("stage-2-outline.md"), outline);
    run(&sandbox, "set audience=general target_word_count=3000");
    run(&sandbox, "approve outline-approved");
    assert_eq!(sections(&sandbox, "stage_3"), []);
    run(&sandbox, "advance --phase essay_structuring --evidence word_targets=[1000,1000,1000]");
    let open = |index: u64| (index, "not_started".to_owned());
    assert_eq!(sections(&sandbox, "stage_3"), [open(1), open(2), open(3)], "{}", state(&sandbox));
    assert_eq!(state(&sandbox).matches("total_sections: 3").count(), 2, "{}", state(&sandbox));
    let titles = |phase: &str| -> Vec<String> {
        let list = run(&sandbox, &format!("item list --all --phase {phase} --json")).json();
        list["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["title"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(titles("argument_development"), ["Section 1: Sand", "Section 2: Stone", "Section 3: Salt"]);
    assert_eq!(sections(&sandbox, "stage_4"), []);
    for number in 1..=3 {
        sandbox.write(&file(&format!("stage-3-section-{number}-arguments.md")), "# Map\n");
        run(&sandbox, &format!("item done section-{number}"));
    }
    run(&sandbox, "approve birds-eye");
    run(&sandbox, "advance --phase argument_development");
    assert_eq!(sections(&sandbox, "stage_4"), [open(1), open(2), open(3)], "{}", state(&sandbox));
    assert_eq!(titles("paragraph_writing"), ["Section 1: Sand", "Section 2: Stone", "Section 3: Salt"]);
    // Undo removes the sections from the file, too. Repeating the command adds no section twice.
    run(&sandbox, "undo");
    assert_eq!(sections(&sandbox, "stage_4"), []);
    run(&sandbox, "advance --phase argument_development");
    assert_eq!(sections(&sandbox, "stage_4").len(), 3);
}

/// The pipeline wrote the thesis and the outline. Somebody rewrites the thesis first, and revisits the stage
/// after that.
#[test]
fn e4_revisit_archives_the_old_text_of_a_file_that_the_pipeline_wrote_and_sees_the_change() {
    let sandbox = by_hand();
    sandbox.write(&file("stage-1-thesis.md"), "# Thesis\n\nHarbours make towns.\n");
    run(&sandbox, "note seen");
    sandbox.write(&file("stage-1-thesis.md"), "# Thesis\n\nRivers make towns.\n");
    let dry = run(&sandbox, "revisit thesis_development --reason rivers --dry-run");
    assert!(
        dry.stdout.contains("-Harbours make towns.") && dry.stdout.contains("+Rivers make towns."),
        "{}",
        dry.stdout
    );
    run(&sandbox, "revisit thesis_development --reason rivers --yes");
    assert_eq!(sandbox.read(&file("stage-1-thesis.v1.md")), "# Thesis\n\nHarbours make towns.\n");
    assert_eq!(sandbox.read(&file("stage-1-thesis.md")), "# Thesis\n\nRivers make towns.\n");
}

/// The file does not contain when this completed stage ended.
#[test]
fn p9_a_stage_without_a_time_has_no_length_and_makes_no_estimate() {
    let sandbox = project();
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.write(
        &file("session-state.yaml"),
        "started_at: \"2026-11-12T09:15:00Z\"\nlast_activity: \"2026-11-14T09:00:00Z\"\nstatus: in_progress\n\
         pushback_level: light\ncurrent_stage: 3\nstages:\n  stage_1: {status: completed, completed_at: null}\n  \
         stage_2: {status: completed, completed_at: null}\n  stage_3: {status: in_progress}\n",
    );
    for artifact in ["stage-1-thesis.md", "stage-2-outline.md"] {
        sandbox.write(&file(artifact), "x\n");
    }
    let view = run(&sandbox, "status --json").json();
    assert_eq!(view["progress"]["average_phase_seconds"], serde_json::Value::Null, "{view}");
    assert_eq!(view["progress"]["estimated_remaining_seconds"], serde_json::Value::Null);
    assert_eq!(view["updated_at"], "2026-11-14T09:00:00Z", "what the file says of its last activity counts");
    let status = run(&sandbox, "status").stdout;
    assert!(status.contains("  [x] 1 Thesis Development\n"), "{status}");
}

/// The parts that the user names as affected determine the impact, even if leftoff never saw the old text of
/// the file.
#[test]
fn e4_naming_a_section_makes_the_impact_moderate() {
    let sandbox = by_hand();
    sandbox.write(&file("stage-3-section-2-arguments.md"), "map\n");
    let dry = run(&sandbox, "revisit essay_structuring --affects section-1 --reason sand --dry-run");
    assert!(dry.stdout.contains("Impact: moderate: the change affects section-1"), "{}", dry.stdout);
    run(&sandbox, "revisit essay_structuring --affects section-1 --reason sand --yes");
    assert!(sandbox.path(&file("stage-3-section-1-arguments.v1.md")).exists());
    assert!(sandbox.path(&file("stage-3-section-2-arguments.md")).exists(), "not affected");
}

#[test]
fn e2_a_completion_time_that_nobody_wrote_stays_null_when_a_stage_is_flagged() {
    let sandbox = project();
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.write(
        &file("session-state.yaml"),
        "started_at: \"2026-11-12T09:15:00Z\"\nlast_activity: \"2026-11-14T09:00:00Z\"\nstatus: in_progress\n\
         current_stage: 3\nstages:\n  stage_1:\n    status: completed\n    completed_at: null\n  stage_2:\n    \
         status: completed\n    completed_at: null\n  stage_3:\n    status: in_progress\n",
    );
    for artifact in ["stage-1-thesis.md", "stage-2-outline.md"] {
        sandbox.write(&file(artifact), "x\n");
    }
    run(&sandbox, "revisit thesis_development --impact minor --reason wording --yes");
    let stage_2 = state(&sandbox);
    let stage_2 = &stage_2[stage_2.find("stage_2:").unwrap()..];
    assert!(stage_2.starts_with("stage_2:\n    status: needs_review\n    completed_at: null\n"), "{stage_2}");
}

/// The remedy leads back to the stage that was left out, and from there forward again.
#[test]
fn a_stage_completed_without_the_one_before_leads_back_to_that_one() {
    let sandbox = by_hand();
    let left_out = BY_HAND.replace(
        "stage_1: {status: completed, thesis_file: stage-1-thesis.md, claim_type: argument, completed_at: \"2026-11-13T09:00:00Z\"}",
        "stage_1: {status: not_started, thesis_file: null, claim_type: argument, completed_at: null}",
    );
    assert_ne!(left_out, BY_HAND);
    sandbox.write(&file("session-state.yaml"), &left_out);
    let asked = sandbox.run(["resume"]).code(6).stderr;
    let remedy = asked
        .lines()
        .find_map(|line| line.trim().strip_prefix("go back to phase thesis_development: "))
        .unwrap_or_default();
    assert!(remedy.starts_with("leftoff rollback thesis_development"), "{asked}");
    sandbox.run_printed(remedy).ok();
    let view = run(&sandbox, "status --json").json();
    assert_eq!(view["current_phase"]["id"], "thesis_development");
    says(&sandbox, &["current_stage: 1", "stage_1: {status: in_progress,"]);
    assert_eq!(view["phases"][1]["status"], "not_started");
    // A rollback cannot go to a later phase.
    sandbox.run(["rollback", "argument_development"]).code(4);
}
