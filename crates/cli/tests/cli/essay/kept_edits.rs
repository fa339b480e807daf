//! Edits by hand that the next command must not undo without a word: what was written there is there after it.

use super::*;

/// Puts texts of the state in place of others, each the first one after the text before it.
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

/// The state as it is once the next commands have been run over an edit, which is kept by them.
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

/// The number of sections stands at two places: the one that was changed counts.
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
    }
    let sandbox = in_stage_4();
    for value in ["true", "false"] {
        let refused = sandbox.run(["set", &format!("birds_eye_approved={value}")]).code(2).stderr;
        assert!(refused.contains("leftoff approve birds-eye"), "{refused}");
    }
    says(&sandbox, &["birds_eye_approved: true"]);
    // Approved anew it is so again.
    run(&sandbox, "revisit argument_development --impact minor --reason words --yes");
    says(&sandbox, &["birds_eye_approved: false"]);
    run(&sandbox, "approve birds-eye");
    says(&sandbox, &["birds_eye_approved: true"]);
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

/// Another writer sorts the keys, and drops one: it is put back as it was, and not from another section.
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
