//! Waits for changes. Used by commands that show something until they are interrupted.

use crate::globals::Globals;
use engine::{Watch, next_look};
use std::time::{Duration, Instant};

/// The reason why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// Somebody changed something.
    Changed,
    /// A minute has passed, so the displayed times are out of date.
    Minute,
}

pub struct Live {
    pub watch: Watch,
    quiet_since: Instant,
}

impl Live {
    /// Starts watching. Data must be read after this call, so that no change is missed.
    pub fn begin(globals: &Globals) -> Self {
        Self { watch: Watch::begin(&globals.options), quiet_since: Instant::now() }
    }

    pub fn wait(&mut self) -> Woken {
        const MINUTE: Duration = Duration::from_mins(1);
        let began = Instant::now();
        loop {
            std::thread::sleep(next_look(self.quiet_since.elapsed()));
            if self.watch.changed() {
                self.quiet_since = Instant::now();
                return Woken::Changed;
            }
            if began.elapsed() >= MINUTE {
                return Woken::Minute;
            }
        }
    }
}
