//! Tests of the format's command `sync`. Its check is `doctor`, and its fix is `repair`. A fix makes a backup
//! first, and deletes nothing.

use super::*;

fn append(sandbox: &Sandbox, line: &str) {
    let known = if sandbox.path(REGISTRY).exists() { sandbox.read(REGISTRY) } else { String::new() };
    sandbox.write(REGISTRY, &format!("{known}{line}\n"));
}

const LOST: &str = r#"{"id":"WFS-lost","status":"paused","description":"Lost on the way","created":"2026-11-01T10:00:00Z","directory":".workflow/WFS-lost","complexity":"simple","theirs":[1]}"#;

/// A line refers to a missing folder. The check reports it, and the fix creates the session's file again with
/// default values.
#[test]
fn a_line_without_a_folder_is_told_of_and_its_session_made_again_with_what_the_line_tells() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ccw", "--goal", "Ours"]).ok();
    append(&sandbox, LOST);
    let told = sandbox.run(["doctor"]).code(4).stdout;
    assert!(told.contains("lists WFS-lost, but .workflow/WFS-lost does not exist"), "{told}");
    assert!(!sandbox.path(".workflow/WFS-lost").exists(), "doctor touches nothing");
    let list = sandbox.run(["list"]).ok();
    assert!(list.stderr.contains("WFS-lost does not exist"), "{}", list.stderr);
    let before = sandbox.read(REGISTRY);
    sandbox.run(["repair"]).ok();
    let json = state(&sandbox, "WFS-lost");
    assert_eq!((&json["project"], &json["type"]), (&json!("Lost on the way"), &json!("simple")));
    assert_eq!((&json["status"], &json["current_phase"]), (&json!("paused"), &json!("IMPLEMENT")));
    assert_eq!(json["meta"]["created"], "2026-11-01T10:00:00Z");
    assert_eq!(sandbox.read(REGISTRY), before, "no line is deleted, and none has to change");
    assert_eq!(state(&sandbox, "WFS-ours")["status"], "active", "the active one stays it");
    sandbox.run(["doctor"]).ok();
    assert!(sandbox.run(["repair"]).ok().stderr.contains("nothing to repair"));
}

/// The folder that a line names elsewhere is the one that is missed, and the one that is made again.
#[test]
fn a_line_that_names_a_missing_folder_elsewhere_is_told_with_that_folder() {
    let sandbox = project();
    append(&sandbox, &LOST.replace(".workflow/WFS-lost", "work/flows/WFS-lost"));
    let told = sandbox.run(["doctor"]).code(4).stdout;
    assert!(told.contains("lists WFS-lost, but work/flows/WFS-lost does not exist"), "{told}");
    sandbox.run(["repair"]).ok();
    assert!(!sandbox.path(".workflow/WFS-lost").exists());
    assert!(sandbox.read("work/flows/WFS-lost/workflow-session.json").contains("Lost on the way"));
    sandbox.run(["doctor"]).ok();
}

/// A registry that is missing is told once, not also as a list that lacks the session.
#[test]
fn a_missing_registry_of_a_known_session_is_told_once() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ccw", "--goal", "Ours"]).ok();
    std::fs::remove_file(sandbox.path(REGISTRY)).unwrap();
    let found = sandbox.run(["doctor", "--json"]).code(4).json()["findings"].clone();
    let about =
        found.as_array().unwrap().iter().filter(|finding| finding.to_string().contains("session_status"));
    assert_eq!(about.count(), 1, "{found:#}");
}

/// That the folder of a session in the log is missing is one fact, with one remedy.
#[test]
fn a_missing_folder_of_a_known_session_is_told_once() {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "PLAN", "active", "2026-11-14T09:00:00Z");
    sandbox.run(["note", "begun"]).ok();
    std::fs::remove_dir_all(sandbox.path(".workflow/WFS-a")).unwrap();
    let found = sandbox.run(["doctor", "--json"]).code(4).json()["findings"].clone();
    let kinds: Vec<&Value> = found.as_array().unwrap().iter().map(|finding| &finding["kind"]).collect();
    assert_eq!(kinds, ["view_missing"], "{found:#}");
    let list = sandbox.run(["list"]).ok();
    assert_eq!((&*list.stderr, list.stdout.matches("missing").count()), ("", 1), "{}", list.stdout);
}

/// A registry with many such lines does not fill a project with folders.
#[test]
fn many_lines_without_folders_are_told_of_once_and_made_again_one_by_one() {
    let sandbox = project();
    for number in 0..21 {
        append(&sandbox, &LOST.replace("WFS-lost", &format!("WFS-lost-{number}")));
    }
    let told = sandbox.run(["doctor"]).code(4).stdout;
    assert_eq!(told.matches("session_lost").count(), 1, "{told}");
    assert!(
        told.contains("21 sessions that have no folder: WFS-lost-0, ") && told.contains("and 11 more"),
        "{told}"
    );
    sandbox.run(["repair"]).ok();
    assert!(!sandbox.path(".workflow/WFS-lost-0").exists());
    sandbox.run(["repair", "--session", "WFS-lost-7"]).ok();
    assert_eq!(state(&sandbox, "WFS-lost-7")["project"], "Lost on the way");
    // Twenty sessions are created again at once, because they are few enough.
    sandbox.run(["repair"]).ok();
    assert_eq!(state(&sandbox, "WFS-lost-0")["project"], "Lost on the way");
    sandbox.run(["doctor"]).ok();
}

#[test]
fn a_line_of_a_finished_session_may_be_without_a_folder() {
    let sandbox = project();
    append(&sandbox, &LOST.replace("paused", "completed"));
    sandbox.run(["start", "--layout", "ccw", "--goal", "Ours"]).ok();
    sandbox.run(["doctor"]).ok();
    sandbox.run(["repair"]).ok();
    assert!(!sandbox.path(".workflow/WFS-lost").exists(), "somebody has cleaned up");
}

/// Text from a line is always checked before it is used as a path.
#[test]
fn lines_that_name_no_session_make_no_folder_and_take_nothing_over() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ccw", "--goal", "Ours"]).ok();
    append(&sandbox, r#"{"id":"../../WFS-evil","status":"active"}"#);
    append(&sandbox, r#"{"id":"WFS-a/b","status":"active","directory":"/tmp/WFS-a/b"}"#);
    append(&sandbox, r#"{"id":"WFS-nothing-known"}"#);
    append(&sandbox, r#"{"id":"elsewhere","status":"active","directory":"../elsewhere"}"#);
    let told = sandbox.run(["doctor"]).code(4).stdout;
    for name in ["../../WFS-evil", "WFS-a/b", "WFS-nothing-known", "elsewhere"] {
        assert!(told.contains(&format!("'{name}'")), "{name} in {told}");
    }
    let before = sandbox.read(REGISTRY);
    sandbox.run(["repair"]).ok();
    let folders: Vec<String> = std::fs::read_dir(sandbox.path(".workflow"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("WFS-"))
        .collect();
    assert_eq!(folders, ["WFS-ours"]);
    assert_eq!(sandbox.read(REGISTRY), before);
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "WFS-ours");
}

/// A lost session whose line says that it is active does not pause the active session.
#[test]
fn a_lost_session_that_is_called_active_counts_as_paused_beside_a_later_one() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ccw", "--goal", "Ours"]).ok();
    append(&sandbox, &LOST.replace("paused", "active"));
    sandbox.run(["repair"]).ok();
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "WFS-ours");
    assert_eq!(
        registered(&sandbox),
        [("WFS-ours".to_owned(), "active".to_owned()), ("WFS-lost".to_owned(), "paused".to_owned())]
    );
}

/// A missing or broken session file is created again with default values. This pauses no other session.
#[test]
fn a_stray_folder_that_is_mended_pauses_nobody() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ccw", "--goal", "Ours"]).ok();
    sandbox.write(&state_of("WFS-stray"), "{\"session_id\":");
    sandbox.write(".workflow/WFS-bare/IMPL_PLAN.md", "1. Do it\n");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "WFS-ours");
    sandbox.run(["repair"]).ok();
    assert_eq!(state(&sandbox, "WFS-ours")["status"], "active");
    for session in ["WFS-stray", "WFS-bare"] {
        assert_eq!(state(&sandbox, session)["status"], "paused");
    }
    sandbox.run(["doctor"]).ok();
}

#[test]
fn of_ten_thousand_lines_three_broken_ones_are_told_of_once_and_the_rest_goes_on() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ccw", "--goal", "Ours"]).ok();
    let own = sandbox.read(REGISTRY);
    let mut lines: Vec<String> = (0..10_000)
        .map(|n| {
            format!("{{\"id\":\"WFS-n{n}\",\"status\":\"completed\",\"directory\":\".workflow/WFS-n{n}\"}}")
        })
        .collect();
    for (at, broken) in [(17, "{\"id\":\"WFS-n17\","), (5_000, "not JSON"), (9_999, "[]")] {
        broken.clone_into(&mut lines[at]);
    }
    lines.insert(7_000, own.trim().to_owned());
    sandbox.write(REGISTRY, &format!("{}\n", lines.join("\n")));
    let told = sandbox.run(["doctor"]).code(4).stdout;
    assert_eq!(told.matches("not JSON object").count(), 1, "{told}");
    assert!(told.contains("lines 18, 5001, 10001 are not JSON objects"), "{told}");
    assert_eq!(sandbox.run(["list", "--json"]).ok().json()["sessions"].as_array().unwrap().len(), 1);
    sandbox.run(["pause"]).ok();
    lines[7_000] = own.trim().replace("\"active\"", "\"paused\"");
    assert_eq!(sandbox.read(REGISTRY), format!("{}\n", lines.join("\n")), "one line changed");
    assert!(sandbox.path(&format!("{REGISTRY}.bak")).exists(), "a backup before a fix");
}

/// Missing lines are added, also for sessions that leftoff never used. A missing registry is created.
#[test]
fn sessions_without_a_line_are_told_of_and_registered() {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "IMPLEMENT", "paused", "2026-11-10T10:00:00Z");
    write_session(&sandbox, "WFS-b", "IMPLEMENT", "active", "2026-11-12T10:00:00Z");
    let file = sandbox.read(&state_of("WFS-a"));
    std::fs::remove_file(sandbox.path(REGISTRY)).unwrap();
    let told = sandbox.run(["doctor"]).code(4).stdout;
    assert!(told.contains("session_status.jsonl does not list WFS-a, WFS-b"), "{told}");
    assert!(!sandbox.path(REGISTRY).exists(), "doctor touches nothing");
    let mended = sandbox.run(["repair"]).ok().stdout;
    assert!(mended.contains("it was missing from .workflow/session_status.jsonl"), "{mended}");
    let expected = [("WFS-a", "paused"), ("WFS-b", "active")];
    assert_eq!(registered(&sandbox), expected.map(|(id, status)| (id.to_owned(), status.to_owned())));
    assert_eq!(sandbox.read(&state_of("WFS-a")), file, "its own file says the same as before");
    sandbox.run(["doctor"]).ok();
}

/// A broken line is reported only once, although it contains the name of a session in the list.
#[test]
fn a_broken_line_that_names_a_session_is_told_of_once_in_a_list() {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "IMPLEMENT", "paused", "2026-11-10T10:00:00Z");
    append(&sandbox, r#"{"id":"WFS-a","status":"act"#);
    let said = sandbox.run(["list"]).ok().stderr;
    assert_eq!(said.matches("not a JSON object").count(), 1, "{said}");
}
