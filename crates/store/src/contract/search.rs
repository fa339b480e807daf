//! Contract: search.

use super::Factory;
use super::rows::{batch, begin, event, listed_ids, paused, with};
use crate::{Filter, SessionRow, Store};

fn found(store: &dyn Store, text: &str) -> Vec<String> {
    let mut ids = listed_ids(store, &Filter { search: Some(text.to_owned()), ..Filter::default() });
    ids.sort();
    ids
}

/// A session with one event of this kind and text.
fn with_event(store: &mut dyn Store, name: &str, kind: &str, text: &str) {
    let mut stream = begin(paused(name));
    let text = serde_json::Value::from(text);
    stream.events[0] = event(1, kind, &format!(r#"{{"type":"{kind}","kind":"decision","text":{text}}}"#));
    store.append(&batch([stream])).unwrap();
}

pub(super) fn words_are_found_in_every_field(make: &mut Factory<'_>) {
    let mut store = make();
    with(
        &mut *store,
        [
            SessionRow { title: "Login page".to_owned(), ..paused("s1") },
            SessionRow { goal: Some("a LOGIN that lasts".to_owned()), ..paused("s2") },
            SessionRow { target: Some("src/login.rs".to_owned()), ..paused("s3") },
            paused("login-4"),
            paused("s5"),
        ],
    );
    assert_eq!(found(&*store, "LoGiN"), ["login-4", "s1", "s2", "s3"]);
    assert_eq!(found(&*store, "").len(), 5);
    assert_eq!(found(&*store, "nowhere"), [""; 0]);
    let one = Filter { search: Some("login".to_owned()), limit: Some(1), ..Filter::default() };
    assert_eq!(listed_ids(&*store, &one), ["login-4"]);
}

pub(super) fn words_are_found_in_notes_alone(make: &mut Factory<'_>) {
    let mut store = make();
    with_event(&mut *store, "s1", "note_added", "We chose \"tokens\" over cookies\nfor good");
    with_event(&mut *store, "s2", "phase_started", "tokens");
    assert_eq!(found(&*store, "Tokens"), ["s1"]);
    assert_eq!(found(&*store, "\"tokens\""), ["s1"]);
    assert_eq!(found(&*store, "for"), ["s1"]);
    // The name of the event and its other fields are not searched.
    for word in ["note_added", "decision", "type", "\\n"] {
        assert_eq!(found(&*store, word), [""; 0], "{word}");
    }
    let mut broken = begin(paused("s3"));
    broken.events[0] = event(1, "note_added", "no JSON, and tokens");
    store.append(&batch([broken])).unwrap();
    assert_eq!(found(&*store, "tokens"), ["s1"]);
}

pub(super) fn every_word_must_be_found(make: &mut Factory<'_>) {
    let mut store = make();
    with_event(&mut *store, "s1", "note_added", "cookies are out");
    with(&mut *store, [SessionRow { title: "cookies".to_owned(), ..paused("s2") }]);
    assert_eq!(found(&*store, "cookies"), ["s1", "s2"]);
    assert_eq!(found(&*store, "  s1   cookies "), ["s1"]);
    assert_eq!(found(&*store, "cookies tokens"), [""; 0]);
}

pub(super) fn wildcards_and_quotes_are_plain_text(make: &mut Factory<'_>) {
    let mut store = make();
    with_event(&mut *store, "n1", "note_added", "50% of a_b and c\\d, it's \"so\"");
    with_event(&mut *store, "n2", "note_added", "50 of aXb and cXd, its so");
    let titled = |name: &str, title: &str| SessionRow { title: title.to_owned(), ..paused(name) };
    with(
        &mut *store,
        [titled("t1", "50% of a_b and c\\d, it's \"so\""), titled("t2", "50 of aXb and cXd, its so")],
    );
    for word in ["50%", "a_b", "c\\d", "it's", "\"so\"", "0% of"] {
        assert_eq!(found(&*store, word), ["n1", "t1"], "{word}");
    }
    for word in ["%%", "__", "a%b", "'; DROP TABLE sessions; --", "\\%"] {
        assert_eq!(found(&*store, word), [""; 0], "{word}");
    }
}
