//! Tests of two worktrees of one repository, each with a session of the same name. The name means the session
//! of the worktree in which a command runs.

use super::*;

/// Creates a second worktree next to the project, with a copy of its sessions.
fn second(sandbox: &Sandbox) -> String {
    let elsewhere = sandbox.folder().join("elsewhere");
    let own = sandbox.path(".git/worktrees/elsewhere");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::create_dir_all(elsewhere.join(".workflow/WFS-a")).unwrap();
    std::fs::write(own.join("HEAD"), "ref: refs/heads/other\n").unwrap();
    std::fs::write(own.join("commondir"), "../..\n").unwrap();
    std::fs::write(elsewhere.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
    std::fs::write(elsewhere.join(REGISTRY), sandbox.read(REGISTRY)).unwrap();
    let state = sandbox.read(&state_of("WFS-a")).replace("About WFS-a", "The second one");
    std::fs::write(elsewhere.join(state_of("WFS-a")), state).unwrap();
    elsewhere.to_str().unwrap().to_owned()
}

#[test]
fn a_name_means_the_session_of_this_worktree() {
    let sandbox = project();
    write_session(&sandbox, "WFS-a", "IMPLEMENT", "active", "2026-11-14T09:00:00Z");
    let there = second(&sandbox);
    sandbox.run(["note", "first"]).ok();
    let shown = |folder: &str| {
        let here = ["show", "WFS-a", "--project", folder, "--json"];
        sandbox.run(here).ok().json()["title"].clone()
    };
    let project = sandbox.project().to_str().unwrap().to_owned();
    for _ in 0..2 {
        assert_eq!((shown(&there), shown(&project)), (json!("The second one"), json!("About WFS-a")));
        // Only this command adds the session to the log.
        let noted =
            sandbox.run(["note", "second", "--session", "WFS-a", "--project", &there, "--json"]).ok().json();
        assert_eq!(noted["title"], "The second one");
    }
    sandbox.run(["pause", "--project", &there]).ok();
    let resumed = sandbox.run(["resume", "WFS-a", "--project", &there, "--json"]).ok().json();
    assert_eq!((&resumed["title"], &resumed["status"]), (&json!("The second one"), &json!("active")));
    assert_eq!(state(&sandbox, "WFS-a")["status"], "active", "the other one was not touched");
    assert_eq!(shown(&project), "About WFS-a");
}
