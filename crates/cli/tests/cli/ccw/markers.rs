//! Tests of marker files in later releases, `.workflow/.active-WFS-…`. They show which session is active, and
//! leftoff's commands maintain them.

use super::*;

/// A project as the tool of this release leaves it: a marker file, an active session, and no registry.
fn marked() -> Sandbox {
    let sandbox = project();
    let json = r#"{"session_id":"WFS-old","project":"Old","current_phase":"IMPLEMENT","status":"active","created_at":"2026-11-01T10:00:00Z"}"#;
    sandbox.write(&state_of("WFS-old"), json);
    sandbox.write(".workflow/.active-WFS-old", "");
    sandbox
}

fn markers(sandbox: &Sandbox) -> Vec<String> {
    let entries = std::fs::read_dir(sandbox.path(".workflow")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut found: Vec<String> = names.filter(|name| name.contains("active-")).collect();
    found.sort();
    found
}

/// Switches sessions as the tool's documentation says: `rm .workflow/.active-* && touch
/// .workflow/.active-WFS-…`.
fn switch_by_hand(sandbox: &Sandbox, to: Option<&str>) {
    for marker in markers(sandbox) {
        std::fs::remove_file(sandbox.path(&format!(".workflow/{marker}"))).unwrap();
    }
    if let Some(to) = to {
        sandbox.write(&format!(".workflow/.active-{to}"), "");
    }
}

#[test]
fn start_pause_resume_switch_and_close_keep_the_markers_true() {
    let sandbox = marked();
    sandbox.run(["start", "--layout", "ccw", "--goal", "New"]).ok();
    assert_eq!(markers(&sandbox), [".active-WFS-new"], "the other one is paused");
    sandbox.run(["pause"]).ok();
    assert_eq!(markers(&sandbox), [""; 0]);
    sandbox.run(["resume", "--yes"]).ok();
    assert_eq!(markers(&sandbox), [".active-WFS-new"]);
    sandbox.run(["switch", "WFS-old"]).ok();
    assert_eq!(markers(&sandbox), [".active-WFS-old"]);
    sandbox.run(["close", "--force"]).ok();
    assert_eq!(markers(&sandbox), [""; 0]);
    // The project still uses marker files, although none exists now.
    sandbox.run(["start", "--layout", "ccw", "--goal", "Newer"]).ok();
    assert_eq!(markers(&sandbox), [".active-WFS-newer"]);
    sandbox.run(["fail", "--error", "no disk"]).ok();
    assert_eq!(markers(&sandbox), [""; 0]);
    assert!(!sandbox.path(REGISTRY).exists(), "those have no registry");
    assert!(!sandbox.path(".leftoff/aside").exists(), "nothing was in them");
}

#[test]
fn a_project_without_markers_gets_none() {
    let sandbox = project();
    sandbox.run(["start", "--layout", "ccw", "--goal", "One"]).ok();
    sandbox.run(["pause"]).ok();
    sandbox.run(["resume", "--yes"]).ok();
    assert_eq!(markers(&sandbox), [""; 0]);
}

#[test]
fn where_there_is_a_registry_too_both_are_kept_true() {
    let sandbox = project();
    write_session(&sandbox, "WFS-old", "IMPLEMENT", "active", "2026-11-01T10:00:00Z");
    sandbox.write(".workflow/.active-WFS-old", "");
    sandbox.run(["pause"]).ok();
    sandbox.run(["start", "--layout", "ccw", "--goal", "New"]).ok();
    assert_eq!(markers(&sandbox), [".active-WFS-new"]);
    assert_eq!(
        registered(&sandbox),
        [("WFS-old".to_owned(), "paused".to_owned()), ("WFS-new".to_owned(), "active".to_owned())]
    );
}

/// The tool switches sessions by deleting one marker file and creating another. It does not change the files
/// of the sessions.
#[test]
fn a_switch_by_markers_alone_is_followed_and_never_reverted() {
    let sandbox = marked();
    sandbox.run(["start", "--layout", "ccw", "--goal", "New"]).ok();
    switch_by_hand(&sandbox, Some("WFS-old"));
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "WFS-old");
    let list = sandbox.run(["list", "--json"]).ok().json();
    let active: Vec<&Value> =
        list["sessions"].as_array().unwrap().iter().filter(|line| line["lifecycle"] == "active").collect();
    assert_eq!((active.len(), &active[0]["session_id"]), (1, &json!("WFS-old")));
    sandbox.run(["note", "goes to the one that is marked"]).ok();
    assert_eq!(markers(&sandbox), [".active-WFS-old"]);
    assert_eq!(
        (&state(&sandbox, "WFS-old")["status"], &state(&sandbox, "WFS-new")["status"]),
        (&json!("active"), &json!("paused"))
    );
    // This is how the tool pauses a session.
    switch_by_hand(&sandbox, None);
    let view = sandbox.run(["show", "WFS-old", "--json"]).ok().json();
    assert_eq!(view["status"], "paused");
    assert!(
        view["warnings"].to_string().contains(".active-WFS-old was removed by somebody else"),
        "{view:#}"
    );
    sandbox.run(["repair"]).ok();
    assert_eq!(markers(&sandbox), [""; 0], "it does not come back");
    assert_eq!(state(&sandbox, "WFS-old")["status"], "paused");
}

/// Of sessions that were not adopted, the one with a marker file is active. Their own files do not matter.
#[test]
fn another_sessions_marker_says_that_this_one_waits() {
    let sandbox = marked();
    let later = r#"{"session_id":"WFS-b","project":"B","current_phase":"PLAN","status":"active","updated_at":"2026-11-13T10:00:00Z"}"#;
    sandbox.write(&state_of("WFS-b"), later);
    let list = sandbox.run(["list", "--json"]).ok().json();
    let states: Vec<(&str, &str)> = list["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| (line["session_id"].as_str().unwrap(), line["lifecycle"].as_str().unwrap()))
        .collect();
    assert!(states.contains(&("WFS-old", "active")) && states.contains(&("WFS-b", "paused")), "{states:?}");
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "WFS-old");
}

#[test]
fn a_marker_that_holds_something_is_set_aside_and_not_deleted() {
    let sandbox = marked();
    sandbox.write(".workflow/.active-WFS-old", "notes of somebody\n");
    sandbox.run(["pause"]).ok();
    assert_eq!(markers(&sandbox), [""; 0]);
    let aside: Vec<String> = std::fs::read_dir(sandbox.path(".leftoff/aside/WFS-old"))
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    assert_eq!(aside, ["notes of somebody\n"]);
    sandbox.run(["resume", "--yes"]).ok();
    assert_eq!(markers(&sandbox), [".active-WFS-old"]);
}

/// If all sessions are paused, there is no marker file. `resume` creates one if a later release wrote the
/// session's files.
#[test]
fn c8_resume_makes_a_marker_and_no_registry_for_a_session_of_a_later_release() {
    let sandbox = project();
    let json = json!({
        "session_id": "WFS-a", "description": "About it", "status": "paused", "current_phase": "IMPLEMENT",
        "created_at": "2026-11-01T10:00:00Z", "updated_at": "2026-11-10T10:00:00Z",
    });
    sandbox.write(&state_of("WFS-a"), &json.to_string());
    sandbox.run(["resume"]).ok();
    assert_eq!(state(&sandbox, "WFS-a")["status"], "active");
    assert!(sandbox.path(".workflow/.active-WFS-a").exists());
    assert!(!sandbox.path(REGISTRY).exists());
}
