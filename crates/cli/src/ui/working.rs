//! A line on the terminal while a command works for longer than a second: an import, a bundle, a copy, an upgrade of
//! the store. The first real output replaces it.

use super::outlet::overwrite;
use engine::words::duration;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Idle,
    /// Waiting for a second to pass, or shown.
    Working {
        shown: bool,
    },
}

static LINE: Mutex<Line> = Mutex::new(Line::Idle);
const SECOND: Duration = Duration::from_secs(1);

/// Starts the line, if stderr is a terminal.
pub fn start() {
    if !std::io::stderr().is_terminal() {
        return;
    }
    let mut line = LINE.lock().unwrap_or_else(PoisonError::into_inner);
    if *line == Line::Idle {
        *line = Line::Working { shown: false };
        std::thread::spawn(tick);
    }
}

fn tick() {
    for seconds in 1.. {
        std::thread::sleep(SECOND);
        let mut line = LINE.lock().unwrap_or_else(PoisonError::into_inner);
        if *line == Line::Idle {
            return;
        }
        overwrite(&format!("working ({})", duration(seconds)));
        *line = Line::Working { shown: true };
    }
}

/// Takes the line away. Everything that is printed calls this first.
pub fn stop() {
    let mut line = LINE.lock().unwrap_or_else(PoisonError::into_inner);
    if *line == (Line::Working { shown: true }) {
        overwrite("");
    }
    *line = Line::Idle;
}
