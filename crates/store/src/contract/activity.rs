//! Contract: activity, which is counted, limited and outside the log.

use super::Factory;
use super::rows::{PATIENCE, agent, everything, id, line, moment, with};
use crate::{ActivityKind, ActivityRow, KEPT_ACTIVITIES, Trace};

fn touched(what: &str, second: i64) -> ActivityRow {
    ActivityRow {
        kind: ActivityKind::File,
        what: what.to_owned(),
        detail: None,
        at: moment(second),
        count: 1,
    }
}

fn ran(what: &str, second: i64, detail: &str) -> ActivityRow {
    ActivityRow { kind: ActivityKind::Command, detail: Some(detail.to_owned()), ..touched(what, second) }
}

pub fn the_same_activity_counts_up_and_is_the_newest(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [line("first")]);
    let rows = [touched("a.rs", 1), ran("a.rs", 2, "exit 1"), touched("b.rs", 3)];
    store.record_activity(&id("first"), &rows, PATIENCE).unwrap();
    store.record_activity(&id("first"), &[touched("a.rs", 4), ran("a.rs", 5, "exit 0")], PATIENCE).unwrap();
    assert_eq!(
        store.activity(&id("first"), 10).unwrap(),
        [
            ActivityRow { count: 2, ..ran("a.rs", 5, "exit 0") },
            ActivityRow { count: 2, ..touched("a.rs", 4) },
            touched("b.rs", 3)
        ]
    );
    assert_eq!(store.activity(&id("first"), 1).unwrap().len(), 1);
}

pub fn an_older_report_of_it_keeps_the_newer_time(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [line("first")]);
    store
        .record_activity(&id("first"), &[ran("make", 9, "exit 0"), ran("make", 3, "exit 2")], PATIENCE)
        .unwrap();
    let rows = store.activity(&id("first"), 10).unwrap();
    assert_eq!(rows, [ActivityRow { count: 2, ..ran("make", 9, "exit 0") }]);
}

pub fn the_oldest_activity_of_a_session_goes_first(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [line("first")]);
    let most = i64::try_from(KEPT_ACTIVITIES).unwrap();
    let rows: Vec<ActivityRow> =
        (0..most + 3).map(|number| touched(&format!("file {number}"), number)).collect();
    store.record_activity(&id("first"), &rows, PATIENCE).unwrap();
    let kept = store.activity(&id("first"), usize::MAX).unwrap();
    assert_eq!(kept.len(), KEPT_ACTIVITIES);
    assert_eq!(kept.last().map(|row| row.what.as_str()), Some("file 3"));
}

pub fn activity_changes_no_session(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [line("first")]);
    let before = everything(&*store);
    store.record_activity(&id("first"), &[touched("a.rs", 1)], PATIENCE).unwrap();
    assert_eq!(everything(&*store), before);
}

pub fn activity_of_a_session_that_does_not_exist_is_not_kept(make: &mut Factory<'_>) {
    let mut store = make();
    store.record_activity(&id("nobody"), &[touched("a.rs", 1)], PATIENCE).unwrap();
    assert!(store.activity(&id("nobody"), 10).unwrap().is_empty());
}

fn trace(once: Option<&str>, second: i64) -> Trace {
    Trace {
        at: moment(second),
        once: once.map(ToOwned::to_owned),
        agent: "claude".to_owned(),
        agent_session: "a1".to_owned(),
        memory: None,
        expects: None,
        activity: Some((id("first"), vec![touched("a.rs", second)])),
    }
}

pub fn what_a_hook_saw_is_kept_with_the_agent(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [line("first")]);
    store.see_agent(&agent("a1"), PATIENCE).unwrap();
    let before = everything(&*store);
    let seen = Trace { memory: Some("{}".to_owned()), ..trace(None, 60) };
    assert!(store.trace(&seen, PATIENCE).unwrap());
    assert!(store.trace(&trace(None, 61), PATIENCE).unwrap(), "without a key everything is new");
    let row = store.agent("claude", "a1").unwrap().unwrap();
    assert_eq!((row.last_seen, row.memory.as_deref()), (moment(61), Some("{}")));
    store.see_agent(&agent("a1"), PATIENCE).unwrap();
    assert_eq!(store.agent("claude", "a1").unwrap().unwrap().memory.as_deref(), Some("{}"), "it stays");
    assert_eq!(store.activity(&id("first"), 10).unwrap()[0].count, 2);
    assert_eq!(everything(&*store).sessions, before.sessions, "no session changed");
    let stranger = Trace { agent_session: "a2".to_owned(), ..trace(None, 62) };
    assert!(store.trace(&stranger, PATIENCE).unwrap());
    assert_eq!(store.agent("claude", "a2").unwrap(), None, "a hook makes nobody known");
}

pub fn what_a_hook_saw_twice_counts_once(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [line("first")]);
    assert!(store.trace(&trace(Some("call 1"), 60), PATIENCE).unwrap());
    assert!(!store.trace(&trace(Some("call 1"), 61), PATIENCE).unwrap());
    assert!(store.trace(&trace(Some("call 2"), 62), PATIENCE).unwrap());
    assert_eq!(store.activity(&id("first"), 10).unwrap()[0].count, 2);
    let week_later = 62 + 8 * 24 * 60 * 60;
    assert!(store.trace(&trace(Some("call 1"), week_later), PATIENCE).unwrap(), "a key is not kept for ever");
}

pub fn what_a_hook_decided_on_must_still_be_so(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [line("first")]);
    let decided = |on: &str, memory: &str| Trace {
        memory: Some(memory.to_owned()),
        expects: Some(on.to_owned()),
        ..trace(None, 60)
    };
    assert!(!store.trace(&decided("", "1"), PATIENCE).unwrap(), "of nobody nothing is known");
    store.see_agent(&agent("a1"), PATIENCE).unwrap();
    assert!(store.trace(&decided("", "1"), PATIENCE).unwrap());
    assert!(!store.trace(&decided("", "1"), PATIENCE).unwrap(), "somebody was quicker");
    assert!(store.trace(&decided("1", "2"), PATIENCE).unwrap());
    assert_eq!(store.agent("claude", "a1").unwrap().unwrap().memory.as_deref(), Some("2"));
    assert_eq!(store.activity(&id("first"), 10).unwrap()[0].count, 2, "nothing else is kept either");
}
