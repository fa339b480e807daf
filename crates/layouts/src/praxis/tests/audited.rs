//! Tests of errors that were found in files of real sessions: idle time, errors, evidence, timings.

use super::*;
use model::gate::{AttemptOutcome, CheckResult};
use model::lifecycle::Lifecycle;

fn fields(text: &str) -> Map<String, Value> {
    crate::json::object(text.as_bytes()).expect("an object")
}

/// The session in the newest format, after a change to its values.
fn seed_with(change: impl FnOnce(&mut Map<String, Value>)) -> Case {
    let mut fields = fields(SEED_FILE);
    change(&mut fields);
    Case::first(&Value::Object(fields).to_string())
}

/// The case, with a strict gate in phase 1 that requires most tests to pass.
fn with_gate(case: Case) -> Case {
    let metadata = r#"{"workflow_type": "ship_v1", "version": "v1", "total_phases": 3,
        "description": "Ships a change", "phases": [
        {"phase_number": 0, "phase_name": "Plan"}, {"phase_number": 1, "phase_name": "Build"},
        {"phase_number": 2, "phase_name": "Release"}]}"#;
    let gate = "checkpoint: {strict: true}\nevidence_schema:\n  coverage: {type: integer, required: true, \
        validator: enough}\nvalidators:\n  enough: \"lambda x: x >= 80\"\n";
    case.with(".praxis-os/workflows/ship_v1/metadata.json", metadata)
        .with(".praxis-os/workflows/ship_v1/phases/1/gate-definition.yaml", gate)
}

fn paused() -> Event {
    Event::SessionPaused { reason: "user_request".to_owned(), context: None, saved: Vec::new() }
}

fn phase(session: &Session, at: usize) -> model::phase::Phase {
    session.run().expect("a run").phases[at].clone()
}

#[test]
fn p3_when_the_file_was_last_written_is_when_something_last_happened() {
    for (case, written) in [
        (
            Case::first_with(|fields| fields["updated_at"] = json!("2026-02-01T12:55:00")),
            "2026-02-01T11:55:00Z",
        ),
        (seed_with(|fields| fields["updated_at"] = json!("2026-02-01T11:55:00Z")), "2026-02-01T11:55:00Z"),
        // The clock of the program that wrote the file was ahead.
        (seed_with(|fields| fields["updated_at"] = json!("2026-02-03T00:00:00Z")), "2026-02-01T12:00:00Z"),
    ] {
        let session = case.session();
        assert_eq!(session.updated_at.to_string(), written);
        assert_eq!(session.lifecycle, Lifecycle::Active);
        assert_eq!(case.written(&session), None, "it is no change");
    }
}

#[test]
fn p4_evidence_in_the_file_that_the_gate_accepts_shows_the_phase() {
    let with = |coverage: u32| {
        with_gate(Case::first_with(|fields| {
            fields["phase_artifacts"]["1"]["evidence"] = json!({"coverage": coverage});
        }))
    };
    let session = with(85).session();
    let built = phase(&session, 1);
    assert!(built.is_done() && !built.claimed, "{built:?}");
    let last = built.last_attempt().expect("an attempt");
    assert_eq!(last.report.evidence["coverage"], json!(85));
    assert_eq!(last.at.to_string(), "2025-11-02T09:00:00Z", "when its tool recorded it");
    assert!(last.report.checks.iter().any(|check| check.kind == "expr") && last.report.passes());
    let session = with(65).session();
    assert!(phase(&session, 1).claimed, "what our gate would refuse is its word alone");
    for case in [with(85), with(65)] {
        assert_eq!(case.written(&case.session()), None);
    }
}

#[test]
fn p4_a_failed_phase_that_the_work_has_left_is_told_with_its_evidence() {
    let case = with_gate(seed_with(|fields| {
        fields["current_phase"] = json!(2);
        fields["metadata"] = json!({});
        fields["phase_artifacts"]["1"] = json!({"phase_number": 1, "evidence": {"coverage": 65},
            "outputs": {}, "commands_executed": [], "timestamp": "2025-11-02T09:40:00Z"});
        fields["checkpoints"]["2"] = json!("pending");
        fields["phase_timing"]["2"] = json!({"started_at": "2025-11-02T09:41:00Z"});
    }));
    case.stands(("active", 2, 1, 3));
    let built = phase(&case.session(), 1);
    let last = built.last_attempt().expect("an attempt");
    assert_eq!((last.outcome, &last.report.evidence["coverage"]), (AttemptOutcome::Failed, &json!(65)));
    let failed: Vec<&CheckResult> = last.report.checks.iter().filter(|check| check.failed()).collect();
    assert_eq!(failed[0].found.as_deref(), Some("coverage=65"), "{failed:?}");
    assert_eq!(case.written(&case.session()), None);
}

#[test]
fn p5_an_error_before_later_work_is_history() {
    let with = |at: &str, resumed: Value| {
        seed_with(|fields| {
            fields["lifecycle"]["last_error"] = json!("disk full");
            fields["lifecycle"]["last_error_at"] = json!(at);
            fields["lifecycle"]["resumed_at"] = resumed;
        })
    };
    with("2025-11-02T09:10:00Z", Value::Null).stands(("active", 1, 1, 3)).warns("disk full");
    with("2025-11-02T09:44:00Z", Value::Null).stands(("failed", 1, 1, 3));
    with("2025-11-02T09:44:00Z", json!("2025-11-02T09:50:00Z")).stands(("active", 1, 1, 3));
}

#[test]
fn p5_an_error_of_a_completed_session_is_no_warning() {
    let case = seed_with(|fields| {
        fields["lifecycle"]["last_error"] = json!("disk full");
        fields["lifecycle"]["last_error_at"] = json!("2025-11-02T09:10:00Z");
        fields["lifecycle"]["completed"] = json!(true);
    });
    assert_eq!(case.session().lifecycle.name(), "completed");
    assert!(!case.warnings().concat().contains("disk full"), "{:?}", case.warnings());
}

#[test]
fn p5_an_error_stays_when_the_session_is_resumed() {
    let failed = Event::SessionFailed { error: "disk full".to_owned() };
    let resumed = Event::SessionResumed { worktree: "/w".to_owned(), parallel: false, machine: None };
    let at = "2025-11-02T10:00:00Z";
    for case in [Case::first(SEED_FILE), Case::first(FIRST_FILE)] {
        let (_, failed) = case.after(&[(at, failed.clone())]);
        assert_eq!(failed.session().lifecycle.name(), "failed");
        // Both events have the same time, as they have when a test sets the clock.
        let (text, on) = failed.after(&[(at, resumed.clone())]);
        assert_eq!(fields(&text)["lifecycle"]["last_error"], json!("disk full"));
        assert_eq!(on.session().lifecycle.name(), "active");
        let again = Event::SessionFailed { error: "out of memory".to_owned() };
        let (text, again) = on.after(&[(at, again)]);
        assert_eq!(fields(&text)["lifecycle"]["last_error"], json!("out of memory"));
        assert_eq!(again.session().lifecycle.name(), "failed");
    }
}

#[test]
fn p6_after_going_back_no_phase_that_was_not_begun_has_an_open_timing() {
    let back = Event::RolledBack { phase: definition::phase_name(0), reason: None };
    let (text, after) = Case::first(SEED_FILE).after(&[("2025-11-02T10:00:00Z", back.clone())]);
    let timing = fields(&text)["phase_timing"].clone();
    assert_eq!(timing.as_object().expect("an object").keys().collect::<Vec<_>>(), ["0"], "{text}");
    after.stands(("active", 0, 0, 3));
    let open = SECOND_FILE.replace("\"total_phases\": 2", "\"total_phases\": 3");
    let (text, _) = Case::new(&second("active"), &open).after(&[("2025-11-02T10:00:00Z", back)]);
    let timings = fields(&text)["phase_timings"].clone();
    assert!(timings.get("2").is_none() && timings["1"]["completed_at"].is_string(), "{text}");
}

#[test]
fn p6_a_failed_attempt_of_version_2_keeps_its_time() {
    let open = SECOND_FILE.replace("\"total_phases\": 2", "\"total_phases\": 3");
    let tried = ("2025-11-02T09:30:00Z", failed(2, json!({"n": 1})));
    let (_, after) = Case::new(&second("active"), &open).after(&[tried]);
    let last = phase(&after.session(), 2).last_attempt().expect("an attempt").clone();
    assert_eq!(last.at.to_string(), "2025-11-02T09:30:00Z");
}

/// In the newest format, a timing without an end means that the phase is in progress.
#[test]
fn a_skipped_phase_has_no_open_timing() {
    let skip = |number| Event::PhaseSkipped {
        phase: definition::phase_name(number),
        reason: "not needed".to_owned(),
        not_applicable: false,
    };
    let (text, _) = Case::first(SEED_FILE).after(&[("2025-11-02T10:00:00Z", skip(1))]);
    let timing = fields(&text)["phase_timing"]["1"].clone();
    assert_eq!(
        (&timing["completed_at"], &timing["duration_seconds"]),
        (&json!("2025-11-02T10:00:00Z"), &json!(1800)),
        "{text}"
    );
    let open = SECOND_FILE.replace("\"total_phases\": 2", "\"total_phases\": 3");
    let (text, _) = Case::new(&second("active"), &open).after(&[("2025-11-02T10:00:00Z", skip(2))]);
    assert!(fields(&text)["phase_timings"]["2"]["completed_at"].is_string(), "{text}");
}

/// Only the last phase has a time. Other phases happened too between the session's start and that time, so
/// the start of this phase is unknown.
#[test]
fn p9_a_phase_after_untimed_ones_has_no_length() {
    let case = Case::first_with(|fields| {
        fields["phase_artifacts"].as_object_mut().expect("an object").remove("0");
    });
    let session = case.session();
    let lengths: Vec<Option<u64>> = (0..2).map(|at| phase(&session, at).duration_seconds()).collect();
    assert_eq!(lengths, [Some(0), Some(0)]);
    let timed = Case::first(FIRST_FILE).session();
    assert_eq!(phase(&timed, 1).duration_seconds(), Some(55 * 60), "after a timed one it has");
    assert_eq!(case.written(&session), None);
}

/// The tool writes `updated_at` when it advances to a phase. No other value gives the start of that phase.
#[test]
fn p9_the_current_phase_after_untimed_ones_began_when_the_file_was_last_written() {
    let case = Case::first_with(|fields| {
        fields["phase_artifacts"] = json!({});
        fields["completed_phases"] = json!([0, 1]);
        fields["current_phase"] = json!(2);
        fields["updated_at"] = json!("2025-11-02T12:00:00");
    });
    let began = phase(&case.session(), 2).started_at().expect("a start").to_string();
    assert_eq!(began, "2025-11-02T11:00:00Z", "not when the session began");
    let (text, _) = case.after(&[("2025-11-02T11:10:00Z", completed(2, json!({})))]);
    let timing = &fields(&text)["phase_timing"]["2"];
    assert_eq!(timing["duration_seconds"], json!(600), "{text}");
}

/// A file may have more completed phases than times.
#[test]
fn p9_no_time_is_made_up_for_a_phase_whose_time_the_file_does_not_tell() {
    let case = seed_with(|fields| {
        fields["completed_phases"] = json!([0, 1]);
        fields["current_phase"] = json!(2);
        fields["checkpoints"] = json!({"0": "passed", "1": "passed"});
        fields["phase_timing"].as_object_mut().expect("an object").remove("1");
        fields["metadata"] = json!({});
    });
    let (text, after) = case.after(&[("2026-02-01T11:00:00Z", paused())]);
    let written = fields(&text);
    assert_eq!(
        written["phase_timing"].as_object().map(|all| all.keys().map(String::as_str).collect::<Vec<_>>()),
        Some(vec!["0", "2"])
    );
    let (text, _) = after.after(&[("2026-02-01T11:30:00Z", completed(2, json!({})))]);
    assert!(fields(&text)["phase_timing"].get("1").is_none(), "{text}");
}

/// A phase that is called completed may have a start and no end.
#[test]
fn p9_no_end_is_made_up_for_a_phase_whose_end_the_file_does_not_tell() {
    let first = seed_with(|fields| {
        fields["completed_phases"] = json!([0, 1]);
        fields["current_phase"] = json!(2);
        fields["checkpoints"]["1"] = json!("passed");
        fields["phase_timing"]["2"] = json!({"started_at": "2025-11-02T09:20:00Z"});
        fields["metadata"] = json!({});
    });
    let second_file = SECOND_FILE
        .replace("\"2025-11-02T10:00:00\", \"duration_seconds\": 3300.0", "null, \"duration_seconds\": null")
        .replace("\"total_phases\": 2", "\"total_phases\": 3");
    let second = Case::new(&second("active"), &second_file);
    for (case, section) in [(first, "phase_timing"), (second, "phase_timings")] {
        let path = file_of(&case.spot, &case.tree);
        let begun = fields(str::from_utf8(case.tree.content(&path).expect("its file")).expect("text"))
            [section]["1"]
            .clone();
        let (text, after) = case.after(&[("2026-02-01T11:00:00Z", paused())]);
        assert_eq!(fields(&text)[section]["1"], begun, "{text}");
        let (text, _) = after.after(&[("2026-02-01T11:30:00Z", completed(2, json!({})))]);
        assert_eq!(fields(&text)[section]["1"], begun, "{text}");
        assert!(fields(&text)[section]["2"]["completed_at"].is_string(), "ours is known: {text}");
    }
}

/// The tool records when an attempt ended, also if its checkpoint failed.
#[test]
fn p6_the_end_of_a_failed_attempt_stays_until_the_phase_is_done() {
    for current in [1, 2] {
        let case = seed_with(|fields| {
            fields["current_phase"] = json!(current);
            fields["phase_timing"]["1"]["completed_at"] = json!("2025-11-02T09:45:00Z");
            fields["phase_timing"]["2"] = json!({"started_at": "2025-11-02T09:45:00Z"});
        });
        let (text, after) = case.after(&[("2025-11-02T11:00:00Z", paused())]);
        assert_eq!(
            fields(&text)["phase_timing"]["1"],
            json!({"started_at": "2025-11-02T09:30:00Z", "completed_at": "2025-11-02T09:45:00Z"}),
            "{text}"
        );
        let (text, _) = after.after(&[("2025-11-02T11:10:00Z", completed(1, json!({})))]);
        assert_eq!(fields(&text)["phase_timing"]["1"]["completed_at"], "2025-11-02T11:10:00Z", "{text}");
    }
}

#[test]
fn a_text_that_looks_like_the_wanted_value_is_in_quotes() {
    seed_with(|fields| fields["lifecycle"]["completed"] = json!("false"))
        .warns("lifecycle.completed is \"false\", not true or false");
}

#[test]
fn a_section_that_is_null_is_one_again_in_what_we_write() {
    for section in ["phase_artifacts", "checkpoints"] {
        for case in [
            seed_with(|fields| fields[section] = Value::Null),
            Case::first_with(|fields| fields[section] = Value::Null),
        ] {
            case.warns(section);
            let (text, after) = case.after(&[("2026-02-01T11:00:00Z", paused())]);
            assert!(fields(&text)[section].is_object(), "{text}");
            assert!(
                after.warnings().iter().all(|warning| !warning.contains(section)),
                "{:?}",
                after.warnings()
            );
        }
    }
}

/// A failed check is explained by the text in the gate, not only by its lambda.
#[test]
fn p4_a_failed_check_says_what_the_gate_says_about_its_field() {
    let described = "evidence_schema:\n  coverage: {type: integer, required: true, validator: enough, \
        description: Coverage requirement is 80%}\nvalidators:\n  enough: \"lambda x: x >= 80\"\n";
    let case = with_gate(seed_with(|fields| {
        fields["metadata"] = json!({});
        fields["phase_artifacts"]["1"] = json!({"phase_number": 1, "evidence": {"coverage": 65},
            "outputs": {}, "commands_executed": [], "timestamp": "2025-11-02T09:40:00Z"});
    }))
    .with(".praxis-os/workflows/ship_v1/phases/1/gate-definition.yaml", described);
    let built = phase(&case.session(), 1);
    let last = built.last_attempt().expect("an attempt");
    let failed = last.report.checks.iter().find(|check| check.failed()).expect("a failed check");
    assert_eq!(failed.needed.as_deref(), Some("Coverage requirement is 80% (lambda x: x >= 80)"));
    assert!(failed.help.as_deref().is_some_and(|help| help.contains("Coverage requirement is 80%")));
}

#[test]
fn p9_a_definition_that_grew_is_nothing_to_mend() {
    let case = with_gate(seed_with(|fields| fields["workflow_structure"]["total_phases"] = json!(2)));
    let told = case.told().warnings;
    let grew = told.iter().find(|problem| problem.to_string().contains("the recorded number is used"));
    assert!(!grew.expect("it is told").needs_repair());
}

#[test]
fn p9_a_session_of_a_specification_is_titled_by_it() {
    let case =
        seed_with(|fields| fields["metadata"] = json!({"spec_path": ".praxis-os/specs/2025-11-02-import/"}));
    assert_eq!(case.session().title, "2025-11-02-import");
}

#[test]
fn p9_a_specification_path_without_a_name_gives_no_title() {
    let with = |spec: &str| seed_with(|fields| fields["metadata"] = json!({"spec_path": spec}));
    let named_by_target = seed_with(|fields| fields["metadata"] = json!({}));
    assert_eq!(with("...").session().title, named_by_target.session().title);
}
