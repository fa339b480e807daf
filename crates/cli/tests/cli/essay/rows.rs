//! Tests of further rules of the format: drafts that a pause saves, and words and types in a file that `set`
//! would refuse.

use super::*;
use serde_json::json;

/// `pause --save` records drafts. The files themselves do not change.
#[test]
fn pause_with_save_records_the_draft_of_an_essay_as_it_was() {
    let sandbox = in_stage_4();
    let draft = file("stage-4-draft.md");
    let text = sandbox.read(&draft);
    sandbox.run(["pause", "--save", &draft]).ok();
    assert_eq!(sandbox.read(&draft), text, "the file is as it was");
    let status = run(&sandbox, "status --json").json();
    assert_eq!(status["lifecycle"]["saved"], json!([draft]));
    let recorded = run(&sandbox, "artifact list --json").json()["artifacts"].clone();
    let own: Vec<&serde_json::Value> =
        recorded.as_array().unwrap().iter().filter(|artifact| artifact["path"] == draft).collect();
    assert_eq!((own.len(), &own[0]["phase"]), (1, &json!("paragraph_writing")), "{recorded:#}");
    assert_eq!((&own[0]["size"], &own[0]["version"]), (&json!(text.len()), &json!(1)), "{recorded:#}");
    // A draft with new content is recorded as another version.
    sandbox.run(["resume", FOLDER]).ok();
    sandbox.write(&draft, &format!("{text}\nmore\n"));
    sandbox.run(["pause", "--save", &draft]).ok();
    let history = sandbox.run(["artifact", "history", &draft, "--json"]).ok().json();
    let sizes: Vec<&serde_json::Value> =
        history["versions"].as_array().unwrap().iter().map(|version| &version["size"]).collect();
    assert_eq!(sizes, [&json!(text.len()), &json!(text.len() + 6)], "{history:#}");
}

/// When pausing, the user may name the paragraph that is in progress.
#[test]
fn what_a_pause_was_in_the_middle_of_is_named_once() {
    let sandbox = in_stage_4();
    run(&sandbox, "item start draft-2.2");
    sandbox.run(["pause", "--reason", "night", "--context", "draft-2.2"]).ok();
    let resumed = sandbox.run(["resume", FOLDER]).ok().stdout;
    assert_eq!(crate::unbroken(&resumed).matches("in the middle of: draft-2.2").count(), 1, "{resumed}");
    assert!(!resumed.contains("(draft-2.2)"), "{resumed}");
}

#[test]
fn what_set_refuses_is_told_of_when_the_file_says_it_and_is_left_there() {
    let sandbox = by_hand();
    sandbox.run(["set", "pushback_level=loud"]).code(2);
    sandbox.run(["set", "target_word_count=many"]).code(2);
    for (value, wanted) in [
        ("target_word_count=-5", "1 or more"),
        ("total_sections=0", "1 or more"),
        ("total_word_count=-1", "0 or more"),
    ] {
        let refused = sandbox.run(["set", value]).code(2).stderr;
        assert!(refused.contains(&format!("must be {wanted}, got: ")), "{refused}");
    }
    assert_eq!(state(&sandbox), BY_HAND, "nothing was set");
    let text = BY_HAND
        .replace("pushback_level: minimal", "pushback_level: loud")
        .replace("target_word_count: 1_000", "target_word_count: many")
        .replace("audience: general", "audience: cats")
        .replace("output: {", "output: {total_word_count: -5, ");
    sandbox.write(&file("session-state.yaml"), &text);
    let status = run(&sandbox, "status --json").json();
    let said = status["warnings"].to_string();
    for words in [
        "session-state.yaml: pushback_level is 'loud', but must be one of full, light, minimal",
        "session-state.yaml: stages.stage_2.target_word_count is 'many', not a whole number",
        "session-state.yaml: output.total_word_count is -5, but the minimum is 0",
        "session-state.yaml: stages.stage_2.audience is 'cats', but must be one of general, semi-technical, expert",
    ] {
        assert!(said.contains(words), "{words} in {said}");
    }
    assert_eq!(status["current_phase"]["id"], "argument_development", "the rest works");
    run(&sandbox, "item set section-2 --count verified_claims=2");
    says(
        &sandbox,
        &["pushback_level: loud", "target_word_count: many", "audience: cats", "verified_claims: 2"],
    );
    // Setting a valid word corrects the value.
    run(&sandbox, "set pushback_level=light target_word_count=1000 audience=expert total_word_count=900");
    says(&sandbox, &["pushback_level: light", "target_word_count: 1000", "audience: expert"]);
    assert_eq!(run(&sandbox, "doctor --json").json()["findings"], json!([]));
}

#[test]
fn a_number_in_the_spelling_of_older_yaml_is_one_for_the_gates_and_keeps_its_spelling() {
    let sandbox = by_hand();
    assert_eq!(run(&sandbox, "status --json").json()["fields"]["target_word_count"], json!(1000));
    run(&sandbox, "set pushback_level=full");
    says(&sandbox, &["target_word_count: 1_000", "pushback_level: full"]);
    run(&sandbox, "set target_word_count=1200");
    says(&sandbox, &["target_word_count: 1200"]);
}

/// A state `{}` next to artifacts is a lost state. It is never taken for a new essay.
#[test]
fn a_state_of_nothing_but_braces_is_reconstructed_and_set_aside() {
    let sandbox = by_hand();
    sandbox.write(&file("session-state.yaml"), "{}\n");
    let said = run(&sandbox, "status --json").json()["warnings"].to_string();
    assert!(said.contains("it has no key of a session's state"), "{said}");
    assert_eq!(state(&sandbox), "{}\n", "a question writes nothing");
    run(&sandbox, "repair");
    says(&sandbox, &["current_stage: 3"]);
    let aside = std::fs::read_dir(sandbox.path(&format!(".leftoff/aside/{FOLDER}"))).unwrap();
    assert!(aside.flatten().any(|entry| std::fs::read(entry.path()).unwrap() == b"{}\n"));
}

/// A path into the file is not the name of a field. Setting a field of that name would not change the file.
#[test]
fn a_key_that_is_named_with_its_path_is_refused_with_the_name_alone() {
    let sandbox = started();
    let before = state(&sandbox);
    for (path, instead) in [
        ("voice_calibration.calibration_notes=abc", "calibration_notes=VALUE"),
        ("output.sources_verified=3", "sources_verified=VALUE"),
        ("stages.stage_2.audience=expert", "audience=VALUE"),
        ("stages.stage_1.thesis_file=x.md", "leftoff set --phase thesis_development thesis_file=PATH"),
        ("output.completed_at=now", "leftoff writes it when the session, stage or section starts or ends"),
    ] {
        let refused = sandbox.run(["set", path]).code(2).stderr;
        assert!(crate::unbroken(&refused).contains(instead), "{path}: {refused}");
    }
    assert_eq!(state(&sandbox), before);
    run(&sandbox, "set calibration_notes=abc sources_verified=3 audience=expert");
    says(&sandbox, &["calibration_notes: \"abc\"", "sources_verified: 3", "audience: \"expert\""]);
}

/// After a pause, the session continues with the paragraph that was in progress.
#[test]
fn a_pause_frees_the_paragraph_that_was_begun_and_it_comes_first_afterwards() {
    let sandbox = in_stage_4();
    run(&sandbox, "item add c --parent draft-2");
    for words in ["item claim draft-2.2", "item start draft-2.2", "pause"] {
        sandbox.run_as("claude:a4326893", words.split(' ')).ok();
    }
    run(&sandbox, "resume");
    let next = run(&sandbox, "next --json").json();
    assert_eq!(next["command"], "leftoff item claim draft-2.2", "{next}");
    run(&sandbox, "item claim draft-2.2");
}
