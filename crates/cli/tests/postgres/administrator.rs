//! Runs the blocks of the administrator's guide in order, against a separate server.

use crate::{PROGRAM, server, without_password};
use std::process::{Command, Stdio};
use testkit::postgres::{PASSWORD, Server, sql_at};
use testkit::{Ran, Sandbox};

/// The blocks of a page in order, each as its language and its text.
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
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/postgres.md");
    let page = std::fs::read_to_string(page).expect("the guide");
    let sandbox = Sandbox::git(PROGRAM).without_gates();
    let database = server.url_of("postgres", PASSWORD, "leftoff");
    let mut run = 0;
    for (kind, text) in blocks(&page) {
        match kind.as_str() {
            "sql" => drop(sql_at(server.programs(), &database, &text)),
            "bash" => {
                let ran = shell(&sandbox, &server, &text);
                assert_eq!(ran.code, 0, "{text}\n{}\n{}", ran.stdout, ran.stderr);
            }
            _ => continue,
        }
        run += 1;
    }
    assert!(run >= 7, "only {run} blocks were found in the guide");
    rights_are_as_the_guide_says(&server, &sandbox);
}

/// After the guide, ada is a member of the project, eve of no project, and bob has no rights.
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

/// A role may use tables but not create them: if there are none, the error says what is missing.
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
