//! Workflows that are defined in the tool's own files.

use super::*;

#[test]
fn an_unknown_workflow_is_refused_with_the_names_that_there_are() {
    let sandbox = fresh();
    define(&sandbox);
    let refused = sandbox.run(["start", "ship_v2", "--layout", "praxis", "--json"]).code(3);
    assert_eq!(refused.error()["kind"], "unknown_workflow");
    assert!(refused.error()["hint"].as_str().unwrap().contains("ship_v1"), "{}", refused.stderr);
    sandbox.run(["start", "../ship_v1", "--layout", "praxis"]).code(3);
    assert!(!sandbox.path(".praxis-os/.cache").exists());
}

#[test]
fn a_lambda_that_is_not_simple_is_refused_by_name_and_nothing_is_evaluated() {
    let sandbox = fresh();
    define(&sandbox);
    let gate = sandbox.read(GATE).replace("lambda x: x > 0", "lambda x: open('evaluated', 'w') and x > 0");
    sandbox.write(GATE, &gate);
    let refused = sandbox.run(["start", "ship_v1", "--layout", "praxis"]).code(4);
    assert!(
        refused.stderr.contains("validator 'positive' of the field 'tests' uses 'open'"),
        "{}",
        refused.stderr
    );
    assert!(!sandbox.path("evaluated").exists());
    // A session that follows it already goes on, and the rule waits for a person.
    sandbox.at("2026-11-14T11:00:00Z");
    sandbox.write(OLD, &pretty(&old_file()));
    let held = sandbox.run(["advance", "--phase", "1", "--evidence", "tests=3", "--session", ID]).code(5);
    assert!(held.stderr.contains("Nothing evaluates"), "{}", held.stderr);
    assert!(!sandbox.path("evaluated").exists());
}

#[test]
fn definitions_that_are_no_use_are_refused() {
    let sandbox = fresh();
    for (text, part) in [
        ("{", "it is no JSON"),
        (r#"{"total_phases": 0, "phases": []}"#, "total_phases is 0"),
        (r#"{"total_phases": 6, "phases": [{"phase_number": 0}]}"#, "it describes 1 phases"),
        (r#"{"total_phases": "dynamic", "phases": []}"#, "its phases are dynamic"),
    ] {
        sandbox.write(METADATA, text);
        let refused = sandbox.run(["start", "ship_v1", "--layout", "praxis"]).code(4);
        assert!(refused.stderr.contains(part), "{part} is not in {}", refused.stderr);
    }
    define(&sandbox);
    sandbox.write(GATE, "checkpoint:\n\tstrict: true\n");
    let tab = sandbox.run(["start", "ship_v1", "--layout", "praxis"]).code(4);
    assert!(tab.stderr.contains("it is no usable YAML"), "{}", tab.stderr);
    assert!(!sandbox.path(".praxis-os/.cache").exists());
}

#[test]
fn dynamic_phases_come_from_the_specification_and_may_grow() {
    let sandbox = fresh();
    sandbox.write(
        METADATA,
        r#"{"total_phases": "dynamic", "phases": [{"phase_number": 0, "phase_name": "Analysis"}]}"#,
    );
    sandbox.write(
        ".praxis-os/specs/x/tasks.md",
        "# Tasks\n## Phase 1: Setup\n## Phase 2: Core\n## Summary\n### Phase 1: Setup\n",
    );
    sandbox
        .run(["start", "ship_v1", "--layout", "praxis", "--id", "s", "--target", ".praxis-os/specs/x"])
        .ok();
    let titles = |view: &Value| -> Vec<String> {
        view["phases"]
            .as_array()
            .unwrap()
            .iter()
            .map(|phase| phase["title"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(titles(&view(&sandbox)), ["Analysis", "Setup", "Core"]);
    assert_eq!(file(&sandbox, NEW)["workflow_structure"]["total_phases"], 3);
    sandbox.run(["start", "ship_v1", "--layout", "praxis", "--target", "../outside"]).code(4);
}

#[test]
fn the_gate_of_a_definition_that_was_found_later_holds_for_what_is_adopted() {
    let sandbox = with_old();
    define(&sandbox);
    let shown = sandbox.run(["show", ID, "--json"]).ok().json();
    assert_eq!(shown["phases"][1]["title"], "Build");
    sandbox.run(["advance", "--phase", "1", "--session", ID]).code(5);
    sandbox.run(["advance", "--phase", "1", "--session", ID, "--evidence", "tests=1"]).ok();
}
