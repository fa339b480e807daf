//! Tests of what a user learns who returns after a restart or days later: everything that the newest format
//! records for this purpose.

use super::*;

/// A session with six phases. Phases 0 and 1 took 30 and 45 minutes; phase 2 has been in progress for two
/// hours, and its checkpoint failed.
fn half_way() -> Sandbox {
    let sandbox = fresh();
    let names = ["Planning", "Setup", "Implementation", "Testing", "Review", "Release"];
    let phases: Vec<Value> =
        (0..).zip(names).map(|(number, name)| json!({"phase_number": number, "phase_name": name})).collect();
    let metadata =
        json!({"workflow_type": "spec_execution_v1", "version": "v1", "total_phases": 6, "phases": phases});
    sandbox.write(".praxis-os/workflows/spec_execution_v1/metadata.json", &metadata.to_string());
    sandbox.write(
        ".praxis-os/workflows/spec_execution_v1/phases/2/gate-definition.yaml",
        "checkpoint: {strict: true}\nevidence_schema:\n  coverage: {type: integer, required: true, validator: enough}\nvalidators:\n  enough: \"lambda x: x >= 80\"\n",
    );
    let artifact = |number: u32, evidence: Value, at: &str| json!({"phase_number": number, "evidence": evidence, "outputs": {}, "commands_executed": [], "timestamp": at});
    let state = json!({
        "session_id": "abc-123", "workflow_type": "spec_execution_v1", "target_file": ".praxis-os/specs/my-spec",
        "current_phase": 2, "completed_phases": [0, 1],
        "phase_artifacts": {
            "0": artifact(0, json!({"plan": "agreed"}), "2026-11-14T08:00:00Z"),
            "1": artifact(1, json!({}), "2026-11-14T08:45:00Z"),
            "2": artifact(2, json!({"coverage": 65}), "2026-11-14T10:40:00Z")},
        "checkpoints": {"0": "passed", "1": "passed", "2": "failed"},
        "created_at": "2026-11-14T07:30:00Z", "updated_at": "2026-11-14T10:40:00Z", "metadata": {},
        "workflow_structure": {"total_phases": 6, "starting_phase": 0, "indexing_scheme": "zero_based", "workflow_version": "v1"},
        "phase_timing": {
            "0": {"started_at": "2026-11-14T07:30:00Z", "completed_at": "2026-11-14T08:00:00Z"},
            "1": {"started_at": "2026-11-14T08:00:00Z", "completed_at": "2026-11-14T08:45:00Z"},
            "2": {"started_at": "2026-11-14T08:45:00Z"}},
        "lifecycle": {"completed": false, "paused": false, "resume_count": 0},
    });
    sandbox.write(".praxis-os/.cache/state/abc-123.json", &pretty(&state));
    sandbox.at("2026-11-14T10:45:00Z");
    sandbox
}

#[test]
fn a_brief_has_progress_times_verdicts_status_and_what_is_next() {
    let sandbox = half_way();
    let brief = crate::unbroken(&sandbox.run(["brief", "--session", "abc-123"]).ok().stdout);
    for part in [
        "(session abc-123)",
        "Target: \".praxis-os/specs/my-spec\"",
        "Phase 2 of 6, Implementation, for 2 h (average phase 37 min, longer than usual)",
        "2 of 6 phases done (33 %), about 2 h 30 min left.",
        "Workflow spec_execution_v1",
        "- 0 Planning (30 min, no gate): plan=agreed",
        "- 1 Setup (45 min, no gate)",
        "Failed: attempt 1 of Implementation, 10:40 UTC",
        "coverage=65",
        "Then try phase 2 again",
        "leftoff advance --phase 2 --evidence 'coverage=<number>'",
        "Started 3 hours ago.",
        ", 5 minutes ago.",
    ] {
        assert!(brief.contains(part), "{part} is not in\n{brief}");
    }
}

#[test]
fn what_was_tried_is_tried_again_and_the_failed_attempt_is_kept() {
    let sandbox = half_way();
    sandbox.run(["retry", "--session", "abc-123", "--evidence", "coverage=82"]).ok();
    let found = file(&sandbox, ".praxis-os/.cache/state/abc-123.json");
    let tried = &found["metadata"]["attempts"]["2"];
    assert_eq!((&tried[0]["outcome"], &tried[1]["outcome"]), (&json!("failed"), &json!("passed")));
    assert_eq!(found["phase_timing"]["2"]["duration_seconds"], 7200);
    assert_eq!((&found["current_phase"], &found["checkpoints"]["2"]), (&json!(3), &json!("passed")));
}

/// The phases have no names, and the file does not contain their number.
#[test]
fn what_has_no_name_is_not_told_twice_and_what_is_over_has_no_time_left() {
    let sandbox = with_old();
    edit(&sandbox, OLD, |value| drop(value["metadata"].as_object_mut().unwrap().remove("total_phases")));
    let status = sandbox.run(["status", "--session", ID]).ok().stdout;
    assert!(status.contains("Next: Phase 1.\n"), "{status}");
    let brief = sandbox.run(["brief", "--session", ID]).ok().stdout;
    assert!(brief.contains("Next:\nPhase 1.\n"), "{brief}");
    assert!(brief.contains("- Phase 0 (30 min, no gate)"), "{brief}");
    sandbox.run(["advance", "--phase", "1", "--session", ID]).ok();
    sandbox.run(["close", "--session", ID]).ok();
    let closed = sandbox.run(["status", "--session", ID]).ok().stdout;
    assert!(closed.contains("2 of 3 phases done (67 %)\n"), "{closed}");
}
