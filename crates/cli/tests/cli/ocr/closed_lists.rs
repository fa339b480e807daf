//! Tests of lists by status, for sessions whose end only files contain.

use crate::fresh;
use serde_json::{Value, json};

#[test]
fn a_session_that_its_tool_closed_is_listed_as_closed_before_it_is_adopted() {
    let sandbox = fresh();
    sandbox.at("2026-11-14T11:00:00Z");
    let started = sandbox.run(["start", "review", "--layout", "ocr", "--json"]).ok().json();
    let id = started["session_id"].as_str().unwrap();
    let state = format!(".ocr/sessions/{id}/state.json");
    let mut fields: Value = serde_json::from_str(&sandbox.read(&state)).unwrap();
    fields["status"] = json!("closed");
    sandbox.write(&state, &fields.to_string());
    for status in ["closed", "completed"] {
        let list = sandbox.run(["list", "--status", status, "--json"]).ok().json();
        assert_eq!(list["sessions"][0]["session_id"], id, "{status}: {list}");
        assert_eq!(list["sessions"].as_array().unwrap().len(), 1, "{status}: {list}");
    }
    let none = sandbox.run(["list", "--status", "abandoned"]).ok();
    let said = format!("{}{}", none.stdout, none.stderr);
    assert_eq!(said, "no sessions with status 'abandoned'; see all: leftoff list --all\n");
}
