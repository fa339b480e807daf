//! Tests of files of version 2 against the rules of the tool's own data models. The tool ignores a file that
//! breaks a rule.

use super::*;

#[path = "../../../../testkit/src/praxis_v2.rs"]
mod praxis_v2;

use model::phase::PhaseState;
use praxis_v2::broken_rules;

const AT: &str = "2025-11-02T10:00:00Z";

#[track_caller]
fn loads(text: &str) -> Value {
    assert_eq!(broken_rules(text), [""; 0], "{text}");
    serde_json::from_str(text).expect("an object")
}

/// A session with two of three phases done, in a file that only the tool has written.
fn tools_own() -> Case {
    Case::new(&second("active"), &SECOND_FILE.replace("\"total_phases\": 2", "\"total_phases\": 3"))
}

/// A session that leftoff started in a project with files of the tool.
fn started_by_us() -> Case {
    let mut case = tools_own();
    let session = case.session();
    let path = file_of(&case.spot, &case.tree);
    case.tree.remove(&path);
    let text = case.written(&session).expect("a file");
    loads(&text);
    case.with(&path, &text)
}

fn paused(reason: &str) -> Event {
    Event::SessionPaused { reason: reason.to_owned(), context: Some("a test".to_owned()), saved: Vec::new() }
}

fn state_name(state: &PhaseState) -> &'static str {
    match state {
        PhaseState::NotStarted => "not started",
        PhaseState::InProgress { .. } => "in progress",
        PhaseState::Completed { .. } => "completed",
        PhaseState::Skipped { .. } => "skipped",
        PhaseState::NeedsReview { .. } => "needs review",
    }
}

fn skipped() -> Event {
    Event::PhaseSkipped {
        phase: definition::phase_name(2),
        reason: "known".to_owned(),
        not_applicable: false,
    }
}

fn resumed() -> Event {
    Event::SessionResumed { worktree: "/w".to_owned(), parallel: false, machine: None }
}

#[test]
fn p1_what_every_command_writes_loads_and_says_the_same_to_us() {
    let later = "2025-11-02T10:20:00Z";
    let commands: Vec<(&str, Vec<(&str, Event)>)> = vec![
        ("active", vec![(AT, failed(2, json!({"n": 1})))]),
        (
            "completed",
            vec![
                (AT, completed(2, json!({"n": 1}))),
                (AT, Event::RunCompleted),
                (AT, Event::SessionCompleted { forced: false }),
            ],
        ),
        ("paused", vec![(AT, paused("user_request"))]),
        ("paused", vec![(AT, paused("waiting for Bo"))]),
        ("active", vec![(AT, paused("user_request")), (later, resumed())]),
        (
            "abandoned",
            vec![(AT, Event::SessionAbandoned { reason: Some("no time".to_owned()), operation: None })],
        ),
        ("failed", vec![(AT, Event::SessionFailed { error: "disk full".to_owned() })]),
        ("active", vec![(AT, Event::SessionFailed { error: "disk full".to_owned() }), (later, resumed())]),
        ("active", vec![(AT, Event::RolledBack { phase: definition::phase_name(0), reason: None })]),
        (
            "completed",
            vec![(AT, skipped()), (AT, Event::RunCompleted), (AT, Event::SessionCompleted { forced: false })],
        ),
        ("active", vec![(AT, Event::FieldsSet { phase: None, fields: [("k".to_owned(), json!(1))].into() })]),
    ];
    for case in [tools_own(), started_by_us()] {
        for (expected, events) in &commands {
            let (text, after) = case.after(events);
            loads(&text);
            let (ours, read) = (case.session_after(events), after.session());
            let run = |session: &Session| {
                let run = session.run().expect("a run");
                let states = run.phases.iter().map(|phase| state_name(&phase.state)).collect::<Vec<_>>();
                let pauses: Vec<u64> = run.phases.iter().map(|phase| phase.paused_seconds).collect();
                (states, pauses, run.current_number(), session.resume_count)
            };
            assert_eq!(run(&read), run(&ours), "{events:?}\n{text}");
            // Only the engine moves the file of a failed session to another folder.
            if *expected != "failed" {
                assert_eq!(read.lifecycle.name(), *expected, "{events:?}\n{text}");
            }
            assert_eq!(after.written(&read), None, "{events:?}\n{text}");
        }
    }
}

#[test]
fn p1_a_pause_is_kept_below_metadata_with_its_reason_and_its_length() {
    let (text, after) = tools_own().after(&[(AT, paused("checkpoint_failed"))]);
    let found = loads(&text);
    let ours = &found["metadata"]["leftoff"];
    assert_eq!(ours["lifecycle"]["paused_reason"], json!("checkpoint_failed"));
    assert_eq!(ours["lifecycle"]["paused_at"], json!("2025-11-02T11:00:00"), "local, as all of its times");
    assert_eq!(ours["workflow_structure"]["total_phases"], json!(3));
    let (text, after) = after.after(&[("2025-11-02T10:10:00Z", resumed())]);
    assert_eq!(loads(&text)["metadata"]["leftoff"]["paused_duration_seconds"], json!({"2": 600}));
    assert_eq!(after.session().run().expect("a run").current().paused_seconds, 600);
    assert!(!after.session().fields.contains_key("leftoff"), "it is no field of the session");
}

#[test]
fn p1_a_file_that_an_earlier_release_made_unloadable_loads_after_the_next_change() {
    let mut fields = crate::json::object(SECOND_FILE.as_bytes()).expect("an object");
    fields["metadata"]["total_phases"] = json!(3);
    fields.insert("lifecycle".to_owned(), json!({"completed": false, "paused": false, "resume_count": 2}));
    fields.insert("workflow_structure".to_owned(), json!({"total_phases": 3, "starting_phase": 0}));
    fields.insert("error_reason".to_owned(), Value::Null);
    fields["phase_timings"]["2"]["paused_duration_seconds"] = json!(60);
    let case = Case::new(&second("active"), &Value::Object(fields).to_string());
    assert_eq!(case.written(&case.session()), None, "no change, no write");
    let (text, after) = case.after(&[(AT, paused("user_request"))]);
    let ours = loads(&text)["metadata"]["leftoff"].take();
    assert_eq!(ours["lifecycle"]["resume_count"], json!(2));
    assert_eq!(after.session().resume_count, 2);
    assert_eq!(after.session().run().expect("a run").current().paused_seconds, 60);
}

#[test]
fn p1_a_file_whose_times_have_a_zone_is_still_version_2s() {
    let zoned = SECOND_FILE.replace(":00\"", ":00Z\"").replace("\"total_phases\": 2", "\"total_phases\": 3");
    let (text, _) = Case::new(&second("active"), &zoned).after(&[(AT, paused("user_request"))]);
    let unknown: Vec<String> =
        broken_rules(&text).into_iter().filter(|rule| rule.ends_with("is unknown")).collect();
    assert_eq!(unknown, [""; 0], "{text}");
}

#[test]
fn p1_a_new_session_goes_where_version_2s_files_are() {
    let begin = |id: Option<&str>, there: &'static str| {
        let today = jiff::civil::date(2026, 2, 1);
        let occasion = Occasion { title: "t", today, now: now(), branch: None, random: [7; 16] };
        let spot = Praxis.place(&NewSession::new(id, occasion, &|path| path == there));
        spot.map(|spot| file_of(&spot, &Tree::default()))
    };
    let active = ".praxis-os/state/workflow/active";
    for status in [active, ".praxis-os/state/workflow/completed"] {
        let expected = format!("{active}/workflow_default_07070707-0707-4707-8707-070707070707.json");
        assert_eq!(begin(None, status), Ok(expected));
    }
    assert_eq!(begin(Some("mine"), active), Ok(format!("{active}/mine.json")));
    assert_eq!(begin(Some("mine"), ".praxis-os/workflows"), Ok(format!("{STATES}/mine.json")));
}
