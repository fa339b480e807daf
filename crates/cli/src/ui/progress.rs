//! A check's command that takes long shows on a terminal that it is still at work.

use crate::globals::Globals;
use crate::ui::{cut, passing_line};
use engine::Engine;
use engine::words::duration;
use std::cell::Cell;
use std::io::IsTerminal;

/// Shows progress on stderr, where it is a terminal.
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
            // Written over itself; the result's own line comes after it.
            passing_line(&cut(&line, 78));
        }
    });
}
