//! Tests of a damaged, missing or wrong state: it is restored from the log, from the backup, or from the
//! artifacts, or a person is asked.

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

/// The log is used first, because it contains everything.
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

/// A session whose folder does not show its position.
fn lost() -> Sandbox {
    let sandbox = project();
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.write(&file("session-state.yaml"), "{{{");
    sandbox.write(&file("fact-check-log.md"), "x\n");
    sandbox
}

const NOT_RECOVERED: &str =
    "Session state could not be automatically recovered. Available artifact files: fact-check-log.md.";

/// The answer contains the report, the artifacts, and a command for each position at which the session can
/// continue. No position is guessed.
#[test]
fn level_3_asks_where_to_resume_and_without_a_terminal_prints_a_command_for_each_choice() {
    let sandbox = lost();
    let told = messages(&run(&sandbox, "status --json").json());
    assert!(told.contains(NOT_RECOVERED), "{told}");
    let found = sandbox.run(["doctor"]).code(4).stdout;
    assert!(found.contains(NOT_RECOVERED) && found.contains("repair asks; --at PHASE answers"), "{found}");
    for words in [&["repair"][..], &["resume", FOLDER], &["note", "x"], &["set", "claim_type=argument"]] {
        let asked = sandbox.run(words).code(6).stderr;
        for line in [
            format!("error: {NOT_RECOVERED} Where should it resume?"),
            "1. Thesis Development".to_owned(),
            "4. Paragraph Writing".to_owned(),
            format!("  leftoff repair --session {FOLDER} --at thesis_development"),
            format!("  leftoff repair --session {FOLDER} --at paragraph_writing"),
        ] {
            assert!(asked.lines().any(|found| found == line), "{words:?}: {line:?} is not in\n{asked}");
        }
        assert_eq!(state(&sandbox), "{{{", "{words:?}: nothing was changed");
    }
    let json = sandbox.run(["repair", "--json"]).code(6);
    assert_eq!(json.error()["kind"], "needs_choice");
    assert_eq!(json.json()["mended"][0]["choices"][2]["phase"], "argument_development");
    sandbox.run(["repair", "--at", "nowhere"]).code(3);
    assert_eq!(state(&sandbox), "{{{");
}

/// The printed command creates a new state with the position that the person chose. Earlier stages are
/// claimed.
#[test]
fn level_3_a_fresh_state_is_made_as_the_person_says() {
    let sandbox = lost();
    sandbox.run_printed(&format!("leftoff repair --session {FOLDER} --at argument_development")).ok();
    says(
        &sandbox,
        &[
            "current_stage: 3",
            "  stage_2:\n    status: \"completed\"",
            "  stage_3:\n    status: \"in_progress\"",
        ],
    );
    let view = run(&sandbox, "status --json").json();
    assert_eq!(statuses(&view), ["completed", "completed", "in_progress", "not_started"]);
    assert_eq!(view["phases"][1]["gate"]["outcome"], "claimed");
    let aside = std::fs::read_dir(sandbox.path(&format!(".leftoff/aside/{FOLDER}"))).unwrap();
    assert_eq!(aside.count(), 1, "what was there is kept");
    let again = sandbox.run(["repair", "--at", "2"]).code(2).stderr;
    assert!(again.contains("no session has an unknown position"), "{again}");
}

#[test]
fn level_3_at_a_terminal_the_person_is_asked() {
    for (words, status) in [(&["repair"][..], "paused"), (&["resume", FOLDER], "active")] {
        let sandbox = lost();
        let Some(unsure) = sandbox.answer_at_terminal(words, "c\n") else {
            testkit::left_out("an answer at a terminal: no `script` on this machine makes one");
            return;
        };
        let unsure = unsure.code(6);
        assert!(unsure.stdout.contains("[1, 2, 3, 4, or c to cancel]"), "{}", unsure.stdout);
        assert_eq!(state(&sandbox), "{{{", "{words:?}");
        sandbox.answer_at_terminal(words, "2\n").unwrap().ok();
        says(&sandbox, &["current_stage: 2"]);
        let expected = if status == "paused" { "active" } else { status };
        assert_eq!(run(&sandbox, "status --json").json()["status"], expected, "{words:?}");
    }
}

/// If several sessions are paused, the pipeline's own list is shown, and the user chooses one.
#[test]
fn of_several_paused_sessions_the_person_selects_one() {
    let sandbox = project();
    for (at, day) in [("2026-11-12T09:15:00Z", 12), ("2026-11-14T08:00:00Z", 14)] {
        sandbox.at(at);
        run(&sandbox, &format!("start --layout essay --id essay-pipeline-202611{day}-091500"));
        run(&sandbox, "pause");
    }
    sandbox.at("2026-11-14T10:00:00Z");
    let list = "Sessions found:\n2. essay-pipeline-20261114-091500 -- Stage 1 -- Last active: 2 hours ago\n1. essay-pipeline-20261112-091500 -- Stage 1 -- Last active: 2 days ago\n";
    let listed = run(&sandbox, "list --layout essay");
    assert_eq!(listed.stdout, list, "a number is the one by which every command knows the session");
    let asked = sandbox.run(["resume"]).code(6).stderr;
    assert_eq!(
        asked,
        format!(
            "error: {list}hint: choose one:\n  leftoff resume essay-pipeline-20261114-091500\n  leftoff resume essay-pipeline-20261112-091500\n"
        )
    );
    if let Some(resumed) = sandbox.answer_at_terminal(["resume"], "1\n") {
        let resumed = resumed.ok().stdout.replace('\r', "");
        assert!(resumed.contains(list), "{resumed}");
        assert!(resumed.contains("Resuming at [Stage 1]. Here's where you left off: "), "{resumed}");
        let view = run(&sandbox, "status --json").json();
        assert_eq!(view["session_id"], "essay-pipeline-20261112-091500");
        run(&sandbox, "pause");
    } else {
        testkit::left_out("an answer at a terminal: no `script` on this machine makes one");
    }
    run(&sandbox, "resume 1");
    assert_eq!(run(&sandbox, "status --json").json()["session_id"], "essay-pipeline-20261112-091500");
    run(&sandbox, "pause");
    // The user runs the printed command, or lets `--yes` choose the session that was paused last.
    sandbox.run_printed("leftoff resume essay-pipeline-20261114-091500").ok();
    run(&sandbox, "pause");
    run(&sandbox, "resume --yes");
    assert_eq!(run(&sandbox, "status --json").json()["session_id"], "essay-pipeline-20261114-091500");
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
        "current_section is 9, but the sections are 1 to 2",
        "stage-3-section-1-arguments.md', which is missing",
        "--yes",
    ] {
        assert!(asked.stderr.contains(line), "{line:?} is not in\n{}", asked.stderr);
    }
    assert!(state(&sandbox).contains("status: paused"));
    run(&sandbox, &format!("resume {FOLDER} --yes"));
    says(&sandbox, &["status: in_progress\n", "current_section: 9"]);
}

/// An active session may have been left without a pause. So it is checked, too, and its position is shown.
#[test]
fn a_session_in_progress_is_checked_and_taken_up_again() {
    let sandbox = by_hand();
    for line in ["resume", "resume essay-pipeline-20261114-100000"] {
        let resumed = run(&sandbox, line).stderr;
        let words = "Resuming at [Stage 3]. Here's where you left off: 1 of 2 sections have approved";
        assert!(resumed.contains(words), "{resumed}");
    }
    std::fs::remove_file(sandbox.path(&file("stage-1-thesis.md"))).unwrap();
    let before = state(&sandbox);
    for line in ["resume", "resume essay-pipeline-20261114-100000"] {
        let asked = sandbox.run(line.split(' ')).code(6).stderr;
        let remedy = "leftoff set --phase thesis_development thesis_file=PATH";
        assert!(asked.contains("stage-1-thesis.md, which the field 'thesis_file'"), "{asked}");
        assert!(asked.contains(remedy), "{asked}");
    }
    assert_eq!(state(&sandbox), before);
    run(&sandbox, "resume --yes");
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

/// Anchors, tags, tabs and duplicate keys are reported with their file and key. They are never overwritten.
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
        "'again' is set more than once",
        "verified_claims is three, not a whole number",
    ] {
        assert!(told.contains(line), "{line:?} is not in\n{told}");
    }
    run(&sandbox, "item set section-2 --count verified_claims=2");
    let expected = odd
        .replace("verified_claims: 0", "verified_claims: 2")
        .replace("last_activity: \"2026-11-14T09:00:00Z\"", "last_activity: \"2026-11-14T10:00:00Z\"");
    assert_eq!(state(&sandbox), expected);
    // If a value cannot be set without changing others, only the log contains it.
    run(&sandbox, "set mood=bad");
    assert_eq!(state(&sandbox), expected);
    assert_eq!(run(&sandbox, "status --json").json()["fields"]["mood"], "bad");
}
