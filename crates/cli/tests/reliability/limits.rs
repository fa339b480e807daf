//! Long histories and long input need a limited amount of memory, or are refused before they need more.

use crate::{git, git_with_session};
use rusqlite::Connection;
use std::process::Command;
use testkit::{Ran, Sandbox, with_input};

/// The program with this memory limit, in KiB.
fn limited(sandbox: &Sandbox, kilobytes: u32, arguments: &[&str]) -> Command {
    let inner = sandbox.command(arguments);
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -v {kilobytes} && exec \"$0\" \"$@\"")]);
    command.arg(inner.get_program()).args(inner.get_args()).current_dir(sandbox.project()).env_clear();
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

/// Adds notes of ten kilobytes directly to the database, because the program would need a day for it.
fn add_notes(sandbox: &Sandbox, count: u32) {
    let database = Connection::open(sandbox.path(".git/leftoff/leftoff.db")).unwrap();
    let sql = format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<{count})
         INSERT INTO events(session,version,cursor,at,actor,kind,body)
         SELECT e.session,e.version+i,e.cursor+i,e.at,e.actor,e.kind,
           replace(replace(e.body,'written before',printf('%010000d',i)),'\"id\":1','\"id\":'||(i+1))
         FROM n,(SELECT * FROM events WHERE kind='note_added') e;
         UPDATE sessions SET version=version+{count},turn=turn+{count};
         DELETE FROM snapshots;"
    );
    database.execute_batch(&sql).unwrap();
}

#[test]
fn f7_a_long_log_is_written_while_it_is_read() {
    const NOTES: u32 = 10_000;
    let sandbox = git_with_session();
    let run = |kilobytes: u32, arguments: &[&str]| {
        Ran::from(limited(&sandbox, kilobytes, arguments).output().unwrap())
    };
    let enough = 120_000;
    run(enough, &["log", "--json"]).ok();
    add_notes(&sandbox, NOTES);
    let log = run(enough, &["log", "--json"]).ok().json();
    assert_eq!(log["events"].as_array().unwrap().len(), NOTES as usize + 4);
    let text = run(enough, &["log"]).ok().stdout;
    assert_eq!(text.lines().count(), NOTES as usize + 4);
    // The whole history exceeds the limit: it cannot be loaded at once.
    assert_ne!(run(enough, &["show", "--json"]).code, 0);
}

#[test]
fn f7_input_that_is_too_long_is_refused_before_it_is_read_whole() {
    let sandbox = git();
    sandbox.run(["start"]).ok();
    for (arguments, most) in [
        (&["purge", "-", "--yes"][..], 64 * 1024),
        (&["advance", "--phase", "plan", "--evidence-file", "-"], 1024 * 1024),
    ] {
        let long = "x".repeat(64 * 1024 * 1024);
        let ran = with_input(limited(&sandbox, 120_000, arguments), &long).code(2);
        assert!(ran.stderr.contains(&format!("longer than {most} bytes")), "{ran:?}");
    }
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["version"], 3);
}
