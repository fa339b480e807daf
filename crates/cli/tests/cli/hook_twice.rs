//! Tests of an agent in which leftoff is installed twice, by a plugin and by its settings. Every event is
//! then sent twice, and must have one effect.

use crate::agent::event;
use crate::hook_events::{ID, after};
use crate::with_gate;
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Child, Stdio};
use testkit::Sandbox;

const RULES: &str = "\
requirements:
  planned:
    enabled: true
    scope: session
    trigger_tools: [Edit]
";

/// Sends one event to several processes at once, and returns their answers.
pub fn delivered(sandbox: &Sandbox, agent: &str, input: &str, times: usize) -> Vec<String> {
    let mut started: Vec<Child> = (0..times)
        .map(|_| {
            let mut command = sandbox.command(["hook", agent]);
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts")
        })
        .collect();
    for child in &mut started {
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(input.as_bytes()).expect("it listens");
    }
    let answer = |child: Child| String::from_utf8(child.wait_with_output().expect("it ends").stdout);
    started.into_iter().map(|child| answer(child).expect("text")).collect()
}

/// The records of a conversation in which each event is delivered `times` times, and the number of briefs
/// that were given.
fn left_by(times: usize) -> (Value, Value, Value, usize) {
    let sandbox = with_gate();
    sandbox.write(".claude/requirements.yaml", RULES);
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.run(["start", "ship", "--id", "s"]).ok();
    let edit = json!({ "file_path": "a.rs" });
    let events = [
        json!({ "hook_event_name": "SessionStart", "source": "startup" }),
        json!({ "hook_event_name": "UserPromptSubmit", "prompt": "go" }),
        json!({ "hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_input": edit, "tool_use_id": "1" }),
        after("Bash", &json!({ "command": "make" }), "2"),
        json!({ "hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_use_id": "3",
            "tool_input": { "command": "make" }, "error": "2" }),
        json!({ "hook_event_name": "Stop", "stop_hook_active": true, "last_assistant_message": "done" }),
        json!({ "hook_event_name": "SubagentStop", "stop_hook_active": false, "agent_id": "a", "agent_type": "x" }),
        json!({ "hook_event_name": "PreCompact", "trigger": "auto" }),
        json!({ "hook_event_name": "SessionStart", "source": "compact" }),
    ];
    let mut briefs = 0;
    for (fields, second) in events.iter().zip(10..) {
        sandbox.at(&format!("2026-11-14T10:00:{second}Z"));
        let answers = delivered(&sandbox, "claude", &event(&sandbox, ID, fields), times);
        briefs += answers.iter().filter(|answer| answer.contains("leftoff advance")).count();
    }
    let agents = sandbox.run(["list", "--agents", "--json"]).ok().json()["agents"].as_array().unwrap().len();
    let activity = sandbox.run(["brief", "--format", "json"]).ok().json()["activity"].clone();
    sandbox.at("2026-11-14T10:00:30Z");
    let end = json!({ "hook_event_name": "SessionEnd", "reason": "other" });
    delivered(&sandbox, "claude", &event(&sandbox, ID, &end), times);
    let metrics = sandbox.read(&format!(".git/requirements/sessions/{}.json", &ID[..8]));
    (serde_json::from_str(&metrics).unwrap(), activity, json!(agents), briefs)
}

#[test]
fn every_event_that_is_delivered_twice_leaves_what_it_leaves_once() {
    let (mut metrics, activity, agents, briefs) = left_by(1);
    assert_eq!((&metrics["compaction_count"], &metrics["tools"]["Bash"]["count"]), (&json!(1), &json!(1)));
    assert_eq!(briefs, 2, "at the beginning and after the compaction");
    // Each run has another folder.
    let anywhere = |metrics: &mut Value| {
        metrics["project_dir"] = Value::Null;
        metrics["leftoff"]["compacted"]["event"] = Value::Null;
    };
    anywhere(&mut metrics);
    for times in [2, 4] {
        let (mut other, same, as_many, given) = left_by(times);
        anywhere(&mut other);
        assert_eq!(other, metrics);
        assert_eq!((same, as_many), (activity.clone(), agents.clone()));
        assert_eq!(given, briefs * times, "a brief too many is better than none");
    }
}

#[test]
fn tools_that_have_no_name_of_their_own_are_known_again_by_their_moment() {
    for (agent, name, tool) in [
        (
            "gemini",
            "AfterTool",
            json!({ "tool_name": "run_shell_command", "tool_input": { "command": "make" } }),
        ),
        ("copilot", "postToolUse", json!({ "toolName": "bash", "toolArgs": { "command": "make" } })),
    ] {
        let sandbox = with_gate();
        sandbox.run(["start", "ship", "--id", "s"]).ok();
        let send = |moment: u64| {
            let mut fields = tool.clone();
            fields["hook_event_name"] = json!(name);
            fields["timestamp"] = json!(1_794_650_400_000_u64 + moment);
            fields["sessionId"] = json!("a-1");
            let mut event: Value = serde_json::from_str(&event(&sandbox, "a-1", &fields)).unwrap();
            if agent == "copilot" {
                event.as_object_mut().unwrap().remove("session_id");
            }
            sandbox.run_with_input(&["hook", agent, name], &event.to_string()).ok();
        };
        for moment in [1, 1, 2] {
            send(moment);
        }
        let brief = sandbox.run(["brief", "--format", "json"]).ok().json();
        assert_eq!(brief["activity"][0]["count"], 2, "{agent}: {}", brief["activity"]);
    }
}
