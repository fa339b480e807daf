//! Stories with several clones, from start to end.

use crate::clones::Hub;
use std::fs;

#[test]
fn a_session_is_continued_in_another_clone() {
    let hub = Hub::new();
    let (anna, ben) = (hub.clone("anna"), hub.clone("ben"));
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    fs::create_dir_all(anna.project.join(".leftoff/sessions/login")).unwrap();
    fs::write(anna.project.join(".leftoff/sessions/login/PLAN.md"), "## Steps\n1. rotate\n").unwrap();
    anna.ok(&["artifact", "add", ".leftoff/sessions/login/PLAN.md"]);
    anna.ok(&["note", "--kind", "decision", "rotate on every use"]);
    anna.ok(&["pause", "--reason", "lunch"]);
    assert_eq!(anna.sync()["sent"], 1);
    assert_eq!(ben.sync()["taken"], 1);
    let list = ben.ok(&["list"]);
    assert!(list.contains("login") && list.contains("on anna@"), "{list}");
    let refused = ben.fails(4, &["note", "--session", "login", "too early"]);
    assert!(refused.contains("on another machine") && refused.contains("leftoff resume login"), "{refused}");

    let resumed = ben.ok(&["resume", "login"]);
    assert!(resumed.contains("the session came from anna@"), "{resumed}");
    let plan = fs::read_to_string(ben.project.join(".leftoff/sessions/login/PLAN.md"));
    assert_eq!(plan.unwrap(), "## Steps\n1. rotate\n", "its files are put back");
    assert!(ben.ok(&["brief", "--format", "markdown"]).contains("rotate on every use"));
    ben.ok(&["note", "continued"]);
    ben.sync();
    anna.sync();
    assert_eq!(anna.notes("login"), ["rotate on every use", "continued"]);
    assert_eq!(anna.forks(), Vec::<String>::new());
    assert!(anna.ok(&["doctor"]).contains("no problems found"));
    assert!(ben.ok(&["doctor"]).contains("no problems found"));
}

#[test]
fn a_session_in_use_on_another_machine_is_taken_over_by_a_person_alone() {
    let hub = Hub::new();
    let (anna, ben) = (hub.clone("anna"), hub.clone("ben"));
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    anna.sync();
    ben.sync();
    let status = ben.ok(&["status"]);
    assert!(status.contains("session login (no log-out) is active on anna@"), "{status}");
    let refused = ben.fails(4, &["resume", "login"]);
    assert!(refused.contains("in use on another machine") && refused.contains("--take"), "{refused}");
    ben.fails(6, &["resume", "login", "--take"]);
    ben.as_person(&["resume", "login", "--take"]);
    assert_eq!(ben.json(&["status"])["lifecycle"]["state"], "active");

    // The session has been inactive for so long that anybody may resume it.
    let carla = hub.clone("carla");
    carla.sync();
    hub.at("2026-11-16T09:00:00Z");
    carla.ok(&["resume", "login"]);
}

#[test]
fn two_histories_of_one_session_are_kept_and_brought_together() {
    let hub = Hub::new();
    let (anna, ben) = (hub.clone("anna"), hub.clone("ben"));
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    anna.ok(&["pause", "--reason", "away"]);
    anna.sync();
    ben.sync();
    // Both clones continue the session without a sync in between.
    anna.ok(&["resume", "login"]);
    anna.ok(&["note", "--kind", "decision", "of anna"]);
    ben.ok(&["resume", "login"]);
    ben.ok(&["note", "of ben"]);
    ben.ok(&["note", "more of ben"]);
    ben.sync();
    // Anna's agent is working: nothing changes meanwhile.
    let live = anna.sync();
    assert_eq!(anna.notes("login"), ["of anna"], "{live}");
    let forks = anna.forks();
    assert_eq!(forks.len(), 1);
    let status = anna.ok(&["status"]);
    assert!(status.contains("the session's fork") && status.contains("sync resolve"), "{status}");
    anna.ok(&["pause", "--reason", "another history counts"]);
    anna.ok(&["note", "--session", "login", "after the pause"]);
    hub.at("2026-11-16T10:00:00Z");
    anna.sync();
    ben.sync();
    anna.sync();
    let (one, other) = (anna.notes("login"), ben.notes("login"));
    assert_eq!(one, other, "both clones agree");
    assert_eq!(anna.forks().len(), 1, "and the other history is there");

    // The clone that owns the session merges the other history.
    let has_it = if anna.json(&["show", "login"])["worktree"] == anna.project.to_string_lossy().as_ref() {
        (&anna, &ben)
    } else {
        (&ben, &anna)
    };
    let fork = has_it.0.forks();
    assert_eq!(fork.len(), 1);
    let refused = has_it.0.fails(4, &["note", "--session", &fork[0], "into the fork"]);
    assert!(refused.contains("can be read but not changed"), "{refused}");
    has_it.0.ok(&["sync", "resolve", "login"]);
    assert_eq!(has_it.0.forks(), Vec::<String>::new());
    has_it.0.sync();
    has_it.1.sync();
    has_it.0.sync();
    for clone in [&anna, &ben] {
        assert_eq!(clone.forks(), Vec::<String>::new(), "a resolved fork stays resolved");
        let mut notes = clone.notes("login");
        notes.sort();
        assert_eq!(notes, ["after the pause", "more of ben", "of anna", "of ben"]);
    }
}

#[test]
fn an_id_that_two_people_used_is_two_sessions() {
    let hub = Hub::new();
    let (anna, ben) = (hub.clone("anna"), hub.clone("ben"));
    anna.ok(&["start", "--goal", "of anna", "--id", "login"]);
    ben.ok(&["start", "--goal", "of ben", "--id", "login"]);
    anna.sync();
    ben.sync();
    anna.sync();
    for clone in [&anna, &ben] {
        let list = clone.json(&["list"]);
        let mut goals: Vec<&str> =
            list["sessions"].as_array().unwrap().iter().filter_map(|line| line["goal"].as_str()).collect();
        goals.sort_unstable();
        assert_eq!(goals, ["of anna", "of ben"], "{list}");
        assert_eq!(clone.forks(), Vec::<String>::new());
    }
    assert_eq!(anna.json(&["status"])["goal"], "of anna");
    assert_eq!(ben.json(&["status"])["goal"], "of ben");
}

#[test]
fn the_projects_own_repository_is_not_touched() {
    let hub = Hub::new();
    let anna = hub.clone("anna");
    let before = hub.git(&anna.project, &["for-each-ref"]);
    let hooks = anna.project.join(".git/hooks/pre-push");
    fs::write(&hooks, "#!/bin/sh\nexit 1\n").unwrap();
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    anna.sync();
    assert_eq!(hub.git(&anna.project, &["for-each-ref"]), before);
    assert_eq!(hub.refs("refs/heads"), ["refs/heads/main"]);
    assert_eq!(hub.refs("refs/leftoff/v1"), [format!("refs/leftoff/v1/{}", anna.replica())]);
    assert_eq!(hub.git(&anna.project, &["status", "--porcelain"]), "?? .leftoff/");
}

#[test]
fn a_copy_of_a_clone_becomes_a_replica_of_its_own() {
    let hub = Hub::new();
    let anna = hub.clone("anna");
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    anna.ok(&["pause", "--reason", "away"]);
    anna.sync();
    let copy = hub.copy_of("anna");
    anna.ok(&["note", "--session", "login", "of anna"]);
    copy.ok(&["start", "--goal", "of the copy", "--id", "second"]);
    copy.sync();
    anna.sync();
    copy.sync();
    assert_ne!(copy.replica(), anna.replica());
    assert_eq!(hub.refs("refs/leftoff/v1").len(), 2);
    assert_eq!(copy.notes("login"), ["of anna"]);
    assert_eq!(anna.json(&["show", "second"])["goal"], "of the copy");
}

#[test]
fn a_rewound_remote_gets_everything_again() {
    let hub = Hub::new();
    let anna = hub.clone("anna");
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    anna.sync();
    let name = format!("refs/leftoff/v1/{}", anna.replica());
    let old = hub.git(&hub.bare(), &["rev-parse", &name]);
    anna.ok(&["note", "later"]);
    anna.sync();
    hub.git(&hub.bare(), &["update-ref", &name, &old]);
    anna.ok(&["note", "last"]);
    anna.sync();
    hub.git(&hub.bare(), &["update-ref", "-d", &name]);
    anna.sync();
    let ben = hub.clone("ben");
    ben.sync();
    assert_eq!(ben.notes("login"), ["later", "last"]);
    assert_eq!(hub.refs("refs/leftoff/v1").len(), 2, "it is still the same replica");
}

#[test]
fn a_store_restored_from_a_backup_gets_back_what_it_had_sent() {
    let hub = Hub::new();
    let anna = hub.clone("anna");
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    anna.ok(&["note", "before the backup"]);
    anna.ok(&["pause", "--reason", "away"]);
    anna.sync();
    let backup = hub.folder.path().join("backup.db");
    anna.ok(&["store", "backup", &backup.to_string_lossy()]);
    anna.ok(&["note", "--session", "login", "after the backup"]);
    anna.sync();
    for suffix in ["-wal", "-shm", ".lock"] {
        let _ = fs::remove_file(format!("{}{suffix}", anna.database().display()));
    }
    fs::copy(&backup, anna.database()).unwrap();
    anna.ok(&["start", "--goal", "new", "--id", "second"]);
    anna.sync();
    assert_eq!(anna.notes("login"), ["before the backup", "after the backup"]);
    let ben = hub.clone("ben");
    ben.sync();
    assert_eq!(ben.notes("login"), ["before the backup", "after the backup"]);
    assert_eq!(ben.json(&["show", "second"])["goal"], "new");
    assert_eq!(ben.forks(), Vec::<String>::new());
}

#[test]
fn what_is_purged_leaves_every_clone_and_the_remotes_refs() {
    let hub = Hub::new();
    let (anna, ben) = (hub.clone("anna"), hub.clone("ben"));
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    anna.ok(&["note", "the word is XYZZY-1234"]);
    anna.ok(&["pause", "--reason", "away"]);
    anna.sync();
    ben.sync();
    ben.ok(&["resume", "login"]);
    ben.ok(&["pause", "--reason", "done"]);
    ben.sync();
    anna.sync();
    assert!(hub.all_content().contains("XYZZY"));
    anna.ok(&["resume", "login"]);
    anna.as_person(&["purge", "XYZZY-1234", "--session", "login", "--yes"]);
    anna.ok(&["pause", "--reason", "purged"]);
    anna.sync();
    ben.sync();
    assert!(!ben.notes("login").concat().contains("XYZZY"));
    assert!(!hub.all_content().contains("XYZZY"), "no ref leads to it any more");
    for clone in [&anna, &ben] {
        let beside = clone.project.join(".git/leftoff");
        let text = hub.git(&beside.join("sync.git"), &["rev-list", "--objects", "--all"]);
        assert!(!text.is_empty());
        assert!(clone.ok(&["doctor"]).contains("no problems found"));
    }
    assert!(!ben.everything_kept().contains("XYZZY"), "nor does a file of the other clone contain it");
}

#[test]
fn a_session_with_a_secret_is_held_back_and_the_others_are_sent() {
    let hub = Hub::new();
    let anna = hub.clone("anna");
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    anna.ok(&["note", "plain"]);
    anna.ok(&["start", "--goal", "other", "--id", "second"]);
    // The secret was stored before its kind was known: it is put into the row without the program.
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let connection = rusqlite::Connection::open(anna.database()).unwrap();
    let sql = "UPDATE events SET body=replace(body,'plain',?1) WHERE kind='note_added'";
    assert_eq!(connection.execute(sql, [&key]).unwrap(), 1);
    drop(connection);
    let done = anna.sync();
    assert_eq!(done["sent"], 1);
    assert!(done["said"].to_string().contains("session login was not sent"), "{done}");
    assert!(anna.ok(&["sync", "status"]).contains("Held back: session login"));
    let told = anna.ok(&["status", "--session", "login"]);
    assert!(told.contains("the session is not sent to other clones: it contains a"), "{told}");
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("leftoff purge '<text>' --session login"), "{told}");
    assert!(!anna.ok(&["status", "--session", "second"]).contains("not sent"));
    assert!(!hub.all_content().contains(&key));
}

#[test]
fn a_host_that_refuses_the_ref_is_told_once_with_the_way_around() {
    let hub = Hub::new();
    let anna = hub.clone("anna");
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    let hook = hub.bare().join("hooks/update");
    fs::write(
        &hook,
        "#!/bin/sh\ncase $1 in refs/heads/*) exit 0;; esac\necho only branches here >&2\nexit 1\n",
    )
    .unwrap();
    let mut permissions = fs::metadata(&hook).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    fs::set_permissions(&hook, permissions).unwrap();
    let refused = anna.fails(4, &["sync"]);
    assert!(refused.contains("refuses refs/leftoff/v1/"), "{refused}");
    assert!(refused.contains("leftoff init --sync --branches"), "{refused}");
    assert_eq!(refused.matches("refuses").count(), 1, "{refused}");
    assert!(refused.contains("hook declined: only branches here"), "the host gives its reason: {refused}");
    // Automatic syncs do not repeat the message; a sync that somebody runs shows it.
    for _ in 0..3 {
        assert!(anna.ok(&["sync", "--unattended"]).is_empty());
    }
    assert_eq!(anna.fails(4, &["sync"]), refused);
    let told = anna.ok(&["sync", "status"]);
    assert_eq!((told.matches("Last error").count(), told.matches("refuses").count()), (1, 1), "{told}");
    assert!(told.contains("leftoff init --sync --branches"), "{told}");
    anna.ok(&["init", "--sync", "--branches"]);
    assert_eq!(anna.sync()["sent"], 1);
    assert_eq!(hub.refs("refs/heads/leftoff").len(), 1);
    let ben = hub.clone_without_sharing("ben");
    ben.ok(&["init", "--sync", "--branches"]);
    assert_eq!(ben.sync()["taken"], 1);
}

#[test]
fn without_the_remote_nothing_is_lost_and_a_line_says_so() {
    let hub = Hub::new();
    let anna = hub.clone("anna");
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    let away = hub.folder.path().join("away.git");
    fs::rename(hub.bare(), &away).unwrap();
    let failed = anna.fails(4, &["sync"]);
    assert!(failed.contains("fetching from") && failed.lines().count() <= 3, "{failed}");
    assert!(anna.ok(&["sync", "--unattended"]).is_empty());
    fs::rename(&away, hub.bare()).unwrap();
    assert_eq!(anna.sync()["sent"], 1);
}

#[test]
fn switched_off_it_stays_off_and_erasing_takes_the_ref_away() {
    let hub = Hub::new();
    let anna = hub.clone("anna");
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    anna.sync();
    anna.ok(&["sync", "off", "--erase"]);
    assert_eq!(hub.refs("refs/leftoff/v1"), Vec::<String>::new());
    assert!(!anna.project.join(".git/leftoff/sync.git").exists());
    let refused = anna.fails(4, &["sync"]);
    assert!(refused.contains("not shared") && refused.contains("leftoff init --sync"), "{refused}");
    assert_eq!(anna.json(&["status"])["goal"], "no log-out");
}

#[test]
fn a_replica_that_is_not_used_any_more_is_forgotten() {
    let hub = Hub::new();
    let (anna, ben) = (hub.clone("anna"), hub.clone("ben"));
    ben.ok(&["start", "--goal", "of ben", "--id", "second"]);
    ben.sync();
    anna.sync();
    let own = anna.replica();
    assert!(anna.fails(4, &["sync", "forget", &own]).contains("this replica"));
    anna.ok(&["sync", "forget", &ben.replica()[..8]]);
    assert_eq!(hub.refs("refs/leftoff/v1"), [format!("refs/leftoff/v1/{own}")]);
    assert_eq!(anna.json(&["show", "second"])["goal"], "of ben", "what was taken in stays");
}

#[test]
fn an_agent_that_arrives_starts_a_sync_and_does_not_wait_for_it() {
    let hub = Hub::new();
    let anna = hub.clone("anna");
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    let event = format!(
        r#"{{"hook_event_name":"SessionStart","session_id":"a1","source":"startup","cwd":{:?}}}"#,
        anna.project
    );
    let mut hook = anna.command(&["hook", "claude"]);
    hook.env_remove("LEFTOFF_TEST_NOW")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null());
    let mut child = hook.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), event.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    for _ in 0..600 {
        if hub.refs("refs/leftoff/v1").len() == 1 {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("nothing was pushed");
}

#[test]
fn sessions_of_other_tools_travel_with_their_log_and_their_files_are_written_where_they_are_resumed() {
    let hub = Hub::new();
    let (anna, ben) = (hub.clone("anna"), hub.clone("ben"));
    for (layout, id, state) in [
        ("ocr", "2026-11-16-main", ".ocr/sessions/2026-11-16-main/state.json"),
        ("ccw", "WFS-one", ".workflow/WFS-one/workflow-session.json"),
    ] {
        anna.ok(&["start", "--layout", layout, "--id", id, "--goal", "no log-out"]);
        anna.ok(&["pause", "--session", id, "--reason", "away"]);
        anna.sync();
        ben.sync();
        assert!(!ben.project.join(state).exists(), "nothing is written before it is resumed");
        ben.ok(&["resume", id]);
        assert!(ben.project.join(state).exists());
        ben.ok(&["note", "--session", id, "of ben"]);
        ben.sync();
        anna.sync();
        let list = anna.json(&["list", "--layout", layout]);
        let lines = list["sessions"].as_array().unwrap();
        assert_eq!(lines.len(), 1, "the files that stayed behind are no second session: {list}");
        assert!(lines[0]["machine"].as_str().unwrap().starts_with("ben@"), "{list}");
        for clone in [&anna, &ben] {
            assert!(clone.ok(&["doctor"]).contains("no problems found"));
        }
    }
}

#[test]
fn a_lost_sidecar_and_a_store_that_moves_send_nothing_less() {
    let hub = Hub::new();
    let anna = hub.clone("anna");
    for id in ["first", "second"] {
        anna.ok(&["start", "--goal", id, "--id", id]);
    }
    anna.sync();
    let replica = anna.replica();
    let sidecar = anna.project.join(".git/leftoff/sync.git");
    fs::remove_dir_all(&sidecar).unwrap();
    anna.ok(&["note", "--session", "second", "later"]);
    anna.sync();
    // Objects are missing, as after a power cut.
    fs::remove_dir_all(sidecar.join("objects")).unwrap();
    anna.sync();
    // The store moves out of the git folder, and sharing continues with it.
    anna.ok(&["init", "--agent", "codex"]);
    assert!(!anna.database().exists());
    assert_eq!(anna.replica(), replica);
    anna.ok(&["note", "--session", "second", "last"]);
    anna.sync();
    let ben = hub.clone("ben");
    assert_eq!(ben.sync()["taken"], 2);
    assert_eq!(ben.notes("second"), ["later", "last"]);
    assert_eq!(hub.refs("refs/leftoff/v1").len(), 2, "each clone is one replica");
}

const APPROVED: &str = "name = \"ask\"\n[[phase]]\nid = \"plan\"\n[[phase.check]]\nid = \"ok\"\nkind = \"approval\"\n[[phase]]\nid = \"build\"\n";

#[test]
fn an_unsigned_approval_from_elsewhere_is_a_claim() {
    let hub = Hub::new();
    let (anna, ben) = (hub.clone("anna"), hub.clone("ben"));
    for clone in [&anna, &ben] {
        fs::create_dir_all(clone.project.join(".leftoff/workflows")).unwrap();
        fs::write(clone.project.join(".leftoff/workflows/ask.toml"), APPROVED).unwrap();
    }
    anna.ok(&["start", "ask", "--goal", "no log-out", "--id", "login"]);
    anna.as_person(&["approve", "ok"]);
    anna.ok(&["pause", "--reason", "away"]);
    anna.sync();
    ben.sync();
    ben.ok(&["resume", "login"]);
    let failed = ben.fails(5, &["advance", "--phase", "plan"]);
    assert!(failed.contains("on another machine"), "{failed}");
    ben.as_person(&["approve", "ok"]);
    ben.ok(&["advance", "--phase", "plan"]);
}

#[test]
fn a_clone_that_shares_again_is_the_replica_that_it_was() {
    let hub = Hub::new();
    let (anna, ben) = (hub.clone("anna"), hub.clone("ben"));
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    anna.ok(&["note", "the word is XYZZY-1234"]);
    anna.ok(&["pause", "--reason", "away"]);
    anna.sync();
    ben.sync();
    let replica = anna.replica();
    anna.ok(&["sync", "off"]);
    anna.ok(&["init", "--sync"]);
    anna.as_person(&["purge", "XYZZY-1234", "--session", "login", "--yes"]);
    anna.sync();
    let done = ben.sync();
    assert_eq!(anna.replica(), replica);
    assert!(!ben.notes("login").concat().contains("XYZZY"), "it can still purge what it wrote: {done}");
    assert!(!hub.all_content().contains("XYZZY"));
    // After everything is erased at the remote, sharing starts again under the same name.
    anna.ok(&["sync", "off", "--erase"]);
    anna.ok(&["init", "--sync"]);
    anna.sync();
    assert!(hub.refs("refs/leftoff/v1").contains(&format!("refs/leftoff/v1/{replica}")));
    assert!(anna.ok(&["doctor"]).contains("no problems found"));
}

#[test]
fn settings_of_git_that_are_meant_for_other_pushes_do_not_stop_it() {
    let hub = Hub::new();
    let anna = hub.clone("anna");
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    let home = hub.folder.path().join("home-anna");
    fs::write(
        home.join(".gitconfig"),
        "[push]\n\tgpgSign = true\n\tpushOption = ci.skip\n\trecurseSubmodules = only\n[init]\n\tdefaultObjectFormat = sha256\n",
    )
    .unwrap();
    assert_eq!(anna.sync()["sent"], 1);
}

#[test]
fn a_repository_with_the_other_hash_algorithm_is_shared_too() {
    let hub = Hub::new();
    fs::remove_dir_all(hub.bare()).unwrap();
    hub.git(hub.folder.path(), &["init", "--quiet", "--bare", "--object-format=sha256", "hub.git"]);
    hub.git(hub.folder.path(), &["clone", "--quiet", "hub.git", "other"]);
    let other = hub.folder.path().join("other");
    hub.git(&other, &["commit", "--quiet", "--allow-empty", "-m", "one"]);
    hub.git(&other, &["push", "--quiet", "origin", "HEAD:main"]);
    let (anna, ben) = (hub.clone("anna"), hub.clone("ben"));
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    anna.ok(&["note", "once"]);
    anna.sync();
    anna.ok(&["note", "twice"]);
    anna.sync();
    ben.sync();
    assert_eq!(ben.notes("login"), ["once", "twice"]);
}

#[test]
fn git_tells_itself_why_the_remote_is_not_found() {
    let hub = Hub::new();
    let anna = hub.clone("anna");
    fs::write(anna.project.join(".git/config"), "[remote\n").unwrap();
    let failed = anna.fails(4, &["sync"]);
    assert!(failed.contains("bad config line 1"), "{failed}");
}

#[test]
fn files_that_did_not_come_along_are_named_and_stop_nobody() {
    let hub = Hub::new();
    let (anna, ben) = (hub.clone("anna"), hub.clone("ben"));
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    fs::write(anna.project.join("large.bin"), vec![7; 300 << 10]).unwrap();
    fs::create_dir_all(anna.project.join("docs")).unwrap();
    fs::write(anna.project.join("docs/plan.md"), "the plan\n").unwrap();
    fs::write(anna.project.join("small.md"), "small\n").unwrap();
    anna.ok(&["artifact", "add", "large.bin", "docs/plan.md", "small.md"]);
    anna.ok(&["pause", "--reason", "lunch"]);
    anna.sync();
    ben.sync();
    // Somebody has a file where the folder would be created.
    fs::write(ben.project.join("docs"), "mine\n").unwrap();
    let resumed = ben.ok(&["resume", "login"]);
    assert!(resumed.contains("did not come with the session: large.bin"), "{resumed}");
    assert!(resumed.contains("docs/plan.md was not restored: "), "{resumed}");
    assert_eq!(fs::read_to_string(ben.project.join("small.md")).unwrap(), "small\n");
    assert_eq!(fs::read_to_string(ben.project.join("docs")).unwrap(), "mine\n");
}

#[test]
fn documents_of_a_layouts_session_are_put_back_at_their_own_names() {
    let hub = Hub::new();
    let (anna, ben) = (hub.clone("anna"), hub.clone("ben"));
    anna.ok(&["start", "--layout", "ccw", "--id", "WFS-one", "--goal", "no log-out"]);
    let plan = ".workflow/WFS-one/IMPL_PLAN.md";
    fs::write(anna.project.join(plan), "the plan\n").unwrap();
    anna.ok(&["artifact", "add", plan]);
    anna.ok(&["pause", "--reason", "away"]);
    anna.sync();
    ben.sync();
    ben.ok(&["resume", "WFS-one"]);
    assert_eq!(fs::read_to_string(ben.project.join(plan)).unwrap(), "the plan\n");
}
