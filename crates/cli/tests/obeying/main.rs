//! Tests that running the printed commands never harms a session. Every command is run unchanged, and then
//! with values. This is done in every built-in workflow and every layout, from random states, with external
//! edits, crashes and other agents.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test that cannot go on should say where, and how often each walk ended how"
)]

#[allow(dead_code, reason = "a walker needs only its hooks")]
#[path = "../cli/agent.rs"]
mod agent;
mod doors;
mod ground;
mod harm;
mod walk;

use doors::{CommandLine, Door, Server};
use ground::{Ground, KINDS, Kind};

/// The number of walks of each kind. Other walks, or more of them: LEFTOFF_FIRST_WALK=100 LEFTOFF_WALKS=20.
fn walks() -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let first = number("LEFTOFF_FIRST_WALK").unwrap_or(0);
    first..first + number("LEFTOFF_WALKS").unwrap_or(1)
}

fn walk_all(kinds: impl Fn(&Kind) -> bool, door: impl Fn(&Ground) -> Box<dyn Door>, seed: u64) {
    let mut ended = std::collections::BTreeMap::new();
    for (kind, number) in KINDS.iter().zip(1u64..).filter(|(kind, _)| kinds(kind)) {
        for walk in walks() {
            let ground = Ground::new(kind);
            let end = walk::obey(&ground, &door, seed + number * 1_000 + walk);
            *ended.entry(format!("{end:?}")).or_insert(0) += 1;
        }
    }
    println!("{ended:?}");
}

#[test]
fn native_sessions_are_safe_to_obey() {
    walk_all(|kind| kind.layout.is_none(), |_| Box::new(CommandLine), 1);
}

#[test]
fn sessions_of_other_tools_are_safe_to_obey() {
    walk_all(|kind| kind.layout.is_some(), |_| Box::new(CommandLine), 2);
}

#[test]
fn native_sessions_are_safe_to_obey_over_mcp() {
    walk_all(|kind| kind.layout.is_none(), |ground| Box::new(Server::start(&ground.sandbox)), 3);
}

#[test]
fn sessions_of_other_tools_are_safe_to_obey_over_mcp() {
    walk_all(|kind| kind.layout.is_some(), |ground| Box::new(Server::start(&ground.sandbox)), 4);
}

/// A new built-in workflow must be included in the walks.
#[test]
fn every_built_in_workflow_is_walked() {
    let sandbox = testkit::Sandbox::git(env!("CARGO_BIN_EXE_leftoff"));
    let listed = sandbox.run(["workflow", "list", "--json"]).ok().json();
    let mut known: Vec<&str> = listed["workflows"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|workflow| workflow["name"].as_str())
        .collect();
    let natives = KINDS.iter().filter(|kind| kind.layout.is_none() && kind.definition.is_none());
    let mut walked: Vec<&str> = natives.map(|kind| kind.workflow).collect();
    known.sort_unstable();
    walked.sort_unstable();
    assert_eq!(walked, known);
}
