//! Tests of every kind of session of another tool: it is imported into another project, and exported to its
//! own layout again. It must have the same content, including the tool's own data.

use crate::fresh;
use serde_json::{Value, json};
use std::path::Path;
use testkit::Sandbox;

/// A session of another tool: its place, its files, and text in them that leftoff does not use.
pub(super) struct Case {
    pub(super) layout: &'static str,
    pub(super) path: String,
    pub(super) files: Vec<(String, String)>,
    theirs: &'static [&'static str],
}

/// The part of an export that must stay the same. The pause and the change by the import are left out.
fn told(export: &Value) -> Value {
    let keys = [
        "session_id",
        "title",
        "goal",
        "target",
        "workflow",
        "run",
        "phases",
        "current_phase",
        "completed_phases",
        "item_counts",
        "notes",
        "revisions",
        "created_at",
        "fields",
    ];
    let mut told: Value =
        keys.iter().map(|key| ((*key).to_owned(), export["session"][*key].clone())).collect();
    told["items"] = export["items"].clone();
    for phase in told["phases"].as_array_mut().unwrap() {
        // In another layout, places and durations differ.
        for key in ["produces", "duration_seconds", "paused_seconds"] {
            phase[key] = Value::Null;
        }
    }
    told
}

/// Compares two exports, and shows only their differences. A fact without a time of its own gets the
/// modification time of the file, so two such times are treated as equal.
#[track_caller]
pub(super) fn same(one: &Value, other: &Value, what: &str) {
    fn differing(one: &Value, other: &Value, at: &str, found: &mut Vec<String>) {
        match (one, other) {
            (Value::Object(fields), Value::Object(others)) => {
                let keys = fields.keys().chain(others.keys()).collect::<std::collections::BTreeSet<_>>();
                for key in keys {
                    differing(&one[key], &other[key], &format!("{at}/{key}"), found);
                }
            }
            (Value::Array(list), Value::Array(others)) if list.len() == others.len() => {
                for (place, (one, other)) in list.iter().zip(others).enumerate() {
                    differing(one, other, &format!("{at}/{place}"), found);
                }
            }
            (one, other) if one == other => {}
            (one, other) => found.push(format!("{at}: {one} is not {other}")),
        }
    }
    let mut found = Vec::new();
    differing(&told(one), &told(other), "", &mut found);
    let written = |export: &Value| export["session"]["updated_at"].clone();
    let of_the_writing = format!(": {} is not {}", written(one), written(other));
    found.retain(|line| !line.ends_with(&of_the_writing));
    assert!(found.is_empty(), "{what}\n{}", found.join("\n"));
}

pub(super) fn put(sandbox: &Sandbox, case: &Case) {
    for (path, text) in &case.files {
        sandbox.write(path, text);
    }
}

#[track_caller]
fn comes_back(case: &Case) {
    let (there, here, back) = (fresh(), fresh(), fresh());
    for sandbox in [&there, &here, &back] {
        sandbox.at("2026-11-14T11:00:00Z");
    }
    put(&there, case);
    let id = there.run(["list", "--all", "--json"]).ok().json()["sessions"][0]["session_id"].clone();
    let id = id.as_str().unwrap();
    let before = there.run(["export", "--session", id]).ok().json();
    let from = there.path(&case.path).display().to_string();
    here.run(["import", &from]).ok();
    let imported = here.run(["export", "--session", id]).ok().json();
    same(&imported, &before, &format!("{} as it is imported", case.path));
    // The log contains everything, so the tool's own state is not needed any more.
    let is_document = |path: &str| Path::new(path).extension().is_some_and(|ending| ending == "md");
    for (path, _) in case.files.iter().filter(|(path, _)| !is_document(path)) {
        std::fs::remove_file(there.path(path)).unwrap();
    }
    let folder = back.project().display().to_string();
    here.run(["export", "--layout", case.layout, &folder, "--session", id]).ok();
    let after = back.run(["export", "--session", id]).ok().json();
    same(&after, &before, &format!("{} as it came back", case.path));
    assert_eq!(after["session"]["layout"], case.layout);
    let stood = &before["session"]["lifecycle"]["state"];
    assert_eq!(&after["session"]["lifecycle"]["state"], stood, "the pause is the import's: {}", case.path);
    if case.layout == "praxis" {
        for (path, text) in &case.files {
            assert_eq!(back.read(path), *text, "nothing happened since");
        }
    }
    let written: String = case.files.iter().map(|(path, _)| back.read(path)).collect();
    for text in case.theirs {
        assert!(written.contains(text), "{text} is lost in\n{written}");
    }
}

pub(super) const OCR: &str = ".ocr/sessions/2026-11-14-login";

pub(super) fn ocr(fields: &Value, documents: &[&str]) -> Case {
    let mut state = json!({
        "session_id": "2026-11-14-login", "started_at": "2026-11-14T09:00:00Z", "updated_at": "2026-11-14T10:00:00Z",
        "branch": "feat/login", "reviewers": {"assigned": 2.50},
    });
    for (key, value) in fields.as_object().unwrap() {
        state[key] = value.clone();
    }
    let state = state.to_string().replace("2.5", "2.50");
    let mut files = vec![(format!("{OCR}/state.json"), state)];
    files.extend(documents.iter().map(|name| (format!("{OCR}/{name}"), format!("# {name}\n## Finding 1\n"))));
    Case { layout: "ocr", path: OCR.to_owned(), files, theirs: &["feat/login", "2.50"] }
}

#[test]
fn reviews_and_maps_come_back_whole_with_their_rounds() {
    let review = |phase: &str, number: u32| {
        json!({"workflow_type": "review", "status": "active", "current_phase": phase, "phase_number": number,
            "current_round": 1, "round_started_at": "2026-11-14T09:30:00Z"})
    };
    comes_back(&ocr(&review("context", 1), &[]));
    comes_back(&ocr(
        &review("reviews", 4),
        &["discovered-standards.md", "context.md", "rounds/round-1/reviews/principal-1.md"],
    ));
    let mut second = review("analysis", 3);
    second["current_round"] = json!(2);
    let rounds = [
        "rounds/round-1/final.md",
        "rounds/round-1/discourse.md",
        "rounds/round-2/reviews/quality-1.md",
        "map/runs/run-1/map.md",
    ];
    comes_back(&ocr(&second, &rounds));
    let mut closed = review("complete", 8);
    closed["status"] = json!("closed");
    comes_back(&ocr(&closed, &["discovered-standards.md", "rounds/round-1/final.md"]));
    let map = json!({"workflow_type": "map", "status": "active", "current_phase": "flow-analysis", "phase_number": 3,
        "current_map_run": 1, "map_started_at": "2026-11-14T09:30:00Z"});
    comes_back(&ocr(&map, &["discovered-standards.md", "map/runs/run-1/topology.md"]));
    // A session of an early release has no status and no rounds.
    comes_back(&ocr(&json!({"current_phase": "reviews", "phase_number": 4}), &["reviews/principal-1.md"]));
}

pub(super) fn ccw(folder: &str, fields: &Value, tasks: &[Value]) -> Case {
    let name = folder.rsplit('/').next().unwrap();
    let mut state = json!({
        "session_id": name, "project": "CSV export", "description": "Export as CSV", "type": "medium",
        "progress": {"completed_phases": [], "current_tasks": [], "last_checkpoint": "2026-11-02T10:00:00Z"},
        "meta": {"created": "2026-11-01T10:00:00Z", "updated": "2026-11-02T11:00:00Z"},
        "stats": {"velocity": 3.25}, "sync_history": [{"at": "2026-11-02T10:00:00Z", "by": "hand"}],
    });
    for (key, value) in fields.as_object().unwrap() {
        state[key] = value.clone();
    }
    let line = json!({"id": name, "status": state["status"], "description": "CSV export",
        "created": "2026-11-01T10:00:00Z", "directory": folder, "owner": "ada"});
    let mut files = vec![
        (format!("{folder}/workflow-session.json"), state.to_string().replace("3.25", "3.250")),
        (format!("{folder}/IMPL_PLAN.md"), "# Plan\nWrite rows.\n".to_owned()),
    ];
    if !folder.contains("ve") {
        files.push((".workflow/session_status.jsonl".to_owned(), format!("{line}\n")));
    }
    for task in tasks {
        let id = task["id"].as_str().unwrap();
        files.push((format!("{folder}/.task/{id}.json"), task.to_string()));
    }
    Case { layout: "ccw", path: folder.to_owned(), files, theirs: &["3.250", "sync_history"] }
}

pub(super) fn task(id: &str, status: &str, parent: Option<&str>, parts: &[&str], needs: &[&str]) -> Value {
    json!({
        "id": id, "title": format!("Task {id}"), "status": status, "type": "test", "agent": "code-developer",
        "context": {"requirements": ["r"], "scope": ["src"], "acceptance": ["a"], "inherited_from": parent},
        "relations": {"parent": parent, "subtasks": parts, "dependencies": needs},
        "execution": {"attempts": 2, "last_attempt": "2026-11-02T10:30:00Z"},
        "meta": {"created": "2026-11-01T10:00:00Z", "updated": "2026-11-02T11:00:00Z"}, "estimate": "2h",
    })
}

#[test]
fn workflows_come_back_whole_with_their_tasks() {
    let tasks = [
        task("impl-1", "container", None, &["impl-1.1", "impl-1.2"], &[]),
        task("impl-1.1", "active", Some("impl-1"), &[], &["impl-1.2"]),
        task("impl-1.2", "completed", Some("impl-1"), &[], &[]),
        task("impl-2", "blocked", None, &[], &["impl-1"]),
        task("impl-3", "pending", None, &[], &[]),
    ];
    let folder = ".workflow/WFS-csv";
    let implementing = json!({"current_phase": "IMPLEMENT", "status": "active", "checkpoints": {"plan": "2026-11-02T10:00:00Z"},
        "progress": {"completed_phases": ["PLAN"], "current_tasks": ["impl-1.1"], "last_checkpoint": "2026-11-02T10:00:00Z"},
        "state_transitions": [{"phase_completed": "PLAN", "next_phase": "IMPLEMENT", "completed_at": "2026-11-02T10:00:00Z",
            "artifacts": {"plan_document": "IMPL_PLAN.md"}}]});
    comes_back(&ccw(folder, &json!({"current_phase": "PLAN", "status": "active"}), &[]));
    comes_back(&ccw(folder, &implementing, &tasks));
    let mut paused = implementing.clone();
    paused["status"] = json!("paused");
    comes_back(&ccw(folder, &paused, &tasks));
    let done = json!({"current_phase": "COMPLETE", "status": "completed", "completed_at": "2026-11-02T11:00:00Z",
        "progress": {"completed_phases": ["PLAN", "IMPLEMENT", "REVIEW"], "current_tasks": []}});
    comes_back(&ccw(folder, &done, &tasks[2..3]));
    // In later releases, the folder shows whether a session is active.
    comes_back(&ccw(".workflow/active/WFS-csv", &implementing, &tasks));
    comes_back(&ccw(".workflow/archives/WFS-csv", &done, &tasks[2..3]));
}

pub(super) fn praxis(path: &str, fields: &Value) -> Case {
    let mut state = json!({
        "session_id": "s", "workflow_type": "ship_v1", "target_file": "docs/import.md", "current_phase": 2,
        "completed_phases": [0, 1],
        "phase_artifacts": {
            "0": {"phase_number": 0, "evidence": {"read": 3}, "outputs": {"n": [1]}, "commands_executed":
                [{"command": "make", "output": "ok", "exit_code": 0, "executed_at": "2026-11-14T09:20:00", "duration_ms": 12}],
                "timestamp": "2026-11-14T09:30:00.500000"},
            "1": {"phase_number": 1, "evidence": {"tests": 5}, "outputs": {}, "commands_executed": [],
                "timestamp": "2026-11-14T09:40:00.500000"}},
        "checkpoints": {"0": "passed", "1": "passed"}, "created_at": "2026-11-14T09:00:00",
        "updated_at": "2026-11-14T09:45:00.500000", "metadata": {"total_phases": 3, "theirs": {"kept": [1.25]}},
        "extra": {"huge": 1.25},
    });
    for (key, value) in fields.as_object().unwrap() {
        state[key] = value.clone();
    }
    let text = state.to_string().replace("1.25", "12345678901234567890123");
    Case {
        layout: "praxis",
        path: path.to_owned(),
        files: vec![(path.to_owned(), text)],
        theirs: &["\"huge\":12345678901234567890123", "12345678901234567890123]"],
    }
}

#[test]
fn praxis_files_of_every_shape_come_back_whole_with_evidence_and_attempts() {
    let first = ".praxis-os/.cache/state/s.json";
    comes_back(&praxis(first, &json!({})));
    comes_back(&praxis(first, &json!({"checkpoints": {"0": "passed", "1": "passed", "2": "failed"}})));
    comes_back(&praxis(first, &json!({"completed_phases": [0, 1, 2], "current_phase": 3})));
    comes_back(&praxis(".agent-os/state/s.json", &json!({"completed_phases": [], "current_phase": 0})));
    let timings = json!({"phase_timings": {
        "0": {"phase": 0, "started_at": "2026-11-14T09:00:00", "completed_at": "2026-11-14T09:30:00.500000", "duration_seconds": 1800.5},
        "1": {"phase": 1, "started_at": "2026-11-14T09:30:00.500000", "completed_at": "2026-11-14T09:40:00.500000", "duration_seconds": 600},
        "2": {"phase": 2, "started_at": "2026-11-14T09:40:00.500000"}},
        "evidence_submitted": {"0": {"read": 3}, "1": {"tests": 5}}, "status": "active"});
    comes_back(&praxis(".praxis-os/state/workflow/active/s.json", &timings));
    let mut failed = timings.clone();
    failed["error_reason"] = json!("disk full");
    failed["status"] = json!("error");
    comes_back(&praxis(".praxis-os/state/workflow/error/s.json", &failed));
    let attempts = json!({"created_at": "2026-11-14T09:00:00Z", "updated_at": "2026-11-14T09:45:00Z",
        "checkpoints": {"0": "passed", "1": "passed", "2": "failed"},
        "metadata": {"theirs": {"kept": [1.25]}, "attempts": {"2": [
            {"at": "2026-11-14T09:41:00Z", "outcome": "failed", "evidence": {"n": 1}},
            {"at": "2026-11-14T09:42:00Z", "outcome": "failed", "evidence": {"n": 2}}]}},
        "workflow_structure": {"total_phases": 3, "starting_phase": 0, "indexing_scheme": "zero_based", "workflow_version": "1.2"},
        "phase_timing": {"0": {"started_at": "2026-11-14T09:00:00Z", "completed_at": "2026-11-14T09:30:00Z", "duration_seconds": 1500, "paused_duration_seconds": 300},
            "1": {"started_at": "2026-11-14T09:30:00Z", "completed_at": "2026-11-14T09:40:00Z", "duration_seconds": 600},
            "2": {"started_at": "2026-11-14T09:40:00Z"}},
        "lifecycle": {"completed": false, "paused": true, "paused_at": "2026-11-14T09:44:00Z", "paused_reason": "inactivity",
            "paused_context": "in the middle", "resume_count": 2, "last_error": null}});
    comes_back(&praxis(first, &attempts));
}

pub(super) fn essay(state: &str) -> Case {
    let folder = "essay-pipeline-20261114-100000";
    let mut files = vec![(format!("{folder}/session-state.yaml"), state.to_owned())];
    let names =
        ["stage-1-thesis.md", "stage-2-outline.md", "stage-3-section-1-arguments.md", "stage-4-draft.md"];
    files.extend(
        names
            .iter()
            .map(|name| (format!("{folder}/{name}"), "## Section 1\n\na b\n\n## Section 2\n".to_owned())),
    );
    Case {
        layout: "essay",
        path: folder.to_owned(),
        files,
        theirs: &["mood: 'good'   # nobody knows this key", "# the end"],
    }
}

pub(super) const ESSAY: &str = r#"# Ada's essay, by hand
pipeline_id: "essay-77"   # hers
started_at: "2026-11-13T08:00:00Z"
last_activity: "2026-11-14T09:00:00Z"
status: in_progress
pushback_level: minimal
session_dir: "."
mood: 'good'   # nobody knows this key
current_stage: 4
current_stage_name: paragraph_writing
stages:
  stage_1: {status: completed, thesis_file: stage-1-thesis.md, claim_type: argument, completed_at: "2026-11-13T09:00:00Z"}
  stage_2:
    status: needs_review   # since the revision
    outline_file: stage-2-outline.md
    total_sections: 2
    target_word_count: 1000
    audience: general
    completed_at: "2026-11-13T10:00:00Z"
  stage_3:
    status: completed
    total_sections: 2
    current_section: 2
    sections:
      - {section_index: 1, status: completed, argument_map_file: stage-3-section-1-arguments.md, verified_claims: 3, deferred_claims: 0, completed_at: "2026-11-13T11:00:00Z", colour: red}
      - {section_index: 2, status: completed, argument_map_file: null, verified_claims: 1, deferred_claims: 1, completed_at: "2026-11-13T11:30:00Z"}
    birds_eye_approved: true
    completed_at: "2026-11-13T12:00:00Z"
  stage_4:
    status: in_progress
    current_section: 1
    current_paragraph: 2
    draft_file: stage-4-draft.md
    sections:
      - {section_index: 1, total_paragraphs: 3, completed_paragraphs: 1, status: in_progress, voice_check_score: 4.5}
      - {section_index: 2, total_paragraphs: 2, completed_paragraphs: 0, status: not_started, voice_check_score: null}
    completed_at: null
voice_calibration: {first_assessment_user_rating: 4, calibration_notes: "drier", voice_reference_mode: sample}
deferred_verifications:
  - {claim_text: "Half silt up", section: 2, paragraph: 1, reason: timeout, added_at: "2026-11-13T10:20:00Z", resolved: false}
  - {claim_text: "Built in 1820", section: 1, paragraph: 1, reason: offline, added_at: "2026-11-13T10:25:00Z", resolved: true}
user_overrides:
  - {claim_text: "The pier is older", fact_checker_result: disputed, user_action: override, user_rationale: "seen it", logged_at: "2026-11-13T10:30:00Z"}
revision_history:
  - {revised_at: "2026-11-13T10:40:00Z", stage: 2, reason: "new angle", impact: moderate, stages_flagged: [3]}
output: {final_essay_file: null, completed_at: null}
# the end
"#;

#[test]
fn essays_come_back_whole_with_sections_claims_and_comments() {
    comes_back(&essay(ESSAY));
    comes_back(&essay(&ESSAY.replace("status: in_progress\npushback", "status: paused\npushback")));
    comes_back(&essay(&ESSAY.replace("status: in_progress\npushback", "status: abandoned\npushback")));
}

#[test]
fn a_session_that_stays_in_its_files_is_exported_as_they_are_to_the_byte() {
    let tasks = [task("impl-1", "active", None, &[], &[])];
    let cases = [
        ocr(
            &json!({"workflow_type": "review", "status": "active", "current_phase": "reviews", "phase_number": 4,
            "current_round": 1, "round_started_at": "2026-11-14T09:30:00Z"}),
            &["context.md"],
        ),
        ccw(
            ".workflow/WFS-csv",
            &json!({"current_phase": "IMPLEMENT", "status": "active",
            "progress": {"completed_phases": ["PLAN"], "current_tasks": ["impl-1"]}}),
            &tasks,
        ),
        essay(ESSAY),
    ];
    for case in cases {
        let sandbox = fresh();
        put(&sandbox, &case);
        let id = sandbox.run(["list", "--json"]).ok().json()["sessions"][0]["session_id"].clone();
        sandbox.run(["export", "--layout", case.layout, "out", "--session", id.as_str().unwrap()]).ok();
        for (path, text) in &case.files {
            assert_eq!(sandbox.read(&format!("out/{path}")), *text, "{path}");
        }
        // This holds after leftoff has adopted and written the session, too.
        sandbox.run(["note", "remember", "--session", id.as_str().unwrap()]).ok();
        sandbox.run(["export", "--layout", case.layout, "again", "--session", id.as_str().unwrap()]).ok();
        for (path, _) in &case.files {
            assert_eq!(sandbox.read(&format!("again/{path}")), sandbox.read(path), "{path}");
        }
    }
}

#[test]
fn a_session_that_lay_for_long_before_its_import_is_no_more_paused_in_its_files_than_it_was() {
    for path in [".praxis-os/.cache/state/s.json", ".praxis-os/state/workflow/active/s.json"] {
        let case = praxis(path, &json!({}));
        let sandbox = fresh();
        put(&sandbox, &case);
        sandbox.at("2026-11-20T09:00:00Z");
        sandbox.run(["import", path]).ok();
        sandbox.run(["note", "remember", "--session", "s"]).ok();
        sandbox.run(["export", "--layout", "praxis", "out", "--session", "s"]).ok();
        assert_eq!(sandbox.read(&format!("out/{path}")), case.files[0].1, "{path}");
        // A pause that was requested after the import is exported.
        sandbox.run(["resume", "s"]).ok();
        sandbox.run(["pause", "--session", "s", "--reason", "lunch"]).ok();
        sandbox.run(["export", "--layout", "praxis", "later", "--session", "s"]).ok();
        let later: Value = serde_json::from_str(&sandbox.read(&format!("later/{path}"))).unwrap();
        // In version 2 of the format, there is no other place for the lifecycle.
        let ours = if path.contains("workflow") { &later["metadata"]["leftoff"] } else { &later };
        assert_eq!(ours["lifecycle"]["paused"], true, "{path}");
    }
}
