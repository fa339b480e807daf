//! Messages to people and agents about work that came from elsewhere, and about a remote that does not work.

use crate::clones::{Clone, Hub, said};
use std::fs;
use std::io::Write;
use std::process::Stdio;

/// The context that an agent gets when it starts in this clone.
fn told_at_start(clone: &Clone<'_>) -> String {
    let event = format!(
        r#"{{"hook_event_name":"SessionStart","session_id":"b1","source":"startup","cwd":"{}"}}"#,
        clone.project.display()
    );
    let mut hook = clone.command(&["hook", "claude"]);
    let mut child = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(event.as_bytes()).unwrap();
    said(&child.wait_with_output().unwrap())
}

#[test]
fn everybody_hears_of_a_session_on_another_machine() {
    let hub = Hub::new();
    let (anna, ben) = (hub.clone("anna"), hub.clone("ben"));
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    anna.sync();
    hub.at("2026-11-16T08:05:00Z");
    ben.sync();
    for state in ["active", "paused"] {
        let expected = format!("session login (no log-out) is {state} on anna@");
        for words in [&["status"][..], &["brief"]] {
            let told = ben.ok(words).split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(told.contains(&expected), "{words:?}: {told}");
            assert!(told.contains("last changed 5 minutes ago"), "{words:?}: {told}");
            assert!(told.contains("leftoff resume login"), "{words:?}: {told}");
        }
        let json = ben.json(&["brief"]);
        assert!(json["warnings"].to_string().contains(&expected), "{json}");
        let told = told_at_start(&ben);
        assert!(told.contains(&expected) && told.contains("leftoff resume login"), "{told}");
        anna.ok(&["pause", "--session", "login", "--reason", "lunch"]);
        anna.sync();
        hub.at("2026-11-16T08:10:00Z");
        ben.sync();
    }
    let shown = ben.ok(&["show", "login"]);
    assert!(shown.contains("last change by anna, 5 minutes ago"), "{shown}");
}

#[test]
fn a_session_that_came_from_elsewhere_says_from_whom_and_when() {
    let hub = Hub::new();
    let (anna, ben) = (hub.clone("anna"), hub.clone("ben"));
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    anna.ok(&["pause", "--reason", "lunch"]);
    assert!(anna.ok(&["status"]).contains("Shared through origin; not synced yet."));
    anna.sync();
    hub.at("2026-11-16T09:00:00Z");
    ben.sync();
    hub.at("2026-11-16T10:00:00Z");
    ben.ok(&["resume", "login"]);
    for words in [&["status"][..], &["brief"], &["brief", "--format", "markdown"]] {
        let told = ben.ok(words).split_whitespace().collect::<Vec<_>>().join(" ");
        let (from, when) = ("Came from anna@", "received 1 hour ago; last sync 1 hour ago.");
        assert!(told.contains(from) && told.contains(when), "{words:?}: {told}");
    }
    let shared = &ben.json(&["status"])["shared"];
    assert!(shared["from"].as_str().unwrap().starts_with("anna@"), "{shared}");
    assert_eq!(shared["last_sync"], "2026-11-16T09:00:00Z");
}

/// Installs a hook on the server that accepts only refs with matching names.
fn accept_only(hub: &Hub, pattern: &str) {
    let hook = hub.bare().join("hooks/update");
    fs::write(&hook, format!("#!/bin/sh\ncase $1 in {pattern}) exit 0;; esac\nexit 1\n")).unwrap();
    fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}

#[test]
fn doctor_finds_out_which_refs_the_host_accepts() {
    let hub = Hub::new();
    let anna = hub.clone("anna");
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    assert!(anna.ok(&["doctor"]).contains("no problems found"), "it accepts the refs");
    assert_eq!(hub.refs("refs"), ["refs/heads/main"], "and nothing stays there");
    accept_only(&hub, "refs/heads/*");
    let found = anna.fails(4, &["doctor"]);
    assert!(found.contains("refuses refs/leftoff/* and accepts branches"), "{found}");
    assert!(found.contains("leftoff init --sync --branches"), "{found}");
    anna.ok(&["init", "--sync", "--branches"]);
    assert!(anna.ok(&["doctor"]).contains("no problems found"));
    accept_only(&hub, "refs/tags/*");
    let found = anna.fails(4, &["doctor"]);
    assert!(found.contains("refuses both"), "{found}");
    fs::rename(hub.bare(), hub.folder.path().join("away.git")).unwrap();
    let found = anna.fails(4, &["doctor"]);
    assert!(found.contains("pushing a test ref") && found.contains("hub.git"), "{found}");
}

#[test]
fn a_recorded_file_with_a_secret_holds_its_session_back() {
    let hub = Hub::new();
    let anna = hub.clone("anna");
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    let key = format!("ghp_{}", "a1B2".repeat(9));
    fs::write(anna.project.join("notes.md"), format!("The key is {key}\n")).unwrap();
    anna.ok(&["artifact", "add", "notes.md"]);
    let done = anna.sync();
    assert_eq!(done["sent"], 0, "{done}");
    assert!(done["said"].to_string().contains("one of its recorded files contains a"), "{done}");
    assert!(!hub.all_content().contains(&key));
    anna.as_person(&["purge", &key, "--session", "login", "--yes"]);
    assert_eq!(anna.sync()["sent"], 1);
    assert!(!hub.all_content().contains(&key));
}

#[test]
fn work_of_the_original_is_somebody_elses_for_its_copy() {
    let hub = Hub::new();
    let anna = hub.clone("anna");
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    anna.sync();
    let copy = hub.copy_of("anna");
    copy.sync();
    anna.ok(&["note", "at work"]);
    anna.sync();
    copy.sync();
    let refused = copy.fails(4, &["note", "--session", "login", "under its feet"]);
    assert!(refused.contains("on another machine"), "{refused}");
    assert!(copy.fails(4, &["resume", "login"]).contains("--take"));
}

#[test]
fn a_clone_that_moves_stays_the_replica_that_it_was() {
    let hub = Hub::new();
    let anna = hub.clone("anna");
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    anna.sync();
    let replica = anna.replica();
    fs::rename(&anna.project, hub.folder.path().join("moved")).unwrap();
    let moved = hub.known("moved");
    moved.ok(&["start", "--goal", "new", "--id", "second"]);
    moved.sync();
    assert_eq!(moved.replica(), replica);
    assert_eq!(hub.refs("refs/leftoff/v1").len(), 1);
}

#[test]
fn whoever_may_sign_purges_what_others_wrote() {
    let hub = Hub::new();
    let (anna, ben) = (hub.clone("anna"), hub.clone("ben"));
    let (key, public) = signing_key(&hub);
    for clone in [&anna, &ben] {
        let folder = clone.project.join(".leftoff");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("allowed_signers"), format!("ben namespaces=\"leftoff\" {public}")).unwrap();
        fs::write(folder.join("config.toml"), "[policy]\npurge = \"signed\"\n").unwrap();
        clone.as_person(&["trust", "--policy", "--yes"]);
    }
    hub.git(&ben.project, &["config", "user.signingkey", &key.to_string_lossy()]);
    anna.ok(&["start", "--goal", "no log-out", "--id", "login"]);
    anna.ok(&["note", "the word is XYZZY-1234"]);
    anna.ok(&["pause", "--reason", "away"]);
    anna.sync();
    ben.sync();
    ben.ok(&["resume", "login"]);
    ben.as_person(&["purge", "XYZZY-1234", "--session", "login", "--yes"]);
    ben.ok(&["pause", "--reason", "purged"]);
    ben.sync();
    let done = anna.sync();
    assert!(!anna.notes("login").concat().contains("XYZZY"), "{done}");
    anna.sync();
    assert!(!hub.all_content().contains("XYZZY"), "no ref leads to it any more");
    assert!(anna.ok(&["doctor"]).contains("no problems found"));
}

/// The step of the guide that verifies a session in a plain checkout.
fn verifying_step() -> String {
    let guide = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/trust.md");
    let text = fs::read_to_string(guide).unwrap();
    let block = text.split("```yaml\n").nth(2).and_then(|rest| rest.split("```").next());
    let steps = testkit::yaml(block.expect("a second example"));
    assert_eq!(steps["steps"][0]["env"]["LEFTOFF_TRUST"], "${{ vars.LEFTOFF_TRUST }}");
    steps["steps"][0]["run"].as_str().expect("a script").to_owned()
}

/// Runs the step as a runner does: in a shallow checkout, with `bash -e`, without a terminal and without the
/// right to push.
fn verified_in_ci(hub: &Hub, name: &str, trust: &str, branch: &str) -> (Option<i32>, String) {
    let address = format!("file://{}", hub.bare().display());
    hub.git(hub.folder.path(), &["clone", "--quiet", "--depth", "1", "--branch", "work", &address, name]);
    let checkout = hub.known(name);
    hub.git(&checkout.project, &["checkout", "--quiet", "--detach"]);
    let ours = checkout.command(&[]);
    let bin = hub.folder.path().join("bin");
    fs::create_dir_all(&bin).unwrap();
    let _ = std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_leftoff"), bin.join("leftoff"));
    let mut shell = std::process::Command::new("bash");
    shell.args(["-e", "-c", &verifying_step()]).current_dir(&checkout.project).env_clear();
    shell.envs(ours.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let summary = hub.folder.path().join(format!("{name}.md"));
    shell.env("PATH", path).env("GITHUB_STEP_SUMMARY", &summary);
    shell.env("LEFTOFF_TRUST", trust).env("BRANCH", branch).stdin(Stdio::null());
    let output = shell.output().expect("bash");
    let summary = fs::read_to_string(summary).unwrap_or_default();
    (output.status.code(), summary + &said(&output))
}

#[test]
fn a_plain_checkout_verifies_signed_work() {
    let hub = Hub::new();
    let anna = hub.clone("anna");
    let (key, public) = signing_key(&hub);
    hub.git(&anna.project, &["config", "user.signingkey", &key.to_string_lossy()]);
    hub.git(&anna.project, &["checkout", "--quiet", "-b", "work"]);
    let folder = anna.project.join(".leftoff");
    fs::create_dir_all(folder.join("workflows")).unwrap();
    fs::write(folder.join("allowed_signers"), format!("anna namespaces=\"leftoff\" {public}")).unwrap();
    fs::write(
        folder.join("workflows/w.toml"),
        "name = \"w\"\n[[phase]]\nid = \"plan\"\n[[phase]]\nid = \"agree\"\n[[phase.check]]\nid = \"agreed\"\nkind = \"approval\"\n",
    )
    .unwrap();
    hub.git(&anna.project, &["add", ".leftoff/allowed_signers", ".leftoff/workflows"]);
    hub.git(&anna.project, &["commit", "--quiet", "-m", "work"]);
    hub.git(&anna.project, &["push", "--quiet", "origin", "work"]);
    anna.as_person(&["trust", "--policy", "--yes"]);
    anna.ok(&["start", "w", "--goal", "no-log-out", "--id", "login"]);
    anna.ok(&["advance", "--phase", "plan"]);
    anna.as_person(&["approve", "agreed", "--sign"]);
    anna.ok(&["advance", "--phase", "agree"]);
    anna.sync();
    let trust = anna.ok(&["trust", "--policy", "--print"]).trim().to_owned();
    let refs = hub.git(&hub.bare(), &["for-each-ref"]);
    let (code, told) = verified_in_ci(&hub, "ci", &trust, "work");
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("### Proven: ") && told.contains("signed by anna"), "{told}");
    assert_eq!(verified_in_ci(&hub, "distrusting", "", "work").0, Some(5));
    assert_ne!(verified_in_ci(&hub, "other", &trust, "other").0, Some(0), "no session is no proof");
    assert_eq!(hub.git(&hub.bare(), &["for-each-ref"]), refs, "a runner only fetches");
}

pub(crate) fn signing_key(hub: &Hub) -> (std::path::PathBuf, String) {
    let key = hub.folder.path().join("key");
    let made = std::process::Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"])
        .arg(&key)
        .status()
        .unwrap();
    assert!(made.success());
    let public = fs::read_to_string(key.with_extension("pub")).unwrap();
    (key, public)
}
