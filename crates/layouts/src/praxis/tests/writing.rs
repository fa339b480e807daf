//! Tests of writing files in each format, and of content that a write does not change.

use super::*;
use crate::layout::Merge;

fn fields(text: &str) -> Map<String, Value> {
    crate::json::object(text.as_bytes()).expect("an object")
}

fn keys(text: &str) -> Vec<String> {
    fields(text).keys().cloned().collect()
}

const OLD_KEYS: [&str; 10] = [
    "session_id",
    "workflow_type",
    "target_file",
    "current_phase",
    "completed_phases",
    "phase_artifacts",
    "checkpoints",
    "created_at",
    "updated_at",
    "metadata",
];

#[test]
fn reading_and_writing_without_a_change_changes_no_byte() {
    let mut cases = vec![Case::first(FIRST_FILE), Case::first(SEED_FILE)];
    cases.extend(["active", "completed", "error"].map(|status| Case::new(&second(status), SECOND_FILE)));
    cases.push(Case::first_with(|fields| fields["current_phase"] = json!(9)));
    cases.push(Case::first_with(|fields| {
        fields["current_phase"] = json!(3);
        fields["completed_phases"] = json!([0, 1, 2]);
        fields["checkpoints"]["2"] = json!("passed");
    }));
    cases.push(Case::first_with(|fields| fields["metadata"] = json!({})));
    for case in cases {
        assert_eq!(case.written(&case.session()), None);
    }
}

#[test]
fn a_v1_file_that_a_command_changes_keeps_its_keys_and_its_local_times_with_ours_beside() {
    let case = Case::first(FIRST_FILE);
    let (text, after) = case.after(&[
        ("2025-11-02T09:30:00Z", completed(2, json!({"released": true}))),
        ("2025-11-02T09:30:00Z", Event::RunCompleted),
        ("2025-11-02T09:30:00Z", Event::SessionCompleted { forced: false }),
    ]);
    let found = fields(&text);
    assert_eq!(keys(&text)[..10], OLD_KEYS);
    assert_eq!(keys(&text)[10..], ["phase_timing", "lifecycle", "workflow_structure"]);
    assert_eq!(found["current_phase"], json!(2), "never past the end");
    assert_eq!(found["completed_phases"], json!([0, 1, 2]));
    assert_eq!(found["checkpoints"]["2"], json!("passed"));
    assert_eq!(found["updated_at"], json!("2025-11-02T10:30:00"), "local, as the others are");
    assert_eq!(
        found["phase_artifacts"]["2"],
        json!({"phase_number": 2, "evidence": {"released": true},
        "outputs": {}, "commands_executed": [], "timestamp": "2025-11-02T10:30:00"})
    );
    assert_eq!(found["lifecycle"]["completed"], json!(true));
    assert_eq!(found["lifecycle"]["total_duration_seconds"], json!(5400));
    assert_eq!(found["workflow_structure"]["total_phases"], json!(3));
    // Content of other authors stays the same, byte for byte.
    for part in ["1.50e2", "caf\\u00e9", "\"created_at\": \"2025-11-02T09:00:00.123456\"", "\"duration_ms\""]
    {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    after.stands(("completed", 2, 3, 3));
    assert_eq!(after.told().value.history.len(), case.told().value.history.len() + 3);
}

#[test]
fn a_v2_file_keeps_its_place_and_its_own_keys() {
    let open = SECOND_FILE.replace("\"total_phases\": 2", "\"total_phases\": 3");
    let case = Case::new(&second("active"), &open);
    let done = [
        ("2025-11-02T09:30:00Z", completed(2, json!({"n": 1}))),
        ("2025-11-02T09:30:00Z", Event::RunCompleted),
        ("2025-11-02T09:30:00Z", Event::SessionCompleted { forced: false }),
    ];
    let session = case.session_after(&done);
    let items = ItemBook::default();
    let publication = SessionToPublish::new(&session, &items, &[]);
    let changes = puts(
        Praxis.write(&WriteRequest { purpose: Purpose::Update, publication: &publication }, &case.folder()),
    );
    assert_eq!(changes[0].path, second("active"), "the folder is the tool's own to choose");
    let (text, after) = case.after(&done);
    let found = fields(&text);
    assert_eq!(found["evidence_submitted"]["2"], json!({"n": 1}));
    assert_eq!(found["phase_timings"]["2"]["completed_at"], json!("2025-11-02T10:30:00"));
    assert_eq!(found["phase_timings"]["2"]["started_at"], json!("2025-11-02T10:00:00"));
    assert_eq!(
        (&found["status"], &found["completed_at"]),
        (&json!("completed"), &json!("2025-11-02T10:30:00"))
    );
    assert!(!found.contains_key("phase_timing") && found["phase_artifacts"].get("2").is_none());
    after.stands(("completed", 2, 3, 3));
}

#[test]
fn a_failure_is_an_error_in_the_words_of_the_second_shape() {
    let open = SECOND_FILE.replace("\"total_phases\": 2", "\"total_phases\": 3");
    let failed = Event::SessionFailed { error: "disk full".to_owned() };
    let (text, after) = Case::new(&second("active"), &open).after(&[("2025-11-02T09:30:00Z", failed)]);
    let found = fields(&text);
    assert_eq!((&found["status"], found.get("error_reason")), (&json!("error"), None));
    assert_eq!(found["metadata"]["leftoff"]["lifecycle"]["last_error"], json!("disk full"));
    after.stands(("failed", 2, 2, 3));
}

#[test]
fn a_failed_attempt_is_not_overwritten_by_the_next() {
    let case = Case::first(FIRST_FILE);
    let (_, once) = case.after(&[("2025-11-02T09:30:00Z", failed(2, json!({"n": 1})))]);
    let (_, twice) = once.after(&[("2025-11-02T09:40:00Z", failed(2, json!({"n": 2})))]);
    let (text, thrice) = twice.after(&[("2025-11-02T09:50:00.5Z", completed(2, json!({"n": 3})))]);
    let found = fields(&text);
    let kept: Vec<(&Value, &Value)> = found["metadata"]["attempts"]["2"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|attempt| (&attempt["outcome"], &attempt["evidence"]["n"]))
        .collect();
    assert_eq!(
        kept,
        [(&json!("failed"), &json!(1)), (&json!("failed"), &json!(2)), (&json!("passed"), &json!(3))]
    );
    assert_eq!(found["phase_artifacts"]["2"]["evidence"], json!({"n": 3}));
    let session = thrice.session();
    assert_eq!(session.run().expect("a run").phases[2].attempts.len(), 3);
    assert_eq!(thrice.written(&session), None);
    assert!(session.fields.keys().all(|name| name != "attempts"), "they are no field of the session");
}

#[test]
fn going_back_opens_phases_and_keeps_what_they_had() {
    let case = Case::first(FIRST_FILE);
    let back = Event::RolledBack { phase: definition::phase_name(0), reason: None };
    let (text, after) = case.after(&[("2025-11-02T09:30:00Z", back)]);
    let found = fields(&text);
    assert_eq!((&found["current_phase"], &found["completed_phases"]), (&json!(0), &json!([])));
    assert_eq!(found["checkpoints"], json!({"0": "pending", "1": "pending"}));
    assert_eq!(found["phase_artifacts"]["0"]["evidence"], json!({"files_read": 4}));
    after.stands(("active", 0, 0, 3));
}

#[test]
fn a_pause_says_why_and_in_the_middle_of_what() {
    let case = Case::first(SEED_FILE);
    let pause = |reason: &str| Event::SessionPaused {
        reason: reason.to_owned(),
        context: Some("half of the tests".to_owned()),
        saved: Vec::new(),
    };
    for reason in ["user_request", "checkpoint_failed", "system_error", "inactivity"] {
        let (text, _) = case.after(&[("2025-11-02T10:00:00Z", pause(reason))]);
        let lifecycle = &fields(&text)["lifecycle"];
        assert_eq!((&lifecycle["paused"], &lifecycle["paused_reason"]), (&json!(true), &json!(reason)));
        assert_eq!(lifecycle["paused_context"], json!("half of the tests"));
        assert_eq!(lifecycle["paused_at"], json!("2025-11-02T10:00:00Z"));
    }
    let (text, paused) = case.after(&[("2025-11-02T10:00:00Z", pause("waiting for Bo"))]);
    let lifecycle = &fields(&text)["lifecycle"];
    assert_eq!(lifecycle["paused_reason"], json!("user_request"), "the format has no other word for it");
    assert_eq!(lifecycle["paused_context"], json!("waiting for Bo: half of the tests"));
    let on = Event::SessionResumed { worktree: "/w".to_owned(), parallel: false, machine: None };
    let (text, resumed) = paused.after(&[("2025-11-02T10:10:00Z", on)]);
    let found = fields(&text);
    assert_eq!(found["lifecycle"]["paused"], json!(false));
    assert_eq!(found["lifecycle"]["paused_reason"], Value::Null);
    assert_eq!(found["lifecycle"]["resume_count"], json!(3));
    assert_eq!(found["lifecycle"]["resumed_at"], json!("2025-11-02T10:10:00Z"));
    assert_eq!(found["phase_timing"]["1"]["paused_duration_seconds"], json!(600));
    resumed.stands(("active", 1, 1, 3));
    assert_eq!(resumed.session().run().expect("a run").current().paused_seconds, 600);
}

#[test]
fn an_abandoned_session_is_paused_for_the_reason_abandoned() {
    let gone = Event::SessionAbandoned { reason: Some("no time".to_owned()), operation: None };
    let (text, after) = Case::first(SEED_FILE).after(&[("2025-11-02T10:00:00Z", gone)]);
    let lifecycle = &fields(&text)["lifecycle"];
    assert_eq!((&lifecycle["paused"], &lifecycle["paused_reason"]), (&json!(true), &json!("abandoned")));
    assert_eq!(lifecycle["paused_context"], json!("no time"));
    assert_eq!(after.session().lifecycle.name(), "abandoned");
}

#[test]
fn the_last_phase_completes_the_session_and_stays_the_current_one() {
    let (text, after) = Case::first(SEED_FILE).after(&[
        ("2025-11-02T10:00:00Z", completed(1, json!({"n": 3}))),
        ("2025-11-02T10:00:00Z", begun(2)),
        ("2025-11-02T11:00:00Z", completed(2, json!({}))),
        ("2025-11-02T11:00:00Z", Event::RunCompleted),
        ("2025-11-02T11:00:00Z", Event::SessionCompleted { forced: false }),
    ]);
    let found = fields(&text);
    assert_eq!(found["current_phase"], json!(2));
    assert_eq!(found["lifecycle"]["completed_at"], json!("2025-11-02T11:00:00Z"));
    assert_eq!(found["lifecycle"]["total_duration_seconds"], json!(7200));
    assert_eq!(found["phase_timing"]["2"]["duration_seconds"], json!(3600));
    assert_eq!(found["checkpoints"], json!({"0": "passed", "1": "passed", "2": "passed"}));
    after.stands(("completed", 2, 3, 3));
}

#[test]
fn in_the_newest_shape_a_current_phase_or_a_total_that_cannot_be_is_set_right_by_the_next_change() {
    let pause = Event::SessionPaused { reason: "user_request".to_owned(), context: None, saved: Vec::new() };
    let pause = [("2025-11-02T10:00:00Z", pause)];
    let odd = SEED_FILE
        .replace("\"current_phase\": 1", "\"current_phase\": 17")
        .replace("\"total_phases\": 3", "\"total_phases\": \"dynamic\"");
    let (path, metadata) = super::definitions::FILES[0];
    let case = Case::first(&odd).with(path, metadata);
    case.stands(("active", 1, 1, 3));
    assert_eq!(case.written(&case.session()), None, "left as it is while nothing changes");
    let (text, after) = case.after(&pause);
    let found = fields(&text);
    assert_eq!(
        (&found["current_phase"], &found["workflow_structure"]["total_phases"]),
        (&json!(1), &json!(3))
    );
    after.stands(("paused", 1, 1, 3));
    // In a finished session, old formats store the number after the last phase as the current phase.
    let case = Case::first_with(|fields| {
        fields["completed_phases"] = json!([0, 1, 2]);
        fields["current_phase"] = json!(3);
    });
    assert_eq!(fields(&case.after(&pause).0)["current_phase"], json!(3));
}

#[test]
fn a_new_session_has_the_nine_sections_and_the_ten_old_keys_first() {
    let case = Case::first("");
    let mut session = Case::first(SEED_FILE).session();
    session.path = Some(FIRST_PATH.to_owned());
    let text = case.written(&session).expect("a file");
    let mut expected: Vec<&str> = OLD_KEYS.to_vec();
    expected.extend(["workflow_structure", "phase_timing", "lifecycle"]);
    assert_eq!(keys(&text), expected);
    let found = fields(&text);
    assert_eq!(
        found["workflow_structure"],
        json!({"total_phases": 3, "starting_phase": 0,
        "indexing_scheme": "zero_based", "workflow_version": "v1"})
    );
    for key in ["created_at", "updated_at"] {
        assert!(found[key].as_str().is_some_and(|time| time.ends_with('Z')), "{key} is {}", found[key]);
    }
    assert!(!found["metadata"].as_object().expect("an object").contains_key("total_phases"));
    let again = Case::first(&text);
    again.stands(("active", 1, 1, 3));
    assert_eq!(again.written(&again.session()), None);
}

#[test]
fn only_an_import_turns_an_old_shape_into_the_seeds() {
    for (case, more) in [
        (Case::first(FIRST_FILE), None),
        (
            Case::new(
                &second("active"),
                &SECOND_FILE.replace("\"metadata\"", "\"extra\": [1.0], \"metadata\""),
            ),
            Some("extra"),
        ),
    ] {
        let session = case.session();
        let items = ItemBook::default();
        let publication = SessionToPublish::new(&session, &items, &[]);
        let changes = puts(
            Praxis
                .write(&WriteRequest { purpose: Purpose::Newest, publication: &publication }, &case.folder()),
        );
        let text = String::from_utf8(changes[0].content.clone()).expect("text");
        let found = fields(&text);
        assert_eq!(keys(&text)[..10], OLD_KEYS);
        assert!(found["created_at"].as_str().is_some_and(|time| time.ends_with('Z')));
        assert_eq!(found["completed_phases"], json!([0, 1]));
        assert_eq!(found["phase_artifacts"]["0"]["evidence"], json!({"files_read": 4}));
        for gone in ["phase_timings", "evidence_submitted", "status"] {
            assert!(!found.contains_key(gone), "{gone}");
        }
        assert_eq!(
            more.is_some_and(|more| found.contains_key(more)),
            more.is_some(),
            "what is not ours stays"
        );
        let again = Case::new(&changes[0].path, &text);
        let warnings = again.warnings();
        assert!(!warnings.iter().any(|warning| warning.contains("legacy")), "{warnings:?}");
        let (old, new) = (session.run().expect("a run"), again.session());
        assert_eq!(old.phases, new.run().expect("a run").phases);
    }
}

#[test]
fn keys_that_a_real_reader_drops_are_no_deletion() {
    let (text, _) = Case::first(FIRST_FILE).after(&[("2025-11-02T09:30:00Z", failed(2, json!({"n": 1})))]);
    let mut theirs = fields(&text);
    for ours in ["lifecycle", "phase_timing", "workflow_structure"] {
        theirs.remove(ours);
    }
    theirs["current_phase"] = json!(3);
    let theirs = Value::Object(theirs).to_string();
    let merged =
        Praxis.merge(FIRST_PATH, Merge::Dropped { base: text.as_bytes(), theirs: theirs.as_bytes() });
    let merged = fields(&String::from_utf8(merged).expect("text"));
    assert_eq!(merged["current_phase"], json!(3));
    assert!(merged.contains_key("workflow_structure"), "{merged:?}");
}

#[test]
fn a_new_session_has_a_random_name_of_its_own_or_the_one_that_is_asked_for() {
    let begin = |id: Option<&str>, is_taken: bool| {
        Praxis.place(&NewSession::new(
            id,
            Occasion {
                title: "t",
                today: jiff::civil::date(2026, 2, 1),
                now: now(),
                branch: None,
                random: [7; 16],
            },
            &|_| is_taken,
        ))
    };
    let spot = begin(None, false).expect("a place");
    assert_eq!(spot.path, ".praxis-os/.cache/state/07070707-0707-4707-8707-070707070707.json");
    assert_eq!(begin(Some("mine"), false).expect("a place").path, ".praxis-os/.cache/state/mine.json");
    assert!(begin(Some("../../x"), false).is_err() && begin(Some("a/b"), false).is_err());
    assert!(begin(Some("mine"), true).is_err(), "never over a file");
}

#[test]
fn free_fields_are_the_files_metadata() {
    let set = Event::FieldsSet { phase: None, fields: [("agent_version".to_owned(), json!("2"))].into() };
    let (text, after) = Case::first(FIRST_FILE).after(&[("2025-11-02T09:30:00Z", set)]);
    assert_eq!(fields(&text)["metadata"]["agent_version"], json!("2"));
    assert_eq!(fields(&text)["metadata"]["total_phases"], json!(3));
    assert_eq!(after.session().fields["agent_version"], json!("2"));
}

/// Times that the tool recorded stay, because the log only contains the times at which they were reported.
#[test]
fn what_the_tool_recorded_about_a_phase_that_it_completed_is_left_as_it_is() {
    for (before, path) in [(FIRST_FILE, FIRST_PATH), (SEED_FILE, FIRST_PATH)] {
        let case = Case::new(path, before);
        let number = case.session().run().expect("a run").current_number();
        let session = case.session_after(&[
            ("2026-01-31T10:00:00Z", completed(number, json!({"n": 9}))),
            (
                "2026-01-31T10:00:00Z",
                Event::FieldsSet { phase: None, fields: [("k".to_owned(), json!(1))].into() },
            ),
        ]);
        let mut fields = crate::json::object(before.as_bytes()).expect("an object");
        let key = number.to_string();
        fields["completed_phases"].as_array_mut().expect("a list").push(json!(number));
        fields["checkpoints"][&key] = json!("passed");
        fields["phase_artifacts"][&key] = json!({"phase_number": number, "evidence": {"n": 9}, "outputs": {},
            "commands_executed": [], "timestamp": "2025-11-03T10:00:00.125000"});
        if fields.contains_key("phase_timing") {
            fields["phase_timing"][&key]["completed_at"] = json!("2025-11-03T10:00:00.125Z");
        }
        let theirs = Case::new(path, &Value::Object(fields.clone()).to_string());
        let found = theirs.written(&session).expect("a field is new");
        let found = crate::json::object(found.as_bytes()).expect("an object");
        for section in ["phase_artifacts", "phase_timing"] {
            assert_eq!(found.get(section), fields.get(section), "{section}");
        }
        assert_eq!(found["metadata"].get("attempts"), fields["metadata"].get("attempts"));
    }
}

#[test]
fn in_another_zone_no_local_time_is_written_anew() {
    let case = Case::new(&second("active"), SECOND_FILE);
    let session = case.session();
    let mut elsewhere = Case { spot: case.spot.clone(), tree: case.tree.clone() };
    elsewhere.tree.set_zone(TimeZone::posix("EST5EDT,M3.2.0,M11.1.0").expect("a zone"));
    assert_eq!(elsewhere.written(&session), None);
    let case = Case::first(FIRST_FILE);
    let session = case.session();
    let mut elsewhere = Case { spot: case.spot.clone(), tree: case.tree.clone() };
    elsewhere.tree.set_zone(TimeZone::UTC);
    assert_eq!(elsewhere.written(&session), None);
}

#[test]
fn a_v2_file_that_goes_on_says_no_more_how_it_had_ended_and_belongs_to_its_status() {
    let open = SECOND_FILE.replace("\"total_phases\": 2", "\"total_phases\": 3");
    let case = Case::new(&second("active"), &open);
    let wrong = ("2025-11-02T09:30:00Z", Event::SessionFailed { error: "disk full".to_owned() });
    let resumed = Event::SessionResumed { worktree: "/w".to_owned(), parallel: false, machine: None };
    let again = ("2025-11-02T09:40:00Z", resumed);
    let (failed, after) = case.after(std::slice::from_ref(&wrong));
    assert!(fields(&failed)["completed_at"].is_string());
    let belongs =
        |case: &Case, path: &str| Praxis.files(&case.spot).places.belongs(path, &case.session().lifecycle);
    assert_eq!(belongs(&after, &second("active")), Some(second("error")));
    let (text, after) = after.after(&[again]);
    let found = fields(&text);
    assert_eq!(
        (&found["status"], &found["completed_at"], found.get("error_reason")),
        (&json!("active"), &Value::Null, None)
    );
    assert_eq!(belongs(&after, &second("error")), Some(second("active")));
    assert_eq!(belongs(&after, FIRST_PATH), None);
}

#[test]
fn a_current_phase_that_nobody_could_go_on_from_is_set_right_by_the_next_change_in_every_shape() {
    let set = Event::FieldsSet { phase: None, fields: [("k".to_owned(), json!(1))].into() };
    for (said, expected) in [(9, 2), (-1, 2), (0, 2), (2, 2)] {
        let case = Case::first_with(|fields| fields["current_phase"] = json!(said));
        let (text, after) = case.after(&[("2025-11-02T09:30:00Z", set.clone())]);
        assert_eq!(fields(&text)["current_phase"], json!(expected), "{said}");
        after.stands(("active", 2, 2, 3));
    }
    let done = Case::first_with(|fields| {
        fields["current_phase"] = json!(3);
        fields["completed_phases"] = json!([0, 1, 2]);
    });
    let (text, _) = done.after(&[("2025-11-02T09:30:00Z", set)]);
    assert_eq!(fields(&text)["current_phase"], json!(3), "how the old shapes end");
}
