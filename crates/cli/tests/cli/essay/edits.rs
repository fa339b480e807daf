//! Tests of edits of the state by people and by the pipeline's prompts.

use super::*;

/// Replaces a text in the state.
#[track_caller]
fn edit(sandbox: &Sandbox, old: &str, new: &str) {
    let text = state(sandbox);
    assert_eq!(text.matches(old).count(), 1, "{old:?} is not there once in\n{text}");
    sandbox.write(&file("session-state.yaml"), &text.replace(old, new));
}

fn items(sandbox: &Sandbox) -> Vec<String> {
    let list = run(sandbox, "item list --all --json").json();
    let ids = list["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned());
    ids.filter(|id| id.starts_with("draft")).collect()
}

#[test]
fn a_paragraph_that_the_file_no_longer_counts_is_gone_if_nobody_worked_on_it() {
    let sandbox = in_stage_4();
    run(&sandbox, "item add c --parent draft-2");
    run(&sandbox, "item add d --parent draft-2");
    assert!(
        state(&sandbox).contains("total_paragraphs: 4\n        completed_paragraphs: 1"),
        "{}",
        state(&sandbox)
    );
    run(&sandbox, "checkpoint -m four");
    edit(&sandbox, "total_paragraphs: 4", "total_paragraphs: 2");
    let kept = ["draft-1", "draft-1.1", "draft-1.2", "draft-2", "draft-2.1", "draft-2.2"];
    assert_eq!(items(&sandbox), kept, "shown at once");
    let view = run(&sandbox, "status --json").json();
    assert_eq!(view["item_counts"], serde_json::json!({"total": 6, "done": 4}));
    run(&sandbox, "item done draft-2.2");
    assert_eq!(items(&sandbox), kept, "and so it stays");
    says(&sandbox, &["total_paragraphs: 2\n        completed_paragraphs: 2\n        status: \"completed\""]);
    let log = run(&sandbox, "log").stdout;
    assert!(log.contains("item draft-2.3 removed"), "{log}");
    assert_eq!(run(&sandbox, "doctor --json").json()["findings"], serde_json::json!([]));
    // Restores the old number.
    edit(
        &sandbox,
        "total_paragraphs: 2\n        completed_paragraphs: 2\n        status: \"completed\"\n        voice_check_score: null",
        "total_paragraphs: 3\n        completed_paragraphs: 2\n        status: \"in_progress\"\n        voice_check_score: null",
    );
    assert_eq!(items(&sandbox).last().map(String::as_str), Some("draft-2.3"));
    run(&sandbox, "undo --to four");
    assert_eq!(
        items(&sandbox)[4..],
        ["draft-2.1", "draft-2.2", "draft-2.3", "draft-2.4"],
        "undone, all is back"
    );
    assert_eq!(run(&sandbox, "doctor --json").json()["findings"], serde_json::json!([]));
}

#[test]
fn a_paragraph_that_was_approved_or_has_content_stays_with_a_warning() {
    let sandbox = in_stage_4();
    run(&sandbox, "item add c --parent draft-2");
    run(&sandbox, "item add d --parent draft-2");
    run(&sandbox, "item done draft-2.3");
    run(&sandbox, "item set draft-2.4 words=120");
    edit(
        &sandbox,
        "total_paragraphs: 4\n        completed_paragraphs: 2",
        "total_paragraphs: 1\n        completed_paragraphs: 1",
    );
    let seen = run(&sandbox, "status --json").json();
    let warned = seen["warnings"].to_string();
    for id in ["draft-2.3", "draft-2.4"] {
        assert!(warned.contains(&format!("the files no longer list {id}")), "{warned}");
    }
    assert_eq!(items(&sandbox)[3..], ["draft-2", "draft-2.1", "draft-2.3", "draft-2.4"]);
    run(&sandbox, "note go~on");
    assert_eq!(items(&sandbox)[3..], ["draft-2", "draft-2.1", "draft-2.3", "draft-2.4"]);
    assert_eq!(run(&sandbox, "doctor --json").json()["findings"], serde_json::json!([]));
}

/// A deferred verification and an override, changed by hand in the file.
#[test]
fn changed_fields_of_a_claim_and_of_an_override_are_taken_in() {
    let sandbox = in_stage_4();
    edit(&sandbox, "reason: \"timeout\"", "reason: \"no_results\"   # tried again");
    edit(&sandbox, "user_rationale: \"seen\"", "user_rationale: \"it is in the register\"");
    edit(&sandbox, "claim_text: \"The pier is older\"", "claim_text: \"The pier is older than the town\"");
    let notes = |sandbox: &Sandbox| run(sandbox, "show --json").json()["notes"].clone();
    let check = |notes: &serde_json::Value| {
        assert_eq!(notes.as_array().unwrap().len(), 2, "{notes:#}");
        assert_eq!(notes[0]["fields"]["reason"], "no_results");
        assert_eq!(notes[1]["fields"]["user_rationale"], "it is in the register");
        assert_eq!(notes[1]["text"], "The pier is older than the town");
        assert_eq!(notes[1]["fields"]["fact_checker_result"], "disputed", "what was not changed stays");
    };
    check(&notes(&sandbox));
    run(&sandbox, "set pushback_level=full");
    check(&notes(&sandbox));
    says(&sandbox, &["reason: \"no_results\"   # tried again"]);
    assert_eq!(state(&sandbox).matches("claim_text").count(), 2, "no entry twice");
    let log = run(&sandbox, "log").stdout;
    assert!(log.contains("note 1 changed: reason=no_results"), "{log}");
    // The verification was resolved by hand, and is reopened by hand.
    edit(&sandbox, "resolved: false", "resolved: true");
    assert!(notes(&sandbox)[0]["resolved_at"].is_string());
    run(&sandbox, "note seen");
    edit(&sandbox, "resolved: true", "resolved: false");
    run(&sandbox, "note seen~again");
    assert!(notes(&sandbox)[0]["resolved_at"].is_null());
    says(&sandbox, &["resolved: false"]);
}

/// An exported state names its new folder, and is otherwise unchanged.
#[test]
fn an_export_names_the_folder_that_it_is_in() {
    let sandbox = in_stage_4();
    let before = state(&sandbox);
    let (here, there) = (sandbox.path(FOLDER), sandbox.path("out").join(FOLDER));
    let (here, there) = (here.to_str().unwrap(), there.to_str().unwrap());
    assert!(before.contains(&format!("session_dir: \"{here}\"")), "{before}");
    for line in ["export --layout essay out", "import --layout essay FOLDER"] {
        run(&sandbox, &line.replace("FOLDER", FOLDER));
        assert_eq!(state(&sandbox), before, "{line}: its own file stays");
    }
    let written = std::fs::read_to_string(std::path::Path::new(there).join("session-state.yaml")).unwrap();
    for key in ["session_dir", "thesis_file", "outline_file", "argument_map_file"] {
        assert!(written.contains(&format!("{key}: \"{there}")), "{key} in\n{written}");
    }
    assert_eq!(written.replace(there, here), before, "nothing else is another");
    run(&sandbox, &format!("import {FOLDER}"));
    run(&sandbox, &format!("export --layout essay again --session {FOLDER}"));
    let again = sandbox.read(&format!("again/{FOLDER}/session-state.yaml"));
    assert!(again.contains(&format!("session_dir: \"{}", sandbox.path("again").display())), "{again}");
}

/// Paths in an export refer to documents that are in the export.
#[test]
fn an_essay_that_was_finished_after_its_import_names_its_final_version_in_an_export() {
    let sandbox = in_stage_4();
    run(&sandbox, &format!("import {FOLDER}"));
    for line in ["resume", "item done draft-2.2", "item set draft-2 voice_check_score=4", "note resolve 1"] {
        run(&sandbox, line);
    }
    sandbox.write(&format!(".leftoff/sessions/{FOLDER}/final-essay.md"), "one two three\n");
    run(&sandbox, "advance --phase paragraph_writing --evidence fact_check_sweep=true");
    run(&sandbox, &format!("export --layout essay out --session {FOLDER}"));
    let text = sandbox.read(&format!("out/{FOLDER}/session-state.yaml"));
    let place = sandbox.path("out").join(FOLDER).join("final-essay.md");
    assert!(text.contains(&format!("final_essay_file: \"{}\"", place.display())), "{text}");
    assert!(text.contains("total_word_count: 3\n"), "{text}");
}

#[test]
fn a_folder_that_is_named_relative_to_itself_is_left_so() {
    let sandbox = by_hand();
    run(&sandbox, &format!("export --layout essay out --session {FOLDER}"));
    assert_eq!(sandbox.read(&format!("out/{FOLDER}/session-state.yaml")), BY_HAND);
}

/// The id of a section shows its stage, whatever stage is current.
#[test]
fn a_section_goes_where_its_id_says() {
    let sandbox = started();
    run(&sandbox, "item add Draft --id draft-1");
    run(&sandbox, "item add Map --id section-1");
    run(&sandbox, "item add Other --id other-1");
    run(&sandbox, "item add Elsewhere --id draft-9 --phase argument_development");
    let list = run(&sandbox, "item list --all --json").json();
    let found: Vec<(String, String, String)> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| {
            let text = |key: &str| item[key].as_str().unwrap().to_owned();
            (text("id"), text("phase"), text("kind"))
        })
        .collect();
    for (id, phase, kind) in [
        ("draft-1", "paragraph_writing", "section"),
        ("section-1", "argument_development", "section"),
        ("other-1", "argument_development", "section"),
        ("draft-9", "argument_development", "section"),
    ] {
        assert!(found.contains(&(id.to_owned(), phase.to_owned(), kind.to_owned())), "{id}: {found:?}");
    }
    let text = state(&sandbox);
    let (third, fourth) = text.split_once("  stage_4:").unwrap();
    assert!(third.contains("section_index: 1") && fourth.contains("section_index: 1"), "{text}");
}

/// The file alone does not prove the stage, because the evidence and the user's approval are missing.
#[test]
fn a_stage_that_somebody_calls_completed_is_a_claim_until_its_gate_passes() {
    let sandbox = started();
    sandbox.write(&file("stage-1-thesis.md"), "x\n");
    let good = state(&sandbox);
    let at = good.find("  stage_1:").expect("the first stage");
    let text = format!("{}{}", &good[..at], good[at..].replacen("\"in_progress\"", "\"completed\"", 1));
    let text = text.replace("current_stage: 1", "current_stage: 2");
    assert_ne!(text, state(&sandbox), "{text}");
    sandbox.write(&file("session-state.yaml"), &text);
    let gate =
        |sandbox: &Sandbox| run(sandbox, "status --json").json()["phases"][0]["gate"]["outcome"].clone();
    assert_eq!(gate(&sandbox), "claimed", "{}", state(&sandbox));
    run(&sandbox, "note go~on");
    assert_eq!(gate(&sandbox), "claimed");
    run(&sandbox, "set claim_type=argument");
    let held = sandbox.run(
        "advance --phase thesis_development --evidence specific=true --evidence defensible=true".split(' '),
    );
    let held = held.code(5);
    assert!(held.stderr.contains("thesis-approved"), "nobody has approved it");
    assert!(
        held.stderr.contains("leftoff approve thesis-approved. Then: leftoff advance"),
        "{}",
        held.stderr
    );
    assert_eq!(gate(&sandbox), "claimed");
    // The work has advanced to the next stage. Then a person checks the gate, approves it, and completes the
    // stage.
    let seen = sandbox.run(["gate", "--phase", "thesis_development"]).code(5);
    assert!(seen.stdout.contains("FAIL thesis-approved (approval): not approved yet"), "{}", seen.stdout);
    run(&sandbox, "approve thesis-approved --phase thesis_development");
    assert_eq!(gate(&sandbox), "claimed", "a yes is not all that its gate asks for");
    run(&sandbox, "advance --phase thesis_development --evidence specific=true --evidence defensible=true");
    assert_eq!(gate(&sandbox), "passed");
    says(&sandbox, &["current_stage: 2"]);
    let done = sandbox.run(["approve", "thesis-approved", "--phase", "1"]).code(3);
    assert!(done.stderr.contains("nothing in this phase waits for approval"), "{}", done.stderr);
    let later = sandbox.run(["approve", "birds-eye", "--phase", "3"]).code(3);
    assert!(later.stderr.contains("nothing in this phase waits for approval"), "{}", later.stderr);
    sandbox.run(["approve", "birds-eye", "--phase", "9"]).code(3);
}

/// A failed gate prints a command that can be run unchanged. If only one claimed stage has the check,
/// `--phase` is not needed.
#[test]
fn a_check_of_a_claimed_stage_is_found_by_its_name() {
    let sandbox = by_hand();
    std::fs::remove_file(sandbox.path(&file("stage-1-thesis.md"))).unwrap();
    run(&sandbox, "note taken~in");
    sandbox.write(&file("stage-1-thesis.md"), "Harbours make towns.\n");
    let unknown = sandbox.run(["approve", "nothing"]).code(3);
    assert!(
        unknown.stderr.contains("these checks wait for approval: birds-eye, thesis-approved"),
        "{}",
        unknown.stderr
    );
    run(&sandbox, "approve thesis-approved");
    run(&sandbox, "advance --phase 1 --evidence specific=true --evidence defensible=true");
    let view = run(&sandbox, "status --json").json();
    assert_eq!(view["phases"][0]["gate"]["outcome"], "passed");
}

/// All stages were finished by hand, and each of them can still be proven.
#[test]
fn claimed_stages_of_a_session_that_a_file_calls_completed_can_be_approved() {
    let sandbox = started();
    for name in ["stage-1-thesis.md", "stage-4-draft.md"] {
        sandbox.write(&file(name), "## One\n\nHarbours make towns.\n");
    }
    let text = state(&sandbox)
        .replace("    status: \"in_progress\"", "    status: \"completed\"")
        .replace("    status: \"not_started\"", "    status: \"completed\"")
        .replacen("status: \"in_progress\"", "status: \"completed\"", 1)
        .replace("current_stage: 1", "current_stage: 4")
        .replace("claim_type: null", "claim_type: \"argument\"");
    sandbox.write(&file("session-state.yaml"), &text);
    run(&sandbox, &format!("approve thesis-approved --phase 1 --session {FOLDER}"));
    run(
        &sandbox,
        &format!("advance --phase 1 --evidence specific=true --evidence defensible=true --session {FOLDER}"),
    );
    let view = run(&sandbox, &format!("status --json --session {FOLDER}")).json();
    assert_eq!(
        (&view["status"], &view["phases"][0]["gate"]["outcome"]),
        (&"completed".into(), &"passed".into())
    );
    assert_eq!(view["phases"][1]["gate"]["outcome"], "claimed");
}

#[test]
fn a_key_that_is_missing_from_an_entry_of_a_list_is_no_deletion() {
    let sandbox = in_stage_4();
    run(&sandbox, "item add c --parent draft-2");
    let (before, good) = (items(&sandbox), state(&sandbox));
    let at = good.rfind("total_paragraphs: 3").expect("the second section");
    for (old, new) in [
        ("total_paragraphs: 3\n", ""),
        ("total_paragraphs: 3\n", "total_paragraphs: null\n"),
        ("total_paragraphs: 3\n", "total_paragraphs: \"x\"\n"),
        ("total_paragraphs: 3\n", "total_paragraphs: []\n"),
        ("completed_paragraphs: 1\n", ""),
        ("completed_paragraphs: 1\n", "completed_paragraphs: [1]\n"),
        ("status: \"in_progress\"\n", ""),
    ] {
        let changed = good[at..].replacen(old, new, 1);
        assert_ne!(changed, good[at..], "{old}: {good}");
        // The empty line after the entry is removed.
        let text = format!("{}{changed}", &good[..at])
            .replace("        \n", "")
            .replace("                ", "        ");
        sandbox.write(&file("session-state.yaml"), &text);
        assert_eq!(items(&sandbox), before, "{new}");
        let view = run(&sandbox, "status --json").json();
        assert_eq!(view["item_counts"], serde_json::json!({"total": 7, "done": 4}), "{new}: {text}");
        run(&sandbox, "set calibration_notes=calm");
        says(&sandbox, &["total_paragraphs: 3", "completed_paragraphs: 1"]);
    }
}

#[test]
fn a_session_that_was_edited_and_left_alone_since_is_paused() {
    let sandbox = started();
    edit(&sandbox, "pushback_level: \"full\"", "pushback_level: \"light\"");
    let at: jiff::Timestamp = "2026-11-14T11:30:00Z".parse().unwrap();
    let edited =
        std::fs::File::options().write(true).open(sandbox.path(&file("session-state.yaml"))).unwrap();
    edited.set_modified(std::time::SystemTime::from(at)).unwrap();
    sandbox.at("2026-11-15T11:00:00Z");
    assert_eq!(run(&sandbox, "status --json").json()["lifecycle"]["state"], "active");
    sandbox.at("2026-11-15T12:00:00Z");
    assert_eq!(run(&sandbox, "status --json").json()["lifecycle"]["reason"], "inactivity");
    sandbox.at("2026-11-23T12:00:00Z");
    let warned = run(&sandbox, "status").stderr;
    assert!(warned.contains("session essay-pipeline-20261114-100000 has had no activity for"), "{warned}");
}

/// The tool writes twice by its own protocol, each time with the version before as the backup.
#[test]
fn two_writes_of_the_tool_are_adopted_and_told_once() {
    let sandbox = in_stage_4();
    let path = file("session-state.yaml");
    for level in ["light", "minimal"] {
        let before = state(&sandbox);
        let line = before.lines().find(|line| line.starts_with("pushback_level:")).unwrap();
        let after = before.replace(line, &format!("pushback_level: \"{level}\""));
        sandbox.write(&format!("{path}.tmp"), &after);
        std::fs::copy(sandbox.path(&path), sandbox.path(&format!("{path}.bak"))).unwrap();
        std::fs::rename(sandbox.path(&format!("{path}.tmp")), sandbox.path(&path)).unwrap();
    }
    let said = run(&sandbox, "set audience=expert").stderr;
    assert_eq!(said.matches("were adopted").count(), 1, "{said}");
    says(&sandbox, &["pushback_level: \"minimal\""]);
    assert!(!sandbox.path(".leftoff/aside").exists(), "the tool's own backup is no stranger's");
}
