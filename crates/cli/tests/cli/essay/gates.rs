//! Tests of the pipeline's gates, one by one. A person at a terminal gives approvals.

use super::*;

/// A project that does not let anyone approve.
fn at_stage_1() -> Sandbox {
    let sandbox = fresh();
    sandbox.at("2026-11-14T10:00:00Z");
    run(&sandbox, &format!("start --layout essay --id {FOLDER}"));
    sandbox
}

/// Gives an approval as a person. If this machine has no terminal, makes the project let anyone approve, and reports
/// that.
pub(super) fn approve(sandbox: &Sandbox, check: &str) {
    sandbox.run(["approve", check]).code(6);
    if let Some(approved) = sandbox.run_at_terminal(["approve", check]) {
        assert!(approved.clone().ok().stdout.contains(&format!("{check} approved")), "{}", approved.stdout);
    } else {
        testkit::left_out("an answer at a terminal: no `script` on this machine makes one");
        sandbox.allow_anyone(&["approve"]);
        run(sandbox, &format!("approve {check}"));
        std::fs::remove_file(sandbox.path(".leftoff/config.toml")).unwrap();
    }
}

/// Expects these checks to block the stage, and returns their messages.
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
    let next = run(&sandbox, "set claim_type=argument").stdout;
    assert!(!next.contains("claim type") && next.contains("approves the thesis"), "it is settled: {next}");
    let vague = FIRST.replace("specific=true", "specific=false");
    held(&sandbox, &vague, &["specific-and-defensible", "thesis-approved"]);
    held(
        &sandbox,
        &FIRST.replace("defensible=true", "defensible=false"),
        &["specific-and-defensible", "thesis-approved"],
    );
    held(&sandbox, FIRST, &["thesis-approved"]);
    approve(&sandbox, "thesis-approved");
    // The printed command contains the evidence given before, so it can be run unchanged.
    let next = run(&sandbox, "next --json").json();
    assert_eq!(next["command"], format!("leftoff {FIRST}"));
    sandbox.run_printed(next["command"].as_str().unwrap()).ok();
    says(&sandbox, &["current_stage: 2"]);
}

const SECOND: &str = "advance --phase essay_structuring --evidence word_targets=[800,1200]";

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
    let said = held(&sandbox, SECOND, &["word-targets", "outline-approved"]);
    assert!(said.contains("the word targets add up to 2000, and target_word_count is 1500"), "{said}");
    run(&sandbox, "set target_word_count=2000");
    let targets = |targets: &str| SECOND.replace("[800,1200]", targets);
    let said = held(&sandbox, &targets("[]"), &["sections", "word-targets", "outline-approved"]);
    assert!(said.contains("no section has a word target"), "{said}");
    let said = held(&sandbox, &targets("[2000,0]"), &["sections", "outline-approved"]);
    assert!(said.contains("a section has no word target"), "{said}");
    run(&sandbox, "set total_sections=3");
    let said = held(&sandbox, SECOND, &["sections", "outline-approved"]);
    assert!(said.contains("2 word targets, and total_sections is 3"), "{said}");
    run(&sandbox, "set total_sections=2");
    held(&sandbox, SECOND, &["outline-approved"]);
    approve(&sandbox, "outline-approved");
    // Values that were submitted before need not be typed again.
    let next = run(&sandbox, "next --json").json();
    assert_eq!(
        next["command"],
        format!("leftoff {}", SECOND.replace("word_targets=[800,1200]", "'word_targets=[800,1200]'"))
    );
    sandbox.run_printed(next["command"].as_str().unwrap()).ok();
    says(&sandbox, &["current_stage: 3", "total_sections: 2"]);
}

/// Only the word targets show how many sections there are.
#[test]
fn stage_2_word_targets_tell_how_many_sections_there_are() {
    let sandbox = at_stage_2();
    sandbox.write(&file("stage-2-outline.md"), "## Section 1\n## Section 2\n");
    run(&sandbox, "set target_word_count=2000 audience=general");
    approve(&sandbox, "outline-approved");
    run(&sandbox, SECOND);
    assert_eq!(state(&sandbox).matches("total_sections: 2").count(), 2, "{}", state(&sandbox));
    let said = held(&sandbox, THIRD, &["argument-maps", "sections-approved", "birds-eye"]);
    assert!(said.contains("(section-1 is not approved; section-2 is not approved)"), "{said}");
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
    held(&sandbox, THIRD, &["argument-maps", "sections-approved", "birds-eye"]);
    run(&sandbox, "set total_sections=3");
    // The number of sections is right, but their numbers are not: each section is looked for by its number.
    run(&sandbox, "item add Elsewhere --id section-7");
    let said = held(&sandbox, THIRD, &["argument-maps", "every-section", "sections-approved", "birds-eye"]);
    assert!(said.contains("(section 3 has no item)"), "{said}");
    assert!(said.contains("(section-1 is not approved; section-2 is not approved)"), "{said}");
    run(&sandbox, "set total_sections=2");
    sandbox.write(&file("stage-3-section-1-arguments.md"), "map\n");
    run(&sandbox, "item done section-1");
    run(&sandbox, "item done section-2");
    // There are two sections, but only one argument map. The message names the missing one.
    let said = held(&sandbox, THIRD, &["argument-maps", "birds-eye"]);
    let missing =
        format!("{} is missing: item section-2 has no file", file("stage-3-section-2-arguments.md"));
    assert!(said.contains(&missing), "{said}");
    sandbox.write(&file("stage-3-section-2-arguments.md"), "map\n");
    held(&sandbox, THIRD, &["birds-eye"]);
    approve(&sandbox, "birds-eye");
    run(&sandbox, THIRD);
    says(&sandbox, &["current_stage: 4", "birds_eye_approved: true"]);
    // The argument map of section 2 was written after the section was marked done.
    let map = sandbox.path(&file("stage-3-section-2-arguments.md"));
    says(&sandbox, &[&format!("argument_map_file: \"{}\"", map.display())]);
}

const FOURTH: &str = "advance --phase paragraph_writing --evidence fact_check_sweep=true";

fn at_stage_4() -> Sandbox {
    let sandbox = at_stage_3();
    for number in [1, 2] {
        sandbox.write(&file(&format!("stage-3-section-{number}-arguments.md")), "map\n");
        run(&sandbox, &format!("item done section-{number}"));
    }
    approve(&sandbox, "birds-eye");
    run(&sandbox, THIRD);
    sandbox
}

#[test]
fn stage_4_every_paragraph_approved_voice_checked_per_section_and_a_final_fact_check_sweep() {
    let sandbox = at_stage_4();
    held(&sandbox, FOURTH, &["draft", "every-section-written", "paragraphs-approved", "voice"]);
    sandbox.write(&file("stage-4-draft.md"), "## Sand\n\nOne two.\n\n## Stone\n\nThree.\n");
    // Six items are done, but none of the second section. Each section is checked.
    run(&sandbox, "item split draft-1 --into a b c d e");
    for part in 1..=5 {
        run(&sandbox, &format!("item done draft-1.{part}"));
    }
    let said = held(&sandbox, FOURTH, &["every-section-written", "paragraphs-approved", "voice"]);
    assert!(said.contains("every-section-written (section 2 has no paragraph)"), "{said}");
    assert!(said.contains("voice (section 1 has no voice check; section 2 has no voice check)"), "{said}");
    assert!(said.contains("paragraphs-approved (draft-2 is not approved)"), "{said}");
    run(&sandbox, "item split draft-2 --into a b");
    run(&sandbox, "item set draft-1 voice_check_score=4");
    run(&sandbox, "item done draft-2.1");
    let said = held(&sandbox, FOURTH, &["paragraphs-approved", "voice"]);
    assert!(said.contains("paragraphs-approved (draft-2.2 is not approved)"), "{said}");
    assert!(said.contains("voice (section 2 has no voice check)"), "{said}");
    let told = run(&sandbox, "item done draft-2.2").stdout;
    assert!(
        told.contains("Check the voice") && !told.contains("Every paragraph"),
        "what is done is not asked for: {told}"
    );
    held(&sandbox, FOURTH, &["voice"]);
    // The values are written by hand, as the pipeline does it.
    let text = state(&sandbox);
    let last = text.rfind("voice_check_score: null").expect("the second section's");
    let text = format!("{}voice_check_score: 5{}", &text[..last], &text[last + 23..]);
    sandbox.write(&file("session-state.yaml"), &text);
    held(&sandbox, &FOURTH.replace("sweep=true", "sweep=false"), &["facts"]);
    let done = run(&sandbox, FOURTH);
    assert!(done.stderr.starts_with("Essay completed.\n"), "{}", done.stderr);
    says(&sandbox, &["status: \"completed\"  # in_progress |"]);
}

/// The file says that stage 2 is current, and not that stage 1 is done. Evidence and approvals for stage 1 can still be
/// given.
#[test]
fn b8_a_stage_that_the_file_left_over_a_missing_approval_can_be_approved() {
    let sandbox = at_stage_1();
    sandbox.write(&file("stage-1-thesis.md"), "Harbours make towns.\n");
    run(&sandbox, "set claim_type=argument");
    held(&sandbox, FIRST, &["thesis-approved"]);
    let text = state(&sandbox).replace("current_stage: 1", "current_stage: 2");
    let text = text
        .replace("current_stage_name: \"thesis_development\"", "current_stage_name: \"essay_structuring\"");
    sandbox.write(&file("session-state.yaml"), &text);
    let next = run(&sandbox, "next --json").json();
    assert_eq!(next["command"], "leftoff approve thesis-approved", "{next}");
    approve(&sandbox, "thesis-approved");
    run(&sandbox, FIRST);
    let next = run(&sandbox, "next --json").json();
    assert!(next["command"].as_str().unwrap().contains("--phase essay_structuring"), "{next}");
}

/// A test for an earlier defect: a section without paragraphs could be marked done, and could then not be split any
/// more.
#[test]
fn b8_a_section_is_split_into_its_paragraphs_before_it_can_be_done() {
    let sandbox = at_stage_4();
    let next = run(&sandbox, "next --json").json();
    let split = "leftoff item split draft-1 --into '<title>'";
    assert_eq!(next["command"], split, "{next}");
    assert!(
        next["summary"].as_str().unwrap().contains("Split it first, with a title for each paragraph"),
        "{next}"
    );
    sandbox.run_printed(split).code(2);
    let refused = sandbox.run(["item", "done", "draft-1"]).code(4);
    assert_eq!(
        refused.stderr,
        format!(
            "error: cannot complete item 'draft-1': it has not been split into parts yet\nhint: add a part for each piece of the item's work: {split}\n"
        )
    );
    run(&sandbox, "item split draft-1 --into Opening");
    let next = run(&sandbox, "next --json").json();
    assert_eq!(next["command"], "leftoff item claim draft-1.1", "{next}");
    run(&sandbox, "item done draft-1.1");
    let next = run(&sandbox, "next --json").json();
    assert_eq!(next["command"], split.replace("draft-1", "draft-2"), "{next}");
}

/// The new outline has fewer sections than the old one. The sections of the old outline block nothing.
#[test]
fn a_section_that_only_an_earlier_outline_had_is_not_asked_for() {
    let sandbox = at_stage_4();
    for number in [1, 2] {
        run(&sandbox, &format!("item split draft-{number} --into a"));
    }
    run(&sandbox, "revisit essay_structuring --impact major --reason shorter --yes");
    sandbox.write(&file("stage-2-outline.md"), "## Section 1\n");
    run(&sandbox, "set total_sections=1");
    approve(&sandbox, "outline-approved");
    run(&sandbox, &SECOND.replace("[800,1200]", "[2000]"));
    sandbox.write(&file("stage-3-section-1-arguments.md"), "map\n");
    run(&sandbox, "item done section-1");
    approve(&sandbox, "birds-eye");
    run(&sandbox, THIRD);
    sandbox.write(&file("stage-4-draft.md"), "## Sand\n\nOne two.\n");
    held(&sandbox, FOURTH, &["paragraphs-approved", "voice"]);
    run(&sandbox, "item done draft-1.1");
    run(&sandbox, "item set draft-1 voice_check_score=4");
    run(&sandbox, FOURTH);
    says(&sandbox, &["status: \"completed\"  # in_progress |", "total_sections: 1"]);
}
