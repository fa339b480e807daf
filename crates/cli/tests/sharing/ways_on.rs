//! States in which sharing seems stuck: what is said in them is true, and there is a way on.

use crate::clones::Hub;
use std::fs;

#[test]
fn sharing_is_switched_off_after_the_remote_was_removed() {
    let hub = Hub::new();
    let anna = hub.clone("anna");
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    hub.git(&anna.project, &["remote", "remove", "origin"]);
    let refused = anna.fails(4, &["sync"]);
    assert!(refused.contains("no remote 'origin'") && refused.contains("leftoff sync off"), "{refused}");
    let told = anna.ok(&["sync", "status"]);
    assert!(told.starts_with("Shared through origin\n") && told.contains("leftoff sync off"), "{told}");
    anna.ok(&["sync", "off"]);
    assert!(anna.ok(&["doctor"]).contains("no problems found"));
    assert!(anna.ok(&["sync", "off"]).contains("not shared before; nothing changed"));
}

#[test]
fn the_next_step_on_another_machine_is_one_that_is_possible() {
    let hub = Hub::new();
    let (anna, ben) = (hub.clone("anna"), hub.clone("ben"));
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    anna.sync();
    ben.sync();
    assert_eq!(ben.json(&["show", "login"])["next"]["command"], "leftoff resume login");
    let refused = ben.fails(4, &["resume", "login"]);
    assert!(refused.contains("last changed just now"), "{refused}");
    ben.as_person(&["resume", "login", "--take"]);
    ben.ok(&["note", "of ben"]);
    ben.sync();
    anna.ok(&["note", "of anna"]);
    anna.sync();
    let fork = anna.forks().pop().unwrap();
    let merge = format!("leftoff sync resolve {fork}");
    assert_eq!(anna.json(&["show", &fork])["next"]["command"], merge.as_str());
    anna.ok(&["sync", "resolve", &fork]);
}

#[test]
fn a_clone_that_only_fetches_has_nothing_to_send() {
    let hub = Hub::new();
    let (anna, ben) = (hub.clone("anna"), hub.clone("ben"));
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    anna.ok(&["pause", "--reason", "lunch"]);
    anna.sync();
    ben.ok(&["sync", "--fetch-only"]);
    assert_eq!(ben.json(&["sync", "status"])["ahead"], 0);
    ben.ok(&["resume", "login"]);
    assert_eq!(ben.json(&["sync", "status"])["ahead"], 1);
}

#[test]
fn the_names_of_clones_are_known_after_the_kind_of_ref_changes() {
    let hub = Hub::new();
    let (anna, ben) = (hub.clone("anna"), hub.clone("ben"));
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    anna.sync();
    ben.sync();
    ben.ok(&["init", "--sync", "--branches"]);
    ben.sync();
    let list = ben.json(&["list"]);
    assert!(list["sessions"][0]["machine"].as_str().unwrap().starts_with("anna@"), "{list}");
}

#[test]
fn whoever_purges_what_others_wrote_hears_that_they_keep_it() {
    let hub = Hub::new();
    let (anna, ben) = (hub.clone("anna"), hub.clone("ben"));
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    anna.ok(&["note", "the word is XYZZY-1234"]);
    anna.ok(&["pause", "--reason", "away"]);
    anna.sync();
    ben.sync();
    ben.ok(&["resume", "login"]);
    let told = ben.as_person(&["purge", "XYZZY-1234", "--session", "login", "--yes"]);
    assert!(told.contains("other clones keep the text in events that they wrote"), "{told}");
    ben.ok(&["note", "PLUGH-1234"]);
    let told = ben.as_person(&["purge", "PLUGH-1234", "--session", "login", "--yes"]);
    assert!(told.contains("the remote and other clones keep the text until they sync"), "{told}");
    ben.ok(&["pause", "--reason", "purged"]);
    ben.sync();
    let done = anna.sync();
    assert!(done["said"].to_string().contains("was ignored"), "{done}");
    assert!(anna.notes("login").concat().contains("XYZZY"));
    assert!(!anna.everything_kept().contains("PLUGH"));
}

#[test]
fn a_copy_that_stops_sharing_leaves_the_originals_data_at_the_remote() {
    let hub = Hub::new();
    let anna = hub.clone("anna");
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    anna.sync();
    let told = hub.copy_of("anna").ok(&["sync", "off", "--erase"]);
    assert!(told.contains("nothing was removed: this copy has sent nothing yet"), "{told}");
    assert_eq!(hub.refs("refs/leftoff/v1").len(), 1);
}

#[test]
fn a_bare_repository_is_told_apart_from_a_folder() {
    let hub = Hub::new();
    hub.git(hub.folder.path(), &["clone", "--quiet", "--bare", "hub.git", "bare"]);
    let refused = hub.known("bare").fails(4, &["init", "--sync"]);
    assert!(refused.contains("is a bare repository") && refused.contains("from a clone of it"), "{refused}");
    fs::create_dir(hub.folder.path().join("folder")).unwrap();
    let refused = hub.known("folder").fails(4, &["init", "--sync"]);
    assert!(refused.contains("is not a git repository"), "{refused}");
}

#[test]
fn nobody_is_told_to_restore_a_file_whose_content_never_came() {
    let hub = Hub::new();
    let (anna, ben) = (hub.clone("anna"), hub.clone("ben"));
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    fs::write(anna.project.join("large.md"), "x".repeat(300 << 10)).unwrap();
    fs::write(anna.project.join("small.md"), "small").unwrap();
    anna.ok(&["artifact", "add", "large.md", "small.md"]);
    anna.ok(&["pause", "--reason", "lunch"]);
    anna.sync();
    ben.sync();
    ben.ok(&["resume", "login"]);
    fs::remove_file(ben.project.join("small.md")).unwrap();
    let told = ben.fails(4, &["artifact", "verify"]);
    assert!(told.contains("leftoff artifact restore small.md"), "{told}");
    assert!(
        told.contains("large.md of phase plan is missing, and the store does not have its content"),
        "{told}"
    );
    assert!(!told.contains("artifact restore large.md"), "{told}");
    let refused = ben.fails(3, &["artifact", "restore", "large.md"]);
    assert!(refused.contains("not all content comes from other machines"), "{refused}");
}

#[test]
fn a_renamed_remote_is_still_the_same_one() {
    let hub = Hub::new();
    let anna = hub.clone("anna");
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    anna.sync();
    let replica = anna.replica();
    hub.git(&anna.project, &["remote", "rename", "origin", "upstream"]);
    anna.fails(4, &["sync"]);
    anna.ok(&["init", "--sync"]);
    anna.sync();
    assert_eq!(anna.replica(), replica);
    assert_eq!(hub.refs("refs/leftoff/v1").len(), 1);
}

#[test]
fn a_purged_file_leaves_every_clone_unless_another_session_recorded_it() {
    let hub = Hub::new();
    let (anna, ben) = (hub.clone("anna"), hub.clone("ben"));
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    for (name, text) in [("secret.md", "the word is XYZZY-1234"), ("shared.md", "the word is PLUGH-1234")] {
        fs::write(anna.project.join(name), text).unwrap();
        anna.ok(&["artifact", "add", name]);
        fs::remove_file(anna.project.join(name)).unwrap();
    }
    anna.ok(&["pause", "--reason", "away"]);
    anna.sync();
    ben.sync();
    // Ben continues the session, so that he sends the contents, too, and has recorded one of them elsewhere.
    ben.ok(&["resume", "login"]);
    ben.ok(&["note", "of ben", "--key", "k1"]);
    ben.ok(&["pause", "--reason", "away"]);
    ben.ok(&["start", "--goal", "another", "--id", "other"]);
    ben.ok(&["artifact", "add", "shared.md"]);
    ben.ok(&["pause", "--reason", "away"]);
    fs::remove_file(ben.project.join("secret.md")).unwrap();
    ben.sync();
    hub.at("2026-11-16T10:00:00Z");
    anna.sync();
    for text in ["XYZZY-1234", "PLUGH-1234"] {
        let told = anna.as_person(&["purge", text, "--session", "login", "--yes"]);
        assert!(told.contains("the remote and other clones keep the text until they sync"), "{told}");
    }
    for clone in [&anna, &ben, &anna, &ben] {
        clone.sync();
    }
    for clone in [&anna, &ben] {
        assert!(!clone.everything_kept().contains("XYZZY"), "{}", clone.name);
    }
    fs::remove_file(ben.project.join("shared.md")).unwrap();
    ben.ok(&["artifact", "restore", "shared.md", "--session", "other"]);
    assert_eq!(fs::read_to_string(ben.project.join("shared.md")).unwrap(), "the word is PLUGH-1234");
    let refused = ben.fails(3, &["artifact", "restore", "secret.md", "--session", "login"]);
    assert!(refused.contains("purged content is removed"), "{refused}");
}
