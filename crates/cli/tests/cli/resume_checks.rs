//! Tests of the checks that `resume` makes for a session that has changed.

use crate::{essay_in_its_draft, statuses, workspace};

#[test]
fn a_session_that_is_as_it_was_left_is_resumed_without_a_question() {
    let sandbox = essay_in_its_draft();
    sandbox.run(["pause"]).ok();
    sandbox.run(["resume"]).ok();
    sandbox.run(["doctor"]).ok();
}

#[test]
fn discrepancies_are_listed_with_remedies_and_nothing_changes_when_nobody_is_there() {
    let sandbox = essay_in_its_draft();
    sandbox.run(["pause"]).ok();
    std::fs::remove_file(sandbox.path(&workspace("outline.md"))).unwrap();
    sandbox.write(&workspace("thesis.md"), "# another\n");
    let before = sandbox.run(["status", "--json"]).ok().json();
    let asked = sandbox.run(["resume", "--json"]).code(6);
    let message = asked.error()["message"].as_str().unwrap().to_owned();
    let changed = message.find("thesis.md of phase thesis changed").expect("the first phase first");
    let missing = message.find("outline.md of phase outline is missing").expect("then the second");
    assert!(changed < missing && message.contains("leftoff artifact restore"), "{message}");
    assert!(asked.error()["hint"].as_str().unwrap().contains("leftoff resume s --yes"));
    assert_eq!(sandbox.run(["status", "--json"]).ok().json(), before);

    let findings = sandbox.run(["doctor", "--json"]).code(4).json();
    let kinds: Vec<&str> = findings["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| found["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["artifact_changed", "artifact_missing"]);

    let view = sandbox.run(["resume", "--yes", "--json"]).ok().json();
    assert_eq!(view["status"], "active");
}

#[test]
fn work_that_is_going_on_may_change_its_own_files() {
    let sandbox = essay_in_its_draft();
    sandbox.write(&workspace("draft.md"), "half a draft\n");
    sandbox.run(["artifact", "add", &workspace("draft.md")]).ok();
    sandbox.write(&workspace("draft.md"), "more of it\n");
    sandbox.run(["pause"]).ok();
    sandbox.run(["resume"]).ok();
}

#[test]
fn a_file_that_a_field_names_must_be_there() {
    let sandbox = essay_in_its_draft();
    sandbox.run(["start", "paper", "--id", "t", "--set", "style_path=style.md"]).ok();
    sandbox.run(["pause"]).ok();
    let asked = sandbox.run(["resume", "t", "--json"]).code(6);
    assert!(
        asked.error()["message"].as_str().unwrap().contains("style.md, which the field 'style_path' names")
    );
    sandbox.write("style.md", "plain\n");
    sandbox.run(["resume", "t"]).ok();
}

/// Runs a line on a terminal that `script` creates. `None` if this machine has no `script`; nothing is tested
/// then.
fn at_a_terminal(sandbox: &testkit::Sandbox, line: &str, answer: &str) -> Option<testkit::Ran> {
    let program = env!("CARGO_BIN_EXE_leftoff");
    let script = format!("printf '{answer}\\n' | script -qec '{program} {line}' /dev/null");
    std::process::Command::new("script").arg("--version").output().ok()?;
    let mut command = sandbox.command(["--version"]);
    let environment: Vec<_> =
        command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))).collect();
    let _ = &mut command;
    let ran = std::process::Command::new("sh")
        .args(["-c", &script])
        .env_clear()
        .envs(environment)
        .current_dir(sandbox.project())
        .output()
        .unwrap();
    Some(testkit::Ran::from(ran))
}

#[test]
fn a_person_says_how_to_go_on() {
    for (answer, phases) in [
        ("g", ["completed", "completed", "completed", "in_progress"]),
        ("b", ["completed", "in_progress", "needs_review", "not_started"]),
    ] {
        let sandbox = essay_in_its_draft();
        sandbox.run(["pause"]).ok();
        std::fs::remove_file(sandbox.path(&workspace("outline.md"))).unwrap();
        let Some(cancelled) = at_a_terminal(&sandbox, "resume", "c") else { return };
        cancelled.code(6);
        at_a_terminal(&sandbox, "resume", answer).unwrap().ok();
        let view = sandbox.run(["status", "--json"]).ok().json();
        assert_eq!((&view["status"], statuses(&view)), (&"active".into(), phases.to_vec()));
        // Going back archives the recorded content of the file.
        assert_eq!(sandbox.path(&workspace("outline.v1.md")).exists(), answer == "b");
    }
}

#[test]
fn a_person_confirms_a_revision() {
    let sandbox = essay_in_its_draft();
    let Some(refused) = at_a_terminal(&sandbox, "revisit thesis --reason moved", "n") else { return };
    refused.code(6);
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["current_phase"]["id"], "draft");
    at_a_terminal(&sandbox, "revisit thesis --reason moved", "y").unwrap().ok();
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["current_phase"]["id"], "thesis");
}
