//! Tests of a map whose tool entered requirements-mapping although there is no requirements.md.

use crate::fresh;
use serde_json::json;

#[test]
fn requirements_mapping_asks_for_nothing_without_requirements() {
    let sandbox = fresh();
    sandbox.at("2026-11-14T11:00:00Z");
    let folder = ".ocr/sessions/2026-11-14-main";
    let state = json!({
        "session_id": "2026-11-14-main", "workflow_type": "map", "status": "active",
        "current_phase": "requirements-mapping", "phase_number": 4, "current_map_run": 1,
        "started_at": "2026-11-14T10:00:00Z", "map_started_at": "2026-11-14T10:00:00Z",
        "updated_at": "2026-11-14T10:50:00Z",
    });
    sandbox.write(&format!("{folder}/state.json"), &state.to_string());
    sandbox.write(&format!("{folder}/discovered-standards.md"), "# Standards");
    for file in ["topology", "flow-analysis"] {
        sandbox.write(&format!("{folder}/map/runs/run-1/{file}.md"), "# Map");
    }
    let moved = sandbox.run(["advance", "--phase", "requirements-mapping", "--json"]).ok().json();
    assert_eq!(moved["current_phase"]["id"], "synthesis");
    let written: serde_json::Value =
        serde_json::from_str(&sandbox.read(&format!("{folder}/state.json"))).unwrap();
    assert_eq!(written["current_phase"], "synthesis");
}

#[test]
fn requirements_mapping_needs_its_file_where_there_are_requirements() {
    let sandbox = fresh();
    sandbox.at("2026-11-14T11:00:00Z");
    let folder = ".ocr/sessions/2026-11-14-main";
    let state = json!({
        "session_id": "2026-11-14-main", "workflow_type": "map", "status": "active",
        "current_phase": "requirements-mapping", "phase_number": 4, "current_map_run": 1,
        "started_at": "2026-11-14T10:00:00Z", "updated_at": "2026-11-14T10:50:00Z",
    });
    sandbox.write(&format!("{folder}/state.json"), &state.to_string());
    sandbox.write(&format!("{folder}/requirements.md"), "# Requirements");
    sandbox.run(["advance", "--phase", "requirements-mapping"]).code(5);
}
