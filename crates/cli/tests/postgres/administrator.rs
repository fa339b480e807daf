//! Runs the code blocks of the administrator's guide in their order, with a separate server.

use crate::{PROGRAM, server, without_password};
use std::process::{Command, Stdio};
use testkit::postgres::{PASSWORD, Server, sql_at};
use testkit::{Ran, Sandbox};

/// The code blocks of a page, in order, each with its language and its text.
fn blocks(page: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(kind) = line.strip_prefix("```").filter(|kind| !kind.is_empty()) {
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push((kind.to_owned(), body.join("\n")));
        }
    }
    blocks
}

fn guide() -> Vec<(String, String)> {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/postgres.md");
    blocks(&std::fs::read_to_string(page).expect("the guide"))
}

/// The only block of the guide in this language.
pub fn guide_block(kind: &str) -> String {
    let mut found = guide().into_iter().filter(|(known, _)| known == kind).map(|(_, text)| text);
    let block = found.next().expect("a block");
    assert_eq!(found.next(), None, "one block of {kind}");
    block
}

fn shell(sandbox: &Sandbox, server: &Server, line: &str) -> Ran {
    let programs = std::path::Path::new(PROGRAM).parent().expect("a folder").display().to_string();
    let path =
        format!("{programs}:{}:{}", server.programs().display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("sh");
    command.args(["-euc", line]).current_dir(sandbox.project()).env_clear();
    command.envs(sandbox.command(["status"]).get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
        .env("PATH", path)
        .env_remove("LEFTOFF_STORE")
        .env("PGHOST", "127.0.0.1")
        .env("PGSSLMODE", "disable");
    command.env("PGPORT", server.port().to_string()).env("PGUSER", "postgres").env("PGPASSWORD", PASSWORD);
    Ran::from(command.stdin(Stdio::null()).output().expect("a shell"))
}

#[test]
fn every_command_of_the_guide_does_what_it_says() {
    let Some(server) = server("the guide for an administrator") else { return };
    let sandbox = Sandbox::git(PROGRAM).without_gates();
    let database = server.url_of("postgres", PASSWORD, "leftoff");
    let mut run = 0;
    for (kind, text) in guide() {
        match kind.as_str() {
            "sql" => drop(sql_at(server.programs(), &database, &text)),
            "bash" => {
                let ran = shell(&sandbox, &server, &text);
                assert_eq!(ran.code, 0, "{text}\n{}\n{}", ran.stdout, ran.stderr);
            }
            // These blocks are not run here: the URL is used below, and another test uses the pooler's
            // settings.
            "toml" | "ini" => continue,
            other => panic!("a block of {other} that no test runs"),
        }
        run += 1;
    }
    assert!(run >= 7, "only {run} blocks were found in the guide");
    rights_are_as_the_guide_says(&server, &sandbox);
}

/// Checks the rights that the guide gives: ada is a member of the project, eve is a member of none, and bob
/// has no rights.
fn rights_are_as_the_guide_says(server: &Server, first: &Sandbox) {
    let config = first.read(".leftoff/config.toml");
    let as_role = |role: &str| {
        let sandbox = Sandbox::git(PROGRAM).without_gates().on(&server.url_of(role, "s3cret", "leftoff"));
        sandbox.write(".leftoff/config.toml", &config);
        sandbox
    };
    let count = |sandbox: &Sandbox| {
        let list = sandbox.run(["list", "--all", "--json"]).ok().json();
        list["sessions"].as_array().expect("sessions").len()
    };
    let (ada, eve) = (as_role("ada"), as_role("eve"));
    let before = count(&ada);
    assert!(before > 0);
    ada.run(["start", "--parallel", "--id", "by-ada"]).ok();
    ada.run(["note", "--session", "by-ada", "kept under row-level security"]).ok();
    assert_eq!((count(&ada), count(&eve)), (before + 1, 0));
    let refused = eve.run(["start", "--json"]).code(1);
    assert_eq!(refused.error()["kind"], "store_denied", "{}", refused.stderr);
    without_password(&refused);
    server.sql("CREATE ROLE bob LOGIN PASSWORD 's3cret'");
    let refused = as_role("bob").run(["start", "--json"]).code(1);
    assert_eq!(refused.error()["kind"], "store_denied", "{}", refused.stderr);
    without_password(&refused);
    let wrong = Sandbox::git(PROGRAM).on(&server.url_of("ada", "wrong-s3cret", "leftoff"));
    wrong.write(".leftoff/config.toml", &config);
    let refused = wrong.run(["list", "--json"]).code(1);
    assert_eq!(refused.error()["kind"], "store_denied", "{}", refused.stderr);
    without_password(&refused);
}

#[test]
fn a_newer_program_and_an_older_one_work_side_by_side_as_long_as_the_tables_say_so() {
    let Some(server) = server("two versions of the program") else { return };
    let sandbox = Sandbox::git(PROGRAM).without_gates().on(&server.url());
    sandbox.run(["start", "--id", "first"]).ok();
    server.sql("UPDATE leftoff.about SET version=99; ALTER TABLE leftoff.events ADD COLUMN later text");
    sandbox.run(["note", "the tables are newer, and this program may use them"]).ok();
    server.sql("UPDATE leftoff.about SET readable_by=99");
    let refused = sandbox.run(["note", "no longer", "--json"]).code(1);
    assert_eq!(refused.error()["kind"], "newer_database", "{}", refused.stderr);
}

/// The tables of the first version have no functions. If a role may not add functions, the message says so.
#[test]
fn older_tables_are_read_as_they_are_and_upgraded_by_the_next_command_that_writes() {
    let Some(server) = server("an upgrade of the tables") else { return };
    let sandbox = Sandbox::git(PROGRAM).without_gates().on(&server.url());
    sandbox.run(["start", "--id", "first"]).ok();
    let newest = server.sql("SELECT version FROM leftoff.about");
    server.sql(
        "DROP FUNCTION leftoff.take, leftoff.keep; UPDATE leftoff.about SET version=1; \
         CREATE ROLE ada LOGIN PASSWORD 's3cret'; GRANT USAGE ON SCHEMA leftoff TO ada; \
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA leftoff TO ada",
    );
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "first");
    let ada = Sandbox::git(PROGRAM).without_gates().on(&server.url_of("ada", "s3cret", "postgres"));
    ada.write(".leftoff/config.toml", &sandbox.read(".leftoff/config.toml"));
    let refused = ada.run(["note", "--session", "first", "not yet", "--json"]).code(1);
    assert_eq!(refused.error()["kind"], "store_denied", "{}", refused.stderr);
    assert!(refused.stderr.contains("created or upgraded"), "{}", refused.stderr);
    without_password(&refused);
    assert_eq!(server.sql("SELECT version FROM leftoff.about"), "1", "a reader and a refusal change nothing");
    sandbox.run(["note", "upgraded"]).ok();
    assert_eq!(server.sql("SELECT version FROM leftoff.about"), newest);
    ada.run(["note", "--session", "first", "by a role that only uses them"]).ok();
    assert_eq!(crate::notes(&sandbox), ["upgraded", "by a role that only uses them"]);
    sandbox.run(["doctor"]).ok();
}

/// The role may use tables, but may not create them. If there are no tables, the error names the missing
/// right.
#[test]
fn a_role_that_may_not_make_tables_is_told_so() {
    let Some(server) = server("a role without rights") else { return };
    server.sql("CREATE ROLE ada LOGIN PASSWORD 's3cret'");
    let sandbox = Sandbox::git(PROGRAM).without_gates().on(&server.url_of("ada", "s3cret", "postgres"));
    let refused = sandbox.run(["start"]).code(1);
    assert!(
        refused.stderr.contains("the tables cannot be created") && refused.stderr.contains("store schema"),
        "{}",
        refused.stderr
    );
    without_password(&refused);
    sandbox.run(["list"]).ok();
}

/// Uses the guide's line with the address of this server. The password comes from the places that the guide
/// names.
#[test]
fn a_url_in_the_configuration_counts_once_a_person_accepted_it() {
    let Some(server) = server("a URL in the configuration") else { return };
    let guide = guide_block("toml");
    assert!(guide.contains("db.example.com/leftoff?sslmode=verify-full"), "{guide}");
    let port = server.port();
    let line = guide.replace(
        "db.example.com/leftoff?sslmode=verify-full",
        &format!("postgres@127.0.0.1:{port}/postgres?sslmode=disable"),
    );
    let sandbox = Sandbox::git(PROGRAM).without_gates();
    sandbox.write(".leftoff/config.toml", &format!("{line}\n"));
    let asked = sandbox.run(["start"]).code(6);
    assert!(asked.stderr.contains("leftoff trust --store"), "{}", asked.stderr);
    sandbox.run_as_person(["trust", "--store"]).ok();
    let with = |words: &[&str], name: &str, value: &str| {
        let mut command = sandbox.command(words);
        Ran::from(command.env(name, value).output().expect("the program starts"))
    };
    with(&["start", "--id", "first"], "PGPASSWORD", PASSWORD).ok();
    with(&["status"], "PGPASSWORD", "wrong-s3cret").code(1);
    let file = sandbox.folder().join("passwords");
    std::fs::write(&file, format!("127.0.0.1:{port}:*:postgres:{PASSWORD}\n")).expect("a file");
    let mode = |mode: u32| {
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(mode))
            .expect("its mode");
    };
    let path = file.to_str().expect("a path");
    mode(0o644);
    without_password(&with(&["status"], "PGPASSFILE", path).code(1));
    mode(0o600);
    with(&["status"], "PGPASSFILE", path).ok();
    let services = sandbox.folder().join("services");
    let settings =
        format!("[team]\nhost=127.0.0.1\nport={port}\nuser=postgres\ndbname=postgres\npassword={PASSWORD}\n");
    std::fs::write(&services, settings).expect("a file");
    let mut command = sandbox.command(["list", "--all", "--json"]);
    command.env("LEFTOFF_STORE", "postgres://?service=team").env("PGSERVICEFILE", &services);
    let listed = Ran::from(command.output().expect("the program starts")).ok();
    assert_eq!(listed.json()["sessions"][0]["session_id"], "first");
    without_password(&listed);
    // Another URL must be accepted again.
    sandbox.write(".leftoff/config.toml", &format!("{}\n", line.replace("/postgres?", "/other?")));
    sandbox.run(["status"]).code(6);
}
