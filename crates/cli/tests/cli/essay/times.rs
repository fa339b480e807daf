//! Tests that the completion times of stages come from the file.

use super::*;

#[test]
fn stages_that_somebody_completed_in_the_file_took_as_long_as_it_says() {
    let sandbox = started();
    sandbox.write(&file("stage-1-thesis.md"), "# Thesis\n");
    sandbox.write(&file("stage-2-outline.md"), "# Outline\n");
    let mut text = state(&sandbox).replacen("current_stage: 1", "current_stage: 3", 1).replacen(
        "\"thesis_development\"",
        "\"argument_development\"",
        1,
    );
    for (stage, end) in [("stage_1:", "10:20"), ("stage_2:", "11:50")] {
        let (before, after) = text.split_once(stage).unwrap();
        let (status, rest) = after.split_once("status: \"").unwrap();
        let (_, rest) = rest.split_once('"').unwrap();
        let rest = rest.replacen("completed_at: null", &format!("completed_at: \"2026-11-14T{end}:00Z\""), 1);
        text = format!("{before}{stage}{status}status: \"completed\"{rest}");
    }
    sandbox.write(&file("session-state.yaml"), &text);
    sandbox.at("2026-11-14T12:00:00Z");
    let durations = || {
        let phases = run(&sandbox, "status --json").json()["phases"].clone();
        let phases = phases.as_array().unwrap().iter();
        phases.map(|phase| phase["duration_seconds"].as_u64()).collect::<Vec<_>>()
    };
    assert_eq!(durations(), [Some(1200), Some(5400), None, None], "{text}");
    run(&sandbox, "note seen");
    assert_eq!(durations(), [Some(1200), Some(5400), None, None]);
    says(&sandbox, &["\"2026-11-14T10:20:00Z\"", "\"2026-11-14T11:50:00Z\""]);
}
