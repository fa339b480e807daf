//! Tests of agents that have their own protocols. The same events must lead to the same answers.

use crate::agent::event;
use crate::hook_events::send;
use crate::{SHIP, git, try_build};
use serde_json::{Value, json};
use testkit::Sandbox;

/// A session with a failed gate. Its workflow keeps agents from stopping.
fn holding() -> Sandbox {
    let sandbox = git();
    let text = SHIP.replacen("version = \"1\"\n", "version = \"1\"\nhold_at_stop = true\n", 1);
    sandbox.write(".leftoff/workflows/ship.toml", &text);
    sandbox.run(["start", "ship", "--id", "login"]).ok();
    sandbox.run(["advance"]).ok();
    try_build(&sandbox, 1, 2, 90).code(5);
    for path in ["src/a.rs", "notes/g.md", "a/b.ts", "c.go"] {
        sandbox.write(path, "x\n");
    }
    sandbox
}

fn touched(sandbox: &Sandbox) -> String {
    sandbox.run(["brief", "--format", "markdown"]).ok().stdout
}

#[test]
fn codex_is_answered_with_fields_that_it_knows() {
    let sandbox = holding();
    let codex = |fields: &Value| {
        let mut fields = fields.clone();
        fields["turn_id"] = json!("01a1");
        fields["model"] = json!("m");
        send(&sandbox, "codex", &event(&sandbox, "01a1de4b-0000-7000-8000-000000000001", &fields))
    };
    let start = codex(&json!({ "hook_event_name": "SessionStart", "source": "startup" })).json();
    assert_eq!(keys(&start), ["hookSpecificOutput"]);
    assert_eq!(keys(&start["hookSpecificOutput"]), ["hookEventName", "additionalContext"]);
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n+y\n*** End Patch\n";
    codex(&json!({ "hook_event_name": "PostToolUse", "tool_name": "apply_patch", "tool_use_id": "c1",
        "tool_input": { "command": patch }, "tool_response": "ok" }));
    codex(&json!({ "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "c2",
        "tool_input": { "command": "make check" }, "tool_response": "ok\n" }));
    let stop =
        json!({ "hook_event_name": "Stop", "stop_hook_active": false, "last_assistant_message": "done" });
    let answer = codex(&stop).json();
    assert_eq!(keys(&answer), ["decision", "reason"]);
    let brief = touched(&sandbox);
    assert!(brief.contains("src/a.rs") && brief.contains("make check"), "{brief}");
    assert!(brief.contains("## Last words of codex 01a1de4b"), "{brief}");
}

#[test]
fn gemini_speaks_and_is_spoken_to() {
    let sandbox = holding();
    let gemini = |fields: Value| send(&sandbox, "gemini", &event(&sandbox, "g-1", &fields));
    let start = gemini(json!({ "hook_event_name": "SessionStart", "source": "startup" })).json();
    assert!(start["hookSpecificOutput"]["additionalContext"].as_str().unwrap().contains("(session login)"));
    gemini(json!({ "hook_event_name": "AfterTool", "tool_name": "write_file",
        "tool_input": { "file_path": "notes/g.md", "content": "x" } }));
    gemini(json!({ "hook_event_name": "AfterTool", "tool_name": "run_shell_command",
        "tool_input": { "command": "npm test" } }));
    let held = gemini(json!({ "hook_event_name": "AfterAgent", "prompt_response": "done" })).json();
    assert_eq!(held["decision"], "deny");
    let again =
        json!({ "hook_event_name": "AfterAgent", "prompt_response": "done", "stop_hook_active": true });
    assert_eq!(gemini(again).stdout, "");
    let brief = touched(&sandbox);
    assert!(brief.contains("notes/g.md") && brief.contains("npm test"), "{brief}");
    assert!(brief.contains("## Last words of gemini g-1"), "{brief}");
}

#[test]
fn cursor_speaks_and_is_spoken_to() {
    let sandbox = holding();
    let cursor = |mut fields: Value| {
        fields["conversation_id"] = json!("c-1");
        fields["workspace_roots"] = json!([sandbox.project()]);
        send(&sandbox, "cursor", &fields.to_string())
    };
    let start = cursor(json!({ "hook_event_name": "sessionStart" })).json();
    assert!(start["additional_context"].as_str().unwrap().contains("(session login)"));
    cursor(json!({ "hook_event_name": "afterFileEdit", "file_path": sandbox.path("a/b.ts") }));
    cursor(json!({ "hook_event_name": "postToolUse", "tool_name": "Shell", "tool_use_id": "1",
        "tool_input": { "command": "pnpm build" } }));
    let held = cursor(json!({ "hook_event_name": "stop", "status": "completed", "loop_count": 0 })).json();
    assert!(held["followup_message"].as_str().unwrap().starts_with("Not finished yet"), "{held}");
    assert_eq!(
        cursor(json!({ "hook_event_name": "stop", "status": "completed", "loop_count": 1 })).stdout,
        ""
    );
    let brief = touched(&sandbox);
    assert!(brief.contains("a/b.ts") && brief.contains("pnpm build"), "{brief}");
}

#[test]
fn copilot_speaks_and_is_spoken_to() {
    let sandbox = holding();
    let copilot = |name: &str, mut fields: Value| {
        fields["sessionId"] = json!("p-1");
        fields["cwd"] = json!(sandbox.project());
        let ran = sandbox.run_with_input(&["hook", "copilot", name], &fields.to_string()).ok();
        assert_eq!(ran.stderr, "");
        ran
    };
    let start = copilot("sessionStart", json!({ "source": "new" })).json();
    assert!(start["additionalContext"].as_str().unwrap().contains("(session login)"));
    copilot("postToolUse", json!({ "toolName": "edit", "toolArgs": "{\"path\":\"c.go\"}" }));
    copilot("postToolUse", json!({ "toolName": "bash", "toolArgs": { "command": "go vet" } }));
    assert_eq!(copilot("preToolUse", json!({ "toolName": "bash", "toolArgs": "not JSON" })).stdout, "");
    assert_eq!(copilot("agentStop", json!({})).stdout, "", "whether it was held before is not told");
    assert_eq!(copilot("", json!({})).stdout, "", "an event without a name is let through");
    let brief = touched(&sandbox);
    assert!(brief.contains("c.go") && brief.contains("go vet"), "{brief}");
}

#[test]
fn opencode_speaks_through_its_plugin() {
    let sandbox = holding();
    let start = json!({ "hook_event_name": "SessionStart", "source": "startup" });
    let ran = send(&sandbox, "opencode", &event(&sandbox, "o-1", &start));
    assert!(
        ran.json()["hookSpecificOutput"]["additionalContext"].as_str().unwrap().contains("(session login)")
    );
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}
