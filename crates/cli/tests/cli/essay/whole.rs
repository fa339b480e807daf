//! One essay from its start to its end. leftoff starts it, and edits of its YAML advance it, as the
//! pipeline's prompts make them. It is damaged in six ways. It is recovered from its backup, from its
//! artifacts, and, without its log, by asking. Nothing is lost.

use super::*;
use crate::statuses;

const STATE: &str = "session-state.yaml";

fn at(sandbox: &Sandbox) -> (Vec<String>, serde_json::Value) {
    let view = run(sandbox, "status --json").json();
    (statuses(&view).iter().map(ToString::to_string).collect(), view)
}

fn told(view: &serde_json::Value) -> String {
    view["warnings"].to_string()
}

/// Edits the file as the pipeline does: changes several lines at once, and adds a comment.
fn edit(sandbox: &Sandbox, changes: &[(&str, &str)]) {
    let mut text = state(sandbox);
    for (old, new) in changes {
        assert_eq!(text.matches(old).count(), 1, "{old:?} is not there once in\n{text}");
        text = text.replace(old, new);
    }
    sandbox.write(&file(STATE), &text);
}

/// Completes stage 1 by commands. Completes stages 2 and 3, and two paragraphs of stage 4, by hand.
fn half_way() -> Sandbox {
    let sandbox = fresh();
    sandbox.at("2026-11-14T10:00:00Z");
    run(&sandbox, &format!("start --layout essay --id {FOLDER} --title Harbours"));
    sandbox.write(&file("stage-1-thesis.md"), "Harbours make towns.\n");
    run(&sandbox, "set claim_type=argument pushback_level=light");
    super::gates::approve(&sandbox, "thesis-approved");
    run(&sandbox, "advance --phase thesis_development --evidence specific=true --evidence defensible=true");
    sandbox.at("2026-11-14T11:00:00Z");
    sandbox.write(&file("stage-2-outline.md"), "# Outline\n## Section 1\n## Section 2\n");
    edit(
        &sandbox,
        &[
            ("current_stage: 2  #", "current_stage: 3  # by hand;"),
            ("\"essay_structuring\"", "\"argument_development\""),
            (
                "  stage_2:\n    status: \"in_progress\"\n    outline_file: null\n    total_sections: null\n    target_word_count: null\n    audience: null",
                "  stage_2:\n    status: \"completed\"\n    outline_file: \"stage-2-outline.md\"\n    total_sections: 2\n    target_word_count: 2000\n    audience: \"general\"",
            ),
            (
                "  stage_3:\n    status: \"not_started\"\n    total_sections: null\n    current_section: null\n    sections: []",
                "  stage_3:\n    status: \"in_progress\"\n    total_sections: 2\n    current_section: 1\n    sections:\n      - section_index: 1\n        status: \"completed\"  # Ada said yes\n        argument_map_file: \"stage-3-section-1-arguments.md\"\n        verified_claims: 3\n        deferred_claims: 1\n        completed_at: \"2026-11-14T10:40:00Z\"\n      - section_index: 2\n        status: \"in_progress\"\n        argument_map_file: null\n        verified_claims: 0\n        deferred_claims: 0\n        completed_at: null",
            ),
            (
                "deferred_verifications: []",
                "deferred_verifications:\n  - claim_text: \"Half of all harbours silt up\"\n    section: 1\n    paragraph: null\n    reason: \"timeout\"\n    added_at: \"2026-11-14T10:41:00Z\"\n    resolved: false",
            ),
        ],
    );
    sandbox.write(&file("stage-3-section-1-arguments.md"), "map\n");
    assert_eq!(at(&sandbox).0, ["completed", "completed", "in_progress", "not_started"]);
    run(&sandbox, "note the~maps~are~half~done");
    sandbox.write(&file("stage-3-section-2-arguments.md"), "map\n");
    sandbox.write(&file("stage-4-draft.md"), "# Harbours\n\n## Sand\n\nOne two.\n\nThree.\n");
    edit(
        &sandbox,
        &[
            ("current_stage: 3  #", "current_stage: 4  #"),
            ("\"argument_development\"", "\"paragraph_writing\""),
            (
                "    status: \"in_progress\"\n    total_sections: 2\n    current_section: 1",
                "    status: \"completed\"\n    total_sections: 2\n    current_section: 2",
            ),
            (
                "        status: \"in_progress\"\n        argument_map_file: null",
                "        status: \"completed\"\n        argument_map_file: \"stage-3-section-2-arguments.md\"",
            ),
            ("birds_eye_approved: false", "birds_eye_approved: true"),
            (
                "  stage_4:\n    status: \"not_started\"\n    current_section: null\n    current_paragraph: null\n    draft_file: null\n    paragraph_log: null\n    sections: []",
                "  stage_4:\n    status: \"in_progress\"\n    current_section: 1\n    current_paragraph: 3\n    draft_file: \"stage-4-draft.md\"\n    paragraph_log: null\n    sections:\n      - section_index: 1\n        total_paragraphs: 3\n        completed_paragraphs: 2\n        status: \"in_progress\"\n        voice_check_score: null\n      - section_index: 2\n        total_paragraphs: 1\n        completed_paragraphs: 0\n        status: \"not_started\"\n        voice_check_score: null",
            ),
        ],
    );
    sandbox
}

const STANDS: [&str; 4] = ["completed", "completed", "completed", "in_progress"];

/// While the log exists, every damage to the file is repaired, byte for byte.
fn survives_damage(sandbox: &Sandbox) {
    let path = sandbox.path(&file(STATE));
    let good = std::fs::read(&path).unwrap();
    let mut no_text = good.clone();
    no_text[20] = 0xff;
    for (name, damage) in [
        ("truncated", good[..good.len() / 2].to_vec()),
        ("emptied", Vec::new()),
        ("null", b"null\n".to_vec()),
        ("of wrong types", b"status: in_progress\ncurrent_stage: [4]\nstages: 7\n".to_vec()),
        ("no UTF-8", no_text),
    ] {
        std::fs::write(&path, &damage).unwrap();
        let (stands, view) = at(sandbox);
        assert_eq!(stands, STANDS, "{name}");
        assert!(told(&view).contains("is damaged"), "{name}: {}", told(&view));
        assert_eq!(std::fs::read(&path).unwrap(), damage, "{name}: a question leaves it");
        sandbox.run(["doctor"]).code(4);
        run(sandbox, "repair");
        assert_eq!(std::fs::read(&path).unwrap(), good, "{name}");
        let aside = std::fs::read_dir(sandbox.path(&format!(".leftoff/aside/{FOLDER}"))).unwrap();
        assert!(
            aside.flatten().any(|entry| std::fs::read(entry.path()).unwrap() == damage),
            "{name}: set aside"
        );
    }
    std::fs::remove_file(&path).unwrap();
    assert_eq!(at(sandbox).0, STANDS, "missing");
    run(sandbox, "repair");
    assert_eq!(std::fs::read(&path).unwrap(), good, "missing");
}

/// Without the log, each of the three levels of recovery is used, with the pipeline's report.
fn is_told_without_its_log(sandbox: &Sandbox) {
    let away = fresh();
    away.at("2026-11-14T12:00:00Z");
    for entry in std::fs::read_dir(sandbox.path(FOLDER)).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        away.write(&file(&name), &std::fs::read_to_string(entry.path()).unwrap());
    }
    away.write(&file(STATE), "status: \"in_progress\nstages: [\n");
    let (_, view) = at(&away);
    assert!(
        told(&view).contains("Session state recovered from backup. Last state update may be lost."),
        "{}",
        told(&view)
    );
    away.write(&file("session-state.yaml.bak"), "");
    let (stands, view) = at(&away);
    assert!(
        told(&view)
            .contains("Session state reconstructed from artifact files. Some metadata may be approximate."),
        "{}",
        told(&view)
    );
    assert_eq!(stands, STANDS, "thesis, outline, two maps and a draft show as much");
    let own = run(&away, &format!("show {FOLDER}")).stdout;
    assert!(own.contains("Section 1: 2/2 paragraphs approved"), "by the draft's own headings: {own}");
    for artifact in [
        "stage-1-thesis.md",
        "stage-2-outline.md",
        "stage-3-section-1-arguments.md",
        "stage-3-section-2-arguments.md",
        "stage-4-draft.md",
    ] {
        std::fs::remove_file(away.path(&file(artifact))).unwrap();
    }
    away.write(&file("stage-1-thesis.v1.md"), "archived\n");
    let (stands, view) = at(&away);
    assert!(
        told(&view).contains("Session state could not be automatically recovered. Available artifact files: stage-1-thesis.v1.md. Choose where to resume: leftoff repair"),
        "{}",
        told(&view)
    );
    assert_eq!(stands[0], "in_progress", "it stands at stage 1 until somebody says");
    away.run(["repair"]).code(6);
    run(&away, "repair --at essay_structuring");
    assert!(away.read(&file(STATE)).contains("current_stage: 2"));
}

#[test]
fn begun_by_us_edited_by_hand_damaged_recovered_and_finished() {
    let sandbox = half_way();
    assert_eq!(at(&sandbox).0, STANDS);
    sandbox.at("2026-11-14T12:00:00Z");
    run(&sandbox, "item done draft-1.3");
    says(&sandbox, &["completed_paragraphs: 3", "# by hand;", "# Ada said yes"]);
    survives_damage(&sandbox);
    is_told_without_its_log(&sandbox);
    // A claimed stage can be proven by its gate. Work can continue even if it is not.
    let (_, view) = at(&sandbox);
    let outcomes: Vec<&str> = view["phases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|phase| phase["gate"]["outcome"].as_str().unwrap())
        .collect();
    assert_eq!(outcomes, ["passed", "claimed", "claimed", "open"], "what lies there is no approval");
    run(&sandbox, "item set draft-1 voice_check_score=4");
    run(&sandbox, "item done draft-2.1");
    run(&sandbox, "item set draft-2 voice_check_score=5");
    run(&sandbox, "note resolve 1");
    sandbox.write(&file("final-essay.md"), "# Harbours\n\none two three four five six\n");
    sandbox.at("2026-11-14T13:00:00Z");
    let done = run(&sandbox, "advance --phase paragraph_writing --evidence fact_check_sweep=true");
    assert!(
        done.stderr.starts_with(
            "Essay completed.\nWord count: 6\nSections: 2\nSources verified: 3\nVoice score: 4.5\nOverrides: 0\nDeferred claims resolved: 1 of 1\nTime spent: "
        ),
        "{}",
        done.stderr
    );
    says(
        &sandbox,
        &[
            "status: \"completed\"  # in_progress |",
            "# by hand;",
            "status: \"completed\"  # Ada said yes",
            "claim_type: \"argument\"",
            "pushback_level: \"light\"",
            "resolved: true",
            "total_word_count: 6",
            "voice_consistency_score: 4.5",
        ],
    );
    let shown = run(&sandbox, "show --json").json();
    assert!(shown["notes"].to_string().contains("the maps are half done"));
    assert_eq!(run(&sandbox, "doctor --json").json()["findings"], serde_json::json!([]));
}
