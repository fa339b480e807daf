//! Tests of items with the whole program: a plan of work, several agents who share it, and a gate that needs
//! all of it.

use crate::git;
use std::process::{Child, Stdio};
use testkit::{Ran, Sandbox};

const TASKS: &str = r#"
name = "tasks"
version = "1"
title = "Tasks"

[[phase]]
id = "plan"
title = "Plan"

[[phase]]
id = "build"
title = "Build"
items = "impl"

  [[phase.check]]
  id = "all-done"
  kind = "items"

[fields]
voice = { type = "integer" }
"#;

fn with_tasks() -> Sandbox {
    let sandbox = git();
    sandbox.write(".leftoff/workflows/tasks.toml", TASKS);
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.run(["start", "tasks", "--id", "s1"]).ok();
    sandbox
}

/// A session in the phase with items. The second of its two items depends on the first.
fn in_build() -> Sandbox {
    let sandbox = with_tasks();
    sandbox.run(["advance", "--phase", "plan"]).ok();
    sandbox.run(["item", "add", "Rotate refresh tokens"]).ok();
    sandbox.run(["item", "add", "Cookie flags", "--needs", "impl-1"]).ok();
    sandbox
}

#[test]
fn an_item_goes_to_the_phase_whose_items_are_of_its_kind() {
    let sandbox = with_tasks();
    let added = sandbox.run(["item", "add", "Rotate refresh tokens", "--json"]).ok().json();
    let item = &added["item"];
    assert_eq!((&item["id"], &item["phase"]), (&"impl-1".into(), &"build".into()));
    assert_eq!(added["next"]["command"], "leftoff advance --phase plan", "its time has not come");
    let other = sandbox.run(["item", "add", "Ask", "--kind", "question", "--json"]).ok().json();
    assert_eq!((&other["item"]["id"], &other["item"]["phase"]), (&"question-2".into(), &"plan".into()));
    assert_eq!(other["next"]["command"], "leftoff advance --phase plan", "the phase keeps its purpose");
    sandbox.run(["item", "add", "x", "--phase", "bild"]).code(3);
    sandbox.run(["item", "add", "  "]).code(2);
    sandbox.run(["item", "add", "x", "--id", "a/b"]).code(2);
}

#[test]
fn items_are_done_one_after_the_other_and_then_the_gate_passes() {
    let sandbox = in_build();
    let refused = sandbox.run(["item", "done", "impl-2", "--json"]).code(4).error();
    assert_eq!(refused["kind"], "item_waits");
    sandbox.run_printed(refused["hint"].as_str().unwrap().split_once(": ").unwrap().1).ok();
    sandbox.run(["item", "done", "impl-1"]).ok();
    let gate = sandbox.run(["gate", "--json"]).code(5).json();
    assert_eq!(gate["checks"][0]["found"], "1 of 2 are done; unfinished: impl-2");
    sandbox.run(["advance", "--phase", "build"]).code(5);
    let next = sandbox.run(["next", "--json"]).ok().json();
    assert_eq!(next["command"], "leftoff item claim impl-2", "what the gate waits for is the next step");
    let again = sandbox.run(["item", "done", "impl-1", "--json"]).ok().json();
    assert_eq!(again["already"], true);
    sandbox.run(["item", "done", "impl-2"]).ok();
    let next = sandbox.run(["next", "--json"]).ok().json();
    assert_eq!(next["command"], "leftoff advance --phase build");
    sandbox.run(["advance", "--phase", "build"]).ok();
    assert_eq!(sandbox.run(["doctor"]).ok().code, 0);
}

#[test]
fn a_claim_is_one_agents_until_it_runs_out() {
    let sandbox = in_build();
    let claimed = sandbox.run_as("claude:one", ["item", "claim", "--for", "10m", "--json"]).ok().json();
    assert_eq!(claimed["item"]["lease"]["until"], "2026-11-14T10:10:00Z");
    assert_eq!(claimed["next"]["command"], "leftoff item done impl-1");
    let again = sandbox.run_as("claude:one", ["item", "claim", "--for", "10m", "--json"]).ok().json();
    assert_eq!(again["already"], true);
    let refused = sandbox.run_as("codex:two", ["item", "claim", "impl-1", "--json"]).code(4).error();
    assert_eq!(
        refused["message"],
        "cannot claim item 'impl-1': claude one holds it until 14 Nov 10:10:00 UTC"
    );
    for words in [["item", "start", "impl-1"], ["item", "done", "impl-1"], ["item", "release", "impl-1"]] {
        sandbox.run_as("codex:two", words).code(4);
    }
    sandbox.run_as("codex:two", ["item", "claim"]).code(3);
    let next = sandbox.run_as("codex:two", ["next"]).ok().stdout;
    assert!(next.starts_with("No item is ready (0 of 2 items done)"), "{next}");
    sandbox.at("2026-11-14T10:10:00Z");
    let taken = sandbox.run_as("codex:two", ["item", "claim", "--json"]).ok().json();
    assert_eq!(taken["item"]["id"], "impl-1");
    sandbox.run_as("claude:one", ["item", "done", "impl-1"]).code(4);
    sandbox.run_as_person(["item", "release", "impl-1"]).ok();
    sandbox.run_as("claude:one", ["item", "done", "impl-1"]).ok();
    sandbox.run_as("claude:one", ["item", "claim", "impl-1"]).code(4);
}

#[test]
fn what_its_holder_does_keeps_a_lease_alive() {
    let sandbox = in_build();
    sandbox.run_as("claude:one", ["item", "claim", "--for", "10m"]).ok();
    let until = || sandbox.run(["item", "list", "--json"]).ok().json()["items"][0]["lease"]["until"].clone();
    sandbox.at("2026-11-14T10:05:00Z");
    sandbox.run_as("claude:one", ["note", "half of it has not gone"]).ok();
    assert_eq!(until(), "2026-11-14T10:10:00Z");
    sandbox.at("2026-11-14T10:06:00Z");
    sandbox.run_as("codex:two", ["note", "somebody else's"]).ok();
    assert_eq!(until(), "2026-11-14T10:10:00Z");
    sandbox.run_as("claude:one", ["note", "still at it"]).ok();
    assert_eq!(until(), "2026-11-14T10:16:00Z");
    sandbox.at("2026-11-14T10:17:00Z");
    sandbox.run_as("claude:one", ["note", "too late"]).ok();
    assert_eq!(until(), "2026-11-14T10:16:00Z", "what has run out stays so");
    assert!(sandbox.run(["log"]).ok().stdout.contains("item impl-1 held for another 10 min"));
}

#[test]
fn a_cycle_is_refused_and_named() {
    let sandbox = in_build();
    let refused = sandbox.run(["item", "set", "impl-1", "--needs", "impl-2", "--json"]).code(4).error();
    assert_eq!(refused["kind"], "item_cycle");
    assert!(refused["message"].as_str().unwrap().ends_with("impl-2 -> impl-1 -> impl-2"));
}

#[test]
fn the_list_is_a_tree_and_the_brief_tells_what_is_whose() {
    let sandbox = in_build();
    sandbox.run(["item", "split", "impl-1", "--into", "Rotate", "Expire"]).ok();
    sandbox.run(["item", "add", "Docs"]).ok();
    sandbox.run(["item", "block", "impl-3", "--reason", "no `certificate`"]).ok();
    sandbox.run_as("claude:a4326893", ["item", "claim"]).ok();
    sandbox.run(["item", "done", "impl-1.2"]).ok();
    let list = sandbox.run(["item", "list", "--all"]).ok().stdout;
    assert_eq!(
        list,
        "build: 1 of 5 done\n  \
         [ ] impl-1 Rotate refresh tokens: 1 of 2 parts done\n    \
         [~] impl-1.1 Rotate: held by claude a4326893 until 10:30 UTC\n    \
         [x] impl-1.2 Expire: done\n  \
         [!] impl-2 Cookie flags: waits for impl-1\n  \
         [!] impl-3 Docs: blocked: \"no 'certificate'\"\n"
    );
    let brief = sandbox.run_as("claude:a4326893", ["brief", "--format", "markdown"]).ok().stdout;
    let items = brief.split_once("## Items\n").unwrap().1;
    assert!(
        items.starts_with(
            "- [~] impl-1.1 Rotate: yours until 10:30 UTC\n\
             - [!] impl-3 Docs: blocked: \"no 'certificate'\"\n\
             - [ ] impl-1 Rotate refresh tokens: 1 of 2 parts done\n\
             - [!] impl-2 Cookie flags: waits for impl-1\n\
             - Done: impl-1.2 Expire\n"
        ),
        "{items}"
    );
    let text = sandbox.run(["brief"]).ok().stdout;
    assert!(
        text.contains("Items:\n- [~] impl-1.1 Rotate: held by claude a4326893 until 10:30 UTC\n"),
        "{text}"
    );
    let done = sandbox.run(["item", "list", "--status", "completed", "--json"]).ok().json();
    assert_eq!(done["items"][0]["id"], "impl-1.2");
    let some = sandbox.run(["item", "list", "--all", "--limit", "2", "--json"]).ok().json();
    assert_eq!((some["items"].as_array().unwrap().len(), &some["more"]), (2, &true.into()));
    sandbox.run(["item", "list", "--status", "compleet"]).code(2);
}

#[test]
fn fields_and_counters_are_set_and_checked() {
    let sandbox = in_build();
    let set = ["item", "set", "impl-1", "voice=4", "--count", "words=120", "--title", "Rotate", "--json"];
    let item = sandbox.run(set).ok().json()["item"].clone();
    assert_eq!((&item["fields"]["voice"], &item["counters"]["words"]), (&4.into(), &120.into()));
    sandbox.run(["item", "set", "impl-1", "--count", "words=-20"]).ok();
    let item = sandbox.run(["set", "--item", "impl-1", "voice=5", "--json"]).ok().json()["item"].clone();
    assert_eq!((&item["fields"]["voice"], &item["counters"]["words"]), (&5.into(), &100.into()));
    sandbox.run(["item", "set", "impl-1", "voice=loud"]).code(2);
    sandbox.run(["item", "set", "impl-1", "--count", "words=many"]).code(2);
    sandbox.run(["item", "set", "impl-1"]).code(2);
    sandbox.run(["item", "set", "impl-9", "a=1"]).code(3);
}

#[test]
fn undoing_brings_items_back_and_a_bundle_takes_them_along() {
    let sandbox = in_build();
    sandbox.at("2026-11-14T10:20:00Z");
    sandbox.run(["item", "done", "impl-1"]).ok();
    sandbox.run(["undo"]).ok();
    let items = |sandbox: &Sandbox| sandbox.run(["item", "list", "--all", "--json"]).ok().json();
    assert_eq!(items(&sandbox)["items"][0]["status"], "pending");
    assert_eq!(items(&sandbox)["items"][1]["waits_for"], serde_json::json!(["impl-1"]));
    sandbox.run(["item", "done", "impl-1"]).ok();
    sandbox.run(["bundle", "create", "s1.bundle"]).ok();
    let other = git();
    other.at("2026-11-14T11:00:00Z");
    let bundle = sandbox.path("s1.bundle");
    other.run(["bundle", "take", bundle.to_str().unwrap()]).ok();
    let (here, there) = (items(&sandbox), other.run(["item", "list", "--all", "--json", "--session", "s1"]));
    assert_eq!(there.ok().json()["items"], here["items"]);
    other.run(["doctor"]).ok();
}

#[test]
fn a_secret_in_an_item_is_not_kept_and_text_can_be_purged() {
    let sandbox = in_build();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let said = sandbox.run(["item", "add", &format!("Use {token}")]).ok();
    assert!(said.stderr.contains("a secret in the item's title was redacted"), "{}", said.stderr);
    sandbox.run(["purge", "Cookie flags", "--yes"]).ok();
    let titles = sandbox.run(["item", "list"]).ok().stdout;
    assert!(!titles.contains("ghp_") && !titles.contains("Cookie"), "{titles}");
    sandbox.run(["doctor"]).ok();
}

/// Eight processes claim the same item at the same time, fifty times.
#[test]
fn of_eight_claimants_one_wins_each_of_fifty_rounds() {
    const ROUNDS: usize = 50;
    const CLAIMANTS: usize = 8;
    let sandbox = with_tasks();
    for round in 0..ROUNDS {
        sandbox.run(["item", "add", "Fought over", "--id", &format!("r-{round}")]).ok();
        let claimants: Vec<Child> =
            (0..CLAIMANTS).map(|number| claimant(&sandbox, number, &format!("r-{round}"))).collect();
        let ran: Vec<Ran> =
            claimants.into_iter().map(|child| child.wait_with_output().unwrap().into()).collect();
        let winners: Vec<usize> = (0..CLAIMANTS).filter(|number| ran[*number].code == 0).collect();
        assert_eq!(winners.len(), 1, "round {round}: {ran:?}");
        let told = format!("agent n{} holds it until 14 Nov 10:30:00 UTC", winners[0]);
        let losers = ran.iter().filter(|ran| ran.code != 0);
        for loser in losers {
            assert!(loser.code == 4 && loser.stderr.contains(&told), "round {round}: {loser:?}");
        }
    }
    sandbox.run(["doctor"]).ok();
}

fn claimant(sandbox: &Sandbox, number: usize, item: &str) -> Child {
    sandbox
        .command(["item", "claim", item])
        .env("LEFTOFF_AGENT_SESSION", format!("agent:n{number}"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn a_phase_without_items_has_something_else_to_do() {
    let sandbox = crate::fresh();
    sandbox.run(["start", "essay", "--id", "s"]).ok();
    // No phase is named, so the item is added to the phase with items, which is not the current phase.
    sandbox.run(["item", "add", "Harbours"]).ok();
    let refused = sandbox.run(["item", "claim", "--json"]).code(3).error();
    assert_eq!(refused["kind"], "nothing_ready");
    assert_eq!(
        refused["message"],
        "phase 'thesis_development' has no items; phase 'argument_development' has"
    );
    let hint = refused["hint"].as_str().unwrap();
    assert!(hint.contains("leftoff advance --phase thesis_development"), "{hint}");
    sandbox.run(["item", "add", "A title", "--phase", "thesis_development"]).ok();
    sandbox.run(["item", "claim"]).ok();
}
