//! Tests of facts that only the brief contains, one at a time: git, pauses, earlier runs, items, blockers,
//! the end of a session.

use crate::agent::Agent;
use crate::{fresh, git, with_gate};
use serde_json::Value;
use testkit::Sandbox;

fn brief(sandbox: &Sandbox) -> String {
    sandbox.run(["brief", "--format", "markdown"]).ok().stdout
}

/// A workflow with a phase for tasks, and a last phase without a gate.
const TASKS: &str = r#"
name = "tasks"
version = "1"
title = "Tasks"

[[phase]]
id = "build"
title = "Build"
items = "task"
produces = ["task-{item}.md"]

[[phase]]
id = "ship"
title = "Ship"
"#;

fn with_tasks() -> Sandbox {
    let sandbox = fresh();
    sandbox.write(".leftoff/workflows/tasks.toml", TASKS);
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.run(["start", "tasks", "--id", "s"]).ok();
    sandbox.run(["item", "add", "First"]).ok();
    sandbox.run(["item", "add", "Second"]).ok();
    sandbox
}

#[test]
fn b3_items_that_an_earlier_phase_left_open_are_shown_and_come_before_the_end() {
    let sandbox = with_tasks();
    sandbox.run(["item", "done", "task-1"]).ok();
    sandbox.run(["advance", "--phase", "build"]).ok();
    let text = brief(&sandbox);
    assert!(text.contains("- Left open in Build: [ ] task-2 Second: ready"), "{text}");
    assert!(
        text.contains("in phase 1 (build), which comes first")
            && text.contains("`leftoff item claim task-2`"),
        "{text}"
    );
    let refused = sandbox.run(["advance", "--phase", "ship"]).code(4).stderr;
    assert!(refused.contains("an item of phase 'build' would stay open (task-2)"), "{refused}");
    let ended = sandbox.run_as_person(["advance", "--phase", "ship", "--json"]).ok().json();
    assert_eq!(ended["status"], "completed", "a person may");
}

#[test]
fn b3_a_lease_whose_holder_is_gone_says_so_and_can_be_claimed() {
    let sandbox = with_tasks();
    let mut agent = Agent::new(&sandbox, "agent-a");
    agent.hook(&sandbox, "cccc0000-3", "startup").ok();
    agent.run(&sandbox, &["item", "claim", "task-1"]).ok();
    sandbox.at("2026-11-14T10:05:00Z");
    let alive = brief(&sandbox);
    assert!(alive.contains("task-1 First: held by claude cccc0000 until 10:30 UTC"), "{alive}");
    drop(agent);
    // When another agent arrives, the record of the dead agent is removed. Its claims stay.
    let mut newcomer = Agent::new(&sandbox, "agent-b");
    newcomer.hook(&sandbox, "dddd0000-4", "startup").ok();
    let gone = brief(&sandbox);
    assert!(gone.contains("held by claude cccc0000, inactive since 10:00 UTC (claim it)"), "{gone}");
    newcomer.run(&sandbox, &["item", "claim", "task-1"]).ok();
}

#[test]
fn b8_an_item_stays_its_holders_while_hooks_see_the_agent_at_work() {
    let sandbox = with_tasks();
    let mut agent = Agent::new(&sandbox, "agent-a");
    agent.hook(&sandbox, "cccc0000-3", "startup").ok();
    agent.run(&sandbox, &["item", "claim", "task-1"]).ok();
    sandbox.at("2026-11-14T10:25:00Z");
    let used = serde_json::json!({ "hook_event_name": "PostToolUse", "tool_name": "Edit",
        "tool_use_id": "1", "tool_input": { "file_path": "a.rs" }, "tool_response": {} });
    let used = crate::agent::event(&sandbox, "cccc0000-3", &used);
    agent.run_with_input(&sandbox, &["hook", "claude"], &used).ok();
    // The dead agent's lease ended at 10:30, after the agent was last seen at 10:25.
    sandbox.at("2026-11-14T10:40:00Z");
    let next = sandbox.run(["next"]).ok().stdout;
    assert!(next.contains("leftoff item claim task-2"), "{next}");
    let told = brief(&sandbox);
    assert!(told.contains("task-1 First: held by claude cccc0000 until 10:55 UTC"), "{told}");
    let refused = sandbox.run(["item", "claim", "task-1"]).code(4).stderr;
    assert!(refused.contains("claude cccc0000 holds it until"), "{refused}");
    let own = agent.run(&sandbox, &["next"]).ok().stdout;
    assert!(own.contains("leftoff item done task-1"), "{own}");
    drop(agent);
    sandbox.run(["item", "claim", "task-1"]).ok();
}

#[test]
fn b8_an_agent_without_hooks_is_not_gone_when_the_process_of_one_command_is() {
    let sandbox = with_tasks();
    let mut wrapper = Agent::new(&sandbox, "wrapper");
    wrapper.export("codex:9c2e77b0-1");
    wrapper.run(&sandbox, &["resume", "s"]).ok();
    wrapper.run(&sandbox, &["item", "claim", "task-1"]).ok();
    drop(wrapper);
    let next = sandbox.run(["next"]).ok().stdout;
    assert!(next.contains("leftoff item claim task-2"), "{next}");
    sandbox.run(["item", "claim", "task-1"]).code(4);
}

#[test]
fn b8_an_agent_returns_to_its_own_item_first_although_its_lease_ended() {
    let sandbox = with_tasks();
    sandbox.run_as("codex:bbbb0000", ["item", "claim", "task-1"]).ok();
    sandbox.run_as("claude:aaaa0000", ["item", "claim", "task-2"]).ok();
    sandbox.at("2026-11-14T10:45:00Z");
    let next = sandbox.run_as("claude:aaaa0000", ["next"]).ok().stdout;
    assert!(next.contains("leftoff item claim task-2"), "{next}");
    let told = brief(&sandbox);
    assert!(told.contains("task-1 First: ready (codex bbbb0000 held it until 10:30 UTC)"), "{told}");
}

#[test]
fn b7_a_pause_keeps_the_item_that_it_interrupted() {
    let sandbox = with_tasks();
    sandbox.run(["item", "claim", "task-2"]).ok();
    sandbox.run(["pause", "--reason", "lunch"]).ok();
    let paused = brief(&sandbox);
    assert!(paused.contains("\"lunch\", in the middle of task-2 (\"Second\")"), "{paused}");
    let resumed = crate::unbroken(&sandbox.run(["resume"]).ok().stdout);
    assert!(resumed.contains(": lunch, in the middle of: task-2 (Second)"), "{resumed}");
    assert!(resumed.contains("leftoff item claim task-2"), "{resumed}");
    let told = brief(&sandbox);
    assert!(told.contains("\"lunch\", in the middle of task-2 (\"Second\")\n"), "{told}");
    assert!(told.contains("`leftoff item claim task-2`"), "{told}");
    sandbox.run(["item", "done", "task-2"]).ok();
    assert!(!brief(&sandbox).contains("in the middle of"), "{}", brief(&sandbox));
}

#[test]
fn b7_a_session_that_another_one_paused_names_its_interrupted_item() {
    let sandbox = with_tasks();
    sandbox.run(["item", "claim", "task-2"]).ok();
    sandbox.run(["start", "--id", "other"]).ok();
    let told = sandbox.run(["brief", "s", "--format", "markdown"]).ok().stdout;
    assert!(told.contains(", in the middle of task-2 (\"Second\")"), "{told}");
}

#[test]
fn b4_earlier_runs_are_one_line_each() {
    let sandbox = git();
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.run(["start", "--id", "s"]).ok();
    for phase in ["plan", "implement"] {
        sandbox.run(["advance", "--phase", phase]).ok();
    }
    sandbox.run(["advance", "--phase", "review", "--output", "verdict=approve"]).ok();
    sandbox.run(["run", "start", "plan-implement-review", "--session", "s"]).ok();
    sandbox.at("2026-11-16T10:00:00Z");
    sandbox.run(["resume"]).ok();
    let text = brief(&sandbox);
    let line = "- Run 1 of plan-implement-review: finished 14 Nov (3 done), verdict=approve\n";
    assert!(text.contains(line), "{text}");
}

#[test]
fn b7_resume_repeats_why_it_was_paused_and_the_brief_keeps_it_until_the_phase_moves() {
    let sandbox = git();
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.run(["start", "--id", "s"]).ok();
    sandbox.run(["pause", "--reason", "lunch", "--context", "half of the plan"]).ok();
    sandbox.at("2026-11-14T11:00:00Z");
    let resumed = crate::unbroken(&sandbox.run(["resume"]).ok().stdout);
    assert!(resumed.contains("paused 10:00 UTC: lunch, in the middle of: half of the plan"), "{resumed}");
    let told = "## Paused 1 hour ago, resumed just now\n\"lunch\", in the middle of \"half of the plan\"\n";
    assert!(brief(&sandbox).contains(told), "{}", brief(&sandbox));
    // A pause without a reason must not hide the reason of the pause before it.
    sandbox.run(["pause", "--reason", "tea"]).ok();
    assert!(
        brief(&sandbox).contains("\"tea\", in the middle of \"half of the plan\""),
        "{}",
        brief(&sandbox)
    );
    sandbox.run(["resume"]).ok();
    sandbox.run(["advance", "--phase", "plan"]).ok();
    assert!(!brief(&sandbox).contains("half of the plan"), "{}", brief(&sandbox));
}

#[test]
fn p5_after_a_failure_resume_tells_the_error_and_not_an_earlier_pause() {
    let sandbox = git();
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.run(["start", "--id", "s"]).ok();
    sandbox.run(["pause", "--reason", "lunch", "--context", "half of the plan"]).ok();
    sandbox.run(["resume"]).ok();
    sandbox.at("2026-11-14T11:00:00Z");
    sandbox.run(["fail", "--error", "the server crashed"]).ok();
    let resumed = crate::unbroken(&sandbox.run(["resume"]).ok().stdout);
    assert!(resumed.contains("11:00 UTC: failed: the server crashed"), "{resumed}");
    assert!(!resumed.contains("lunch"), "{resumed}");
    assert!(brief(&sandbox).contains("\"failed: the server crashed\""), "{}", brief(&sandbox));
}

#[test]
fn b8_a_blocker_is_named_before_the_next_step_and_held_items_are_named() {
    let sandbox = with_tasks();
    sandbox.run(["note", "No certificate", "--kind", "blocker"]).ok();
    let next = sandbox.run(["next"]).ok().stdout;
    assert!(next.starts_with("Note 1 blocks: settle it (leftoff note resolve 1)"), "{next}");
    sandbox.run_as("codex:bbbb0000", ["item", "claim", "task-1"]).ok();
    sandbox.run(["item", "block", "task-2", "--reason", "no \"key\""]).ok();
    let next = sandbox.run(["next", "--json"]).ok().json();
    assert_eq!(next["command"], Value::Null, "nothing is ready, and nothing is offered");
    let summary = next["summary"].as_str().unwrap();
    assert!(summary.contains("task-1: held by codex bbbb0000 until 10:30 UTC"), "{summary}");
    assert!(summary.contains("task-2: blocked: \"no ”key”\""), "{summary}");
    assert!(summary.ends_with("When that is settled: leftoff item unblock task-2"), "{summary}");
}

#[test]
fn b8_an_item_that_is_done_without_its_file_is_warned_of_at_once() {
    let sandbox = with_tasks();
    let warned = sandbox.run(["item", "done", "task-1"]).ok().stderr;
    assert!(warned.contains("its file is missing: .leftoff/sessions/s/task-1.md"), "{warned}");
    sandbox.write(".leftoff/sessions/s/task-2.md", "x\n");
    let fine = sandbox.run(["item", "done", "task-2"]).ok().stderr;
    assert!(!fine.contains("not there"), "{fine}");
}

#[test]
fn b8_texts_that_are_only_placeholders_are_refused() {
    let sandbox = with_tasks();
    for line in [
        "leftoff item add '<title>'",
        "leftoff item add TITLE",
        "leftoff note '<text>'",
        "leftoff pause --reason REASON",
        "leftoff item block task-1 --reason '<reason>'",
        "leftoff item split task-1 --into '<title>'",
    ] {
        let refused = sandbox.run_printed(line).code(2).stderr;
        assert!(refused.contains("is a placeholder"), "{line}: {refused}");
    }
}

#[test]
fn b9_git_that_takes_too_long_is_left_out() {
    let sandbox = with_gate();
    sandbox.run(["start", "ship"]).ok();
    let folder = sandbox.folder().join("slow");
    std::fs::create_dir(&folder).unwrap();
    let git = folder.join("git");
    std::fs::write(&git, "#!/bin/sh\nexec sleep 60\n").unwrap();
    std::fs::set_permissions(&git, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = sandbox.command(["brief", "--json"]);
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let ran = command.env("PATH", path).env("LEFTOFF_TEST_GIT_MS", "20").output().unwrap();
    let told: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(told["git"], Value::Null, "{told}");
    assert_eq!(told["session"]["status"], "active");
}

#[test]
fn b8_a_blocker_is_named_also_while_the_session_is_paused_and_when_it_is_finished() {
    let sandbox = git();
    sandbox.run(["start", "--id", "s"]).ok();
    sandbox.run(["note", "No certificate", "--kind", "blocker"]).ok();
    sandbox.run(["pause", "--reason", "lunch"]).ok();
    let next = sandbox.run(["next", "--session", "s"]).ok().stdout;
    assert!(next.starts_with("Note 1 blocks: settle it (leftoff note resolve 1)"), "{next}");
    sandbox.run(["resume"]).ok();
    for phase in ["plan", "implement", "review"] {
        sandbox.run(["advance", "--phase", phase]).ok();
    }
    let next = sandbox.run(["next", "--session", "s"]).ok().stdout;
    assert!(next.contains("Finished; note 1 is still an open blocker."), "{next}");
}

#[test]
fn b8_an_abandoned_session_suggests_nothing_and_misses_no_file_that_it_archived() {
    let sandbox = git();
    sandbox.run(["start", "--id", "s"]).ok();
    sandbox.write(".leftoff/sessions/s/PLAN.md", "# Plan\n");
    sandbox.run(["advance", "--phase", "plan", "--artifact", ".leftoff/sessions/s/PLAN.md"]).ok();
    sandbox.run(["item", "add", "Write it", "--id", "a1"]).ok();
    sandbox.run(["abandon", "--reason", "no gain"]).ok();
    let text = brief(&sandbox);
    assert!(text.contains("a1 Write it: left open") && !text.contains("ready"), "{text}");
    assert!(!text.contains("is missing") && !text.contains("`leftoff "), "{text}");
}

#[test]
fn b10_an_agent_that_was_seen_days_ago_is_dated_once() {
    let sandbox = fresh();
    sandbox.at("2026-11-14T10:00:00Z");
    let mut other = Agent::new(&sandbox, "codex");
    other.export("codex:9c2e77b0-1");
    other.run(&sandbox, &["start", "--id", "s"]).ok();
    sandbox.at("2026-11-17T10:00:00Z");
    let told = brief(&sandbox);
    assert!(told.contains(" on this session, seen 14 Nov\n"), "{told}");
}

#[test]
fn b3_an_agent_without_hooks_was_seen_when_it_last_changed_the_session() {
    let sandbox = fresh();
    sandbox.at("2026-11-14T10:00:00Z");
    let mut other = Agent::new(&sandbox, "codex");
    other.export("codex:9c2e77b0-1");
    other.run(&sandbox, &["start", "--id", "s"]).ok();
    sandbox.at("2026-11-14T10:50:00Z");
    other.run(&sandbox, &["note", "half way"]).ok();
    sandbox.at("2026-11-14T11:00:00Z");
    let told = brief(&sandbox);
    assert!(told.contains("codex 9c2e77b0 on this session, seen 10 minutes ago\n"), "{told}");
}
