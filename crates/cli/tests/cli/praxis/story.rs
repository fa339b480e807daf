//! A session of each format from its start to its end: started, advanced by edits as the format's tool makes
//! them, damaged in six ways, recovered each time, and finished. Nothing is lost.

use super::*;

/// The path of the session's file in the second format. The file stays in this folder until the tool moves
/// it.
const SECOND: &str =
    ".praxis-os/state/workflow/active/workflow_default_9b2d6f1e-5a0c-4c7e-8f3d-1e2a3b4c5d6e.json";
const SECOND_ID: &str = "workflow_default_9b2d6f1e-5a0c-4c7e-8f3d-1e2a3b4c5d6e";

/// The path of a session's file, and the name of the session.
struct Story {
    sandbox: Sandbox,
    path: &'static str,
    id: &'static str,
}

impl Story {
    fn run(&self, words: &[&str]) -> testkit::Ran {
        self.sandbox.run(words.iter().copied().chain(["--session", self.id]))
    }

    fn view(&self) -> Value {
        self.run(&["status", "--json"]).ok().json()
    }

    fn file(&self) -> Value {
        file(&self.sandbox, self.path)
    }

    fn edit(&self, change: impl FnOnce(&mut Value)) {
        edit(&self.sandbox, self.path, change);
    }

    /// After any damage to the file, the session keeps its position, and the file is restored.
    fn survives_damage(&self) {
        let good = std::fs::read(self.sandbox.path(self.path)).unwrap();
        let half = good[..good.len() / 2].to_vec();
        let mut mistyped = self.file();
        for (key, value) in [
            ("workflow_type", json!(9)),
            ("current_phase", json!("second")),
            ("completed_phases", json!({"0": true})),
            ("phase_artifacts", json!([])),
            ("checkpoints", json!("none")),
            ("metadata", Value::Null),
            ("lifecycle", json!(false)),
        ] {
            mistyped[key] = value;
        }
        let mut no_text = good.clone();
        no_text[10] = 0xff;
        for (name, damage) in [
            ("truncated", half),
            ("emptied", Vec::new()),
            ("null", b"null".to_vec()),
            ("of wrong types", pretty(&mistyped).into_bytes()),
            ("no UTF-8", no_text),
        ] {
            self.recovers(name, &good, &damage);
        }
        std::fs::remove_file(self.sandbox.path(self.path)).unwrap();
        let seen = self.view();
        assert_eq!(seen["current_phase"]["number"], 2, "missing");
        assert!(!seen["warnings"].to_string().contains("is not defined in this project"), "{seen:#}");
        self.run(&["repair"]).ok();
        assert_eq!(std::fs::read(self.sandbox.path(self.path)).unwrap(), good, "missing");
    }

    fn recovers(&self, name: &str, good: &[u8], damage: &[u8]) {
        let path = self.sandbox.path(self.path);
        std::fs::write(&path, damage).unwrap();
        let seen = self.view();
        assert_eq!(seen["current_phase"]["number"], 2, "{name}");
        assert_eq!(seen["completed_phases"], json!([0, 1]), "{name}");
        let said = seen["warnings"].to_string();
        assert!(said.contains("is damaged") && said.contains("the log is used instead"), "{name}: {said}");
        assert!(!said.contains("is not defined in this project"), "{name}: {said}");
        assert_eq!(std::fs::read(&path).unwrap(), damage, "{name}: a question leaves it");
        self.run(&["doctor"]).code(4);
        self.run(&["repair"]).ok();
        assert_eq!(std::fs::read(&path).unwrap(), good, "{name}: it is as it was, to the byte");
        let aside = std::fs::read_dir(self.sandbox.path(&format!(".leftoff/aside/{}", self.id))).unwrap();
        let kept = aside.flatten().any(|entry| std::fs::read(entry.path()).unwrap() == damage);
        assert!(kept, "{name}: what could not be read is set aside");
        let backup = std::fs::read(self.sandbox.path(&format!("{}.bak", self.path))).unwrap();
        assert!(serde_json::from_slice::<Value>(&backup).is_ok(), "{name}: a damaged one is no backup");
    }

    /// A command completes the last phase. All evidence that was ever submitted is still there.
    fn finishes(&self) {
        self.run(&["advance", "--phase", "1", "--evidence", "tests=4"]).ok();
        self.run(&["note", "released by hand", "--kind", "decision"]).ok();
        self.run(&["advance", "--phase", "2", "--evidence", "released=true"]).ok();
        let found = self.file();
        assert_eq!((&found["current_phase"], &found["completed_phases"]), (&json!(2), &json!([0, 1, 2])));
        // In version 2 of the format, there is no other place for the lifecycle.
        let ours = if self.path == SECOND { &found["metadata"]["leftoff"] } else { &found };
        assert_eq!(ours["lifecycle"]["completed"], true);
        assert_eq!(found["metadata"]["theirs"], json!({"kept": [1.5]}));
        let shown = self.sandbox.run(["show", self.id, "--json"]).ok().json();
        assert_eq!(shown["status"], "completed");
        let evidence = |phase: usize| shown["phases"][phase]["attempts"].to_string();
        for (phase, part) in [(0, "\"read\":3"), (1, "\"tests\":4"), (2, "\"released\":true")] {
            assert!(evidence(phase).contains(part), "{part} is not in {}", evidence(phase));
        }
        assert!(shown["notes"].to_string().contains("half of it was there"), "{}", shown["notes"]);
        self.run(&["advance"]).code(4);
        self.sandbox.run(["doctor"]).ok();
    }
}

/// An artifact as the tool writes it.
fn artifact(number: u32, evidence: &Value, at: &str) -> Value {
    json!({"phase_number": number, "evidence": evidence, "outputs": {}, "commands_executed": [
        {"command": "make test", "output": "ok", "exit_code": 0, "executed_at": at, "duration_ms": 12.5}],
        "timestamp": at})
}

#[test]
fn the_seeds_shape_begun_by_us_edited_by_hand_damaged_recovered_and_finished() {
    let story = Story { sandbox: started(), path: NEW, id: "s" };
    story.run(&["advance", "--phase", "0", "--evidence", "read=3"]).ok();
    story.run(&["note", "half of it was there"]).ok();
    let sections = ["workflow_structure", "phase_timing", "lifecycle", "phase_artifacts", "checkpoints"];
    assert!(sections.iter().all(|section| story.file()[*section].is_object()), "{:#}", story.file());
    story.edit(|value| {
        value["completed_phases"] = json!([0, 1]);
        value["checkpoints"]["1"] = json!("passed");
        value["phase_artifacts"]["1"] = artifact(1, &json!({"tests": 4}), "2026-11-14T11:20:00Z");
        value["phase_timing"]["1"]["completed_at"] = json!("2026-11-14T11:20:00Z");
        value["phase_timing"]["2"] = json!({"started_at": "2026-11-14T11:20:00Z"});
        value["current_phase"] = json!(2);
        value["metadata"]["theirs"] = json!({"kept": [1.50]});
    });
    story.sandbox.at("2026-11-14T11:30:00Z");
    let built = story.view()["phases"][1]["gate"]["outcome"].clone();
    assert_eq!(built, "passed", "the evidence that stands there passes our gate");
    story.run(&["note", "built by hand"]).ok();
    story.survives_damage();
    story.finishes();
}

#[test]
fn the_first_shape_taken_in_edited_by_hand_damaged_recovered_and_finished() {
    let sandbox = with_old();
    define(&sandbox);
    let story = Story { sandbox, path: OLD, id: ID };
    story.run(&["note", "half of it was there"]).ok();
    // The tool continues: it writes ten keys and local times, and drops all other keys.
    story.run(&["pause"]).ok();
    story.run(&["resume"]).ok();
    story.edit(|value| {
        value.as_object_mut().unwrap().retain(|key, _| old_file().get(key).is_some());
        value["completed_phases"] = json!([0, 1]);
        value["checkpoints"]["1"] = json!("passed");
        value["phase_artifacts"]["1"] = artifact(1, &json!({"tests": 4}), "2026-11-14T10:30:00.000001");
        value["current_phase"] = json!(2);
        value["updated_at"] = json!("2026-11-14T10:30:00.000001");
    });
    story.run(&["note", "built by hand"]).ok();
    let found = story.file();
    let keys: Vec<&String> = found.as_object().unwrap().keys().collect();
    assert_eq!(keys[..10], old_file().as_object().unwrap().keys().collect::<Vec<_>>());
    assert_eq!(found["lifecycle"]["resume_count"], 1, "what the tool dropped is back");
    story.survives_damage();
    story.finishes();
    let found = story.file();
    assert_eq!(found["created_at"], "2026-11-14T09:00:00", "local, as it was");
    assert_eq!(found["phase_artifacts"]["1"]["timestamp"].as_str().unwrap().find('Z'), None);
}

#[test]
fn the_second_shape_taken_in_edited_by_hand_damaged_recovered_and_finished() {
    let sandbox = fresh();
    define(&sandbox);
    sandbox.at("2026-11-14T11:00:00Z");
    let mut second = old_file();
    second["session_id"] = json!(SECOND_ID);
    second["status"] = json!("active");
    second["completed_at"] = Value::Null;
    second["evidence_submitted"] = json!({"0": {"read": 3}});
    second["phase_artifacts"] = json!({"0": {"phase": 0, "artifact_type": "report", "file_path": "out.md",
        "metadata": {}, "timestamp": "2026-11-14T09:30:00"}});
    second["phase_timings"] = json!({"0": {"phase": 0, "started_at": "2026-11-14T09:00:00",
        "completed_at": "2026-11-14T09:30:00", "duration_seconds": 1800.0},
        "1": {"phase": 1, "started_at": "2026-11-14T09:30:00", "completed_at": null, "duration_seconds": null}});
    sandbox.write(SECOND, &pretty(&second));
    let story = Story { sandbox, path: SECOND, id: SECOND_ID };
    story.run(&["note", "half of it was there"]).ok();
    story.edit(|value| {
        value["completed_phases"] = json!([0, 1]);
        value["checkpoints"]["1"] = json!("passed");
        value["evidence_submitted"]["1"] = json!({"tests": 4});
        value["phase_timings"]["1"]["completed_at"] = json!("2026-11-14T10:30:00");
        value["phase_timings"]["2"] = json!({"phase": 2, "started_at": "2026-11-14T10:30:00",
            "completed_at": null, "duration_seconds": null});
        value["current_phase"] = json!(2);
    });
    story.run(&["note", "built by hand"]).ok();
    story.survives_damage();
    story.finishes();
    let found = story.file();
    assert_eq!(
        (&found["status"], &found["evidence_submitted"]["2"]),
        (&json!("completed"), &json!({"released": true}))
    );
    assert_eq!(found["phase_artifacts"]["0"]["file_path"], "out.md");
    // The tool moves the file. The status of the new folder is used at once.
    let completed = SECOND.replace("active", "completed");
    std::fs::create_dir_all(story.sandbox.path(&completed).parent().unwrap()).unwrap();
    std::fs::rename(story.sandbox.path(SECOND), story.sandbox.path(&completed)).unwrap();
    let shown = story.sandbox.run(["show", SECOND_ID, "--json"]).ok().json();
    assert_eq!(shown["lifecycle"]["state"], "completed");
}

/// No command has adopted this session. Its file has values of wrong types and no backup. The readable part
/// is shown, and the file is quarantined before it is replaced.
#[test]
fn a_file_of_wrong_types_that_is_not_ours_yet_is_set_aside_before_it_is_written() {
    let sandbox = fresh();
    sandbox.at("2026-11-14T11:00:00Z");
    let mut odd = old_file();
    odd["completed_phases"] = json!("all");
    sandbox.write(OLD, &pretty(&odd));
    let seen = sandbox.run(["show", ID, "--json"]).ok().json();
    let said = seen["warnings"].to_string();
    assert!(said.contains("completed_phases is all, not a list of numbers"), "{said}");
    assert_eq!(seen["workflow"]["name"], "ship_v1", "the rest is told");
    let advanced = sandbox.run(["advance", "--phase", "1", "--session", ID]).ok();
    assert!(advanced.stderr.contains("it was quarantined and rewritten"), "{}", advanced.stderr);
    assert_eq!(file(&sandbox, OLD)["metadata"]["theirs"], old_file()["metadata"]["theirs"]);
    let aside: Vec<_> =
        std::fs::read_dir(sandbox.path(&format!(".leftoff/aside/{ID}"))).unwrap().flatten().collect();
    assert_eq!(std::fs::read_to_string(aside[0].path()).unwrap(), pretty(&odd));
}
