//! Tests of sessions of the essay pipeline with the whole program.

mod audited;
mod bad_input;
mod carried;
mod edits;
mod gates;
mod kept_edits;
mod outside;
mod recovery;
mod revisions;
mod rows;
mod story;
mod times;
mod undo;
mod unrecorded;
mod whole;

use crate::fresh;
use testkit::{Ran, Sandbox};

const FOLDER: &str = "essay-pipeline-20261114-100000";

/// A project in which anyone may approve, with a session started at ten o'clock.
fn started() -> Sandbox {
    let sandbox = project();
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.run(["start", "--layout", "essay", "--title", "Harbours"]).ok();
    sandbox
}

fn project() -> Sandbox {
    let sandbox = fresh();
    sandbox.allow_anyone(&["approve"]);
    sandbox
}

fn file(name: &str) -> String {
    format!("{FOLDER}/{name}")
}

fn state(sandbox: &Sandbox) -> String {
    sandbox.read(&file("session-state.yaml"))
}

/// Runs a command line that is split at spaces. `~` stands for a space in a word.
#[track_caller]
fn run(sandbox: &Sandbox, line: &str) -> Ran {
    sandbox.run(line.split(' ').map(|word| word.replace('~', " "))).ok()
}

#[track_caller]
fn says(sandbox: &Sandbox, lines: &[&str]) {
    let text = state(sandbox);
    for line in lines {
        assert!(text.contains(line), "{line:?} is not in\n{text}");
    }
}

/// A state as a person left it, in the middle of stage 3.
const BY_HAND: &str = "\
# Ada's essay, by hand
pipeline_id: \"essay-77\"   # hers
started_at: \"2026-11-13T08:00:00Z\"
last_activity: \"2026-11-14T09:00:00Z\"
status: in_progress
pushback_level: minimal
session_dir: \".\"
mood: 'good'   # nobody knows this key
current_stage: 3
current_stage_name: argument_development
stages:
  stage_1: {status: completed, thesis_file: stage-1-thesis.md, claim_type: argument, completed_at: \"2026-11-13T09:00:00Z\"}
  stage_2:
    status: completed   # approved
    outline_file: stage-2-outline.md
    total_sections: 2
    target_word_count: 1_000
    audience: general
    completed_at: \"2026-11-13T10:00:00Z\"
  stage_3:
    status: in_progress
    total_sections: 2
    current_section: 2
    sections:
      # the first is done
      - section_index: 1
        status: completed
        argument_map_file: stage-3-section-1-arguments.md
        verified_claims: 3
        deferred_claims: 0
        completed_at: \"2026-11-13T11:00:00Z\"
      - section_index: 2
        status: in_progress
        argument_map_file: null
        verified_claims: 0
        deferred_claims: 0
        completed_at: null
    birds_eye_approved: false
    completed_at: null
  stage_4:
    status: not_started
    sections: []
deferred_verifications: []
user_overrides: []
revision_history: []
output: {final_essay_file: null, completed_at: null}
# the end
";

/// A project with the session `BY_HAND` and its artifacts.
fn by_hand() -> Sandbox {
    let sandbox = project();
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.write(&file("session-state.yaml"), BY_HAND);
    sandbox.write(&file("stage-1-thesis.md"), "Harbours make towns.\n");
    sandbox.write(&file("stage-2-outline.md"), "## Section 1\n## Section 2\n");
    sandbox.write(&file("stage-3-section-1-arguments.md"), "map\n");
    sandbox
}

/// Completes stages 1 and 2 by commands.
fn structured(sandbox: &Sandbox) {
    sandbox.write(&file("stage-1-thesis.md"), "# Thesis\nHarbours make towns.\n");
    run(sandbox, "set claim_type=argument pushback_level=light");
    run(sandbox, "approve thesis-approved");
    run(sandbox, "advance --phase thesis_development --evidence specific=true --evidence defensible=true");
    sandbox.write(&file("stage-2-outline.md"), "# Outline\n## Section 1\n## Section 2\n");
    run(sandbox, "set audience=general target_word_count=2000 total_sections=2");
    run(sandbox, "approve outline-approved");
    run(sandbox, "advance --phase essay_structuring --evidence word_targets=[800,1200]");
}

/// Completes stage 3 by commands.
fn argued(sandbox: &Sandbox) {
    for number in [1, 2] {
        sandbox.write(&file(&format!("stage-3-section-{number}-arguments.md")), "# Map\n");
        run(sandbox, &format!("item start section-{number}"));
        run(sandbox, &format!("item set section-{number} --count verified_claims=+3"));
        run(sandbox, &format!("item done section-{number}"));
    }
    run(sandbox, "approve birds-eye");
    run(sandbox, "advance --phase argument_development");
}

/// Does half of stage 4: three of four paragraphs, a deferred claim and an overridden one.
fn drafted(sandbox: &Sandbox) {
    for line in [
        "item split draft-1 --into a b",
        "item split draft-2 --into a b",
        "item done draft-1.1",
        "item done draft-1.2",
        "item set draft-1 voice_check_score=4.5",
        "item done draft-2.1",
        "note Half~of~them~silt~up --kind deferred --field section=2 --field reason=timeout",
        "note The~pier~is~older --kind override --field fact_checker_result=disputed --field user_rationale=seen",
    ] {
        run(sandbox, line);
    }
    sandbox.write(&file("stage-4-draft.md"), "## One\n\na b c\n\nd e\n\n## Two\n\nf g\n");
}

/// A project with a session in stage 4, at ten past ten.
fn in_stage_4() -> Sandbox {
    let sandbox = started();
    sandbox.at("2026-11-14T10:10:00Z");
    structured(&sandbox);
    argued(&sandbox);
    drafted(&sandbox);
    sandbox
}
