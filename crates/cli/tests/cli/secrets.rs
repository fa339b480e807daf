//! Secrets are redacted before they are kept, and what slipped through can be taken out for good.

use crate::git;
use std::path::Path;
use testkit::Sandbox;

/// Put together from pieces, so that no scanner takes it for a real one.
fn github_token() -> String {
    format!("ghp_{}", "a1B2c3D4e5F6".repeat(3))
}

fn stands_on_disk(sandbox: &Sandbox, text: &str) -> bool {
    fn walk(folder: &Path, bytes: &[u8]) -> bool {
        std::fs::read_dir(folder).unwrap().flatten().any(|entry| {
            let path = entry.path();
            if path.is_dir() {
                return walk(&path, bytes);
            }
            std::fs::read(&path).unwrap().windows(bytes.len()).any(|window| window == bytes)
        })
    }
    walk(sandbox.project(), text.as_bytes())
}

#[test]
fn secrets_that_a_caller_hands_in_are_not_kept_and_it_is_said() {
    let sandbox = git();
    let token = github_token();
    let goal = format!("{} {token}", "x".repeat(110));
    sandbox.run(["start", "--goal", &goal, "--set", "db_password=swordfish"]).ok();
    let noted = sandbox.run(["note", &format!("use {token}"), "--key", "k1"]).ok();
    assert!(noted.stderr.contains("a secret in the note was redacted (GitHub token)"), "{}", noted.stderr);
    sandbox.run(["pause", "--reason", "token=abcdef123", "--context", &token]).ok();
    sandbox.run(["resume"]).ok();
    let advanced = sandbox
        .run([
            "advance",
            "--phase",
            "plan",
            "--evidence",
            "api_key=k-12345",
            "--output",
            &format!("log={token}"),
            "--json",
        ])
        .ok()
        .json();
    assert_eq!(advanced["said"].as_array().unwrap().len(), 2, "{}", advanced["said"]);
    for secret in [&token[..20], "swordfish", "abcdef123", "k-12345"] {
        assert!(!stands_on_disk(&sandbox, secret), "{secret} was kept");
    }
    // The same key answers as the first time: it was kept as a hash.
    assert_eq!(sandbox.run(["note", &format!("use {token}"), "--key", "k1"]).ok().stdout, noted.stdout);
    sandbox.run(["note", "something else", "--key", "k1"]).code(4);
}

#[test]
fn purge_takes_what_slipped_through_off_the_disk_and_leaves_a_mark() {
    let sandbox = git();
    let secret = "correct \"horse\" battery";
    sandbox.run(["start", "--goal", &format!("say {secret}"), "--key", "k0"]).ok();
    sandbox.run(["note", &format!("{secret}, twice {secret}"), "--key", "k1"]).ok();
    sandbox.run(["exec", "--", "true", secret]).ok();
    sandbox.run(["start", "--parallel", "--id", "other", "--goal", "battery"]).ok();
    let first =
        sandbox.run(["list", "--json"]).ok().json()["sessions"][1]["session_id"].as_str().unwrap().to_owned();
    assert!(stands_on_disk(&sandbox, "battery"));

    let refused = sandbox.run(["purge", "--session", &first, secret, "--json"]).code(6);
    assert_eq!(refused.error()["kind"], "needs_answer");
    assert!(stands_on_disk(&sandbox, "horse"));

    let purged =
        sandbox.run(["purge", "--session", &first, "--match", secret, "--yes", "--json"]).ok().json();
    // Title, goal, the note twice, the command line.
    assert_eq!((&purged["replaced"], &purged["events"]), (&5.into(), &2.into()), "{purged}");
    assert!(!stands_on_disk(&sandbox, "horse"));
    let shown = sandbox.run(["show", &first, "--json"]).ok().json();
    assert_eq!(shown["notes"][0]["text"], "[purged], twice [purged]");
    assert_eq!(shown["goal"], "say [purged]");
    let log = sandbox.run(["log", &first]).ok().stdout;
    assert!(log.contains("text was purged in 5 places"), "{log}");
    // Another session's words are its own.
    assert_eq!(sandbox.run(["show", "other", "--json"]).ok().json()["goal"], "battery");
    let again = sandbox.run(["purge", "--session", &first, secret]).ok();
    assert!(again.stdout.contains("does not hold it"), "{}", again.stdout);
    sandbox.run(["doctor"]).ok();
}

#[test]
fn purge_refuses_what_the_history_cannot_be_read_without() {
    let sandbox = git();
    sandbox.run(["start", "--id", "k3v9x2mp"]).ok();
    let before = sandbox.run(["log", "--json"]).ok().json();
    for needed in ["plan", "k3v9x2mp", "phase_started", "person", "native"] {
        let refused = sandbox.run(["purge", needed, "--yes", "--json"]).code(4);
        assert_eq!(refused.error()["kind"], "not_purgeable", "{needed}");
    }
    sandbox.run(["purge", " ", "--yes"]).code(2);
    assert_eq!(sandbox.run(["log", "--json"]).ok().json(), before);
}
