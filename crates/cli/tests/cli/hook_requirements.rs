//! Tests of requirements in hooks, with real processes: denials, satisfaction, blocked stops, and no loss
//! under load.

use crate::agent::{event, session_start};
use crate::git;
use crate::hook::with_input;
use crate::hook_events::{ID, after, arrive, claude, send, stop};
use serde_json::{Value, json};
use std::process::Command;
use testkit::{Ran, Sandbox};

const RULES: &str = "\
requirements:
  commit_plan:
    enabled: true
    type: blocking
    scope: session
    trigger_tools: [Edit, Write]
    message: Write a plan first.
    auto_resolve_skill: arch-review
    satisfied_by_skill: arch-review
  reviewed:
    enabled: true
    type: blocking
    scope: single_use
    trigger_tools:
      - {tool: Bash, command_pattern: 'git\\s+commit'}
    satisfied_by_skill: pre-commit
";

fn required() -> Sandbox {
    let sandbox = git();
    sandbox.write(".claude/requirements.yaml", RULES);
    sandbox
}

fn before(tool: &str, input: &Value, id: &str) -> Value {
    json!({ "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input, "tool_use_id": id })
}

#[track_caller]
fn denied(ran: &Ran) -> String {
    let answer = ran.json();
    let output = &answer["hookSpecificOutput"];
    assert_eq!(
        (&output["hookEventName"], &output["permissionDecision"]),
        (&json!("PreToolUse"), &json!("deny"))
    );
    assert_eq!(answer.as_object().unwrap().len(), 1, "{answer}");
    output["permissionDecisionReason"].as_str().expect("a reason").to_owned()
}

fn edit() -> Value {
    json!({ "file_path": "src/a.rs", "old_string": "a", "new_string": "b" })
}

fn skill(name: &str) -> Value {
    after("Skill", &json!({ "skill": name }), name)
}

#[test]
fn an_agent_is_denied_told_how_and_let_through() {
    let sandbox = required();
    let start = send(&sandbox, "claude", &session_start(&sandbox, ID, "startup")).json();
    let told = start["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned();
    assert!(told.contains("commit_plan") && told.contains("/arch-review"), "{told}");
    let reason = denied(&claude(&sandbox, &before("Edit", &edit(), "t1")));
    assert!(reason.contains("commit_plan") && reason.contains("Write a plan first."), "{reason}");
    assert_eq!(claude(&sandbox, &before("Read", &edit(), "t2")).stdout, "");
    assert!(claude(&sandbox, &skill("arch-review")).stdout.contains("Satisfied now: commit_plan"));
    assert_eq!(claude(&sandbox, &before("Edit", &edit(), "t3")).stdout, "");
    // A call in a subfolder is treated like one in the root folder, and a patch of Codex like an edit.
    std::fs::create_dir_all(sandbox.path("deep/er")).unwrap();
    let patch = json!({ "command": "*** Begin Patch\n*** Update File: a.rs\n*** End Patch" });
    let deep = event(&sandbox, "01a1de4b-x", &before("apply_patch", &patch, "c1")).replace(
        &format!("\"{}\"", sandbox.project().display()),
        &format!("\"{}\"", sandbox.path("deep/er").display()),
    );
    assert!(denied(&send(&sandbox, "codex", &deep)).contains("commit_plan"));
}

#[test]
fn what_was_asked_for_and_not_satisfied_holds_at_a_stop_once() {
    let sandbox = required();
    arrive(&sandbox);
    assert_eq!(claude(&sandbox, &stop(false, "read only")).stdout, "", "nothing was asked for");
    sandbox.at("2026-11-14T10:00:00Z");
    sandbox.run(["req", "satisfy", "commit_plan", "--ttl", "1m", "--agent-session", ID]).ok();
    assert_eq!(claude(&sandbox, &before("Edit", &edit(), "t1")).stdout, "", "now it is asked for");
    sandbox.at("2026-11-14T10:01:00Z");
    let held = claude(&sandbox, &stop(false, "done")).json();
    assert_eq!(held["decision"], "block");
    assert!(held["reason"].as_str().unwrap().contains("commit_plan"), "{held}");
    let subagent = |kind: &str| json!({ "hook_event_name": "SubagentStop", "agent_id": "a", "agent_type": kind, "stop_hook_active": false });
    assert_eq!(claude(&sandbox, &subagent("")).stdout, "", "its internal helpers are never held");
    assert_eq!(claude(&sandbox, &subagent("reviewer")).json()["decision"], "block");
    assert_eq!(claude(&sandbox, &stop(true, "done")).stdout, "", "never in a circle");
}

#[test]
fn a_single_use_is_used_up_by_what_it_guards() {
    let sandbox = required();
    arrive(&sandbox);
    let commit = json!({ "command": "git commit -m x" });
    assert!(denied(&claude(&sandbox, &before("Bash", &commit, "t1"))).contains("reviewed"));
    claude(&sandbox, &skill("pre-commit"));
    assert_eq!(claude(&sandbox, &before("Bash", &commit, "t2")).stdout, "");
    claude(&sandbox, &after("Bash", &commit, "t2"));
    denied(&claude(&sandbox, &before("Bash", &commit, "t3")));
}

/// The four steps of the original framework's own test: a plan is satisfied in one session and stays
/// recorded, but the next session on the branch starts without it.
#[test]
fn a_new_agent_session_on_the_branch_begins_unsatisfied_and_both_stay_on_record() {
    let sandbox = required();
    sandbox.write(".git/HEAD", "ref: refs/heads/feature/test\n");
    let sessions = || {
        let text = std::fs::read_to_string(sandbox.path(".git/requirements/feature-test.json")).unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        file["requirements"]["commit_plan"]["sessions"].clone()
    };
    let satisfied = |found: &Value| {
        found.as_object().unwrap().values().filter(|entry| entry["satisfied"] == true).count()
    };
    let talk = |id: &str, fields: &Value| send(&sandbox, "claude", &event(&sandbox, id, fields));
    let begin = json!({ "hook_event_name": "SessionStart", "source": "startup" });
    let end = json!({ "hook_event_name": "SessionEnd", "reason": "other" });
    let (first, second) = ("aaaaaaaa-0000-4000-8000-000000000001", "bbbbbbbb-0000-4000-8000-000000000002");
    talk(first, &begin);
    talk(first, &skill("arch-review"));
    talk(first, &end);
    assert_eq!(satisfied(&sessions()), 1, "{}", sessions());
    assert_eq!(sessions()["aaaaaaaa"]["satisfied"], true);
    let told = talk(second, &begin).stdout;
    assert!(told.contains("commit_plan"), "the new session is told that it is open: {told}");
    denied(&talk(second, &before("Edit", &edit(), "t1")));
    talk(second, &skill("arch-review"));
    assert_eq!(talk(second, &before("Edit", &edit(), "t2")).stdout, "");
    assert_eq!(satisfied(&sessions()), 2, "{}", sessions());
}

/// Ten agents on one branch send twenty events each at the same time. No satisfaction and no count is lost.
#[test]
fn two_hundred_hooks_of_ten_agents_lose_nothing() {
    const AGENTS: usize = 10;
    const CALLS: usize = 18;
    let sandbox = required();
    let id = |agent: usize| format!("{agent:08x}-1111-4111-8111-111111111111");
    let work = |agent: usize| -> Vec<(Command, String)> {
        let mut events =
            vec![json!({ "hook_event_name": "SessionStart", "source": "startup" }), skill("arch-review")];
        events.extend((0..CALLS).map(|call| {
            after("Bash", &json!({ "command": format!("make part-{call}") }), &format!("c{call}"))
        }));
        let told = events.iter().map(|fields| event(&sandbox, &id(agent), fields));
        told.map(|input| (sandbox.command(["hook", "claude"]), input)).collect()
    };
    let agents: Vec<_> = (0..AGENTS).map(work).collect();
    assert_eq!(agents.iter().map(Vec::len).sum::<usize>(), 200);
    std::thread::scope(|scope| {
        for events in agents {
            scope.spawn(move || {
                for (command, input) in events {
                    let ran = with_input(command, &input);
                    // The list of agents may be locked for longer than a hook waits. No count is lost then
                    // either.
                    assert!(ran.code == 0 && ran.stderr.lines().count() <= 1, "{input}: {ran:?}");
                }
            });
        }
    });
    for agent in 0..AGENTS {
        let may = send(&sandbox, "claude", &event(&sandbox, &id(agent), &before("Edit", &edit(), "last")));
        assert_eq!(may.stdout, "", "agent {agent} is satisfied");
    }
    let text = std::fs::read_to_string(sandbox.path(".git/requirements/main.json")).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let sessions = &file["requirements"]["commit_plan"]["sessions"];
    for agent in 0..AGENTS {
        let short = id(agent)[..8].to_owned();
        assert_eq!(sessions[&short]["satisfied"], true, "{short}: {sessions}");
        let metrics =
            std::fs::read_to_string(sandbox.path(&format!(".git/requirements/sessions/{short}.json")));
        let metrics: Value = serde_json::from_str(&metrics.unwrap()).unwrap();
        assert_eq!(metrics["tools"]["Bash"]["count"], CALLS, "{short}: {metrics}");
        assert_eq!(metrics["tools"]["Skill"]["count"], 1, "{short}: {metrics}");
    }
}

/// The framework's own example of a requirement for a whole branch.
#[test]
fn r1_a_branch_is_satisfied_by_the_skill_that_its_configuration_names() {
    let sandbox = git();
    let rules = "\
requirements:
  architecture_reviewed:
    enabled: true
    scope: branch
    auto_resolve_skill: arch-review
";
    sandbox.write(".claude/requirements.yaml", rules);
    assert!(denied(&claude(&sandbox, &before("Edit", &edit(), "t1"))).contains("Run /arch-review"));
    claude(&sandbox, &skill("arch-review"));
    assert_eq!(claude(&sandbox, &before("Edit", &edit(), "t2")).stdout, "");
}

#[test]
fn r3_a_configuration_in_the_home_folder_alone_holds_nobody() {
    let sandbox = git();
    let home = sandbox.folder().join("home/.claude");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("requirements.yaml"), RULES).unwrap();
    sandbox.write(".claude/requirements.local.yaml", RULES);
    assert_eq!(claude(&sandbox, &before("Edit", &edit(), "t1")).stdout, "");
    sandbox.write(".claude/requirements.yaml", "inherit: true\n");
    denied(&claude(&sandbox, &before("Edit", &edit(), "t2")));
}

#[test]
fn r4_a_pattern_that_looks_around_holds_the_command() {
    let sandbox = git();
    let rules = "requirements: {reviewed: {enabled: true, trigger_tools: [{tool: Bash, command_pattern: 'git\\s+commit(?!.*--amend)'}]}}\n";
    sandbox.write(".claude/requirements.yaml", rules);
    let command = |line: &str| before("Bash", &json!({ "command": line }), line);
    let held = claude(&sandbox, &command("git commit -m x"));
    assert!(denied(&held).contains("reviewed"));
    assert_eq!(held.stderr, "");
    assert_eq!(claude(&sandbox, &command("git commit --amend")).stdout, "");
}

#[test]
fn r8_an_event_that_names_no_folder_is_about_the_one_where_the_hook_runs() {
    let sandbox = required();
    let mut fields: Value =
        serde_json::from_str(&event(&sandbox, ID, &before("Edit", &edit(), "t1"))).unwrap();
    fields.as_object_mut().unwrap().remove("cwd");
    assert!(denied(&send(&sandbox, "claude", &fields.to_string())).contains("commit_plan"));
}

#[test]
fn r5_a_guard_that_denied_lets_the_agent_stop() {
    let sandbox = git();
    let rules = "requirements: {protected: {enabled: true, type: guard, guard_type: protected_branch}}\n";
    sandbox.write(".claude/requirements.yaml", rules);
    denied(&claude(&sandbox, &before("Edit", &edit(), "t1")));
    assert_eq!(claude(&sandbox, &stop(false, "nothing done")).stdout, "");
}

#[test]
fn r9_the_originals_environment_and_marker_are_known() {
    let sandbox = required();
    let held = event(&sandbox, ID, &before("Edit", &edit(), "t1"));
    let mut skips = sandbox.command(["hook", "claude"]);
    skips.env("CLAUDE_SKIP_REQUIREMENTS", "1");
    assert_eq!(with_input(skips, &held).stdout, "");
    denied(&send(&sandbox, "claude", &held));
    let marker = format!(".git/requirements/sessions/{}.paused", &ID[..8]);
    let mut paused = sandbox.command(["req", "pause"]);
    assert!(paused.env("CLAUDE_SESSION_ID", ID).output().unwrap().status.success());
    assert!(sandbox.path(&marker).exists());
    assert_eq!(claude(&sandbox, &before("Edit", &edit(), "t2")).stdout, "");
    claude(&sandbox, &json!({ "hook_event_name": "SessionEnd", "reason": "other" }));
    assert!(!sandbox.path(&marker).exists());
}

#[test]
fn r9_an_event_without_a_session_is_about_the_one_in_the_environment() {
    let sandbox = required();
    let mut fields: Value =
        serde_json::from_str(&event(&sandbox, ID, &before("Edit", &edit(), "t1"))).unwrap();
    for id in [None, Some(Value::Null), Some(json!(""))] {
        fields.as_object_mut().unwrap().remove("session_id");
        fields.as_object_mut().unwrap().extend(id.map(|id| ("session_id".to_owned(), id)));
        let mut hook = sandbox.command(["hook", "claude"]);
        hook.env("CLAUDE_SESSION_ID", ID);
        let reason = denied(&with_input(hook, &fields.to_string()));
        assert!(reason.contains("commit_plan"), "{reason}");
        let unknown = with_input(sandbox.command(["hook", "claude"]), &fields.to_string());
        assert_eq!((unknown.code, unknown.stdout.as_str()), (0, ""));
        assert!(unknown.stderr.contains("the event has no session_id"), "{}", unknown.stderr);
    }
}

/// An agent that changed to a folder outside the project, or deleted its current folder, can still edit the
/// project.
#[test]
fn r9_a_folder_in_no_project_does_not_take_an_agent_out_of_its_own() {
    let sandbox = required();
    let outside = sandbox.folder().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    for (nth, cwd) in [outside, sandbox.path("gone/deeper")].iter().enumerate() {
        let mut fields = before("Edit", &edit(), &format!("t{nth}"));
        fields["cwd"] = json!(cwd);
        let id = format!("{nth}{}", &ID[1..]);
        let mut hook = sandbox.command(["hook", "claude"]);
        hook.env("CLAUDE_PROJECT_DIR", sandbox.project());
        let reason = denied(&with_input(hook, &event(&sandbox, &id, &fields)));
        assert!(reason.contains("commit_plan"), "{cwd:?}: {reason}");
    }
}

#[test]
fn r11_a_requirement_that_does_not_block_is_told_and_holds_nothing() {
    let sandbox = git();
    let rules = "requirements: {changelog: {enabled: true, blocking: false, message: Say it there.}}\n";
    sandbox.write(".claude/requirements.yaml", rules);
    let told = claude(&sandbox, &before("Edit", &edit(), "t1")).json();
    assert_eq!(told["hookSpecificOutput"]["permissionDecision"], Value::Null);
    assert!(told["hookSpecificOutput"]["additionalContext"].as_str().unwrap().contains("Say it there."));
    assert_eq!(claude(&sandbox, &stop(false, "done")).stdout, "");
}

#[test]
fn t7_an_agent_can_write_the_plan_that_the_template_asks_for() {
    let sandbox = git();
    let workflow = "\
name = \"ship\"
version = \"1\"

[[phase]]
id = \"plan\"
produces = [\"PLAN.md\"]

[requirement.planned]
scope = \"session\"
tools = [\"Edit\", \"Write\"]
satisfied_by = [\"phase:plan\"]
";
    sandbox.write(".leftoff/workflows/ship.toml", workflow);
    sandbox.run(["start", "ship", "--id", "s"]).ok();
    let write = |file: &str| before("Write", &json!({ "file_path": sandbox.path(file) }), file);
    let reason = denied(&claude(&sandbox, &write("src/a.rs")));
    assert!(reason.contains("leftoff advance --phase plan") && !reason.contains("req satisfy"), "{reason}");
    assert_eq!(claude(&sandbox, &write(".leftoff/sessions/s/PLAN.md")).stdout, "");
    let refused = sandbox.run(["req", "satisfy", "planned", "--agent-session", ID, "--json"]).code(4);
    assert_eq!(refused.error()["kind"], "proved_by_phase");
}
