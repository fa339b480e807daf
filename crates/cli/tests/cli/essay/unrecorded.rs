//! Revisiting a stage that the pipeline itself completed: its files were not recorded, and are kept all the
//! same.

use super::*;

const STATE: &str = "\
started_at: \"2026-11-14T09:00:00Z\"
last_activity: \"2026-11-14T09:30:00Z\"
status: in_progress
current_stage: 2
current_stage_name: essay_structuring
stages:
  stage_1: {status: completed, thesis_file: stage-1-thesis.md, claim_type: argument, completed_at: \"2026-11-14T09:20:00Z\"}
  stage_2: {status: in_progress}
";

/// A session that the pipeline started, in its second stage.
fn of_the_pipeline() -> Sandbox {
    let sandbox = project();
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.write(&file("session-state.yaml"), STATE);
    sandbox.write(&file("stage-1-thesis.md"), "the first thesis\n");
    sandbox.write(&file("stage-2-outline.md"), "## One\n");
    sandbox
}

#[test]
fn the_thesis_of_a_stage_that_the_pipeline_completed_is_kept() {
    let sandbox = of_the_pipeline();
    let line = "revisit thesis_development --impact major --reason anew";
    let preview = run(&sandbox, &format!("{line} --dry-run --json")).json();
    assert_eq!(preview["files"][0]["difference"], "new", "{preview}");
    run(&sandbox, &format!("{line} --yes"));
    assert_eq!(sandbox.read(&file("stage-1-thesis.v1.md")), "the first thesis\n");
    assert_eq!(sandbox.read(&file("stage-1-thesis.md")), "the first thesis\n", "its own file stays");
    assert!(!sandbox.path(&file("stage-2-outline.md")).exists());
    assert_eq!(sandbox.read(&file("stage-2-outline.v1.md")), "## One\n");
    sandbox.write(&file("stage-1-thesis.md"), "the second thesis\n");
    run(&sandbox, "approve thesis-approved");
    run(&sandbox, "advance --phase 1 --evidence specific=true --evidence defensible=true");
    assert_eq!(sandbox.read(&file("stage-1-thesis.v1.md")), "the first thesis\n");
}

/// A possible change is unknown, so only a minor revision is proposed.
#[test]
fn a_file_that_nobody_recorded_proposes_nothing() {
    let sandbox = of_the_pipeline();
    let preview = run(&sandbox, "revisit thesis_development --reason anew --dry-run --json").json();
    assert_eq!(preview["proposed"], "minor", "{preview}");
}
