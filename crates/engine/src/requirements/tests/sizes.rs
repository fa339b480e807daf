//! Tests the size of a branch, counted by a real git.

use super::*;
use std::process::Command;

const SIZE: &str = "
requirements:
  branch_size: {enabled: true, type: dynamic, calculator: branch_size_calculator, thresholds: {warn: 250, block: 400}, approval_ttl: 300, cache_ttl: 60}
";

fn git(place: &Place, words: &[&str]) {
    let status = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"])
        .args(words)
        .current_dir(place.root())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("HOME", place.home())
        .output()
        .expect("git");
    assert!(status.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&status.stderr));
}

fn lines(count: usize) -> String {
    (0..count).map(|number| format!("line {number}\n")).collect()
}

/// Returns a place on a branch from `main` without changes.
fn branch() -> Place {
    let place = Place::with(SIZE);
    fs::remove_dir_all(place.root().join(".git")).expect("a real repository instead");
    git(&place, &["init", "-q"]);
    place.write("a.txt", "first\n");
    git(&place, &["add", "."]);
    git(&place, &["commit", "-q", "-m", "first"]);
    git(&place, &["checkout", "-q", "-b", "feature/auth"]);
    place
}

fn pass_the_cache(place: &Place) {
    place.pass(60);
}

#[test]
fn behaviour_21_a_branch_warns_then_holds_and_an_approval_lifts_it_for_its_time() {
    let place = branch();
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    place.write("a.txt", &lines(249));
    pass_the_cache(&place);
    // The change adds 249 lines and removes 1.
    let Verdict::Warn(warning) = place.edit(ANNA) else { panic!("250 lines warn") };
    assert!(warning.contains("250 lines changed against main"), "{warning}");
    assert_eq!(place.stops(ANNA), None, "below the limit no stop is held");
    git(&place, &["commit", "-q", "-am", "more"]);
    place.write("a.txt", &lines(399));
    pass_the_cache(&place);
    let message = denied(place.edit(ANNA));
    assert!(
        message.contains("400 lines changed") && message.contains("leftoff req approve branch_size"),
        "{message}"
    );
    assert!(place.stops(ANNA).expect("held: it was triggered before").contains("branch_size"));
    place.engine().approve_requirements(&["branch_size".to_owned()], Some(ANNA), None).expect("approved");
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    assert_eq!(place.stops(ANNA), None);
    place.pass(299);
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    place.pass(1);
    denied(place.edit(ANNA));
}

#[test]
fn behaviour_21_below_the_threshold_it_never_holds_a_stop() {
    let place = branch();
    place.write("a.txt", &lines(10));
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    assert_eq!(place.stops(ANNA), None);
}

#[test]
fn a_count_holds_for_a_while_and_is_not_made_again() {
    let place = branch();
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    place.write("a.txt", &lines(1_000));
    place.pass(59);
    assert_eq!(place.edit(ANNA), Verdict::Allow, "the count of a minute ago holds");
    place.pass(1);
    denied(place.edit(ANNA));
}

#[test]
fn on_the_base_branch_and_without_one_nothing_is_counted() {
    let place = branch();
    git(&place, &["checkout", "-q", "main"]);
    place.write("a.txt", &lines(1_000));
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    git(&place, &["checkout", "-q", "-b", "feature/new"]);
    git(&place, &["branch", "-q", "-D", "main"]);
    assert_eq!(place.edit(ANNA), Verdict::Allow);
}

#[test]
fn packed_references_are_found_too() {
    let place = branch();
    git(&place, &["pack-refs", "--all"]);
    place.write("a.txt", &lines(1_000));
    denied(place.edit(ANNA));
}

#[test]
fn what_a_repository_configures_is_not_run() {
    let place = branch();
    let witness = place.home().join("ran");
    let run = format!("touch {}", witness.display());
    git(&place, &["config", "diff.external", &run]);
    git(&place, &["config", "core.fsmonitor", &run]);
    place.write(".gitattributes", "*.txt diff=evil\n");
    git(&place, &["config", "diff.evil.textconv", &run]);
    place.write("a.txt", &lines(1_000));
    denied(place.edit(ANNA));
    assert!(!witness.exists());
}

#[test]
fn r8_a_stacked_branch_is_measured_against_the_branch_below_it() {
    let place = branch();
    place.write("a.txt", &lines(1_000));
    git(&place, &["commit", "-q", "-am", "much"]);
    denied(place.edit(ANNA));
    git(&place, &["checkout", "-q", "-b", "feature/next"]);
    assert_eq!(place.edit(BEN), Verdict::Allow, "nothing of its own yet");
    place.write("b.txt", &lines(300));
    git(&place, &["add", "."]);
    git(&place, &["commit", "-q", "-m", "more"]);
    pass_the_cache(&place);
    let Verdict::Warn(warning) = place.edit(BEN) else { panic!("300 lines of its own warn") };
    assert!(warning.contains("300 lines changed against feature/auth"), "{warning}");
    git(&place, &["checkout", "-q", "feature/auth"]);
    pass_the_cache(&place);
    denied(place.edit(ANNA));
}
