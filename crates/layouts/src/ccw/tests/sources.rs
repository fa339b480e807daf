//! Tests of a session's status: the words of all versions of the format, and which source decides.

use super::*;
use model::lifecycle::Lifecycle;

fn lifecycle(json: &str) -> Lifecycle {
    folded(&tree(&[("WFS-login/workflow-session.json", json)])).0.lifecycle
}

#[test]
fn every_word_for_a_status_is_known() {
    for (word, expected) in [
        ("active", "active"),
        ("planning", "active"),
        ("implementing", "active"),
        ("reviewing", "active"),
        ("paused", "paused"),
        ("interrupted", "paused"),
        ("INACTIVE", "paused"),
        ("completed", "completed"),
        ("archived", "completed"),
    ] {
        let json = format!("{{\"current_phase\":\"PLAN\",\"status\":\"{word}\"}}");
        assert_eq!(lifecycle(&json).name(), expected, "{word}");
        check_warnings(&tree(&[("WFS-login/workflow-session.json", &json)]), &[]);
    }
    let odd = tree(&[("WFS-login/workflow-session.json", r#"{"current_phase":"PLAN","status":"zombie"}"#)]);
    check_warnings(&odd, &["status is 'zombie'"]);
}

#[test]
fn failed_and_abandoned_have_words_of_their_own() {
    let failed = lifecycle(r#"{"current_phase":"PLAN","status":"paused","last_error":"no disk"}"#);
    assert!(matches!(failed, Lifecycle::Failed { error, .. } if error == "no disk"));
    let abandoned =
        lifecycle(r#"{"current_phase":"PLAN","status":"completed","completion_type":"abandoned"}"#);
    assert_eq!(abandoned.name(), "abandoned");
    let normal = lifecycle(r#"{"current_phase":"PLAN","status":"completed","completion_type":"normal"}"#);
    assert_eq!(normal.name(), "completed");
}

#[test]
fn whoever_was_written_last_counts_and_it_is_said() {
    let mut tree = seed();
    tree.insert("session_status.jsonl", Entry::File(LINE.replace("active", "paused").into_bytes()));
    let own = "WFS-login/workflow-session.json";
    tree.set_modified(own, at("2026-01-31T10:00:00Z"));
    tree.set_modified("session_status.jsonl", at("2026-01-31T11:00:00Z"));
    assert_eq!(folded(&tree).0.lifecycle.name(), "paused");
    check_warnings(&tree, &["it says active, but session_status.jsonl says paused; the latter is used"]);
    tree.set_modified(own, at("2026-01-31T12:00:00Z"));
    assert_eq!(folded(&tree).0.lifecycle.name(), "active");
}

#[test]
fn a_marker_makes_a_session_active() {
    let json = r#"{"current_phase":"PLAN","created_at":"2026-01-28T10:00:00Z"}"#;
    let mut tree = tree(&[("WFS-login/workflow-session.json", json), (".active-WFS-login", "")]);
    assert_eq!(folded(&tree).0.lifecycle.name(), "active");
    let paused = r#"{"current_phase":"PLAN","status":"paused"}"#;
    tree.insert("WFS-login/workflow-session.json", Entry::File(paused.as_bytes().to_vec()));
    tree.set_modified("WFS-login/workflow-session.json", at("2026-01-31T10:00:00Z"));
    tree.set_modified(".active-WFS-login", at("2026-01-31T11:00:00Z"));
    assert_eq!(folded(&tree).0.lifecycle.name(), "active");
}

#[test]
fn another_ones_marker_or_ones_own_that_was_taken_away_says_that_it_waits() {
    let json = r#"{"current_phase":"PLAN","status":"active"}"#;
    let own = "WFS-login/workflow-session.json";
    let mut others = tree(&[(own, json), (".active-WFS-other", "")]);
    assert_eq!(folded(&others).0.lifecycle.name(), "paused");
    others.insert(".active-WFS-login", Entry::File(Vec::new()));
    assert_eq!(folded(&others).0.lifecycle.name(), "active", "both are marked");
    let mut taken = tree(&[(own, json)]);
    taken.take_away(".active-WFS-login");
    assert_eq!(folded(&taken).0.lifecycle.name(), "paused");
    let done = r#"{"current_phase":"PLAN","status":"completed"}"#;
    let done = tree(&[(own, done), (".active-WFS-other", "")]);
    assert_eq!(folded(&done).0.lifecycle.name(), "completed", "what is finished waits for nobody");
}

#[test]
fn markers_are_kept_true_only_where_there_are_some() {
    let signs = |tree: &Tree, events: &[Event]| {
        let (before, _, _) = told(tree).value.fold(&actor()).expect("a session");
        let first = before.len() as u64 + 1;
        let new = events.iter().cloned().zip(first..);
        let new = new.map(|(event, version)| Recorded { version, at: now(), actor: actor(), event });
        let all: Vec<Recorded> = before.into_iter().chain(new).collect();
        let session = Session::fold(&all).expect("a session");
        let (items, spot) = (ItemBook::fold(&all), spot_at(FOLDER));
        let folder =
            Folder { spot: &spot, id: &spot.id, worktree: "/w", tree, now: now(), read_as: ReadAs::Found };
        let ops = updated(&SessionToPublish::new(&session, &items, &all), &folder).into_iter();
        let marker = |op| match op {
            FileOp::Marker { path, on } => Some((path, on)),
            FileOp::Put { .. } | FileOp::Create(_) | FileOp::Folder(_) => None,
        };
        ops.filter_map(marker).collect::<Vec<_>>()
    };
    let paused = Event::SessionPaused { reason: "r".to_owned(), context: None, saved: Vec::new() };
    let own = || ".active-WFS-login".to_owned();
    assert_eq!(signs(&seed(), &[]), []);
    let mut with_one = seed();
    with_one.insert(".active-WFS-login", Entry::File(Vec::new()));
    assert_eq!(signs(&with_one, &[]), [(own(), true)]);
    assert_eq!(signs(&with_one, &[paused]), [(own(), false)]);
    let mut had_one = seed();
    had_one.take_away(".active-");
    assert_eq!(signs(&had_one, &[]), [(own(), true)]);
}

#[test]
fn times_of_every_writer_are_read() {
    for (json, created) in [
        (r#"{"current_phase":"PLAN","created_at":"2026-01-28T10:00:00Z"}"#, "2026-01-28T10:00:00Z"),
        (r#"{"current_phase":"PLAN","created":"2026-01-28T12:00:00+02:00"}"#, "2026-01-28T10:00:00Z"),
        (r#"{"current_phase":"PLAN","meta":{"created":"2026-01-28T10:00:00.5"}}"#, "2026-01-28T10:00:00.5Z"),
        (r#"{"current_phase":"PLAN","created":"2026-01-28"}"#, "2026-01-28T00:00:00Z"),
    ] {
        let tree = tree(&[("WFS-login/workflow-session.json", json)]);
        assert_eq!(folded(&tree).0.created_at, at(created), "{json}");
        check_warnings(&tree, &[]);
    }
    let odd =
        with_state(r#"{"current_phase":"PLAN","created_at":"soon","updated_at":"2027-01-01T00:00:00Z"}"#);
    check_warnings(&odd, &["created_at is 'soon', which is not a time", "updated_at is in the future"]);
    assert_eq!(folded(&odd).0.updated_at, at("2027-01-01T00:00:00Z"));
}

#[test]
fn a_session_that_nobody_can_read_and_nobody_calls_active_is_not() {
    let folder = |content: &str| tree(&[("WFS-login/workflow-session.json", content)]);
    assert_eq!(folded(&folder("{\"current_ph")).0.lifecycle.name(), "paused");
    assert_eq!(
        folded(&folder("{}")).0.lifecycle.name(),
        "active",
        "it can be read, and nothing else is said"
    );
    let mut registered = folder("");
    registered.insert("session_status.jsonl", Entry::File(LINE.as_bytes().to_vec()));
    assert_eq!(folded(&registered).0.lifecycle.name(), "active", "the registry calls it so");
}

/// A session that was active on Monday is still active on Friday: inactivity is reported, but does not pause
/// a session.
#[test]
fn inactivity_never_pauses() {
    let (session, _) = folded(&with_state(
        r#"{"current_phase":"PLAN","status":"active","updated_at":"2025-09-01T10:00:00Z"}"#,
    ));
    assert_eq!(session.lifecycle.name(), "active");
    assert!(!Ccw.facts().expires);
}

#[test]
fn wrong_types_in_every_field_are_warnings_that_name_file_and_field() {
    let json = r#"{"session_id":1,"project":[],"type":{},"current_phase":"PLAN","status":7,"description":false,
        "progress":{"completed_phases":"PLAN","current_tasks":{},"last_checkpoint":3},
        "meta":{"created":1,"updated":[]},"state_transitions":{},"paused_at":1,"completion_type":2,"last_error":3}"#;
    let tree = tree(&[("WFS-login/workflow-session.json", json)]);
    let found = warnings(&tree);
    for field in [
        "project is [], not a string",
        "type is {}",
        "status is 7",
        "description is false",
        "progress.completed_phases is \"PLAN\", not a list",
        "progress.current_tasks is {}, not a list",
        "progress.last_checkpoint is 3",
        "meta.created is 1",
        "meta.updated is []",
        "state_transitions is not a list",
        "paused_at is 1",
        "completion_type is 2",
        "last_error is 3",
    ] {
        assert!(
            found
                .iter()
                .any(|found| found.starts_with("WFS-login/workflow-session.json: ") && found.contains(field)),
            "{field} in {found:#?}"
        );
    }
    assert_eq!(folded(&tree).0.lifecycle.name(), "active");
}
