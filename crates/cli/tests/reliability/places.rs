//! The location of the store: shared by worktrees, and for good outside the git folder if that is not
//! writable.

use crate::nobody::{Nobody, Sealed};
use crate::tree::Tree;
use crate::{git, worktrees};
use std::path::Path;
use testkit::Ran;

fn place(ran: &Ran) -> String {
    ran.json()["place"].as_str().unwrap().to_owned()
}

#[test]
fn a_git_folder_that_cannot_be_written_puts_the_store_into_the_users_state_folder_for_good() {
    let sandbox = git();
    let nobody = Nobody::in_sandbox(&sandbox);
    let sealed = Sealed::new(&sandbox.path(".git"));
    nobody.run(&["status"]).ok();
    assert!(!Tree::of(sandbox.folder()).holds("leftoff.db"), "a question chooses no place");

    let started = nobody.run(&["start", "--goal", "kept", "--json"]).ok().json();
    assert_eq!(started["warnings"][0]["kind"], "store_elsewhere");
    let chosen = place(&nobody.run(&["store", "info", "--json"]).ok());
    let state = sandbox.folder().join("state/leftoff");
    assert!(Path::new(&chosen).starts_with(&state), "{chosen}");
    nobody.run(&["note", "a later process"]).ok();

    // The git folder becomes writable again, but the store stays where it is.
    drop(sealed);
    let elsewhere = || place(&nobody.run(&["store", "info", "--json"]).ok());
    assert_eq!(elsewhere(), chosen);
    nobody.run(&["start", "--goal", "the second"]).ok();
    nobody.run(&["init"]).ok();
    assert_eq!(elsewhere(), chosen);
    let listing = nobody.run(&["list", "--all", "--json"]).ok().json();
    assert_eq!(listing["sessions"].as_array().unwrap().len(), 2);
    assert!(!sandbox.path(".git/leftoff").exists());
}

#[test]
fn processes_that_find_the_git_folder_sealed_at_once_choose_one_place() {
    let sandbox = git();
    let nobody = Nobody::in_sandbox(&sandbox);
    let _sealed = Sealed::new(&sandbox.path(".git"));
    let children: Vec<_> = (0..8).map(|_| nobody.spawn(&["start"])).collect();
    for child in children {
        Ran::from(child.wait_with_output().unwrap()).ok();
    }
    let listing = nobody.run(&["list", "--all", "--json"]).ok().json();
    assert_eq!(listing["sessions"].as_array().unwrap().len(), 8);
}

#[test]
fn worktrees_of_a_sealed_repository_share_the_store_elsewhere() {
    let sandbox = git();
    let tree = worktrees::add(&sandbox, "tree");
    let nobody = Nobody::in_sandbox(&sandbox);
    let _sealed = Sealed::new(&sandbox.path(".git"));
    nobody.run(&["start", "--id", "in-root"]).ok();
    let there = nobody.command(&["start", "--id", "in-tree"]).current_dir(&tree).output().unwrap();
    Ran::from(there).ok();
    let listing = nobody.run(&["list", "--all", "--json"]).ok().json();
    assert_eq!(listing["sessions"].as_array().unwrap().len(), 2);
}

#[test]
fn two_worktrees_share_one_store_and_have_an_active_session_each() {
    let sandbox = git();
    let tree = worktrees::add(&sandbox, "tree");
    let there =
        |arguments: &[&str]| Ran::from(sandbox.command(arguments).current_dir(&tree).output().unwrap());
    sandbox.run(["start", "--id", "in-root"]).ok();
    assert!(there(&["status", "--json"]).ok().json()["session_id"].is_null(), "another worktree's session");
    there(&["start", "--id", "in-tree"]).ok();
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "in-root");
    assert_eq!(there(&["status", "--json"]).ok().json()["session_id"], "in-tree");
    for listing in [sandbox.run(["list", "--json"]).ok(), there(&["list", "--json"]).ok()] {
        let listing = listing.json();
        let active = listing["sessions"].as_array().unwrap().iter();
        assert_eq!(active.filter(|session| session["lifecycle"] == "active").count(), 2);
    }
    there(&["note", "from over there", "--session", "in-root"]).ok();
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["notes"][0]["text"], "from over there");
    assert_eq!(place(&there(&["store", "info", "--json"])), place(&sandbox.run(["store", "info", "--json"])));
    assert!(!tree.join(".leftoff/leftoff.db").exists());
}

/// The finished session continues in the worktree of the command, and the active session there is paused.
#[test]
fn the_next_run_of_a_session_of_another_worktree_begins_here() {
    let sandbox = git();
    let tree = worktrees::add(&sandbox, "tree");
    let there =
        |arguments: &[&str]| Ran::from(sandbox.command(arguments).current_dir(&tree).output().unwrap());
    sandbox.run(["start", "--id", "finished"]).ok();
    for phase in ["plan", "implement", "review"] {
        sandbox.run(["advance", "--phase", phase]).ok();
    }
    sandbox.run(["start", "--id", "busy"]).ok();
    there(&["start", "--id", "in-tree"]).ok();
    let view = there(&["run", "start", "--session", "finished", "--json"]).ok().json();
    assert_eq!((&view["status"], &view["run"]["ordinal"]), (&"active".into(), &2.into()));
    assert_eq!(there(&["status", "--json"]).ok().json()["session_id"], "finished");
    let status = |id: &str| sandbox.run(["show", id, "--json"]).ok().json()["status"].clone();
    assert_eq!((status("busy"), status("in-tree")), ("active".into(), "paused".into()));
}
