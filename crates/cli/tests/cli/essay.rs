//! Essays: sessions of the essay pipeline, through the real program.

mod outside;
mod recovery;
mod story;

use crate::fresh;
use testkit::{Ran, Sandbox};

const FOLDER: &str = "essay-pipeline-20261114-100000";

/// A project in which anyone may approve, with a session of it begun at ten o'clock.
fn started() -> Sandbox {
    let sandbox = project();
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.run(["start", "--layout", "essay", "--title", "Harbours"]).ok();
    sandbox
}

fn project() -> Sandbox {
    let sandbox = fresh();
    sandbox.write(".leftoff/config.toml", "[policy]\napprove = \"anyone\"\n");
    sandbox
}

fn file(name: &str) -> String {
    format!("{FOLDER}/{name}")
}

fn state(sandbox: &Sandbox) -> String {
    sandbox.read(&file("session-state.yaml"))
}

/// Runs a command line, words parted by spaces; `~` stands for a space inside of one.
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

/// A project that holds that session and its artifacts.
fn by_hand() -> Sandbox {
    let sandbox = project();
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.write(&file("session-state.yaml"), BY_HAND);
    sandbox.write(&file("stage-1-thesis.md"), "Harbours make towns.\n");
    sandbox.write(&file("stage-2-outline.md"), "## Section 1\n## Section 2\n");
    sandbox.write(&file("stage-3-section-1-arguments.md"), "map\n");
    sandbox
}
