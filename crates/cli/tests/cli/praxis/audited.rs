//! Tests for former defects, as users noticed them: names, inactivity, errors, evidence, numbers.

use super::*;
use testkit::Ran;

/// Gives the workflow a description and purposes, and its second phase a gate that requires coverage.
pub(super) fn describe(sandbox: &Sandbox, strict: bool) {
    sandbox.write(
        METADATA,
        r#"{"workflow_type": "ship_v1", "version": "v1", "total_phases": 3, "name": "Ship it",
            "description": "Takes a change from plan to release", "phases": [
            {"phase_number": 0, "phase_name": "Setup", "purpose": "Agree."},
            {"phase_number": 1, "phase_name": "Testing", "purpose": "Show that it works."},
            {"phase_number": 2, "phase_name": "Release"}]}"#,
    );
    sandbox.write(
        GATE,
        &format!(
            "checkpoint: {{strict: {strict}}}\nevidence_schema:\n  coverage: {{type: integer, required: true, validator: enough}}\nvalidators:\n  enough: \"lambda x: x >= 80\"\n"
        ),
    );
}

pub(super) fn described() -> Sandbox {
    let sandbox = fresh();
    describe(&sandbox, true);
    sandbox.at("2026-11-14T11:00:00Z");
    sandbox.run(["start", "ship_v1", "--layout", "praxis", "--id", "s", "--target", "docs/import.md"]).ok();
    sandbox
}

/// A project with a session in the first format, after a change to its values.
fn old_with(change: impl FnOnce(&mut Value)) -> Sandbox {
    let sandbox = fresh();
    sandbox.at("2026-11-14T11:00:00Z");
    let mut old = old_file();
    change(&mut old);
    sandbox.write(OLD, &pretty(&old));
    sandbox
}

#[test]
fn p2_brief_and_hook_name_phases_and_tell_what_they_are_for() {
    let sandbox = described();
    sandbox.at("2026-11-14T11:33:00Z");
    sandbox.run(["advance", "--phase", "0"]).ok();
    let input = crate::agent::session_start(&sandbox, "a4326893-7dc8-405b-aaa4-035b9c0d34a8", "startup");
    let told = sandbox.run_with_input(&["hook", "claude"], &input).ok().json();
    let hooked = told["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned();
    let markdown = sandbox.run(["brief", "--format", "markdown"]).ok().stdout;
    for text in [&hooked, &markdown] {
        assert!(text.contains("Phase 1 of 3, **Testing**"), "{text}");
        assert!(text.contains("- 0 Setup (33 min, no gate)"), "{text}");
        assert!(text.contains("Takes a change from plan to release"), "{text}");
        assert!(text.contains("Workflow ship_v1") && text.contains(" v1") && !text.contains("vv1"), "{text}");
        assert!(text.contains("Phase 1, Testing: Show that it works."), "{text}");
    }
    sandbox.run(["pause"]).ok();
    let markdown = sandbox.run(["brief", "--format", "markdown"]).ok().stdout;
    assert!(markdown.contains("Continue with phase 1, Testing."), "{markdown}");
    assert!(markdown.contains("(Show that it works)"), "{markdown}");
    let text = sandbox.run(["brief"]).ok().stdout;
    assert!(crate::unbroken(&text).contains("Takes a change from plan to release"), "{text}");
}

#[test]
fn p3_a_session_whose_file_was_written_minutes_ago_is_not_idle() {
    let sandbox = old_with(|value| {
        value["created_at"] = json!("2026-11-12T09:00:00");
        value["phase_artifacts"]["0"]["timestamp"] = json!("2026-11-12T09:30:00");
        value["updated_at"] = json!("2026-11-14T10:55:00");
    });
    let seen = view(&sandbox);
    assert_eq!(seen["lifecycle"]["state"], "active", "{seen:#}");
    assert_eq!(seen["updated_at"], "2026-11-14T10:55:00Z");
    sandbox.run(["advance", "--phase", "1", "--session", ID]).ok();
    let text = sandbox.read(OLD);
    assert!(!text.contains("paused_duration_seconds") && !text.contains("inactivity"), "{text}");
}

#[test]
fn p4_evidence_that_the_tool_recorded_is_held_against_the_gate() {
    let with = |coverage: u32, checkpoint: &str, completed: Value| {
        let sandbox = old_with(|value| {
            value["phase_artifacts"]["1"] = json!({"phase_number": 1, "evidence": {"coverage": coverage},
                "outputs": {}, "commands_executed": [], "timestamp": "2026-11-14T10:30:00"});
            value["checkpoints"]["1"] = json!(checkpoint);
            value["completed_phases"] = completed;
            value["current_phase"] = json!(2);
            value["updated_at"] = json!("2026-11-14T10:30:00");
        });
        describe(&sandbox, true);
        sandbox
    };
    let sandbox = with(85, "passed", json!([0, 1]));
    let seen = view(&sandbox);
    assert_eq!(seen["phases"][1]["gate"]["outcome"], "passed", "{seen:#}");
    let brief = sandbox.run(["brief"]).ok().stdout;
    assert!(brief.contains("coverage=85") && !brief.contains("Unverified"), "{brief}");
    assert_eq!(view(&with(65, "passed", json!([0, 1])))["phases"][1]["gate"]["outcome"], "claimed");
    let sandbox = with(65, "failed", json!([0]));
    let brief = sandbox.run(["brief"]).ok().stdout;
    assert!(brief.contains("Failed: attempt 1 of Testing"), "{brief}");
    assert!(brief.contains("coverage=65"), "{brief}");
}

/// The file says that a phase is completed, but its checkpoint failed, or the gate refuses its evidence. The
/// brief shows what the gate found.
#[test]
fn p4_a_phase_that_failed_and_was_called_completed_is_shown_with_its_evidence() {
    for (checkpoint, said) in
        [("failed", "its checkpoint FAILED there"), ("passed", "its evidence does not pass its gate")]
    {
        let sandbox = old_with(|value| {
            value["phase_artifacts"]["1"] = json!({"phase_number": 1, "evidence": {"coverage": 65},
                "outputs": {}, "commands_executed": [], "timestamp": "2026-11-14T10:30:00"});
            value["checkpoints"]["1"] = json!(checkpoint);
            value["completed_phases"] = json!([0, 1]);
            value["current_phase"] = json!(2);
            value["updated_at"] = json!("2026-11-14T10:30:00");
        });
        describe(&sandbox, true);
        let before = sandbox.read(OLD);
        let brief = sandbox.run(["brief", "--format", "markdown"]).ok().stdout;
        assert!(brief.contains(said) && brief.contains("coverage=65"), "{checkpoint}: {brief}");
        sandbox.run(["note", "seen", "--session", ID]).ok();
        let brief = sandbox.run(["brief", "--format", "markdown"]).ok().stdout;
        assert!(brief.contains(said) && brief.contains("coverage=65"), "{checkpoint}, adopted: {brief}");
        let key = |text: &str| serde_json::from_str::<Value>(text).unwrap()["phase_artifacts"].clone();
        assert_eq!(key(&sandbox.read(OLD)), key(&before));
    }
}

#[test]
fn p5_every_error_is_in_the_history() {
    let sandbox = described();
    sandbox.run(["fail", "--error", "disk full"]).ok();
    sandbox.run(["resume", "s"]).ok();
    assert_eq!(file(&sandbox, NEW)["lifecycle"]["last_error"], "disk full");
    assert_eq!(view(&sandbox)["status"], "active");
    sandbox.run(["fail", "--error", "out of memory"]).ok();
    let history = sandbox.run(["history"]).ok().stdout;
    assert!(history.contains("disk full") && history.contains("out of memory"), "{history}");
    let errors = sandbox.run(["history", "--json"]).ok().json()["errors"].clone();
    assert_eq!(errors.as_array().unwrap().len(), 2);
}

#[test]
fn p6_commands_that_were_run_in_a_phase_stand_in_its_artifact() {
    let sandbox = described();
    sandbox.run(["exec", "--", "true"]).ok();
    sandbox.run(["advance", "--phase", "0", "--evidence", "read=3"]).ok();
    let commands = file(&sandbox, NEW)["phase_artifacts"]["0"]["commands_executed"].clone();
    assert_eq!(commands[0]["command"], "true", "{commands}");
    assert!(commands[0]["executed_at"].is_string(), "{commands}");
}

#[test]
fn p6_pauses_and_how_often_it_was_resumed_are_in_the_brief() {
    let sandbox = described();
    sandbox.run(["pause"]).ok();
    sandbox.at("2026-11-14T11:30:00Z");
    sandbox.run(["resume", "s"]).ok();
    let markdown = sandbox.run(["brief", "--format", "markdown"]).ok().stdout;
    assert!(markdown.contains("Resumed once, paused 30 min in all."), "{markdown}");
    let text = sandbox.run(["brief"]).ok().stdout;
    assert!(text.contains("Resumed once, paused 30 min in all."), "{text}");
}

/// Choosing one of several active sessions does not resume it, because it was not paused.
#[test]
fn p6_an_active_session_that_is_chosen_was_not_resumed() {
    let sandbox = old_with(|_| ());
    let other = "78974205-58a4-4d8c-9a57-0d5c3a1b7e90";
    let mut newer = old_file();
    newer["updated_at"] = json!("2026-11-14T10:30:00");
    sandbox.write(&format!(".praxis-os/.cache/state/{other}.json"), &pretty(&newer));
    sandbox.run(["resume", "--session", ID]).ok();
    assert!(!sandbox.read(OLD).contains("resume"), "{}", sandbox.read(OLD));
    assert_eq!(sandbox.run(["status", "--json"]).ok().json()["session_id"], ID, "it is meant from now on");
    let brief = sandbox.run(["brief"]).ok().stdout;
    assert!(!brief.contains("Resumed"), "{brief}");
}

/// A list says what the status of an active session is.
#[test]
fn list_says_that_a_checkpoint_failed_in_any_spelling_of_the_word() {
    let sandbox = described();
    sandbox.run(["advance", "--phase", "0"]).ok();
    sandbox.run(["advance", "--phase", "1", "--evidence", "coverage=65"]).code(5);
    for word in ["checkpoint_failed", "CHECKPOINT_FAILED", "active", "ACTIVE"] {
        let listed = sandbox.run(["list", "--status", word]).ok().stdout;
        assert!(listed.contains("checkpoint_failed"), "{word}: {listed}");
    }
    for word in ["INACTIVE", "COMPLETED"] {
        assert_eq!(sandbox.run(["list", "--status", word]).ok().stdout, "", "{word}");
    }
    let unknown = sandbox.run(["list", "--status", "zzzzzzzz"]).code(2).stderr;
    for word in ["abandoned", "checkpoint_failed", "closed", "in_progress"] {
        assert!(unknown.contains(word), "{word}: {unknown}");
    }
}

/// The project has only definitions of the tool, and no sessions. These show that the project uses the tool.
#[test]
fn start_takes_a_workflow_that_only_the_tools_definitions_have() {
    let sandbox = fresh();
    describe(&sandbox, true);
    let begun = sandbox.run(["start", "ship_v1", "--json"]).ok().json();
    assert_eq!(begun["layout"], "praxis", "{begun}");
}

#[test]
fn p7_a_lenient_gate_that_passes_without_a_field_says_so() {
    let sandbox = described();
    describe(&sandbox, false);
    sandbox.run(["start", "ship_v1", "--layout", "praxis", "--id", "lenient", "--parallel"]).ok();
    sandbox.run(["advance", "--phase", "0", "--session", "lenient"]).ok();
    let advanced = sandbox.run(["advance", "--phase", "1", "--session", "lenient"]).ok();
    let said = format!("{}{}", advanced.stdout, advanced.stderr);
    assert!(crate::unbroken(&said).contains("Field 'coverage' is required but missing"), "{said}");
}

#[test]
fn p8_the_beginning_of_an_id_may_be_digits_alone() {
    let sandbox = fresh();
    sandbox.at("2026-11-14T11:00:00Z");
    for id in ["78974205-58a4-4d8c-9a57-0d5c3a1b7e90", "61e24eb6-58a4-4d8c-9a57-0d5c3a1b7e90"] {
        sandbox.write(&format!(".praxis-os/.cache/state/{id}.json"), &pretty(&old_file()));
    }
    let seen = sandbox.run(["status", "--json", "--session", "78974205"]).ok().json();
    assert_eq!(seen["session_id"], "78974205-58a4-4d8c-9a57-0d5c3a1b7e90");
    sandbox.run(["note", "seen", "--session", "7897"]).ok();
    // If a number is in the list, it means that session, even if an id begins with the same digits.
    let first = sandbox.run(["status", "--json", "--session", "1"]).ok().json();
    assert!(first["session_id"].is_string());
    sandbox.run(["status", "--session", "4205"]).code(3);
}

/// In version 2, the name of a file has words before the id.
#[test]
fn p8_digits_begin_an_id_of_version_2_as_well() {
    let sandbox = fresh();
    sandbox.at("2026-11-14T11:00:00Z");
    let id = "workflow_default_78974205-58a4-4d8c-9a57-0d5c3a1b7e90";
    sandbox.write(&format!(".praxis-os/state/workflow/active/{id}.json"), &pretty(&old_file()));
    for asked in ["78974205", "7897", "78974205-58a4"] {
        let seen = sandbox.run(["status", "--json", "--session", asked]).ok().json();
        assert_eq!(seen["session_id"], id, "{asked}");
    }
    sandbox.run(["status", "--session", "4205"]).code(3);
}

#[test]
fn p9_what_nobody_knows_is_not_made_up() {
    let sandbox = old_with(|value| {
        value["metadata"] = json!({"log_path": "nowhere/log.txt"});
        value["phase_artifacts"] = json!({});
        value["completed_phases"] = json!([0]);
    });
    for words in [vec!["status"], vec!["brief"], vec!["brief", "--format", "markdown"]] {
        let shown = sandbox.run(&words).ok().stdout;
        assert!(!shown.contains("(0 s)"), "untimed: {shown}");
        assert!(!shown.contains(" %"), "no total: {shown}");
        assert!(!shown.contains(" h left") && !shown.contains(" min left"), "{shown}");
    }
    for adopted in [false, true] {
        let line = sandbox.run(["list", "--json"]).ok().json()["sessions"][0].clone();
        assert_eq!((&line["phases_done"], &line["total_phases"]), (&json!(1), &Value::Null), "{adopted}");
        assert!(sandbox.run(["list"]).ok().stdout.contains("1 done, "), "{adopted}");
        sandbox.run(["note", "adopted", "--session", ID]).ok();
    }
    sandbox.run(["pause", "--session", ID]).ok();
    let resumed = sandbox.run(["resume", ID]).ok();
    assert!(resumed.stderr.contains("nowhere/log.txt"), "told, and it stops nobody: {}", resumed.stderr);
}

/// A list does not read the files of sessions in other worktrees.
#[test]
fn p9_no_total_is_made_up_for_a_session_of_another_worktree() {
    let sandbox = old_with(|value| value["metadata"] = json!({}));
    let beside = sandbox.folder().join("beside");
    sandbox.write(".git/worktrees/beside/HEAD", "ref: refs/heads/beside\n");
    sandbox.write(".git/worktrees/beside/commondir", "../..\n");
    sandbox.write(".git/worktrees/beside/gitdir", &format!("{}\n", beside.join(".git").display()));
    std::fs::create_dir(&beside).unwrap();
    let own = sandbox.path(".git/worktrees/beside");
    std::fs::write(beside.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
    sandbox.run(["note", "adopted", "--session", ID]).ok();
    let mut command = sandbox.command(["list", "--json"]);
    let ran = Ran::from(command.current_dir(&beside).output().unwrap()).ok();
    let line = ran.json()["sessions"][0].clone();
    assert_eq!((&line["session_id"], &line["total_phases"]), (&json!(ID), &Value::Null));
}

#[test]
fn p9_a_definition_that_grew_is_nothing_for_the_doctor_and_a_specification_gives_the_title() {
    let sandbox = described();
    let target = ["--target", ".praxis-os/specs/2026-11-14-import", "--parallel"];
    let begin = ["start", "ship_v1", "--layout", "praxis", "--id", "t"];
    let begun = sandbox.run(begin.iter().chain(&target).chain(&["--json"])).ok().json();
    assert_eq!(begun["title"], "2026-11-14-import", "not the branch");
    let grown = sandbox.read(METADATA).replace("\"total_phases\": 3", "\"total_phases\": 4").replace(
        "\"phase_name\": \"Release\"}",
        "\"phase_name\": \"Release\"}, {\"phase_number\": 3, \"phase_name\": \"Thank\"}",
    );
    sandbox.write(METADATA, &grown);
    sandbox.run(["doctor"]).ok();
}

/// No command has adopted the session. A new conversation still gets its brief, without a write to the file.
#[test]
fn p2_a_new_conversation_is_told_of_a_session_that_only_files_tell_of() {
    let sandbox = old_with(|_| ());
    describe(&sandbox, true);
    sandbox.run(["init"]).ok();
    let before = sandbox.read(OLD);
    let agent = "a4326893-7dc8-405b-aaa4-035b9c0d34a8";
    for source in ["startup", "resume", "compact"] {
        let input = crate::agent::session_start(&sandbox, agent, source);
        let told = sandbox.run_with_input(&["hook", "claude"], &input).ok();
        assert!(
            told.stdout.contains("Phase 1 of 3, **Testing**"),
            "{source}: {} {}",
            told.stdout,
            told.stderr
        );
        assert_eq!(told.stderr, "", "{source}");
    }
    for event in ["UserPromptSubmit", "Stop", "SessionEnd"] {
        let input =
            crate::agent::event(&sandbox, agent, &json!({ "hook_event_name": event, "prompt": "go on" }));
        assert_eq!(sandbox.run_with_input(&["hook", "claude"], &input).ok().stderr, "", "{event}");
    }
    assert_eq!(sandbox.read(OLD), before);
}
