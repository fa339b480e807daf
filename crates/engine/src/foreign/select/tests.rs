//! Tests which session is selected in a project, with real files and a real store.

use super::*;
use crate::foreign::tests::Place;
use std::fs;

fn chosen(engine: &Engine, want: Want) -> Option<(SessionId, Source)> {
    engine.selected(want, engine.options.session.as_deref()).unwrap()
}

#[test]
fn a_named_session_comes_before_the_active_one_and_files_before_the_log() {
    let place = Place::with_registry();
    let (first, other) = (place.session.clone(), place.another());
    let mut engine = place.engine();
    assert_eq!(chosen(&engine, Want::Unfinished), Some((other.clone(), Source::Worktree)));
    engine.options.session = Some(first.to_string());
    assert_eq!(chosen(&engine, Want::Unfinished), Some((first.clone(), Source::Flag)));
    // The sessions' own tool switches to another session without an event in the log.
    let registry = place.folder.path().join(".workflow/session_status.jsonl");
    let switched = |line: &str| {
        let (from, to) =
            if line.contains(other.as_str()) { ("active", "paused") } else { ("paused", "active") };
        line.replace(&format!("\"{from}\""), &format!("\"{to}\""))
    };
    let text = fs::read_to_string(&registry).unwrap();
    let lines: Vec<String> = text.lines().map(switched).collect();
    fs::write(&registry, lines.join("\n") + "\n").unwrap();
    assert_eq!(chosen(&place.engine(), Want::Unfinished), Some((first, Source::ActiveInFiles)));
}

#[test]
fn a_finished_session_is_shown_and_not_changed() {
    let place = Place::with(None);
    let mut engine = place.engine();
    engine.abandon(None, None).unwrap();
    let engine = place.engine();
    assert_eq!(chosen(&engine, Want::Latest), Some((place.session.clone(), Source::Worktree)));
    assert_eq!(chosen(&engine, Want::Unfinished), None);
    assert_eq!(chosen(&engine, Want::Resumable), None);
}
