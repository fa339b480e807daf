//! Tests of several machines that use one store. Each has its own home and state folder, and its own
//! worktree.

use crate::{PROGRAM, clone_of, notes, team, without_password};
use serde_json::Value;
use std::process::Stdio;
use testkit::{Running, Sandbox};

fn sessions(sandbox: &Sandbox) -> Vec<Value> {
    let list = sandbox.run(["list", "--all", "--json"]).ok().json();
    list["sessions"].as_array().expect("sessions").clone()
}

#[test]
fn what_one_machine_does_another_sees_and_each_has_its_own_active_session() {
    let Some((here, url)) = team("several machines") else { return };
    let started = here.run(["start", "--id", "first", "--title", "Login"]).ok();
    without_password(&started);
    here.run(["note", "tokens, not cookies"]).ok();
    let there = clone_of(&here, &url);
    assert_eq!(sessions(&there).len(), 1);
    assert_eq!(sessions(&there)[0]["session_id"], "first");
    assert!(sessions(&there)[0]["machine"].is_string(), "{:?}", sessions(&there));
    there.run(["start", "--id", "second"]).ok();
    let active = |sandbox: &Sandbox| sandbox.run(["status", "--json"]).ok().json()["session_id"].clone();
    assert_eq!((active(&here), active(&there)), ("first".into(), "second".into()));
    // A session that is active on one machine cannot be resumed on another.
    let refused = there.run(["resume", "first"]);
    assert_ne!(refused.code, 0);
    let refused = there.run(["advance", "--session", "first"]).code(4);
    without_password(&refused);
    // A note needs no files, so both machines can write to the same log.
    there.run(["note", "--session", "first", "from afar"]).ok();
    assert_eq!((active(&here), active(&there)), ("first".into(), "second".into()));
    here.run(["pause"]).ok();
    there.run(["resume", "first"]).ok();
    assert_eq!(active(&there), "first");
    assert!(notes(&there).contains(&"tokens, not cookies".to_owned()));
    for sandbox in [&here, &there] {
        sandbox.run(["doctor", "--json"]).ok();
    }
    assert_ne!(here.run(["advance", "--session", "first"]).code, 0, "it is there now");
}

#[test]
fn the_project_has_one_id_whoever_comes_first() {
    let Some((here, _)) = team("a project's id") else { return };
    let children: Vec<_> = (0..4)
        .map(|number| {
            let id = format!("s{number}");
            let mut command = here.command(["start", "--parallel", "--id", &id]);
            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts")
        })
        .collect();
    for mut child in children {
        assert!(child.wait().expect("it ends").success());
    }
    assert_eq!(sessions(&here).len(), 4);
    let config = here.read(".leftoff/config.toml");
    assert_eq!(config.lines().filter(|line| line.starts_with("project = ")).count(), 1, "{config}");
}

#[test]
fn no_item_is_claimed_twice_by_agents_of_two_machines() {
    let Some((here, url)) = team("items on several machines") else { return };
    here.write(
        ".leftoff/workflows/tasks.toml",
        "name = \"tasks\"\nversion = \"1\"\ntitle = \"Tasks\"\n\n[[phase]]\nid = \"build\"\ntitle = \"Build\"\nitems = \"impl\"\n",
    );
    here.run(["start", "tasks", "--id", "first"]).ok();
    for number in 0..12 {
        here.run(["item", "add", "--id", &format!("i{number}"), "a task"]).ok();
    }
    let mut claims = Vec::new();
    for agent in 0..12 {
        let mut command = here.command(["item", "claim", "--json"]);
        command.env("LEFTOFF_AGENT_SESSION", format!("claude:a{agent}"));
        claims.push(command.stdout(Stdio::piped()).spawn().expect("the program starts"));
    }
    let mut taken: Vec<String> = Vec::new();
    for child in claims {
        let out = child.wait_with_output().expect("it ends");
        let value: Value = serde_json::from_slice(&out.stdout).expect("JSON");
        taken.push(value["item"]["id"].as_str().or(value["item_id"].as_str()).unwrap_or_default().to_owned());
    }
    let all = here.run(["item", "list", "--json"]).ok().json();
    let held = all["items"].as_array().expect("items").iter().filter(|item| item["held"] == true).count();
    taken.sort();
    taken.dedup();
    assert_eq!(taken.len(), 12, "{taken:?}");
    assert_eq!(held, 12, "{taken:?} {all}");
    let there = clone_of(&here, &url);
    assert_eq!(
        there.run(["item", "list", "--session", "first", "--json"]).ok().json()["items"],
        all["items"]
    );
}

#[test]
fn a_log_that_is_followed_shows_what_another_machine_does() {
    let Some((here, url)) = team("following a log") else { return };
    here.run(["start", "--id", "first"]).ok();
    let mut following = Running::start(here.command(["log", "-f", "--session", "first"]));
    following.until("started");
    here.run(["pause"]).ok();
    let there = clone_of(&here, &url);
    there.run(["resume", "first"]).ok();
    there.run(["note", "said on the other machine"]).ok();
    following.until("said on the other machine");
}

#[test]
fn what_a_hook_saw_waits_here_and_is_sent_by_the_next_command() {
    let Some((here, _)) = team("the queue of hooks") else { return };
    here.run(["start", "--id", "first"]).ok();
    let event = |name: &str| {
        serde_json::json!({
            "session_id": "a1", "hook_event_name": name, "cwd": here.project(), "tool_name": "Bash",
            "tool_use_id": format!("use-{name}"), "tool_input": {"command": "make test"}, "tool_response": {}
        })
        .to_string()
    };
    let dead = format!("postgres://nobody@127.0.0.1:{}/none", testkit::postgres::free_port());
    let mut command = here.command(["hook", "claude"]);
    command.env("LEFTOFF_STORE", &dead);
    testkit::with_input(command, &event("PostToolUse")).ok();
    let brief = |sandbox: &Sandbox| sandbox.run(["brief", "--json"]).ok().stdout;
    assert!(!brief(&here).contains("make test"), "it waits");
    here.run(["note", "the next command"]).ok();
    assert!(brief(&here).contains("make test"), "it was sent");
    here.run(["note", "and another"]).ok();
    let activity = here.run(["brief", "--json"]).ok().json();
    assert!(!activity.to_string().contains("\"count\":2"), "once");
}

#[test]
fn a_setting_that_is_no_server_is_told() {
    let sandbox = Sandbox::git(PROGRAM).without_gates().on("mysql://ada:s3cret@db/work");
    let ran = sandbox.run(["start"]).code(4);
    without_password(&ran);
    let sandbox = Sandbox::git(PROGRAM).without_gates();
    sandbox.write(".leftoff/config.toml", "store = \"postgres://ada:s3cret@db/work\"\n");
    let ran = sandbox.run(["start"]);
    assert_ne!(ran.code, 0);
    assert!(ran.stderr.contains("config.toml:1") && ran.stderr.contains("PGPASSFILE"), "{}", ran.stderr);
    without_password(&ran);
    sandbox.write(".leftoff/config.toml", "store = \"sqlite\"\n");
    sandbox.run(["start"]).ok();
}
