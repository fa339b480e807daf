//! Tests of changes by others: edits, dropped keys, moves, damage.

use super::*;

#[test]
fn a_phase_that_is_only_called_done_in_the_file_is_a_claim_until_its_gate_passes() {
    let sandbox = started();
    sandbox.run(["advance", "--phase", "0"]).ok();
    edit(&sandbox, NEW, |value| {
        value["completed_phases"] = json!([0, 1]);
        value["current_phase"] = json!(2);
    });
    let seen = view(&sandbox);
    assert_eq!(seen["phases"][1]["gate"]["outcome"], "claimed");
    assert_eq!(seen["current_phase"]["number"], 2);
    sandbox.run(["note", "go on"]).ok();
    assert_eq!(
        view(&sandbox)["phases"][1]["gate"]["outcome"],
        "claimed",
        "taken in as it is, never reverted"
    );
    sandbox.run(["advance", "--phase", "1", "--evidence", "tests=2"]).ok();
    assert_eq!(view(&sandbox)["phases"][1]["gate"]["outcome"], "passed");
}

#[test]
fn keys_that_the_tools_own_reader_drops_come_back() {
    let sandbox = started();
    sandbox.run(["advance", "--phase", "0"]).ok();
    edit(&sandbox, NEW, |value| {
        let fields = value.as_object_mut().unwrap();
        for ours in ["workflow_structure", "phase_timing", "lifecycle"] {
            fields.remove(ours);
        }
        fields["metadata"]["from_the_tool"] = json!(1);
    });
    sandbox.run(["note", "go on"]).ok();
    let found = file(&sandbox, NEW);
    assert_eq!(found["workflow_structure"]["total_phases"], 3);
    assert_eq!(found["lifecycle"]["completed"], false);
    assert_eq!(found["metadata"]["from_the_tool"], 1);
}

/// The original tool drops unknown keys when it saves a file. leftoff must not read this as a deletion.
#[test]
fn a_paused_session_that_its_tool_saves_without_the_flags_stays_paused() {
    let sandbox = with_old();
    sandbox.run(["pause", "--session", ID, "--context", "half of it"]).ok();
    edit(&sandbox, OLD, |value| {
        let fields = value.as_object_mut().unwrap();
        fields.retain(|key, _| old_file().get(key).is_some());
        fields["metadata"]["from_the_tool"] = json!(1);
    });
    let seen = view(&sandbox);
    assert_eq!((&seen["status"], &seen["lifecycle"]["context"]), (&json!("paused"), &json!("half of it")));
    sandbox.run(["note", "go on", "--session", ID]).ok();
    let found = file(&sandbox, OLD);
    assert_eq!(
        (&found["lifecycle"]["paused"], &found["metadata"]["from_the_tool"]),
        (&json!(true), &json!(1))
    );
}

#[test]
fn a_file_that_lost_whole_keys_is_read_as_if_they_were_there() {
    let sandbox = started();
    sandbox.run(["advance", "--phase", "0", "--evidence", "read=3"]).ok();
    let good = file(&sandbox, NEW);
    for keys in
        [&["completed_phases", "current_phase"][..], &["workflow_type", "checkpoints", "phase_artifacts"]]
    {
        edit(&sandbox, NEW, |value| {
            value.as_object_mut().unwrap().retain(|key, _| !keys.contains(&key.as_str()));
        });
        assert_eq!(view(&sandbox)["current_phase"]["number"], 1, "{keys:?}");
        sandbox.run(["set", "agent_version=2"]).ok();
        let found = file(&sandbox, NEW);
        assert!(keys.iter().all(|key| found[*key] == good[*key]), "{found:#}");
    }
    sandbox.write(NEW, "{}");
    assert_eq!(view(&sandbox)["current_phase"]["number"], 1);
    sandbox.run(["advance", "--phase", "1", "--evidence", "tests=2"]).ok();
    assert_eq!(file(&sandbox, NEW)["completed_phases"], json!([0, 1]));
}

#[test]
fn a_session_whose_number_of_phases_is_unknown_grows_with_its_file() {
    let sandbox = with_old();
    edit(&sandbox, OLD, |value| drop(value["metadata"].as_object_mut().unwrap().remove("total_phases")));
    sandbox.run(["note", "taken in", "--session", ID]).ok();
    edit(&sandbox, OLD, |value| {
        value["completed_phases"] = json!([0, 1, 2]);
        value["checkpoints"] = json!({"0": "passed", "1": "passed", "2": "passed"});
        value["current_phase"] = json!(3);
    });
    let seen = view(&sandbox);
    assert_eq!((&seen["current_phase"]["number"], &seen["workflow"]["total_phases"]), (&json!(3), &json!(4)));
    sandbox.run(["advance", "--phase", "3", "--session", ID]).ok();
    let done = view(&sandbox);
    assert_eq!(done["lifecycle"]["state"], "active", "whether that was all is not known");
    assert!(sandbox.run(["log", "--session", ID]).ok().stdout.contains("phases added: 2, 3"));
    sandbox.run(["close", "--session", ID]).ok();
}

#[test]
fn a_session_of_the_second_shape_that_its_tool_moves_is_what_the_folder_says() {
    const NAME: &str = "workflow_default_7c9e6679-7425-40de-944b-e07fc1f90ae7";
    let place = |status: &str| format!(".praxis-os/state/workflow/{status}/{NAME}.json");
    let sandbox = fresh();
    sandbox.at("2026-11-14T11:00:00Z");
    let mut old = old_file();
    old["session_id"] = json!(NAME);
    old["status"] = json!("active");
    old["phase_timings"] = json!({"0": {"phase": 0, "started_at": "2026-11-14T09:00:00", "completed_at": "2026-11-14T09:30:00", "duration_seconds": 1800.0}});
    old["evidence_submitted"] = json!({"0": {"read": 3}});
    sandbox.write(&place("active"), &pretty(&old));
    sandbox.run(["advance", "--phase", "1", "--session", NAME, "--evidence", "n=1"]).ok();
    let found = file(&sandbox, &place("active"));
    assert_eq!((&found["evidence_submitted"]["1"], &found["status"]), (&json!({"n": 1}), &json!("active")));
    assert!(found["phase_timings"]["1"]["completed_at"].is_string());
    std::fs::create_dir_all(sandbox.path(".praxis-os/state/workflow/completed")).unwrap();
    std::fs::rename(sandbox.path(&place("active")), sandbox.path(&place("completed"))).unwrap();
    let seen = sandbox.run(["show", NAME, "--json"]).ok().json();
    assert_eq!(seen["lifecycle"]["state"], "completed", "{}", seen["warnings"]);
    sandbox.run(["advance", "--session", NAME]).code(4);
    sandbox.run(["note", "seen", "--session", NAME]).ok();
    assert_eq!(sandbox.run(["show", NAME, "--json"]).ok().json()["lifecycle"]["state"], "completed");
    assert!(file(&sandbox, &place("completed"))["metadata"]["theirs"].is_object());
    assert!(!sandbox.path(&place("active")).exists(), "what was moved away is not written again");
    assert_eq!(sandbox.run(["list", "--all", "--json"]).ok().json()["sessions"].as_array().unwrap().len(), 1);
}

/// Only `import` converts an old format to the newest one.
#[test]
fn an_export_into_its_own_layout_keeps_the_shape_and_every_byte_that_did_not_change() {
    let sandbox = with_old();
    sandbox.run(["export", "--layout", "praxis", "out", "--session", ID]).ok();
    assert_eq!(sandbox.read(&format!("out/{OLD}")), sandbox.read(OLD));
    assert!(!sandbox.path(".git/leftoff").exists(), "and it was not taken in for it");
    sandbox.run(["advance", "--phase", "1", "--evidence", "built=true", "--session", ID]).ok();
    sandbox.run(["export", "--layout", "praxis", "after", "--session", ID]).ok();
    assert_eq!(sandbox.read(&format!("after/{OLD}")), sandbox.read(OLD));
    assert_eq!(
        file(&sandbox, &format!("after/{OLD}"))["created_at"],
        "2026-11-14T09:00:00",
        "local, as it was"
    );
    let sandbox = started();
    sandbox.run(["export", "--layout", "praxis", "out", "--session", "s"]).ok();
    assert_eq!(sandbox.read(&format!("out/{NEW}")), sandbox.read(NEW));
}

#[test]
fn a_damaged_session_of_the_tool_is_told_from_its_backup_and_never_written_over_unseen() {
    let sandbox = with_old();
    sandbox.write(&format!("{OLD}.bak"), &pretty(&old_file()));
    sandbox.write(OLD, "{\"session_id\":");
    let seen = sandbox.run(["show", ID, "--json"]).ok().json();
    assert_eq!(seen["current_phase"]["number"], 1);
    assert!(seen["warnings"].to_string().contains(".bak was read instead"), "{}", seen["warnings"]);
    sandbox.run(["advance", "--phase", "1", "--session", ID]).ok();
    assert_eq!(file(&sandbox, OLD)["completed_phases"], json!([0, 1]));
    let aside: Vec<_> =
        std::fs::read_dir(sandbox.path(&format!(".leftoff/aside/{ID}"))).unwrap().flatten().collect();
    assert_eq!(std::fs::read_to_string(aside[0].path()).unwrap(), "{\"session_id\":");
    assert_eq!(
        sandbox.read(&format!("{OLD}.bak")),
        pretty(&old_file()),
        "a damaged one never becomes the backup"
    );
}

#[test]
fn what_is_odd_in_a_file_is_not_said_to_be_mended() {
    let sandbox = started();
    edit(&sandbox, NEW, |value| value["workflow_structure"]["total_phases"] = json!(0));
    let mended = sandbox.run(["repair", "--session", "s"]).ok();
    assert!(mended.stdout.contains("was changed by somebody else"), "{}", mended.stdout);
    assert!(!mended.stdout.contains("total_phases is 0"), "{}", mended.stdout);
    let odd = sandbox.run(["doctor"]).code(4);
    assert!(odd.stdout.contains("total_phases is 0"), "{}", odd.stdout);
    sandbox.run(["advance", "--phase", "0"]).ok();
    assert_eq!(file(&sandbox, NEW)["workflow_structure"]["total_phases"], 3);
    sandbox.run(["doctor"]).ok();
}

/// Files are looked for even if only the backup names them, so no gate is lost with a file.
#[test]
fn a_session_that_is_told_from_its_backup_has_the_gates_of_its_workflow() {
    let sandbox = with_old();
    define(&sandbox);
    sandbox.write(&format!("{OLD}.bak"), &pretty(&old_file()));
    sandbox.write(OLD, "{\"session_id\": ");
    let seen = sandbox.run(["show", ID, "--json"]).ok().json();
    assert_eq!(seen["phases"][1]["title"], "Build");
    let held = sandbox.run(["advance", "--phase", "1", "--session", ID]).code(5);
    assert!(held.stderr.contains("Field 'tests' is required but missing"), "{}", held.stderr);
}

#[test]
fn a_reader_never_finds_half_a_file() {
    let sandbox = started();
    let path = sandbox.path(NEW);
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let reads = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut reads = 0;
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                let content = std::fs::read(&path).expect("it is always there");
                serde_json::from_slice::<Value>(&content).expect("it is always whole");
                reads += 1;
            }
            reads
        });
        for number in 0..30 {
            let field = format!("round={number}");
            sandbox.run(["set", &field]).ok();
        }
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        reader.join().unwrap()
    });
    assert!(reads > 30, "{reads} reads");
    assert_eq!(file(&sandbox, NEW)["metadata"]["round"], 29);
}

#[test]
fn a_secret_in_somebodys_file_stays_in_it_and_out_of_the_log() {
    let sandbox = with_old();
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2).chars().take(36).collect::<String>());
    edit(&sandbox, OLD, |value| {
        value["metadata"]["deploy"] = json!(token);
        value["phase_artifacts"]["0"]["evidence"]["used"] = json!(token);
    });
    sandbox.run(["advance", "--phase", "1", "--session", ID]).ok();
    let found = file(&sandbox, OLD);
    assert_eq!(found["metadata"]["deploy"], json!(token));
    assert_eq!(found["phase_artifacts"]["0"]["evidence"]["used"], json!(token));
    let log = sandbox.run(["log", "--session", ID, "--json"]).ok().stdout;
    assert!(!log.contains(&token), "{log}");
}

/// Anything that a command wrote here would be invented.
#[test]
fn a_file_that_nobody_ever_read_is_left_as_it_is_by_every_command() {
    let large = pretty(&json!({"session_id": ID, "workflow_type": "ship_v1", "current_phase": 1,
        "completed_phases": [0], "metadata": {"text": "x".repeat(1_100_000)}}));
    for text in ["", "{\"session_id\":", "[]", "{\"workflow_type\": 5}", &large] {
        let sandbox = fresh();
        sandbox.write(OLD, text);
        let shown = sandbox.run(["show", ID, "--json"]).ok().json();
        assert!(shown["warnings"].to_string().contains("the position is unknown"), "{shown:#}");
        for command in [&["advance"][..], &["note", "x"], &["set", "a=1"], &["pause"], &["close", "--force"]]
        {
            let refused = sandbox.run(command.iter().chain(&["--session", ID])).code(1).stderr;
            assert!(refused.contains("nothing else records session"), "{refused}");
            assert!(refused.contains("restore a copy of it"), "{refused}");
        }
        let mended = sandbox.run(["repair", "--session", ID]);
        assert!(
            format!("{}{}", mended.stdout, mended.stderr).contains("nothing else records"),
            "{}",
            mended.stdout
        );
        assert_eq!(sandbox.read(OLD), text);
        assert!(!sandbox.path(".leftoff/aside").exists(), "it was not set aside either");
    }
}

/// The rules of a strict gate are checked against the evidence in the file.
#[test]
fn the_evidence_of_a_phase_that_its_tool_passed_is_kept_and_counts_where_the_gate_accepts_it() {
    let submitted = json!({"phase_number": 1, "evidence": {"tests": 4}, "outputs": {"report": "out.md"},
        "commands_executed": [{"command": "make test", "exit_code": 0}], "timestamp": "2026-11-14T10:00:00"});
    let claimed = || {
        let sandbox = with_old();
        define(&sandbox);
        edit(&sandbox, OLD, |value| {
            value["completed_phases"] = json!([0, 1]);
            value["current_phase"] = json!(2);
            value["checkpoints"]["1"] = json!("passed");
            value["phase_artifacts"]["1"] = submitted.clone();
        });
        sandbox
    };
    let sandbox = claimed();
    let again = sandbox.run(["advance", "--phase", "1", "--session", ID, "--json"]).ok().json();
    assert_eq!(again["already"], true, "its tool completed it");
    sandbox.run(["note", "seen", "--session", ID]).ok();
    let found = file(&sandbox, OLD);
    for key in ["evidence", "outputs", "commands_executed"] {
        assert_eq!(found["phase_artifacts"]["1"][key], submitted[key], "{found:#}");
    }
    assert_eq!(sandbox.run(["show", ID, "--json"]).ok().json()["phases"][1]["gate"]["outcome"], "passed");
    let sandbox = claimed();
    sandbox.run(["import", OLD]).ok();
    let seen = sandbox.run(["show", ID, "--json"]).ok().json();
    assert_eq!(seen["phases"][1]["gate"]["outcome"], "passed");
    assert_eq!(seen["phases"][1]["attempts"][0]["evidence"], submitted["evidence"]);
    sandbox.run(["export", "--layout", "praxis", "out", "--session", ID]).ok();
    let out = file(&sandbox, &format!("out/{OLD}"));
    for key in ["evidence", "outputs", "commands_executed"] {
        assert_eq!(out["phase_artifacts"]["1"][key], submitted[key], "{out:#}");
    }
}

#[test]
fn a_file_that_grew_beyond_what_is_read_is_never_lost() {
    let sandbox = started();
    let mut theirs = file(&sandbox, NEW);
    theirs["completed_phases"] = json!([0]);
    theirs["current_phase"] = json!(1);
    theirs["phase_artifacts"]["0"] = json!({"phase_number": 0, "evidence": {}, "outputs": {},
        "commands_executed": [{"command": "make", "output": "y".repeat(1_200_000)}], "timestamp": "2026-11-14T11:00:00Z"});
    let theirs = pretty(&theirs);
    sandbox.write(NEW, &theirs);
    let status = sandbox.run(["status"]).ok();
    assert!(status.stderr.contains("the maximum"), "{}", status.stderr);
    assert!(!status.stderr.contains("is not defined"), "its workflow is there: {}", status.stderr);
    sandbox.run(["note", "remember"]).ok();
    assert_eq!(sandbox.read(NEW), theirs, "left alone");
    let mended = sandbox.run(["repair"]).ok().stdout;
    assert!(mended.contains("it was quarantined and rewritten from the log"), "{mended}");
    for phase in ["0", "1"] {
        sandbox.run(["advance", "--phase", phase, "--evidence", "tests=1"]).ok();
    }
    let folder = sandbox.path(".leftoff/aside/s");
    let kept: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    assert!(kept.contains(&theirs), "it is set aside");
}

#[test]
fn what_a_claimed_phase_is_to_be_given_is_in_the_hint_when_its_evidence_does_not_pass() {
    let sandbox = started();
    sandbox.run(["advance", "--phase", "0"]).ok();
    let mut theirs = file(&sandbox, NEW);
    theirs["completed_phases"] = json!([0, 1]);
    theirs["current_phase"] = json!(2);
    theirs["checkpoints"]["1"] = json!("passed");
    theirs["phase_artifacts"]["1"] = json!({"phase_number": 1, "evidence": {"tests": 0}, "outputs": {},
        "commands_executed": [], "timestamp": "2026-11-14T11:00:00Z"});
    sandbox.write(NEW, &pretty(&theirs));
    let refused = sandbox.run(["advance", "--phase", "1"]).code(5).stderr;
    assert!(refused.contains("Then: leftoff advance --phase 1 --evidence 'tests=<number>'"), "{refused}");
    sandbox.run(["advance", "--phase", "1", "--evidence", "tests=4"]).ok();
    let phases = sandbox.run(["status", "--json"]).ok().json()["phases"].clone();
    assert_eq!(phases[1]["gate"]["outcome"], "passed");
}
