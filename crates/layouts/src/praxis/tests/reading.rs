//! Tests of reading files in all three formats.

use super::*;
use model::gate::AttemptOutcome;
use model::lifecycle::Lifecycle;

#[test]
fn v1_is_read_with_its_ten_keys_and_its_local_times() {
    let case = Case::first(FIRST_FILE);
    case.stands(("active", 2, 2, 3));
    let session = case.session();
    assert_eq!(session.created_at.to_string(), "2025-11-02T08:00:00.123456Z");
    assert_eq!(session.target.as_deref(), Some(".praxis-os/specs/2025-11-02-import"));
    assert_eq!(session.title, "2025-11-02-import");
    assert_eq!(session.fields["spec_path"], json!(".praxis-os/specs/2025-11-02-import"));
    let run = session.run().expect("a run");
    assert_eq!((run.workflow.name.as_str(), run.current().id().as_str()), ("ship_v1", "2"));
    let first = run.phases.first().expect("a phase");
    let attempt = first.last_attempt().expect("an attempt");
    assert_eq!(attempt.report.evidence["files_read"], json!(4));
    assert_eq!(attempt.report.outputs["commands_executed"][0]["command"], json!("make check"));
    assert_eq!(first.completed_at().map(|at| at.to_string()).as_deref(), Some("2025-11-02T08:05:00.25Z"));
}

#[test]
fn v1_is_found_in_each_of_its_places_and_nothing_else_is() {
    for folder in [".praxis-os/.cache/state", ".agent-os/.cache/state", ".agent-os/state"] {
        let spot = Praxis.identify(&format!("{folder}/x1.json"), false).expect("a session");
        assert_eq!((spot.id.as_str(), spot.path), ("x1", format!("{folder}/x1.json")));
        assert!(Praxis.facts().places.contains(&Place::Project(match folder {
            ".praxis-os/.cache/state" => ".praxis-os/.cache/state",
            ".agent-os/.cache/state" => ".agent-os/.cache/state",
            _ => ".agent-os/state",
        })));
    }
    for path in [
        ".praxis-os/.cache/state/x1.json.bak",
        ".praxis-os/.cache/state/.x1.json",
        ".praxis-os/.cache/state/sub/x1.json",
        ".praxis-os/state/browser/active/x1.json",
        ".praxis-os/.cache/state/notes.md",
    ] {
        assert!(Praxis.identify(path, false).is_none(), "{path}");
    }
    assert!(Praxis.identify(FIRST_PATH, true).is_none(), "a folder");
}

#[test]
fn reading_an_old_shape_warns_of_the_legacy_format() {
    Case::first(FIRST_FILE).warns("legacy session format, limited resumption context");
    Case::new(&second("active"), SECOND_FILE).warns("legacy session format, limited resumption context");
    let seed = Case::first(SEED_FILE).warnings();
    assert!(!seed.iter().any(|warning| warning.contains("legacy")), "{seed:?}");
}

#[test]
fn after_the_last_phase_current_phase_is_one_too_many_and_is_brought_back() {
    let case = Case::first_with(|fields| {
        fields["current_phase"] = json!(3);
        fields["completed_phases"] = json!([0, 1, 2]);
    });
    case.stands(("completed", 2, 3, 3));
    assert_eq!(case.warnings().len(), 2, "legacy, and no definition: {:?}", case.warnings());
    let beyond = Case::first_with(|fields| fields["current_phase"] = json!(9));
    beyond
        .stands(("active", 2, 2, 3))
        .warns("current_phase is 9, but the phases are 0 to 2; phase 2 is used");
    let negative = Case::first_with(|fields| fields["current_phase"] = json!(-1));
    negative.stands(("active", 2, 2, 3)).warns("current_phase is -1");
}

#[test]
fn it_is_zero_based_if_the_lowest_completed_phase_is_0_or_none_is_and_the_current_one_is_0() {
    let stands = |current: u32, completed: Value, expected| {
        Case::first_with(|fields| {
            fields["current_phase"] = json!(current);
            fields["completed_phases"] = completed;
        })
        .stands(expected);
    };
    stands(1, json!([0]), ("active", 1, 1, 3));
    stands(0, json!([]), ("active", 0, 0, 3));
    stands(1, json!([]), ("active", 1, 0, 3));
    stands(3, json!([1, 2]), ("active", 3, 2, 3));
    stands(4, json!([1, 2, 3]), ("completed", 3, 3, 3));
}

#[test]
fn it_is_completed_if_the_completed_phases_are_the_whole_range_of_the_recorded_total() {
    for (completed, expected) in [
        (json!([0, 1, 2]), ("completed", 2, 3, 3)),
        (json!([2, 1, 0]), ("completed", 2, 3, 3)),
        (json!([0, 2]), ("active", 1, 2, 3)),
    ] {
        Case::first_with(|fields| {
            fields.remove("current_phase");
            fields["completed_phases"] = completed;
        })
        .stands(expected);
    }
}

#[test]
fn a_total_that_the_completed_phases_exceed_is_ignored_with_a_warning() {
    let case = Case::first_with(|fields| {
        fields["current_phase"] = json!(3);
        fields["completed_phases"] = json!([0, 1, 2]);
        fields["metadata"]["total_phases"] = json!(2);
    });
    case.stands(("active", 3, 3, 4))
        .warns("total_phases is 2, but 3 phases are completed: it is wrong and not used");
    case.warns("nobody can tell whether the session is complete");
}

#[test]
fn a_total_that_is_none_is_not_used() {
    for total in [json!(0), json!("dynamic"), json!(-3), json!(2.5), json!([6]), json!(4_000_000_000_u64)] {
        let case = Case::first_with(|fields| fields["metadata"]["total_phases"] = total.clone());
        case.warns(&format!("total_phases is {total}, which is not a number of phases"))
            .stands(("active", 2, 2, 3));
    }
    for total in [json!(4.0), json!("4")] {
        let case = Case::first_with(|fields| fields["metadata"]["total_phases"] = total.clone());
        case.stands(("active", 2, 2, 4));
        assert_eq!(case.written(&case.session()), None, "{total} is 4, and stays as it is written");
    }
}

#[test]
fn without_a_total_completion_is_unknown_and_said_so() {
    let case = Case::first_with(|fields| fields["metadata"] = json!({}));
    case.warns("nobody can tell whether the session is complete").stands(("active", 2, 2, 3));
    let done = Case::first_with(|fields| {
        fields["metadata"] = json!({});
        fields["current_phase"] = json!(1);
    });
    done.warns("nobody can tell whether the session is complete").stands(("active", 2, 2, 3));
    let run = done.session().run().expect("a run").clone();
    assert!(run.is_open(), "that all known phases are done does not complete it");
}

#[test]
fn a_current_phase_that_is_completed_gives_way_to_the_first_that_is_open() {
    let case = Case::first_with(|fields| {
        fields["current_phase"] = json!(0);
        fields["completed_phases"] = json!([0]);
    });
    case.stands(("active", 1, 1, 3)).warns("current_phase is 0, which is already completed; phase 1 is used");
    let phase = case.session().run().expect("a run").current().clone();
    assert!(phase.started_at().is_some(), "{phase:?}");
    let (text, after) =
        case.after(&[("2026-01-01T10:00:00Z", completed(1, json!({}))), ("2026-01-01T10:00:00Z", begun(2))]);
    assert!(text.contains(r#""current_phase":2"#), "{text}");
    after.stands(("active", 2, 2, 3));
    let all = Case::first_with(|fields| {
        fields["current_phase"] = json!(1);
        fields["completed_phases"] = json!([0, 1, 2]);
    });
    all.stands(("completed", 2, 3, 3));
}

#[test]
fn a_checkpoint_that_failed_is_told_also_where_nothing_says_what_was_submitted() {
    let case = Case::first_with(|fields| {
        fields["phase_artifacts"] = json!({});
        fields["checkpoints"] = json!({"0": "passed", "1": "passed", "2": "failed"});
    });
    let session = case.session();
    assert!(session.run().unwrap().current().last_attempt_failed());
}

#[test]
fn a_checkpoint_is_pending_passed_failed_or_skipped() {
    let case = Case::first_with(|fields| {
        fields["checkpoints"] = json!({"0": "passed", "1": "skipped", "2": "failed"});
        fields["phase_artifacts"]["2"] = json!({"phase_number": 2, "evidence": {"n": 0}, "outputs": {},
            "commands_executed": [], "timestamp": "2025-11-02T10:30:00"});
    });
    let session = case.session();
    let run = session.run().expect("a run");
    let statuses: Vec<&str> = run.phases.iter().map(model::phase::Phase::status).collect();
    assert_eq!(statuses, ["completed", "skipped", "in_progress"]);
    assert!(run.current().last_attempt_failed());
    let odd = Case::first_with(|fields| fields["checkpoints"]["2"] = json!("maybe"));
    odd.warns("checkpoint 2 is \"maybe\", but must be one of pending, passed, failed, skipped");
    let pending = Case::first_with(|fields| fields["checkpoints"]["2"] = json!("pending"));
    assert_eq!(pending.session().run().expect("a run").current().attempts, []);
}

#[test]
fn a_phase_that_is_only_called_completed_is_a_claim() {
    let case = Case::first_with(|fields| {
        fields["checkpoints"] = json!({});
        fields["phase_artifacts"] = json!({});
    });
    let session = case.session();
    assert!(session.run().expect("a run").phases.iter().take(2).all(|phase| phase.claimed));
}

#[test]
fn v2_is_read_with_evidence_and_timings_of_its_own() {
    let case = Case::new(&second("active"), SECOND_FILE);
    // Two phases exist, and both are done. The open timing belongs to a third, which does not exist.
    case.stands(("completed", 1, 2, 2));
    let session = case.session();
    assert_eq!(session.id.as_str(), "workflow_default_0b6a1a86-3f0e-4a53-8a5e-7f1d2c9b4e11");
    let run = session.run().expect("a run");
    let durations: Vec<Option<u64>> = run.phases.iter().map(model::phase::Phase::duration_seconds).collect();
    assert_eq!(durations, [Some(300), Some(3300)]);
    let report = &run.phases.get(1).and_then(|phase| phase.last_attempt()).expect("an attempt").report;
    assert_eq!(
        (&report.evidence["done"], &report.outputs["file_path"]),
        (&json!(true), &json!("out/report.md"))
    );
}

#[test]
fn the_folder_wins_over_the_status() {
    let open = SECOND_FILE.replace("\"total_phases\": 2", "\"total_phases\": 4");
    Case::new(&second("active"), &open.replace("\"status\": \"active\"", "\"status\": \"completed\""))
        .stands(("active", 2, 2, 4))
        .warns("status is 'completed', but it is in the folder active; the folder is used");
    Case::new(&second("completed"), &open).stands(("completed", 2, 2, 4)).warns("the folder is used");
    let agreed = Case::new(&second("active"), &open).warnings();
    assert!(!agreed.iter().any(|said| said.contains("the folder is used")), "{agreed:?}");
    let case =
        Case::new(&second("error"), &open.replace("\"status\"", "\"error_reason\": \"lost\", \"status\""));
    let Lifecycle::Failed { error, .. } = case.session().lifecycle else { panic!("it has failed") };
    assert_eq!(error, "lost");
}

#[test]
fn what_a_folder_calls_completed_without_a_total_has_no_phase_beyond_the_completed_ones() {
    let text = SECOND_FILE.replace("{\"total_phases\": 2}", "{}");
    let done = Case::new(&second("completed"), &text);
    done.stands(("completed", 1, 2, 2));
    assert!(!done.warnings().iter().any(|said| said.contains("unknown")), "{:?}", done.warnings());
    Case::new(&second("active"), &text).warns("unknown").stands(("active", 2, 2, 3));
    // In the newest format, the current phase of a finished session exists.
    let closed = SEED_FILE
        .replace("\"total_phases\": 3", "\"total_phases\": null")
        .replace("\"completed\": false", "\"completed\": true");
    Case::first(&closed).stands(("completed", 1, 1, 2));
}

#[test]
fn a_session_that_moves_between_the_folders_stays_itself() {
    let spots: Vec<Spot> = ["active", "completed", "error"]
        .iter()
        .map(|status| Praxis.identify(&second(status), false).expect("a session"))
        .collect();
    assert!(spots.iter().all(|spot| *spot == spots[0]));
    assert_eq!(
        Praxis.identify(&spots[0].path, false).as_ref(),
        Some(&spots[0]),
        "the path that is kept leads back"
    );
    let case = Case::new(&second("active"), SECOND_FILE).with(&second("error"), SECOND_FILE);
    case.stands(("failed", 1, 2, 2)).warns("the session is also in another folder");
    let moved = Case::new(&second("completed"), SECOND_FILE);
    assert!(Praxis.files(&moved.spot).has_left(&second("active"), &moved.tree));
    assert!(!Praxis.files(&moved.spot).has_left(&second("completed"), &moved.tree));
}

#[test]
fn the_seeds_nine_sections_are_read() {
    let case = Case::first(SEED_FILE);
    case.stands(("active", 1, 1, 3));
    let session = case.session();
    assert_eq!(session.resume_count, 2);
    let run = session.run().expect("a run");
    assert_eq!(run.workflow.version, "v1");
    let (first, second) = (&run.phases[0], &run.phases[1]);
    assert_eq!((first.paused_seconds, first.duration_seconds()), (600, Some(1200)));
    assert_eq!(second.started_at().map(|at| at.to_string()).as_deref(), Some("2025-11-02T09:30:00Z"));
    let outcomes: Vec<AttemptOutcome> = second.attempts.iter().map(|attempt| attempt.outcome).collect();
    assert_eq!(outcomes, [AttemptOutcome::Failed; 2], "every attempt is kept");
    assert_eq!(session.worktree, "/w");
}

#[test]
fn the_seeds_lifecycle_is_read() {
    let with = |lifecycle: Value| {
        let mut fields = crate::json::object(SEED_FILE.as_bytes()).expect("an object");
        fields["lifecycle"] = lifecycle;
        Case::first(&Value::Object(fields).to_string()).session().lifecycle
    };
    let at = "2025-11-02T09:50:00Z";
    let paused = with(
        json!({"paused": true, "paused_at": at, "paused_reason": "checkpoint_failed", "paused_context": "x"}),
    );
    let Lifecycle::Paused { reason, context, at: since, .. } = paused else { panic!("it is paused") };
    assert_eq!(
        (reason.as_str(), context.as_deref(), since.to_string().as_str()),
        ("checkpoint_failed", Some("x"), at)
    );
    assert!(matches!(
        with(json!({"completed": true, "completed_at": at})),
        Lifecycle::Completed { forced: true, .. }
    ));
    assert!(
        matches!(with(json!({"last_error": "boom", "last_error_at": at})), Lifecycle::Failed { error, .. } if error == "boom")
    );
    assert!(matches!(
        with(json!({"paused": true, "paused_reason": "abandoned"})),
        Lifecycle::Abandoned { .. }
    ));
    assert_eq!(with(json!({"completed": false})), Lifecycle::Active);
}

#[test]
fn an_unknown_workflow_type_is_not_accepted_silently_and_no_phase_is_made_up() {
    let case = Case::first(FIRST_FILE);
    case.warns("workflow 'ship_v1' is not defined in this project");
    let names: Vec<String> =
        case.session().run().expect("a run").phases.iter().map(|phase| phase.stub.title.clone()).collect();
    assert_eq!(names, ["Phase 0", "Phase 1", "Phase 2"]);
    Case::first_with(|fields| drop(fields.remove("workflow_type"))).warns("workflow_type is missing");
}

#[test]
fn a_file_that_cannot_be_read_is_said_to_be_and_tells_nothing() {
    for (text, why) in [
        ("", "it is empty"),
        ("{\"a\":", "not JSON"),
        ("[]", "not a JSON object"),
        ("null", "not a JSON object"),
        ("{\"name\": \"package\"}", "it has none of the keys session_id"),
    ] {
        let case = Case::first(text);
        case.warns(why);
        assert_eq!(case.told().value.unreadable, [FIRST_PATH]);
        case.stands(("active", 1, 0, 1));
    }
}

#[test]
fn what_is_odd_in_a_field_is_said_and_the_rest_is_told() {
    let case = Case::first_with(|fields| {
        fields["completed_phases"] = json!([0, "1", 1, true, -2, 7_000]);
        fields["created_at"] = json!("yesterday");
        fields["updated_at"] = json!("2031-01-01T00:00:00");
        fields["metadata"]["more"] = json!({"kept": [1]});
        fields["phase_artifacts"]["x"] = json!({});
    });
    for part in
        ["twice", "true, which is not a phase number", "-2", "7000", "not a time", "in the future", "'x'"]
    {
        case.warns(part);
    }
    assert_eq!(case.session().fields["more"], json!({"kept": [1]}));
    let lists = Case::first_with(|fields| {
        fields["completed_phases"] = json!("all");
        fields["metadata"] = json!([]);
        fields["phase_artifacts"] = json!(3);
    });
    lists.warns("completed_phases is all, not a list").warns("metadata is []").warns("phase_artifacts is 3");
}

#[test]
fn what_python_writes_for_no_number_is_named_and_stays_and_damages_nothing() {
    let text = FIRST_FILE
        .replace("\"files_read\": 4", "\"files_read\": 4, \"ratio\": NaN")
        .replace("1.50e2", "-Infinity");
    let case = Case::first(&text);
    case.warns("phase_artifacts.0.evidence.ratio is NaN")
        .warns("phase_artifacts.0.commands_executed.0.duration_ms is -Infinity")
        .stands(("active", 2, 2, 3));
    assert!(Praxis.is_whole(FIRST_PATH, text.as_bytes()));
    assert_eq!(case.written(&case.session()), None);
    let (after, _) = case.after(&[("2025-11-02T09:30:00Z", completed(2, json!({"n": 1})))]);
    assert!(after.contains("\"ratio\": NaN") && after.contains("\"duration_ms\": -Infinity"), "{after}");
}

#[test]
fn a_section_that_is_null_is_named_and_says_nothing() {
    for section in ["lifecycle", "metadata", "workflow_structure", "phase_timing", "phase_timings"] {
        let case = Case::first_with(|fields| {
            fields.insert(section.to_owned(), Value::Null);
        });
        case.warns(&format!("{section} is null")).stands(("active", 2, 2, 3));
        assert_eq!(case.written(&case.session()), None, "{section}");
    }
    let phases = Case::first_with(|fields| fields["completed_phases"] = Value::Null);
    phases.warns("completed_phases is null, not a list of numbers");
    assert!(!phases.told().value.unreadable.is_empty(), "that would undo work");
}
