//! Tests that undo restores the file, byte for byte.

use super::*;

fn without_time(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with("last_activity")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn what_was_undone_is_not_in_the_file_any_more() {
    let sandbox = in_stage_4();
    let before = without_time(&state(&sandbox));
    let lines = [
        "item done draft-2.2",
        "item set draft-1 voice_check_score=3",
        "item set draft-2 voice_check_score=3",
        "item set section-1 --count deferred_claims=+2",
        "item add Three --id draft-3",
        "item add c --parent draft-2",
        "note Another~claim --kind deferred --field reason=timeout",
        "note Another~word --kind override",
        "note resolve 1",
        "set calibration_notes=x",
        "set pushback_level=minimal",
        "set voice_reference_mode=sample",
        "set --phase 4 draft_file=stage-4-draft.md",
        "set total_word_count=7",
        "revisit argument_development --impact minor --reason words --yes",
    ];
    for (number, line) in lines.into_iter().enumerate() {
        sandbox.at(&format!("2026-11-14T11:{:02}:00Z", 2 * number));
        run(&sandbox, line);
        assert_ne!(without_time(&state(&sandbox)), before, "{line}");
        sandbox.at(&format!("2026-11-14T11:{:02}:00Z", 2 * number + 1));
        run(&sandbox, "undo");
        assert_eq!(without_time(&state(&sandbox)), before, "{line}");
        assert_eq!(run(&sandbox, "doctor --json").json()["findings"], serde_json::json!([]), "{line}");
    }
    // Redoing the undone change restores it.
    sandbox.at("2026-11-14T12:00:00Z");
    run(&sandbox, "note Another~claim --kind deferred --field reason=timeout");
    let noted = without_time(&state(&sandbox));
    for (minute, command) in [(1, "undo"), (2, "redo")] {
        sandbox.at(&format!("2026-11-14T12:0{minute}:00Z"));
        run(&sandbox, command);
    }
    assert_eq!(without_time(&state(&sandbox)), noted);
}
