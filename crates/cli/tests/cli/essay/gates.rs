//! The gates that a real run of the pipeline shows, one by one; approvals are given at a terminal.

use super::*;

/// Without the word of a configuration that anyone may approve.
fn at_stage_1() -> Sandbox {
    let sandbox = fresh();
    sandbox.at("2026-11-14T10:00:00Z");
    run(&sandbox, &format!("start --layout essay --id {FOLDER}"));
    sandbox
}

/// A person's yes. Without a terminal on this machine the project lets anyone give it, which is told.
#[allow(clippy::print_stderr, reason = "what was left out must be seen")]
pub(super) fn approve(sandbox: &Sandbox, check: &str) {
    sandbox.run(["approve", check]).code(6);
    if let Some(approved) = sandbox.run_at_terminal(["approve", check]) {
        assert!(approved.clone().ok().stdout.contains(&format!("{check} approved")), "{}", approved.stdout);
    } else {
        eprintln!("LEFT OUT: no `script` on this machine makes a terminal");
        sandbox.write(".leftoff/config.toml", "[policy]\napprove = \"anyone\"\n");
        run(sandbox, &format!("approve {check}"));
        std::fs::remove_file(sandbox.path(".leftoff/config.toml")).unwrap();
    }
}

/// The checks that still hold the stage; what is said about them.
#[track_caller]
fn held(sandbox: &Sandbox, line: &str, checks: &[&str]) -> String {
    let ran = sandbox.run(line.split(' ').chain(["--json"])).code(5);
    let view = ran.json();
    let phases = view["phases"].as_array().unwrap();
    let current = phases.iter().find(|phase| phase["id"] == view["current_phase"]["id"]).unwrap();
    let gate = current["gate"]["checks"].as_array().unwrap();
    let failed = gate.iter().filter(|check| check["outcome"] == "failed");
    let failed: Vec<&str> = failed.map(|check| check["id"].as_str().unwrap()).collect();
    assert_eq!(failed, checks, "{}", ran.stderr);
    ran.error()["message"].as_str().unwrap().to_owned()
}

const FIRST: &str = "advance --phase thesis_development --evidence specific=true --evidence defensible=true";

#[test]
fn stage_1_the_thesis_is_specific_defensible_of_a_claim_type_and_approved_by_the_user() {
    let sandbox = at_stage_1();
    held(&sandbox, FIRST, &["thesis", "claim-type", "thesis-approved"]);
    sandbox.write(&file("stage-1-thesis.md"), "Harbours make towns.\n");
    held(&sandbox, FIRST, &["claim-type", "thesis-approved"]);
    run(&sandbox, "set claim_type=argument");
    let vague = FIRST.replace("specific=true", "specific=false");
    held(&sandbox, &vague, &["specific-and-defensible", "thesis-approved"]);
    held(
        &sandbox,
        &FIRST.replace("defensible=true", "defensible=false"),
        &["specific-and-defensible", "thesis-approved"],
    );
    held(&sandbox, FIRST, &["thesis-approved"]);
    approve(&sandbox, "thesis-approved");
    // What was handed in then stands in the command that is printed now: it runs as it is.
    let next = run(&sandbox, "next --json").json();
    assert_eq!(next["command"], format!("leftoff {FIRST}"));
    sandbox.run_printed(next["command"].as_str().unwrap()).ok();
    says(&sandbox, &["current_stage: 2"]);
}

const SECOND: &str = "advance --phase essay_structuring --evidence sections=2 --evidence section_words=2000";

fn at_stage_2() -> Sandbox {
    let sandbox = at_stage_1();
    sandbox.write(&file("stage-1-thesis.md"), "Harbours make towns.\n");
    run(&sandbox, "set claim_type=argument");
    approve(&sandbox, "thesis-approved");
    run(&sandbox, FIRST);
    sandbox
}

#[test]
fn stage_2_sections_with_word_targets_that_sum_to_the_total_audience_named_and_approved() {
    let sandbox = at_stage_2();
    held(&sandbox, SECOND, &["outline", "word-targets", "audience", "outline-approved"]);
    sandbox.write(&file("stage-2-outline.md"), "## Section 1\n## Section 2\n");
    run(&sandbox, "set target_word_count=1500 audience=general");
    held(&sandbox, SECOND, &["word-targets", "outline-approved"]);
    run(&sandbox, "set target_word_count=2000");
    held(&sandbox, &SECOND.replace("sections=2", "sections=0"), &["sections", "outline-approved"]);
    approve(&sandbox, "outline-approved");
    run(&sandbox, SECOND);
    says(&sandbox, &["current_stage: 3", "total_sections: 2"]);
}

fn at_stage_3() -> Sandbox {
    let sandbox = at_stage_2();
    sandbox.write(&file("stage-2-outline.md"), "## Section 1\n## Section 2\n");
    run(&sandbox, "set target_word_count=2000 audience=general total_sections=2");
    approve(&sandbox, "outline-approved");
    run(&sandbox, SECOND);
    sandbox
}

const THIRD: &str = "advance --phase argument_development";

#[test]
fn stage_3_every_section_has_an_approved_argument_map_and_the_birds_eye_view_is_approved() {
    let sandbox = at_stage_3();
    held(&sandbox, THIRD, &["argument-maps", "every-section", "birds-eye"]);
    sandbox.write(&file("stage-3-section-1-arguments.md"), "map\n");
    run(&sandbox, "item add Sand --id section-1");
    held(&sandbox, THIRD, &["every-section", "sections-approved", "birds-eye"]);
    run(&sandbox, "item add Stone --id section-2");
    run(&sandbox, "item done section-1");
    run(&sandbox, "item done section-2");
    // Two sections and one map: which one is missing is said.
    let said = held(&sandbox, THIRD, &["argument-maps", "birds-eye"]);
    let missing = format!("{} is missing: item section-2 has none", file("stage-3-section-2-arguments.md"));
    assert!(said.contains(&missing), "{said}");
    sandbox.write(&file("stage-3-section-2-arguments.md"), "map\n");
    held(&sandbox, THIRD, &["birds-eye"]);
    approve(&sandbox, "birds-eye");
    run(&sandbox, THIRD);
    says(&sandbox, &["current_stage: 4", "birds_eye_approved: true"]);
    // The map of section 2 came after the word that it was done.
    let map = sandbox.path(&file("stage-3-section-2-arguments.md"));
    says(&sandbox, &[&format!("argument_map_file: \"{}\"", map.display())]);
}

const FOURTH: &str =
    "advance --phase paragraph_writing --evidence voice_checked_sections=2 --evidence fact_check_sweep=true";

#[test]
fn stage_4_every_paragraph_approved_voice_checked_per_section_and_a_final_fact_check_sweep() {
    let sandbox = at_stage_3();
    for number in [1, 2] {
        sandbox.write(&file(&format!("stage-3-section-{number}-arguments.md")), "map\n");
        run(&sandbox, &format!("item add Part --id section-{number}"));
        run(&sandbox, &format!("item done section-{number}"));
    }
    approve(&sandbox, "birds-eye");
    run(&sandbox, THIRD);
    held(&sandbox, FOURTH, &["draft", "every-paragraph"]);
    sandbox.write(&file("stage-4-draft.md"), "## Sand\n\nOne two.\n\n## Stone\n\nThree.\n");
    run(&sandbox, "item add Part --id draft-1");
    run(&sandbox, "item split draft-1 --into a");
    run(&sandbox, "item done draft-1.1");
    held(&sandbox, FOURTH, &["every-paragraph"]);
    run(&sandbox, "item add Part --id draft-2");
    run(&sandbox, "item split draft-2 --into a");
    held(&sandbox, FOURTH, &["paragraphs-approved"]);
    run(&sandbox, "item done draft-2.1");
    held(&sandbox, &FOURTH.replace("sections=2", "sections=1"), &["voice"]);
    held(&sandbox, &FOURTH.replace("sweep=true", "sweep=false"), &["facts"]);
    let done = run(&sandbox, FOURTH);
    assert!(done.stderr.starts_with("Essay completed.\n"), "{}", done.stderr);
    says(&sandbox, &["status: \"completed\"  # in_progress |"]);
}
