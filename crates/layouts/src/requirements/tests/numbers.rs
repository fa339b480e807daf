use super::*;
use serde_json::{Value, json};

fn metrics() -> Metrics {
    Metrics::new(&agent(UUID), "/p", "main", 100)
}

fn count(metrics: &mut Metrics, at: i64, event: Option<&str>, what: Counted) -> bool {
    metrics.count(&Count { at, event: event.map(ToOwned::to_owned), what })
}

fn used(file: Option<&str>, command: Option<&str>) -> Counted {
    Counted::Used {
        tool: "Edit".to_owned(),
        file: file.map(ToOwned::to_owned),
        command: command.map(ToOwned::to_owned),
        skill: None,
    }
}

fn written(metrics: &Metrics) -> Value {
    serde_json::from_str(&metrics.text()).expect("JSON")
}

#[test]
fn tools_are_counted_and_lists_are_bounded() {
    let mut metrics = metrics();
    for number in 0..60 {
        assert!(count(
            &mut metrics,
            101,
            None,
            used(Some(&format!("f{number}")), Some(&format!("c{number}")))
        ));
    }
    count(&mut metrics, 101, None, used(Some("f59"), None));
    let tool = &written(&metrics)["tools"]["Edit"];
    assert_eq!((&tool["count"], &tool["blocked_count"]), (&json!(61), &json!(0)));
    assert_eq!(tool["files"].as_array().map(Vec::len), Some(50));
    assert_eq!(tool["files"][49], "f59");
    assert_eq!(tool["commands"].as_array().map(Vec::len), Some(30));
}

#[test]
fn the_same_event_counts_once() {
    let mut metrics = metrics();
    assert!(count(&mut metrics, 101, Some("used:toolu_1"), used(None, None)));
    assert!(!count(&mut metrics, 102, Some("used:toolu_1"), used(None, None)));
    assert!(count(&mut metrics, 102, Some("used:toolu_2"), used(None, None)));
    assert_eq!(written(&metrics)["tools"]["Edit"]["count"], 2);
}

#[test]
fn what_was_held_and_satisfied_is_timed() {
    let mut metrics = metrics();
    let held = || Counted::Held {
        tool: "Edit".to_owned(),
        file: None,
        command: None,
        requirements: vec!["commit_plan".to_owned()],
    };
    count(&mut metrics, 110, None, held());
    count(&mut metrics, 120, None, held());
    let satisfied =
        Counted::Satisfied { requirements: vec!["commit_plan".to_owned()], by: "skill".to_owned() };
    count(&mut metrics, 140, None, satisfied);
    let all = written(&metrics);
    assert_eq!(
        all["requirements"]["commit_plan"],
        json!({ "triggered_at": 110, "blocked_count": 2, "satisfied_at": 140, "satisfied_by": "skill", "time_to_satisfy_seconds": 30 })
    );
    assert_eq!(all["tools"]["Edit"]["blocked_count"], 2);
}

#[test]
fn a_compaction_that_is_delivered_twice_counts_once_and_a_later_one_again() {
    let mut metrics = metrics();
    let mut count = |at: i64, event: &str| {
        metrics.count(&Count { at, event: Some(event.to_owned()), what: Counted::Compacted })
    };
    assert!(count(1_000, "same") && !count(1_000, "same") && !count(1_004, "same"));
    assert!(count(1_002, "other"), "another one says something else");
    assert!(count(1_060, "same") && !count(1_061, "same"));
}

#[test]
fn errors_skills_compactions_and_the_end_are_kept() {
    let mut metrics = metrics();
    for number in 0..110 {
        let failed = Counted::Failed { tool: "Bash".to_owned(), message: format!("m{number}") };
        count(&mut metrics, 101, None, failed);
        let skill = Counted::Used {
            tool: "Skill".to_owned(),
            file: None,
            command: None,
            skill: Some(format!("s{number}")),
        };
        count(&mut metrics, 101, None, skill);
    }
    count(&mut metrics, 102, None, Counted::Compacted);
    count(&mut metrics, 160, None, Counted::Ended);
    let all = written(&metrics);
    assert_eq!(all["errors"].as_array().map(Vec::len), Some(100));
    assert_eq!(all["skills"].as_array().map(Vec::len), Some(50));
    assert_eq!(all["compaction_count"], 1);
    assert_eq!((&all["ended_at"], &all["duration_seconds"]), (&json!(160), &json!(60)));
}

#[test]
fn behaviour_16_a_repeated_denial_is_shown_once_in_five_seconds() {
    let mut metrics = metrics();
    assert!(metrics.shows_denial("one", 5, 100));
    assert!(!metrics.shows_denial("one", 5, 104));
    assert!(metrics.shows_denial("another", 5, 104), "a changed message is shown again");
    assert!(metrics.shows_denial("one", 5, 105));
    assert!(metrics.shows_denial("one", 5, 110));
    assert!(metrics.shows_denial("one", 5, 50), "a clock that was set back hides nothing");
}

#[test]
fn the_originals_metrics_are_gone_on_with() {
    let text = r#"{"version":"1.0","session_id":"cad0ac4d","tools":{"Edit":{"count":7,"files":["a"]}},"learnings":{"x":1}}"#;
    let mut metrics = Metrics::read(text).expect("reads");
    assert!(metrics.is_of(&agent(UUID)));
    count(&mut metrics, 5, None, used(Some("b"), None));
    let all = written(&metrics);
    assert_eq!(all["tools"]["Edit"]["count"], 8);
    assert_eq!(all["tools"]["Edit"]["files"], json!(["a", "b"]));
    assert_eq!(all["learnings"]["x"], 1);
    assert_eq!(Metrics::read("{"), None);
    assert_eq!(Metrics::read(r#"{"version":"3"}"#), None);
    let ours = Metrics::new(&agent("session-10"), "/p", "b", 1);
    assert!(!ours.is_of(&agent("session-11")));
}

#[test]
fn live_ones_are_listed_and_those_that_are_gone_leave() {
    let text = r#"{"version":"1.0","other":true,"sessions":{
        "aaaa1111":{"pid":10,"ppid":20,"project_dir":"/p","branch":"b","started_at":1,"last_active":2,"x":1},
        "bbbb2222":{"pid":30,"ppid":0,"project_dir":"/p"},
        "cccc3333":{"project_dir":"/p"}}}"#;
    let mut registry = Registry::read(text).expect("reads");
    let processes: Vec<Option<u32>> = registry.entries().iter().map(Entry::process).collect();
    assert_eq!(
        processes,
        [Some(20), Some(30), None],
        "0 is no process, and no process is not alive for ever"
    );
    let me = agent(UUID);
    let entry = Entry {
        ppid: Some(40),
        project_dir: "/p".to_owned(),
        started_at: 5,
        last_active: 5,
        ..Entry::default()
    };
    registry.greet(&me, &entry);
    registry.greet(&me, &Entry { started_at: 9, last_active: 9, ..entry });
    assert!(registry.drop_gone(|entry| entry.process().is_some_and(|pid| pid != 30)));
    let all: Value = serde_json::from_str(&registry.text()).expect("JSON");
    assert_eq!(all["other"], true);
    assert_eq!(all["sessions"]["aaaa1111"]["x"], 1);
    let mine = &all["sessions"]["cad0ac4d"];
    assert_eq!((&mine["started_at"], &mine["last_active"]), (&json!(5), &json!(9)));
    assert_eq!(mine["session_id"], UUID);
    assert_eq!(all["sessions"].as_object().map(serde_json::Map::len), Some(2));
    assert!(registry.remove(&me) && !registry.remove(&me));
    assert_eq!(Registry::read("[]"), None);
}
