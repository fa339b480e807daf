//! Tests of many calls at once, of several servers with one store, and of a killed server. No change is lost
//! or made twice.

use crate::client::{BOTH, Client, Era};
use crate::project;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use testkit::Sandbox;

fn notes(sandbox: &Sandbox) -> Vec<String> {
    let log = sandbox.run(["log", "--json"]).ok().json();
    let events = log["events"].as_array().expect("events");
    let texts = events.iter().filter(|event| event["type"] == "note_added");
    texts.map(|event| event["text"].as_str().expect("text").to_owned()).collect()
}

#[test]
fn many_calls_at_once_are_all_done_once() {
    for era in BOTH {
        let sandbox = project();
        let mut client = Client::start(&sandbox, era);
        client.done("start", json!({}));
        let ids: Vec<u64> = (0..100)
            .map(|number| {
                let tool = if number % 4 == 0 { "status" } else { "note" };
                let arguments =
                    if tool == "note" { json!({"text": format!("n{number}")}) } else { json!({}) };
                client.ask("tools/call", json!({"name": tool, "arguments": arguments}))
            })
            .collect();
        for id in ids {
            assert_eq!(client.answer_to(&json!(id))["result"]["isError"], false);
        }
        let kept = notes(&sandbox);
        assert_eq!(kept.len(), 75);
        assert_eq!(kept.iter().collect::<BTreeSet<_>>().len(), 75);
    }
}

#[test]
fn several_servers_share_one_store() {
    let sandbox = project();
    sandbox.run(["start"]).ok();
    let mut clients: Vec<Client> = (0..4).map(|number| Client::start(&sandbox, BOTH[number % 2])).collect();
    let mut asked: Vec<Vec<u64>> = vec![Vec::new(); clients.len()];
    for round in 0..20 {
        for (server, client) in clients.iter_mut().enumerate() {
            let arguments = json!({"text": format!("{server}-{round}")});
            asked[server].push(client.ask("tools/call", json!({"name": "note", "arguments": arguments})));
        }
    }
    for (client, ids) in clients.iter_mut().zip(asked) {
        for id in ids {
            assert_eq!(client.answer_to(&json!(id))["result"]["isError"], false);
        }
    }
    assert_eq!(notes(&sandbox).iter().collect::<BTreeSet<_>>().len(), 80);
    drop(clients);
    sandbox.run(["doctor"]).ok();
}

#[test]
fn a_server_that_is_killed_loses_nothing_that_it_acknowledged() {
    let sandbox = project();
    sandbox.run(["start"]).ok();
    let mut acknowledged = BTreeSet::new();
    for round in 0..6 {
        let mut client = Client::start(&sandbox, BOTH[round % 2]);
        let ids: Vec<(u64, String)> = (0..30)
            .map(|number| {
                let text = format!("{round}-{number}");
                let arguments = json!({"text": text, "key": text});
                (client.ask("tools/call", json!({"name": "note", "arguments": arguments})), text)
            })
            .collect();
        // Some of the calls have been answered, some are running, and some have not started yet.
        for (id, text) in ids.iter().take(5 * round) {
            assert_eq!(client.answer_to(&json!(id))["result"]["isError"], false);
            acknowledged.insert(text.clone());
        }
        client.child.kill().expect("killed");
        client.child.wait().expect("ended");
    }
    let kept = notes(&sandbox);
    let different: BTreeSet<String> = kept.iter().cloned().collect();
    assert_eq!(kept.len(), different.len(), "nothing twice");
    assert!(acknowledged.is_subset(&different), "lost: {:?}", acknowledged.difference(&different));
    // The calls are repeated with the same keys. Changes that were stored stay, and lost ones are made now.
    let mut client = Client::start(&sandbox, Era::Stateless);
    for round in 0..6 {
        for number in 0..30 {
            let text = format!("{round}-{number}");
            client.done("note", json!({"text": text, "key": text}));
        }
    }
    let kept = notes(&sandbox);
    assert_eq!((kept.len(), kept.iter().collect::<BTreeSet<_>>().len()), (180, 180));
    sandbox.run(["doctor"]).ok();
}

#[test]
fn a_check_that_takes_long_holds_up_nobody_and_says_that_it_runs() {
    let sandbox = project();
    sandbox.write(
        ".leftoff/workflows/slow.toml",
        "name = \"slow\"\n[[phase]]\nid = \"wait\"\n[[phase.check]]\nid = \"go\"\nkind = \"command\"\nrun = \"cat gate\"\ntimeout = \"60s\"\n",
    );
    let made = std::process::Command::new("mkfifo").arg(sandbox.path("gate")).status().expect("mkfifo runs");
    assert!(made.success());
    sandbox.run(["start", "slow"]).ok();
    trust_slow(&sandbox);
    let mut client = Client::start(&sandbox, Era::Handshake);
    let params = json!({"name": "advance", "arguments": {"phase": "wait"}, "_meta": {"progressToken": "p"}});
    let slow = client.ask("tools/call", params);
    let told = client.notification("notifications/progress");
    assert_eq!(told["params"]["progressToken"], "p", "{told}");
    assert_eq!(client.done("status", json!({}))["status"], "active");
    client.done("note", json!({"text": "meanwhile"}));
    std::fs::write(sandbox.path("gate"), "open").expect("the check reads it");
    let answer: Value = client.answer_to(&json!(slow));
    assert_eq!(answer["result"]["structuredContent"]["outcome"], "done", "{answer}");
}

/// Makes a person trust the definition's command, on a terminal that `script` creates.
fn trust_slow(sandbox: &Sandbox) {
    let typed = format!("{} trust slow --yes", env!("CARGO_BIN_EXE_leftoff"));
    let mut command = std::process::Command::new("script");
    let around = sandbox.command(["trust"]);
    command.args(["-qec", &typed, "/dev/null"]).current_dir(sandbox.project()).env_clear();
    command.envs(around.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.stdin(std::process::Stdio::null()).output().expect("script from util-linux");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
