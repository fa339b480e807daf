//! Tests that secrets are redacted before they are stored, and that a secret that was missed can be purged.

use crate::git;
use std::path::Path;
use testkit::Sandbox;

/// A token that is put together from pieces, so that no scanner takes it for a real one.
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
    // Repeating the command with its key gives the same answer, because a hash of the token was stored.
    assert_eq!(sandbox.run(["note", &format!("use {token}"), "--key", "k1"]).ok().stdout, noted.stdout);
    sandbox.run(["note", "something else", "--key", "k1"]).code(4);
}

const TYPED: &str = r#"
name = "typed"
[[phase]]
id = "build"
  [phase.evidence]
  token = { type = "integer", required = true }
  api_key = { type = "string", required = true }
  login = { type = "object", required = true }
  pin_password = { type = "integer", required = true }
  [[phase.check]]
  id = "long-enough"
  kind = "expr"
  expr = "size(evidence.api_key) > 200 && evidence.login.hosts[0] == 'x'"
  [[phase.check]]
  id = "wrongly-added"
  kind = "expr"
  expr = "evidence.login.token + 1 == 2"
"#;

#[test]
fn what_a_check_says_repeats_no_secret_of_the_evidence() {
    let sandbox = git();
    sandbox.write(".leftoff/workflows/typed.toml", TYPED);
    sandbox.run(["start", "typed", "--set", "login_password=12345678"]).ok();
    let long = format!("Zq{}", "9x8w7v6u5t".repeat(12));
    let login = concat!(
        r#"login={"hosts": ["postgres://ada:swordfish@db"], "token": "sea\"horses", "#,
        r#""secret": {"a": ["tiddlywinks"]}}"#
    );
    let evidence = ["token=hunter2hunter2", &format!("api_key={long}"), login, "pin_password=87654321"];
    let given = evidence.into_iter().flat_map(|pair| ["--evidence", pair]);
    let secrets = ["hunter2", &long[..20], "12345678", "87654321", "swordfish", "horses", "tiddlywinks"]
        .map(ToOwned::to_owned);
    for json in [None, Some("--json")] {
        for command in ["gate", "advance"] {
            let ran = sandbox.run([command].into_iter().chain(given.clone()).chain(json)).code(5);
            for secret in &secrets {
                assert!(!ran.stdout.contains(secret), "{secret} is in {}", ran.stdout);
                assert!(!ran.stderr.contains(secret), "{secret} is in {}", ran.stderr);
            }
        }
    }
    for secret in &secrets {
        assert!(!stands_on_disk(&sandbox, secret), "{secret} was kept");
    }
    let help = "Field 'token' must be integer, got: string \"[redacted: token]\"";
    assert!(sandbox.run(["brief"]).ok().stdout.contains(help));
}

#[test]
fn a_key_whose_beginning_is_cut_off_a_commands_output_is_not_kept() {
    let sandbox = git();
    let (dashes, line) = ("-".repeat(5), "b3BlbnNzaC1rZXktdjEAAAAABG5vbmU".repeat(2));
    let begin = format!("{dashes}BEGIN RSA PRIVATE KEY{dashes}");
    let end = format!("{dashes}END RSA PRIVATE KEY{dashes}");

    let key = sandbox.folder().join("key.pem");
    std::fs::write(&key, format!("{begin}\n{}{end}\nlast words\n", format!("{line}\n").repeat(30))).unwrap();
    let phase = "[[phase]]\nid = \"build\"\n[[phase.check]]\nid = \"run\"\nkind = \"command\"\n";
    let run = format!("run = \"cat {}; exit 3\"\n", key.display());
    sandbox.write(".leftoff/workflows/w.toml", &format!("name = \"w\"\n{phase}{run}"));
    sandbox.run(["start", "w"]).ok();
    crate::gates::trust(&sandbox);
    let failed = sandbox.run(["advance", "--json"]).code(5).stdout;
    assert!(failed.contains(r"exited with 3 after 0 s:\n[redacted: private key]\nlast words"), "{failed}");
    assert!(!failed.contains(&line) && !stands_on_disk(&sandbox, &line));
}

#[test]
fn a_field_of_the_wrong_type_is_refused_without_its_secret() {
    let sandbox = git();
    let declared = "[fields]\ntoken = { type = \"integer\" }\n[[phase]]\nid = \"build\"\n";
    sandbox.write(".leftoff/workflows/typed.toml", &format!("name = \"typed\"\n{declared}"));
    let refused = sandbox.run(["start", "typed", "--set", "token=hunter2hunter2"]).code(2);
    assert!(refused.stderr.contains("got: string \"[redacted: token]\""), "{}", refused.stderr);
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
    // The title, the goal, the note in two places, and the command line were replaced.
    assert_eq!((&purged["replaced"], &purged["events"]), (&5.into(), &2.into()), "{purged}");
    assert!(!stands_on_disk(&sandbox, "horse"));
    let shown = sandbox.run(["show", &first, "--json"]).ok().json();
    assert_eq!(shown["notes"][0]["text"], "[purged], twice [purged]");
    assert_eq!(shown["goal"], "say [purged]");
    let log = sandbox.run(["log", &first]).ok().stdout;
    assert!(log.contains("text was purged in 5 places"), "{log}");
    // The text of other sessions is not changed.
    assert_eq!(sandbox.run(["show", "other", "--json"]).ok().json()["goal"], "battery");
    let again = sandbox.run(["purge", "--session", &first, secret]).ok();
    assert!(again.stdout.contains("does not contain the text"), "{}", again.stdout);
    sandbox.run(["doctor"]).ok();
}

#[test]
fn purge_reaches_what_is_kept_of_files_and_says_that_it_reaches_no_copies() {
    let sandbox = git();
    sandbox.run(["start", "--id", "login"]).ok();
    sandbox.write("plan.md", "say mellon\n");
    sandbox.run(["artifact", "add", "plan.md"]).ok();
    std::fs::remove_file(sandbox.path("plan.md")).unwrap();
    assert!(stands_on_disk(&sandbox, "mellon"));
    let purged = sandbox.run(["purge", "mellon", "--yes"]).ok();
    assert!(!stands_on_disk(&sandbox, "mellon"));
    assert!(purged.stderr.contains("earlier copies (store backup, bundles) still contain the text"));
}

#[test]
fn purge_refuses_what_the_history_cannot_be_read_without() {
    let sandbox = git();
    sandbox.run(["start", "--id", "k3v9x2mp"]).ok();
    let before = sandbox.run(["log", "--json"]).ok().json();
    for needed in ["plan", "k3v9x2mp", "phase_started", "automation", "native"] {
        let refused = sandbox.run(["purge", needed, "--yes", "--json"]).code(4);
        assert_eq!(refused.error()["kind"], "not_purgeable", "{needed}");
    }
    sandbox.run(["purge", " ", "--yes"]).code(2);
    sandbox.run(["purge", "anything", "--yes", "--key", "k"]).code(2);
    sandbox.run(["purge", "anything", "--yes"]).ok();
    assert_eq!(sandbox.run(["log", "--json"]).ok().json(), before);
}
