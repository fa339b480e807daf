//! Tests the start and the end of agent sessions, and several agents.

use super::*;

const CARRIED: &str = "
requirements:
  commit_plan: {enabled: true}
  github_ticket: {enabled: true, scope: branch}
  pre_commit_review: {enabled: true, scope: single_use}
hooks: {session_start: {carry_over: {enabled: true}}}
";
const ALONE: &str = "requirements: {alone: {enabled: true, type: guard, guard_type: single_session}}";

fn registry(place: &Place) -> Value {
    json(&place.home().join(".claude/sessions.json"))
}

fn write_registry(place: &Place, text: &str) {
    fs::write(place.home().join(".claude/sessions.json"), text).expect("the list");
}

/// Adds a live session of the original tool in this project.
fn original(place: &Place, id: &str, ppid: u32, project: &str) {
    write_registry(
        place,
        &format!(
            r#"{{"version":"1.0","sessions":{{"{id}":{{"pid":1,"ppid":{ppid},"project_dir":"{project}","branch":"feature/auth","started_at":1,"last_active":2}}}}}}"#
        ),
    );
}

#[test]
fn the_beginning_tells_what_is_open_and_how_to_satisfy_it() {
    let place =
        Place::with("requirements: {commit_plan: {enabled: true, auto_resolve_skill: arch-review}, off: {}}");
    let opening = place.starts(ANNA, "startup");
    assert_eq!(opening.open.len(), 1);
    let text = opening.text.expect("something to say");
    assert!(text.contains("commit_plan (session)") && text.contains("Run /arch-review"), "{text}");
    assert!(text.contains("leftoff req satisfy commit_plan --agent-session a4326893"), "{text}");
    place.satisfy(ANNA, &["commit_plan"]);
    assert_eq!(place.starts(ANNA, "compact").text, None, "nothing is open, and nobody else is here");
}

#[test]
fn r8_without_inject_context_the_beginning_is_silent() {
    let place = Place::with("requirements: {commit_plan: {enabled: true}}");
    place.starts(ANNA, "startup");
    let text = place.starts(BEN, "startup").text.expect("something to say");
    assert!(text.contains("commit_plan") && text.contains("a4326893"), "{text}");
    place.write(".claude/requirements.local.yaml", "hooks: {session_start: {inject_context: false}}");
    assert_eq!(place.starts(BEN, "startup").text, None);
}

#[test]
fn behaviour_12_the_end_leaves_the_list_of_live_ones_and_keeps_the_state() {
    let place = Place::with("requirements: {commit_plan: {enabled: true}}");
    place.starts(ANNA, "startup");
    assert_eq!(registry(&place)["sessions"]["a4326893"]["session_id"], ANNA);
    assert_eq!(registry(&place)["sessions"]["a4326893"]["branch"], "feature/auth");
    place.satisfy(ANNA, &["commit_plan"]);
    place.satisfy(BEN, &["commit_plan"]);
    place.engine().at_end(&claude(ANNA));
    assert_eq!(registry(&place)["sessions"].as_object().map(serde_json::Map::len), Some(0));
    assert_eq!(place.edit(ANNA), Verdict::Allow, "what was satisfied stays");
    place.write(".claude/requirements.local.yaml", "hooks: {session_end: {clear_session_state: true}}");
    place.engine().at_end(&claude(ANNA));
    denied(place.edit(ANNA));
    assert_eq!(place.edit(BEN), Verdict::Allow, "another's stays");
}

#[test]
fn behaviour_14_a_new_agent_session_starts_unsatisfied() {
    let place = Place::with("requirements: {commit_plan: {enabled: true}}");
    place.satisfy(ANNA, &["commit_plan"]);
    place.engine().at_end(&claude(ANNA));
    assert_eq!(place.starts(BEN, "startup").open.len(), 1);
    denied(place.edit(BEN));
    place.satisfy(BEN, &["commit_plan"]);
    let sessions = place.state("feature-auth")["requirements"]["commit_plan"]["sessions"].clone();
    assert_eq!(sessions.as_object().map(serde_json::Map::len), Some(2), "{sessions}");
}

#[test]
fn behaviour_14_where_it_is_on_a_young_satisfaction_is_inherited_once() {
    let place = Place::with(CARRIED);
    place.satisfy(ANNA, &["commit_plan", "pre_commit_review"]);
    place.pass(300);
    assert_eq!(place.starts(BEN, "resume").carried_over, Vec::<String>::new());
    assert_eq!(place.starts(BEN, "compact").carried_over, Vec::<String>::new());
    let opening = place.starts(BEN, "startup");
    assert_eq!(opening.carried_over, ["commit_plan"], "other scopes are not");
    assert!(opening.text.expect("told").contains("commit_plan"));
    assert_eq!(place.starts("c0000000", "startup").carried_over, Vec::<String>::new(), "once");
    let entry = place.state("feature-auth")["requirements"]["commit_plan"]["sessions"]["b8800000"].clone();
    assert_eq!(entry["satisfied_by"], "carry_over");
    let later = Place::with(CARRIED);
    later.satisfy(ANNA, &["commit_plan"]);
    later.pass(301);
    assert_eq!(later.starts(BEN, "clear").carried_over, Vec::<String>::new(), "too old");
}

#[test]
fn behaviour_15_a_single_session_guard_holds_while_another_lives_here() {
    let place = Place::with(ALONE);
    let here = place.root().display().to_string();
    assert_eq!(place.edit(ANNA), Verdict::Allow);
    original(&place, "bbbb2222", std::process::id(), &here);
    assert!(denied(place.edit(ANNA)).contains("bbbb2222"));
    original(&place, "a4326893", std::process::id(), &here);
    assert_eq!(place.edit(ANNA), Verdict::Allow, "itself");
    original(&place, "bbbb2222", std::process::id(), "/elsewhere");
    assert_eq!(place.edit(ANNA), Verdict::Allow, "another project");
    original(&place, "bbbb2222", ended(), &here);
    assert_eq!(place.edit(ANNA), Verdict::Allow, "one that is gone");
    // The system's first process is alive, although it refuses signals from anybody but root.
    original(&place, "bbbb2222", 1, &here);
    denied(place.edit(ANNA));
}

#[test]
fn those_that_are_gone_leave_the_list_and_unknown_keys_stay() {
    let place = Place::with("requirements: {commit_plan: {enabled: true}}");
    let gone = ended();
    write_registry(
        &place,
        &format!(
            r#"{{"version":"1.0","theirs":1,"sessions":{{
                "gone1111":{{"pid":{gone},"ppid":{gone},"project_dir":"/x"}},
                "none2222":{{"project_dir":"/x"}},
                "zero3333":{{"pid":0,"ppid":0,"project_dir":"/x"}},
                "reused44":{{"ppid":{me},"process_start":1,"boot_id":"another","project_dir":"/x"}},
                "init5555":{{"pid":7,"ppid":1,"project_dir":"/x","note":"keep"}}}}}}"#,
            me = std::process::id()
        ),
    );
    let opening = place.starts(ANNA, "startup");
    assert_eq!(opening.others, [], "they are of another project");
    let registry = registry(&place);
    let names: Vec<&String> = registry["sessions"].as_object().expect("a table").keys().collect();
    assert_eq!(names, ["init5555", "a4326893"]);
    assert_eq!((&registry["theirs"], &registry["sessions"]["init5555"]["note"]), (&1.into(), &"keep".into()));
}

#[test]
fn other_live_agent_sessions_are_named() {
    let place = Place::with("requirements: {commit_plan: {enabled: true}}");
    original(&place, "bbbb2222", std::process::id(), &place.root().display().to_string());
    let opening = place.starts(ANNA, "startup");
    assert_eq!(opening.others.len(), 1);
    assert!(opening.text.expect("told").contains("claude bbbb2222 on feature/auth"));
}

#[test]
fn a_list_that_cannot_be_read_is_kept_aside() {
    let place = Place::with("requirements: {commit_plan: {enabled: true}}");
    write_registry(&place, "{broken");
    place.starts(ANNA, "startup");
    assert!(registry(&place)["sessions"]["a4326893"].is_object());
    let kept = fs::read_dir(place.home().join(".claude"))
        .expect("a folder")
        .flatten()
        .find(|entry| entry.file_name().to_string_lossy().contains("broken-"))
        .expect("kept aside");
    assert_eq!(fs::read_to_string(kept.path()).expect("text"), "{broken");
}

/// Returns the id of a process that has ended.
fn ended() -> u32 {
    let mut child = std::process::Command::new("true").spawn().expect("a process");
    let pid = child.id();
    child.wait().expect("it ends");
    pid
}
