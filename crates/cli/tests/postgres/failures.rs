//! Failures between a command and its server: no acknowledged change is lost, and an unknown outcome is reported as
//! such.

use crate::proxy::{Proxy, Way};
use crate::{PROGRAM, notes, server, team, without_password};
use testkit::postgres::{PASSWORD, Server, free_port};
use testkit::{Ran, Sandbox};

fn at(port: u16) -> String {
    format!("postgres://postgres:{PASSWORD}@127.0.0.1:{port}/postgres?sslmode=disable")
}

/// Runs a command that reaches its store by another URL.
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

/// The hook ends while the server is still silent. If it waited for the server, the test would never end.
#[test]
fn a_hook_lets_go_of_a_server_that_says_nothing() {
    let Some(server) = server("hooks and a silent server") else { return };
    let proxy = Proxy::to(server.port());
    let sandbox = Sandbox::git(PROGRAM).without_gates().on(&at(proxy.port));
    sandbox.run(["start", "--id", "first"]).ok();
    proxy.set(Way::Silent);
    for (name, rest) in [
        ("SessionStart", r#","source":"startup""#),
        ("UserPromptSubmit", r#","prompt":"go on""#),
        ("PreToolUse", r#","tool_name":"Bash","tool_input":{"command":"ls"}"#),
        ("PostToolUse", r#","tool_name":"Bash","tool_input":{"command":"ls"}"#),
        ("Stop", ""),
    ] {
        let event = format!(r#"{{"session_id":"a1","hook_event_name":"{name}"{rest}}}"#);
        let mut command = sandbox.command(["hook", "claude"]);
        command.env_remove("LEFTOFF_TEST_HOOK_MS");
        let ran = testkit::with_input(command, &event).ok();
        without_password(&ran);
    }
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

#[test]
fn a_server_that_is_killed_loses_nothing_that_it_acknowledged() {
    let Some(mut server) = server("kills of the server") else { return };
    let sandbox = Sandbox::git(PROGRAM).without_gates().on(&server.url());
    sandbox.run(["start", "--id", "first"]).ok();
    let kills: usize =
        std::env::var("LEFTOFF_TEST_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(9);
    let (mut acknowledged, mut unknown, mut number) = (Vec::new(), Vec::new(), 0);
    for kill in 0..kills {
        let writers: Vec<(String, std::process::Child)> = (0..3)
            .map(|_| {
                number += 1;
                let text = format!("note {number}");
                let mut command = sandbox.command(["note", &text, "--key", &text]);
                command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
                (text, command.spawn().expect("the program starts"))
            })
            .collect();
        match kill % 3 {
            0 => {
                // Kills one backend: the server then ends all others and recovers by itself.
                let pid =
                    server.sql("SELECT pid FROM pg_stat_activity WHERE application_name='leftoff' LIMIT 1");
                if !pid.is_empty() {
                    let _ = std::process::Command::new("kill").args(["-9", &pid]).status();
                }
            }
            1 => {
                let pid = server.pid().expect("a postmaster").to_string();
                let _ = std::process::Command::new("kill").args(["-9", &pid]).status();
                server.start_again();
            }
            _ => {
                server.stop();
                server.start_again();
            }
        }
        for (text, mut child) in writers {
            match child.wait().expect("it ends").code() {
                Some(0) => acknowledged.push(text),
                Some(7) => unknown.push(text),
                Some(1) => {}
                other => panic!("{text}: {other:?}"),
            }
        }
    }
    let kept = notes(&sandbox);
    for text in &acknowledged {
        assert_eq!(kept.iter().filter(|kept| *kept == text).count(), 1, "{text}");
    }
    for text in &unknown {
        sandbox.run(["note", text, "--key", text]).ok();
    }
    let kept = notes(&sandbox);
    for text in &unknown {
        assert_eq!(kept.iter().filter(|kept| *kept == text).count(), 1, "{text} was unknown");
    }
    println!("{kills} kills, {} acknowledged, {} unknown", acknowledged.len(), unknown.len());
    sandbox.run(["note", "it goes on"]).ok();
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
    let (users, settings) = (folder.path().join("users"), folder.path().join("pgbouncer.ini"));
    std::fs::write(&users, format!("\"postgres\" \"{PASSWORD}\"\n")).unwrap();
    std::fs::write(
        &settings,
        format!(
            "[databases]\n* = host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr=127.0.0.1\nlisten_port={port}\n\
             unix_socket_dir=\npool_mode=transaction\ndefault_pool_size=2\nauth_type=scram-sha-256\nauth_file={}\n",
            server.port(),
            users.display()
        ),
    )
    .unwrap();
    let mut pooler = testkit::postgres::as_nobody(program).arg("-q").arg(&settings).spawn().unwrap();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(pooler.try_wait().unwrap().is_none(), "the pooler ended");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let sandbox = Sandbox::git(PROGRAM).without_gates().on(&at(port));
    sandbox.run(["start", "--id", "first"]).ok();
    let children: Vec<_> = (0..8)
        .map(|number| {
            sandbox
                .command(["note", &format!("note {number}")])
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap()
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
            sandbox
                .command(["note", &format!("by {writer}")])
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap()
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
