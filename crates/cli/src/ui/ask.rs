//! Questions to a person. Only asked where one is there.

use crate::globals::Globals;
use std::io::{BufRead, IsTerminal, Write};

/// Yes or no; `--yes` answers for the person.
pub fn yes(question: &str, globals: &Globals) -> bool {
    if globals.yes {
        return true;
    }
    let mut stderr = std::io::stderr().lock();
    let _ = write!(stderr, "{question} [y/N] ");
    let _ = stderr.flush();
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).is_ok()
        && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

/// What a person at the terminal answers, in lower case; none when nobody is there.
pub fn words(question: &str) -> Option<String> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() || !std::io::stderr().is_terminal() {
        return None;
    }
    let _ = write!(std::io::stderr().lock(), "{question}");
    let mut line = String::new();
    let read = stdin.read_line(&mut line).ok()?;
    (read > 0).then(|| line.trim().to_lowercase())
}
