//! `leftoff resume`

use crate::commands::{Outcome, Run, answered};
use crate::globals::Globals;

/// Go on with a paused session
///
/// Without an id, the one that was paused last in this worktree. What is active here is paused first. A completed session is not resumed: the refusal says how to begin its next run.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff resume\n  leftoff resume k3v9\n  leftoff resume 2")]
pub struct Resume {
    /// Session: its id, the beginning of one, or its number in `list`
    id: Option<String>,
}

impl Run for Resume {
    fn run(self, globals: &Globals) -> Outcome {
        let answer = globals.command()?.resume(self.id.as_deref())?;
        let phase = &answer.view.current_phase;
        let done = format!("goes on in phase {} ({})", phase.number, phase.id);
        answered(&done, &answer, globals)
    }
}
