//! What a user sees of rules that did not hold before: null, reasons, idle essays, paths.

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
    // A key that is missing clears nothing.
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
    let warned = "nothing has happened in session essay-pipeline-20261114-100000 for 10 days";
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
    // What the pipeline itself wrote is still promised.
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
