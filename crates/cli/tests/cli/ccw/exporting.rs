//! Tests of exporting several sessions to one folder. Each session gets a line in the registry, and no other
//! line changes.

use super::*;

/// Two sessions of a project.
fn two() -> Sandbox {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "PLAN", "paused", "2026-11-10T10:00:00Z");
    write_session(&sandbox, "WFS-b", "IMPLEMENT", "active", "2026-11-13T10:00:00Z");
    sandbox
}

#[test]
fn a_second_session_gets_its_line_in_the_registry_that_is_there() {
    let sandbox = two();
    sandbox.run(["export", "--layout", "ccw", "out", "--session", "WFS-a"]).ok();
    let registry = format!("out/{REGISTRY}");
    // The registry also contains a foreign line, and one that is not JSON.
    let before = format!("{}{{\"id\": \"WFS-c\", \"x\": 1.50}}\nno JSON", sandbox.read(&registry));
    sandbox.write(&registry, &before);
    sandbox.run(["export", "--layout", "ccw", "out", "--session", "WFS-b"]).ok();
    let after = sandbox.read(&registry);
    let added = after.strip_prefix(&before).unwrap_or_else(|| panic!("others' lines changed: {after}"));
    assert_eq!(added.trim().lines().count(), 1, "{after}");
    assert!(added.contains("\"id\":\"WFS-b\""), "{after}");
    assert_eq!(sandbox.names("out/.workflow"), ["WFS-a", "WFS-b", "session_status.jsonl"]);
    let list = sandbox.run(["list", "--all", "--project", "out", "--json"]).ok().json();
    let ids: Vec<&Value> =
        list["sessions"].as_array().unwrap().iter().map(|session| &session["session_id"]).collect();
    assert!(ids.contains(&&json!("WFS-a")) && ids.contains(&&json!("WFS-b")), "{list:#}");
}

#[test]
fn a_session_of_that_name_in_the_registry_is_refused_and_nothing_is_written() {
    let sandbox = two();
    let registry = format!("out/{REGISTRY}");
    let line = "{\"id\":\"WFS-b\",\"status\":\"paused\"}\n";
    sandbox.write(&registry, line);
    let refused = sandbox.run(["export", "--layout", "ccw", "out", "--session", "WFS-b"]).code(4);
    assert!(refused.stderr.contains("already has a session WFS-b"), "{}", refused.stderr);
    assert_eq!(sandbox.read(&registry), line);
    assert_eq!(sandbox.names("out/.workflow"), ["session_status.jsonl"]);
}

#[test]
fn the_same_session_twice_is_refused_and_a_link_in_the_registry_s_place_too() {
    let sandbox = two();
    sandbox.run(["export", "--layout", "ccw", "out", "--session", "WFS-a"]).ok();
    let before = sandbox.read(&format!("out/{REGISTRY}"));
    sandbox.run(["export", "--layout", "ccw", "out", "--session", "WFS-a"]).code(4);
    assert_eq!(sandbox.read(&format!("out/{REGISTRY}")), before);
    sandbox.write("elsewhere.jsonl", "theirs\n");
    std::fs::create_dir_all(sandbox.path("linked/.workflow")).unwrap();
    std::os::unix::fs::symlink(sandbox.path("elsewhere.jsonl"), sandbox.path(&format!("linked/{REGISTRY}")))
        .unwrap();
    assert_ne!(sandbox.run(["export", "--layout", "ccw", "linked", "--session", "WFS-a"]).code, 0);
    assert_eq!(sandbox.read("elsewhere.jsonl"), "theirs\n");
    assert_eq!(sandbox.names("linked/.workflow"), ["session_status.jsonl"]);
}
