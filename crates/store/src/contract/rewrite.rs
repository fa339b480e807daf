//! Contract: rewriting, which is the only way to change stored events, and the event that records it.

use super::Factory;
use super::rows::{PATIENCE, batch, begin, event, everything, go_on, id, item, key, line, moment, with};
use crate::{
    ActivityKind, ActivityRow, Batch, ContentRow, Error, EventRow, ItemFilter, Rewrite, SessionRow,
    StreamAppend,
};

fn rewrite(row: SessionRow) -> Rewrite {
    let mark = StreamAppend {
        events: vec![event(row.version + 1, "purged", r#"{"type":"purged","replaced":1}"#)],
        ..go_on(SessionRow { title: "[purged]".to_owned(), ..row }, 1)
    };
    let first = EventRow { actor: "{}".to_owned(), ..event(1, "phase_started", r#"{"of":"[purged]"}"#) };
    let activity = ActivityRow {
        kind: ActivityKind::File,
        what: "[purged]".to_owned(),
        detail: None,
        at: moment(1),
        count: 1,
    };
    Rewrite {
        stream: mark,
        events: vec![first],
        activity: vec![activity],
        contents: vec!["c1".to_owned()],
        items: vec![item("first", "other")],
    }
}

fn unchanged(_: &str) -> Option<String> {
    None
}

pub fn a_rewritten_history_has_other_words_and_one_more_event(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [line("first"), SessionRow { parallel: true, ..line("second") }]);
    let other = store.events(&id("second"), 0, None).unwrap();
    let rewrite = rewrite(line("first"));
    store.rewrite(&rewrite, &unchanged).unwrap();
    let events = store.events(&id("first"), 0, None).unwrap();
    assert_eq!(events, [rewrite.events[0].clone(), rewrite.stream.events[0].clone()]);
    let loaded = store.load(&id("first")).unwrap().unwrap();
    assert_eq!((loaded.row.title.as_str(), loaded.row.version), ("[purged]", 2));
    let told = store.changes(0, 10).unwrap();
    assert_eq!(told[0].event.body, r#"{"of":"[purged]"}"#);
    assert_eq!(store.events(&id("second"), 0, None).unwrap(), other);
    assert!(store.erase(PATIENCE).unwrap());
    assert_eq!(store.changes(0, 10).unwrap(), told);
}

pub fn a_rewrite_reaches_answers_activity_and_items(make: &mut Factory<'_>) {
    let mut store = make();
    let contents = ["c1", "c2"].map(|hash| ContentRow { hash: hash.to_owned(), body: b"secret".to_vec() });
    let items = vec![item("first", "secret")];
    let key = Some(key("k1", moment(1)));
    let begun = Batch { key, contents: contents.to_vec(), items, ..batch([begin(line("first"))]) };
    store.append(&begun).unwrap();
    let secret = ActivityRow { what: "secret".to_owned(), ..rewrite(line("first")).activity[0].clone() };
    store.record_activity(&id("first"), &[secret], PATIENCE).unwrap();
    store.rewrite(&rewrite(line("first")), &|answer| Some(answer.replace("ok", "ko"))).unwrap();
    assert_eq!(store.recall("k1", moment(0)).unwrap().unwrap().answer, r#"{"ko":true}"#);
    assert_eq!(store.content("c1").unwrap(), None);
    assert_eq!(store.content("c2").unwrap().as_deref(), Some(b"secret".as_slice()));
    let kept = store.activity(&id("first"), 10).unwrap();
    assert_eq!(kept.iter().map(|row| row.what.as_str()).collect::<Vec<_>>(), ["[purged]"]);
    let items = store.items(&id("first"), &ItemFilter::default()).unwrap();
    assert_eq!(items, [item("first", "other")]);
}

pub fn a_rewrite_of_another_version_changes_nothing(make: &mut Factory<'_>) {
    let mut store = make();
    store.append(&batch([go_on(SessionRow { version: 0, ..line("first") }, 2)])).unwrap();
    let before = everything(&*store);
    let told = store.rewrite(&rewrite(line("first")), &unchanged);
    assert!(matches!(told, Err(Error::Conflict { expected: 1, found: 2, .. })), "{told:?}");
    assert_eq!(everything(&*store), before);
}

pub fn a_rewrite_of_an_event_that_is_not_there_is_refused(make: &mut Factory<'_>) {
    let mut store = make();
    with(&mut *store, [line("first")]);
    let before = everything(&*store);
    let mut wrong = rewrite(line("first"));
    wrong.events[0].version = 2;
    store.rewrite(&wrong, &unchanged).unwrap_err();
    assert_eq!(everything(&*store), before);
}
