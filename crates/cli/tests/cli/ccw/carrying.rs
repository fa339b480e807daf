//! Tests of importing and exporting a session: all content of its files, and of the registry only its own
//! line.

use super::*;

fn exported(sandbox: &Sandbox, folder: &str, path: &str) -> Value {
    serde_json::from_str(&sandbox.read(&format!("{folder}/.workflow/{path}"))).unwrap()
}

fn half_way() -> Sandbox {
    let sandbox = project();
    write_session(&sandbox, "WFS-other", "PLAN", "paused", "2026-11-10T10:00:00Z");
    write_session(&sandbox, "WFS-one", "IMPLEMENT", "active", "2026-11-13T10:00:00Z");
    sandbox.write(".workflow/WFS-one/IMPL_PLAN.md", "1. Do it\n");
    for (id, status) in [("impl-1", "completed"), ("impl-2", "blocked")] {
        let json = format!("{{\"id\":\"{id}\",\"title\":\"T\",\"status\":\"{status}\",\"theirs\":1.50}}");
        sandbox.write(&format!(".workflow/WFS-one/.task/{id}.json"), &json);
    }
    sandbox
}

#[track_caller]
fn check_whole(sandbox: &Sandbox, folder: &str) {
    let registry = sandbox.read(&format!("{folder}/{REGISTRY}"));
    assert_eq!(registry.lines().count(), 1, "nobody else's line: {registry}");
    assert!(registry.contains("\"id\":\"WFS-one\""), "{registry}");
    assert_eq!(exported(sandbox, folder, "WFS-one/workflow-session.json")["stats"]["kept"], 1.5);
    let statuses = ["impl-1", "impl-2"]
        .map(|id| exported(sandbox, folder, &format!("WFS-one/.task/{id}.json"))["status"].clone());
    assert_eq!(statuses, ["completed", "blocked"]);
    assert!(
        sandbox.read(&format!("{folder}/.workflow/WFS-one/.task/impl-2.json")).contains("\"theirs\":1.50")
    );
    assert_eq!(sandbox.read(&format!("{folder}/.workflow/WFS-one/IMPL_PLAN.md")), "1. Do it\n");
    let list = sandbox.run(["list", "--project", folder, "--json"]).ok().json();
    assert_eq!(list["sessions"][0]["session_id"], "WFS-one", "{list:#}");
    assert_eq!(list["warnings"], json!([]));
}

#[test]
fn a_session_is_exported_as_its_own_files_whether_it_is_ours_or_theirs_or_imported() {
    let sandbox = half_way();
    sandbox.run(["export", "--layout", "ccw", "theirs"]).ok();
    check_whole(&sandbox, "theirs");
    assert!(!sandbox.path(".git/leftoff").exists(), "it was not taken in by that");
    sandbox.run(["note", "taken in"]).ok();
    sandbox.run(["export", "--layout", "ccw", "ours"]).ok();
    check_whole(&sandbox, "ours");
    sandbox.run(["import", "WFS-one"]).ok();
    sandbox.run(["export", "--layout", "ccw", "imported", "--session", "WFS-one"]).ok();
    check_whole(&sandbox, "imported");
    assert_eq!(sandbox.read(REGISTRY).lines().count(), 2, "the project's own registry is as it was");
}

#[test]
fn what_was_done_in_leftoff_alone_is_in_the_files_too() {
    let sandbox = half_way();
    sandbox.run(["import", "WFS-one"]).ok();
    sandbox.run(["resume", "WFS-one"]).ok();
    sandbox.run(["item", "unblock", "impl-2"]).ok();
    sandbox.run(["item", "done", "impl-2"]).ok();
    sandbox.run(["item", "add", "Third"]).ok();
    sandbox.run(["export", "--layout", "ccw", "out"]).ok();
    let statuses = ["impl-1", "impl-2", "impl-3"]
        .map(|id| exported(&sandbox, "out", &format!("WFS-one/.task/{id}.json"))["status"].clone());
    assert_eq!(statuses, ["completed", "completed", "pending"]);
    assert!(
        sandbox.read(".workflow/WFS-one/.task/impl-2.json").contains("blocked"),
        "their files are left alone"
    );
}
