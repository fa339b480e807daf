//! Tests of a phase whose gate failed, and after which the tool continued with the next phase.

use super::audited::describe;
use super::*;

/// A session in phase 2, whose file says that the checkpoint of phase 1 failed.
fn left_behind(completed: &Value) -> Sandbox {
    let sandbox = fresh();
    describe(&sandbox, true);
    sandbox.at("2026-11-14T11:00:00Z");
    let mut old = old_file();
    old["current_phase"] = json!(2);
    old["completed_phases"] = completed.clone();
    old["checkpoints"] = json!({"0": "passed", "1": "failed", "2": "pending"});
    old["phase_artifacts"]["1"] = json!({"phase_number": 1, "evidence": {"coverage": 65}, "outputs": {},
        "commands_executed": [], "timestamp": "2026-11-14T09:30:00.500000"});
    sandbox.write(OLD, &pretty(&old));
    sandbox
}

#[test]
fn a_phase_that_its_tool_left_behind_failed_comes_first_and_can_be_retried() {
    for completed in [json!([0]), json!([0, 1])] {
        let sandbox = left_behind(&completed);
        assert_eq!(view(&sandbox)["status"], "checkpoint_failed", "{completed}");
        let next = crate::unbroken(&sandbox.run(["next"]).ok().stdout);
        assert!(next.contains("leftoff advance --phase 1 --evidence"), "{completed}: {next}");
        sandbox.run(["advance", "--phase", "2"]).code(4);
        let refused = sandbox.run(["retry", "--evidence", "coverage=70"]).code(5).stderr;
        assert!(refused.contains("gate of phase '1'") && refused.contains("coverage-enough"), "{refused}");
        sandbox.run(["retry", "--evidence", "coverage=82"]).ok();
        let found = file(&sandbox, OLD);
        assert_eq!(found["checkpoints"]["1"], "passed", "{completed}");
        assert_eq!(found["completed_phases"], json!([0, 1]), "{completed}");
        sandbox.run(["advance", "--phase", "2"]).ok();
        assert_eq!(view(&sandbox)["status"], "completed", "{completed}");
    }
}

#[test]
fn such_a_phase_is_completed_by_its_number() {
    let sandbox = left_behind(&json!([0]));
    sandbox.run(["advance", "--phase", "1", "--evidence", "coverage=82"]).ok();
    assert_eq!(view(&sandbox)["status"], "active");
    sandbox.run(["advance", "--phase", "2"]).ok();
}

/// The view that the specification describes. It shows a phase whose checkpoint failed with all of its
/// evidence, and the current phase of the file with its time and the estimate. The definition of the workflow
/// may be missing.
#[test]
fn p4_a_failed_phase_is_told_with_its_evidence_and_the_times_of_the_current_one() {
    for defined in [true, false] {
        let sandbox = left_behind(&json!([0, 1]));
        let mut old = file(&sandbox, OLD);
        old["phase_artifacts"]["1"]["evidence"] = json!({"tests_passing": "42/45", "coverage": 65});
        old["phase_timing"] = json!({
            "0": {"started_at": "2026-11-14T06:00:00", "completed_at": "2026-11-14T06:30:00"},
            "1": {"started_at": "2026-11-14T06:30:00", "completed_at": "2026-11-14T07:30:00"},
            "2": {"started_at": "2026-11-14T08:00:00"}});
        sandbox.write(OLD, &pretty(&old));
        if !defined {
            std::fs::remove_file(sandbox.path(METADATA)).unwrap();
        }
        let brief = crate::unbroken(&sandbox.run(["brief"]).ok().stdout);
        assert!(brief.contains("checkpoint FAILED there after 1 h"), "{defined}: {brief}");
        assert!(brief.contains("tests_passing=42/45") && brief.contains("coverage=65"), "{defined}: {brief}");
        assert!(!brief.contains("its items are open"), "{defined}: {brief}");
        assert!(brief.contains("for 3 h (average phase 45 min, longer than usual), unverified"), "{brief}");
        assert!(brief.contains(", about 45 min left"), "{defined}: {brief}");
        let status = sandbox.run(["status"]).ok().stdout;
        let line = status.lines().find(|line| line.contains("] 1 ")).unwrap_or_default();
        assert!(line.contains("[!]") && line.contains("claimed, its gate FAILED"), "{defined}: {status}");
    }
}
