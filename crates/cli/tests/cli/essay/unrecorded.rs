//! Tests of revisiting a stage that the pipeline completed. The files of the stage were not recorded, but are
//! archived.

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
    thesis(&sandbox, "the first thesis\n", "2026-11-14T09:20:30Z");
    sandbox.write(&file("stage-2-outline.md"), "## One\n");
    sandbox
}

/// Writes the thesis with this modification time.
fn thesis(sandbox: &Sandbox, text: &str, at: &str) {
    sandbox.write(&file("stage-1-thesis.md"), text);
    let at: jiff::Timestamp = at.parse().unwrap();
    let written = std::fs::File::options().write(true).open(sandbox.path(&file("stage-1-thesis.md")));
    written.unwrap().set_modified(at.into()).unwrap();
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

/// The file has not changed since the stage was completed.
#[test]
fn a_file_that_nobody_recorded_and_nobody_changed_proposes_nothing() {
    let sandbox = of_the_pipeline();
    let preview = run(&sandbox, "revisit thesis_development --reason anew --dry-run --json").json();
    assert_eq!(preview["proposed"], "minor", "{preview}");
    assert_eq!(preview["because"], "the phase has not changed since it was completed");
}

/// The thesis is rewritten before leftoff sees it. leftoff must not say that nothing changed, and must not
/// archive the new text as the old one.
#[test]
fn e4_a_thesis_rewritten_before_it_was_ever_seen_is_told_and_not_kept_as_the_old_one() {
    let sandbox = of_the_pipeline();
    run(&sandbox, "status");
    thesis(&sandbox, "the second thesis\n", "2026-11-14T09:40:00Z");
    let line = "revisit 1 --reason anew";
    let preview = run(&sandbox, &format!("{line} --dry-run --json")).json();
    let seen = (&preview["proposed"], &preview["files"][0]["difference"]);
    assert_eq!(seen, (&"moderate".into(), &"changed".into()), "{preview}");
    let because = preview["because"].as_str().unwrap();
    assert!(because.contains("was written after the phase was completed"), "{because}");
    run(&sandbox, &format!("{line} --impact major --yes"));
    assert!(!sandbox.path(&file("stage-1-thesis.v1.md")).exists(), "what it was is unknown");
    assert!(sandbox.path(&file("stage-2-outline.v1.md")).exists());
}

/// The pipeline committed the old text, so git has it.
#[test]
fn e4_the_old_text_of_a_thesis_that_was_never_seen_comes_from_git() {
    let sandbox = of_the_pipeline();
    for words in ["init --quiet", "add .", "commit --quiet --message essay"] {
        let mut git = std::process::Command::new("git");
        git.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]).args(words.split(' '));
        git.env("GIT_COMMITTER_DATE", "2026-11-14T09:25:00Z").current_dir(sandbox.project());
        assert!(git.status().unwrap().success(), "{words}");
    }
    thesis(&sandbox, "the second thesis\n", "2026-11-14T09:40:00Z");
    let dry = run(&sandbox, "revisit 1 --reason anew --dry-run").stdout;
    assert!(dry.contains("-the first thesis") && dry.contains("+the second thesis"), "{dry}");
    run(&sandbox, "revisit 1 --reason anew --yes");
    assert_eq!(sandbox.read(&file("stage-1-thesis.v1.md")), "the first thesis\n");
    assert_eq!(sandbox.read(&file("stage-1-thesis.md")), "the second thesis\n");
}
