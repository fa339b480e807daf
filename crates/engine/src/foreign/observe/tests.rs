//! Tests how often files are observed, and when an observation is out of date.

use super::*;
use crate::engine::{Intent, Options};
use crate::foreign::tests::Place;
use std::fs;

#[test]
fn a_quiet_advance_observes_its_session_once() {
    assert_eq!(Place::with(Some("ocr")).advance(), 1);
}

#[test]
fn a_native_advance_observes_nothing() {
    assert_eq!(Place::with(None).advance(), 0);
}

#[test]
fn an_observation_counts_in_the_turn_as_long_as_nothing_changes() {
    type Change = fn(&Place);
    let cases: [(&str, bool, Change); 7] = [
        ("nothing", true, |_| {}),
        ("a file beside the project", true, |place| fs::write(place.folder.path().join("a"), "b").unwrap()),
        ("an edit in place", false, |place| {
            let state = place.file("state.json");
            let text = fs::read_to_string(&state).unwrap();
            fs::write(&state, text + "\n").unwrap();
        }),
        ("an edit by rename", false, |place| {
            let (state, other) = (place.file("state.json"), place.file("other"));
            fs::copy(&state, &other).unwrap();
            fs::rename(other, state).unwrap();
        }),
        ("a file that appears", false, |place| fs::write(place.file("final.md"), "x").unwrap()),
        ("a file that goes", false, |place| fs::remove_file(place.file("state.json")).unwrap()),
        ("another command", false, |place| {
            place.engine().note(model::note::NoteKind::Note, "x", std::collections::BTreeMap::new()).unwrap();
        }),
    ];
    for (what, counts, change) in cases {
        let place = Place::with(Some("ocr"));
        let mut engine = place.engine();
        let first = engine.observe(&place.session).unwrap().unwrap();
        change(&place);
        engine.begin_turn();
        let known = engine.observed(&place.session);
        assert_eq!(known.is_some_and(|known| Rc::ptr_eq(&known, &first)), counts, "{what}");
    }
}

#[test]
fn an_observation_for_a_question_is_not_used_for_a_change() {
    let place = Place::with(Some("ocr"));
    let options = Options { project: Some(place.folder.path().to_owned()), ..Options::default() };
    let mut engine = Engine::open(options, Intent::Hook(crate::engine::HookNeeds::Writes)).unwrap();
    engine.observe(&place.session).unwrap().unwrap();
    engine.begin_turn();
    assert!(engine.observed(&place.session).is_none(), "nobody waited for a file that is being written");
}

#[test]
fn verdicts_and_problems_come_with_one_observation() {
    let place = Place::with(Some("ocr"));
    let state = place.file("state.json");
    fs::write(&state, "{ half").unwrap();
    let observation = place.engine().observe(&place.session).unwrap().unwrap();
    assert_eq!(observation.in_state(FileState::Damaged), ["state.json"]);
    assert_eq!(observation.problems.len(), 1);
    assert!(observation.row("state.json").is_some_and(|row| row.confirmed));
    assert!(!observation.is_foreign() && !observation.is_gone);
    assert_ne!(observation.documents.content("state.json"), observation.tree.content("state.json"));
}
