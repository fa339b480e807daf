//! Tests of writing a session to its files: a write changes only values that differ, and loses no content of
//! other tools.

use super::*;
use model::event::ItemEvent;
use model::gate::AttemptReport;
use model::id::ItemId;
use model::item::{ItemChange, NewItem, RunRef};
use serde_json::json;
use std::collections::BTreeMap;

const STATE: &str = "WFS-login/workflow-session.json";

/// A state file with everything that other writers are known to add.
pub(super) fn rich() -> String {
    r#"{ "created_at": "2026-01-28T10:00:00Z", "updated_at":"2026-01-31T10:00:00Z","description":"d",
 "session_id":"WFS-login","project":"Log in","type":"complex","current_phase":"PLAN","phase":"PLAN","status":"active",
 "phases":{"PLAN":{"status":"in_progress","enabled":true,"completed_at":null},"BRAINSTORM":{"enabled":false}},
 "documents":{"plan":"IMPL_PLAN.md"},"task_system":{"max_depth":3},"stats":{"ratio":1.50e-3},"brainstorming":{"roles":[]},
 "issues":{"open":0},"recent_activity":["é","\u00e9"],"checkpoints":{"plan":false,"implement":false,"review":false},
 "context_chain":[{}],"state_transitions":[{"phase_completed":"INIT","next_phase":"PLAN","n":0.10}],"sync_history":[],
 "created":"2026-01-28","paused_at":"2026-01-29T10:00:00Z","completed_at":null,"completion_type":"normal",
 "resumed_at":"2026-01-30T10:00:00Z","resumable":true,"final_phase":null,
 "resume_count":2,"interruption_history":[{"at":"x"}],"progress":{"completed_phases":[],"mine":7} }"#
        .to_owned()
}

fn completed(phase: &str) -> Event {
    Event::PhaseCompleted { phase: name(phase), attempt: AttemptReport::default(), branch: None, head: None }
}

fn started(phase: &str) -> Event {
    Event::PhaseStarted { phase: name(phase) }
}

fn id(text: &str) -> ItemId {
    ItemId::parse(text).expect("an id")
}

fn new_item(text: &str, parent: Option<&str>) -> NewItem {
    NewItem {
        id: id(text),
        kind: name("impl"),
        title: format!("New {text}"),
        run: RunRef { workflow: name("ccw"), ordinal: 1 },
        phase: name("implement"),
        parent: parent.map(id),
        order: 30,
        depends_on: Vec::new(),
        fields: BTreeMap::new(),
    }
}

#[test]
fn read_then_write_changes_no_byte() {
    let mut trees = vec![seed(), with_state(&rich())];
    for json in [
        "\u{feff}{\r\n\t\"current_phase\" : \"INIT\"\r\n}\r\n\r\n",
        r#"{"phase":"vibe","status":"interrupted","paused_at":"2026-01-30T10:00:00Z","a":1,"a":2}"#,
        r#"{"current_phase":"COMPLETE","status":"completed","final_phase":"REVIEW","completion_type":"normal"}"#,
        r#"{"current_phase":"nonsense","status":5,"progress":3,"meta":"x"}"#,
        r#"{"current_phase":"REVIEW","status":"reviewing","progress":{"completed_phases":["PLAN","IMPLEMENT","REVIEW"]}}"#,
        "{}",
    ] {
        let mut tree = with_state(json);
        let status = details(&tree).stands;
        if status != Stands::Active {
            let word = if status == Stands::Completed { "completed" } else { "paused" };
            tree.insert("session_status.jsonl", Entry::File(LINE.replace("active", word).into_bytes()));
        }
        trees.push(tree);
    }
    for tree in trees {
        let changes = written(&tree, &[]);
        let changes: Vec<String> =
            changes.iter().map(|change| String::from_utf8_lossy(&change.content).into_owned()).collect();
        assert!(changes.is_empty(), "{changes:#?}");
    }
}

#[test]
fn a_transition_is_recorded_as_the_seed_has_it_and_sets_a_checkpoint() {
    let mut tree = with_state(&SEED.replace("\"IMPLEMENT\"", "\"PLAN\"").replace("[\"PLAN\"]", "[]"));
    tree.insert("WFS-login/IMPL_PLAN.md", Entry::File(PLAN_TEXT.as_bytes().to_vec()));
    let moved = after(&tree, &[completed("plan"), started("implement")]);
    let json = json_at(&moved, STATE);
    assert_eq!(json["current_phase"], "IMPLEMENT");
    assert_eq!(json["progress"]["completed_phases"], json!(["PLAN"]));
    assert_eq!(json["progress"]["last_checkpoint"], "2026-02-01T12:00:00Z");
    assert_eq!(json["meta"]["updated"], "2026-02-01T12:00:00Z");
    assert_eq!(
        json["state_transitions"],
        json!([{ "phase_completed": "PLAN", "next_phase": "IMPLEMENT", "completed_at": "2026-02-01T12:00:00Z",
            "artifacts": { "plan_document": "IMPL_PLAN.md" } }])
    );
    assert_eq!(folded(&moved).0.run().expect("a run").current().id().as_str(), "implement");
    // Writing the same events again changes nothing.
    assert_eq!(written(&moved, &[]), []);
}

#[test]
fn a_checkpoint_is_set_on_request_and_at_the_end_and_by_nothing_else() {
    let checkpoint =
        |events: &[Event]| json_at(&after(&seed(), events), STATE)["progress"]["last_checkpoint"].clone();
    let now = json!("2026-02-01T12:00:00Z");
    assert_eq!(checkpoint(&[Event::CheckpointMade { name: "c".to_owned() }]), now);
    assert_eq!(
        checkpoint(&[Event::SessionPaused { reason: "r".to_owned(), context: None, saved: Vec::new() }]),
        now
    );
    assert_eq!(checkpoint(&[Event::SessionCompleted { forced: true }]), now);
    assert_eq!(
        checkpoint(&[Event::Item(ItemEvent::ItemStarted { id: id("impl-2") })]),
        json!("2026-01-30T10:00:00Z")
    );
}

#[test]
fn all_that_other_writers_keep_survives() {
    let before = with_state(&rich());
    let moved = after(&before, &[completed("plan"), started("implement")]);
    let (was, is) = (json_at(&before, STATE), json_at(&moved, STATE));
    let changed = ["current_phase", "phase", "progress", "state_transitions", "updated_at"];
    for (key, value) in was.as_object().expect("an object") {
        assert!(changed.contains(&key.as_str()) || is[key] == *value, "{key}");
    }
    assert_eq!((&is["phase"], &is["updated_at"]), (&json!("IMPLEMENT"), &json!("2026-02-01T12:00:00Z")));
    assert_eq!((&is["progress"]["mine"], is.get("meta")), (&json!(7), None));
    assert_eq!(is["state_transitions"].as_array().expect("a list").len(), 2);
    let text = text(&moved, STATE);
    for kept in ["1.50e-3", "0.10", "\"\\u00e9\"", "\"é\"", "{ \"created_at\""] {
        assert!(text.contains(kept), "{kept} in {text}");
    }
}

#[test]
fn lifecycles_are_written_as_the_layout_can_say_them() {
    let paused = || Event::SessionPaused { reason: "r".to_owned(), context: None, saved: Vec::new() };
    let failed = Event::SessionFailed { error: "no disk".to_owned() };
    let failed_tree = after(&seed(), &[failed]);
    let json = json_at(&failed_tree, STATE);
    assert_eq!((&json["status"], &json["last_error"]), (&json!("paused"), &json!("no disk")));
    assert_eq!(folded(&failed_tree).0.lifecycle.name(), "failed");
    assert!(text(&failed_tree, "session_status.jsonl").contains("\"status\":\"paused\""));
    // Pausing the session afterwards does not mark it as failed.
    let resumed = Event::SessionResumed { worktree: "/w".to_owned(), parallel: false, machine: None };
    let again = after(&failed_tree, &[resumed.clone(), paused()]);
    assert_eq!(folded(&again).0.lifecycle.name(), "paused");
    let abandoned = after(&seed(), &[Event::SessionAbandoned { reason: None, operation: None }]);
    assert_eq!(json_at(&abandoned, STATE)["completion_type"], "abandoned");
    assert_eq!(folded(&abandoned).0.lifecycle.name(), "abandoned");
    let reopened = Event::SessionReopened { worktree: "/w".to_owned(), parallel: false, machine: None };
    let closed = after(&abandoned, &[reopened, Event::SessionCompleted { forced: true }]);
    assert_eq!(folded(&closed).0.lifecycle.name(), "completed");
}

#[test]
fn a_status_that_tells_the_phase_moves_with_it() {
    let tree = with_state(r#"{"current_phase":"PLAN","status":"planning"}"#);
    let moved = after(&tree, &[completed("plan"), started("implement")]);
    assert_eq!(json_at(&moved, STATE)["status"], "implementing");
    let paused = Event::SessionPaused { reason: "r".to_owned(), context: None, saved: Vec::new() };
    assert_eq!(json_at(&after(&tree, &[paused]), STATE)["status"], "paused");
}

/// In later releases the status may be the only field that shows the phase.
#[test]
fn a_phase_that_only_the_status_told_is_kept_when_another_status_takes_its_place() {
    let state = ".workflow/active/WFS-login";
    let file = "active/WFS-login/workflow-session.json";
    let phase = |json: &str| {
        let told = read_at(state, &tree(&[(file, json)])).value.fold(&actor()).expect("a session");
        told.1.run().expect("a run").current().id().to_string()
    };
    let json = r#"{"session_id":"WFS-login","project":"Log in","status":"implementing"}"#;
    assert_eq!(phase(json), "implement");
    for event in [
        Event::SessionPaused { reason: "r".to_owned(), context: None, saved: Vec::new() },
        Event::SessionFailed { error: "no disk".to_owned() },
    ] {
        let moved = after(&with_state(json), &[event]);
        assert_eq!(json_at(&moved, STATE)["status"], "paused");
        assert_eq!(json_at(&moved, STATE)["current_phase"], "IMPLEMENT");
        check_warnings(&moved, &[]);
    }
    // No phase is added if the file has a key that names it.
    let named = r#"{"current_phase":"VIBE","status":"implementing"}"#;
    let paused = Event::SessionPaused { reason: "r".to_owned(), context: None, saved: Vec::new() };
    assert_eq!(json_at(&after(&with_state(named), &[paused]), STATE)["current_phase"], "VIBE");
    // In its active folder, the tool of later releases trusts the status alone, and ignores other keys.
    assert_eq!(phase(r#"{"current_phase":"IMPLEMENT","status":"reviewing"}"#), "review");
    assert_eq!(phase(r#"{"current_phase":"IMPLEMENT","status":"active"}"#), "implement");
}

#[test]
fn what_said_how_a_session_had_ended_is_gone_when_it_goes_on() {
    let next = |tree: &Tree, word: &str| {
        let json = text(tree, STATE).replace("\"status\": \"active\"", &format!("\"status\": \"{word}\""));
        assert!(json.contains(&format!("\"{word}\"")), "{json}");
        let line = LINE.replace("active", word);
        let mut tree = tree.clone();
        tree.insert(STATE, Entry::File(json.into_bytes()));
        tree.insert("session_status.jsonl", Entry::File(line.into_bytes()));
        folded(&tree).0.lifecycle.name()
    };
    let failed = after(&seed(), &[Event::SessionFailed { error: "no disk".to_owned() }]);
    let resumed = after(
        &failed,
        &[Event::SessionResumed { worktree: "/w".to_owned(), parallel: false, machine: None }],
    );
    assert_eq!(next(&resumed, "paused"), "paused", "their tool's next pause is none of our failures");
    let abandoned = after(&seed(), &[Event::SessionAbandoned { reason: None, operation: None }]);
    let reopened = after(
        &abandoned,
        &[Event::SessionReopened { worktree: "/w".to_owned(), parallel: false, machine: None }],
    );
    assert_eq!(next(&reopened, "completed"), "completed");
    // Other tools' values under the same keys stay.
    let theirs = SEED.replacen('{', "{ \"last_error\": \"timeout\", \"completion_type\": \"normal\",", 1);
    let moved = after(&with_state(&theirs), &[completed("implement"), started("review")]);
    let json = json_at(&moved, STATE);
    assert_eq!((&json["last_error"], &json["completion_type"]), (&json!("timeout"), &json!("normal")));
}

#[test]
fn a_file_that_is_made_again_names_the_tasks_that_are_being_worked_on() {
    let mut tree = seed();
    tree.remove(STATE);
    let made = after(&tree, &[]);
    assert_eq!(json_at(&made, STATE)["progress"]["current_tasks"], json!(["impl-2"]));
}

#[test]
fn tasks_go_both_ways() {
    let tree = seed();
    let done = Event::Item(ItemEvent::ItemCompleted {
        id: id("impl-2"),
        run: RunRef { workflow: name("ccw"), ordinal: 1 },
        phase: name("implement"),
    });
    let changed = after(&tree, &[done]);
    let file = "WFS-login/.task/impl-2.json";
    let expected = text(&tree, file)
        .replace("\"status\":\"active\"", "\"status\":\"completed\"")
        .replace("\"updated\":\"2026-01-29T10:00:00Z\"", "\"updated\":\"2026-02-01T12:00:00Z\"");
    assert_eq!(text(&changed, file), expected, "status and time, and no other byte");
    assert_eq!(text(&changed, "WFS-login/.task/impl-1.json"), text(&tree, "WFS-login/.task/impl-1.json"));
    assert_eq!(json_at(&changed, STATE)["progress"]["current_tasks"], json!([]));
    let change = ItemChange {
        title: Some("Renamed".to_owned()),
        fields: BTreeMap::from([
            ("acceptance".to_owned(), json!(["b"])),
            ("type".to_owned(), json!("docs")),
            ("x".to_owned(), json!(1)),
        ]),
        depends_on: Some(Vec::new()),
        ..ItemChange::default()
    };
    let json = json_at(&after(&tree, &[Event::Item(ItemEvent::ItemSet { id: id("IMPL-2"), change })]), file);
    assert_eq!(
        (&json["title"], &json["type"], &json["context"]["acceptance"]),
        (&json!("Renamed"), &json!("docs"), &json!(["b"]))
    );
    assert_eq!((&json["relations"]["dependencies"], json.get("x")), (&json!([]), None));
}

#[test]
fn a_new_task_has_every_field_and_a_split_one_becomes_a_container() {
    let tree = seed();
    let added = after(&tree, &[Event::Item(ItemEvent::ItemAdded { item: new_item("impl-3", None) })]);
    let json = json_at(&added, "WFS-login/.task/impl-3.json");
    let keys: Vec<&String> = json.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["id", "title", "status", "type", "agent", "context", "relations", "execution", "meta"]);
    let below = |key: &str| -> Vec<&String> { json[key].as_object().expect("an object").keys().collect() };
    assert_eq!(below("context"), ["requirements", "scope", "acceptance", "inherited_from"]);
    assert_eq!(below("relations"), ["parent", "subtasks", "dependencies"]);
    assert_eq!(below("execution"), ["attempts", "last_attempt"]);
    assert_eq!(below("meta"), ["created", "updated"]);
    assert!(warnings(&added).is_empty(), "{:?}", warnings(&added));
    let parts = vec![new_item("impl-3.1", Some("impl-3")), new_item("impl-3.2", Some("impl-3"))];
    let split = after(&added, &[Event::Item(ItemEvent::ItemSplit { id: id("impl-3"), parts })]);
    let json = json_at(&split, "WFS-login/.task/impl-3.json");
    assert_eq!(
        (&json["status"], &json["relations"]["subtasks"]),
        (&json!("container"), &json!(["impl-3.1", "impl-3.2"]))
    );
    assert_eq!(json_at(&split, "WFS-login/.task/impl-3.1.json")["relations"]["parent"], "impl-3");
    assert!(warnings(&split).is_empty(), "parent and child name each other: {:?}", warnings(&split));
}

#[test]
fn an_attempt_is_counted_once() {
    let added = after(&seed(), &[Event::Item(ItemEvent::ItemAdded { item: new_item("impl-3", None) })]);
    let begun = Event::Item(ItemEvent::ItemStarted { id: id("impl-3") });
    let working = after(&added, std::slice::from_ref(&begun));
    let json = json_at(&working, "WFS-login/.task/impl-3.json");
    assert_eq!((&json["status"], &json["execution"]["attempts"]), (&json!("active"), &json!(1)));
    assert_eq!(json["execution"]["last_attempt"], "2026-02-01T12:00:00Z");
    assert_eq!(json_at(&working, STATE)["progress"]["current_tasks"], json!(["impl-2", "impl-3"]));
    assert_eq!(written(&working, &[]), []);
}

/// A test for an earlier defect: archiving a session marked all of its tasks completed.
#[test]
fn closing_a_session_leaves_every_task_as_it_is() {
    let before = seed();
    let closed = after(&before, &[Event::SessionCompleted { forced: true }]);
    for file in ["WFS-login/.task/impl-1.json", "WFS-login/.task/impl-2.json"] {
        assert_eq!(text(&closed, file), text(&before, file));
    }
    assert_eq!(json_at(&closed, STATE)["status"], "completed");
}

#[test]
fn what_stands_in_the_way_and_is_no_object_stays() {
    let tree = with_state(
        r#"{"current_phase":"PLAN","status":"active","progress":3,"meta":"x","state_transitions":"y"}"#,
    );
    let json = json_at(&after(&tree, &[completed("plan"), started("implement")]), STATE);
    assert_eq!(
        (&json["progress"], &json["meta"], &json["state_transitions"]),
        (&json!(3), &json!("x"), &json!("y"))
    );
    assert_eq!(json["current_phase"], "IMPLEMENT");
}

/// Later releases use the word `in_progress`, and leftoff writes it to their files.
#[test]
fn a_task_that_goes_on_is_called_so_in_the_words_of_its_neighbours() {
    let begun = Event::Item(ItemEvent::ItemStarted { id: id("impl-2") });
    let status = |neighbour: &str| {
        let mut tree = seed();
        tree.insert("WFS-login/.task/impl-1.json", Entry::File(task("impl-1", neighbour, "").into_bytes()));
        tree.insert("WFS-login/.task/impl-2.json", Entry::File(task("impl-2", "pending", "").into_bytes()));
        json_at(&after(&tree, std::slice::from_ref(&begun)), "WFS-login/.task/impl-2.json")["status"].clone()
    };
    assert_eq!(status("completed"), "active");
    assert_eq!(status("in_progress"), "in_progress");
    assert_eq!(status("cancelled"), "in_progress");
}

/// Agents update only a task's own file: a task that is completed there leaves the list of current tasks.
#[test]
fn a_task_that_was_completed_in_its_file_is_no_current_one_after_the_next_write() {
    let mut tree = seed();
    tree.insert("WFS-login/.task/impl-2.json", Entry::File(task("impl-2", "completed", "").into_bytes()));
    let names = SEED.replace("\"impl-2\"]", "\"IMPL-002\", \"impl-9\"]");
    tree.insert(STATE, Entry::File(names.into_bytes()));
    assert_eq!(written(&tree, &[]), [], "no write is made for that alone");
    let paused = Event::SessionPaused { reason: "r".to_owned(), context: None, saved: Vec::new() };
    assert_eq!(json_at(&after(&tree, &[paused]), STATE)["progress"]["current_tasks"], json!(["impl-9"]));
}

#[test]
fn a_cancelled_task_is_none_of_those_that_a_transition_calls_completed() {
    let mut tree = seed();
    tree.insert("WFS-login/.task/impl-2.json", Entry::File(task("impl-2", "cancelled", "").into_bytes()));
    let moved = after(&tree, &[completed("implement"), started("review")]);
    let transitions = json_at(&moved, STATE)["state_transitions"].clone();
    assert_eq!(transitions[0]["artifacts"]["completed_tasks"], json!(["impl-1"]));
    assert_eq!(text(&moved, "WFS-login/.task/impl-2.json"), text(&tree, "WFS-login/.task/impl-2.json"));
}
