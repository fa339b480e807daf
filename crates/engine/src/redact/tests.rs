//! Tests which text is removed and which is kept. Secrets are assembled from pieces, so that no scanner takes
//! them for real secrets.

use super::*;
use model::event::Event;
use model::gate::{AttemptReport, CheckOutcome, CheckResult};
use model::id::Name;
use serde_json::json;

fn mixed(length: usize) -> String {
    "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0z".chars().cycle().take(length).collect()
}

fn redacted(given: &str) -> String {
    text(given).map_or_else(|| panic!("nothing was found in {given:?}"), |(clean, _)| clean)
}

#[test]
fn secrets_are_found_by_how_they_begin() {
    let upper: String = "A2B3C4D5E6F7G2H3".to_owned();
    let jwt = format!("eyJ{}.eyJ{}.{}", mixed(20), mixed(30), mixed(20));
    for (secret, kind) in [
        (format!("AKIA{upper}"), "AWS access key"),
        (format!("ghp_{}", mixed(36)), "GitHub token"),
        (format!("github_pat_{}", mixed(60)), "GitHub token"),
        (format!("glpat-{}", mixed(20)), "GitLab token"),
        (format!("xoxb-{}-{}", "1234567890", mixed(20)), "Slack token"),
        (format!("sk_live_{}", mixed(24)), "Stripe key"),
        (format!("sk-{}", mixed(48)), "OpenAI key"),
        (format!("sk-proj-{}", mixed(40)), "OpenAI key"),
        (format!("sk-ant-{}", mixed(40)), "Anthropic key"),
        (format!("AIza{}", mixed(35)), "Google API key"),
        (format!("npm_{}", mixed(36)), "npm token"),
        (jwt, "JSON web token"),
    ] {
        let around = format!("before '{secret}', after");
        assert_eq!(redacted(&around), format!("before '[redacted: {kind}]', after"));
        assert_eq!(redacted(&secret), format!("[redacted: {kind}]"));
    }
}

#[test]
fn private_keys_are_taken_out_whole() {
    let dashes = "-".repeat(5);
    let line = mixed(60);
    let begin = |label: &str| format!("{dashes}BEGIN {label}{dashes}");
    let end = |label: &str| format!("{dashes}END {label}{dashes}");
    for label in ["RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY"] {
        let block = format!("{}\n{line}\n{line}\n{}", begin(label), end(label));
        assert_eq!(redacted(&format!("a\n{block}\nb")), "a\n[redacted: private key]\nb");
        let cut = format!("a {}\n{line}", begin(label));
        assert_eq!(redacted(&cut), "a [redacted: private key]");
        let tail = format!("{line}\n{}\nb {block}", end(label));
        assert_eq!(redacted(&tail), "[redacted: private key]\nb [redacted: private key]");
    }
    assert_eq!(text(&format!("a\n{}", end("CERTIFICATE"))), None);
    let certificate = format!("{}\n{line}\n{}", begin("CERTIFICATE"), end("CERTIFICATE"));
    assert_eq!(text(&certificate), None);
}

#[test]
fn secrets_are_found_by_what_stands_before_them() {
    let long = mixed(30);
    for (given, clean) in [
        (
            format!("curl -H 'Authorization: Bearer {long}' x"),
            "curl -H 'Authorization: Bearer [redacted: authorization]' x".to_owned(),
        ),
        (
            format!("authorization: basic {}", mixed(12)),
            "authorization: basic [redacted: authorization]".to_owned(),
        ),
        (format!("sent Bearer {long}"), "sent Bearer [redacted: authorization]".to_owned()),
        (
            "postgres://ada:hunter2@db/x".to_owned(),
            "postgres://ada:[redacted: password in a URL]@db/x".to_owned(),
        ),
        ("https://:s3cr3t@host".to_owned(), "https://:[redacted: password in a URL]@host".to_owned()),
        ("password=hunter2 user=ada".to_owned(), "password=[redacted: password] user=ada".to_owned()),
        ("DB_PASSWORD = 'correct horse'".to_owned(), "DB_PASSWORD = '[redacted: password]'".to_owned()),
        ("export API_KEY=abc123def".to_owned(), "export API_KEY=[redacted: API key]".to_owned()),
        ("x?token=abcdef&y=1".to_owned(), "x?token=[redacted: token]&y=1".to_owned()),
        (
            r#"{"client_secret": "abcdef"}"#.to_owned(),
            r#"{"client_secret": "[redacted: secret]"}"#.to_owned(),
        ),
        (r#"{\"password\":\"abcdef\"}"#.to_owned(), r#"{\"password\":\"[redacted: password]\"}"#.to_owned()),
        ("password: hunter2".to_owned(), "password: [redacted: password]".to_owned()),
        ("mysql --password hunter2 x".to_owned(), "mysql --password [redacted: password] x".to_owned()),
        ("passphrase := swordfish".to_owned(), "passphrase := [redacted: password]".to_owned()),
    ] {
        assert_eq!(redacted(&given), clean);
    }
}

#[test]
fn what_only_looks_like_a_secret_stays() {
    let hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    for harmless in [
        hash,
        "commit 4e1f0aa6d1f7f9b2c3d4e5f60718293a4b5c6d7e",
        "id 0f8fad5b-d9cb-469f-a165-70867728950e",
        "task-0123456789abcdef0123456789abcdef0123",
        "risk-assessment-of-the-whole-migration-plan",
        "sk-learn-and-other-packages-are-needed-here",
        "AKIA is how such keys begin",
        "the token: it expires after an hour",
        "password: it must be longer than that",
        "max_tokens=4096, token=12, tokens_used=99123",
        "secret=true password=none token=null",
        "password=$DB_PASSWORD token=${TOKEN} secret={{ vault }} api_key=<yours>",
        "token=os.environ['TOKEN'], secret=getSecret(name), password=********",
        "if token == expected and secret::key()",
        "http://localhost:8080/a@b and ssh://git@github.com:22/x",
        "https://user@host/path?x=1:2@3",
        "Bearer of bad news",
        "eyJust a word. And another. One more",
        "tests_passed=42 coverage=0.81",
        "",
        "grüße: schlüssel=ä, пароль=x",
    ] {
        assert_eq!(text(harmless), None, "{harmless:?}");
    }
}

#[test]
fn what_was_redacted_is_not_redacted_again() {
    let once = redacted("password=hunter2 and postgres://ada:hunter2@db");
    assert_eq!(text(&once), None, "{once}");
}

#[test]
fn a_field_whose_name_says_so_is_redacted_whole() {
    let mut value = json!({ "user": "ada", "db_password": "x y", "apiKey": "k", "nested": [{ "token": "t" }],
        "secret": true, "tokens": "three", "token_count": 5, "pin_password": 1234, "keys_secret": { "a": ["b", 7] } });
    in_value("login", &mut value);
    assert_eq!(
        value,
        json!({ "user": "ada", "db_password": "[redacted: password]", "apiKey": "[redacted: API key]",
            "nested": [{ "token": "[redacted: token]" }], "secret": true, "tokens": "three", "token_count": 5,
            "pin_password": "[redacted: password]",
            "keys_secret": { "a": ["[redacted: secret]", "[redacted: secret]"] } })
    );
}

#[test]
fn an_attempt_does_not_repeat_in_its_checks_what_was_taken_out_of_its_evidence() {
    let check = CheckResult {
        id: "login".to_owned(),
        kind: "evidence".to_owned(),
        outcome: CheckOutcome::Failed,
        found: Some("got: swordfish".to_owned()),
        needed: None,
        help: None,
    };
    let mut evidence = serde_json::Map::new();
    evidence.insert("admin_password".to_owned(), json!("swordfish"));
    let attempt = AttemptReport { evidence, checks: vec![check], ..AttemptReport::default() };
    let mut given = Event::GateFailed { phase: Name::parse("build").expect("a name"), attempt };
    assert_eq!(event(&mut given), ["a secret in evidence 'admin_password' was redacted (password)"]);
    let Event::GateFailed { attempt, .. } = given else { panic!("it is still the same event") };
    assert_eq!(attempt.checks[0].found.as_deref(), Some("got: [redacted]"));
}
