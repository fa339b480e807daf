//! Tests of imported sessions that are exported to their own tool. The original data of the tool must still
//! be there.

use super::*;

#[test]
fn a_session_that_was_imported_comes_out_with_all_that_its_file_had() {
    const TEXT: &str = r#"{
  "session_id": "theirs",
  "workflow_type": "ship_v1",
  "target_file": "docs/import.md",
  "current_phase": 2,
  "completed_phases": [0, 1],
  "phase_artifacts": {
    "0": {"phase_number": 0, "evidence": {"ratio": 1.50, "big": 123456789012345678901234567890},
          "outputs": {}, "commands_executed": [], "timestamp": "2026-11-14T09:30:00", "own": [1.0]},
    "1": {"phase_number": 1, "evidence": {"k": true}, "outputs": {}, "commands_executed": [], "timestamp": "2026-11-14T09:40:00"}
  },
  "checkpoints": {"0": "passed", "1": "skipped", "2": "failed"},
  "created_at": "2026-11-14T09:00:00",
  "updated_at": "2026-11-14T09:45:00",
  "metadata": {"total_phases": 3},
  "lifecycle": {"paused": true, "paused_at": "2026-11-14T09:44:00", "paused_reason": "user_request", "own": 1.50}
}"#;
    let sandbox = fresh();
    sandbox.at("2026-11-14T11:00:00Z");
    sandbox.write(OLD, TEXT);
    sandbox.run(["import", OLD]).ok();
    sandbox.run(["export", "--layout", "praxis", "out", "--session", ID]).ok();
    assert_eq!(sandbox.read(&format!("out/{OLD}")), TEXT, "nothing happened since");
    sandbox.run(["resume", ID]).ok();
    sandbox.run(["advance", "--phase", "2", "--evidence", "done=true", "--session", ID]).ok();
    sandbox.run(["export", "--layout", "praxis", "after", "--session", ID]).ok();
    let text = sandbox.read(&format!("after/{OLD}"));
    for part in
        ["\"theirs\"", "\"ratio\": 1.50", "123456789012345678901234567890", "\"own\": [1.0]", "\"own\": 1.50"]
    {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let found = file(&sandbox, &format!("after/{OLD}"));
    assert_eq!(found["completed_phases"], json!([0, 1, 2]));
    assert_eq!(found["phase_artifacts"]["1"]["evidence"], json!({"k": true}), "of a phase that was skipped");
    assert_eq!(found["phase_artifacts"]["2"]["evidence"], json!({"done": true}));
}

#[test]
fn a_session_of_the_second_shape_goes_into_the_folder_of_its_status() {
    const NAME: &str = "workflow_default_7c9e6679-7425-40de-944b-e07fc1f90ae7";
    let place = |status: &str| format!(".praxis-os/state/workflow/{status}/{NAME}.json");
    let sandbox = fresh();
    sandbox.at("2026-11-14T11:00:00Z");
    let mut old = old_file();
    old["status"] = json!("error");
    old["error_reason"] = json!("disk full");
    old["completed_at"] = json!("2026-11-14T09:40:00");
    old["phase_timings"] = json!({});
    old["phase_artifacts"]["0"] = json!([{"file_path": "a.md"}, {"file_path": "b.md"}]);
    sandbox.write(&place("error"), &pretty(&old));
    sandbox.run(["import", &place("error")]).ok();
    sandbox.run(["export", "--layout", "praxis", "before", "--session", NAME]).ok();
    assert!(sandbox.path(&format!("before/{}", place("error"))).is_file(), "it has failed");
    sandbox.run(["retry", "--session", NAME]).ok();
    sandbox.run(["export", "--layout", "praxis", "out", "--session", NAME]).ok();
    assert!(!sandbox.path(&format!("out/{}", place("error"))).exists());
    let found = file(&sandbox, &format!("out/{}", place("active")));
    assert_eq!(
        (&found["status"], &found["error_reason"], &found["completed_at"]),
        (&json!("active"), &Value::Null, &Value::Null)
    );
    assert_eq!(found["phase_artifacts"], old["phase_artifacts"]);
}
