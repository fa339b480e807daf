//! Waits for changes, for commands that keep showing something. Shows nothing itself.

use crate::globals::Globals;
use engine::{Watch, next_look};
use std::time::{Duration, Instant};

/// The end of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// Somebody changed something.
    Changed,
    /// A minute has passed: displayed times are out of date.
    Minute,
}

pub struct Live {
    pub watch: Watch,
    quiet_since: Instant,
}

impl Live {
    /// Starts watching: data is read after this.
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
