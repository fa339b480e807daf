//! Progress of a slow check command on a terminal.

use crate::globals::Globals;
use crate::ui::{cut, passing_line};
use engine::Engine;
use engine::words::duration;
use std::cell::Cell;
use std::io::IsTerminal;

/// Shows progress on stderr, if it is a terminal.
pub fn show(engine: &mut Engine, globals: &Globals) {
    if globals.quiet || globals.json || !std::io::stderr().is_terminal() {
        return;
    }
    let last = Cell::new(0);
    engine.on_progress(move |progress| {
        let seconds = progress.elapsed.as_secs();
        if seconds > last.get() {
            last.set(seconds);
            let line = format!("{}: {} ({})", progress.check, progress.command, duration(seconds));
            // Overwritten in place; the result's own line follows.
            passing_line(&cut(&line, 78));
        }
    });
}
