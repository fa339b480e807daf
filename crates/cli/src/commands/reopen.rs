//! `leftoff reopen`

use crate::commands::{Outcome, Run, answered_unless};
use crate::globals::Globals;
use engine::Request;
use engine::words::phase_called;

/// Reopen a completed or abandoned session
///
/// The session is active again at the same phase; completed phases stay completed. Any other active session in this
/// worktree is paused. Without an id, reopens the session that finished last in this worktree. A complete run stays
/// complete: `leftoff run start` starts the next one.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  leftoff reopen\n  leftoff reopen k3v9")]
pub struct Reopen {
    /// Session: its id, a prefix of it, or its number in `list`
    id: Option<String>,
}

impl Run for Reopen {
    fn run(self, globals: &Globals) -> Outcome {
        let answer = globals.command()?.execute(Request::Reopen { session: self.id })?;
        let phase = &answer.view.current_phase;
        let phase = phase_called(phase.number, &phase.id);
        answered_unless(
            &format!("already open in {phase}"),
            &format!("reopened in {phase}"),
            &answer,
            globals,
        )
    }
}
