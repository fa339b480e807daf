//! Tests broken and locked files, links, and files of other branches.

use super::*;
use rustix::fs::{FlockOperation, flock};
use std::os::unix::fs::symlink;

const PLAN: &str = "requirements: {commit_plan: {enabled: true}}";

fn state_file(place: &Place, name: &str) -> PathBuf {
    place.root().join(".git/requirements").join(name)
}

fn write_state(place: &Place, text: &str) {
    fs::create_dir_all(state_file(place, "")).expect("a folder");
    fs::write(state_file(place, "feature-auth.json"), text).expect("a file");
}

fn kept_aside(place: &Place) -> Vec<String> {
    let entries = fs::read_dir(state_file(place, "")).expect("a folder").flatten();
    let broken = entries.filter(|entry| entry.file_name().to_string_lossy().contains(".json.broken-"));
    broken.map(|entry| fs::read_to_string(entry.path()).expect("text")).collect()
}

#[test]
fn behaviour_23_a_broken_state_lets_the_agent_go_on_and_is_kept_aside() {
    for broken in ["{", "", r#"{"version":"2.0","requirements":{"commit_plan":{}}}"#, "[1]"] {
        let place = Place::with(PLAN);
        write_state(&place, broken);
        let told = place.asked(ANNA, "Edit", None, &["src/a.rs"]);
        assert_eq!(told.answer, Verdict::Allow, "{broken:?}");
        assert!(!told.problems.is_empty(), "it is told");
        assert_eq!(kept_aside(&place), [broken], "nothing of it is lost");
        denied(place.edit(ANNA));
        assert_eq!(kept_aside(&place).len(), 1);
    }
}

#[test]
fn behaviour_23_a_broken_state_holds_no_stop() {
    let place = Place::with(PLAN);
    write_state(&place, "{");
    let told = place.engine().at_stop(&claude(ANNA), false);
    assert_eq!((told.answer, told.problems.len()), (None, 1));
    assert_eq!(
        fs::read_to_string(state_file(&place, "feature-auth.json")).expect("text"),
        "{",
        "a look changes nothing"
    );
}

#[test]
fn behaviour_23_a_broken_configuration_holds_nobody() {
    for broken in ["requirements: {commit_plan: {enabled: true, scope: x}}", "a: [", "\u{0}\u{1}"] {
        let place = Place::with(broken);
        let told = place.asked(ANNA, "Edit", None, &["src/a.rs"]);
        assert_eq!((told.answer, told.problems.len()), (Verdict::Allow, 1), "{broken:?}");
        assert!(told.problems[0].contains("requirements.yaml: "), "{}", told.problems[0]);
    }
}

#[test]
fn behaviour_23_a_lock_that_is_held_is_not_waited_for_and_nothing_is_lost() {
    let place = Place::with(PLAN);
    place.satisfy(BEN, &["commit_plan"]);
    let lock = fs::File::open(state_file(&place, "feature-auth.lock")).expect("a lock");
    flock(&lock, FlockOperation::LockExclusive).expect("it is taken");
    let started = std::time::Instant::now();
    assert_eq!(place.skill(ANNA, "arch-review"), ["commit_plan"]);
    assert!(started.elapsed() < Duration::from_secs(5), "it did not wait for the lock");
    let before = place.state("feature-auth");
    assert_eq!(
        before["requirements"]["commit_plan"]["sessions"].as_object().map(serde_json::Map::len),
        Some(1)
    );
    assert_eq!(place.edit(ANNA), Verdict::Allow, "what waits beside the file counts");
    flock(&lock, FlockOperation::Unlock).expect("it is given back");
    place.satisfy(BEN, &["commit_plan"]);
    let after = place.state("feature-auth");
    let entry = &after["requirements"]["commit_plan"]["sessions"]["a4326893"];
    assert_eq!((&entry["satisfied_by"], &entry["triggered"]), (&"skill".into(), &true.into()), "{after}");
    assert!(!state_file(&place, "feature-auth.json.late").exists());
}

#[test]
fn behaviour_23_metrics_that_are_locked_are_counted_later() {
    let place = Place::with(PLAN);
    place.used(ANNA, "Bash", None, None, Some("1"));
    let lock = fs::File::open(state_file(&place, "sessions/a4326893.lock")).expect("a lock");
    flock(&lock, FlockOperation::LockExclusive).expect("it is taken");
    for event in ["2", "3", "3"] {
        place.used(ANNA, "Bash", None, None, Some(event));
    }
    assert!(denied(place.edit(ANNA)).contains("commit_plan"));
    flock(&lock, FlockOperation::Unlock).expect("it is given back");
    place.used(ANNA, "Bash", None, None, Some("4"));
    let metrics = place.metrics_of(ANNA);
    assert_eq!(
        (&metrics["tools"]["Bash"]["count"], &metrics["tools"]["Edit"]["blocked_count"]),
        (&4.into(), &1.into())
    );
}

#[test]
fn links_are_refused() {
    for name in ["feature-auth.json", "feature-auth.lock"] {
        let place = Place::with(PLAN);
        fs::create_dir_all(state_file(&place, "")).expect("a folder");
        let target = place.home().join("target");
        fs::write(&target, "{}").expect("a file");
        symlink(&target, state_file(&place, name)).expect("a link");
        let request = SatisfyRequest {
            names: vec!["commit_plan".to_owned()],
            agent_session: Some(ANNA.to_owned()),
            ..SatisfyRequest::default()
        };
        let error = place.engine().satisfy_requirements(&request).expect_err("refused");
        assert_eq!(error.kind(), "io", "{name}: {error}");
        assert_eq!(fs::read_to_string(&target).expect("text"), "{}", "{name}");
        let told = place.asked(ANNA, "Edit", None, &["src/a.rs"]);
        assert_eq!(told.answer, Verdict::Allow, "what cannot be read or written holds nobody: {name}");
        assert!(!told.problems.is_empty());
    }
}

#[test]
fn r2_a_state_that_cannot_be_written_lets_the_agent_go_on_and_says_so() {
    // In each case the metrics cannot be written: there is a folder in place of the file, or a file in place
    // of the folder.
    for unwritable in ["sessions/a4326893.json/x", "sessions"] {
        let place = Place::with(PLAN);
        place.write(&format!(".git/requirements/{unwritable}"), "");
        let told = place.asked(ANNA, "Edit", None, &["src/a.rs"]);
        assert_eq!(told.answer, Verdict::Allow, "{unwritable}");
        assert!(told.problems[0].starts_with("Edit is allowed: "), "{:?}", told.problems);
    }
}

#[test]
fn branches_that_have_one_file_name_stay_two() {
    let place = Place::with("requirements: {ticket: {enabled: true, scope: branch}}");
    place.satisfy(ANNA, &["ticket"]);
    place.check_out("feature-auth");
    denied(place.edit(ANNA));
    let first = place.state("feature-auth");
    assert_eq!(first["branch"], "feature/auth");
    place.satisfy(ANNA, &["ticket"]);
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    assert_eq!(place.state("feature-auth"), first, "the other branch's file is as it was");
    place.clear(None, "ticket");
    place.check_out("feature/auth");
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    let listed: Vec<String> = fs::read_dir(state_file(&place, ""))
        .expect("a folder")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| Path::new(name).extension().is_some_and(|ending| ending == "json"))
        .collect();
    assert_eq!(listed, ["feature-auth.json"], "the original sees the file that it knows, and no other");
}

#[test]
fn a_branch_that_has_its_own_file_keeps_it_when_the_other_goes() {
    let place = Place::with("requirements: {ticket: {enabled: true, scope: branch}}");
    place.satisfy(ANNA, &["ticket"]);
    place.check_out("feature-auth");
    place.satisfy(ANNA, &["ticket"]);
    fs::remove_file(state_file(&place, "feature-auth.json")).expect("the other branch was cleaned away");
    assert_eq!(place.edit(ANNA), Verdict::Allow);
}

#[test]
fn a_changed_nothing_changes_no_byte() {
    let place = Place::with(PLAN);
    place.satisfy(ANNA, &["commit_plan"]);
    place.edit(ANNA);
    let before = fs::read(state_file(&place, "feature-auth.json")).expect("bytes");
    place.pass(50);
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    assert_eq!(place.stops(ANNA), None);
    assert_eq!(fs::read(state_file(&place, "feature-auth.json")).expect("bytes"), before);
}

#[test]
fn without_a_branch_nothing_is_required() {
    let place = Place::with(PLAN);
    fs::write(place.root().join(".git/HEAD"), "0123456789012345678901234567890123456789\n").expect("HEAD");
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    let error = place.engine().clear_requirements(Clearing::All, None, Some(ANNA)).expect_err("nowhere");
    assert_eq!(error.kind(), "no_requirements_here");
}

#[test]
fn without_a_store_the_configuration_still_holds() {
    let place = Place::with(PLAN);
    fs::create_dir_all(place.root().join(".git/leftoff")).expect("a folder");
    fs::write(place.root().join(".git/leftoff/leftoff.db"), "no database at all, but long enough for one")
        .expect("a file");
    let options = Options { project: Some(place.root()), ..Options::default() };
    assert!(Engine::open(options.clone(), Intent::Query).is_err());
    let mut engine = place.prepared(Engine::open(options, Intent::WithoutStore).expect("it opens"));
    let agent = claude(ANNA);
    let call =
        ToolCall { agent: &agent, tool: "Edit", command: None, files: &[], skill: None, tool_use_id: None };
    denied(engine.before_tool(&call).answer);
}

#[test]
fn the_users_own_configuration_counts_too() {
    let place = Place::with("");
    fs::write(place.home().join(".claude/requirements.yaml"), PLAN).expect("a file");
    denied(place.edit(ANNA));
    place.write(".claude/requirements.yaml", "enabled: false");
    assert_eq!(place.edit(ANNA), Verdict::Allow);
}

#[test]
fn r3_only_the_projects_own_configuration_switches_requirements_on() {
    let place = Place::with("");
    fs::write(place.home().join(".claude/requirements.yaml"), PLAN).expect("a file");
    place.write(".claude/requirements.local.yaml", PLAN);
    denied(place.edit(ANNA));
    fs::remove_file(place.root().join(".claude/requirements.yaml")).expect("removed");
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    assert_eq!(place.stops(ANNA), None);
    assert_eq!(place.engine().requirements().list(None, Some(ANNA)).expect("a list").requirements, []);
    place.write(".claude/requirements.yaml", "inherit: true");
    denied(place.edit(ANNA));
}

#[test]
fn worktrees_share_one_file_a_branch() {
    let place = Place::with("requirements: {ticket: {enabled: true, scope: branch}}");
    place.satisfy(ANNA, &["ticket"]);
    let own = place.root().join(".git/worktrees/w");
    fs::create_dir_all(&own).expect("a folder");
    fs::write(own.join("HEAD"), "ref: refs/heads/feature/auth\n").expect("HEAD");
    fs::write(own.join("commondir"), "../..\n").expect("where the rest is");
    let tree = place.home().join("w");
    fs::create_dir_all(tree.join(".claude")).expect("a folder");
    fs::write(tree.join(".git"), format!("gitdir: {}\n", own.display())).expect("where git is");
    fs::copy(place.root().join(".claude/requirements.yaml"), tree.join(".claude/requirements.yaml"))
        .expect("a copy");
    let edit = |branch: &str| {
        fs::write(own.join("HEAD"), format!("ref: refs/heads/{branch}\n")).expect("HEAD");
        let options = Options { project: Some(tree.clone()), ..Options::default() };
        let agent = claude(BEN);
        let call = ToolCall {
            agent: &agent,
            tool: "Edit",
            command: None,
            files: &[],
            skill: None,
            tool_use_id: None,
        };
        place.prepared(Engine::open(options, Intent::Query).expect("it opens")).before_tool(&call).answer
    };
    assert_eq!(edit("feature/auth"), Verdict::Allow);
    denied(edit("other"));
}
