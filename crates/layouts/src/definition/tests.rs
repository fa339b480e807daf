//! Every rule of a definition, as text in and mistakes out.
#![allow(clippy::unwrap_used, reason = "a test stops where its assumption fails")]

mod gates;
mod mutations;
mod phases;
mod readings;
mod schema;
mod workflow;

use super::{Mistake, read};

/// The text has exactly these mistakes, as (line, message), in this order.
#[track_caller]
fn check(text: &str, expected: &[(usize, &str)]) {
    let found: Vec<(usize, String)> = match read(text) {
        Ok(_) => Vec::new(),
        Err(mistakes) => mistakes.into_iter().map(|mistake| (mistake.line, mistake.message)).collect(),
    };
    let expected: Vec<(usize, String)> =
        expected.iter().map(|(line, message)| (*line, (*message).to_owned())).collect();
    assert_eq!(found, expected, "in:\n{text}");
}

/// `lines` stand in a phase that is otherwise right, from line 4 on.
#[track_caller]
fn check_phase(lines: &str, expected: &[(usize, &str)]) {
    check(&format!("name = \"w\"\n[[phase]]\nid = \"a\"\n{lines}\n"), expected);
}

/// `lines` stand after a workflow that is otherwise right, from line 4 on; its only phase is 'plan'.
#[track_caller]
fn check_after(lines: &str, expected: &[(usize, &str)]) {
    check(&format!("name = \"w\"\n[[phase]]\nid = \"plan\"\n{lines}\n"), expected);
}

fn only_mistake(text: &str) -> Mistake {
    let mut mistakes = read(text).unwrap_err();
    assert_eq!(mistakes.len(), 1, "{mistakes:?}");
    mistakes.remove(0)
}
