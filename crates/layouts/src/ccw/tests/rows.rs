//! Tests of the format's key lists, words and limits, and of errors in each field. An error is reported with
//! its file and field. The rest of the session works, and no wrong value is overwritten.

use super::writing::rich;
use super::*;
use crate::layout::Occasion;
use model::event::ItemEvent;
use model::gate::AttemptReport;
use model::id::ItemId;
use serde_json::json;

const STATE: &str = "WFS-login/workflow-session.json";
const TASK: &str = "WFS-login/.task/impl-2.json";
const REGISTRY: &str = "session_status.jsonl";

fn paused() -> Event {
    Event::SessionPaused { reason: "r".to_owned(), context: None, saved: Vec::new() }
}

fn completed(phase: &str) -> Event {
    Event::PhaseCompleted { phase: name(phase), attempt: AttemptReport::default(), branch: None, head: None }
}

fn begun(title: &str, taken: &dyn Fn(&str) -> bool) -> String {
    let beginning = NewSession::new(
        None,
        Occasion {
            title,
            today: "2026-02-01".parse().expect("a date"),
            now: now(),
            branch: None,
            random: [0; 16],
        },
        taken,
    );
    let path = Ccw.place(&beginning).expect("a place").path;
    path.strip_prefix(".workflow/").expect("below the home").to_owned()
}

/// The files of the example session, with the content of one file replaced.
fn seed_with(path: &str, bytes: &[u8]) -> Tree {
    let mut tree = seed();
    tree.insert(path, Entry::File(bytes.to_vec()));
    tree
}

/// Expects exactly one warning for this file, which contains `words`, and a session that can still be folded
/// from its files.
#[track_caller]
fn check_warning(tree: &Tree, path: &str, words: &str) {
    let found = warnings(tree);
    let is_told = found.iter().any(|line| line.starts_with(&format!("{path}: ")) && line.contains(words));
    assert!(is_told, "{words:?} of {path} is not in {found:#?}");
    assert!(folded(tree).0.run().is_some());
}

#[test]
fn a_slug_has_at_most_50_characters_with_wfs_and_with_a_number() {
    let solid = begun(&"x".repeat(300), &|_| false);
    assert_eq!((solid.len(), solid.starts_with("WFS-x")), (50, true));
    let second = begun(&"x".repeat(300), &|path| path.ends_with(&solid));
    assert_eq!((second.len(), second.ends_with("x-002")), (50, true));
}

#[test]
fn the_rich_file_of_other_writers_is_read_without_a_warning() {
    check_warnings(&with_state(&rich()), &[]);
}

#[test]
fn phases_tell_which_are_done_and_when_and_one_that_is_not_enabled_is_none_of_them() {
    let json = r#"{"status":"active","created_at":"2026-01-28T10:00:00Z","phases":{
        "BRAINSTORM":{"status":"skipped","enabled":false,"completed_at":null},
        "PLAN":{"status":"completed","enabled":true,"completed_at":"2026-01-29T10:00:00Z","x":1},
        "IMPLEMENT":{"status":"in_progress","enabled":true}}}"#;
    let tree = with_state(json);
    let (session, _) = folded(&tree);
    let run = session.run().expect("a run");
    assert_eq!(run.current().id().as_str(), "implement");
    let state = details(&tree).state;
    assert_eq!(state.completed, [PhaseWord::Plan]);
    assert_eq!(state.done_at(PhaseWord::Plan), Some(at("2026-01-29T10:00:00Z")));
    assert!(matches!(&run.phases[1].state, model::phase::PhaseState::InProgress { .. }));
    let begun = told(&tree).value.history.into_iter().find_map(|dated| match dated.event {
        Event::PhaseStarted { phase } if phase.as_str() == "implement" => Some(dated.at),
        _ => None,
    });
    assert_eq!(begun, Some(at("2026-01-29T10:00:00Z")), "the next one begins when that was done");
    check_warnings(&tree, &[]);
}

#[test]
fn all_that_other_writers_keep_survives_every_kind_of_write() {
    let resumed = || Event::SessionResumed { worktree: "/w".to_owned(), parallel: false, machine: None };
    let reopened = || Event::SessionReopened { worktree: "/w".to_owned(), parallel: false, machine: None };
    let failed = || Event::SessionFailed { error: "no disk".to_owned() };
    let abandoned = || Event::SessionAbandoned { reason: None, operation: None };
    let closed = || Event::SessionCompleted { forced: true };
    let noted = || Event::CheckpointMade { name: "c".to_owned() };
    let kinds: [(&str, Vec<Event>, &[&str]); 8] = [
        ("pause", vec![paused()], &["status", "paused_at"]),
        ("pause and resume", vec![paused(), resumed()], &["paused_at"]),
        ("close", vec![closed()], &["status", "completed_at", "final_phase"]),
        ("abandon", vec![abandoned()], &["status", "completed_at", "final_phase", "completion_type"]),
        ("abandon and reopen", vec![abandoned(), reopened()], &["completed_at", "completion_type"]),
        ("fail", vec![failed()], &["status", "paused_at"]),
        ("advance", vec![completed("plan")], &["current_phase", "phase", "state_transitions"]),
        ("checkpoint", vec![noted()], &[]),
    ];
    let before = with_state(&rich());
    let was = json_at(&before, STATE);
    for (kind, events, may_change) in kinds {
        let moved = after(&before, &events);
        let is = json_at(&moved, STATE);
        for (key, value) in was.as_object().expect("an object") {
            let may =
                may_change.contains(&key.as_str()) || ["updated_at", "progress"].contains(&key.as_str());
            assert!(may || is[key] == *value, "{kind}: {key} is {} and was {value}", is[key]);
        }
        assert_eq!(is["progress"]["mine"], 7, "{kind}");
        let text = text(&moved, STATE);
        for kept in
            ["1.50e-3", "0.10", "\"\\u00e9\"", "\"é\"", "{ \"created_at\"", "\"interruption_history\":[{"]
        {
            assert!(text.contains(kept), "{kind}: {kept} in {text}");
        }
    }
}

#[test]
fn a_switch_away_and_back_leaves_all_that_other_writers_keep() {
    let before = with_state(&rich());
    let away = after(&before, &[paused()]);
    assert_eq!(json_at(&away, STATE)["status"], "paused");
    let back =
        after(&away, &[Event::SessionResumed { worktree: "/w".to_owned(), parallel: false, machine: None }]);
    let (was, is) = (json_at(&before, STATE), json_at(&back, STATE));
    for key in [
        "documents",
        "task_system",
        "stats",
        "brainstorming",
        "issues",
        "recent_activity",
        "checkpoints",
        "context_chain",
        "state_transitions",
        "sync_history",
        "resumable",
        "resume_count",
        "interruption_history",
        "phases",
        "description",
        "created",
        "created_at",
        "completion_type",
        "status",
        "current_phase",
    ] {
        assert_eq!(is[key], was[key], "{key}");
    }
}

#[test]
fn a_key_that_is_there_twice_is_told_of_with_its_file_and_the_last_one_counts() {
    let twice = SEED.replacen("\"project\"", "\"project\": \"First\",\n  \"project\"", 1);
    let tree = seed_with(STATE, twice.as_bytes());
    check_warnings(&tree, &["workflow-session.json: project is set more than once; the last value is used"]);
    assert_eq!(folded(&tree).0.title, "Log in with OAuth");
    let kept = text(&after(&tree, &[paused()]), STATE);
    assert!(kept.contains("\"project\": \"First\",\n  \"project\": \"Log in with OAuth\""), "{kept}");

    let twice = task("impl-2", "active", "").replacen("\"title\"", "\"title\":\"First\",\"title\"", 1);
    let tree = seed_with(TASK, twice.as_bytes());
    check_warnings(&tree, &[".task/impl-2.json: title is set more than once; the last value is used"]);
    assert_eq!(details(&tree).tasks.tasks[1].title, "Do impl-2");

    let twice = LINE.replacen("\"description\"", "\"description\":\"First\",\"description\"", 1);
    let tree = seed_with(REGISTRY, twice.as_bytes());
    check_warnings(
        &tree,
        &["session_status.jsonl: description is set more than once; the last value is used"],
    );
    assert_eq!(details(&tree).line.and_then(|line| line.description).as_deref(), Some("OAuth"));
}

#[test]
fn every_field_of_the_session_file_with_a_wrong_type_is_named_and_kept() {
    let base = r#"{"status":"active","current_phase":"PLAN","x":1"#;
    for (field, words) in [
        (r#""session_id":1"#, "session_id is 1, not a string"),
        (r#""project":[]"#, "project is [], not a string"),
        (r#""description":{}"#, "description is {}, not a string"),
        (r#""type":true"#, "type is true, not a string"),
        (r#""complexity":3"#, "complexity is 3, not a string"),
        (r#""created_at":1"#, "created_at is 1, not a string"),
        (r#""created":[1]"#, "created is [1], not a string"),
        (r#""updated_at":2"#, "updated_at is 2, not a string"),
        (r#""resumed_at":{}"#, "resumed_at is {}, not a string"),
        (r#""paused_at":"x""#, "paused_at is 'x', which is not a time"),
        (r#""completed_at":0"#, "completed_at is 0, not a string"),
        (r#""completion_type":0"#, "completion_type is 0, not a string"),
        (r#""last_error":["e"]"#, "last_error is [\"e\"], not a string"),
        (r#""progress":3"#, "progress is 3, not an object"),
        (r#""meta":"x""#, "meta is \"x\", not an object"),
        (r#""meta":{"created":1}"#, "meta.created is 1, not a string"),
        (r#""meta":{"updated":1}"#, "meta.updated is 1, not a string"),
        (r#""progress":{"completed_phases":"PLAN"}"#, "progress.completed_phases is \"PLAN\", not a list"),
        (r#""progress":{"completed_phases":[1]}"#, "progress.completed_phases holds 1, not a string"),
        (r#""progress":{"current_tasks":{}}"#, "progress.current_tasks is {}, not a list"),
        (r#""progress":{"last_checkpoint":3}"#, "progress.last_checkpoint is 3, not a string"),
        (r#""phases":["PLAN"]"#, "phases is [\"PLAN\"], not an object"),
        (r#""phases":{"PLAN":"completed"}"#, "phases.PLAN is \"completed\", not an object"),
        (r#""phases":{"PLAN":{"status":1}}"#, "phases.PLAN.status is 1, not a string"),
        (r#""phases":{"PLAN":{"completed_at":1}}"#, "phases.PLAN.completed_at is 1, not a string"),
        (r#""state_transitions":{}"#, "state_transitions is not a list"),
        (r#""state_transitions":[1]"#, "state_transitions[0] is 1, not an object"),
        (
            r#""state_transitions":[{},{"phase_completed":1}]"#,
            "state_transitions[1].phase_completed is 1, not a",
        ),
        (r#""state_transitions":[{"next_phase":[]}]"#, "state_transitions[0].next_phase is [], not a string"),
        (
            r#""state_transitions":[{"completed_at":"x"}]"#,
            "state_transitions[0].completed_at is 'x', which is no",
        ),
    ] {
        let tree = with_state(&format!("{base},{field}}}"));
        check_warnings(&tree, &[words]);
        check_warning(&tree, STATE, words);
        assert_eq!(written(&tree, &[]), [], "{field}");
        let noted = after(&tree, &[Event::CheckpointMade { name: "c".to_owned() }]);
        let wrong: serde_json::Value = serde_json::from_str(&format!("{{{field}}}")).expect("JSON");
        let (key, value) = wrong.as_object().expect("an object").iter().next().expect("a field");
        // A checkpoint writes `progress` and its time; existing values of the wrong type stay.
        if !["progress", "meta", "updated_at"].contains(&key.as_str())
            || !value.is_object() && key != "updated_at"
        {
            assert_eq!(&json_at(&noted, STATE)[key], value, "{field} was written over");
        }
    }
    // No key but `current_phase` gives the phase; none but `status` gives the status.
    check_warnings(&with_state(r#"{"phase":3}"#), &["phase is 3, not a string", "current_phase is missing"]);
    check_warnings(
        &with_state(r#"{"current_phase":[],"phase":"REVIEW"}"#),
        &["current_phase is [], not a string"],
    );
    check_warnings(&with_state(r#"{"current_phase":"PLAN","status":7}"#), &["status is 7, not a string"]);
}

#[test]
fn every_field_of_a_task_with_a_wrong_type_is_named_and_kept() {
    for (field, words) in [
        (r#""title":3"#, "title is 3, not a string"),
        (r#""type":[]"#, "type is [], not a string"),
        (r#""agent":{}"#, "agent is {}, not a string"),
        (r#""context":"c""#, "context is \"c\", not an object"),
        (r#""context":{"requirements":5}"#, "context.requirements is 5, not a string"),
        (r#""context":{"scope":true}"#, "context.scope is true, not a string"),
        (r#""context":{"acceptance":1.5}"#, "context.acceptance is 1.5, not a string"),
        (r#""context":{"inherited_from":0}"#, "context.inherited_from is 0, not a string"),
        (r#""relations":[]"#, "relations is [], not an object"),
        (r#""relations":{"parent":1}"#, "relations.parent is 1, not a string"),
        (r#""relations":{"subtasks":"impl-1"}"#, "relations.subtasks is \"impl-1\", not a list"),
        (r#""relations":{"dependencies":"impl-1"}"#, "relations.dependencies is \"impl-1\", not a list"),
        (r#""relations":{"dependencies":[1]}"#, "relations.dependencies holds 1, not a string"),
        (r#""execution":1"#, "execution is 1, not an object"),
        (r#""execution":{"attempts":"two"}"#, "execution.attempts is \"two\", not a whole number"),
        (r#""meta":7"#, "meta is 7, not an object"),
        (r#""meta":{"created":7}"#, "meta.created is 7, not a string"),
        (r#""meta":{"updated":"then"}"#, "meta.updated is 'then', which is not a time"),
    ] {
        let whole = format!(r#"{{"id":"impl-2","status":"active",{field}}}"#);
        let tree = seed_with(TASK, whole.as_bytes());
        check_warnings(&tree, &[words]);
        check_warning(&tree, TASK, words);
        let done = ItemEvent::ItemStarted { id: ItemId::parse("impl-1").expect("an id") };
        assert_eq!(text(&after(&tree, &[Event::Item(done), paused()]), TASK), whole, "another's write");
    }
    let odd = seed_with(TASK, br#"{"id":"impl-2","status":[]}"#);
    check_warnings(&odd, &["status is [], not a string", "status is missing; the task counts as pending"]);
    let odd = seed_with(TASK, br#"{"id":2,"status":"active"}"#);
    check_warnings(&odd, &["id is 2, not a string", "id is missing; the file's name is used as the id"]);
}

#[test]
fn every_field_of_a_registry_line_with_a_wrong_type_is_named_and_kept() {
    let known = json!({ "id": NAME, "status": "active", "description": "OAuth", "created": "2026-01-28T10:00:00Z",
        "directory": ".workflow/WFS-login", "complexity": "medium" });
    for (key, value, words) in [
        ("id", json!(5), "id is 5, not a string"),
        ("status", json!([]), "status is [], not a string"),
        ("description", json!({}), "description is {}, not a string"),
        ("created", json!(7), "created is 7, not a string"),
        ("created", json!("soon"), "created is 'soon', which is not a time"),
        ("directory", json!(true), "directory is true, not a string"),
        ("complexity", json!(3), "complexity is 3, not a string"),
        ("complexity", json!("huge"), "complexity is 'huge', but must be one of simple, medium, complex"),
    ] {
        let mut line = known.clone();
        line[key] = value.clone();
        let tree = seed_with(REGISTRY, format!("{line}\n").as_bytes());
        check_warnings(&tree, &[words]);
        check_warning(&tree, REGISTRY, words);
        if key != "status" {
            let kept: serde_json::Value =
                serde_json::from_str(&text(&after(&tree, &[paused()]), REGISTRY)).expect("one line");
            assert_eq!((&kept[key], &kept["status"]), (&value, &json!("paused")));
        }
    }
}

#[test]
fn a_file_that_is_no_utf_8_is_named_and_never_written_over() {
    let broken = b"{\"id\":\"impl-2\",\"status\":\"active\",\"title\":\"\xff\xfe\"}";
    let tree = seed_with(STATE, broken);
    check_warning(&tree, STATE, "it is not UTF-8");
    assert_eq!(told(&tree).value.unreadable, [STATE]);
    assert_eq!(folded(&tree).0.title, "OAuth", "as the registry has it");

    let tree = seed_with(TASK, broken);
    check_warning(&tree, TASK, "it is not UTF-8");
    check_warning(&tree, TASK, "it is left as it is");
    assert_eq!(details(&tree).tasks.broken, [TASK]);
    assert_eq!(after(&tree, &[paused()]).content(TASK), Some(&broken[..]));

    let line = [b"{\"id\":\"WFS-login\",\"x\":\"\xff\"}\n".as_slice(), LINE.as_bytes(), b"\n"].concat();
    let tree = seed_with(REGISTRY, &line);
    check_warnings(&tree, &["session_status.jsonl: line 1 is not a JSON object; it is left as it is"]);
    let kept = after(&tree, &[paused()]);
    let kept = kept.content(REGISTRY).expect("a file");
    assert!(
        kept.starts_with(b"{\"id\":\"WFS-login\",\"x\":\"\xff\"}\n"),
        "{}",
        String::from_utf8_lossy(kept)
    );
    assert!(String::from_utf8_lossy(kept).contains("\"status\":\"paused\""));
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_read_and_kept_in_every_file() {
    let windows = |text: &str| format!("\u{feff}{}", text.replace('\n', "\r\n"));
    let lines = |text: &str| {
        assert!(text.starts_with('\u{feff}'), "{text:?}");
        assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{text:?}");
    };
    let mut tree = seed();
    tree.insert(STATE, Entry::File(windows(SEED).into_bytes()));
    let open = task("impl-2", "pending", "").replace(',', ",\n");
    tree.insert(TASK, Entry::File(windows(&open).into_bytes()));
    tree.insert(REGISTRY, Entry::File(windows(&format!("{LINE}\n{{\"id\":\"WFS-b\"}}\n")).into_bytes()));
    check_warnings(&tree, &[]);
    assert_eq!(written(&tree, &[]), []);
    let begun = Event::Item(ItemEvent::ItemStarted { id: ItemId::parse("impl-2").expect("an id") });
    let moved = after(&tree, &[begun, paused()]);
    for path in [STATE, TASK, REGISTRY] {
        assert_ne!(text(&moved, path), text(&tree, path), "{path} was to change");
        lines(&text(&moved, path));
    }
    check_warnings(&moved, &[]);
}
