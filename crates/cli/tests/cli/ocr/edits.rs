//! Tests of external edits of a session's file: they are adopted, never refused and never reverted. A phase
//! that an edit completes without proof is a claim.

use super::*;
use serde_json::json;
use std::process::Command;

#[test]
fn an_agent_that_advances_by_the_file_is_shown_there_and_its_gates_stay_open() {
    let sandbox = begun();
    edit(&sandbox, &json!({ "current_phase": "discourse", "phase_number": 6 }));
    let before = everything(sandbox.project());
    let view = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!(phase(&view), "discourse");
    let outcome = |id: &str| {
        let phases = view["phases"].as_array().unwrap();
        phases.iter().find(|phase| phase["id"] == id).unwrap()["gate"]["outcome"].clone()
    };
    for claimed in ["context", "change-context", "analysis", "reviews", "aggregation"] {
        assert_eq!(outcome(claimed), "claimed", "b2: also where it has no checks");
    }
    let status = sandbox.run(["status"]).ok();
    assert!(status.stdout.contains("[x] 3 Tech Lead Analysis, claimed, unverified"), "{}", status.stdout);
    assert!(status.stderr.contains("state.json was changed by somebody else"), "{}", status.stderr);
    let brief = sandbox.run(["brief"]).ok().stdout;
    assert!(brief.contains("\nUnverified:\n- 1 Context Discovery: claimed in a file"), "{brief}");
    assert!(brief.contains("`leftoff advance --phase context`"), "the first one: {brief}");
    assert!(!brief.contains("leftoff advance --phase analysis"), "{brief}");
    let markdown = sandbox.run(["brief", "--format", "markdown"]).ok().stdout;
    assert!(markdown.contains("## Unverified\n- 1 Context Discovery: claimed in a file"), "{markdown}");
    let document = sandbox.run(["brief", "--format", "json"]).ok().json();
    assert_eq!(document["session"]["phases"][2]["gate"]["outcome"], "claimed", "{document}");
    let gate = sandbox.run(["gate"]).code(5);
    assert!(gate.stdout.contains("open analysis: claimed in a file, unverified"), "{}", gate.stdout);
    let gate = sandbox.run(["gate", "--json"]).code(5);
    assert_eq!(
        gate.json()["claimed"],
        json!(["context", "change-context", "analysis", "reviews", "aggregation"])
    );
    assert_eq!(everything(sandbox.project()), before, "looking writes nothing");
}

#[test]
fn a_claim_can_be_shown_later_and_says_what_is_missing_until_then() {
    let sandbox = begun();
    edit(&sandbox, &json!({ "current_phase": "analysis", "phase_number": 3 }));
    let failed = sandbox.run(["advance", "--phase", "context"]).code(5);
    assert!(
        failed.stderr.contains("the gate of phase 'context' did not pass: standards"),
        "{}",
        failed.stderr
    );
    assert!(failed.stderr.contains("Then: leftoff advance --phase context"), "{}", failed.stderr);
    artifact(&sandbox, "discovered-standards.md", "S\n");
    let view = sandbox.run(["advance", "--phase", "context", "--json"]).ok().json();
    assert_eq!(view["phases"][0]["gate"]["outcome"], "passed");
    assert_eq!((phase(&view), &view["phases"][1]["gate"]["outcome"]), ("analysis", &"claimed".into()));
    assert_eq!(state(&sandbox)["current_phase"], "analysis");
}

#[test]
fn going_back_in_the_file_opens_the_phase_again() {
    let sandbox = begun();
    edit(&sandbox, &json!({ "current_phase": "reviews", "phase_number": 4 }));
    sandbox.run(["note", "there"]).ok();
    edit(&sandbox, &json!({ "current_phase": "change-context", "phase_number": 2 }));
    sandbox.run(["note", "back"]).ok();
    let view = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!(crate::statuses(&view)[..4], ["completed", "in_progress", "not_started", "not_started"]);
    assert_eq!(state(&sandbox)["phase_number"], 2, "an edit is never reverted");
}

#[test]
fn a_round_begun_and_a_session_closed_in_the_file_are_taken_in() {
    let sandbox = begun();
    let again = json!({ "current_round": 2, "current_phase": "context", "phase_number": 1,
        "round_started_at": "2026-11-14T09:59:00Z" });
    edit(&sandbox, &again);
    let view = sandbox.run(["note", "the second", "--json"]).ok().json();
    assert_eq!(view["run"]["ordinal"], 2);
    assert_eq!(state(&sandbox)["round_started_at"], "2026-11-14T09:59:00Z");
    edit(&sandbox, &json!({ "status": "closed", "current_phase": "complete", "phase_number": 8 }));
    let view = sandbox.run(["status", "--session", ID, "--json"]).ok().json();
    assert_eq!((&view["status"], phase(&view)), (&"completed".into(), "complete"));
    edit(
        &sandbox,
        &json!({ "workflow_type": "map", "status": "active", "current_phase": "topology",
        "phase_number": 2, "current_map_run": 1 }),
    );
    let view = sandbox.run(["note", "a map", "--session", ID, "--json"]).ok().json();
    assert_eq!((&view["run"]["workflow"], phase(&view)), (&"map".into(), "topology"));
}

#[test]
fn what_a_closing_template_drops_is_written_back() {
    let sandbox = begun();
    edit(&sandbox, &json!({ "x_team": { "lead": "anna" }, "started_at": "2026-11-14T08:00:00.000Z" }));
    sandbox.run(["note", "one"]).ok();
    let closing = json!({ "session_id": ID, "status": "closed", "current_phase": "complete",
        "phase_number": 8, "current_round": 1, "updated_at": "2026-11-14T10:00:00Z" });
    foreign(&sandbox, ID, &closing);
    sandbox.run(["reopen", ID]).ok();
    let written = state(&sandbox);
    assert_eq!(written["workflow_type"], "review");
    assert_eq!(written["round_started_at"], NOW);
    assert_eq!(written["started_at"], "2026-11-14T08:00:00.000Z", "as it was written, to the letter");
    assert_eq!(written["x_team"], json!({ "lead": "anna" }), "whoever wrote it");
}

#[test]
fn a_write_keeps_order_spelling_and_unknown_keys_and_no_change_changes_no_byte() {
    let sandbox = project();
    let text = "{ \"z_own\": 1.50e3,\r\n\t\"phase_number\": 1, \"current_phase\" : \"context\",\r\n\t\"status\":\"active\", \
        \"workflow_type\": \"review\", \"session_id\":\"x\", \"current_round\": 1,\"t\":\"\\u00e9\",\r\n\
        \t\"started_at\":\"2026-11-14T09:00:00.000Z\", \"round_started_at\":\"2026-11-14T09:00:00Z\",\
        \"updated_at\": \"2026-11-14T09:30:00Z\" }\r\n";
    sandbox.write(&format!("{FOLDER}/state.json"), text);
    sandbox.run(["note", "says nothing that the file could say"]).ok();
    assert_eq!(sandbox.read(&format!("{FOLDER}/state.json")), text);
    artifact(&sandbox, "discovered-standards.md", "S\n");
    sandbox.run(["advance", "--phase", "context"]).ok();
    let expected = text
        .replace("\"phase_number\": 1", "\"phase_number\": 2")
        .replace("\"context\"", "\"change-context\"")
        .replace("2026-11-14T09:30:00Z", "2026-11-14T10:00:00Z");
    assert_eq!(sandbox.read(&format!("{FOLDER}/state.json")), expected);
    assert_eq!(sandbox.read(&format!("{FOLDER}/state.json.bak")), text, "the version before");
}

/// Edits the file like a program that knows only a few fields, and writes them in its own order and spelling.
fn forgetful_program(sandbox: &Sandbox, turn: u32) {
    let before = state(sandbox);
    let known = ["updated_at", "phase_number", "current_phase", "status", "session_id"];
    let mut text = String::from("{");
    for key in known {
        text.push_str(&format!("\"{key}\":{},", before[key]));
    }
    text.push_str(&format!("\"seen\":{turn}}}"));
    sandbox.write(&format!("{FOLDER}/state.json"), &text);
}

#[test]
fn ten_times_through_a_program_that_keeps_only_what_it_knows_loses_nothing() {
    let sandbox = begun();
    sandbox.run(["note", "a decision", "--kind", "decision"]).ok();
    let ours = ["workflow_type", "current_round", "started_at", "round_started_at"];
    let before = state(&sandbox);
    let was = sandbox.run(["status", "--json"]).ok().json();
    for turn in 1..=10 {
        forgetful_program(&sandbox, turn);
        let shown = sandbox.run(["status", "--json"]).ok().json();
        assert_eq!((phase(&shown), &shown["goal"]), (phase(&was), &was["goal"]));
        sandbox.run(["note", &format!("turn {turn}")]).ok();
        let after = state(&sandbox);
        for key in ours {
            assert_eq!(after[key], before[key], "{key} after turn {turn}");
        }
        assert_eq!(after["seen"], turn, "and theirs is kept as well");
    }
    let view = sandbox.run(["show", "--json"]).ok().json();
    assert_eq!(view["notes"].as_array().unwrap().len(), 11);
    assert_eq!(view["run"]["ordinal"], 1, "what was dropped began no other round");
}

#[test]
fn bytes_of_an_earlier_version_are_an_edit_when_our_write_got_there() {
    let sandbox = begun();
    let first = sandbox.read(&format!("{FOLDER}/state.json"));
    artifact(&sandbox, "discovered-standards.md", "S\n");
    sandbox.run(["advance", "--phase", "context"]).ok();
    sandbox.write(&format!("{FOLDER}/state.json"), &first);
    let view = sandbox.run(["note", "switched back", "--json"]).ok().json();
    assert_eq!(phase(&view), "context");
    assert_eq!(state(&sandbox)["phase_number"], 1);
}

#[test]
fn status_in_a_bound_session_reads_that_sessions_files_only() {
    let sandbox = project();
    sandbox.run_as("claude:one", ["start", "--layout", "ocr"]).ok();
    for number in 0..1_000 {
        sandbox.write(&format!(".ocr/sessions/2026-12-{number:04}/state.json"), "{}");
    }
    let trace = sandbox.folder().join("trace");
    let inner = sandbox.command(["status", "--json"]);
    let Some(strace) = testkit::strace("which files a status opens") else { return };
    let mut strace = Command::new(strace);
    strace.args(["-f", "-e", "trace=file", "-o"]).arg(&trace).arg(inner.get_program()).args(inner.get_args());
    strace.current_dir(sandbox.project()).env_clear();
    strace.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    strace.env("LEFTOFF_AGENT_SESSION", "claude:one");
    let output = strace.output().unwrap();
    let view: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(view["session_id"], ID);
    let trace = std::fs::read_to_string(&trace).unwrap();
    assert!(trace.contains(&format!("{FOLDER}/state.json")), "its own file is looked at:\n{trace}");
    assert!(!trace.contains("2026-12-"), "another session's file was looked at");
    assert!(!trace.contains(".ocr/sessions\""), "the folder of all sessions was listed");
}

/// Writes the files of a finished round and of the next round, as the tool does.
fn second_round(sandbox: &Sandbox) {
    artifact_at(sandbox, "rounds/round-2/reviews/security-1.md", "x", "2026-11-14T11:00:00Z");
    edit(
        sandbox,
        &json!({ "status": "active", "current_phase": "reviews", "phase_number": 4, "current_round": 2,
            "round_started_at": "2026-11-14T10:55:00Z", "updated_at": "2026-11-14T11:00:00Z" }),
    );
    sandbox.at("2026-11-14T11:01:00Z");
}

#[test]
fn a_second_round_that_the_tool_begins_leaves_the_finished_one_alone_and_can_be_closed() {
    for is_finished_by_us in [true, false] {
        let sandbox = begun();
        for name in ["discovered-standards", "context", "rounds/round-1/reviews/security-1"] {
            artifact_at(&sandbox, &format!("{name}.md"), "x", "2026-11-14T10:01:00Z");
        }
        for name in ["discourse", "final"] {
            artifact_at(&sandbox, &format!("rounds/round-1/{name}.md"), "x", "2026-11-14T10:02:00Z");
        }
        sandbox.at("2026-11-14T10:05:00Z");
        if is_finished_by_us {
            edit(&sandbox, &json!({ "current_phase": "complete", "phase_number": 8 }));
            sandbox.run(["advance", "--phase", "complete"]).ok();
            assert_eq!(state(&sandbox)["status"], "closed");
        }
        second_round(&sandbox);
        sandbox.run(["note", "taken in"]).ok();
        let log = sandbox.run(["log", "--session", ID]).ok().stdout;
        assert!(!log.contains("back to"), "nothing of round 1 is rolled back: {log}");
        let view = sandbox.run(["status", "--json"]).ok().json();
        assert_eq!((phase(&view), &view["run"]["ordinal"]), ("reviews", &2.into()));
        for name in ["discourse", "final"] {
            artifact_at(&sandbox, &format!("rounds/round-2/{name}.md"), "x", "2026-11-14T11:10:00Z");
        }
        sandbox.at("2026-11-14T11:11:00Z");
        for phase in &REVIEW[3..] {
            sandbox.run(["advance", "--phase", phase]).ok();
        }
        let written = state(&sandbox);
        assert_eq!((&written["status"], &written["current_round"]), (&"closed".into(), &2.into()));
        sandbox.run(["close", "--session", ID]).ok();
    }
}

#[test]
fn a_template_that_names_no_workflow_is_of_the_one_that_has_its_phase() {
    let template = |phase: &str, number: u32, round: &str| {
        json!({ "session_id": ID, "status": "active", "current_phase": phase, "phase_number": number,
            round: 1, "started_at": NOW, "updated_at": NOW })
    };
    for (ours, phase_name, number, round, workflow) in [
        ("map", "reviews", 4, "current_round", "review"),
        ("map", "context", 1, "current_round", "review"),
        ("map", "synthesis", 7, "current_round", "review"),
        ("map", "complete", 8, "current_round", "review"),
        ("map", "synthesis", 5, "current_map_run", "map"),
        ("review", "topology", 2, "current_map_run", "map"),
        ("review", "synthesis", 5, "current_map_run", "map"),
        ("review", "synthesis", 7, "current_round", "review"),
    ] {
        let sandbox = project();
        sandbox.run(["start", ours, "--layout", "ocr"]).ok();
        foreign(&sandbox, ID, &template(phase_name, number, round));
        let view = sandbox.run(["status", "--session", ID, "--json"]).ok().json();
        let shown = (view["run"]["workflow"].as_str().unwrap(), phase(&view));
        assert_eq!(shown, (workflow, phase_name), "{ours} {number}: {view}");
        if view["status"] != "completed" {
            sandbox.run(["note", "taken in"]).ok();
            let written = state(&sandbox);
            assert_eq!(
                (&written["workflow_type"], &written["current_phase"]),
                (&workflow.into(), &phase_name.into())
            );
        }
    }
}

#[test]
fn the_phase_that_a_session_is_in_is_completed_by_the_command_also_where_its_file_shows_it() {
    let at_discourse = json!({ "session_id": ID, "status": "active", "workflow_type": "review",
        "current_phase": "discourse", "phase_number": 6, "current_round": 1, "started_at": NOW, "updated_at": NOW });
    for is_ours in [true, false] {
        let sandbox = project();
        foreign(&sandbox, ID, &at_discourse);
        if is_ours {
            sandbox.run(["note", "taken in"]).ok();
        }
        for (file, moment, phase) in [
            ("rounds/round-1/discourse.md", "2026-11-14T10:05:00Z", 5),
            ("rounds/round-1/final.md", "2026-11-14T10:10:00Z", 6),
        ] {
            sandbox.at(moment);
            artifact_at(&sandbox, file, "x\n", moment);
            let view = sandbox.run(["advance", "--evidence", "seen=2", "--json"]).ok().json();
            let attempt = &view["phases"][phase]["attempts"][0];
            assert_eq!((&attempt["evidence"]["seen"], &attempt["outcome"]), (&2.into(), &"passed".into()));
            assert_ne!(attempt["actor"]["name"], "ocr", "{attempt}");
            let files = view["artifacts"].to_string();
            assert!(files.contains(file), "{files}");
        }
        assert_eq!(
            (&state(&sandbox)["status"], &state(&sandbox)["phase_number"]),
            (&"active".into(), &8.into())
        );
    }
    // The last round is current although its final file exists, because the file alone does not complete the
    // round.
    let sandbox = project();
    foreign(&sandbox, "2026-11-13-a", &at_discourse);
    let mut later = at_discourse.clone();
    later["current_phase"] = "synthesis".into();
    later["phase_number"] = 7.into();
    foreign(&sandbox, "2026-11-14-b", &later);
    write_at(&sandbox, ".ocr/sessions/2026-11-14-b/rounds/round-1/final.md", "F\n", NOW);
    let moved = sandbox.run(["advance", "--json"]).ok().json();
    assert_eq!((&moved["session_id"], phase(&moved)), (&"2026-11-14-b".into(), "complete"));
}

#[test]
fn b1_a_hand_edit_does_not_overrule_a_gate_that_failed_here() {
    let sandbox = begun();
    sandbox.run(["advance", "--phase", "context"]).code(5);
    edit(&sandbox, &json!({ "current_phase": "synthesis", "phase_number": 7 }));
    // The file exists now. But a gate has not passed just because a file exists.
    artifact(&sandbox, "discovered-standards.md", "S\n");
    let brief = sandbox.run(["brief", "--format", "markdown"]).ok().stdout;
    assert!(
        brief.contains("Phase 1 of 8, **Context Discovery** (")
            && brief.contains(") (a file says 7 synthesis, unverified)"),
        "{brief}"
    );
    assert!(
        brief.contains("- 1 Context Discovery: claimed in a file, and its gate failed here, "),
        "{brief}"
    );
    assert!(brief.contains(": standards ("), "{brief}");
    assert!(!brief.contains("## Done"), "{brief}");
    let view = sandbox.run(["status", "--json"]).ok().json();
    assert_eq!(view["next"]["command"], "leftoff advance --phase context");
    assert_eq!(view["phases"][0]["contested"], true);
    for line in [vec!["advance", "--phase", "synthesis"], vec!["advance"]] {
        let refused = sandbox.run(line).code(4).stderr;
        assert!(
            refused.contains("phase 'context' comes first, and it is not proven to be done"),
            "{refused}"
        );
        assert!(refused.contains("leftoff advance --phase context"), "{refused}");
    }
    let view = sandbox.run(["advance", "--phase", "context", "--json"]).ok().json();
    assert_eq!(view["phases"][0]["gate"]["outcome"], "passed");
    assert_eq!(phase(&view), "synthesis", "the edit itself is taken in");
}

#[test]
fn b2_a_hand_edit_is_told_from_where_to_where() {
    let sandbox = begun();
    artifact(&sandbox, "discovered-standards.md", "S\n");
    sandbox.run(["advance", "--phase", "context"]).ok();
    edit(&sandbox, &json!({ "current_phase": "synthesis", "phase_number": 7 }));
    let told = "An edit of the session's files moved the session from change-context (2) to synthesis (7), ";
    for taken_in in [false, true] {
        if taken_in {
            sandbox.run(["note", "x"]).ok();
        }
        let brief = sandbox.run(["brief", "--format", "markdown"]).ok().stdout;
        assert!(brief.contains(told), "{brief}");
        assert!(brief.contains("; last verified phase: context (1)."), "{brief}");
        let text = sandbox.run(["brief"]).ok().stdout;
        let unwrapped = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(unwrapped.contains(told.trim_end()), "{text}");
    }
    let document = sandbox.run(["brief", "--format", "json"]).ok().json();
    assert_eq!(document["moved"]["to"]["number"], 7, "{document}");
}
