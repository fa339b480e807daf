//! Tests of `leftoff hook claude`: it binds the agent to its session, gives it the brief, and never blocks
//! it.

use crate::agent::{Agent, session_start};
use crate::{git, plain, with_gate};
use serde_json::json;
use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use testkit::{Ran, Sandbox};

const ID: &str = "a4326893-7dc8-405b-aaa4-035b9c0d34a8";

/// Expects that a hook does not block the agent: exit code 0, a valid answer or none, and at most one line on
/// stderr.
#[track_caller]
fn harmless(ran: Ran) -> Ran {
    let ran = ran.ok();
    if !ran.stdout.is_empty() {
        assert_eq!(ran.json()["hookSpecificOutput"]["hookEventName"], "SessionStart", "{}", ran.stdout);
    }
    assert!(ran.stderr.lines().count() <= 1, "{}", ran.stderr);
    ran
}

#[track_caller]
fn hook(sandbox: &Sandbox, input: &str) -> Ran {
    harmless(sandbox.run_with_input(&["hook", "claude"], input))
}

fn context(ran: &Ran) -> String {
    let answer = ran.json();
    answer["hookSpecificOutput"]["additionalContext"].as_str().expect("a brief").to_owned()
}

fn database(sandbox: &Sandbox) -> PathBuf {
    sandbox.path(".git/leftoff/leftoff.db")
}

#[test]
fn every_source_of_a_session_start_gets_the_brief() {
    let sandbox = git();
    sandbox.run(["start", "--goal", "No log-out", "--id", "login"]).ok();
    for source in ["startup", "resume", "clear", "compact", "fork"] {
        let ran = hook(&sandbox, &session_start(&sandbox, ID, source));
        let text = context(&ran);
        let first =
            if source == "compact" { "Your conversation was compacted." } else { "# Where you left off " };
        assert!(text.starts_with(first), "{source}: {text}");
        assert!(
            text.contains("# Where you left off (session login)\nGoal: \"No log-out\""),
            "{source}: {text}"
        );
        assert!(text.contains("`leftoff advance --phase plan`"), "{source}: {text}");
        assert_eq!(ran.stderr, "");
    }
    let agents = sandbox.run(["list", "--agents", "--json"]).ok().json();
    assert_eq!(
        agents["agents"].as_array().unwrap().len(),
        1,
        "one agent session, however often it comes: {agents}"
    );
}

#[test]
fn a_brief_for_an_agent_is_bounded() {
    let sandbox = with_gate();
    sandbox.run(["start", "ship"]).ok();
    for number in 0..40 {
        sandbox.run(["note", &format!("{number} {}", "long ".repeat(100)), "--kind", "decision"]).ok();
    }
    let text = context(&hook(&sandbox, &session_start(&sandbox, ID, "startup")));
    assert!(text.len() <= 600 * 16 / 5 && text.contains("## Decided"), "{} bytes", text.len());
}

#[test]
fn the_agent_is_bound_and_known_to_be_alive_until_it_is_gone() {
    let sandbox = git();
    sandbox.run(["start", "--id", "login"]).ok();
    let mut agent = Agent::new(&sandbox, "agent-a");
    agent.hook(&sandbox, ID, "startup").ok();
    let agents = || sandbox.run(["list", "--agents", "--json"]).ok().json()["agents"].clone();
    let seen = agents();
    assert_eq!(seen.as_array().unwrap().len(), 1);
    assert_eq!((&seen[0]["agent"], &seen[0]["agent_session"]), (&json!("claude"), &json!(ID)));
    assert_eq!((&seen[0]["session_id"], &seen[0]["alive"]), (&json!("login"), &json!(true)));
    assert_eq!(seen[0]["branch"], "main");
    let line = sandbox.run(["list", "--agents"]).ok().stdout;
    assert!(line.contains("claude   a4326893  alive on login in "), "{line}");
    drop(agent);
    assert_eq!(agents()[0]["alive"], false);
    // When the next agent arrives, the record of the dead agent is removed.
    let mut other = Agent::new(&sandbox, "agent-b");
    other.hook(&sandbox, "bbbb", "startup").ok();
    assert_eq!(agents().as_array().unwrap().len(), 1);
    assert_eq!(agents()[0]["agent_session"], "bbbb");
}

#[test]
fn an_agent_is_known_by_its_process_without_its_variable() {
    let sandbox = git();
    sandbox.run(["init"]).ok();
    let mut agent = Agent::new(&sandbox, "agent-a");
    assert_eq!(agent.hook(&sandbox, ID, "startup").ok().stdout, "", "nothing is going on: nothing to say");
    let started = agent.run(&sandbox, &["start", "--id", "login", "--json"]).ok().json();
    assert_eq!(
        (&started["last_actor"]["agent"], &started["last_actor"]["id"]),
        (&json!("claude"), &json!(ID))
    );
    // A session of another agent is neither used nor paused by this agent.
    let beside = sandbox.run(["start", "review", "--id", "mine", "--json"]).ok().json();
    assert_eq!((&beside["last_actor"]["kind"], &beside["parallel"]), (&json!("automation"), &json!(true)));
    assert_eq!(agent.run(&sandbox, &["status", "--json"]).ok().json()["session_id"], "login");
}

/// The commands that are printed for a session parallel to the active one name it. Without its name, they
/// would mean the active session.
#[test]
fn commands_for_a_session_beside_the_active_one_name_it() {
    let sandbox = git();
    sandbox.run(["start", "--id", "login"]).ok();
    let beside = sandbox.run(["start", "review", "--id", "mine", "--parallel", "--json"]).ok().json();
    assert_eq!(beside["next"]["command"], "leftoff advance --phase context --session mine");
    let answer = sandbox.run_printed(beside["next"]["command"].as_str().unwrap()).ok();
    assert!(
        answer.stdout.contains("leftoff advance --phase change-context --session mine\n"),
        "{}",
        answer.stdout
    );
    assert_eq!(
        sandbox.run(["show", "mine", "--json"]).ok().json()["next"]["command"],
        "leftoff advance --phase change-context --session mine"
    );
    sandbox.run(["note", "a blocker", "--kind", "blocker", "--session", "mine"]).ok();
    let brief = sandbox.run(["brief", "--format", "markdown", "--session", "mine"]).ok().stdout;
    assert!(brief.contains("`leftoff note resolve 1 --session mine`"), "{brief}");
    assert_eq!(
        sandbox.run(["show", "login", "--json"]).ok().json()["next"]["command"],
        "leftoff advance --phase plan"
    );
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], "login");
}

#[test]
fn a_session_of_another_worktree_is_named_too() {
    let sandbox = git();
    sandbox.run(["start", "--id", "login"]).ok();
    let elsewhere = sandbox.folder().join("elsewhere");
    std::fs::create_dir_all(sandbox.path(".git/worktrees/elsewhere")).unwrap();
    std::fs::create_dir_all(&elsewhere).unwrap();
    let own = sandbox.path(".git/worktrees/elsewhere");
    std::fs::write(own.join("HEAD"), "ref: refs/heads/other\n").unwrap();
    std::fs::write(own.join("commondir"), "../..\n").unwrap();
    std::fs::write(elsewhere.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
    let project = elsewhere.to_str().unwrap();
    let view = sandbox.run(["status", "--project", project, "--session", "login", "--json"]).ok().json();
    assert_eq!(view["next"]["command"], "leftoff advance --phase plan --session login");
}

/// Two agents were started before the store existed. Each is known as soon as it starts a session.
#[test]
fn agents_that_came_before_the_store_do_not_push_each_other_aside() {
    let sandbox = git();
    let mut first = Agent::new(&sandbox, "agent-a");
    let mut second = Agent::new(&sandbox, "agent-b");
    assert_eq!(first.hook(&sandbox, "aaaa", "startup").ok().stdout, "");
    assert!(!database(&sandbox).exists(), "a hook sets nothing up");
    first.export("claude:aaaa");
    second.export("claude:bbbb");
    sandbox.at("2026-11-14T10:00:00Z");
    first.run(&sandbox, &["start", "--id", "login"]).ok();
    // The agent's process is alive, although the agent has been silent for long.
    sandbox.at("2026-11-14T12:00:00Z");
    let beside = second.run(&sandbox, &["start", "review", "--id", "mine", "--json"]).ok().json();
    assert_eq!(beside["parallel"], true, "{beside:#}");
    assert_eq!(first.run(&sandbox, &["status", "--json"]).ok().json()["status"], "active");
    assert_eq!(second.run(&sandbox, &["status", "--json"]).ok().json()["session_id"], "mine");
    // Commands for the first agent's session that are shown to the second agent name the session. Without its
    // name, they would mean the second agent's own.
    let shown = second.run(&sandbox, &["show", "login", "--json"]).ok().json();
    assert_eq!(shown["next"]["command"], "leftoff advance --phase plan --session login");
    let own = second.run(&sandbox, &["status", "--json"]).ok().json();
    assert_eq!(own["next"]["command"], "leftoff advance --phase context");
    // When the first agent is gone, another agent that starts a session pauses the first one's.
    drop(first);
    let alone = second.run(&sandbox, &["start", "--id", "third", "--json"]).ok().json();
    assert_eq!(alone["said"], serde_json::json!(["paused login (main)"]));
}

#[test]
fn the_agents_environment_gets_its_name_once() {
    let sandbox = git();
    sandbox.run(["start"]).ok();
    let file = sandbox.folder().join("env");
    std::fs::write(&file, "export OTHER=1\n").unwrap();
    let send = |id: &str, source: &str| {
        let mut command = sandbox.command(["hook", "claude"]);
        command.env("CLAUDE_ENV_FILE", &file);
        harmless(with_input(command, &session_start(&sandbox, id, source)))
    };
    for source in ["startup", "compact", "compact"] {
        send(ID, source);
    }
    let line = format!("export LEFTOFF_AGENT_SESSION='claude:{ID}'\n");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), format!("export OTHER=1\n{line}"));
    // Another agent session starts, and then the first one again. The last line in the file is valid.
    send("bbbb", "clear");
    send(ID, "resume");
    assert!(std::fs::read_to_string(&file).unwrap().ends_with(&format!("'claude:bbbb'\n{line}")));
}

#[test]
fn an_environment_file_that_cannot_be_written_costs_no_brief() {
    let sandbox = git();
    sandbox.run(["start", "--id", "login"]).ok();
    let mut command = sandbox.command(["hook", "claude"]);
    command.env("CLAUDE_ENV_FILE", sandbox.folder().join("no/such/folder/env"));
    let ran = harmless(with_input(command, &session_start(&sandbox, ID, "startup")));
    assert!(context(&ran).contains("(session login)"));
}

#[test]
fn nonsense_is_let_through() {
    let sandbox = git();
    sandbox.run(["start"]).ok();
    let not_an_object = [
        "",
        " ",
        "{",
        "null",
        "[]",
        "42",
        "\"SessionStart\"",
        "{}",
        "{\"hook_event_name\":\"SessionStart\"}",
        "{\"session_id\":1,\"hook_event_name\":\"SessionStart\",\"cwd\":\"/\"}",
        "\u{0}\u{1}",
    ];
    for input in not_an_object {
        let ran = hook(&sandbox, input);
        assert_eq!((ran.stdout.as_str(), ran.stderr.lines().count()), ("", 1), "{input:?}");
        assert!(ran.stderr.starts_with("leftoff hook: "), "{}", ran.stderr);
    }
    for id in ["", "a b", "x'; rm -rf / #", &"x".repeat(500), "a\nb"] {
        let ran = hook(&sandbox, &session_start(&sandbox, id, "startup"));
        assert_eq!((ran.stdout.as_str(), ran.stderr.lines().count()), ("", 1), "{id:?}");
    }
    let nowhere =
        session_start(&sandbox, ID, "startup").replace(sandbox.project().to_str().unwrap(), "/no/such/place");
    assert_eq!(hook(&sandbox, &nowhere).stdout, "");
}

/// Exit code 2 blocks an agent. Wrong arguments for leftoff must never cause it.
#[test]
fn wrong_arguments_block_nobody() {
    let sandbox = git();
    for words in [
        &["hook"][..],
        &["hook", "nobody"],
        &["hook", "claude", "extra", "--bogus"],
        &["hook", "--bogus"],
        &["--json", "hook", "claude"],
        &["--project", "/no/such/place", "hook", "claude"],
        &["--bogus", "hook", "claude"],
        &["-q", "hook"],
        &["--session", "hook", "hook", "claude"],
    ] {
        let ran = harmless(sandbox.run(words));
        assert_eq!(ran.stdout, "", "{words:?}");
    }
}

#[test]
fn where_there_is_nothing_there_is_nothing_to_say() {
    let outside = plain();
    let ran = hook(&outside, &session_start(&outside, ID, "startup"));
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""), "no project");
    let sandbox = git();
    let ran = hook(&sandbox, &session_start(&sandbox, ID, "startup"));
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""), "no store");
    assert!(!database(&sandbox).exists());
    sandbox.run(["start"]).ok();
    sandbox.run(["abandon"]).ok();
    assert_eq!(hook(&sandbox, &session_start(&sandbox, ID, "startup")).stdout, "", "nothing unfinished");
}

#[test]
fn a_broken_store_lets_the_agent_go_on() {
    for bytes in [
        &b"not a database at all, but long enough to be looked at as one"[..],
        b"SQLite format 3\0",
        &[0xff; 8192],
    ] {
        let sandbox = git();
        sandbox.run(["start"]).ok();
        for file in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{file}", database(&sandbox).display()));
        }
        std::fs::write(database(&sandbox), bytes).unwrap();
        let ran = hook(&sandbox, &session_start(&sandbox, ID, "startup"));
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        // Silence would tell the agent that there is nothing to continue.
        assert!(
            context(&ran).starts_with("leftoff could not read the state of the work here ("),
            "{}",
            ran.stdout
        );
        assert_eq!(std::fs::read(database(&sandbox)).unwrap(), bytes, "and it is left as it was");
    }
}

#[test]
fn a_machine_too_busy_for_a_brief_leaves_time_for_what_is_next() {
    let sandbox = git();
    sandbox.run(["start", "--id", "login", "--goal", "No log-out"]).ok();
    let mut late = sandbox.command(["hook", "claude"]);
    late.env("LEFTOFF_TEST_LATE", "1");
    let text = context(&harmless(with_input(late, &session_start(&sandbox, ID, "startup"))));
    assert!(text.starts_with("Session login is active here: No log-out."), "{text}");
    assert!(text.contains("`leftoff brief --format markdown`"), "{text}");
    assert!(text.contains("`leftoff advance --phase plan`"), "{text}");
}

#[test]
fn a_broken_setting_costs_no_brief() {
    let sandbox = git();
    sandbox.run(["start", "--id", "login"]).ok();
    sandbox.write(".leftoff/config.toml", "workflow = [\n");
    let ran = hook(&sandbox, &session_start(&sandbox, ID, "startup"));
    assert!(context(&ran).contains("(session login)"));
}

#[test]
fn a_store_that_cannot_be_written_is_still_read() {
    let sandbox = git();
    sandbox.run(["start", "--id", "login"]).ok();
    let folder = database(&sandbox).parent().unwrap().to_owned();
    // Tests may run as root, for whom permissions have no effect. So the hook runs as the user nobody.
    let all = [sandbox.folder().to_owned(), folder.clone(), sandbox.project().to_owned()];
    for path in &all {
        std::fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }
    for entry in std::fs::read_dir(&folder).unwrap() {
        std::fs::set_permissions(entry.unwrap().path(), Permissions::from_mode(0o444)).unwrap();
    }
    // The build folder may be in a private home folder. So the program is copied to a place that the user
    // nobody can reach.
    let program = sandbox.folder().join("leftoff");
    std::fs::copy(env!("CARGO_BIN_EXE_leftoff"), &program).unwrap();
    let as_us = sandbox.command(["hook", "claude"]);
    let mut command = Command::new(&program);
    command.args(as_us.get_args()).current_dir(sandbox.project()).env_clear();
    command.envs(as_us.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if is_root() {
        command.uid(65534);
    } else {
        std::fs::set_permissions(&folder, Permissions::from_mode(0o555)).unwrap();
    }
    let ran = harmless(with_input(command, &session_start(&sandbox, ID, "startup")));
    std::fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
    assert!(context(&ran).contains("(session login)"), "{}", ran.stderr);
    let agents = sandbox.run(["list", "--agents", "--json"]).ok().json();
    assert_eq!(agents["agents"], json!([]), "nothing could be written");
}

#[test]
fn a_store_that_is_locked_is_not_waited_for() {
    let sandbox = git();
    sandbox.run(["start", "--id", "login"]).ok();
    let lock = File::options().write(true).open(sandbox.path(".git/leftoff/leftoff.db.lock")).unwrap();
    lock.lock().unwrap();
    let ran = hook(&sandbox, &session_start(&sandbox, ID, "startup"));
    assert!(context(&ran).contains("(session login)"));
    let agents = || sandbox.run(["list", "--agents", "--json"]).ok().json()["agents"].clone();
    assert_eq!(agents(), json!([]), "the lock was in the way");
    lock.unlock().unwrap();
    hook(&sandbox, &session_start(&sandbox, ID, "resume"));
    assert_eq!(agents()[0]["alive"], true);
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output().expect("id");
    output.stdout.trim_ascii() == b"0"
}

pub fn with_input(mut command: Command, input: &str) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = loop {
        match command.spawn() {
            // Another test is starting a process, which still has the copy open for writing.
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
            done => break done.unwrap(),
        }
    };
    let mut stdin = child.stdin.take().unwrap();
    let _ = std::io::Write::write_all(&mut stdin, input.as_bytes());
    drop(stdin);
    Ran::from(child.wait_with_output().unwrap())
}

/// The agent's first hook ran before the store existed. Its commands were recognised only by a variable.
#[test]
fn t1_an_agent_is_the_same_one_before_and_after_its_hook_names_it() {
    for hook in ["compact", "tool"] {
        let sandbox = git();
        let mut agent = Agent::new(&sandbox, "agent-a");
        agent.mark("CLAUDECODE");
        agent.hook(&sandbox, ID, "startup").ok();
        agent.run(&sandbox, &["start", "--id", "login"]).ok();
        agent.run(&sandbox, &["item", "add", "One", "--id", "one"]).ok();
        let claimed = agent.run(&sandbox, &["item", "claim", "one", "--for", "2h", "--json"]).ok().json();
        let until = claimed["item"]["lease"]["until"].clone();
        assert_ne!(claimed["last_actor"]["id"], ID, "{claimed}");
        if hook == "compact" {
            agent.hook(&sandbox, ID, "compact").ok();
        } else {
            let used = json!({ "hook_event_name": "PostToolUse", "tool_name": "Bash",
                "tool_input": { "command": "leftoff item claim one" }, "tool_response": {}, "tool_use_id": "t1" });
            let input = crate::agent::event(&sandbox, ID, &used);
            agent.run_with_input(&sandbox, &["hook", "claude"], &input).ok();
        }
        let listed = agent.run(&sandbox, &["item", "list", "--json"]).ok().json();
        let item = &listed["items"][0];
        assert_eq!((&item["mine"], &item["lease"]["until"]), (&json!(true), &until), "{hook}: {listed}");
        let done = agent.run(&sandbox, &["item", "done", "one", "--json"]).ok().json();
        assert_eq!(done["last_actor"]["id"], ID, "{hook}");
        let agents = sandbox.run(["list", "--agents", "--json"]).ok().json()["agents"].clone();
        assert_eq!(agents.as_array().unwrap().len(), 1, "{hook}: {agents}");
        assert_eq!(agents[0]["session_id"], "login");
    }
}

/// A paused session exists next to the one that the agent has finished.
#[test]
fn b8_after_a_compaction_an_agent_is_told_of_the_session_it_finished_and_of_no_other() {
    let sandbox = git();
    sandbox.run(["start", "--id", "older"]).ok();
    sandbox.run(["note", "The certificate has expired", "--kind", "blocker"]).ok();
    sandbox.run(["pause"]).ok();
    let mut agent = Agent::new(&sandbox, "agent-a");
    agent.hook(&sandbox, ID, "startup").ok();
    agent.run(&sandbox, &["start", "--id", "quick"]).ok();
    agent.run(&sandbox, &["note", "Is the refund job affected?", "--kind", "question"]).ok();
    for phase in ["plan", "implement", "review"] {
        agent.run(&sandbox, &["advance", "--phase", phase]).ok();
    }
    let finished = agent.run(&sandbox, &["status", "--json"]).ok().json();
    assert_eq!(finished["next"]["command"], json!(null), "a finished session suggests nothing");
    let text = context(&agent.hook(&sandbox, ID, "compact").ok());
    assert!(text.contains("(session quick)") && text.contains("Paused here: older."), "{text}");
    assert!(!text.contains("`leftoff "), "a finished session suggests nothing: {text}");
    // A command from an older brief must not change the other session.
    agent.run(&sandbox, &["note", "resolve", "1"]).code(3);
    let older = sandbox.run(["show", "older", "--json"]).ok().json();
    assert_eq!(older["notes"][0]["resolved_at"], json!(null), "{older}");
}
