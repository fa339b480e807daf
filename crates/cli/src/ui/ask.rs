//! Asks a person questions. Nothing is asked if no person is present.

use crate::globals::Globals;
use crate::ui::prompt;
use engine::Choice;
use std::io::{BufRead, IsTerminal};

/// Asks for yes or no. With `--yes`, the answer is yes.
pub fn yes(question: &str, globals: &Globals) -> bool {
    if globals.yes {
        return true;
    }
    prompt(&format!("{question} [y/N] "));
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).is_ok()
        && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

/// The answer that a person types at the terminal, in lower case. `None` if no person is present.
pub fn words(question: &str) -> Option<String> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() || !std::io::stderr().is_terminal() {
        return None;
    }
    prompt(question);
    let mut line = String::new();
    let read = stdin.read_line(&mut line).ok()?;
    (read > 0).then(|| line.trim().to_lowercase())
}

/// The choice that a person makes at the terminal. `None` if no person is present, or the person cancels.
pub fn choice<'a>(question: &str, choices: &'a [Choice]) -> Option<&'a Choice> {
    let keys: Vec<&str> = choices.iter().map(|choice| choice.key.as_str()).collect();
    let lines: String = choices.iter().map(|choice| format!("\n{}. {}", choice.key, choice.words)).collect();
    let said = words(&format!("{question}{lines}\n[{}, or c to cancel] ", keys.join(", ")))?;
    choices.iter().find(|choice| choice.key == said.trim_end_matches('.'))
}
