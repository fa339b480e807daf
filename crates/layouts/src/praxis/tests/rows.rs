//! Tests of the key lists, words and types of the format, and of errors in each field. An error is reported
//! with its field. The rest of the session works, and no wrong value is overwritten.

use super::definitions::{DYNAMIC, FILES, GATE, METADATA, defined_with, found};
use super::*;
use crate::problem::What;
use crate::refused::Refused;
use model::gate::{CheckOutcome, read_evidence};
use model::lifecycle::Lifecycle;
use model::typed_value::Given;
use model::workflow::Indexing;

const NOTED: &str = "2026-01-31T12:00:00Z";

fn paused() -> Event {
    Event::SessionPaused { reason: "user_request".to_owned(), context: None, saved: Vec::new() }
}

/// The session in the newest format, after a change to its values.
fn seed_with(change: impl FnOnce(&mut Map<String, Value>)) -> Case {
    let mut fields = crate::json::object(SEED_FILE.as_bytes()).expect("an object");
    change(&mut fields);
    Case::first(&Value::Object(fields).to_string())
}

/// The case with the definition of its workflow, so that no problem with the workflow is reported.
fn defined(case: Case) -> Case {
    FILES.iter().fold(case, |case, (path, text)| case.with(path, text))
}

/// The reports about the session's own file.
fn said(case: &Case) -> Vec<String> {
    let own = file_of(&case.spot, &case.tree);
    let told = case.told().warnings.into_iter().filter(|problem| problem.path == own);
    told.filter(|problem| problem.what != What::Legacy).map(|problem| problem.to_string()).collect()
}

fn metadata_with(change: impl FnOnce(&mut Map<String, Value>)) -> String {
    let mut fields = crate::json::object(FILES[0].1.as_bytes()).expect("an object");
    change(&mut fields);
    Value::Object(fields).to_string()
}

/// The reports about a definition that can be used.
#[track_caller]
fn remarks(metadata: &str) -> Vec<String> {
    match defined_with(&[(METADATA, metadata), FILES[1]], None) {
        Defined::Found(reading) => {
            reading.warnings.iter().map(|problem| format!("{}: {problem}", problem.path)).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn estimated_duration_is_told_in_the_first_phase_and_primary_outputs_in_the_last() {
    let workflow = found(FILES, None);
    let purpose = |at: usize| workflow.phases[at].purpose.clone().unwrap_or_default();
    assert!(purpose(0).ends_with("Effort: 1 h. All phases take: 1 day."), "{}", purpose(0));
    assert_eq!(purpose(1), "Make it.");
    assert_eq!(purpose(2), "All phases deliver: a release.");
    assert_eq!(remarks(FILES[0].1), Vec::<String>::new());
}

#[test]
fn dynamic_config_is_for_the_originals_own_parser_and_changes_nothing_here() {
    let tasks = ("specs/x/tasks.md", "## Phase 1: Setup\n## Phase 2: Core\n");
    let configured =
        DYNAMIC.replacen('{', "{\"dynamic_config\": {\"templates\": {\"phase\": \"t.md\"}}, ", 1);
    let (plain, with_config) = (
        found(&[(METADATA, DYNAMIC), tasks], Some("specs/x")),
        found(&[(METADATA, &configured), tasks], Some("specs/x")),
    );
    assert_eq!(with_config.phases, plain.phases);
    let odd = DYNAMIC.replacen('{', "{\"dynamic_config\": \"x\", ", 1);
    let Defined::Found(reading) = defined_with(&[(METADATA, &odd), tasks], Some("specs/x")) else {
        panic!("it is usable")
    };
    let said: Vec<String> = reading.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(said, ["dynamic_config is x, not an object"]);
}

/// For boolean, integer, string, object and list: a value of the type is accepted, and every other value is
/// refused.
#[test]
fn each_of_the_five_types_takes_its_own_values_and_refuses_the_others_by_name() {
    let values = [
        ("boolean", json!(true), "bool"),
        ("integer", json!(3), "int"),
        ("string", json!("text"), "str"),
        ("object", json!({"a": 1}), "dict"),
        ("list", json!([1]), "list"),
    ];
    for (declared, _, _) in &values {
        let gate = format!("evidence_schema:\n  n: {{type: {declared}, required: true}}\n");
        let workflow = found(&[FILES[0], (GATE, &gate)], None);
        let field = &workflow.phases[1].evidence[0];
        assert_eq!(field.value_type.name(), *declared);
        for (own, value, python) in &values {
            let given = [("n".to_owned(), Given::Json(value.clone()))].into_iter().collect();
            let (kept, checks) = read_evidence(&workflow.phases[1].evidence, &given, &|_, seen| seen.clone());
            let is_own = own == declared;
            assert_eq!(
                checks[0].outcome == CheckOutcome::Passed,
                is_own,
                "{value} as {declared}: {checks:?}"
            );
            assert!(!is_own || kept["n"] == *value, "{kept:?}");
            let refused = Praxis.say(&Saying::Refused(&Refused::Mistyped {
                field: "n",
                needed: field.value_type,
                given: value,
            }));
            assert_eq!(refused.as_deref(), Some(&*format!("Field 'n' must be {declared}, got: {python}")));
        }
    }
}

#[test]
fn a_definition_that_begins_at_1_is_one_based_and_a_session_of_it_says_so() {
    let metadata = FILES[0].1.replace("\"phase_number\": 2", "\"phase_number\": 3");
    let metadata = metadata.replace("\"phase_number\": 1", "\"phase_number\": 2");
    let metadata = metadata.replace("\"phase_number\": 0", "\"phase_number\": 1");
    let workflow = found(&[(METADATA, &metadata)], None);
    let ids: Vec<&str> = workflow.phases.iter().map(|phase| phase.id.as_str()).collect();
    assert_eq!((workflow.indexing, ids), (Indexing::One, vec!["1", "2", "3"]));
    let structure = json!({"total_phases": 3, "starting_phase": 1, "indexing_scheme": "one_based",
        "workflow_version": "v1"});
    let read = seed_with(|fields| {
        fields["workflow_structure"] = structure.clone();
        fields["current_phase"] = json!(2);
        fields["completed_phases"] = json!([1]);
        fields["checkpoints"] = json!({"1": "passed"});
        for key in ["phase_artifacts", "phase_timing"] {
            fields[key] = json!({});
        }
        fields["metadata"] = json!({});
    });
    read.stands(("active", 2, 1, 3));
    // The written file has the same content as the file that was read.
    let mut session = read.session();
    session.path = Some(FIRST_PATH.to_owned());
    let text = Case::first("").written(&session).expect("a file");
    let made = crate::json::object(text.as_bytes()).expect("an object");
    assert_eq!(made["workflow_structure"], structure);
    assert_eq!((&made["current_phase"], &made["completed_phases"]), (&json!(2), &json!([1])));
}

#[test]
fn the_indexing_scheme_counts_where_no_phase_and_no_start_tells_it() {
    for (scheme, current, range) in [("one_based", 2, 1..=3), ("zero_based", 1, 0..=2)] {
        let case = seed_with(|fields| {
            fields["workflow_structure"] = json!({"total_phases": 3, "indexing_scheme": scheme});
            fields["current_phase"] = json!(current);
            fields["completed_phases"] = json!([]);
        });
        let run = case.session().run().expect("a run").clone();
        let numbers: Vec<String> = run.phases.iter().map(|phase| phase.id().to_string()).collect();
        assert_eq!(numbers, range.map(|number: u32| number.to_string()).collect::<Vec<_>>(), "{scheme}");
    }
}

#[test]
fn completed_at_tells_when_a_session_of_the_second_shape_was_completed_or_failed() {
    let ended = SECOND_FILE.replace(
        "\"completed_at\": null,\n  \"metadata\"",
        "\"completed_at\": \"2025-11-02T10:20:00\",\n  \"metadata\"",
    );
    assert_ne!(ended, SECOND_FILE);
    let at = |status: &str| match Case::new(&second(status), &ended).session().lifecycle {
        Lifecycle::Completed { at, .. } | Lifecycle::Failed { at, .. } => at.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        (at("completed"), at("error")),
        ("2025-11-02T09:20:00Z".to_owned(), "2025-11-02T09:20:00Z".to_owned())
    );
}

#[test]
fn a_key_that_is_there_twice_is_told_of_and_the_last_one_counts() {
    let twice = SEED_FILE.replacen("\"target_file\"", "\"target_file\": \"first\",\n  \"target_file\"", 1);
    let case = defined(Case::first(&twice));
    assert_eq!(said(&case), ["target_file is set more than once; the last value is used"]);
    assert_eq!(case.session().target.as_deref(), Some("import"));
    let (text, _) = case.after(&[(NOTED, paused())]);
    assert!(text.contains("\"target_file\": \"first\",\n  \"target_file\": \"import\""), "{text}");
    let metadata = FILES[0].1.replacen("\"version\"", "\"version\": \"0.1\", \"version\"", 1);
    assert_eq!(
        remarks(&metadata),
        [format!("{METADATA}: version is set more than once; the last value is used")]
    );
    assert_eq!(found(&[(METADATA, &metadata)], None).version, "1.2.0");
    let followed = Case::first(SEED_FILE).with(METADATA, &metadata);
    followed.warns("version is set more than once; the last value is used");
}

/// Without these keys the position is unknown. The session then stays as it is, and the message names the
/// field.
#[test]
fn a_wrong_type_where_a_session_has_its_phases_is_damage_that_names_the_field() {
    for (key, value, words) in [
        ("workflow_type", json!(1), "workflow_type is 1, not a string"),
        ("current_phase", json!([]), "current_phase is [], not a whole number"),
        ("completed_phases", json!("all"), "completed_phases is all, not a list of numbers"),
        ("phase_artifacts", json!(3), "phase_artifacts is 3, not an object"),
        ("checkpoints", json!([1]), "checkpoints is [1], not an object"),
        ("metadata", json!("m"), "metadata is m, not an object"),
        ("workflow_structure", json!(3), "workflow_structure is 3, not an object"),
        ("phase_timing", json!("t"), "phase_timing is t, not an object"),
        ("phase_timings", json!([]), "phase_timings is [], not an object"),
        ("evidence_submitted", json!(1), "evidence_submitted is 1, not an object"),
        ("lifecycle", json!("l"), "lifecycle is l, not an object"),
    ] {
        let case = defined(seed_with(|fields| drop(fields.insert(key.to_owned(), value))));
        let told = said(&case);
        let words = format!("{words}; the position is unknown");
        assert!(told.contains(&words), "{words} is not in {told:?}");
        assert_eq!(case.told().value.unreadable, [FIRST_PATH], "{key}");
    }
}

/// Wrong values of leftoff's own keys in the newest format. The next write corrects them.
const SET_RIGHT: &[&str] = &[
    "checkpoints/0",
    "workflow_structure/total_phases",
    "phase_timing/0",
    "phase_timing/0/started_at",
    "lifecycle/resume_count",
];

#[test]
fn every_other_field_of_a_session_with_a_wrong_type_is_named_and_kept() {
    let at = |path: &'static str, value: Value| (path, value);
    for ((path, value), words) in [
        (at("session_id", json!(1)), "session_id is 1, not a string"),
        (at("target_file", json!(["x"])), "target_file is [\"x\"], not a string"),
        (at("created_at", json!(7)), "created_at is 7, not a time"),
        (at("updated_at", json!({})), "updated_at is {}, not a time"),
        (at("status", json!(7)), "status is 7, not a string"),
        (at("completed_at", json!(7)), "completed_at is 7, not a time"),
        (at("error_reason", json!([])), "error_reason is [], not a string"),
        (
            at("checkpoints/0", json!(1)),
            "checkpoint 0 is 1, but must be one of pending, passed, failed, skipped",
        ),
        (
            at("workflow_structure/starting_phase", json!(7)),
            "workflow_structure.starting_phase is 7, but must be one of 0, 1",
        ),
        (
            at("workflow_structure/indexing_scheme", json!("x")),
            "workflow_structure.indexing_scheme is x, but must be one of zero_based, one_based",
        ),
        (
            at("workflow_structure/workflow_version", json!(2)),
            "workflow_structure.workflow_version is 2, not a string",
        ),
        (
            at("workflow_structure/total_phases", json!("x")),
            "total_phases is \"x\", which is not a number of phases",
        ),
        (at("phase_timing/0", json!("t")), "phase_timing 0 is not an object"),
        (at("phase_timing/0/started_at", json!(1)), "phase_timing.0.started_at is 1, not a time"),
        (
            at("phase_timing/0/completed_at", json!("x")),
            "phase_timing.0.completed_at is 'x', which is not a time",
        ),
        (
            at("phase_timing/0/paused_duration_seconds", json!("x")),
            "phase_timing.0.paused_duration_seconds is x, not a number of seconds",
        ),
        (at("phase_artifacts/0", json!(3)), "artifact 0 is not an object"),
        (at("phase_artifacts/0/evidence", json!(3)), "phase_artifacts.0.evidence is 3, not an object"),
        (at("phase_artifacts/0/outputs", json!([])), "phase_artifacts.0.outputs is [], not an object"),
        (
            at("phase_artifacts/0/commands_executed", json!("ls")),
            "phase_artifacts.0.commands_executed is ls, not a list",
        ),
        (at("phase_artifacts/0/timestamp", json!(3)), "phase_artifacts.0.timestamp is 3, not a time"),
        (
            at("lifecycle/resume_count", json!("two")),
            "lifecycle.resume_count is two, not a whole number of at least 0",
        ),
        (at("lifecycle/last_error", json!(3)), "lifecycle.last_error is 3, not a string"),
        (at("lifecycle/paused_reason", json!(3)), "lifecycle.paused_reason is 3, not a string"),
        (at("lifecycle/paused_context", json!({})), "lifecycle.paused_context is {}, not a string"),
        (at("metadata/spec_path", json!(3)), "metadata.spec_path is 3, not a string"),
        (at("metadata/attempts", json!([])), "metadata.attempts is [], not an object"),
    ] {
        let case = defined(seed_with(|fields| {
            let mut keys = path.split('/');
            let first = keys.next().expect("a key");
            let mut place = fields.entry(first).or_insert(Value::Null);
            for key in keys {
                place = &mut place[key];
            }
            *place = value.clone();
        }));
        let told = said(&case);
        assert!(told.iter().any(|line| line.starts_with(words)), "{words} is not in {told:?}");
        assert!(case.told().value.unreadable.is_empty() && case.session().run().is_some(), "{path}");
        // A write keeps a wrong value, unless it has to write that value.
        if path == "updated_at" || path.starts_with("lifecycle/paused") {
            continue;
        }
        let (text, _) = case.after(&[(NOTED, paused())]);
        let after = Value::Object(crate::json::object(text.as_bytes()).expect("an object"));
        let is_kept = after.pointer(&format!("/{path}")) == Some(&value);
        assert_eq!(is_kept, !SET_RIGHT.contains(&path), "{path}");
    }
    for (key, value, words) in [
        ("phase_timings", json!({"0": {"started_at": 1}}), "phase_timings.0.started_at is 1, not a time"),
        ("evidence_submitted", json!({"0": 3}), "evidence_submitted.0 is 3, not an object"),
    ] {
        let mut fields = crate::json::object(SECOND_FILE.as_bytes()).expect("an object");
        fields[key] = value;
        let case = defined(Case::new(&second("active"), &Value::Object(fields).to_string()));
        assert!(said(&case).iter().any(|line| line.starts_with(words)), "{words}: {:?}", said(&case));
    }
}

#[test]
fn every_field_of_a_definition_with_a_wrong_type_is_named_and_the_rest_is_used() {
    for (path, value, words) in [
        ("/workflow_type", json!(1), "workflow_type is 1, not a string"),
        ("/version", json!(2), "version is 2, not a string"),
        ("/name", json!([]), "name is [], not a string"),
        ("/estimated_duration", json!(3), "estimated_duration is 3, not a string"),
        ("/primary_outputs", json!("one"), "primary_outputs is one, not a list"),
        ("/primary_outputs/0", json!(1), "primary_outputs holds 1, not a string"),
        ("/dynamic_phases", json!("yes"), "dynamic_phases is yes, not true or false"),
        ("/dynamic_config", json!([]), "dynamic_config is [], not an object"),
        ("/phases/0/phase_name", json!(1), "phases[0].phase_name is 1, not a string"),
        ("/phases/1/purpose", json!([]), "phases[1].purpose is [], not a string"),
        ("/phases/0/estimated_effort", json!(3), "phases[0].estimated_effort is 3, not a string"),
        ("/phases/0/key_deliverables", json!("x"), "phases[0].key_deliverables is x, not a list"),
        ("/phases/0/validation_criteria/0", json!(1), "phases[0].validation_criteria holds 1, not a string"),
        ("/phases/0/tasks", json!({}), "phases[0].tasks is {}, not a list"),
        ("/phases/0/tasks/0", json!("Read"), "phases[0].tasks holds Read, not an object"),
        ("/phases/0/tasks/0/name", json!(1), "phases[0].tasks[0].name is 1, not a string"),
        ("/phases/0/tasks/0/file", json!(1), "phases[0].tasks[0].file is 1, not a string"),
        ("/phases/0/tasks/0/purpose", json!(1), "phases[0].tasks[0].purpose is 1, not a string"),
    ] {
        let metadata = metadata_with(|fields| {
            for key in ["dynamic_phases", "dynamic_config"] {
                fields.insert(key.to_owned(), Value::Null);
            }
            let mut whole = Value::Object(std::mem::take(fields));
            *whole.pointer_mut(path).expect(path) = value;
            let Value::Object(changed) = whole else { unreachable!("it was one") };
            *fields = changed;
        });
        assert_eq!(remarks(&metadata), [format!("{METADATA}: {words}")]);
        assert_eq!(found(&[(METADATA, &metadata)], None).phases.len(), 3);
    }
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_read_and_kept_in_every_shape() {
    let windows = |text: &str| format!("\u{feff}{}", text.replace('\n', "\r\n"));
    for (path, text) in [
        (FIRST_PATH.to_owned(), FIRST_FILE),
        (FIRST_PATH.to_owned(), SEED_FILE),
        (second("active"), SECOND_FILE),
    ] {
        let plain = defined(Case::new(&path, text));
        let case = defined(Case::new(&path, &windows(text)));
        assert_eq!(said(&case), said(&plain));
        assert_eq!(case.written(&case.session()), None, "nothing changed, so no byte does");
        let (written, after) = case.after(&[(NOTED, paused())]);
        assert!(written.starts_with('\u{feff}'), "{written}");
        assert_eq!(written.matches('\n').count(), written.matches("\r\n").count(), "{written:?}");
        assert_eq!(after.session().lifecycle.name(), "paused");
    }
    // A definition with additional keys defines the same workflow.
    let files: Vec<(&str, String)> = FILES.iter().map(|(path, text)| (*path, windows(text))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    assert_eq!(found(&files, None).phases, found(FILES, None).phases);
}

#[test]
fn a_file_that_is_no_utf_8_says_so_and_is_left_as_it_is() {
    let mut bytes = SEED_FILE.replace("import", "X").into_bytes();
    let at = bytes.iter().position(|byte| *byte == b'X').expect("the target");
    bytes[at] = 0xff;
    let mut case = Case::first(SEED_FILE);
    case.tree.insert(FIRST_PATH, Entry::File(bytes));
    assert_eq!(case.told().value.unreadable, [FIRST_PATH]);
    assert!(said(&case)[0].starts_with("it is not UTF-8"), "{:?}", said(&case));
    for (path, words) in [(METADATA, "it is not UTF-8"), (GATE, "it is not UTF-8")] {
        let mut case = defined(Case::first(SEED_FILE));
        case.tree.insert(path, Entry::File(b"{\"version\": \"\xff\"}".to_vec()));
        let told = case.told().warnings;
        let is_told = told.iter().any(|problem| problem.path == path && problem.to_string().contains(words));
        assert!(is_told, "{path}: {told:?}");
        assert_eq!(case.session().lifecycle.name(), "active");
    }
}
