//! Tests of failures between a command and its server. No acknowledged change is lost, and an unknown outcome
//! is reported as unknown.

use crate::proxy::{Proxy, Way};
use crate::{PROGRAM, notes, server, team, without_password};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use testkit::postgres::{PASSWORD, Server, free_port};
use testkit::proof::{self, Random};
use testkit::{Ran, Sandbox};

fn at(port: u16) -> String {
    format!("postgres://postgres:{PASSWORD}@127.0.0.1:{port}/postgres?sslmode=disable")
}

/// Runs a command that reaches its store at another URL.
fn by(sandbox: &Sandbox, url: &str, arguments: &[&str]) -> Ran {
    let mut command = sandbox.command(arguments);
    Ran::from(command.env("LEFTOFF_STORE", url).output().expect("the program starts"))
}

#[test]
fn a_server_that_cannot_be_reached_is_named_without_the_password() {
    let port = free_port();
    let sandbox = Sandbox::git(PROGRAM).without_gates().on(&at(port));
    sandbox.write(".leftoff/config.toml", "project = \"p1\"\n");
    for arguments in [&["start"][..], &["status"], &["note", "x"], &["list", "--json"]] {
        let ran = sandbox.run(arguments).code(1);
        assert!(ran.stderr.contains(&format!("127.0.0.1:{port}")), "{}", ran.stderr);
        without_password(&ran);
    }
    assert_eq!(sandbox.run(["status", "--json"]).error()["kind"], "store_unreachable");
    let event = r#"{"session_id":"a1","hook_event_name":"SessionStart","source":"startup"}"#;
    let hook = sandbox.run_with_input(&["hook", "claude"], event).ok();
    without_password(&hook);
}

#[test]
fn an_answer_that_is_lost_at_the_commit_is_found_out_or_told_as_unknown() {
    let Some(server) = server("a commit whose answer is lost") else { return };
    let proxy = Proxy::to(server.port());
    let sandbox = Sandbox::git(PROGRAM).without_gates().on(&server.url());
    sandbox.run(["start", "--id", "first"]).ok();
    proxy.set(Way::CutAfterCommit);
    by(&sandbox, &at(proxy.port), &["note", "committed, then cut off"]).ok();
    proxy.set(Way::CutBeforeCommit);
    let ran = by(&sandbox, &at(proxy.port), &["note", "cut off before"]).code(1);
    assert!(ran.stderr.contains("nothing was changed"), "{}", ran.stderr);
    proxy.set(Way::CutForGood);
    let ran = by(&sandbox, &at(proxy.port), &["note", "never heard of again", "--key", "k1"]).code(7);
    without_password(&ran);
    assert_eq!(notes(&sandbox), ["committed, then cut off", "never heard of again"]);
    // Repeating the command with its key writes nothing twice.
    sandbox.run(["note", "never heard of again", "--key", "k1"]).ok();
    assert_eq!(notes(&sandbox).len(), 2);
}

#[test]
fn a_slow_link_takes_longer_and_loses_nothing() {
    let Some(server) = server("a slow link") else { return };
    let proxy = Proxy::to(server.port());
    let sandbox = Sandbox::git(PROGRAM).without_gates().on(&at(proxy.port));
    proxy.set(Way::Slow);
    sandbox.run(["start", "--id", "first"]).ok();
    for number in 0..3 {
        sandbox.run(["note", &format!("note {number}")]).ok();
    }
    assert_eq!(notes(&sandbox), ["note 0", "note 1", "note 2"]);
}

/// A hook waits at most 50 ms, or 300 ms at the start of a conversation. The best of three attempts is used,
/// because the machine may be busy.
#[test]
fn a_hook_lets_go_of_a_server_that_is_slow_or_says_nothing() {
    const LONGEST: Duration = Duration::from_secs(1);
    let Some(server) = server("hooks and a silent server") else { return };
    let proxy = Proxy::to(server.port());
    let sandbox = Sandbox::git(PROGRAM).without_gates().on(&at(proxy.port));
    sandbox.run(["start", "--id", "first"]).ok();
    for way in [Way::Silent, Way::Slow, Way::Closed] {
        proxy.set(way);
        for (name, rest) in HOOKS {
            let event = format!(r#"{{"session_id":"a1","hook_event_name":"{name}"{rest}}}"#);
            let took = (0..3).map(|_| {
                let mut command = sandbox.command(["hook", "claude"]);
                command.env_remove("LEFTOFF_TEST_HOOK_MS");
                let since = Instant::now();
                without_password(&testkit::with_input(command, &event).ok());
                since.elapsed()
            });
            let best = took.min().unwrap();
            assert!(best < LONGEST, "{name}, {way:?}: {best:?}");
        }
    }
}

const HOOKS: [(&str, &str); 5] = [
    ("SessionStart", r#","source":"startup""#),
    ("UserPromptSubmit", r#","prompt":"go on""#),
    ("PreToolUse", r#","tool_name":"Bash","tool_input":{"command":"ls"}"#),
    ("PostToolUse", r#","tool_name":"Bash","tool_input":{"command":"ls"}"#),
    ("Stop", ""),
];

/// The client is killed, and the server does not notice that. The server ends the idle transaction by itself.
#[test]
fn a_client_that_vanishes_during_its_turn_holds_nobody_up_for_good() {
    let Some(server) = server("a client that vanishes") else { return };
    let proxy = Proxy::to(server.port());
    let sandbox = Sandbox::git(PROGRAM).without_gates().on(&server.url());
    sandbox.run(["start", "--id", "first"]).ok();
    proxy.set(Way::VanishInTurn);
    let mut command = sandbox.command(["note", "never said"]);
    command.env("LEFTOFF_STORE", at(proxy.port)).stdout(Stdio::null()).stderr(Stdio::null());
    let mut client = command.spawn().unwrap();
    let idle = "SELECT count(*) FROM pg_stat_activity WHERE state='idle in transaction'";
    while server.sql(idle) == "0" {
        std::thread::sleep(Duration::from_millis(20));
    }
    client.kill().unwrap();
    client.wait().unwrap();
    let refused = sandbox.run(["note", "too early", "--json"]).code(1);
    assert_eq!(refused.error()["kind"], "store_busy", "{}", refused.stderr);
    sandbox.run(["note", "after a while"]).ok();
    assert_eq!(notes(&sandbox), ["after a while"]);
    proxy.set(Way::Open);
}

#[test]
fn another_host_of_the_url_takes_over() {
    let Some(server) = server("failover") else { return };
    let Some(copy) = Server::start_with("default_transaction_read_only=on") else { return };
    let port = server.port();
    let url = format!(
        "postgres://postgres:{PASSWORD}@127.0.0.1:{},127.0.0.1:{},127.0.0.1:{port}/postgres?sslmode=disable",
        free_port(),
        copy.port()
    );
    let sandbox = Sandbox::git(PROGRAM).without_gates().on(&url);
    sandbox.run(["start", "--id", "first"]).ok();
    sandbox.run(["note", "kept by the one that takes writes"]).ok();
    assert_eq!(server.sql("SELECT count(*) FROM leftoff.events WHERE kind='note_added'"), "1");
}

/// A standby server replaces a server that is gone. It has everything that was acknowledged.
#[test]
fn a_standby_that_is_promoted_has_what_was_acknowledged_and_takes_the_next_command() {
    let Some(mut server) = server("failover to a standby") else { return };
    let standby = server.start_standby();
    server.sql("ALTER SYSTEM SET synchronous_standby_names='*'; SELECT pg_reload_conf()");
    while server.sql("SELECT sync_state FROM pg_stat_replication") != "sync" {
        std::thread::sleep(Duration::from_millis(50));
    }
    let (one, two) = (server.port(), standby.port());
    let hosts = format!("127.0.0.1:{one},127.0.0.1:{two}");
    let url = format!("postgres://postgres:{PASSWORD}@{hosts}/postgres?sslmode=disable");
    let sandbox = Sandbox::git(PROGRAM).without_gates().on(&url);
    sandbox.run(["start", "--id", "first"]).ok();
    sandbox.run(["note", "before"]).ok();
    server.stop();
    let refused = sandbox.run(["note", "nobody takes writes"]).code(1);
    assert!(refused.stderr.contains(&hosts), "{}", refused.stderr);
    without_password(&refused);
    standby
        .sql("SELECT pg_promote(); ALTER SYSTEM SET synchronous_standby_names=''; SELECT pg_reload_conf()");
    sandbox.run(["note", "after"]).ok();
    assert_eq!(notes(&sandbox), ["before", "after"]);
    sandbox.run(["doctor"]).ok();
}

/// The answers that a writer got for its notes.
#[derive(Default)]
struct Told {
    acknowledged: Vec<String>,
    unknown: Vec<String>,
    /// Notes that were refused with exit code 1, which means that nothing was changed.
    refused: Vec<String>,
}

/// Writes notes, each with its own key, until the other thread has finished killing.
fn write_notes(program: &Command, writer: usize, is_over: &AtomicBool) -> Told {
    let mut told = Told::default();
    for number in 0.. {
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        let text = format!("note {writer}-{number}");
        let mut command = testkit::like(program, ["note", &text, "--session", "first", "--key", &text]);
        let ran = Ran::from(command.output().expect("the program starts"));
        match ran.code {
            0 => told.acknowledged.push(text),
            7 => told.unknown.push(text),
            1 => told.refused.push(text),
            _ => panic!("{text}: {ran:?}"),
        }
    }
    told
}

/// Kills one process of the server, after which the server ends all others and recovers; or kills its main
/// process; or stops it at once.
fn kill(server: &mut Server, kind: u64) {
    match kind % 3 {
        0 => {
            // No process is killed if a writer has just ended or the server is recovering.
            let sql = "SELECT pid FROM pg_stat_activity WHERE application_name='leftoff' ORDER BY xact_start LIMIT 1";
            let pid = server.try_sql(sql).unwrap_or_default();
            if !pid.is_empty() {
                let _ = Command::new("kill").args(["-9", &pid]).status();
            }
        }
        1 => {
            let pid = server.pid().expect("a postmaster").to_string();
            let _ = Command::new("kill").args(["-9", &pid]).status();
            server.start_again();
        }
        _ => {
            server.stop();
            server.start_again();
        }
    }
    server.wait();
}

#[test]
fn a_server_that_is_killed_loses_nothing_that_it_acknowledged() {
    const WRITERS: usize = 3;
    let Some(mut server) = server("kills of the server") else { return };
    let sandbox = Sandbox::git(PROGRAM).without_gates().on(&server.url());
    sandbox.run(["start", "--id", "first"]).ok();
    let (seed, kills) = (proof::seed(), proof::count("SERVER_KILLS", 9));
    let program = sandbox.command([""; 0]);
    let is_over = AtomicBool::new(false);
    let told: Vec<Told> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (program, is_over) = (&program, &is_over);
                scope.spawn(move || write_notes(program, writer, is_over))
            })
            .collect();
        let end = crate::AtEnd(&is_over);
        let mut random = Random::new(seed);
        for kind in 0..kills {
            std::thread::sleep(Duration::from_millis(20 + random.below(150)));
            kill(&mut server, kind);
        }
        drop(end);
        writers.into_iter().map(|writer| writer.join().expect("a writer")).collect()
    });
    let kept = notes(&sandbox);
    let times = |kept: &[String], text: &String| kept.iter().filter(|kept| *kept == text).count();
    for text in told.iter().flat_map(|told| &told.acknowledged) {
        assert_eq!(times(&kept, text), 1, "{text} was acknowledged");
    }
    for text in told.iter().flat_map(|told| &told.refused) {
        assert_eq!(times(&kept, text), 0, "{text} was refused");
    }
    let unknown: Vec<&String> = told.iter().flat_map(|told| &told.unknown).collect();
    for text in &unknown {
        sandbox.run(["note", text, "--session", "first", "--key", text]).ok();
    }
    let kept = notes(&sandbox);
    for text in &unknown {
        assert_eq!(times(&kept, text), 1, "{text} was unknown");
    }
    sandbox.run(["doctor"]).ok();
    let acknowledged: usize = told.iter().map(|told| told.acknowledged.len()).sum();
    assert!(acknowledged > 0);
    let result =
        format!("{acknowledged} acknowledged, 0 lost, {} unknown and settled by their keys", unknown.len());
    proof::proven(
        "PostgreSQL killed: process, postmaster, at once",
        &format!("{kills} kills"),
        seed,
        &result,
    );
}

#[test]
fn a_pooler_in_transaction_mode_changes_nothing() {
    let Some(server) = server("a pooler in transaction mode") else { return };
    let program = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"]
        .into_iter()
        .find(|path| std::path::Path::new(path).exists());
    let Some(program) = program else {
        return testkit::left_out("a pooler in transaction mode: pgbouncer could not be found or installed");
    };
    let folder = tempfile::tempdir().unwrap();
    testkit::postgres::hand_over(folder.path());
    let port = free_port();
    // The pooler has the settings of the guide. It has fewer connections than there are clients.
    let guide = crate::administrator::guide_block("ini");
    assert!(guide.contains("pool_mode = transaction"), "{guide}");
    let (users, settings) = (folder.path().join("users"), folder.path().join("pgbouncer.ini"));
    std::fs::write(&users, format!("\"postgres\" \"{PASSWORD}\"\n")).unwrap();
    std::fs::write(
        &settings,
        format!(
            "[databases]\n* = host=127.0.0.1 port={}\n{guide}\nlisten_addr=127.0.0.1\nlisten_port={port}\n\
             unix_socket_dir=\nmax_db_connections=2\nauth_type=scram-sha-256\nauth_file={}\n",
            server.port(),
            users.display()
        ),
    )
    .unwrap();
    let mut pooler = testkit::postgres::as_nobody(program).arg("-q").arg(&settings).spawn().unwrap();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(pooler.try_wait().unwrap().is_none(), "the pooler ended");
        std::thread::sleep(Duration::from_millis(50));
    }
    let sandbox = Sandbox::git(PROGRAM).without_gates().on(&at(port));
    sandbox.run(["start", "--id", "first"]).ok();
    let children: Vec<_> = (0..8)
        .map(|number| {
            sandbox.command(["note", &format!("note {number}")]).stdout(Stdio::null()).spawn().unwrap()
        })
        .collect();
    let done: Vec<bool> = children.into_iter().map(|mut child| child.wait().unwrap().success()).collect();
    let kept = notes(&sandbox);
    let _ = pooler.kill();
    let _ = pooler.wait();
    assert_eq!(done, [true; 8]);
    assert_eq!(kept.len(), 8);
}

#[test]
fn eight_writers_leave_no_gap() {
    let Some((sandbox, url)) = team("several writers") else { return };
    sandbox.run(["start", "--id", "first"]).ok();
    let children: Vec<_> = (0..8)
        .map(|writer| {
            sandbox.command(["note", &format!("by {writer}")]).stdout(Stdio::null()).spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(notes(&sandbox).len(), 8);
    let Some(programs) = testkit::postgres::programs() else { return };
    let schema = url.split("schema=").nth(1).unwrap();
    let sql = format!("SELECT bool_and(cursor=version) FROM {schema}.events");
    assert_eq!(testkit::postgres::sql_at(&programs, &url, &sql), "t");
}
