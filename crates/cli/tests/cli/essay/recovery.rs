//! A state that is damaged, missing or wrong: from the log, from its backup, from the artifacts, and by asking.

use super::*;
use crate::statuses;

fn messages(value: &serde_json::Value) -> String {
    let warnings = value["warnings"].as_array().unwrap().iter();
    warnings.map(|warning| format!("{}\n", warning["message"].as_str().unwrap())).collect()
}

const DAMAGE: [&str; 5] = [
    "",
    "status: \"in_progress\nstages: [\n",
    "stages:\n\tstage_1: 1\n",
    "- not\n- a mapping\n",
    "\u{0}\u{0}\u{0}",
];

/// The top rung: whatever becomes of the file, the log has it all.
#[test]
fn with_a_log_a_damaged_file_is_set_aside_and_written_again() {
    for damage in DAMAGE {
        let sandbox = by_hand();
        run(&sandbox, "note mine");
        run(&sandbox, "set pushback_level=full");
        let good = state(&sandbox);
        sandbox.write(&file("session-state.yaml"), damage);
        let view = run(&sandbox, "status --json").json();
        assert!(messages(&view).contains("is damaged"), "{damage:?}: {}", messages(&view));
        assert_eq!(statuses(&view)[2], "in_progress");
        assert_eq!(state(&sandbox), damage, "a question writes nothing");
        run(&sandbox, "repair");
        assert_eq!(state(&sandbox), good, "{damage:?}");
        let aside = std::fs::read_dir(sandbox.path(&format!(".leftoff/aside/{FOLDER}"))).unwrap();
        let kept: Vec<String> =
            aside.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap()).collect();
        assert_eq!(kept, [damage], "nothing is thrown away");
        let backup = sandbox.read(&file("session-state.yaml.bak"));
        assert_eq!(backup, BY_HAND, "the good backup stays");
    }
}

#[test]
fn level_1_without_a_log_the_backup_is_read() {
    for damage in DAMAGE {
        let sandbox = by_hand();
        sandbox.write(&file("session-state.yaml.bak"), BY_HAND);
        sandbox.write(&file("session-state.yaml"), damage);
        let view = run(&sandbox, "status --json").json();
        let told = messages(&view);
        assert!(
            told.contains("Session state recovered from backup. Last state update may be lost."),
            "{told}"
        );
        assert!(!told.contains("reconstructed"), "{told}");
        assert_eq!(statuses(&view), ["completed", "completed", "in_progress", "not_started"]);
        run(&sandbox, "repair");
        let mended = state(&sandbox);
        assert!(mended.contains("# nobody knows this key") && mended.ends_with("# the end\n"), "{mended}");
        assert_eq!(run(&sandbox, "doctor --json").json()["findings"], serde_json::json!([]));
    }
}

#[test]
fn level_2_without_either_the_artifacts_tell() {
    let sandbox = by_hand();
    sandbox.write(&file("session-state.yaml.bak"), "also: [broken");
    sandbox.write(&file("session-state.yaml"), "{{{");
    sandbox.write(&file("stage-3-section-2-arguments.v1.md"), "archived\n");
    let view = run(&sandbox, "status --json").json();
    let told = messages(&view);
    assert!(
        told.contains("Session state reconstructed from artifact files. Some metadata may be approximate."),
        "{told}"
    );
    assert_eq!(statuses(&view), ["completed", "completed", "in_progress", "not_started"]);
    assert_eq!(
        view["item_counts"],
        serde_json::json!({"total": 2, "done": 1}),
        "an archived map shows nothing"
    );
    run(&sandbox, "repair");
    says(
        &sandbox,
        &["current_stage: 3", "total_sections: 2", "- section_index: 1\n        status: \"completed\""],
    );
    assert_eq!(
        sandbox.read(&file("session-state.yaml.bak")),
        "also: [broken",
        "whatever it is, it is not ours"
    );
}

#[test]
fn level_3_asks_where_to_resume() {
    let sandbox = project();
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.write(&file("session-state.yaml"), "{{{");
    sandbox.write(&file("fact-check-log.md"), "x\n");
    let told = messages(&run(&sandbox, "status --json").json());
    assert!(
        told.contains(
            "Session state could not be automatically recovered. Available artifact files: fact-check-log.md."
        ),
        "{told}"
    );
    run(&sandbox, "repair");
    // A fresh state, and the way on from there is the person's to say.
    says(&sandbox, &["current_stage: 1", "status: \"in_progress\""]);
    run(&sandbox, "skip --reason it~was~done");
    says(&sandbox, &["current_stage: 2"]);
}

#[test]
fn what_does_not_fit_is_asked_about_before_a_session_goes_on() {
    let sandbox = by_hand();
    run(&sandbox, "pause");
    std::fs::remove_file(sandbox.path(&file("stage-3-section-1-arguments.md"))).unwrap();
    let text = state(&sandbox).replace("current_section: 2", "current_section: 9");
    sandbox.write(&file("session-state.yaml"), &text);
    let asked = sandbox.run(["resume", FOLDER]).code(6);
    for line in [
        "current_section is 9, and there are sections 1 to 2",
        "stage-3-section-1-arguments.md', which is missing",
        "--yes",
    ] {
        assert!(asked.stderr.contains(line), "{line:?} is not in\n{}", asked.stderr);
    }
    assert!(state(&sandbox).contains("status: paused"));
    run(&sandbox, &format!("resume {FOLDER} --yes"));
    says(&sandbox, &["status: in_progress\n", "current_section: 9"]);
}

#[test]
fn completed_without_its_artifact_is_claimed_and_the_gate_stays_open() {
    let sandbox = by_hand();
    std::fs::remove_file(sandbox.path(&file("stage-1-thesis.md"))).unwrap();
    let view = run(&sandbox, "status --json").json();
    assert_eq!(view["phases"][0]["gate"]["outcome"], "claimed");
    assert_eq!(view["phases"][1]["gate"]["outcome"], "passed");
    assert!(
        messages(&view).contains("thesis_file is 'stage-1-thesis.md', which is missing"),
        "{}",
        messages(&view)
    );
}

/// Anchors, tags, tabs and keys that are there twice: told by file and key, and never written over.
#[test]
fn odd_yaml_is_told_by_its_key_and_survives() {
    let sandbox = by_hand();
    let odd = BY_HAND
        .replace("mood: 'good'", "mood: &m !feeling 'good'\nagain: *m\nagain: *m")
        .replace("verified_claims: 3", "verified_claims: three");
    sandbox.write(&file("session-state.yaml"), &odd);
    let told = messages(&run(&sandbox, "status --json").json());
    for line in [
        "'mood' has the tag",
        "'mood' has an anchor",
        "'again' is an alias",
        "'again' is there more than once",
        "verified_claims is three, not a whole number",
    ] {
        assert!(told.contains(line), "{line:?} is not in\n{told}");
    }
    run(&sandbox, "item set section-2 --count verified_claims=2");
    let expected = odd
        .replace("verified_claims: 0", "verified_claims: 2")
        .replace("last_activity: \"2026-11-14T09:00:00Z\"", "last_activity: \"2026-11-14T10:00:00Z\"");
    assert_eq!(state(&sandbox), expected);
    // What would change more than it says is left alone; the log has it.
    run(&sandbox, "set mood=bad");
    assert_eq!(state(&sandbox), expected);
    assert_eq!(run(&sandbox, "status --json").json()["fields"]["mood"], "bad");
}
