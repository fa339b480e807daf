//! A praxis OS session with names and purposes from its own files, a gate that failed twice, and an optional
//! field that the gate used.

use super::{Answers, History, check};

const METADATA: &str = r#"{"workflow_type": "ship_v1", "version": "1.0.0", "total_phases": 3,
    "description": "Takes a change from plan to release", "phases": [
    {"phase_number": 0, "phase_name": "Plan", "purpose": "Agree on the import's rules."},
    {"phase_number": 1, "phase_name": "Build", "purpose": "Build it and show that it works."},
    {"phase_number": 2, "phase_name": "Release", "purpose": "Ship it."}]}"#;

const GATE: &str = "checkpoint: {strict: true}\nevidence_schema:\n  tests: {type: integer, required: true}\n  failed: {type: integer}\ncross_field_validation:\n  - rule: \"lambda e: e.get('failed', 0) == 0\"\n    error_message: fix what fails\n";

#[test]
fn a_session_of_praxis_answers_all_twelve() {
    let history = History::begin("feature/import");
    let sandbox = &history.sandbox;
    sandbox.write(".praxis-os/workflows/ship_v1/metadata.json", METADATA);
    sandbox.write(".praxis-os/workflows/ship_v1/phases/1/gate-definition.yaml", GATE);
    history.at("2026-11-14T09:00:00Z");
    history.run(&["start ship_v1 --layout praxis --id s --target docs/import.md --goal Import~price~lists"]);
    history.at("2026-11-14T09:40:00Z");
    history.run(&["advance --phase 0 --evidence read=3 --output plan=docs/plan.md"]);
    sandbox.write("docs/plan.md", "1\n");
    sandbox.write("src/import.rs", "1\n");
    history.commit("Import");
    sandbox.write("src/import.rs", "2\n");
    history.notes(&[
        ("decision", "Two tables and a view: readers never see half a list"),
        ("tried", "LOCK TABLE: writers waited for 40 s"),
        ("assumption", "A list has fewer than a million rows"),
        ("blocker", "The partner's test server is down"),
    ]);
    history.at("2026-11-14T10:30:00Z");
    history.fails("advance --phase 1 --evidence tests=12 --evidence failed=2");
    history.fails("advance --phase 1 --evidence tests=14 --evidence failed=1");
    history.run(&["pause --reason waiting~for~the~server --context the~swap~of~the~tables"]);
    history.at("2026-11-16T07:00:00Z");
    history.run(&["resume"]);
    history.at("2026-11-16T07:20:00Z");
    check(
        sandbox,
        &Answers {
            goal: &["Goal: \"Import price lists\"", "Target: \"docs/import.md\""],
            done_with_what_proof: &["0 Plan (", "no gate): read=3, plan=docs/plan.md"],
            where_exactly: &[
                "Phase 1 of 3, **Build** (Build it and show that it works)",
                "Workflow ship_v1 (\"Takes a change from plan to release\") v1.0.0",
            ],
            why_paused: &["\"waiting for the server\", in the middle of \"the swap of the tables\""],
            failed_last: &["## Failed: attempt 2 of Build, 14 Nov 10:30 UTC", "failed=1", "Fix what fails"],
            touched: &["src/import.rs", "docs/plan.md"],
            decided: &["\"Two tables and a view: readers never see half a list\""],
            blocked_open_assumed: &[
                "\"The partner's test server is down\" (blocker",
                "\"A list has fewer than a million rows\"",
            ],
            not_again: &["## Done (do not redo)\n- 0 Plan", "\"LOCK TABLE: writers waited for 40 s\""],
            next_command: &[
                "\n`leftoff advance --phase 1 --evidence 'tests=<number>' --evidence 'failed=<number>'`\n",
            ],
            who_else: &[],
            unverified: &["no gate): read=3"],
        },
    );
}

#[test]
fn b1_an_edit_of_the_position_alone_does_not_pass_a_gate_that_failed_here() {
    let history = History::begin("main");
    let sandbox = &history.sandbox;
    sandbox.write(".praxis-os/workflows/ship_v1/metadata.json", METADATA);
    sandbox.write(".praxis-os/workflows/ship_v1/phases/1/gate-definition.yaml", GATE);
    history.at("2026-11-14T09:00:00Z");
    history.run(&["start ship_v1 --layout praxis --id s", "advance --phase 0"]);
    history.fails("advance --phase 1 --evidence tests=12 --evidence failed=2");
    let state = ".praxis-os/.cache/state/s.json";
    let mut fields: serde_json::Value = serde_json::from_str(&sandbox.read(state)).unwrap();
    fields["current_phase"] = 2.into();
    history.at("2026-11-14T10:00:00Z");
    history.file(state, &fields.to_string());
    let told = sandbox.run(["brief", "--format", "markdown"]).ok().stdout;
    assert!(
        told.contains("Phase 1 of 3, **Build** (Build it and show that it works) (a file says 2"),
        "{told}"
    );
    assert!(told.contains("`leftoff advance --phase 1 --evidence 'tests=<number>'"), "{told}");
    sandbox.run(["advance", "--phase", "2"]).code(4);
    history.run(&["advance --phase 1 --evidence tests=12 --evidence failed=0", "advance --phase 2"]);
}
