//! Tests of every rule of a definition: from a text to its mistakes.
#![allow(clippy::unwrap_used, reason = "a test stops where its assumption fails")]

mod gates;
mod mutations;
mod phases;
mod readings;
mod schema;
mod workflow;

use super::{Mistake, read};

/// Expects exactly these mistakes, given as line and message, in this order.
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

/// Puts `lines` into an otherwise valid phase, starting at line 4.
#[track_caller]
fn check_phase(lines: &str, expected: &[(usize, &str)]) {
    check(&format!("name = \"w\"\n[[phase]]\nid = \"a\"\n{lines}\n"), expected);
}

/// Puts `lines` after an otherwise valid workflow with the single phase 'plan', starting at line 4.
#[track_caller]
fn check_after(lines: &str, expected: &[(usize, &str)]) {
    check(&format!("name = \"w\"\n[[phase]]\nid = \"plan\"\n{lines}\n"), expected);
}

fn only_mistake(text: &str) -> Mistake {
    let mut mistakes = read(text).unwrap_err();
    assert_eq!(mistakes.len(), 1, "{mistakes:?}");
    mistakes.remove(0)
}
