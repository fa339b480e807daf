//! Tests of edits, rollbacks and failures, as `status`, `brief` and `verify` show them.

use super::audited::{describe, described};
use super::*;

const FILE: &str = ".praxis-os/.cache/state/s.json";

fn edit(sandbox: &Sandbox, change: impl FnOnce(&mut Value)) {
    let mut fields: Value = serde_json::from_str(&sandbox.read(FILE)).unwrap();
    change(&mut fields);
    sandbox.write(FILE, &pretty(&fields));
}

fn markdown(sandbox: &Sandbox) -> String {
    sandbox.run(["brief", "--format", "markdown"]).ok().stdout
}

/// A phase without a gate is done when a command completes it. An edit of the file only claims it.
#[test]
fn b2_a_phase_without_a_gate_that_an_edit_calls_done_is_claimed() {
    let sandbox = described();
    edit(&sandbox, |fields| {
        fields["completed_phases"] = json!([0]);
        fields["checkpoints"] = json!({"0": "passed"});
        fields["current_phase"] = json!(1);
    });
    let check = |brief: &str| {
        assert!(brief.contains("- 0 Setup: claimed in a file"), "{brief}");
        assert!(brief.contains("moved the session from Setup (0) to Testing (1)"), "{brief}");
        assert!(!brief.contains("## Done"), "{brief}");
    };
    check(&markdown(&sandbox));
    sandbox.run(["note", "seen"]).ok();
    check(&markdown(&sandbox));
    let verified = sandbox.run(["verify"]).code(5);
    assert!(verified.stderr.contains("phase 0 is claimed"), "{}", verified.stderr);
    sandbox.run(["advance", "--phase", "0"]).ok();
    assert!(markdown(&sandbox).contains("- 0 Setup"), "somebody here said so");
    assert!(!markdown(&sandbox).contains("Unverified"));
}

/// An edit goes back to an earlier phase. Phases before it that commands completed stay done.
#[test]
fn b2_a_phase_that_was_done_here_stays_done_when_an_edit_goes_back() {
    let sandbox = described();
    sandbox.run(["advance", "--phase", "0"]).ok();
    sandbox.run(["advance", "--phase", "1", "--evidence", "coverage=90"]).ok();
    edit(&sandbox, |fields| {
        fields["completed_phases"] = json!([0]);
        fields["checkpoints"] = json!({"0": "passed", "1": "pending"});
        fields["current_phase"] = json!(1);
    });
    let brief = markdown(&sandbox);
    assert!(brief.contains("- 0 Setup") && !brief.contains("0 Setup: claimed"), "{brief}");
}

#[test]
fn p9_verify_accuses_nobody_where_the_file_names_another_version() {
    let text = described().read(FILE).replace(r#""workflow_version": "v1""#, r#""workflow_version": "v0""#);
    let sandbox = fresh();
    describe(&sandbox, true);
    sandbox.at("2026-11-14T11:00:00Z");
    sandbox.write(FILE, &text);
    sandbox.run(["note", "adopted"]).ok();
    let verified = sandbox.run(["verify"]).code(5).stderr;
    assert!(verified.contains("phase 0 is open"), "{verified}");
    assert!(!verified.contains("definition"), "{verified}");
}

#[test]
fn p6_pauses_and_a_failure_are_told_after_going_back() {
    let sandbox = described();
    sandbox.run(["advance", "--phase", "0"]).ok();
    sandbox.run(["advance", "--phase", "1", "--evidence", "coverage=65"]).code(5);
    sandbox.run(["pause"]).ok();
    sandbox.at("2026-11-14T11:30:00Z");
    sandbox.run(["resume", "s"]).ok();
    sandbox.run(["rollback", "0"]).ok();
    let brief = markdown(&sandbox);
    assert!(brief.contains("Resumed once, paused 30 min in all."), "{brief}");
    assert!(
        brief.contains("## Failed: attempt 1 of Testing, 11:00 UTC, before the session went back"),
        "{brief}"
    );
    assert!(brief.contains("coverage=65"), "{brief}");
}

fn left_in_phase_1(fields: &mut Value) {
    fields["completed_phases"] = json!([0]);
    fields["current_phase"] = json!(2);
    fields["checkpoints"] = json!({"0": "passed", "1": "failed", "2": "pending"});
    fields["phase_artifacts"] = json!({"1": {"phase_number": 1, "evidence": {"coverage": 65},
        "outputs": {}, "commands_executed": [], "timestamp": "2026-11-14T11:00:00Z"}});
}

const MISSING: &str = "- coverage-enough: coverage=65, needs lambda x: x >= 80";

/// The tool continued although a checkpoint failed.
#[test]
fn p4_a_failed_phase_that_was_left_is_marked_alone_and_keeps_its_checks() {
    let before = described();
    edit(&before, left_in_phase_1);
    let sandbox = fresh();
    describe(&sandbox, true);
    sandbox.at("2026-11-14T11:00:00Z");
    sandbox.write(FILE, &before.read(FILE));
    let status = sandbox.run(["status"]).ok().stdout;
    assert!(status.contains("[!] 1 Testing") && status.contains("[>] 2 Release"), "{status}");
    // The failed phase must be completed first.
    sandbox.run(["advance", "--phase", "2"]).code(4);
    let brief = markdown(&sandbox);
    assert!(brief.contains("Phase 1 of 3, **Testing**") && brief.contains(MISSING), "{brief}");
}

#[test]
fn p4_a_failed_phase_that_an_edit_left_is_told_with_its_checks() {
    let sandbox = described();
    edit(&sandbox, left_in_phase_1);
    let brief = markdown(&sandbox);
    assert!(brief.contains("## Failed: attempt 1 of Testing, 11:00 UTC, then left open"), "{brief}");
    assert!(brief.contains(MISSING), "{brief}");
}
