//! Contract: appending a batch.

use super::Factory;
use super::rows::{
    PATIENCE, agent, batch, begin, event, everything, go_on, id, item, item_id, key, line, moment, paused,
    snapshot_at, with,
};
use crate::{Batch, Binding, ContentRow, DefinitionRow, Error, EventRow, SessionRow, Snapshot, StreamAppend};

pub(super) fn a_session_comes_back_as_it_was_given(make: &mut Factory<'_>) {
    let mut store = make();
    let row = SessionRow {
        id: id("WFS-login.v2"),
        worktree: "/home/ada/it's \"here\" %_\\".to_owned(),
        machine: Some("another".to_owned()),
        layout: "theirs".to_owned(),
        exclusive: false,
        workflow: "review".to_owned(),
        title: "Ünïcode \u{1f980}\nand a second line".to_owned(),
        goal: Some(String::new()),
        target: Some("src/lib.rs".to_owned()),
        lifecycle: "failed".to_owned(),
        parallel: true,
        phase: "Gate; DROP TABLE sessions".to_owned(),
        phases_done: 2,
        phases_total: Some(u32::MAX),
        created_at: moment(-40 * 365 * 24 * 3600),
        updated_at: moment(7),
        version: 2,
    };
    let events = vec![event(1, "session_started", "{}"), event(2, "failed", r#"{"why":"it's \"broken\""}"#)];
    let snapshot = Snapshot { fold_version: 9, version: 2, body: "x".repeat(100_000) };
    let stream = StreamAppend {
        expected: 0,
        events: events.clone(),
        row: row.clone(),
        snapshot: Some(snapshot.clone()),
    };
    store.append(&batch([stream])).unwrap();

    let loaded = store.load(&row.id).unwrap().expect("it was kept");
    assert_eq!(loaded.number, 1);
    assert_eq!(loaded.row, row);
    assert_eq!(loaded.snapshot, Some(snapshot));
    assert_eq!(store.events(&row.id, 0, None).unwrap(), events);
}

pub(super) fn a_later_append_adds_events_and_replaces_line_and_snapshot(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [line("first"), SessionRow { parallel: true, ..line("beside") }]);
    let beside = store.load(&id("beside")).unwrap();
    let later = SessionRow {
        workflow: "review".to_owned(),
        title: "Another title".to_owned(),
        goal: Some("a goal".to_owned()),
        target: Some("a target".to_owned()),
        lifecycle: "paused".to_owned(),
        worktree: "/elsewhere".to_owned(),
        layout: "essay".to_owned(),
        parallel: true,
        phase: "Implement".to_owned(),
        phases_done: 1,
        phases_total: None,
        updated_at: moment(60),
        ..line("first")
    };
    let stream = go_on(later, 3);
    store.append(&batch([stream.clone()])).unwrap();

    let loaded = store.load(&id("first")).unwrap().expect("it is still there");
    assert_eq!((loaded.number, &loaded.row), (1, &stream.row));
    assert_eq!(loaded.snapshot, stream.snapshot);
    let versions: Vec<u64> =
        store.events(&id("first"), 0, None).unwrap().iter().map(|event| event.version).collect();
    assert_eq!(versions, [1, 2, 3, 4]);
    assert_eq!(store.load(&id("beside")).unwrap(), beside, "another session stays as it was");
}

pub(super) fn an_append_without_a_snapshot_leaves_the_stored_one(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [line("first")]);
    let stream = StreamAppend { snapshot: None, ..go_on(line("first"), 2) };
    store.append(&batch([stream.clone()])).unwrap();
    let loaded = store.load(&id("first")).unwrap().expect("it is still there");
    assert_eq!((&loaded.row, loaded.snapshot), (&stream.row, snapshot_at(1)));
    store.append(&batch([go_on(stream.row, 1)])).unwrap();
    assert_eq!(store.load(&id("first")).unwrap().expect("it is still there").snapshot, snapshot_at(4));
}

pub(super) fn a_wrong_expected_version_changes_nothing(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [line("first")]);
    store.append(&batch([go_on(line("first"), 2)])).unwrap();
    let before = everything(&*store);
    for (name, stands_at, found) in [("first", 1, 3), ("first", 2, 3), ("first", 4, 3), ("never", 1, 0)] {
        let row = SessionRow { version: stands_at, title: "changed".to_owned(), ..paused(name) };
        match store.append(&batch([go_on(row, 1)])) {
            Err(Error::Conflict { session, expected, found: version }) => {
                assert_eq!((session, expected, version), (id(name), stands_at, found));
            }
            other => panic!("{name} at {stands_at}: {other:?}"),
        }
    }
    assert_eq!(everything(&*store), before);
}

pub(super) fn a_batch_is_kept_whole_or_not_at_all(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [paused("first"), paused("second")]);
    store.see_agent(&agent("a1"), PATIENCE).unwrap();
    let before = everything(&*store);
    let whole = Batch {
        streams: vec![go_on(paused("first"), 2), go_on(paused("second"), 1), begin(line("third"))],
        definitions: vec![DefinitionRow { hash: "h1".to_owned(), body: "phases".to_owned() }],
        contents: vec![ContentRow { hash: "c1".to_owned(), body: b"kept".to_vec() }],
        key: Some(key("k1", moment(0))),
        bindings: vec![Binding {
            agent: "claude".to_owned(),
            agent_session: "a1".to_owned(),
            session: id("third"),
        }],
        items: vec![item("third", "impl-1")],
        ..Batch::default()
    };
    for late in 0..whole.streams.len() {
        let mut broken = whole.clone();
        let name = broken.streams[late].row.id.clone();
        broken.streams[late] = go_on(SessionRow { version: 8, ..paused(name.as_str()) }, 1);
        assert!(matches!(store.append(&broken), Err(Error::Conflict { session, .. }) if session == name));
        assert_eq!(everything(&*store), before);
        assert_eq!(store.definition("h1").unwrap(), None);
        assert_eq!(store.content("c1").unwrap(), None);
        assert_eq!(store.recall("k1", moment(-1)).unwrap(), None);
        assert_eq!(store.item(&id("third"), &item_id("impl-1")).unwrap(), None);
    }

    store.append(&whole).unwrap();
    for stream in &whole.streams {
        assert_eq!(store.load(&stream.row.id).unwrap().expect("it was kept").row, stream.row);
    }
    assert_eq!(store.definition("h1").unwrap().as_deref(), Some("phases"));
    assert_eq!(store.content("c1").unwrap().as_deref(), Some(b"kept".as_slice()));
    assert_eq!(store.recall("k1", moment(-1)).unwrap(), whole.key);
    assert_eq!(store.agent("claude", "a1").unwrap().expect("it was seen").session, Some(id("third")));
    assert_eq!(store.item(&id("third"), &item_id("impl-1")).unwrap(), Some(item("third", "impl-1")));
}

pub(super) fn an_id_is_taken_whatever_its_case(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [line("Feature-X")]);
    let before = everything(&*store);
    let elsewhere = |name: &str| SessionRow { worktree: "/elsewhere".to_owned(), ..line(name) };
    for stream in [
        begin(elsewhere("Feature-X")),
        begin(elsewhere("feature-x")),
        begin(elsewhere("FEATURE-X")),
        go_on(elsewhere("feature-X"), 1),
    ] {
        let told = store.append(&batch([stream]));
        assert!(
            matches!(&told, Err(Error::IdTaken { existing }) if *existing == id("Feature-X")),
            "{told:?}"
        );
    }
    assert_eq!(everything(&*store), before);
}

pub(super) fn a_malformed_batch_changes_nothing(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [line("first")]);
    let before = everything(&*store);
    let good = go_on(line("first"), 2);
    let no_event = StreamAppend { events: Vec::new(), ..good.clone() };
    let gap = StreamAppend { events: vec![good.events[1].clone()], ..good.clone() };
    let backwards: Vec<EventRow> = good.events.iter().rev().cloned().collect();
    let out_of_order = StreamAppend { events: backwards, ..good.clone() };
    let stale_line = StreamAppend { row: line("first"), ..good.clone() };
    let stale_snapshot = StreamAppend { snapshot: snapshot_at(2), ..good.clone() };
    let new_without_snapshot = StreamAppend { snapshot: None, ..begin(line("second")) };
    let other_case = go_on(SessionRow { worktree: "/elsewhere".to_owned(), ..line("FIRST") }, 1);
    for streams in [
        vec![no_event],
        vec![gap],
        vec![out_of_order],
        vec![stale_line],
        vec![stale_snapshot],
        vec![new_without_snapshot],
        vec![good.clone(), good.clone()],
        vec![good.clone(), other_case],
    ] {
        let told = store.append(&batch(streams.clone()));
        assert!(matches!(told, Err(Error::Engine { .. })), "{told:?} for {streams:?}");
        assert_eq!(everything(&*store), before);
    }
    store.append(&batch([good])).unwrap();
}

pub(super) fn an_empty_batch_changes_nothing(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [line("first")]);
    let before = everything(&*store);
    store.append(&Batch::default()).unwrap();
    assert_eq!(everything(&*store), before);
}

pub(super) fn of_two_definitions_under_one_hash_the_later_counts(make: &mut Factory<'_>) {
    let mut store = make();
    let define = |hash: &str, body: &str| DefinitionRow { hash: hash.to_owned(), body: body.to_owned() };
    for (name, body) in [("first", "as it was first"), ("second", "as it came again")] {
        let definitions = vec![define("h1", body), define(name, "its own")];
        store.append(&Batch { definitions, ..batch([begin(paused(name))]) }).unwrap();
    }
    assert_eq!(store.definition("h1").unwrap().as_deref(), Some("as it came again"));
    assert_eq!(store.definition("second").unwrap().as_deref(), Some("its own"));
}

pub(super) fn a_files_content_is_stored_once(make: &mut Factory<'_>) {
    let mut store = make();
    let content = |hash: &str, body: &[u8]| ContentRow { hash: hash.to_owned(), body: body.to_vec() };
    let every_byte: Vec<u8> = (0..=255).collect();
    let contents = vec![content("c1", &every_byte), content("empty", b"")];
    store.append(&Batch { contents, ..batch([begin(paused("first"))]) }).unwrap();
    let again = vec![content("c1", b"as it came again")];
    store.append(&Batch { contents: again, ..batch([go_on(paused("first"), 1)]) }).unwrap();
    assert_eq!(store.content("c1").unwrap(), Some(every_byte));
    assert_eq!(store.content("empty").unwrap(), Some(Vec::new()));
    assert_eq!(store.content("never").unwrap(), None);
}

pub(super) fn a_turn_is_taken_and_given_back(make: &mut Factory<'_>) {
    let mut store = make();
    store.take_turn(PATIENCE).unwrap();
    store.take_turn(PATIENCE).unwrap();
    store.see_agent(&agent("a1"), PATIENCE).unwrap();
    store.append(&batch([begin(paused("first"))])).unwrap();
    // The append ended the turn. A turn can be taken, given back, and taken again.
    store.take_turn(PATIENCE).unwrap();
    store.give_turn_back();
    store.give_turn_back();
    store.append(&batch([go_on(paused("first"), 1)])).unwrap();
    store.take_turn(PATIENCE).unwrap();
    assert!(matches!(store.append(&batch([go_on(paused("first"), 1)])), Err(Error::Conflict { .. })));
    store.append(&batch([go_on(SessionRow { version: 2, ..paused("first") }, 1)])).unwrap();
    assert_eq!(store.cursor().unwrap(), 3);
}
