//! A phase whose gate failed according to its tool, and which the tool left behind.

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
        sandbox.run(["retry", "--evidence", "coverage=70"]).code(5);
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
