//! The answer to a command in words: its result, the next step, and warnings.

use crate::ui::{Out, Tone, lines};
use engine::view::Warning;
use engine::{Answer, Next};
use std::fmt::Write;

/// The result of a command in a few lines, with the next step.
pub fn answer(done: &str, answer: &Answer, out: &Out) -> String {
    // With `-q`, the next step is not shown.
    let next = if out.is_quiet() { String::new() } else { next(&answer.view.next, out) };
    format!("{}{next}", answer_line(done, answer, out))
}

/// The result of a command on one line.
pub fn answer_line(done: &str, answer: &Answer, out: &Out) -> String {
    let word = if answer.view.already { "already done; nothing changed" } else { done };
    format!("{} {word}\n", out.paint(Tone::Heading, &answer.view.session_id))
}

/// The line that says why a command changed nothing, such as `login already paused; nothing changed`.
pub fn already_line(state: &str, answer: &Answer, out: &Out) -> String {
    format!("{} {state}; nothing changed\n", out.paint(Tone::Heading, &answer.view.session_id))
}

/// The line that says why a command changed nothing, and the next step.
pub fn already(state: &str, answer: &Answer, out: &Out) -> String {
    let next = if out.is_quiet() { String::new() } else { next(&answer.view.next, out) };
    format!("{}{next}", already_line(state, answer, out))
}

/// The next step and its command.
pub fn next(next: &Next, out: &Out) -> String {
    next_in(usize::MAX, next, out)
}

pub(super) fn next_in(most: usize, next: &Next, out: &Out) -> String {
    let mut text = format!("{}\n", lines("Next: ", &next.summary.to_string(), most, out));
    if let Some(command) = &next.command {
        let _ = writeln!(text, "  {}", out.paint(Tone::Command, &command.to_string()));
    }
    text
}

/// Prints warnings on stderr.
pub fn warn(warnings: &[Warning], out: &Out) {
    for warning in warnings {
        let hint = warning.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        out.warn(&format!("{}{hint}", warning.message));
    }
}

/// Prints the warnings that belong to an answer. Of problems in files that existed before the command, only the number
/// is printed, so that they do not hide the answer.
pub fn warn_shortly(warnings: &[Warning], out: &Out) {
    const MOST: usize = 3;
    let is_odd = |warning: &&Warning| warning.kind == "foreign_file";
    let odd: Vec<Warning> = warnings.iter().filter(is_odd).cloned().collect();
    let others: Vec<Warning> = warnings.iter().filter(|warning| !is_odd(warning)).cloned().collect();
    warn(&odd[..odd.len().min(MOST)], out);
    let more = odd.len().saturating_sub(MOST);
    match more {
        0 => {}
        1 => out.warn("1 more problem in the session's files: leftoff doctor"),
        _ => out.warn(&format!("{more} more problems in the session's files: leftoff doctor")),
    }
    warn(&others, out);
}
