//! Questions to a person. Only asked where one is there.

use crate::globals::Globals;
use std::io::{BufRead, Write};

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
