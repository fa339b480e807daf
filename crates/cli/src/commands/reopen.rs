//! `leftoff reopen`

use crate::commands::{Outcome, Run, answered};
use crate::globals::Globals;
use engine::words::phase_called;

/// Go on with a session that was completed or abandoned
///
/// It is active again where it stood; what it had done stays done. What is active here makes room. Without an id, the one that was finished last in this worktree. A run that is complete stays complete: `leftoff run start` begins the next one.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff reopen\n  leftoff reopen k3v9")]
pub struct Reopen {
    /// Session: its id, the beginning of one, or its number in `list`
    id: Option<String>,
}

impl Run for Reopen {
    fn run(self, globals: &Globals) -> Outcome {
        let answer = globals.command()?.reopen(self.id.as_deref())?;
        let phase = &answer.view.current_phase;
        let done = format!("open again in {}", phase_called(phase.number, &phase.id));
        answered(&done, &answer, globals)
    }
}
